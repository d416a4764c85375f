/* The kernels of writes to indexed elements: their texts and operands. */
#include "ops/index/steps.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"

/* Whether the step has the tuples alone, without the other axes of the result. */
static bool has_tuples_only(ga__step what)
{
    return what != GA__STEP_WRITE && what != GA__STEP_WRITE_ALL && what != GA__STEP_FOLD;
}

/* Whether the step writes to the array. */
static bool writes_elements(ga__step what)
{
    return what == GA__STEP_WRITE || what == GA__STEP_WRITE_ALL || what == GA__STEP_FOLD;
}

/* Whether the step tells the places of elements from the lowest one on. */
static bool names_places(ga__step what)
{
    return what == GA__STEP_KEYS || what == GA__STEP_PACK || what == GA__STEP_SUM ||
           what == GA__STEP_LATEST;
}

/* ---- Texts ---- */

static void place_text(const ga__scattering *s, ga__step what, int k, ga__strbuf *t)
{
    static const char *const map[] = {"", "ga::wrapped", "ga::clipped"};
    if (s->mode != GA_RAISE)
        ga__strbuf_addf(t, "const long long k%d = %s(j%d, n%d);\n", k, map[s->mode], k, k);
    else if (what == GA__STEP_WRITE)
        ga__strbuf_addf(t, "const long long k%d = ga::inside(j%d, n%d);\n", k, k, k);
    else
        ga__strbuf_addf(t, "const long long k%d = ga::within(j%d, n%d, fault, call, a%d, p);\n", k,
                        k, k, k);
}

static void sum_text(const ga__scattering *s, const char *letter, ga__strbuf *t)
{
    for (int k = 0; k < s->g->count; k++)
        ga__strbuf_addf(t, " + k%d * %s%d", k, letter, k);
}

static const char *latest_text(const ga__latest *latest)
{
    return latest->bits == 0   ? " - low), p, bits, 0)"
           : latest->bits == 1 ? " - low), p, bits, v != 0)" /* bools are 0 or 1 */
                               : " - low), p, bits, v)";
}

static void step_text(const ga__scattering *s, ga__step what, ga__strbuf *t)
{
    for (int k = 0; k < s->g->count; k++)
        place_text(s, what, k, t);
    if (what == GA__STEP_CHECK) {
        ga__strbuf_add(t, "(void)k0");
        return;
    }
    ga__strbuf_add(t, what == GA__STEP_KEYS || what == GA__STEP_PACK ? "r = ((k0" : "if ((k0");
    for (int k = 1; k < s->g->count; k++)
        ga__strbuf_addf(t, " | k%d", k);
    ga__strbuf_add(t, ") >= 0");
    if (what == GA__STEP_WRITE) {
        ga__strbuf_add(t, " && ga::claimed(t, mask, q");
        sum_text(s, "m", t);
        ga__strbuf_add(t, ", p)");
    }
    if (what == GA__STEP_FOLD)
        ga__strbuf_addf(t, ") ga::fold_into<ga::%s>(&x[0", s->fold);
    else if (what == GA__STEP_SUM)
        ga__strbuf_add(t, ") ga::add_exactly(" GA__SUMS_TEXT ", 0");
    else if (what == GA__STEP_LATEST)
        ga__strbuf_add(t, ") ga::tell_latest(t + (0");
    else if (what == GA__STEP_WRITE_ALL)
        ga__strbuf_add(t, ") ga::write_near(&x[0");
    else
        ga__strbuf_add(t, what == GA__STEP_CLAIM  ? ") ga::claim(t, mask, q"
                          : what == GA__STEP_KEYS ? ") ? 0"
                          : what == GA__STEP_PACK ? ") ? ((unsigned long long)(0"
                                                  : ") x[0");
    sum_text(s, what == GA__STEP_CLAIM ? "m" : "s", t);
    ga__strbuf_add(t, what == GA__STEP_CLAIM       ? ", p)"
                      : what == GA__STEP_KEYS      ? " - low : -1"
                      : what == GA__STEP_FOLD      ? "], v, z)"
                      : what == GA__STEP_SUM       ? " - low, v)"
                      : what == GA__STEP_LATEST    ? latest_text(s->latest)
                      : what == GA__STEP_PACK      ? ""
                      : what == GA__STEP_WRITE_ALL ? "], v)"
                                                   : "] = v");
    if (what == GA__STEP_PACK)
        ga__strbuf_addf(t, " - low) << shift | (unsigned long long)%s) : ~0ull << shift",
                        s->packed->has_values ? "v" : "p");
}

/* ---- Operands ---- */

/* What the operands of a launch point to. */
typedef struct memory {
    char names[5 * GA__MOST_INDICES][16];
    ga__lens x, table, position, base, value, index[GA__MOST_INDICES];
    ga__checked checked;
    ga__operand operand[12 + 5 * GA__MOST_INDICES];
    int n;
} memory;

static void add(memory *m, ga__operand operand)
{
    m->operand[m->n++] = operand;
}

static void add_number(memory *m, int k, int which, char letter, int64_t number)
{
    char *name = m->names[5 * k + which];
    snprintf(name, sizeof *m->names, "%c%d", letter, k);
    add(m, ga__integer_operand(name, number));
}

/* The shape of a launch: that of the result, or of the tuples alone. */
typedef struct extent {
    int first, ndim;
    const int64_t *shape;
} extent;

static extent extent_of(const ga__scattering *s, ga__step what)
{
    const ga__indexing *g = s->g;
    if (has_tuples_only(what))
        return (extent){g->first, g->index_ndim, g->shape + g->first};
    return (extent){0, g->ndim, g->shape};
}

static void add_indices(const ga__scattering *s, ga__step what, const extent *e, memory *m)
{
    const ga__indexing *g = s->g;
    int64_t strides[GA_MAX_NDIM], key = 1;
    const int64_t size = (int64_t)ga__dtype_size(g->x->dtype);
    for (int k = g->count - 1; k >= 0; k--) {
        const ga__indexed *index = &g->index[k];
        ga__indexing_strides(g, k, strides);
        ga__lens_set_typed(&m->index[k], index->array, e->ndim, e->shape, strides + e->first, 0);
        snprintf(m->names[5 * k], sizeof *m->names, "j%d", k);
        ga__operand j = ga__lens_operand(m->names[5 * k], &m->index[k], GA__VALUE, false);
        j.type = GA_INT64;
        add(m, j);
        add_number(m, k, 1, 'n', index->length);
        if (what == GA__STEP_CLAIM || what == GA__STEP_WRITE)
            add_number(m, k, 2, 'm', key);
        if (names_places(what) || writes_elements(what))
            add_number(m, k, 3, 's', index->stride / size);
        if (s->mode == GA_RAISE && what != GA__STEP_WRITE)
            add_number(m, k, 4, 'a', index->axis);
        key *= index->length;
    }
}

static void add_tuple(const ga__scattering *s, ga__step what, const extent *e, memory *m)
{
    int64_t strides[GA_MAX_NDIM] = {0};
    ga__indexing_position(s->g, strides);
    ga__lens_set(&m->position, NULL, e->ndim, e->shape, strides + e->first, 0);
    add(m, ga__lens_operand("p", &m->position, GA__COORDINATE, false));
    if (what != GA__STEP_CLAIM && what != GA__STEP_WRITE)
        return;
    memset(strides, 0, sizeof strides);
    if (s->steps)
        memcpy(strides + s->g->first, s->steps, sizeof(int64_t) * (size_t)s->g->index_ndim);
    ga__lens_set(&m->base, NULL, e->ndim, e->shape, strides + e->first, 0);
    add(m, ga__lens_operand("q", &m->base, GA__COORDINATE, false));
    const int64_t none[GA_MAX_NDIM] = {0};
    ga__lens_set_typed(&m->table, s->table, e->ndim, e->shape, none, 0);
    ga__operand table = ga__lens_operand("t", &m->table, GA__PLACED, true);
    add(m, table);
    add(m, ga__integer_operand("mask", s->mask));
}

/* The value's elements in words of their size. */
static void add_words(const ga__scattering *s, const extent *e, memory *m)
{
    const gpuarray *from = s->value.as.array;
    int64_t strides[GA_MAX_NDIM];
    ga__broadcast_strides(e->ndim, e->shape, from->ndim, from->shape, from->strides, strides);
    ga__lens_set(&m->value, from, e->ndim, e->shape, strides, 0);
    add(m, ga__lens_operand("v", &m->value, GA__VALUE, false));
}

static void add_keys(const ga__scattering *s, ga__step what, const extent *e, memory *m)
{
    int64_t strides[GA_MAX_NDIM];
    ga__contiguous_strides(e->ndim, e->shape, sizeof(int64_t), strides);
    ga__lens_set_typed(&m->table, s->table, e->ndim, e->shape, strides, 0);
    add(m, ga__lens_operand("r", &m->table, GA__VALUE, true));
    add(m, ga__integer_operand("low", s->low));
    if (what != GA__STEP_PACK)
        return;
    add(m, ga__integer_operand("shift", s->packed->shift));
    if (s->packed->has_values)
        add_words(s, e, m);
}

/* The value that is folded or added, in the dtype that computes. */
static void add_loop_value(const ga__scattering *s, const extent *e, memory *m)
{
    const gpuarray *from = s->value.as.array;
    int64_t strides[GA_MAX_NDIM];
    if (s->value.kind == GA_VALUE_NUMBER) {
        add(m, ga__number_operand("v", s->loop, s->value));
        return;
    }
    ga__broadcast_strides(e->ndim, e->shape, from->ndim, from->shape, from->strides, strides);
    ga__lens_set_typed(&m->value, from, e->ndim, e->shape, strides, 0);
    ga__operand value = ga__lens_operand("v", &m->value, GA__VALUE, false);
    value.type = s->loop;
    add(m, value);
}

/* The array and the value that the operation folds into it. */
static void add_folded(const ga__scattering *s, const extent *e, memory *m)
{
    ga__lens_set_typed(&m->x, s->g->x, e->ndim, e->shape, s->g->strides, s->g->offset);
    add(m, ga__lens_operand("x", &m->x, GA__PLACED, true));
    add(m, ga__number_operand("z", s->loop, ga_value_bool(false)));
    add_loop_value(s, e, m);
}

void ga__sums_operands(const ga__sums *sums, int ndim, const int64_t *shape, ga__lens *table,
                       ga__operand *operands)
{
    const int64_t none[GA_MAX_NDIM] = {0};
    ga__lens_set_typed(table, sums->table, ndim, shape, none, 0);
    operands[0] = ga__lens_operand("t", table, GA__PLACED, true);
    operands[1] = ga__integer_operand("elements", sums->elements);
    operands[2] = ga__integer_operand("copies", sums->copies);
    operands[3] = ga__integer_operand("bits", sums->bits);
    operands[4] = ga__integer_operand("digits", sums->digits);
    operands[5] = ga__integer_operand("first", sums->first);
}

static void add_sums(const ga__scattering *s, const extent *e, memory *m)
{
    ga__sums_operands(s->sums, e->ndim, e->shape, &m->table, m->operand + m->n);
    m->n += GA__SUMS_OPERANDS;
    add(m, ga__integer_operand("low", s->low));
    add_loop_value(s, e, m);
}

static void add_latest(const ga__scattering *s, const extent *e, memory *m)
{
    const int64_t none[GA_MAX_NDIM] = {0};
    ga__lens_set_typed(&m->table, s->table, e->ndim, e->shape, none, 0);
    add(m, ga__lens_operand("t", &m->table, GA__PLACED, true));
    add(m, ga__integer_operand("low", s->low));
    add(m, ga__integer_operand("bits", s->latest->bits));
    if (s->latest->bits > 0)
        add_words(s, e, m);
}

static void add_target(const ga__scattering *s, const extent *e, memory *m)
{
    const gpuarray *x = s->g->x;
    ga__lens_set(&m->x, x, e->ndim, e->shape, s->g->strides, s->g->offset);
    add(m, ga__lens_operand("x", &m->x, GA__PLACED, true));
    if (s->value.kind == GA_VALUE_NUMBER)
        add(m, ga__word_operand("v", x->dtype, s->value));
    else
        add_words(s, e, m);
}

/* ---- The launch ---- */

ga_status ga__scatter_run(const ga__scattering *s, ga__step what)
{
    static const char *const names[] = {"check_indices", "index_keys",  "pack_tuples",
                                        "claim",         "scatter",     "scatter",
                                        "fold",          "sum_exactly", "tell_latest"};
    memory m;
    ga__strbuf text = GA__STRBUF_INIT, description = GA__STRBUF_INIT;
    ga__formula formula = {.name = names[what], .ordered = s->ordered};
    const extent e = extent_of(s, what);
    const bool checks = s->mode == GA_RAISE && what != GA__STEP_WRITE;
    ga__device *device = s->g->x->buffer->device;
    m.n = 0;
    step_text(s, what, &text);
    ga__describe(&description, s->ordered ? "scatter_in_order" : "scatter");
    ga__describe(&description, text.failed ? NULL : text.text);
    ga_status status = text.failed ? GA_ERR_MEMORY : ga__description_id(&description, &formula.id);
    ga__strbuf_reset(&description);
    if (status == GA_OK) {
        formula.body = text.text;
        if (what == GA__STEP_KEYS || what == GA__STEP_PACK)
            add_keys(s, what, &e, &m);
        else if (what == GA__STEP_FOLD)
            add_folded(s, &e, &m);
        else if (what == GA__STEP_SUM)
            add_sums(s, &e, &m);
        else if (what == GA__STEP_LATEST)
            add_latest(s, &e, &m);
        else if (writes_elements(what))
            add_target(s, &e, &m);
        add_indices(s, what, &e, &m);
        add_tuple(s, what, &e, &m);
        if (checks)
            m.n = ga__checked_begin(&m.checked, s->name, device, m.operand, m.n);
        status = m.n < 0 ? ga_error() : GA_OK;
    }
    if (status == GA_OK)
        status = ga__elementwise(&formula, device, e.ndim, e.shape, m.n, m.operand);
    ga__strbuf_reset(&text);
    return checks && m.n >= 0 ? ga__checked_end(&m.checked, status) : status;
}
