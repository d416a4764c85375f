"""Makes text.txt: what NumPy's loadtxt() and savetxt() do with texts and arrays.

Each line is a call, words between spaces; texts are in hexadecimal, "-" is none:
    load DTYPE DELIMITER COMMENTS SKIPROWS MAX_ROWS USECOLS NDMIN UNPACK QUOTE TEXT SHAPE BYTES
    save DTYPE FMT DELIMITER NEWLINE HEADER FOOTER COMMENTS SHAPE BYTES TEXT
USECOLS and SHAPE are numbers between commas, a 0-d shape is "()". SHAPE or the last TEXT is "error" where NumPy raises.
Run with no arguments from anywhere; the output stands beside this file.
"""

import io
import warnings

import numpy as np

from golden import ROOT

warnings.simplefilter("ignore")
lines = []


def coded(text):
    return "-" if text is None else text.encode().hex() or "00"


def shape_text(shape):
    return ",".join(map(str, shape)) or "()"


def load(text, dtype="float64", delimiter=None, comments="#", skiprows=0, max_rows=None, usecols=None, ndmin=0,
         unpack=False, quote=None):
    try:
        x = np.loadtxt(io.StringIO(text), dtype, comments, delimiter, None, skiprows, usecols, unpack, ndmin,
                       max_rows=max_rows, quotechar=quote)
        result = [shape_text(x.shape), np.ascontiguousarray(x).tobytes().hex() or "-"]
    except (ValueError, TypeError, IndexError):
        result = ["error", "-"]
    lines.append(["load", dtype, coded(delimiter), coded(comments), str(skiprows), str(max_rows or 0),
                  ",".join(map(str, usecols)) if usecols else "-", str(ndmin), str(int(unpack)), coded(quote),
                  coded(text), *result])


def save(x, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# "):
    file = io.StringIO(newline="")
    try:
        np.savetxt(file, x, fmt, delimiter, newline, header, footer, comments)
        result = coded(file.getvalue())
    except (ValueError, TypeError, OverflowError):
        result = "error"
    lines.append(["save", x.dtype.name, coded(fmt), coded(delimiter), coded(newline), coded(header or None),
                  coded(footer or None), coded(comments), shape_text(x.shape),
                  np.ascontiguousarray(x).tobytes().hex() or "-", result])


def loads():
    for ndmin in (0, 1, 2):
        for unpack in (False, True):
            for text in ("", "#\n\n", "1", "1 2", "1\n2\n", "1 2 3\n4 5 6"):
                load(text, ndmin=ndmin, unpack=unpack)
    for text in ("1,2,\n", "1,,2\n", " 1 , 2 \n\n#x\n3,4#c\n", "1,2\n3\n", "1,x\n", "1 2,3\n", "1,2\r\n3,4\r\n",
                 ",\n", "1,2#,3\n", "#1,2\n3,4", "# 1\n 5,\t6\n", "-0,+.5\n1.,1e5"):
        load(text, delimiter=",")
    for text in ("inf nan -INF +1 1e3", "0x10", "1_000", "5L", "1e400 -1e-400", "1e", "1e+5 1E-5", ".", "-", "++1",
                 "- 1", "infinity -nan", "nan(1)", "1\t2 3", "  7  ",
                 "0.1 1e22 123456789012345678901234567890", "1d5", "1f"):
        for dtype in ("float64", "float32") + (("float16",) if "_" not in text else ()):  # Python reads that one
            load(text, dtype)
    for text in ("0 1 -1", "127 -128", "128", "300", "-129", "255", "9223372036854775807", "9223372036854775808",
                 "18446744073709551615", "18446744073709551616", "1.5", "1e3", "+7 -0", "7x", "0x7", "--7", "1_0"):
        for dtype in ("int8", "uint8", "int64", "uint64", "bool"):
            load(text, dtype)
    for text in ("(1+2j) 3-4j 5 2j", "j", "1 j", "(1+2j", "1+2j)", "(1)", "(2j)", "1e3+1e-3j inf-nanj", "1+2", "1+-2j",
                 "()", "1+2j3", "-1-1j +1+1j", "( 1+2j)"):
        for dtype in ("complex128", "complex64"):
            load(text, dtype)
    for columns in ((0,), (-1,), (2, 0), (1, 1), (0, -1), (3,), (-4,)):
        load("1 2 3\n4 5 6\n", usecols=columns)
        load("1 2 3\n4 5\n", usecols=columns)
        load("Smith, 3, x\nBrown, 4\n", delimiter=",", usecols=columns)
    for skip in range(5):
        for rows in (None, 1, 2, 9):
            load("# first\na b\n1 2\n\n3 4\n5 6", skiprows=skip, max_rows=rows)
    for comments in (None, "%", "//", "# ", "1"):
        load("2 3 // no\n% 4\n4 5 %\n", comments=comments)
        load("2 3//\n4 5", comments=comments)
    for text in ('"1","2"\n', '"a,b",2\n"c""d",4\n', '"1" ,2\n', '1,"2#3"', '"1', '1"2"\n', "'1','2'"):
        load(text, delimiter=",", quote='"')
        load(text, delimiter=",", quote='"', usecols=(1,))
    load('"a b" 2\n"c" 3', quote='"', usecols=(1,))
    load("1;2;3", delimiter=";")
    load("1\t\t2", delimiter="\t", usecols=(0, 2))
    load("1 2", delimiter=" ")


def saves():
    reals = np.array([[1.5, -2], [3, 1e-300]])
    special = np.array([[np.nan, -np.nan], [np.inf, -np.inf]])
    for dtype in ("float64", "float32", "float16"):
        for x in (reals, special, reals[0], reals[:1], np.zeros((0, 2)), np.zeros((2, 0)),
                  np.array([0.1, 2 / 3, 1e22])):
            for fmt in ("%.18e", "%g", "%.3f", "%10.2E|", "<%+8.3g>", "%-9.1f.", "% g", "%010.2f", "%#.0f"):
                if np.isfinite(x.astype(dtype)).all() or "%0" not in fmt:  # C pads nan with spaces
                    save(x.astype(dtype), fmt)
    for x in (reals[:, :1].astype(np.float32), np.array([[2.9, -2.9], [1e15, -0.5]])):
        for fmt in ("%d", "%5i", "%+d", "%-6d|", "%06d", "%x"):
            save(x, fmt)
    for dtype in ("int8", "int64", "uint8", "uint64", "bool"):
        x = np.array([[1, 0], [100, 7]]).astype(dtype)
        for fmt in ("%.18e", "%d", "%4d", "%04d", "%+d", "%x", "%X", "%o", "%5x|", "%g", "%.3d"):
            if dtype != "bool" or fmt[-1] not in "xX|o":  # which NumPy's truths do not take
                save(x, fmt)
                save(x, fmt + "," + fmt, delimiter="?")
    save(np.array([np.iinfo(np.uint64).max, 0], np.uint64), "%d")
    save(np.array([np.iinfo(np.int64).min, -1]), "%d")
    save(np.array([-255, 255, -1], np.int16), "%x")
    save(np.array([-8, 255]), "%7o|")
    for x in (reals + 1j, reals - 1j, reals[0] - 0.25j, (special * 1j).astype(np.complex64)):
        for fmt in ("%.18e", "%.1f", "%g"):
            save(x, fmt)
    save(reals + 1j, "%.1f %.1f;%g %g", delimiter=",")
    save(reals + 1j, "%.1f %.1f")
    for delimiter in (",", "", " ; "):
        for newline in ("\n", "\r\n", ""):
            save(reals, "%g", delimiter, newline, "a\nb", "end", "// ")
    save(reals, "%g", header="x y")
    save(reals, "%g", footer="end", comments="")
    for fmt in ("%d%d%d", "hi", "%", "%%", "%q", "%g%", "%g %g", "%g,%d", "x%gy%dz"):
        save(reals[:, ::-1][:1], fmt)
    for x in (np.float64(3), np.zeros((2, 2, 2))):
        save(np.asarray(x))


loads()
saves()
(ROOT / "tests/golden/text.txt").write_text("".join(" ".join(line) + "\n" for line in lines))
