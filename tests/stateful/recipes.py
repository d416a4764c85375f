"""Recipes of calls: each fixes most of the properties that a kernel's text depends on, and randomises sizes, values,
names and the order of arguments. A call returns (description, [(got, wanted, exact)])."""

import numpy as np

from operands import LAYOUTS, MOST, Operand, elements, numpy_dtype, random_shape
from quarry import DTYPES, SMALL, Error, promote

REAL = [d for d in DTYPES if d != "bool" and not d.startswith("c")]


# ---- NumPy's results, with exact sums ----


def extended(x):
    """NumPy adds down columns one after another: float64 loses a hundred units in a column of a thousand."""
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def exact_sum(x, **options):
    x = np.asarray(x)
    if x.dtype.kind in "biu":
        return np.sum(x, **options)
    return np.sum(extended(x), **options).astype(x.dtype)[()]


def exact_mean(x, **options):
    x = np.asarray(x)
    return np.mean(extended(x), **options).astype(x.dtype if x.dtype.kind not in "biu" else np.float64)[()]


def exact_var(x, function=np.var, **options):
    x = np.asarray(x)
    result = np.float64 if x.dtype.kind in "biu" else x.real.dtype
    return function(extended(x), **options).astype(result)[()]


def exact_std(x, **options):
    return exact_var(x, function=np.std, **options)


def accumulated(name, x):
    """NumPy's scan along axis 0, with exact sums."""
    if name == "cumsum":
        result = np.int64 if x.dtype.kind in "bi" else np.uint64 if x.dtype.kind == "u" else x.dtype
        wide = np.complex128 if x.dtype.kind == "c" else result if x.dtype.kind in "biu" else np.float64
        return np.cumsum(x.astype(wide), axis=0, dtype=wide).astype(result)
    function = np.maximum if name == "cummax" else np.minimum
    wide = x.astype(np.float64) if x.dtype.kind not in "biufc" else x
    return function.accumulate(wide, axis=0).astype(x.dtype) if len(x) else x


def scan_along(name):
    """The function of a formula."""
    def function(x, axis=None):
        x = np.asarray(x)
        flat = axis is None or x.ndim == 0
        moved = x.reshape(-1) if flat else np.moveaxis(x, axis, 0)
        return accumulated(name, moved) if flat else np.moveaxis(accumulated(name, moved), 0, axis)
    return function


REDUCTIONS = {"sum": exact_sum, "mean": exact_mean, "var": exact_var, "min": np.min, "max": np.max, "any": np.any,
              "all": np.all, "argmin": np.argmin, "argmax": np.argmax, "count_nonzero": np.count_nonzero}
INEXACT = {"mean", "var"}


def where(condition, a, b):
    """Of dtypes that ml_dtypes has no common one for, too."""
    if isinstance(a, int) or isinstance(b, int):
        return np.where(np.asarray(condition) != 0, a, b)
    a, b = np.asarray(a), np.asarray(b)
    common = numpy_dtype(promote(a.dtype.name, b.dtype.name))
    return np.where(np.asarray(condition) != 0, a.astype(common), b.astype(common))


SCANS = {name: scan_along(name) for name in ("cumsum", "cummax", "cummin")}
FUNCTIONS = {**REDUCTIONS, **SCANS, "std": exact_std, "where": where, "maximum": np.maximum,
             "minimum": np.minimum, "sqrt": np.sqrt, "abs": np.abs}


def refused(what, call, library):
    """When a call that must fail does: "at once", or "later", at the next wait for the device."""
    try:
        result = call()
    except Error:
        return "at once"
    try:
        library.wait()
    except Error:
        return "later"
    del result
    raise AssertionError("%s succeeded" % what)


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


class Recipe:
    """Fixed dtypes and layouts, so that a run needs few kernels."""

    kinds = REAL
    inputs = 2

    def __init__(self, library, rng):
        self.library = library
        self.dtypes = [pick(rng, self.kinds) for _ in range(self.inputs)]
        if rng.random() < 0.6:
            self.dtypes = self.dtypes[:1] * self.inputs
        self.layouts = [pick(rng, LAYOUTS) for _ in range(3)] + ["dense"]
        self.choose(rng)

    def choose(self, rng):
        pass

    def operand(self, rng, k, shape, writable=False):
        layout = pick(rng, self.layouts)
        if writable and layout in ("repeated", "one", "ones"):
            layout = "dense"
        return Operand(self.library, rng, self.dtypes[k], shape, layout, writable)

    def operands(self, rng, shape):
        """With dtypes in any order."""
        order = rng.permutation(self.inputs)
        return [self.operand(rng, int(k), shape) for k in order]


# ---- Eager operations ----


class Eager(Recipe):
    NAMES = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "fmin": np.fmin,
             "floor_divide": np.floor_divide, "remainder": np.remainder, "less": np.less, "equal": np.equal,
             "divide": np.divide, "logical_and": np.logical_and, "copysign": np.copysign}

    def choose(self, rng):
        self.name = pick(rng, list(self.NAMES))
        self.weak = rng.random() < 0.3

    def arguments(self, rng, operands):
        """(for Quarry, for NumPy): arrays, one of which may be a C number instead."""
        ours, theirs = [x.array for x in operands], [x.like for x in operands]
        if self.weak:
            k, number = int(rng.integers(2)), int(rng.integers(1, 5))
            ours[k], theirs[k] = self.library.number(number, "int32"), number
        return ours, theirs

    def call(self, rng):
        operands = self.operands(rng, random_shape(rng))
        ours, theirs = self.arguments(rng, operands)
        what = "%s(%s)" % (self.name, ", ".join(map(repr, theirs if self.weak else operands))[:200])
        got = self.library.op(self.name, *ours)
        return what, [(got, self.NAMES[self.name](*theirs), True)]


class EagerInto(Eager):
    """Into a view of a larger array, whose other elements stay; the view may be an operand too."""

    def choose(self, rng):
        super().choose(rng)
        self.name = pick(rng, ["add", "subtract", "multiply", "maximum"])
        self.weak = False
        self.dtypes = self.dtypes[:1] * 2

    def call(self, rng):
        shape = random_shape(rng)
        out = self.operand(rng, 0, shape, writable=True)
        a, b = self.operands(rng, out.like.shape)
        how = int(rng.integers(4))
        if how == 1:
            a = out
        elif how == 2 and out.like.ndim == 2 and out.like.shape[0] == out.like.shape[1]:
            b = Operand.__new__(Operand)
            b.layout = "out transposed"
            b.array, b.like = self.library.transpose(out.array, [1, 0]), out.like.T
        elif how == 3 and out.like.ndim > 0:
            b = Operand.__new__(Operand)
            b.layout = "out reversed"
            flip = [slice(None, None, -1)] * out.like.ndim
            b.array, b.like = self.library.slice(out.array, flip), out.like[tuple(flip)]
        what = "%s_into(%r, %r, %r)" % (self.name, out, a, b)
        wanted = self.NAMES[self.name](a.like, b.like)
        out.like[...] = wanted
        self.library.op_into(self.name, out.array, a.array, b.array)
        return what, [(out.whole, out.whole_like, True)]


class Reduction(Recipe):
    kinds = DTYPES
    inputs = 1

    def choose(self, rng):
        self.name = pick(rng, list(REDUCTIONS))
        self.keepdims = rng.random() < 0.3

    def axis(self, rng, ndim):
        return None if ndim == 0 or rng.random() < 0.4 else int(rng.integers(-ndim, ndim))

    def call(self, rng):
        x = self.operand(rng, 0, random_shape(rng))
        if x.like.size == 0:
            return "nothing", []
        axis = self.axis(rng, x.like.ndim)
        what = "%s(%r, axis=%s, keepdims=%s)" % (self.name, x, axis, self.keepdims)
        got = self.library.reduction(self.name, x.array, None if axis is None else [axis], self.keepdims)
        wanted = REDUCTIONS[self.name](x.like, axis=axis, keepdims=self.keepdims)
        return what, [(got, wanted, self.name not in INEXACT)]


class ReductionAxes(Reduction):
    def choose(self, rng):
        self.name = pick(rng, ["sum", "max", "mean", "all"])
        self.keepdims = rng.random() < 0.3

    def call(self, rng):
        x = self.operand(rng, 0, random_shape(rng))
        if x.like.size == 0:
            return "nothing", []
        axes = [int(k) for k in rng.permutation(x.like.ndim)[: int(rng.integers(x.like.ndim + 1))]]
        if not axes:
            axes = list(range(x.like.ndim))
        what = "%s(%r, axes=%s, keepdims=%s)" % (self.name, x, axes, self.keepdims)
        got = self.library.reduction(self.name, x.array, axes or None, self.keepdims)
        wanted = REDUCTIONS[self.name](x.like, axis=tuple(axes), keepdims=self.keepdims)
        return what, [(got, wanted, self.name not in INEXACT)]


# ---- Scans ----


class Scan(Recipe):
    """Exclusive scans begin with an initial number, segments with it too."""

    kinds = DTYPES
    inputs = 1

    def choose(self, rng):
        self.name = pick(rng, ["cumsum", "cumsum", "cummax", "cummin"])
        self.exclusive, self.reverse, self.segmented = rng.random(3) < (0.3, 0.3, 0.3)

    def segment(self, x):
        if not self.exclusive:
            return accumulated(self.name, x)
        first = np.ones((1,) + x.shape[1:], x.dtype)
        return accumulated(self.name, np.concatenate([first, x]))[:-1]

    def wanted(self, x, offsets):
        x = x[::-1] if self.reverse else x
        edges = sorted({0, len(x), *(len(x) - o if self.reverse else o for o in offsets)})
        parts = [self.segment(x[a:b]) for a, b in zip(edges, edges[1:])] or [self.segment(x)]
        whole = np.concatenate(parts)
        return whole[::-1] if self.reverse else whole

    def call(self, rng):
        x = self.operand(rng, 0, random_shape(rng))
        ndim = x.like.ndim
        axis = None if ndim == 0 or rng.random() < 0.3 else int(rng.integers(-ndim, ndim))
        moved = np.moveaxis(x.like, axis, 0) if axis is not None else x.like.reshape(-1)
        offsets = np.sort(rng.integers(0, len(moved) + 1, 4)).astype(np.int32) if self.segmented else []
        options = {"exclusive": bool(self.exclusive), "reverse": bool(self.reverse)}
        if self.exclusive:
            options["initial"] = self.library.number(1, "int32")
        if self.segmented:
            options["offsets"] = self.library.from_host(offsets)
        what = "%s(%r, axis=%s, %s)" % (self.name, x, axis, ", ".join(key for key in options if options[key]))
        got = self.library.scan(self.name, x.array, axis, **options)
        wanted = self.wanted(moved, list(offsets))
        return what, [(got, np.moveaxis(wanted, 0, axis) if axis is not None else wanted, True)]


# ---- Sorts ----


def stable_order(x, axis, descending=False):
    """numpy.argsort, and of descending numbers too; the elements have no NaN."""
    x = x.astype(np.float32) if x.dtype.name in SMALL else x
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    return np.argsort(-ranks, axis=axis, kind="stable")


class Sort(Recipe):
    kinds = DTYPES
    inputs = 1

    def choose(self, rng):
        self.descending = rng.random() < 0.4

    def call(self, rng):
        x = self.operand(rng, 0, random_shape(rng))
        flat = x.like.ndim == 0 or rng.random() < 0.1
        axis = None if flat else int(rng.integers(-x.like.ndim, x.like.ndim))
        like = x.like.ravel() if flat else x.like
        order = stable_order(like, -1 if flat else axis, self.descending)
        wanted = np.take_along_axis(like, order, -1 if flat else axis)
        what = "sort(%r, axis=%s, descending=%s)" % (x, axis, self.descending)
        got = [self.library.sort(name, x.array, axis, self.descending) for name in ("sort", "argsort")]
        return what, [(got[0], wanted, True), (got[1], order, True)]


class SortInto(Sort):
    def call(self, rng):
        shape = random_shape(rng)
        if not shape or np.prod(shape) == 0:
            return "nothing", []
        x = self.operand(rng, 0, shape, writable=True)
        axis = int(rng.integers(-len(shape), len(shape)))
        order = stable_order(x.like, axis, self.descending)
        x.like[...] = np.take_along_axis(x.like, order, axis)
        self.library.sort("sort", x.array, axis, self.descending, out=x.array)
        return "sort(%r, axis=%s, out=itself)" % (x, axis), [(x.whole, x.whole_like, True)]


class Keys(Recipe):
    kinds = DTYPES

    def call(self, rng):
        shape = random_shape(rng, most=2000) or (3,)
        a, b = (self.operand(rng, k, shape, writable=True) for k in range(2))
        order = stable_order(a.like, -1)
        k, v = self.library.sort_by_key(a.array, b.array)
        pairs = [(k, np.take_along_axis(a.like, order, -1), True), (v, np.take_along_axis(b.like, order, -1), True)]
        by_both = [np.unique(x.like, return_inverse=True)[1].reshape(x.like.shape) for x in (a, b)]
        if a.like.size > 0:
            pairs.append((self.library.lexsort([a.array, b.array]), np.lexsort(by_both), True))
        return "keys %r and values %r" % (a, b), pairs


# ---- Formulas ----


def contiguous(x):
    return np.copy(x, order="C") if isinstance(x, np.ndarray) else x


class Eval(Recipe):
    inputs = 3
    FORMULAS = ["{p} - {q}", "{p} * {q} + {r}", "where({p} > {q}, {p}, {r})", "maximum({p}, {q}) - {r}",
                "sum({p} - {q})", "sum({p} - {q}, axis=0)", "mean({p} * {q}, axis=-1, keepdims=True)",
                "max({p} - {q}) - min({p} - {q})", "{p} - mean({p}, axis=0)", "{p}*2 - {q}//3",
                "sum({p}*{q}) / (1 + sum({q}*{q}))", "{p}**2 - {q}", "argmax({p} - {q})", "var({p}, axis=0)",
                "any({p} > {q}, axis=-1)", "{p} - k*{q}", "{p} // {q} - {r} % {q}", "({p} - {q}) / k",
                "min({p}, axis=0) - {q}", "sum(where({p} < {q}, {q} - {p}, {r}), axis=-1)",
                "count_nonzero({p} - {q}, axis=0)", "-{p} - ({q} - {r})", "{p}[..., ::-1] - {q}[..., ::-1]",
                "({p} - {q})[..., :1] + {r}", "{p}[None] - {q}[..., None]", "({p} - {q}).T + {r}.T",
                "u = {p} - {q}; u * u + {r}", "u = {p} - {r}; u[..., 1:] - u[..., :-1]",
                "u = sum({p}, axis=-1); u[..., None] - {q}", "max({p} - {q}, axis=0)[..., ::-1] + 1",
                "cumsum({p} - {q}, axis=0)", "{r} - cummax({p}*{q}, axis=-1)", "cumsum({p}) * 2",
                "cumsum(cummin({p}, axis=0) - {q}, axis=-1)",
                "sum({p}, axis=0, where={p} > {q})", "sum({p} * {q}, initial=k)",
                "mean({p}, axis=-1, where={p} >= {q})",
                "max({p} - {q}, axis=-1, where={p} > {r}, initial=k) + 1", "var({p}, axis=0, where={p} != k)",
                "std({p}, where=True, ddof=1)", "all({p}, axis=-1, where={q} > k) | any({p}, axis=-1, where={q} > k)",
                "u = {p} > {q}; sum({p}, axis=-1, where=u, keepdims=True) - min({p}, where=u, initial=k)"]
    INEXACT = ("mean", "var", "std", "/ ")
    NAMES = ["a", "b", "c", "x", "y", "x0", "x1", "t0", "r", "longer_name"]

    def choose(self, rng):
        self.formula = pick(rng, self.FORMULAS)

    def shape(self, rng):
        """A result of every pair of elements has few."""
        shape = random_shape(rng)
        while "None" in self.formula and int(np.prod(shape)) > MOST:
            shape = random_shape(rng)
        return shape

    def bind(self, rng, shape):
        """The text with new random names, and the operands of the names."""
        names = [self.NAMES[int(k)] for k in rng.permutation(len(self.NAMES))[:3]]
        text = self.formula.format(p=names[0], q=names[1], r=names[2])
        operands = dict(zip(names, self.operands(rng, shape)))
        ours = {name: x.array for name, x in operands.items()}
        theirs = {name: x.like for name, x in operands.items()}
        number = int(rng.integers(1, 5))
        ours["k"], theirs["k"] = self.library.number(number, "int32"), number
        order = list(ours)
        rng.shuffle(order)
        return text, {name: ours[name] for name in order}, theirs, operands

    def wanted(self, text, theirs):
        # NumPy adds in pairs along axes that are contiguous, and otherwise one by one.
        names = {**FUNCTIONS, **{name: contiguous(x) for name, x in theirs.items()}}
        *statements, last = text.split("; ")
        for statement in statements:
            exec(statement, names)
        return eval(last, names)

    def exact(self):
        return not any(word in self.formula for word in self.INEXACT)

    def call(self, rng):
        shape = self.shape(rng)
        if 0 in shape:
            return "nothing", []
        text, ours, theirs, operands = self.bind(rng, shape)
        what = "eval %s with %s" % (text, operands)
        try:
            wanted = self.wanted(text, theirs)
        except (ValueError, IndexError):  # AxisError is both
            return "nothing", []
        return what, [(self.library.eval(text, ours), wanted, self.exact())]


class EvalInto(Eval):
    FORMULAS = [f for f in Eval.FORMULAS
                if not f.startswith(("sum", "mean", "max", "arg", "var", "any", "count", "cum"))]

    def call(self, rng):
        shape = self.shape(rng)
        if 0 in shape:
            return "nothing", []
        text, ours, theirs, operands = self.bind(rng, shape)
        try:
            wanted = np.asarray(self.wanted(text, theirs))
        except (ValueError, IndexError):
            return "nothing", []
        layout = pick(rng, ["dense", "reversed", "tail"])
        out = Operand(self.library, rng, wanted.dtype.name, wanted.shape, layout, True)
        names = [name for name in operands if theirs[name].shape == wanted.shape and theirs[name].dtype == wanted.dtype]
        if names and rng.random() < 0.5:
            ours[names[0]], theirs[names[0]] = out.array, out.like
            wanted = np.asarray(self.wanted(text, theirs))
        what = "eval_into %s with %s into %r" % (text, operands, out)
        self.library.eval_into(out.array, text, ours)
        out.like[...] = wanted
        return what, [(out.whole, out.whole_like, self.exact())]


def rows_shape(rng):
    """Rows long enough to be fused, and a few that are not."""
    length = int(rng.choice([1, 16, 33, 64, 65, 100, 128, 257, 1000, 1031]))
    rows = int(rng.choice([1, 2, 5, 17, 40]))
    return [(length,), (rows, length), (2, rows, length), (rows, 1, length)][int(rng.choice([0, 1, 1, 1, 2, 3]))]


class Rows(Eval):
    """Reductions over the last axis and what follows from them: one kernel, or several steps."""
    FORMULAS = ["{p} - max({p}, axis=-1, keepdims=True)",
                "({p} - min({q}, axis=-1, keepdims=True)) * max({q}, axis=-1, keepdims=True) - {r}",
                "sum({p} - max({p}, axis=-1, keepdims=True), axis=-1) - max({p}, axis=-1)",
                "{p} - k*argmax({q} - {p}, axis=-1, keepdims=True)",
                "max({p} - min({p}, axis=-1, keepdims=True) - {q}, axis=-1, keepdims=True) - k",
                "where({p} > min({q}, axis=-1, keepdims=True), {p}, {r})",
                "where(any({p} > {q}, axis=-1, keepdims=True), {p} - {q}, {r})",
                "({p} - mean({p}, axis=-1, keepdims=True)) * k",
                "mean(({p} - mean({p}, axis=-1, keepdims=True))**2, axis=-1)",
                "({p} - {q}) / (1 + max({p}**2, axis=-1, keepdims=True))",
                "{r} - ({p} - {q}) / (2 + max(({p} - {q}) / k, axis=-1, keepdims=True)**2)",
                "count_nonzero({p} > min({r} - {q}, axis=-1, keepdims=True), axis=-1)"]

    def shape(self, rng):
        return rows_shape(rng)


class RowsInto(EvalInto):
    FORMULAS = [f for f in Rows.FORMULAS if not f.startswith(("sum", "mean", "max", "count"))]

    def shape(self, rng):
        return rows_shape(rng)


def columns_shape(rng):
    """Columns of all lengths, few and many, with batches."""
    length = int(rng.choice([1, 2, 7, 33, 64, 100, 257, 1000]))
    width = int(rng.choice([1, 3, 16, 33, 64, 65, 100]))
    return [(length, width), (2, length, width), (length, 1, width)][int(rng.choice([0, 0, 1, 2]))]


class Columns(Eval):
    """Reductions over another axis than the last one and what follows from them: one kernel, or several steps."""
    FORMULAS = [f.replace("axis=-1", "axis=0") for f in Rows.FORMULAS] + [
                f.replace("axis=-1", "axis=-2") for f in Rows.FORMULAS] + [
                "{p} - max({p}, axis=0) * k", "({p} - mean({p}, axis=0)) / std({p}, axis=0, ddof=-1)",
                "{p} / sqrt(1 + sum({p}*{p}, axis=0))", "max({p} - min({q}, axis=0), axis=0) - k"]

    def shape(self, rng):
        return columns_shape(rng)


class ColumnsInto(EvalInto):
    FORMULAS = [f for f in Columns.FORMULAS if not f.startswith(("sum", "mean", "max", "count"))]

    def shape(self, rng):
        return columns_shape(rng)


class Chunked(Eval):
    FORMULAS = [f for f in Eval.FORMULAS if "axis" not in f] + ["sum({p} - {q}, axis=0)", "max({p} - {q}, axis=0)",
                                                                   "cumsum({p} - {q}, axis=-1)", "cummax({p}, axis=0)"]

    def call(self, rng):
        shape = self.shape(rng)
        if 0 in shape or not shape:
            return "nothing", []
        text, ours, theirs, operands = self.bind(rng, shape)
        sources = 0
        for name, x in operands.items():
            if x.like.shape == shape and rng.random() < 0.8:
                ours[name] = self.library.source(x.like)
                sources += 1
        if not sources:
            return "nothing", []
        row = sum(x.like.nbytes for x in operands.values()) // shape[0]
        nbytes = int(2 ** rng.uniform(6, 18)) + 8 * (row + 16 * int(np.prod(shape[1:])))
        if ".T" in text:  # cut along another axis than its sources, which are in memory completely
            nbytes += 16 * sum(x.like.nbytes for x in operands.values())
        what = "eval_chunked %s with %s, %d sources, %d bytes" % (text, operands, sources, nbytes)
        try:
            wanted = self.wanted(text, theirs)
        except (ValueError, IndexError):
            return "nothing", []
        return what, [(self.library.eval_chunked(text, ours, nbytes), wanted, self.exact())]


# ---- Custom kernels ----

C_TYPES = {"int8": "signed char", "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
           "float32": "float", "float64": "double", "float16": "float16", **{dtype: dtype for dtype in SMALL}}


def widened(x):
    """As C computes, without wrapping: the values are small."""
    return x.astype(np.int64 if x.dtype.kind in "iu" else np.float64)


class Custom(Recipe):
    kinds = list(C_TYPES)
    inputs = 3
    OPERATIONS = [("z[i] = x[i] - y[i]", lambda x, y, z, i: x - y),
                  ("z[i] = 2*y[i] - x[i]", lambda x, y, z, i: 2 * y - x),
                  ("if (x[i] > y[i]) z[i] = x[i]", lambda x, y, z, i: np.where(x > y, x, z)),
                  ("if (x[i] < 2) return; z[i] = y[i]", lambda x, y, z, i: np.where(x < 2, z, y)),
                  ("z[i] = i % 5 + x[i]", lambda x, y, z, i: i % 5 + x),
                  ("z[i] = z[i] - y[i] + x[i]", lambda x, y, z, i: z - y + x),
                  ("z[i] = x[n - 1 - i] - y[i]", lambda x, y, z, i: x.ravel()[::-1].reshape(x.shape) - y)]

    def choose(self, rng):
        self.operation, self.function = pick(rng, self.OPERATIONS)
        self.order = [str(name) for name in rng.permutation(["x", "y", "z"])]
        if numpy_dtype(self.dtypes[2]).kind == "u":
            self.dtypes[:2] = self.dtypes[2:] * 2  # a negative float is no unsigned integer in C
        self.types = dict(zip("xyz", self.dtypes))
        arguments = ", ".join("%s *%s" % (C_TYPES[self.types[name]], name) for name in self.order)
        name = pick(rng, ["kernel", "step", "update"])
        self.kernel = self.library.elementwise_kernel(arguments, self.operation, name)

    def view(self, rng, name, shape):
        layout = pick(rng, [x for x in self.layouts if x not in ("repeated", "one", "ones")])
        return Operand(self.library, rng, self.types[name], shape, layout, writable=True)

    def call(self, rng):
        shape = random_shape(rng)
        operands = {name: self.view(rng, name, shape) for name in "xyz"}
        z = operands["z"]
        what = "custom %s of %s" % (self.operation, operands)
        i = np.arange(z.like.size).reshape(shape)
        wide = {name: widened(x.like) for name, x in operands.items()}
        z.like[...] = np.asarray(self.function(**wide, i=i)).astype(z.like.dtype)
        self.library.run(self.kernel, *[operands[name].array for name in self.order])
        return what, [(z.whole, z.whole_like, True), (operands["x"].whole, operands["x"].whole_like, True)]


class CustomReduction(Recipe):
    kinds = list(C_TYPES)
    MAPS = [("x[i] - y[i]", lambda x, y: x - y), ("x[i] * y[i] - y[i]", lambda x, y: x * y - y),
            ("y[i] - 2 * x[i]", lambda x, y: y - 2 * x)]

    def choose(self, rng):
        self.text, self.function = pick(rng, self.MAPS)
        self.order = [str(name) for name in rng.permutation(["x", "y"])]
        self.types = dict(zip("xy", self.dtypes))
        self.result = pick(rng, ["float64", "int64", "float32"])
        arguments = ", ".join("%s *%s" % (C_TYPES[self.types[name]], name) for name in self.order)
        self.fold, neutral, combine = pick(rng, [(np.sum, "0", "a+b"), (np.max, "-1000000", "a > b ? a : b")])
        self.kernel = self.library.reduction_kernel(self.result, neutral, combine, self.text, arguments, "fold")

    def call(self, rng):
        shape = random_shape(rng)
        if 0 in shape:
            return "nothing", []
        x, y = (Operand(self.library, rng, self.types[name], shape,
                        pick(rng, [at for at in self.layouts if at not in ("repeated", "one", "ones")]), True)
                for name in "xy")
        what = "custom reduction %s of %r, %r" % (self.text, x, y)
        arrays = {"x": x.array, "y": y.array}
        wide = [widened(v.like) for v in (x, y)]
        got = self.library.reduce(self.kernel, *[arrays[name] for name in self.order])
        return what, [(got, np.asarray(self.fold(self.function(*wide))).astype(self.result), True)]


# ---- Conversions ----


class Convert(Recipe):
    kinds = DTYPES

    def call(self, rng):
        x = self.operand(rng, 0, random_shape(rng))
        to = numpy_dtype(self.dtypes[1])
        if x.like.dtype.kind == "c" and to.kind != "c":
            x.array, x.like = self.library.real(x.array), x.like.real
        if to.kind == "u" and x.like.dtype.kind != "b":
            x.like = np.abs(x.like)
            x.array = self.library.from_host(x.like)
        got = self.library.astype(x.array, to)
        return "astype(%r, %s)" % (x, to), [(got, x.like.astype(to), True)]


class Assign(Recipe):
    def choose(self, rng):
        self.dtypes = self.dtypes[:1] * 2

    def call(self, rng):
        out = self.operand(rng, 0, random_shape(rng), writable=True)
        value = self.operand(rng, 1, out.like.shape)
        what = "assign(%r, %r)" % (out, value)
        out.like[...] = value.like
        self.library.assign(out.array, value.array)
        return what, [(out.whole, out.whole_like, True)]


# ---- Random numbers ----

MASK = np.uint64(0xFFFFFFFF)


def philox(counter, seed):
    """Philox4x32-10 of arrays of counters, four words each."""
    c, k = list(counter), [np.uint64(seed) & MASK, np.uint64(seed) >> np.uint64(32)]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ k[0], b & MASK, a >> np.uint64(32) ^ c[3] ^ k[1], a & MASK]
        k = [k[0] + np.uint64(0x9E3779B9) & MASK, k[1] + np.uint64(0xBB67AE85) & MASK]
    return c


def uniform(seed, position, count, dtype):
    """Elements of ga_rng_random(), by docs/random.md."""
    rows = 4 if dtype == "float32" else 2
    at = np.arange(position, position + count, dtype=np.uint64)
    tile, within = at // np.uint64(128 * rows), at % np.uint64(128 * rows)
    block, row = tile * np.uint64(128) + within % np.uint64(128), (within // np.uint64(128)).astype(int)
    purpose = np.uint64(0 if rows == 4 else 1)
    counter = [block >> np.uint64(34), block >> np.uint64(2) & MASK, np.zeros_like(block),
               (block & np.uint64(3)) << np.uint64(2) | purpose]
    words = np.stack(philox(counter, seed))
    k = np.arange(count)
    if rows == 4:
        return ((words[row, k] >> np.uint64(8)) * 2.0**-24).astype(np.float32)
    high, low = words[2 * row, k], words[2 * row + 1, k]
    return ((high >> np.uint64(5)) << np.uint64(26) | low >> np.uint64(6)) * 2.0**-53


class Random(Recipe):
    kinds = ["float32", "float64"]
    inputs = 1

    def choose(self, rng):
        self.seed, self.position = int(rng.integers(1 << 62)), 0
        self.generator = self.library.rng(self.seed)

    def call(self, rng):
        shape = random_shape(rng)
        count = int(np.prod(shape))
        dtype = self.dtypes[0]
        wanted = uniform(self.seed, self.position, count, dtype).reshape(shape)
        what = "random(%s, %s) at %d" % (dtype, shape, self.position)
        if rng.random() < 0.5:
            got = self.library.draw("random", self.generator, dtype, shape)
            pairs = [(got, wanted, True)]
        else:
            out = self.operand(rng, 0, shape, writable=True)
            out.like[...] = wanted
            self.library.draw_into("random", out.array, self.generator)
            pairs = [(out.whole, out.whole_like, True)]
        self.position += count
        return what, pairs


class Pieces(Random):
    """A distribution's elements are the same in one call and in several."""

    kinds = ["float32", "float64", *SMALL]

    DRAWS = [("standard_normal", ()), ("uniform", (-2.0, 3.0)), ("integers", (-5, 17))]

    def choose(self, rng):
        super().choose(rng)
        self.name, self.numbers = pick(rng, self.DRAWS)
        if self.name == "integers":
            self.dtypes = [pick(rng, ["int8", "int32", "int64", "int16"])]
        self.other = self.library.rng(self.seed)

    def call(self, rng):
        count = int(rng.integers(1, 5000))
        cut = int(rng.integers(0, count + 1))
        numbers = self.library.c_numbers(self.numbers)
        whole = self.library.draw(self.name, self.generator, self.dtypes[0], *numbers, (count,)).numpy()
        parts = [self.library.draw(self.name, self.other, self.dtypes[0], *numbers, (n,)) for n in (cut, count - cut)]
        what = "%s of %s in two pieces, %d and %d" % (self.name, self.dtypes[0], cut, count - cut)
        return what, [(parts[0], whole[:cut], True), (parts[1], whole[cut:], True)]


RECIPES = [Eager, Eager, EagerInto, Reduction, ReductionAxes, Scan, Sort, SortInto, Keys, Eval, Eval, Eval, EvalInto,
           Rows, RowsInto, Columns, ColumnsInto, Chunked, Custom, CustomReduction, Convert, Assign, Random, Pieces]
