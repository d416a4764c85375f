"""Writes format.txt, arrays and the text that numpy.array2string() gives, and print.txt, 0-d arrays
and what print() gives.

Each entry: a line "DTYPE SHAPE HEX" (shape "3,4" or "-" for 0-d; little-endian C order), the text's lines
each after "|", and an empty line. bfloat16 is written as the float32 of the same value, floats of one byte as by
ml_dtypes.
"""
import os

import numpy as np

from golden import SAMPLED, real_dtype

rng = np.random.default_rng(20260101)
entries = []


def add(values, dtype=None):
    entries.append(np.array(values, dtype=dtype))


def specials():
    nan, inf = np.nan, np.inf
    return [[nan], [inf], [-inf], [nan, inf, -inf], [1.5, nan], [1.0, inf], [1.0, -inf], [-1.0, nan],
            [1e-10, nan, -inf], [0.0, -0.0], [0.0], [-0.0, 1.0], [nan, 0.001, 1234.5], [1e20, inf],
            [123456.0, nan, -inf, 0.5], [-1e-300, 1e300, nan], [5e-324, 1.7976931348623157e308]]


def reals():
    out = [[1, 2, 3], [1.5, 2, 3.25], [0.1, 0.2, 0.3], [1 / 3, 2 / 3], [100, 2.5, -3.125], [1e8], [99999999.0],
           [1e7, 1], [1e-4, 0.09], [9.9e-5, 0.01], [1e-5], [1e5, 1e2], [1e5, 1e1], [1000.0, 1.0], [1001.0, 1.0],
           [12345.678901234567], [1e16, 1.0], [np.pi * 1e5, np.e], [1e15, 1e14], [123456789.123],
           [0.30000000000000004, 1], [2.0 ** -44], [2.0 ** -k for k in range(1, 20, 3)],
           [2.0 ** k for k in range(-40, 40, 13)], [1e100, 1e-100], [1e100, 1], [33.333, 1e-4, 0.1],
           [999999.5, 1], [0.99999999999, 1], [9.999999999, 1], [0.5, 0.25, 0.125, 0.0625],
           [1.23456785, 1.23456775], [0.00010000000000000001], [1e23, 9.999999999999999e22],
           [9007199254740993.0], [4.35, 0.000123], [1.0000000001, 2]]
    out += [list(rng.normal(size=7) * 10.0 ** rng.integers(-6, 7)) for _ in range(12)]
    out += [list(rng.normal(size=5) * 10.0 ** rng.integers(-9, 9, size=5)) for _ in range(12)]
    return out


def arrays():
    for v in specials() + reals():
        for dtype in (np.float64, np.float32, np.float16):
            add(v, dtype)
    for k in range(-24, 16):
        add([2.0 ** k], np.float16)
    for k in range(-149, 128, 4):
        add([2.0 ** k, 2.0 ** k * 1.5], np.float32)
    for k in range(-1074, 1024, 31):
        add([2.0 ** k], np.float64)
    for v in specials() + reals()[:20]:
        z = np.array(v) + 1j * np.roll(np.array(v), 1)[::-1]
        z.real[0] = -abs(z.real[0])
        add(z, np.complex128)
        add(z, np.complex64)
    add(rng.normal(size=(4, 5)))
    add(rng.normal(size=(2, 3, 4)) * 1000, np.float32)
    add(rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4)))
    add(rng.normal(size=40))
    add(rng.normal(size=(2, 30)), np.float32)
    add(rng.normal(size=(2, 2, 2, 2, 2)))


def integers():
    add([True, False]), add([[True], [False]]), add([True] * 40)
    add([0]), add([-1, 10, 100]), add(np.arange(100)), add(np.arange(60).reshape(3, 20) - 7, np.int16)
    add([255, 0], np.uint8), add([2 ** 64 - 1, 0], np.uint64), add([-2 ** 63, 2 ** 63 - 1], np.int64)
    add([-128, 127], np.int8), add([65535], np.uint16), add([2 ** 32 - 1, 5], np.uint32)
    add(np.arange(24).reshape(2, 3, 4), np.int32), add(np.arange(16).reshape(1, 2, 1, 8), np.int64)
    add([[2 ** 62] * 5], np.int64), add([[[7]]], np.int32)


def empties():
    add(np.zeros((0,))), add(np.zeros((3, 0, 2))), add(np.zeros((0, 5), np.int8))


def large():
    add(np.arange(1000), np.int16), add(np.arange(1001), np.int16), add(np.arange(1200).reshape(2, 600), np.int16)
    add(np.arange(1200).reshape(30, 40), np.int32), add(np.arange(1100).reshape(11, 10, 10), np.uint16)
    add(np.linspace(0, 1, 1001), np.float32), add(np.arange(1029).reshape(7, 7, 7, 3), np.int16)
    add(np.arange(1200).reshape(6, 200), np.int16), add(np.arange(1200).reshape(200, 6), np.int16)
    add(np.arange(1001).reshape(1, 1001, 1), np.int16), add(np.arange(1001) % 3 == 0)
    add(np.arange(1200).reshape(300, 4) * (1 - 0.5j), np.complex64)
    add(np.arange(2000).reshape((1,) * 31 + (2000,)), np.int16), add(np.ones((1,) * 32, np.int8))
    add(np.where(np.arange(1100) == 500, 1e30, 0.5), np.float32)  # not among those shown


def bytes_of_floats():
    codes = np.arange(256, dtype=np.uint8)
    for dtype in map(real_dtype, SAMPLED):
        x = codes.view(dtype)
        entries.extend([x, x.reshape(4, 64), x[::5], x[:1], x[1:2], np.tile(x, 5), np.tile(x[60:68], (3, 200))])
        entries.extend(np.array(x[k]) for k in range(0, 256, 3))


def scalars():
    values = [0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, 1e3, 999.0, 1e4, 1e5, 999999.0, 1e6, 1e7, 1e8, 123456789.0, 1e15,
              9999999999999998.0, 1e16, 1e17, 1e-3, 1e-4, 9.9e-5, 1.00001e-4, 1e-5, 1e100, 1e-100, 5e-324, np.nan,
              np.inf, -np.inf, 2.0 ** -44, 65504.0, 1234567.0]
    for v in values:
        for dtype in (np.float64, np.float32, np.float16):
            add(v, dtype)
        for z in (complex(v, 2), complex(2, v), complex(0, v), complex(-0.0, v), complex(v, -1e20), complex(v, -0.0)):
            add(z, np.complex128)
            add(z, np.complex64)
    for v in (True, False):
        add(v)
    for dtype in "bhilBHIL":
        add(7, dtype)
    add(-2 ** 63), add(2 ** 64 - 1, np.uint64)


def write(out, name, x, text):
    shape = ",".join(map(str, x.shape)) if x.ndim else "-"
    out.write(f"{name} {shape} {x.tobytes().hex() or '-'}\n")
    out.write("".join("|" + line + "\n" for line in text.split("\n")) + "\n")


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with np.errstate(all="ignore"):
        arrays(), integers(), empties(), large(), scalars(), bytes_of_floats()
        with open(os.path.join(folder, "format.txt"), "w") as out:
            for x in entries:
                write(out, x.dtype.name, x, np.array2string(x))
            for v in reals()[:12] + specials()[:6]:
                bits = np.array(v, np.float32).view(np.uint32) >> 16
                write(out, "bfloat16", bits.astype(np.uint16), str((bits << 16).astype(np.uint32).view(np.float32)))
        with open(os.path.join(folder, "print.txt"), "w") as out:
            for x in entries:
                if x.ndim == 0:
                    write(out, x.dtype.name, x, str(x))


main()
