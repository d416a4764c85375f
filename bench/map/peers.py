"""Times cells of the map with one other library: peers.py LIBRARY CELLS.csv --bytes B --seconds S.

The cells come in random order, so that those that the time does not suffice for are a random part. Each prints a line
`case,dtype,layout,length,us`; a cell that the library cannot compute prints `#` and the reason."""
import argparse
import csv
import os
import random
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'compare'))
import libraries  # noqa: E402: of the comparison beside this folder

SAMPLES = 5


def spread(axis):
    """The keyword that keeps a reduced axis of NumPy's kind."""
    return {'axis': axis, 'keepdims': True}


def array_formulas(np):
    """Each case in the words of NumPy, JAX, CuPy or MLX."""
    def exps(m):
        return np.exp(m - np.max(m, **spread(1)))
    return {
        'sum1': lambda m, y, c, r: np.sum(m, axis=1),
        'max1': lambda m, y, c, r: np.max(m, axis=1),
        'argmax1': lambda m, y, c, r: np.argmax(m, axis=1),
        'var1': lambda m, y, c, r: np.var(m, axis=1),
        'all1': lambda m, y, c, r: np.all(m, axis=1),
        'dot1': lambda m, y, c, r: np.sum(m * y, axis=1),
        'sum0': lambda m, y, c, r: np.sum(m, axis=0),
        'max0': lambda m, y, c, r: np.max(m, axis=0),
        'argmax0': lambda m, y, c, r: np.argmax(m, axis=0),
        'var0': lambda m, y, c, r: np.var(m, axis=0),
        'addcol': lambda m, y, c, r: m + c,
        'addrow': lambda m, y, c, r: m + r,
        'add': lambda m, y, c, r: m + y,
        'softmax1': lambda m, y, c, r: exps(m) / np.sum(exps(m), **spread(1)),
        'layernorm1': lambda m, y, c, r: (m - np.mean(m, **spread(1))) / np.sqrt(np.var(m, **spread(1)) + 0.001),
        'rmsnorm1': lambda m, y, c, r: m / np.sqrt(np.mean(m * m, **spread(1)) + 0.001) * r,
        'logsumexp1': lambda m, y, c, r: np.log(np.sum(exps(m), axis=1)) + np.max(m, axis=1),
    }


def torch_formulas(torch, compiled):
    """Each case in PyTorch's words: its own kernel of the name where it has one."""
    def exps(m):
        return torch.exp(m - torch.amax(m, 1, True))
    formulas = {
        'sum1': lambda m, y, c, r: torch.sum(m, 1),
        'max1': lambda m, y, c, r: torch.amax(m, 1),
        'argmax1': lambda m, y, c, r: torch.argmax(m, 1),
        'var1': lambda m, y, c, r: torch.var(m, 1, correction=0),
        'all1': lambda m, y, c, r: torch.all(m, 1),
        'dot1': lambda m, y, c, r: torch.sum(m * y, 1),
        'sum0': lambda m, y, c, r: torch.sum(m, 0),
        'max0': lambda m, y, c, r: torch.amax(m, 0),
        'argmax0': lambda m, y, c, r: torch.argmax(m, 0),
        'var0': lambda m, y, c, r: torch.var(m, 0, correction=0),
        'copyT': lambda m, y, c, r: m.t().contiguous(),
        'addcol': lambda m, y, c, r: m + c,
        'addrow': lambda m, y, c, r: m + r,
        'add': lambda m, y, c, r: m + y,
        'softmax1': lambda m, y, c, r: torch.softmax(m, 1),
        'layernorm1': lambda m, y, c, r: torch.nn.functional.layer_norm(m, m.shape[1:], eps=0.001),
        'rmsnorm1': lambda m, y, c, r: m / torch.sqrt(torch.mean(m * m, 1, True) + 0.001) * r,
        'logsumexp1': lambda m, y, c, r: torch.logsumexp(m, 1),
    }
    if compiled:
        formulas['softmax1'] = lambda m, y, c, r: exps(m) / torch.sum(exps(m), 1, True)
        formulas['layernorm1'] = lambda m, y, c, r: ((m - torch.mean(m, 1, True)) /
                                                     torch.sqrt(torch.var(m, 1, correction=0, keepdim=True) + 0.001))
    return formulas


def copies(name, library):
    """The copy of a transpose, which the libraries with NumPy's words spell differently."""
    if name == 'jax':
        # The addition keeps XLA from giving out its input with another layout.
        return lambda m, y, c, r: m.T + library.words.zeros((), m.dtype)
    if name == 'mlx':
        return lambda m, y, c, r: library.module.contiguous(m.T)
    return lambda m, y, c, r: library.words.ascontiguousarray(m.T)


def formulas_of(name, library):
    if name.startswith('torch'):
        return torch_formulas(library.module, name == 'torch.compile')
    return {**array_formulas(library.words), 'copyT': copies(name, library)}


def matrix(whole, layout, rows, length):
    """Rows of `length` as quarry-map makes them."""
    if layout == 'windowed':
        return whole[:rows * (length + 3)].reshape(rows, length + 3)[:, 1:1 + length]
    if layout == 'transposed':
        return whole[:rows * length].reshape(length, rows).T
    return whole[:rows * length].reshape(rows, length)


def random_host(dtype, count, seed):
    import numpy as np
    u = np.random.default_rng(seed).random(count, dtype=np.float32)
    if dtype == 'bool':
        return u > 0.5
    return (u * (8 if dtype.startswith(('float', 'complex')) else 100)).astype(dtype)


def compiled(name, library, formula):
    if name == 'jax':
        jitted = library.jax.jit(formula)

        def call(*inputs):
            library.last = jitted(*inputs)
            return library.last
        return call
    if name == 'torch.compile':
        library.module._dynamo.reset()
        return library.module.compile(formula, dynamic=False)
    return library.evaluated(formula) if name == 'mlx' else formula


def time_cell(name, library, formula, whole, other, cell):
    rows, length = int(cell['rows']), int(cell['length'])
    m = matrix(whole, cell['layout'], rows, length)
    y = matrix(other, cell['layout'], rows, length)
    inputs = (m, y, other[:rows].reshape(rows, 1), other[:length])
    operation = compiled(name, library, formula)

    def run():
        return operation(*inputs)
    library.time_us(run)
    return statistics.median(library.time_us(run) for _ in range(SAMPLES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('library', choices=libraries.LIBRARIES)
    parser.add_argument('cells')
    parser.add_argument('--bytes', type=int, required=True)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--cpu', action='store_true')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    library = libraries.LIBRARIES[options.library](options.cpu)
    formulas = formulas_of(options.library, library)
    with open(options.cells) as file:
        cells = list(csv.DictReader(line for line in file if not line.startswith('#')))
    random.Random(options.seed).shuffle(cells)
    cells.sort(key=lambda cell: cell['dtype'])
    dtypes = sorted({cell['dtype'] for cell in cells})
    for dtype in dtypes:
        end = time.monotonic() + options.seconds / len(dtypes)
        try:
            whole, other = (library.upload(random_host(dtype, options.bytes // bytes_of(dtype), seed))
                            for seed in (1, 2))
        except (TypeError, ValueError, AttributeError) as why:
            print(f'# {options.library} has no {dtype}: {why}'.replace('\n', ' '))
            continue
        for cell in (cell for cell in cells if cell['dtype'] == dtype):
            if time.monotonic() > end:
                break
            try:
                us = time_cell(options.library, library, formulas[cell['case']], whole, other, cell)
                print(f"{cell['case']},{dtype},{cell['layout']},{cell['length']},{us:.2f}", flush=True)
            except Exception as why:  # a library's own errors have no common type
                print(f"# {cell['case']} {dtype} {cell['length']}: {why}".splitlines()[0], flush=True)
        del whole, other


def bytes_of(dtype):
    import numpy as np
    return np.dtype(dtype).itemsize


main()
