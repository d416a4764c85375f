"""Makes power.bin: complex powers over a grid of special numbers and over random ones.

Each case is "power" of two arrays with two answers: NumPy's own, which tells where a power is
infinite, and the one computed in x87 extended precision, rounded once, for where it is finite.
Run with no arguments from anywhere; the output stands beside this file.
"""

import warnings

import numpy as np

from golden import ROOT, Array, File

warnings.simplefilter("ignore")
np.seterr(all="ignore")
rng = np.random.default_rng(20261122)
INF, NAN = np.inf, np.nan
LARGE = {"complex64": (1e38, 1e25, 1e-38, 200), "complex128": (1e300, 1e200, 1e-300, 1100)}


def bases(dtype):
    top, large, tiny, _ = LARGE[dtype]
    reals = [0.0, -0.0, 1, -1, 2, -2, 0.5, 10, 1e-3, 1.1, top, -top, large, -large, tiny, INF, -INF, NAN]
    parts = [(0, 1), (0, -1), (0, 2), (1, 1), (-1, -1), (3, -4), (top, top), (-top, top), (tiny, tiny), (large, -1),
             (0, top), (INF, INF), (-INF, INF), (0, INF), (0, -INF), (INF, NAN), (NAN, INF), (2, NAN), (2, -0.0)]
    return [complex(x, 0.0) for x in reals] + [complex(*p) for p in parts]


def exponents(dtype):
    much = LARGE[dtype][3]
    reals = [0.0, 1, 2, 3, 4, 5, 7, -1, -2, -3, 0.5, -0.5, 1.5, 2.5, 99, -99, 100, -100, much, -much, much + 1,
             much + 0.5, 0.1, 1e10, INF, -INF, NAN]
    parts = [(0, 1), (0, 2), (1, 1), (-1, 2), (0, much), (much, 1), (2, INF)]
    return [complex(x, 0.0) for x in reals] + [complex(*p) for p in parts]


def random_pairs(count):
    a = np.exp(rng.normal(0, 3, count)) * np.exp(1j * rng.uniform(-np.pi, np.pi, count))
    a = np.where(rng.random(count) < 0.3, a.real, a)
    whole = rng.integers(-12, 13, count).astype(complex)
    real = rng.normal(0, 4, count).astype(complex)
    both = rng.normal(0, 2, count) + 1j * rng.normal(0, 2, count)
    kind = rng.integers(0, 3, count)
    return a, np.where(kind == 0, whole, np.where(kind == 1, real, both))


def add(file, dtype, a, b):
    a, b = Array(dtype, np.array(a)), Array(dtype, np.array(b))
    numpys = np.power(a.v, b.v)
    fine = np.power(a.v.astype(np.clongdouble), b.v.astype(np.clongdouble))
    file.case("power", [a, b], [Array(dtype, numpys), Array(dtype, fine)])


def main():
    file = File()
    for dtype in LARGE:
        a, b = np.meshgrid(np.array(bases(dtype)), np.array(exponents(dtype)))
        add(file, dtype, a.ravel(), b.ravel())
        add(file, dtype, *random_pairs(1500))
    file.write(ROOT / "tests/golden/power.bin")


if __name__ == "__main__":
    main()
