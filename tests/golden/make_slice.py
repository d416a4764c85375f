"""Writes slice.txt: what NumPy makes of slices, one per line.

SHAPE|TEXT|SHAPE|STRIDES|OFFSET  or  SHAPE|TEXT|error, of an int32 array in C order; strides and offset
in bytes.
"""
import os
import random

import numpy as np

random.seed(20260101)
FIXED = """1 -1 0 4 -5 5 7 -6 : :: 1: :3 1:3 ::2 ::-1 -3: :-1 1:-1 1:-1:2 4:0:-1 4::-1 :0:-1 -1:-6:-1
10:20 -10:20 20: :-20 3:1 ::0 1:2:0 ... ...,1 1,... ...,... None None,... newaxis,1 1,None
None,:,None :,: :,:,: :,:,:,: 0,0 0,0,0 0,0,0,0 1:,-1 ...,::-1 ::-1,... ::2,::3 -1,::-1,1:3
None:2 2:None None:None None:None:None ::None 1:None:2 9223372036854775807: :9223372036854775807
::9223372036854775807 ::-9223372036854775807 -9223372036854775808: 99999999999999999999:
:99999999999999999999 99999999999999999999 -99999999999999999999
abc 1: 1:2:3:4 ::: 1,,2 , 1, :, ..., 1;2 1] (1) .. .... 1.5 1e3 -- - +1 +1:-1 Nonex None1 1None
--1 0:0 0:0,: 3:3,None ...,None ...,None,... 2:1:-1,...,-1 :-1,:-1,:-1""".split()
SPACED = [" 1 : 2 ", "1 :, : 3", "- 1", "1 2", " ... , 1", "None , :", "1 :\t2", ": :", ". . .", "", " "]
SHAPES = [(), (5,), (3, 4), (2, 3, 5), (1,), (0,), (2, 0, 3), (4, 1, 2)]


def part():
    def number():
        return random.choice(["", "", str(random.randint(-7, 7)), str(random.randint(-3, 3))])
    kind = random.random()
    if kind < 0.25:
        return str(random.randint(-4, 3))
    if kind < 0.33:
        return "None"
    if kind < 0.43:
        return "..."
    if kind < 0.6:
        return number() + ":" + number()
    return number() + ":" + number() + ":" + random.choice(["", "1", "2", "3", "-1", "-2", "-3"])


def answer(shape, text):
    x = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    if any(c in text for c in "()[];") or "--" in text:
        return "error"  # more of Python than a slice has
    try:
        y = eval(f"x[{text}]", {"x": x, "newaxis": None, "None": None})
    except Exception:
        return "error"
    if not isinstance(y, np.ndarray):  # NumPy gives scalars where Quarry gives 0-d views
        y = eval(f"x[{text.strip().rstrip(',')},...]", {"x": x, "newaxis": None})
    offset = y.__array_interface__["data"][0] - x.__array_interface__["data"][0] if y.size else 0
    shown = [",".join(map(str, v)) for v in (y.shape, y.strides)]
    return "|".join(shown + [str(offset)])


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slice.txt")
    with open(path, "w") as out:
        for shape in SHAPES:
            texts = FIXED + SPACED
            texts = texts + [",".join(part() for _ in range(random.randint(1, 4))) for _ in range(120)]
            for text in texts:
                # a stride that overflows in NumPy wraps there
                out.write(f"{','.join(map(str, shape))}|{text}|{answer(shape, text)}\n")


main()
