#!/usr/bin/env python3
"""Keeps tests/messages.txt, the list of the messages that a user can meet: messages.py --check | --update."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LIST = os.path.join(ROOT, "tests", "messages.txt")
SOURCES = ["src/**/*.[ch]", "cli/*.[ch]", "templates/simt/*.host"]

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\w+|\s+|.', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)

# Every text in these calls is a message or a part of one.
RAISING = re.compile(r"fail|complain|ga__log$|set_message$|ga__cuda_check$|expect$")
# No text in these calls is one: assembler, assertions, keys of records, names to look up.
SILENT = re.compile(r"asm|_Static_assert|str(str|cmp)|value_of|ga__record_set\w*|cudaLibraryGetGlobal|trap")
# Any other text is one if two words follow each other, unless it is code or a part of a key.
WORDS = re.compile(r"[A-Za-z]{2,}'?[,:;]? \(?[a-z\\%]|[a-z]+ [a-z]{2,}")
CODE = re.compile(r"; |;\\n|\{ |^\[&\]|ga::|= $|^#(include|undef|define)|--std|^r = |^const ga|_Pragma")
KEY = re.compile(r"^(%s %zu|eval %d|custom %d|(%s for %s, )?fast_math|sm_%d|quarry %s\\n|simulator|processor|"
                 r"%lld %lld|no simulator|user's source|cpu family|CPU [a-z]{4}$|long long|unsigned char)")


def tokens(text):
    """The tokens of the text without blanks, comments and directives other than definitions of macros."""
    text = DIRECTIVE.sub(lambda match: match[0] if "define" in match[0] else "", text)
    return [token for token in TOKEN.findall(text) if not token.isspace() and not token.startswith(("//", "/*"))]


def literals(tokens_of_file):
    """(the calls around it, the text) of each literal. Neighbours are joined; PRId64 becomes lld."""
    calls, found, text = [], [], None
    for i, token in enumerate(tokens_of_file + [""]):
        if token.startswith('"') or (text is not None and token.startswith("PRI")):
            text = (text or "") + (token[1:-1] if token[0] == '"' else "ll" + token[3])
            continue
        if text is not None:
            found.append((list(calls), text))
            text = None
        if token == "(":
            calls.append(tokens_of_file[i - 1] if i else "")
        elif token == ")" and calls:
            calls.pop()
    return found


def is_message(calls, text):
    if any(SILENT.search(call) for call in calls) or not re.search(r"[A-Za-z]{2}", text):
        return False
    if text.startswith("usage: ") or any(RAISING.search(call) for call in calls):
        return True
    return bool(WORDS.search(text)) and not CODE.search(text) and not KEY.search(text)


# A message that is raised starts with an operation, or with the part of Quarry that failed: "add: ...".
PREFIX = re.compile(r"(%s|[a-z0-9_:%]+|\w+ \w+): |%s$|%s%s")


def raised_without_prefix():
    """The texts that ga__fail() gets as its format and that name no operation."""
    for path in glob.glob(os.path.join(ROOT, "src/**/*.c"), recursive=True):
        with open(path, encoding="utf-8") as file:
            text = DIRECTIVE.sub("", file.read())
        for match in re.finditer(r'ga__fail(?:_null)?\((?:[^"()]|\([^()]*\))*"((?:\\.|[^"\\])*)"', text):
            if not PREFIX.match(match[1]):
                yield f"{os.path.relpath(path, ROOT)}: {match[1]}"


def messages():
    found = set()
    for pattern in SOURCES:
        for path in glob.glob(os.path.join(ROOT, pattern), recursive=True):
            with open(path, encoding="utf-8") as file:
                found |= {text for calls, text in literals(tokens(file.read())) if is_message(calls, text)}
    return sorted(found, key=lambda text: (text.strip().lower(), text))


def main():
    now = "".join(f'"{text}"\n' for text in messages())
    if sys.argv[1:] == ["--update"]:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(now)
        return 0
    if sys.argv[1:] != ["--check"]:
        print(__doc__)
        return 2
    unnamed = list(raised_without_prefix())
    for text in unnamed:
        print("names no operation:", text)
    with open(LIST, encoding="utf-8") as file:
        listed = file.read()
    for line in sorted(set(now.splitlines()) - set(listed.splitlines())):
        print("+", line)
    for line in sorted(set(listed.splitlines()) - set(now.splitlines())):
        print("-", line)
    if now == listed:
        return len(unnamed) > 0
    print("tests/messages.txt differs from the messages in the sources. Review the lines above, then run\n"
          "    python3 tools/messages.py --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
