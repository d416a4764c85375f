"""Functions that NumPy lacks, or computes otherwise, for the golden generators: mpmath's values, or formulas in
extended precision. Each refuses the kinds of dtype that its row refuses."""

import mpmath
import numpy as np

INF, NAN, ZERO = np.longdouble(np.inf), np.longdouble(np.nan), np.longdouble(0)
PI = np.longdouble("3.14159265358979323846264338327950288")


def refuse_complex(arrays):
    if any(np.iscomplexobj(x) for x in arrays):
        raise TypeError("no complex loop")


def formula(f, dtype_of):
    """f in the precision of its arguments, or more, with the dtype that a NumPy function has for them."""

    def function(*arrays):
        refuse_complex(arrays)
        wide = [np.asarray(x).astype(np.longdouble) for x in arrays]
        return np.asarray(f(*wide)).astype(dtype_of(*arrays).dtype)

    return function


# ---- By mpmath ----


def erfinv(x):
    return mpmath.erfinv(x) if abs(x) < 1 else mpmath.inf


def lgamma(x):
    return mpmath.loggamma(x) if x > 0 else mpmath.log(abs(mpmath.gamma(x)))


def gamma(x):
    return mpmath.gamma(x) if x < 2000 else mpmath.inf


def i0(x):
    return mpmath.besseli(0, x) if abs(x) < 20000 else mpmath.inf


def hankel(second, order, x):
    """Far from 0, the first terms of DLMF 10.17.3."""
    with mpmath.workdps(700):
        y = abs(x)
        phase = y - (mpmath.mpf(order) / 2 + mpmath.mpf(1) / 4) * mpmath.pi
        c, s = mpmath.cos(phase), mpmath.sin(phase)
        m, u = 4 * order * order, 1 / (8 * y)
        p, q = 1 - (m - 1) * (m - 9) * u * u / 2, (m - 1) * u
        value = mpmath.sqrt(2 / (mpmath.pi * y)) * (p * s + q * c if second else p * c - q * s)
        return -value if order == 1 and x < 0 else value


def bessel(second, order):
    def function(x):
        if second and x <= 0:
            raise ValueError("outside the domain")
        if abs(x) > 1000000:
            return hankel(second, order, x)
        return (mpmath.bessely if second else mpmath.besselj)(order, x)

    return function


# Each with its value where mpmath has none: at infinities, poles and outside the domain.
MPMATH = {
    "gamma": (gamma, lambda x: INF if x > 0 else np.copysign(INF, x) if x == 0 else NAN),
    "lgamma": (lgamma, lambda x: INF),
    "digamma": (mpmath.digamma, lambda x: INF if x > 0 else -np.copysign(INF, x) if x == 0 else NAN),
    "erfinv": (erfinv, lambda x: np.copysign(INF, x) if abs(x) == 1 else NAN),
    "i0": (i0, lambda x: INF),
    "j0": (bessel(False, 0), lambda x: ZERO),
    "j1": (bessel(False, 1), lambda x: np.copysign(ZERO, x)),
    "y0": (bessel(True, 0), lambda x: -INF if x == 0 else ZERO if x > 0 else NAN),
    "y1": (bessel(True, 1), lambda x: -INF if x == 0 else ZERO if x > 0 else NAN),
}


def by_mpmath(name):
    function, edge = MPMATH[name]

    def value(x):
        if np.isnan(x):
            return NAN
        try:
            with mpmath.workdps(50):
                exact = function(mpmath.mpf(float(x))) if np.isfinite(x) else mpmath.inf
                if not mpmath.isfinite(exact):
                    return edge(x)
                odd_zero = exact == 0 and x == 0
                return np.longdouble(x) if odd_zero else np.longdouble(mpmath.nstr(exact, 25))
        except ValueError:
            return edge(x)

    return formula(np.vectorize(value, otypes=[np.longdouble]), np.sinc if name == "i0" else np.exp)


# What ULP is of, where that is not the result itself.
def bessel_scale(x):
    return np.minimum(1, np.sqrt(2 / np.pi / np.abs(x)))


SCALES = {name: bessel_scale for name in ("j0", "j1", "y0", "y1")}
SCALES.update({name: np.ones_like for name in ("lgamma", "digamma")})


def bounds(name, x, answer, epsilon, ulp):
    """The largest errors allowed."""
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(answer.astype(np.float64)), SCALES[name](x.astype(np.float64)))
        return np.where(np.isfinite(size), ulp * epsilon * size, 0)


# ---- By formulas ----


def sinc(x):
    """Exact at whole numbers; of complex numbers too."""
    wide = x.astype(np.clongdouble if np.iscomplexobj(x) else np.longdouble)
    near = np.rint(wide.real)
    sine = np.where(near % 2 == 0, 1, -1) * np.sin(PI * (wide - near))
    return np.where(x == 0, 1, sine / (PI * np.where(x == 0, 1, wide))).astype(np.sinc(x).dtype)


def logit(x):
    return np.where(np.abs(x - 0.5) < 0.25, 2 * np.arctanh(2 * x - 1), np.log(x / (1 - x)))


FUNCTIONS = {
    "sinc": sinc,
    "sigmoid": formula(lambda x: 1 / (1 + np.exp(-x)), np.exp),
    "logit": formula(logit, np.exp),
    "rsqrt": formula(lambda x: 1 / np.sqrt(x), np.exp),
    "xlogy": formula(lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)), np.arctan2),
    "lerp": formula(lambda a, b, t: a + t * (b - a), lambda a, b, t: np.arctan2(np.arctan2(a, b), t)),
    **{name: by_mpmath(name) for name in MPMATH},
}
