#!/usr/bin/env python3
"""Counts what repeated calls execute on the host, by Valgrind, and holds them to their budgets.

usage: instructions.py VALGRIND QUARRY-INSTRUCTIONS
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def count(valgrind, program):
    """The calls as (instructions, budget, text). Each return of `counted` ends a file of counts."""
    # A malloc that fills what it gives, as Meson asks for, would be counted too.
    environment = {name: value for name, value in os.environ.items() if name != 'MALLOC_PERTURB_'}
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [valgrind, '--tool=callgrind', '--collect-atstart=no', '--toggle-collect=counted',
             '--dump-after=counted', f'--callgrind-out-file={folder}/counts', program],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(f'instructions.py: {program} fails under Valgrind:\n{run.stderr}')
        calls = []
        for k, line in enumerate(run.stdout.splitlines(), 1):
            budget, text = line.split('\t')
            counts = pathlib.Path(folder, f'counts.{k}').read_text()
            executed = re.search(r'^(?:summary|totals): (\d+)', counts, re.M).group(1)
            calls.append((int(executed), int(budget), text))
        return calls


def main():
    calls = count(*sys.argv[1:])
    over = sum(executed > budget for executed, budget, _ in calls)
    print('instructions   budget  call')
    for executed, budget, text in calls:
        print(f'{executed:12} {budget:8}  {text}{"  OVER BUDGET" if executed > budget else ""}')
    return over > 0 or not calls


if __name__ == '__main__':
    sys.exit(main())
