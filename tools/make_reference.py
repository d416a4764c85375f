"""Makes docs/reference.md, an example and the result dtypes of each public name:
make_reference.py [--check] ROOT LIBRARY MADE_HEADERS COMPILER...

The examples are those of docs/examples.txt, then those of tests/surface, then one for each row of a table. They are
compiled and run here; MADE_HEADERS is the folder of the headers that the build makes. With --check nothing is written:
the exit status says whether the file is up to date, and whether each exported function, type and macro has an example.
QUARRY_TEST_SHARE=n then runs some of the examples, which QUARRY_TEST_SAMPLE chooses, five of n; all of them compile.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import reference_program as program

INTRODUCTION = '''# Reference

Every function, type and macro with an example. `tools/make_reference.py` generates this page: it compiles and runs
each example and inserts the output. [api.md](api.md) describes the functions. The examples run inside a `GA_SCOPE`,
with these variables:

```c
{prelude}
```

`a`, `b`, `c`, `d` and `out[4]` receive results, and `rng` is `ga_rng_new(7)`. A line
without a semicolon is an expression, and its value follows. If NumPy has the function, its expression follows too, and
the tests compare both.

The tables of dtypes give the result of an example if all operands from `x` to `ints` have another dtype; "an error"
marks a dtype that the function does not take. Operands of several dtypes are computed in their common dtype
([ga_result_type](#ga_result_type)).
'''
DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'bfloat16',
          'float32', 'float64', 'complex64', 'complex128', 'float8_e4m3fn', 'float8_e5m2']
FEW = ['bool', 'int32', 'int64', 'uint8', 'float16', 'float32', 'float64', 'complex64']
OWN = {'GA_API', 'GA_BEGIN_DECLS', 'GA_END_DECLS', 'GA_PRINTF', 'GA_DTYPE', 'GA_BROADCAST', 'GA_CALL_SITES'}
CHOICE = re.compile(r'_(ONE|MANY|MORE|OVER|\d+)$|OVER$|^GA_(EACH|SHAPE)\d+$')
BEHIND = ('_into', '_with', '_values', '_parts', '_args', '_at')    # of a name whose example is the other's


def public_names(root):
    """The exported functions, the types, and the macros of the headers, in the headers' order."""
    names, folder = {}, root / 'include' / 'quarry'
    order = re.findall(r'^#include <quarry/(\w+)\.h>', (root / 'include/quarry.h').read_text(), flags=re.M)
    exported = re.findall(r'^(ga_\w+) ', (root / 'abi.txt').read_text(), flags=re.M)
    for header in order:
        file = root / 'tools/make_ops.py' if header == 'ops' else folder / f'{header}.h'    # ops.h is made
        if not file.exists():
            continue
        if header == 'ops':
            names.update((name, header) for name in table_names(root))
        text = re.sub(r'/\*.*?\*/', '', file.read_text(), flags=re.S)
        types = re.findall(r'\} (ga_\w+);|^typedef (?:struct|enum) \w+ ((?:ga_|gpuarray)\w*);|'
                           r'^typedef [^;]*?\(\*(ga_\w+)\)', text, flags=re.M)
        macros = re.findall(r'^#\s*define ((?:GA|ga|QUARRY_VERSION)_\w*[a-zA-Z0-9])(?!\w)', text, flags=re.M)
        known = {name for found in types for name in found if name} | set(exported)
        known |= {name for name in macros if not CHOICE.search(name) and not name.endswith('_H')} - OWN
        found = re.findall(r'\b((?:GA|ga|QUARRY)_\w+|gpuarray)\b', text)
        names.update((name, header) for name in found if name in known and name not in names)
    names.update((name, 'ops') for name in exported if name not in names)
    names.update((f'{name}_into', 'ops') for name, of in aliases(root).items() if f'{of}_into' in exported)
    return {name: header for name, header in names.items() if not name.endswith('_') or name == 'ga_ix_'}


def table_names(root):
    for table in ('unary', 'binary', 'ternary', 'split', 'reduce', 'scan', 'draw', 'alias'):
        for row in program.rows(root, table):
            yield ('ga_rng_' if table == 'draw' else 'ga_') + row[0]


def aliases(root):
    return {f'ga_{row[0]}': f'ga_{row[1]}' for row in program.rows(root, 'alias')}


def owner(name, examples, alias):
    """The name whose example shows this one."""
    if name in examples:
        return name
    for end in BEHIND:
        if name.endswith(end) and name != name.removesuffix(end):
            return owner(name.removesuffix(end), examples, alias)
    if name in alias:
        return owner(alias[name], examples, alias)
    return None


def dtype_table(pairs):
    """Rows of a Markdown table: the dtypes that give the same result together."""
    groups = {}
    for dtype, result in pairs:
        groups.setdefault(result, []).append(dtype)
    if len(groups) == len(pairs) and all(dtype == result for dtype, result in pairs):
        return ['Result: the dtype of the operands.', '']
    if len(groups) == 1:
        return [f'Result: {next(iter(groups))}, whatever the dtype.', '']
    same = [dtype for dtype, result in pairs if dtype == result]
    rows = []
    for result, dtypes in groups.items():
        others = [dtype for dtype in dtypes if len(same) < 4 or dtype not in same]
        if others:
            rows.append((', '.join(others), 'an error' if result == 'error' else result))
    if len(same) > 3:
        rows.append(('all others' if len(pairs) == len(DTYPES) else ', '.join(same), 'the same'))
    return ['| operands | result |', '|---|---|', *(f'| {left} | {right} |' for left, right in rows), '']


def section(names, example, output, pairs):
    """One heading with its example."""
    lines = [f'### {", ".join(names)}', '', '```c', example.shown, '```', '']
    if example.numpy:
        lines += [f'In NumPy: `{example.numpy}`', '']
    lines += ['```text', output.rstrip('\n'), '```', '']
    return lines + (dtype_table(pairs) if pairs else [])


def headings(root, examples):
    """The page's headings in their order: the header, the names, the example."""
    names, alias = public_names(root), aliases(root)
    together, lost, headers = {}, [], {}
    for name, header in names.items():
        shown = owner(name, examples, alias)
        if shown is None:
            lost.append(name)
            continue
        first = examples[shown].names[0]
        together.setdefault(first, []).append(name)
        headers.setdefault(first, header)
    if lost:
        sys.exit('docs/examples.txt has no example of ' + ', '.join(lost))
    return [(headers[first], sorted(found, key=lambda name: name != first), examples[first])
            for first, found in together.items()]


def page(found, outputs, dtypes):
    out, chapter = [INTRODUCTION.format(prelude=program.PRELUDE.strip())], None
    for header, names, example in found:
        if header != chapter:
            chapter = header
            out += [f'## <quarry/{chapter}.h>', '']
        out += section(names, example, outputs[example.number], dtypes.get(example.number, []))
    return '\n'.join(out).rstrip() + '\n'


def stale(text, found, outputs, dtypes):
    """The headings whose sections the text lacks; of examples that did not run, it has the code."""
    for _, names, example in found:
        number = example.number
        lines = section(names, example, outputs.get(number, ''), dtypes.get(number, []))
        if '\n'.join(lines if number in outputs else lines[:lines.index('```', 3)]).rstrip() not in text:
            yield names[0]


def run(root, library, made, compiler, examples, share):
    """What each example prints, and the dtypes of the results, of one example of `share`."""
    with tempfile.TemporaryDirectory() as folder:
        source = program.text(examples, DTYPES, FEW)
        binary = str(Path(folder, 'examples'))
        options = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-Wno-unused', '-Wno-unused-value', '-O0',
                   f'-I{root}/include', f'-I{made}', '-x', 'c', '-']
        done = subprocess.run([*compiler, *options, '-x', 'none', str(library), f'-Wl,-rpath,{library.parent}',
                               '-lm', '-o', binary], input=source, text=True, capture_output=True)
        if done.returncode:
            sys.exit(done.stderr)
        # A cache of its own: the examples print what is in it.
        env = dict(os.environ, QUARRY_DEVICE='cpu', QUARRY_CACHE_DIR=f'{folder}/cache')
        if share > 1:   # the time of compilers is most of all; the operands and results do not depend on it
            env['QUARRY_CXXFLAGS'] = '-O0'
        first = int(os.environ.get('QUARRY_TEST_SAMPLE', 0)) % share
        done = subprocess.run([binary, str(share), str(first)], cwd=folder, env=env, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f'the examples end with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}')
    outputs, dtypes = {}, {}
    for part in done.stdout.split(program.MARK)[1:]:
        head, text = part.split('\n', 1)
        kind, number, *more = head.split()
        if kind == 'example':
            outputs[int(number)] = text
        elif text.strip():
            dtypes.setdefault(int(number), []).append((more[0], text.strip()))
    return outputs, dtypes


def main():
    check = '--check' in sys.argv
    root, library, made, *compiler = [word for word in sys.argv[1:] if word != '--check']
    root, library, made = Path(root).resolve(), Path(library).resolve(), Path(made).resolve()
    examples = program.examples(root, list(public_names(root)))
    share = max(1, int(os.environ.get('QUARRY_TEST_SHARE', 1)) // 5) if check else 1
    outputs, dtypes = run(root, library, made, compiler, examples, share)
    shown = {example.names[0]: outputs[example.number] for example in examples.values() if example.number in outputs}
    wrong = [f'{name}: {output}' for name, output in shown.items() if 'ERROR' in output or not output.strip()]
    if wrong:
        sys.exit('Examples fail or print nothing:\n' + '\n'.join(wrong))
    path, found = root / 'docs' / 'reference.md', headings(root, examples)
    if not check:
        path.write_text(page(found, outputs, dtypes), encoding='utf-8')
        return
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    old = list(stale(text, found, outputs, dtypes))
    if old or share == 1 and text != page(found, outputs, dtypes):
        sys.exit(f'docs/reference.md is not what the examples print ({", ".join(old)}): run tools/make_reference.py')
    print(f'{len(outputs)} of {len(found)} examples run as docs/reference.md shows')


main()
