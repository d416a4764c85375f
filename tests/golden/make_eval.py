"""Makes eval.txt: random expressions over named arrays, with NumPy's answers.

Each tree is computed node by node and also, where Python's operators mean the same, from its text. The
largest error allowed is how far the answer moves when every floating node is moved by the error its row
may have, plus some units in the last place. Run with no arguments from anywhere; the output stands beside
this file. Lines: "array NAME DTYPE SHAPE LAYOUT BYTES", "number NAME DTYPE BYTES", and
"case DTYPE SHAPE BYTES BOUNDS" followed by the line of the expression; bytes are hexadecimal, in C order;
the bounds are float32, one for each element, "-" for none.
"""

import random
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
CASES = 260
rng = np.random.default_rng(7)
pick = random.Random(7)

# Name: dtype, shape, layout of tests/golden.h.
ARRAYS = {
    "b": ("bool", (3, 4), 0),
    "i8": ("int8", (4,), 3),
    "u8": ("uint8", (3, 1), 0),
    "i16": ("int16", (3, 4), 1),
    "u16": ("uint16", (3, 4), 2),
    "i32": ("int32", (3, 4), 2),
    "u32": ("uint32", (1, 4), 0),
    "i64": ("int64", (2, 3, 4), 0),
    "u64": ("uint64", (3, 4), 4),
    "h": ("float16", (3, 4), 0),
    "f": ("float32", (3, 4), 1),
    "g": ("float32", (4,), 3),
    "x": ("float32", (3, 4), 0),
    "d": ("float64", (3, 1), 2),
    "v": ("float64", (2, 1, 4), 4),
    "c": ("complex64", (3, 4), 0),
    "z": ("complex128", (4,), 2),
    "s": ("float32", (), 0),
    "k": ("int32", (), 0),
}
NUMBERS = {"n": 3, "a": 2.5, "w": 1 - 2j}


def make_array(dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if kind in "iu":
        return np.asarray(rng.integers(1, 7, shape) * (rng.choice([-1, 1], shape) if kind == "i" else 1)).astype(dtype)
    values = rng.uniform(0.3, 3, shape) * rng.choice([-1, 1], shape)
    if kind == "c":
        values = values + 1j * rng.uniform(0.3, 3, shape)
    return np.asarray(values).astype(dtype)


VALUES = {name: make_array(dtype, shape) for name, (dtype, shape, _) in ARRAYS.items()}


class Noise:
    """Moves floating values by a number of units in the last place, up or down at random."""

    on = None

    @classmethod
    def move(cls, value, ulps):
        if cls.on is None or not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
            return value
        eps = np.finfo(value.dtype).eps * ulps
        if value.dtype.kind == "c":
            turn = np.exp(1j * cls.on.uniform(0, 6.3, value.shape))
        else:
            turn = cls.on.choice([-1, 1], value.shape)
        return (value + value * turn * eps).astype(value.dtype)


# Operators: text, precedence, whether Python's own operator means the same, function, kinds of operand.
BINARY = {
    "|": (5, np.bitwise_or, "int"),
    "^": (6, np.bitwise_xor, "int"),
    "&": (7, np.bitwise_and, "int"),
    "<<": (8, np.left_shift, "int"),
    ">>": (8, np.right_shift, "int"),
    "+": (9, np.add, "any"),
    "-": (9, np.subtract, "any"),
    "*": (10, np.multiply, "any"),
    "/": (10, np.divide, "any"),
    "//": (10, np.floor_divide, "real"),
    "%": (10, np.remainder, "real"),
    "**": (12, np.power, "power"),
    "<": (4, np.less, "any"),
    "<=": (4, np.less_equal, "any"),
    ">": (4, np.greater, "any"),
    "==": (4, np.equal, "any"),
    "!=": (4, np.not_equal, "any"),
    "and": (2, np.logical_and, "any"),
    "or": (1, np.logical_or, "any"),
}
UNARY = {"-": (11, np.negative), "+": (11, np.positive), "~": (11, np.invert), "not": (3, np.logical_not)}
CALLS = {
    "sqrt": 1, "exp": 1, "log1p": 1, "sin": 1, "cos": 1, "tanh": 1, "abs": 1, "square": 1, "floor": 1,
    "rint": 1, "sign": 1, "isnan": 1, "arctan": 1, "conj": 1, "cbrt": 1, "expm1": 1, "exp2": 1,
    "arctan2": 2, "hypot": 2, "maximum": 2, "minimum": 2, "fmod": 2, "copysign": 2, "gcd": 2, "logaddexp": 2,
    "fmax": 2, "where": 3, "clip": 3, "reciprocal": 1, "logical_xor": 2, "heaviside": 2,
}
EXACT = {"abs", "square", "floor", "rint", "sign", "isnan", "conj", "maximum", "minimum", "fmod", "copysign",
         "gcd", "fmax", "where", "clip", "logical_xor", "heaviside"}
CASTS = ["float32", "float64", "int32", "int64", "complex128", "float16", "bool", "uint8"]
REDUCTIONS = ["sum", "mean", "max", "min", "var", "std", "prod", "any", "all", "argmax", "argmin",
              "count_nonzero", "nansum", "nanmax", "nanmin", "nanmean"]


def reduced(name, x, axis, keepdims, ddof):
    x = np.asarray(x)
    options = {"axis": axis, "keepdims": keepdims}
    if name in ("var", "std"):
        options["ddof"] = ddof
    if name in ("argmax", "argmin") and isinstance(axis, tuple):
        raise ValueError
    if x.dtype == np.float16 and name in ("sum", "mean", "prod", "var", "std", "nansum", "nanmean"):
        wide = getattr(np, name)(x.astype(np.float32), **options)
        return np.asarray(wide).astype(np.float16)[()]
    result = getattr(np, name)(x, **options)
    if name in ("var", "std", "mean", "nanmean") and x.dtype.kind in "fc":
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        return np.asarray(getattr(np, name)(x.astype(wide), **options)).astype(result.dtype)[()]
    return result


class Tree:
    """text, precedence, compute() and whether Python's eval gives the same."""

    def __init__(self, text, precedence, compute, python=True):
        self.text, self.precedence, self.compute, self.python = text, precedence, compute, python

    def inside(self, precedence):
        if self.precedence >= precedence and pick.random() > 0.05:
            return self.text
        return "(" + self.text + ")"


def leaf():
    if pick.random() < 0.78:
        name = pick.choice(list(ARRAYS))
        return Tree(name, 20, lambda: VALUES[name])
    if pick.random() < 0.4:
        name = pick.choice(list(NUMBERS))
        return Tree(name, 20, lambda: NUMBERS[name])
    text = pick.choice(["1", "2", "3", "7", "0.5", "1.25", "2.", ".75", "1e-1", "0x1f", "pi", "e", "True", "2j", "5"])
    value = {"pi": np.pi, "e": np.e, "True": True}.get(text)
    if value is None:
        value = eval(text)
    return Tree(text, 20, lambda: value)


def binary(depth):
    op = pick.choice(list(BINARY))
    precedence, function, _ = BINARY[op]
    a, b = tree(depth - 1), tree(depth - 1)
    if op in ("**", "<<", ">>"):
        b = pick.choice([Tree("2", 20, lambda: 2), Tree("3", 20, lambda: 3), Tree("n", 20, lambda: 3)])
    space = " " if op in ("and", "or") or pick.random() < 0.8 else ""
    left = a.inside(precedence + (op == "**") + (precedence == 4))
    right = b.inside(precedence + (op != "**"))

    def compute():
        x, y = a.compute(), b.compute()
        if not isinstance(x, (np.ndarray, np.generic)) and not isinstance(y, (np.ndarray, np.generic)):
            if op == "and":
                return bool(x) and bool(y)
            if op == "or":
                return bool(x) or bool(y)
            return eval("x %s y" % op)
        return Noise.move(function(x, y), 4 if op == "**" else 1)

    python = a.python and b.python and op not in ("and", "or", "**")
    return Tree(left + space + op + space + right, precedence, compute, python)


def unary(depth):
    op = pick.choice(list(UNARY))
    precedence, function = UNARY[op]
    a = tree(depth - 1)

    def compute():
        x = a.compute()
        if isinstance(x, (np.ndarray, np.generic)):
            return function(x)
        return (not x) if op == "not" else eval(op + "(x)")

    text = op + (" " if op == "not" else "") + a.inside(precedence)
    return Tree(text, precedence, compute, a.python and op != "not")


def call(depth):
    name = pick.choice(list(CALLS))
    args = [tree(depth - 1) for _ in range(CALLS[name])]

    def compute():
        values = [a.compute() for a in args]
        if name == "where":
            values[0] = np.asarray(values[0]) != 0
        return Noise.move(getattr(np, name)(*values), 0 if name in EXACT else 4)

    python = all(a.python for a in args) and name != "where"
    return Tree(name + "(" + ", ".join(a.text for a in args) + ")", 20, compute, python)


def cast(depth):
    name, a = pick.choice(CASTS), tree(depth - 1)

    def compute():
        x = a.compute()
        if np.asarray(x).dtype.kind == "c" and name != "complex128" and name != "bool":
            raise ValueError
        if name[0] in "iu" and (np.abs(np.asarray(x).astype(float)) > 100).any():
            raise ValueError
        if name == "uint8" and (np.asarray(x).astype(float) < 0).any():
            raise ValueError
        return np.asarray(x).astype(name)[()]

    return Tree("%s(%s)" % (name, a.text), 20, compute, False)


def reduction(depth):
    name, a = pick.choice(REDUCTIONS), tree(depth - 1)
    try:
        ndim = np.ndim(a.compute())
    except Exception:
        ndim = 0
    axis = pick.choice([None, None] + list(range(-ndim, ndim)) + ([(0, 1), (-1, 0)] if ndim >= 2 else []))
    keepdims, ddof = pick.random() < 0.5, pick.randrange(2)
    options = ["axis=%s" % (axis,)] if axis is not None or pick.random() < 0.1 else []
    options += ["keepdims=%s" % keepdims] if keepdims or pick.random() < 0.1 else []
    options += ["ddof=%d" % ddof] if name in ("var", "std") and ddof else []
    ulps = {"prod": 16, "sum": 8, "nansum": 8}.get(name, 8)
    if name in ("max", "min", "nanmax", "nanmin"):
        ulps = 0
    return Tree("%s(%s)" % (name, ", ".join([a.text] + options)), 20,
                lambda: Noise.move(reduced(name, a.compute(), axis, keepdims, ddof), ulps), False)


def tree(depth):
    if depth == 0:
        return leaf()
    kinds = [(binary, 10), (unary, 2), (call, 4), (cast, 1), (reduction, 4), (lambda _: leaf(), 1)]
    return pick.choices([k for k, _ in kinds], [w for _, w in kinds])[0](depth)


def namespace():
    names = {name: getattr(np, name) for name in CALLS}
    return {**names, **VALUES, **NUMBERS, "pi": np.pi, "e": np.e}


def bounds(t, want):
    """The largest error of each element; None when the answer is not stable enough to compare."""
    if want.dtype.kind not in "fc":
        steady = np.zeros(want.shape)
    moved = np.zeros(want.shape)
    for seed in range(12):
        Noise.on = np.random.default_rng(seed)
        try:
            other = np.asarray(t.compute())
        finally:
            Noise.on = None
        if want.dtype.kind not in "fc":
            if (other != want).any():
                return None
            continue
        moved = np.maximum(moved, np.abs(other.astype(np.complex128) - want.astype(np.complex128)))
    if want.dtype.kind not in "fc":
        return steady
    eps = np.finfo(want.dtype).eps
    result = 6 * moved + 4 * eps * np.abs(want.astype(np.complex128)) + float(np.finfo(want.dtype).smallest_subnormal)
    if (result > 1e-2 * np.maximum(np.abs(want), 1e-3)).any() and want.dtype != np.float16:
        return None
    return result


def hexadecimal(array):
    return np.ascontiguousarray(array).tobytes().hex() or "-"


def shape_text(shape):
    return ",".join(map(str, shape)) or "-"


def make_case():
    t = tree(pick.choice([1, 2, 2, 3, 3, 4]))
    if len(t.text) < 3 or len(t.text) > 160:
        return None
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise", under="ignore"):
            value = t.compute()
            if t.python:
                other = eval(t.text, namespace())
                assert np.asarray(other).dtype == np.asarray(value).dtype, t.text
                assert np.allclose(other, value, rtol=1e-2), t.text
            if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 62:
                return None
            want = np.asarray(value)
            if want.dtype.name not in {d for d, _, _ in ARRAYS.values()}:
                return None
            if want.dtype.kind in "fc" and not np.isfinite(want).all():
                return None
            bound = bounds(t, want)
    except (TypeError, ValueError, FloatingPointError, ZeroDivisionError, OverflowError, IndexError):
        return None
    if bound is None:
        return None
    exact = want.dtype.kind not in "fc"
    return "case %s %s %s %s\n%s\n" % (want.dtype.name, shape_text(want.shape), hexadecimal(want),
                                       "-" if exact else hexadecimal(bound.astype(np.float32)), t.text)


# Names, views and options, which the trees do not have. The functions stand for the expression language's own.
LANGUAGE = """
t = x - mean(x); t / std(t)
t = f * 2; u = t + d; t = u - f; t * u
m = max(x, 1, True); t = exp(x - m); t / sum(t, -1, True)
x = x * 2; x + 1
t = i32; t
s = x[1:] - x[:-1]; sum(s * s)
pi = 3; pi * i16
x[1:, None]
x[0]
x[-1, ::2]
x[..., 1]
x[:, None, 1:3] * i32[..., None, :2]
x[::-1, ::-1] - x
i32[1] // i16[2]
f.T
f.T[1:]
f[1:].T + x[:2].T
(x + f)[1]
(x + f)[1:, ::-1].T
(i32 * i16)[::2][0]
(d + g)[..., None]
v[:, 0, 1:]
v[1, None]
c.real + c.imag
c[1:].imag * 2
x.real + f.imag
(c * z).real
(c * 2).imag[0]
z.T.real
sum(x, axis=0)[None] + f
sum(x, axis=0)[::-1] + max(f, axis=0)
mean(x, axis=1)[:, None] - x
(sum(i32, axis=1) + sum(i16, axis=1))[1:]
(max(x, axis=0) - min(x, axis=0))[:, None] * g[:, None]
x[1:] - mean(x[1:])
max(x[:, 1:]) - min(x[:, 1:])
t = x.T; sum(t * t, axis=0)
t = (x * 2)[1:]; t / sum(t, axis=1, keepdims=True)
sum(x.T, axis=0) + sum(x, axis=1)
float32(i32)[0] + float32(2)[None]
sqrt(2.0)[None] * g
x[1][1] + x[1, 1]
sum(x[0, 1:][::-1] * x[1, :3])
where(x[1:] > x[:-1], 1, 0)
x[2:1] * 1
s[None, None] + g
s[...]
sum(x, dtype=float64)
sum(i8, dtype=int16)
mean(i32, axis=0, dtype=float32)
sum(x, 1, float64, True)
sum(i16, 0, True)
prod(i16, (0, 1), True)
var(x, correction=1)
var(d, axis=0, correction=0.5)
std(x, axis=1, ddof=1, keepdims=True)
sum(i32, axis=())
max(x, axis=(), keepdims=True) + 1
var(x, axis=())
any(i32 > 1, axis=())
x[1:, None, :2, None] + g[None, :2, None, None]
v[..., ::-1].T[1:3]
t = i32[:, :2]; u = i16[:, 2:]; t + u
f[f > 0]
x[x > mean(x)]
(i32 * 2 + g)[b]
c[x < 1]
h[h > 5]
i64[i64 % 2 == 0]
t = x - mean(x, axis=0); t[t * f > 0]
(x > 0)[f > 0]
x.T[x.T > 0.5]
x[::2, 1:][f[1:, :3] < 0]
s[s == s]
f[f > 0] * 2 + 1
sqrt(x[x > 0]) - x[x > 0]
where(f[b] > 0, f[b], i32[b])
float64(x[f > 0]) / 3
-i32[b] // 4
x[b] * s + k
(f * 2)[b] + i16[b]
i64[i64[:, 0, 0] > -9] + i32
t = x[x > 0]; t * t
sum(x[x > 0])
sum(i32[b] * 2)
mean(f[f > 0])
mean(x[x > mean(x)]) - mean(x)
var(f[b], ddof=1)
any(i32[b] > 3)
count_nonzero(i32[b])
max(x[b], initial=-1)
sum(f[f[:, 0] > -9], axis=0)
mean(i16[i16[:, 1] > -99], axis=0, keepdims=True)
sum(i32[i32[:, 0] > -99], axis=(0, 1))
"""


def language_answer(text):
    names = {**namespace(), **{n: getattr(np, n) for n in "float32 float64 int16 where sqrt count_nonzero".split()}}

    def positional(name):
        function = getattr(np, name)

        def call(x, axis=None, dtype=None, *keep, keepdims=False, **rest):
            if isinstance(dtype, bool):
                keep, dtype = (dtype,), None
            if dtype is not None:
                rest["dtype"] = dtype
            return function(x, axis=axis, keepdims=keep[0] if keep else keepdims, **rest)
        return call

    names.update({n: positional(n) for n in "sum mean max min prod var std any".split()})
    *statements, last = text.split("; ")
    for statement in statements:
        exec(statement, names)
    return np.asarray(eval(last, names))


def language_case(text):
    want = language_answer(text)
    bound = None
    if want.dtype.kind in "fc":
        eps = np.finfo(want.dtype).eps
        bound = np.full(want.shape, 32 * eps * max(1.0, np.abs(want).max(initial=0)), np.float32)
    return "case %s %s %s %s\n%s\n" % (want.dtype.name, shape_text(want.shape), hexadecimal(want),
                                       "-" if bound is None else hexadecimal(bound), text)


def main():
    lines = []
    for name, (dtype, shape, layout) in ARRAYS.items():
        text = (name, dtype, shape_text(shape), layout, hexadecimal(VALUES[name]))
        lines.append("array %s %s %s %d %s\n" % text)
    for name, value in NUMBERS.items():
        array = np.asarray(value)
        lines.append("number %s %s %s\n" % (name, array.dtype.name, hexadecimal(array)))
    cases = {}
    while len(cases) < CASES:
        case = make_case()
        if case and not any(name in case.split("\n")[1] for name in ("bool(w", "~b", "~True")):
            cases[case.split("\n")[1]] = case
    for text in LANGUAGE.strip().split("\n"):
        cases[text] = language_case(text)
    path = Path(__file__).with_name("eval.txt")
    path.write_text("".join(lines) + "".join(cases.values()))
    print("%s: %d cases, %d bytes" % (path, len(cases), path.stat().st_size))


main()
