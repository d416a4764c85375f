#!/usr/bin/env python3
"""Counts what repeated calls execute on the host, by Valgrind, and holds them to their budgets.

usage: instructions.py VALGRIND QUARRY-INSTRUCTIONS [QUARRY-INSTRUCTIONS-SITES]

The second program is the same with call sites noted, which may cost MOST_FOR_A_SITE instructions a call.
Each process hashes with a key of its own, and keys that meet in a table cost a probe: a call counts as the
cheapest of RUNS processes.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_FOR_A_SITE = 40
RUNS = 4


def count_once(valgrind, program):
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


def count(valgrind, program):
    runs = [count_once(valgrind, program) for _ in range(RUNS)]
    return [min(of_a_call) for of_a_call in zip(*runs)]


def main():
    valgrind, program, *with_sites = sys.argv[1:]
    calls = count(valgrind, program)
    noted = count(valgrind, with_sites[0]) if with_sites else calls
    bad = not calls or len(noted) != len(calls)
    print('instructions   budget  for the site  call')
    for (executed, budget, text), (total, _, _) in zip(calls, noted):
        compiles = text.startswith('run_another')  # the time of a new kernel is another matter
        verdict = ('  OVER BUDGET' if executed > budget else
                   '  THE SITE COSTS TOO MUCH' if total - executed > MOST_FOR_A_SITE and not compiles else '')
        bad |= verdict != ''
        print(f'{executed:12} {budget:8} {total - executed:13}  {text}{verdict}')
    return bad


if __name__ == '__main__':
    sys.exit(main())
