"""Times one library in a process of its own: peer.py LIBRARY --n N; prints a line of JSON for each case."""
import argparse
import functools
import itertools
import json
import os
import statistics
import sys
import time

import numpy as np

import cases
import libraries

SAMPLES = 15
CACHES = 256 << 20          # all sets of inputs together are at least this large: four caches of 64 MiB
MAX_SETS = 8
STEP = 1021                 # inputs are windows into one random array, this far apart
SCATTER = 2654435761        # as in bench/cases.c
SAMPLES_S, FEWEST = 2, 3    # no more samples after so many seconds, but for the fewest
RARE = 1.01                 # of numbers in [1, 2), one in a hundred is less
BATCH, BATCHES = 200, 15    # calls behind one host time, and how many such batches
CALLS, CALLS_US = 100, 20000    # of calls whose end counts, and the time of as many as that takes
REPEATS = 3                 # new kernels


def random_floats(count):
    """+-[1, 2) with every bit of the fraction random, like quarry-bench's data."""
    bits = np.random.default_rng(20).integers(0, 1 << 32, count, dtype=np.uint32)
    return (np.uint32(0x3f800000) | bits >> np.uint32(9) | bits << np.uint32(31)).view(np.float32)


def indices(kind, shape):
    """int32 indices along the last axis, as quarry-bench has them: from the last one to the first, or in no order."""
    line = np.arange(shape[-1], dtype=np.int64)
    line = line[::-1] if kind == 'reversed' else line * SCATTER % shape[-1]
    return np.ascontiguousarray(np.broadcast_to(line.astype(np.int32), shape))


def drawn(kind, shape, number):
    """What the host draws: integers of the whole range or below a limit, and sorted or fixed floats; None for other
    kinds."""
    rng = np.random.default_rng(number)
    if kind in ('reversed', 'scattered'):
        return indices(kind, shape)
    if kind.startswith('below '):
        return rng.integers(0, int(kind.removeprefix('below ')), shape, dtype=np.int32)
    if kind in ('int32', 'int64', 'uint8'):
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
    if kind == 'ascending':
        return np.sort(1 + rng.random(shape, dtype=np.float32))
    if kind == 'shares':
        return np.array([0.1, 0.5, 0.9], np.float32)
    if kind == 'edges':
        return (1 + (np.arange(shape[0]) / 256) ** 2).astype(np.float32)
    return None


def make_inputs(library, base, case, n, number):
    inputs = []
    for i, (kind, shape) in enumerate(zip(case.kinds, cases.input_shapes(case, n))):
        host = drawn(kind, shape, 3 * number + i)
        if host is not None:
            inputs.append(library.upload(host))
            continue
        count = int(np.prod(shape)) * (2 if kind == 'complex64' else 1)
        x = library.window(base, (3 * number + i) * STEP, count)
        if kind == 'positive':
            x = library.words.abs(x)
        elif kind == 'bool':
            x = x > 0
        elif kind == 'rare':
            x = library.words.abs(x) < RARE
        elif kind == 'int8':
            x = library.cast(x * 64, kind)
        elif kind != 'float32':
            x = library.cast(x, kind)
        inputs.append(x.reshape(shape))
    return inputs


def is_right(library, case, inputs, result):
    """The result's first elements (all of a small one) against NumPy's for the same inputs."""
    parts = [library.download(x) for x in case.part(*inputs)]
    parts = [x.astype(np.float32) if x.dtype == np.float16 else x for x in parts]
    with np.errstate(all='ignore'):
        expected = np.asarray(case.expected(*parts) if case.expected else case.formula(libraries.NUMPY, *parts))
    got = library.download(result[tuple(slice(0, k) for k in expected.shape)] if expected.ndim else result)
    got = np.asarray(got)
    if case.index:
        got, expected = parts[0][got.astype(int)], expected if case.expected else parts[0][int(expected)]
    if np.shape(got) != np.shape(expected):
        return False
    if np.array_equal(got, expected):
        return True
    wide = np.result_type(expected.dtype, np.float64)
    got, expected = np.asarray(got).astype(wide), expected.astype(wide)
    terms = parts[0].size / max(expected.size, 1)
    allowed = case.tolerance * (1 + abs(expected)) + (1e-4 * terms ** 0.5 if case.sums else 0)
    return bool(np.all(abs(got - expected) <= allowed))


def set_count(case, n):
    nbytes = sum(cases.BYTES.get(kind, 4) * np.prod(shape, dtype=float)
                 for kind, shape in zip(case.kinds, cases.input_shapes(case, n)))
    return int(min(max(-(-CACHES // nbytes), 2), MAX_SETS))


def host_cache_bytes():
    nbytes = os.sysconf('SC_LEVEL3_CACHE_SIZE') if 'SC_LEVEL3_CACHE_SIZE' in os.sysconf_names else 0
    return nbytes if nbytes > 0 else 32 << 20


@functools.lru_cache
def as_large_as_the_cache():
    return np.ones(host_cache_bytes() // 4, np.float32)


def calls_us(library, run, count):
    """The caller's time for one of `count` calls and their end."""
    library.wait()
    start = time.perf_counter()
    for _ in range(count):
        run()
    library.wait()
    return (time.perf_counter() - start) / count * 1e6


def call_us(library, run):
    """As quarry-bench takes it: for one of many calls."""
    return calls_us(library, run, int(min(max(CALLS_US / calls_us(library, run, 1), 1), CALLS)))


def sample(library, case, n, run, count):
    """Times of that many runs, or of those that fit SAMPLES_S. On the host all that is in the cache is read out of it
    before each, as it is by the limits that quarry-bench times before each run of a large case."""
    cold = library.device == 'cpu' and n >= 1 << 20 and not case.small
    samples, end = [], time.perf_counter() + SAMPLES_S
    while len(samples) < count and (len(samples) < FEWEST or time.perf_counter() < end):
        if cold:
            as_large_as_the_cache().max()
        samples.append(call_us(library, run) if case.is_call else library.time_us(run))
    return samples


def time_case(library, base, case, n):
    """The median in us, of at least SAMPLES runs over the sets in turn, and whether the last results are right."""
    sets = [make_inputs(library, base, case, n, number) for number in range(set_count(case, n))]
    operation = library.operation(case)
    results = [operation(*inputs) for inputs in sets[:1]]
    into = case.out and library.takes_out
    if into:
        results += [operation(*inputs) for inputs in sets[1:]]
    turn = itertools.cycle(range(len(sets)))
    last = [0, results[0]]

    def run():
        number = next(turn)
        out = {'out': results[number]} if into else {}
        last[:] = [number, operation(*sets[number], **out)]

    for _ in sets:
        run()
    for result in results if into else []:
        library.zero(result)
    library.wait()
    samples = sample(library, case, n, run, -(-SAMPLES // len(sets)) * len(sets))
    return statistics.median(samples), is_right(library, case, sets[last[0]], last[1])


def time_draw(library, case, n):
    """The same for random numbers, whose first million must have the expected mean."""
    draw = library.draw(case.draws, n)
    last = [draw(), draw()]

    def run():
        last[0] = draw()

    library.wait()
    us = statistics.median(sample(library, case, n, run, SAMPLES))
    wanted, apart = cases.DRAWS[case.draws] or ((n - 1) / 2, n / 100)
    return us, bool(abs(float(np.mean(library.download(last[0][:1000000]))) - wanted) < apart)


# ---- The host's time ----

def batch_us(library, run):
    library.wait()
    start = time.perf_counter()
    for _ in range(BATCH):
        run()
    us = (time.perf_counter() - start) / BATCH * 1e6
    library.wait()
    return us


def host_us(library, run):
    batch_us(library, run)
    return statistics.median(batch_us(library, run) for _ in range(BATCHES))


def find(name):
    return next(case for case in cases.CASES if case.name == name)


def small_operation(library, name):
    """A function that calls the operation once on 1024 elements; None if the library skips it."""
    if library.missing(find(name)):
        return None
    x, y = (library.window(library.upload(random_floats(4096)), start, 1024) for start in (0, 2000))
    operation = library.operation(find(name))
    into = find(name).out and library.takes_out
    out = {'out': operation(x, y)} if into else {}
    return lambda: operation(x, y, **out), lambda: operation(x, y)


def time_add(library, into):
    calls = small_operation(library, 'add f32') if library.takes_out or not into else None
    return calls and host_us(library, calls[0 if into else 1])


def time_small(library, name):
    calls = small_operation(library, name)
    return calls and host_us(library, calls[0])


def time_sum_read(library):
    if library.missing(find('sum f32')):
        return None
    x = library.window(library.upload(random_floats(4096)), 0, 16)
    operation = library.operation(find('sum f32'))
    return host_us(library, lambda: float(operation(x)))


def new_kernel(number):
    return cases.Case('new kernel', cases.F32, lambda xp, x: x * (number + 0.5) + 1, fused=True,
                      cupy=('float32 x', 'float32 z', f'z = x * {number}.5f + 1.0f'))


def time_new_kernel(library):
    if type(library) not in (libraries.Cupy, libraries.TorchCompiled, libraries.Jax):
        return None
    x, samples = library.window(library.upload(random_floats(4096)), 0, 1024), []
    for number in range(-1, REPEATS):
        library.wait()
        start = time.perf_counter()
        library.operation(new_kernel(number + 10))(x)
        samples.append((time.perf_counter() - start) * 1e6)
    return statistics.median(samples[1:])


HOST_CASES = {
    'host: add into out': lambda library: time_add(library, True),
    'host: add, allocated': lambda library: time_add(library, False),
    'host: custom kernel': lambda library: time_small(library, '5*x + 6*y kernel'),
    'host: eval into out': lambda library: time_small(library, 'eval sqrt(x*x + y*y)'),
    'host: sum of 16, read': time_sum_read,
    'first call, new kernel': time_new_kernel,
}


# ---- The run ----

def row_of(name, measure):
    """The result of `measure` as a row; an error loses only that row."""
    try:
        us, right = measure()
        if us is None:
            return {'case': name, 'reason': 'it has no such thing'}
        return {'case': name, 'us': round(us, 3), **({} if right else {'reason': 'wrong result'})}
    except Exception as error:  # whatever a library throws
        return {'case': name, 'reason': f'{type(error).__name__}: {error}'[:200]}


def missing(library, case):
    return 'it has no such function' if case.words.get(library.name, True) is None else library.missing(case)


def temporary(library, base, case, n):
    """The bytes of temporary memory as part of a row."""
    if not case.temporary or case.is_call:
        return {}
    nbytes = library.temporary_bytes(case, make_inputs(library, base, case, n, 0))
    return {} if nbytes is None else {'temporary_bytes': int(nbytes)}


def time_row(library, base, case, n):
    row = row_of(case.name, lambda: time_draw(library, case, n) if case.draws else time_case(library, base, case, n))
    return {**row, **temporary(library, base, case, n)} if 'us' in row else row


def rows(library, n, wanted):
    chosen = [case for case in cases.CASES if wanted(case.name)]
    largest = max([int(np.prod(shape)) for case in chosen for shape in cases.input_shapes(case, n)] + [n])
    base = library.upload(random_floats(largest + 3 * MAX_SETS * STEP)) if chosen else None
    for case in chosen:
        reason = missing(library, case)
        yield {'case': case.name, 'reason': reason} if reason else time_row(library, base, case, n)
    for name, measure in HOST_CASES.items():
        if wanted(name):
            yield row_of(name, lambda: (measure(library), True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('library', choices=libraries.LIBRARIES)
    parser.add_argument('--n', type=int, required=True)
    parser.add_argument('--cpu', action='store_true', help='on the host, whatever else there is')
    parser.add_argument('--cases', default='')
    options = parser.parse_args()
    parts = [part for part in options.cases.split(',') if part]

    try:
        library = libraries.LIBRARIES[options.library](options.cpu)
    except Exception as error:  # not there, or it does not start
        print(json.dumps({'reason': f'{type(error).__name__}: {error}'[:200]}), flush=True)
        return 1
    print(json.dumps({'version': library.version, 'device': library.device}), flush=True)
    for row in rows(library, options.n, lambda name: not parts or any(part in name for part in parts)):
        print(json.dumps(row), flush=True)
    return 0


sys.exit(main())
