"""Checks that mistakes do not compile: check_refused.py ROOT OPS_H COMPILER...

An option without its name, such as the 0 of ga_sum(x, 0), would be taken for a count of axes. Each wrong call must
fail in C, and in C++20 where the compiler knows it, and the right call beside it must compile without warnings.
"""
import subprocess
import sys
from pathlib import Path

root, ops_h, *compiler = sys.argv[1:]
include = [f"-I{Path(root).resolve()}/include", f"-I{Path(ops_h).resolve().parent.parent}"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
# The calls after which only options may stand.
CALLS = ["ga_sum(x", "ga_max(x", "ga_argmin(x", "ga_cumsum(x", "ga_sort(x", "ga_argsort(x", "ga_median(x",
         "ga_quantile(x, 0.5", "ga_partition(x, 2", "ga_topk(x, 2, &r, &s", "ga_mode(x, &r, &s", "ga_average(x",
         "ga_take(x, y", "ga_take_along_axis(x, y", "ga_put_along_axis(x, y, 1", "ga_compress(y, x",
         "ga_concatenate(GA_ARRAYS(x, y)", "ga_stack(GA_ARRAYS(x, y)", "ga_append(x, y", "ga_repeat(x, 3",
         "ga_roll(x, 1", "ga_diff(x, 1", "ga_insert(x, 1, 9", "ga_delete(x, 1", "ga_gradient(x", "ga_trapezoid(x",
         "ga_unwrap(x", "ga_squeeze(x", "ga_vecdot(x, y", "ga_cross(x, y"]
# Integers in the place of arrays of indices.
INTEGERS = ["ga_take(x, 1)", "ga_take(x, 2, GA_AXIS(0))", "ga_take_along_axis(x, 1)",
            "ga_take_along_axis(x, 1, GA_AXIS(0))", "ga_put(x, 1, 2)", "ga_put(x, 1, 2, .mode = GA_CLIP)",
            "ga_put_along_axis(x, 1, 2)", "ga_put_along_axis(x, 1, 2, GA_AXIS(0))"]
PROGRAM = ("#include <quarry.h>\nvoid f(gpuarray *x, gpuarray *y);\nvoid f(gpuarray *x, gpuarray *y)\n"
           "{{\n    gpuarray *r, *s;\n    (void)y, (void)&r, (void)&s;\n    {};\n}}\n")


def complaints(code, language, standard):
    run = subprocess.run([*compiler, "-fsyntax-only", f"-std={standard}", *WARNINGS, *include, "-x", language, "-"],
                         input=PROGRAM.format(code), text=True, capture_output=True)
    return run.stderr if run.returncode else ""


def only_warnings(code):
    """Whether C compiles the code although it warns."""
    run = subprocess.run([*compiler, "-fsyntax-only", "-std=c11", *include, "-x", "c", "-"],
                         input=PROGRAM.format(code), text=True, capture_output=True)
    return run.returncode == 0


wrong = 0
rights = "; ".join(f"{call}); {call}, GA_AXIS(0))" for call in CALLS)
cpp = not complaints("", "c++", "c++20")
for language, standard in [("c", "c11")] + [("c++", "c++20")] * cpp:
    said = complaints(rights, language, standard)
    if said:
        print(f"{standard}: the right calls do not compile:\n{said}")
        wrong += 1
for code in ["int axis = 0; ga_sum(x, axis)", "ga_sum(x, -1, .keepdims = true)", "ga_max(x, y)"]:
    if only_warnings(code):
        print(f"c11: {code} compiles")
        wrong += 1
for code in INTEGERS + [integer.replace("x, 1", "x, 0") for integer in INTEGERS]:
    if only_warnings(code):
        print(f"c11: {code} compiles")
        wrong += 1
    right = code.replace("x, 1", "x, y").replace("x, 2", "x, y").replace("x, 0", "x, y")
    if complaints(right, "c", "c11"):
        print(f"c11: {right} does not compile")
        wrong += 1
for call in CALLS:
    if only_warnings(f"{call}, 0)"):
        print(f"c11: {call}, 0) compiles")
        wrong += 1
    if cpp and not complaints(f"{call}, 0)", "c++", "c++20"):
        print(f"c++20: {call}, 0) compiles")
        wrong += 1
print(f"{len(CALLS)} calls, {wrong} wrong")
sys.exit(wrong != 0)
