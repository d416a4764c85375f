"""Recipes of shaping.h and series.h: elements put in and left out, blocks, grids, numbers along an axis."""

import numpy as np

from bins import Held
from operands import elements
from quarry import DTYPES, SMALL
from recipes import pick
from shape_calls import Buildings
from shapes import INTEGERS, Shape, Takes, lengths

REALS = ["float32", "float64", "int32", "uint8", "int64"]


class Building(Takes):
    def choose(self, rng):
        self.ours = Buildings(self.library)

    def integers(self, rng, low, high, shape):
        dtype = np.dtype(pick(rng, [d for d in INTEGERS if low >= 0 or d[0] == "i"]))
        x = rng.integers(low, max(high, low + 1), shape)
        info = np.iinfo(dtype)
        return Held(self.library, rng, np.asarray(np.clip(x, info.min, info.max)).astype(dtype))


class InsertsAndDeletes(Building):
    def part(self, rng, n):
        kind = rng.random()
        slack = 2 if rng.random() < 0.1 else 0
        if kind < 0.3:
            return int(rng.integers(-n - slack, n + slack + 1))
        if kind < 0.5:
            ends = [None if rng.random() < 0.3 else int(rng.integers(-n - 2, n + 3)) for _ in range(2)]
            return slice(*ends, pick(rng, [None, 1, 2, -1, -2]))
        if kind < 0.7:
            return Held(self.library, rng, rng.random(n) < rng.random())
        return self.integers(rng, -n - slack, n + slack, (int(rng.choice([0, 1, 2, 5, 9])),))

    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(1, 4)), 9))
        ndim = x.like.ndim
        axis = None if rng.random() < 0.3 else int(rng.integers(-ndim, ndim))
        n = x.like.size if axis is None else x.like.shape[axis]
        part = self.part(rng, n)
        theirs = part.like if isinstance(part, Held) else part
        theirs = theirs.astype(np.int64) if isinstance(part, Held) and theirs.dtype != bool else theirs
        if rng.random() < 0.5:
            return self.both("delete(%r, %r, %r)" % (x, theirs, axis), lambda: self.ours.delete(x.array, part, axis),
                             lambda: np.delete(x.like, theirs, axis))
        if isinstance(part, Held) and theirs.dtype != bool and theirs.size and (theirs.min() < -n or theirs.max() > n):
            theirs = n + 1  # NumPy lets indices past the end through if others stand before them
        value = self.array(rng, pick(rng, [(), (1,)]) if ndim > 1 and axis is None else
                           pick(rng, [(), (1,), x.like.shape[1:] if ndim > 1 else (1,)]))
        return self.both("insert(%r, %r, %r, %r)" % (x, theirs, value, axis),
                         lambda: self.ours.insert(x.array, part, self.library.value(value.array), axis),
                         lambda: np.insert(x.like, theirs, value.like, axis))


class Blocks(Building):
    def call(self, rng):
        name = pick(rng, ["resize", "trim_zeros", "block"])
        if name == "resize":
            x, shape = self.array(rng, lengths(rng, int(rng.integers(0, 4)))), lengths(rng, int(rng.integers(0, 4)), 30)
            return self.both("resize(%r, %r)" % (x, shape), lambda: self.ours.resize(x.array, shape),
                             lambda: np.resize(x.like, shape))
        if name == "trim_zeros":
            like = elements(rng, self.dtypes[0], lengths(rng, int(rng.integers(1, 4)), 9))
            like[rng.random(like.shape) < rng.random()] = 0
            x, sides = Held(self.library, rng, like), pick(rng, ["f", "b", "fb"])
            axes = None if rng.random() < 0.5 else [int(k) for k in rng.integers(-like.ndim - 1, like.ndim, int(
                rng.integers(0, 3)))]
            return self.both("trim_zeros(%r, %s, %r)" % (x, sides, axes),
                             lambda: self.ours.trim_zeros(x.array, sides, axes),
                             lambda: np.trim_zeros(x.like, sides, axis=None if axes is None else tuple(axes)))
        heights, widths = lengths(rng, int(rng.integers(1, 4))), lengths(rng, int(rng.integers(1, 4)))
        more = lengths(rng, int(rng.integers(0, 2)))
        same = rng.random() < 0.7
        rows = [[self.array(rng, more + (h, w), self.dtypes[0] if same else pick(rng, ["int8", "float32", "int32"]))
                 for w in widths] for h in heights]
        if rng.random() < 0.1:
            rows[-1][-1] = self.array(rng, (7, 7))
        return self.both("block(%r)" % rows,
                         lambda: self.ours.block(len(heights), len(widths), [x.array for row in rows for x in row]),
                         lambda: np.block([[x.like for x in row] for row in rows]))


class Grids(Building):
    kinds = REALS

    def call(self, rng):
        name = pick(rng, ["indices", "ix_", "unravel_index", "ravel_multi_index", "tril_indices", "triu_indices",
                          "diag_indices", "vander"])
        shape = lengths(rng, int(rng.integers(1, 4)), 9)
        size = int(np.prod(shape))
        slack = 2 if rng.random() < 0.1 else 0
        if name == "indices":
            return self.both("indices(%r)" % (shape,), lambda: self.ours.indices(shape), lambda: np.indices(shape))
        if name == "ix_":
            arrays = [Held(self.library, rng, rng.random(n) < 0.5) if rng.random() < 0.3 else
                      self.integers(rng, 0, 9, (n,)) for n in shape]
            return self.both("ix_(%r)" % arrays, lambda: self.ours.ix([a.array for a in arrays]),
                             lambda: [np.asarray(a) for a in np.ix_(*[a.like for a in arrays])])
        order = pick(rng, ["C", "F"])
        if name == "unravel_index":
            k = self.integers(rng, 0 - slack, size + slack, lengths(rng, int(rng.integers(0, 3))))
            if k.like.size and (k.like < 0).any():
                return name, []  # Quarry's negative ones count from the end
            return self.both("unravel_index(%r, %r, %s)" % (k, shape, order),
                             lambda: self.ours.unravel_index(k.array, shape, order),
                             lambda: list(np.unravel_index(k.like.astype(np.int64), shape, order)))
        if name == "ravel_multi_index":
            own = lengths(rng, int(rng.integers(0, 3)))
            modes = [pick(rng, ["raise", "wrap", "clip"]) for _ in shape]
            arrays = [self.integers(rng, 0 if mode == "raise" else -9, n + (slack if mode == "raise" else 9), own)
                      for n, mode in zip(shape, modes)]
            return self.both("ravel_multi_index(%r, %r, %r, %s)" % (arrays, shape, modes, order),
                             lambda: self.ours.ravel_multi_index([a.array for a in arrays], shape, modes, order),
                             lambda: np.asarray(np.ravel_multi_index([a.like.astype(np.int64) for a in arrays], shape,
                                                                     tuple(modes), order)))
        if name == "diag_indices":
            n, ndim = int(rng.integers(0, 6)), int(rng.integers(1, 4))
            return self.both("diag_indices(%d, %d)" % (n, ndim), lambda: self.ours.diag_indices(n, ndim),
                             lambda: list(np.diag_indices(n, ndim)))
        if name == "vander":
            x = self.array(rng, (int(rng.integers(0, 6)),))
            columns, up = int(rng.integers(0, 5)), bool(rng.random() < 0.5)
            return self.both("vander(%r, %d, %r)" % (x, columns, up), lambda: self.ours.vander(x.array, columns, up),
                             lambda: np.vander(x.like, columns, up))
        n, k, m = int(rng.integers(0, 6)), int(rng.integers(-3, 4)), int(rng.integers(0, 6))
        return self.both("%s(%d, %d, %d)" % (name, n, k, m), lambda: self.ours.triangle("ga_" + name, n, k, m),
                         lambda: list(getattr(np, name)(n, k, m)))


class Bits(Building):
    kinds = ["bool", "uint8", "int16", "int64"]

    def call(self, rng):
        order = pick(rng, ["big", "little"])
        shape = lengths(rng, int(rng.integers(0, 4)), 30)
        axis = None if not shape or rng.random() < 0.3 else int(rng.integers(-len(shape), len(shape)))
        if rng.random() < 0.5:
            x = Held(self.library, rng, rng.integers(0, 3, shape).astype(self.dtypes[0]))
            return self.both("packbits(%r, %r, %s)" % (x, axis, order),
                             lambda: self.ours.packbits(x.array, axis, order),
                             lambda: np.packbits(x.like, axis, bitorder=order))
        x = Held(self.library, rng, rng.integers(0, 256, shape).astype(np.uint8))
        count = int(rng.integers(-20, 40)) or None
        if rng.random() < 0.3 or not x.like.size:  # of no bytes NumPy makes bits that it does not set
            count = None
        return self.both("unpackbits(%r, %r, %r, %s)" % (x, axis, count, order),
                         lambda: self.ours.unpackbits(x.array, axis, count, order),
                         lambda: np.unpackbits(x.like, axis, count, order))


class Series(Building):
    kinds = REALS + ["complex64"]

    def number(self, k):
        return self.library.number(k, "float64")

    def call(self, rng):
        name = pick(rng, ["gradients", "cov", "corrcoef", "gradient", "trapezoid", "unwrap", "polyval", "convolve",
                          "correlate"])
        x = self.array(rng, lengths(rng, int(rng.integers(1, 4)), 9))
        ndim, axis = x.like.ndim, int(rng.integers(-x.like.ndim, x.like.ndim))
        n = x.like.shape[axis]
        places = np.sort(rng.permutation(40)[:n]).astype(np.float64)
        if name in ("cov", "corrcoef"):
            x = self.array(rng, lengths(rng, int(rng.integers(1, 3)), 9))
            columns = bool(rng.random() < 0.5)
            n = x.like.shape[0] if columns or x.like.ndim == 1 else x.like.shape[1]
            f = self.integers(rng, 0, 4, (n,)) if rng.random() < 0.6 else None
            a = Held(self.library, rng, rng.random(n)) if rng.random() < 0.6 else None
            if f and f.like.sum() < 3 or n < 3:
                return name, []  # NumPy divides by zero
            more = {"fweights": f and f.like.astype(np.int64), "aweights": a and a.like}
            options = {} if name == "corrcoef" else dict(bias=bool(rng.random() < 0.3), **more)
            if name == "corrcoef":
                f = a = None
            return self.both("%s(%r, %r, %r)" % (name, x, columns, options),
                             lambda: self.ours.cov(name, x.array, columns, options.get("bias", False), 0, f, a),
                             lambda: np.asarray(getattr(np, name)(x.like, rowvar=not columns, **options)), False)
        if name == "gradients":
            order = int(rng.integers(1, 3))
            some = rng.permutation(ndim)[:int(rng.integers(1, ndim + 1))]
            axes = [] if rng.random() < 0.5 else [int(k) for k in some]
            lines = [Held(self.library, rng, np.sort(rng.permutation(40)[:x.like.shape[k]]).astype(np.float64))
                     if rng.random() < 0.5 else float(rng.integers(1, 5)) for k in axes or range(ndim)]
            given = rng.random() < 0.7
            theirs = [d.like if isinstance(d, Held) else d for d in lines] if given else []

            def wanted():
                found = np.gradient(x.like, *theirs, axis=tuple(axes) or None, edge_order=order)
                return list(found) if isinstance(found, (list, tuple)) else [found]
            return self.both("gradients(%r, %r, %r, %d)" % (x, axes, theirs, order),
                             lambda: self.ours.gradients(x.array, axes, [
                                 self.library.value(d.array) if isinstance(d, Held) else self.number(d)
                                 for d in lines] if given else None, order), wanted, False)
        if name == "gradient":
            order, even = int(rng.integers(1, 3)), rng.random() < 0.5
            d = float(rng.integers(1, 5)) if even else Held(self.library, rng, places)
            return self.both("gradient(%r, %r, %d, %d)" % (x, d, axis, order),
                             lambda: self.ours.gradient(x.array, axis, self.number(d) if even else
                                                        self.library.value(d.array), order),
                             lambda: np.gradient(x.like, d if even else d.like, axis=axis, edge_order=order), False)
        if name == "trapezoid":
            even = rng.random() < 0.5
            d = Held(self.library, rng, places.astype(pick(rng, ["float64", "float32"])))
            if x.like.dtype == np.float32 and not even:
                d = Held(self.library, rng, places.astype("float32"))
            return self.both("trapezoid(%r, %r, %d)" % (x, None if even else d, axis),
                             lambda: self.ours.trapezoid(x.array, axis, None if even else d.array, 0.5),
                             lambda: np.asarray(np.trapezoid(x.like, None if even else d.like, 0.5, axis)), False)
        if name == "unwrap":
            if self.dtypes[0][0] not in "f":
                x = Held(self.library, rng, np.asarray(x.like.real).astype("float32"))
            return self.both("unwrap(%r, %d)" % (x, axis), lambda: self.ours.unwrap(x.array, axis, 0, 0),
                             lambda: np.unwrap(x.like, axis=axis), False)
        line = self.array(rng, (int(rng.integers(0, 6)),), pick(rng, ["int32", self.dtypes[0]]))
        if name == "polyval":
            return self.both("polyval(%r, %r)" % (line, x), lambda: self.ours.polyval(line.array, x.array),
                             lambda: np.polyval(line.like, x.like).astype(np.result_type(line.like, x.like)), False)
        a, mode = self.array(rng, (int(rng.integers(0, 30)),)), pick(rng, ["full", "same", "valid"])
        return self.both("%s(%r, %r, %s)" % (name, a, line, mode),
                         lambda: self.ours.convolve("ga_" + name, a.array, line.array, mode),
                         lambda: getattr(np, name)(a.like, line.like, mode), False)


class IndexedFormulas(Building):
    """x[i, :], take(x, i) and round(x, k) in formulas."""

    kinds = ["float32", "float64", "int32", "uint8", "float16"]
    TEXTS = [
        ("x[i]", lambda x, i, y: x[i], 0),
        ("x[i] * 2 + x[i]", lambda x, i, y: x[i] * 2 + x[i], 0),
        ("x[:, i] + y", lambda x, i, y: x[:, i] + y, 1),
        ("x[..., i] - 1", lambda x, i, y: x[..., i] - 1, -1),
        ("sum(x[i])", lambda x, i, y: np.sum(x[i]), 0),
        ("sum(x[..., i] * 2, axis=0) + sum(y)", lambda x, i, y: np.sum(x[..., i] * 2, axis=0) + np.sum(y), -1),
        ("x[::-1][i] + x[i]", lambda x, i, y: x[::-1][i] + x[i], 0),
        ("(x * 2)[i]", lambda x, i, y: (x * 2)[i], 0),
        ("x[(i + 0)] + x[i, ...]", lambda x, i, y: x[i + 0] + x[i, ...], 0),
        ("take(x, i, axis=-1) * y", lambda x, i, y: np.take(x, i, axis=-1) * y, -1),
        ("x[0, i]", lambda x, i, y: x[0, i], 1),
        ("x[i, None] + 1", lambda x, i, y: x[i, None] + 1, 0),
        ("max(x) + x[i]", lambda x, i, y: np.max(x) + x[i], 0),
        ("x[i][i] + 1", lambda x, i, y: x[i][i] + 1, None),
    ]

    def call(self, rng):
        if rng.random() < 0.1:
            x = self.array(rng, lengths(rng, 2), pick(rng, ["float64", "float32", "int32"]))
            k = int(rng.integers(-2, 4))
            x.like[...] = x.like * 37 // 3
            x = Held(self.library, rng, x.like)
            return self.both("round(%r, %d)" % (x, k), lambda: self.library.eval("round(x, %d)" % k, {"x": x.array}),
                             lambda: np.round(x.like, k))
        text, function, axis = self.TEXTS[int(rng.integers(len(self.TEXTS)))]
        x = self.array(rng, lengths(rng, int(rng.integers(1, 4)), 40))
        shape = lengths(rng, int(rng.integers(0, 3)), 40)
        if axis is None:
            n = x.like.shape[0]
            shape, axis = (n,), 0
        if -x.like.ndim <= axis < x.like.ndim:
            n = x.like.shape[axis]
        else:
            n = 1
        slack = 2 if rng.random() < 0.05 else 0
        i = self.integers(rng, -n - slack, n + slack, shape)
        y = self.array(rng, ())
        names = {"x": x.array, "i": i.array, "y": y.array}
        names = {name: value for name, value in names.items() if name in text}
        what = "%s of %r, %r" % (text, x, i)
        if not x.like.size:
            return what, []

        def theirs():
            return np.asarray(function(x.like, i.like.astype(np.int64), y.like))

        return self.both(what, lambda: self.library.eval(text, names), theirs, False)


RECIPES = [IndexedFormulas, InsertsAndDeletes, InsertsAndDeletes, Blocks, Grids, Bits, Series]
