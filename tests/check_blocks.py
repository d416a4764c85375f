"""Checks the C of README.md and docs/: check_blocks.py [--run LIBRARY] ROOT OPS_H COMPILER...

OPS_H is the header made by the build; its folder's parent holds the others that are made. These compile:
- every ```c block that has a main(), as a program without warnings;
- every call in a table with the columns "NumPy" and "Quarry" of docs/numpy.md, as statements over
  the names of the page's first ```c block.
Every ```sh block is a text that a shell reads, and the tree has the programs, their options and the options of builds
that it names. No block of any page is of a kind that no test reads. Code of README.md has at most 88 columns, which
its site and other places show without a bar.

With --run the programs of all pages run instead, linked with the library: each ends well, and prints the ```text block
that follows it. Those of docs/tutorial.md all have one.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from page_blocks import blocks

arguments = sys.argv[1:]
library = Path(arguments[1]).resolve() if arguments[0] == "--run" else None
root, ops_h, *compiler = arguments[2 if library else 0:]
root, made = Path(root).resolve(), Path(ops_h).resolve().parent.parent
# What reads a block: this file, check_fragments.py, make_api.py and make_reference.py of these pages, package.sh of the
# first block of its kind on a page.
READ = {"README.md": {"c", "cpp", "text", "", "sh"}, "docs": {"c", "cpp", "text", "", "sh"}, "CONTRIBUTING.md": {"sh"},
        "bench": {"sh"}, "examples": {"sh"}, "tests": {"sh"}}
ONCE = {"docs/install.md": {"make", "cmake", "meson"}}
# Where the options of a program stand, unless in itself.
PROGRAMS = {"quarry-bench": "bench/*.c", "quarry-turns": "bench/turns.c", "quarry": "cli/*.c",
            "run.sh": "bench/compare/*.py"}
options = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{root}/include", f"-I{made}", "-x", "c", "-"]


def programs(page, text):
    """The programs of a page, and what stands in the block after each."""
    found = list(blocks(text))
    for k, (kind, line, code) in enumerate(found):
        if kind == "c" and re.search(r"\bmain\(", code):
            after = found[k + 1] if k + 1 < len(found) else ("", 0, "")
            yield f'#line {line} "{page}"\n{code}', after[2] if after[0] == "text" else None


def table(page, text):
    """A program of all calls in the tables."""
    calls, inside = [], False
    for line, row in enumerate(text.splitlines(), 1):
        columns = [cell.strip() for cell in row.split("|")[1:-1]]
        inside = len(columns) == 2 and (inside or columns == ["NumPy", "Quarry"])
        for code in re.findall(r"`([^`]*\bga_\w+\(.*?)`", columns[1]) if inside else []:
            calls.append(f'#line {line} "{page}"\nstatic void f{len(calls)}(void) {{ {code}; }}')
    if not calls:
        sys.exit(f"{page} has no table of NumPy's and Quarry's names")
    line, names = next((line, code) for kind, line, code in blocks(text) if kind == "c")
    return "\n".join(["#include <quarry.h>", f'#line {line} "{page}"', names, *calls])


def source_of(program):
    """The text of the program that a shell starts; empty if it has none in this tree."""
    pattern = PROGRAMS.get(Path(program).name, program if program.startswith("tools/") else "nothing")
    return "".join(path.read_text() for path in root.glob(pattern))


def option_errors(code):
    """The long options of the tree's programs that those do not have."""
    for command in re.split(r"\n|&&|\||;", code.replace("\\\n", " ")):
        words = [word for word in command.split() if not re.match(r"[A-Z_]+=", word)]
        source = source_of(words[0]) if words else ""
        if Path(words[0] if words else "").name == "quarry" and words[1:2] == ["bench"]:
            source = source_of("quarry-bench")
        known = set(re.findall(r"[\w-]+", source))
        for option in re.findall(r"(?<=\s)--([a-z][\w-]*)", command) if source else []:
            if not known & {option, "--" + option}:
                yield f"{words[0]} has no option --{option}"


def shell_errors(page, line, code):
    """What a block for the shell names and the tree lacks."""
    done = subprocess.run(["sh", "-n"], input=code, text=True, capture_output=True)
    found = [done.stderr] if done.returncode else []
    code = re.sub(r"#.*", "", code)
    files = re.findall(r"(?<![\w./-])(tools/\w[\w./-]*|\w[\w/-]*\.(?:py|sh|ini))", code)
    found += [f"there is no {name}" for name in files
              if not (root / name).exists() and not (root / page).parent.joinpath(name).exists()]
    known = re.findall(r"^option\('(\w+)'", (root / "meson_options.txt").read_text(), flags=re.M)
    found += [f"there is no option {name}" for name in re.findall(r" -D(\w+)=", code)
              if name not in known and not name.startswith("b_")]
    return [f"{page}:{line}: {message}" for message in [*found, *option_errors(code)]]


def block_errors(page, text):
    """The blocks of a page that no test reads, or that are too wide."""
    known, once = READ.get(page.parts[0], set()), ONCE.get(str(page), set())
    kinds = [kind for kind, _, _ in blocks(text)]
    wrong = [f"{page}: no test reads a block of the kind \"{kind}\"" for kind in kinds
             if kind not in known and not (kind in once and kinds.count(kind) == 1)]
    if len(re.findall(r"^\s*(?:```|~~~)", text, flags=re.M)) != 2 * len(kinds):
        wrong.append(f"{page}: no test reads an indented block, or one whose kind is not a word")
    wrong += [f"{page}:{line}: a line of code has more than 88 columns" for _, line, code in blocks(text)
              if str(page) == "README.md" and max(map(len, code.splitlines())) > 88]
    return wrong


def compile_errors(code):
    """The compiler's complaints about a text."""
    run = subprocess.run([*compiler, "-fsyntax-only", "-Wno-unused-value", "-Wno-unused-function", *options],
                         input=code, text=True, capture_output=True)
    return run.stderr if run.returncode else ""


def run_errors(job):
    """How the output of a program differs from its page."""
    code, wanted = job
    place = re.sub(r'#line (\d+) "(.*)"', r"\2:\1", code.splitlines()[0])
    if wanted is None and place.startswith("docs/tutorial.md"):
        return f"{place}: no ```text block follows the program"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "examples").symlink_to(root / "examples")
        program = str(Path(folder, "program"))
        link = subprocess.run([*compiler, *options, "-x", "none", str(library), f"-Wl,-rpath,{library.parent}",
                               "-o", program], input=code, text=True, capture_output=True)
        if link.returncode:
            return link.stderr
        run = subprocess.run([program], cwd=folder, text=True, capture_output=True, env=environment)
    if run.returncode == 0 and (run.stdout == wanted or wanted is None and run.stdout and not run.stderr):
        return ""
    return f"{place}: status {run.returncode}, prints\n{run.stdout}{run.stderr}instead of\n{wanted or 'something'}"


environment = dict(os.environ)
if "QUARRY_TEST_SHARE" in os.environ:   # a short run; the kernels are not what this checks
    environment["QUARRY_CXXFLAGS"] = "-O0"
jobs, failures, check = [], [], run_errors if library else compile_errors
pages = [path for pattern in ("*.md", "docs/*.md", *(f"{name}/**/*.md" for name in ("bench", "examples", "tests")))
         for path in sorted(root.glob(pattern))]
for path in pages:
    page, text = path.relative_to(root), path.read_text()
    if library:
        jobs += programs(page, text)
        continue
    jobs += [code for code, _ in programs(page, text)]
    jobs += [table(page, text)] if path.name == "numpy.md" else []
    # Results are records of their day.
    failures += block_errors(page, text) if page.name != "CHANGELOG.md" and page.parent.name != "results" else []
    for kind, line, code in blocks(text):
        failures += shell_errors(page, line, code) if kind == "sh" else []
if not jobs:
    sys.exit("the pages have no programs")
with ThreadPoolExecutor(2) as pool:
    failures += [message for message in pool.map(check, jobs) if message]
if failures:
    sys.exit("\n".join(["Code in pages is wrong:", *failures]))
print(f"{len(jobs)} programs of pages {'run as the page shows' if library else 'compile'}")
