"""Recipes of joins, shapes and indices: reads and writes by random parts."""

import numpy as np

from bins import Held
from operands import elements
from quarry import DTYPES, SMALL, Error
from recipes import Recipe, pick, refused
from shape_calls import Shapes


def lengths(rng, ndim, most=6):
    return tuple(int(n) for n in rng.choice([0, 1, 1, 2, 3, 5, most], ndim))


class Shape(Recipe):
    """Calls in random order of functions that take one array."""

    inputs = 1
    kinds = DTYPES

    def choose(self, rng):
        self.ours = Shapes(self.library)

    def array(self, rng, shape, dtype=None):
        return Held(self.library, rng, elements(rng, dtype or self.dtypes[0], shape))

    def both(self, what, ours, theirs, exact=True):
        """NumPy's answers, or errors of both."""
        try:
            wanted = theirs()
        except (ValueError, IndexError, TypeError, ZeroDivisionError):
            self.refused = refused(what, ours, self.library)
            return what, []
        try:
            got = ours()
        except Error as error:
            raise AssertionError("%s gives NumPy %r" % (what, wanted)) from error
        if not isinstance(got, list):
            got, wanted = [got], [wanted]
        return what, [(g, w, exact) for g, w in zip(got, wanted, strict=True)]

    def written(self, what, x, ours, theirs):
        """NumPy's answers for a write to x, or errors of both. A call that refuses at once writes nothing; a device
        that finds an index out of range has written the others."""
        before = x.like.copy()

        def own():
            ours()
            return x.array

        def wanted():
            theirs()
            return x.like

        what, pairs = self.both(what, own, wanted)
        return what, pairs or [(x.array, before, True)] * (self.refused == "at once")


class Joins(Shape):
    def call(self, rng):
        name = pick(rng, ["concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "append"])
        count = 2 if name == "append" else int(rng.choice([1, 2, 3, 4, 7, 20, 40]))
        shape = list(lengths(rng, int(rng.integers(0, 4)), int(rng.choice([6, 40]))))
        axis = int(rng.integers(-len(shape) - 1, len(shape) + 1)) if rng.random() < 0.8 else None
        vary = axis if name in ("concatenate", "append") else {"vstack": 0, "hstack": 1, "dstack": 2}.get(name)
        same = rng.random() < 0.7
        arrays = []
        for _ in range(count):
            own = list(shape)
            if vary is not None and -len(own) <= vary < len(own) and rng.random() < 0.7:
                own[vary] = int(rng.choice([0, 1, 2, 5, 33]))
            dtype = self.dtypes[0] if same else pick(rng, [d for d in DTYPES if d not in SMALL])
            arrays.append(self.array(rng, tuple(own), dtype))
        if name in ("concatenate", "stack", "append"):
            theirs = {"concatenate": np.concatenate, "stack": np.stack, "append": lambda x, axis: np.append(*x, axis)}
            if name == "stack" and axis is None:
                axis = 0
            return self.both("%s(%r, %r)" % (name, arrays, axis),
                             lambda: self.ours.join(name, [x.array for x in arrays], axis),
                             lambda: theirs[name]([x.like for x in arrays], axis=axis))
        return self.both("%s(%r)" % (name, arrays), lambda: self.ours.many(name, [x.array for x in arrays]),
                         lambda: getattr(np, name)([x.like for x in arrays]))


class Rolls(Shape):
    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(0, 5)), 9))
        ndim = x.like.ndim
        if rng.random() < 0.4:
            shift = int(rng.integers(-20, 20))
            axis = None if rng.random() < 0.5 else int(rng.integers(-ndim - 1, ndim + 1))
            return self.both("roll(%r, %d, %r)" % (x, shift, axis), lambda: self.ours.roll(x.array, shift, axis),
                             lambda: np.roll(x.like, shift, axis))
        n = int(rng.integers(1, 4)) if ndim else 1
        shifts = [int(k) for k in rng.integers(-9, 9, n)]
        axes = [int(k) for k in rng.integers(-ndim, max(ndim, 1), n)]
        return self.both("roll(%r, %r, %r)" % (x, shifts, axes), lambda: self.ours.roll_axes(x.array, shifts, axes),
                         lambda: np.roll(x.like, tuple(shifts), tuple(axes)))


class Repeats(Shape):
    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(0, 4))))
        if rng.random() < 0.5:
            reps = [int(k) for k in rng.integers(0, 4, int(rng.integers(0, 4)))]
            return self.both("tile(%r, %r)" % (x, reps), lambda: self.ours.tile(x.array, reps),
                             lambda: np.tile(x.like, reps))
        axis = None if rng.random() < 0.4 or x.like.ndim == 0 else int(rng.integers(-3, 3))
        if rng.random() < 0.5:
            count = int(rng.integers(-1 if x.like.size else 0, 5))  # NumPy looks at no count of nothing
            return self.both("repeat(%r, %d, %r)" % (x, count, axis),
                             lambda: self.ours.repeat(x.array, self.library.number(count, "int64"), axis),
                             lambda: np.repeat(x.like, count, axis))
        size = x.like.size if axis is None else x.like.shape[axis] if -x.like.ndim <= axis < x.like.ndim else 1
        counts = Held(self.library, rng, rng.integers(0, 4, pick(rng, [size, size, 1])).astype(
            pick(rng, ["int32", "int64", "int8"])))
        return self.both("repeat(%r, %r, %r)" % (x, counts.like, axis),
                         lambda: self.ours.repeat(x.array, self.library.value(counts.array), axis),
                         lambda: np.repeat(x.like, counts.like.astype(np.int64), axis))


class Pads(Shape):
    kinds = [d for d in DTYPES if d not in SMALL]
    MODES = ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "minimum", "mean", "median"]

    def sides(self, rng, ndim, low, high):
        """Numbers of sides, and the same for NumPy."""
        form = int(rng.integers(3)) if ndim else 0
        numbers = [int(k) for k in rng.integers(low, high, [1, 2, 2 * ndim][form])]
        return numbers, numbers[0] if form == 0 else tuple(numbers) if form == 1 else tuple(zip(numbers[::2],
                                                                                                 numbers[1::2]))

    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(0, 4)), 9))
        ndim = x.like.ndim
        mode = pick(rng, self.MODES)
        if self.dtypes[0].startswith("c") and mode in ("maximum", "minimum", "mean", "median", "linear_ramp"):
            mode = "edge"
        if self.dtypes[0] == "bool" and mode == "linear_ramp":
            mode = "wrap"
        widths, theirs = self.sides(rng, ndim, 0, 12)
        value = int(rng.integers(0, 9))
        extra = {"constant": {"constant_values": value}, "linear_ramp": {"end_values": value}}.get(mode, {})
        stat = int(rng.integers(0, 5)) if mode in ("maximum", "minimum", "mean", "median") else 0
        values = counts = ()
        if stat:
            extra = {"stat_length": stat}
        if rng.random() < 0.4 and extra:
            numbers, extra[list(extra)[0]] = self.sides(rng, ndim, 1, 9)
            values, counts = ((), numbers) if stat else ([self.library.number(k, "int64") for k in numbers], ())
        if mode in ("mean", "median", "linear_ramp"):
            x = Held(self.library, rng, elements(rng, pick(rng, ["int32", "float64", "uint8"]), x.like.shape) * 8)
        if mode in ("reflect", "symmetric") and rng.random() < 0.6:
            extra = {"reflect_type": pick(rng, ["odd", "odd", "even"])}
        what = "pad(%r, %r, %s, %d, %r)" % (x, theirs, mode, value, extra)
        return self.both(what, lambda: self.ours.pad(x.array, widths, mode, self.library.number(value, "int64"), stat,
                                                     values, counts, extra.get("reflect_type")),
                         lambda: np.pad(x.like, theirs, mode, **extra), mode not in ("linear_ramp", "mean", "median"))


class Views(Shape):
    """Views and diagonals: small functions with one to three numbers."""

    TABLE = {
        "swapaxes": (2, np.swapaxes), "moveaxis": (2, np.moveaxis), "rollaxis": (2, np.rollaxis),
        "fliplr": (0, np.fliplr), "flipud": (0, np.flipud), "rot90": (1, np.rot90),
        "atleast_1d": (0, np.atleast_1d), "atleast_2d": (0, np.atleast_2d), "atleast_3d": (0, np.atleast_3d),
        "tril": (-1, np.tril), "triu": (-1, np.triu), "diag": (-1, np.diag), "diagflat": (-1, np.diagflat),
        "ediff1d": (0, lambda x: np.ediff1d(x) if x.dtype != bool else np.diff(x.ravel())),
    }

    OTHERS = ["ediff1d_between", "diagonal", "trace", "diff", "flip", "split", "array_split", "split_at", "unstack"]

    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(0, 5)), 9))
        name = pick(rng, list(self.TABLE) + self.OTHERS)
        axis = int(rng.integers(-x.like.ndim - 1, x.like.ndim + 1))
        if name in self.TABLE:
            count, theirs = self.TABLE[name]
            numbers = [int(k) for k in rng.integers(-4, 5, abs(count))]
            if name == "fliplr" and x.like.ndim == 1 or name in ("tril", "triu") and x.like.ndim == 0:
                refused(name, lambda: self.ours.plain(name, x.array, numbers, count), self.library)
                return name, []
            return self.both("%s(%r, %r)" % (name, x, numbers), lambda: self.ours.plain(name, x.array, numbers, count),
                             lambda: theirs(x.like, *numbers))
        if name == "ediff1d_between":
            ends = [self.array(rng, lengths(rng, int(rng.integers(0, 3)), 4)) if rng.random() < 0.7 else None
                    for _ in range(2)]
            like = np.diff(x.like.ravel())
            return self.both("ediff1d(%r, %r)" % (x, ends), lambda: self.ours.ediff1d_between(x.array, *ends),
                             lambda: np.concatenate(([ends[0].like.ravel()] if ends[0] else []) + [like] +
                                                    ([ends[1].like.ravel()] if ends[1] else [])))
        if name in ("diagonal", "trace"):
            offset, other = int(rng.integers(-5, 6)), int(rng.integers(-x.like.ndim - 1, x.like.ndim + 1))
            if name == "trace" and self.dtypes[0] in SMALL:
                name = "diagonal"
            return self.both("%s(%r, %d, %d, %d)" % (name, x, offset, axis, other),
                             lambda: self.ours.diagonal(name, x.array, offset, axis, other),
                             lambda: getattr(np, name)(x.like, offset, axis, other))
        if name == "diff":
            n = int(rng.integers(1, 4))
            before, behind = (self.array(rng, ()) if rng.random() < 0.3 else None for _ in range(2))
            more = {name: y.like for name, y in [("prepend", before), ("append", behind)] if y}
            return self.both("diff(%r, %d, %d, %r)" % (x, n, axis, more),
                             lambda: self.ours.diff(x.array, n, axis, before, behind),
                             lambda: np.diff(x.like, n, axis, **more))
        if name == "flip":
            axes = [int(k) for k in rng.permutation(x.like.ndim)[:2]]
            return self.both("flip(%r, %r)" % (x, axes), lambda: self.ours.flip_axes(x.array, axes),
                             lambda: np.flip(x.like, tuple(axes) if axes else None))
        return self.parts(rng, name, x, axis)

    def parts(self, rng, name, x, axis):
        length = x.like.shape[axis] if -x.like.ndim <= axis < x.like.ndim else 0
        if name == "unstack":
            return self.both("unstack(%r, %d)" % (x, axis), lambda: self.ours.unstack(x.array, axis, length),
                             lambda: list(np.unstack(x.like, axis=axis)))
        if name == "split_at":
            indices = [int(k) for k in rng.integers(-3, 9, int(rng.integers(0, 4)))]
            return self.both("split(%r, %r, %d)" % (x, indices, axis),
                             lambda: self.ours.split_at(x.array, indices, axis),
                             lambda: np.split(x.like, indices, axis))
        sections = int(rng.integers(0, 5))
        return self.both("%s(%r, %d, %d)" % (name, x, sections, axis),
                         lambda: self.ours.split(name, x.array, sections, axis),
                         lambda: getattr(np, name)(x.like, sections, axis))


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint32"]


class Takes(Shape):
    def indices(self, rng, shape, length, mode):
        low, high = (-length, length) if mode == 0 else (-3 * length - 3, 3 * length + 3)
        if mode == 0 and rng.random() < 0.1:
            low, high = low - 2, high + 2
        dtype = np.dtype(pick(rng, INTEGERS))
        x = rng.integers(low, max(high, low + 1), shape)
        info = np.iinfo(dtype)
        return Held(self.library, rng, np.asarray(np.clip(x, info.min, info.max)).astype(dtype))

    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(0, 4)), 40))
        axis = None if rng.random() < 0.3 or x.like.ndim == 0 else int(rng.integers(-3, 3))
        length = x.like.size if axis is None else x.like.shape[axis] if -x.like.ndim <= axis < x.like.ndim else 1
        mode = int(rng.integers(3))
        k = self.indices(rng, lengths(rng, int(rng.integers(0, 3)), 40), length, mode)
        what = "take(%r, %r, %r, mode=%d)" % (x, k, axis, mode)
        if length == 0 and k.like.size and mode:
            return what, []  # NumPy raises unless another axis is empty too
        return self.both(what, lambda: self.ours.take(x.array, k.array, axis, mode),
                         lambda: np.take(x.like, k.like.astype(np.int64), axis, mode=["raise", "wrap", "clip"][mode]))


class AlongAxis(Takes):
    def call(self, rng):
        shape = list(lengths(rng, int(rng.integers(1, 4)), 40))
        axis = int(rng.integers(-len(shape), len(shape)))
        own = list(shape)
        own[axis] = int(rng.choice([0, 1, 4, 30]))
        for k in range(len(own)):
            if k != axis % len(own) and rng.random() < 0.2:
                (own if rng.random() < 0.5 else shape)[k] = 1
        x = self.array(rng, tuple(shape))
        k = self.indices(rng, tuple(own), shape[axis], 0)
        what = "take_along_axis(%r, %r, %d)" % (x, k, axis)
        if rng.random() < 0.5:
            return self.both(what, lambda: self.ours.take_along(x.array, k.array, axis),
                             lambda: np.take_along_axis(x.like, k.like.astype(np.int64), axis))
        value = self.array(rng, pick(rng, [(), tuple(own), (1,) * len(own)]))
        what = "put_along_axis(%r, %r, %r, %d)" % (x, k, value, axis)

        def theirs():
            if any(a != b and 1 not in (a, b) for j, (a, b) in enumerate(zip(shape, own)) if j != axis % len(own)):
                raise ValueError
            np.put_along_axis(x.like, k.like.astype(np.int64, order="C"), value.like.copy(order="C"), axis)

        def ours():
            self.ours.put_along(x.array, k.array, self.library.value(value.array), axis)

        return self.written(what, x, ours, theirs)


class Puts(Takes):
    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(0, 4)), 30))
        mode = int(rng.integers(3))
        name = pick(rng, ["put", "put", "place", "putmask", "fill_diagonal"])
        size = int(rng.choice([1, 2, 5, 60]))
        value = self.array(rng, (size,))
        if name == "put":
            k = self.indices(rng, (int(rng.choice([0, 1, 5, 100, 3000])),), x.like.size, mode)
            what = "put(%r, %r, %r, mode=%d)" % (x, k, value, mode)
            ours = lambda: self.ours.put(x.array, k.array, self.library.value(value.array), mode)
            theirs = lambda: np.put(x.like, k.like.astype(np.int64), value.like, mode=["raise", "wrap", "clip"][mode])
        elif name == "fill_diagonal":
            wrapped, few = bool(rng.random() < 0.5), self.array(rng, (int(rng.integers(1, 5)),))
            what = "fill_diagonal(%r, %r, %r)" % (x, few, wrapped)
            ours = lambda: self.ours.fill_diagonal(x.array, self.library.value(few.array), wrapped)
            theirs = lambda: np.fill_diagonal(x.like, few.like, wrapped)
        else:
            mask = Held(self.library, rng, rng.random(x.like.shape) < rng.random())
            what = "%s(%r, %r, %r)" % (name, x, mask, value)
            ours = lambda: self.ours.masked(name, x.array, mask.array, self.library.value(value.array))
            theirs = lambda: getattr(np, name)(x.like, mask.like, value.like)

        return self.written(what, x, ours, theirs)


class Indices(Takes):
    """x[parts], read or written."""

    def part(self, rng, length, shape):
        kind = rng.random()
        if kind < 0.25:
            return int(rng.integers(-length, length)) if length else 0
        if kind < 0.5:
            ends = [None if rng.random() < 0.3 else int(rng.integers(-length - 2, length + 3)) for _ in range(2)]
            return slice(*ends, pick(rng, [None, 1, 2, -1, -2]))
        own = shape[int(rng.integers(len(shape) + 1)):]
        return self.indices(rng, tuple(1 if rng.random() < 0.2 else n for n in own), length, 0)

    def mask(self, rng, own, shape):
        """With as many true elements as the other indices have, or with any number."""
        values = rng.random(own) < rng.random()
        if rng.random() < 0.6:
            count = pick(rng, [1, shape[-1] if shape else 1])
            values = (rng.permutation(int(np.prod(own))) < count).reshape(own)
        return Held(self.library, rng, np.asarray(values))

    def parts(self, rng, x):
        shape, parts, axis = lengths(rng, int(rng.integers(0, 3)), 9), [], 0
        ellipsis = False
        while axis < x.like.ndim and rng.random() < 0.9:
            choice = rng.random()
            if choice < 0.1:
                parts.append(None)
            elif choice < 0.2 and not ellipsis:
                parts.append(Ellipsis)
                ellipsis = True
                axis += int(rng.integers(0, 2))
            elif choice < 0.4 and not ellipsis:
                n = int(rng.integers(0, x.like.ndim - axis + 1))
                parts.append(self.mask(rng, x.like.shape[axis:axis + n], shape))
                axis += n
            else:
                parts.append(self.part(rng, x.like.shape[axis], shape))
                axis += 1
        return parts

    @staticmethod
    def theirs(parts):
        """The parts as NumPy takes them. It writes in the order of the indices' memory, so all are in C order."""
        return tuple(p.like.astype(np.int64, order="C") if isinstance(p, Held) and p.like.dtype != bool else
                     p.like if isinstance(p, Held) else p for p in parts)

    def value_for(self, rng, x, theirs):
        """The shape of x[theirs], or () if there is none, and an array that broadcasts to it."""
        try:
            shape = np.empty(x.like.shape)[theirs].shape
        except IndexError:
            shape = ()
        narrow = tuple(1 if rng.random() < 0.2 else n for n in shape)[int(rng.integers(len(shape) + 1)):]
        other = self.dtypes[0] != "bool" and not self.dtypes[0].startswith("u") and rng.random() < 0.3
        return shape, self.array(rng, narrow, "int8" if other else self.dtypes[0])

    def both_parts(self, rng, x):
        """Ours and NumPy's. NumPy's versions differ in whether they check indices that name nothing."""
        parts = self.parts(rng, x)
        theirs = self.theirs(parts)
        if any(isinstance(p, np.ndarray) and not p.any() and (p.dtype == bool or not p.size) for p in theirs):
            return (), ()
        return parts, theirs

    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(1, 5)), 9))
        parts, theirs = self.both_parts(rng, x)
        what = "%r[%r]" % (x, theirs)
        if rng.random() < 0.5:
            return self.both(what, lambda: self.ours.index(x.array, parts), lambda: np.asarray(x.like[theirs]))
        shape, value = self.value_for(rng, x, theirs)

        def wanted():
            if any(isinstance(p, np.ndarray) for p in theirs):
                x.like[theirs]  # raises for what is out of range
                if np.broadcast_shapes(value.like.shape, shape) != shape:
                    raise ValueError
            x.like[theirs] = value.like.astype(x.like.dtype, order="C")

        return self.written("%s = %r" % (what, value), x,
                            lambda: self.ours.index_set(x.array, self.library.value(value.array), parts), wanted)


class Folds(Indices):
    """numpy.ufunc.at: every one of equal indices counts."""

    kinds = [d for d in DTYPES if d not in SMALL]

    def call(self, rng):
        x = self.array(rng, lengths(rng, int(rng.integers(1, 4)), int(rng.choice([9, 300]))))
        parts, theirs = self.both_parts(rng, x)
        name = pick(rng, ["add", "add", "multiply", "minimum", "maximum"])
        shape, value = self.value_for(rng, x, theirs)
        if name == "multiply":
            value.like[...] = np.sign(value.like.real) if value.like.dtype != bool else value.like
            value = Held(self.library, rng, value.like)

        def ours():
            self.ours.index_fold("ga_index_" + name, x.array, self.library.value(value.array), parts,
                                 bool(rng.random() < 0.5))

        def wanted():
            if any(isinstance(p, np.ndarray) for p in theirs):
                x.like[theirs]  # raises for what is out of range
            if np.broadcast_shapes(value.like.shape, shape) != shape:
                raise ValueError
            if np.result_type(x.like, value.like) == x.like.dtype:
                # NumPy 2.4 reads past a value with fewer dimensions than the indices.
                getattr(np, name).at(x.like, theirs, np.broadcast_to(value.like, shape).copy())
            else:
                raise ValueError

        return self.written("%s.at(%r, %r, %r)" % (name, x, theirs, value), x, ours, wanted)


class Choices(Shape):
    kinds = [d for d in DTYPES if d not in SMALL]

    def call(self, rng):
        count = int(rng.choice([1, 2, 3, 20]))
        shape = lengths(rng, int(rng.integers(0, 3)), 9)
        narrow = lambda: tuple(1 if rng.random() < 0.2 else n for n in shape)[int(rng.integers(len(shape) + 1)):]
        if rng.random() < 0.5:
            count = min(count, 16)
            arrays = [self.array(rng, narrow()) for _ in range(count)]
            k = Held(self.library, rng, rng.integers(-0, count, narrow()).astype(pick(rng, INTEGERS)))
            return self.both("choose(%r, %r)" % (k, arrays),
                             lambda: self.ours.choose(k.array, [x.array for x in arrays]),
                             lambda: np.choose(k.like.astype(np.int64), [x.like for x in arrays]))
        arrays = [self.array(rng, narrow()) for _ in range(count)]
        conditions = [Held(self.library, rng, rng.random(narrow()) < 0.4) for _ in range(count)]
        default = self.array(rng, ())
        return self.both("select(%r, %r)" % (conditions, arrays),
                         lambda: self.ours.select([c.array for c in conditions], [x.array for x in arrays],
                                                  self.library.value(default.array)),
                         lambda: np.select([c.like for c in conditions], [x.like for x in arrays], default.like))


RECIPES = [Joins, Rolls, Repeats, Pads, Views, Takes, AlongAxis, Puts, Indices, Indices, Folds, Choices]
