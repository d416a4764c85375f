#!/usr/bin/env python3
"""Turns template files into one C source that defines ga__templates[]: embed.py OUT.c FILE..."""

import os
import sys

PER_LINE = 18


def element(byte):
    # A character constant has the value that a char of this machine holds, whatever its sign.
    return str(byte) if byte < 128 else f"'\\x{byte:02x}'"


def initialiser(data):
    elements = [element(byte) for byte in data + b"\0"]
    rows = (elements[i : i + PER_LINE] for i in range(0, len(elements), PER_LINE))
    return ",\n".join("    " + ", ".join(row) for row in rows)


def source(paths):
    by_name = {os.path.basename(path): path for path in paths}
    if len(by_name) != len(paths):
        sys.exit("embed.py: two files have the same base name")
    names = sorted(by_name)
    parts = ["/* The template files, embedded. Made by tools/embed.py: do not edit. */\n"]
    parts.append('#include "base/embedded.h"\n\n#include <stddef.h>\n')
    for i, name in enumerate(names):
        with open(by_name[name], "rb") as file:
            data = file.read()
        if b"\0" in data:
            sys.exit(f"embed.py: {by_name[name]} holds a NUL byte")
        # Arrays of numbers, as C11 promises string literals of only 4095 characters.
        parts.append(f"static const char t{i}[] = {{\n{initialiser(data)}}};\n")
    rows = "".join(f'    {{"{name}", t{i}}},\n' for i, name in enumerate(names))
    parts.append(f"const ga__embedded ga__templates[] = {{\n{rows}    {{NULL, NULL}}}};\n")
    return "\n".join(parts)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: embed.py OUT.c FILE...")
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(source(sys.argv[2:]))


if __name__ == "__main__":
    main()
