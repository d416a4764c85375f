/* The kernels that take tuples of indices one by one. */
#ifndef GA_OPS_INDEX_STEPS_H
#define GA_OPS_INDEX_STEPS_H

#include "ops/index/parts.h"

/* A word of each tuple: in its high bits the key of the element (as ga__tuple_keys of scatter.h
 * counts, and all ones for a tuple that is out of range), in the low ones the value's element if
 * that has up to 32 bits, or the tuple's position. */
typedef struct ga__packed {
    gpuarray *words; /* uint64; to be freed */
    int64_t low, span;
    int shift;       /* bits below the key */
    bool has_values; /* otherwise positions */
} ga__packed;

/* CUDA: a word of each element that tuples can name. It tells the last one that does: its position
 * plus 1, above its value if that fits `bits` bits; 0 if there is none. */
typedef struct ga__latest {
    gpuarray *words;
    ga_dtype word; /* uint32 or uint64 */
    int64_t low;   /* the place of the first element, in elements from the parts' offset, */
    int64_t span;  /* and how many there are */
    int bits;      /* 0: positions alone */
} ga__latest;

/* CUDA: exact sums of elements of x, in digits of `bits` bits (templates/lib/exact.tmpl). */
typedef struct ga__sums {
    gpuarray *table;  /* uint64: a row for each digit, after one for numbers that are not finite */
    int64_t low;      /* the place of the first element, in elements from the parts' offset, */
    int64_t span;     /* and how many there are */
    int64_t elements; /* sums: of complex numbers two each */
    int64_t copies;   /* of each word, a power of two */
    int bits, digits;
    int first; /* the place of the lowest bit, from that of the least float32 on */
} ga__sums;

/* The operands of a body that has the sums as GA__SUMS_TEXT, over a nest of this shape. */
#define GA__SUMS_OPERANDS 6
#define GA__SUMS_TEXT "{t, elements, copies, (unsigned)bits, (unsigned)digits, (unsigned)first}"
void ga__sums_operands(const ga__sums *sums, int ndim, const int64_t *shape, ga__lens *table,
                       ga__operand *operands);

/* The kernels of a call: only a check of all indices; the tuples' keys; the same in words with what
 * follows; claims; writes of those that stay; writes of all, of one value or in order; folds by
 * atomics; exact sums; words of elements. */
typedef enum ga__step {
    GA__STEP_CHECK,
    GA__STEP_KEYS,
    GA__STEP_PACK,
    GA__STEP_CLAIM,
    GA__STEP_WRITE,
    GA__STEP_WRITE_ALL,
    GA__STEP_FOLD,
    GA__STEP_SUM,
    GA__STEP_LATEST
} ga__step;

typedef struct ga__scattering {
    const char *name;
    const ga__indexing *g;
    ga_index_mode mode;
    const int64_t *steps;
    ga_value value;
    gpuarray *table; /* of claims, or the keys; NULL: there is none */
    int64_t mask, low;
    bool ordered; /* one processor takes the tuples in order */
    const ga__packed *packed;
    const ga__sums *sums;
    const ga__latest *latest;
    const char *fold; /* the operation, and the dtype in which it computes */
    ga_dtype loop;
} ga__scattering;

/* Runs the kernel. */
ga_status ga__scatter_run(const ga__scattering *s, ga__step what);

#endif
