"""The floors of src/: makes the include tree of one, or checks the rooms of all.

floors.py SOURCE TREE FOLDER...
    TREE/FOLDER/x.h links to SOURCE/FOLDER/x.h for each header of each folder, and nothing else is there: a file of the
    floor that includes a header of another folder does not compile.
floors.py --check SOURCE
    No circle of includes between the modules (x.c and x.h) but those of CIRCLES, no folder of more than MOST_FILES .c
    files, no file of more than MOST_LINES lines.
"""
import os
import re
import shutil
import sys

MOST_FILES = 15
MOST_LINES = 500
# An error needs memory for its message, and an allocation that fails raises one; an array leaves its scope when it is
# freed, and a scope frees its arrays.
CIRCLES = [{"base/alloc", "base/error"}, {"array/array", "array/scope"}]


def make_tree(source, tree, folders):
    shutil.rmtree(tree, ignore_errors=True)
    for folder in folders:
        there = os.path.join(tree, folder)
        os.makedirs(there, exist_ok=True)
        for name in os.listdir(os.path.join(source, folder)):
            if name.endswith(".h"):
                os.symlink(os.path.relpath(os.path.join(source, folder, name), there), os.path.join(there, name))


def read_modules(source):
    """Modules with the modules that each includes, and complaints about folders and files."""
    modules, complaints = {}, []
    for folder, _, names in os.walk(source):
        files = sorted(name for name in names if name.endswith((".c", ".h")))
        room = os.path.relpath(folder, source)
        count = sum(name.endswith(".c") for name in files)
        if count > MOST_FILES:
            complaints.append("%s: %d .c files, more than %d" % (room, count, MOST_FILES))
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            lines = text.count("\n")
            if lines > MOST_LINES:
                complaints.append("%s/%s: %d lines, more than %d" % (room, name, lines, MOST_LINES))
            module = "%s/%s" % (room, name[:-2])
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


def find_circles(modules):
    beyond = {module: reachable(modules, module) for module in modules}
    circles = []
    for module in sorted(modules):
        circle = {other for other in beyond[module] if module in beyond.get(other, ())}
        if circle and circle not in circles:
            circles.append(circle)
    return circles


def check(source):
    modules, complaints = read_modules(source)
    for circle in find_circles(modules):
        if circle not in CIRCLES:
            complaints.append("a circle of includes: %s" % ", ".join(sorted(circle)))
    for complaint in complaints:
        print(complaint)
    return not complaints


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(not check(sys.argv[2]))
    make_tree(sys.argv[1], sys.argv[2], sys.argv[3:])
