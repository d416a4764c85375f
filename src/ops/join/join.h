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

/* `count` elements of an axis from `start` on; and an axis of length 1 repeated: views. */
gpuarray *ga__slice_along(const gpuarray *x, int axis, int64_t start, int64_t count);
gpuarray *ga__repeat_along(const gpuarray *x, int axis, int64_t count);

/* Whether ga_pad() reflects oddly. GA_ERR_INVALID for a type that there is not. */
ga_status ga__reflect_type(const char *type, bool *odd);

/* x between its sides of these widths, which it frees. NULL if one could not be made. */
gpuarray *ga__pad_join(const gpuarray *x, int axis, gpuarray *const *side, const int64_t *width);

/* x with elements before and after the axis, which is not empty, as NumPy's reflect_type="odd". */
gpuarray *ga__pad_odd(const gpuarray *x, int axis, bool symmetric, const int64_t *widths);

#endif
