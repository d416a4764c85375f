/* Adds integers to indexed elements: each block of a GPU sums by element, in its shared memory. */
#include "ops/index/counted.h"

#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/histogram/binned.h"
#include "ops/convert.h"

#define MANY_TUPLES (1 << 16) /* are worth three launches instead of one, */
#define TUPLES_PER_BIN 8 /* if there are this many for each element that blocks clear and add */

/* ---- Whether ---- */

static bool is_integer(ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    return kind == 'i' || kind == 'u';
}

/* Whether the array has an element for each tuple, in the order of tuples. */
static bool is_line(const ga__indexing *g, const gpuarray *a)
{
    return a->contiguous && ga__same_shape(a->ndim, a->shape, g->ndim, g->shape);
}

static bool takes_value(const ga__indexing *g, ga_value value)
{
    if (value.kind == GA_VALUE_NUMBER)
        return is_integer(value.dtype) || value.dtype == GA_BOOL;
    const gpuarray *from = value.as.array;
    return (is_integer(from->dtype) || from->dtype == GA_BOOL) && is_line(g, from);
}

/* A bin for each element that the indices can name; INT64_MAX if there are too many. */
static int64_t count_bins(const ga__indexing *g)
{
    int64_t bins = 1;
    for (int k = 0; k < g->count; k++)
        if (__builtin_mul_overflow(bins, g->index[k].length, &bins))
            return INT64_MAX;
    return bins;
}

static bool has_wide_sums(const ga__indexing *g)
{
    return ga__dtype_size(g->x->dtype) > sizeof(uint32_t);
}

bool ga__counts_in_blocks(const ga__indexing *g, ga_value value)
{
    const int64_t tuples = ga__indexing_tuples(g), bins = count_bins(g);
    if (!is_integer(g->x->dtype) || g->ndim != g->index_ndim || tuples < MANY_TUPLES ||
        bins > tuples / TUPLES_PER_BIN || !takes_value(g, value))
        return false;
    for (int k = 0; k < g->count; k++)
        if (!is_line(g, g->index[k].array))
            return false;
    return ga__binned_owns(g->x->buffer->device, bins, has_wide_sums(g) ? 8 : 4);
}

/* ---- Sums of blocks ---- */

/* What the operands of the launch point to. */
typedef struct memory {
    char names[3 * GA__MOST_INDICES][16];
    ga__operand operand[3 * GA__MOST_INDICES + 1 + GA__CHECKED_OPERANDS];
    ga__lens line[GA__MOST_INDICES + 1];
    ga__checked checked;
    int n;
} memory;

static void add(memory *m, ga__operand operand)
{
    m->operand[m->n++] = operand;
}

static void add_line(memory *m, ga__lens *lens, const char *name, const gpuarray *a)
{
    const int64_t stride = (int64_t)ga__dtype_size(a->dtype);
    ga__lens_set_typed(lens, a, 1, &a->size, &stride, 0);
    add(m, ga__lens_operand(name, lens, GA__VALUE, false));
}

static void add_indices(const ga__indexing *g, memory *m)
{
    for (int k = 0; k < g->count; k++) {
        char(*const names)[16] = m->names + 3 * k;
        snprintf(names[0], sizeof *names, "j%d", k);
        snprintf(names[1], sizeof *names, "n%d", k);
        snprintf(names[2], sizeof *names, "a%d", k);
        add_line(m, &m->line[k], names[0], g->index[k].array);
        add(m, ga__integer_operand(names[1], g->index[k].length));
        add(m, ga__integer_operand(names[2], g->index[k].axis));
    }
}

/* The bin of a tuple: its indices as digits. */
static void bins_text(const ga__indexing *g, ga__strbuf *t)
{
    ga__strbuf_add(t, "ga::index_bins(bin, j0, n0, fault, call, a0, ga_position)");
    for (int k = 1; k < g->count; k++) {
        ga__strbuf_addf(t,
                        "; ga_bin b%d[ga_width]; "
                        "ga::index_bins(b%d, j%d, n%d, fault, call, a%d, ga_position); "
                        "ga::nest_bins(bin, b%d, (ga_bin)(n0",
                        k, k, k, k, k, k);
        for (int outer = 1; outer < k; outer++)
            ga__strbuf_addf(t, " * n%d", outer);
        ga__strbuf_addf(t, "), (ga_bin)n%d)", k);
    }
}

static ga_status make_formula(const char *text, ga__formula *formula)
{
    ga__strbuf description = GA__STRBUF_INIT;
    formula->name = "add_counted";
    formula->body = text;
    ga__describe(&description, "counted");
    ga__describe(&description, text);
    const ga_status status = ga__description_id(&description, &formula->id);
    ga__strbuf_reset(&description);
    return status;
}

static ga_status run_bins(const char *name, const ga__indexing *g, memory *m, ga__binned *call,
                          gpuarray **sums)
{
    ga__strbuf text = GA__STRBUF_INIT;
    ga__formula formula = {.name = NULL};
    bins_text(g, &text);
    ga_status status = text.failed ? GA_ERR_MEMORY : make_formula(text.text, &formula);
    if (status == GA_OK) {
        m->n = ga__checked_begin(&m->checked, name, call->device, m->operand, m->n);
        status = m->n < 0 ? ga_error() : GA_OK;
    }
    if (status == GA_OK) {
        call->formula = &formula;
        call->noperands = m->n;
        call->operands = m->operand;
        status = ga__checked_end(&m->checked, ga__binned_run(call, sums));
    }
    ga__strbuf_reset(&text);
    return status;
}

/* The sums of all elements in one row: of a number, how often it is added. */
static ga_status find_sums(const char *name, const ga__indexing *g, ga_value value, gpuarray **sums)
{
    const int64_t tuples = ga__indexing_tuples(g);
    memory m = {.n = 0};
    ga__binned call = {.device = g->x->buffer->device,
                       .use = GA__BINNED_COUNT,
                       .nbins = count_bins(g),
                       .ndim = 1,
                       .shape = &tuples};
    add_indices(g, &m);
    if (value.kind == GA_VALUE_ARRAY) {
        call.use = GA__BINNED_SUM;
        call.wide_sums = has_wide_sums(g);
        add_line(&m, &m.line[g->count], "w", value.as.array);
    }
    return run_bins(name, g, &m, &call, sums);
}

/* ---- The elements ---- */

/* Adds sums to the elements that the indices can name. */
static ga_status add_sums(const ga__indexing *g, const gpuarray *sums, ga_value value)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(350), .name = "add_counted", .body = "r = ga::add_sum(r, s, times)"};
    int64_t shape[GA__MOST_INDICES], strides[GA__MOST_INDICES], rows[GA__MOST_INDICES];
    ga__lens x, sum;
    for (int k = 0; k < g->count; k++) {
        shape[k] = g->index[k].length;
        strides[k] = g->index[k].stride;
    }
    ga__contiguous_strides(g->count, shape, (int64_t)ga__dtype_size(sums->dtype), rows);
    ga__lens_set_typed(&x, g->x, g->count, shape, strides, g->offset);
    ga__lens_set_typed(&sum, sums, g->count, shape, rows, 0);
    const bool number = value.kind == GA_VALUE_NUMBER;
    const int64_t times = number ? ga__number_int64(value) : 1;
    ga__operand operands[] = {ga__lens_operand("r", &x, GA__VALUE, true),
                              ga__lens_operand("s", &sum, GA__VALUE, false),
                              ga__integer_operand("times", times)};
    operands[0].reads = true;
    return ga__elementwise(&formula, g->x->buffer->device, g->count, shape, 3, operands);
}

ga_status ga__add_counted(const char *name, const ga__indexing *g, ga_value value)
{
    gpuarray *sums = NULL;
    ga_status status = find_sums(name, g, value, &sums);
    if (status == GA_OK)
        status = add_sums(g, sums, value);
    ga_free(sums);
    return status;
}
