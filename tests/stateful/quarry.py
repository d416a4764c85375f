"""Quarry through ctypes: a minimal binding, with NumPy arrays in and out.

The functions behind the C macros take the same structs as C does; see value.h, ops.h and eval.h.
"""

import ctypes
import sys
from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "golden"))
from golden import DTYPES, SMALL, code as code_of_name, epsilon, promote, real_dtype  # noqa: F401 (for recipes)

ARRAY, NUMBER, SOURCE = 0, 1, 2


class Value(Structure):
    """ga_value. The union is two words here, because ctypes cannot pass a union by value."""

    _fields_ = [("kind", c_int), ("dtype", c_int), ("words", c_uint64 * 2)]


class Named(Structure):
    _fields_ = [("name", c_char_p), ("value", Value)]


class ReduceArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", POINTER(c_int)), ("keepdims", c_bool),
                ("dtype", c_int), ("ddof", c_int), ("out", c_void_p)]


class ScanArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", POINTER(c_int)), ("dtype", c_int), ("exclusive", c_bool),
                ("reverse", c_bool), ("include_initial", c_bool), ("initial", Value), ("offsets", c_void_p),
                ("out", c_void_p)]


class SortArgs(Structure):
    _fields_ = [("x", c_void_p), ("naxes", c_int), ("axes", POINTER(c_int)), ("descending", c_bool),
                ("flat", c_bool), ("out", c_void_p)]


class ElementwiseArgs(Structure):
    _fields_ = [(name, c_char_p) for name in ("arguments", "operation", "name", "preamble", "loop_prep", "after_loop")]
    _fields_ += [("fast_math", c_bool)]


class ReductionArgs(Structure):
    _fields_ = [("dtype_out", c_int)]
    _fields_ += [(name, c_char_p) for name in ("neutral", "reduce_expr", "map_expr", "arguments", "name", "preamble",
                                               "struct_name")]
    _fields_ += [("struct_bytes", c_size_t), ("fast_math", c_bool)]


class Range(Structure):
    _fields_ = [("kind", c_int), ("start", c_int64), ("stop", c_int64), ("step", c_int64), ("has_start", c_bool),
                ("has_stop", c_bool)]


class Chunks(Structure):
    _fields_ = [("bytes", c_int64), ("progress", c_void_p), ("user", c_void_p)]


class SearchArgs(Structure):
    _fields_ = [("a", c_void_p), ("v", Value), ("side_right", c_bool), ("sorter", c_void_p)]


class DigitizeArgs(Structure):
    _fields_ = [("x", c_void_p), ("bins", c_void_p), ("right", c_bool)]


class BincountArgs(Structure):
    _fields_ = [("x", c_void_p), ("weights", c_void_p), ("minlength", c_int64)]


class HistogramArgs(Structure):
    _fields_ = [("x", c_void_p), ("bins", Value), ("counts", POINTER(c_void_p)), ("edges", POINTER(c_void_p)),
                ("range", c_double * 2), ("weights", c_void_p), ("density", c_bool)]


class HistogramDDArgs(Structure):
    _fields_ = [("sample", c_void_p), ("nbins", c_int), ("bins", POINTER(Value)), ("counts", POINTER(c_void_p)),
                ("edges", POINTER(c_void_p)), ("ranges", POINTER(c_double)), ("weights", c_void_p),
                ("density", c_bool)]


class RngState(Structure):
    _fields_ = [("seed", c_uint64), ("position", c_uint64)]


def sized(options):
    """A struct as the library takes it: its size, then its address."""
    return c_size_t(ctypes.sizeof(options)), ctypes.byref(options)


def address(x):
    """Of an array, or of None."""
    return None if x is None else x.address


class Error(Exception):
    """A call that failed, with the library's status and message."""

    def __init__(self, status, message):
        super().__init__("%s: %s" % (status, message))
        self.status = status


def dtype_of(code):
    return real_dtype(DTYPES[code - 1])


def code_of(dtype):
    return code_of_name(np.dtype(dtype).name)


READ_FUNCTION = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_void_p)


class Array:
    """Owns one reference; .like is the NumPy array that it should equal."""

    def __init__(self, library, address, like=None):
        self.library, self.address, self.like = library, address, like

    def __del__(self):
        if self.address:
            self.library.lib.ga_free(c_void_p(self.address))

    @property
    def shape(self):
        ndim = self.library.lib.ga_ndim(self.address)
        dims = self.library.lib.ga_shape(self.address)
        return tuple(dims[axis] for axis in range(ndim))

    @property
    def dtype(self):
        return dtype_of(self.library.lib.ga_dtype_of(self.address))

    def numpy(self):
        out = np.empty(self.shape, self.dtype)
        nbytes = self.library.lib.ga_nbytes(self.address)
        self.library.check(self.library.lib.ga_to_host(self.address, out.ctypes.data_as(c_void_p), nbytes))
        return out


class Source:
    """A source that reads a NumPy array, C order."""

    def __init__(self, library, like):
        self.library, self.like = library, np.asarray(like, order="C")
        self.callback = READ_FUNCTION(self.read)
        dims = (c_int64 * max(like.ndim, 1))(*like.shape)
        self.address = library.lib.ga_source_new(code_of(like.dtype), like.ndim, dims, self.callback, None)
        if not self.address:
            library.fail()

    def read(self, _, first, count, to):
        size = self.like.itemsize
        ctypes.memmove(to, self.like.ctypes.data + first * size, count * size)
        return 0

    def __del__(self):
        if self.address:
            self.library.lib.ga_source_free(c_void_p(self.address))


class Library:
    def __init__(self, path):
        self.lib = lib = ctypes.CDLL(path)
        for name in ("ga_error_message", "ga_status_name", "ga_version", "ga_current_device"):
            getattr(lib, name).restype = c_char_p
        lib.ga_shape.restype = POINTER(c_int64)
        lib.ga_nbytes.restype = c_size_t
        lib.ga_size.restype = c_int64
        lib.ga_rng_new.argtypes = [c_uint64]
        lib.ga_source_new.argtypes = [c_int, c_int, POINTER(c_int64), READ_FUNCTION, c_void_p]
        for name in ("ga_ndim", "ga_shape", "ga_dtype_of", "ga_nbytes", "ga_size"):
            getattr(lib, name).argtypes = [c_void_p]
        lib.ga_to_host.argtypes = [c_void_p, c_void_p, c_size_t]
        for name in ("ga_source_new", "ga_rng_new", "ga_elementwise_kernel", "ga_reduction_kernel", "ga_compile_expr"):
            getattr(lib, name).restype = c_void_p

    # ---- Errors ----

    def fail(self):
        status = self.lib.ga_error()
        message = self.lib.ga_error_message().decode()
        name = self.lib.ga_status_name(status).decode()
        self.lib.ga_clear_error()
        raise Error(name, message)

    def check(self, status):
        if status != 0:
            self.fail()

    def array(self, address):
        if not address:
            self.fail()
        return Array(self, address)

    def wait(self):
        """Waits for the device, which raises what kernels have found: indices out of range."""
        self.check(self.lib.ga_synchronize())

    def make(self, name, *args):
        """Calls a function that makes an array."""
        function = getattr(self.lib, name)
        function.restype = c_void_p
        return self.array(function(*args))

    # ---- Values ----

    def number(self, number, dtype):
        """A C number of that dtype: a weak scalar."""
        value = Value(NUMBER, code_of_name(dtype))
        kind = np.dtype(dtype).kind
        view = np.zeros(2, np.float64)
        if kind in "biu":
            view[:1] = np.array([int(number)], np.int64 if kind != "u" else np.uint64).view(np.float64)
        else:
            view[:] = complex(number).real, complex(number).imag
        value.words[0], value.words[1] = (int(w) for w in view.view(np.uint64))
        return value

    def value(self, x):
        if isinstance(x, Value):
            return x
        value = Value(SOURCE if isinstance(x, Source) else ARRAY, 0)
        value.words[0] = x.address
        return value

    def named(self, names):
        """A C list of {name: array, source or Value}."""
        return (Named * max(len(names), 1))(*[Named(name.encode(), self.value(x)) for name, x in names.items()])

    # ---- Arrays ----

    def from_host(self, like):
        like = np.asarray(like, order="C")
        dims = (c_int64 * max(like.ndim, 1))(*like.shape)
        x = self.make("ga_from_host", like.ctypes.data_as(c_void_p), code_of(like.dtype), like.ndim, dims)
        return x

    def slice(self, x, parts):
        """x[parts] of slices, indices, None and Ellipsis."""
        ranges = (Range * max(len(parts), 1))()
        for k, part in enumerate(parts):
            if part is None:
                ranges[k] = Range(2, 0, 0, 0, False, False)
            elif part is Ellipsis:
                ranges[k] = Range(3, 0, 0, 0, False, False)
            elif isinstance(part, slice):
                ranges[k] = Range(0, part.start or 0, part.stop or 0, part.step or 1, part.start is not None,
                                  part.stop is not None)
            else:
                ranges[k] = Range(1, part, 0, 0, True, False)
        return self.make("ga_slice_ranges", c_void_p(x.address), len(parts), ranges)

    def transpose(self, x, axes):
        return self.make("ga_transpose_axes", c_void_p(x.address), len(axes), (c_int * max(len(axes), 1))(*axes))

    def broadcast_to(self, x, shape):
        return self.make("ga_broadcast_to", c_void_p(x.address), len(shape), (c_int64 * max(len(shape), 1))(*shape))

    def source(self, like):
        return Source(self, like)

    def astype(self, x, dtype):
        return self.make("ga_astype", c_void_p(x.address), code_of(dtype))

    def real(self, x):
        return self.make("ga_real", c_void_p(x.address))

    def assign(self, view, value):
        self.check(self.lib.ga_assign(c_void_p(view.address), self.value(value)))

    def device(self):
        return (self.lib.ga_current_device() or b"no device").decode()

    # ---- Operations ----

    def op(self, name, *operands):
        return self.make("ga_" + name, *[self.value(x) for x in operands])

    def op_into(self, name, out, *operands):
        self.check(getattr(self.lib, "ga_%s_into" % name)(c_void_p(out.address), *[self.value(x) for x in operands]))

    def reduction(self, name, x, axes=None, keepdims=False, dtype=None, ddof=0, out=None):
        args = ReduceArgs(x=x.address, keepdims=keepdims, ddof=ddof, dtype=code_of(dtype) if dtype else 0)
        if axes is not None:
            args.naxes, args.axes = len(axes), (c_int * len(axes))(*axes)
        if out is None:
            return self.make("ga_" + name, *sized(args))
        args.out = out.address
        function = getattr(self.lib, "ga_" + name)
        function.restype = c_void_p
        if not function(*sized(args)):
            self.fail()
        return out

    def scan(self, name, x, axis=None, offsets=None, **options):
        args = ScanArgs(x=x.address, offsets=offsets.address if offsets else None, **options)
        if axis is not None:
            args.naxes, args.axes = 1, (c_int * 1)(axis)
        return self.make("ga_" + name, *sized(args))

    def sort(self, name, x, axis, descending=False, out=None):
        """ga_sort or ga_argsort; axis None: of the elements in C order."""
        args = SortArgs(x=x.address, descending=descending, flat=axis is None, out=out.address if out else None)
        if axis is not None:
            args.naxes, args.axes = 1, (c_int * 1)(axis)
        if out is None:
            return self.make("ga_" + name, *sized(args))
        function = getattr(self.lib, "ga_" + name)
        function.restype = c_void_p
        if not function(*sized(args)):
            self.fail()
        return out

    def lexsort(self, keys):
        return self.make("ga_lexsort", len(keys), (c_void_p * len(keys))(*[x.address for x in keys]))

    def sort_by_key(self, keys, values):
        results = c_void_p(), c_void_p()
        self.check(self.lib.ga_sort_by_key(c_void_p(keys.address), c_void_p(values.address),
                                           *[ctypes.byref(x) for x in results]))
        return [self.array(x.value) for x in results]

    def eval(self, text, names):
        return self.make("ga_eval", text.encode(), len(names), self.named(names))

    def eval_into(self, out, text, names):
        self.check(self.lib.ga_eval_into(c_void_p(out.address), text.encode(), len(names), self.named(names)))

    def eval_chunked(self, text, names, nbytes):
        chunks = Chunks(bytes=nbytes)
        return self.make("ga_eval_chunked", *sized(chunks), text.encode(), len(names), self.named(names))

    def elementwise_kernel(self, arguments, operation, name, **options):
        args = ElementwiseArgs(arguments.encode(), operation.encode(), name.encode(),
                               **{key: text.encode() for key, text in options.items()})
        return self.lib.ga_elementwise_kernel(*sized(args)) or self.fail()

    def reduction_kernel(self, dtype, neutral, reduce_expr, map_expr, arguments, name):
        args = ReductionArgs(code_of(dtype), neutral.encode(), reduce_expr.encode(), map_expr.encode(),
                             arguments.encode(), name.encode())
        return self.lib.ga_reduction_kernel(*sized(args)) or self.fail()

    def values(self, operands):
        return (Value * len(operands))(*[self.value(x) for x in operands])

    def run(self, kernel, *operands):
        self.check(self.lib.ga_run(c_void_p(kernel), len(operands), self.values(operands)))

    def reduce(self, kernel, *operands):
        return self.make("ga_reduce", c_void_p(kernel), len(operands), self.values(operands))

    # ---- Searches and histograms ----

    def searchsorted(self, a, v, right=False, sorter=None):
        return self.make("ga_searchsorted", *sized(SearchArgs(a.address, self.value(v), right, address(sorter))))

    def digitize(self, x, bins, right=False):
        return self.make("ga_digitize", *sized(DigitizeArgs(x.address, bins.address, right)))

    def bincount(self, x, weights=None, minlength=0):
        return self.make("ga_bincount", *sized(BincountArgs(x.address, address(weights), minlength)))

    def bins(self, bins):
        return self.number(bins, "int64") if isinstance(bins, int) else self.value(bins)

    def histogram(self, x, bins, limits=None, weights=None, density=False):
        out = (c_void_p * 2)()
        args = HistogramArgs(x.address, self.bins(bins), out, ctypes.cast(ctypes.byref(out, 8), POINTER(c_void_p)),
                             (c_double * 2)(*(limits or (0, 0))), address(weights), density)
        self.check(self.lib.ga_histogram(*sized(args)))
        return self.array(out[0]), self.array(out[1])

    def histogramdd(self, x, bins, limits, weights=None, density=False):
        counts, edges = (c_void_p * 1)(), (c_void_p * len(bins))()
        ranges = (c_double * (2 * len(bins)))(*[v for pair in limits for v in (pair or (0, 0))])
        args = HistogramDDArgs(x.address, len(bins), (Value * len(bins))(*[self.bins(b) for b in bins]), counts, edges,
                               ranges, address(weights), density)
        self.check(self.lib.ga_histogramdd(*sized(args)))
        return self.array(counts[0]), [self.array(e) for e in edges]

    # ---- Random numbers ----

    def rng(self, seed):
        return c_void_p(self.lib.ga_rng_new(seed) or self.fail())

    def c_numbers(self, numbers):
        """Parameters of distributions are values, ends of integers C integers."""
        return [self.number(x, "float64") if isinstance(x, float) else c_int64(x) for x in numbers]

    def draw_into(self, name, out, rng):
        self.check(getattr(self.lib, "ga_rng_%s_into" % name)(c_void_p(out.address), rng))

    def draw(self, name, rng, dtype, *numbers_and_shape):
        *numbers, shape = numbers_and_shape
        dims = (c_int64 * max(len(shape), 1))(*shape)
        return self.make("ga_rng_" + name, rng, code_of(dtype), *numbers, len(shape), dims)
