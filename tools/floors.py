"""The floors of src/: makes the include tree of one floor, or checks all folders.

floors.py SOURCE TREE FOLDER...
    TREE/FOLDER/x.h links to SOURCE/FOLDER/x.h for each header and table of each folder, and TREE has no other files: a
    file of the floor that includes a header of another folder does not compile.
floors.py --check SOURCE
    No include cycles between the modules (x.c and x.h) except CYCLES, at most MOST_FILES .c files in a folder, at most
    MOST_CODE lines of code in a function, and half and nine tenths of the functions within MEDIAN_CODE and USUAL_CODE.
floors.py --calls NM FLOOR.a...
    No floor uses a symbol of a later one, but device/context.c the tables of the backends, UPWARDS.
"""
import os
import re
import shutil
import subprocess
import sys

MOST_FILES = 15
MOST_CODE, USUAL_CODE, MEDIAN_CODE = 50, 20, 11
# The list of backends, which begins below them.
UPWARDS = {"ga__cuda_backend", "ga__host_backend"}
# An error needs memory for its message, and a failed allocation raises an error; an array leaves its scope when it is
# freed, and a scope frees its arrays.
CYCLES = [{"base/alloc", "base/error"}, {"array/array", "array/scope"}]


def make_tree(source, tree, folders):
    shutil.rmtree(tree, ignore_errors=True)
    for folder in folders:
        there = os.path.join(tree, folder)
        os.makedirs(there, exist_ok=True)
        for name in os.listdir(os.path.join(source, folder)):
            if name.endswith((".h", ".def")):
                os.symlink(os.path.relpath(os.path.join(source, folder, name), there), os.path.join(there, name))


def read_modules(source):
    """Modules with the modules that each includes, and complaints about folders and files."""
    modules, complaints = {}, []
    for folder, _, names in os.walk(source):
        files = sorted(name for name in names if name.endswith((".c", ".h")))
        folder_name = os.path.relpath(folder, source)
        count = sum(name.endswith(".c") for name in files)
        if count > MOST_FILES:
            complaints.append("%s: %d .c files, more than %d" % (folder_name, count, MOST_FILES))
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            module = "%s/%s" % (folder_name, name[:-2])
            included = set(re.findall(r'#include "([a-z_0-9/]+)\.h"', text)) - {module}
            modules.setdefault(module, set()).update(included)
    return modules, complaints


def reachable(modules, start):
    found, ahead = set(), [start]
    while ahead:
        for other in modules.get(ahead.pop(), ()):
            if other not in found:
                found.add(other)
                ahead.append(other)
    return found


def find_cycles(modules):
    beyond = {module: reachable(modules, module) for module in modules}
    cycles = []
    for module in sorted(modules):
        cycle = {other for other in beyond[module] if module in beyond.get(other, ())}
        if cycle and cycle not in cycles:
            cycles.append(cycle)
    return cycles


def functions(lines):
    """The functions of a formatted file as (lines of code, first line): neither blank ones nor comments count."""
    start = None
    for k, line in enumerate(lines):
        if line == "{" and lines[k - 1].endswith(")"):
            start = k - 1
            while lines[start][:1].isspace():
                start -= 1
        elif line == "}" and start is not None:
            text = re.sub(r"/\*.*?\*/", "", "\n".join(lines[start:k + 1]), flags=re.S)
            yield sum(bool(row.strip()) for row in text.split("\n")), start + 1
            start = None


def check_functions(source):
    counts, complaints = [], []
    for folder, _, names in os.walk(source):
        for name in sorted(name for name in names if name.endswith((".c", ".h"))):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                for count, line in functions(file.read().split("\n")):
                    counts.append(count)
                    if count > MOST_CODE:
                        complaints.append("%s:%d: a function of %d lines" % (path, line, count))
    counts.sort()
    for part, most in ((2, MEDIAN_CODE), (10, USUAL_CODE)):
        usual = counts[len(counts) - 1 - len(counts) // part]
        if usual > most:
            complaints.append("one of %d functions has %d lines or more, not %d at most" % (part, usual, most))
    return complaints


def symbols(nm, archive):
    """The symbols that a library defines, and those that it uses."""
    defined, used = set(), set()
    for line in subprocess.run([nm, archive], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) >= 2 and words[-2] == "U":
            used.add(words[-1])
        elif len(words) == 3 and words[1].isupper():
            defined.add(words[-1])
    return defined, used - defined


def check_calls(nm, archives):
    floors = [(os.path.basename(archive), *symbols(nm, archive)) for archive in archives]
    complaints = ["%s uses %s of %s" % (name, ", ".join(sorted(used & above - UPWARDS)), later)
                  for k, (name, _, used) in enumerate(floors)
                  for later, above, _ in floors[k + 1:] if used & above - UPWARDS]
    for complaint in complaints:
        print(complaint)
    return not complaints and len(floors) > 1 and all(defined for _, defined, _ in floors[:2])


def check(source):
    modules, complaints = read_modules(source)
    complaints += check_functions(source)
    for cycle in find_cycles(modules):
        if cycle not in CYCLES:
            complaints.append("a cycle of includes: %s" % ", ".join(sorted(cycle)))
    for complaint in complaints:
        print(complaint)
    return not complaints


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(not check(sys.argv[2]))
    if sys.argv[1] == "--calls":
        sys.exit(not check_calls(sys.argv[2], sys.argv[3:]))
    make_tree(sys.argv[1], sys.argv[2], sys.argv[3:])
