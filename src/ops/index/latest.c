/* Writes to indexed elements through words: the tuples raise those of their elements, then each
 * element takes what its word tells. The words fit the GPU's cache: past it, a random place costs
 * more than its share of a sort. */
#include "ops/index/latest.h"

#include "base/error.h"
#include "ops/convert.h"

enum {
    SPARSE = 16,     /* the most elements for each tuple with which their words pay */
    SHORT_BITS = 32, /* of short words, */
    LONG_BITS = 64   /* and of long ones */
};

bool ga__latest_plan(const ga__indexing *g, const int64_t *steps, ga_value value, ga__latest *plan)
{
    const int64_t tuples = ga__indexing_tuples(g);
    const bool one_value = value.kind == GA_VALUE_NUMBER || value.as.array->size == 1;
    if (ga__on_host(g->x->buffer->device) || g->ndim != g->index_ndim || steps || one_value ||
        tuples == 0)
        return false;
    ga__latest p = {.bits = ga__value_bits(g->x->dtype)};
    p.span = ga__indexing_span(g, &p.low);
    if (ga__bits_of((uint64_t)tuples) + p.bits > LONG_BITS)
        p.bits = 0;
    p.word = ga__bits_of((uint64_t)tuples) + p.bits <= SHORT_BITS ? GA_UINT32 : GA_UINT64;
    *plan = p;
    const int64_t room = (int64_t)(g->x->buffer->device->cache_bytes / ga__dtype_size(p.word));
    return p.span <= room && p.span / SPARSE <= tuples &&
           ga__count_keys(g, NULL) == p.span; /* no gaps */
}

static gpuarray *new_words(const char *name, const ga__indexing *g, const ga__latest *plan)
{
    gpuarray *words = ga__array_new(name, g->x->buffer->device, plan->word, 1, &plan->span);
    if (!words || ga__fill_elements(words, ga_value_signed(GA_INT64, 0)) == GA_OK)
        return words;
    ga_free(words);
    return NULL;
}

/* The value of each tuple in turn: a line. NULL on failure. */
static gpuarray *line_of(const ga__indexing *g, const gpuarray *from)
{
    const int64_t tuples = ga__indexing_tuples(g);
    gpuarray *whole = ga_broadcast_to(from, g->ndim, g->shape);
    gpuarray *line = whole ? ga_reshape(whole, 1, &tuples) : NULL;
    ga_free(whole);
    return line;
}

/* Each element takes the value that its word has, or that of the position. */
static ga_status take_values(const ga__indexing *g, const ga__latest *p, const gpuarray *line)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(352),
         .name = "take_latest",
         .body = "if (t) r = v[(long long)(t - 1) * step]"},
        {.id = GA__FORMULA_ID(353), .name = "take_latest", .body = "if (t) r = t & mask"}};
    const int64_t size = (int64_t)ga__dtype_size(g->x->dtype), none[1] = {0};
    ga__lens to, values;
    ga__operand operands[4];
    int n = 0;
    ga__lens_set(&to, g->x, 1, &p->span, &size, g->offset + p->low * size);
    operands[n] = ga__lens_operand("r", &to, GA__VALUE, true);
    operands[n++].reads = true;
    operands[n++] =
        (ga__operand){.name = "t", .array = p->words, .type = p->words->dtype, .reads = true};
    if (line) {
        ga__lens_set(&values, line, 1, &p->span, none, 0);
        operands[n++] = ga__lens_operand("v", &values, GA__PLACED, false);
        operands[n++] = ga__integer_operand("step", line->strides[0] / size);
    } else {
        operands[n++] = ga__unsigned_operand("mask", ~(uint64_t)0 >> (LONG_BITS - p->bits));
    }
    return ga__elementwise(&formulas[!line], g->x->buffer->device, 1, &p->span, n, operands);
}

ga_status ga__write_latest(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value, const ga__latest *plan)
{
    ga__latest p = *plan;
    gpuarray *line = p.bits == 0 ? line_of(g, value.as.array) : NULL;
    ga_status status = p.bits > 0 || line ? GA_OK : ga_error();
    p.words = status == GA_OK ? new_words(name, g, &p) : NULL;
    status = p.words ? ga__scatter_latest(name, g, mode, value, &p) : ga_error();
    if (status == GA_OK)
        status = take_values(g, &p, line);
    ga_free(p.words);
    ga_free(line);
    return status;
}
