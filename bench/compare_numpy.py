"""Times NumPy beside Quarry's host backend on the same cores: compare_numpy.py QUARRY-BENCH [--log2 N].

Prints a table: the case, NumPy's and Quarry's median in us, and NumPy's time over Quarry's. NumPy's
elementwise functions and sums use one thread, its dot as many as its BLAS takes.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np

SETS, SAMPLES = 3, 15


def random_array(n, seed):
    return np.random.default_rng(seed).random(n, dtype=np.float32) + 1


def median_us(operation, sets):
    for arrays in sets:
        operation(*arrays)
    samples = []
    for i in range(SAMPLES):
        start = time.perf_counter()
        operation(*sets[i % len(sets)])
        samples.append((time.perf_counter() - start) * 1e6)
    return sorted(samples)[SAMPLES // 2]


def time_numpy(n):
    sets = [(random_array(n, 3 * k), random_array(n, 3 * k + 1), np.ones(n, np.float32)) for k in range(SETS)]
    return {
        'add f32': median_us(lambda x, y, out: np.add(x, y, out=out), sets),
        'sqrt f32': median_us(lambda x, y, out: np.sqrt(x, out=out), sets),
        'sum f32': median_us(lambda x, y, out: np.sum(x), sets),
        'dot f32': median_us(lambda x, y, out: np.dot(x, y), sets),
    }


def time_quarry(program, log2):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'bench.json')
        command = [program, '--json', path, '--cases', 'add f32,sqrt f32,sum f32,dot f32']
        if log2:
            command += ['--n', str(log2)]
        subprocess.run(command, check=True, env={**os.environ, 'QUARRY_DEVICE': 'cpu'},
                       stdout=subprocess.DEVNULL)
        with open(path) as file:
            return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('program')
    parser.add_argument('--log2', type=int, default=0, help='2^N elements instead of 10^7')
    parser.add_argument('--json', help='writes the table to this file too')
    options = parser.parse_args()

    quarry = time_quarry(options.program, options.log2)
    numpy_us = time_numpy(quarry['n'])
    rows = [{'case': row['case'], 'numpy_us': numpy_us[row['case']], 'quarry_us': row['us'],
             'ratio': numpy_us[row['case']] / row['us']} for row in quarry['cases'] if row['case'] in numpy_us]

    print(f"{quarry['description']}, n = {quarry['n']}, NumPy {np.__version__}, "
          f"{len(os.sched_getaffinity(0))} processors")
    print(f'{"case":12s} {"NumPy us":>12s} {"Quarry us":>12s} {"ratio":>8s}')
    for row in rows:
        print(f'{row["case"]:12s} {row["numpy_us"]:12.1f} {row["quarry_us"]:12.1f} {row["ratio"]:8.2f}')
    if options.json:
        with open(options.json, 'w') as file:
            json.dump({'device': quarry['description'], 'n': quarry['n'], 'numpy': np.__version__,
                       'cases': rows}, file, indent=1)


main()
