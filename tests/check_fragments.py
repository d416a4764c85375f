"""Compiles and runs what stands on the pages without a main(): check_fragments.py ROOT OPS_H LIBRARY CC... -- CXX...

tests/pages.txt has what stands before each fragment of C and C++, and the programs whose output the pages show as text.
A fragment must end without an error, and a program must print what the page shows.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from page_blocks import blocks

HEAD = r'''
#include <quarry.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static gpuarray *vec(int64_t n)
{
    return ga_multiply(ga_arange(GA_FLOAT32, 0, n, 1), 0.5);
}

static gpuarray *grid(int64_t rows, int64_t columns)
{
    return ga_reshape(vec(rows * columns), GA_SHAPE(rows, columns));
}
'''
MAIN = r'''
int main(int count, char **arguments)
{
    (void)count, (void)vec, (void)grid;
    ga_scope_begin();
    fragments[atoi(arguments[1])]();
    ga_scope_end();
    if (ga_error() != GA_OK)
        puts(ga_error_message());
    return ga_error() != GA_OK;
}
'''
ENVIRONMENT = dict(os.environ, QUARRY_DEVICE="cpu")
if "QUARRY_TEST_SHARE" in os.environ:   # a short run; the kernels are not what this checks
    ENVIRONMENT["QUARRY_CXXFLAGS"] = "-O0"
GENERATED = {"docs/api.md", "docs/reference.md", "docs/tutorial.md"}    # other tests have these


def fragments(root):
    """Each block that is not a program: page, kind, its number among those, first line, text."""
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        page, text, counts = str(path.relative_to(root)), path.read_text(), {}
        for kind, line, code in blocks(text):
            kind = kind or "plain"
            if page in GENERATED or kind not in ("c", "cpp", "text", "plain") or re.search(r"\bmain\(", code):
                continue
            counts[kind] = counts.get(kind, 0) + 1
            yield page, kind, counts[kind], line, code


def entries(root):
    """By page, kind and number, or None for all: what stands before the block, and why it is no code."""
    for entry in re.split(r"^== ", (root / "tests/pages.txt").read_text(), flags=re.M)[1:]:
        head, code = entry.split("\n", 1)
        page, kind, number, reason = re.fullmatch(r"(\S+) (\w+) ?(\d*)(: .+)?", head).groups()
        yield (page, kind, int(number) if number else None), (code.rstrip() + "\n", bool(reason))


def parts(code):
    """What comes before a line of dots, and what comes after; other dots stand for something."""
    before, dots, after = code.partition("\n...\n")
    return (before + "\n", after) if dots else ("", re.sub(r"^ *\.\.\.\n", "", code, flags=re.M))


class Fragment:
    def __init__(self, block, before):
        page, self.kind, _, line, text = block
        self.place, self.wanted = f"{page}:{line}", None
        outer, self.body = parts(before)
        if self.kind in ("c", "cpp"):
            own, body = parts(text)
            includes = re.findall(r"^#include.*\n", body, flags=re.M)
            body = re.sub(r"^#include.*$", "", body, flags=re.M)
            self.outer = "".join([outer, *includes, f'#line {line} "{page}"\n', own])
            first = line + len(own.splitlines()) + bool(own)
            self.body += f'#line {first - 1} "{page}"\n{{\n{body}}}\n'
        else:
            self.outer, self.wanted = outer, text

    def function(self, number):
        return f"{self.outer}\nstatic void fragment_{number}(void)\n{{\n{self.body}}}\n"


def build(fragments, compiler, standard, root, made, library, program):
    """The compiler's complaints about the program of all fragments."""
    names = ", ".join(f"fragment_{number}" for number in range(len(fragments)))
    source = "\n".join([HEAD, *(f.function(number) for number, f in enumerate(fragments)),
                        f"static void (*const fragments[])(void) = {{{names}}};", MAIN])
    done = subprocess.run([*compiler, f"-std={standard}", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused",
                           "-Wno-unused-value", "-Wno-missing-field-initializers", f"-I{root}/include", f"-I{made}",
                           "-x", "c" if standard.startswith("gnu1") else "c++", "-", "-x", "none", str(library),
                           f"-Wl,-rpath,{library.parent}", "-o", program], input=source, text=True, capture_output=True)
    return done.stderr if done.returncode else ""


def run(job):
    """How a fragment fails."""
    fragment, program, number = job
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, str(number)], cwd=folder, text=True, capture_output=True,
                              env=ENVIRONMENT)
    if done.returncode != 0:
        return f"{fragment.place}: status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    if fragment.wanted is not None and done.stdout != fragment.wanted:
        return f"{fragment.place}: shows\n{fragment.wanted}instead of\n{done.stdout}"
    return ""


def main():
    root, made, library = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve().parent.parent, Path(sys.argv[3])
    c, _, cxx = " ".join(sys.argv[4:]).partition(" -- ")
    given, used, by_kind, wrong = dict(entries(root)), set(), {"c": [], "cpp": []}, []
    for block in fragments(root):
        key = next((key for key in (block[:3], (*block[:2], None)) if key in given), None)
        used.add(key)
        if key is None:
            wrong.append(f"tests/pages.txt lacks block {block[2]} of {block[1]} in {block[0]}:{block[3]}")
        elif not given[key][1]:
            by_kind["cpp" if block[1] == "cpp" else "c"].append(Fragment(block, given[key][0]))
    wrong += [f"there is no block for {key} of tests/pages.txt" for key in given if key not in used]
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for kind, compiler, standard in (("c", c, "gnu11"), ("cpp", cxx, "gnu++20")):
            program, found = str(Path(folder, kind)), by_kind[kind]
            wrong.append(build(found, compiler.split(), standard, root, made, library.resolve(), program))
            jobs += [(fragment, program, number) for number, fragment in enumerate(found)]
        jobs = [] if any(wrong) else jobs
        with ThreadPoolExecutor(2) as pool:
            wrong += pool.map(run, jobs)
    wrong = [message for message in wrong if message]
    if wrong:
        sys.exit("\n".join(["Fragments of pages are wrong:", *wrong]))
    print(f"{sum(map(len, by_kind.values()))} fragments compile, {len(jobs)} run")


main()
