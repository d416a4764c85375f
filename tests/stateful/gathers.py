"""Recipes of formulas that read by indices: several arrays, lines, all elements, and masks of the first axes."""

import numpy as np

from bins import Held
from operands import elements
from quarry import SMALL, DTYPES, Error
from recipes import FUNCTIONS, contiguous, pick
from shapes import Takes, lengths

NAMES = ["i", "j", "m", "n"]


class EvalParts(Takes):
    """x[i, :, j] in a formula. The recipe fixes the kinds of the parts and the formula."""

    kinds = [d for d in DTYPES if d not in SMALL and d != "bool"]
    FORMULAS = ["{g}", "{g}", "2*{g} - k", "{g} - {g}[..., ::-1]", "sum({g})", "sum({g}, axis=0)",
                "max({g} - k, axis=-1)", "u = {g}; u*u - u", "{g} - y"]

    def choose(self, rng):
        super().choose(rng)
        self.formula = pick(rng, self.FORMULAS)
        self.ndim = int(rng.integers(1, 5))
        arrays, self.parts = 0, []
        while sum(k not in ("None", "...") for k in self.parts) < self.ndim:
            kind = pick(rng, ["array", "array", "array", ":", "int", "None", "..."])
            if (kind == "..." and kind in self.parts) or (kind == "array" and arrays == 4):
                continue
            arrays += kind == "array"
            self.parts.append(kind)
            if rng.random() < 0.15:
                break
        self.axes = [int(rng.integers(0, 3)) for _ in NAMES]
        self.computed = [rng.random() < 0.3 for _ in NAMES]
        self.dtypes = [self.dtypes[0]] + [pick(rng, ["int8", "int32", "int64", "uint8", "uint32"]) for _ in NAMES]

    def index(self, rng, k, length, shape):
        """Of a fixed number of axes and a fixed dtype."""
        own = tuple(1 if rng.random() < 0.2 else n for n in shape[len(shape) - self.axes[k]:])
        low, high = (-length, length) if rng.random() < 0.95 else (-length - 2, length + 2)
        dtype = np.dtype(self.dtypes[1 + k])
        values = rng.integers(0 if dtype.kind == "u" else low, max(high, low + 1), own)
        return Held(self.library, rng, np.asarray(values).astype(dtype))

    def text(self, rng, x):
        """The parts, and the arrays by their names."""
        shape, arrays, texts = lengths(rng, 2, 9), {}, []
        last = self.parts[self.parts.index("..."):] if "..." in self.parts else []
        after = sum(k not in ("None", "...") for k in last)
        axis = 0
        for kind in self.parts:
            length = x.like.shape[axis] if axis < x.like.ndim else 1
            if kind == "array":
                k = len(arrays)
                arrays[NAMES[k]] = self.index(rng, k, length, shape)
                texts.append("(0 + %s)" % NAMES[k] if self.computed[k] else NAMES[k])
            elif kind == "int":
                texts.append(str(int(rng.integers(-length, length)) if length else 0))
            elif kind == ":":
                texts.append(pick(rng, [":", ":", "1:", "::-1", "::2"]))
            else:
                texts.append(kind)
            axis = x.like.ndim - after if kind == "..." else axis + (kind != "None")
        return "x[%s]" % ", ".join(texts), arrays

    def bind(self, rng):
        x = self.array(rng, lengths(rng, self.ndim))
        taken, arrays = self.text(rng, x)
        return taken, {"x": x, **arrays}

    def call(self, rng):
        taken, arrays = self.bind(rng)
        text = self.formula.format(g=taken)
        number = int(rng.integers(1, 5))
        theirs = {name: x.like.astype(np.int64) if name in NAMES and x.like.dtype.kind in "iu" else x.like
                  for name, x in arrays.items()}
        try:
            own = eval(taken, dict(FUNCTIONS, take=np.take, take_along_axis=np.take_along_axis, k=number), dict(theirs))
            shape = tuple(1 if rng.random() < 0.3 else n for n in own.shape)
        except (ValueError, IndexError):
            shape = (1,)
        if " y" in text:
            arrays["y"] = self.array(rng, shape)
            theirs["y"] = arrays["y"].like
        ours = {**{name: x.array for name, x in arrays.items()}, "k": self.library.number(number, "int32")}
        return self.compare("eval %s of %r" % (text, arrays), text, ours, {**theirs, "k": number})

    def compare(self, what, text, ours, theirs):
        names = {**FUNCTIONS, "take": np.take, "take_along_axis": np.take_along_axis,
                 **{name: contiguous(x) for name, x in theirs.items()}}
        *statements, last = text.split("; ")
        try:
            for statement in statements:
                exec(statement, names)
            wanted = eval(last, names)
        except (ValueError, IndexError):
            return self.fails(what, text, ours)
        return what, [(self.library.eval(text, ours), wanted, True)]

    def fails(self, what, text, ours):
        """A result of no elements reads none: then Quarry does not look at the indices."""
        try:
            got = self.library.eval(text, ours)
            self.library.wait()
        except Error:
            return what, []
        assert 0 in got.shape or "sum" in text, "%s succeeded" % what
        return what, []


class EvalTakes(EvalParts):
    """take() with and without an axis, and take_along_axis()."""

    FORMULAS = ["{g}", "2*{g} - k", "{g} - y", "sum({g}, axis=-1)"]

    def choose(self, rng):
        super().choose(rng)
        self.along = rng.random() < 0.5
        self.axis = int(rng.integers(-self.ndim, self.ndim)) if rng.random() < 0.6 else None
        self.named = pick(rng, ["", "axis="])
        self.says = rng.random() < 0.5

    def bind(self, rng):
        x = self.array(rng, lengths(rng, self.ndim))
        flat = self.axis is None and not (self.along and not self.says)
        axis = -1 if self.axis is None else self.axis
        length = x.like.size if flat else x.like.shape[axis]
        if self.along:
            own = [int(rng.integers(0, 6))] if flat else list(x.like.shape)
            own[0 if flat else axis] = int(rng.integers(0, 6))
            self.axes[0] = len(own)
            own = tuple(own)
        else:
            own = lengths(rng, 2, 9)
        i = self.index(rng, 0, length, own)
        given = "" if self.axis is None and not self.says else ", %s%s" % (self.named, self.axis)
        return "%s(x, i%s)" % ("take_along_axis" if self.along else "take", given), {"x": x, "i": i}


class EvalMasks(EvalParts):
    """x[mask] with masks of the first axes."""

    FORMULAS = ["{g}", "{g} * 2 - {g}", "-{g}"]

    def choose(self, rng):
        super().choose(rng)
        self.source = pick(rng, ["x", "(2*x - k)", "x", "(x.T).T"])
        self.mask = pick(rng, ["i", "(i > 2)", "(i > k)"])
        self.naxes = int(rng.integers(0, self.ndim + 1))
        self.more = pick(rng, ["", "", ", 0", ", 1:", ", None"]) if self.naxes == 1 else ""

    def bind(self, rng):
        x = self.array(rng, lengths(rng, self.ndim))
        shape = x.like.shape[:self.naxes]
        if rng.random() < 0.1:
            shape = tuple(max(n, 1) for n in lengths(rng, self.naxes))  # NumPy lets axes of 0 pass
        values = elements(rng, "int32", shape) if ">" in self.mask else rng.random(shape) < rng.random()
        mask = Held(self.library, rng, np.asarray(values))
        return "%s[%s%s]" % (self.source, self.mask, self.more), {"x": x, "i": mask}


GATHERS = [EvalParts, EvalParts, EvalParts, EvalTakes, EvalMasks]
