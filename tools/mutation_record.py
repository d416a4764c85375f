"""Keeps the results of tools/mutate in tests/mutations/results.txt; the file's header explains its columns."""
import datetime
import functools
import hashlib
import os
import re
import subprocess
import sys

from mutation_list import ROOT, STATEFUL, all_tests

RECORD = ROOT / 'tests/mutations/results.txt'
FIELDS = 'digest', 'outcome', 'by', 'commit', 'date'
OUTCOMES = {'killed', 'survived', 'uncompiled'}
HEADER = """\
# What `tools/mutate --record` found on the host, without a GPU: a line for each mutation, sorted by name.
#
#     name digest outcome test commit date
#
# outcome  killed; survived; or uncompiled: the fault does not compile
# test     the program and the test that failed; status=N: it ended so; timeout: it took too long, twice; - for none
# commit   HEAD when the mutation was tried; date: the day, in UTC
# digest   of the mutation, of the file that it changes, and of the sources of its tests, all but comments. While it
#          stays, the result stands. Other files of the library, tests/support and golden files are not in it: for
#          those, delete lines.
"""
# Of C and of templates, whose directives are no comments: a literal, which stays as it is, or what separates words.
LITERAL_OR_SPACE = re.compile(rb'''("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')'''
                              rb'''|(?:\s|/\*.*?\*/|//(?!@)[^\n]*)+''', re.DOTALL)


def load():
    """The recorded results by name. A merge may leave two lines of one mutation: the later day's stands."""
    results = {}
    for line in RECORD.read_text().splitlines() if RECORD.is_file() else []:
        if line.startswith('#'):
            continue
        fields = line.split(' ')
        if len(fields) != 6 or fields[2] not in OUTCOMES:
            sys.exit(f'{RECORD.relative_to(ROOT)}: not the line of a result: {line}')
        result = dict(zip(FIELDS, fields[1:]))
        if result['date'] >= results.get(fields[0], result)['date']:
            results[fields[0]] = result
    return results


def save(results):
    """Replaces the record at once: whoever reads it meanwhile finds a whole one."""
    lines = [' '.join([name, *(result[f] for f in FIELDS)]) + '\n' for name, result in sorted(results.items())]
    new = RECORD.with_suffix(f'.{os.getpid()}.new')
    new.write_text(HEADER + ''.join(lines))
    new.replace(RECORD)


def is_sorted():
    """Whether the record has each mutation once and in order: after a merge it may not."""
    lines = RECORD.read_text().splitlines() if RECORD.is_file() else []
    names = [line.split(' ')[0] for line in lines if not line.startswith('#')]
    return names == sorted(set(names))


@functools.lru_cache(maxsize=None)
def text(path):
    """What a file says besides its comments; all of it in Python, where indentation matters."""
    said = path.read_bytes() if path.is_file() else b''
    if path.suffix == '.py':
        return said
    return LITERAL_OR_SPACE.sub(lambda found: found[1] or (b'\n' if b'\n' in found[0] else b' '), said)


def test_sources(test):
    return sorted((ROOT / 'tests/stateful').glob('*.py')) if test == STATEFUL else [ROOT / f'tests/test_{test}.c']


def digest(mutation):
    """What a result depends on, as the header of the record says."""
    hashed = hashlib.sha256(repr([mutation[f] for f in ('file', 'in', 'old', 'new', 'tests')]).encode())
    for path in [ROOT / mutation['file']] + [p for t in mutation['tests'] or all_tests() for p in test_sources(t)]:
        hashed.update(hashlib.sha256(text(path)).digest())
    return hashed.hexdigest()[:12]


def stamp():
    """The commit and the day of a run."""
    head = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    day = datetime.datetime.now(datetime.timezone.utc).date()
    return {'commit': head.stdout.decode().strip() or '-', 'date': day.isoformat()}
