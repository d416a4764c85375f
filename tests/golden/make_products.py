"""Makes products.bin: NumPy's products of matrices and vectors, of every dtype: make_products.py [OUT].

Elements are small whole numbers, so that sums are exact: a result rounds once, to its dtype.
"""

import sys
from pathlib import Path

import numpy as np

from golden import DTYPES, ERROR, KINDS, LOOSE_ZERO, SMALL, Array, File, is_sample, numpy_dtype, promote

MATMUL = [
    ((3, 4), (4, 5)), ((1, 1), (1, 1)), ((7, 33), (33, 2)), ((17,), (17, 9)), ((6, 19), (19,)), ((5,), (5,)),
    ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4, 3), (2, 3, 6)), ((2, 3, 4), (4,)), ((4,), (3, 4, 2)),
    ((0, 4), (4, 3)), ((3, 0), (0, 2)), ((3, 4), (4, 0)), ((0, 3, 4), (1, 4, 2)), ((90, 3), (3, 10)),
]
DOT = MATMUL[:6] + [((2, 3, 4), (5, 4, 2)), ((2, 3), (4, 3, 2)), ((3,), (2, 3, 4)), ((), (2, 3)), ((2, 0), (3, 0, 2))]
MATVEC = [((3, 4), (4,)), ((2, 3, 4), (4,)), ((5, 1, 3, 4), (2, 4)), ((6, 0), (0,)), ((70, 33), (33,))]
VECMAT = [((3,), (3, 4)), ((2, 3), (5, 1, 3, 4)), ((33,), (33, 70)), ((0,), (0, 2))]
WRONG = [("matmul", (2, 3), (2, 3)), ("matmul", (), (3, 2)), ("matmul", (2, 3, 4), (3, 4, 5)), ("dot", (3,), (4,)),
         ("dot", (2, 3), (2, 3)), ("matvec", (3, 4), (3,)), ("matvec", (4,), (4,)), ("vecmat", (3,), (4, 3))]


def numbers(rng, dtype, shape):
    low = 0 if KINDS[dtype] in "?u" else -3
    values = rng.integers(low, 2 if dtype == "bool" else 4, shape)
    return Array(dtype, values + 1j * rng.integers(-3, 4, shape) if KINDS[dtype] == "c" else values)


def exact(dtype):
    """A NumPy dtype in which sums of small floats are exact."""
    return np.dtype("float64") if KINDS[dtype] == "f" else numpy_dtype(dtype)


def product(name, a, b):
    dtype = promote(a.dtype, b.dtype)
    return Array(dtype, getattr(np, name)(a.v.astype(exact(dtype)), b.v.astype(exact(dtype))))


def main(out):
    file, rng = File(), np.random.default_rng(20)
    calls = [(name, *shapes) for name, table in
             (("matmul", MATMUL), ("dot", DOT), ("matvec", MATVEC), ("vecmat", VECMAT)) for shapes in table]
    for dtype in DTYPES:
        for k, (name, left, right) in enumerate(calls):
            if is_sample(dtype, k):
                a, b = numbers(rng, dtype, left), numbers(rng, dtype, right)
                file.case(name, [a, b], [product(name, a, b)], flags=LOOSE_ZERO)
    plain = [dtype for dtype in DTYPES if dtype not in SMALL]
    for k, first in enumerate(plain):
        second = plain[(k * 5 + 3) % len(plain)]
        a, b = numbers(rng, first, (5, 6)), numbers(rng, second, (2, 6, 3))
        file.case("matmul", [a, b], [product("matmul", a, b)], flags=LOOSE_ZERO)
    for name, left, right in WRONG:
        file.case(name, [numbers(rng, "float32", left), numbers(rng, "float32", right)], [], flags=ERROR)
    file.write(out)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "products.bin")
