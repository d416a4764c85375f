"""Recipes of searches and histograms: values on edges, beside them, and without an order."""

import warnings

import numpy as np
from numpy._core.multiarray import _monotonicity

from operands import LAYOUTS, base_shape, random_shape, view_of
from quarry import SMALL, promote
from quarry import real_dtype as numpy_dtype
from recipes import REAL, Recipe, pick, refused

KEPT = [layout for layout in LAYOUTS if layout not in ("repeated", "one", "ones")]
WHOLE = [d for d in REAL if numpy_dtype(d).kind in "iu"]


class Held:
    """A view of given elements, and its NumPy twin."""

    def __init__(self, library, rng, like, layouts=KEPT):
        layout = pick(rng, layouts) if like.ndim > 0 else "dense"
        whole = np.zeros(base_shape(like.shape, layout), like.dtype)
        twin = whole if layout == "dense" else view_of(_Twin(), whole, whole, layout)[1]
        twin[...] = like
        base = library.from_host(whole)
        self.array = base if layout == "dense" else view_of(library, base, whole, layout)[0]
        self.whole, self.like, self.layout = base, twin, layout

    def __repr__(self):
        return "%s%s %s" % (self.like.dtype.name, self.like.shape, self.layout)


class _Twin:
    """Views of NumPy arrays alone."""

    def transpose(self, x, axes):
        return x.transpose(axes)

    def slice(self, x, parts):
        return x[tuple(parts)]


def values(rng, dtype, shape, spread=None):
    """Few distinct numbers, the ends of the dtype, and of floats infinities, NaN and both zeros."""
    dtype = numpy_dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = max(info.min, -spread if spread else -20), min(info.max, spread or 20)
        x = rng.integers(low, high + 1, shape, dtype=np.int64).astype(dtype)
        if not spread and x.size and rng.random() < 0.3:
            x.flat[int(rng.integers(x.size))] = pick(rng, [info.min, info.max])
        return np.asarray(x)
    x = rng.normal(size=shape) * 4 if rng.random() < 0.5 else rng.integers(-9, 9, shape) / 2
    if dtype.kind == "c":
        x = x + 1j * rng.integers(-2, 2, shape)
    x = np.asarray(x).astype(dtype)
    if not spread and x.size and rng.random() < 0.5:
        for _ in range(int(rng.integers(1, 5))):
            x.flat[int(rng.integers(x.size))] = pick(rng, [np.nan, np.inf, -np.inf, -0.0, 0.0])
    return x


def ordered(x):
    """In NumPy's order, also of the dtypes that NumPy lacks."""
    if x.dtype.name in SMALL:
        return np.sort(x.astype(np.float32)).astype(x.dtype)
    return np.sort(x)


def together(a, x):
    """Both in their common dtype, as Quarry promotes them."""
    common = numpy_dtype(promote(a.dtype.name, x.dtype.name))
    return usual(a.astype(common)), usual(x.astype(common))


def compared(a, x):
    """Both in the dtype in which Quarry compares them: float32 for dtypes without arithmetic."""
    common = numpy_dtype(promote(a.dtype.name, x.dtype.name))
    wide = np.float32 if common.name in SMALL else common
    return a.astype(wide), x.astype(wide)


def usual(x):
    """Floats that NumPy lacks, as float32."""
    return x.astype(np.float32) if x.dtype.name in SMALL else x


def weighing(rng, dtype, shape):
    """Numbers whose sums are exact."""
    halves = rng.integers(-9, 9, shape)
    halves = halves + 1j * rng.integers(-9, 9, shape) if numpy_dtype(dtype).kind == "c" else halves
    return np.asarray(halves / (1 if numpy_dtype(dtype).kind in "iub" else 2)).astype(numpy_dtype(dtype))


def table_size(rng):
    return int(rng.choice([0, 1, 2, 3, 5, 8, 16, 17, 31, 64, 100, 1000, 5000]))


class Search(Recipe):
    kinds = REAL + ["bool", "complex64", "complex128"]

    def choose(self, rng):
        self.right = rng.random() < 0.5
        self.sorter = rng.random() < 0.3

    def call(self, rng):
        a = values(rng, self.dtypes[0], table_size(rng))
        sorter = None
        if self.sorter:
            order = np.argsort(usual(a), kind="stable")
            sorter = Held(self.library, rng, order.astype(pick(rng, ["int32", "int64", "uint16"])))
            table = Held(self.library, rng, a)
        else:
            table = Held(self.library, rng, ordered(a))
        x = Held(self.library, rng, values(rng, self.dtypes[1], random_shape(rng)))
        side = "right" if self.right else "left"
        what = "searchsorted(%r, %r, %s, %r)" % (table, x, side, sorter)
        theirs, others = compared(table.like, x.like)
        wanted = np.searchsorted(theirs, others, side, sorter=None if sorter is None else sorter.like)
        got = self.library.searchsorted(table.array, x.array, self.right, sorter and sorter.array)
        return what, [(got, wanted, True)]


class Digitize(Recipe):
    def choose(self, rng):
        self.right = rng.random() < 0.5
        self.down = rng.random() < 0.5

    def call(self, rng):
        edges = ordered(values(rng, self.dtypes[0], table_size(rng)))
        edges = edges[::-1] if self.down else edges
        if edges.size > 1 and rng.random() < 0.1:
            edges = rng.permutation(edges)
        bins, x = (Held(self.library, rng, like) for like in (edges, values(rng, self.dtypes[1], random_shape(rng))))
        what = "digitize(%r, %r, %s)" % (x, bins, self.right)
        try:
            theirs, others = compared(bins.like, x.like)
            wanted = np.digitize(others, theirs, self.right)
            if np.isnan(theirs.astype(float)).any() and (
                    _monotonicity(theirs) < 0 or not np.array_equal(theirs, np.sort(theirs), equal_nan=True)):
                return what, []  # NumPy searches an array without an order
        except ValueError:
            return self.fails(what, lambda: self.library.digitize(x.array, bins.array, self.right))
        return what, [(self.library.digitize(x.array, bins.array, self.right), wanted, True)]

    def fails(self, what, call):
        refused(what, call, self.library)
        return what, []


class Bincount(Recipe):
    kinds = WHOLE

    def choose(self, rng):
        self.weight = pick(rng, [None, None, "bool"] + [d for d in REAL if not d.startswith("float8")])

    def call(self, rng):
        n = int(np.prod(random_shape(rng)))
        most = min(int(rng.choice([1, 3, 200, 40000])), int(np.iinfo(self.dtypes[0]).max))
        x = Held(self.library, rng, rng.integers(0, most + 1, n).astype(self.dtypes[0]))
        minlength = int(rng.choice([0, 0, 5, 300]))
        weights = self.weight and Held(self.library, rng, weighing(rng, self.weight, n))
        what = "bincount(%r, %r, %d) to %d" % (x, weights, minlength, most)
        wide = weights and weights.like.astype(np.float64)
        got = self.library.bincount(x.array, weights and weights.array, minlength)
        return what, [(got, np.bincount(x.like.astype(np.int64), wide, minlength), True)]


class Histogram(Digitize):
    """Given edges, or equal bins in a range or between extremes; NumPy's error is ours."""

    kinds = REAL + ["bool"]
    inputs = 1

    def choose(self, rng):
        self.how = pick(rng, ["number", "number", "range", "edges"])
        self.edge_dtype = pick(rng, [d for d in REAL if d not in SMALL])
        self.weight = pick(rng, [None, None, "int32", "float32", "float64", "complex64"])
        self.density = rng.random() < 0.2

    def bins(self, rng, x):
        """(bins, range) for NumPy."""
        if self.how == "edges":
            edges = ordered(values(rng, self.edge_dtype, table_size(rng)))
            return edges[~np.isnan(edges.astype(np.float32))], None
        count = int(rng.choice([1, 2, 3, 7, 10, 64, 100, 256, 1000, 70000]))
        if self.how == "number":
            return count, None
        low = float(pick(rng, [-3, 0.1, -1 / 3, 2.5, 1e-3]))
        return count, (low, low + float(pick(rng, [0, 0.7, 1, 3, 10, 1e3])))

    def wanted(self, x, bins, limits, weights):
        with warnings.catch_warnings(action="ignore"):
            return np.histogram(usual(x), bins, limits, weights=weights, density=self.density)

    def call(self, rng):
        small = self.how == "edges" or rng.random() < 0.3
        like = values(rng, self.dtypes[0], random_shape(rng), None if small else 50)
        x = Held(self.library, rng, like)
        weights = self.weight and Held(self.library, rng, weighing(rng, self.weight, like.shape))
        bins, limits = self.bins(rng, like)
        given = Held(self.library, rng, bins) if self.how == "edges" else None
        what = "histogram(%r, %s, %s, %r, density=%s)" % (x, given or bins, limits, weights, self.density)

        def call():
            return self.library.histogram(x.array, given.array if given else bins, limits, weights and weights.array,
                                          self.density)

        try:
            counts, edges = self.wanted(x.like, bins, limits, weights and weights.like)
        except (ValueError, IndexError, OverflowError):
            return self.fails(what, call)
        ours, our_edges = call()
        pairs = [(ours, counts, not self.density or self.weight != "complex64")]
        return what, pairs + [(our_edges, bins if given else edges, True)]


class HistogramDD(Histogram):
    inputs = 1
    kinds = [d for d in REAL if not d.startswith(("float8", "bfloat"))]

    def choose(self, rng):
        super().choose(rng)
        self.weight = pick(rng, [None, "float32"])
        self.axes = int(rng.integers(1, 4))

    def call(self, rng):
        n = int(rng.choice([0, 1, 5, 100, 4000]))
        like = values(rng, self.dtypes[0], (n, self.axes), 50 if self.how != "edges" else None)
        x = Held(self.library, rng, like)
        weights = self.weight and Held(self.library, rng, weighing(rng, self.weight, n))
        bins, limits = [], []
        for axis in range(self.axes):
            count, limit = self.bins(rng, like)
            bins.append(min(count, 20) if limit or self.how != "edges" else count[:20])
            limits.append(limit)
        if self.how == "edges":
            bins = [b if b.size else np.array([0], b.dtype) for b in bins]
        given = [Held(self.library, rng, b) if self.how == "edges" else b for b in bins]
        what = "histogramdd(%r, %r, %r, %r, density=%s)" % (x, given, limits, weights, self.density)

        def call():
            return self.library.histogramdd(x.array, [b.array if isinstance(b, Held) else b for b in given], limits,
                                            weights and weights.array, self.density)

        try:
            with warnings.catch_warnings(action="ignore"):
                counts, edges = np.histogramdd(x.like, bins, limits, weights=weights and weights.like,
                                               density=self.density)
        except (ValueError, IndexError, OverflowError):
            return self.fails(what, call)
        ours, our_edges = call()
        pairs = [(ours, counts, True)]
        return what, pairs + [(o, b if self.how == "edges" else e, True)
                              for o, b, e in zip(our_edges, bins, edges)]


class HistogramEdges(Histogram):
    """Every edge of equal bins, and the numbers beside it."""

    kinds = ["float16", "float32", "float32", "float64", "float64", "int8", "int32", "int64", "uint64"]

    def choose(self, rng):
        self.how = pick(rng, ["number", "range"])
        self.weight, self.density = None, False

    def outer(self, rng, dtype):
        """Two numbers, close to each other or far apart, at zero or far from it."""
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            low = int(rng.integers(info.min, info.max, dtype=dtype)) if rng.random() < 0.5 else int(rng.integers(0, 50))
            return low, min(low + int(2.0 ** rng.uniform(0, 40)), info.max)
        low = float(dtype.type(rng.normal() * 10.0 ** rng.uniform(-4, 4)))
        return low, float(dtype.type(low + abs(low) * 10.0 ** rng.uniform(-6, 2) + 10.0 ** rng.uniform(-3, 1)))

    def call(self, rng):
        dtype = numpy_dtype(self.dtypes[0])
        low, high = self.outer(rng, dtype)
        count = int(rng.choice([1, 2, 3, 5, 10, 33, 100, 255, 1000, 3000]))
        limits = (float(low), float(high)) if self.how == "range" else None
        ends = np.array([low, high], dtype)
        with np.errstate(all="ignore"):
            edges = np.linspace(ends[0], ends[1], count + 1).astype(dtype)
            beside = [edges + 1, edges - 1] if dtype.kind in "iu" else [np.nextafter(edges, s * np.inf).astype(dtype)
                                                                        for s in (-1, 1)]
        like = np.concatenate([edges, *beside, ends])
        like = like if limits else like[(like >= ends[0]) & (like <= ends[1])]
        x = self.library.from_host(like)
        what = "histogram(edges of %s, %d, %r, [%r, %r])" % (dtype, count, limits, low, high)
        try:
            with warnings.catch_warnings(action="ignore"):
                counts, edges = np.histogram(like, count, limits)
        except IndexError:
            return what, []  # NumPy's own steps left the numbers of the dtype
        except ValueError:
            return self.fails(what, lambda: self.library.histogram(x, count, limits))
        ours, our_edges = self.library.histogram(x, count, limits)
        return what, [(our_edges, edges, True), (ours, counts, True)]


RECIPES = [Search, Digitize, Bincount, Histogram, HistogramEdges, HistogramDD]
