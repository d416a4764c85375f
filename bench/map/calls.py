"""Times the calls of calls.def by Quarry on the host and by NumPy in turns; the worst ratio comes first.

calls.py QUARRY_CALLS [--sizes 1000,100000] [--dtypes int8,float64] [--lengths 3,1000] [--calls sort,add] [--out FILE]
writes a CSV line for each cell: the least times of both in microseconds, and the ratios of the least and of the
median times. Two programs, with a comma between, compare builds instead."""
import argparse
import csv
import fnmatch
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print('NumPy is not installed')
    sys.exit(77)

DTYPES = 'bool,int8,int16,int32,int64,float16,float32,float64,complex64'
LENGTHS, SIZES, ROUNDS, BATCH_US = '2,3,7,33,1000', '1000,100000,10000000', 9, 1500
VALUES = ('random', 'sorted', 'reversed', 'few')
BY_ROWS = ('rows_', 'columns_', 'add_row', 'add_column', 'transpose', 'einsum', 'pad')


class Program:
    """A quarry-calls process."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f'calls.py: {line}: quarry-calls ended')
        return answer

    def time_us(self, cell, times):
        return float(self.ask(f'time {cell} {times}'))


class NumPy:
    """The same calls by NumPy."""

    def __init__(self, formulas):
        self.names = {'np': np}
        self.loops = {name: self.loop(text) for name, text in formulas.items()}

    def loop(self, text):
        names = {}
        exec(f'def run(times, {", ".join(ARRAYS)}, np):\n for _ in range(times): {text}', names)
        return names['run']

    def time_us(self, name, times):
        start = time.perf_counter()
        self.loops[name](times, **self.names)
        return (time.perf_counter() - start) * 1e6 / times


ARRAYS = ('x', 'y', 'm', 'row', 'column', 'out', 'order', 'mask', 'none', 'low', 'high', 'points', 'ascending',
          'few', 'square', 'stack')


def numbers(rng, dtype, n):
    kind = np.dtype(dtype).kind
    if kind == 'c':
        return (rng.random(n) + 1j * rng.random(n)).astype(dtype)
    if kind == 'f':
        return rng.random(n).astype(dtype)
    if kind == 'b':
        return rng.random(n) < 0.5
    most = min(int(np.iinfo(dtype).max), 10 ** 6)
    return rng.integers(1, most, n, dtype=dtype)


def arranged(x, values):
    """The same numbers in another order, or seven of them again and again."""
    if values == 'random':
        return x
    if values == 'few':
        return x[np.arange(len(x)) * 7919 % 7].copy()
    return np.sort(x)[::-1 if values == 'reversed' else None].copy()


def arrays(dtype, n, k, values='random'):
    rng = np.random.default_rng(n + k)
    rows = max(n // k, 1)
    x, y = (arranged(numbers(rng, dtype, n), values) for _ in range(2))
    m = x[:rows * k].reshape(rows, k).copy() if n >= k else numbers(rng, dtype, (rows, k))
    low, high = (np.sort(x)[[n // 4, n - n // 4]] if x.dtype.kind != 'c' else x[:2])
    side = 64
    return {'x': x, 'y': y, 'm': m, 'row': m[:1].copy(), 'column': m[:, :1].copy(), 'out': np.zeros_like(x),
            'order': rng.permutation(n), 'mask': rng.random(n) < 0.5, 'none': np.zeros(n, bool),
            'low': low, 'high': high, 'points': np.sort(x[::max(n // 1000, 10)]), 'few': x[:33].copy(),
            'ascending': np.sort(x),
            'square': numbers(rng, dtype, (side, side)), 'stack': numbers(rng, dtype, (64, 8, 8))}


def compare(sides, names, rounds, batch_us):
    """The least and the median time of each side, in turns."""
    for side, name in zip(sides, names):
        side.time_us(name, 1)
    once = min(side.time_us(name, 1) for side, name in zip(sides, names))
    times = int(batch_us / (once + 0.1)) + 1
    if once > 3e5:
        rounds = min(rounds, 3)
    got = [[side.time_us(name, times) for side, name in zip(sides, names)] for _ in range(rounds)]
    return [(min(column), statistics.median(column)) for column in zip(*got)]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--sizes', default=SIZES)
    parser.add_argument('--dtypes', default=DTYPES)
    parser.add_argument('--lengths', default=LENGTHS)
    parser.add_argument('--calls', default='*', help='patterns')
    parser.add_argument('--values', default='random', choices=VALUES, help='of x and y')
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--batch', type=float, default=BATCH_US)
    parser.add_argument('--out')
    parser.add_argument('--top', type=int, default=60)
    return parser.parse_args()


def cells(given, listed, dtype, first):
    kind = np.dtype(dtype).kind.replace('u', 'i')
    for name, (kinds, _) in listed.items():
        if kind in kinds and any(fnmatch.fnmatch(name, p) for p in given.calls.split(',')):
            if first or name.startswith(BY_ROWS):
                yield name


def main():
    given = options()
    programs = given.program.split(',')
    lines = subprocess.run([programs[0], '--list'], check=True, capture_output=True, text=True).stdout.splitlines()
    listed = {name: (kinds, formula) for name, kinds, formula in (line.split('\t') for line in lines)}
    numpy = NumPy({name: text.replace('turned', 'm.T') for name, (_, text) in listed.items()})
    sides = [Program(path) for path in programs] + ([numpy] if len(programs) == 1 else [])
    folder = pathlib.Path(tempfile.mkdtemp())
    rows = []
    try:
        for n in map(int, given.sizes.split(',')):
            for dtype in given.dtypes.split(','):
                for nth, k in enumerate(map(int, given.lengths.split(','))):
                    wanted = list(cells(given, listed, dtype, nth == 0))
                    if not wanted:
                        continue
                    made = arrays(dtype, n, k, given.values)
                    for name, array in made.items():
                        np.save(folder / f'{name}.npy', array)
                    for side in sides:
                        if isinstance(side, Program):
                            side.ask(f'load {folder}')
                        else:
                            side.names.update(made)
                    for name in wanted:
                        ours, theirs = compare(sides, [name, name], given.rounds, given.batch)
                        by_rows = name.startswith(BY_ROWS)
                        rows.append((name, dtype, n, k if by_rows else '', round(ours[0], 2), round(theirs[0], 2),
                                     round(ours[0] / theirs[0], 3), round(ours[1] / theirs[1], 3)))
    finally:
        shutil.rmtree(folder)
    rows.sort(key=lambda row: -row[6])
    titles = ('call', 'dtype', 'n', 'k', 'us', 'other_us', 'least', 'median')
    if given.out:
        with open(given.out, 'w', newline='') as file:
            csv.writer(file).writerows([titles, *rows])
    for row in rows[:given.top]:
        print('{:16} {:10} {:>9} {:>5} {:>10} {:>10} {:>7} {:>7}'.format(*map(str, row)))
    behind = sum(row[6] > 1.05 for row in rows)
    print(f'{behind} of {len(rows)} cells are more than 5 % behind')


main()
