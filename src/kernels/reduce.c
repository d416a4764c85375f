/* The reduction engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/reduce.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/memory.h"
#include "device/readback.h"
#include "device/tickets.h"
#include "kernels/request.h"
#include "kernels/reduce_plan.h"

typedef ga__reduce_plan plan;

/* A call with its parameters, whose head and scratch memory are completed once the kernel is known.
 */
typedef struct call {
    plan p;
    ga__params params;
    ga__reduce_params *head;
    ga__scratch_params *scratch; /* NULL: none */
} call;

/* ---- The parameters, in the order of ga__reduce_layout ---- */

static void add_divisors(call *c, const ga__nest *nest, bool vectors)
{
    for (int axis = 0; axis < nest->ndim - 1; axis++) {
        const int64_t vector_axis =
            c->p.v.ragged && vectors ? c->p.row_tiles : ga__ceil_div(nest->shape[0], c->p.v.lanes);
        const int64_t size = axis == 0 && vectors ? vector_axis : nest->shape[axis];
        ga__params_add_divisor(&c->params, size, c->p.v.wide);
    }
}

static void add_operand(call *c, int k)
{
    const ga__operand *operand = &c->p.operands[k];
    if (!operand->array) {
        ga__params_add_number(&c->params, operand->type, operand->number);
        return;
    }
    ga__params_add_pointer(&c->params, operand->array->data);
    if (c->p.place[k] == GA__NO_PLACE) {
        ga__params_add_accessor(&c->params, operand->array);
        return;
    }
    ga__params_add_strides(&c->params, &c->p.kept, c->p.place[k]);
    ga__params_add_strides(&c->params, &c->p.reduced, c->p.place[k]);
}

static void add_head(call *c)
{
    const plan *p = &c->p;
    const bool host = p->v.host;
    c->head = ga__params_reserve(&c->params, sizeof *c->head);
    *c->head = (ga__reduce_params){.count = (uint64_t)p->count,
                                   .outputs = (uint64_t)(!host          ? p->kept_vectors
                                                         : p->v.columns ? p->kept.shape[0]
                                                                        : p->outputs),
                                   .run = (uint64_t)(host ? p->reduced.shape[0] : p->vectors),
                                   .group = (uint64_t)p->group};
}

static void add_carry(call *c, const ga__carry *carry)
{
    *(ga__carry_params *)ga__params_reserve(&c->params, sizeof(ga__carry_params)) =
        (ga__carry_params){.levels = (uint64_t)(uintptr_t)carry->levels->memory,
                           .level_outputs = (uint64_t)c->p.outputs,
                           .merged_levels = carry->merged,
                           .kept_level = (uint64_t)(int64_t)carry->level,
                           .first_index = (uint64_t)carry->first,
                           .total_count = (uint64_t)carry->count};
}

static void add_ragged(call *c)
{
    const plan *p = &c->p;
    *(ga__ragged_params *)ga__params_reserve(&c->params, sizeof(ga__ragged_params)) =
        (ga__ragged_params){.across = (uint64_t)p->across,
                            .down = (uint64_t)p->down,
                            .apart = (uint64_t)p->apart,
                            .width = (uint64_t)p->width,
                            .fold = (uint64_t)p->fold};
}

/* Of one thread. */
static size_t scratch_bytes(const plan *p)
{
    return (size_t)p->levels * ga__reduce_level_bytes(&p->reduction->formula, &p->v);
}

static void add_scratch(call *c)
{
    int (*const worker)(void) = c->p.device->backend->code.worker;
    c->scratch = ga__params_reserve(&c->params, sizeof *c->scratch);
    c->scratch->scratch_bytes = scratch_bytes(&c->p);
    memcpy(&c->scratch->worker, &worker, sizeof(worker));
}

static void add_results(call *c)
{
    const plan *p = &c->p;
    ga__params_add_pointer(&c->params, p->out[0]->data);
    ga__params_add_strides(&c->params, &p->kept, p->streamed);
    for (int k = 1; k < p->reduction->formula.nresults; k++)
        ga__params_add_pointer(&c->params, p->out[k]->data);
}

static void add_params(call *c)
{
    const plan *p = &c->p;
    const ga__reduction *r = p->reduction;
    add_head(c);
    if (r->carry)
        add_carry(c, r->carry);
    if (p->v.ragged)
        add_ragged(c);
    c->scratch = NULL;
    if (ga__reduce_needs_scratch(&p->v))
        add_scratch(c);
    for (int k = 0; k < r->formula.nparts; k++)
        memcpy(ga__params_reserve(&c->params, sizeof r->ddof[k]), &r->ddof[k], sizeof r->ddof[k]);
    add_divisors(c, &p->kept, !p->v.host && p->v.columns);
    add_divisors(c, &p->reduced, !p->v.host && !p->v.columns);
    for (int k = 0; k < p->noperands; k++)
        add_operand(c, k);
    add_results(c);
    ga__params_add_strides(&c->params, &p->reduced, p->streamed);
}

/* ---- The kernel ---- */

static ga__record *describe(const void *called)
{
    const call *c = called;
    const plan *p = &c->p;
    ga__declaration declarations[GA__MAX_OPERANDS];
    assert(ga__params_count(&c->params) == ga__reduce_param_words(&p->reduction->formula, &p->v));
    for (int k = 0; k < p->noperands; k++)
        declarations[k] = ga__declaration_of(&p->operands[k]);
    return ga__reduce_text(&p->reduction->formula, declarations, &p->v);
}

static const ga__loaded_kernel *find_kernel(const call *c)
{
    const plan *p = &c->p;
    const ga__formula *formula = &p->reduction->formula.base;
    const ga__request request = {formula, p->device, "reduce.tmpl", describe, c, p->v.block};
    return ga__request_find_variant(&request, GA__REDUCE, &p->v,
                                    offsetof(ga__reduce_variant, operand) +
                                        8 * (size_t)p->noperands);
}

/* Waits for what other streams do with operands and results. */
static ga__stream *choose_stream(const plan *p)
{
    ga__stream *stream = ga__operands_stream(p->device, p->noperands, p->operands);
    for (int k = 0; stream && k < p->reduction->formula.nresults; k++)
        if (ga__use(stream, p->out[k]->buffer, true) != GA_OK)
            return NULL;
    const ga__carry *carry = p->reduction->carry;
    if (stream && carry && ga__use(stream, carry->levels, true) != GA_OK)
        return NULL;
    return stream;
}

/* Partial results that the blocks leave. */
static int64_t partial_count(const plan *p)
{
    if (!p->v.columns)
        return (p->v.host ? p->outputs : p->tiles) * p->segments;
    return p->tiles * p->segments * (p->v.host ? p->v.strip : p->width);
}

static void set_readback(call *c, ga__stream *stream)
{
    const gpuarray *out = c->p.out[0];
    const ga__readback readback =
        ga__readback_begin(stream, out->buffer, out->data, ga_nbytes(out));
    c->head->readback = readback.address;
    c->head->tag = readback.tag;
}

/* One allocation: the scratch memory of all threads, then the partial results. */
static ga_status allocate(call *c, ga__buffer **partials)
{
    const plan *p = &c->p;
    const size_t scratch =
                     c->scratch ? c->scratch->scratch_bytes * (size_t)p->device->processors : 0,
                 results = p->v.split ? (size_t)partial_count(p) * p->v.accumulator_bytes : 0;
    *partials = ga__buffer_new(p->device, scratch + results);
    if (!*partials)
        return ga_error();
    const uint64_t address = (uint64_t)(uintptr_t)(*partials)->memory;
    c->head->partials = address + scratch;
    if (c->scratch)
        c->scratch->scratch = address;
    return GA_OK;
}

/* Fixes how many blocks share a tile, and where their partial results meet. */
static ga_status share_tiles(call *c, ga__stream *stream, int resident, ga__buffer **partials)
{
    plan *p = &c->p;
    if (!p->v.host && p->v.split)
        ga__reduce_plan_share(p, resident);
    if (p->v.ragged)
        c->head->group = (uint64_t)ga__reduce_plan_group(p);
    c->head->segments = (uint64_t)p->segments;
    if (p->v.posted)
        set_readback(c, stream);
    if (p->v.split) {
        void *tickets = ga__stream_tickets(stream);
        if (!tickets)
            return ga_error();
        c->head->tickets = (uint64_t)(uintptr_t)tickets;
    }
    return p->v.split || c->scratch ? allocate(c, partials) : GA_OK;
}

static ga_status launch(call *c, const ga__loaded_kernel *kernel)
{
    ga__stream *stream = choose_stream(&c->p);
    ga__buffer *partials = NULL;
    if (!stream || share_tiles(c, stream, kernel->resident, &partials) != GA_OK)
        return ga_error();
    const ga__launch launch = {.grid = c->p.tiles * c->p.segments,
                               .block = c->p.v.block,
                               .stack = c->p.stack,
                               .words = c->params.word,
                               .nwords = ga__params_count(&c->params)};
    const ga_status status = ga__request_launch(kernel, stream, &launch);
    ga__buffer_release(partials);
    return status;
}

/* The most words of parameters of a call over `ndim` axes, given those of its operands. */
static inline size_t most_params(size_t ndim, size_t operands)
{
    const size_t head = sizeof(ga__reduce_params) + sizeof(ga__carry_params) +
                        sizeof(ga__ragged_params) + sizeof(ga__scratch_params) +
                        2 * GA__MAX_PARTS * sizeof(uint64_t);
    return head / sizeof(uint64_t) + (GA__DIVISOR_WORDS + 1) * (ndim + 2) + operands;
}

static ga_status run(call *c)
{
    add_params(c);
    const ga__loaded_kernel *kernel = find_kernel(c);
    if (!kernel)
        return ga_error();
    const ga_status status = launch(c, kernel);
    ga__request_leave();
    return status;
}

ga_status ga__reduce(const ga__reduction *reduction, ga__device *device, int ndim,
                     const int64_t *shape, const bool *reduced, int noperands,
                     const ga__operand *operands, gpuarray *const *out)
{
    /* As much as the call's operands need. */
    int64_t strides[2 * (noperands + 1)][GA_MAX_NDIM];
    const size_t most =
        noperands <= GA__FEW_OPERANDS
            ? most_params(GA_MAX_NDIM, (size_t)noperands * GA__OPERAND_WORDS)
            : most_params((size_t)ndim, ga__operands_words(ndim + 1, noperands, operands));
    uint64_t words[most];
    call c;
    assert(noperands < GA__MAX_OPERANDS);
    assert(!reduction->carry || out[0]->contiguous);
    c.p.reduction = reduction;
    c.p.device = device;
    c.p.noperands = noperands;
    c.p.operands = operands;
    c.p.out = out;
    c.p.outputs = reduction->formula.raw_result ? 1 : out[0]->size;
    c.p.kept.strides = strides;
    c.p.reduced.strides = strides + noperands + 1;
    c.params = ga__params_in(words, most);
    if (c.p.outputs == 0)
        return GA_OK;
    ga__reduce_plan_make(&c.p, ndim, shape, reduced);
    return run(&c);
}
