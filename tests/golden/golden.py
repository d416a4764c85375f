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


DTYPES = [row[1] for row in rows("dtype")]
KINDS = {row[1]: row[2].strip("'") for row in rows("dtype")}
KINDS["bool"] = "?"


def code(dtype):
    return DTYPES.index(dtype) + 1


def numpy_dtype(dtype):
    """The NumPy dtype that computes for ours: bfloat16 values are held as float32."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def to_bfloat16_bits(values):
    """float values to bfloat16 bits with one rounding, to nearest even; any NaN gives 0x7fc0."""
    wide = np.asarray(values, dtype=np.longdouble)
    near = wide.astype(np.float32)
    back = near.astype(np.longdouble)
    bits = near.view(np.uint32).astype(np.int64)
    with np.errstate(all="ignore"):
        # A value between two float32s must not look like a tie of bfloat16.
        inexact = (back != wide) & np.isfinite(wide) & np.isfinite(near)
        away = inexact & (np.abs(back) < np.abs(wide))
        toward = inexact & (np.abs(back) > np.abs(wide))
    tie = (bits & 0xFFFF) == 0x8000
    bits = bits + np.where(tie & away, 1, 0) - np.where(tie & toward, 1, 0)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(wide), 0x7FC0, rounded).astype(np.uint16)


def from_bfloat16_bits(bits):
    return (np.asarray(bits, dtype=np.uint32) << 16).view(np.float32)


class Array:
    """An array of one of our dtypes; .v holds its values in numpy_dtype(.dtype)."""

    def __init__(self, dtype, values):
        self.dtype = dtype
        with np.errstate(all="ignore"):
            if dtype == "bfloat16":
                values = np.asarray(values)
                self.v = from_bfloat16_bits(to_bfloat16_bits(values)).reshape(values.shape)
            else:
                self.v = np.asarray(values).astype(numpy_dtype(dtype))

    def bytes(self):
        v = to_bfloat16_bits(self.v) if self.dtype == "bfloat16" else self.v
        return np.ascontiguousarray(v).tobytes()


def promote(a, b):
    """ga_result_type: NumPy's, and bfloat16 by the rule in dtype.h."""
    if a == b:
        return a
    if "bfloat16" not in (a, b):
        return np.result_type(numpy_dtype(a), numpy_dtype(b)).name
    other = b if a == "bfloat16" else a
    if other in ("bool", "int8", "uint8"):
        return "bfloat16"
    if other in ("int16", "uint16", "float16", "float32"):
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
