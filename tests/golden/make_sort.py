"""Makes sort.bin: NumPy's stable sorts and orders along axes, of every dtype: make_sort.py [OUT].

A case "sort" has the sorted values and the indices as its answers.
"""

import sys
from pathlib import Path

import numpy as np

from golden import DTYPES, ERROR, KINDS, Array, File, is_sample

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 2.5, np.nan, -0.0, 0.0, 1.0]


def numbers(rng, dtype, shape, what):
    """Elements of a shape: of any value, few distinct ones, special ones, ascending, descending or equal."""
    count = int(np.prod(shape))
    kind = KINDS[dtype]
    if kind == "c":
        parts = [numbers(rng, "float32", shape, what).v for _ in range(2)]
        return Array(dtype, parts[0].astype(np.complex64) + 1j * parts[1] if what != "special" else joined(*parts))
    if what == "special" and kind == "f":
        values = np.array(SPECIAL)[rng.integers(len(SPECIAL), size=count)]
    elif what == "few" or kind == "?":
        values = rng.integers(0, 3, count)
    elif what in ("ascending", "descending"):
        values = np.arange(count)[:: 1 if what == "ascending" else -1] // 2
    elif what == "equal":
        values = np.full(count, 3)
    elif kind == "f":
        values = rng.standard_normal(count) * 10
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    return Array(dtype, np.asarray(values).reshape(shape))


def joined(re, im):
    """Complex numbers of these parts: an addition would spread NaN."""
    z = np.empty(re.shape, np.complex64)
    z.real, z.imag = re, im
    return z


def sort(file, array, axis):
    order = np.argsort(array.v, axis=axis, kind="stable")
    values = np.take_along_axis(array.v, order, axis)
    file.case("sort", [array], [Array(array.dtype, values), Array("int64", order)], axes=[axis])


def main(out):
    file, rng = File(), np.random.default_rng(18)
    contents = ["any", "special", "few", "ascending", "descending", "equal"]
    shapes = [((40,), 0), ((3, 7), 1), ((7, 3), 0), ((2, 5, 3), 1), ((1, 130), -1), ((0, 4), 0), ((4, 0), 1)]
    for dtype in DTYPES:
        for k, what in enumerate(contents):
            for s, (shape, axis) in enumerate(shapes):
                if is_sample(dtype, k + s) and (s + k) % 2 == 0:
                    sort(file, numbers(rng, dtype, shape, what), axis)
    for dtype in ("float32", "int16", "complex64"):
        sort(file, numbers(rng, dtype, (1, 1100), "any"), 1)
        file.case("sort", [Array(dtype, np.array(2))], [], flags=ERROR, axes=[-1])
    file.write(out)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "sort.bin")
