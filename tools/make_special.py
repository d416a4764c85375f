"""Makes templates/lib/special_fits.tmpl, the polynomials of special.tmpl: make_special.py (needs mpmath).

Each is the interpolation of a smooth function at Chebyshev nodes, computed with 60 digits, as a polynomial in a
variable that runs from -1 to 1. It has as many terms as are needed for an error below 2 ** -60 of its largest value.
"""
import os

import mpmath as mp

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
mp.mp.dps = 60
FEW = mp.mpf(10) ** -25  # a distance at which limits stand for quotients

HEAD = '''/* Polynomials of special.tmpl, and zeros as sums of two doubles. Made by tools/make_special.py. */
namespace ga {

template <class T> GA_FN T horner(T, T c) { return c; }
template <class T, class... Rest> GA_FN T horner(T x, T c, Rest... rest)
{
    return target::fma(x, horner(x, rest...), c);
}
'''


def fit(f, low, high):
    """Coefficients in t = (2 x - low - high) / (high - low), from the constant on."""
    low, high = mp.mpf(low), mp.mpf(high)

    def scaled(t):
        return f((high - low) / 2 * t + (low + high) / 2)

    largest = max(abs(scaled(mp.mpf(k) / 8)) for k in range(-8, 9))
    for terms in range(6, 50):
        powers, error = mp.chebyfit(scaled, [-1, 1], terms, error=True)
        if error < largest * mp.mpf(2) ** -60:
            return list(reversed(powers))
    raise ValueError("no convergence")


def number(value):
    return mp.nstr(value, 18, min_fixed=0, max_fixed=0)


def function(name, comment, coefficients):
    lines, line = [], "    return horner(t"
    for c in coefficients:
        word = f", {number(c)}"
        if len(line) + len(word) > 97:
            lines.append(line + ",")
            line, word = "                  ", number(c)
        line += word
    lines.append(line + ");")
    return f"\n/* {comment} */\nGA_FN double {name}(double t)\n{{\n" + "\n".join(lines) + "\n}\n"


def zero(name, comment, value):
    high = mp.mpf(float(value))
    return (f"\n/* {comment} */\nconstexpr double {name} = {number(high)}, {name}_rest = "
            f"{number(value - high)};\n")


def at_limit(f, limit, where):
    return lambda x: limit if abs(x - where) < FEW else f(x)


def gamma_by_roots(x):
    """lgamma without its zeros at 1 and 2."""
    if abs(x - 1) < FEW:
        return mp.euler
    return 1 - mp.euler if abs(x - 2) < FEW else mp.loggamma(x) / ((x - 1) * (x - 2))


def hankel(order):
    """P and Q x of DLMF 10.17.3 as functions of u = 1 / x ** 2."""
    def parts(u):
        x = 1 / mp.sqrt(u)
        angle = x - (mp.mpf(order) / 2 + mp.mpf(1) / 4) * mp.pi
        j, y, scale = mp.besselj(order, x), mp.bessely(order, x), mp.sqrt(mp.pi * x / 2)
        c, s = mp.cos(angle), mp.sin(angle)
        return scale * (j * c + y * s), x * scale * (y * c - j * s)

    return (lambda u: parts(u)[0] if u > FEW else mp.mpf(1),
            lambda u: parts(u)[1] if u > FEW else mp.mpf(4 * order * order - 1) / 8)


def without(f, zero):
    """f(x) / (x - zero)."""
    return lambda x: f(x) / (x - zero) if abs(x - zero) > FEW else mp.diff(f, zero)


def bessel(order):
    """The polynomials of J and Y of an order: up to 4 in z = x ** 2, from there to 8 in x, then in u."""
    j, y = (lambda x: mp.besselj(order, x)), (lambda x: mp.bessely(order, x))
    zeros = [mp.besseljzero(order, k) for k in (1, 2)] + [mp.findroot(y, (7.086, 5.43)[order])]

    def first(z):  # J1(x) / x is 1 / 2 at 0
        x = mp.sqrt(z)
        value = j(x) / x ** order if z > FEW else mp.mpf(1) / (1 + order)
        return value / (z - zeros[0] ** 2)

    def second(z):
        x = mp.sqrt(max(z, FEW))
        rest = y(x) - 2 / mp.pi * mp.log(x) * j(x)
        return rest if order == 0 else (rest + 2 / (mp.pi * x)) / x

    near, far = hankel(order)
    per = " / x" if order else ""
    text = zero(f"j{order}_zero1", f"The first zero of J{order}.", zeros[0])
    text += zero(f"j{order}_zero2", f"The second zero of J{order}.", zeros[1])
    text += zero(f"y{order}_zero", f"The zero of Y{order} from 4 to 8.", zeros[2])
    text += function(f"j{order}_fit", f"J{order}(x){per} over x ** 2 - zero1 ** 2, t = x ** 2 / 8 - 1.",
                     fit(first, 0, 16))
    text += function(f"y{order}_fit", f"The regular part of Y{order}(x){per}, t = x ** 2 / 8 - 1.",
                     fit(second, 0, 16))
    text += function(f"j{order}_next", f"J{order}(x) / (x - zero2), t = x / 2 - 3.", fit(without(j, zeros[1]), 4, 8))
    text += function(f"y{order}_next", f"Y{order}(x) / (x - zero), t = x / 2 - 3.", fit(without(y, zeros[2]), 4, 8))
    text += function(f"p{order}_fit", f"P of order {order}, t = 128 / x ** 2 - 1.",
                     fit(near, 0, mp.mpf(1) / 64))
    return text + function(f"q{order}_fit", f"x Q of order {order}, t = 128 / x ** 2 - 1.",
                           fit(far, 0, mp.mpf(1) / 64))


def main():
    root = mp.findroot(mp.digamma, 1.46)
    slope = at_limit(lambda x: mp.digamma(x) / (x - root), mp.psi(1, root), root)
    bessel_i = lambda u: (mp.sqrt(2 * mp.pi / u) * mp.exp(-1 / u) * mp.besseli(0, 1 / u)
                          if u > mp.mpf(10) ** -6 else 1 + u / 8 + 9 * u ** 2 / 128 + 225 * u ** 3 / 3072)
    text = HEAD + function("gamma_fit", "gamma(x) from 2 to 3, t = 2 x - 5.", fit(mp.gamma, 2, 3))
    text += function("lgamma_fit1", "lgamma(x) / ((x - 1) (x - 2)) from 1 to 2, t = 2 x - 3.",
                     fit(gamma_by_roots, 1, 2))
    text += function("lgamma_fit2", "The same from 2 to 3, t = 2 x - 5.", fit(gamma_by_roots, 2, 3))
    text += zero("digamma_zero", "The positive zero of digamma.", root)
    text += function("digamma_fit", "digamma(x) / (x - zero) from 1 to 2, t = 2 x - 3.", fit(slope, 1, 2))
    text += function("i0_fit", "I0(x) sqrt(2 pi x) / e ** x from 8 on, t = 16 / x - 1.",
                     fit(bessel_i, 0, mp.mpf(1) / 8))
    text += function("i0_series", "I0(x), t = x ** 2 / 4 up to 16: the series of DLMF 10.25.2.",
                     [1 / mp.factorial(k) ** 2 for k in range(27)])
    text += function("i0_slope", "Its derivative.",
                     [(k + 1) / mp.factorial(k + 1) ** 2 for k in range(22)])
    text += bessel(0) + bessel(1) + "\n} /* ga */\n"
    with open(os.path.join(ROOT, "templates/lib/special_fits.tmpl"), "w") as file:
        file.write(text)


main()
