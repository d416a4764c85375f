"""Makes reduce.bin: NumPy's answers to every row of reduce.def and to dot.

Floating sums are computed in x87 extended precision; beside each stands the largest error allowed,
from the usual bound on summation in the precision the table accumulates in. Multi-axis arg* count
in C order. Run with no arguments from anywhere; the output stands beside this file.
"""

import itertools
import warnings

import numpy as np

from golden import (
    BOUNDED,
    DTYPES,
    ERROR,
    KEEPDIMS,
    KINDS,
    LOOSE_INF,
    LOOSE_ZERO,
    NORMWISE,
    ROOT,
    SAMPLED,
    SMALL,
    Array,
    File,
    code,
    epsilon,
    is_sample,
    limits,
    numpy_dtype,
    rows,
)

warnings.simplefilter("ignore")
np.seterr(all="ignore")
ROWS = {r[0]: r for r in rows("reduce")}
FULL = ("float32", "int32", "complex64")
SHAPES = [(), (0,), (1,), (37,), (5, 7), (3, 4, 5), (2, 3, 1, 4), (0, 3), (3, 0)]
FEW = [
    ((37,), None),
    ((1,), (0,)),
    ((5, 7), (0,)),
    ((5, 7), (-1,)),
    ((3, 4, 5), None),
    ((3, 4, 5), (1,)),
    ((3, 4, 5), (0, 2)),
    ((3, 4, 5), (2, 1)),
    ((0, 3), (0,)),
    ((0, 3), (1,)),
    ((), None),
]
FEWEST = [((37,), None), ((5, 7), (0,)), ((5, 7), (-1,))]
BOTH = ("sum", "mean", "max")  # rows that take every dtype of SAMPLED
EPSILON = {
    "float16": 2.0**-10,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
    **{dtype: epsilon(dtype) for dtype in SMALL},
}
TINY = {"float16": 2.0**-24, "float32": 2.0**-149, "float64": 2.0**-1074}
TINY.update({dtype: limits(dtype)[1] for dtype in SMALL})


def values(dtype, shape, content):
    """content: "plain", "near1" (for products), "ties", "special" (with NaN and infinities)."""
    rng = np.random.default_rng([code(dtype), sum(map(ord, content)), *shape])
    kind = KINDS[dtype]
    if kind == "?":
        return Array(dtype, rng.random(shape) < (0.9 if content == "near1" else 0.5))
    if kind in "iu":
        low, high = {"ties": (0, 6), "near1": (1, 4)}.get(content, (0, np.iinfo(dtype).max))
        x = rng.integers(low, high, shape, dtype=np.dtype(dtype), endpoint=True)
        return Array(dtype, x * rng.choice([-1, 1], shape).astype(dtype) if kind == "i" else x)
    x = rng.normal(0.5, 2, shape)
    if kind == "c":
        x = x + 1j * rng.normal(0, 2, shape)
    if content == "near1":
        x = rng.uniform(0.6, 1.4, shape) * rng.choice([-1, 1], shape)
        x = x * np.exp(1j * rng.uniform(0, 6, shape)) if kind == "c" else x
    if content == "ties":
        x = np.round(x)
    if content == "special" and x.size > 20:
        flat = x.reshape(-1)
        flat[7], flat[11], flat[-10] = np.nan, np.inf, -np.inf
        flat[20:25] = np.nan
        if kind == "c":
            flat[3], flat[9] = complex(1, np.nan), complex(-2, np.inf)
    return Array(dtype, x)


# ---- Dtypes ----


def compute_dtype(row, dtype):
    """The dtype the row's rule makes of an array's."""
    if row[2] == "SUM" and KINDS[dtype] in "?iu":
        return "uint64" if KINDS[dtype] == "u" else "int64"
    if row[2] == "MEAN" and KINDS[dtype] in "?iu":
        return "float64"
    return dtype


def result_dtype(row, common):
    real = {"complex64": "float32", "complex128": "float64"}.get(common, common)
    return {"SAME": common, "REAL": real, "BOOL": "bool", "INDEX": "int64"}[row[3]]


def accumulator_epsilon(common):
    return EPSILON["float32" if common == "float16" or common in SMALL else common]


# ---- Answers ----


def last_axes(x, axes):
    """x with the reduced axes merged to one last axis, in C order."""
    ndim = x.ndim
    reduced = range(ndim) if axes is None else sorted(a % ndim for a in axes)
    kept = [a for a in range(ndim) if a not in reduced]
    moved = x.transpose(kept + list(reduced))
    count = int(np.prod([x.shape[a] for a in reduced], dtype=int))
    return moved.reshape(moved.shape[: len(kept)] + (count,))


def magnitude(x):
    with np.errstate(all="ignore"):
        size = np.abs(x).astype(np.float64)
    return np.where(np.isfinite(size), size, 0)


def component_mean(total, count):
    if not np.iscomplexobj(total):
        return total / count
    mean = np.array(total)
    mean.real, mean.imag = total.real / count, total.imag / count
    return mean


def floating(name, x, common, result, ddof):
    """(values, bounds) of floating sums, products and moments along the last axis of x."""
    wide = x.astype(np.clongdouble if KINDS[common] == "c" else np.longdouble)
    count = x.shape[-1]
    lost = np.isnan(wide) & name.startswith("nan")
    if name == "nanprod":
        wide, name = np.where(lost, 1, wide), "prod"
    elif name.startswith("nan"):
        wide, count = np.where(lost, 0, wide), np.sum(~lost, axis=-1).astype(np.longdouble)
    eps, n = accumulator_epsilon(common), x.shape[-1] + 4
    size = magnitude(wide)
    if name == "prod":
        answer = np.prod(wide, axis=-1)
        return answer, 2 * n * eps * magnitude(answer) + EPSILON[result] * magnitude(answer)
    if name in ("sum", "nansum"):
        answer, bound = np.sum(wide, axis=-1), n * eps * np.sum(size, axis=-1)
        return answer, bound + EPSILON[result] * magnitude(answer)
    if name == "logsumexp":
        top = np.max(wide, axis=-1, initial=-np.inf)
        finite = np.where(np.isfinite(top), top, 0)
        answer = finite + np.log(np.sum(np.exp(wide - finite[..., None]), axis=-1))
        return answer, n * eps * np.maximum(np.max(size, axis=-1, initial=0), 1)
    total = np.sum(wide, axis=-1)
    mean = component_mean(total, np.longdouble(count))
    if name in ("mean", "nanmean"):
        safe = np.maximum(np.asarray(count, np.float64), 1)
        return mean, n * eps * np.sum(size, axis=-1) / safe + EPSILON[result] * magnitude(mean)
    away = np.where(lost, 0, wide - mean[..., None])
    squares = (away.real**2 + away.imag**2) if np.iscomplexobj(away) else away**2
    freedom = np.maximum(count - np.longdouble(ddof), 0)
    if name.startswith("nan"):
        freedom = np.where(freedom > 0, freedom, np.nan)
    var = np.sum(squares, axis=-1) / freedom
    largest = np.max(size, axis=-1, initial=0)
    v = magnitude(var)
    bound = 4 * n * eps * (v + np.sqrt(v) * largest) + (n * eps * largest) ** 2
    if name in ("std", "nanstd"):
        std = np.sqrt(var)
        bound = np.minimum(np.sqrt(bound), bound / np.maximum(magnitude(std), 1e-300))
        return std, bound + EPSILON[result] * magnitude(std)
    return var, bound + EPSILON[result] * v


def exact(name, x):
    """The rows with one right answer, of x's own dtype, along its last axis."""
    if name in ("sum", "nansum"):
        return np.sum(x, axis=-1, dtype=x.dtype)
    if name in ("prod", "nanprod"):
        return np.prod(x, axis=-1, dtype=x.dtype)
    if name in ("nanargmin", "nanargmax"):
        none = np.isnan(x).all(axis=-1)
        fixed = np.where(none[..., None], np.zeros((), x.dtype), x)
        return np.where(none, -1, getattr(np, name)(fixed, axis=-1))
    answer = getattr(np, name)(x, axis=-1)
    if name in ("nanmin", "nanmax") and np.iscomplexobj(answer):
        return np.where(np.isnan(answer), complex(np.nan, np.nan), answer)
    return answer


def reduce(file, name, array, axes, keepdims=False, dtype=None, ddof=0):
    row = ROWS[name]
    common = dtype or compute_dtype(row, array.dtype)
    result = result_dtype(row, common)
    x = last_axes(array.v, axes)
    shape = kept_shape(array.v.shape, axes, keepdims)
    flags = KEEPDIMS if keepdims else 0
    options = {"axes": axes, "ddof": ddof, "dtype": dtype}
    if "EMPTY_IS_ERROR" in row[4] and x.shape[-1] == 0:
        file.case(name, [array], [], 0.0, flags | ERROR, **options)
        return
    if dtype or row[2] in ("SUM", "MEAN"):
        x = Array(common, x).v
    if KINDS[common] in "fc" and row[2] in ("SUM", "MEAN"):
        answer, bound = floating(name, x, common, result, ddof)
        real = {"complex64": "float32", "complex128": "float64"}.get(result, result)
        bound = np.asarray(bound, np.float64) + TINY[real]
        outs = [
            Array(result, np.asarray(answer).reshape(shape)),
            Array("float64", bound.reshape(shape)),
        ]
        file.case(name, [array], outs, 0.0, flags | BOUNDED, **options)
        return
    answer = exact(name, x)
    file.case(
        name,
        [array],
        [Array(result, np.asarray(answer).reshape(shape))],
        0.0,
        flags | LOOSE_ZERO | (NORMWISE | LOOSE_INF if name == "ptp" else 0),
        **options
    )


def kept_shape(shape, axes, keepdims):
    reduced = range(len(shape)) if axes is None else [a % len(shape) for a in axes]
    if keepdims:
        return tuple(1 if i in reduced else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in reduced)


# ---- Which cases ----


def axes_sets(ndim):
    yield None
    for count in range(1, ndim + 1):
        yield from itertools.combinations(range(ndim), count)


def content_of(name):
    return {
        "prod": "near1",
        "nanprod": "near1",
        "nanargmin": "ties",
        "nanargmax": "ties",
        "argmin": "ties",
        "argmax": "ties",
        "any": "ties",
        "all": "near1",
        "count_nonzero": "ties",
    }.get(name, "plain")


def takes_special(name, dtype):
    return KINDS[dtype] in "fc" and not (name in ("prod", "nanprod") and KINDS[dtype] == "c")


def row_cases(file, name, dtype):
    content = content_of(name)
    if KINDS[dtype] not in ROWS[name][1]:
        file.case(name, [values(dtype, (37,), content)], [], 0.0, ERROR)
        return
    sets = [(s, a) for s in SHAPES for a in axes_sets(len(s))] if dtype in FULL else FEW
    sets = FEWEST if dtype in SAMPLED else sets
    for i, (shape, axes) in enumerate(sets):
        reduce(file, name, values(dtype, shape, content), axes, keepdims=i % 3 == 1)
    if takes_special(name, dtype):
        for axes in (None,) if dtype in SAMPLED else (None, (0,), (1,), (2,), (0, 2)):
            reduce(file, name, values(dtype, (3, 4, 5), "special"), axes)


def option_cases(file):
    for dtype in ("float32", "int32", "complex64", "float16"):
        for name in ("var", "std", "nanvar", "nanstd"):
            for shape, axes, ddof in (
                ((37,), None, 1),
                ((3, 4, 5), (1,), 1),
                ((1,), None, 1),
                ((3, 4, 5), (1,), 5),
            ):
                reduce(file, name, values(dtype, shape, "plain"), axes, ddof=ddof)
    wanted = [
        ("int32", "float32"),
        ("float32", "float64"),
        ("float16", "float32"),
        ("int8", "int16"),
        ("float32", "complex64"),
        ("bool", "float32"),
        ("bfloat16", "float64"),
        ("uint8", "uint8"),
    ]
    for x, dtype in wanted:
        for name in ("sum", "prod", "mean", "var"):
            if KINDS[dtype] in "fc" or name in ("sum", "prod"):
                reduce(file, name, values(x, (3, 4, 5), content_of(name)), (1,), dtype=dtype)
    reduce(file, "sum", values("float64", (3, 4, 5), "plain"), None, dtype="int32")


def dot(file, x, y):
    """As numpy.dot: the result has the operands' common dtype, of bools their or."""
    from golden import promote

    common = promote(x.dtype, y.dtype)
    a, b = Array(common, x.v).v, Array(common, y.v).v
    if KINDS[common] not in "fc":
        file.case("dot", [x, y], [Array(common, np.dot(a, b))])
        return
    wide = np.clongdouble if KINDS[common] == "c" else np.longdouble
    answer = np.sum(a.astype(wide) * b.astype(wide))
    bound = 2 * (len(a) + 4) * accumulator_epsilon(common) * np.sum(magnitude(a) * magnitude(b))
    bound += EPSILON[common] * magnitude(answer) + 1e-300
    file.case("dot", [x, y], [Array(common, answer), Array("float64", bound)], 0.0, BOUNDED)


def dot_cases(file):
    for dtype in DTYPES:
        for shape in ((37,), (1,), (0,)):
            dot(file, values(dtype, shape, "plain"), values(dtype, shape, "near1"))
    for a, b in (
        ("float32", "float64"),
        ("int8", "float32"),
        ("float64", "complex64"),
        ("bool", "int16"),
    ):
        dot(file, values(a, (37,), "plain"), values(b, (37,), "near1"))


def main():
    file = File()
    for k, name in enumerate(ROWS):
        for dtype in DTYPES:
            if name in BOTH or is_sample(dtype, k):
                row_cases(file, name, dtype)
    option_cases(file)
    dot_cases(file)
    file.write(ROOT / "tests/golden/reduce.bin")


if __name__ == "__main__":
    main()
