/* What a draw computes: a distribution and its numbers. */
#ifndef GA_KERNELS_DISTRIBUTION_H
#define GA_KERNELS_DISTRIBUTION_H

#include "kernels/operand.h"

/* How the elements of a distribution are made: the function `source` of distributions.tmpl makes
 * several numbers z of a block of the generator, and the body sets `r` from z, the call's numbers
 * `a` to `d`, `key` (the seed) and `i`, the element's index in the generator. The formula's id
 * stands for the source too. */
typedef struct ga__distribution {
    ga__formula formula;
    const char *source;
    bool computes; /* the source does more than convert the bits */
} ga__distribution;

/* One call, its arguments checked. */
#define GA__DRAW_NUMBERS 4
typedef struct ga__draw {
    const ga__distribution *distribution;
    ga_dtype drawn; /* of z: float32, float64, uint32 or uint64; none: a block's words */
    int nnumbers;
    ga_dtype type[GA__DRAW_NUMBERS]; /* each number has its compute type */
    ga_value number[GA__DRAW_NUMBERS];
    gpuarray *table; /* what the kernel reads at an address among the numbers, or NULL */
} ga__draw;

#endif
