/* The engine of fused rows: finds the kernel of one plan by a small key, and launches it. */
#include "kernels/fused/fused.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "kernels/fused/fused_text.h"
#include "kernels/reduce_text.h"

typedef ga__fused_plan plan;

/* A plan with its parameters. */
typedef struct launching {
    const plan *p;
    ga__params params;
    ga__scratch_params *scratch; /* NULL: none */
    ga__cluster_params *cluster; /* likewise */
} launching;

/* ---- The parameters, in the order of fused_text.h ---- */

static void add_scratch(launching *c)
{
    int (*const worker)(void) = c->p->call->device->backend->code.worker;
    c->scratch = ga__params_reserve(&c->params, sizeof *c->scratch);
    *c->scratch = (ga__scratch_params){.scratch_bytes = c->p->scratch};
    memcpy(&c->scratch->worker, &worker, sizeof worker);
}

static void add_cluster(launching *c)
{
    c->cluster = ga__params_reserve(&c->params, sizeof *c->cluster);
    *c->cluster = (ga__cluster_params){.blocks = (uint64_t)c->p->blocks};
}

static void add_operand(launching *c, int k)
{
    const ga__operand *operand = &c->p->call->operands[k];
    if (!operand->array) {
        ga__params_add_number(&c->params, operand->type, operand->number);
        return;
    }
    ga__params_add_pointer(&c->params, operand->array->data);
    ga__params_add_strides(&c->params, &c->p->kept, k);
    ga__params_add(&c->params, c->p->place[k]);
    if (c->p->v.walk == GA__WALK_COLUMNS)
        ga__params_add(&c->params, (uint64_t)c->p->row.strides[k][0]);
}

static uint64_t group_of(const plan *p)
{
    switch ((ga__fused_walk)p->v.walk) {
    case GA__WALK_CLUSTERS:
    case GA__WALK_DISTRIBUTED: return (uint64_t)p->part;
    case GA__WALK_COLUMNS: return p->v.host ? (uint64_t)p->rows_of_block : p->meeting;
    default: return (uint64_t)p->rows_of_block;
    }
}

static void add_params(launching *c)
{
    const plan *p = c->p;
    const ga__fused_formula *f = p->call->formula;
    *(ga__fused_params *)ga__params_reserve(&c->params, sizeof(ga__fused_params)) =
        (ga__fused_params){.count = (uint64_t)p->length,
                           .outputs = (uint64_t)p->rows,
                           .group = group_of(p),
                           .wait = (uint64_t)(p->v.host ? p->kept.shape[0] : p->wait)};
    if (p->v.host)
        add_scratch(c);
    if (ga__fused_is_clustered(&p->v))
        add_cluster(c);
    for (int s = 0; s < f->nstages; s++)
        for (int k = 0; k < f->stages[s].nparts; k++)
            memcpy(ga__params_reserve(&c->params, sizeof(double)), &f->stages[s].ddof[k],
                   sizeof(double));
    for (int axis = 0; axis < p->kept.ndim - 1; axis++)
        ga__params_add_divisor(&c->params, p->kept.shape[axis], p->v.wide);
    for (int k = 0; k < p->call->noperands; k++)
        add_operand(c, k);
    for (int q = 0; q < f->nkept; q++)
        ga__params_add(&c->params, p->kept_at[q]);
    if (f->nkept == 0)
        ga__params_add(&c->params, 0);
}

/* ---- The kernel ---- */

static ga__record *describe(const void *called)
{
    const launching *c = called;
    const plan *p = c->p;
    ga__declaration declarations[GA__MAX_OPERANDS];
    assert(ga__params_count(&c->params) == ga__fused_param_words(p->call->formula, &p->v));
    for (int k = 0; k < p->call->noperands; k++)
        declarations[k] = ga__declaration_of(&p->call->operands[k]);
    return ga__fused_text(p->call->formula, declarations, &p->v);
}

static const ga__loaded_kernel *find_kernel(const launching *c)
{
    const plan *p = c->p;
    const ga__formula *formula = &p->call->formula->base;
    const ga__request request = {formula, p->call->device, "fused.tmpl", describe, c, 0};
    return ga__request_find_variant(&request, GA__FUSED, &p->v,
                                    offsetof(ga__fused_variant, operand) +
                                        8 * (size_t)p->v.noperands);
}

/* Gives the launch its memory: of the host's workers, or where the blocks of clusters meet. */
static ga_status allocate(launching *c, ga__stream *stream, ga__buffer **memory)
{
    const plan *p = c->p;
    ga__device *device = p->call->device;
    const bool meets = p->v.walk == GA__WALK_CLUSTERS;
    const size_t nbytes = meets ? (size_t)p->grid * 2 * GA__RESULT_WORDS * sizeof(uint64_t)
                                : p->scratch * (size_t)device->processors;
    *memory = nbytes > 0 ? ga__buffer_new(device, nbytes) : NULL;
    if (nbytes > 0 && !*memory)
        return ga_error();
    const uint64_t address = *memory ? (uint64_t)(uintptr_t)(*memory)->memory : 0;
    if (c->scratch)
        c->scratch->scratch = address;
    if (!meets)
        return GA_OK;
    c->cluster->results = address;
    return device->backend->memory.zero(stream, (*memory)->memory, nbytes);
}

/* Blocks that all run at once, or fewer: those of a cluster of the hardware need neighbouring
 * multiprocessors, and the device knows how many clusters it has room for. */
static void fit_clusters(const plan *p, const ga__loaded_kernel *kernel, ga__launch *launch)
{
    ga__device *device = p->call->device;
    launch->cluster = p->blocks;
    const int64_t room = device->backend->code.resident_clusters(device, kernel->function, launch);
    launch->grid = p->blocks * (p->rows < room ? p->rows : room);
}

static ga_status launch(launching *c, const ga__loaded_kernel *kernel)
{
    const plan *p = c->p;
    ga__device *device = p->call->device;
    ga__stream *stream = ga__operands_stream(device, p->call->noperands, p->call->operands);
    ga__buffer *memory = NULL;
    if (!stream)
        return ga_error();
    ga_status status = allocate(c, stream, &memory);
    ga__launch launch = {.grid = p->grid,
                         .block = p->v.block,
                         .shared = p->shared,
                         .stack = p->stack,
                         .words = c->params.word,
                         .nwords = ga__params_count(&c->params),
                         .together = p->v.walk == GA__WALK_CLUSTERS};
    if (p->v.walk == GA__WALK_DISTRIBUTED)
        fit_clusters(p, kernel, &launch);
    if (status == GA_OK)
        status = ga__request_launch(kernel, stream, &launch);
    ga__buffer_release(memory);
    return status;
}

static size_t most_params(int ndim, int noperands)
{
    const size_t head =
        sizeof(ga__fused_params) + sizeof(ga__scratch_params) + sizeof(ga__cluster_params);
    return head / sizeof(uint64_t) + GA__MAX_STAGES * GA__MAX_PARTS + GA__MAX_KEPT +
           GA__DIVISOR_WORDS * (size_t)ndim + (size_t)noperands * (4 + (size_t)ndim);
}

ga_status ga__fused_run(const plan *p)
{
    const size_t most = most_params(p->call->ndim, p->call->noperands);
    uint64_t words[most];
    launching c = {.p = p, .params = ga__params_in(words, most)};
    add_params(&c);
    const ga__loaded_kernel *kernel = find_kernel(&c);
    if (!kernel)
        return ga_error();
    const ga_status status = launch(&c, kernel);
    ga__request_leave();
    return status;
}
