/* The reduction engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/reduce.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/memory.h"
#include "device/readback.h"
#include "device/tickets.h"
#include "kernels/request.h"
#include "kernels/reduce_plan.h"

typedef ga__reduce_plan plan;

/* ---- The parameter words ---- */

static void add_divisors(plan *p, const ga__nest *nest, bool vectors, size_t *word)
{
    for (int axis = 0; axis < nest->ndim - 1; axis++) {
        const int64_t size = axis == 0 && vectors ? nest->shape[0] / p->lanes : nest->shape[axis];
        word[axis] = ga__params_add_divisor(&p->words, size, p->wide);
    }
}

/* Whether the results of several outputs' chains meet in a tree, in memory. */
static bool needs_scratch(const plan *p)
{
    return p->host && (p->columns ? p->cascade : p->many_runs && p->outputs_per_pass > 1);
}

/* Of one thread. */
static size_t scratch_bytes(const plan *p)
{
    return (size_t)p->levels * ga__reduce_plan_level_bytes(p);
}

static void add_operand(plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    if (!operand->array) {
        p->data_word[k] = ga__params_add_number(&p->words, operand->type, operand->number);
        return;
    }
    p->data_word[k] = ga__params_add(&p->words, (uint64_t)(uintptr_t)operand->array->data);
    if (p->row[k] == GA__NO_ROW) {
        ga__params_add_accessor(&p->words, operand->array);
        return;
    }
    ga__params_add_strides(&p->words, &p->kept, p->row[k]);
    ga__params_add_strides(&p->words, &p->reduced, p->row[k]);
}

static void add_carry(plan *p, const ga__carry *carry)
{
    p->carry_word = p->words.n;
    if (!carry)
        return;
    ga__params_add(&p->words, (uint64_t)(uintptr_t)carry->levels->memory);
    ga__params_add(&p->words, (uint64_t)p->outputs);
    ga__params_add(&p->words, carry->merged);
    ga__params_add(&p->words, (uint64_t)(int64_t)carry->level);
    ga__params_add(&p->words, (uint64_t)carry->first);
    ga__params_add(&p->words, (uint64_t)carry->count);
}

/* The host's memory for levels: its address, a thread's bytes of it, and who says the thread's
 * number. */
static void add_scratch(plan *p)
{
    p->scratch_word = p->words.n;
    if (!needs_scratch(p))
        return;
    int (*const member)(void) = p->device->backend->code.worker;
    uint64_t address;
    memcpy(&address, &member, sizeof(member));
    ga__params_add(&p->words, 0);
    ga__params_add(&p->words, scratch_bytes(p));
    ga__params_add(&p->words, address);
}

static void add_results(plan *p)
{
    ga__params *words = &p->words;
    p->out_word = ga__params_add(words, (uint64_t)(uintptr_t)p->out->data);
    ga__params_add_strides(words, &p->kept, p->rows);
    p->result_word[0] = p->out_word;
    for (int k = 1; k < p->reduction->nresults; k++)
        p->result_word[k] = ga__params_add(words, (uint64_t)(uintptr_t)p->all[k]->data);
}

/* Words 3 to 5 are set by share_rows, once the kernel is known. */
static void add_words(plan *p)
{
    ga__params *words = &p->words;
    words->n = 0;
    ga__params_add(words, (uint64_t)p->count);
    ga__params_add(words, (uint64_t)(!p->host     ? p->kept_vectors
                                     : p->columns ? p->kept.shape[0]
                                                  : p->outputs));
    ga__params_add(words, (uint64_t)(p->host ? p->reduced.shape[0] : p->vectors));
    for (int k = GA__REDUCE_SEGMENTS; k <= GA__REDUCE_TICKETS; k++)
        ga__params_add(words, 0);
    ga__params_add(words, (uint64_t)p->group);
    ga__params_add(words, 0); /* GA__REDUCE_POST and GA__REDUCE_TAG */
    ga__params_add(words, 0);
    for (int k = 0; k < p->reduction->nparts; k++) {
        uint64_t word;
        memcpy(&word, &p->reduction->parts[k].ddof, sizeof(word));
        ga__params_add(words, word);
    }
    add_divisors(p, &p->kept, !p->host && p->columns, p->kept_word);
    add_divisors(p, &p->reduced, !p->host && !p->columns, p->reduced_word);
    for (int k = 0; k < p->noperands; k++)
        add_operand(p, k);
    add_results(p);
    p->index_word = words->n;
    ga__params_add_strides(&p->words, &p->reduced, p->rows);
    add_carry(p, p->reduction->carry);
    add_scratch(p);
}

/* ---- The kernel ---- */

static uint64_t operand_key(const plan *p, int k)
{
    return ga__operand_key(&p->operands[k], p->row[k] == GA__NO_ROW ? 0 : p->step[p->row[k]]);
}

/* What only the host's kernels differ by. */
static uint64_t host_key(const plan *p)
{
    uint64_t unzipped = 0;
    for (int k = 0; k < p->noperands; k++)
        unzipped |= (uint64_t)ga__reduce_plan_deinterleaves(p, k) << k;
    return (uint64_t)p->deinterleave << 60 | (uint64_t)p->strip << 44 |
           (uint64_t)(p->rows_per_pass / 4) << 41 | (uint64_t)p->short_rows << 40 |
           (uint64_t)p->many_runs << 39 | (uint64_t)p->cascade << 38 | unzipped;
}

/* And CUDA's. */
static uint64_t cuda_key(const plan *p)
{
    return (uint64_t)p->turns << 8 | (uint64_t)p->chains << 2 | (uint64_t)p->batch;
}

static void make_key(const plan *p, ga__key *key)
{
    ga__key_init(key, &p->reduction->formula, p->device, GA__REDUCE);
    ga__key_add(
        key, (uint64_t)p->kept.ndim | (uint64_t)p->reduced.ndim << 6 | (uint64_t)p->lanes << 12 |
                 (uint64_t)p->unroll << 17 | (uint64_t)(p->team % p->block) << 21 |
                 (uint64_t)p->across << 30 | (uint64_t)p->columns << 36 | (uint64_t)p->wide << 37 |
                 (uint64_t)p->tail << 38 | (uint64_t)p->split << 39 | (uint64_t)p->thin << 40 |
                 (uint64_t)p->posted << 41 | (uint64_t)p->ascending << 42 |
                 (uint64_t)(p->outputs_per_pass > 1) << 43 | (uint64_t)p->step[p->rows] << 44 |
                 (uint64_t)(p->reduction->carry != NULL) << 46 | (uint64_t)p->large << 47 |
                 (uint64_t)p->reduction->parts[0].type << 48 | (uint64_t)p->out->dtype << 56);
    for (int k = 0; k < p->noperands; k += 2) {
        const uint64_t second = k + 1 < p->noperands ? operand_key(p, k + 1) : 0;
        ga__key_add(key, operand_key(p, k) | second << 32);
    }
    ga__key_add(key, p->host ? host_key(p) : cuda_key(p));
}

static const ga__loaded_program *find_program(const plan *p)
{
    ga__key key;
    make_key(p, &key);
    const ga__program program = {&p->reduction->formula, p->device, "reduce.tmpl",
                                 ga__reduce_describe,    p,         p->block};
    return ga__program_find(&key, &program);
}

/* Waits for what other streams do with operands and results. */
static ga__stream *choose_stream(const plan *p)
{
    ga__stream *stream = ga__operands_stream(p->device, p->noperands, p->operands);
    for (int k = 0; stream && k < p->reduction->nresults; k++)
        if (ga__use(stream, p->all[k]->buffer, true) != GA_OK)
            return NULL;
    const ga__carry *carry = p->reduction->carry;
    if (stream && carry && ga__use(stream, carry->levels, true) != GA_OK)
        return NULL;
    return stream;
}

/* How many partial results the blocks leave. */
static int64_t partial_count(const plan *p)
{
    if (!p->columns)
        return (p->host ? p->outputs : p->tiles) * p->segments;
    return p->tiles * p->segments * (p->host ? p->strip : (int64_t)p->across * p->lanes);
}

static void set_post(plan *p, ga__stream *stream)
{
    const ga__readback post =
        ga__readback_begin(stream, p->out->buffer, p->out->data, ga_nbytes(p->out));
    p->words.word[GA__REDUCE_POST] = post.address;
    p->words.word[GA__REDUCE_TAG] = post.tag;
}

/* One allocation: the scratch memory of all threads, from whose end on partial results are. */
static ga_status allocate(plan *p, ga__buffer **partials)
{
    const size_t scratch = needs_scratch(p) ? scratch_bytes(p) * (size_t)p->device->processors : 0,
                 results =
                     p->split ? (size_t)partial_count(p) * p->reduction->accumulator_bytes : 0;
    *partials = ga__buffer_new(p->device, scratch + results);
    if (!*partials)
        return ga_error();
    const uint64_t address = (uint64_t)(uintptr_t)(*partials)->memory;
    p->words.word[GA__REDUCE_PARTIALS] = address + scratch;
    if (scratch > 0)
        p->words.word[p->scratch_word] = address;
    return GA_OK;
}

/* Fixes how many blocks share a row, and where their partial results meet. */
static ga_status share_rows(plan *p, ga__stream *stream, int resident, ga__buffer **partials)
{
    if (!p->host && p->split)
        ga__reduce_plan_share(p, resident);
    p->words.word[GA__REDUCE_SEGMENTS] = (uint64_t)p->segments;
    if (p->posted)
        set_post(p, stream);
    if (p->split) {
        void *tickets = ga__stream_tickets(stream);
        if (!tickets)
            return ga_error();
        p->words.word[GA__REDUCE_TICKETS] = (uint64_t)(uintptr_t)tickets;
    }
    return p->split || needs_scratch(p) ? allocate(p, partials) : GA_OK;
}

static ga_status run(plan *p, const ga__loaded_program *program)
{
    ga__stream *stream = choose_stream(p);
    ga__buffer *partials = NULL;
    if (!stream || share_rows(p, stream, program->resident, &partials) != GA_OK)
        return ga_error();
    const ga__launch launch = {p->tiles * p->segments, p->block, 0, p->words.word, p->words.n};
    const ga_status status = ga__program_launch(program, stream, &launch);
    ga__buffer_release(partials);
    return status;
}

ga_status ga__reduce(const ga__reduction *reduction, ga__device *device, int ndim,
                     const int64_t *shape, const bool *reduced, int noperands,
                     const ga__operand *operands, gpuarray *const *out)
{
    plan p;
    assert(noperands < GA__MAX_OPERANDS);
    assert(!reduction->carry || out[0]->contiguous);
    p.reduction = reduction;
    p.device = device;
    p.noperands = noperands;
    p.operands = operands;
    p.out = out[0];
    p.all = out;
    p.outputs = reduction->results[0].dtype == GA_NO_DTYPE ? 1 : p.out->size;
    if (p.outputs == 0)
        return GA_OK;
    ga__reduce_plan_make(&p, ndim, shape, reduced);
    add_words(&p);
    const ga__loaded_program *program = find_program(&p);
    if (!program)
        return ga_error();
    const ga_status status = run(&p, program);
    ga__program_leave();
    return status;
}
