/* The elementwise engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/elementwise.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernels/elementwise_plan.h"
#include "kernels/request.h"
#include "kernels/fast_path.h"

#define HOST_LINE 64 /* bytes */

typedef ga__elementwise_plan plan;

/* ---- The parameter words ---- */

static void add_operand(plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    if (!operand->array) {
        p->data_word[k] = ga__params_add_number(&p->words, operand->type, operand->number);
        return;
    }
    p->data_word[k] = ga__params_add(&p->words, (uint64_t)(uintptr_t)operand->array->data);
    if (p->row[k] == GA__NO_ROW)
        ga__params_add_accessor(&p->words, operand->array);
    else
        ga__params_add_strides(&p->words, &p->nest, p->row[k]);
}

static void add_words(plan *p)
{
    ga__params *words = &p->words;
    words->n = 0;
    ga__params_add(words, (uint64_t)p->n);
    const int first = p->tiled ? 2 : 0;
    ga__params_add(words, (uint64_t)(p->host || p->tiled ? p->nest.shape[0] : p->vectors));
    ga__params_add(words, (uint64_t)(p->tiled ? p->nest.shape[1] : p->chunk));
    if (p->host && p->tiled)
        ga__params_add(words, (uint64_t)p->chunk);
    for (int axis = first; axis < p->nest.ndim - 1; axis++) {
        const int64_t size = axis == 0 ? p->nest.shape[0] / p->lanes : p->nest.shape[axis];
        p->axis_word[axis] = ga__params_add_divisor(words, size, p->wide);
    }
    for (int k = 0; k < p->noperands; k++)
        add_operand(p, k);
    p->index_word = words->n;
    if (p->index_row != GA__NO_ROW)
        ga__params_add_strides(words, &p->nest, p->index_row);
}

/* ---- The kernel ---- */

static uint64_t operand_key(const plan *p, int k)
{
    if (p->row[k] == GA__NO_ROW)
        return ga__operand_key(&p->operands[k], 0);
    const uint64_t turned = p->transposed[p->row[k]];
    return ga__operand_key(&p->operands[k], p->step[p->row[k]]) | turned << 14;
}

static void make_key(const plan *p, ga__key *key)
{
    ga__key_init(key, p->formula, p->device, GA__ELEMENTWISE);
    const int index_step = p->index_row == GA__NO_ROW ? 0 : p->step[p->index_row];
    ga__key_add(key, (uint64_t)p->nest.ndim | (uint64_t)p->lanes << 8 | (uint64_t)p->wide << 16 |
                         (uint64_t)p->tiled << 17 | (uint64_t)p->tail << 18 |
                         (uint64_t)index_step << 19 | (uint64_t)p->past_cache << 21 |
                         (uint64_t)p->unroll << 24 | (uint64_t)p->tile << 32);
    for (int k = 0; k < p->noperands; k += 2) {
        const uint64_t second = k + 1 < p->noperands ? operand_key(p, k + 1) : 0;
        ga__key_add(key, operand_key(p, k) | second << 32);
    }
}

/* The offset text of one step along an axis: a literal where the kernel knows it. */
static void set_step(ga__record *record, const char *name, const plan *p, int row, int axis,
                     size_t word)
{
    ga__program_step(record, name, axis > 0 ? STEP_ANY : p->step[row], word);
}

/* The step from one vector of axis 0 to the next. Operands of vectors are contiguous along it or
 * broadcast; the index need not be. */
static void set_vector_step(ga__record *record, const plan *p, int row, size_t word)
{
    if (p->step[row] == STEP_ANY)
        ga__record_setf(record, "step", "%d * (ga_index)ga_args.w[%zu]", p->lanes, word);
    else
        ga__record_setf(record, "step", "%d", p->step[row] == STEP_ONE ? p->lanes : 0);
}

static void fill_strides(ga__record *record, const plan *p, int row, size_t first_word)
{
    ga__record_list(record, "stride");
    ga__record_list(record, "outer_stride");
    ga__record_set(record, "strided", "1");
    set_step(record, "inner", p, row, 0, first_word);
    set_step(record, "near", p, row, 0, first_word);
    if (p->tiled)
        set_step(record, "inner1", p, row, 1, first_word + 1);
    for (int axis = 0; axis < p->nest.ndim; axis++) {
        const bool outer = p->tiled && axis > 1;
        ga__record *stride = ga__record_append(record, outer ? "outer_stride" : "stride");
        ga__record_setf(stride, "axis", "%d", axis);
        if (axis == 0 && p->lanes > 1 && !p->tiled)
            set_vector_step(stride, p, row, first_word);
        else
            set_step(stride, "step", p, row, axis, first_word + (size_t)axis);
    }
}

static int first_written(const plan *p)
{
    int k = 0;
    while (k < p->noperands && (p->row[k] == GA__NO_ROW || !p->operands[k].writes))
        k++;
    return k;
}

static void fill_operand(ga__record *record, const plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    const int row = p->row[k];
    ga__program_operand(record, k, operand);
    ga__record_setf(record, "word", "%zu", p->data_word[k]);
    ga__record_setf(record, "word1", "%zu", p->data_word[k] + 1);
    ga__record_set(record, "turned", row != GA__NO_ROW && p->transposed[row] ? "1" : "");
    ga__record_set(record, "floats", "");
    ga__record_set(record, "strided", "");
    ga__record_set(record, "leads", p->past_cache && k == first_written(p) ? "1" : "");
    if (operand->array && row == GA__NO_ROW)
        ga__program_accessor(record, operand->array, p->data_word[k]);
    if (row == GA__NO_ROW)
        return;
    fill_strides(record, p, row, p->data_word[k] + 1);
    const bool vector = p->lanes > 1 && (p->step[row] == STEP_ONE || p->transposed[row]);
    ga__record_setf(record, "width", "%d", vector ? p->lanes : 1);
    ga__record_set(record, "lane", vector ? "ga_l" : "0");
    if (p->transposed[row])
        ga__record_set(record, "near", "1");
    ga__program_group(record, operand, p->step[row]);
}

static void fill_index(ga__record *record, const plan *p)
{
    const ga__operand number = {.name = "ga_number", .type = GA_INT64};
    ga__program_operand(record, p->noperands, &number);
    ga__record_set(record, "number", "");
    ga__record_set(record, "turned", "");
    ga__record_set(record, "floats", "");
    ga__record_set(record, "leads", "");
    ga__record_set(record, "index", "1");
    fill_strides(record, p, p->index_row, p->index_word);
}

static bool any_complex(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (ga__operand_is_complex(&p->operands[k]))
            return true;
    return false;
}

static bool any_narrow(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (ga__operand_is_narrow(&p->operands[k]))
            return true;
    return false;
}

/* Columns that a square has of the next band, for what a line of the results may lack. */
static int extra_columns(const plan *p)
{
    if (!p->past_cache)
        return 0;
    return HOST_LINE / (int)ga__dtype_size(p->operands[first_written(p)].array->dtype);
}

/* The host's strips: for results that go past the cache, for 16-bit floats, and wherever functions
 * of libm may be called, so that all elements have them of vectors. */
static void fill_strips(ga__record *record, const plan *p)
{
    const ga__formula *f = p->formula;
    const bool math = f->user_text || ga__program_calls_math(f->body);
    const bool staged = p->host && ga__elementwise_plan_pads(p) &&
                        (p->past_cache || p->tiled || math || any_narrow(p));
    ga__record_set(record, "staged", staged ? "1" : "");
    ga__record_set(record, "vector_math", staged ? "1" : "");
    ga__record_set(record, "past_cache", p->past_cache ? "1" : "");
    ga__record_set(record, "aligned", p->past_cache ? "1" : "");
    ga__record_setf(record, "strip", "%d", GA__HOST_STRIP);
    ga__record_setf(record, "band", "%d", GA__HOST_BAND);
    ga__record_setf(record, "extra", "%d", extra_columns(p));
    ga__record_setf(record, "down", "%d", ga__elementwise_plan_down(p));
    ga__record_setf(record, "first_written", "%d", first_written(p));
}

/* Without memory for the text the template lacks it, which is an error too. */
static void fill_quick(ga__record *record, const plan *p)
{
    if (!p->fast_path)
        return;
    char *text = ga__fast_path_text(p->formula->body);
    ga__record_set(record, "quick", "1");
    if (text)
        ga__record_set(record, "quick_body", text);
    ga__free(text);
}

static ga__record *describe(const void *planned)
{
    const plan *p = planned;
    const ga__formula *f = p->formula;
    const char *texts[] = {f->body, f->preamble ? f->preamble : "", NULL};
    ga__record *record = ga__program_record(f, p->device, p->words.n, any_complex(p), texts);
    ga__record_set(record, "index_type", p->wide ? "long long" : "int");
    ga__record_set(record, "tiled", p->tiled ? "1" : "");
    ga__record_set(record, "tail", p->tail ? "1" : "");
    ga__record_setf(record, "lanes", "%d", p->lanes);
    ga__record_setf(record, "unroll", "%d", p->unroll);
    ga__record_setf(record, "block", "%d", p->block);
    ga__record_setf(record, "tile", "%d", p->tile);
    fill_strips(record, p);
    fill_quick(record, p);
    ga__program_axes(record, "ga_c", p->tiled ? 2 : 0, p->nest.ndim, p->axis_word);
    ga__record_list(record, "operand");
    for (int k = 0; k < p->noperands; k++)
        fill_operand(ga__record_append(record, "operand"), p, k);
    if (p->index_row != GA__NO_ROW)
        fill_index(ga__record_append(record, "operand"), p);
    return record;
}

static const ga__loaded_program *find_program(const plan *p)
{
    ga__key key;
    make_key(p, &key);
    const ga__program program = {p->formula, p->device, "elementwise.tmpl", describe, p, 0};
    return ga__program_find(&key, &program);
}

ga_status ga__elementwise(const ga__formula *formula, ga__device *device, int ndim,
                          const int64_t *shape, int noperands, const ga__operand *operands)
{
    plan p;
    assert(noperands < GA__MAX_OPERANDS);
    p.formula = formula;
    p.device = device;
    p.noperands = noperands;
    p.operands = operands;
    p.n = ga__shape_size(ndim, shape);
    if (p.n == 0)
        return GA_OK;
    ga__elementwise_plan_make(&p, ndim, shape);
    add_words(&p);
    const ga__loaded_program *program = find_program(&p);
    if (!program)
        return ga_error();
    ga__stream *stream = ga__operands_stream(device, noperands, operands);
    const ga__launch launch = {p.grid, p.block, 0, p.words.word, p.words.n};
    const ga_status status = stream ? ga__program_launch(program, stream, &launch) : ga_error();
    ga__program_leave();
    return status;
}
