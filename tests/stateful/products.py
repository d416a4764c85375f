"""Recipes of matrix products: calls with every option, and formulas with @."""

from ctypes import Structure, c_bool, c_double, c_void_p

import numpy as np

from bins import Held
from einsums import EXACT, exactly, small, widest
from quarry import SMALL, promote, sized
from quarry import real_dtype as numpy_dtype
from recipes import Recipe, pick

LENGTHS = [1, 1, 2, 3, 5, 8, 16, 17, 33, 64, 100, 132]
MOST = 60000  # elements of an operand or of a result, and steps of NumPy's sums / 20


class ProductArgs(Structure):
    _fields_ = [("a", c_void_p), ("b", c_void_p), ("out", c_void_p), ("alpha", c_double), ("beta", c_double),
                ("tf32", c_bool), ("alpha_imag", c_double), ("beta_imag", c_double)]


def lengths(rng, count):
    """Rarely 0; together not too many."""
    while True:
        drawn = [0 if rng.random() < 0.02 else int(rng.choice(LENGTHS)) for _ in range(count)]
        if int(np.prod(drawn)) <= MOST * 20:
            return drawn


def stacks(rng):
    """Leading dimensions of two operands, which broadcast."""
    whole = [int(n) for n in rng.integers(1, 4, int(rng.choice([0, 0, 0, 1, 2])))]
    return [tuple(1 if rng.random() < 0.25 else n for n in whole)[int(rng.integers(0, 2)) * len(whole) // 2:]
            for _ in range(2)]


class Matmul(Recipe):
    """matmul, matvec and vecmat with numbers and an `out` that may be an operand."""

    kinds = [*EXACT, "float16", *SMALL]
    FORMS = {"matmul": np.matmul, "matvec": np.matvec, "vecmat": np.vecmat}

    def choose(self, rng):
        self.name = pick(rng, ["matmul", "matmul", "matmul", "matvec", "vecmat"])
        if self.dtypes[0] in SMALL or self.dtypes[1] in SMALL:
            self.dtypes = self.dtypes[:1] * len(self.dtypes)
        self.dtype = numpy_dtype(promote(*self.dtypes[:2]))
        self.into = rng.random() < 0.5
        truths, signed = self.dtype.kind == "b", self.dtype.kind not in "bu"
        self.alpha = pick(rng, [0, 0, 1, *([] if truths else [2]), *([-1] if signed else [])])
        self.beta = pick(rng, [0, 0, 1, *([] if truths else [3])]) if self.into else 0
        self.turn = pick(rng, [0, 0, 1, -2]) if self.dtype.kind == "c" else 0  # alpha's imaginary part
        self.factor = self.alpha + 1j * self.turn if self.turn else self.alpha or 1

    def shapes(self, rng):
        m, n, k = lengths(rng, 3)
        first, second = stacks(rng)
        a_vector = self.name == "vecmat" or (self.name == "matmul" and rng.random() < 0.1)
        b_vector = self.name == "matvec" or (self.name == "matmul" and rng.random() < 0.1)
        if self.name == "matmul":
            first, second = (() if a_vector else first), (() if b_vector else second)
        return first + ((k,) if a_vector else (m, k)), second + ((k,) if b_vector else (k, n))

    def number(self, x):
        return x.astype(widest(self.dtype))

    def call(self, rng):
        a, b = (Held(self.library, rng, small(rng, dtype, shape))
                for dtype, shape in zip(self.dtypes, self.shapes(rng)))
        args = ProductArgs(a.array.address, b.array.address, None, self.alpha, self.beta, rng.random() < 0.1,
                           self.turn)
        wanted = exactly(self.FORMS[self.name], [a.like, b.like], self.dtype)
        what = "%s(%r, %r)" % (self.name, a, b)
        if not self.into:
            args.alpha, factor = self.alpha, self.factor
            got = self.library.make("ga_" + self.name, *sized(args))
            return what, [(got, (self.number(wanted) * factor).astype(self.dtype) if factor != 1 else wanted, True)]
        out = Held(self.library, rng, small(rng, self.dtype.name, wanted.shape))
        for x in (a, b):  # an operand of the result's shape may receive it
            if rng.random() < 0.3 and x.like.shape == wanted.shape and x.like.dtype == self.dtype:
                out = x
        args.out = out.array.address
        exact = exactly(lambda x, y, c: self.whole(x, y, c), [a.like, b.like, out.like], self.dtype)
        function = getattr(self.library.lib, "ga_" + self.name)
        function.restype = c_void_p
        if not function(*sized(args)):
            self.library.fail()
        what += " into %r, alpha %s, beta %g" % (out, self.factor, self.beta)
        return what, [(out.array, exact, True)]

    def whole(self, a, b, c):
        product = self.FORMS[self.name](a, b)
        if self.dtype.kind == "b":
            return product | (c if self.beta else False)
        return np.asarray(self.factor, product.dtype) * product + np.asarray(self.beta, c.dtype) * c


class Formula(Recipe):
    """Products with what stands around them: values before, a bias and relu after, chains, views."""

    kinds = ["int32", "int64", "float32", "float64", "int8", "uint8"]
    FORMULAS = ["x @ w", "x @ w + b", "b + x @ w", "relu(x @ w + b)", "maximum(x @ w + b, 0)", "maximum(0, x @ w)",
                "relu(x @ w)", "relu(x @ w) + b", "relu(x @ w + b + b)", "(x @ w).T", "(x @ w)[..., ::2] * 2",
                "(x + 1) @ w", "x @ (w - b)", "sum(x @ w, axis=-1)", "x @ w.T @ w", "t = x @ w; relu(t) - t",
                "t = x @ w + b; relu(t) + t", "x @ w + b[::-1]", "relu(x @ w + b) @ w.T", "x @ w + 3",
                "maximum(x @ w, 1)", "sum(x @ w + b, axis=-1)",
                "t = x @ w; t - sum(t, axis=-1, keepdims=True)", "max(x @ w + b, axis=-1) - b[0]",
                "x[..., 0, :] @ w + b", "relu(x @ w + b.T)", "x @ w - b", "relu(b + relu(x @ w))"]

    def choose(self, rng):
        self.formula = pick(rng, self.FORMULAS)
        self.dtypes = self.dtypes[:1] * 3
        self.into = rng.random() < 0.3

    def evaluate(self, x, w, b):
        names = {"x": x, "w": w, "b": b, "maximum": np.maximum, "sum": np.sum,
                 "max": np.max, "relu": lambda v: np.maximum(v, v.dtype.type(0))}
        *statements, last = self.formula.split("; ")
        for statement in statements:
            exec(statement, names)
        return eval(last, names)

    def call(self, rng):
        try:
            return self.call_of(rng)
        except (ValueError, IndexError):  # NumPy's: stacks that do not broadcast any more
            return "nothing", []

    def call_of(self, rng):
        text = self.formula
        m, n, k = lengths(rng, 3) if rng.random() < 0.7 else lengths(rng, 1) * 3  # x and w broadcast, too
        if "w.T" in text:
            k = min(k, 16)
        first, second = stacks(rng)
        if "w.T" in text:
            second = ()
        if ("w - b" in text or "max(" in text) and n == 0:
            return "nothing", []
        shapes = first + (m, k), second + (k, n), (n,)
        if "x[" in text and m == 0:
            return "nothing", []
        x, w, b = (Held(self.library, rng, small(rng, dtype, shape)) for dtype, shape in zip(self.dtypes, shapes))
        dtype = x.like.dtype
        if "sum" in text and dtype.kind in "iu":
            dtype = np.dtype("int64" if dtype.kind == "i" else "uint64")
            wanted = self.evaluate(x.like, w.like, b.like).astype(dtype) if n else None
            if wanted is None:
                return "nothing", []
        elif dtype.kind == "f":
            wanted = exactly(self.evaluate, [x.like, w.like, b.like], dtype)
        else:
            wanted = np.asarray(self.evaluate(x.like, w.like, b.like))  # wraps around at every step
        what = "eval %s with x %r, w %r, b %r" % (text, x, w, b)
        names = ["x", "w"] + ["b"] * ("b" in text.replace("sub", ""))
        ours = {name: {"x": x, "w": w, "b": b}[name].array for name in (names[k] for k in rng.permutation(len(names)))}
        if not self.into:
            return what, [(self.library.eval(text, ours), wanted, True)]
        out = Held(self.library, rng, small(rng, wanted.dtype.name, wanted.shape))
        for held in (x, w):
            if rng.random() < 0.4 and held.like.shape == wanted.shape and held.like.dtype == wanted.dtype:
                out = held
        self.library.eval_into(out.array, text, ours)
        return what + " into %r" % out, [(out.array, wanted, True)]


PRODUCTS = [Matmul, Matmul, Matmul, Formula, Formula]
