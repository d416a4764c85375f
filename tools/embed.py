#!/usr/bin/env python3
"""Turns template files into one C source that defines ga__templates[]: embed.py OUT.c FILE..."""

import hashlib
import os
import re
import sys

PER_LINE = 18


def element(byte):
    # A character constant has the value that a char of this machine holds, whatever its sign.
    return str(byte) if byte < 128 else f"'\\x{byte:02x}'"


def initialiser(data):
    elements = [element(byte) for byte in data + b"\0"]
    rows = (elements[i : i + PER_LINE] for i in range(0, len(elements), PER_LINE))
    return ",\n".join("    " + ", ".join(row) for row in rows)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if b"\0" in data:
        sys.exit(f"embed.py: {path} holds a NUL byte")
    return data


def with_included(name, files, seen):
    """The names of the file and of all that it includes, itself or by others."""
    if name not in files:
        sys.exit(f"embed.py: no {name}, which is included")
    if name not in seen:
        seen.add(name)
        for included in re.findall(rb"^\s*//@include\s+(\S+)\s*$", files[name], re.M):
            with_included(included.decode(), files, seen)
    return seen


def digest(name, files):
    together = hashlib.sha256()
    for part in sorted(with_included(name, files, set())):
        together.update(b"%s %d\n%s" % (part.encode(), len(files[part]), files[part]))
    return together.hexdigest()[:32]


def source(paths):
    files = {os.path.basename(path): read(path) for path in paths}
    if len(files) != len(paths):
        sys.exit("embed.py: two files have the same base name")
    names = sorted(files)
    parts = ["/* The template files, embedded. Made by tools/embed.py: do not edit. */\n"]
    parts.append('#include "base/embedded.h"\n\n#include <stddef.h>\n')
    for i, name in enumerate(names):
        # Arrays of numbers, as C11 promises string literals of only 4095 characters.
        parts.append(f"static const char t{i}[] = {{\n{initialiser(files[name])}}};\n")
    rows = "".join(f'    {{"{name}", t{i}, "{digest(name, files)}"}},\n' for i, name in enumerate(names))
    parts.append(f"const ga__embedded ga__templates[] = {{\n{rows}    {{NULL, NULL, NULL}}}};\n")
    return "\n".join(parts)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: embed.py OUT.c FILE...")
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(source(sys.argv[2:]))


if __name__ == "__main__":
    main()
