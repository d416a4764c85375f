"""Recipes of formulas that are drawn as trees: every kind of value stands below every other.

All lengths of a call are one number or 1, so that operands of products, indices and rows broadcast whether or not they
mean to.
"""

import numpy as np

from bins import Held
from recipes import Recipe, pick

NAMES = ["x", "y", "z", "v", "c", "s"]
SHAPES = {"x": "nn", "y": "nn", "z": "1n", "v": "n", "c": "n1", "s": ""}
FUNCTIONS = {"sum": np.sum, "max": np.max, "min": np.min, "cumsum": np.cumsum, "where": np.where, "abs": np.abs,
             "maximum": np.maximum, "minimum": np.minimum, "take": np.take, "any": np.any,
             "count_nonzero": np.count_nonzero, "argmax": np.argmax}


class Formula:
    """A text and what it has by now: its dimensions and names of its own."""

    def __init__(self, rng):
        self.rng, self.statements = rng, []

    def leaf(self):
        if self.statements and self.rng.random() < 0.4:
            return "t%d" % int(self.rng.integers(len(self.statements)))
        return pick(self.rng, NAMES + ["x", "y", "x", "2"])

    def axis(self):
        return int(pick(self.rng, [-1, -1, -1, 0, 1]))

    def unary(self, depth):
        e = self.draw(depth)
        name = pick(self.rng, ["sum", "max", "min", "any", "count_nonzero", "argmax"])
        return pick(self.rng, [
            "(-%s)" % e, "abs(%s)" % e, "(%s).T" % e, "(%s)[::-1]" % e, "(%s)[..., None]" % e, "(%s)[0]" % e,
            "cumsum(%s, axis=%d)" % (e, self.axis()), "(%s)[i]" % e, "take(%s, i, axis=%d)" % (e, self.axis()),
            *["%s(%s, axis=%d, keepdims=True)" % (name, e, self.axis())] * 4,
            *["%s(%s, axis=%d)" % (name, e, self.axis())] * 2, "%s(%s)" % (name, e)])

    def binary(self, depth):
        a, b = self.draw(depth), self.draw(depth)
        return pick(self.rng, ["(%s - %s)", "(%s - %s)", "(%s * %s)", "(%s + %s)", "maximum(%s, %s)", "minimum(%s, %s)",
                               "(%s @ %s)", "(%s @ %s)", "where(x > %s, y, %s)"]) % (a, b)

    def draw(self, depth):
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf()
        e = self.unary(depth - 1) if self.rng.random() < 0.45 else self.binary(depth - 1)
        if self.rng.random() < 0.15:
            self.statements.append("t%d = %s" % (len(self.statements), e))
            return "t%d" % (len(self.statements) - 1)
        return e

    def text(self, depth):
        last = self.draw(depth)
        return "; ".join([*self.statements, last])


def evaluate(text, names):
    names = {**FUNCTIONS, **names}
    *statements, last = text.split("; ")
    for statement in statements:
        exec(statement, names)
    return eval(last, names)


def operands(rng, n, dtype):
    def draw(shape):
        return rng.integers(-3, 4, shape).astype(dtype)
    names = {name: draw([n if c == "n" else 1 for c in shape]) for name, shape in SHAPES.items()}
    names["i"] = rng.integers(-n, n, n)
    return names


class Tree(Recipe):
    """One formula, with squares of other lengths in every call. Integers wrap around: each result is exact."""

    def choose(self, rng):
        self.dtype = pick(rng, ["int64", "int64", "int32", "int8", "uint8"])
        while True:
            self.text = Formula(rng).text(int(rng.integers(2, 6)))
            if any(name in self.text for name in NAMES) and len(self.text) < 300 and self.computes(rng):
                break

    def computes(self, rng):
        """Whether NumPy takes it, and the result has few elements and dimensions."""
        try:
            return np.asarray(evaluate(self.text, operands(rng, 7, self.dtype))).ndim < 5
        except (ValueError, IndexError, TypeError, AttributeError):
            return False

    def call(self, rng):
        n = int(rng.choice([1, 2, 3, 17, 64, 65, 100, 130]))
        held = {name: Held(self.library, rng, x) for name, x in operands(rng, n, self.dtype).items()}
        used = {name: x for name, x in held.items() if self.uses(name)}
        if not used or (n > 17 and "[..., None]" in self.text):
            return "nothing", []
        try:
            wanted = np.asarray(evaluate(self.text, {name: np.copy(x.like, order="C") for name, x in held.items()}))
        except (ValueError, IndexError):
            return "nothing", []
        what = "eval %s with %s" % (self.text, used)
        order = list(used)
        rng.shuffle(order)
        return what, [(self.library.eval(self.text, {name: used[name].array for name in order}), wanted, True)]

    def uses(self, name):
        return name in "".join(c if c.isalnum() else " " for c in self.text).split()


TREES = [Tree, Tree, Tree]
