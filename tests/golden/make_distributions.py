"""Makes distributions.bin: elements of the distributions by another implementation, their laws, and Sobol points.

Cases "known": a name, the parameters, [seed, position], and the elements from there on, computed in Python's doubles
from the words of another Philox by the formulas of the papers. Cases "law": a name, the parameters, and SciPy's
distribution function at the edges of cells that 400000 elements fill. Cases "sobol": [dimensions, skip] and the points
of scipy.stats.qmc.Sobol. Run with a Python that has SciPy and mpmath; the output stands beside this file.
"""

import functools
import itertools
import math

import mpmath
import numpy as np
from golden import ROOT, Array, File
from make_random import FOR_ONE, above_zero, counted, high_first, pair, unit_of, words
from scipy import stats

PLACES = ((5, 0, 7), (2**64 - 3, 1000003, 5))


class Element:
    """The blocks of one element: `next` makes one after another."""

    def __init__(self, seed, position):
        self.seed, self.position, self.attempt = seed, position, 0

    def next(self):
        self.attempt += 1
        return words(self.seed, self.position, FOR_ONE, self.attempt - 1)

    def numbers(self):
        """The two words of 64 bits of a number drawn with others."""
        return pair(self.seed, self.position)


def open_unit(w):
    """In (0, 1]."""
    return float(above_zero(w, "float64"))


def exponential(w):
    return -math.log(open_unit(w))


def normal(w):
    turn = high_first(w[2:])
    angle = (turn & (1 << 52) - 1) / 2**52 - 0.5
    size = math.sqrt(2 * exponential(w)) * math.cos(math.pi * angle)
    return -size if turn >> 63 else size


def trial(e, w):
    """A normal number, a uniform one and an exponential one."""
    more = e.next()
    return normal(w), open_unit(more), exponential(more[2:])


def signed(w, size):
    return -size if w[0] >> 31 else size


def laplace(e):
    w = e.numbers()
    twice = high_first(w) << 1 & (1 << 64) - 1
    return signed(w, exponential((twice >> 32, twice & 0xFFFFFFFF)))


def logistic(e):
    w = e.numbers()
    u = open_unit((w[0] & 0x7FFFFFFF, w[1]))
    return signed(w, math.log1p(-u) - math.log(u))


def cauchy(e):
    w = e.numbers()
    tangent = math.tan(math.pi * open_unit((w[0] & 0x3FFFFFFF, w[1])))
    return signed(w, 1 / tangent if w[0] >> 30 & 1 else tangent)


def triangular(e, left, mode, right):
    u = unit_of(e.numbers())
    if u * (right - left) <= mode - left:
        return left + math.sqrt(u * (mode - left) * (right - left))
    return right - math.sqrt((1 - u) * (right - mode) * (right - left))


def gamma(e, shape, w=None):
    w = w or e.next()
    d = (shape + (shape < 1)) - 1 / 3
    while True:
        x, u, more = trial(e, w)
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(u) <= x * x / 2 + d - d * v + d * math.log(v):
            return d * v * (math.exp(-more / shape) if shape < 1 else 1)
        w = e.next()


def chisquare(e, df):
    return 2 * gamma(e, df / 2)


def noncentral(e, df, nonc):
    if df > 1:
        shifted = trial(e, e.next())[0] + math.sqrt(nonc)
        return shifted**2 + chisquare(e, df - 1)
    return chisquare(e, df + 2 * poisson_small(unit_of(e.next()), nonc / 2))


def beta(e, a, b):
    x = gamma(e, a)
    return x / (x + gamma(e, b))


def fisher(e, df1, df2):
    x = chisquare(e, df1) / df1
    return x / (chisquare(e, df2) / df2)


def student(e, df):
    x = trial(e, e.next())[0]
    return x / math.sqrt(chisquare(e, df) / df)


def wald(e, mean, scale):
    x, u, _ = trial(e, e.next())
    w = mean * x * x / (2 * scale)
    small = mean * (1 + w - math.sqrt(w * (2 + w)))
    return small if u <= mean / (mean + small) else mean * mean / small


def vonmises(e, mu, kappa):
    r = 1 + math.sqrt(1 + 4 * kappa**2)
    rho = (r - math.sqrt(2 * r)) / (2 * kappa)
    s = (1 + rho**2) / (2 * rho)
    while True:
        w = e.next()
        q = math.tan(math.pi * open_unit((w[0] & 0x3FFFFFFF, w[1])))
        q = (1 / q if w[0] >> 30 & 1 else q) * math.sqrt((s - 1) / (s + 1))
        y = kappa * (s - (1 - q * q) / (1 + q * q))
        if math.log(open_unit(w[2:])) <= math.log(y) + 1 - y:
            return math.remainder(mu + signed(w, 2 * math.atan(q)), 2 * math.pi)


def truncated(e, low, high, loc, scale):
    """For bounds in the upper tail, or around the middle and wide."""
    a, b = (low - loc) / scale, (high - loc) / scale
    rate = (a + math.sqrt(a * a + 4)) / 2
    while True:
        x, u, more = trial(e, e.next())
        if a >= 0:
            x = a + more / rate
        if a <= x <= b and (a < 0 or -math.log(u) >= (x - rate) ** 2 / 2):
            return loc + scale * x


def poisson_small(u, mean):
    k, p = 0, math.exp(-mean)
    total = p
    while u >= total:
        k += 1
        p *= mean / k
        total += p
    return k


def binomial(e, n, p):
    """Of numbers: by inversion, or if the variance is large as of arrays."""
    if n * p * (1 - p) > 4096:
        return binomial_each(e, n, p)
    return counted(e.seed, e.position, binomial_sums(n, p))


@functools.lru_cache(None)
def binomial_sums(n, p):
    """Of the chances of 0, of 0 and 1, and so on."""
    few, many = mpmath.mpf(p), 1 - mpmath.mpf(p)
    return list(itertools.accumulate(mpmath.binomial(n, k) * few**k * many ** (n - k) for k in range(n + 1)))


def binomial_each(e, n, p):
    """Small, or by BTRS with the logarithms of factorials."""
    w, less = e.next(), min(p, 1 - p)
    k = binomial_small(unit_of(w), n, less) if n * less < 10 else btrs(e, w, n, less)
    return k if p <= 0.5 else n - k


def binomial_small(u, n, p):
    k, total = 0, (1 - p) ** n
    while u >= total:
        k += 1
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
    return k


def btrs(e, w, n, p):
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a, v_r = -0.0873 + 0.0248 * b + 0.01 * p, 0.92 - 4.2 / b
    mode = math.floor((n + 1) * p)

    def log_chance(k):
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return ways + k * math.log(p) + (n - k) * math.log1p(-p)

    while True:
        u, v = unit_of(w) - 0.5, open_unit(w[2:])
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= v_r:
            return k
        if 0 <= k <= n:
            density = v * (2.83 + 5.1 / b) * spread / (a / us**2 + b)
            if math.log(density) <= log_chance(k) - log_chance(mode):
                return k
        w = e.next()


def negative_binomial(e, n, p):
    mean = gamma(e, n) * (1 - p) / p
    return poisson_small(unit_of(e.next()), mean)


def hypergeometric(e, good, bad, sample):
    """Of samples below 10."""
    few, taken = min(good, bad), 0
    for k in range(sample):
        taken += unit_of(e.next()) * (good + bad - k) < few - taken
    return taken if good <= bad else sample - taken


def zipf(e, a):
    least, b = 2.0 ** (-63 * (a - 1)), 2 ** (a - 1)
    while True:
        w = e.next()
        x = math.floor((open_unit(w) * (1 - least) + least) ** (-1 / (a - 1)))
        t = (1 + 1 / x) ** (a - 1)
        if unit_of(w[2:]) * x * (t - 1) / (b - 1) <= t / b:
            return x


def logseries(e, p):
    w = e.next()
    u, v = open_unit(w), open_unit(w[2:])
    if v >= p:
        return 1
    q = -math.expm1(math.log1p(-p) * u)
    if v <= q * q:
        return math.floor(1 + math.log(v) / math.log(q))
    return 1 if v >= q else 2


def e_number(e):
    return exponential(e.numbers())


REALS = {
    "laplace": (lambda e, a, b: a + b * laplace(e), ((1, 2),)),
    "logistic": (lambda e, a, b: a + b * logistic(e), ((1, 2),)),
    "gumbel": (lambda e, a, b: a - b * math.log(e_number(e)), ((1, 2),)),
    "rayleigh": (lambda e, a: a * math.sqrt(2 * e_number(e)), ((3,),)),
    "weibull": (lambda e, a: e_number(e) ** (1 / a), ((0.7,), (3,))),
    "pareto": (lambda e, a: math.expm1(e_number(e) / a), ((0.8,), (30,))),
    "power": (lambda e, a: math.exp(-e_number(e) / a), ((3,),)),
    "standard_exponential": (e_number, ((),)),
    "standard_cauchy": (cauchy, ((),)),
    "triangular": (triangular, ((-1, 0.5, 4), (0, 0, 1), (0, 1, 1))),
    "standard_gamma": (gamma, ((0.3,), (1,), (7.5,), (1e6,))),
    "gamma": (lambda e, a, b: b * gamma(e, a), ((2.5, 3),)),
    "beta": (beta, ((2, 3), (0.5, 4))),
    "chisquare": (chisquare, ((5,),)),
    "noncentral_chisquare": (noncentral, ((3, 2), (0.5, 3))),
    "f": (fisher, ((4, 9),)),
    "noncentral_f": (lambda e, a, b, c: noncentral(e, a, c) / a / (chisquare(e, b) / b), ((4, 9, 2),)),
    "standard_t": (student, ((3,),)),
    "wald": (wald, ((2, 3),)),
    "vonmises": (vonmises, ((0.5, 2), (3, 0.01), (0, 5000))),
    "truncated_normal": (truncated, ((-3, 4, 0, 1), (3, 90, 1, 0.5))),
}
INTEGERS = {
    "geometric": (lambda e, p: math.ceil(-e_number(e) / math.log1p(-p)), ((0.3,), (1e-6,))),
    "binomial": (binomial, ((12, 0.3), (1000, 0.7), (5, 0.9), (16384, 0.5), (10**6, 0.5), (10**6, 0.7))),
    "negative_binomial": (negative_binomial, ((2.5, 0.6),)),
    "hypergeometric": (hypergeometric, ((20, 30, 7), (30, 20, 7))),
    "zipf": (zipf, ((2,), (4.5,))),
    "logseries": (logseries, ((0.6,), (0.99,))),
}

# SciPy's laws: for each the name, parameters, the law.
LAWS = [
    ("normal", (1, 2), stats.norm(1, 2)),
    ("lognormal", (0, 0.5), stats.lognorm(0.5)),
    ("exponential", (3,), stats.expon(0, 3)),
    ("laplace", (1, 2), stats.laplace(1, 2)),
    ("logistic", (1, 2), stats.logistic(1, 2)),
    ("gumbel", (1, 2), stats.gumbel_r(1, 2)),
    ("rayleigh", (2,), stats.rayleigh(0, 2)),
    ("weibull", (0.6,), stats.weibull_min(0.6)),
    ("weibull", (4,), stats.weibull_min(4)),
    ("pareto", (1.5,), stats.lomax(1.5)),
    ("power", (0.4,), stats.powerlaw(0.4)),
    ("power", (5,), stats.powerlaw(5)),
    ("standard_cauchy", (), stats.cauchy()),
    ("triangular", (-1, 0.5, 4), stats.triang(0.3, -1, 5)),
    ("standard_gamma", (0.1,), stats.gamma(0.1)),
    ("standard_gamma", (0.9,), stats.gamma(0.9)),
    ("standard_gamma", (1.5,), stats.gamma(1.5)),
    ("standard_gamma", (50,), stats.gamma(50)),
    ("standard_gamma", (1e5,), stats.gamma(1e5)),
    ("gamma", (3, 0.25), stats.gamma(3, 0, 0.25)),
    ("beta", (2, 5), stats.beta(2, 5)),
    ("beta", (0.3, 0.6), stats.beta(0.3, 0.6)),
    ("beta", (0.5, 8), stats.beta(0.5, 8)),
    ("chisquare", (1,), stats.chi2(1)),
    ("chisquare", (9,), stats.chi2(9)),
    ("noncentral_chisquare", (3, 2), stats.ncx2(3, 2)),
    ("noncentral_chisquare", (0.6, 4), stats.ncx2(0.6, 4)),
    ("noncentral_chisquare", (1, 40), stats.ncx2(1, 40)),
    ("f", (5, 12), stats.f(5, 12)),
    ("noncentral_f", (5, 12, 3), stats.ncf(5, 12, 3)),
    ("standard_t", (1.5,), stats.t(1.5)),
    ("standard_t", (30,), stats.t(30)),
    ("wald", (2, 3), stats.invgauss(2 / 3, 0, 3)),
    ("wald", (5, 0.5), stats.invgauss(10, 0, 0.5)),
    ("vonmises", (0, 0.2), stats.vonmises(0.2)),
    ("vonmises", (0, 4), stats.vonmises(4)),
    ("vonmises", (0, 900), stats.vonmises(900)),
    ("truncated_normal", (-1, 2, 0, 1), stats.truncnorm(-1, 2)),
    ("truncated_normal", (-0.4, 0.9, 0, 1), stats.truncnorm(-0.4, 0.9)),
    ("truncated_normal", (1, 1.5, 0, 1), stats.truncnorm(1, 1.5)),
    ("truncated_normal", (3, math.inf, 1, 0.5), stats.truncnorm(4, math.inf, 1, 0.5)),
    ("truncated_normal", (-math.inf, -2, 0, 1), stats.truncnorm(-math.inf, -2)),
    ("poisson", (2.5,), stats.poisson(2.5)),
    ("poisson", (40,), stats.poisson(40)),
    ("binomial", (12, 0.3), stats.binom(12, 0.3)),
    ("binomial", (40, 0.45), stats.binom(40, 0.45)),
    ("binomial", (1000, 0.97), stats.binom(1000, 0.97)),
    ("binomial", (100000, 0.5), stats.binom(100000, 0.5)),
    ("negative_binomial", (3, 0.4), stats.nbinom(3, 0.4)),
    ("negative_binomial", (0.5, 0.02), stats.nbinom(0.5, 0.02)),
    ("geometric", (0.2,), stats.geom(0.2)),
    ("geometric", (0.9,), stats.geom(0.9)),
    ("hypergeometric", (30, 70, 8), stats.hypergeom(100, 30, 8)),
    ("hypergeometric", (300, 200, 80), stats.hypergeom(500, 300, 80)),
    ("hypergeometric", (40, 60, 85), stats.hypergeom(100, 40, 85)),
    ("hypergeometric", (100000, 200000, 5000), stats.hypergeom(300000, 100000, 5000)),
    ("zipf", (1.5,), stats.zipf(1.5)),
    ("zipf", (3.5,), stats.zipf(3.5)),
    ("logseries", (0.5,), stats.logser(0.5)),
    ("logseries", (0.98,), stats.logser(0.98)),
]


def doubles(values):
    return Array("float64", np.array(values, dtype=np.float64).reshape(-1))


def known(file):
    for table, dtype in ((REALS, "float64"), (INTEGERS, "int64")):
        for name, (element, calls) in table.items():
            for parameters in calls:
                for seed, position, count in PLACES:
                    places = range(position, position + count)
                    numbers = [element(Element(seed, p), *parameters) for p in places]
                    state = Array("uint64", np.array([seed, position], dtype=np.uint64))
                    out = Array(dtype, np.array(numbers, dtype=dtype))
                    file.case(name, [doubles(parameters), state], [out])


def cells(law):
    """Edges that leave at least 1 of 5000 in each cell, and the distribution function there."""
    edges = np.unique(law.ppf(np.concatenate([[0.0005], np.arange(1, 40) / 40, [0.9995]])))
    chosen, below = [], 0.0
    for edge in edges:
        here = float(law.cdf(edge))
        if here - below >= 2e-4 and 1 - here >= 2e-4:
            chosen.append((edge, here))
            below = here
    return zip(*chosen)


def laws(file):
    for name, parameters, law in LAWS:
        edges, values = cells(law)
        file.case(name, [doubles(parameters)], [doubles(edges), doubles(values)])


def sobol(file):
    for dimensions, skip, count in ((1, 0, 40), (3, 0, 600), (40, 250, 20), (1111, 0, 9), (1111, 1000000, 3)):
        points = stats.qmc.Sobol(dimensions, scramble=False, bits=32)
        if skip:
            points.fast_forward(skip)
        file.case("sobol", [Array("int64", np.array([dimensions, skip]))],
                  [Array("float64", points.random(count))])


if __name__ == "__main__":
    made = File()
    known(made)
    laws(made)
    sobol(made)
    made.write(ROOT / "tests/golden/distributions.bin")
