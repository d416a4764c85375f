"""The other libraries of calls.py: each runs the formulas of calls.def in its own words, on arrays that it holds."""
import os
import sys
import time

import numpy as np

# Where PyTorch's words are not NumPy's; others have NumPy's formula.
TORCH = {
    'to_float32': 'x.float()', 'to_float64': 'x.double()', 'to_float16': 'x.half()', 'to_int64': 'x.long()',
    'to_int8': 'x.char()', 'to_bool': 'x.bool()', 'copy': 'x.clone()',
    'var': 'x.var(correction=0)', 'rows_var': 'm.var(1, correction=0)', 'columns_var': 'm.var(0, correction=0)',
    'rows_max': 'm.amax(1)', 'columns_max': 'm.amax(0)',
    'cumsum': 'x.cumsum(0)', 'cumprod': 'x.cumprod(0)', 'cummax': 'x.cummax(0)',
    'partition': None, 'argpartition': None,
    'quantile': 'np.quantile(x, 0.9)', 'quantiles': 'np.quantile(x, shares.to(x.dtype))', 'topk': 'np.topk(x, 100)',
    'rows_median': 'm.median(1)', 'isin': 'np.isin(x, points)', 'union1d': 'np.unique(np.cat((x, y)))',
    'intersect1d': None, 'digitize': 'np.bucketize(x, points)', 'histogram': 'np.histc(x, 50)',
    'histogram_range': 'np.histc(x, 256, 0, 1)', 'interp': None, 'interp_ascending': None,
    'put': 'out.put_(order, y)', 'add_at': 'sums.index_add_(0, wide, y)', 'nonzero': 'mask.nonzero()',
    'rows_take': 'm.index_select(0, some_rows)', 'columns_take': 'm.index_select(1, some_columns)',
    'rows_take_along': 'm.take_along_dim(places, 1)',
    'concatenate': 'np.cat((x, y))', 'rows_concatenate': 'np.cat((m, m), 1)',
    'pad': 'np.nn.functional.pad(m, (1, 1, 1, 1))', 'tile': 'x.tile(3)',
    'repeat': 'x.repeat_interleave(3)', 'transpose': 'm.t().contiguous()', 'flip': 'x.flip(0)',
    'convolve': 'np.nn.functional.conv1d(x[None, None], few.flip(0)[None, None], padding=32)',
    'correlate': 'np.nn.functional.conv1d(x[None, None], few[None, None])'}
# Where those of JAX are not, whose arrays do not change.
JAX = {
    'copy': 'x + 0', 'transpose': 'm.T + 0', 'flip': 'x[::-1] + 0', 'cummax': 'lax.cummax(x)',
    'topk': 'lax.top_k(x, 100)', 'put': 'out.at[order].set(y)', 'add_at': 'sums.at[wide].add(y)'}
CUPY = {'cummax': None, 'put': 'out.__setitem__(order, y)', 'add_at': 'cupyx.scatter_add(sums, wide, y)'}
MLX = {
    'to_float32': 'x.astype(np.float32)', 'to_float64': None, 'to_float16': 'x.astype(np.float16)',
    'to_int64': 'x.astype(np.int64)', 'to_int8': 'x.astype(np.int8)', 'to_bool': 'x.astype(np.bool_)',
    'copy': 'np.contiguous(x + 0)', 'transpose': 'np.contiguous(m.T)', 'flip': 'np.contiguous(x[::-1])',
    'topk': 'np.topk(x, 100)', 'cummax': 'x.cummax()', 'dot': 'np.inner(x, y)',
    'put': 'out.at[order].multiply(0).at[order].add(y)', 'add_at': 'sums.at[wide].add(y)'}


class Numpy:
    """NumPy, and the common part of the others: formulas as functions of the arrays."""
    words = {}

    def __init__(self, formulas, on_cpu=True):
        self.formulas = {**formulas, **self.words}
        self.module, self.names, self.made = np, {}, {}
        self.arrays = {}

    def hold(self, arrays):
        """Takes the place of the arrays before."""
        self.made.clear()
        self.arrays = {name: self.take(array) for name, array in arrays.items()}

    def take(self, array):
        """The library's array; None if it has no such dtype."""
        try:
            return self.upload(array)
        except (TypeError, ValueError):
            return None

    def upload(self, array):
        return array

    def wait(self, result):
        pass

    def function(self, name):
        """The formula as a function of all arrays; None if the library has no such function."""
        if name not in self.made:
            text = self.formulas[name]
            if text is not None:
                text = eval(f'lambda {", ".join(self.arrays)}: {text}', {'np': self.module, **self.names})
            self.made[name] = text
        return self.made[name]

    def time_us(self, name, times):
        """Microseconds of one of `times` calls; None if it cannot."""
        try:
            run = self.function(name)
            if run is None:
                return None
            start = time.perf_counter()
            for _ in range(times):
                result = run(**self.arrays)
            self.wait(result)
            return (time.perf_counter() - start) * 1e6 / times
        except Exception as error:  # whatever a library throws
            self.made[name] = None
            print(f'# {type(self).__name__}: {name}: {type(error).__name__}: {str(error)[:100]!r}', file=sys.stderr)
            return None


class Cupy(Numpy):
    words = CUPY

    def __init__(self, formulas, on_cpu=False):
        super().__init__(formulas)
        import cupy
        import cupyx
        self.module, self.names = cupy, {'cupyx': cupyx}

    def upload(self, array):
        return self.module.asarray(array)

    def wait(self, result):
        self.module.cuda.Stream.null.synchronize()


class Torch(Numpy):
    words = TORCH

    def __init__(self, formulas, on_cpu=False):
        super().__init__(formulas)
        import torch
        torch.set_grad_enabled(False)
        self.module = torch
        self.place = 'cpu' if on_cpu else 'cuda'

    def upload(self, array):
        return self.module.from_numpy(np.ascontiguousarray(array)).to(self.place)

    def wait(self, result):
        if self.place == 'cuda':
            self.module.cuda.synchronize()


class Jax(Numpy):
    words = JAX

    def __init__(self, formulas, on_cpu=False):
        super().__init__(formulas)
        os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
        import jax
        jax.config.update('jax_enable_x64', True)
        self.jax, self.module, self.names = jax, jax.numpy, {'lax': jax.lax}

    def upload(self, array):
        return self.jax.device_put(array)

    def function(self, name):
        """Under jit, but for results whose length depends on values."""
        if name not in self.made and self.formulas[name] is not None:
            plain = super().function(name)
            compiled = self.jax.jit(plain)
            try:
                compiled.lower(**self.arrays)
                self.made[name] = compiled
            except Exception:  # not for jit, or not in the library: the call itself tells
                self.made[name] = plain
        return super().function(name)

    def wait(self, result):
        self.jax.block_until_ready(result)


class Mlx(Numpy):
    words = MLX

    def __init__(self, formulas, on_cpu=False):
        super().__init__(formulas)
        import mlx.core as mx
        self.module = mx

    def upload(self, array):
        made = self.module.array(np.ascontiguousarray(array))
        if str(made.dtype).rsplit('.', 1)[-1].rstrip('_') != array.dtype.name:
            raise TypeError(f'no {array.dtype.name}')
        return made

    def function(self, name):
        """Evaluated at once: of results that nobody reads MLX would compute none."""
        if name not in self.made and self.formulas[name] is not None:
            plain = super().function(name)

            def call(**arrays):
                result = plain(**arrays)
                self.module.async_eval(result)
                return result
            self.made[name] = call
        return super().function(name)

    def wait(self, result):
        self.module.synchronize()


PEERS = {'numpy': Numpy, 'cupy': Cupy, 'torch': Torch, 'jax': Jax, 'mlx': Mlx}
