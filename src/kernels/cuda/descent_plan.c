/* Plans threads that walk down the rows of an elementwise call on CUDA, and read what all rows
 * share once. */
#include "kernels/elementwise_plan.h"
#include "kernels/request.h"

#define NARROW 2     /* bytes of elements that instructions delay, not memory */
#define STRETCH 2048 /* vectors from one of a thread to its next, at least */
#define EACH 4       /* vectors of a thread, one after another: measured */

typedef ga__elementwise_plan plan;

/* The results, and what is read like them: rows that follow each other, from aligned addresses. */
static bool is_dense(const plan *p, int k, int lanes)
{
    const gpuarray *x = p->operands[k].array;
    const int64_t *strides = p->nest.strides[p->place[k]];
    return strides[0] == 1 && strides[1] == p->nest.shape[0] &&
           (uintptr_t)x->data % ((size_t)lanes * ga__dtype_size(x->dtype)) == 0;
}

bool ga__elementwise_is_held(const plan *p, int k)
{
    return p->place[k] != GA__NO_PLACE && p->nest.strides[p->place[k]][1] == 0;
}

/* Whether every operand is dense, the same in all rows, or one number of each row; and some is the
 * same in all rows. */
static bool fits(const plan *p, int lanes)
{
    bool holds = false;
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (operand->array && p->place[k] == GA__NO_PLACE)
            return false;
        if (!operand->array || is_dense(p, k, lanes))
            continue;
        const bool held = ga__elementwise_is_held(p, k);
        if (operand->writes || (!held && p->nest.strides[p->place[k]][0] != 0))
            return false;
        holds |= held && p->nest.strides[p->place[k]][0] != 0;
    }
    return holds;
}

static size_t widest(const plan *p)
{
    size_t widest = 1;
    for (int k = 0; k < p->noperands; k++)
        if (p->operands[k].array) {
            const size_t size = ga__dtype_size(p->operands[k].array->dtype);
            widest = size > widest ? size : widest;
        }
    return widest;
}

bool ga__elementwise_descends(plan *p)
{
    const int64_t threads = (int64_t)p->device->processors * p->device->threads_per_processor;
    if (p->nest.ndim != 2 || p->index_place != GA__NO_PLACE || p->formula->user_text)
        return false;
    const size_t size = widest(p);
    const int lanes = (int)(GA__VECTOR_BYTES / size);
    const int64_t columns = p->nest.shape[0], vectors = p->n / lanes;
    if (size > NARROW || vectors < EACH * threads || !fits(p, lanes) ||
        ga__count_calls(p->formula->body) == 0)
        return false;
    const int64_t odd = columns & -columns, period = columns / (odd < lanes ? odd : lanes),
                  apart = ga__ceil_div(STRETCH, period) * period;
    if (vectors < EACH * apart)
        return false;
    p->head.descends = true;
    p->head.lanes = (uint8_t)lanes;
    p->vectors = apart;
    p->chunk = EACH;
    p->grid = ga__ceil_div(apart, p->head.block) *
              ga__ceil_div(ga__ceil_div(p->n, lanes), apart * p->chunk);
    return true;
}
