"""Makes rules.txt: how many bins NumPy's rules make of numbers that tests/test_histogram.c makes too.

Each line: the number of elements, their dtype, the range or "0 0", then the bins by each rule of RULES. Run with no
arguments from anywhere; the output stands beside this file.
"""

import numpy as np

from golden import ROOT

RULES = ["auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"]
lines = []
for count in (0, 1, 2, 3, 10, 100, 1000):
    squares = (np.arange(count) * 7919 % 1009) ** 2
    for dtype in ("float64", "float32", "int32"):
        x = (squares // 1009 if dtype == "int32" else squares / 1009).astype(dtype)
        for limits in (None, (100, 500)):
            bins = [len(np.histogram_bin_edges(x, rule, limits)) - 1 for rule in RULES]
            lines.append([count, dtype, *(limits or (0, 0)), *bins])
for dtype in ("float64", "int32"):
    lines.append([-9, dtype, 0, 0] + [len(np.histogram_bin_edges(np.full(9, 4, dtype), rule)) - 1 for rule in RULES])
(ROOT / "tests/golden/rules.txt").write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
