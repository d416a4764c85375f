/* Plans fused rows: the nest of rows, and the choices that both kinds of device share. */
#include "kernels/fused/fused_plan.h"

#include <string.h>

typedef ga__fused_plan plan;

/* ---- The nests ---- */

static bool is_reduced(const ga__fused_call *call, int axis)
{
    return call->axes >> axis & 1;
}

static void set_axes(plan *p)
{
    const ga__fused_call *call = p->call;
    p->kept.ndim = p->row.ndim = 0;
    p->kept.noperands = p->row.noperands = call->noperands;
    for (int axis = call->ndim - 1; axis >= 0; axis--) {
        ga__nest *nest = is_reduced(call, axis) ? &p->row : &p->kept;
        nest->shape[nest->ndim++] = call->shape[axis];
    }
}

/* In elements; the result has no reduced axes if it is one of each row. */
static void result_strides(const ga__fused_call *call, int64_t *strides)
{
    int64_t size = 1;
    for (int axis = call->ndim - 1; axis >= 0; axis--) {
        const bool absent = call->formula->per_row && is_reduced(call, axis);
        strides[axis] = absent ? 0 : size;
        size *= absent ? 1 : call->shape[axis];
    }
}

/* In elements, innermost axis first; those of numbers are 0. */
static void set_strides(plan *p, int k)
{
    const ga__fused_call *call = p->call;
    const gpuarray *x = call->operands[k].array;
    int64_t strides[GA_MAX_NDIM], itemsize = 1;
    if (k == 0) {
        result_strides(call, strides);
    } else if (x) {
        ga__broadcast_strides(call->ndim, call->shape, x->ndim, x->shape, x->strides, strides);
        itemsize = (int64_t)ga__dtype_size(x->dtype);
    } else {
        memset(strides, 0, (size_t)call->ndim * sizeof *strides);
    }
    int kept = 0, row = 0;
    for (int axis = call->ndim - 1; axis >= 0; axis--)
        if (is_reduced(call, axis))
            p->row.strides[k][row++] = strides[axis] / itemsize;
        else
            p->kept.strides[k][kept++] = strides[axis] / itemsize;
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

/* Whether the step takes an array to the next element or leaves it. */
static bool is_dense(const plan *p, int k, int64_t step)
{
    return step == 0 || step == 1 || (k > 0 && !p->call->operands[k].array);
}

/* Whether the kept axes begin with one of neighbouring columns. */
static bool has_columns(const plan *p)
{
    bool dense = p->kept.shape[0] > 1;
    for (int k = 0; k < p->call->noperands; k++)
        dense &= is_dense(p, k, p->kept.strides[k][0]);
    return dense;
}

/* Whether or not the result has its array yet. */
static void set_result(plan *p, int step)
{
    const uint16_t type = (uint16_t)p->call->operands[0].type;
    p->v.operand[0] = (ga__operand_variant){
        .type = type, .memory = type, .streamed = true, .step = (uint8_t)(step & 3)};
}

/* Sets the operands and how the kernel walks: rows whose elements lie side by side, or columns that
 * do. False if neither are. */
static bool set_operands(plan *p)
{
    const ga__fused_call *call = p->call;
    bool rows = true;
    p->v.noperands = (uint8_t)call->noperands;
    for (int k = 0; k < call->noperands; k++) {
        const int64_t stride = p->row.strides[k][0];
        const int step = stride ? STEP_ONE : STEP_ZERO;
        rows &= is_dense(p, k, stride);
        if (k == 0)
            set_result(p, step);
        else
            ga__operand_variant_set(&p->v.operand[k], &call->operands[k], step, false);
    }
    p->v.walk = rows ? GA__WALK_ROWS : GA__WALK_COLUMNS;
    return rows || has_columns(p);
}

static int64_t size_of(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* A thread computes places up to twice as far in a column as it goes. */
static bool is_wide(const plan *p)
{
    int64_t reach = p->rows * p->length;
    for (int k = 0; k < p->call->noperands; k++) {
        int64_t extent = p->length;
        if (p->v.walk == GA__WALK_COLUMNS)
            extent = 2 * p->length * size_of(p->row.strides[k][0]);
        for (int axis = 0; axis < p->kept.ndim; axis++)
            extent += (p->kept.shape[axis] - 1) * size_of(p->kept.strides[k][axis]);
        reach = extent > reach ? extent : reach;
    }
    return !ga__fits_32_bits(reach + (1 << 23));
}

bool ga__fused_plan_make(plan *p, const ga__fused_call *call, int64_t (*strides)[GA_MAX_NDIM])
{
    p->call = call;
    p->kept.strides = strides;
    p->row.strides = strides + call->noperands;
    memset(&p->v, 0, offsetof(ga__fused_variant, operand));
    plan_nests(p);
    p->length = p->row.shape[0];
    p->rows = 1;
    for (int axis = 0; axis < p->kept.ndim; axis++)
        p->rows *= p->kept.shape[axis];
    if (p->row.ndim != 1 || p->length < 1 || !set_operands(p))
        return false;
    p->v.host = ga__on_host(p->call->device);
    p->v.wide = p->v.host || is_wide(p);
    p->v.kept_ndim = (uint8_t)p->kept.ndim;
    memset(p->v.kept_place, GA__OWN_PLACE, sizeof p->v.kept_place);
    memset(p->place, 0, sizeof p->place);
    memset(p->kept_at, 0, sizeof p->kept_at);
    p->shared = p->scratch = p->stack = p->meeting = 0;
    p->wait = 0;
    p->part = p->length;
    p->blocks = 1;
    if (p->v.host && p->v.walk == GA__WALK_COLUMNS)
        return ga__fused_plan_host_columns(p);
    if (p->v.host)
        return ga__fused_plan_host(p);
    return ga__fused_plan_cuda(p);
}
