/* Plans a scan: its rows, and the choices that both kinds of device share. */
#include "kernels/scan/scan_plan.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

typedef ga__scan_plan plan;

/* Results first: the order of rows suits the stores. */
static void place_operands(plan *p)
{
    p->streamed = 0;
    for (int written = 1; written >= 0; written--)
        for (int k = 0; k < p->noperands; k++) {
            if (p->operands[k].writes != written)
                continue;
            const bool streamed = ga__operand_streamed(&p->operands[k]);
            p->place[k] = (int8_t)(streamed ? p->streamed++ : GA__NO_PLACE);
        }
}

static void set_one_row(plan *p)
{
    p->kept.ndim = 1;
    p->kept.shape[0] = 1;
    for (int place = 0; place < p->streamed; place++)
        p->kept.strides[place][0] = 0;
}

static void set_strides(plan *p, int k, int ndim, const int64_t *shape, int axis)
{
    const gpuarray *x = p->operands[k].array;
    const int64_t size = (int64_t)ga__dtype_size(x->dtype);
    const int place = p->place[k];
    int64_t strides[GA_MAX_NDIM], *kept = p->kept.strides[place];
    ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
    for (int a = ndim - 1; a >= 0; a--)
        if (a != axis)
            *kept++ = strides[a] / size;
    p->along[place] = p->length > 1 ? strides[axis] / size : 1;
    p->offset[place] = 0;
    if (p->scan->reverse && p->length > 1) {
        p->offset[place] = (p->length - 1) * p->along[place];
        p->along[place] = -p->along[place];
    }
}

static void plan_nest(plan *p, int ndim, const int64_t *shape, int axis)
{
    p->kept.ndim = 0;
    p->kept.noperands = p->streamed;
    for (int a = ndim - 1; a >= 0; a--)
        if (a != axis)
            p->kept.shape[p->kept.ndim++] = shape[a];
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE)
            set_strides(p, k, ndim, shape, axis);
    if (p->streamed > 0 && p->kept.ndim > 0)
        ga__nest_collapse(&p->kept);
    if (p->kept.ndim == 0)
        set_one_row(p);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Neighbouring threads take the axis on which the result steps least. */
static bool columns_are_better(const plan *p)
{
    if (p->streamed == 0 || p->kept.shape[0] == 1)
        return false;
    const int64_t kept = magnitude(p->kept.strides[0][0]);
    return kept != 0 && (p->length == 1 || kept < magnitude(p->along[0]));
}

static int step_of(const plan *p, int place)
{
    const int64_t inner = p->v.columns ? p->kept.strides[place][0] : p->along[place];
    return inner == 0 ? STEP_ZERO : inner == 1 ? STEP_ONE : STEP_ANY;
}

static void set_operands(plan *p)
{
    p->v.noperands = (uint8_t)p->noperands;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        ga__operand_variant_set(&p->v.operand[k], &p->operands[k],
                                place == GA__NO_PLACE ? 0 : step_of(p, place), false);
    }
}

/* The elements that an operand spans. */
static int64_t span(const plan *p, int k)
{
    const gpuarray *x = p->operands[k].array;
    const int place = p->place[k];
    if (!x || place == GA__NO_PLACE)
        return x ? x->size : 0;
    int64_t elements = 1 + (p->length - 1) * magnitude(p->along[place]);
    for (int axis = 0; axis < p->kept.ndim; axis++)
        elements += (p->kept.shape[axis] - 1) * magnitude(p->kept.strides[place][axis]);
    return elements;
}

static bool is_wide(const plan *p)
{
    int64_t reach = p->length * p->rows;
    for (int k = 0; k < p->noperands; k++) {
        const int64_t extent = span(p, k);
        reach = extent > reach ? extent : reach;
    }
    return !ga__fits_32_bits(reach + (1 << 23));
}

static void choose_variant(plan *p)
{
    const ga__scan *s = p->scan;
    const size_t size = ga__dtype_size(ga__dtype_compute(s->type));
    memset(&p->v, 0, offsetof(ga__scan_variant, operand));
    p->v.host = ga__on_host(p->device);
    p->v.columns = columns_are_better(p);
    p->v.wide = p->v.host || is_wide(p);
    p->v.exclusive = s->exclusive;
    p->v.initial = s->initial != NULL;
    p->v.sums = s->formula.texts->sums && ga__dtype_rounds(s->type);
    p->v.segmented = s->formula.starts != NULL;
    p->v.type = (uint16_t)s->type;
    p->v.choice = (uint8_t)s->pass & 3;
    p->v.kept_ndim = (uint8_t)p->kept.ndim;
    p->v.value_bytes = (uint16_t)((size_t)s->formula.texts->values * size);
    p->v.lanes = p->v.unroll = p->v.across = 1;
    set_operands(p);
    p->width = p->kept.shape[0];
    p->each = p->groups = p->tiles = 1;
    p->stack = p->shared = 0;
    p->grid = ga__ceil_div(p->length, GA__CHOICE_TILE); /* of a selection */
    if (p->v.host)
        ga__scan_plan_host(p);
    else
        ga__scan_plan_cuda(p);
}

void ga__scan_plan_make(plan *p, int ndim, const int64_t *shape, int axis)
{
    p->length = shape[axis];
    p->rows = ga__shape_size(ndim, shape) / p->length;
    place_operands(p);
    plan_nest(p, ndim, shape, axis);
    choose_variant(p);
}

/* Each level of CUDA's states has the totals of 32 of the level below. */
static int64_t totals(const plan *p)
{
    int64_t count = 0;
    for (int64_t tiles = p->tiles; tiles > 0; tiles /= 32)
        count += tiles;
    return count;
}

size_t ga__scan_plan_state_bytes(const plan *p)
{
    if (!p->v.chained)
        return 0;
    if (p->v.host)
        return (size_t)(p->groups * p->tiles) * ga__scan_tile_bytes(&p->v);
    const int64_t series = p->groups * (p->v.columns ? p->v.across * p->v.lanes : 1);
    return (size_t)(series * totals(p)) * ga__scan_state_bytes(&p->v) * 2; /* half are tags */
}
