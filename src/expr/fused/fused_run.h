/* Runs fused rows. */
#ifndef GA_EXPR_FUSED_RUN_H
#define GA_EXPR_FUSED_RUN_H

#include "expr/run.h"
#include "kernels/fused/fused_plan.h"

/* A call's arguments, bound to fused rows, and how the engine runs them. */
typedef struct ga__fused_binding {
    ga__binding b;
    ga__fused_call call;
    ga__fused_plan plan;
    int ndim; /* of the result */
    int64_t shape[GA_MAX_NDIM];
} ga__fused_binding;

/* Rows of strides that the caller of ga__fused_bind() provides. */
static inline size_t ga__fused_strides(const ga__fused *fused)
{
    return (size_t)GA__FUSED_NESTS * (size_t)(1 + fused->step.ninputs);
}

/* Binds and plans a call of plan->fused, which keeps `strides`; false if the arguments do not fit,
 * and the plan's steps run instead. The result's operand gets `out` if that is not NULL and can be
 * written at once. */
bool ga__fused_bind(ga__fused_binding *f, const ga__plan *plan, const ga__numbers *numbers,
                    ga__device *device, const ga_named *args, gpuarray *out,
                    int64_t (*strides)[GA_MAX_NDIM]);

/* Evaluates the plan's fused rows; *result is NULL if the call does not fit them. It is `out` if
 * that could be written at once, and otherwise a new array that `out`, if there is one, takes. */
ga_status ga__fused_eval(const ga__plan *plan, const ga__numbers *numbers, ga__device *device,
                         const ga_named *args, gpuarray *out, gpuarray **result);

#endif
