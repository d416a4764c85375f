#!/usr/bin/env python3
"""Writes numbers.txt: what Python and NumPy answer about numbers in formulas.

"array DTYPE BYTES" is x of a dtype: its ends and what lies near them. "weak DTYPE OPERATOR NUMBER
ANSWER" is `x OPERATOR NUMBER` by NumPy, where the number is weak. "pair OPERATOR A B ANSWER" is
`A OPERATOR B` of two numbers by Python, and "tree ANSWER TEXT" a longer formula of numbers alone. An
ANSWER is DTYPE:BYTES, or "!" for an error. Run with no arguments from anywhere.
"""
import operator
import random
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
pick = random.Random(7)

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
POOL = "0 1 2 3 -1 -4 7 True False 0.0 -0.0 2.0 -4.0 2.5 inf nan".split()
LARGE = ["1", "-1", "2.0", "9007199254740993", "9007199254740992.0", "9223372036854775807",
         "9223372036854775808", "18446744073709551615", "-9223372036854775808"]
# Quotients of these are not what floor(a / b) is, or rint() of the same.
ROUNDED = ["91154788689062.94", "0.7798925611187655", "-10145533444529.246", "0.0032137580047493742"]
COMPLEX = ["2j", "0.5j", "0j", "(3+2j)", "(3-1j)", "1", "0.5", "True"]
LARGE_OPERATORS = ["+", "-", "*", "//", "%", "&", "<", "=="]
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
          "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
          "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
          "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
          "!=": operator.ne, "and": lambda a, b: bool(a) and bool(b), "or": lambda a, b: bool(a) or bool(b)}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not ": operator.not_}


class Unasked(Exception):
    """Where Quarry need not answer as Python does."""


def value(text):
    return eval(text, {"inf": np.inf, "nan": np.nan})


def in_range(number):
    """Integers have 64 bits in formulas, at every step."""
    if isinstance(number, int) and not -(2**63) <= number < 2**64:
        raise OverflowError
    return number


def compute(op, a, b):
    floats = isinstance(a, float) or isinstance(b, float)
    if op in ("/", "**") and max(abs(a), abs(b)) > 2**53 and np.isfinite([float(a), float(b)]).all():
        raise Unasked  # Python rounds quotients of large integers once; powers are the library's
    if op == "**" and not (b in (0, 1, 2, 3) or (abs(a) == 1 and isinstance(b, int))):
        raise Unasked
    if op == "<<" and not floats and b > 70:
        raise Unasked  # Python would make so long a number
    try:
        return in_range(BINARY[op](a, b))
    except ZeroDivisionError:
        if floats or op == "**":
            raise Unasked
        raise


def answer(number):
    if isinstance(number, bool):
        array = np.array(number)
    elif isinstance(number, int):
        array = np.array(number, np.int64 if number < 2**63 else np.uint64)
    else:
        array = np.array(number)
    return array.dtype.name + ":" + array.tobytes().hex()


ERRORS = (TypeError, ValueError, OverflowError, ZeroDivisionError)


def pairs(operators, pool):
    for op in operators:
        for a in pool:
            for b in pool:
                try:
                    yield f"pair {op} {a} {b} {answer(compute(op, value(a), value(b)))}"
                except Unasked:
                    pass
                except ERRORS:
                    yield f"pair {op} {a} {b} !"


# ---- Longer formulas ----

PRECEDENCE = {"or": 1, "and": 2, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10,
              "//": 10, "%": 10, "**": 12}


def tree(depth):
    """Text, precedence and value."""
    if depth == 0 or pick.random() < 0.15:
        text = pick.choice("0 1 2 3 5 8 True False 0.0 1.0 2.0 0.5 2.5 3.0 7 16".split())
        return text, 20, value(text)
    if pick.random() < 0.25:
        op = pick.choice(list(UNARY))
        text, precedence, number = tree(depth - 1)
        mine = 3 if op == "not " else 11
        inner = text if precedence >= mine else f"({text})"
        return op + inner, mine, in_range(UNARY[op](number))
    op = pick.choice(list(BINARY))
    mine = PRECEDENCE.get(op, 4)
    a, b = tree(depth - 1), tree(depth - 1)
    left = a[0] if a[1] > mine or (a[1] == mine and op != "**" and mine != 4) else f"({a[0]})"
    right = b[0] if b[1] > mine or (op == "**" and b[1] >= 11) else f"({b[0]})"
    return f"{left} {op} {right}", mine, compute(op, a[2], b[2])


def trees(count):
    seen = set()
    while len(seen) < count:
        try:
            text, _, number = tree(pick.choice([2, 3, 4]))
        except (Unasked, *ERRORS):
            continue
        if isinstance(number, complex) or text in seen:
            continue
        if " and " not in text and " or " not in text:
            expected = eval(text)
            assert answer(expected) == answer(number) or expected != expected, text
        seen.add(text)
        yield f"tree {answer(number)} {text}"


# ---- Beside arrays ----

ENDS = sorted({sign * 2**bits + off for bits in (7, 8, 15, 16, 31, 32, 63) for sign in (1, -1) for off in (-1, 0, 1)
               if -(2**63) <= sign * 2**bits + off} | {0, 1, -1, 2**64 - 1})


def weak():
    for dtype in INTEGERS + ["bool", "float32"]:
        info = np.iinfo(dtype) if dtype in INTEGERS else None
        x = np.array([info.min, info.min + 1, 0, 1, info.max] if info else [0, 1, 1, 0, 1], dtype)
        yield f"array {dtype} {x.tobytes().hex()}"
        for op in ("+", "<", "==") + (("&",) if dtype != "float32" else ()):
            for number in ENDS:
                if dtype == "bool" and number >= 2**63:
                    continue  # NumPy's weak default is int64, which it does not fit; ours is uint64
                try:
                    r = BINARY[op](x, number)
                    yield f"weak {dtype} {op} {number} {r.dtype.name}:{r.tobytes().hex()}"
                except OverflowError:
                    yield f"weak {dtype} {op} {number} !"


def main():
    lines = [f"# Made by make_numbers.py with NumPy {np.__version__}.", *weak(), *pairs(BINARY, POOL),
             *pairs(LARGE_OPERATORS, LARGE), *pairs(["//", "%"], ROUNDED),
             *pairs(["+", "-", "*", "==", "!="], COMPLEX), *trees(300)]
    path = Path(__file__).with_name("numbers.txt")
    path.write_text("\n".join(lines) + "\n")
    print(path, len(lines), "lines,", path.stat().st_size, "bytes")


main()
