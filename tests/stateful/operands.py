"""Random operands: the same view of the same elements in NumPy and in Quarry."""

import numpy as np

from quarry import real_dtype as numpy_dtype

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 33, 64, 100, 129, 257]
MOST = 1 << 15
LAYOUTS = ["dense", "reversed", "every second", "transposed", "tail", "inner", "repeated", "one", "ones"]


def elements(rng, dtype, shape):
    """Small integers other than zero: the results of formulas are exact in every dtype."""
    dtype = numpy_dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    values = rng.integers(1, 5, shape)
    if dtype.kind not in "ub":
        values = values * rng.choice([-1, 1], shape)
    if dtype.kind == "c":
        values = values + 1j * rng.integers(-4, 5, shape)
    return np.asarray(values).astype(dtype)


def random_shape(rng, most=MOST):
    ndim = int(rng.choice([0, 1, 1, 2, 2, 2, 3, 4]))
    if rng.random() < 0.03:
        return [(70001,), (300, 301), (5, 64, 129), (2, 3, 0)][rng.integers(4)]
    shape = []
    for _ in range(ndim):
        room = most // max(int(np.prod(shape)), 1)
        fitting = [n for n in LENGTHS if n <= room]
        shape.append(int(rng.choice(fitting)) if fitting else 1)
    return tuple(shape)


def view_of(library, base, like, layout):
    """The array `base` and the NumPy array `like` in that layout."""
    ndim = like.ndim
    if layout == "transposed":
        axes = list(range(ndim))[::-1]
        return library.transpose(base, axes), like.transpose(axes)
    parts = {"reversed": [slice(None, None, -1)] * ndim, "every second": [slice(None, None, 2)] * ndim,
             "tail": [slice(1, None)] * ndim, "inner": [slice(1, -1)] * ndim}[layout]
    return library.slice(base, parts), like[(*parts, ...)] # of no axes too: no scalar


def base_shape(shape, layout):
    """The shape that `layout` turns into `shape`."""
    grown = {"every second": lambda n: 2 * n, "tail": lambda n: n + 1, "inner": lambda n: n + 2}.get(layout)
    return tuple(grown(n) for n in shape) if grown else shape[::-1] if layout == "transposed" else shape


def narrowed(rng, shape, layout):
    """A shape that broadcasts to `shape`: without leading axes, or with axes of one element."""
    if layout == "one":
        return ()
    if layout == "ones":
        shape = tuple(1 if rng.random() < 0.5 else n for n in shape)
    return shape[int(rng.integers(0, len(shape) + 1)):] if layout == "repeated" else shape


class Operand:
    """An array, its NumPy twin, and the whole arrays that both are views of."""

    def __init__(self, library, rng, dtype, shape, layout, writable=False):
        self.layout = layout
        if not writable:
            shape = narrowed(rng, shape, layout)
        own = layout if layout in ("reversed", "every second", "transposed", "tail", "inner") else "dense"
        self.whole_like = elements(rng, dtype, base_shape(shape, own))
        self.whole = library.from_host(self.whole_like)
        self.array, self.like = self.whole, self.whole_like
        if own != "dense" and len(shape) > 0:
            self.array, self.like = view_of(library, self.whole, self.whole_like, own)

    def __repr__(self):
        return "%s%s %s" % (self.like.dtype.name, self.like.shape, self.layout)
