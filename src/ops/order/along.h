/* Sorts along any axis of any layout, by the engine of rows. */
#ifndef GA_OPS_ORDER_ALONG_H
#define GA_OPS_ORDER_ALONG_H

#include "array/array.h"

/* Sorts x, which has axes, along `axis`. Makes new contiguous arrays of x's shape, set only on
 * success: the values, and the int64 indices; either may be NULL, for what is not wanted. `name`
 * starts messages. */
ga_status ga__sort_along(const char *name, const gpuarray *x, int axis, bool descending,
                         gpuarray **values, gpuarray **indices);

/* The same of rows, the last axis, into given arrays; all are contiguous and have one shape. `to`
 * may have x's memory, `indices` not. Either may be NULL. */
ga_status ga__sort_rows(const gpuarray *x, gpuarray *to, gpuarray *indices, bool descending);

/* A view of x as integers of its elements' size, or x's own dtype if there are none: copies of them
 * keep all bits, also of NaN. */
gpuarray *ga__bits_view(const gpuarray *x);

/* A contiguous copy of the same bits, also of NaN. */
gpuarray *ga__copy_bits(const gpuarray *x);

/* to[...] = from, of one shape: the same bits if the dtypes are the same. */
ga_status ga__assign_bits(gpuarray *to, const gpuarray *from);

/* A new array of the elements of the rows of x, a contiguous array, at indices of the same shape:
 * row r's element k is x[r][indices[r][k]]. Of one row there may be any number of indices. Bits are
 * copied. NULL on failure. */
gpuarray *ga__take_rows(const char *name, const gpuarray *x, const gpuarray *indices);

#endif
