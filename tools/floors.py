"""The floors of src/: makes the include tree of one floor, or checks all folders.

floors.py SOURCE TREE FOLDER...
    TREE/FOLDER/x.h links to SOURCE/FOLDER/x.h for each header and table of each folder, and TREE has no other files: a
    file of the floor that includes a header of another folder does not compile.
floors.py --check SOURCE
    No include cycles between the modules (x.c and x.h) except CYCLES, at most MOST_FILES .c files in a folder, at most
    MOST_LINES lines in a file.
"""
import os
import re
import shutil
import sys

MOST_FILES = 15
MOST_LINES = 500
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
            lines = text.count("\n")
            if lines > MOST_LINES:
                complaints.append("%s/%s: %d lines, more than %d" % (folder_name, name, lines, MOST_LINES))
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


def check(source):
    modules, complaints = read_modules(source)
    for cycle in find_cycles(modules):
        if cycle not in CYCLES:
            complaints.append("a cycle of includes: %s" % ", ".join(sorted(cycle)))
    for complaint in complaints:
        print(complaint)
    return not complaints


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(not check(sys.argv[2]))
    make_tree(sys.argv[1], sys.argv[2], sys.argv[3:])
