/* From a row of the reductions' table to a call of the engine. */
#ifndef GA_KERNELS_REDUCTION_H
#define GA_KERNELS_REDUCTION_H

#include <quarry/ops.h>

#include "kernels/reduce.h"

/* A row of reduce.def. */
typedef struct ga__reduce_op {
    uint64_t id;
    const char *name, *kinds;
    ga__rule rule;
    ga__result_kind result;
    bool empty_is_error;
    const char *accumulator, *neutral, *step, *combine, *finish;
} ga__reduce_op;

/* Bytes that an accumulator of the row does not exceed; the kernels assert it. Those that are more
 * than a T are at most a T, its real type and a count of 8 bytes. */
size_t ga__accumulator_bytes(const ga__reduce_op *op, ga_dtype loop);

/* The row's reduction in the dtype `loop`. */
ga__reduction ga__reduction_of(const ga__reduce_op *op, ga_dtype loop, ga_dtype result);

/* ga__reduce() into an `out` that may keep the reduced axes with length 1. */
ga_status ga__reduce_keeping(const ga__reduction *reduction, ga__device *device, int ndim,
                             const int64_t *shape, const bool *reduced, int noperands,
                             const ga__operand *operands, gpuarray *out, double ddof);

/* A new array, or args.out; NULL on failure. */
gpuarray *ga__apply_reduction(const ga__reduce_op *op, const ga_reduce_args *args);

/* The sum of products of two 1-D arrays; NULL on failure. */
gpuarray *ga__apply_dot(uint64_t id, const gpuarray *a, const gpuarray *b);

#endif
