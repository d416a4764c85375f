"""Makes sets.bin: NumPy's sets of every dtype and of pairs of dtypes: make_sets.py [OUT].

Cases, with what `ddof` means and the answers:
  unique       1: each NaN for itself     values, indices, counts
  inverse      the same                   values, inverse
  isin, in1d   1: inverted                truths
  union1d                                 values
  intersect1d  1: assume_unique           values, indices of both
  setdiff1d, setxor1d    the same         values
  mode         the axis in `axes`         values, counts
"""

import sys
from pathlib import Path

import numpy as np

from golden import DTYPES, LOOSE_ZERO, Array, File, is_sample, promote
from make_sort import numbers

CONTENTS = ["any", "special", "few", "equal"]
PAIRS = [("int8", "uint8"), ("int32", "float32"), ("float16", "float64"), ("bool", "int16"), ("uint64", "int64"),
         ("float32", "complex64"), ("bfloat16", "float16"), ("float64", "int32"), ("complex128", "int8"),
         ("float16", "int32"), ("bfloat16", "int16"), ("float32", "bool")]


def drawn(rng, dtype, shape, what, pool):
    """Elements of a shape, many of them equal: drawn from the pool."""
    return Array(dtype, pool.v[rng.integers(len(pool.v), size=shape)] if len(pool.v) else pool.v.reshape(shape))


def mode(file, x, axis):
    """The most frequent element of each row, the least of several."""
    rows = x.v.reshape(1, -1) if axis is None else np.moveaxis(x.v, axis, -1)
    values, counts = np.empty(rows.shape[:-1], rows.dtype), np.empty(rows.shape[:-1], np.int64)
    for at in np.ndindex(rows.shape[:-1]):
        own, _, often = np.unique(rows[at], return_index=True, return_counts=True)
        values[at], counts[at] = own[np.argmax(often)], np.max(often)
    if axis is None:
        values, counts = values[0], counts[0]
    file.case("mode", [x], [Array(x.dtype, values), Array("int64", counts)], axes=None if axis is None else [axis],
              flags=LOOSE_ZERO)


def unique(file, x, distinct):
    values, indices, inverse, counts = np.unique(x.v, True, True, True, equal_nan=not distinct)
    values = Array(x.dtype, values)
    file.case("unique", [x], [values, Array("int64", indices), Array("int64", counts)], ddof=int(distinct))
    file.case("inverse", [x], [values, Array("int64", inverse)], ddof=int(distinct))


def unique_parts(file, x, axis):
    values, indices, inverse, counts = np.unique(x.v, True, True, True, axis=axis)
    values = Array(x.dtype, values)
    file.case("unique", [x], [values, Array("int64", indices), Array("int64", counts)], axes=[axis])
    file.case("inverse", [x], [values, Array("int64", inverse)], axes=[axis])


def pair(file, a, b):
    """The sets of two arrays, which NumPy gets in their common dtype."""
    common = promote(a.dtype, b.dtype)
    x, y = Array(common, a.v).v, Array(common, b.v).v
    for invert in (False, True):
        file.case("isin", [a, b], [Array("bool", np.isin(x, y, invert=invert))], ddof=int(invert))
    file.case("in1d", [a, b], [Array("bool", np.isin(x.ravel(), y))])
    file.case("union1d", [a, b], [Array(common, first_ones(np.concatenate((x, y), axis=None)))])
    both, of_a, of_b = np.intersect1d(x, y, return_indices=True)
    file.case("intersect1d", [a, b], [Array(common, both), Array("int64", of_a), Array("int64", of_b)])
    kept = first_ones(a.v)
    file.case("setdiff1d", [a, b], [Array(a.dtype, kept[~np.isin(Array(common, kept).v, y)])])
    file.case("setxor1d", [a, b], [Array(common, np.setxor1d(first_ones(x), first_ones(y), assume_unique=True))])


def first_ones(x):
    """numpy.unique, by its stable sort: the first of equal elements, as -0 and 0 are."""
    return np.unique(x, return_index=True)[0]


def unique_pair(file, a, b):
    """Arrays without repeated elements, in any order."""
    both, of_a, of_b = np.intersect1d(a.v, b.v, assume_unique=True, return_indices=True)
    file.case("intersect1d", [a, b], [Array(a.dtype, both), Array("int64", of_a), Array("int64", of_b)], ddof=1)
    file.case("setdiff1d", [a, b], [Array(a.dtype, np.setdiff1d(a.v, b.v, assume_unique=True))], ddof=1)
    file.case("setxor1d", [a, b], [Array(a.dtype, np.setxor1d(a.v, b.v, assume_unique=True))], ddof=1)


def main(out):
    file, rng = File(), np.random.default_rng(40)
    shapes = [((70,), (9,)), ((7, 5), (60,)), ((300,), (3, 50)), ((), (4,)), ((1,), ()), ((0, 3), (5,)), ((6,), (0,))]
    for dtype in DTYPES:
        for k, what in enumerate(CONTENTS):
            if not is_sample(dtype, k):
                continue
            pool = numbers(rng, dtype, (40,), what)
            for s, (shape, other) in enumerate(shapes):
                x, y = drawn(rng, dtype, shape, what, pool), drawn(rng, dtype, other, what, pool)
                unique(file, x, (s + k) % 3 == 0)
                if (s + k) % 2 == 0:
                    pair(file, x, y)
            for shape, axis in (((30,), None), ((), None), ((6, 9), 1), ((9, 6), 0), ((2, 40, 3), -2), ((4, 5), None)):
                mode(file, drawn(rng, dtype, shape, what, pool), axis)
            x, y = (Array(dtype, rng.permutation(first_ones(pool.v))[:30]) for _ in range(2))
            unique_pair(file, x, y)
    for k, (first, second) in enumerate(PAIRS):
        for what in ("few", "special"):
            a, b = numbers(rng, first, (50,), what), numbers(rng, second, (20 if k % 2 else 90,), what)
            pair(file, a, b)
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"):
        for k, (shape, axis) in enumerate((((40, 2), 0), ((3, 50), 1), ((9, 2, 2), -3), ((2, 9, 2), 1), ((1, 3), 0))):
            what = CONTENTS[k % 3]
            unique_parts(file, drawn(rng, dtype, shape, what, numbers(rng, dtype, (3,), what)), axis)
    file.write(out)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "sets.bin")
