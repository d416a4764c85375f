"""Checks that the names in pages of docs/ exist: check_names.py ROOT OPS_H PAGE...

Every ga_name and GA_NAME of a page must stand in the public headers, OPS_H (the one made by the
build) included, or be a dtype.
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
headers = root / "include/quarry"
texts = [path.read_text() for path in [*headers.glob("*.h"), Path(sys.argv[2])]]
known = set(re.findall(r"\b(?:ga|GA)_\w+", "".join(texts)))
known |= {"GA_" + row for row in re.findall(r"^GA_DTYPE\((\w+)", (headers / "dtype.def").read_text(), flags=re.M)}
wrong = 0
for page in sys.argv[3:]:
    names = set(re.findall(r"\b(?:ga|GA)_\w+", (root / page).read_text()))
    if not names:
        sys.exit(f"{page} has no names")
    for name in sorted(names - known):
        print(f"{page}: there is no {name}")
        wrong += 1
sys.exit(wrong != 0)
