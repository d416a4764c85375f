"""Writes npy/: small .npy files, good and bad, and npy/index.txt that says what each holds.

Lines of the index: "NAME same|other DTYPE SHAPE HEX" (shape "-" for 0-d; little-endian C order; `same`: numpy.save
writes these very bytes), or "NAME error TEXT" with a part of the message.
"""
import os
import struct

import numpy as np

from golden import SAMPLED, real_dtype

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npy")
rng = np.random.default_rng(20260101)
index = []


def write(name, content):
    with open(os.path.join(HERE, name + ".npy"), "wb") as out:
        out.write(content)


def good(name, same, dtype, x):
    x = np.asarray(x)
    little = np.array(x, order="C")
    if little.dtype.byteorder == ">":
        little = little.byteswap().view(little.dtype.newbyteorder("<"))
    shape = ",".join(map(str, x.shape)) if x.ndim else "-"
    index.append(f"{name} {same} {dtype} {shape} {little.tobytes().hex() or '-'}")


def saved(name, x):
    np.save(os.path.join(HERE, name + ".npy"), x)
    good(name, "same" if x.flags.c_contiguous and x.dtype.isnative else "other", x.dtype.name, x)


def raw(header, data=b"", version=(1, 0), magic=b"\x93NUMPY", length=None):
    header = header.encode("latin1")
    count = len(header) if length is None else length
    return magic + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", count) + header + data


def dictionary(descr="'<i4'", fortran="False", shape="(3,)"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def all_dtypes():
    for name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
                 "complex64 complex128").split():
        x = (rng.normal(size=(2, 3)) * 50).astype(name) if name[0] != "u" else np.arange(6).reshape(2, 3).astype(name)
        saved(name, x)
        if x.itemsize > 1:
            saved(name + "_big", x.astype(x.dtype.newbyteorder(">")))
        saved(name + "_fortran", np.asfortranarray(x))


def shapes():
    for name, shape in (("zero_d", ()), ("empty", (0,)), ("empty_3d", (2, 0, 3)), ("one", (1,)), ("long", (1000,)),
                        ("deep", (1,) * 32), ("five_d", (2, 1, 3, 1, 2))):
        saved(name, np.arange(int(np.prod(shape)), dtype=np.int16).reshape(shape))
    saved("fortran_3d", np.asfortranarray(np.arange(24, dtype=np.int32).reshape(2, 3, 4)))


def headers():
    data = np.array([1, -2, 3], "<i4")

    def other(name, content):
        write(name, content)
        good(name, "other", "int32", data)

    raw_data = data.tobytes()
    other("version2", raw(dictionary(), raw_data, (2, 0)))
    other("version3", raw(dictionary(), raw_data, (3, 0)))
    other("order", raw("{'shape':(3,),'fortran_order':False,'descr':'<i4'}", raw_data))
    other("blanks", raw("  {\n \"shape\" : ( 3 , ) ,\t'fortran_order'\n: True,'descr' :'<i4',\r\n}  \n\n", raw_data))
    other("python2", raw(dictionary(shape="(3L,)"), raw_data))
    other("native", raw(dictionary("'=i4'"), raw_data))
    bits = np.array([0x3f80, 0xc000, 0x7fc0], np.uint16)
    for name, descr in (("bfloat16", "'<V2'"), ("bfloat16_pipe", "'|V2'"), ("bfloat16_name", "'bfloat16'")):
        write(name, raw(dictionary(descr), bits.tobytes()))
        good(name, "other", "bfloat16", bits)
    for dtype, pipe in zip(SAMPLED, ("|V1", "|f1")):
        x = np.array([[1, -2, 448], [np.nan, 0.5, -0.0]]).astype(real_dtype(dtype))
        saved(dtype, x)
        saved(dtype + "_fortran", np.asfortranarray(x))
        for name, descr in (("_pipe", pipe), ("_name", dtype)):
            write(dtype + name, raw(dictionary(f"'{descr}'", shape="(2, 3)"), x.tobytes()))
            good(dtype + name, "other", dtype, x)
    write("bool_odd", raw(dictionary("'|b1'"), b"\0\2\xff"))
    good("bool_odd", "other", "bool", np.array([False, True, True]))


def structs():
    """A struct is its bytes: dtype V20; NumPy writes the bytes themselves as a void."""
    members = [("x", "<f4"), ("n", "<i2"), ("p", "u1", (2, 3)), ("q", [("a", "<f8"), ("s", "S3")])]
    for name, dtype in (("void", "V12"), ("void_large", "V40"), ("struct", members),
                        ("struct_aligned", np.dtype([("b", "i1"), ("x", "<f8")], align=True)),
                        ("struct_titled", [(("a title", "x"), "<f4"), ("y", "<f4", 2)])):
        dtype = np.dtype(dtype)
        x = rng.integers(0, 256, (2, 3, dtype.itemsize), np.uint8).view(dtype)[..., 0]
        np.save(os.path.join(HERE, name + ".npy"), x)
        same = "same" if dtype.names is None else "other"
        good(name, same, f"V{dtype.itemsize}", np.frombuffer(x.tobytes(), f"V{dtype.itemsize}").reshape(x.shape))


def bad():
    data = b"\0" * 12

    def add(name, text, content):
        write("bad_" + name, content)
        index.append(f"bad_{name} error {text}")

    add("nothing", "a file of 0 bytes is not a .npy file", b"")
    add("text", "a file of 5 bytes is not a .npy file", b"hello")
    add("magic", "not a .npy", raw(dictionary(), data, magic=b"\x93NUMPX"))
    add("version0", "version 0.0", raw(dictionary(), data, (0, 0)))
    add("version4", "version 4.0", raw(dictionary(), data, (4, 0)))
    add("minor", "version 1.1", raw(dictionary(), data, (1, 1)))
    add("header_length", "left in the file", raw(dictionary(), data, length=60000))
    add("header_huge", "left in the file", raw(dictionary(), data, (2, 0), length=0xfffffff0))
    add("short", "has 12 bytes, the file 11", raw(dictionary(), data[1:]))
    add("trailing", "has 12 bytes, the file 13", raw(dictionary(), data + b"\0"))
    add("object", "'|O'", raw(dictionary("'|O'"), data))
    add("string", "'<U4'", raw(dictionary("'<U4'"), data))
    add("datetime", "'<M8[ns]'", raw(dictionary("'<M8[ns]'"), data))
    add("long_double", "'<f16'", raw(dictionary("'<f16'"), data))
    add("structured_swapped", "'>i4' of a struct's member", raw(dictionary("[('a', '>i4')]"), data))
    add("structured_object", "'|O' of a struct's member", raw(dictionary("[('a', '|O')]"), data))
    add("structured_open", "')' expected", raw("{'descr': [('a', '<i4'", data, length=22))
    add("structured_empty", "0 bytes", raw(dictionary("[]"), data))
    add("structured_deep", "a shallower struct", raw(dictionary("[('a', " * 20 + "'<i4'" + ")]" * 20), data))
    add("structured_large", "more than 2147483647 bytes", raw(dictionary("[('a', '<i4', (99999, 99999))]"), data))
    add("void_large", "5000 bytes", raw(dictionary("'|V5000'"), data))
    add("unknown_key", "'more'", raw("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'more': 1}", data))
    add("twice", "'descr' twice", raw("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (3,)}", data))
    add("lacks_descr", "lacks 'descr'", raw("{'fortran_order': False, 'shape': (3,)}", data))
    add("lacks_order", "lacks 'fortran_order'", raw("{'descr': '<i4', 'shape': (3,)}", data))
    add("lacks_shape", "lacks 'shape'", raw("{'descr': '<i4', 'fortran_order': False}", data))
    add("empty_dict", "lacks 'descr'", raw("{}", data))
    add("no_dict", "'{' expected", raw("'descr'", data))
    add("no_header", "'{' expected", raw("", data))
    add("not_tuple", "tuple", raw(dictionary(shape="(3)"), data))
    add("list_shape", "'(' expected", raw(dictionary(shape="[3]"), data))
    add("negative", "a length", raw(dictionary(shape="(-3,)"), data))
    add("float_shape", "',' or ')'", raw(dictionary(shape="(3.0,)"), data))
    add("two_commas", "a length", raw(dictionary(shape="(3,,)"), data))
    add("length_overflow", "exceeds 2^63", raw(dictionary(shape="(9223372036854775808,)"), data))
    add("size_overflow", "2^63 bytes", raw(dictionary(shape="(4294967296, 4294967296)"), data))
    add("bytes_overflow", "2^63 bytes", raw(dictionary(shape="(4611686018427387904,)"), data))
    add("huge", "the file 12", raw(dictionary(shape="(1000000000000,)"), data))
    add("too_deep", "32 dimensions", raw(dictionary(shape="(" + "1, " * 33 + ")"), data[:4]))
    add("boolean", "True or False", raw(dictionary(fortran="0"), data))
    add("unclosed", "expected", raw("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), ", data))
    add("open_string", "the end of the string", raw("{'descr': '<i4", data, length=14))
    add("escape", "the end of the string", raw(dictionary("'<i\\x34'"), data))
    add("after", "the end", raw(dictionary().strip() + " x", data))
    add("no_colon", "':'", raw("{'descr' '<i4'}", data))
    add("no_comma", "','", raw("{'descr': '<i4' 'shape': (3,)}", data))
    add("nul", "the end", raw(dictionary().strip() + "\0", data))


def main():
    os.makedirs(HERE, exist_ok=True)
    all_dtypes(), shapes(), headers(), structs(), bad()
    with open(os.path.join(HERE, "index.txt"), "w") as out:
        out.write("\n".join(index) + "\n")


main()
