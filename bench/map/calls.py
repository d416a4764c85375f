"""Times the calls of calls.def by Quarry and by other libraries in turns; the worst ratio comes first.

calls.py QUARRY_CALLS [--sizes 1000,100000] [--dtypes int8,float64] [--lengths 3,1000] [--calls sort,add] [--out FILE]
        [--device cuda:0] [--peers cupy,torch,jax,mlx]
writes a CSV line for each cell: the least times of all in microseconds, and Quarry's over the best other's, of the
least and of the median times. Two programs, with a comma between, compare builds instead."""
import argparse
import csv
import fnmatch
import pathlib
import shutil
import signal
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

import call_peers

DTYPES = 'bool,int8,int16,int32,int64,float16,float32,float64,complex64'
REST = 0.006    # seconds in which the threads of the side before fall asleep
LENGTHS, SIZES, ROUNDS, BATCH_US = '2,3,7,33,1000', '1000,100000,10000000', 9, 1500
VALUES = ('random', 'sorted', 'reversed', 'few')
BY_ROWS = ('rows_', 'columns_', 'add_row', 'add_column', 'transpose', 'einsum', 'pad')


class Program:
    """A quarry-calls process."""

    def __init__(self, path, device):
        self.process = subprocess.Popen([path, device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f'calls.py: {line}: quarry-calls ended')
        return answer

    def time_us(self, cell, times):
        return float(self.ask(f'time {cell} {times}'))


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
            'some_rows': rng.permutation(rows), 'some_columns': rng.permutation(m.shape[1]),
            'places': rng.integers(0, m.shape[1], m.shape), 'order': rng.permutation(n),
            'mask': rng.random(n) < 0.5, 'none': np.zeros(n, bool),
            'low': low, 'high': high, 'points': np.sort(x[::max(n // 1000, 10)]), 'few': x[:33].copy(),
            'ascending': np.sort(x), 'table': np.sort(x[::64]), 'shares': np.array([0.25, 0.5, 0.9]),
            'rare': rng.random(n) < 0.01, 'narrow': rng.integers(0, min(n, 256), n, dtype=np.int32),
            'wide': rng.integers(0, min(n, 10 ** 6), n, dtype=np.int32), 'sums': np.zeros_like(x[:10 ** 6]),
            'square': numbers(rng, dtype, (side, side)), 'stack': numbers(rng, dtype, (64, 8, 8))}


def rested(side, name, count):
    time.sleep(REST)
    return side.time_us(name, count)


def compare(sides, name, rounds, batch_us):
    """The least and the median time of each side, in turns; None for one that cannot."""
    for side in sides:
        side.time_us(name, 1)
    once = [side.time_us(name, 1) for side in sides]
    times = [int(batch_us / (us + 0.1)) + 1 for us in once if us is not None]
    times = [max(times)] * len(sides) if max(times) < 8 * min(times) else [
        us and int(batch_us / (us + 0.1)) + 1 for us in once]
    if max(us or 0 for us in once) > 1e5:
        rounds = min(rounds, 2)
    got = [[us and rested(side, name, count) for side, us, count in zip(sides, once, times)] for _ in range(rounds)]
    return [None if None in column else (min(column), statistics.median(column)) for column in zip(*got)]


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
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--peers', default='numpy', help='with commas between: ' + ', '.join(call_peers.PEERS))
    parser.add_argument('--seconds', type=float, default=1e9, help='no cell begins later')
    parser.add_argument('--out')
    parser.add_argument('--top', type=int, default=60)
    return parser.parse_args()


def cells(given, listed, dtype, first):
    kind = np.dtype(dtype).kind.replace('u', 'i')
    for name, (kinds, _) in listed.items():
        if kind in kinds and any(fnmatch.fnmatch(name, p) for p in given.calls.split(',')):
            if first or name.startswith(BY_ROWS):
                yield name


def sides_of(given, programs, formulas):
    """Quarry and the others, as pairs of a name and a side."""
    sides = [(path, Program(path, given.device)) for path in programs]
    if len(programs) > 1:
        return sides
    for name in given.peers.split(','):
        try:
            sides.append((name, call_peers.PEERS[name](formulas, given.device == 'cpu')))
        except Exception as error:  # not there, or it does not start
            print(f'calls.py: {name}: {error}', file=sys.stderr)
    return sides


def load(sides, made, folder):
    for name, array in made.items():
        np.save(folder / f'{name}.npy', array)
    for side in sides:
        if isinstance(side, Program):
            side.ask(f'load {folder}')
        else:
            side.hold({**made, 'turned': made['m'].T, 'flipped': made['x'][::-1]})


def row_of(name, dtype, n, k, times):
    """A line of the table: Quarry's times come first. Without another's there is no ratio."""
    ours, others = times[0], [pair for pair in times[1:] if pair]
    ratios = [round(ours[which] / min(pair[which] for pair in others), 3) if others else '' for which in (0, 1)]
    return (name, dtype, n, k if name.startswith(BY_ROWS) else '',
            *(round(pair[0], 2) if pair else '' for pair in times), *ratios)


def cells_of(given, listed):
    """The arrays that cells need, as (n, dtype, k), and the cells."""
    for n in map(int, given.sizes.split(',')):
        for dtype in given.dtypes.split(','):
            for nth, k in enumerate(map(int, given.lengths.split(','))):
                wanted = list(cells(given, listed, dtype, nth == 0))
                if wanted:
                    yield (n, dtype, k), wanted


def time_cells(given, listed, sides, rows):
    """Appends to the rows; returns the number of cells that the time did not suffice for."""
    end, late = time.monotonic() + given.seconds, 0
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        for (n, dtype, k), wanted in cells_of(given, listed):
            if time.monotonic() < end:
                load(sides, arrays(dtype, n, k, given.values), folder)
            for name in wanted:
                if time.monotonic() < end:
                    rows.append(row_of(name, dtype, n, k, compare(sides, name, given.rounds, given.batch)))
                else:
                    late += 1
    finally:
        shutil.rmtree(folder)
    return late


def main():
    given = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('calls.py: told to end'))
    programs = given.program.split(',')
    lines = subprocess.run([programs[0], '--list'], check=True, capture_output=True, text=True).stdout.splitlines()
    listed = {name: (kinds, formula) for name, kinds, formula in (line.split('\t') for line in lines)}
    sides = sides_of(given, programs, {name: text.replace('turned', 'm.T') for name, (_, text) in listed.items()})
    rows, late = [], 0
    try:
        late = time_cells(given, listed, [side for _, side in sides], rows)
    finally:
        report(given, ['us' if len(programs) == 1 else programs[0], *(name for name, _ in sides[1:])], rows)
    if late:
        print(f'{late} cells had no time')


def report(given, names, rows):
    rows.sort(key=lambda row: -(row[-2] or 0))
    if given.out:
        with open(given.out, 'w', newline='') as file:
            csv.writer(file).writerows([('call', 'dtype', 'n', 'k', *names, 'least', 'median'), *rows])
    print('{:16} {:10} {:>9} {:>5}'.format('call', 'dtype', 'n', 'k'), *(f'{name[-10:]:>10}' for name in names))
    for row in rows[:given.top]:
        print('{:16} {:10} {:>9} {:>5}'.format(*row[:4]), *(f'{us:>10}' for us in row[4:]))
    behind = sum(row[-2] > 1.05 for row in rows if row[-2])
    print(f'{behind} of {len(rows)} cells are more than 5 % behind')


main()
