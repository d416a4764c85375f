/* Plans the host's elementwise calls of short rows: some rows at a time, which pass through arrays
 * where they are not contiguous. */
#include "kernels/elementwise_plan.h"

#define SHORT_ROW 192 /* bytes: along longer rows a loop takes no longer than through arrays, */
#define SHORT_OF_EQUAL 128 /* and these where an operand has one element for each row */
#define LINE 64            /* bytes of cache lines */

typedef ga__elementwise_plan plan;

/* Whether the elements at this place are neighbours in the order of the nest. */
static bool is_dense(const plan *p, int place)
{
    int64_t next = 1;
    for (int axis = 0; axis < p->nest.ndim; axis++) {
        if (p->nest.strides[place][axis] != next)
            return false;
        next *= p->nest.shape[axis];
    }
    return true;
}

/* The largest element of all arrays. */
static int64_t widest_element(const plan *p)
{
    size_t widest = 1;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE) {
            const size_t size = ga__dtype_size(p->operands[k].array->dtype);
            widest = size > widest ? size : widest;
        }
    return (int64_t)widest;
}

/* Finds what passes through arrays; the bytes of an element of each such operand. */
static int64_t choose_panelled(plan *p)
{
    size_t nbytes = 0;
    for (int place = 0; place < p->nest.noperands; place++)
        p->panelled[place] = !is_dense(p, place);
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && p->panelled[p->place[k]])
            nbytes += ga__dtype_size(p->operands[k].array->dtype);
    return (int64_t)nbytes;
}

/* Whether rows may pass through arrays. */
static bool may_pass(const plan *p)
{
    return p->head.pads && p->nest.ndim > 1 && p->nest.shape[0] <= SHORT_ROW &&
           !p->formula->heavy && !p->formula->ordered &&
           (p->index_place == GA__NO_PLACE || is_dense(p, p->index_place));
}

/* A panel has whole periods of the rows along axis 1 and the next axes, as many axes as fit in
 * `most` rows. Along the other axes repeated operands are then the same in all panels. Returns the
 * first of the other axes. */
static int choose_panel(plan *p, int64_t most)
{
    int64_t period = 1;
    int axis = 1;
    while (axis < p->nest.ndim && period * p->nest.shape[axis] <= most)
        period *= p->nest.shape[axis++];
    const int64_t times = most / period;
    int64_t lines = LINE; /* as many rows of whole lines, if there is room for them */
    while (lines > times)
        lines /= 2;
    p->panel = period * (times / lines * lines);
    return axis;
}

/* Operands that repeat along the axes from `outer` on fill their arrays once. */
static void choose_once(plan *p, int outer)
{
    for (int place = 0; place < p->nest.noperands; place++) {
        int64_t strides = 0;
        for (int axis = outer; axis < p->nest.ndim; axis++)
            strides |= p->nest.strides[place][axis];
        p->once[place] = p->panelled[place] && strides == 0;
    }
}

/* Blocks of whole panels. */
static void choose_blocks(plan *p)
{
    const int64_t rows = p->n / p->nest.shape[0],
                  blocks = (int64_t)p->device->processors * GA__HOST_BLOCKS_PER_WORKER,
                  least = ga__ceil_div(GA__HOST_LEAST, p->nest.shape[0] * p->panel),
                  share = ga__ceil_div(rows, p->panel * blocks);
    p->chunk = p->panel * (share < least ? least : share);
    p->grid = ga__ceil_div(rows, p->chunk);
}

/* The bytes of the longest rows that pass through arrays. A loop along a row loads only once what
 * its elements share. */
static int64_t longest_row(const plan *p)
{
    for (int place = 0; place < p->nest.noperands; place++)
        for (int axis = 1; axis < p->nest.ndim && p->nest.strides[place][0] == 0; axis++)
            if (p->nest.strides[place][axis] != 0)
                return SHORT_OF_EQUAL;
    return SHORT_ROW;
}

bool ga__elementwise_panels(plan *p)
{
    if (!may_pass(p))
        return false;
    const int64_t widest = widest_element(p);
    const int64_t rows = ga__host_panel(widest, choose_panelled(p)) / p->nest.shape[0];
    if (rows < 1 || p->nest.shape[0] > longest_row(p) / widest)
        return false;
    p->head.panels = true;
    choose_once(p, choose_panel(p, rows));
    choose_blocks(p);
    return true;
}
