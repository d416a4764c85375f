"""The functions of joining.h and indexing.h through ctypes."""

import ctypes
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_void_p

from quarry import Value, sized

AXES = POINTER(c_int)
LENGTHS = POINTER(c_int64)


class JoinArgs(Structure):
    _fields_ = [("count", c_int), ("arrays", c_void_p), ("naxes", c_int), ("axes", AXES), ("out", c_void_p)]


class AppendArgs(Structure):
    _fields_ = [("x", c_void_p), ("y", c_void_p), ("naxes", c_int), ("axes", AXES)]


class RepeatArgs(Structure):
    _fields_ = [("x", c_void_p), ("counts", Value), ("naxes", c_int), ("axes", AXES)]


class RollArgs(Structure):
    _fields_ = [("x", c_void_p), ("shift", c_int64), ("naxes", c_int), ("axes", AXES)]


class PadArgs(Structure):
    _fields_ = [("x", c_void_p), ("nwidths", c_int), ("widths", LENGTHS), ("mode", c_char_p), ("value", Value),
                ("stat_length", c_int64), ("nvalues", c_int), ("values", POINTER(Value)), ("nstat_lengths", c_int),
                ("stat_lengths", LENGTHS), ("reflect_type", c_char_p)]


class DiffArgs(Structure):
    _fields_ = [("x", c_void_p), ("n", c_int), ("naxes", c_int), ("axes", AXES), ("prepend", c_void_p),
                ("append", c_void_p)]


class TakeArgs(Structure):
    _fields_ = [("x", c_void_p), ("indices", c_void_p), ("naxes", c_int), ("axes", AXES), ("mode", c_int),
                ("out", c_void_p)]


class PutArgs(Structure):
    _fields_ = [("x", c_void_p), ("indices", c_void_p), ("value", Value), ("mode", c_int)]


class IndexAddArgs(Structure):
    _fields_ = [("x", c_void_p), ("value", Value), ("n", c_int), ("parts", c_void_p), ("relaxed", c_bool)]


class PutAlongArgs(Structure):
    _fields_ = [("x", c_void_p), ("indices", c_void_p), ("value", Value), ("naxes", c_int), ("axes", AXES)]


class Range(Structure):
    _fields_ = [("kind", c_int), ("start", c_int64), ("stop", c_int64), ("step", c_int64), ("has_start", c_bool),
                ("has_stop", c_bool)]


class Part(Structure):
    _fields_ = [("range", Range), ("array", c_void_p), ("is_array", c_bool)]


def axis_of(axis):
    """The members naxes and axes."""
    return (0, None) if axis is None else (1, (c_int * 1)(axis))


def pointers(arrays):
    return (c_void_p * max(len(arrays), 1))(*[x.address for x in arrays])


def part_of(x):
    if x is None:
        return Part(Range(kind=2))
    if x is Ellipsis:
        return Part(Range(kind=3))
    if isinstance(x, slice):
        step = 1 if x.step is None else x.step
        return Part(Range(0, x.start or 0, x.stop or 0, step, x.start is not None, x.stop is not None))
    if isinstance(x, int):
        return Part(Range(kind=1, start=x, has_start=True))
    return Part(Range(kind=0, step=1), x.array.address, True)


class Shapes:
    def __init__(self, library):
        self.library, self.make, self.lib, self.check = library, library.make, library.lib, library.check

    def join(self, name, arrays, axis):
        if name == "append":
            return self.make("ga_append", *sized(AppendArgs(*[x.address for x in arrays], *axis_of(axis))))
        naxes, axes = (-1, None) if axis is None else axis_of(axis)
        held = pointers(arrays)
        return self.make("ga_" + name, *sized(JoinArgs(len(arrays), ctypes.cast(held, c_void_p), naxes, axes)))

    def many(self, name, arrays):
        return self.make("ga_" + name, len(arrays), pointers(arrays))

    def roll(self, x, shift, axis):
        return self.make("ga_roll", *sized(RollArgs(x.address, shift, *axis_of(axis))))

    def roll_axes(self, x, shifts, axes):
        n = len(shifts)
        return self.make("ga_roll_axes", c_void_p(x.address), n, (c_int64 * (n + 1))(*shifts), (c_int * (n + 1))(*axes))

    def tile(self, x, reps):
        return self.make("ga_tile", c_void_p(x.address), len(reps), (c_int64 * (len(reps) + 1))(*reps))

    def repeat(self, x, counts, axis):
        return self.make("ga_repeat", *sized(RepeatArgs(x.address, counts, *axis_of(axis))))

    def pad(self, x, widths, mode, value, stat_length=0, values=(), lengths=(), reflect=None):
        held = (c_int64 * max(len(widths), 1))(*widths)
        return self.make("ga_pad", *sized(
            PadArgs(x.address, len(widths), held, mode.encode(), value, stat_length, len(values),
                    (Value * len(values))(*values), len(lengths), (c_int64 * len(lengths))(*lengths),
                    reflect and reflect.encode())))

    def plain(self, name, x, numbers, count):
        kind = c_int64 if count < 0 else c_int
        return self.make("ga_" + name, c_void_p(x.address), *[kind(k) for k in numbers])

    def diagonal(self, name, x, offset, axis1, axis2):
        return self.make("ga_" + name, c_void_p(x.address), c_int64(offset), axis1, axis2)

    def diff(self, x, n, axis, before, behind):
        return self.make("ga_diff", *sized(DiffArgs(x.address, n, *axis_of(axis), before and before.array.address,
                                                    behind and behind.array.address)))

    def flip_axes(self, x, axes):
        return self.make("ga_flip_axes", c_void_p(x.address), len(axes), (c_int * max(len(axes), 1))(*axes))

    def results(self, count, call):
        out = (c_void_p * max(count, 1))()
        self.check(call(out))
        return [self.library.array(x) for x in out[:count]]

    def split(self, name, x, sections, axis):
        function = getattr(self.lib, "ga_" + name)
        return self.results(sections, lambda out: function(c_void_p(x.address), sections, axis, out))

    def split_at(self, x, indices, axis):
        held = (c_int64 * max(len(indices), 1))(*indices)
        return self.results(len(indices) + 1,
                            lambda out: self.lib.ga_split_at(c_void_p(x.address), len(indices), held, axis, out))

    def unstack(self, x, axis, count):
        return self.results(count, lambda out: self.lib.ga_unstack(c_void_p(x.address), axis, out))

    def take(self, x, indices, axis, mode):
        return self.make("ga_take", *sized(TakeArgs(x.address, indices.address, *axis_of(axis), mode)))

    def take_along(self, x, indices, axis):
        return self.make("ga_take_along_axis", *sized(TakeArgs(x.address, indices.address, *axis_of(axis))))

    def put(self, x, indices, value, mode):
        self.check(self.lib.ga_put(*sized(PutArgs(x.address, indices.address, value, mode))))

    def put_along(self, x, indices, value, axis):
        self.check(self.lib.ga_put_along_axis(*sized(PutAlongArgs(x.address, indices.address, value, *axis_of(axis)))))

    def masked(self, name, x, mask, value):
        self.check(getattr(self.lib, "ga_" + name)(c_void_p(x.address), c_void_p(mask.address), value))

    def fill_diagonal(self, x, value, wrapped):
        fill = self.lib.ga_fill_diagonal_wrapped if wrapped else self.lib.ga_fill_diagonal
        self.check(fill(c_void_p(x.address), value))

    def ediff1d_between(self, x, begin, end):
        return self.make("ga_ediff1d_between", c_void_p(x.address), c_void_p(begin and begin.array.address),
                         c_void_p(end and end.array.address))

    def index(self, x, parts):
        return self.make("ga_index_parts", c_void_p(x.address), len(parts),
                         (Part * max(len(parts), 1))(*[part_of(p) for p in parts]))

    def index_set(self, x, value, parts):
        self.check(self.lib.ga_index_set_parts(c_void_p(x.address), value, len(parts),
                                               (Part * max(len(parts), 1))(*[part_of(p) for p in parts])))

    def index_fold(self, name, x, value, parts, relaxed):
        listed = (Part * max(len(parts), 1))(*[part_of(p) for p in parts])
        self.check(getattr(self.lib, name)(*sized(IndexAddArgs(x.address, value, len(parts),
                                                               ctypes.cast(listed, c_void_p), relaxed))))

    def choose(self, indices, arrays):
        return self.make("ga_choose", c_void_p(indices.address), len(arrays), pointers(arrays))

    def select(self, conditions, choices, value):
        return self.make("ga_select", len(conditions), pointers(conditions), len(choices), pointers(choices), value)


class InsertArgs(Structure):
    _fields_ = [("x", c_void_p), ("part", Part), ("value", Value), ("naxes", c_int), ("axes", AXES)]


class DeleteArgs(Structure):
    _fields_ = [("x", c_void_p), ("part", Part), ("naxes", c_int), ("axes", AXES)]


class GradientArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", AXES), ("spacing", Value), ("edge_order", c_int)]


class CovArgs(Structure):
    _fields_ = [("x", c_void_p), ("y", c_void_p), ("columns", c_bool), ("bias", c_bool), ("ddof", c_int),
                ("fweights", c_void_p), ("aweights", c_void_p)]


class UnravelArgs(Structure):
    _fields_ = [("indices", c_void_p), ("ndim", c_int), ("shape", LENGTHS), ("out", c_void_p), ("order", c_char)]


class RavelArgs(Structure):
    _fields_ = [("indices", c_void_p), ("ndim", c_int), ("shape", LENGTHS), ("mode", c_int),
                ("modes", POINTER(c_int)), ("order", c_char)]


class PackbitsArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", AXES), ("bitorder", c_char_p)]


class UnpackbitsArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", AXES), ("count", c_int64), ("bitorder", c_char_p)]


class TrapezoidArgs(Structure):
    _fields_ = [("y", c_void_p), ("naxes", c_int), ("axes", AXES), ("x", c_void_p), ("dx", c_double)]


class UnwrapArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", AXES), ("discont", c_double), ("period", c_double)]


class ConvolveArgs(Structure):
    _fields_ = [("a", c_void_p), ("v", c_void_p), ("mode", c_char_p)]


class Buildings(Shapes):
    """The functions of shaping.h and series.h."""

    def insert(self, x, part, value, axis):
        return self.make("ga_insert", *sized(InsertArgs(x.address, part_of(part), value, *axis_of(axis))))

    def delete(self, x, part, axis):
        return self.make("ga_delete", *sized(DeleteArgs(x.address, part_of(part), *axis_of(axis))))

    def resize(self, x, shape):
        return self.make("ga_resize", c_void_p(x.address), len(shape), (c_int64 * max(len(shape), 1))(*shape))

    def trim_zeros(self, x, trim, axes):
        if axes is None:
            return self.make("ga_trim_zeros", c_void_p(x.address), trim.encode())
        return self.make("ga_trim_zeros_axes", c_void_p(x.address), trim.encode(), len(axes),
                         (c_int * max(len(axes), 1))(*axes))

    def gradients(self, x, axes, spacings, order):
        listed = (c_int * max(len(axes), 1))(*axes)
        given = (Value * len(spacings))(*spacings) if spacings else None
        return self.results(len(axes) or len(x.shape), lambda out: self.lib.ga_gradients(
            c_void_p(x.address), len(axes), listed, given, order, out))

    def cov(self, name, x, columns, bias, ddof, fweights, aweights):
        return self.make("ga_" + name, *sized(CovArgs(x.address, None, columns, bias, ddof,
                                                      fweights and fweights.array.address,
                                                      aweights and aweights.array.address)))

    def block(self, rows, columns, arrays):
        return self.make("ga_block", rows, columns, pointers(arrays))

    def indices(self, shape):
        return self.make("ga_indices", len(shape), (c_int64 * max(len(shape), 1))(*shape))

    def ix(self, arrays):
        return self.results(len(arrays), lambda out: self.lib.ga_ix_(len(arrays), pointers(arrays), out))

    def unravel_index(self, x, shape, order):
        dims = (c_int64 * max(len(shape), 1))(*shape)
        return self.results(len(shape), lambda out: self.lib.ga_unravel_index_with(*sized(UnravelArgs(
            x.address, len(shape), dims, ctypes.cast(out, c_void_p), order.encode()))))

    def ravel_multi_index(self, arrays, shape, modes, order):
        numbers = (c_int * len(modes))(*[["raise", "wrap", "clip"].index(mode) for mode in modes])
        return self.make("ga_ravel_multi_index_with", *sized(RavelArgs(
            ctypes.cast(pointers(arrays), c_void_p), len(shape), (c_int64 * len(shape))(*shape), 0, numbers,
            order.encode())))

    def diag_indices(self, n, ndim):
        return self.results(ndim, lambda out: self.lib.ga_diag_indices(c_int64(n), ndim, out))

    def packbits(self, x, axis, order):
        return self.make("ga_packbits", *sized(PackbitsArgs(x.address, *axis_of(axis), order.encode())))

    def unpackbits(self, x, axis, count, order):
        return self.make("ga_unpackbits", *sized(UnpackbitsArgs(x.address, *axis_of(axis), count or 0, order.encode())))

    def triangle(self, name, n, k, m):
        return self.results(2, lambda out: getattr(self.lib, name)(c_int64(n), c_int64(k), c_int64(m), out))

    def vander(self, x, columns, increasing):
        return self.make("ga_vander", c_void_p(x.address), c_int64(columns), c_bool(increasing))

    def gradient(self, x, axis, spacing, order):
        return self.make("ga_gradient", *sized(GradientArgs(x.address, *axis_of(axis), spacing, order)))

    def trapezoid(self, y, axis, x, dx):
        return self.make("ga_trapezoid", *sized(TrapezoidArgs(y.address, *axis_of(axis), x and x.address, dx)))

    def unwrap(self, x, axis, discont, period):
        return self.make("ga_unwrap", *sized(UnwrapArgs(x.address, *axis_of(axis), discont, period)))

    def polyval(self, p, x):
        return self.make("ga_polyval", c_void_p(p.address), c_void_p(x.address))

    def convolve(self, name, a, v, mode):
        return self.make(name, *sized(ConvolveArgs(a.address, v.address, mode.encode())))
