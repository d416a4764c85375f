/* Joins of arrays, for other operations. */
#ifndef GA_OPS_JOIN_JOIN_H
#define GA_OPS_JOIN_JOIN_H

#include "array/array.h"

/* The common dtype of the arrays; GA_NO_DTYPE and an error if there is none. */
ga_dtype ga__common_dtype(const char *name, int count, const gpuarray *const *arrays);

/* The arrays, which are on one device and differ along `axis` alone, one after another. `out` NULL:
 * a new array, of this dtype unless it is GA_NO_DTYPE. NULL and an error on failure. */
gpuarray *ga__join(const char *name, int count, const gpuarray *const *arrays, int axis,
                   ga_dtype dtype, gpuarray *out);

#endif
