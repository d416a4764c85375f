/* Rows of an array: the elements along some axes, one after another in memory. */
#ifndef GA_OPS_RANK_ROWS_H
#define GA_OPS_RANK_ROWS_H

#include "array/array.h"

/* x as `rows` contiguous rows of `count` elements. */
typedef struct ga__rank_rows {
    gpuarray *x; /* a view or a copy of the operand: release it */
    int64_t rows, count;
} ga__rank_rows;

/* Rows over the marked axes, whose elements may come in any order; the other axes keep theirs. */
ga_status ga__rows_over(ga__rank_rows *rows, const gpuarray *x, const bool *reduced);

/* The same rows of y, which has x's shape: its elements come in the order of x's. */
ga_status ga__rows_beside(ga__rank_rows *rows, const gpuarray *x, const gpuarray *y,
                          const bool *reduced);

/* Rows along one axis, in its order. */
ga_status ga__rows_along(ga__rank_rows *rows, const gpuarray *x, int axis);

/* An array for results of `count` elements for each row along `axis` of x, whose rows are
 * contiguous. NULL on failure. */
gpuarray *ga__rows_result(const char *name, const gpuarray *x, int axis, ga_dtype dtype,
                          int64_t count);

/* The same results with the axis in its place, in C order. Takes the reference; NULL on failure. */
gpuarray *ga__rows_restore(gpuarray *result, int axis);

#endif
