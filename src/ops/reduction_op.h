/* Applies a row of the reductions' table: checks the axes and calls the engine. */
#ifndef GA_OPS_REDUCTION_OP_H
#define GA_OPS_REDUCTION_OP_H

#include <quarry/ops.h>

#include "kernels/reduce.h"
#include "model/rows.h"

/* Adds the part, which must outlive the reduction, to its pass; `loop` is the dtype that it
 * computes in. */
void ga__add_part(ga__reduction *r, const ga__part_formula *part, ga_dtype loop, double ddof);

/* A pass of one part, a row's, whose finished value is the result. */
ga__reduction ga__reduction_of(ga__row_id row, const char *map, ga_dtype loop, double ddof);

/* Marks the axes of x that a call names, or all of them; GA_ERR_INVALID for bad ones. */
ga_status ga__read_axes(const char *name, const gpuarray *x, int naxes, const int *axes,
                        bool *reduced);

/* Whether `out` takes a result of this dtype and shape from x. */
ga_status ga__check_reduced_out(const char *name, const gpuarray *x, ga_dtype result, int ndim,
                                const int64_t *shape, const gpuarray *out);

/* ga__reduce() into results that may keep the reduced axes with length 1. */
ga_status ga__reduce_keeping(const ga__reduction *reduction, ga__device *device, int ndim,
                             const int64_t *shape, const bool *reduced, int noperands,
                             const ga__operand *operands, gpuarray *const *out);

/* Sets *loop, the dtype of the computation, to the `dtype` that the program asks for, unless that
 * is GA_NO_DTYPE. */
ga_status ga__reduce_as(const ga__row *op, ga_dtype operand, ga_dtype dtype, ga_dtype *loop);

/* A new array, or args.out; NULL on failure. */
gpuarray *ga__apply_reduction(ga__row_id row, const ga_reduce_args *args);

/* The same, with the `size` bytes of options that the program knows. */
gpuarray *ga__reduce_call(ga__row_id row, size_t size, const ga_reduce_args *args);

#endif
