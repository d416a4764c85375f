"""Recipes of sums of products: random subscripts, and the products that are cases of them."""

import math
import string
from ctypes import POINTER, Structure, c_char_p, c_int, c_void_p

import numpy as np

from bins import Held
from operands import elements, random_shape
from quarry import code_of, promote, sized
from quarry import real_dtype as numpy_dtype
from recipes import Recipe, pick

# Dtypes whose sums of small integers are exact in any order.
EXACT = ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64", "complex64",
         "complex128"]
MOST_PLACES = 30000
MOST_RESULTS = 1 << 24


def cross(x, y, axis):
    """np.cross(), which takes vectors of 2 elements until NumPy 2.4."""
    if x.shape[axis] == y.shape[axis] == 3:
        return np.cross(x, y, axis=axis)
    x, y = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    last = x[0] * y[1] - x[1] * y[0]
    if len(x) == len(y):
        return last
    parts = [x[1] * y[2], -(x[0] * y[2]), last] if len(x) == 2 else [-(x[2] * y[1]), x[2] * y[0], last]
    return np.moveaxis(np.stack(parts), 0, axis)


class EinsumArgs(Structure):
    _fields_ = [("subscripts", c_char_p), ("count", c_int), ("operands", POINTER(c_void_p)), ("dtype", c_int),
                ("out", c_void_p)]


class TensordotArgs(Structure):
    _fields_ = [("a", c_void_p), ("b", c_void_p), ("naxes", c_int), ("axes", POINTER(c_int)), ("nother", c_int),
                ("other", POINTER(c_int)), ("out", c_void_p)]


class VectorArgs(Structure):
    _fields_ = [("a", c_void_p), ("b", c_void_p), ("naxes", c_int), ("axes", POINTER(c_int)), ("out", c_void_p)]


class OuterArgs(Structure):
    _fields_ = [("a", c_void_p), ("b", c_void_p), ("out", c_void_p)]


def small(rng, dtype, shape):
    """Numbers whose products are small: 1, 2 and -1."""
    like = elements(rng, dtype, shape)
    if like.dtype.kind in "fc":
        return np.clip(like.real, -1, 2).astype(like.dtype) + (1j * np.clip(like.imag, -1, 1) if like.dtype.kind == "c"
                                                               else 0)
    return np.minimum(like, 2) if like.dtype.kind in "iu" else like


def widest(dtype):
    """The dtype in which NumPy's sums are exact."""
    kind = dtype.kind
    return dtype if kind in "bu" else np.dtype("int64") if kind == "i" else np.dtype(
        "complex128" if kind == "c" else "float64")


def exactly(function, operands, dtype):
    """function(*operands), computed in the widest dtype of the kind."""
    wide = widest(dtype)
    return np.asarray(function(*[x.astype(wide) for x in operands])).astype(dtype)


def spaced(rng, text):
    """With blanks where the grammar allows them."""
    if rng.random() < 0.8:
        return text
    text = text.replace("...", "_").replace("->", ">")
    text = "".join(c + " " * int(rng.integers(0, 2)) for c in text)
    return text.replace("_", "...").replace(">", "->")


class Subscripts:
    """Random subscripts: letters of operands and of the result, and lengths of letters."""

    def __init__(self, rng):
        count = int(rng.choice([1, 1, 2, 2, 2, 2, 2, 3, 3, 4]))
        letters = rng.permutation(list(string.ascii_letters))[: int(rng.integers(1, 6))]
        self.terms = []
        for _ in range(count):
            n = int(rng.integers(0, 5))
            distinct = rng.random() < 0.75
            term = rng.permutation(letters)[:n] if distinct else rng.choice(letters, n)
            self.terms.append("".join(term))
        self.ellipses = [int(rng.integers(0, len(term) + 1)) if rng.random() < 0.5 else -1 for term in self.terms]
        if rng.random() < 0.7:
            self.ellipses = [-1] * count
        used = sorted(set("".join(self.terms)))
        self.kept = "".join(rng.permutation(used)[: int(rng.integers(0, len(used) + 1))])
        self.explicit = rng.random() < 0.8
        self.result_ellipsis = int(rng.integers(0, len(self.kept) + 1))

    def text(self):
        terms = [term if at < 0 else term[:at] + "..." + term[at:] for term, at in zip(self.terms, self.ellipses)]
        if not self.explicit:
            return ",".join(terms)
        at, kept = self.result_ellipsis, self.kept
        if max(self.ellipses) >= 0:
            kept = kept[:at] + "..." + kept[at:]
        return ",".join(terms) + "->" + kept

    def shapes(self, rng):
        """Shapes that fit, none of many elements: letters may repeat."""
        shapes = self.any_shapes(rng)
        while max(int(np.prod(shape)) for shape in shapes) > 10 * MOST_PLACES:
            shapes = self.any_shapes(rng)
        return shapes

    def any_shapes(self, rng):
        """Lengths of letters and of the ellipsis, some of them 1 in some operands."""
        places, lengths = 1, {}
        extra = int(rng.integers(0, 3)) if max(self.ellipses) >= 0 else 0
        names = sorted(set("".join(self.terms))) + list(range(extra))
        for k in rng.permutation(len(names)):
            fitting = [n for n in (1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 100) if n * places <= MOST_PLACES]
            lengths[names[k]] = 0 if rng.random() < 0.01 else int(rng.choice(fitting))
            places *= max(lengths[names[k]], 1)
        shapes = []
        for term, at in zip(self.terms, self.ellipses):
            ones = {c for c in term if rng.random() < 0.06}
            shape = [1 if c in ones else lengths[c] for c in term]
            if at >= 0:
                own = int(rng.integers(0, extra + 1))
                shape[at:at] = [1 if rng.random() < 0.1 else lengths[k] for k in range(extra - own, extra)]
            shapes.append(tuple(shape))
        return shapes


class Einsum(Recipe):
    kinds = EXACT
    inputs = 4

    def choose(self, rng):
        self.subscripts = Subscripts(rng)
        self.into = rng.random() < 0.2
        self.dtype = pick(rng, [None, None, None, "float64", "complex64"])

    def call(self, rng):
        text = spaced(rng, self.subscripts.text())
        held = [Held(self.library, rng, small(rng, dtype, shape))
                for dtype, shape in zip(self.dtypes, self.subscripts.shapes(rng))]
        dtype = self.dtypes[0]
        for other in self.dtypes[1:len(held)]:
            dtype = promote(dtype, other)
        if self.dtype and np.can_cast(dtype, self.dtype, "same_kind"):
            dtype = self.dtype
        dtype = numpy_dtype(dtype)
        what = "einsum(%r, %s) as %s" % (text, ", ".join(map(repr, held)), dtype)
        wanted = exactly(lambda *x: np.einsum(text, *x), [x.like for x in held], dtype)
        operands = (c_void_p * len(held))(*[x.array.address for x in held])
        args = EinsumArgs(text.encode(), len(held), operands, code_of(dtype))
        if not self.into:
            return what, [(self.library.make("ga_einsum", *sized(args)), wanted, True)]
        out = Held(self.library, rng, np.zeros(wanted.shape, dtype))
        args.out = out.array.address
        function = self.library.lib.ga_einsum
        function.restype = c_void_p
        if not function(*sized(args)):
            self.library.fail()
        return what + " into %r" % out, [(out.array, wanted, True)]


class AnySubscripts(Einsum):
    """Other subscripts in each call, of one dtype: they share kernels."""

    kinds = ["int32", "float32"]

    def choose(self, rng):
        super().choose(rng)
        self.dtypes, self.dtype = self.dtypes[:1] * 4, None

    def call(self, rng):
        self.subscripts = Subscripts(rng)
        return super().call(rng)


class Product(Recipe):
    kinds = EXACT

    def held(self, rng, k, shape):
        return Held(self.library, rng, small(rng, self.dtypes[k], shape))

    def answer(self, name, args, operands, function):
        dtype = numpy_dtype(promote(*self.dtypes))
        got = self.library.make(name, *args)
        what = "%s(%s)" % (name, ", ".join(map(repr, operands)))
        return what, [(got, exactly(function, [x.like for x in operands], dtype), True)]


class Tensordot(Product):
    def call(self, rng):
        shape = random_shape(rng, 300)
        n = int(rng.integers(0, len(shape) + 1))
        axes = [int(k) for k in rng.permutation(len(shape))[:n]]
        lengths = [shape[k] for k in axes]
        other = [int(k) for k in rng.integers(1, 6, int(rng.integers(0, 3)))]
        places = sorted(int(k) for k in rng.permutation(n + len(other))[:n])
        second, pairs = [], {}
        for k in range(n + len(other)):
            if k in places:
                pairs[len(pairs)] = k
                second.append(lengths[len(pairs) - 1])
            else:
                second.append(other.pop())
        matching = [pairs[k] for k in range(n)]
        a, b = self.held(rng, 0, shape), self.held(rng, 1, tuple(second))
        signed = [k - len(shape) if rng.random() < 0.3 else k for k in axes]
        args = TensordotArgs(a.array.address, b.array.address, n, (c_int * max(n, 1))(*signed), n,
                             (c_int * max(n, 1))(*matching), None)
        return self.answer("ga_tensordot", sized(args), [a, b], lambda x, y: np.tensordot(x, y, (signed, matching)))


class Inner(Product):
    def call(self, rng):
        n = int(rng.choice([0, 1, 2, 5, 33, 100]))
        shapes = [tuple(int(k) for k in rng.integers(1, 5, int(rng.integers(0, 3)))) + (n,) for _ in range(2)]
        if rng.random() < 0.2:
            shapes[int(rng.integers(2))] = ()
        a, b = (self.held(rng, k, shape) for k, shape in enumerate(shapes))
        addresses = [c_void_p(x.array.address) for x in (a, b)]
        return self.answer("ga_inner", addresses, [a, b], np.inner)


class Outer(Product):
    def call(self, rng):
        shapes = [random_shape(rng, 200) for _ in range(2)]
        while math.prod(shapes[0] + shapes[1]) > MOST_RESULTS:
            shapes = [random_shape(rng, 200) for _ in range(2)]
        a, b = (self.held(rng, k, shape) for k, shape in enumerate(shapes))
        which = int(rng.integers(3))
        if which == 0:
            return self.answer("ga_outer", sized(OuterArgs(a.array.address, b.array.address)), [a, b], np.outer)
        addresses = [c_void_p(x.array.address) for x in (a, b)]
        if which == 1:
            return self.answer("ga_kron", addresses, [a, b], np.kron)
        b = self.held(rng, 1, a.like.shape if rng.random() < 0.7 else (a.like.size,))
        addresses[1] = c_void_p(b.array.address)
        return self.answer("ga_vdot", addresses, [a, b], np.vdot)


class Vectors(Product):
    """vecdot and cross: shapes that broadcast, along any axis that both have."""

    def choose(self, rng):
        self.cross = rng.random() < 0.4
        if self.cross:
            self.dtypes = ["int8" if dtype == "bool" else dtype for dtype in self.dtypes]
        self.lengths = [int(n) for n in rng.integers(2, 4, 2)] if self.cross else None

    def call(self, rng):
        lengths = self.lengths or [int(rng.choice([0, 1, 2, 7, 100]))] * 2
        loops = random_shape(rng, 300)[-3:]
        shapes, axis = [], -1 - int(rng.integers(0, 1 + len(loops)))
        for k in range(2):
            own = loops if rng.random() < 0.6 else tuple(1 if rng.random() < 0.4 else n for n in loops)
            own = own[int(rng.integers(0, 2)) if -axis <= len(own) else 0:]
            at = len(own) + 1 + axis
            shapes.append(own[:at] + (lengths[k],) + own[at:])
        a, b = (self.held(rng, k, shape) for k, shape in enumerate(shapes))
        if axis == -1 and rng.random() < 0.5:
            args = VectorArgs(a.array.address, b.array.address)
        else:
            args = VectorArgs(a.array.address, b.array.address, 1, (c_int * 1)(axis))
        if self.cross:
            return self.answer("ga_cross", sized(args), [a, b], lambda x, y: cross(x, y, axis))
        return self.answer("ga_vecdot", sized(args), [a, b], lambda x, y: np.vecdot(x, y, axis=axis))


EINSUMS = [Einsum, Einsum, AnySubscripts, Tensordot, Inner, Outer, Vectors]
