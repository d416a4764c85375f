"""Makes the site of all pages: make_site.py SPHINX_BUILD ROOT VERSION FOLDER.

It works from a folder too, the search included.

README.md is the first page; its section "The pages" gives the order of the others.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONF = """
project = "Quarry"
version = release = "{version}"
extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "README"
try:
    import sphinx_rtd_theme  # prettier, if it is there
    html_theme = "sphinx_rtd_theme"
except ImportError:
    html_theme = "alabaster"
    html_sidebars = {{"**": ["about.html", "searchbox.html", "navigation.html"]}}
    # Code of 100 columns.
    html_theme_options = {{"page_width": "1200px", "body_max_width": "960px", "code_font_size": "0.8em"}}
html_title = "Quarry {version}"
html_show_copyright = False
html_copy_source = False
html_show_sphinx = False
html_static_path = ["style"]
html_css_files = ["quarry.css"]
html_use_index = False
# Pages begin at any level.
suppress_warnings = ["myst.header"]
highlight_language = "c"
"""


# Captions of groups may be long, and so are lines of code and cells of tables.
STYLE = """
.wy-menu-vertical p.caption { white-space: normal; height: auto; line-height: 1.5; padding: .5em 1.618em }
.wy-nav-content { max-width: 1000px }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal }
"""


def split_titles(site):
    """Gives the search each name of a heading of several, such as "ga_cumsum, ga_scan_args", as a title of its own."""
    path = site / "searchindex.js"
    head, tail = "Search.setIndex(", ")"
    index = json.loads(path.read_text(encoding="utf-8").strip().removeprefix(head).removesuffix(tail))
    titles = index["alltitles"]
    for title in [title for title in titles if re.fullmatch(r"\w+(, \w+)+", title)]:
        for name in title.split(", "):
            titles.setdefault(name, titles[title])
    path.write_text(head + json.dumps(index, separators=(",", ":")) + tail, encoding="utf-8")


def without_folders(path):
    """The text of a page without its links to folders, for which the site has no page."""
    def link(found):
        return found[1] if (path.parent / found[2]).is_dir() else found[0]
    return re.sub(r"\[([^][]*)\]\(([^)#:]*)\)", link, path.read_text(encoding="utf-8"))


def contents(readme):
    """Hidden tables of contents, one for each group of pages in README.md."""
    groups = re.split(r"^\*\*(.*)\*\*$", readme.split("## The pages", 1)[1].split("\n## ", 1)[0], flags=re.M)
    for title, group in zip(groups[1::2], groups[2::2]):
        pages = dict.fromkeys(re.findall(r"\]\((docs/\w[\w-]*\.md|bench/README\.md)", group))
        yield "\n".join(["", "```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])


def main():
    sphinx, root, version, target = sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        for folder in ("docs", "examples", "bench"):
            shutil.copytree(root / folder, stage / folder)
        for page in ("CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "abi.txt"):
            shutil.copy(root / page, stage / page)
        shutil.copy(root / "README.md", stage / "README.md")
        for page in stage.rglob("*.md"):
            page.write_text(without_folders(page), encoding="utf-8")
        readme = (stage / "README.md").read_text(encoding="utf-8")
        more = "\n\n```{toctree}\n:hidden:\n:caption: The project\n\nCONTRIBUTING.md\nCHANGELOG.md\n```\n"
        (stage / "README.md").write_text(readme + "\n".join(contents(readme)) + more, encoding="utf-8")
        (stage / "style").mkdir()
        (stage / "style/quarry.css").write_text(STYLE, encoding="utf-8")
        (stage / "conf.py").write_text(CONF.format(version=version), encoding="utf-8")
        for other in [*stage.glob("examples/**/*.md"), *stage.glob("bench/*/*.md")]:
            other.write_text("---\norphan: true\n---\n" + other.read_text(encoding="utf-8"), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run([sphinx, "-q", "-b", "html", "-d", str(stage / ".doctrees"), str(stage), str(target)],
                       check=True)
        shutil.copy(target / "README.html", target / "index.html")
        split_titles(target)


main()
