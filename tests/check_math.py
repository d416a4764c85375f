#!/usr/bin/env python3
"""Checks the device library of templates/ against NumPy, row by row of the tables, and compiles it.

Usage: check_math.py [--cxx COMPILER] [--nvrtc LIBRARY] [--arch 90,...] [NAME...]. Every row of the tables
is built for every type it computes in, as host C++, and run on special and random values. Rows with ulp 0
must equal NumPy's result; the others lie within their bound of NumPy's result in the next wider type
(complex numbers by the distance, with the bound of COMPLEX_ULP). With --nvrtc the same text is compiled
for CUDA. Prints one line per failure and the largest errors; exits 1 on a failure.
"""
import argparse
import ctypes
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = ["types", "basic", "complex", "complex_arcs", "integer", "functions", "elements", "special_fits", "special",
         "reduce_types", "scan_types", "short_circuit"]
C_TYPES = {
    "?": "bool", "b": "signed char", "h": "short", "i": "int", "q": "long long",
    "B": "unsigned char", "H": "unsigned short", "I": "unsigned int", "Q": "unsigned long long",
    "f": "float", "d": "double", "F": "ga::complex<float>", "D": "ga::complex<double>",
}
KINDS = {"?": "?", "i": "bhiq", "u": "BHIQ", "f": "fd", "c": "FD"}
WIDER = {"f": "d", "d": "g", "F": "D", "D": "G"}
REAL = {"F": "f", "D": "d"}
COMPLEX_ULP = 8
# The extremes' choice between -0 and 0 differs between NumPy's own loops.
ZEROS_ARE_EQUAL = {"maximum", "minimum", "fmax", "fmin", "clip"}
# NumPy gives NaN where Annex G has an infinity or a zero.
# NumPy has none of these, or rounds otherwise: the golden files have mpmath's values, or formulas, instead.
ELSEWHERE = {"rsqrt", "sigmoid", "logit", "gamma", "lgamma", "digamma", "erfinv", "i0", "j0", "j1", "y0", "y1", "sinc",
             "nan_to_num", "spacing", "isclose", "float_power", "xlogy", "lerp", "sincos", "bitwise_count", "ptp",
             "nanargmin", "nanargmax", "logsumexp"}
ANNEX_G = {"multiply", "divide", "reciprocal", "square", "power", "exp2", "expm1", "log2", "log10",
           "log1p"}


def table(name):
    """The rows of a .def file as lists of fields without their quotes."""
    text = open(os.path.join(ROOT, "include/quarry", name + ".def")).read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    rows = []
    for row in re.findall(r'GA_\w+\(((?:"[^"]*"|[^()"])*)\)', text):
        fields = re.findall(r'\s*((?:"[^"]*"\s*)+|[^,"]+)\s*(?:,|$)', row)
        rows.append(["".join(re.findall(r'"([^"]*)"', f)) if '"' in f else f.strip()
                     for f in fields])
    return [row for row in rows if row[0] not in ELSEWHERE]


def types_of(kinds, rule):
    """The types that a row computes in: its rule omits those that are converted beforehand."""
    if rule in ("FLOAT", "DOUBLE", "LDEXP", "MEAN"):
        kinds = [k for k in kinds if k in "fc"]
    elif rule == "SUM":
        return [t for k in kinds if k != "?" for t in KINDS[k] if t in "qQfdFD"]
    elif rule == "INT8":
        kinds = [k for k in kinds if k != "?"]
    return [t for k in kinds for t in KINDS[k]]


def result_of(t, result):
    return {"BOOL": "?", "REAL": REAL.get(t, t), "INT32": "i", "INDEX": "q"}.get(result, t)


# --- values

def floats(t, rng, n):
    """Special values, then random ones of every magnitude."""
    info = np.finfo(t)
    tiny, big = info.tiny, info.max
    near = [np.nextafter(np.dtype(t).type(v), np.dtype(t).type(w)) for v in (1, 2, .5) for w in (0, 9)]
    special = [0, 1, 2, 3, .5, 1.5, 2.5, 10, 100, 1e-5, .25, np.pi / 2, np.pi, np.e, 20.5, 88, 700,
               tiny, tiny / 4, info.smallest_subnormal, big, big / 2, 1e10, np.inf] + near
    special = np.array(special + [-v for v in special] + [np.nan], t)
    usual = rng.uniform(-3, 3, n).astype(t)
    wide = rng.uniform(-1, 1, n) * 2.0 ** rng.uniform(info.minexp / 2, info.maxexp / 2, n)
    near_one = 1 + rng.uniform(-1, 1, n // 4) * 2.0 ** rng.uniform(-30, 0, n // 4)
    return np.concatenate([special, usual, wide.astype(t), near_one.astype(t)])


def values(t, rng, n=2000):
    if t == "?":
        return np.array([0, 1] * 8, bool)
    if t in "bhiqBHIQ":
        info = np.iinfo(t)
        special = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33,
                   63, 64, 65, 100] + ([] if info.min == 0 else [-1, -2, -3, -7, -64])
        small = rng.integers(max(info.min, -20), 20, n // 2)
        return np.concatenate([np.array(special, t), small.astype(t),
                               rng.integers(info.min, info.max, n // 2, dtype=t, endpoint=True)])
    if t in "fd":
        return floats(t, rng, n)
    real = REAL[t]
    special = np.array([0, 1, .5, 3, 1e-3, np.inf, 100, 1000, np.finfo(real).max, np.finfo(real).tiny / 8],
                       real)
    special = np.concatenate([special, -special, [np.nan]]).astype(real)
    grid = special[:, None] + np.zeros((1, len(special)), real), np.zeros((len(special), 1), real) + special
    random = [floats(real, rng, n), floats(real, rng, n)]
    rng.shuffle(random[1])
    size = min(len(r) for r in random)
    out = np.empty(grid[0].size + size, t)
    out.real = np.concatenate([grid[0].ravel(), random[0][:size]])
    out.imag = np.concatenate([grid[1].ravel(), random[1][:size]])
    return out


def pairs(a, b, limit=400):
    """Every special value with every other, then element by element."""
    x, y = a[:limit], b[:limit]
    n = min(len(a), len(b))
    return (np.concatenate([np.repeat(x, len(y)), a[:n]]), np.concatenate([np.tile(y, len(x)), b[:n]]))


# --- building

class Library:
    """extern "C" loops, built together, one for each (row, types)."""

    def __init__(self):
        self.text, self.kernels = [], []

    def loop(self, name, outputs, inputs, statement):
        name = name.replace("?", "0")
        params = ", ".join(f"const {C_TYPES[t]} *{n}_" for n, t in inputs)
        results = ", ".join(f"{C_TYPES[t]} *{n}_" for n, t in outputs)
        load = " ".join(f"{C_TYPES[t]} {n} = {n}_[i];" for n, t in inputs)
        make = " ".join(f"{C_TYPES[t]} {n};" for n, t in outputs)
        store = " ".join(f"{n}_[i] = {n};" for n, t in outputs)
        statement = statement.replace("ga_s0", C_TYPES[outputs[0][1]])
        body = f"{load} {make} {statement}; {store}"
        self.text.append(f"void {name}(long long n, {params}, {results})\n"
                         f"{{ for (long long i = 0; i < n; i++) {{ {body} }} }}\n")
        self.kernels.append(f"__global__ void {name}({params}, {results})\n"
                            f"{{ int i = threadIdx.x; {body} }}\n")

    def fold(self, name, t, r, row):
        name = name.replace("?", "0")
        a = row["accumulator"]
        step, combine = row["step"], row["combine"]
        self.text.append(f"""void {name}(long long n, const {C_TYPES[t]} *x_, {C_TYPES[r]} *r_)
{{ using T = {C_TYPES[t]}; using I [[maybe_unused]] = long long; using A = {a}; long long ddof = 0, count = n;
A all = {row["neutral"]}; constexpr bool ascending = true; (void)ascending;
static_assert(sizeof(A) % 4 == 0 || sizeof(A) < 4, "words"); static_assert(__is_trivially_copyable(A), "");
for (long long part = 3; part >= 0; part--) {{ A a = {row["neutral"]};
for (long long i = part * n / 4; i < (part + 1) * n / 4; i++) {{ T x = x_[i]; a = {step}; }}
{{ A b = all; all = {combine}; }} }} A a = all; *r_ = ga::cast<{C_TYPES[r]}>({row["finish"]}); (void)ddof;
(void)count; }}
""")
        self.kernels.append(f"__global__ void {name}(const {C_TYPES[t]} *x_, {C_TYPES[r]} *r_)\n{{ using T = "
                            f"{C_TYPES[t]}; using I [[maybe_unused]] = long long; using A = {a}; "
                            f"long long ddof = 0, count = 3, i = threadIdx.x; "
                            f"constexpr bool ascending = true; (void)ascending; "
                            f"A a = {row['neutral']}, b = a; T x = x_[i]; a = {step}; a = {combine}; "
                            f"*r_ = ga::cast<{C_TYPES[r]}>({row['finish']}); }}\n")

    def build(self, cxx, folder):
        source, binary = os.path.join(folder, "math.cpp"), os.path.join(folder, "math.so")
        with open(source, "w") as f:
            f.write(library_text("host") + 'extern "C" {\n' + "".join(self.text) + "}\n")
        subprocess.run([cxx, "-std=c++17", "-O2", "-march=native", "-fwrapv", "-fno-math-errno",
                        "-fno-trapping-math", "-Wall",
                        "-Wextra", "-Wshadow", "-Wno-unused-function", "-Wno-unused-parameter",
                        "-shared", "-fPIC", "-o", binary, source, "-lm"], check=True)
        self.code = ctypes.CDLL(binary)

    def run(self, name, outputs, *inputs):
        n = len(inputs[0])
        results = [np.empty(n, t) for t in outputs]
        arrays = [np.ascontiguousarray(a) for a in inputs] + results
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        getattr(self.code, name.replace("?", "0"))(ctypes.c_longlong(n), *pointers)
        return results


def library_text(target):
    names = ["target/target." + target] + ["lib/" + f + ".tmpl" for f in FILES]
    return "".join(open(os.path.join(ROOT, "templates", n)).read() for n in names)


# --- comparing

def same(got, want, zeros_are_equal=False):
    if got.dtype.kind == "c":
        return same(got.real, want.real, True) & same(got.imag, want.imag, True)
    if got.dtype.kind != "f":
        return got == want
    signs = True if zeros_are_equal else np.signbit(got) == np.signbit(want)
    return ((got == want) & signs) | (np.isnan(got) & np.isnan(want))


def ulps(got, exact):
    """Distances in units of the last place of the exact results; 0 where either is not finite."""
    real = REAL.get(got.dtype.char, got.dtype.char)
    info = np.finfo(real)
    size = np.abs(exact)
    unit = np.maximum(2.0 ** np.floor(np.log2(np.where(size > 0, size, 1))) * np.where(size > 0, 1, 0)
                      * info.eps, info.smallest_subnormal).astype(size.dtype)
    finite = np.isfinite(got) & np.isfinite(exact)
    return np.where(finite, np.abs(got - exact) / unit, 0)


def classes(z):
    """Which parts of a complex result are NaN, inf or finite."""
    code = lambda p, q: np.where(np.isnan(p), 9, np.where(np.isinf(p), np.where(np.isnan(q), 1, np.sign(p)), 5))
    return code(z.real, z.imag), code(z.imag, z.real)


class Checker:
    def __init__(self):
        self.failures, self.errors = 0, {}

    def fail(self, name, t, where, inputs, got, want):
        self.failures += 1
        i = np.flatnonzero(where)
        print(f"FAIL {name} {t}: {len(i)} of {len(where)}")
        for k in i[:6]:
            print("    ", *[repr(a[k]) for a in inputs], "gives", repr(got[k]), "not", repr(want[k]))

    def exact(self, name, t, inputs, got, want):
        bad = ~same(got, np.asarray(want).astype(got.dtype), name in ZEROS_ARE_EQUAL)
        if bad.any():
            self.fail(name, t, bad, inputs, got, want)

    def close(self, name, t, inputs, got, function, bound):
        wide = [a.astype(WIDER[a.dtype.char]) if a.dtype.char in WIDER else a for a in inputs]
        exact, usual = function(*wide), function(*inputs)
        size, limit = np.abs(exact), np.finfo(got.dtype).max
        inside = size <= limit
        inside &= np.isfinite(usual) | np.isfinite(got)
        least = bound(*wide) if callable(bound) else np.full(len(got), bound)
        edge = (size > limit / 1.01) & (size < limit * 1.5) & callable(bound)
        inside &= ~edge
        error = np.where(inside, ulps(got, exact), 0)
        bad = inside & (~np.isfinite(got) | (error > least))
        self.errors[f"{name} {t}"] = (error / least).max() * np.min(least)
        if bad.any():
            self.fail(name, t, bad, inputs, got, exact)
        outside = ~inside
        if got.dtype.kind == "f":
            bad = outside & ~same(got, exact.astype(got.dtype), True)
        else:
            bad = outside & self.classes_differ(name, got, usual)
            if name == "power":  # NumPy makes a number of NaN where its product overflows
                bad &= ~(np.isnan(inputs[1]) & np.isnan(got))
            bad &= ~edge
        if bad.any():
            self.fail(name, t, bad, inputs, got, usual)

    @staticmethod
    def classes_differ(name, got, usual):
        a, b = classes(got), classes(usual)
        differ = (a[0] != b[0]) | (a[1] != b[1])
        if name in ANNEX_G:
            differ &= np.isfinite(usual) | ~(np.isnan(usual.real) | np.isnan(usual.imag))
            differ &= ~(np.isinf(got.real) | np.isinf(got.imag)) | np.isfinite(usual)
        return differ


def numpy_of(name, t):
    if name == "reciprocal" and t in "bhiqBHIQ":
        return lambda a: np.where(np.abs(a.astype(object)) == 1, a, 0).astype(t)
    if name == "power" and t in "bhiq":
        def power(a, b):
            parity = np.where(b % 2 == 0, 1, a)
            return np.where(b < 0, np.where(np.isin(a, (1, -1)), parity, 0), np.power(a, np.maximum(b, 0)))
        return power
    if name == "angle":
        return lambda a: np.arctan2(a.imag, a.real)
    if name == "log1p" and t in "FD":
        return log1p
    if name == "clip" and t in "FD":
        return lambda a, lo, hi: np.minimum(np.maximum(a, lo), hi)
    if name == "where":
        return np.where
    if name in ("erf", "erfc"):  # NumPy has none; the C library's are good to an ulp of a double
        return np.vectorize(getattr(math, name), otypes="d")
    return getattr(np, name)


def log1p(a):
    """NumPy's result loses terms that are small next to 1."""
    x, y = a.real, a.imag
    near = .5 * np.log1p(x * (2 + x) + y * y)
    out = np.log(1 + a)
    out.real = np.where((np.abs(x) < .25) & (np.abs(y) < .25), near, out.real)
    return out


def exp2_bound(a):
    """The error grows with the angle."""
    return COMPLEX_ULP + np.where(np.abs(a.imag) > 4096, np.abs(a.imag), 0)


def sum_bound(a, b):
    """logaddexp and logaddexp2 lose digits where the result is smaller than the operands."""
    rest = np.minimum(np.abs(np.logaddexp(a, b)), np.abs(np.logaddexp2(a, b)))
    larger = np.maximum(np.abs(a), np.abs(b))
    return 4 * np.nan_to_num(np.maximum(1, 2 * larger / rest), nan=1)


def power_bound(a, b):
    """The error of e ** (b ln a) grows with its exponent."""
    with np.errstate(all="ignore"):
        size = np.abs(b * np.log(a))
        return COMPLEX_ULP + 4 * np.nan_to_num(np.maximum(size, np.abs(b)), nan=0, posinf=0)


def check_row(check, lib, name, t, ulp, inputs):
    result = lib.kinds[f"{name}_{t}"]
    got = lib.run(f"{name}_{t}", [result], *inputs)[0]
    function = numpy_of(name, t)
    if t in "FD" and result in "fdFD" and name not in ("negative", "positive", "conj", "rint", "round", "add",
                                                       "subtract", "where") + tuple(ZEROS_ARE_EQUAL):
        bound = {"power": power_bound, "exp2": exp2_bound}.get(name, COMPLEX_ULP)
        check.close(name, t, inputs, got, function, bound)
    elif t in "fd" and (ulp or name == "hypot"):
        check.close(name, t, inputs, got, function,
                    sum_bound if name.startswith("logaddexp") else 4 if ulp else 1)
    else:
        check.exact(name, t, inputs, got, function(*inputs))


# --- the tables

def declare(lib, names):
    lib.kinds = {}
    for arity, kind in ((1, "unary"), (2, "binary"), (3, "ternary")):
        for name, kinds, rule, result, expression, *_ in table(kind):
            for t in types_of(kinds, rule) if not names or name in names else []:
                r = result_of(t, result)
                lib.kinds[f"{name}_{t}"] = r
                types = [t] * arity
                if rule == "LDEXP":
                    types[1] = "q"
                if rule == "WHERE":
                    types[0] = "?"
                inputs = list(zip("abc", types))
                lib.loop(f"{name}_{t}", [("r", r)], inputs, f"r = ga::cast<{C_TYPES[r]}>({expression})")
                if rule == "COMPARE" and t in "bhiqBHIQ":
                    for u in "bhiqBHIQ?":
                        lib.loop(f"{name}_{t}{u}", [("r", r)], [("a", t), ("b", u)], f"r = {expression}")
    for name, kinds, rule, second, statement, *_ in table("split"):
        for t in types_of(kinds, rule) if not names or name in names else []:
            s = result_of(t, second)
            lib.loop(f"{name}_{t}", [("r", t), ("s", s)], [("a", t)], statement)
    for row in table("reduce"):
        fields = ["name", "kinds", "rule", "result", "empty", "chain", "accumulator", "neutral", "step",
                  "combine", "finish"]
        row = dict(zip(fields, row))
        for t in types_of(row["kinds"], row["rule"]) if not names or row["name"] in names else []:
            lib.fold(f"{row['name']}_{t}", t, result_of(t, row["result"]), row)
    if not names or "cast" in names:
        declare_casts(lib)


def declare_casts(lib):
    C_TYPES["e"], C_TYPES["w"] = "ga::float16", "ga::bfloat16"
    for a in C_TYPES:
        for b in C_TYPES:
            lib.loop(f"cast_{ord(a)}_{ord(b)}", [("r", b)], [("a", a)], f"r = ga::cast<{C_TYPES[b]}>(a)")


def check_elementwise(check, lib, names, rng):
    for kind in ("unary", "binary", "ternary"):
        for name, kinds, rule, result, expression, ulp, *_ in table(kind):
            for t in types_of(kinds, rule) if not names or name in names else []:
                if kind == "unary":
                    inputs = [values(t, rng)]
                elif rule == "LDEXP":
                    inputs = pairs(values(t, rng), values("q", rng))
                else:
                    inputs = pairs(values(t, rng), values(t, rng))
                if kind == "ternary":
                    third = rng.permutation(inputs[0])
                    inputs = [inputs[0], inputs[1], third]
                    if rule == "WHERE":
                        inputs[0] = rng.integers(0, 2, len(third)).astype(bool)
                check_row(check, lib, name, t, int(ulp), inputs)
                if rule == "COMPARE" and t in "bhiqBHIQ":
                    for u in "bhiqBHIQ?":
                        a, b = pairs(values(t, rng), values(u, rng))
                        got = lib.run(f"{name}_{t}{u}", ["?"], a, b)[0]
                        want = compare_exactly(name, a, b)
                        check.exact(name, t + u, (a, b), got, want)


def compare_exactly(name, a, b):
    """Computed with Python's integers."""
    if name.startswith("logical"):
        return getattr(np, name)(a, b)
    return getattr(np, name)(a.astype(object), b.astype(object)).astype(bool)


def check_splits(check, lib, names, rng):
    for name, kinds, rule, second, *_ in table("split"):
        for t in types_of(kinds, rule) if not names or name in names else []:
            a = values(t, rng)
            got = lib.run(f"{name}_{t}", [t, result_of(t, second)], a)
            for k, (g, w) in enumerate(zip(got, getattr(np, name)(a))):
                check.exact(f"{name}[{k}]", t, (a,), g, w)


def check_folds(check, lib, names, rng):
    for name, kinds, rule, result, *_ in table("reduce"):
        for t in types_of(kinds, rule) if not names or name in names else []:
            for sample in samples(t, rng):
                if "arg" in name or name in ("min", "max"):
                    sample = sample if len(sample) else np.zeros(1, t)
                if not len(sample) and name.startswith("nanm") and name != "nanmean":
                    continue
                r = result_of(t, result)
                got = np.empty(1, r)
                getattr(lib.code, f"{name}_{t}".replace("?", "0"))(
                    ctypes.c_longlong(len(sample)), ctypes.c_void_p(sample.ctypes.data),
                    ctypes.c_void_p(got.ctypes.data))
                want = np.array([getattr(np, name)(sample)], r)
                if not folds_agree(name, t, got, want):
                    check.fail(name, t, np.ones(1, bool), [[sample]], got, want)


def folds_agree(name, t, got, want):
    """A complex NaN is NaN in either part; NumPy's mean and product of infinite ones are NaN too."""
    if got.dtype.kind == "c":
        if np.isnan(want).any() and not np.isfinite(got).all():
            return True
        got, want = got.view(REAL[got.dtype.char]), want.view(REAL[want.dtype.char])
    if got.dtype.kind != "f":
        return (got == want).all()
    return np.isclose(got, want, rtol=1e-4 if t in "fF" else 1e-12, atol=0, equal_nan=True).all()


def samples(t, rng):
    """Arrays to reduce: none, one, many; with NaN, infinities, repeated values, a far mean."""
    if t not in "fdFD":
        return [values(t, rng)[:0], values(t, rng)[:1], values(t, rng), values(t, rng)[20:500]]
    many = rng.normal(1000, 1, 5000).astype(t)
    if t in "FD":
        many += (1j * rng.normal(-1000, 3, 5000)).astype(t)
    holes = many.copy()
    holes[[7, 1300, 4999]] = np.nan
    steps = np.round(rng.normal(0, 3, 5000)).astype(t)
    endless = many.copy()
    endless[44] = np.inf
    return [many[:0], many[:1], many, holes, steps, endless, np.full(40, np.nan, t)]


# --- casts

def as_bits16(exact):
    """bfloat16's bits of long doubles, rounded once to nearest even."""
    with np.errstate(all="ignore"):
        size = np.abs(exact)
        exponent = np.maximum(np.where(size > 0, np.frexp(size)[1] - 1, 0), -126)
        unit = np.ldexp(np.longdouble(1), exponent - 7)
        rounded = np.where(np.isfinite(exact), np.rint(exact / unit) * unit, exact)
        return (rounded.astype("f").view("I") >> 16).astype("H")


def cast_as_numpy(values_, a, b):
    """The results of cast<b> for values of type a; bfloat16 as its bits."""
    wide = (values_.astype("I") << 16).view("f") if a == "w" else values_
    if b == "?":
        return wide != 0
    if wide.dtype.kind == "c" and b not in "FD":
        wide = wide.real
    if b == "w":
        return as_bits16(wide.astype("g"))
    if b in "bhiqBHIQ" and wide.dtype.kind == "f":
        info = np.iinfo(b)
        cut = np.trunc(wide.astype("g"))
        clipped = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v)
                   for v in cut]
        return np.array(clipped, b)
    if b == "e" and wide.dtype.kind in "iuf":
        return wide.astype("d").astype("e")
    return wide.astype(b)


def check_casts(check, lib, rng):
    kinds = "".join(C_TYPES)
    for a in kinds:
        source = values({"e": "f", "w": "f"}.get(a, a), rng)
        if a in "fdFD":
            extra = rng.uniform(-70000, 70000, 500)
            ends = np.array([127.5, 128, 255.5, 256, 32768, 65535.9, 65519.99, 65520, 2**31 - 1, 2**31, 2**32,
                             2**63, 2**64, 2049 + 1e-9, 2051 - 1e-9, 1 + 2**-8 + 2**-40, 2**-25 + 2**-60])
            source = np.concatenate([source, extra.astype(a), ends.astype(a), -ends.astype(a)])
        if a in "qQ":
            halves = [2**e + odd * 2**(e - 7) + 2**(e - 8) + off for e in (53, 54, 62 + (a == "Q")) for odd in (0, 1)
                      for off in (-2048, -1024, -1, 0, 1, 1024, 2048)]
            source = np.concatenate([source, np.array(halves, a)])
        if a in "ew":
            source = np.arange(65536, dtype="H")
        source = source.view("e") if a == "e" else source
        for b in kinds:
            got = lib.run(f"cast_{ord(a)}_{ord(b)}", ["H" if b == "w" else b], source)[0]
            want = cast_as_numpy(source, a, b)
            if b == "w":
                view = lambda bits: (bits.astype("I") << 16).view("f")
                got, want = view(got), view(want)
            check.exact("cast", a + b, (source,), got, want)


# --- CUDA

def compile_cuda(library, arch, text):
    nvrtc = ctypes.CDLL(library)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"math.cu", 0, None, None)
    options = [b"--std=c++17", b"--minimal", b"--gpu-architecture=sm_%d" % arch]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


def check_cuda(check, lib, library, archs):
    for arch in archs:
        status, log = compile_cuda(library, arch, library_text("cuda") + "".join(lib.kernels))
        print(f"sm_{arch}: {'compiled' if status == 0 else 'FAILED'}")
        if status or log.strip():
            print(log[:4000])
        check.failures += status != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--nvrtc")
    parser.add_argument("--arch", default="75,80,90,100,120")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    check, lib, rng = Checker(), Library(), np.random.default_rng(1)
    declare(lib, options.names)
    if options.nvrtc:
        check_cuda(check, lib, options.nvrtc, [int(a) for a in options.arch.split(",")])
    with tempfile.TemporaryDirectory() as folder:
        lib.build(options.cxx, folder)
        check_elementwise(check, lib, options.names, rng)
        check_splits(check, lib, options.names, rng)
        check_folds(check, lib, options.names, rng)
        if not options.names or "cast" in options.names:
            check_casts(check, lib, rng)
    for name, error in sorted(check.errors.items(), key=lambda e: -e[1]):
        print(f"{name:16} {error:.2f} ulp")
    print(f"{check.failures} failures")
    return check.failures > 0


if __name__ == "__main__":
    sys.exit(main())
