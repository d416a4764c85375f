"""Makes ops.bin: NumPy's answers to every row of the elementwise tables, for every dtype.

Exact rows are NumPy's own results; rows with an error bound are computed in x87 extended precision
and rounded once, so that the bound is against the true value. Where Quarry's documented answer is
not NumPy's (integer powers, Annex G arithmetic, frexp of infinities), it is written out here.
Run with no arguments from anywhere; the output stands beside this file.
"""

import warnings

import mpmath
import numpy as np
import special
from golden import (
    BOUNDED,
    DTYPES,
    ERROR,
    KINDS,
    LOOSE_INF,
    LOOSE_ZERO,
    NORMWISE,
    ROOT,
    SAMPLED,
    SMALL,
    Array,
    File,
    code,
    epsilon,
    from_bits,
    is_sample,
    limits,
    numpy_dtype,
    promote,
    rows,
    to_bits,
)

N = 65  # 5 x 13: odd, so that the tails of vector loops run
warnings.simplefilter("ignore")
np.seterr(all="ignore")
UNARY = {r[0]: r for r in rows("unary")}
BINARY = {r[0]: r for r in rows("binary")}
TERNARY = {r[0]: r for r in rows("ternary")}
SPLIT = {r[0]: r for r in rows("split")}

# ---- Inputs ----

LIMITS = {
    "float16": (65504.0, 2.0**-24, 2.0**-14),
    "float32": (3.4028234663852886e38, 2.0**-149, 2.0**-126),
    "float64": (1.7976931348623157e308, 2.0**-1074, 2.0**-1022),
    **{dtype: limits(dtype) for dtype in SMALL},
}
EXP_RANGE = {"float16": 8, "float32": 80, "float64": 600}
EXP_RANGE.update({dtype: int(0.91 * np.log(LIMITS[dtype][0])) for dtype in SMALL})
DOMAINS = {
    "exp": "exp",
    "expm1": "exp",
    "exp2": "exp",
    "sinh": "exp",
    "cosh": "exp",
    "sqrt": "positive",
    "log": "positive",
    "log2": "positive",
    "log10": "positive",
    "log1p": "positive",
    "arcsin": "unit",
    "arccos": "unit",
    "arctanh": "unit",
    "arccosh": "positive",
    "rsqrt": "positive",
    "logit": "unit",
    "erfinv": "unit",
}


def specials(dtype):
    top, subnormal, normal = LIMITS[dtype]
    return [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3.5,
        subnormal,
        -subnormal,
        subnormal * 37,
        normal,
        top,
        -top,
        1e-3,
        100.25,
        -1000.5,
        3e4,
        2.0,
    ]


def reals(dtype, domain, rng):
    """N values: the special ones, then random ones of the domain; the order shuffled."""
    head = specials(dtype)
    count = N - len(head)
    if domain == "unit":
        tail = rng.uniform(-1, 1, count)
    elif domain == "positive":
        tail = np.exp(rng.normal(0, 2, count)) * np.where(rng.random(count) < 0.3, 50, 1)
    elif domain == "exp":
        tail = rng.uniform(-1, 1, count) * EXP_RANGE[dtype] * rng.choice([0.01, 0.3, 1], count)
    else:
        tail = rng.normal(0, 3, count) * rng.choice([1, 1, 20], count)
    return Array(dtype, rng.permutation(np.concatenate([head, tail])))


def pair_reals(dtype, side, rng):
    """The first 36 of the two sides make every pair of six special values."""
    six = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5])
    head = np.repeat(six, 6) if side == 0 else np.tile(six, 6)
    top, subnormal, normal = LIMITS[dtype]
    more = [[top, subnormal, -3.0, -7.5, 6.0], [2.0, 2.0, 2.0, 2.5, -4.0]][side]
    tail = rng.normal(0, 3, N - len(head) - len(more))
    return Array(dtype, np.concatenate([head, more, tail]))


def complexes(dtype, side, rng):
    real = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5])
    order = np.arange(36) if side == 0 else (np.arange(36) * 7 + 11) % 36
    z = np.empty(N, np.complex128)
    z.real = rng.normal(0, 2, N)
    z.imag = rng.normal(0, 2, N)
    z.real[:36] = np.repeat(real, 6)[order]
    z.imag[:36] = np.tile(real, 6)[order]
    z[36:40] = [[3, -2, 4j, 0.5 - 2j], [2, 0.5, -1j, 3]][side]
    return Array(dtype, z)


def integers(dtype, side, rng):
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if dtype == "bool":
        six = [0, 1, 0, 1, 1, 0]
    else:
        six = [0, 1, low, high, 7, -1 if low else 200]
    head = [v for v in six for _ in range(6)] if side == 0 else six * 6
    small = rng.integers(max(low, -12), min(high, 12), 10, endpoint=True)
    dt = np.dtype(dtype)
    tail = rng.integers(low, high, N - 46, dtype=dt, endpoint=True)
    parts = [head, [int(v) for v in small], [int(v) for v in tail]]
    return Array(dtype, np.array(sum(parts, []), dtype=dt))


CACHE = {}


def operand(dtype, domain="any", side=0):
    """The test values of a dtype, always the same for the same arguments: blobs are shared."""
    key = (dtype, domain if KINDS[dtype] == "f" else "any", side)
    if key not in CACHE:
        seed = [code(dtype), sum(map(ord, key[1])), side]
        rng = np.random.default_rng(seed)
        kind = KINDS[dtype]
        if kind == "c":
            CACHE[key] = complexes(dtype, side, rng)
        elif kind != "f":
            CACHE[key] = integers(dtype, side, rng)
        elif key[1] == "pair":
            CACHE[key] = pair_reals(dtype, side, rng)
        else:
            CACHE[key] = reals(dtype, domain, rng)
    return CACHE[key]


def reduced(array, modulus):
    return (np.abs(array.v.astype("float64")) % modulus).astype(array.v.dtype)


def special_operands(name, dtype, side):
    """Operands of the rows whose general ones would leave the function's useful range."""
    base = operand(dtype, "pair", side)
    if name in ("gcd", "lcm") and KINDS[dtype] in "iu":
        values = [int(v) for v in base.v]
        top = 11 if name == "lcm" else min(np.iinfo(dtype).max, 10**6)
        values = [v if abs(v) <= top else (abs(v) % top) * (1 if v > 0 else -1) for v in values]
        return Array(dtype, np.array(values))
    if name in ("logaddexp", "logaddexp2") and KINDS[dtype] == "f":
        return Array(dtype, np.where(np.arange(N) < 36, base.v, np.abs(base.v)))
    if name == "isclose" and KINDS[dtype] in "fc" and side == 1:
        close = operand(dtype, "pair").v * (1 + np.resize([0, 5e-6, -5e-6, 2e-5, -2e-5], N))
        return Array(dtype, np.where(np.arange(N) < 36, base.v, close))
    if name == "float_power":
        return special_operands("power", dtype, side)
    if name == "power" and KINDS[dtype] == "c":
        return Array(dtype, np.where(np.isfinite(base.v), base.v, 2 - 0.5j * side))
    if name == "power" and KINDS[dtype] == "f" and side == 0:
        return Array(dtype, np.where(np.arange(N) < 41, base.v, np.abs(base.v)))
    if name in ("left_shift", "right_shift") and side == 1 and dtype != "bool":
        return Array(dtype, np.where(np.arange(N) < 36, base.v, reduced(base, 71)))
    if name == "power" and KINDS[dtype] in "iu" and side == 1:
        return Array(dtype, np.where(np.arange(N) < 36, base.v, reduced(base, 9)))
    return base


# ---- Quarry's answers where they differ from NumPy's ----


def wrapped_power(dtype, a, b):
    """Integer powers modulo the width; to a negative power 0 unless the base is 1 or -1."""
    info, out = np.iinfo(dtype), []
    for x, y in zip(map(int, a), map(int, b)):
        if y < 0:
            value = 1 if x == 1 else (-1 if y % 2 else 1) if x == -1 else 0
        else:
            value = pow(x, y, 1 << info.bits)
        value &= (1 << info.bits) - 1
        out.append(value - (1 << info.bits) if value > info.max else value)
    return np.array(out, dtype=dtype)


def c99_multiply(x, y):
    """C99 G.5.1, example 1."""
    a, b, c, d = (np.float64(v) for v in (x.real, x.imag, y.real, y.imag))
    re, im = a * c - b * d, a * d + b * c
    if np.isnan(re) and np.isnan(im):
        again = False
        if np.isinf(a) or np.isinf(b):
            a, b = np.copysign(1.0 * np.isinf(a), a), np.copysign(1.0 * np.isinf(b), b)
            c, d = (np.copysign(0.0, v) if np.isnan(v) else v for v in (c, d))
            again = True
        if np.isinf(c) or np.isinf(d):
            c, d = np.copysign(1.0 * np.isinf(c), c), np.copysign(1.0 * np.isinf(d), d)
            a, b = (np.copysign(0.0, v) if np.isnan(v) else v for v in (a, b))
            again = True
        if again:
            return complex(np.inf * (a * c - b * d), np.inf * (a * d + b * c))
    return complex(re, im)


def c99_divide(x, y):
    """C99 G.5.1, example 2, without its scaling (the finite test values need none)."""
    a, b, c, d = (np.float64(v) for v in (x.real, x.imag, y.real, y.imag))
    denominator = c * c + d * d
    re, im = (a * c + b * d) / denominator, (b * c - a * d) / denominator
    if np.isnan(re) and np.isnan(im):
        if denominator == 0 and not (np.isnan(a) and np.isnan(b)):
            return complex(np.copysign(np.inf, c) * a, np.copysign(np.inf, c) * b)
        if (np.isinf(a) or np.isinf(b)) and np.isfinite(c) and np.isfinite(d):
            a, b = np.copysign(1.0 * np.isinf(a), a), np.copysign(1.0 * np.isinf(b), b)
            return complex(np.inf * (a * c + b * d), np.inf * (b * c - a * d))
        if (np.isinf(c) or np.isinf(d)) and np.isfinite(a) and np.isfinite(b):
            c, d = np.copysign(1.0 * np.isinf(c), c), np.copysign(1.0 * np.isinf(d), d)
            return complex(0.0 * (a * c + b * d), 0.0 * (b * c - a * d))
    return complex(re, im)


def complex_arithmetic(name, values):
    """multiply, divide, square and reciprocal of complex numbers by C99's Annex G."""
    x = values[0]
    y = x if name == "square" else values[-1]
    one = {"reciprocal": True}.get(name, False)
    f = c99_multiply if name in ("multiply", "square") else c99_divide
    x, y = np.broadcast_arrays(np.ones(1) if one else x, y)
    rough = [f(complex(p), complex(q)) for p, q in zip(x.astype(complex), y.astype(complex))]
    return np.array(rough)


def angle(z):
    if np.iscomplexobj(z):
        return np.arctan2(z.imag, z.real)
    return np.arctan2(np.zeros_like(z), z)


def expm1(z):
    """Special complex values are those of exp(z) - 1, which NumPy's own formula makes NaN."""
    fine = np.expm1(z)
    return np.where(np.isfinite(z), fine, np.exp(z) - 1) if np.iscomplexobj(z) else fine


def reciprocal(x):
    return np.where(x == 0, x, np.reciprocal(x)) if x.dtype.kind in "iu" else np.reciprocal(x)


def by_mpmath(function):
    """Functions that NumPy lacks, from mpmath's value to 40 digits."""

    def value(x):
        if x == 0:
            return x if function(0) == 0 else np.longdouble(1)  # mpmath has no -0
        if not abs(x) < 200:  # limits, and NaN
            return np.longdouble(float(function(mpmath.mpf(float(np.clip(x, -200, 200))))))
        high = float(x)
        with mpmath.workdps(40):
            exact = function(mpmath.mpf(high) + mpmath.mpf(float(x - np.longdouble(high))))
            return np.longdouble(mpmath.nstr(exact, 30))

    wide = np.vectorize(value, otypes=[np.longdouble])

    def real_function(x):
        if np.iscomplexobj(x):
            raise TypeError("no complex loop")
        return wide(x).astype(np.exp(x).dtype)

    return real_function


def clip(x, low, high):
    """NumPy's clip does not propagate NaN in complex bounds."""
    return np.minimum(np.maximum(x, low), high)


def python_function(name):
    own = {
        "conj": np.conjugate,
        "angle": angle,
        "expm1": expm1,
        "reciprocal": reciprocal,
        "clip": clip,
        "erf": by_mpmath(mpmath.erf),
        "erfc": by_mpmath(mpmath.erfc),
        **special.FUNCTIONS,
    }
    return own.get(name) or getattr(np, name)


# ---- Dtypes of results ----


def float_of(dtype):
    return {
        "bool": "float16",
        "int8": "float16",
        "uint8": "float16",
        "int16": "float32",
        "uint16": "float32",
    }.get(dtype, dtype if KINDS[dtype] in "fc" else "float64")


def strong(args):
    """The arguments' dtypes with weak numbers resolved against the arrays (NEP 50)."""
    arrays = [a.dtype for a in args if isinstance(a, Array)]
    top = arrays[0]
    for other in arrays[1:]:
        top = promote(top, other)
    if not any(a in SMALL for a in arrays):
        return None
    for a in args:
        if isinstance(a, complex):
            top = {"float64": "complex128", "complex128": "complex128"}.get(top, "complex64")
    return top


def small_types(row, args):
    """(common, result) if an operand is a float that NumPy lacks."""
    common = float_of(strong(args)) if row[2] in ("FLOAT", "DOUBLE") else strong(args)
    if row[2] == "WHERE":
        common = strong(args[1:]) if strong(args[1:]) else promote(args[1].dtype, args[2].dtype)
    if row[2] == "LDEXP":
        common = float_of(args[0].dtype)
    if row[2] == "WIDE":
        common = "float64"
    result = {"SAME": common, "BOOL": "bool"}.get(row[3])
    if row[3] == "REAL":
        result = {"complex64": "float32", "complex128": "float64"}.get(common, common)
    return common, result


def plain(arg):
    return arg.v if isinstance(arg, Array) else arg


def numpy_types(name, row, args):
    """(common, result), or None where NumPy has no such loop."""
    probe = [plain(a)[:1] if isinstance(a, Array) else a for a in args]
    try:
        result = python_function(name)(*probe).dtype.name
    except (TypeError, OverflowError) as error:
        return None
    except ValueError:  # integers to negative integer powers
        result = np.result_type(*probe).name
    if row[3] == "SAME":
        return result, result
    if row[3] == "REAL":
        common = args[0].dtype
        return (common if row[2] == "SAME" or KINDS[common] == "c" else result), result
    return "compare", result


# ---- Answers ----

NORM_ULP = {r[0]: float(r[1]) for r in rows("complex")}
LOOSE_ZERO_ROWS = {"maximum", "minimum", "fmax", "fmin", "clip", "nextafter"}


def extended(dtype):
    return np.clongdouble if KINDS[dtype] == "c" else np.longdouble


def evaluate(name, row, args, common, result):
    """The answer's values, not yet rounded to `result`."""
    f = python_function(name)
    exact = int(row[5]) == 0
    kind = KINDS[common] if common != "compare" else None
    numbers = [plain(a) for a in args]
    if name == "power" and kind in tuple("iu"):
        dt = numpy_dtype(common)
        a, b = np.broadcast_arrays(*[np.asarray(n).astype(dt) for n in numbers])
        return wrapped_power(common, a, b)
    if kind == "c" and name in ("multiply", "divide", "square", "reciprocal"):
        wide = [np.asarray(n).astype(numpy_dtype(common)).reshape(-1) for n in numbers]
        fine = f(*[w.astype(np.clongdouble) for w in wide]).astype(np.complex128)
        rough = complex_arithmetic(name, wide)
        finite = np.logical_and.reduce(np.broadcast_arrays(*[np.isfinite(w) for w in wide]))
        return np.where(np.isfinite(fine) & finite, fine, rough)
    if kind == "c" and name in NORM_ULP or not exact:
        wide = [Array(common, n).v for n in numbers]
        return f(*[w.astype(extended(common)) for w in wide])
    if any(a.dtype in SMALL for a in args if isinstance(a, Array)):
        return small_values(name, f, args, common, numbers)
    return f(*numbers)


def small_values(name, f, args, common, numbers):
    if name == "nextafter" and common in SMALL:
        return nextafter_small(common, numbers)
    if name == "ldexp":
        return np.ldexp(numbers[0], numbers[1])
    if name == "nan_to_num":
        top = LIMITS[common][0]
        return np.nan_to_num(numbers[0], posinf=top, neginf=-top)
    if name == "spacing" and common in SMALL:
        x = numbers[0]
        end = np.where(x < 0, np.float32(-np.inf), np.float32(np.inf))
        away = nextafter_small(common, [x, end]) - x
        return np.where(np.isfinite(x), away, np.nan)
    if name in ("where",):
        return np.where(numbers[0], *[n.astype(numpy_dtype(common)) for n in numbers[1:]])
    wide = common if common != "compare" else strong(args)
    return f(*[Array(wide, n).v for n in numbers])


def nextafter_small(dtype, numbers):
    a, b = numbers
    bits = to_bits(dtype, a)
    sign = 1 << (8 * bits.itemsize - 1)
    step = bits.astype(np.int64) + np.where((b > a) == (a > 0), 1, -1)
    step = np.where(a == 0, np.where(np.signbit(b), sign | 1, 1), step)
    out = from_bits(dtype, np.where(a == b, 0, step).astype(bits.dtype))
    out = np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), out)
    return np.where(a == b, b, out)


def tolerance(name, row, args, common, result):
    """(ULPs, flags) by which an answer may differ."""
    flags = LOOSE_ZERO if name in LOOSE_ZERO_ROWS else 0
    ulp = float(row[5])
    if common != "compare" and KINDS[common] == "c":
        if name in NORM_ULP:
            flags |= NORMWISE | LOOSE_ZERO
            if name in ("multiply", "divide", "square", "reciprocal", "power"):
                flags |= LOOSE_INF
            return NORM_ULP[name], flags
        return 0.0, flags
    if ulp and (result == "float16" or result in SMALL):
        return 1.0, flags
    return ulp, flags


# Rows where the table decides instead of NumPy; with the reason.
DEVIATIONS = {
    ("angle", "bool"): "NumPy gives float64, since it passes a Python 0; FLOAT is float16",
    ("round", "bool"): "NumPy gives float16; rounding a bool is an error in the table",
}


def takes(row, args):
    """Whether the table takes the kind of the dtype the arguments promote to."""
    arrays = [a.dtype for a in args if isinstance(a, Array)]
    top = arrays[0]
    for other in arrays[1:]:
        top = promote(top, other)
    return KINDS[top] in row[1]


def answer(file, name, row, args):
    """Adds one case. Prints a note if only one of the table and NumPy gives an error."""
    arrays = [a.dtype for a in args if isinstance(a, Array)]
    deviates = (name, arrays[0]) in DEVIATIONS
    if any(a in SMALL for a in arrays):
        types = small_types(row, args) if takes(row, args) else None
        if types and row[2] == "COMPARE":
            types = "compare", "bool"
    elif deviates:
        types = (float_of(arrays[0]),) * 2 if takes(row, args) else None
    else:
        types = numpy_types(name, row, args)
    if types is None:
        if takes(row, args) and all(isinstance(a, Array) for a in args) and name != "ldexp":
            print("NumPy has no", name, arrays)
        file.case(name, args, [], 0.0, ERROR)
        return
    if not takes(row, args):
        print("the table lacks", name, arrays, types)
    values = np.asarray(evaluate(name, row, args, *types))
    ulp, flags = tolerance(name, row, args, *types)
    if name in special.SCALES:
        eps = epsilon(types[1]) if types[1] in SMALL else np.finfo(types[1]).eps
        bound = special.bounds(name, plain(args[0]), values, eps, ulp) + LIMITS[types[1]][1]
        file.case(name, args, [Array(types[1], values), Array("float64", bound)], ulp, BOUNDED)
        return
    file.case(name, args, [Array(types[1], np.broadcast_to(values, (N,)))], ulp, flags)


def sincos(file, x):
    first = float_of(x.dtype)
    wide = Array(first, x.v).v.astype(np.longdouble)
    exact = [Array(first, f(wide)) for f in (np.sin, np.cos)]
    file.case("sincos", [x], exact, 1.0 if first == "float16" or first in SMALL else 4.0)


def split(file, name, row, x):
    if KINDS[x.dtype] not in row[1]:
        file.case(name, [x], [], 0.0, ERROR)
        return
    if name == "sincos":
        sincos(file, x)
        return
    first = float_of(x.dtype)
    r, s = getattr(np, name)(x.v)
    if name == "frexp":
        s = np.where(np.isfinite(x.v), s, 0)
    file.case(name, [x], [Array(first, r), Array("int32" if row[3] == "INT32" else first, s)])


# ---- Which cases ----

MIXED = [
    ("int8", "uint8"),
    ("int16", "float16"),
    ("int64", "uint64"),
    ("float16", "float32"),
    ("int32", "float32"),
    ("float64", "complex64"),
    ("bool", "float32"),
    ("bfloat16", "float16"),
    ("uint8", "int64"),
    ("bfloat16", "float32"),
]
MIXED_ROWS = [
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "power",
    "maximum",
    "hypot",
    "equal",
    "bitwise_and",
    "logical_and",
    "copysign",
    "nextafter",
]
NUMBERS = [True, 3, -2, 2.5, 1 + 2j, 300, 1 << 40, 1 << 63, 0.1]
NUMBER_ROWS = {
    "add": DTYPES,
    "less": [dtype for dtype in DTYPES if dtype not in SAMPLED],
    "power": ["int32", "uint8", "float16", "float32", "complex64", "bfloat16"],
    "multiply": ["bool", "int8", "float16", "bfloat16", "float32", "complex64"],
    "divide": ["bool", "int8", "float32", "float16"],
}
# Rows that take every dtype of SAMPLED.
BOTH = ["sqrt", "rint", "isnan", "isinf", "signbit", "sign", "add", "multiply", "divide", "floor_divide", "nextafter"]
BOTH += ["maximum", "equal"]


def ldexp_cases(file):
    exponents = np.random.default_rng(5).integers(-30, 30, N)
    for dtype in DTYPES:
        for exponent in ("int32",) if dtype in SAMPLED else ("int32", "int64", "int8"):
            answer(
                file, "ldexp", BINARY["ldexp"], [operand(dtype, "pair"), Array(exponent, exponents)]
            )
    answer(
        file, "ldexp", BINARY["ldexp"], [operand("float32", "pair"), operand("float32", "pair", 1)]
    )


def number_cases(file):
    for name, dtypes in NUMBER_ROWS.items():
        for dtype in dtypes:
            x = special_operands(name, dtype, 0)
            for i, number in enumerate(NUMBERS):
                if name == "power" and isinstance(number, complex) or skipped(name, dtype, number):
                    continue
                answer(file, name, BINARY[name], [x, number] if i % 2 else [number, x])


def skipped(name, dtype, number):
    """Weak numbers for which NumPy has no answer."""
    return (
        name == "power"
        and (number in (300, 1 << 40, 1 << 63))
        or (dtype == "bool" or dtype in SMALL)
        and number == 1 << 63
    )


def finite(array):
    """Not negative, so that nothing cancels."""
    return Array(array.dtype, np.where(np.abs(array.v) < 100, np.abs(array.v), 3).astype(array.v.dtype))


def ternary_cases(file):
    for dtype in DTYPES:
        x, y = operand(dtype, "pair"), operand(dtype, "pair", 1)
        low = Array(dtype, np.roll(x.v, 5))
        answer(file, "where", TERNARY["where"], [operand("bool"), x, y])
        answer(file, "where", TERNARY["where"], [x, y, low])
        answer(file, "clip", TERNARY["clip"], [low, x, y])
        low, high = finite(x), finite(y)
        share = Array(dtype, np.abs(finite(operand(dtype, "unit")).v.astype(complex).real) % 1)
        answer(file, "lerp", TERNARY["lerp"], [low, high, share])
    for a, b in MIXED:
        x, y = operand(a, "pair"), operand(b, "pair", 1)
        answer(file, "where", TERNARY["where"], [operand("bool"), x, y])


def main():
    file = File()
    for k, (name, row) in enumerate(UNARY.items()):
        for dtype in DTYPES:
            if name in BOTH or is_sample(dtype, k):
                answer(file, name, row, [operand(dtype, DOMAINS.get(name, "any"))])
    for k, (name, row) in enumerate(BINARY.items()):
        if name == "ldexp":
            ldexp_cases(file)
            continue
        for dtype in DTYPES:
            if name in BOTH or is_sample(dtype, k):
                answer(file, name, row, [special_operands(name, dtype, side) for side in (0, 1)])
    for a in DTYPES:
        for b in DTYPES:
            sampled = a in SAMPLED or b in SAMPLED
            if a != b and (not sampled or (code(a) + 2 * code(b)) % 3 == 0):
                for name in ("add",) if sampled else ("add", "less"):
                    answer(file, name, BINARY[name], [operand(a, "pair"), operand(b, "pair", 1)])
    for name in MIXED_ROWS:
        for a, b in MIXED:
            answer(
                file,
                name,
                BINARY[name],
                [special_operands(name, a, 0), special_operands(name, b, 1)],
            )
    number_cases(file)
    ternary_cases(file)
    for name, row in SPLIT.items():
        for dtype in DTYPES:
            split(file, name, row, operand(dtype))
    file.write(ROOT / "tests/golden/ops.bin")


if __name__ == "__main__":
    main()
