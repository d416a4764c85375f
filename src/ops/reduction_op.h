/* Applies a row of the reductions' table: checks the axes and calls the engine. */
#ifndef GA_OPS_REDUCTION_OP_H
#define GA_OPS_REDUCTION_OP_H

#include <quarry/ops.h>

#include "ops/functions/parts.h"

/* Marks the axes of x that a call names, or all of them; GA_ERR_INVALID for bad ones. */
ga_status ga__read_axes(const char *name, const gpuarray *x, int naxes, const int *axes,
                        bool *reduced);

/* Whether `out` takes a result of this dtype and shape from x. */
ga_status ga__check_reduced_out(const char *name, const gpuarray *x, ga_dtype result, int ndim,
                                const int64_t *shape, const gpuarray *out);

/* The result itself, or, unless `out` is NULL, `out` with its elements, which frees it. NULL on
 * failure, also if the result is NULL. */
gpuarray *ga__give_result(const char *name, gpuarray *result, gpuarray *out);

/* Sets *loop, the dtype of the computation, to the `dtype` that the program asks for, unless that
 * is GA_NO_DTYPE. */
ga_status ga__reduce_as(const ga__row *op, ga_dtype operand, ga_dtype dtype, ga_dtype *loop);

/* A new array, or args.out; NULL on failure. */
gpuarray *ga__apply_reduction(ga__row_id row, const ga_reduce_args *args);

/* The same, with the `size` bytes of options that the program knows. */
gpuarray *ga__reduce_call(ga__row_id row, size_t size, const ga_reduce_args *args);

#endif
