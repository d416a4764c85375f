"""Makes manual pages of section 3 from docs/api.md: make_man.py API_MD VERSION FOLDER.

Each chapter is a page, quarry-array.3; each function and macro is a page that leads to its chapter's.
"""
import re
import sys
from pathlib import Path


def plain(text):
    """Text for roff: no Markdown, no character that roff reads."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("\\|", "|")
    text = re.sub(r"\*\*?([^*\n]+)\*\*?(?=\W|$)", r"\1", text) if "/*" not in text else text
    text = text.replace("`", "").replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def verbatim(code):
    code = code.replace("\\", "\\e").replace("-", "\\-")
    return [".PP", ".nf", ".RS 4", re.sub(r"^([.'])", r"\\&\1", code, flags=re.M), ".RE", ".fi"]


def table(rows):
    """Rows as terms and what stands beside them; the first row names the columns."""
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    head, out = cells[0], []
    for row in cells[2:]:
        more = "; ".join(f"{head[k]}: {row[k]}" for k in range(2, len(row)) if row[k])
        out += [".TP", f".B {plain(row[0])}", plain(row[1] + (f" ({more})" if more else ""))]
    return out


def roff(text):
    """The body of a page."""
    out, lines = [], text.split("\n")
    while lines:
        line = lines.pop(0)
        if line.startswith("```"):
            end = lines.index("```")
            out += verbatim("\n".join(lines[:end]))
            del lines[:end + 1]
        elif line.startswith("|"):
            rows = [line]
            while lines and lines[0].startswith("|"):
                rows.append(lines.pop(0))
            out += table(rows)
        elif line.startswith("### "):
            out.append(f".SS {plain(line[4:])}")
        elif line:
            out += [".PP", plain(line)]
    return "\n".join(out)


def names_in(text):
    """What a chapter declares: the names before a parenthesis, of macros, and in the first column of tables."""
    code = "\n".join(re.findall(r"^```c\n(.*?)^```", text, flags=re.M | re.S))
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    names = re.findall(r"\b(ga_\w*[a-z0-9])\(", code) + re.findall(r"^#define (GA_\w+)", code, flags=re.M)
    names += re.findall(r"^\} (ga_\w+);", code, flags=re.M) + re.findall(r"^\| `(ga_\w+)", text, flags=re.M)
    return list(dict.fromkeys(names))


def main():
    source, version, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    introduction, *chapters = re.split(r"^## ", Path(source).read_text(encoding="utf-8"), flags=re.M)
    owners, pages = {}, {}
    for chapter in chapters:
        title, text = chapter.split("\n", 1)
        found = re.fullmatch(r"<quarry/(\w+)\.h>", title)
        name = "quarry-" + (found[1] if found else title.split()[0].lower())
        pages[name] = (title, text)
        for function in names_in(text):
            owners.setdefault(function, name)
    pages["quarry"] = ("the library", introduction.split("\n", 1)[1])
    for name, (title, text) in pages.items():
        own = [function for function, owner in owners.items() if owner == name]
        first = next((line for line in text.split("\n") if line and line[0] not in "`|#"), title).split(". ")[0]
        page = [f'.TH "{name.upper()}" 3 "" "Quarry {version}" "Quarry"', ".SH NAME",
                f"{', '.join([name, *own])} \\- {plain(first.rstrip('.'))}", ".SH SYNOPSIS", ".B #include <quarry.h>",
                ".PP", "Link with \\fB\\-lquarry\\fP.", ".SH DESCRIPTION", roff(text), ".SH SEE ALSO",
                ", ".join(f"\\fB{other}\\fP(3)".replace("-", "\\-") for other in sorted(pages) if other != name)]
        (folder / f"{name}.3").write_text("\n".join(page) + "\n", encoding="utf-8")
    for function, name in owners.items():
        (folder / f"{function}.3").write_text(f".so man3/{name}.3\n", encoding="utf-8")


main()
