/* The scan engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/scan/scan.h"

#include <assert.h>
#include <stddef.h>

#include "base/error.h"
#include "device/memory.h"
#include "device/tickets.h"
#include "kernels/scan/scan_plan.h"

typedef ga__scan_plan plan;

/* A call with its parameters, whose head is completed once there is memory for the states. */
typedef struct call {
    plan p;
    ga__params params;
    ga__scan_params *head;
} call;

/* The ticket has a line of its own before the states. */
enum { TICKET_BYTES = 128 };

/* ---- The parameters, in the order of scan_text.c's layout ---- */

static void add_operand(call *c, int k)
{
    const ga__operand *operand = &c->p.operands[k];
    const int place = c->p.place[k];
    if (!operand->array) {
        ga__params_add_number(&c->params, operand->type, operand->number);
        return;
    }
    if (place == GA__NO_PLACE) {
        ga__params_add_pointer(&c->params, operand->array->data);
        ga__params_add_accessor(&c->params, operand->array);
        return;
    }
    const int64_t size = (int64_t)ga__dtype_size(operand->array->dtype);
    ga__params_add_pointer(&c->params, operand->array->data + c->p.offset[place] * size);
    ga__params_add_strides(&c->params, &c->p.kept, place);
    ga__params_add(&c->params, (uint64_t)c->p.along[place]);
}

/* Whether no element that is read is written, so that any block may read it at any time. */
static bool reads_what_stays(const plan *p)
{
    for (int w = 0; w < p->noperands; w++) {
        const ga__operand *written = &p->operands[w];
        if (!written->array || !written->writes)
            continue;
        if (written->reads)
            return false;
        for (int k = 0; k < p->noperands; k++) {
            const ga__operand *read = &p->operands[k];
            if (read->array && read->reads && ga__arrays_overlap(written->array, read->array))
                return false;
        }
    }
    return true;
}

static void add_params(call *c)
{
    const plan *p = &c->p;
    c->head = ga__params_reserve(&c->params, sizeof *c->head);
    *c->head = (ga__scan_params){.length = (uint64_t)p->length,
                                 .groups = (uint64_t)p->groups,
                                 .tiles = (uint64_t)p->tiles,
                                 .rows = (uint64_t)(p->v.columns ? p->width : p->rows),
                                 .each = (uint64_t)p->each,
                                 .helps = p->v.host && p->v.chained && reads_what_stays(p)};
    if (p->v.initial)
        ga__params_add_number(&c->params, p->scan->type, *p->scan->initial);
    for (int axis = p->v.columns ? 1 : 0; axis < p->kept.ndim - 1; axis++)
        ga__params_add_divisor(&c->params, p->kept.shape[axis], p->v.wide);
    if (p->v.folds)
        ga__params_add_divisor(&c->params, p->length, p->v.wide);
    for (int k = 0; k < p->noperands; k++)
        add_operand(c, k);
}

/* ---- The kernel ---- */

static ga__record *describe(const void *called)
{
    const call *c = called;
    const plan *p = &c->p;
    ga__declaration declarations[GA__MAX_OPERANDS];
    assert(ga__params_count(&c->params) == ga__scan_param_words(&p->v));
    for (int k = 0; k < p->noperands; k++)
        declarations[k] = ga__declaration_of(&p->operands[k]);
    return ga__scan_text(&p->scan->formula, declarations, &p->v);
}

static const ga__loaded_kernel *find_kernel(const call *c)
{
    const plan *p = &c->p;
    const ga__formula *formula = &p->scan->formula.base;
    const ga__request request = {formula, p->device, "scan.tmpl", describe, c, 0};
    return ga__request_find_variant(&request, GA__SCAN, &p->v,
                                    offsetof(ga__scan_variant, operand) + 8 * (size_t)p->noperands);
}

static void set_states(call *c, void *memory, uint32_t tag)
{
    c->head->ticket = (uint64_t)(uintptr_t)memory;
    c->head->states = c->head->ticket + TICKET_BYTES;
    c->head->tag = tag;
}

/* Memory for the states of tiles, in which none has the call's tag: the stream's, or all zeros. */
static ga_status make_states(call *c, ga__stream *stream, ga__buffer **states)
{
    const size_t nbytes = TICKET_BYTES + ga__scan_plan_state_bytes(&c->p);
    void *memory = NULL;
    uint32_t tag;
    if (nbytes == TICKET_BYTES)
        return GA_OK;
    if (nbytes <= GA__STATE_BYTES && ga__stream_states(stream, &memory, &tag) != GA_OK)
        return ga_error();
    if (memory) {
        set_states(c, memory, tag);
        return GA_OK;
    }
    *states = ga__buffer_new(c->p.device, nbytes);
    if (!*states)
        return ga_error();
    set_states(c, (*states)->memory, 1);
    return stream->device->backend->memory.zero(stream, (*states)->memory, nbytes);
}

static ga_status launch(call *c, const ga__loaded_kernel *kernel)
{
    ga__buffer *states = NULL;
    ga__stream *stream = ga__operands_stream(c->p.device, c->p.noperands, c->p.operands);
    if (!stream)
        return ga_error();
    ga_status status = make_states(c, stream, &states);
    const ga__launch launch = {.grid = c->p.grid,
                               .block = GA__SCAN_BLOCK,
                               .in_order = c->p.v.chained,
                               .shared = c->p.shared,
                               .stack = c->p.stack,
                               .words = c->params.word,
                               .nwords = ga__params_count(&c->params)};
    if (status == GA_OK)
        status = ga__request_launch(kernel, stream, &launch);
    ga__buffer_release(states);
    return status;
}

/* The most words of parameters of a call over `ndim` axes. */
static size_t most_params(int ndim, int noperands, const ga__operand *operands)
{
    return sizeof(ga__scan_params) / sizeof(uint64_t) + GA__NUMBER_WORDS +
           GA__DIVISOR_WORDS * ((size_t)ndim + 1) + ga__operands_words(ndim, noperands, operands);
}

ga_status ga__scan_run(const ga__scan *scan, ga__device *device, int ndim, const int64_t *shape,
                       int axis, int noperands, const ga__operand *operands)
{
    /* As much as the call's operands need. */
    int64_t strides[noperands][GA_MAX_NDIM];
    const size_t most = most_params(ndim, noperands, operands);
    uint64_t words[most];
    call c;
    assert(noperands > 0 && noperands < GA__MAX_OPERANDS && axis >= 0 && axis < ndim);
    if (ga__shape_size(ndim, shape) == 0)
        return GA_OK;
    c.p.scan = scan;
    c.p.device = device;
    c.p.noperands = noperands;
    c.p.operands = operands;
    c.p.kept.strides = strides;
    c.params = ga__params_in(words, most);
    ga__scan_plan_make(&c.p, ndim, shape, axis);
    add_params(&c);
    const ga__loaded_kernel *kernel = find_kernel(&c);
    if (!kernel)
        return ga_error();
    const ga_status status = launch(&c, kernel);
    ga__request_leave();
    return status;
}
