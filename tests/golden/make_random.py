"""Makes random.bin: elements of the generators by another implementation, in Python.

Each case has the array [seed, position] and up to two numbers for arguments, and the elements from
that position on for an answer. Integers, bytes, permutations and multiples of powers of two are
exact; functions of them are computed by mpmath, with the largest error allowed beside each. The
known answers of Random123 (kat_vectors) are checked first. Run with no arguments from anywhere; the
output stands beside this file.
"""

import bisect
import functools
from fractions import Fraction

import mpmath
import numpy as np

from golden import BOUNDED, ROOT, Array, File

mpmath.mp.dps = 40
COLUMN = 128
MASK = 0xFFFFFFFF
FOR_32_BITS, FOR_64_BITS, FOR_ONE, FOR_CALL = range(4)


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b & MASK, a >> 32 ^ c[3] ^ k[1], a & MASK]
        k = [k[0] + 0x9E3779B9 & MASK, k[1] + 0xBB67AE85 & MASK]
    return c


KNOWN = (  # philox4x32 10 of kat_vectors, https://github.com/DEShawResearch/random123
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((MASK,) * 4, (MASK,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
for counter, key, answer in KNOWN:
    assert tuple(philox(counter, key)) == answer


def words(seed, block, purpose, attempt=0):
    counter = block >> 34, block >> 2 & MASK, attempt, (block & 3) << 2 | purpose
    return philox(counter, (seed & MASK, seed >> 32))


def block(position, rows):
    """The counter that an element belongs to, and which of its numbers the element is."""
    tile, within = divmod(position, COLUMN * rows)
    return tile * COLUMN + within % COLUMN, within // COLUMN


def word(seed, position):
    counter, row = block(position, 4)
    return words(seed, counter, FOR_32_BITS)[row]


def pair(seed, position):
    """The two words of a number of 64 bits."""
    counter, row = block(position, 2)
    return words(seed, counter, FOR_64_BITS)[2 * row : 2 * row + 2]


def high_first(w):
    return w[0] << 32 | w[1]


def low_first(w):
    return w[1] << 32 | w[0]


def unit_of(w):
    return ((w[0] >> 5) << 26 | w[1] >> 6) * 2.0**-53


def unit(seed, position, dtype):
    if dtype == "float64":
        return unit_of(pair(seed, position))
    return (word(seed, position) >> 8) * 2.0**-24


def uniform(seed, position, dtype, low, high):
    """Rounded once from the exact number: a double holds it all for 24 bits of z."""
    real = low + (Fraction(high) - Fraction(low)) * Fraction(unit(seed, position, dtype))
    return float(real)


# ---- Functions of the words ----


def above_zero(w, dtype):
    """The argument of the logarithm, over 2^32 or 2^64: rounded as the distributions specify."""
    if dtype == "float64":
        return mpmath.mpf(float(w[0] << 32) + (w[1] + 0.5)) / 2**64
    return mpmath.mpf(float(np.float32(np.float32(w) + np.float32(0.5)))) / 2**32


def small(dtype):
    """A few units in the last place of 1."""
    return 5e-7 if dtype == "float32" else 2e-15


def exponential(seed, position, dtype, scale):
    w = pair(seed, position) if dtype == "float64" else word(seed, position)
    exact = -mpmath.log(above_zero(w, dtype))
    return scale * exact, scale * small(dtype) * (1 + abs(exact))


def fraction(w):
    """The 23 low bits as a number in (0, 1)."""
    return mpmath.mpf((w & (1 << 23) - 1) * 2 + 1) / 2**24


def normal_numbers(seed, position, dtype):
    """The exponential number, the angle in [-1/2, 1/2) half turns, the sign, and the index in the pair."""
    if dtype == "float64":
        counter, row = block(position, 2)
        w = words(seed, counter, FOR_64_BITS)
        turn = high_first(w[2:])
        angle = Fraction(turn & (1 << 52) - 1, 1 << 52) - Fraction(1, 2)
        return -mpmath.log(above_zero(w[:2], dtype)), angle, turn >> 63, row
    counter, row = block(position, 4)
    w = words(seed, counter, FOR_32_BITS)
    product = mpmath.mpf(float(np.float32(fraction(w[0])) * np.float32(fraction(w[1]))))
    split = fraction(w[2] >> 24 << 16 | w[0] >> 24 << 8 | w[1] >> 24)
    turn = w[2 + row // 2]
    angle = Fraction(turn & (1 << 23) - 1, 1 << 23) - Fraction(1, 2)
    share = 1 - split if row >= 2 else split
    return -mpmath.log(product) * share, angle, turn >> 31, row & 1


def normal(seed, position, dtype, loc, scale):
    exact, angle, sign, second = normal_numbers(seed, position, dtype)
    radius = mpmath.sqrt(2 * exact)
    turn = mpmath.pi * mpmath.mpf(angle.numerator) / angle.denominator
    z = (-1) ** sign * radius * (mpmath.sin(turn) if second else mpmath.cos(turn))
    # The logarithm's error, through the root; the rest is relative to the radius.
    error = small(dtype) * (radius + 1 / max(radius, mpmath.sqrt(small(dtype))))
    return loc + scale * z, scale * error + small(dtype) * abs(loc)


def lognormal(seed, position, dtype, mean, sigma):
    power, error = normal(seed, position, dtype, mean, sigma)
    result = mpmath.exp(power)
    return result, result * (error + small(dtype) * (1 + abs(power)))


# ---- Integers ----


def integers(seed, position, low, high):
    """D. Lemire's method, with as many words as it takes."""
    count = high - low + 1
    size = 32 if count <= 1 << 32 else 64
    z = word(seed, position) if size == 32 else high_first(pair(seed, position))
    refused = (1 << size) % count
    attempt, more = 0, []
    while (z * count) % (1 << size) < refused:
        if not more:
            attempt += 1
            more = words(seed, position, FOR_ONE, attempt)
        z = more.pop(0) if size == 32 else high_first([more.pop(0), more.pop(0)])
    return low + (z * count >> size)


def counted(seed, position, sums):
    """By inversion: the first count at which the sum of the chances exceeds a word of 64 bits as a fraction."""
    return bisect.bisect_right(sums, mpmath.mpf(high_first(pair(seed, position))) / (1 << 64))


@functools.lru_cache(None)
def poisson_sums(mean):
    """Of the chances of 0, of 0 and 1, and so on."""
    chance = total = mpmath.exp(-mpmath.mpf(mean))
    sums = [total]
    while len(sums) < mean or chance > 1e-30:
        chance *= mpmath.mpf(mean) / len(sums)
        total += chance
        sums.append(total)
    return sums


def poisson(seed, position, mean):
    """Of a number as its mean."""
    if mean > 4096:
        return poisson_each(seed, position, mean)
    return counted(seed, position, poisson_sums(mean))


def poisson_each(seed, position, mean):
    """Of an array with its mean."""
    if mean < 10:
        u = Fraction(unit_of(pair(seed, position)))
        k, p = 0, mpmath.exp(-mpmath.mpf(mean))
        total = p
        while mpmath.mpf(u.numerator) / u.denominator >= total:
            k += 1
            p *= mpmath.mpf(mean) / k
            total += p
        return k
    b = 0.931 + 2.53 * mean**0.5
    a, v_r = 0.02483 * b - 0.059, 0.9277 - 3.6224 / (b - 2)
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    attempt = 0
    while True:
        w = words(seed, position, FOR_ONE, attempt)
        u, v = unit_of(w[:2]) - 0.5, unit_of(w[2:])
        us = 0.5 - abs(u)
        k = int(np.floor((2 * a / us + b) * u + mean + 0.43))
        if us >= 0.07 and v <= v_r:
            return k
        attempt += 1
        if k < 0 or v == 0 or (us < 0.013 and v > us):
            continue
        density = mpmath.log(v * inverse_alpha / (a / (us * us) + b))
        if density <= k * mpmath.log(mean) - mean - mpmath.loggamma(k + 1):
            return k


# ---- Permutations ----


def mixed(x):
    x = (x ^ x >> 16) * 0x7FEB352D & MASK
    x = (x ^ x >> 15) * 0x846CA68B & MASK
    return x ^ x >> 16


def permutation(seed, position, count):
    keys = words(seed, position, FOR_CALL)
    bits = max(8, (count - 1).bit_length())
    left, right = bits // 2, bits - bits // 2
    result = []
    for place in range(count):
        while True:
            l, r = place >> right, place & (1 << right) - 1
            for pairs in range(6):
                shift = pairs * 2 * 0x9E3779B9
                l ^= mixed(r ^ (keys[pairs * 2 % 4] + shift & MASK)) & (1 << left) - 1
                r ^= mixed(l ^ (keys[pairs * 2 % 4 + 1] + shift & MASK)) & (1 << right) - 1
            place = l << right | r
            if place < count:
                break
        result.append(place)
    return result


# ---- The file ----

SEED = 0x0123456789ABCDEF
PLACES = (
    (SEED, 0, 600),
    (SEED, (1 << 33) + 77, 150),
    (SEED ^ 1 << 63, 4095, 40),
    (0, 1 << 61, 40),
    (SEED, (1 << 36) - 70, 150),  # the counter's first word changes within
)
# Blocks of seed 2026 whose number in this row is a normal one past 6 deviations, found by trying
# all: one in 5 * 10^8 is.
TAILS = {
    "float32": ((78176929, 0), (89732241, 3), (383896396, 2), (546714163, 1), (951965452, 1)),
    "float64": ((86986194, 0), (137124241, 1), (777742564, 1), (1630559941, 0)),
}


def state(seed, position):
    return Array("uint64", np.array([seed, position], dtype=np.uint64))


def exact(file, name, dtype, place, arguments, element):
    seed, position, count = place
    numbers = [element(seed, position + i) for i in range(count)]
    file.case(name, [state(seed, position), *arguments], [Array(dtype, np.array(numbers, dtype))])


def bounded(file, name, dtype, place, arguments, element):
    seed, position, count = place
    pairs = [element(seed, position + i, dtype) for i in range(count)]
    numbers = Array(dtype, np.array([float(n) for n, _ in pairs], dtype))
    errors = Array("float64", np.array([float(e) for _, e in pairs]))
    file.case(name, [state(seed, position), *arguments], [numbers, errors], flags=BOUNDED)


def reals(file, dtype, place):
    exact(file, "random", dtype, place, (), lambda s, p: unit(s, p, dtype))
    for low, high in ((0.0, 3.0), (-1.0, 1.0), (2.5, 2.625)):
        exact(file, "uniform", dtype, place, (low, high),
              lambda s, p, low=low, high=high: uniform(s, p, dtype, low, high))
    bounded(file, "standard_normal", dtype, place, (), lambda *at: normal(*at, 0, 1))
    bounded(file, "normal", dtype, place, (3.0, 0.5), lambda *at: normal(*at, 3, 0.5))
    bounded(file, "lognormal", dtype, place, (0.5, 2.0), lambda *at: lognormal(*at, 0.5, 2))
    bounded(file, "exponential", dtype, place, (2.0,), lambda *at: exponential(*at, 2))


RANGES = {
    "uint32": ((0, MASK), (0, 999), (5, (1 << 31) + 5)),
    "int8": ((-128, 127), (-1, 1)),
    "bool": ((0, 1),),
    "int64": ((-(1 << 63), (1 << 63) - 1), (-(10**12), 10**12), (0, 1 << 62), (-3, (1 << 32) - 4)),
    "uint64": ((0, (1 << 64) - 1), (1 << 63, (1 << 64) - 2), (7, 7)),
}


def whole_numbers(file, place):
    for dtype, ranges in RANGES.items():
        for low, high in ranges:
            exact(file, "integers", dtype, place, (low, high),
                  lambda s, p, low=low, high=high: integers(s, p, low, high))
    for mean in (0.0, 0.3, 4.0, 9.99, 10.0, 33.5, 1234.5, 4096.0, 4096.5, 1e9):
        for name, element in (("poisson", poisson), ("poisson_each", poisson_each)):
            exact(file, name, "int64", place, (mean,),
                  lambda s, p, mean=mean, element=element: element(s, p, mean))


def permutations(file):
    for count in (1, 2, 3, 10, 255, 257, 1000):
        for seed, position, _ in PLACES:
            file.case("permutation", [state(seed, position)],
                      [Array("int64", np.array(permutation(seed, position, count)))])


def main():
    file = File()
    for place in PLACES:
        reals(file, "float32", place)
        reals(file, "float64", place)
        whole_numbers(file, place)
    for dtype, blocks in TAILS.items():
        for counter, row in blocks:
            tile, column = divmod(counter, COLUMN)
            rows = 2 if dtype == "float64" else 4
            place = 2026, (tile * rows + row) * COLUMN + column, 1
            assert abs(normal(*place[:2], dtype, 0, 1)[0]) > 6
            bounded(file, "standard_normal", dtype, place, (), lambda *at: normal(*at, 0, 1))
            bounded(file, "exponential", dtype, place, (1.0,), lambda *at: exponential(*at, 1))
    permutations(file)
    file.write(ROOT / "tests/golden/random.bin")


if __name__ == "__main__":
    main()
