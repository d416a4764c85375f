"""Checks that docs/cpp.md has each option of each call, in the order of its struct: check_options.py ROOT MADE.

MADE is the folder of the headers that the build makes. An option is a member of a call's struct that the call does not
take by its position.
"""
import re
import sys
from pathlib import Path

# Members behind a macro; what a call notes by itself or takes as a list by its position.
MACROS = {"GA_AXIS": "naxes", "GA_INITIAL": "initial", "GA_PARTS": "n", "GA_PAD_VALUES": "nvalues",
          "GA_PAD_LENGTHS": "nstat_lengths", "GA_USECOLS": "nusecols"}
LISTS = {"axes", "parts", "values", "stat_lengths", "usecols", "given", "reserved", "GA_NAMED_OPTIONS_"}
BY_POSITION = {"GA_ARRAYS": {"count", "operands", "arrays"},
               "GA_SHAPE": {"nwidths", "widths", "ndim", "lengths", "shape", "nwindow", "window"},
               "GA_AXES": {"naxes", "nother", "other"}, "GA_BINS": {"nbins", "bins"},
               "GA_SOURCES": {"sources", "count", "source_bytes"}}
# Calls whose macros do not name the struct as a word.
STRUCTS = {"ga_isclose": "ga_close_args", "ga_trace": "ga_trace_args", "ga_zeros_like": "ga_like_args"}

root, made = Path(sys.argv[1]), Path(sys.argv[2])
text = "".join(path.read_text() for folder in (root / "include/quarry", made) for path in sorted(folder.glob("*.h")))
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", " ")
macros = dict(re.findall(r"#\s*define (\w+)\([^)]*\)([^\n]*)", text))


def members(body):
    """The members of a struct."""
    body = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body)  # pointers to functions
    for part in re.split(r"[;,]", body):
        yield from re.findall(r"(\w+)(?:\[[^]]*\])*$", part.strip())[:1]


structs = {name: list(members(body))
           for name, body in re.findall(r"typedef struct (\w+_(?:args|options)) \{(.*?)\n\} \1;", text, flags=re.S)}


def struct_of(call):
    """The struct of a call's options: the first one to which its macro leads."""
    todo, seen = [call], set()
    while todo:
        name = todo.pop(0)
        if name in structs:
            return name
        if name not in seen:
            seen.add(name)
            todo += re.findall(r"\w+", macros.get(name, ""))
    return STRUCTS.get(call, call + "_args")


def errors(call, positions, options):
    """What is wrong with a row: a call, the words of its positional arguments, its options."""
    struct = struct_of(call)
    if struct not in structs:
        return [f"{call} has no struct {struct}"]
    order = [MACROS.get(option, option) for option in options]
    hidden = set(LISTS).union(*(BY_POSITION.get(word, ()) for word in positions))
    wanted = [name for name in structs[struct] if name in order or name not in hidden and
              not any(name.startswith(word) for word in positions)]
    return [] if order == wanted else [f"{call}: {', '.join(order)}; in {struct}: {', '.join(wanted)}"]


wrong, found = [], set()
for row in (root / "docs/cpp.md").read_text().split("## quarry.hpp")[0].splitlines():
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    if len(cells) == 2 and cells[0].startswith("`"):
        for k, (call, arguments) in enumerate(re.findall(r"`(\w+)\((.*?)\)`", cells[0])):
            if k == 0 or struct_of(call) in structs and struct_of(call) not in found:
                wrong += errors(call, re.findall(r"\w+", arguments), re.findall(r"`\.?(\w+)", cells[1]))
            found.add(struct_of(call))
wrong += [f"no call has {struct}" for struct in structs if struct not in found]
if wrong:
    sys.exit("\n".join(["docs/cpp.md:", *wrong]))
print(f"docs/cpp.md has the options of {len(structs)} structs")
