"""Recipes of sets: few distinct elements, both zeros, NaN and infinities, of one dtype or of two."""

import ctypes
from ctypes import POINTER, Structure, c_bool, c_void_p

import numpy as np

from bins import Held, table_size, together, usual, values
from operands import random_shape
from quarry import DTYPES, promote, sized
from quarry import real_dtype as numpy_dtype
from recipes import Recipe, pick

ADDRESS = POINTER(c_void_p)


class UniqueArgs(Structure):
    _fields_ = [("x", c_void_p), ("indices", ADDRESS), ("inverse", ADDRESS), ("counts", ADDRESS),
                ("distinct_nan", c_bool)]


class IsinArgs(Structure):
    _fields_ = [("x", c_void_p), ("test", c_void_p), ("invert", c_bool), ("assume_unique", c_bool)]


class PairArgs(Structure):
    """Of ga_intersect1d; ga_setdiff1d and ga_setxor1d know the first three."""

    _fields_ = [("a", c_void_p), ("b", c_void_p), ("assume_unique", c_bool), ("a_indices", ADDRESS),
                ("b_indices", ADDRESS)]


def unique(x, distinct=False):
    """numpy.unique by its stable sort, which keeps the first of equal elements: values, indices, inverse, counts."""
    _, indices, inverse, counts = np.unique(usual(x), True, True, True, equal_nan=not distinct)
    return x.ravel()[indices], indices, inverse, counts


class Unique(Recipe):
    kinds = DTYPES
    inputs = 1

    def choose(self, rng):
        self.distinct = bool(rng.random() < 0.4)

    def call(self, rng):
        x = Held(self.library, rng, values(rng, self.dtypes[0], random_shape(rng)))
        results, wanted = [c_void_p() for _ in range(3)], list(unique(x.like, self.distinct))
        chosen = [bool(rng.random() < 0.6) for _ in results]
        places = [ctypes.pointer(result) if k else None for result, k in zip(results, chosen)]
        args = UniqueArgs(x.array.address, *places, self.distinct)
        got = [self.library.make("ga_unique", *sized(args))]
        got += [self.library.array(result.value) for result, k in zip(results, chosen) if k]
        wanted = wanted[:1] + [like for like, k in zip(wanted[1:], chosen) if k]
        return "unique(%r, %s, %s)" % (x, chosen, self.distinct), [(g, w, True) for g, w in zip(got, wanted)]


class Pairs(Recipe):
    kinds = DTYPES

    def choose(self, rng):
        self.assumes = bool(rng.random() < 0.3)

    def held(self, rng, k):
        like = values(rng, self.dtypes[k], random_shape(rng, 3000) if rng.random() < 0.5 else table_size(rng))
        return Held(self.library, rng, rng.permutation(unique(like)[0]) if self.assumes else like)


class Members(Pairs):
    def call(self, rng):
        x, test = (self.held(rng, k) for k in range(2))
        flat, invert = rng.random() < 0.3, bool(rng.random() < 0.5)
        args = IsinArgs(x.array.address, test.array.address, invert, self.assumes)
        got = self.library.make("ga_in1d" if flat else "ga_isin", *sized(args))
        wanted = np.isin(*together(x.like, test.like), invert=invert, kind=None)
        return "isin(%r, %r, %s)" % (x, test, invert), [(got, wanted.ravel() if flat else wanted, True)]


class Algebra(Pairs):
    def call(self, rng):
        a, b = (self.held(rng, k) for k in range(2))
        common = numpy_dtype(promote(a.like.dtype.name, b.like.dtype.name))
        x, y = together(a.like, b.like)
        own = usual(a.like).ravel()
        if not self.assumes:
            own, x, y = (unique(like)[0] for like in (own, x, y))
        if self.assumes and any(len(unique(like)[0]) < like.size for like in (x, y)):
            return "repeated by rounding", []
        name = pick(rng, ["intersect1d", "setdiff1d", "setxor1d", "union1d"])
        args = PairArgs(a.array.address, b.array.address, self.assumes)
        what = "%s(%r, %r, %s)" % (name, a, b, self.assumes)
        if name == "union1d":
            got = self.library.make("ga_union1d", c_void_p(a.array.address), c_void_p(b.array.address))
            return what, [(got, unique(np.concatenate(together(a.like, b.like), axis=None))[0].astype(common), True)]
        if name == "intersect1d":
            return what, self.intersect(args, a, b, common)
        got = self.library.make("ga_" + name, ctypes.c_size_t(PairArgs.a_indices.offset), ctypes.byref(args))
        if name == "setxor1d":
            return what, [(got, np.setxor1d(x, y, assume_unique=True).astype(common), True)]
        kept = own[~np.isin(own.astype(a.like.dtype).astype(common).astype(x.dtype), y)]
        return what, [(got, kept.astype(a.like.dtype), True)]

    def intersect(self, args, a, b, common):
        results = c_void_p(), c_void_p()
        args.a_indices, args.b_indices = (ctypes.pointer(result) for result in results)
        got = self.library.make("ga_intersect1d", *sized(args))
        both, of_a, of_b = np.intersect1d(*together(a.like, b.like), return_indices=True)
        pairs = [(got, both.astype(common), True)]
        return pairs + [(self.library.array(result.value), like, True) for result, like in zip(results, (of_a, of_b))]


SETS = [Unique, Members, Algebra]
