/* Runs fused rows. */
#ifndef GA_EXPR_FUSED_RUN_H
#define GA_EXPR_FUSED_RUN_H

#include "expr/run.h"

/* Binds the call's arguments; false if they do not fit fused rows, and the plan's steps run
 * instead. Sets the shape of the result. */
bool ga__fused_bind(const ga__fused *fused, const ga__plan *plan, const ga__numbers *numbers,
                    ga__device *device, const ga_named *args, ga__binding *b, int *ndim,
                    int64_t *shape);

/* Whether the bound call runs over columns: values of rows lie side by side in memory. */
bool ga__fused_has_columns_of(const ga__fused *fused, ga__device *device, const ga__binding *b);

/* Evaluates the plan's fused rows; *result is NULL if the call does not fit them. It is `out` if
 * that could be written at once, and otherwise a new array that `out`, if there is one, takes. */
ga_status ga__fused_eval(const ga__plan *plan, const ga__numbers *numbers, ga__device *device,
                         const ga_named *args, gpuarray *out, gpuarray **result);

#endif
