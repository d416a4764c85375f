"""Makes manual pages of section 3 from docs/api.md and docs/reference.md:
make_man.py API_MD REFERENCE_MD VERSION FOLDER.

Each chapter of api.md is a page, quarry-array.3. Each section of reference.md is one too: the declarations and what
api.md says above them, the example, and the dtypes of the result; its other names lead to it.
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


def declarations(text):
    """By name: the lines that declare it and the words above them, in a chapter of api.md."""
    found, above = {}, []
    parts = re.split(r"^(```c\n.*?^```|### .*)$", text, flags=re.M | re.S)
    for part in parts:
        if part.startswith("```c"):
            code = part[5:-3].rstrip("\n")
            plain_code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
            for name in dict.fromkeys(re.findall(r"\b((?:ga|GA)_\w*[a-zA-Z0-9])\b", plain_code)):
                lines = declaration_of(name, code)
                if lines:
                    found.setdefault(name, (lines, above))
        elif part.startswith("###"):
            above = []
        elif part.strip() and not part.lstrip().startswith("|"):
            above = part.strip().split("\n\n")[-1]
    for form, name, line in re.findall(r"^\| `((ga_\w+)[^`]*)` \| (.*?) \|", text, flags=re.M):
        found.setdefault(name, (form if "(" in form else "", line.replace("`", "")))
    return found


def declaration_of(name, code):
    """The statement of the code that declares the name."""
    for statement in re.findall(r"^(?:typedef.*?^\}[^;]*;|[^\n]*?;|#define[^\n]*|\w[^;]*?;)", code, flags=re.M | re.S):
        if re.search(rf"\b{name}\((?!\*)|\}} {name};|#define {name}\b|typedef (?:struct|enum) \w+ {name};", statement):
            return statement if "{" in statement else re.sub(r"\n {8,}", "\n    ", statement)
    return ""


def page(title, version, names, line, body, others):
    """A manual page."""
    return "\n".join([f'.TH "{title.upper()}" 3 "" "Quarry {version}" "Quarry"', ".SH NAME",
                      f"{', '.join(names)} \\- {plain(line)}", ".SH SYNOPSIS", ".B #include <quarry.h>", *body,
                      ".SH SEE ALSO", ", ".join(f"\\fB{other}\\fP(3)".replace("-", "\\-") for other in others)]) + "\n"


def first_line(text, otherwise):
    """The first sentence of a text, without what a name section cannot contain."""
    words = " ".join(text.split()) if text else otherwise
    return re.split(r"(?<=\w)[.:;](?: |$)", words)[0].rstrip(".") or otherwise


def function_page(section, known, version, chapter):
    """The page of a section of reference.md, under its first name."""
    heading, text = section.split("\n", 1)
    names = heading.split(", ")
    lines, above = next((known[name] for name in names if name in known), ("", ""))
    statements = dict.fromkeys(known[name][0] for name in names if name in known and known[name][0])
    above = above if isinstance(above, str) else ""
    example, more = re.match(r"\s*(```c\n.*?^```\n.*?^```text\n.*?^```\n?)(.*)", text, flags=re.M | re.S).groups()
    body = [part for statement in statements for part in verbatim(statement)]
    body += [".PP", "Link with \\fB\\-lquarry\\fP."]
    if above:
        body += [".SH DESCRIPTION", roff(above)]
    if more.strip():
        body += [".SH DTYPES", roff(more.strip())]
    body += [".SH EXAMPLE", "The operands are those of \\fBquarry\\-reference\\fP(3).", roff(example)]
    return names, page(names[0], version, names, first_line(above, f"of {chapter}"), body,
                       ["quarry", chapter, "quarry-reference"])


def chapter_pages(api, version):
    """The pages of chapters, and what they declare."""
    introduction, *chapters = re.split(r"^## ", api, flags=re.M)
    texts, known = {"quarry": ("the library", introduction.split("\n", 1)[1])}, {}
    for chapter in chapters:
        title, text = chapter.split("\n", 1)
        found = re.fullmatch(r"<quarry/(\w+)\.h>", title)
        texts["quarry-" + (found[1] if found else title.split()[0].lower())] = (title, text)
        for name, what in declarations(text).items():
            known.setdefault(name, what)
    pages = {}
    for name, (title, text) in texts.items():
        first = next((line for line in text.split("\n") if line and line[0] not in "`|#"), title)
        others = [*sorted(other for other in texts if other != name), "quarry-reference"]
        pages[name] = page(name, version, [name], first_line(first, title),
                           [".PP", "Link with \\fB\\-lquarry\\fP.", ".SH DESCRIPTION", roff(text)], others)
    return pages, known


def main():
    api, reference = (Path(path).read_text(encoding="utf-8") for path in sys.argv[1:3])
    version, folder = sys.argv[3], Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    pages, known = chapter_pages(api, version)
    introduction, *chapters = re.split(r"^## ", reference, flags=re.M)
    pages["quarry-reference"] = page("quarry-reference", version, ["quarry-reference"], "the operands of all examples",
                                     [".SH DESCRIPTION", roff(introduction.split("\n", 1)[1])], ["quarry"])
    for chapter in chapters:
        title, *sections = re.split(r"^### ", chapter, flags=re.M)
        owner = "quarry-" + re.search(r"quarry/(\w+)", title)[1]
        for section in sections:
            names, text = function_page(section, known, version, owner)
            pages[names[0]] = text
            pages.update((name, f".so man3/{names[0]}.3\n") for name in names[1:])
    for name, text in pages.items():
        text = re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", text, flags=re.M)
        (folder / f"{name}.3").write_text(text, encoding="utf-8")


main()
