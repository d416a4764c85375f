/* What a draw computes: a distribution and its numbers. */
#ifndef GA_KERNELS_DISTRIBUTION_H
#define GA_KERNELS_DISTRIBUTION_H

#include "kernels/operand.h"

/* How the elements of a distribution are made: the function `source` of distributions.tmpl makes
 * numbers z of a block of the generator, several at a time, and the body sets `r` from z, the
 * call's numbers, `key` (the seed) and the element's number in the generator, `i`. */
typedef struct ga__distribution {
    ga__formula formula;
    const char *source;
    bool computes; /* the source makes more of the bits than a number of them */
} ga__distribution;

/* One call, its arguments checked. */
#define GA__MAX_NUMBERS 3
typedef struct ga__draw {
    const ga__distribution *distribution;
    ga_dtype drawn; /* of z: float32, float64, uint32 or uint64; none: a block's words */
    int nnumbers;
    ga__operand numbers[GA__MAX_NUMBERS];
} ga__draw;

#endif
