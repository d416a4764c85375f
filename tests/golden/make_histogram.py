"""Makes histogram.bin: the results of numpy.searchsorted, digitize, interp, bincount and histogram, and their errors.

Values lie on edges, beside them, and have no order. The option `ddof` holds bits: of a search 1 for the right side; of
a histogram 1 for density, 2 if the third argument is the range, 4 if it is the weights, whose sums are exact; of interp
1 for left=-7, 2 for right=99.5, 4 for period=7.5.
Run with no arguments from anywhere; the output stands beside this file.
"""

import warnings

import numpy as np

from golden import BOUNDED, DTYPES, ERROR, KINDS, ROOT, SMALL, Array, File, numpy_dtype, promote

warnings.simplefilter("ignore")
np.seterr(all="ignore")
rng = np.random.default_rng(20261123)
REAL = [d for d in DTYPES if KINDS[d] in "iuf"]
DENSITY, RANGE, WEIGHTS = 1, 2, 4


def values(dtype, shape, ordered=False):
    """Few distinct numbers; of floats infinities, NaN and both zeros, of integers the ends."""
    kind = KINDS[dtype]
    if kind == "?":
        x = rng.random(shape) < 0.5
    elif kind in "iu":
        info = np.iinfo(numpy_dtype(dtype))
        x = rng.integers(max(info.min, -9), 10, shape).astype(numpy_dtype(dtype))
        x.flat[: min(2, x.size)] = [info.min, info.max][: x.size]
    else:
        x = rng.integers(-9, 10, shape) / 2
        if kind == "c":
            x = x + 1j * rng.integers(-2, 3, shape)
        x.flat[: min(5, x.size)] = [np.nan, np.inf, -np.inf, -0.0, 0.0][: x.size]
        x = Array(dtype, x).v
    x = rng.permutation(x.ravel()).reshape(x.shape)
    return Array(dtype, np.sort(x) if ordered else x)


def together(a, b):
    """Both in the dtype in which Quarry compares them."""
    common = numpy_dtype(promote(a.dtype, b.dtype))
    return a.v.astype(common), b.v.astype(common)


def searches(file):
    for dtype in DTYPES:
        for size in (0, 1, 7, 16, 17, 300):
            other = dtype if rng.random() < 0.5 else str(rng.choice(DTYPES))
            a, x = values(dtype, size, ordered=True), values(other, (6, 11))
            right = int(rng.integers(2))
            table, v = together(a, x)
            wanted = np.searchsorted(table, v, "right" if right else "left")
            file.case("searchsorted", [a, x], [Array("int64", wanted)], ddof=right)
            if size:
                order = rng.permutation(size)
                shuffled, sorter = Array(dtype, a.v[order]), Array("int64", np.argsort(order))
                file.case("searchsorted", [shuffled, x, sorter], [Array("int64", wanted)], ddof=right)


def digits(file):
    for dtype in REAL:
        for size in (1, 9, 40):
            bins = values(dtype, size, ordered=True)
            bins = Array(dtype, bins.v[~np.isnan(bins.v)][:: int(rng.choice([-1, 1]))])
            x, right = values(str(rng.choice(REAL)), 60), int(rng.integers(2))
            edges, v = together(bins, x)
            wanted = np.digitize(v, edges, bool(right))
            file.case("digitize", [x, bins], [Array("int64", wanted)], ddof=right)
    file.case("digitize", [Array("int32", [1, 2]), Array("int32", [1, 3, 2])], [], flags=ERROR)


def counts(file):
    for dtype in [d for d in DTYPES if KINDS[d] in "?iu"]:
        for n, most, least in ((0, 1, 0), (1, 1, 3), (500, 1, 0), (500, 100, 120)):
            x = Array(dtype, rng.integers(0, most + 1, n))
            w = Array(str(rng.choice(REAL[:4] + ["float32", "float64"])), rng.integers(0, 100, n) / 2)
            file.case("bincount", [x, least], [Array("int64", np.bincount(x.v.astype(int), minlength=least))])
            sums = np.bincount(x.v.astype(int), w.v, least)
            file.case("bincount", [x, least, w], [Array(sums.dtype.name, sums)])
    file.case("bincount", [Array("int16", [4, -3, 2]), 0], [], flags=ERROR)
    file.case("bincount", [Array("int16", [[4, 3]]), 0], [], flags=ERROR)


def histogram(file, x, bins, option, third=None):
    limits = tuple(third.v.tolist()) if option & RANGE else None
    weights = third.v if option & WEIGHTS else None
    args = [x, bins] + ([third] if third is not None else [])
    try:
        n, edges = np.histogram(x.v, bins if isinstance(bins, int) else bins.v, limits, weights=weights,
                                density=bool(option & DENSITY))
    except (ValueError, IndexError, TypeError):
        file.case("histogram", args, [], flags=ERROR, ddof=option)
        return
    file.case("histogram", args, [Array(n.dtype.name, n), Array(edges.dtype.name, edges)], ddof=option)


def histograms(file):
    for dtype in [d for d in DTYPES if KINDS[d] != "c"]:
        for count in (1, 2, 10, 33):
            x = values(dtype, (20, 8))
            plain = Array(dtype, np.where(np.isfinite(x.v), x.v, 1) if KINDS[dtype] == "f" else x.v)
            plain = plain if KINDS[dtype] in "?f" else Array(dtype, np.abs(x.v % 11))
            limits = Array("float64", [-3, rng.choice([-3, 0.1, 4, 100])])
            weights = Array(str(rng.choice(["int32", "float32", "complex64"])), rng.integers(-9, 9, (20, 8)) / 2)
            histogram(file, plain, count, 0)
            histogram(file, x, count, RANGE, limits)
            histogram(file, plain, count, WEIGHTS, weights)
            histogram(file, x, count, RANGE | DENSITY, limits)
            if dtype not in SMALL:
                histogram(file, x, values(str(rng.choice(["int8", "float32", "float64"])), count, True), 0)


def edges(file):
    """Every edge of equal bins, and the numbers beside it."""
    for dtype in ("float16", "float32", "float64"):
        for count in (3, 10, 49, 93, 100):
            low = numpy_dtype(dtype).type(rng.normal())
            high = low + numpy_dtype(dtype).type(rng.random() * 5 + 1)
            edge = np.linspace(low, high, count + 1, dtype=numpy_dtype(dtype))
            beside = [np.nextafter(edge, numpy_dtype(dtype).type(end)) for end in (low, high)]
            x = np.concatenate([edge, *beside])
            histogram(file, Array(dtype, x), count, 0)
            histogram(file, Array(dtype, x), count, RANGE, Array("float64", [float(low), float(high)]))


def errors(file):
    x = Array("float32", [1, 2, 3])
    for bins in (0, -1, Array("float64", [1, 3, 2]), Array("float64", [[1, 2]])):
        histogram(file, x, bins, 0)
    for limits in ([2, 1], [0, np.inf], [np.nan, 1]):
        histogram(file, x, 3, RANGE, Array("float64", limits))
    for odd in (np.nan, np.inf, -np.inf):
        histogram(file, Array("float32", [1, odd]), 3, 0)
    histogram(file, x, 3, WEIGHTS, Array("float32", [1, 2]))
    histogram(file, Array("float32", [1e8, 1e8 + 8]), 10, 0)
    histogram(file, Array("float64", [1e300]), 3, 0)
    histogram(file, Array("int64", [2**62]), 3, 0)
    histogram(file, Array("float64", []), 3, 0)
    histogram(file, x, Array("float64", [2]), 0)
    histogram(file, x, Array("float64", []), 0)


def interpolation(file, x, xp, fp, option):
    """Values within 8 units in the last place of the largest finite one."""
    wide = [a.v.astype(np.complex128 if KINDS[a.dtype] == "c" else np.float64) for a in (x, xp, fp)]
    y = np.interp(*wide, left=-7 if option & 1 else None, right=99.5 if option & 2 else None,
                  period=7.5 if option & 4 else None)
    y = np.asarray(y)
    most = max([1, *np.abs(wide[2][np.isfinite(wide[2])])])
    bound = Array("float64", np.full(y.shape, 2.0**-49 * most))
    file.case("interp", [x, xp, fp], [Array(y.dtype.name, y), bound], ddof=option, flags=BOUNDED)


def interpolations(file):
    for dtype in [d for d in DTYPES if KINDS[d] != "c"]:
        for size in (1, 2, 9, 40, 300):
            other = str(rng.choice(["float64", "float32", "int16", "complex64"]))
            finite = np.unique(rng.integers(-20 if KINDS[dtype] in "if" else 0, 30, size))
            points = [0, 1][: finite.size] if KINDS[dtype] == "?" else finite / (2 if KINDS[dtype] == "f" else 1)
            xp = Array(dtype, np.unique(Array(dtype, points).v))
            x, fp = values(dtype, (5, 9)), Array(other, rng.integers(-99, 99, xp.v.size))
            for option in (0, int(rng.integers(1, 4))):
                interpolation(file, x, xp, fp, option)
            beside = np.concatenate([xp.v, xp.v + 0.25, xp.v - 0.3, [-99, 99, np.nan]])
            places = Array("float64", rng.permutation(beside))
            interpolation(file, places, xp, fp, int(rng.integers(4)))
            shuffled = Array(dtype, np.unique(np.array(xp.v, float) % 7.5 // 0.5 / 2))
            shuffled = Array(dtype, rng.permutation(np.unique(shuffled.v)))
            if KINDS[dtype] == "f":
                interpolation(file, places, shuffled, Array(other, rng.integers(-99, 99, shuffled.v.size)), 4)
    jump = Array("float64", [0, np.inf, np.inf, 1, -np.inf])
    interpolation(file, Array("float64", np.linspace(-1, 5, 25)), Array("float64", [0, 1, 2, 3, 4]), jump, 0)


def main():
    file = File()
    for make in (searches, digits, counts, histograms, edges, errors, interpolations):
        make(file)
    file.write(ROOT / "tests/golden/histogram.bin")


main()
