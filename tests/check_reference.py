"""Checks that docs/api.md names, and docs/reference.md has under a heading, every function that the library exports
and every public macro: check_reference.py ROOT LIBRARY HEADER_FOLDER; the folder has the headers that are made.

A twin that writes into an array, ga_f_into, is there with ga_f. Macros that end in an underscore, in a number of
arguments or in what chooses among such, and those that the headers use themselves, are not public.
"""
import re
import subprocess
import sys
from pathlib import Path

root, library, made = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
OWN = {"GA_API", "GA_BEGIN_DECLS", "GA_END_DECLS", "GA_PRINTF", "GA_DTYPE", "GA_BROADCAST", "GA_CALL_SITES"}
CHOICE = re.compile(r"_(ONE|MANY|MORE|OVER|\d+)$|OVER$|^GA_(PARTS|VALUES|SHAPE)\d+$")

known = set(re.findall(r"\w+", (root / "docs" / "api.md").read_text()))
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
wanted = {line.split()[-1] for line in lines.splitlines()}
for header in [*(root / "include" / "quarry").glob("*.h"), *made.glob("*.h")]:
    if header.name != "sites.h":    # the same functions once more
        names = re.findall(r"^#\s*define ((?:GA|ga)_\w*[a-zA-Z0-9])(?!\w)", header.read_text(), flags=re.M)
        wanted |= {name for name in names if name not in OWN and not CHOICE.search(name)}
wanted = {name for name in wanted if name.lower().startswith("ga_")}
missing = sorted(name for name in wanted if name not in known and name.removesuffix("_into") not in known)
if missing:
    sys.exit("docs/api.md does not name " + ", ".join(missing))
headings = re.findall(r"^### (.*)$", (root / "docs" / "reference.md").read_text(), flags=re.M)
shown = {name for heading in headings for name in heading.split(", ")}
missing = sorted(wanted - shown - {"ga_site_"})    # only the macros of sites.h use that
if missing:
    sys.exit("docs/reference.md has no example of " + ", ".join(missing) + ": run tools/make_reference.py")
print(f"docs/api.md and docs/reference.md have {len(wanted)} functions and macros")
