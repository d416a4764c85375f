/* What the engine of bins computes: one call. */
#ifndef GA_KERNELS_HISTOGRAM_BINNING_H
#define GA_KERNELS_HISTOGRAM_BINNING_H

#include "kernels/operand.h"

/* What becomes of an element's bin. */
typedef enum ga__binned_use {
    GA__BINNED_STORE, /* it is an element of the operand `r` */
    GA__BINNED_VALUE, /* the body sets the array `y` from it, whose elements are those of `r` */
    GA__BINNED_COUNT, /* it counts the element */
    GA__BINNED_WEIGH, /* it adds the element of `w` to a sum */
    GA__BINNED_SUM,   /* CUDA: it adds the integer of `w` to a sum that wraps around */
    GA__BINNED_WITHIN /* CUDA: it counts the element, unless one has the last bin */
} ga__binned_use;

/* Whether bins count elements. */
static inline bool ga__binned_counts(ga__binned_use use)
{
    return use == GA__BINNED_COUNT || use == GA__BINNED_WITHIN;
}

/* Whether each element has a result. */
static inline bool ga__binned_stores(ga__binned_use use)
{
    return use == GA__BINNED_STORE || use == GA__BINNED_VALUE;
}

/* One call. The formula's body sets the array `bin` from the streamed operands, which are arrays of
 * as many elements, and from numbers and contiguous accessors. `ga_bins` is the number of bins. If
 * there is a sorted table, its accessor is called `t` and the number of its elements `m`; the body
 * knows it as `ga_table`. If there are edges of equal bins, the body knows them as `edges`. CUDA:
 * of streamed operands that are contiguous, `ga_position(k)` is the index of element k. */
typedef struct ga__binned {
    const ga__formula *formula;
    ga__device *device;
    ga__binned_use use;
    int64_t nbins;         /* of the result; GA__BINNED_STORE and _VALUE: the largest `bin` */
    bool wide_sums;        /* GA__BINNED_SUM: sums have 64 bits, otherwise 32 */
    const gpuarray *table; /* `t`, or NULL */
    const gpuarray *edges; /* `edges`, nbins + 1 of them, or NULL */
    int ndim;
    const int64_t *shape; /* of the streamed operands, without a length of 0 */
    int noperands;
    const ga__operand *operands;
} ga__binned;

#endif
