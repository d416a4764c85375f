#!/usr/bin/env python3
"""Makes casts.bin: every dtype to every other, at the ends of their ranges and halfway between values.

Answers are computed exactly, with fractions, and rounded once, to nearest even; wherever NumPy (with
ml_dtypes for floats that NumPy lacks) defines an answer it must be the same. Floats cut to integers are saturated, and
NaN is 0, which NumPy leaves open. Run with no arguments from anywhere; the output stands beside this file.
"""

import math
import warnings
from fractions import Fraction

import numpy as np

from golden import BYTES, DTYPES, KINDS, ROOT, SMALL, Array, File, epsilon, limits, numpy_dtype, real_dtype

# Digits of the significand, the exponent of the smallest normal number, the largest number.
FLOATS = {dtype: (SMALL[dtype][0] + 1, 1 - SMALL[dtype][1], limits(dtype)[0]) if dtype in SMALL else
          (np.finfo(dtype).nmant + 1, int(np.finfo(dtype).minexp), float(np.finfo(dtype).max))
          for dtype in DTYPES if KINDS[dtype] == "f"}
PARTS = {"complex64": "float32", "complex128": "float64"}
INTEGERS = {d: np.iinfo(d) for d in DTYPES if KINDS[d] in "iu"}


def infinity(dtype):
    return math.nan if dtype in SMALL and SMALL[dtype][2] & 1 else math.inf


def rounded(value, dtype):
    """The float of the dtype that is nearest to a number, which may be an int of any size."""
    if isinstance(value, float) and (math.isnan(value) or value == 0):
        return value
    if isinstance(value, float) and math.isinf(value):
        return math.copysign(infinity(dtype), value)
    digits, least, largest = FLOATS[dtype]
    exact = Fraction(value)
    sign = -1.0 if exact < 0 else 1.0
    exact = abs(exact)
    if exact == 0:
        return 0.0
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= exact < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, least) - digits + 1)
    near = round(exact / unit) * unit  # Fraction rounds to even
    return sign * (infinity(dtype) if near > Fraction(largest) else float(near))


def integer(value, dtype):
    info = INTEGERS[dtype]
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        return info.max if value >= info.max else info.min if value <= info.min else int(value)
    bits = value & ((1 << info.bits) - 1)
    return bits - (1 << info.bits) if bits > info.max else bits


def cast(value, dtype):
    if dtype in PARTS:
        return complex(rounded(value.real, PARTS[dtype]), rounded(value.imag, PARTS[dtype]))
    if dtype == "bool":
        return value != 0
    if isinstance(value, complex):
        value = value.real
    return rounded(value, dtype) if dtype in FLOATS else integer(value, dtype)


# ---- Which values ----


def halfway(digits, exponent):
    """Halfway between two values with a number of binary digits, the lower one odd and even, from 2**exponent."""
    unit = Fraction(2) ** (exponent - digits + 1)
    for steps in (0, 1, 2 ** (digits - 1) - 1):
        yield 2**exponent * Fraction(1) + steps * unit + unit / 2


def integers(dtype):
    info = INTEGERS[dtype]
    values = {info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 100}
    for bits in range(6, info.bits):
        values |= {2**bits + off for off in (-1, 0, 1)} | {-(2**bits) + off for off in (-1, 0, 1)}
    for dtype, (digits, _, _) in FLOATS.items():
        near = (-1, 0, 1) if BYTES[dtype] == 1 else (-2048, -1024, -1, 0, 1, 1024, 2048)
        # By way of a float64 those from 2**53 on would be rounded twice.
        for exponent in {digits, digits + 1, 53, 54, info.bits - 1, info.bits - 2}:
            for half in halfway(digits, exponent) if digits <= exponent < info.bits else ():
                for off in near:
                    values |= {int(half) + off, -int(half) + off}
    return sorted(v for v in values if info.min <= v <= info.max)


def next_to(value, dtype):
    """The value in the dtype, and its neighbours."""
    here = rounded(value, dtype)
    if not math.isfinite(here):
        return []
    if dtype in SMALL:
        step = epsilon(dtype)
        return [here, rounded(here * (1 + step), dtype), rounded(here * (1 - step), dtype)]
    one = np.dtype(dtype).type
    with np.errstate(all="ignore"):
        return [here, float(np.nextafter(one(here), one(np.inf))), float(np.nextafter(one(here), one(-np.inf)))]


def floats(dtype):
    digits, least, most = FLOATS[dtype]
    exact = [Fraction(1, 2), Fraction(3, 2), Fraction(5, 2), Fraction(1), Fraction(100), Fraction(10**9)]
    exact.append(Fraction(1, 3))
    for info in INTEGERS.values():
        exact += [Fraction(int(info.max)), Fraction(int(info.max) + 1), Fraction(int(info.max)) + Fraction(1, 2),
                  Fraction(int(info.min)) - 1, Fraction(-int(info.min)) + Fraction(1, 2)]
    for other, low, largest in FLOATS.values():
        top = Fraction(largest)
        above = Fraction(2) ** (math.frexp(largest)[1] - other - 1)  # half a unit
        smallest = Fraction(2) ** (low - other + 1)
        exact += [*halfway(other, 0), *halfway(other, 5), top, top + above,
                  smallest / 2, smallest * 3 / 2, smallest, smallest * 5 / 2, Fraction(2) ** low,
                  Fraction(2) ** low - smallest / 2]
    values = {v for e in exact if e for near in next_to(e, dtype) for v in (near, -near)}
    values = sorted(v for v in values if math.isfinite(v))
    ends = [infinity(dtype), -infinity(dtype)]
    return values + [0.0, -0.0, *ends, math.nan]


def complexes(dtype):
    part = floats(PARTS[dtype])
    shifted = part[7:] + part[:7]
    return [complex(a, b) for a, b in zip(part, shifted)] + [complex(0.0, 2.5), complex(-0.0, 0.0), complex(2.5, 0.0)]


def values(dtype):
    if dtype == "bool":
        return [True, False, True] * 7
    return integers(dtype) if dtype in INTEGERS else floats(dtype) if dtype in FLOATS else complexes(dtype)


# ---- Against NumPy ----


def array(numbers, dtype):
    return Array(dtype, np.array(numbers, numpy_dtype(dtype)))


def same(a, b):
    return (a == b) | ((a != a) & (b != b))


def check(source, dtype, numbers, answers):
    """Against NumPy, except floats that an integer has no room for."""
    if dtype in SMALL and source not in ("float32", "float16", "bool", "int8", "uint8"):
        return  # ml_dtypes rounds twice
    given, want = np.array(numbers, real_dtype(source)), np.array(answers, numpy_dtype(dtype))
    with np.errstate(all="ignore"):
        got = given.astype(real_dtype(dtype)).astype(numpy_dtype(dtype))
        ok = same(got, want)
        if dtype in INTEGERS and KINDS[source] in "fc":
            parts = given.real.astype(float)
            ok |= ~((parts > float(INTEGERS[dtype].min) - 1) & (parts < float(INTEGERS[dtype].max)))
    assert ok.all(), (source, dtype, [(n, g, w) for n, g, w, o in zip(numbers, got, want, ok) if not o][:4])


def main():
    warnings.simplefilter("ignore")
    file = File()
    for source in DTYPES:
        numbers = values(source)
        for dtype in DTYPES:
            answers = [cast(v, dtype) for v in numbers]
            check(source, dtype, numbers, answers)
            file.case("astype", [array(numbers, source)], [array(answers, dtype)], dtype=dtype)
    file.write(ROOT / "tests/golden/casts.bin")


if __name__ == "__main__":
    main()
