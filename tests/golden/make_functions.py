"""Makes functions.bin: NumPy's answers to reductions with a mask, an initial element or offsets, and to functions that
take options or have several results. Run with no arguments from anywhere; the output stands beside this file.

A case of a reduction has the array, then a mask (bool) or offsets (int64), then perhaps the initial number.
"""

import warnings

import numpy as np
from golden import BOUNDED, KEEPDIMS, KINDS, LOOSE_INF, LOOSE_ZERO, NORMWISE, ROOT, Array, File
from make_reduce import (
    EPSILON,
    ROWS,
    TINY,
    compute_dtype,
    content_of,
    exact,
    floating,
    last_axes,
    kept_shape,
    result_dtype,
    values,
)

warnings.simplefilter("ignore")
np.seterr(all="ignore")
rng = np.random.default_rng(11)
SOME = ("float32", "float64", "int8", "uint16", "float16", "complex64", "bool", "bfloat16")
EMPTY = {"sum": 0, "prod": 1, "nansum": 0, "nanprod": 1, "any": False, "all": True, "count_nonzero": 0}
INITIAL = ("sum", "prod", "min", "max", "nansum", "nanprod", "nanmin", "nanmax")


def fold(name, x, common, result, ddof, initial):
    """(answer, bound) of a 1-D array; None: it has no answer."""
    row = ROWS[name]
    if initial is not None:
        x = np.append(x, np.asarray(initial).astype(x.dtype))
    if KINDS[common] in "fc" and row[2] in ("SUM", "MEAN"):
        answer, bound = floating(name, x, common, result, ddof)
        real = {"complex64": "float32", "complex128": "float64"}.get(result, result)
        return answer, bound + TINY[real]
    if x.size == 0:
        return (EMPTY[name], 0) if name in EMPTY else (-1, 0) if "arg" in name else None
    return exact(name, x), 0


def case(file, name, x, groups, shape, extra, initial, axes, flags, ddof=0):
    """`groups`: the elements of each output, in order."""
    row = ROWS[name]
    common = compute_dtype(row, x.dtype)
    result = result_dtype(row, common)
    answers = []
    for group in groups:
        wide = Array(common, group).v if row[2] in ("SUM", "MEAN") else group
        answers.append(fold(name, wide, common, result, ddof, initial))
    if any(a is None for a in answers):
        return
    kind = np.longdouble if KINDS[result] == "f" else np.clongdouble if KINDS[result] == "c" else None
    got = np.array([a for a, _ in answers], kind).reshape(shape)
    outs = [Array(result, got)]
    if KINDS[common] in "fc" and row[2] in ("SUM", "MEAN"):
        outs.append(Array("float64", np.array([b for _, b in answers], np.float64).reshape(shape)))
        flags |= BOUNDED
    else:
        flags |= LOOSE_ZERO | (NORMWISE | LOOSE_INF if KINDS[result] == "c" else 0)
    args = [x, extra] + ([initial] if initial is not None else [])
    file.case(name, args, outs, 0.0, flags, ddof=ddof, axes=axes)


def masked(file, name, dtype, shape, axes, mask_shape, k):
    x = values(dtype, shape, "special" if KINDS[dtype] in "fc" and k % 3 == 2 else content_of(name))
    if name in ("prod", "nanprod"):
        x = values(dtype, shape, "near1")
    mask = Array("bool", rng.random(mask_shape) < 0.6)
    initial = (3, 2)[k % 2] if name in INITIAL and (k % 2 or "min" in name or "max" in name) else None
    if dtype == "bool" and initial is not None:
        initial = True
    rows, chosen = last_axes(x.v, axes), last_axes(np.broadcast_to(mask.v, shape), axes)
    places = "arg" in name
    groups = []
    for row, keep in zip(rows.reshape(-1, rows.shape[-1]), chosen.reshape(-1, rows.shape[-1])):
        groups.append(row[keep])
    keep_axes = k % 2 == 1
    out_shape = kept_shape(shape, axes, keep_axes)
    if places:
        place_case(file, name, x, rows, chosen, out_shape, mask, axes, keep_axes)
        return
    ddof = 1 if name in ("var", "std", "nanvar", "nanstd") and k % 2 else 0
    case(file, name, x, groups, out_shape, mask, initial, axes, KEEPDIMS if keep_axes else 0, ddof)


def place_case(file, name, x, rows, chosen, out_shape, mask, axes, keep_axes):
    """Indices are those among all elements; -1 where none is left."""
    answers = []
    for row, keep in zip(rows.reshape(-1, rows.shape[-1]), chosen.reshape(-1, rows.shape[-1])):
        keep = keep & ~np.isnan(row) if name.startswith("nan") else keep
        numbers = np.flatnonzero(keep)
        plain = name.replace("nan", "")
        answers.append(numbers[getattr(np, plain)(row[keep])] if len(numbers) else -1)
    out = Array("int64", np.array(answers).reshape(out_shape))
    file.case(name, [x, mask], [out], 0.0, KEEPDIMS if keep_axes else 0, axes=axes)


def masks(file):
    shapes = [((37,), None, (37,)), ((3, 4, 5), None, (4, 5)), ((3, 4, 5), (1,), (3, 4, 5)), ((3, 4, 5), (0, 2), (5,)),
              ((3, 4, 5), (2,), (3, 1, 5)), ((70, 9), (0,), (70, 1)), ((6, 130), (1,), (6, 130))]
    for k, name in enumerate(ROWS):
        for d, dtype in enumerate(SOME):
            if KINDS[dtype] in ROWS[name][1]:
                for s, (shape, axes, mask_shape) in enumerate(shapes):
                    if dtype == "float32" or (s + d + k) % 3 == 0:
                        masked(file, name, dtype, shape, axes, mask_shape, k + s)


def segments(file):
    for k, name in enumerate(ROWS):
        if "arg" in name:
            continue
        for d, dtype in enumerate(SOME):
            if KINDS[dtype] not in ROWS[name][1]:
                continue
            for shape, axis in (((37,), 0), ((5, 130), 1), ((130, 4), 0), ((3, 4, 5), 1)):
                if dtype != "float32" and (d + k + axis) % 2:
                    continue
                x = values(dtype, shape, "near1" if "prod" in name else content_of(name))
                n = shape[axis]
                filled = name in EMPTY or name in ("mean", "nanmean", "logsumexp")
                offsets = np.sort(rng.integers(0, n, 5, endpoint=True))
                offsets = offsets if filled else np.unique(offsets)
                offsets = Array("int64", offsets)
                moved = np.moveaxis(x.v, axis, -1)
                groups = [row[a:b] for row in moved.reshape(-1, n) for a, b in zip(offsets.v[:-1], offsets.v[1:])]
                count = len(offsets.v) - 1
                out = np.empty(moved.shape[:-1] + (count,))
                back = np.moveaxis(np.arange(out.size).reshape(out.shape), -1, axis)
                ordered = [groups[i] for i in back.reshape(-1)]
                case(file, name, x, ordered, back.shape, offsets, None, (axis,), 0, 0)


def functions(file):
    for m in (0, 1, 2, 5, 12, 51):
        for name in ("bartlett", "blackman", "hamming", "hanning"):
            answer = getattr(np, name)(m)
            file.case(name, [m], [Array("float64", answer), Array("float64", np.full(answer.shape, 1e-15))], 0, BOUNDED)
        for beta in (0.0, 5.5, 14.0):
            answer = np.kaiser(m, beta)
            file.case("kaiser", [m, beta], [Array("float64", answer), Array("float64", np.abs(answer) * 4e-15)], 0,
                      BOUNDED)
    for start, stop, num in ((0.0, 3.0, 4), (-2.0, 2.5, 17), (1.0, 1.0, 1), (0.0, 1.0, 0)):
        file.case("logspace", [start, stop, num], [Array("float64", np.logspace(start, stop, num))], 4)
    for start, stop, num in ((1.0, 1000.0, 4), (-2.0, -300.0, 9), (5.0, 0.01, 33), (2.0, 3.0, 1)):
        file.case("geomspace", [start, stop, num], [Array("float64", np.geomspace(start, stop, num))], 16)
    for dtype in ("float32", "float64", "float16", "complex64", "int32", "uint8", "int64"):
        x = values(dtype, (37,), "plain")
        if dtype == "int64":  # NumPy rounds larger integers as doubles, which lose digits
            x = Array(dtype, np.clip(x.v, -2**50, 2**50))
        for decimals in (1, 3, -1, -2):
            file.case("round", [x, decimals], [Array(dtype, np.round(x.v, decimals))], 0, LOOSE_ZERO)
    for dtype in ("float32", "float64", "complex64", "int16"):
        x = values(dtype, (3, 4, 5), "special")
        y = Array(dtype, x.v * np.array(1.01, x.v.dtype))
        file.case("isclose", [x, y], [Array("bool", np.isclose(x.v, y.v, rtol=0, atol=0.02, equal_nan=True))])
        file.case("nan_to_num", [x], [Array(dtype, np.nan_to_num(x.v, nan=1.5, posinf=0, neginf=-7))])
    for a, b in (("float32", "float32"), ("int8", "uint8"), ("float64", "int32"), ("int16", "int16")):
        x, y = values(a, (37,), "plain"), values(b, (37,), "near1")
        q, r = np.divmod(x.v, y.v)
        file.case("divmod", [x, y], [Array(q.dtype.name, q), Array(r.dtype.name, r)], 0, LOOSE_ZERO)
    for dtype in ("float32", "float64", "int32", "complex128"):
        x = values(dtype, (4, 30), "near1" if dtype == "int32" else "plain")
        tight = 1e-12 if dtype == "int32" else 1e-13
        for name in ("cov", "corrcoef"):
            answer = getattr(np, name)(x.v)
            bound = np.full(answer.shape, tight * max(1, np.abs(answer).max()))
            file.case(name, [x], [Array(answer.dtype.name, answer), Array("float64", bound)], 0, BOUNDED)
        w = Array("float64", rng.random(30) + 0.1)
        answer = np.average(x.v, axis=1, weights=w.v)
        bound = np.full(answer.shape, 1e-13 * max(1, np.abs(x.v).max()))
        file.case("average", [x, w], [Array(answer.dtype.name, answer), Array("float64", bound)], 0, BOUNDED, axes=(1,))


def main():
    file = File()
    masks(file)
    segments(file)
    functions(file)
    file.write(ROOT / "tests/golden/functions.bin")


if __name__ == "__main__":
    main()
