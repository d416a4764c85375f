#!/usr/bin/env python3
"""Keeps abi.txt, each exported symbol with the version that introduced it: abi.py --check | --update LIBRARY."""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LIST = os.path.join(ROOT, "abi.txt")
HEAD = ("# The symbols of libquarry.so and the version that introduced each.\n"
        "# tools/abi.py --update LIBRARY adds new ones.\n")


def current_version():
    with open(os.path.join(ROOT, "include/quarry/version.h"), encoding="utf-8") as file:
        text = file.read()
    return ".".join(re.search(rf"QUARRY_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def listed():
    if not os.path.exists(LIST):
        return {}
    with open(LIST, encoding="utf-8") as file:
        return dict(line.split() for line in file if line.strip() and not line.startswith("#"))


def as_numbers(version):
    return tuple(int(part) for part in version.split("."))


def complaints(symbols, versions, now):
    for symbol in sorted(symbols - set(versions)):
        yield f"{symbol} is exported and not in abi.txt: run tools/abi.py --update LIBRARY"
    for symbol in sorted(set(versions) - symbols):
        yield f"{symbol} is in abi.txt ({versions[symbol]}) and not exported: a program that uses it no longer starts"
    for symbol, version in sorted(versions.items()):
        if not re.fullmatch(r"\d+\.\d+\.\d+", version) or as_numbers(version) > as_numbers(now):
            yield f"{symbol}: {version} is not a version up to {now}"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--check", "--update"):
        print(__doc__)
        return 2
    symbols, versions, now = exported(sys.argv[2]), listed(), current_version()
    if sys.argv[1] == "--update":
        versions = {symbol: versions.get(symbol, now) for symbol in symbols | set(versions)}
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(HEAD + "".join(f"{symbol} {versions[symbol]}\n" for symbol in sorted(versions)))
        return 0
    found = list(complaints(symbols, versions, now))
    for complaint in found:
        print(complaint)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
