"""Makes rank.bin: NumPy's answers to medians and quantiles; ddof is the number of the method.

Floats that NumPy lacks are interpolated here, operation by operation. Run with no arguments from anywhere; the output
stands beside this file.
"""

import re
import warnings

import numpy as np

from golden import DTYPES, ERROR, KEEPDIMS, KINDS, LOOSE_ZERO, ROOT, SMALL, Array, File, code, is_sample

warnings.simplefilter("ignore")
np.seterr(all="ignore")
METHODS = re.findall(r"GA_METHOD\((\w+), (\w+), \w+\)", (ROOT / "templates/engine/rank_methods.def").read_text())
SHAPES = [((), None), ((1,), None), ((2,), (0,)), ((37,), (-1,)), ((40,), None), ((6, 9), (0,)), ((6, 9), (1,)),
          ((6, 9), None), ((3, 4, 5), (1,)), ((3, 4, 5), (0, 2)), ((3, 4, 5), (2, 0)), ((3, 4, 5), (0, 1, 2)),
          ((2, 300), (1,)), ((0, 3), (1,)), ((3, 0), (0,))]
QS = [0.5, 0.0, 1.0, 1 / 3, 0.9, 0, 1, ("float64", [0.5]), ("float64", [0.1, 0.9, 0.5, 0.5]), ("float32", [0.3, 0.7]),
      ("float16", [0.2, 1.0]), ("int64", [1, 0]), ("float64", []), ("float64", [[0.25, 0.75]])]


def values(dtype, shape, content):
    rng = np.random.default_rng([code(dtype), sum(map(ord, content)), *shape])
    kind = KINDS[dtype]
    if kind == "?":
        return Array(dtype, rng.random(shape) < 0.5)
    if kind in "iu":
        low, high = (0, 6) if content == "ties" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return Array(dtype, rng.integers(low, high, shape, dtype=np.dtype(dtype), endpoint=True))
    x = np.round(rng.normal(0, 3, shape)) if content == "ties" else rng.normal(0.5, 20, shape)
    if kind == "c":
        x = x + 1j * rng.normal(0, 2, shape)
    x = np.asarray(x)
    if content == "special" and x.size > 3:
        flat = x.reshape(-1)
        flat[:: max(3, x.size // 9)] = np.nan
        flat[1 :: max(4, x.size // 7)] = np.inf
        flat[2] = -np.inf
    if content == "infinite" and x.size > 3:
        x.reshape(-1)[:: max(2, x.size // 5)] = np.inf
    return Array(dtype, x)


def small_lerp(dtype, x, q):
    """The linear quantile of floats that NumPy lacks, along the last axis; q is a Python float."""
    rounded = lambda v: Array(dtype, v).v.astype(np.float64)  # noqa: E731
    v = np.sort(x.astype(np.float64), axis=-1)
    index = (v.shape[-1] - 1) * q
    low = min(int(np.floor(index)), v.shape[-1] - 1)
    high = min(low + 1, v.shape[-1] - 1)
    t = index - low if index < v.shape[-1] - 1 else index + 1
    a, b = v[..., low], v[..., high]
    step = rounded(rounded(b - a) * rounded(1 - t if t >= 0.5 else t))
    return np.where(np.isnan(v[..., -1]), np.nan, rounded(b - step) if t >= 0.5 else rounded(a + step))


def q_argument(q, scale):
    if not isinstance(q, tuple):
        return q * scale, q * scale
    array = Array(q[0], np.asarray(q[1], dtype=q[0]) * np.asarray(scale, dtype=q[0]))
    return array, array.v


def median(file, name, x, axes, keepdims):
    if x.v.size == 0 and name == "nanmedian":
        return
    result = "float64" if KINDS[x.dtype] in "?iu" else x.dtype
    answer = getattr(np, name)(x.v, axis=axes, keepdims=keepdims)
    flags = LOOSE_ZERO | (KEEPDIMS if keepdims else 0)
    file.case(name, [x], [Array(result, np.asarray(answer))], 0.0, flags, axes=axes)


def quantile(file, name, x, q, axes, keepdims, method):
    if x.v.size == 0 and "nan" in name:
        return
    if np.ndim(q[1] if isinstance(q, tuple) else q) > 1 and "nan" in name:
        return  # NumPy's axes come in another order
    argument, number = q_argument(q, 100 if "percentile" in name else 1)
    flags = LOOSE_ZERO | (KEEPDIMS if keepdims else 0)
    try:
        answer = getattr(np, name)(x.v, number, axis=axes, keepdims=keepdims, method=METHODS[method][0])
    except (IndexError, TypeError):  # nothing to reduce; bool does not subtract
        answer, flags = np.zeros(()), flags | ERROR
    answer = np.asarray(answer)
    file.case(name, [x, argument], [Array(answer.dtype.name, answer)], 0.0, flags, ddof=method, axes=axes)


def small_cases(file):
    for k, dtype in enumerate(SMALL):
        for shape, axes in SHAPES[3:9]:
            if not is_sample(dtype, k):
                continue
            for content in ("plain", "special", "ties"):
                x = values(dtype, shape, content)
                median(file, "median", x, axes, False)
                flat = x.v.reshape(-1) if axes is None else np.moveaxis(x.v, axes[0], -1)
                for q in (0.3, 0.75, 1.0):
                    out = Array(dtype, small_lerp(dtype, flat, q))
                    file.case("quantile", [x, q], [out], 0.0, LOOSE_ZERO, axes=axes)


def error_cases(file):
    x, nothing = values("float32", (5,), "plain"), Array("float32", np.zeros((0, 3)))
    zero = [Array("float32", np.zeros(()))]
    for q in (-0.1, 1.5, 2, float("nan"), ("float64", [0.5, -1.0])):
        for name in ("quantile", "nanquantile"):
            file.case(name, [x, q_argument(q, 1)[0]], zero, flags=ERROR)
    for q in (-1.0, 100.5, 101):
        file.case("percentile", [x, q], zero, flags=ERROR)
    file.case("quantile", [values("complex64", (5,), "plain"), 0.5], zero, flags=ERROR)
    file.case("quantile", [values("bool", (5,), "plain"), 0.5], zero, flags=ERROR)
    file.case("quantile", [nothing, 0.5], zero, flags=ERROR, axes=(0,))
    file.case("quantile", [nothing, 0.5], zero, flags=ERROR)
    file.case("quantile", [x, 0.5], zero, flags=ERROR, axes=(1,))
    file.case("median", [values("float32", (2, 3), "plain")], zero, flags=ERROR, axes=(1, 1))


def method_cases(file, method):
    """Few dtypes for each method, because kernels take time to compile: float32, and two by turns."""
    others = ("float64", "int32", "float16", "int8", "uint64", "bool")
    dtypes = ("float32", others[method % 6], others[(method + 2) % 6])
    names = ("quantile", "percentile", "nanquantile", "nanpercentile")
    k = method
    for q in QS:
        for dtype in dtypes:
            if isinstance(q, tuple) and q[0] in ("float16", "float32") and (dtype != "float32" or method % 3):
                continue
            for name in names if dtype == "float32" and method % 2 == 0 else names[:2]:
                k += 1
                shape, axes = SHAPES[k % len(SHAPES)]
                content = ("plain", "special", "ties", "infinite")[k % 4]
                quantile(file, name, values(dtype, shape, content), q, axes, k % 5 == 1, method)


def main():
    file = File()
    real = [d for d in DTYPES if KINDS[d] != "c" and d not in SMALL]
    for name in ("median", "nanmedian"):
        for dtype in real:
            for k, (shape, axes) in enumerate(SHAPES):
                median(file, name, values(dtype, shape, ("plain", "special", "ties")[k % 3]), axes, k % 2 == 1)
    for method in range(len(METHODS)):
        method_cases(file, method)
    small_cases(file)
    error_cases(file)
    for name in ("median", "nanmedian"):
        for dtype in ("complex64", "complex128"):
            for k, (shape, axes) in enumerate(SHAPES):
                median(file, name, values(dtype, shape, ("plain", "ties", "special")[k % 3]), axes, k % 2 == 1)
    file.write(ROOT / "tests/golden/rank.bin")


if __name__ == "__main__":
    main()
