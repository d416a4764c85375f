#!/usr/bin/env python3
"""Runs the surface program and compares each result with the NumPy expression beside it.

surface.py [--without-sites] PROGRAM: the option holds that the program, which is compiled with
NDEBUG, does not refer to the place of a call; other programs do.
"""
import math
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np

from results import changed, finish

warnings.simplefilter("ignore")


def arrays():
    """What make() in program.c makes."""
    x = ((np.arange(12.0) - 5) / 2).reshape(3, 4)
    return {
        "np": np, "math": math, "x": x, "y": np.sin(np.arange(1, 13.0)).reshape(3, 4),
        "z": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        "m": (np.arange(20, dtype=np.int32) * 7 % 11).reshape(4, 5),
        "k": (np.arange(12) * 5 % 7).reshape(3, 4), "s": np.sqrt(np.arange(9.0)),
        "idx": np.arange(5) * 2 % 3, "mask": x > 0.5,
        "i8": np.array([-5, 0, 100], np.int8), "u8": np.array([0, 5, 200], np.uint8),
        "i64": np.array([-1, 2, 400]), "u64": np.array([0, 5, 200], np.uint64), "far": np.full(3, 200),
        "row": x[1], "p": np.abs(x) + 0.25,
        "each": lambda f, a: np.vectorize(f)(a),
        "set_": changed(lambda a, i, v: a.__setitem__(i, v)),
        "add_": changed(np.add.at), "multiply_": changed(np.multiply.at),
        "minimum_": changed(np.minimum.at), "maximum_": changed(np.maximum.at),
        "put_": changed(np.put), "place_": changed(np.place), "putmask_": changed(np.putmask),
        "fill_diagonal_": changed(np.fill_diagonal), "put_along_": changed(np.put_along_axis),
    }


def differs(wanted, got, number):
    """Why the arrays differ, or None."""
    if not number and (wanted.dtype != got.dtype or wanted.shape != got.shape):
        return f"{wanted.dtype} {wanted.shape}, found {got.dtype} {got.shape}"
    rtol = 1e-5 if wanted.dtype == np.float32 else 1e-11
    if wanted.dtype.kind in "fc":
        if np.allclose(wanted, got, rtol=rtol, atol=rtol, equal_nan=True):
            return None
    elif np.array_equal(wanted, got):
        return None
    return f"{wanted.tolist()}, found {got.tolist()}"


def main():
    names, wrong, lines = arrays(), 0, 0
    *options, program = sys.argv[1:]
    notes_sites = b"ga_site_\0" in pathlib.Path(program).read_bytes()
    if notes_sites == (options == ["--without-sites"]):
        sys.exit(f"{program} {'refers' if notes_sites else 'does not refer'} to ga_site_")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program, folder], capture_output=True, text=True)
        for line in run.stdout.splitlines():
            place, index, expression, call, *message = line.split("\t")
            lines += 1
            if index == "error":
                reason = message[0]
            else:
                wanted = np.asarray(eval(expression, names))
                got = np.load(f"{folder}/{index}.npy")
                reason = differs(wanted, got, call.startswith("number: "))
            if reason:
                wrong += 1
                print(f"program.c:{place}: {call}\n    {expression}: {reason}")
    finish(run, lines, wrong, 150)


main()
