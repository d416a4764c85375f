"""Makes fits.txt: whether NumPy takes a Python integer beside an array of integers that cannot hold it.

For each function of two and three operands, each integer dtype and each place of the number, one line:
"FUNCTION DTYPE PLACE NUMBER ANSWER" with "overflows" (OverflowError) or the dtype of the result.
Functions that do not take the dtype have no line. Run with no arguments; the output stands beside this file.
"""

import re
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


# Quarry computes these exactly: exponents are int64, and a number of 64 bits is compared in them.
WIDER = {"ldexp", "logical_and", "logical_or", "logical_xor"}


def functions(table):
    text = (HERE.parent.parent / "include/quarry" / (table + ".def")).read_text()
    return re.findall(r"^GA_[A-Z]+\((\w+),", re.sub(r"/\*.*?\*/", "", text, flags=re.S), flags=re.M)


def answer(function, operands):
    try:
        return np.asarray(function(*operands)).dtype.name
    except OverflowError:
        return "overflows"
    except (TypeError, ValueError):
        return None


def lines():
    for table, inputs in (("binary", 2), ("ternary", 3)):
        for name in functions(table):
            function = getattr(np, name, None) if name not in WIDER else None
            for dtype in DTYPES if function else []:
                info = np.iinfo(dtype)
                for number in (int(info.min) - 1, int(info.max) + 1):
                    for place in range(inputs):
                        if not -2**63 <= number < 2**64 or (name == "where" and place == 0):
                            continue
                        operands = [np.ones(3, dtype) for _ in range(inputs)]
                        operands[place] = number
                        if name == "where":
                            operands[0] = np.ones(3, bool)
                        found = answer(function, operands)
                        if found:
                            yield "%s %s %d %d %s\n" % (name, dtype, place, number, found)


def main():
    path = HERE / "fits.txt"
    path.write_text("".join(lines()))
    print("%s: %d bytes" % (path, path.stat().st_size))


main()
