/* The sorting engine: plans one sort, finds its kernels by small keys, and launches them. */
#include "kernels/sort/sort.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "kernels/request.h"
#include "kernels/sort/sort_plan.h"

#define HOST_STACK (64 << 10) /* bytes: a short run of the widest elements, and samples of them */

typedef ga__sort_plan plan;

/* One sort in progress. */
typedef struct job {
    plan p;
    ga__stream *stream;
    ga__buffer *memory; /* all that the launches need beside the arrays */
    bool prepares;      /* kernels are found, but nothing is launched */
    struct {
        ga__sort_params head;
        ga__sort_scratch scratch; /* of the host's workers */
    } params;
} job;

static const ga__formula formula = {.id = GA__FORMULA_ID(64), .name = "sort", .body = ""};

/* ---- One launch ---- */

static ga__record *describe(const void *variant)
{
    return ga__sort_text(&formula, variant);
}

static const ga__loaded_kernel *find_kernel(ga__device *device, const ga__sort_variant *v)
{
    const ga__request request = {&formula, device, "sort.tmpl", describe, v, 0};
    return ga__request_find_variant(&request, GA__SORT, v, sizeof *v);
}

/* Elements of a share: those that a block counts differ from those of a tile. */
static void set_share(job *j, ga__sort_step step)
{
    const plan *p = &j->p;
    const bool counts = step == GA__SORT_COUNT && !p->v.host;
    j->params.head.share = (uint64_t)(counts ? p->count_share : p->share);
    j->params.head.shares = (uint64_t)(counts ? p->count_shares : p->shares);
}

static ga_status run_step(job *j, ga__sort_step step, int pass)
{
    ga__sort_variant v = j->p.v;
    v.step = (uint8_t)step;
    v.last = !v.host && step == GA__SORT_PASS && pass == j->p.digits - 1;
    const ga__loaded_kernel *kernel = find_kernel(j->p.device, &v);
    if (!kernel)
        return ga_error();
    if (j->prepares) {
        ga__request_leave();
        return GA_OK;
    }
    set_share(j, step);
    j->params.head.pass = (uint64_t)pass;
    uint64_t words[sizeof j->params / sizeof(uint64_t)];
    memcpy(words, &j->params, sizeof words);
    const size_t shared = step == GA__SORT_ROWS || step == GA__SORT_PASS ? j->p.shared : 0;
    const ga__launch launch = {.grid = ga__sort_plan_grid(&j->p, step),
                               .block = v.block,
                               .shared = shared,
                               .stack = HOST_STACK,
                               .words = words,
                               .nwords = ga__sort_param_words(&v)};
    const ga_status status = ga__request_launch(kernel, j->stream, &launch);
    ga__request_leave();
    return status;
}

/* ---- Long rows ---- */

static ga_status zero(const job *j, uint64_t address, size_t nbytes)
{
    if (j->prepares)
        return GA_OK;
    return j->p.device->backend->memory.zero(j->stream, (void *)(uintptr_t)address, nbytes);
}

static ga_status run_pass(job *j, int pass)
{
    const ga_status status = j->p.v.host ? run_step(j, GA__SORT_DIGIT, pass)
                                         : zero(j, j->params.head.status, j->p.status_bytes);
    return status == GA_OK ? run_step(j, GA__SORT_PASS, pass) : status;
}

static ga_status run_passes(job *j)
{
    ga_status status = j->p.v.host ? GA_OK : zero(j, j->params.head.state, j->p.state_bytes);
    if (status == GA_OK)
        status = run_step(j, GA__SORT_COUNT, 0);
    if (status == GA_OK)
        status = run_step(j, GA__SORT_PLAN, 0);
    for (int pass = 0; pass < j->p.digits && status == GA_OK; pass++)
        status = run_pass(j, pass);
    return status;
}

static ga_status run_buckets(job *j)
{
    static const ga__sort_step steps[] = {GA__SORT_COUNT, GA__SORT_GATHER, GA__SORT_BUCKETS,
                                          GA__SORT_SPECIALS};
    const size_t count = sizeof steps / sizeof *steps - (j->p.v.indices != 0);
    ga_status status = GA_OK;
    for (size_t k = 0; k < count && status == GA_OK; k++)
        status = run_step(j, steps[k], 0);
    return status;
}

/* ---- The whole ---- */

static uint64_t address_of(const gpuarray *x)
{
    return x ? (uint64_t)(uintptr_t)x->data : 0;
}

static void set_params(job *j)
{
    const plan *p = &j->p;
    j->params.head = (ga__sort_params){.from = address_of(p->call->from),
                                       .to = address_of(p->call->to),
                                       .indices = address_of(p->call->indices),
                                       .rows = (uint64_t)p->rows,
                                       .length = (uint64_t)p->length,
                                       .skipped = (uint64_t)p->call->skipped};
}

static uint64_t take(uint64_t *next, size_t nbytes)
{
    const uint64_t address = *next;
    *next += nbytes;
    return address;
}

/* Divides one allocation among the launches' needs. */
static ga_status allocate(job *j)
{
    const plan *p = &j->p;
    ga__sort_params *head = &j->params.head;
    const size_t nbytes = p->to_bytes + p->spare_bytes + p->spare_index_bytes + p->state_bytes +
                          p->status_bytes + p->scratch_bytes * (size_t)p->device->processors;
    if (nbytes == 0)
        return GA_OK;
    j->memory = ga__buffer_new(p->device, nbytes);
    if (!j->memory)
        return ga_error();
    uint64_t next = (uint64_t)(uintptr_t)j->memory->memory;
    head->to = p->to_bytes ? take(&next, p->to_bytes) : head->to;
    head->spare = take(&next, p->spare_bytes);
    head->spare_indices = take(&next, p->spare_index_bytes);
    head->state = take(&next, p->state_bytes);
    head->status = take(&next, p->status_bytes);
    if (p->scratch_bytes) {
        int (*const worker)(void) = p->device->backend->code.worker;
        j->params.scratch.scratch = next;
        j->params.scratch.scratch_bytes = p->scratch_bytes;
        memcpy(&j->params.scratch.worker, &worker, sizeof worker);
    }
    return GA_OK;
}

static ga__stream *choose_stream(const ga__sort_call *call)
{
    ga__stream *stream = ga__current_stream(call->from->buffer->device);
    if (!stream || ga__use(stream, call->from->buffer, false) != GA_OK)
        return NULL;
    if (call->to && ga__use(stream, call->to->buffer, true) != GA_OK)
        return NULL;
    if (call->indices && ga__use(stream, call->indices->buffer, true) != GA_OK)
        return NULL;
    return stream;
}

static ga_status run_steps(job *j)
{
    switch (j->p.way) {
    case GA__SORT_BY_NETWORK: return run_step(j, GA__SORT_SHORT_ROWS, 0);
    case GA__SORT_BY_ROW: return run_step(j, GA__SORT_ROWS, 0);
    case GA__SORT_BY_BUCKETS: return run_buckets(j);
    default: return run_passes(j);
    }
}

/* All kernels are loaded before the first launch, so that one that cannot be leaves the result as
 * it was. */
static ga_status run(job *j)
{
    j->prepares = true;
    const ga_status status = run_steps(j);
    j->prepares = false;
    return status == GA_OK ? run_steps(j) : status;
}

ga_status ga__sort(const ga__sort_call *call)
{
    job j = {0};
    assert(call->from->contiguous && call->from->ndim > 0 && call->from->size > 0);
    ga__sort_plan_make(&j.p, call);
    set_params(&j);
    ga_status status = allocate(&j);
    j.stream = status == GA_OK ? choose_stream(call) : NULL;
    status = j.stream ? run(&j) : ga_error();
    ga__buffer_release(j.memory);
    return status;
}

bool ga__sort_skips(const ga__sort_call *call)
{
    plan p;
    ga__sort_plan_make(&p, call);
    return p.way == GA__SORT_BY_PASSES;
}
