/* Applies a row of the reductions' table: checks the axes and calls the engine. */
#ifndef GA_OPS_REDUCTION_OP_H
#define GA_OPS_REDUCTION_OP_H

#include <quarry/ops.h>

#include "kernels/reduce.h"
#include "model/rows.h"

/* The row as part of a pass, in the dtype `loop`. */
ga__reduce_part ga__part_of(const ga__row *row, ga_dtype loop, double ddof);

/* An upper bound of the accumulators' size in bytes; the kernels assert it. */
size_t ga__accumulator_bytes(int nparts, const ga__reduce_part *parts);

/* ga__reduce() into results that may keep the reduced axes with length 1. */
ga_status ga__reduce_keeping(const ga__reduction *reduction, ga__device *device, int ndim,
                             const int64_t *shape, const bool *reduced, int noperands,
                             const ga__operand *operands, gpuarray *const *out);

/* A new array, or args.out; NULL on failure. */
gpuarray *ga__apply_reduction(ga__row_id row, const ga_reduce_args *args);

#endif
