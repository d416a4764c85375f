/* The reduction engine: a map, a combine and a finish over any axes, as one kernel. */
#ifndef GA_KERNELS_REDUCE_H
#define GA_KERNELS_REDUCE_H

#include "kernels/elementwise.h"

/* The part of one launch in a reduction whose elements come in several, one after another. The
 * accumulators of launches before wait in levels: a level has one for each output, and holds later
 * elements than the levels above it. */
typedef struct ga__carry {
    ga__buffer *levels;
    uint64_t merged; /* a bit for each level that this launch takes in */
    int level;       /* where its accumulators go then; GA__CARRY_DONE: they are finished */
    int64_t first;   /* the number, in C order, of this launch's first element */
    int64_t count;   /* elements of all launches */
} ga__carry;
#define GA__CARRY_DONE (-1)

/* What is computed; texts as in reduce.def. */
typedef struct ga__reduction {
    ga__formula formula;     /* id, name, preamble, flags; its body is not used */
    const char *accumulator; /* type A; its size and the result are the template's to know */
    size_t accumulator_bytes;
    const char *neutral;
    const char *step;       /* over `a`, the operands' names and `i` */
    const char *combine;    /* over `a` and `b` */
    const char *finish;     /* over `a`, `count`, `ddof` */
    ga_dtype type;          /* T */
    ga_dtype result;        /* dtype of the output; GA_NO_DTYPE: the accumulator's own bytes */
    const ga__carry *carry; /* NULL: the elements are all here. `out` is contiguous otherwise */
} ga__reduction;

/* Reduces the operands (read only, of one shape) over the axes marked in reduced[0..ndim-1] into
 * `out`, a contiguous or strided array whose shape is the kept axes in order. */
ga_status ga__reduce(const ga__reduction *reduction, ga__device *device, int ndim,
                     const int64_t *shape, const bool *reduced, int noperands,
                     const ga__operand *operands, gpuarray *out, double ddof);

#endif
