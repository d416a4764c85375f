"""Checks that mistakes do not compile: check_refused.py ROOT OPS_H COMPILER...

An option without its name, such as the 0 of ga_sum(x, 0), would be taken for a count of axes. Each wrong call must
fail in C, and in C++20 where the compiler knows it, and the right call beside it must compile without warnings.
"""
import re
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
# Integers in the place of lists: the lengths of NumPy's reshape(x, 2, 3). Beside each, the right call.
LISTS = [("ga_empty(GA_FLOAT32, 2, 3)", "ga_empty(GA_FLOAT32, GA_SHAPE(2, 3))"),
         ("ga_zeros(GA_FLOAT32, 0, 0)", "ga_zeros(GA_FLOAT32, GA_SHAPE0)"),
         ("ga_ones(GA_FLOAT32, 2, 3)", "ga_ones(GA_FLOAT32, 2, (int64_t[]){2, 3})"),
         ("ga_full(GA_FLOAT32, 2, 3, 1)", "ga_full(GA_FLOAT32, GA_SHAPE(2, 3), 1)"),
         ("ga_reshape(x, 2, 3)", "ga_reshape(x, ga_ndim(y), ga_shape(y))"),
         ("ga_reshape(x, 4)", "ga_reshape(x, GA_SHAPE(4))"), ("ga_resize(x, 2, 3)", "ga_resize(x, GA_SHAPE(2, 3))"),
         ("ga_broadcast_to(x, 2, 3)", "ga_broadcast_to(x, GA_SHAPE(2, ga_length(x, 0)))"),
         ("ga_transpose_axes(x, 1, 0)", "ga_transpose_axes(x, GA_AXES(1, 0))"),
         ("ga_squeeze_axes(x, 1, 0)", "ga_squeeze_axes(x, GA_AXES(1, 0))"),
         ("ga_flip_axes(x, 1, 0)", "ga_flip_axes(x, GA_AXES(1, 0))"),
         ("ga_tile(x, 2, 3)", "ga_tile(x, GA_SHAPE(2, 3))"),
         ("ga_pad(x, 1, 2)", "ga_pad(x, GA_SHAPE(1, 2), .mode = \"edge\")"),
         ("ga_pad(x, 1, 2, .value = GA_V(3))", "ga_pad(x, GA_SHAPE(1, 2), .value = GA_V(3))"),
         ("ga_random(2, 3)", "ga_random(GA_SHAPE(2, 3))"), ("ga_indices(2, 3)", "ga_indices(GA_SHAPE(2, 3))"),
         ("ga_rng_random(0, GA_FLOAT32, 2, 3)", "ga_rng_random(0, GA_FLOAT32, GA_SHAPE(2, 3))"),
         ("ga_rng_normal(0, GA_FLOAT32, 0, 1, 2, 3)", "ga_rng_normal(0, GA_FLOAT32, 0, x, GA_BROADCAST)"),
         ("ga_rng_standard_normal(0, GA_FLOAT32, 2, 3)", "ga_rng_standard_normal(0, GA_FLOAT32, GA_SHAPE(2))"),
         ("ga_rng_integers(0, GA_INT8, 0, 9, 2, 3)", "ga_rng_integers(0, GA_INT8, 0, 9, GA_SHAPE(2, 3))"),
         ("ga_rng_choice(0, x, 2, 3)", "ga_rng_choice(0, x, GA_SHAPE(2, 3), .p = y)")]
# Macros that take up to 64 arguments. The compiler's message for one more has the limit.
MANY = ["ga_index(x, {})", "ga_index_set(x, 1, {})", "ga_index_add(x, 1, {})",
        "ga_index_maximum_with(.x = x, .value = GA_V(1), GA_PARTS({}))", "(void)x, ga_result_type_of({})"]
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


def accepted(codes):
    """The codes that raise no error in C, each in a line of its own; a compiler stops after some errors."""
    if len(codes) > 15:
        return accepted(codes[:15]) + accepted(codes[15:])
    lines = PROGRAM.format("\n" + ";\n".join(codes))
    first = lines[:lines.index(codes[0])].count("\n") + 1
    run = subprocess.run([*compiler, "-fsyntax-only", "-std=c11", "-w", *include, "-x", "c", "-"],
                         input=lines, text=True, capture_output=True)
    wrong_lines = {int(line) for line in re.findall(r"<stdin>:(\d+):", run.stderr)}
    return [code for k, code in enumerate(codes) if first + k not in wrong_lines]


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
for code in MANY:
    enough, more = code.format(", ".join(64 * ["y"])), code.format(", ".join(65 * ["y"]))
    said = [complaints(enough, "c", "c11"), complaints(more, "c", "c11")]
    if said[0] or "at_most_64_arguments" not in said[1]:
        print(f"c11: {code} of 64 and 65 arguments:\n{said[0]}{said[1]}")
        wrong += 1
for code in accepted([code for code, _ in LISTS]):
    print(f"c11: {code} compiles")
    wrong += 1
said = complaints("(void)x; " + "; ".join(right for _, right in LISTS), "c", "c11")
if said:
    print(f"c11: the right lists do not compile:\n{said}")
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
