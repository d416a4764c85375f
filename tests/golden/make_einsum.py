"""Makes einsum.bin: NumPy's sums of products of every dtype and of pairs of dtypes: make_einsum.py [OUT].

Cases, with what `axes` means:
  einsum TEXT    -; with the option .dtype or without
  tensordot      the axes of the first array, then as many of the second; one axis alone: their number
  vecdot, cross  the axis
  vdot, inner, outer, kron
Answers of floats have bounds: some units of the sum of the magnitudes of the products. A case of ERROR is one that
NumPy refuses, too.
"""

import sys
from pathlib import Path

import numpy as np

from golden import BOUNDED, DTYPES, ERROR, KINDS, SMALL, Array, File, epsilon, is_sample, promote

# Subscripts and shapes. The first ones run for every dtype, the others take turns.
CASES = [
    ("ij,jk->ik", (5, 7), (7, 6)),
    ("ij,j->i", (9, 33), (33,)),
    ("i,i->", (100,), (100,)),
    ("ij->j", (40, 5)),
    ("i,j->ij", (7,), (9,)),
    ("ij,j,ij->i", (6, 20), (20,), (6, 20)),
    ("bij,bjk->bik", (3, 4, 5), (3, 5, 2)),
    ("ii->i", (6, 6)),
    ("ii", (6, 6)),
    ("iij->j", (4, 4, 3)),
    ("iji->ij", (3, 4, 3)),
    ("ijk->kij", (2, 3, 4)),
    ("ijk->", (2, 3, 4)),
    ("ij,ij", (8, 9), (8, 9)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,jk->ki", (17, 4), (4, 19)),
    ("ji,jk->ik", (4, 17), (4, 19)),
    ("ji,kj->ki", (4, 17), (19, 4)),
    ("ijk,jil->kl", (5, 4, 3), (4, 5, 2)),
    ("ijk,ljk->li", (6, 4, 3), (5, 4, 3)),
    ("ijk,kjl->il", (6, 4, 3), (3, 4, 20)),
    ("iajb,bkj->iak", (2, 3, 4, 5), (5, 6, 4)),
    ("ij,kl->ikjl", (2, 3), (4, 5)),
    ("ij,kj->ijk", (2, 3), (4, 3)),
    ("ij,jk,kl->il", (4, 9), (9, 8), (8, 3)),
    ("ij,jk,ki->", (4, 5), (5, 6), (6, 4)),
    ("ij,jk,k->i", (8, 9), (9, 10), (10,)),
    ("i,ij,j->", (8,), (8, 9), (9,)),
    ("ik,k,kj->ij", (6, 5), (5,), (5, 7)),
    ("a,b,c->abc", (3,), (4,), (5,)),
    ("ab,cb,db->acd", (3, 8), (4, 8), (2, 8)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (7, 1, 3, 4), (2, 4, 5)),
    ("...,...", (2, 3), (3,)),
    ("i...,i...->...", (4, 2, 3), (4, 3)),
    ("i...->...i", (4, 2, 3)),
    ("...ii->...i", (2, 3, 3)),
    ("...a,...b", (2, 3), (2, 4)),
    ("ba", (2, 3)),
    ("Ab,bC", (2, 3), (3, 4)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    (",ij", (), (2, 3)),
    (",->", (), ()),
    ("", ()),
    ("->", ()),
    ("i,->i", (5,), ()),
    ("ij,ij->ij", (1, 3), (2, 1)),
    ("ij,jk->ik", (4, 1), (6, 5)),
    ("ij,jk->ik", (4, 6), (1, 5)),
    ("i,i->i", (1,), (0,)),
    ("ij,jk->ik", (3, 0), (0, 4)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij->i", (3, 0)),
    ("ij,k->k", (5, 6), (4,)),
    ("ij,jk->k", (5, 6), (6, 4)),
    ("ij,ik,il->jkl", (6, 2), (6, 3), (6, 4)),
    ("nci,oci->no", (5, 3, 9), (4, 3, 9)),
    ("ijkl,klmn->ijmn", (2, 3, 4, 2), (4, 2, 3, 2)),
    ("abcd,dcef->abef", (2, 20, 4, 2), (2, 4, 18, 2)),
    ("aib,bjc->aijc", (1, 4, 3), (3, 4, 1)),
    ("ij,jkl->kil", (3, 4), (4, 5, 6)),
    ("ijk,kl->ilj", (3, 4, 5), (5, 6)),
    ("ijk,kl->ilj", (3, 20, 5), (5, 6)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("iijj", (2, 2, 3, 3)),
    ("...i->...", (2, 3)),
    ("k,nk->n", (130,), (20, 130)),
    ("kn,k->n", (130, 20), (130,)),
    ("nk,mk->nm", (18, 65), (21, 65)),
]
EVERY = 6
PAIRS = [("int8", "uint8"), ("int32", "float32"), ("bool", "int16"), ("float32", "complex64"), ("bfloat16", "float16"),
         ("uint64", "int64"), ("float16", "float32"), ("float64", "int32"), ("bool", "float16"),
         ("float8_e4m3fn", "float16")]
# What NumPy refuses, or optimises to be the same.
MISTAKES = [
    ("ij->iij", (2, 3)), ("ij->k", (2, 3)), ("ij,jk", (2, 3)), ("ij", (2, 3), (3,)), ("i", (2, 3)), ("ijk", (2, 3)),
    ("ij,jk->ik", (2, 3), (4, 5)), ("i->i->i", (2,)), ("i-j", (2,)), ("i>j", (2,)), ("i1", (2, 3)), ("i..", (2, 3)),
    ("i....", (2, 3)), ("...i...", (2, 3)), ("...,...->...", (2, 3), (4,)), ("ij- >ji", (2, 3)), ("", (2, 3)),
    ("i,i,", (2,), (2,)), ("i", ()), ("i...->i", (2, 3)), ("i->...i...", (2,)), ("ii", (1, 3)), ("ii", (3, 1)),
    ("ii->i", (2, 3)), ("i->i,", (2,)), (". . .i", (2, 3)),
]


def drawn(rng, dtype, shape):
    kind = KINDS[dtype]
    if kind == "?":
        return Array(dtype, rng.random(shape) < 0.4)
    if kind in "iu":
        info = np.iinfo(dtype)
        return Array(dtype, rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True))
    values = rng.standard_normal(shape)
    return Array(dtype, values + 1j * rng.standard_normal(shape) if kind == "c" else values)


def spread(dtype):
    return epsilon(dtype) if dtype in SMALL else float(np.finfo(dtype).eps)


def answer(file, name, function, operands, dtype=None, **options):
    """function(*operands), exactly, as `dtype` or the common dtype."""
    common = operands[0].dtype
    for x in operands[1:]:
        common = promote(common, x.dtype)
    common = dtype or common
    kind = KINDS[common]
    if kind in "?iu":
        with np.errstate(all="ignore"):
            wanted = np.asarray(function(*[x.v.astype(common) for x in operands]))
        file.case(name, operands, [Array(common, wanted)], dtype=dtype, **options)
        return
    wide = np.clongdouble if kind == "c" else np.longdouble
    wanted = np.asarray(function(*[x.v.astype(wide) for x in operands]))
    sums = np.asarray(function(*[np.abs(x.v.astype(wide)) for x in operands]), dtype=float)
    if name == "cross":
        sums = np.full(wanted.shape, float(np.max(np.abs(sums), initial=1)) * 2)
    file.case(name, operands, [Array(common, wanted), Array("float64", 8 * spread(common) * sums)], flags=BOUNDED,
              dtype=dtype, **options)


def einsum(file, rng, text, shapes, dtypes, dtype=None):
    operands = [drawn(rng, dtypes[k % len(dtypes)], shape) for k, shape in enumerate(shapes)]
    answer(file, "einsum " + text, lambda *x: np.einsum(text, *x), operands, dtype)


def products(file, rng, dtype, k):
    def pair(name, function, *shapes, axes=None):
        answer(file, name, function, [drawn(rng, dtype, shape) for shape in shapes], axes=axes)

    pair("tensordot", lambda a, b: np.tensordot(a, b, 2), (2, 3, 4), (3, 4, 5), axes=[2])
    pair("tensordot", lambda a, b: np.tensordot(a, b, 0), (2, 3), (4,), axes=[0])
    pair("tensordot", lambda a, b: np.tensordot(a, b, ([1, -3], [0, 2])), (6, 3, 4), (3, 5, 6), axes=[1, -3, 0, 2])
    pair("vecdot", lambda a, b: np.vecdot(a, b), (5, 33), (33,))
    pair("vecdot", lambda a, b: np.vecdot(a, b, axis=0), (9, 4, 1), (9, 3), axes=[0])
    pair("vdot", np.vdot, (6, 7), (6, 7))
    pair("vdot", np.vdot, (6, 7), (2, 21))
    pair("inner", np.inner, (4, 30), (2, 3, 30))
    pair("inner", np.inner, (), (3,))
    pair("outer", np.outer, (2, 3), (4,))
    pair("kron", np.kron, (2, 3), (4, 1, 2))
    pair("kron", np.kron, (2, 1, 3), ())
    if dtype != "bool":
        shapes = [((4, 3), (3,), [-1]), ((3, 5), (3, 2, 5), [0]), ((7, 2), (7, 3), None), ((7, 3), (1, 2), None),
                  ((6, 2), (6, 2), None), ((5, 3, 2), (5, 3, 2), [1])]
        for first, second, axes in (shapes if k % 3 == 0 else shapes[:3]):
            pair("cross", lambda a, b: np.cross(a, b, axis=-1 if axes is None else axes[0]), first, second, axes=axes)


def mistakes(file, rng):
    for text, *shapes in MISTAKES:
        operands = [drawn(rng, "float32", shape) for shape in shapes]
        try:
            np.einsum(text, *[x.v for x in operands])
        except ValueError:
            file.case("einsum " + text, operands, [], flags=ERROR)
        else:
            raise AssertionError("NumPy takes %r" % text)


def main(out):
    file, rng = File(), np.random.default_rng(41)
    for k, dtype in enumerate(DTYPES):
        for place, (text, *shapes) in enumerate(CASES):
            if (place < EVERY or (place + k) % 4 == 0) and is_sample(dtype, place):
                einsum(file, rng, text, shapes, [dtype])
        if is_sample(dtype, k):
            products(file, rng, dtype, k)
    for k, pair in enumerate(PAIRS):
        for place, (text, *shapes) in enumerate(CASES):
            if (place + k) % 8 == 0:
                einsum(file, rng, text, shapes, pair)
    for k, (dtype, wider) in enumerate([("int8", "int64"), ("float16", "float32"), ("bool", "int32"),
                                        ("float32", "complex128"), ("float64", "float32"), ("uint8", "float16")]):
        for text, *shapes in CASES[k::12] + CASES[:2]:
            einsum(file, rng, text, shapes, [dtype], wider)
    mistakes(file, rng)
    file.write(out)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "einsum.bin")
