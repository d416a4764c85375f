"""The peers: how each library makes arrays, runs a formula and takes the time."""
import math
import os
import re
import time

import numpy as np

# A kernel of about 0.2 ms holds the stream while short work is queued behind it: only the device's time counts.
HOLD_CYCLES = 400000


class Words:
    """A library's module, with the error function that it keeps elsewhere."""

    def __init__(self, module, erf):
        self.module, self.erf = module, erf

    def __getattr__(self, name):
        return getattr(self.module, name)


NUMPY = Words(np, np.vectorize(math.erf, otypes=[np.float32]))


def finished(operation, finish):
    """The operation, followed by the necessary use of its result."""
    return (lambda *inputs: finish(operation(*inputs), inputs[0])) if finish else operation


# The parameters of draws of integers, and of gamma numbers.
DRAW_NUMBERS = {'poisson': (30,), 'binomial': (1000, 0.25), 'choice': (1000,), 'standard_gamma': (2.5,)}


def drawing(generator, chooser, what, n, dtype):
    """A function that draws n numbers, by names of NumPy's; `chooser` has choice and permutation."""
    if what == 'permutation':
        return lambda: chooser.permutation(n)
    numbers = DRAW_NUMBERS.get(what, ())
    if what in ('poisson', 'binomial', 'choice'):
        return lambda: getattr(chooser if what == 'choice' else generator, what)(*numbers, n)
    return lambda: getattr(generator, what)(*numbers, n, dtype=dtype)


class Numpy:
    """NumPy, and the common part of other libraries."""
    name, takes_out, device = 'numpy', True, 'cpu'
    words = NUMPY

    def __init__(self, on_cpu=True):
        self.version = np.__version__

    def upload(self, host):
        return host

    def download(self, x):
        return np.asarray(x)

    def window(self, base, start, count):
        return base[start:start + count].copy()

    def cast(self, x, kind):
        if kind == 'bfloat16':
            raise NotImplementedError('no bfloat16')
        return x.view(kind) if kind == 'complex64' else x.astype(kind)

    def missing(self, case):
        """The reason why the library skips this case; None if it takes part."""
        return 'no erf' if 'Black-Scholes' in case.name else 'slow' if case.name == 'matmul f16' else None

    def formula(self, case):
        """The case in the library's own words."""
        return case.words.get(self.name) or case.formula

    def operation(self, case):
        formula = self.formula(case)
        return lambda *inputs, **out: formula(self.words, *inputs, **out)

    def temporary_bytes(self, case, inputs):
        """The memory that a run takes besides its inputs and its result; None if the library does not tell."""
        return None

    def draw(self, what, n):
        """A function that makes n random numbers, float32 or integers, with its fastest counter-based generator."""
        generator = np.random.Generator(np.random.Philox(1))
        return drawing(generator, generator, what, n, np.float32)

    def zero(self, x):
        x[...] = 0

    def wait(self):
        pass

    def time_us(self, run):
        start = time.perf_counter()
        run()
        self.wait()
        return (time.perf_counter() - start) * 1e6


def with_constants(text):
    """The text with a name for each decimal number, and those as float32: else numexpr computes in double."""
    numbers = sorted(set(re.findall(r'(?<![\w.])\d+\.\d+', text)), key=len, reverse=True)
    for i, number in enumerate(numbers):
        text = re.sub(rf'(?<![\w.]){re.escape(number)}(?!\d)', f'constant{i}', text)
    return text, {f'constant{i}': np.float32(number) for i, number in enumerate(numbers)}


class Numexpr(Numpy):
    name, takes_out = 'numexpr', False

    def __init__(self, on_cpu=True):
        import numexpr
        self.module, self.version = numexpr, numexpr.__version__
        numexpr.set_num_threads(len(os.sched_getaffinity(0)))

    def missing(self, case):
        return None if case.text else 'no such expression'

    def operation(self, case):
        text, constants = with_constants(case.text)
        sums, results = text.startswith('sum('), {}

        def evaluate(*inputs):
            arrays = {**dict(zip(case.names, inputs)), **constants}
            # The result's memory is used again, as Quarry's is.
            key = id(inputs[0])
            result = self.module.evaluate(text, arrays, out=results.get(key))
            if not sums:
                results[key] = result
            return result
        return finished(evaluate, case.finish)


class Cupy(Numpy):
    name = 'cupy'

    def __init__(self, on_cpu=False):
        import cupy
        from cupyx.scipy.special import erf
        self.module, self.version, self.words = cupy, cupy.__version__, Words(cupy, erf)
        self.device = cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()
        self.hold = cupy.RawKernel(
            'extern "C" __global__ void hold(long long n) { long long s = clock64(); while (clock64() - s < n); }',
            'hold')
        self.before, self.after = cupy.cuda.Event(), cupy.cuda.Event()

    def upload(self, host):
        return self.module.asarray(host)

    def download(self, x):
        return self.module.asnumpy(x)

    def missing(self, case):
        return None

    def draw(self, what, n):
        generator = self.module.random.Generator(self.module.random.Philox4x3210(1))
        return drawing(generator, self.module.random, what, n, 'float32')

    def operation(self, case):
        if not case.cupy:
            return super().operation(case)
        reduces = len(case.cupy) > 3
        kind = self.module.ReductionKernel if reduces else self.module.ElementwiseKernel
        return finished(kind(*case.cupy, 'compared'), case.finish)

    def temporary_bytes(self, case, inputs):
        pool = self.module.get_default_memory_pool()
        pool.free_all_blocks()
        before = pool.total_bytes()
        result = self.operation(case)(*inputs)
        return pool.total_bytes() - before - result.nbytes

    def wait(self):
        self.module.cuda.Stream.null.synchronize()

    def time_us(self, run):
        self.hold((1,), (1,), (np.int64(HOLD_CYCLES),))
        self.before.record()
        run()
        self.after.record()
        self.after.synchronize()
        return self.module.cuda.get_elapsed_time(self.before, self.after) * 1e3


class Torch(Numpy):
    name = 'torch'

    def __init__(self, on_cpu=False):
        import torch
        self.module, self.version, self.words = torch, torch.__version__, torch
        torch.set_grad_enabled(False)
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        self.cuda = torch.cuda.is_available() and not on_cpu
        self.place = 'cuda' if self.cuda else 'cpu'
        self.device = torch.cuda.get_device_name() if self.cuda else 'cpu'
        if self.cuda:
            self.before, self.after = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def upload(self, host):
        return self.module.from_numpy(host).to(self.place)

    def download(self, x):
        x = x.float() if x.dtype in (self.module.bfloat16, self.module.float16) else x
        return x.cpu().numpy()

    def window(self, base, start, count):
        return base[start:start + count].clone()

    def cast(self, x, kind):
        dtype = getattr(self.module, kind)
        return x.view(dtype) if kind == 'complex64' else x.to(dtype)

    def missing(self, case):
        return None

    def draw(self, what, n):
        torch = self.module
        place = {'device': self.place}
        full = {'standard_gamma': 2.5, 'poisson': 30., 'binomial': 1000.}.get(what)
        numbers, shares = (None if full is None else torch.full((n,), x, **place) for x in (full, 0.25))
        return {'random': lambda: torch.rand(n, **place), 'standard_normal': lambda: torch.randn(n, **place),
                'standard_gamma': lambda: torch._standard_gamma(numbers), 'poisson': lambda: torch.poisson(numbers),
                'binomial': lambda: torch.binomial(numbers, shares),
                'choice': lambda: torch.randint(1000, (n,), **place),
                'permutation': lambda: torch.randperm(n, **place)}[what]

    def formula(self, case):
        return case.torch or super().formula(case)

    def temporary_bytes(self, case, inputs):
        if not self.cuda:
            return None
        cuda = self.module.cuda
        cuda.reset_peak_memory_stats()
        before = cuda.memory_allocated()
        result = self.operation(case)(*inputs)
        return cuda.max_memory_allocated() - before - result.nbytes

    def wait(self):
        if self.cuda:
            self.module.cuda.synchronize()

    def time_us(self, run):
        if not self.cuda:
            return super().time_us(run)
        self.module.cuda._sleep(HOLD_CYCLES)
        self.before.record()
        run()
        self.after.record()
        self.after.synchronize()
        return self.before.elapsed_time(self.after) * 1e3


class TorchCompiled(Torch):
    takes_out = False

    def missing(self, case):
        return None if case.fused else 'nothing to fuse'

    def operation(self, case):
        # Each case has its own static shapes: generic kernels would be slower.
        self.module._dynamo.reset()
        return self.module.compile(super().operation(case), dynamic=False)


class Counted(Numpy):
    """A library without events: time is the growth of the caller's clock with the number of calls, from FEW on, since
    the first ones run while the caller is still busy with its own. Of long calls it is the caller's own."""
    takes_out, FEW, MANY, LONG_US = False, 10, 30, 20000

    def missing(self, case):
        return 'its calls cost the host more than the device' if case.small and not case.is_call else None

    def calls_us(self, run, count):
        start = time.perf_counter()
        for _ in range(count):
            run()
        self.wait()
        return (time.perf_counter() - start) * 1e6

    def time_us(self, run):
        self.wait()
        once = self.calls_us(run, 1)
        if once > self.LONG_US:
            return once
        return (self.calls_us(run, self.MANY) - self.calls_us(run, self.FEW)) / (self.MANY - self.FEW)


class Jax(Counted):
    """Formulas under jit."""
    name = 'jax'

    def __init__(self, on_cpu=False):
        os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
        if on_cpu:
            os.environ['JAX_PLATFORMS'] = 'cpu'
        import jax
        jax.config.update('jax_enable_x64', True)
        jax.config.update('jax_default_matmul_precision', 'highest')  # full float32
        self.jax, self.version = jax, jax.__version__
        self.words = Words(jax.numpy, jax.scipy.special.erf)
        self.words.lax = jax.lax
        self.device = jax.devices()[0].device_kind
        self.last = None

    def upload(self, host):
        return self.jax.device_put(host)

    def download(self, x):
        return np.asarray(x.astype('float32') if x.dtype in ('bfloat16', 'float16') else x)

    def window(self, base, start, count):
        # A start that is an argument: one compilation serves all windows.
        return self.jax.lax.dynamic_slice(base, (start,), (count,))

    def cast(self, x, kind):
        return self.jax.lax.complex(x[::2], x[1::2]) if kind == 'complex64' else x.astype(kind)

    def draw(self, what, n):
        random = self.jax.random
        function = {'random': lambda key: random.uniform(key, (n,)),
                    'standard_normal': lambda key: random.normal(key, (n,)),
                    'standard_gamma': lambda key: random.gamma(key, 2.5, (n,)),
                    'poisson': lambda key: random.poisson(key, 30, (n,)),
                    'binomial': lambda key: random.binomial(key, 1000, 0.25, (n,)),
                    'choice': lambda key: random.choice(key, 1000, (n,)),
                    'permutation': lambda key: random.permutation(key, n)}[what]
        compiled = self.jax.jit(function)
        keys = [self.jax.random.key(0)]

        def call():
            keys[0], key = self.jax.random.split(keys[0])
            self.last = compiled(key)
            return self.last
        return call

    def operation(self, case):
        # A length that depends on values is not for jit.
        compiled = super().operation(case) if case.dynamic else self.jax.jit(super().operation(case))

        def call(*inputs):
            self.last = compiled(*inputs)
            return self.last
        return call

    def temporary_bytes(self, case, inputs):
        compiled = self.jax.jit(super().operation(case)).lower(*inputs).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    def wait(self):
        if self.last is not None:
            self.last.block_until_ready()


class Mlx(Counted):
    """MLX computes what it is asked to evaluate."""
    name = 'mlx'

    def __init__(self, on_cpu=False):
        import mlx.core as mx
        if on_cpu:
            mx.set_default_device(mx.cpu)
        self.module, self.version, self.words = mx, mx.__version__, mx

    def upload(self, host):
        return self.module.array(host)

    def window(self, base, start, count):
        return self.module.contiguous(base[start:start + count])

    def cast(self, x, kind):
        return x.view(self.module.complex64) if kind == 'complex64' else x.astype(getattr(self.module, kind))

    def operation(self, case):
        return self.evaluated(super().operation(case))

    def evaluated(self, formula):
        """The formula, whose result is computed although nobody reads it."""
        def call(*inputs):
            result = formula(*inputs)
            self.module.async_eval(result)
            return result
        return call

    def draw(self, what, n):
        raise NotImplementedError('not compared')

    def temporary_bytes(self, case, inputs):
        mx = self.module
        mx.synchronize()
        mx.clear_cache()
        mx.reset_peak_memory()
        before = mx.get_active_memory()
        result = self.operation(case)(*inputs)
        mx.synchronize()
        return mx.get_peak_memory() - before - result.nbytes

    def wait(self):
        self.module.synchronize()


LIBRARIES = {'numpy': Numpy, 'numexpr': Numexpr, 'cupy': Cupy, 'torch': Torch, 'torch.compile': TorchCompiled,
             'jax': Jax, 'mlx': Mlx}
