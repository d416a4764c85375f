/* The request for a sort. */
#ifndef GA_KERNELS_SORT_SORT_CALL_H
#define GA_KERNELS_SORT_SORT_CALL_H

#include "array/array.h"

/* Rows are the last axis. Arrays are contiguous, on one device, and have one shape. */
typedef struct ga__sort_call {
    const gpuarray *from;
    gpuarray *to; /* the sorted elements, in from's dtype; it may have from's memory; NULL: none */
    gpuarray *indices; /* int64: of the elements in their row; NULL: none */
    bool descending;   /* NaN is last all the same */
    int skipped; /* low bytes of unsigned integers that the caller does not need sorted: passes
                  * over long rows leave equal higher bytes in their order */
} ga__sort_call;

#endif
