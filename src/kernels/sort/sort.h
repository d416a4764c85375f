/* The sorting engine: stable sorts of the rows of a contiguous array. */
#ifndef GA_KERNELS_SORT_SORT_H
#define GA_KERNELS_SORT_SORT_H

#include "array/array.h"

/* Rows are the last axis. Arrays are contiguous, on one device, and have one shape. */
typedef struct ga__sort_call {
    const gpuarray *from;
    gpuarray *to; /* the sorted elements, in from's dtype; it may be `from` itself; NULL: none */
    gpuarray *indices; /* int64: of the elements in their row; NULL: none */
    bool descending;   /* NaN is last all the same */
} ga__sort_call;

/* Sorts in NumPy's order. Elements that compare equal keep their order, and all keep their bits.
 * The array has at least one element. */
ga_status ga__sort(const ga__sort_call *call);

#endif
