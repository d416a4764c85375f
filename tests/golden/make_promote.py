#!/usr/bin/env python3
"""Writes promote.txt: what NumPy and ml_dtypes answer about dtypes and about each rule of promotion.

Each table has a line "table NAME RULE KINDS COLUMN..." and lines "row ROW ENTRY...". Rows and columns
are operands: a dtype, or a weak number as "weak:1.5". An entry is the dtype of the computation (two,
with a comma, where the operands differ), or "!dtype", "!invalid" for an error.
"""
import pathlib
import warnings

import ml_dtypes
import numpy as np

from golden import DTYPES as NAMES, SMALL, real_dtype

warnings.simplefilter("ignore")

DTYPES = {name: real_dtype(name) for name in NAMES}
WEAK = {"weak:True": True, "weak:1": 1, "weak:-1": -1, "weak:300": 300, "weak:1e18": 10**18,
        "weak:2**63": 2**63, "weak:1.5": 1.5, "weak:1j": 1j}
OPERANDS = NAMES + list(WEAK)
INTEGERS = [name for name in NAMES if DTYPES[name].kind in "biu"]


def is_integer(dtype):
    return np.dtype(dtype).kind in "biu"


def beside_small(other):
    """Quarry's own rule (quarry/dtype.h) where ml_dtypes has no answer."""
    return np.dtype("float64" if other.kind in "iu" and other.itemsize > 2 else "float32")


def result_type(a, b):
    try:
        return np.result_type(a, b)
    except TypeError:
        return beside_small(b if a.name in SMALL else a)


def can_cast(a, b):
    floats = {"float16", "float32", "float64", *SMALL}
    if np.can_cast(a, b, "safe"):
        return "safe"
    # ml_dtypes calls its floats and NumPy's different kinds, complex and bfloat16 the same.
    if a.kind == "c" and b.kind != "c":
        return "no"
    if np.can_cast(a, b, "same_kind") or {a.name, b.name} <= floats:
        return "same_kind"
    return "no"


def value(operand):
    return WEAK[operand] if operand in WEAK else np.ones(1, DTYPES[operand])


def call(function, *operands):
    """The dtype of the result, or the error."""
    small = [o for o in operands if o in SMALL]
    if small and any(o in ("weak:1.5", "weak:2**63") for o in operands):
        # ml_dtypes refuses 2**63 and gives float32 with a float; by NEP 50 weak numbers change neither.
        operands = [o if o in SMALL else "weak:1" for o in operands]
    try:
        return np.asarray(function(*map(value, operands))).dtype.name
    except (OverflowError, ValueError):  # integers to negative integer powers
        return "!invalid"
    except TypeError:
        kinds = [DTYPES[o] for o in operands if o in DTYPES]
        if small and len(kinds) == 2:
            other = kinds[0] if kinds[1].name in SMALL else kinds[1]
            if other.kind != "c" and function is not np.bitwise_and:
                return beside_small(other).name
        return "!dtype"


def compare(a, b):
    """Integers each in its own dtype (NumPy compares them exactly too); else the common one."""
    common = call(np.add, a, b)
    if common == "!invalid" and is_integer(np.asarray(value(a)).dtype):
        common = next((o for o in (a, b) if o in DTYPES), "int64")
        common = "int64" if common == "bool" else common
    operands = [o if o in DTYPES else value(o) for o in (a, b)]
    if not all(is_integer(np.asarray(value(o)).dtype) for o in (a, b)):
        return common

    def own(o):
        if isinstance(o, str):
            return o
        info = np.iinfo(common) if is_integer(common) and common != "bool" else None
        if isinstance(o, bool) or (info and info.min <= o <= info.max):
            return common
        return "uint64" if o >= 2**63 else "int64"

    return ",".join(map(own, operands))


def ldexp(a, b):
    """The exponent is always int64 (NumPy refuses uint64, which Quarry converts)."""
    if b not in INTEGERS + ["weak:True", "weak:1", "weak:-1", "weak:300", "weak:1e18", "weak:2**63"]:
        return "!dtype"
    first = call(np.ldexp, a, "int8")
    if b == "weak:2**63" and first[0] != "!":
        return "!invalid"
    return first if first[0] == "!" else first + ",int64"


def table(name, rule, kinds, function, rows=OPERANDS, columns=OPERANDS):
    yield " ".join(["table", name, rule, kinds, *columns])
    for a in rows:
        yield " ".join(["row", a] + [function(a, b) for b in columns])


def unary(name, rule, kinds, function, columns=NAMES):
    yield " ".join(["table", name, rule, kinds, *columns])
    yield " ".join(["row", "-"] + [call(function, b) for b in columns])


def triples():
    """Tables "join A": what arrays of three dtypes, one of them A, are joined in. NumPy's dtypes only."""
    names = [name for name in NAMES if name not in SMALL]
    for first in names:
        yield from table("join", "JOIN", first, lambda a, b: np.result_type(DTYPES[first], DTYPES[a], DTYPES[b]).name,
                         names, names)


def lines():
    yield f"# Made by make_promote.py with NumPy {np.__version__}, ml_dtypes {ml_dtypes.__version__}."
    yield from table("result_type", "-", "-", lambda a, b: result_type(DTYPES[a], DTYPES[b]).name,
                     NAMES, NAMES)
    yield from table("can_cast", "-", "-", lambda a, b: can_cast(DTYPES[a], DTYPES[b]), NAMES, NAMES)
    # Two weak numbers where one needs uint64 are an error in NumPy, uint64 in Quarry: left out.
    weak = [o for o in WEAK if o != "weak:2**63"]
    for name, rule, kinds, function in (("add", "SAME", "?iufc", np.add),
                                        ("bitwise_and", "SAME", "?iu", np.bitwise_and),
                                        ("arctan2", "FLOAT", "?iuf", np.arctan2),
                                        ("divide", "DOUBLE", "?iufc", np.divide),
                                        ("floor_divide", "INT8", "?iuf", np.floor_divide),
                                        ("power", "POWER", "?iufc", np.power)):
        yield from table(name, rule, kinds, lambda a, b: call(function, a, b), NAMES)
        yield from table(name, rule, kinds, lambda a, b: call(function, a, b), weak, weak)
        yield from table(name, rule, kinds, lambda a, b: call(function, a, b), list(WEAK), NAMES)
    yield from table("less", "COMPARE", "?iufc", compare, NAMES)
    yield from table("less", "COMPARE", "?iufc", compare, weak, weak)
    yield from table("less", "COMPARE", "?iufc", compare, list(WEAK), NAMES)
    # NumPy lets the exponent's dtype change a weak first operand; Quarry does not.
    yield from table("ldexp", "LDEXP", "?iuf", ldexp, NAMES)
    yield from table("where", "WHERE", "?iufc",
                     lambda a, b: result_type(DTYPES[a], DTYPES[b]).name, NAMES, NAMES)
    yield from triples()
    yield from unary("sin", "FLOAT", "?iufc", np.sin,
                     NAMES + ["weak:True", "weak:1", "weak:1.5", "weak:1j"])
    yield from unary("sum", "SUM", "?iufc", np.sum)
    yield from unary("mean", "MEAN", "?iufc", np.mean)


pathlib.Path(__file__).with_name("promote.txt").write_text("\n".join(lines()) + "\n")
