#!/usr/bin/env python3
"""Turns template files into one C source that defines ga__templates[]: embed.py OUT.c KEYS.def FILE...

The templates and the list of keys must agree: each name that a template reads is a GA_KEY, and each is read."""

import hashlib
import os
import re
import sys

PER_LINE = 18


def element(byte):
    # A character constant has the value of a char on this machine, whatever its sign.
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


def negated(condition):
    return condition[1:] if condition.startswith("!") else "!" + condition


def directives(text):
    for line in text.decode().splitlines():
        found = re.match(r"\s*//@(\w+)\s*(\S*)\s*$", line)
        if found:
            yield found.groups()


def includes(name, files):
    """The conditions and the name of each file that the file itself includes, each pair once. The records of an
    //@each are unknown here, so an include inside one keeps only the conditions around the //@each."""
    around, found = [], {}
    for word, argument in directives(files[name]):
        if word in ("if", "each"):
            around.append(argument if word == "if" else None)
        elif word in ("else", "end") and (not around or (word, around[-1]) == ("else", None)):
            sys.exit(f"embed.py: {name} has an //@{word} outside its block")
        elif word == "else":
            around[-1] = negated(around[-1])
        elif word == "end":
            around.pop()
        elif word == "include":
            repeated = None in around
            known = around[: around.index(None)] if repeated else around
            pair = (" ".join(known), argument)
            found[pair] = found.get(pair, False) or repeated
    if around:
        sys.exit(f"embed.py: {name} has a block without its //@end")
    check(name, found, files)
    return list(found)


def check(name, found, files):
    for (_, included), repeated in found.items():
        if included not in files:
            sys.exit(f"embed.py: no {included}, which {name} includes")
        if repeated and any(word == "include" for word, _ in directives(files[included])):
            sys.exit(f"embed.py: {name} includes {included} in an //@each, where it must include nothing itself")


def check_ends(name, table, around=()):
    if name in around:
        sys.exit(f"embed.py: {name} includes itself: {' > '.join(around)}")
    for _, included in table[name]:
        check_ends(included, table, (*around, name))


def check_keys(path, files):
    declared = re.findall(r"GA_KEY\((\w+)\)", read(path).decode())
    used = {}
    for name, data in files.items():
        names = re.findall(r"@(\w+)@", data.decode())
        names += [argument.lstrip("!") for word, argument in directives(data) if word in ("if", "each")]
        used.update((key, name) for key in names)
    for key in sorted(used.keys() - set(declared)):
        sys.exit(f"embed.py: {used[key]} reads '{key}', which {path} does not declare")
    for key in sorted(set(declared) - used.keys()):
        sys.exit(f"embed.py: no template reads '{key}', which {path} declares")
    if len(declared) != len(set(declared)):
        sys.exit(f"embed.py: {path} declares a key twice")


def digest(data):
    return hashlib.sha256(data).hexdigest()[:32]


def definitions(i, data, included, names):
    """The file's text as numbers, because C11 guarantees string literals of only 4095 characters; and its includes."""
    rows = [f'    {{"{conditions}", &ga__templates[{names.index(name)}]}},\n' for conditions, name in included]
    text = f"static const char t{i}[] = {{\n{initialiser(data)}}};\n"
    return text + (f"static const ga__include i{i}[] = {{\n{''.join(rows)}    {{NULL, NULL}}}};\n" if rows else "")


def source(keys, paths):
    files = {os.path.basename(path): read(path) for path in paths}
    if len(files) != len(paths):
        sys.exit("embed.py: two files have the same base name")
    check_keys(keys, files)
    names = sorted(files)
    table = {name: includes(name, files) for name in names}
    for name in names:
        check_ends(name, table)
    parts = ["/* The template files, embedded. Made by tools/embed.py: do not edit. */\n"]
    parts.append('#include "base/embedded.h"\n\n#include <stddef.h>\n')
    rows = ""
    for i, name in enumerate(names):
        parts.append(definitions(i, files[name], table[name], names))
        rows += f'    {{"{name}", t{i}, "{digest(files[name])}", {f"i{i}" if table[name] else "NULL"}}},\n'
    parts.append(f"const ga__embedded ga__templates[] = {{\n{rows}    {{NULL, NULL, NULL, NULL}}}};\n")
    return "\n".join(parts)


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: embed.py OUT.c KEYS.def FILE...")
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(source(sys.argv[2], sys.argv[3:]))


if __name__ == "__main__":
    main()
