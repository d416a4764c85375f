"""The table of compared cases: inputs and the formula that every peer computes, named as quarry-bench names them.

A formula is written once in NumPy's words, `formula(xp, x, y, ..., **out)`, and again only where a library
needs other words. `part` cuts the inputs down to those of the result's first elements, which are checked.
"""
import dataclasses
from typing import Callable, Optional

import numpy as np

RATE, SIGMA = 0.02, 0.30


def first(*inputs):
    """The first rows of all; a broadcast operand with fewer dimensions stays whole."""
    most = max(x.ndim for x in inputs)
    return [x[:64] if x.ndim == most else x for x in inputs]


def whole(*inputs):
    return list(inputs)


def columns(x, *others):
    return [x[:, :64]] + [y[:64] for y in others]


@dataclasses.dataclass
class Case:
    name: str
    kinds: tuple                        # dtype of each input; 'positive' is float32 without a sign
    formula: Callable
    shapes: tuple = ('n',)              # of each input; the last counts for the others
    part: Callable = first
    out: bool = False                   # the formula takes an array for the result, where a library has that
    tolerance: float = 1e-5             # relative
    sums: bool = False                  # rounding grows with the number of terms
    fused: bool = False                 # torch.compile and numexpr have something to fuse
    index: bool = False                 # the result is an index: what stands there counts
    text: Optional[str] = None          # numexpr's, in these names
    names: tuple = ('x', 'y')
    finish: Optional[Callable] = None   # of numexpr's and CuPy's result and the first input
    torch: Optional[Callable] = None    # where its words are not NumPy's
    draws: Optional[str] = None         # a name of DRAWS: n random numbers, and no formula
    small: bool = False                 # of so many elements whatever n is: timed in the cache
    cupy: Optional[tuple] = None        # of an ElementwiseKernel, or (longer) of a ReductionKernel
    words: dict = dataclasses.field(default_factory=dict)   # a library's own formula; None: it has no such function
    expected: Optional[Callable] = None     # of NumPy's inputs, what must come out, where the formula takes long
    dynamic: bool = False               # the result's length depends on values
    temporary: bool = False             # the memory beside input and result counts

    @property
    def is_call(self):
        """The time is the caller's, of a call among many and their end."""
        return self.name.startswith('call: ')


def shape_of(name, n):
    side = int(n ** 0.5)
    if isinstance(name, tuple):
        return name
    return {'n': (n,), 'n/2': (n // 2,), 'n/4': (n // 4,), 'n/16': (n // 16,), 'wide': (side // 4, side),
            'rows of 64': (n // 256, 64), 'side': (side, side), 'row': (side,), 'column': (side, 1),
            'cube': (256, n // 65536, 256), 'thin': (n // 4, 4), 'half': (side // 2,) * 2,
            'quarter': (side // 4,) * 2, 'stack': (n // 32768, 64, 64)}.get(name) or (name,)


def add(xp, x, y, **out):
    return xp.add(x, y, **out)


def transposed_copy(xp, m, out=None):
    if out is None:
        return getattr(xp, 'ascontiguousarray', xp.copy)(m.T)    # JAX has no such name, and copies in order
    out[...] = m.T
    return out


def black_scholes(xp, spot, strike, years):
    deviation = SIGMA * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (RATE + 0.5 * SIGMA * SIGMA) * years) / deviation
    low, high = (0.5 * (1 + xp.erf(d * 0.7071067811865476)) for d in (d1 - deviation, d1))
    return spot * high - strike * xp.exp(-RATE * years) * low


def normal_text(x):
    """The normal distribution's integral for numexpr, which has no erf: Abramowitz and Stegun 26.2.17."""
    w = f'(1/(1 + 0.2316419*abs({x})))'
    tail = (f'({w}*(0.319381530 + {w}*(-0.356563782 + {w}*(1.781477937 + {w}*(-1.821255978 + {w}*1.330274429))))'
            f' * 0.3989422804014327 * exp(-0.5*{x}*{x}))')
    return f'where({x} > 0, 1 - {tail}, {tail})'


D1 = f'((log(spot/strike) + {RATE + 0.5 * SIGMA * SIGMA:.6f}*years) / ({SIGMA}*sqrt(years)))'
NUMEXPR_CALL = (f"spot*{normal_text(D1)} - strike*exp(-{RATE}*years)*"
                f"{normal_text(f'({D1} - {SIGMA}*sqrt(years))')}")

CUPY_CALL = f"""
    float deviation = {SIGMA}f * sqrtf(t);
    float d = (logf(s / k) + {RATE + 0.5 * SIGMA * SIGMA:.6f}f * t) / deviation;
    z = s * normcdff(d) - k * expf(-{RATE}f * t) * normcdff(d - deviation)"""

F32, PAIR = ('float32',), ('float32', 'float32')


def add_case(name, kinds, shapes=('n',), **more):
    return Case(name, kinds, more.pop('formula', add), shapes, out=True, **more)


def sum_case(name, shape, axis, part, **more):
    return Case(name, more.pop('kinds', F32), lambda xp, x, **out: xp.sum(x, axis=axis, **out), (shape,), part,
                out=True, sums=True, fused=True, **more)


def max_case(name, axis, part):
    return Case(name, F32, lambda xp, x, **out: xp.max(x, axis=axis, **out), ('thin',), part, out=True,
                torch=lambda xp, x, **out: xp.amax(x, axis, **out))


def scan_case(name, shape, axis, kinds=('positive',), **more):
    return Case(name, kinds, lambda xp, x: xp.cumsum(x, axis=axis), (shape,), sums=True,
                torch=lambda xp, x: xp.cumsum(x, axis), **more)


def wide_cumsum(xp, x):
    """As NumPy's of narrow integers."""
    return xp.cumsum(x, dtype='int64')


def sort_case(name, kind, shape='n/4', axis=-1, part=lambda x: [x], **more):
    return Case(name, (kind,), lambda xp, x: xp.sort(x, axis=axis), (shape,), part, tolerance=0, temporary=True,
                torch=lambda xp, x: xp.sort(x, axis)[0], **more)


def argsort_case(name, kind, shape='n/4', **more):
    return Case(name, (kind,), lambda xp, x: xp.argsort(x), (shape,), whole, tolerance=0, index=True, temporary=True,
                expected=np.sort, **more)


def order_case(name, formula, kinds=('positive',), shapes=('n/4',), part=whole, **more):
    return Case(name, kinds, formula, shapes, part, **more)


def topk(xp, x):
    return xp.sort(xp.partition(x, len(x) - 100)[-100:])[::-1]


def between(xp, x, edges):
    """The counts between edges in PyTorch, whose histograms have equal bins."""
    return xp.bincount(xp.bucketize(x, edges, right=True))[1:]


def count_case(name, kind, bins):
    return order_case(name, lambda xp, x: xp.bincount(x, minlength=bins), (kind,), ('n/2',),
                      words={'jax': lambda xp, x: xp.bincount(x, length=bins)})


def call_cases(k):
    small = {'small': True}
    return [sort_case(f'call: sort f32 10^{k}', 'float32', (10 ** k,), **small),
            argsort_case(f'call: argsort f32 10^{k}', 'float32', (10 ** k,), **small),
            scan_case(f'call: cumsum f32 10^{k}', (10 ** k,), 0, **small)]


def move_case(name, formula, torch=None, shape='n'):
    return Case(name, ('positive',), formula, (shape,), whole, torch=torch)


def halves(x):
    half = x.shape[0] // 2
    return [x[half:2 * half], x[:half]]


def product_case(name, shapes, kind='float32', part=None, **more):
    def first_rows(x, y):
        return [x[:64], y[:64]] if x.ndim == 3 else [x[:64], y]

    more.setdefault('tolerance', 1e-3)
    return Case(name, (kind, kind), lambda xp, x, y: xp.matmul(x, y), shapes, part or first_rows, sums=True, **more)


def take_case(name, kind, axis, shapes):
    return Case(name, ('positive', kind), lambda xp, x, i: xp.take(x, i, axis=axis), shapes, whole,
                torch=lambda xp, x, i: xp.index_select(x, axis, i))


def total(name, kind, shape='n', **more):
    return Case(name, (kind,), lambda xp, x: xp.sum(x), (shape,), whole, sums=True, fused=True, **more)


# Random numbers: the mean, and how far the mean of a million may be from it.
DRAWS = {'random': (0.5, 0.01), 'standard_normal': (0, 0.01), 'standard_gamma': (2.5, 0.02), 'poisson': (30, 0.05),
         'binomial': (250, 0.1), 'choice': (499.5, 3), 'permutation': None}

CASES = [
    add_case('add f32', PAIR, fused=True, text='x + y'),
    add_case('add f16', ('float16',) * 2, tolerance=2e-3),
    add_case('add i8', ('int8',) * 2),
    add_case('add bf16', ('bfloat16',) * 2, tolerance=2e-2),
    add_case('add bool', ('bool',) * 2),
    add_case('i8 + f32', ('int8', 'float32')),
    Case('sin f32', F32, lambda xp, x, **out: xp.sin(x, **out), out=True, text='sin(x)'),
    Case('sqrt f32', ('positive',), lambda xp, x, **out: xp.sqrt(x, **out), out=True, text='sqrt(x)'),
    Case('exp f64', ('float64',), lambda xp, x, **out: xp.exp(x, **out), ('n/2',), out=True, text='exp(x)'),
    add_case('m + row', PAIR, ('side', 'row'), text='x + y'),
    add_case('m + column', PAIR, ('side', 'column'), text='x + y'),
    add_case('m[:, 1:] + m2[:, 1:]', PAIR, ('side',),
             formula=lambda xp, x, y, **out: xp.add(x[:, 1:], y[:, 1:], **out)),
    add_case('m.T + m2', PAIR, ('side',), part=columns, fused=True,
             formula=lambda xp, x, y, **out: xp.add(x.T, y, **out)),
    Case('copy of m.T', F32, transposed_copy, ('side',), columns, out=True, fused=True,
         torch=lambda xp, m, out=None: m.T.contiguous() if out is None else out.copy_(m.T)),
    add_case('x[::2] + y[::2]', PAIR, formula=lambda xp, x, y, **out: xp.add(x[::2], y[::2], **out)),
    add_case('x[1:] + y[1:]', PAIR, formula=lambda xp, x, y, **out: xp.add(x[1:], y[1:], **out)),
    add_case('x[::-1] + y', PAIR, part=lambda x, y: [x[-64:], y[:64]],
             formula=lambda xp, x, y, **out: xp.add(x[::-1], y, **out),
             torch=lambda xp, x, y, **out: xp.add(xp.flip(x, (0,)), y, **out)),
    Case('where(c, x, y)', ('bool', 'float32', 'float32'), lambda xp, c, x, y: xp.where(c, x, y), fused=True,
         text='where(c, x, y)', names=('c', 'x', 'y')),
    Case('where(x > .5, x, y) kernel', PAIR, lambda xp, x, y: xp.where(x > 0.5, x, y), fused=True,
         text='where(x > 0.5, x, y)',
         cupy=('float32 x, float32 y', 'float32 z', 'z = x > 0.5f ? x : y')),
    Case('5*x + 6*y kernel', PAIR, lambda xp, x, y: 5 * x + 6 * y, fused=True, text='5*x + 6*y',
         cupy=('float32 x, float32 y', 'float32 z', 'z = 5 * x + 6 * y')),
    Case('eval sqrt(x*x + y*y)', PAIR, lambda xp, x, y: xp.sqrt(x * x + y * y), fused=True, text='sqrt(x*x + y*y)',
         cupy=('float32 x, float32 y', 'float32 z', 'z = sqrtf(x * x + y * y)')),
    Case('eval Black-Scholes call', ('positive',) * 3, black_scholes, fused=True,
         cupy=('float32 s, float32 k, float32 t', 'float32 z', CUPY_CALL),
         text=NUMEXPR_CALL, names=('spot', 'strike', 'years')),
    Case('eval sum((x - y)**2)', PAIR, lambda xp, x, y: xp.sum((x - y) ** 2), part=whole, sums=True, fused=True,
         text='sum((x - y)**2)', tolerance=1e-3,
         cupy=('float32 x, float32 y', 'float32 z', '(x - y) * (x - y)', 'a + b', 'z = a', '0')),
    Case('eval sqrt(mean(x**2))', F32, lambda xp, x: xp.sqrt(xp.mean(x ** 2)), part=whole, fused=True,
         text='sum(x**2)', finish=lambda squares, x: (squares / x.size) ** 0.5,
         cupy=('float32 x', 'float32 z', 'x * x', 'a + b', 'z = a', '0')),
    Case('random f32', F32, None, draws='random'),
    Case('normal f32', F32, None, draws='standard_normal'),
    Case('gamma(2.5) f32', F32, None, draws='standard_gamma'),
    Case('poisson(30)', F32, None, draws='poisson'),
    Case('binomial(1000, 0.25)', F32, None, draws='binomial'),
    Case('choice of 1000', F32, None, draws='choice'),
    Case('permutation', F32, None, draws='permutation'),
    Case('all f32', F32, lambda xp, x: xp.all(x), part=whole),
    Case('any f32, true at once', F32, lambda xp, x: xp.any(x), part=whole),
    total('sum f32', 'float32', text='sum(x)'),
    total('sum f16', 'float16', tolerance=2e-2),
    total('sum f64', 'float64', 'n/2', text='sum(x)'),
    total('sum c64', 'complex64', 'n/2'),
    Case('max f32', F32, lambda xp, x: xp.max(x), part=whole),
    Case('argmax f32', F32, lambda xp, x: xp.argmax(x), part=whole, index=True),
    Case('dot f32', PAIR, lambda xp, x, y: xp.dot(x, y), part=whole, sums=True),
    Case('outer f32', ('float32', 'float32'), lambda xp, x, y: xp.outer(x, y), shapes=('row', 'row'), part=whole),
    Case('vecdot m, m2 axis 1', PAIR, lambda xp, x, y: xp.einsum('ij,ij->i', x, y), shapes=('side', 'side'), sums=True),
    Case('einsum ij,j->i', PAIR, lambda xp, x, y: xp.einsum('ij,j->i', x, y), shapes=('side', 'row'), sums=True),
    Case('einsum ij,ij,j->i', PAIR, lambda xp, x, y: xp.einsum('ij,ij,j->i', x, x, y), shapes=('side', 'row'),
         sums=True),
    product_case('matmul f32', ('half', 'half')),
    product_case('matmul f64', ('quarter', 'quarter'), 'float64', tolerance=1e-10),
    product_case('matmul f16', ('half', 'half'), 'float16', tolerance=2e-3),
    product_case('matmul bf16', ('half', 'half'), 'bfloat16', tolerance=2e-2),
    product_case('matvec f32', ('side', 'row')),
    product_case('vecmat f32', ('row', 'side'), part=lambda x, m: [x, m[:, :64]]),
    product_case('matmul (k,64,64)', ('stack', 'stack')),
    product_case('matmul (1000,16), (16,1000)', ((1000, 16), (16, 1000)), small=True),
    product_case('matmul 128', ((128, 128), (128, 128)), part=whole, small=True),
    Case('var f32', F32, lambda xp, x: xp.var(x), part=whole, fused=True,
         torch=lambda xp, x: xp.var(x, correction=0)),
    sum_case('sum m axis 0', 'side', 0, lambda x: [x[:, :64]]),
    sum_case('sum m axis 1', 'side', 1, first),
    sum_case('sum middle of (256,k,256)', 'cube', 1, first),
    sum_case('sum ends of (256,k,256)', 'cube', (0, 2), lambda x: [x[:, :64]]),
    sum_case('sum (k,4) axis 0', 'thin', 0, whole),
    sum_case('sum (k,4) axis 1', 'thin', 1, first),
    scan_case('cumsum f32', 'n', 0),
    scan_case('cumsum m axis 0', 'side', 0),
    scan_case('cumsum m axis 1', 'side', 1),
    scan_case('cumsum i8', 'n', 0, kinds=('int8',), words={'jax': wide_cumsum}),
    scan_case('cumsum i32', 'n', 0, kinds=('int32',), words={'jax': wide_cumsum}),
    Case('cummax f32', F32, lambda xp, x: xp.maximum.accumulate(x), part=whole,
         torch=lambda xp, x: xp.cummax(x, 0)[0],
         words={'cupy': None, 'jax': lambda xp, x: xp.lax.cummax(x), 'mlx': lambda xp, x: xp.cummax(x)}),
    sort_case('sort i32', 'int32'),
    sort_case('sort i64', 'int64'),
    sort_case('sort f32', 'float32'),
    sort_case('sort f64', 'float64'),
    sort_case('sort f16', 'float16'),
    sort_case('sort u8', 'uint8', expected=lambda x: np.repeat(np.arange(256), np.bincount(x, minlength=256))),
    argsort_case('argsort f32', 'float32'),
    argsort_case('argsort f16', 'float16'),
    sort_case('sort rows m', 'float32', 'wide', part=first),
    sort_case('sort columns m', 'float32', 'wide', 0, columns),
    sort_case('sort rows (k,64)', 'float32', 'rows of 64', part=first),
    sort_case('sort rows (1000,1000)', 'float32', (1000, 1000), part=first),
    order_case('topk 100 f32', topk, F32, torch=lambda xp, x: xp.topk(x, 100)[0],
               words={'jax': lambda xp, x: xp.lax.top_k(x, 100)[0],
                      'mlx': lambda xp, x: xp.sort(xp.topk(x, 100))[::-1]}),
    order_case('median f32', lambda xp, x: xp.median(x)),
    order_case('median m axis 1', lambda xp, x: xp.median(x, axis=1), shapes=('side',), part=first, tolerance=1e-3,
               torch=lambda xp, x: xp.median(x, 1)[0]),    # the lower one of two
    order_case('quantile f32, 3 shares', lambda xp, x, q: xp.quantile(x, q), ('positive', 'shares'), ('n/16', (3,))),
    order_case('partition f32', lambda xp, x: xp.partition(x, len(x) // 2)[len(x) // 2], words={'torch': None}),
    order_case('searchsorted f32 in 2^20', lambda xp, x, table: xp.searchsorted(table, x), ('positive', 'ascending'),
               ('n/4', (1 << 20,)), lambda x, table: [x[:64], table],
               torch=lambda xp, x, table: xp.searchsorted(table, x)),
    order_case('unique i32 of 10^6', lambda xp, x: xp.unique(x), ('below 1000000',), dynamic=True,
               expected=lambda x: np.flatnonzero(np.bincount(x))),
    order_case('isin i32, 1000 tests', lambda xp, x, test: xp.isin(x, test), ('below 1000000',) * 2, ('n/4', (1000,)),
               lambda x, test: [x[:64], test]),
    order_case('nonzero, half', lambda xp, x: xp.flatnonzero(x), ('bool',), ('n',), dynamic=True,
               torch=lambda xp, x: xp.nonzero(x)[:, 0]),
    order_case('x[mask], half', lambda xp, x, m: x[m], ('positive', 'bool'), ('n',), dynamic=True),
    order_case('x[mask], 1 %', lambda xp, x, m: x[m], ('positive', 'rare'), ('n',), dynamic=True),
    order_case('x[x > 1.5], half', lambda xp, x: x[x > 1.5], shapes=('n',), dynamic=True),
    order_case('histogram f32, 256 bins', lambda xp, x: xp.histogram(x, 256, range=(1, 2))[0], shapes=('n',),
               torch=lambda xp, x: xp.histc(x, 256, 1, 2)),
    order_case('histogram f32, 256 edges', lambda xp, x, edges: xp.histogram(x, edges)[0], ('positive', 'edges'),
               ('n', (257,)), torch=between),
    count_case('bincount i32 below 256', 'below 256', 256),
    count_case('bincount i32 below 10^6', 'below 1000000', 1000000),
    move_case('concatenate f32', lambda xp, x: xp.concatenate(halves(x)), lambda xp, x: xp.cat(halves(x))),
    move_case('stack f32', lambda xp, x: xp.stack(halves(x), axis=-1), lambda xp, x: xp.stack(halves(x), -1)),
    move_case('concatenate m axis 1', lambda xp, x: xp.concatenate(halves(x), axis=1),
              lambda xp, x: xp.cat(halves(x), 1), 'side'),
    move_case('stack m axis 1', lambda xp, x: xp.stack(halves(x), axis=1), lambda xp, x: xp.stack(halves(x), 1),
              'side'),
    move_case('roll m, both axes', lambda xp, x: xp.roll(x, (5, 5), (0, 1)), shape='side'),
    move_case('repeat f32', lambda xp, x: xp.repeat(x, 2), lambda xp, x: xp.repeat_interleave(x, 2)),
    move_case('tile f32', lambda xp, x: xp.tile(x, (2,))),
    move_case('roll f32', lambda xp, x: xp.roll(x, 5)),
    move_case('diff f32', lambda xp, x: xp.diff(x)),
    move_case('triu m', lambda xp, x: xp.triu(x), shape='side'),
    move_case('pad m', lambda xp, x: xp.pad(x, 1), lambda xp, x: xp.nn.functional.pad(x, (1, 1, 1, 1)), 'side'),
    take_case('take f32 in sequence', 'reversed', 0, ('n', 'n')),
    take_case('take f32 random', 'scattered', 0, ('n', 'n')),
    take_case('take rows m', 'reversed', 0, ('side', 'row')),
    take_case('take columns m', 'reversed', 1, ('side', 'row')),
    Case('take_along_axis m', ('positive', 'reversed'), lambda xp, x, i: xp.take_along_axis(x, i, axis=1),
         ('side', 'side'), whole, torch=lambda xp, x, i: xp.take_along_dim(x, i.long(), 1)),
    max_case('max (k,4) axis 0', 0, whole),
    max_case('max (k,4) axis 1', 1, first),
] + [Case(f'sum f32 10^{k}', F32, lambda xp, x: xp.sum(x), (10 ** k,), whole, sums=True, small=True)
     for k in (3, 5, 6, 7)] + [case for k in (3, 5, 6) for case in call_cases(k)]

BYTES = {'bool': 1, 'rare': 1, 'int8': 1, 'uint8': 1, 'float16': 2, 'bfloat16': 2, 'float64': 8, 'int64': 8,
         'complex64': 8}


def input_shapes(case, n):
    shapes = [shape_of(s, n) for s in case.shapes]
    return shapes + shapes[-1:] * (len(case.kinds) - len(shapes))
