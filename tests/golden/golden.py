"""What the golden generators share: Quarry's dtypes and tables, test values, the file format.

A file is "QGOLD1\\n\\0", then u32 counts of blobs and cases, then both. A blob is one array: u8
dtype, u8 ndim, u16 0, i64 shape[], the elements in C order. A case is one call with its answers:
  u8 length, name; u8 nargs, nouts; u8 flags, dtype option; i32 ddof;
  i8 naxes (-1: not given), i8 axes[]; f32 tolerance;
  per argument u32 blob, or 0xffffffff, u8 dtype and 16 bytes of a C number; u32 outs[].
All numbers are little-endian. dtypes are the numbers of ga_dtype.
"""

import re
import struct
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
ERROR, LOOSE_ZERO, NORMWISE, LOOSE_INF, KEEPDIMS, BOUNDED = 1, 2, 4, 8, 16, 32


def rows(table):
    """The rows of include/quarry/TABLE.def as lists of their arguments, in order."""
    text = (ROOT / "include/quarry" / (table + ".def")).read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for row in re.findall(r"^GA_[A-Z]+\((.*?)\)$", text, flags=re.S | re.M):
        yield [
            part.strip().strip('"')
            for part in re.findall(r'"(?:[^"\\]|\\.)*"|[^,"]+', row)
            if part.strip()
        ]


TABLE = {row[1]: row for row in rows("dtype")}
DTYPES = list(TABLE)
KINDS = {name: row[2].strip("'") for name, row in TABLE.items()}
KINDS["bool"] = "?"
# The floats that NumPy lacks (ml_dtypes has them): the bits of the fraction, the bias of the exponent, and the first
# code that is no finite number.
SMALL = {
    name: tuple(int(n, 0) for n in row[-3:])
    for name, row in TABLE.items()
    if len(row) > 12 and name != "float16"
}


# Of floats of one byte the goldens hold samples: they differ in a conversion only, and kernels take time to compile.
BYTES = {name: int(row[3]) for name, row in TABLE.items()}
SAMPLED = [name for name in SMALL if BYTES[name] == 1]


def is_sample(dtype, k):
    """Whether case number k of a list is for the dtype: those of SAMPLED take turns."""
    return dtype not in SAMPLED or SAMPLED.index(dtype) == k % len(SAMPLED)


def code(dtype):
    return DTYPES.index(dtype) + 1


def real_dtype(dtype):
    """The dtype itself in NumPy, or in ml_dtypes."""
    if dtype not in SMALL:
        return np.dtype(dtype)
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, dtype))


def numpy_dtype(dtype):
    """The NumPy dtype that computes for ours: values of SMALL are held as float32."""
    return np.dtype("float32" if dtype in SMALL else dtype)


def small_values(dtype):
    """The value of each positive code of a dtype of SMALL up to the first that is none, and that as if it were one."""
    fraction, bias, top = SMALL[dtype]
    codes = np.arange(top + 1)
    field, rest = codes >> fraction, codes & ((1 << fraction) - 1)
    significand = np.where(field > 0, rest + (1 << fraction), rest).astype(np.longdouble)
    return np.ldexp(significand, np.maximum(field, 1) - bias - fraction)


def limits(dtype):
    """The largest number of a dtype of SMALL, the smallest subnormal, the smallest normal one."""
    fraction, bias, _ = SMALL[dtype]
    known = small_values(dtype).astype(float)
    return float(known[-2]), float(known[1]), 2.0 ** (1 - bias)


def epsilon(dtype):
    return 2.0 ** -SMALL[dtype][0]


def to_bits(dtype, values):
    """Numbers to the bits of a dtype of SMALL with one rounding, to nearest even; any NaN gives the positive one."""
    fraction, _, top = SMALL[dtype]
    wide = np.asarray(values, dtype=np.longdouble)
    known = small_values(dtype)
    middle = (known[1:] + known[:-1]) / 2
    below = np.searchsorted(middle, np.abs(wide), "left")
    tie = below != np.searchsorted(middle, np.abs(wide), "right")
    word = f"u{real_dtype(dtype).itemsize}"
    sign = np.signbit(wide).astype(np.int64) << (8 * np.dtype(word).itemsize - 1)
    bits = sign | (below + (tie & (below & 1 == 1)))
    return np.where(np.isnan(wide), top | 1 << (fraction - 1), bits).astype(word)


def from_bits(dtype, bits):
    fraction, _, top = SMALL[dtype]
    bits = np.asarray(bits)
    sign = 8 * bits.dtype.itemsize - 1
    magnitude = bits & ((1 << sign) - 1)
    values = np.append(small_values(dtype)[:top], [np.inf if top & 1 == 0 else np.nan])
    values = values[np.minimum(magnitude, top)].astype(np.float32)
    values = np.where(magnitude > top, np.float32(np.nan), values)
    return np.where(bits >> sign, -values, values)


class Array:
    """An array of one of our dtypes; .v holds its values in numpy_dtype(.dtype)."""

    def __init__(self, dtype, values):
        self.dtype = dtype
        with np.errstate(all="ignore"):
            if dtype in SMALL:
                values = np.asarray(values)
                self.v = from_bits(dtype, to_bits(dtype, values)).reshape(values.shape)
            else:
                self.v = np.asarray(values).astype(numpy_dtype(dtype))

    def bytes(self):
        v = to_bits(self.dtype, self.v) if self.dtype in SMALL else self.v
        return np.ascontiguousarray(v).tobytes()


def promote(a, b):
    """ga_result_type: NumPy's, and floats that it lacks by the rule in dtype.h."""
    if a == b:
        return a
    if a not in SMALL and b not in SMALL:
        return np.result_type(numpy_dtype(a), numpy_dtype(b)).name
    other = b if a in SMALL else a
    if other in ("bool", "int8", "uint8"):
        return a if a in SMALL else b
    if other in ("int16", "uint16", "float16", "float32", *SMALL):
        return "float32"
    return other if KINDS[other] == "c" else "float64"


class File:
    """Collects blobs, each once, and cases."""

    def __init__(self):
        self.blobs, self.index, self.cases = [], {}, []

    def blob(self, array):
        shape = array.v.shape
        data = struct.pack("<BBH%dq" % len(shape), code(array.dtype), len(shape), 0, *shape)
        data += array.bytes()
        if data not in self.index:
            self.index[data] = len(self.blobs)
            self.blobs.append(data)
        return self.index[data]

    def argument(self, arg):
        if isinstance(arg, Array):
            return struct.pack("<I", self.blob(arg))
        return struct.pack("<I", 0xFFFFFFFF) + number(arg)

    def case(self, name, args, outs, tolerance=0.0, flags=0, dtype=None, ddof=0, axes=None):
        axes_text = struct.pack("<b", -1 if axes is None else len(axes))
        axes_text += bytes(a & 0xFF for a in axes or ())
        text = struct.pack("<B", len(name)) + name.encode()
        text += struct.pack(
            "<BBBBi", len(args), len(outs), flags, code(dtype) if dtype else 0, ddof
        )
        text += axes_text + struct.pack("<f", tolerance)
        text += b"".join(self.argument(a) for a in args)
        text += b"".join(struct.pack("<I", self.blob(o)) for o in outs)
        self.cases.append(text)

    def write(self, path):
        head = b"QGOLD1\n\0" + struct.pack("<II", len(self.blobs), len(self.cases))
        data = head + b"".join(self.blobs) + b"".join(self.cases)
        Path(path).write_bytes(data)
        print(
            "%s: %d blobs, %d cases, %d bytes" % (path, len(self.blobs), len(self.cases), len(data))
        )


def number(value):
    """A C number as u8 dtype and 16 bytes of the union of ga_value."""
    if isinstance(value, bool):
        return struct.pack("<Bqq", code("bool"), value, 0)
    if isinstance(value, int):
        if value >= 1 << 63:
            return struct.pack("<BQq", code("uint64"), value, 0)
        return struct.pack("<Bqq", code("int32" if abs(value) < 1 << 31 else "int64"), value, 0)
    if isinstance(value, float):
        return struct.pack("<Bdd", code("float64"), value, 0.0)
    return struct.pack("<Bdd", code("complex128"), value.real, value.imag)
