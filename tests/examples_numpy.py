"""Runs examples and what they are in NumPy: examples_numpy.py EXAMPLES/numpy PROGRAM...

Both print the same text, and the example has at most twice the lines of code."""
import importlib.util
import re
import subprocess
import sys
from pathlib import Path


def code_lines(text, comments):
    """The lines with code, without braces alone and lines that name headers or modules."""
    text = re.sub(comments, '', text, flags=re.S)
    return [line for line in text.splitlines() if not re.fullmatch(r'\s*([{}]*|#include.*|import.*)\s*', line)]


def check(folder, program):
    name = Path(program).name
    source = folder.parent / f'{name}.c'
    peer = folder / f'{name}.py'
    ours, numpys = (subprocess.run(command, capture_output=True, text=True)
                    for command in ([program], [sys.executable, peer]))
    if ours.returncode or numpys.returncode or ours.stdout != numpys.stdout:
        return f'{name}: {ours.stdout}{ours.stderr}NumPy: {numpys.stdout}{numpys.stderr}'
    lines = len(code_lines(source.read_text(), r'/\*.*?\*/'))
    numpy_lines = len(code_lines(peer.read_text(), r'""".*?"""|#[^\n]*'))
    print(f'{name}: {lines} lines, {numpy_lines} in NumPy')
    return f'{name}: more than twice as many lines' if lines > 2 * numpy_lines else ''


def main():
    if not importlib.util.find_spec('numpy'):
        print('NumPy is not installed')
        return 77
    wrong = [why for why in (check(Path(sys.argv[1]), program) for program in sys.argv[2:]) if why]
    print('\n'.join(wrong))
    return bool(wrong)


sys.exit(main())
