"""Checks that links within the tree lead somewhere, that README.md leads to each page, that the files and internal
functions that docs/design.md names are there, and that README.md and docs/quarry.1 have the variables that the code
reads: check_links.py ROOT. With --installed it checks the links of an installed tree, which has no sources.
"""
import re
import sys
from pathlib import Path

installed, root = "--installed" in sys.argv, Path(sys.argv[-1])
pages = [path for pattern in ("*.md", "docs/*.md", "bench/*.md", "bench/results/*.md", "examples/**/*.md",
                              "tests/**/*.md") for path in sorted(root.glob(pattern))]


def without_code(path):
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)


def headings(path):
    """The names under which a page's headings are found."""
    titles = re.findall(r"^#+ (.*)$", without_code(path), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


wrong, linked = [], set()
for page in pages:
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        if "://" in link:
            continue
        if page.name == "README.md" and page.parent == root:
            linked.add(target)
        if not target.exists():
            wrong.append(f"{page.relative_to(root)}: there is no {name}")
        elif heading and heading not in headings(target):
            wrong.append(f"{page.relative_to(root)}: {name or page.name} has no heading #{heading}")
unlinked = [page.relative_to(root) for page in pages if page.parent.name == "docs" and page not in linked]
wrong += [f"README.md has no link to {page}" for page in unlinked]


def source_errors():
    """What docs/design.md names and the sources lack, and the variables of the code that no page has."""
    text = (root / "docs/design.md").read_text()
    sources = [path for folder in ("src", "include", "templates") for path in sorted((root / folder).rglob("*.*"))]
    code = "".join(path.read_text() for path in sources)
    lost = [f"docs/design.md: there is no {name}" for name in sorted(set(re.findall(r"\bga__\w+", text)))
              if not re.search(rf"\b{name}\b", code)]
    names = re.findall(r"(?:\w+/)*\w+\.(?:c|h|def|tmpl|cuda|host|py|sh)\b", re.sub(r"\*\w*\.\w+", "", text))
    for name in sorted(set(names)):
        if not (root / name).exists() and not any(str(path).endswith("/" + name) for path in sources):
            lost.append(f"docs/design.md: there is no {name}")
    for variable in sorted(set(re.findall(r'"(QUARRY_[A-Z_]+|CUDA_HOME|CUDA_PATH|TMPDIR)"', code))):
        lost += [f"{page} does not have {variable}" for page in ("README.md", "docs/quarry.1")
                 if not re.search(rf"\b{variable}\b", (root / page).read_text())]
    return lost


if not installed:
    wrong += source_errors()
print("\n".join(wrong) or f"the links of {len(pages)} pages lead somewhere")
sys.exit(bool(wrong))
