"""Checks that docs/api.md names, and docs/reference.md has under a heading, every function that the library exports
every type and every public macro: check_reference.py ROOT LIBRARY HEADER_FOLDER; the folder has the headers that are
made. docs/cpp.md has what <quarry.hpp> declares.

A twin that writes into an array, ga_f_into, is there with ga_f. Macros that end in an underscore, in a number of
arguments or in what chooses among such, and those that the headers use themselves, are not public.
"""
import re
import subprocess
import sys
from pathlib import Path

root, library, made = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
OWN = {"GA_API", "GA_BEGIN_DECLS", "GA_END_DECLS", "GA_PRINTF", "GA_DTYPE", "GA_BROADCAST", "GA_CALL_SITES"}
CHOICE = re.compile(r"_(ONE|MANY|MORE|OVER|\d+)$|OVER$|^GA_(EACH|SHAPE)\d+$")


def type_names(text):
    """What the typedefs of a header without comments declare."""
    count = 1
    while count:    # without the members of structs, from the inside outwards
        text, count = re.subn(r"\{[^{}]*\}", " ", text)
    for words in re.findall(r"^typedef ([^;]*);", text, flags=re.M):
        name = re.search(r"\(\*(\w+)\)|(\w+)$", words.strip())
        yield name[1] or name[2]


def cpp_names(text):
    """What quarry.hpp offers: members of its classes, functions, and operators by their symbols."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    yield from re.findall(r"^class (\w+)", text, flags=re.M)
    yield from re.findall(r"^QUARRY_(?:REDUCE|BINARY|INTO)_\((\S+?)(?:, \w+)?\)$", text, flags=re.M)
    # Declarations begin in the first column, those of members in the fifth, as the style of code requires.
    text = re.sub(r"^#define(?:[^\n]*\\\n)*[^\n]*|^  private:.*?^\};", "", text, flags=re.M | re.S)
    begins = r"^(?:    )?(?:inline|template|explicit|operator|[\w:<>]+ [\w&*]|array\b).*"
    for line in re.findall(begins, text, flags=re.M):
        name = re.search(r"\boperator ?([^\s(]+)|([\w]+)\(", line)
        if name:
            yield name[1] or name[2]


def cpp_errors(header, page):
    """What the tables of quarry.hpp on a page lack, or have in excess."""
    given = {name for name in cpp_names(header) if not name.endswith("_")}
    cells = [row.replace("\\|", "\0").split("|")[1] for row in page.split("## quarry.hpp")[1].splitlines()
             if row.startswith("| `")]
    codes = [code.replace("\0", "|") for cell in cells for code in re.findall(r"`([^`]+)`", cell)]
    shown = {"[]" if "[" in code else re.match(r"(?:quarry::)?(\w+|[^\w\s]+)", code)[1] for code in codes} - {"quarry"}
    return [f"docs/cpp.md lacks {name}" for name in sorted(given - shown)] + \
        [f"quarry.hpp lacks {name}" for name in sorted(shown - given)]


known = set(re.findall(r"\w+", (root / "docs" / "api.md").read_text()))
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
types, wanted = set(), {line.split()[-1] for line in lines.splitlines()}
for header in [*(root / "include" / "quarry").glob("*.h"), *made.glob("*.h")]:
    if header.name != "sites.h":    # the same functions once more
        names = re.findall(r"^#\s*define ((?:GA|ga)_\w*[a-zA-Z0-9])(?!\w)", header.read_text(), flags=re.M)
        wanted |= {name for name in names if name not in OWN and not CHOICE.search(name)}
        types |= set(type_names(re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)))
wanted = {name for name in wanted if name.lower().startswith("ga_")} | types
missing = sorted(name for name in wanted if name not in known and name.removesuffix("_into") not in known)
if missing:
    sys.exit("docs/api.md does not name " + ", ".join(missing))
headings = re.findall(r"^### (.*)$", (root / "docs" / "reference.md").read_text(), flags=re.M)
shown = {name for heading in headings for name in heading.split(", ")}
missing = sorted(wanted - shown - {"ga_site_"})    # only the macros of sites.h use that
if missing:
    sys.exit("docs/reference.md has no example of " + ", ".join(missing) + ": run tools/make_reference.py")
wrong = cpp_errors((root / "include/quarry.hpp").read_text(), (root / "docs/cpp.md").read_text())
if wrong:
    sys.exit("\n".join(wrong))
print(f"docs/api.md and docs/reference.md have {len(wanted)} functions, types and macros")
