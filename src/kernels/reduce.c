/* The reduction engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/reduce.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/memory.h"
#include "device/post.h"
#include "device/tickets.h"
#include "kernels/request.h"
#include "kernels/reduce_plan.h"

typedef ga__reduce_plan plan;

/* Parameter words: those that are known last, and the first part's ddof. */
enum { WORD_SEGMENTS = 3, WORD_PARTIALS, WORD_TICKETS, WORD_GROUP, WORD_POST, WORD_TAG, WORD_DDOF };

/* ---- The parameter words ---- */

static void add_divisors(plan *p, const ga__nest *nest, bool vectors, size_t *word)
{
    for (int axis = 0; axis < nest->ndim - 1; axis++) {
        const int64_t size = axis == 0 && vectors ? nest->shape[0] / p->lanes : nest->shape[axis];
        word[axis] = ga__words_add_divisor(&p->words, size, p->wide);
    }
}

/* Whether the results of several outputs' chains meet in a tree, in memory. */
static bool needs_scratch(const plan *p)
{
    return p->host && (p->columns ? p->cascade : p->many_runs && p->together > 1);
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
        p->data_word[k] = ga__words_add_number(&p->words, operand->type, operand->number);
        return;
    }
    p->data_word[k] = ga__words_add(&p->words, (uint64_t)(uintptr_t)operand->array->data);
    if (p->row[k] == GA__NO_ROW) {
        ga__words_add_accessor(&p->words, operand->array);
        return;
    }
    ga__words_add_strides(&p->words, &p->kept, p->row[k]);
    ga__words_add_strides(&p->words, &p->reduced, p->row[k]);
}

static void add_carry(plan *p, const ga__carry *carry)
{
    p->carry_word = p->words.n;
    if (!carry)
        return;
    ga__words_add(&p->words, (uint64_t)(uintptr_t)carry->levels->memory);
    ga__words_add(&p->words, (uint64_t)p->outputs);
    ga__words_add(&p->words, carry->merged);
    ga__words_add(&p->words, (uint64_t)(int64_t)carry->level);
    ga__words_add(&p->words, (uint64_t)carry->first);
    ga__words_add(&p->words, (uint64_t)carry->count);
}

/* The host's memory for levels: its address, a thread's bytes of it, and who says the thread's
 * number. */
static void add_scratch(plan *p)
{
    p->scratch_word = p->words.n;
    if (!needs_scratch(p))
        return;
    int (*const member)(void) = p->device->backend->worker;
    uint64_t address;
    memcpy(&address, &member, sizeof(member));
    ga__words_add(&p->words, 0);
    ga__words_add(&p->words, scratch_bytes(p));
    ga__words_add(&p->words, address);
}

static void add_results(plan *p)
{
    ga__words *words = &p->words;
    p->out_word = ga__words_add(words, (uint64_t)(uintptr_t)p->out->data);
    ga__words_add_strides(words, &p->kept, p->rows);
    p->result_word[0] = p->out_word;
    for (int k = 1; k < p->reduction->nresults; k++)
        p->result_word[k] = ga__words_add(words, (uint64_t)(uintptr_t)p->all[k]->data);
}

/* Words 3 to 5 are set by share_rows, once the kernel is known. */
static void add_words(plan *p)
{
    ga__words *words = &p->words;
    words->n = 0;
    ga__words_add(words, (uint64_t)p->count);
    ga__words_add(words, (uint64_t)(!p->host     ? p->kept_vectors
                                    : p->columns ? p->kept.shape[0]
                                                 : p->outputs));
    ga__words_add(words, (uint64_t)(p->host ? p->reduced.shape[0] : p->vectors));
    for (int k = WORD_SEGMENTS; k <= WORD_TICKETS; k++)
        ga__words_add(words, 0);
    ga__words_add(words, (uint64_t)p->group);
    ga__words_add(words, 0); /* WORD_POST and WORD_TAG */
    ga__words_add(words, 0);
    for (int k = 0; k < p->reduction->nparts; k++) {
        uint64_t word;
        memcpy(&word, &p->reduction->parts[k].ddof, sizeof(word));
        ga__words_add(words, word);
    }
    add_divisors(p, &p->kept, !p->host && p->columns, p->kept_word);
    add_divisors(p, &p->reduced, !p->host && !p->columns, p->reduced_word);
    for (int k = 0; k < p->noperands; k++)
        add_operand(p, k);
    add_results(p);
    p->index_word = words->n;
    ga__words_add_strides(&p->words, &p->reduced, p->rows);
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
        unzipped |= (uint64_t)ga__reduce_plan_unzips(p, k) << k;
    return (uint64_t)p->unzip << 60 | (uint64_t)p->strip << 44 | (uint64_t)(p->abreast / 4) << 41 |
           (uint64_t)p->short_rows << 40 | (uint64_t)p->many_runs << 39 |
           (uint64_t)p->cascade << 38 | unzipped;
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
                 (uint64_t)(p->together > 1) << 43 | (uint64_t)p->step[p->rows] << 44 |
                 (uint64_t)(p->reduction->carry != NULL) << 46 | (uint64_t)p->large << 47 |
                 (uint64_t)p->reduction->parts[0].type << 48 | (uint64_t)p->out->dtype << 56);
    for (int k = 0; k < p->noperands; k += 2) {
        const uint64_t second = k + 1 < p->noperands ? operand_key(p, k + 1) : 0;
        ga__key_add(key, operand_key(p, k) | second << 32);
    }
    ga__key_add(key, p->host ? host_key(p) : cuda_key(p));
}

/* The steps of one operand along the axes of a nest; `inner` is the known step of axis 0, in
 * vectors of `lanes`. */
static void fill_strides(ga__record *record, const char *list, int ndim, int inner, int lanes,
                         size_t word)
{
    ga__record_list(record, list);
    for (int axis = 0; axis < ndim; axis++) {
        ga__record *entry = ga__record_append(record, list);
        ga__record_setf(entry, "axis", "%d", axis);
        if (axis == 0 && lanes > 1)
            ga__record_setf(entry, "step", "%d", inner == STEP_ONE ? lanes : 0);
        else
            ga__program_step(entry, "step", axis == 0 ? inner : STEP_ANY, word + (size_t)axis);
    }
}

static void fill_operand(ga__record *record, const plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    const int row = p->row[k];
    const size_t word = p->data_word[k];
    ga__program_operand(record, k, operand);
    ga__record_set(record, "unzip", "");
    ga__record_setf(record, "word", "%zu", word);
    ga__record_setf(record, "word1", "%zu", word + 1);
    if (operand->array && row == GA__NO_ROW)
        ga__program_accessor(record, operand->array, word);
    if (row == GA__NO_ROW)
        return;
    const int lanes = p->host ? 1 : p->lanes;
    const size_t kept = word + 1, gone = kept + (size_t)p->kept.ndim;
    fill_strides(record, "kept_stride", p->kept.ndim, p->columns ? p->step[row] : STEP_ANY,
                 p->columns ? lanes : 1, kept);
    fill_strides(record, "reduced_stride", p->reduced.ndim, p->columns ? STEP_ANY : p->step[row],
                 p->columns ? 1 : lanes, gone);
    ga__program_step(record, "inner", p->step[row], p->columns ? kept : gone);
    ga__program_step(record, "near", p->step[row], p->columns ? kept : gone);
    if (ga__reduce_plan_unzips(p, k)) {
        ga__record_setf(record, "unzip", "%d", p->unzip);
        ga__record_set(record, "inner", "1");
        ga__record_set(record, "near", "1");
    }
    ga__program_group(record, operand, p->step[row]);
    const bool vector = lanes > 1 && p->step[row] == STEP_ONE;
    ga__record_setf(record, "width", "%d", vector ? lanes : 1);
    ga__record_set(record, "lane", vector ? "ga_l" : "0");
}

/* The output's steps, counted in elements; in columns mode its axis 0 advances by whole vectors. */
static void fill_output(ga__record *record, const plan *p)
{
    const int lanes = p->host || !p->columns ? 1 : p->lanes;
    ga__record_setf(record, "out_word", "%zu", p->out_word);
    ga__program_step(record, "out_inner", p->columns ? p->step[p->rows] : STEP_ANY,
                     p->out_word + 1);
    ga__record_list(record, "out_stride");
    for (int axis = 0; axis < p->kept.ndim; axis++) {
        ga__record *entry = ga__record_append(record, "out_stride");
        ga__record_setf(entry, "axis", "%d", axis);
        ga__record_setf(entry, "step", "%d * (ga_index)ga_args.w[%zu]", axis == 0 ? lanes : 1,
                        p->out_word + 1 + (size_t)axis);
    }
}

/* The index's steps along the reduced axes, likewise. */
static void fill_index(ga__record *record, const plan *p)
{
    const int lanes = p->host || p->columns ? 1 : p->lanes;
    ga__record_list(record, "index_stride");
    ga__record_set(record, "index_lane", "0");
    if (!p->reduction->formula.uses_index)
        return;
    if (!p->columns)
        ga__record_setf(record, "index_lane", "(ga_index)ga_args.w[%zu]", p->index_word);
    for (int axis = 0; axis < p->reduced.ndim; axis++) {
        ga__record *entry = ga__record_append(record, "index_stride");
        ga__record_setf(entry, "axis", "%d", axis);
        ga__record_setf(entry, "step", "%d * (ga_index)ga_args.w[%zu]", axis == 0 ? lanes : 1,
                        p->index_word + (size_t)axis);
    }
}

static void fill_carry(ga__record *record, const plan *p)
{
    static const char *const names[] = {"levels_word", "outputs_word", "merged_word",
                                        "level_word",  "first_word",   "count_word"};
    ga__record_set(record, "carried", p->reduction->carry ? "1" : "");
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        ga__record_setf(record, names[k], "%zu", p->carry_word + k);
}

static const char *batch_name(const plan *p, bool rounds)
{
    static const char *const names[] = {"take_batch", "take_apart", "take_pairs"};
    return names[rounds ? p->batch : GA__BATCH_SINGLY];
}

static void fill_cascade(ga__record *record, const plan *p)
{
    ga__record_set(record, "sums", p->sums ? "1" : "");
    ga__record_set(record, "tree", p->sums ? "true" : "false");
    ga__record_set(record, "cascade", p->cascade ? "1" : "");
    ga__record_set(record, "cascaded", p->cascade ? "true" : "false");
    ga__record_set(record, "many_runs", p->many_runs ? "1" : "");
    ga__record_set(record, "in_turn", p->many_runs && p->together > 1 ? "1" : "");
    ga__record_setf(record, "level_bytes", "%zu", ga__reduce_plan_level_bytes(p));
    ga__record_setf(record, "chains", p->chains ? "%d" : "", p->chains);
    ga__record_setf(record, "turns", "%d, %d", p->turns, GA__CUDA_CHAINS);
    ga__record_set(record, "take_batch", batch_name(p, p->sums));
    ga__record_setf(record, "longest_chain", "%d", GA__HOST_CHAIN);
    ga__record_setf(record, "longest_run", "%d", GA__HOST_RUN);
    ga__record_setf(record, "scratch_word", "%zu", p->scratch_word);
    ga__record_setf(record, "scratch_word1", "%zu", p->scratch_word + 1);
    ga__record_setf(record, "scratch_word2", "%zu", p->scratch_word + 2);
}

/* T of a part. The host's compilers make no vectors of bool, but of the bytes they are. */
static const char *part_type(const plan *p, const ga__reduce_part *part)
{
    if (!part->finish)
        return "";
    return p->host && part->type == GA_BOOL ? "unsigned char" : ga__dtype_compute_type(part->type);
}

static void fill_part(ga__record *record, const plan *p, int k)
{
    const ga__reduce_part *part = &p->reduction->parts[k];
    ga__record_setf(record, "p", "%d", k);
    ga__record_set(record, "accumulator", part->accumulator);
    ga__record_set(record, "neutral", part->neutral);
    ga__record_set(record, "take", part->step);
    ga__record_set(record, "combine", part->combine);
    ga__record_set(record, "conclude", part->finish ? part->finish : "");
    ga__record_setf(record, "ddof_word", "%d", WORD_DDOF + k);
    ga__record_set(record, "type", part_type(p, part));
    ga__record_set(record, "rounds", part->rounds ? "1" : "");
    ga__record_set(record, "take_batch", batch_name(p, part->rounds));
}

static void fill_texts(ga__record *record, const plan *p)
{
    const ga__reduction *r = p->reduction;
    ga__record_set(record, "map", r->map);
    ga__record_setf(record, "accumulator_bytes", "%zu", r->accumulator_bytes);
    ga__record_list(record, "part");
    for (int k = 0; k < r->nparts; k++)
        fill_part(ga__record_append(record, "part"), p, k);
    ga__record_set(record, "raw_result", r->results[0].dtype == GA_NO_DTYPE ? "1" : "");
    ga__record_list(record, "result");
    for (int k = 0; k < r->nresults; k++) {
        ga__record *result = ga__record_append(record, "result");
        ga__record_setf(result, "q", "%d", k);
        ga__record_setf(result, "word", "%zu", p->result_word[k]);
        ga__record_set(result, "memory", ga__dtype_memory_type(p->all[k]->dtype));
        ga__record_set(result, "finish", r->results[k].finish);
    }
}

static bool any_complex(const plan *p)
{
    bool complex_types = false;
    for (int k = 0; k < p->reduction->nparts; k++)
        complex_types |= ga__dtype_kind(p->reduction->parts[k].type) == 'c';
    for (int k = 0; k < p->reduction->nresults; k++)
        complex_types |= ga__dtype_kind(p->all[k]->dtype) == 'c';
    for (int k = 0; k < p->noperands; k++)
        complex_types |= ga__operand_is_complex(&p->operands[k]);
    return complex_types;
}

/* The head's record: of all texts, to find what they need. */
static ga__record *new_record(const plan *p)
{
    const ga__reduction *r = p->reduction;
    const char *texts[3 + 6 * GA__MAX_PARTS];
    int n = 0;
    texts[n++] = r->formula.preamble ? r->formula.preamble : "";
    texts[n++] = r->map;
    for (int k = 0; k < r->nparts; k++) {
        const ga__reduce_part *part = &r->parts[k];
        texts[n++] = part->accumulator;
        texts[n++] = part->neutral;
        texts[n++] = part->step;
        texts[n++] = part->combine;
        texts[n++] = part->finish ? part->finish : "";
    }
    for (int k = 0; k < r->nresults; k++)
        texts[n++] = r->results[k].finish;
    texts[n] = NULL;
    return ga__program_record(&r->formula, p->device, p->words.n, any_complex(p), texts);
}

static ga__record *describe(const void *planned)
{
    const plan *p = planned;
    ga__record *record = new_record(p);
    fill_texts(record, p);
    ga__record_set(record, "staged", p->staged ? "1" : "");
    ga__record_set(record, "vector_math", p->staged ? "1" : "");
    ga__record_set(record, "plain", p->plain ? "1" : "");
    ga__record_set(record, "index_type", p->wide ? "long long" : "int");
    ga__record_set(record, "columns", p->columns ? "1" : "");
    ga__record_set(record, "short_row", "");
    if (p->short_rows)
        ga__record_setf(record, "short_row", "%d", p->unzip);
    ga__record_setf(record, "abreast", p->abreast > 1 ? "%d" : "", p->abreast);
    ga__record_set(record, "tail", p->tail ? "1" : "");
    ga__record_set(record, "split", p->split ? "1" : "");
    ga__record_set(record, "thin", p->thin ? "1" : "");
    ga__record_set(record, "posted", p->posted ? "1" : "");
    ga__record_set(record, "ascending", p->ascending ? "true" : "false");
    ga__record_setf(record, "lanes", "%d", p->lanes);
    ga__record_setf(record, "unroll", "%d", p->unroll);
    ga__record_setf(record, "block", "%d", p->block);
    const int hold = ga__reduce_plan_hold(p);
    ga__record_setf(record, "bounds", hold ? "%d, %d" : "%d", p->block, hold);
    ga__record_setf(record, "team", "%d", p->team);
    ga__record_setf(record, "across", "%d", p->across);
    ga__record_set(record, "together", p->columns ? "ga_down" : "ga_team");
    ga__record_setf(record, "outputs_together", "%d", p->together);
    ga__record_setf(record, "strip", "%d", p->strip);
    ga__program_axes(record, "kept_axis", 0, p->kept.ndim, p->kept_word);
    ga__program_axes(record, "reduced_axis", 0, p->reduced.ndim, p->reduced_word);
    ga__record_list(record, "operand");
    for (int k = 0; k < p->noperands; k++)
        fill_operand(ga__record_append(record, "operand"), p, k);
    fill_output(record, p);
    fill_index(record, p);
    fill_carry(record, p);
    fill_cascade(record, p);
    return record;
}

static const ga__loaded_program *find_program(const plan *p)
{
    ga__key key;
    make_key(p, &key);
    const ga__program program = {
        &p->reduction->formula, p->device, "reduce.tmpl", describe, p, p->block};
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
    const ga__post post = ga__post_begin(stream, p->out->buffer, p->out->data, ga_nbytes(p->out));
    p->words.word[WORD_POST] = post.address;
    p->words.word[WORD_TAG] = post.tag;
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
    p->words.word[WORD_PARTIALS] = address + scratch;
    if (scratch > 0)
        p->words.word[p->scratch_word] = address;
    return GA_OK;
}

/* Fixes how many blocks share a row, and where their partial results meet. */
static ga_status share_rows(plan *p, ga__stream *stream, int resident, ga__buffer **partials)
{
    if (!p->host && p->split)
        ga__reduce_plan_share(p, resident);
    p->words.word[WORD_SEGMENTS] = (uint64_t)p->segments;
    if (p->posted)
        set_post(p, stream);
    if (p->split) {
        void *tickets = ga__stream_tickets(stream);
        if (!tickets)
            return ga_error();
        p->words.word[WORD_TICKETS] = (uint64_t)(uintptr_t)tickets;
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
