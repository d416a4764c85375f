/* Plans fused rows: the nest of rows, and the choices that both kinds of device share. */
#include "kernels/fused/fused_plan.h"

#include <string.h>

typedef ga__fused_plan plan;

/* ---- The nests ---- */

static void set_axes(plan *p)
{
    const ga__fused_call *call = p->call;
    p->kept.ndim = p->row.ndim = 0;
    p->kept.noperands = p->row.noperands = call->noperands;
    for (int axis = call->ndim - 1; axis >= 0; axis--) {
        ga__nest *nest = axis < call->ndim - call->reduced ? &p->kept : &p->row;
        nest->shape[nest->ndim++] = call->shape[axis];
    }
}

/* In elements, innermost axis first; numbers and the result's row axes, where it has none, are 0.
 */
static void set_strides(plan *p, int k)
{
    const ga__fused_call *call = p->call;
    const gpuarray *x = call->operands[k].array;
    int64_t strides[GA_MAX_NDIM] = {0};
    const int kept = call->ndim - call->reduced;
    if (k == 0)
        ga__contiguous_strides(call->formula->per_row ? kept : call->ndim, call->shape, 1, strides);
    else if (x)
        ga__broadcast_strides(call->ndim, call->shape, x->ndim, x->shape, x->strides, strides);
    const int64_t itemsize = k > 0 && x ? (int64_t)ga__dtype_size(x->dtype) : 1;
    for (int axis = 0; axis < kept; axis++)
        p->kept.strides[k][kept - 1 - axis] = strides[axis] / itemsize;
    for (int axis = kept; axis < call->ndim; axis++)
        p->row.strides[k][call->ndim - 1 - axis] =
            k == 0 && call->formula->per_row ? 0 : strides[axis] / itemsize;
}

/* An axis of length 1 where a nest has none. */
static void complete(ga__nest *nest)
{
    if (nest->ndim > 0)
        return;
    nest->ndim = 1;
    nest->shape[0] = 1;
    for (int k = 0; k < nest->noperands; k++)
        nest->strides[k][0] = 0;
}

static void plan_nests(plan *p)
{
    set_axes(p);
    for (int k = 0; k < p->call->noperands; k++)
        set_strides(p, k);
    ga__nest_merge(&p->kept);
    ga__nest_merge(&p->row);
    complete(&p->kept);
    complete(&p->row);
}

/* ---- The variant ---- */

/* Sets the operands; false if one strides along the row. */
static bool set_operands(plan *p)
{
    const ga__fused_call *call = p->call;
    p->v.noperands = (uint8_t)call->noperands;
    for (int k = 0; k < call->noperands; k++) {
        const int64_t step = p->row.strides[k][0];
        const bool array = k == 0 || call->operands[k].array;
        if (array && (step < 0 || step > 1))
            return false;
        ga__operand_variant_set(&p->v.operand[k], &call->operands[k],
                                step == 1 ? STEP_ONE : STEP_ZERO, false);
    }
    if (!call->operands[0].array) /* the shape of the plan does not depend on it */
        p->v.operand[0] = (ga__operand_variant){.type = (uint16_t)call->operands[0].type,
                                                .memory = (uint16_t)call->operands[0].type,
                                                .streamed = true,
                                                .step = STEP_ONE};
    return true;
}

static bool is_wide(const plan *p)
{
    int64_t reach = p->rows * p->length;
    for (int k = 0; k < p->call->noperands; k++) {
        int64_t extent = p->length;
        for (int axis = 0; axis < p->kept.ndim; axis++) {
            const int64_t stride = p->kept.strides[k][axis];
            extent += (p->kept.shape[axis] - 1) * (stride < 0 ? -stride : stride);
        }
        reach = extent > reach ? extent : reach;
    }
    return !ga__fits_32_bits(reach + (1 << 23));
}

bool ga__fused_plan_make(plan *p)
{
    memset(&p->v, 0, offsetof(ga__fused_variant, operand));
    plan_nests(p);
    p->length = p->row.shape[0];
    p->rows = 1;
    for (int axis = 0; axis < p->kept.ndim; axis++)
        p->rows *= p->kept.shape[axis];
    if (p->row.ndim != 1 || p->length < 1 || !set_operands(p))
        return false;
    p->v.host = p->call->device->arch == 0;
    p->v.wide = p->v.host || is_wide(p);
    p->v.kept_ndim = (uint8_t)p->kept.ndim;
    memset(p->v.kept_place, GA__OWN_PLACE, sizeof p->v.kept_place);
    memset(p->place, 0, sizeof p->place);
    memset(p->kept_at, 0, sizeof p->kept_at);
    p->shared = p->scratch = 0;
    p->wait = 0;
    p->part = p->length;
    p->blocks = 1;
    return p->v.host ? ga__fused_plan_host(p) : ga__fused_plan_cuda(p);
}
