/* Reductions as passes of parts, and results that keep the reduced axes. */
#ifndef GA_OPS_FUNCTIONS_PARTS_H
#define GA_OPS_FUNCTIONS_PARTS_H

#include "kernels/reduce.h"
#include "model/rows.h"

/* Adds the part, which must outlive the reduction, to its pass; `loop` is the dtype that it
 * computes in. */
void ga__add_part(ga__reduction *r, const ga__part_formula *part, ga_dtype loop, double ddof);

/* A pass of one part, a row's, whose finished value is the result. */
ga__reduction ga__reduction_of(ga__row_id row, const char *map, ga_dtype loop, double ddof);

/* ga__reduce() into results that may keep the reduced axes with length 1. */
ga_status ga__reduce_keeping(const ga__reduction *reduction, ga__device *device, int ndim,
                             const int64_t *shape, const bool *reduced, int noperands,
                             const ga__operand *operands, gpuarray *const *out);

#endif
