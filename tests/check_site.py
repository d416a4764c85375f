"""Checks the site that tools/make_site.py made: check_site.py FOLDER REFERENCE.

Each link leads to a file and a heading of the site, nothing is loaded from elsewhere, no list or table is left as text
of a paragraph, and the search finds the headings of REFERENCE, docs/reference.md.
"""
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, what it loads, the names in it, and the texts of its paragraphs outside tables."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names, self.paragraphs = [], [], set(), []
        self.inside, self.in_table = False, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.in_table |= tag == "table"
        if tag == "p" and not self.in_table:
            self.inside = True
            self.paragraphs.append("")
        self.names |= {known[key] for key in ("id", "name") if known.get(key)}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        elif tag == "link" and known.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(known["href"])
        elif known.get("src"):
            self.loads.append(known["src"])

    def handle_endtag(self, tag):
        self.inside &= tag != "p"
        self.in_table &= tag != "table"

    def handle_data(self, text):
        if self.inside:
            self.paragraphs[-1] += text

    def markup(self):
        """Lines of paragraphs that were written as items of lists, as rows of tables, or as fences."""
        return [line for text in self.paragraphs for line in text.splitlines()
                if re.match(r"\s*(\d+\. |[-*] |\||```)", line)]


def lost(pages, path, link):
    """Whether a link leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return not target.is_file()
    return bool(parts.fragment) and unquote(parts.fragment) not in pages[target].names


def main():
    folder, reference = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    wrong = [] if len(pages) > 35 else [f"{folder} has {len(pages)} pages"]
    for path, page in pages.items():
        place = path.relative_to(folder)
        wrong += [f"{place}: nothing is at {link}" for link in page.links if lost(pages, path, link)]
        wrong += [f"{place} loads {name}" for name in page.loads
                  if urlsplit(name).netloc or not (path.parent / urlsplit(name).path).is_file()]
        wrong += [f"{place}: markup in a paragraph: {line}" for line in page.markup()]
    text = (folder / "searchindex.js").read_text(encoding="utf-8")
    known = json.loads(text.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))["alltitles"]
    names = re.findall(r"\w+", " ".join(re.findall(r"^### (.*)$", reference.read_text(encoding="utf-8"), flags=re.M)))
    wrong += [f"the search does not find {name}" for name in names if name not in known]
    if wrong:
        sys.exit("\n".join(["The site is wrong:", *wrong[:40]]))
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(names)} names to search")


main()
