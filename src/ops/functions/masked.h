/* Reductions of chosen elements, with an initial one, and of segments. */
#ifndef GA_OPS_FUNCTIONS_MASKED_H
#define GA_OPS_FUNCTIONS_MASKED_H

#include <quarry/ops.h>

#include "model/rows.h"

/* Whether a reduction has an initial element. */
static inline bool ga__has_initial(const ga_reduce_args *args)
{
    return args->initial.kind != GA_VALUE_ARRAY || args->initial.as.array;
}

/* Raises unless the row takes the options .where and .initial that are set, for an operand of this
 * shape that is computed in `loop`. */
ga_status ga__check_chosen(const ga__row *op, const ga_reduce_args *args, ga_dtype loop);

/* Reduces x into `out`: one pass over x and the mask. */
ga_status ga__reduce_chosen(ga__row_id row, const ga_reduce_args *args, const gpuarray *x,
                            ga_dtype loop, const bool *reduced, gpuarray *out);

/* Raises unless ga__reduce_segments() takes the arguments, apart from the offsets' elements. */
ga_status ga__check_segments(ga__row_id row, const ga_reduce_args *args);

/* The reduction of each segment along an axis: a new array, or args.out; NULL on failure. */
gpuarray *ga__reduce_segments(ga__row_id row, const ga_reduce_args *args);

#endif
