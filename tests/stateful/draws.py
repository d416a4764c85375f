"""Recipes of distributions: a seed's numbers are the same in any pieces, and with parameters as numbers or arrays."""

import numpy as np

from bins import Held
from quarry import SMALL
from recipes import Random, pick

FLOATS = ["float32", "float64", *SMALL]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint32"]
DRAWS = {"normal": (-2.0, 1.5), "lognormal": (0.5, 0.25), "exponential": (2.0,), "laplace": (1.0, 2.0),
         "logistic": (0.0, 1.0), "gumbel": (0.0, 2.0), "rayleigh": (2.0,), "weibull": (1.5,), "pareto": (3.0,),
         "power": (2.0,), "triangular": (-1.0, 0.5, 2.0), "standard_gamma": (0.75,), "gamma": (2.5, 2.0),
         "beta": (0.5, 2.0), "chisquare": (3.0,), "noncentral_chisquare": (3.0, 1.0), "f": (4.0, 6.0),
         "standard_t": (5.0,), "wald": (1.0, 2.0), "vonmises": (0.5, 2.0), "poisson": (4.0,), "binomial": (20.0, 0.25),
         "negative_binomial": (3.0, 0.5), "geometric": (0.25,), "hypergeometric": (7.0, 9.0, 5.0), "zipf": (3.0,),
         "logseries": (0.5,)}
COUNTS = {"binomial": (0,), "hypergeometric": (0, 1, 2)}  # parameters that are integers
BY_TABLE = ("poisson", "binomial")  # numbers choose a table, whose elements are others than those of arrays
DISCRETE = list(DRAWS)[list(DRAWS).index("poisson"):]


class Distributions(Random):
    """One generator draws all elements at once, with numbers; another one of the same seed draws them in pieces, with
    numbers or with arrays of them. Their kernels compile in any order."""

    def choose(self, rng):
        super().choose(rng)
        self.other = self.library.rng(self.seed)
        self.name = pick(rng, list(DRAWS))
        self.dtypes = [pick(rng, INTEGERS if self.name in DISCRETE else FLOATS)]
        self.arrays = [rng.random() < 0.5 for _ in DRAWS[self.name]]
        self.whole_arrays = self.name in BY_TABLE and any(self.arrays)

    def dtype_of(self, k):
        return "int32" if k in COUNTS.get(self.name, ()) else "float64"

    def numbers(self, numbers):
        return [self.library.number(int(x) if self.dtype_of(k) == "int32" else x, self.dtype_of(k))
                for k, x in enumerate(numbers)]

    def alone(self, rng, numbers, arrays):
        """Numbers, or arrays of one number each; and what holds the arrays."""
        if not arrays:
            return self.numbers(numbers), []
        held = [Held(self.library, rng, np.full((), x, self.dtype_of(k))) for k, x in enumerate(numbers)]
        return [self.library.value(x.array) for x in held], held

    def parameters(self, rng, count):
        """Numbers, and arrays that broadcast to the shape of the draw; and what holds the arrays."""
        made, held = [], []
        for k, (number, is_array) in enumerate(zip(DRAWS[self.name], self.arrays)):
            like = np.full(pick(rng, [(count,), (1,), ()]), number, self.dtype_of(k))
            held.append(Held(self.library, rng, like))
            made.append(self.library.value(held[-1].array) if is_array else self.numbers(DRAWS[self.name])[k])
        return made, held

    def call(self, rng):
        count = int(rng.integers(1, 3000))
        cut = int(rng.integers(0, count + 1))
        numbers, held = self.alone(rng, DRAWS[self.name], self.whole_arrays)
        dtype = self.dtypes[0]
        whole = self.library.draw(self.name, self.generator, dtype, *numbers, (count,)).numpy()
        parts = []
        for n in (cut, count - cut):
            numbers, held = self.parameters(rng, n)
            parts.append(self.library.draw(self.name, self.other, dtype, *numbers, (n,)))
            del held
        what = "%s of %s in two pieces, %d and %d, arrays %r" % (self.name, dtype, cut, count - cut, self.arrays)
        return what, [(parts[0], whole[:cut], True), (parts[1], whole[cut:], True)]


class Parameters(Distributions):
    """Of an element with parameters of its own: its number is that of a draw with these parameters alone."""

    def call(self, rng):
        lows, n = DRAWS[self.name], int(rng.integers(1, 400))
        choice = rng.random(n) < 0.5
        scale = 1.0 if self.name in ("hypergeometric", "binomial", "triangular") else 0.75
        sets = [lows, tuple(x * scale for x in lows)]
        dtype = self.dtypes[0]
        draws = []
        for numbers in sets:
            state = self.library.rng(self.seed)
            values, held = self.alone(rng, numbers, self.name in BY_TABLE)
            draws.append(self.library.draw(self.name, state, dtype, *values, (n,)).numpy())
            del held
        mixed = [Held(self.library, rng, np.where(choice, a, b).astype(self.dtype_of(k)))
                 for k, (a, b) in enumerate(zip(*sets))]
        got = self.library.draw(self.name, self.library.rng(self.seed), dtype,
                                *[self.library.value(x.array) for x in mixed], (n,))
        return "%s of %s with %d parameters each" % (self.name, dtype, n), [(got, np.where(choice, *draws), True)]


DISTRIBUTIONS = [Distributions, Distributions, Parameters]
