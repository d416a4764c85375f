/* Plans a reduction: its loop nests, and the choices that both kinds of device share. */
#include "kernels/reduce_plan.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "device/tickets.h"

typedef ga__reduce_plan plan;

/* ---- The loop nests ---- */

static bool uses_index(const plan *p)
{
    return p->reduction->formula.base.uses_index;
}

static void place_operands(plan *p)
{
    p->streamed = 0;
    for (int k = 0; k < p->noperands; k++)
        p->place[k] =
            (int8_t)(ga__operand_streamed(&p->operands[k]) ? p->streamed++ : GA__NO_PLACE);
}

/* Replaces no axes, or no elements, by one axis of `length`. */
static void set_one_axis(ga__nest *nest, int64_t length)
{
    nest->ndim = 1;
    nest->shape[0] = length;
    for (int place = 0; place < nest->noperands; place++)
        nest->strides[place][0] = 0;
}

/* Gives operand `place` of each nest its strides, in elements, innermost axis first. */
static void set_strides(plan *p, int place, int ndim, const bool *reduced, const int64_t *strides,
                        int64_t itemsize)
{
    int64_t *kept = p->kept.strides[place], *gone = p->reduced.strides[place];
    for (int axis = ndim - 1; axis >= 0; axis--)
        *(reduced[axis] ? gone++ : kept++) = strides[axis] / itemsize;
}

/* The strides of the last operand of each nest: the output's on kept axes, the index's on reduced
 * axes.
 */
static void output_and_index_strides(const plan *p, int ndim, const int64_t *shape,
                                     const bool *reduced, int64_t *strides)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(p->out[0]->dtype);
    int64_t index = 1;
    for (int axis = ndim - 1, kept = p->out[0]->ndim - 1; axis >= 0; axis--) {
        if (!reduced[axis]) {
            strides[axis] = p->out[0]->strides[kept--] / itemsize;
            continue;
        }
        strides[axis] = index;
        index *= shape[axis];
    }
}

/* All elements of contiguous arrays to one result: an axis that needs no arranging. */
static bool plan_flat_nests(plan *p)
{
    bool flat = p->outputs == 1 && p->count > 1 && p->streamed > 0 && !uses_index(p);
    for (int k = 0; k < p->noperands && flat; k++) {
        const gpuarray *x = p->operands[k].array;
        flat = p->place[k] == GA__NO_PLACE || (x->contiguous && x->size == p->count);
    }
    if (!flat)
        return false;
    p->kept.noperands = p->reduced.noperands = p->streamed + 1;
    set_one_axis(&p->kept, 1);
    set_one_axis(&p->reduced, p->count);
    p->reduced.noperands = p->streamed;
    for (int place = 0; place < p->streamed; place++)
        p->reduced.strides[place][0] = 1;
    return true;
}

static void plan_nests(plan *p, int ndim, const int64_t *shape, const bool *reduced)
{
    int64_t strides[GA_MAX_NDIM];
    p->kept.ndim = p->reduced.ndim = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        ga__nest *nest = reduced[axis] ? &p->reduced : &p->kept;
        nest->shape[nest->ndim++] = shape[axis];
    }
    for (int k = 0; k < p->noperands; k++) {
        if (p->place[k] == GA__NO_PLACE)
            continue;
        const gpuarray *x = p->operands[k].array;
        ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
        set_strides(p, p->place[k], ndim, reduced, strides, (int64_t)ga__dtype_size(x->dtype));
    }
    output_and_index_strides(p, ndim, shape, reduced, strides);
    set_strides(p, p->streamed, ndim, reduced, strides, 1);
    p->kept.noperands = p->streamed + 1;
    p->reduced.noperands = p->streamed + (uses_index(p) || p->streamed == 0);
    ga__nest_collapse(&p->kept);
    if (p->kept.ndim == 0)
        set_one_axis(&p->kept, 1);
    if (p->count > 0)
        ga__nest_collapse(&p->reduced);
    if (p->count == 0 || p->reduced.ndim == 0)
        set_one_axis(&p->reduced, p->count);
    if (p->reduced.noperands == p->streamed)
        memset(p->reduced.strides[p->streamed], 0, sizeof(int64_t) * (size_t)p->reduced.ndim);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* The first array that neither nest's innermost axis repeats: one that is repeated along the other
 * axis is small, and has no say while there is another. */
static int deciding_place(const plan *p)
{
    for (int place = 0; place < p->streamed; place++)
        if (p->kept.strides[place][0] != 0 && p->reduced.strides[place][0] != 0)
            return place;
    return 0;
}

/* Neighbouring threads take the axis on which the deciding array steps least. Outputs of one
 * element have no other. */
static bool columns_are_better(const plan *p)
{
    if (p->streamed == 0 || p->outputs == 1 || p->count < (p->v.host ? 2 : 1))
        return false;
    const int place = deciding_place(p);
    const int64_t kept = magnitude(p->kept.strides[place][0]),
                  gone = p->count > 1 ? magnitude(p->reduced.strides[place][0]) : 0;
    return gone == 0 ? kept != 0 : kept != 0 && kept < gone;
}

/* Along the vector axis. An axis of one element takes the kernel of contiguous ones. */
static int step_of(const plan *p, int place)
{
    const ga__nest *nest = p->v.columns ? &p->kept : &p->reduced;
    const int64_t inner = nest->shape[0] > 1 ? nest->strides[place][0] : 1;
    return inner == 0 ? STEP_ZERO : inner == 1 ? STEP_ONE : STEP_ANY;
}

static void set_operands(plan *p)
{
    p->v.noperands = p->noperands;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        ga__operand_variant_set(&p->v.operand[k], &p->operands[k],
                                place == GA__NO_PLACE ? 0 : step_of(p, place), false);
    }
    p->v.output_step = step_of(p, p->streamed);
}

/* The elements between an operand's first one and the farthest that the nest leads to. */
static int64_t last_offset(const ga__nest *nest, int place)
{
    const int64_t *strides = nest->strides[place];
    int64_t offset = 0;
    for (int axis = 0; axis < nest->ndim; axis++)
        offset += (nest->shape[axis] - 1) * magnitude(strides[axis]);
    return offset;
}

/* The elements that an array spans; the place of an accessor is GA__NO_PLACE. */
static int64_t span(const plan *p, const gpuarray *x, int place)
{
    if (x->contiguous || place == GA__NO_PLACE)
        return x->size;
    return 1 + last_offset(&p->kept, place) + last_offset(&p->reduced, place);
}

static bool is_wide(const plan *p)
{
    int64_t reach = p->count > p->outputs ? p->count : p->outputs;
    for (int k = 0; k <= p->noperands; k++) {
        const bool output = k == p->noperands;
        const gpuarray *x = output ? p->out[0] : p->operands[k].array;
        const int64_t extent = x ? span(p, x, output ? p->streamed : p->place[k]) : 0;
        reach = extent > reach ? extent : reach;
    }
    return !ga__fits_32_bits(reach + (1 << 23));
}

/* Whether the index ascends along the reduced nest. */
static bool index_ascends(const plan *p)
{
    const ga__nest *nest = &p->reduced;
    const int64_t *strides = nest->strides[p->streamed];
    int64_t reach = 0;
    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->shape[axis] > 1 && strides[axis] <= reach)
            return false;
        reach += (nest->shape[axis] - 1) * strides[axis];
    }
    return true;
}

size_t ga__part_bytes(const ga__part_formula *part, ga_dtype type)
{
    const size_t size = ga__dtype_size(ga__dtype_compute(type));
    switch (part->holds) {
    case GA__ACCUMULATOR_STRUCT: return part->struct_bytes;
    case GA__ACCUMULATOR_COUNT: return sizeof(int64_t);
    case GA__ACCUMULATOR_COUNTED: return sizeof(int64_t) + 2 * size;
    default: return size;
    }
}

size_t ga__accumulator_bytes(const ga__reduction *r)
{
    const size_t alignment = 2 * sizeof(double); /* no type has more */
    size_t bytes = ga__part_bytes(r->formula.parts[0], r->type[0]);
    if (r->formula.nparts == 1 && r->formula.parts[0]->holds != GA__ACCUMULATOR_COUNTED)
        return bytes;
    for (int k = 1; k < r->formula.nparts; k++)
        bytes = (bytes + alignment - 1) / alignment * alignment +
                ga__part_bytes(r->formula.parts[k], r->type[k]);
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Sets what the variant has from the reduction, whatever its operands. */
static void set_reduction(plan *p)
{
    const ga__reduction *r = p->reduction;
    p->sums = false;
    for (int k = 0; k < r->formula.nparts; k++) {
        p->v.part_type[k] = (uint8_t)r->type[k];
        p->sums |= ga__part_rounds(r->formula.parts[k], r->type[k]);
    }
    for (int k = 0; k < r->formula.nresults; k++)
        p->v.result_type[k] = (uint8_t)p->out[k]->dtype;
    const size_t bytes = ga__accumulator_bytes(r);
    assert(bytes <= UINT16_MAX);
    p->v.accumulator_bytes = (uint16_t)bytes;
    p->v.carried = r->carry != NULL;
}

static void choose_variant(plan *p)
{
    memset(&p->v, 0, offsetof(ga__reduce_variant, operand));
    set_reduction(p);
    p->v.host = ga__on_host(p->device);
    p->v.kept_ndim = p->kept.ndim;
    p->v.reduced_ndim = p->reduced.ndim;
    p->v.outputs_per_pass = p->v.strip = p->v.deinterleave = p->v.rows_per_pass = 1;
    p->large = false;
    p->v.columns = p->v.host ? ga__reduce_plan_has_short_rows(p) ||
                                   (columns_are_better(p) && !ga__reduce_plan_has_thin_columns(p))
                             : columns_are_better(p);
    p->v.wide = p->v.host || is_wide(p);
    set_operands(p);
    p->v.ascending = uses_index(p) && index_ascends(p);
    p->stack = 0;
    if (p->v.host)
        ga__reduce_plan_host(p);
    else
        ga__reduce_plan_cuda(p);
    if (p->tiles > GA__TICKETS)
        p->segments = 1;
    p->v.split = p->segments > 1;
}

void ga__reduce_plan_make(ga__reduce_plan *p, int ndim, const int64_t *shape, const bool *reduced)
{
    p->count = p->group = 1;
    p->vectors = p->kept_vectors = p->row_tiles = 0;
    p->width = p->across = p->down = p->fold = p->apart = 0;
    for (int axis = 0; axis < ndim; axis++)
        p->count *= reduced[axis] ? shape[axis] : 1;
    place_operands(p);
    if (!plan_flat_nests(p))
        plan_nests(p, ndim, shape, reduced);
    choose_variant(p);
}
