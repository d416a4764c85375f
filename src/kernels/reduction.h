/* From a row of the reductions' table to a call of the engine. */
#ifndef GA_KERNELS_REDUCTION_H
#define GA_KERNELS_REDUCTION_H

#include <quarry/ops.h>

#include "kernels/reduce.h"

/* A row of reduce.def. */
typedef struct ga__reduce_op {
    ga__hash128 id;
    const char *name, *kinds;
    ga__rule rule;
    ga__result_kind result;
    bool empty_is_error;
    bool rounds; /* a step rounds to the size of all before: sums of floats */
    const char *accumulator, *neutral, *step, *combine, *finish;
} ga__reduce_op;

/* The row as part of a pass, in the dtype `loop`. */
ga__reduce_part ga__part_of(const ga__reduce_op *op, ga_dtype loop, double ddof);

/* Bytes that the accumulators of the parts do not exceed together; the kernels assert it. */
size_t ga__accumulator_bytes(int nparts, const ga__reduce_part *parts);

/* ga__reduce() into results that may keep the reduced axes with length 1. */
ga_status ga__reduce_keeping(const ga__reduction *reduction, ga__device *device, int ndim,
                             const int64_t *shape, const bool *reduced, int noperands,
                             const ga__operand *operands, gpuarray *const *out);

/* A new array, or args.out; NULL on failure. */
gpuarray *ga__apply_reduction(const ga__reduce_op *op, const ga_reduce_args *args);

/* The sum of products of two 1-D arrays; NULL on failure. */
gpuarray *ga__apply_dot(ga__hash128 id, const gpuarray *a, const gpuarray *b);

#endif
