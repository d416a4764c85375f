"""Recipes of order statistics: medians, quantiles, partitions and the first elements."""

import ctypes
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int, c_int64, c_void_p

import numpy as np

from bins import Held
from operands import Operand
from quarry import Value, sized
from recipes import REAL, Recipe, pick


class MedianArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", POINTER(c_int)), ("keepdims", c_bool), ("out", c_void_p)]


class QuantileArgs(Structure):
    _fields_ = [("x", c_void_p), ("q", Value), ("naxes", c_int), ("axes", POINTER(c_int)), ("method", c_char_p),
                ("keepdims", c_bool), ("out", c_void_p), ("weights", c_void_p)]


class PartitionArgs(Structure):
    _fields_ = [("x", c_void_p), ("kth", c_int64), ("naxes", c_int), ("axes", POINTER(c_int)), ("flat", c_bool)]


class TopkArgs(Structure):
    _fields_ = [("x", c_void_p), ("k", c_int64), ("values", POINTER(c_void_p)), ("indices", POINTER(c_void_p)),
                ("naxes", c_int), ("axes", POINTER(c_int)), ("smallest", c_bool)]


class Ranks(Recipe):
    kinds = [d for d in REAL if not d.startswith("float8")]
    inputs = 1

    def rows(self, rng):
        """An operand with an axis of at least one element, its number, and its twin with the axis last."""
        n, others = int(rng.choice([1, 2, 9, 33, 64, 257, 1030])), int(rng.integers(1, 20))
        shape = (40000,) if rng.random() < 0.1 else (others, n) if rng.random() < 0.5 else (n, others)
        x = Operand(self.library, rng, self.dtypes[0], shape, pick(rng, ["dense", "reversed", "every second",
                                                                         "transposed", "tail", "inner"]))
        axis = int(rng.integers(len(shape)))
        return x, axis, np.moveaxis(x.like, axis, -1)

    @staticmethod
    def along(args, axis):
        args.naxes, args.axes = 1, (c_int * 1)(axis)
        return sized(args)


class Medians(Ranks):
    """Of small integers every median and element of a rank is exact."""

    METHODS = ["lower", "higher", "nearest", "inverted_cdf", "closest_observation"]

    def choose(self, rng):
        self.method = pick(rng, self.METHODS)
        self.nan = pick(rng, ["", "nan"])

    def call(self, rng):
        x, axis, _ = self.rows(rng)
        keepdims, q = bool(rng.random() < 0.5), float(rng.random())
        wide = x.like if x.like.dtype.kind in "biu" else x.like.astype(np.float64)
        result = np.float64 if x.like.dtype.kind in "biu" else x.like.dtype
        median = self.library.make("ga_%smedian" % self.nan,
                                   *self.along(MedianArgs(x=x.array.address, keepdims=keepdims), axis))
        args = QuantileArgs(x=x.array.address, q=self.library.number(q, "float64"), method=self.method.encode(),
                            keepdims=keepdims)
        quantile = self.library.make("ga_%squantile" % self.nan, *self.along(args, axis))
        wanted = np.median(wide, axis=axis, keepdims=keepdims).astype(result)
        place = np.quantile(wide, q, axis=axis, keepdims=keepdims, method=self.method).astype(x.like.dtype)
        what = "%smedian and quantile %g %s of %s axis %d" % (self.nan, q, self.method, x, axis)
        return what, [(median, wanted, True), (quantile, place, True)]


class Weighted(Ranks):
    """Sums of whole weights are exact, so that both sides compare the same shares with q."""

    def choose(self, rng):
        self.nan = pick(rng, ["", "nan"])

    def call(self, rng):
        x, axis, _ = self.rows(rng)
        like = x.like.astype(np.float64)
        if x.like.dtype.kind == "f" and rng.random() < 0.5:
            x = Held(self.library, rng, np.where(rng.random(x.like.shape) < 0.05, np.nan, like).astype(x.like.dtype))
            like = x.like.astype(np.float64)
        shape = x.like.shape if rng.random() < 0.5 else (x.like.shape[axis],)
        weights = Held(self.library, rng, rng.integers(0, 5, shape).astype(pick(rng, ["int32", "float64", "uint8"])))
        weights.like[..., -1] = 1
        weights.array = self.library.from_host(weights.like)
        q = pick(rng, [0.0, 0.25, 0.5, 1.0, float(rng.random())])
        args = QuantileArgs(x=x.array.address, q=self.library.number(q, "float64"), method=b"inverted_cdf",
                            weights=weights.array.address)
        what = "%squantile %g of %s axis %d with weights %s" % (self.nan, q, x, axis, weights)
        full = np.broadcast_to(weights.like if weights.like.ndim == like.ndim or axis == like.ndim - 1 else
                               weights.like[:, None], like.shape)
        counted = np.where(np.isnan(like), 0, full) if self.nan else full
        if (counted.sum(axis) == 0).any():
            return what, []  # NumPy raises, or divides by zero
        got = self.library.make("ga_%squantile" % self.nan, *self.along(args, axis))
        wanted = getattr(np, self.nan + "quantile")(like, q, axis=axis, method="inverted_cdf", weights=full)
        return what, [(got, wanted.astype(x.like.dtype), True)]


class Partitions(Ranks):
    """A stable division by the element of a rank."""

    def call(self, rng):
        x, axis, rows = self.rows(rng)
        kth = int(rng.integers(rows.shape[-1]))
        wide = rows.astype(np.float64)
        bound = np.sort(wide, axis=-1)[..., kth:kth + 1]
        order = np.argsort(np.sign(wide - bound), axis=-1, kind="stable")
        wanted = np.moveaxis(np.take_along_axis(rows, order, -1), -1, axis)
        pairs = []
        for name, like in ("ga_partition", wanted), ("ga_argpartition", np.moveaxis(order, -1, axis)):
            got = self.library.make(name, *self.along(PartitionArgs(x=x.array.address, kth=kth), axis))
            pairs.append((got, like, True))
        return "partition %d of %s axis %d" % (kth, x, axis), pairs


class First(Ranks):
    """The first elements of a stable sort."""

    def call(self, rng):
        x, axis, rows = self.rows(rng)
        k, smallest = int(rng.integers(rows.shape[-1] + 1)), bool(rng.random() < 0.5)
        values, indices = c_void_p(), c_void_p()
        args = TopkArgs(x=x.array.address, k=k, values=ctypes.pointer(values), indices=ctypes.pointer(indices),
                        smallest=smallest)
        self.library.check(self.library.lib.ga_topk(*self.along(args, axis)))
        sign = 1 if smallest else -1
        order = np.argsort(sign * rows.astype(np.float64), axis=-1, kind="stable")[..., :k]
        pairs = [(self.library.array(values.value), np.moveaxis(np.take_along_axis(rows, order, -1), -1, axis), True),
                 (self.library.array(indices.value), np.moveaxis(order, -1, axis), True)]
        return "topk %d of %s axis %d, smallest %d" % (k, x, axis, smallest), pairs


RANKS = [Medians, Weighted, Partitions, First]
