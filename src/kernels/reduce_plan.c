/* Plans a reduction: its loop nests, and what both kinds of device choose alike. */
#include "kernels/reduce_plan.h"

#include <string.h>

#include "device/tickets.h"

typedef ga__reduce_plan plan;

/* ---- The loop nests ---- */

static void number_rows(plan *p)
{
    p->rows = 0;
    for (int k = 0; k < p->noperands; k++)
        p->row[k] = ga__operand_streamed(&p->operands[k]) ? p->rows++ : GA__NO_ROW;
}

/* A nest of one axis of `length`, for no axes or no elements. */
static void set_one_axis(ga__nest *nest, int64_t length)
{
    nest->ndim = 1;
    nest->shape[0] = length;
    for (int row = 0; row < nest->noperands; row++)
        nest->strides[row][0] = 0;
}

/* Gives row `row` of each nest its strides, in elements, innermost axis first. */
static void set_row(plan *p, int row, int ndim, const bool *reduced, const int64_t *strides,
                    int64_t itemsize)
{
    int kept = 0, gone = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        if (reduced[axis])
            p->reduced.strides[row][gone++] = strides[axis] / itemsize;
        else
            p->kept.strides[row][kept++] = strides[axis] / itemsize;
    }
}

/* The strides of the last row of each nest: the output's on kept axes, the index's on reduced ones.
 */
static void output_and_index_strides(const plan *p, int ndim, const int64_t *shape,
                                     const bool *reduced, int64_t *strides)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(p->out->dtype);
    int64_t index = 1;
    for (int axis = ndim - 1, kept = p->out->ndim - 1; axis >= 0; axis--) {
        if (!reduced[axis]) {
            strides[axis] = p->out->strides[kept--] / itemsize;
            continue;
        }
        strides[axis] = index;
        index *= shape[axis];
    }
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
        if (p->row[k] == GA__NO_ROW)
            continue;
        const gpuarray *x = p->operands[k].array;
        ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
        set_row(p, p->row[k], ndim, reduced, strides, (int64_t)ga__dtype_size(x->dtype));
    }
    output_and_index_strides(p, ndim, shape, reduced, strides);
    set_row(p, p->rows, ndim, reduced, strides, 1);
    p->kept.noperands = p->rows + 1;
    p->reduced.noperands = p->rows + (p->reduction->formula.uses_index || p->rows == 0);
    ga__nest_collapse(&p->kept);
    if (p->kept.ndim == 0)
        set_one_axis(&p->kept, 1);
    if (p->count > 0)
        ga__nest_collapse(&p->reduced);
    if (p->count == 0 || p->reduced.ndim == 0)
        set_one_axis(&p->reduced, p->count);
    if (p->reduced.noperands == p->rows)
        memset(p->reduced.strides[p->rows], 0, sizeof(int64_t) * (size_t)p->reduced.ndim);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Which axis goes to neighbouring threads: the one on which the first array steps least. */
static bool columns_are_better(const plan *p)
{
    if (p->rows == 0 || p->outputs == 1 || p->count <= 1)
        return false;
    const int64_t kept = magnitude(p->kept.strides[0][0]),
                  gone = magnitude(p->reduced.strides[0][0]);
    return gone == 0 ? kept != 0 : kept != 0 && kept < gone;
}

/* An axis of one element takes the kernel of contiguous ones. */
static void choose_steps(plan *p)
{
    const ga__nest *nest = p->columns ? &p->kept : &p->reduced;
    for (int row = 0; row <= p->rows; row++) {
        const int64_t inner = nest->shape[0] > 1 ? nest->strides[row][0] : 1;
        p->step[row] = inner == 0 ? STEP_ZERO : inner == 1 ? STEP_ONE : STEP_ANY;
    }
}

static bool is_wide(const plan *p)
{
    int64_t reach = p->count > p->outputs ? p->count : p->outputs;
    for (int row = 0; row <= p->rows; row++) {
        int64_t extent = 1;
        for (int axis = 0; axis < p->kept.ndim; axis++)
            extent += (p->kept.shape[axis] - 1) * magnitude(p->kept.strides[row][axis]);
        for (int axis = 0; axis < p->reduced.ndim; axis++)
            extent += (p->reduced.shape[axis] - 1) * magnitude(p->reduced.strides[row][axis]);
        reach = extent > reach ? extent : reach;
    }
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] == GA__NO_ROW && p->operands[k].array && p->operands[k].array->size > reach)
            reach = p->operands[k].array->size;
    return !ga__fits_32_bits(reach + (1 << 23));
}

/* Whether the index ascends along the reduced nest. */
static bool index_ascends(const plan *p)
{
    const ga__nest *nest = &p->reduced;
    const int64_t *strides = nest->strides[p->rows];
    int64_t reach = 0;
    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->shape[axis] > 1 && strides[axis] <= reach)
            return false;
        reach += (nest->shape[axis] - 1) * strides[axis];
    }
    return true;
}

static void choose_variant(plan *p)
{
    p->host = p->device->arch == 0;
    p->outputs_per_pass = 1;
    p->strip = p->deinterleave = p->rows_per_pass = 1;
    p->short_rows = p->staged = p->plain = p->large = false;
    p->cascade = p->many_runs = p->sums = false;
    p->batch = GA__BATCH_SINGLY;
    p->turns = p->chains = 0;
    for (int part = 0; part < p->reduction->nparts; part++)
        p->sums |= p->reduction->parts[part].rounds;
    p->columns = columns_are_better(p) || (p->host && ga__reduce_plan_thin(p));
    p->wide = p->host || is_wide(p);
    choose_steps(p);
    /* The host takes the elements of a row side by side. */
    p->ascending = (p->columns || !p->host) && p->reduction->formula.uses_index && index_ascends(p);
    if (p->host)
        ga__reduce_plan_host(p);
    else
        ga__reduce_plan_cuda(p);
    if (p->tiles > GA__TICKETS)
        p->segments = 1;
    p->split = p->segments > 1;
}

void ga__reduce_plan_make(ga__reduce_plan *p, int ndim, const int64_t *shape, const bool *reduced)
{
    p->count = p->group = 1;
    p->vectors = p->kept_vectors = 0;
    for (int axis = 0; axis < ndim; axis++)
        p->count *= reduced[axis] ? shape[axis] : 1;
    number_rows(p);
    plan_nests(p, ndim, shape, reduced);
    choose_variant(p);
}
