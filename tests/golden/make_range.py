"""Makes range.bin: the results of numpy.arange and numpy.linspace, and their errors.

Arguments are random numbers of every kind, and the edges: ends of dtypes, integers past 2**53, steps
that underflow, lengths that are not finite. Where an exact integer range has another length than
NumPy's, which divides as floats, the exact one is written. Floats that NumPy lacks are those of ml_dtypes.
Run with no arguments from anywhere; the output stands beside this file.
"""

import warnings

import numpy as np

from golden import DTYPES, ERROR, KINDS, ROOT, SMALL, Array, File, real_dtype

warnings.simplefilter("ignore")
np.seterr(all="ignore")
LONGEST = 70
rng = np.random.default_rng(20261122)


def add(file, name, dtype, args, call):
    try:
        values = call()
    except (OverflowError, ValueError, ZeroDivisionError, TypeError):
        file.case(name, args, [], 0.0, ERROR, dtype=dtype)
        return
    values = values.astype(np.float32) if dtype in SMALL else values
    file.case(name, args, [Array(dtype, values)], dtype=dtype)


def arange(file, dtype, start, stop, step):
    def call():
        if all(isinstance(v, int) for v in (start, stop, step)) and step != 0:
            assert len(range(start, stop, step)) <= LONGEST or KINDS[dtype] == "?"
            end = start + len(range(start, stop, step)) * step
            return np.arange(start, end, step, dtype=real_dtype(dtype))
        return np.arange(start, stop, step, dtype=real_dtype(dtype))

    add(file, "arange", dtype, [start, stop, step], call)


def linspace(file, dtype, start, stop, num):
    add(file, "linspace", dtype, [start, stop, num],
        lambda: np.linspace(start, stop, num, dtype=real_dtype(dtype)))


def ends(dtype):
    if KINDS[dtype] in "?fc":
        return 0, 1000
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def random_range(low, high):
    """Integers whose range has a few numbers and mostly begins within the ends."""
    step = int(rng.integers(1, max((high - low) // 50, 2), dtype=np.uint64)) * int(rng.choice([-1, 1]))
    start = low + int(rng.integers(0, high - low, dtype=np.uint64, endpoint=True))
    stop = start + step * int(rng.integers(-2, LONGEST)) + int(rng.integers(0, 3)) - 1
    return start, min(max(stop, -(2**63)), 2**64 - 1), step


def random_floats(scale):
    step = float(rng.normal() * scale)
    start = float(rng.normal() * scale * rng.choice([0, 1, 30]))
    return start, start + step * float(rng.uniform(-2, LONGEST)), step


def aranges(file):
    for dtype in DTYPES:
        low, high = ends(dtype)
        for _ in range(14):
            start, stop, step = random_range(low, high)
            if KINDS[dtype] != "?" or len(range(start, stop, step)) < 1000:
                arange(file, dtype, start, stop, step)
        for scale in [0.1, 1.0, 7.3, 1e4] if KINDS[dtype] in "fc" else [0.3, 2.5]:
            for _ in range(4):
                arange(file, dtype, *random_floats(scale))
        for args in [(-3, 3, 1), (3, -3, -1), (-3.0, 3.0, 1.0), (0, 2, 1), (5, 7, 1), (0, 3, 1), (0, 0, 1), (3, 0, 1),
                     (0, 2000, 1000), (0, 1000, 1000), (0.0, 2000.0, 1000.0), (0, 5, 0.5), (-0.5, 3, 1), (-1.5, 3, 1),
                     (0, 5, np.inf), (0, -5, np.inf), (0, np.inf, 1), (np.nan, 1, 1), (0, 1, np.nan), (0, 1, 0),
                     (0.0, 0.0, 0.0), (0, 1e-320, 1e10), (0, -1e-320, 1e10), (70000, 70004, 1), (1e20, 1.2e20, 5e18),
                     (2**53, 2**53 + 5, 1), (2**63 - 2, 2**63 + 1, 1), (0, 3 * 2**60 + 1, 2**60), (True, 3, True),
                     (-(2**63), 2**63 - 1, 2**62), (-(2**63), 2**64 - 1, 2**62), (2**60 + 1, 2**60 + 4, 1.0),
                     (-128, 200, 100), (1e300, 2e300, 5e299), (0, 3.5, 1), (0.5, 2, 1), (0.1, 1.7, 0.1)]:
            arange(file, dtype, *args)


def linspaces(file):
    for dtype in DTYPES:
        for _ in range(12):
            start, stop, _ = random_floats(float(rng.choice([0.1, 1, 3])))
            if KINDS[dtype] in "?iu":  # out of range is undefined in NumPy
                start, stop = (float(np.fmod(v, 120)) for v in (start, stop))
            if KINDS[dtype] in "?u":
                start, stop = abs(start), abs(stop)
            linspace(file, dtype, start, stop, int(rng.integers(0, LONGEST)))
        for args in [(0, 1, 0), (0, 1, 1), (3, 5, 1), (0, 1, 2), (2, 2, 5), (0, 10, 11), (10, 0, 11), (0.0, 1.0, 50),
                     (0, 1, -1)]:
            linspace(file, dtype, *args)
        if KINDS[dtype] in "fc":
            for args in [(0, 5e-324, 10), (-5e-324, 1e-322, 30), (0, np.inf, 1), (1e308, -1e308, 5), (-0.0, 0.0, 3),
                         (np.nan, 1, 3), (-1e300, 1e300, 7), (0, 2.0**-140, 9)]:
                linspace(file, dtype, *args)


def main():
    file = File()
    aranges(file)
    linspaces(file)
    file.write(ROOT / "tests/golden/range.bin")


if __name__ == "__main__":
    main()
