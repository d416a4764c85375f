"""Reads the lists of single faults for tools/mutate, and puts a fault into a file's text.

The lists are tests/mutations/*.txt, results.txt aside: paragraphs of `field: value`, lines that go on indented;
'#' starts a comment.

    name: overlap-without-strides
    file: src/ops/elementwise_op.c
    in: bool same_layout(                       (optional: only up to the end of the function that starts here)
    old: memcmp(a->strides, b->strides, sizeof(int64_t) * (size_t)a->ndim) == 0
    new: true
    tests: broadcast ops                        (optional: programs that should fail, likeliest first; else all)
    survives: equivalent: why no test can tell  (optional: the explanation of a survivor)

`old` must be found exactly once; blanks and line ends do not matter, and line numbers are not used, so a list outlives
edits elsewhere.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = {'name', 'file', 'in', 'old', 'new', 'tests', 'survives'}
STATEFUL = 'stateful'  # against NumPy, with the Python that QUARRY_PYTHON names


class Stale(Exception):
    """The old text of a mutation is missing, or occurs more than once."""


def lists():
    return [path for path in sorted((ROOT / 'tests/mutations').glob('*.txt')) if path.name != 'results.txt']


def parse(path):
    """The mutations of a list, as dictionaries."""
    mutations = []
    entry = field = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            entry = field = None
        elif line.startswith('#'):
            continue
        elif line[0] in ' \t':
            if field is None:
                sys.exit(f'{path}:{number}: an indented line continues nothing')
            entry[field] += '\n' + line.strip()
        else:
            field, colon, value = line.partition(':')
            if entry is None:
                entry = {'list': path.stem, 'new': '', 'tests': '', 'in': '', 'survives': ''}
                mutations.append(entry)
            if not colon or field not in FIELDS:
                sys.exit(f'{path}:{number}: not one of {", ".join(sorted(FIELDS))}: {line}')
            entry[field] = value.strip()
    for entry in mutations:
        missing = {'name', 'file', 'old'} - set(entry)
        if missing:
            sys.exit(f'{path}: a mutation lacks {", ".join(missing)}: {entry}')
        entry['tests'] = entry['tests'].split()
    return mutations


def pattern(text):
    """A regular expression for the text with any blanks and line ends."""
    tokens = re.findall(r'\w+|[^\w\s]', text)
    parts = [re.escape(tokens[0])]
    for before, token in zip(tokens, tokens[1:]):
        words = re.match(r'\w', before) and re.match(r'\w', token)
        parts.append((r'\s+' if words else r'\s*') + re.escape(token))
    return re.compile(''.join(parts))


def only_match(text, wanted, what):
    found = list(pattern(wanted).finditer(text))
    if len(found) != 1:
        raise Stale(f'{what} is there {len(found)} times')
    return found[0]


def mutated(mutation, root):
    """The text of the mutation's file with the fault."""
    path = root / mutation['file']
    if not path.is_file():
        raise Stale('no such file')
    text = path.read_text()
    start, end = 0, len(text)
    if mutation['in']:
        start = only_match(text, mutation['in'], '"in"').start()
        closing = text.find('\n}', start)
        end = closing if closing >= 0 else end
    match = only_match(text[start:end], mutation['old'], '"old"')
    return text[:start + match.start()] + mutation['new'] + text[start + match.end():]


def check(mutations):
    """Errors in the lists themselves."""
    complaints = []
    names = set()
    for m in mutations:
        if m['name'] in names:
            complaints.append(f'{m["name"]}: two mutations have this name')
        names.add(m['name'])
        try:
            if mutated(m, ROOT) == (ROOT / m['file']).read_text():
                complaints.append(f'{m["name"]}: changes nothing')
        except Stale as error:
            complaints.append(f'{m["name"]}: no longer applies to {m["file"]}: {error}')
        complaints += [f'{m["name"]}: there is no test {t}' for t in m['tests'] if t not in all_tests()]
    return complaints


def all_tests():
    """The names of the test programs, from the list that builds them, and of the tests against NumPy."""
    listed = re.search(r'test_names = \[(.*?)\n\]', (ROOT / 'tests/meson.build').read_text(), re.S).group(1)
    names = [name for name in re.findall(r"\['(\w+)', \d+\]", listed) if (ROOT / f'tests/test_{name}.c').is_file()]
    return names + [STATEFUL] * (ROOT / 'tests/stateful').is_dir()
