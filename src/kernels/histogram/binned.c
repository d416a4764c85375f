/* The engine of bins: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/histogram/binned.h"

#include <assert.h>

#include "base/error.h"
#include "device/readback.h"
#include "device/tickets.h"
#include "kernels/histogram/binned_plan.h"

typedef ga__binned_plan plan;

/* ---- The parameters ---- */

static void add_head(const plan *p, const gpuarray *rows, ga__params *params)
{
    const ga__elementwise_plan *walk = &p->walk;
    *(ga__bins_params *)ga__params_reserve(params, sizeof(ga__bins_params)) = (ga__bins_params){
        .count = (uint64_t)walk->n,
        .length = (uint64_t)(walk->head.host ? walk->nest.shape[0] : walk->vectors),
        .chunk = (uint64_t)p->chunk,
        .segments = (uint64_t)p->segments,
        .bins = (uint64_t)p->call->nbins,
        .range = (uint64_t)p->range,
        .copies = (uint64_t)p->copies,
        .pitch = (uint64_t)p->pitch,
        .rows = rows ? (uint64_t)(uintptr_t)rows->data : 0,
        .uppers = (uint64_t)p->uppers,
        .step = (uint64_t)p->step,
        .room = (uint64_t)p->room};
}

/* Where the number of needed bins is: in the slot after them. */
static size_t needed_at(const ga__binned *call)
{
    return (size_t)call->nbins * sizeof(int64_t);
}

/* What the last block of the launch needs to tell the number of needed bins. */
static ga_status add_ending(const plan *p, const gpuarray *rows, ga__stream *stream,
                            ga__bins_params *head)
{
    const ga__readback readback =
        ga__readback_begin(stream, rows->buffer, rows->data + needed_at(p->call), sizeof(int64_t));
    head->readback = readback.address;
    head->tag = readback.tag;
    head->ticket = (uint64_t)(uintptr_t)ga__stream_tickets(stream);
    return head->ticket ? GA_OK : ga_error();
}

/* ---- The kernel ---- */

/* One call's kernel: what ga__binned_text() gets to see of it. */
typedef struct wanted {
    const ga__binned *call;
    ga__binned_variant variant;
} wanted;

static ga__record *describe(const void *asked)
{
    const wanted *w = asked;
    ga__declaration declarations[GA__MAX_OPERANDS];
    for (int k = 0; k < w->call->noperands; k++)
        declarations[k] = ga__declaration_of(&w->call->operands[k]);
    return ga__binned_text(w->call->formula, declarations, &w->variant);
}

static const ga__loaded_kernel *find_kernel(const plan *p)
{
    const ga__binned *call = p->call;
    ga__key key;
    wanted w;
    w.call = call;
    w.variant.head = p->head;
    ga__elementwise_set_variant(&p->walk, &w.variant.walk);
    ga__key_init(&key, call->formula, call->device, GA__BINS);
    ga__key_add_bytes(&key, &w.variant.head, sizeof w.variant.head);
    ga__key_add_bytes(&key, &w.variant.walk, ga__elementwise_variant_bytes(&w.variant.walk));
    const ga__request request = {call->formula, call->device, "binned.tmpl", describe, &w, 0};
    return ga__request_find(&key, &request);
}

static ga_status launch(const plan *p, gpuarray *rows)
{
    const ga__binned *call = p->call;
    const size_t most = sizeof(ga__bins_params) / sizeof(uint64_t) +
                        ga__elementwise_most_params(call->ndim, call->noperands, call->operands);
    uint64_t words[most];
    ga__params params = ga__params_in(words, most);
    add_head(p, rows, &params);
    ga__elementwise_add_walk(&p->walk, &params);
    const ga__loaded_kernel *kernel = find_kernel(p);
    if (!kernel)
        return ga_error();
    ga__stream *stream = ga__operands_stream(call->device, call->noperands, call->operands);
    ga_status status = stream ? GA_OK : ga_error();
    if (status == GA_OK && rows)
        status = ga__use(stream, rows->buffer, true);
    if (status == GA_OK && call->use == GA__BINNED_WITHIN)
        status = add_ending(p, rows, stream, (ga__bins_params *)words);
    const ga__launch launch = {.grid = p->grid,
                               .block = p->walk.head.block,
                               .shared = p->shared,
                               .stack = p->walk.head.host ? GA__HOST_ARRAYS : 0,
                               .words = words,
                               .nwords = ga__params_count(&params)};
    if (status == GA_OK)
        status = ga__request_launch(kernel, stream, &launch);
    ga__request_leave();
    return status;
}

/* ---- The rows ---- */

/* Rows of bins without the slots after them. */
static gpuarray *rows_of(const plan *p, const gpuarray *slots)
{
    const int64_t shape[] = {p->rows, p->call->nbins};
    return ga__array_view(slots, slots->dtype, 2, shape, slots->strides, 0);
}

/* Only CUDA's counts and sums of integers are added to what is there. */
static gpuarray *new_slots(const plan *p)
{
    const int64_t shape[] = {p->rows, p->pitch};
    gpuarray *slots =
        ga__array_new(p->call->formula->name, p->call->device, ga__binned_slot(p), 2, shape);
    if (!slots || p->walk.head.host || p->call->use == GA__BINNED_WEIGH)
        return slots;
    ga__stream *stream = ga__array_stream(NULL, slots);
    if (stream &&
        p->call->device->backend->memory.zero(stream, slots->data, ga_nbytes(slots)) == GA_OK)
        return slots;
    ga_free(slots);
    return NULL;
}

static ga_status run_into_rows(const plan *p, gpuarray **rows)
{
    gpuarray *slots = new_slots(p), *made = slots ? rows_of(p, slots) : NULL;
    const ga_status status = made ? launch(p, slots) : ga_error();
    ga_free(slots);
    if (status == GA_OK)
        *rows = made;
    else
        ga_free(made);
    return status;
}

ga_status ga__binned_run(const ga__binned *call, gpuarray **rows)
{
    int64_t strides[call->noperands + 1][GA_MAX_NDIM];
    plan p;
    assert(call->noperands < GA__MAX_OPERANDS);
    p.call = call;
    p.walk.formula = call->formula;
    p.walk.device = call->device;
    p.walk.noperands = call->noperands;
    p.walk.operands = call->operands;
    p.walk.nest.strides = strides;
    p.walk.n = ga__shape_size(call->ndim, call->shape);
    assert(p.walk.n > 0);
    ga__binned_plan_make(&p);
    return ga__binned_stores(call->use) ? launch(&p, NULL) : run_into_rows(&p, rows);
}

ga_status ga__binned_run_within(const ga__binned *call, gpuarray **rows, int64_t *needed)
{
    const int64_t one = 1, stride = sizeof(int64_t);
    gpuarray *made, *number;
    assert(call->use == GA__BINNED_WITHIN);
    if (ga__binned_run(call, &made) != GA_OK)
        return ga_error();
    number = ga__array_view(made, GA_INT64, 1, &one, &stride, (int64_t)needed_at(call));
    const ga_status status =
        number ? ga__array_download(call->formula->name, number, 0, needed, sizeof *needed)
               : ga_error();
    ga_free(number);
    if (status == GA_OK)
        *rows = made;
    else
        ga_free(made);
    return status;
}
