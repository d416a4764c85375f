"""Makes scan.bin: NumPy's answers to every row of scan.def.

A case's arguments are the array, then the number of .initial and the array of .offsets if the case has them; its ddof
holds which options it has. Floating sums are computed in x87 extended precision; beside each stands the largest error
allowed: the usual bound on summing one element after another in the precision that the table accumulates in. Run with
no arguments from anywhere; the output stands beside this file.
"""

import warnings

import numpy as np

from golden import BOUNDED, DTYPES, ERROR, KINDS, LOOSE_ZERO, ROOT, SAMPLED, Array, File, is_sample, rows
from make_reduce import EPSILON, FULL, TINY, accumulator_epsilon, magnitude, values

warnings.simplefilter("ignore")
np.seterr(all="ignore")
ROWS = {r[0]: r for r in rows("scan")}
EXCLUSIVE, REVERSE, INCLUDE, INITIAL, OFFSETS, STANDARD = 1, 2, 4, 8, 16, 32
SHAPES = [((), None), ((), 0), ((0,), None), ((1,), 0), ((37,), None), ((37,), -1), ((5, 7), None), ((5, 7), 0),
          ((5, 7), 1), ((3, 4, 5), 0), ((3, 4, 5), 1), ((3, 4, 5), -1), ((0, 3), 0), ((0, 3), 1), ((3, 0), None)]
FEW = [((37,), None), ((5, 7), 0), ((0, 3), 1), ((), None)]
FEWEST = [((37,), None)]


def compute_dtype(row, dtype):
    """The dtype the row's rule makes of an array's."""
    if row[2] == "SUM" and KINDS[dtype] in "?iu":
        return "uint64" if KINDS[dtype] == "u" else "int64"
    if row[2] == "FLOAT" and KINDS[dtype] in "?iu":
        return np.exp(np.zeros(1, dtype)).dtype.name
    return dtype


def accumulate(name, x):
    """The inclusive scan along axis 0, of x in the precision to compute in."""
    if name.startswith("nan"):
        x = np.where(np.isnan(x), 0 if name == "nancumsum" else 1, x)
    function = {"cumsum": np.add, "nancumsum": np.add, "cumprod": np.multiply, "nancumprod": np.multiply,
                "cummax": np.maximum, "cummin": np.minimum, "cumulative_logsumexp": np.logaddexp}[name]
    if x.dtype == bool and name in ("cumsum", "nancumsum"):
        return np.logical_or.accumulate(x, axis=0)
    return function.accumulate(x, axis=0, dtype=x.dtype) if len(x) else x


def identity(name, dtype):
    if name in ("cummax", "cummin"):
        sign = -1 if name == "cummax" else 1
        if np.issubdtype(dtype, np.complexfloating):
            return complex(sign * np.inf, sign * np.inf)
        if np.issubdtype(dtype, np.floating):
            return sign * np.inf
        if dtype == bool:
            return sign > 0
        return np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max
    return {"cumsum": 0, "nancumsum": 0, "cumprod": 1, "nancumprod": 1, "cumulative_logsumexp": -np.inf}[name]


def one_segment(name, x, options, initial):
    """The scan of a segment along axis 0, and its first element alone."""
    start = np.full((1,) + x.shape[1:], identity(name, x.dtype) if initial is None else initial, x.dtype)
    given = x[::-1] if options & REVERSE else x
    with_start = accumulate(name, np.concatenate([start, given]) if initial is not None else given)
    if initial is None:
        with_start = np.concatenate([start, with_start])
    answer = with_start[:-1] if options & EXCLUSIVE else with_start[1:]
    first = with_start[:1]
    return (answer[::-1], first) if options & REVERSE else (answer, first)


def scan(name, x, options, initial, offsets):
    """x scanned along axis 0."""
    edges = [0, *sorted(set(offsets)), len(x)] if options & OFFSETS else [0, len(x)]
    parts = [one_segment(name, x[a:b], options, initial) for a, b in zip(edges, edges[1:]) if b > a]
    parts = parts or [one_segment(name, x, options, initial)]
    answer = np.concatenate([part for part, _ in parts])
    if options & INCLUDE:
        pair = [answer, parts[0][1]] if options & REVERSE else [parts[0][1], answer]
        answer = np.concatenate(pair)
    return answer


def wide_dtype(common):
    return np.clongdouble if KINDS[common] == "c" else np.longdouble


def floating(name, x, common, options, initial, offsets):
    """The answer in extended precision along axis 0, and the largest error of each element."""
    wide = x.astype(wide_dtype(common))
    answer = scan(name, wide, options, initial, offsets)
    eps, n = accumulator_epsilon(common), len(x) + 6
    own = EPSILON[common] * magnitude(answer)
    if name in ("cumsum", "nancumsum"):
        sizes = magnitude(np.where(np.isnan(wide), 0, wide)) if name == "nancumsum" else magnitude(wide)
        return answer, n * eps * (np.sum(np.where(np.isfinite(sizes), sizes, 0), axis=0) + abs(initial or 0)) + own
    if name == "cumulative_logsumexp":
        return answer, n * eps * (1 + np.abs(answer)) + own
    return answer, 4 * n * eps * magnitude(answer) + own


def add_case(file, name, array, axis, options=0, initial=None, offsets=(), dtype=None):
    row = ROWS[name]
    common = dtype or compute_dtype(row, array.dtype)
    x = Array(common, array.v).v
    given = name
    if options & STANDARD:
        given = {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}[name]
    arguments = [array] + ([initial] if options & INITIAL else [])
    arguments += [Array("int32", np.array(offsets))] if options & OFFSETS else []
    choices = {"axes": None if axis is None else (axis,), "ddof": options, "dtype": dtype}
    if axis is None and options & STANDARD and x.ndim > 1:
        file.case(given, arguments, [], 0.0, ERROR, **choices)
        return
    x = np.moveaxis(x.reshape(-1) if axis is None or x.ndim == 0 else x, axis or 0, 0)

    def back(answer):
        return np.moveaxis(answer, 0, axis or 0) if array.v.ndim > 0 else answer

    if KINDS[common] in "fc" and row[2] != "SAME":
        answer, bound = floating(name, x, common, options, initial, offsets)
        real = {"complex64": "float32", "complex128": "float64"}.get(common, common)
        bound = np.where(np.isnan(bound), np.inf, np.asarray(bound, np.float64)) + TINY[real]
        bound = np.broadcast_to(bound, answer.shape)
        outs = [Array(common, back(answer)), Array("float64", back(bound))]
        file.case(given, arguments, outs, 0.0, BOUNDED, **choices)
        return
    answer = scan(name, x, options, initial, offsets)
    file.case(given, arguments, [Array(common, back(answer))], 0.0, LOOSE_ZERO, **choices)


def content_of(name):
    return {"cumprod": "near1", "nancumprod": "near1", "cummax": "ties", "cummin": "ties"}.get(name, "plain")


def takes_special(name, dtype):
    return KINDS[dtype] == "f" or (KINDS[dtype] == "c" and name in ("cummax", "cummin", "cumsum", "nancumsum"))


def row_cases(file, name, dtype):
    cases = SHAPES if dtype in FULL else FEWEST if dtype in SAMPLED else FEW
    for shape, axis in cases:
        add_case(file, name, values(dtype, shape, content_of(name)), axis)
    if takes_special(name, dtype):
        for axis in (None,) if dtype in SAMPLED else (None, 0, 2):
            add_case(file, name, values(dtype, (3, 4, 5), "special"), axis)


def option_cases(file):
    every = [EXCLUSIVE, REVERSE, INCLUDE, INITIAL, OFFSETS, EXCLUSIVE | REVERSE, EXCLUSIVE | INITIAL, REVERSE | INCLUDE,
             INCLUDE | INITIAL, REVERSE | OFFSETS, EXCLUSIVE | OFFSETS, INITIAL | OFFSETS,
             EXCLUSIVE | INITIAL | OFFSETS,
             REVERSE | EXCLUSIVE | INITIAL | OFFSETS]
    for name in ("cumsum", "cummin", "cumulative_logsumexp"):
        for dtype in ("float32", "int8", "complex64") if name == "cumsum" else ("float32",):
            for k, options in enumerate(every):
                initial = (2.5 if KINDS[dtype] in "fc" else 3) if options & INITIAL else None
                for shape, axis in (((5, 7), k % 2), ((37,), None), ((0, 3), 0)):
                    length = shape[axis or 0]
                    offsets = [o for o in (0, 1, 3, 3, 6, 20) if o < length] + [length]
                    add_case(file, name, values(dtype, shape, content_of(name)), axis, options, initial, offsets)
    for shape, axis in (((7,), None), ((5, 7), None), ((5, 7), 1), ((), None)):
        for name in ("cumsum", "cumprod"):
            add_case(file, name, values("int16", shape, "near1"), axis, STANDARD | INCLUDE)


def dtype_cases(file):
    for dtype, wanted in (("int32", "float32"), ("float32", "float64"), ("float16", "float32"), ("int8", "int16"),
                          ("float32", "complex64"), ("bool", "bool"), ("uint8", "uint8"), ("bfloat16", "float64")):
        for name in ("cumsum", "cumprod", "cummax"):
            add_case(file, name, values(dtype, (3, 4, 5), content_of(name)), 1, dtype=wanted)


def main():
    file = File()
    for k, name in enumerate(ROWS):
        for dtype in DTYPES:
            if KINDS[dtype] in ROWS[name][1] and is_sample(dtype, k):
                row_cases(file, name, dtype)
    option_cases(file)
    dtype_cases(file)
    file.write(ROOT / "tests/golden/scan.bin")


if __name__ == "__main__":
    main()
