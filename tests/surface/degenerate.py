#!/usr/bin/env python3
"""Runs degenerate.c and compares each result with the NumPy expression beside it, and errors with NumPy's.

degenerate.py PROGRAM. QUARRY_TEST_SHARE=n makes one call of n, which QUARRY_TEST_SAMPLE chooses.
"""
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

from results import changed, finish

warnings.simplefilter("ignore")


def arrays():
    """What make() in degenerate.c makes."""
    line, matrix = np.arange(4.0), np.arange(12.0).reshape(3, 4)
    return [np.zeros(shape) for shape in ((0,), (0, 3), (3, 0), (2, 0, 3), (0, 0), (0, 2, 3))] + [
        np.array(2.5), np.broadcast_to(line, (3, 4)), np.broadcast_to(1.5, (2, 3)), matrix[::-1, ::-2],
        np.ones((1, 1)), matrix.T, line[::-1], np.broadcast_to(1.5, 5), np.broadcast_to(line[:, None], (4, 4)),
        np.zeros((2, 0))]


def raises():
    raise ValueError


def names(x):
    y = (np.ravel(x)[::-1] * 0.5 + 1).reshape(x.shape)
    return {"np": np, "x": x, "y": y, "i": x.astype(np.int64), "truth": x > 1, "none": np.zeros(0, np.int64),
            "first": np.zeros(2, np.int64), "raises": raises, "set_": changed(lambda a, k, v: a.__setitem__(k, v)),
            "add_": changed(np.add.at), "put_": changed(np.put), "place_": changed(np.place),
            "putmask_": changed(np.putmask), "fill_diagonal_": changed(np.fill_diagonal)}


def differs(wanted, got):
    """Why the arrays differ, or None."""
    if wanted.dtype != got.dtype or wanted.shape != got.shape:
        return f"{wanted.dtype} {wanted.shape}, found {got.dtype} {got.shape}"
    tolerance = 1e-3 if wanted.dtype == np.float16 else 1e-11
    equal = np.allclose(wanted, got, rtol=tolerance, atol=tolerance, equal_nan=True)
    return None if equal else f"{wanted.tolist()}, found {got.tolist()}"


# What is refused although NumPy has an answer, and words of the refusal.
REFUSED = {"np.unique(x, axis=0)": "are not from 1 to 2147483647 elements",
           "np.polyval(x, 2.)": "expected one dimension",
           "np.sort(np.partition(x, 2, axis=0), axis=0)": "kth 2 is out of range"}
REFUSED_WITHOUT_AXES = "0 dimensions", "expected two 1-D arrays"

# Weights that are no error: their sum is not looked at; and vectors of 2 elements, which NumPy takes until 2.4.
ANSWERED = {"np.average(x, weights=abs(y))", "np.cross(x, y)"}


def may_answer(expression, x, got):
    """Whether Quarry has a result where NumPy has none, such as along the axis of a 0-d array."""
    return expression in ANSWERED or (x.ndim == 0 and got.size == 1 and "ax" in expression)


def may_refuse(expression, x, message):
    words = REFUSED.get(expression)
    return words and words in message or x.ndim == 0 and any(words in message for words in REFUSED_WITHOUT_AXES)


def judge(expression, known, index, folder, message):
    got = np.load(f"{folder}/{index}.npy") if index >= 0 else None
    try:
        wanted = np.asarray(eval(expression, known))
    except Exception as error:
        allowed = got is None or may_answer(expression, known["x"], got)
        return None if allowed else f"NumPy raises {error}, found {got.tolist()}"
    if got is None:
        if may_refuse(expression, known["x"], message):
            return None
        return f"{wanted.dtype} {wanted.shape} {wanted.tolist()}, found an error: {message}"
    return differs(wanted, got)


def main():
    made, wrong, lines = arrays(), 0, 0
    share = int(os.environ.get("QUARRY_TEST_SHARE", 1))
    first = int(os.environ.get("QUARRY_TEST_SAMPLE", 0)) % share
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.argv[1], folder, str(share), str(first)], capture_output=True, text=True)
        for line in run.stdout.splitlines():
            lines += 1
            array, call, *rest = line.split("\t")
            x = made[int(array)]
            if len(rest) == 4:
                index, expression, place, message = rest
                reason = judge(expression, names(x), int(index), folder, message)
            else:
                place, reason = "?", "it does not end"
            if reason:
                wrong += 1
                print(f"degenerate.c:{place}: {call} of shape {x.shape}, strides {x.strides}: {reason}")
    finish(run, lines, wrong, 3000 // share)


main()
