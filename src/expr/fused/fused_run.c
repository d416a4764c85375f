/* Runs fused rows: decides whether a call's arguments fit, and launches. */
#include <string.h>

#include "expr/fused/fused_run.h"
#include "base/alloc.h"
#include "kernels/fused/fused.h"
#include "ops/elementwise_op.h"

static bool is_reduced(const ga__fused *fused, int axis)
{
    return fused->axes >> axis & 1;
}

/* Whether the part's operand by itself has the whole shape: what depends on a value of the row has
 * its kept axes. */
static bool has_whole_shape(const ga__fused *fused, const ga__binding *b, int pass, int p)
{
    int ndim = 0;
    int64_t shape[GA_MAX_NDIM];
    if (fused->reads_row[pass][p]) {
        ndim = b->ndim;
        for (int axis = 0; axis < ndim; axis++)
            shape[axis] = is_reduced(fused, axis) ? 1 : b->shape[axis];
    }
    for (int k = 0; k < fused->step.ninputs; k++) {
        const gpuarray *x = b->operands[1 + k].array;
        if (fused->reads[pass][p] >> k & 1)
            ga__broadcast_shape(&ndim, shape, x->ndim, x->shape);
    }
    return ga__same_shape(ndim, shape, b->ndim, b->shape);
}

static bool passes_agree(const ga__fused *fused, const ga__binding *b)
{
    const ga__fused_formula *formula = &fused->formula;
    for (int s = 0; s < formula->nstages; s++)
        for (int p = 0; p < formula->stages[s].nparts; p++)
            if (!has_whole_shape(fused, b, s, p))
                return false;
    return formula->per_row || has_whole_shape(fused, b, formula->nstages, 0);
}

static void set_result_shape(const ga__fused *fused, const ga__plan *plan, const ga__binding *b,
                             int *ndim, int64_t *shape)
{
    const bool keeps = plan->graph.nodes[plan->graph.root].ndim == b->ndim;
    *ndim = 0;
    for (int axis = 0; axis < b->ndim; axis++)
        if (!is_reduced(fused, axis) || keeps)
            shape[(*ndim)++] =
                is_reduced(fused, axis) && fused->formula.per_row ? 1 : b->shape[axis];
}

/* Whether the kernel may write `out`: each row is read completely before its result is written. */
static bool writes_at_once(const ga__fused *fused, const ga__fused_binding *f, const gpuarray *out)
{
    const ga__binding *b = &f->b;
    const ga_dtype dtype = b->operands[0].type;
    if (!out->contiguous || out->dtype != dtype ||
        !ga__same_shape(f->ndim, f->shape, out->ndim, out->shape))
        return false;
    for (int k = 1; k <= fused->step.ninputs; k++) {
        const gpuarray *x = b->operands[k].array;
        const bool same = x && !fused->formula.per_row && x->data == out->data && x->contiguous &&
                          ga__dtype_size(x->dtype) == ga__dtype_size(dtype) &&
                          ga__same_shape(b->ndim, b->shape, x->ndim, x->shape);
        if (x && !same && ga__arrays_overlap(out, x))
            return false;
    }
    return true;
}

/* Binds the arguments, and finds the shape of the result. */
static bool bind_arguments(ga__fused_binding *f, const ga__plan *plan, const ga__numbers *numbers,
                           const ga_named *args)
{
    const ga__fused *fused = plan->fused;
    const gpuarray *arrays[GA__MAX_OPERANDS];
    ga__binding *b = &f->b;
    for (int k = 0; k < fused->step.ninputs; k++) {
        const ga__input *input = &fused->step.inputs[k];
        arrays[k] = input->source == GA__FROM_NUMBER ? NULL : args[input->index].value.as.array;
    }
    b->operands[0] = (ga__operand){
        .name = "r", .type = plan->graph.nodes[plan->graph.root].dtype, .writes = true};
    if (!ga__step_bind(b, plan, &fused->step, numbers, arrays) ||
        (uint64_t)fused->axes >> b->ndim != 0 || ga__shape_size(b->ndim, b->shape) == 0 ||
        !passes_agree(fused, b))
        return false;
    set_result_shape(fused, plan, b, &f->ndim, f->shape);
    return true;
}

bool ga__fused_bind(ga__fused_binding *f, const ga__plan *plan, const ga__numbers *numbers,
                    ga__device *device, const ga_named *args, gpuarray *out,
                    int64_t (*strides)[GA_MAX_NDIM])
{
    const ga__fused *fused = plan->fused;
    if (!bind_arguments(f, plan, numbers, args))
        return false;
    if (out && writes_at_once(fused, f, out))
        f->b.operands[0].array = out;
    f->call = (ga__fused_call){.formula = &fused->formula,
                               .device = device,
                               .ndim = f->b.ndim,
                               .axes = fused->axes,
                               .shape = f->b.shape,
                               .noperands = 1 + fused->step.ninputs,
                               .operands = f->b.operands};
    return ga__fused_plan_make(&f->plan, &f->call, strides);
}

ga_status ga__fused_eval(const ga__plan *plan, const ga__numbers *numbers, ga__device *device,
                         const ga_named *args, gpuarray *out, gpuarray **result)
{
    ga__fused_binding f;
    int64_t strides[ga__fused_strides(plan->fused)][GA_MAX_NDIM];
    *result = NULL;
    if (!ga__fused_bind(&f, plan, numbers, device, args, out, strides))
        return GA_OK;
    ga__operand *const r = &f.b.operands[0];
    if (out && ga__check_out("eval", out, f.ndim, f.shape, r->type) != GA_OK)
        return ga_error();
    gpuarray *const to = r->array ? out : ga__array_new("eval", device, r->type, f.ndim, f.shape);
    if (!to)
        return ga_error();
    r->array = to;
    const ga_status status = ga__fused_run(&f.plan);
    if (status == GA_OK)
        *result = to;
    else if (to != out)
        ga_free(to);
    return status;
}

void ga__fused_free(ga__fused *fused)
{
    if (!fused)
        return;
    for (int s = 0; s < GA__MAX_STAGES; s++) {
        ga__free(fused->map[s]);
        ga__free(fused->row[s]);
    }
    ga__step_reset(&fused->step);
    ga__free(fused);
}
