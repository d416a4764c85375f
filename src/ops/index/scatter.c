/* Writes to indexed elements: first each tuple claims its key in a table, where the last one stays;
 * then those that stay write. On the host, one processor writes all of few tuples in their order.
 */
#include "ops/index/scatter.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"

/* A table with a place for each key is taken up to so many places a tuple. */
#define SPARSE 4

/* On the host, so many processors write sooner to what they have claimed than one writes all of
 * many elements. */
#define CLAIMING_PROCESSORS 8
#define MANY_ELEMENTS (1 << 16)

/* The kernels of a call: only a check of all indices; the tuples' keys; the same in words with what
 * follows; claims; writes of those that stay; writes of all, of one value or in order; folds by
 * atomics; exact sums. */
typedef enum step { CHECK, KEYS, PACK, CLAIM, WRITE, WRITE_ALL, FOLD, SUM } step;

typedef struct scatter {
    const char *name;
    const ga__indexing *g;
    ga_index_mode mode;
    const int64_t *steps;
    ga_value value;
    gpuarray *table; /* of claims, or the keys; NULL: there is none */
    int64_t mask, low;
    bool ordered; /* one processor takes the tuples in order */
    const ga__packed *packed;
    const ga__sums *sums;
    const char *fold; /* the operation, and the dtype in which it computes */
    ga_dtype loop;
} scatter;

/* Whether the step has the tuples alone, without the other axes of the result. */
static bool has_tuples_only(step what)
{
    return what == CHECK || what == KEYS || what == PACK || what == CLAIM || what == SUM;
}

/* Whether the step writes to the array. */
static bool writes_elements(step what)
{
    return what == WRITE || what == WRITE_ALL || what == FOLD;
}

/* ---- Texts ---- */

static void place_text(const scatter *s, step what, int k, ga__strbuf *t)
{
    static const char *const map[] = {"", "ga::wrapped", "ga::clipped"};
    if (s->mode != GA_RAISE)
        ga__strbuf_addf(t, "const long long k%d = %s(j%d, n%d);\n", k, map[s->mode], k, k);
    else if (what == WRITE)
        ga__strbuf_addf(t, "const long long k%d = ga::inside(j%d, n%d);\n", k, k, k);
    else
        ga__strbuf_addf(t, "const long long k%d = ga::within(j%d, n%d, fault, call, a%d, p);\n", k,
                        k, k, k);
}

static void sum_text(const scatter *s, const char *letter, ga__strbuf *t)
{
    for (int k = 0; k < s->g->count; k++)
        ga__strbuf_addf(t, " + k%d * %s%d", k, letter, k);
}

static void step_text(const scatter *s, step what, ga__strbuf *t)
{
    for (int k = 0; k < s->g->count; k++)
        place_text(s, what, k, t);
    if (what == CHECK) {
        ga__strbuf_add(t, "(void)k0");
        return;
    }
    ga__strbuf_add(t, what == KEYS || what == PACK ? "r = ((k0" : "if ((k0");
    for (int k = 1; k < s->g->count; k++)
        ga__strbuf_addf(t, " | k%d", k);
    ga__strbuf_add(t, ") >= 0");
    if (what == WRITE) {
        ga__strbuf_add(t, " && ga::claimed(t, mask, q");
        sum_text(s, "m", t);
        ga__strbuf_add(t, ", p)");
    }
    if (what == FOLD)
        ga__strbuf_addf(t, ") ga::fold_into<ga::%s>(&x[0", s->fold);
    else if (what == SUM)
        ga__strbuf_add(t, ") ga::add_exactly(" GA__SUMS_TEXT ", 0");
    else if (what == WRITE_ALL)
        ga__strbuf_add(t, ") ga::write_near(&x[0");
    else
        ga__strbuf_add(t, what == CLAIM  ? ") ga::claim(t, mask, q"
                          : what == KEYS ? ") ? 0"
                          : what == PACK ? ") ? ((unsigned long long)(0"
                                         : ") x[0");
    sum_text(s, what == CLAIM ? "m" : "s", t);
    ga__strbuf_add(t, what == CLAIM       ? ", p)"
                      : what == KEYS      ? " - low : -1"
                      : what == FOLD      ? "], v, z)"
                      : what == SUM       ? " - low, v)"
                      : what == PACK      ? ""
                      : what == WRITE_ALL ? "], v)"
                                          : "] = v");
    if (what == PACK)
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

static extent extent_of(const scatter *s, step what)
{
    const ga__indexing *g = s->g;
    if (has_tuples_only(what))
        return (extent){g->first, g->index_ndim, g->shape + g->first};
    return (extent){0, g->ndim, g->shape};
}

static void add_indices(const scatter *s, step what, const extent *e, memory *m)
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
        if (what == CLAIM || what == WRITE)
            add_number(m, k, 2, 'm', key);
        if (what == KEYS || what == PACK || what == SUM || writes_elements(what))
            add_number(m, k, 3, 's', index->stride / size);
        if (s->mode == GA_RAISE && what != WRITE)
            add_number(m, k, 4, 'a', index->axis);
        key *= index->length;
    }
}

static void add_tuple(const scatter *s, step what, const extent *e, memory *m)
{
    int64_t strides[GA_MAX_NDIM] = {0};
    ga__indexing_position(s->g, strides);
    ga__lens_set(&m->position, NULL, e->ndim, e->shape, strides + e->first, 0);
    add(m, ga__lens_operand("p", &m->position, GA__COORDINATE, false));
    if (what != CLAIM && what != WRITE)
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
static void add_words(const scatter *s, const extent *e, memory *m)
{
    const gpuarray *from = s->value.as.array;
    int64_t strides[GA_MAX_NDIM];
    ga__broadcast_strides(e->ndim, e->shape, from->ndim, from->shape, from->strides, strides);
    ga__lens_set(&m->value, from, e->ndim, e->shape, strides, 0);
    add(m, ga__lens_operand("v", &m->value, GA__VALUE, false));
}

static void add_keys(const scatter *s, step what, const extent *e, memory *m)
{
    int64_t strides[GA_MAX_NDIM];
    ga__contiguous_strides(e->ndim, e->shape, sizeof(int64_t), strides);
    ga__lens_set_typed(&m->table, s->table, e->ndim, e->shape, strides, 0);
    add(m, ga__lens_operand("r", &m->table, GA__VALUE, true));
    add(m, ga__integer_operand("low", s->low));
    if (what != PACK)
        return;
    add(m, ga__integer_operand("shift", s->packed->shift));
    if (s->packed->has_values)
        add_words(s, e, m);
}

/* The value that is folded or added, in the dtype that computes. */
static void add_loop_value(const scatter *s, const extent *e, memory *m)
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
static void add_folded(const scatter *s, const extent *e, memory *m)
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
}

static void add_sums(const scatter *s, const extent *e, memory *m)
{
    ga__sums_operands(s->sums, e->ndim, e->shape, &m->table, m->operand + m->n);
    m->n += GA__SUMS_OPERANDS;
    add(m, ga__integer_operand("low", s->low));
    add_loop_value(s, e, m);
}

static void add_target(const scatter *s, const extent *e, memory *m)
{
    const gpuarray *x = s->g->x;
    ga__lens_set(&m->x, x, e->ndim, e->shape, s->g->strides, s->g->offset);
    add(m, ga__lens_operand("x", &m->x, GA__PLACED, true));
    if (s->value.kind == GA_VALUE_NUMBER)
        add(m, ga__word_operand("v", x->dtype, s->value));
    else
        add_words(s, e, m);
}

/* ---- Launches ---- */

static ga_status run(const scatter *s, step what)
{
    static const char *const names[] = {"check_indices", "index_keys", "pack_tuples",
                                        "claim",         "scatter",    "scatter",
                                        "fold",          "sum_exactly"};
    memory m;
    ga__strbuf text = GA__STRBUF_INIT, description = GA__STRBUF_INIT;
    ga__formula formula = {.name = names[what], .ordered = s->ordered};
    const extent e = extent_of(s, what);
    const bool checks = s->mode == GA_RAISE && what != WRITE;
    ga__device *device = s->g->x->buffer->device;
    m.n = 0;
    step_text(s, what, &text);
    ga__describe(&description, s->ordered ? "scatter_in_order" : "scatter");
    ga__describe(&description, text.failed ? NULL : text.text);
    ga_status status = text.failed ? GA_ERR_MEMORY : ga__description_id(&description, &formula.id);
    ga__strbuf_reset(&description);
    if (status == GA_OK) {
        formula.body = text.text;
        if (what == KEYS || what == PACK)
            add_keys(s, what, &e, &m);
        else if (what == FOLD)
            add_folded(s, &e, &m);
        else if (what == SUM)
            add_sums(s, &e, &m);
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

/* All keys: those of the indices, and of the axes that the tuples name besides. */
static int64_t count_keys(const scatter *s)
{
    int64_t keys = 1;
    for (int k = 0; k < s->g->count; k++)
        if (__builtin_mul_overflow(keys, s->g->index[k].length, &keys))
            return INT64_MAX;
    for (int k = 0; s->steps && k < s->g->index_ndim; k++)
        if (s->steps[k] != 0)
            keys = ga__add_sizes(keys, (s->g->shape[s->g->first + k] - 1) * s->steps[k]);
    return keys;
}

/* The places of a table of claims; *mask is not 0 if it is a hash table. */
static int64_t count_places(const scatter *s, int64_t *mask)
{
    const int64_t keys = count_keys(s), tuples = ga__indexing_tuples(s->g);
    int64_t places = 4;
    *mask = 0;
    if (keys / SPARSE <= tuples)
        return keys;
    while (places < 2 * tuples)
        places *= 2;
    *mask = places - 1;
    return 2 * places;
}

static ga_status make_table(scatter *s)
{
    const int64_t places = count_places(s, &s->mask);
    s->table = ga__array_new(s->name, s->g->x->buffer->device, GA_INT64, 1, &places);
    return s->table ? ga__fill_elements(s->table, ga_value_signed(GA_INT64, 0)) : ga_error();
}

static ga_status claim_and_write(scatter *s)
{
    ga_status status = make_table(s);
    if (status == GA_OK)
        status = run(s, CLAIM);
    if (status == GA_OK)
        status = run(s, WRITE);
    ga_free(s->table);
    return status;
}

/* Whether one processor of the host writes, and meets the tuples in order: along their one axis it
 * does, whatever the other axes of the nest. */
static bool writes_in_order(const scatter *s)
{
    const ga__indexing *g = s->g;
    const ga__device *device = g->x->buffer->device;
    const bool few = ga__shape_size(g->ndim, g->shape) < MANY_ELEMENTS;
    return device->arch == 0 && g->index_ndim == 1 && !s->steps &&
           (few || (g->ndim == 1 && device->processors < CLAIMING_PROCESSORS));
}

ga_status ga__scatter(const char *name, const ga__indexing *g, ga_index_mode mode,
                      const int64_t *steps, ga_value value)
{
    scatter s = {.name = name, .g = g, .mode = mode, .steps = steps, .value = value};
    if (ga__indexing_tuples(g) == 0)
        return GA_OK;
    if (ga__shape_size(g->ndim, g->shape) == 0)
        return mode == GA_RAISE ? run(&s, CHECK) : GA_OK;
    const bool one_value = value.kind == GA_VALUE_NUMBER || value.as.array->size == 1;
    if (!one_value && !writes_in_order(&s))
        return claim_and_write(&s);
    /* Of one value every order gives the same. On the host the error comes before the writes. */
    ga_status status = GA_OK;
    if (g->x->buffer->device->arch == 0 && mode == GA_RAISE)
        status = run(&s, CHECK);
    s.ordered = !one_value;
    return status == GA_OK ? run(&s, WRITE_ALL) : status;
}

bool ga__claims_are_far(const ga__indexing *g, const int64_t *steps)
{
    const scatter s = {.g = g, .steps = steps};
    const ga__device *device = g->x->buffer->device;
    int64_t mask;
    return device->arch != 0 && !steps &&
           (size_t)count_places(&s, &mask) > device->cache_bytes / sizeof(int64_t);
}

int64_t ga__scatter_span(const ga__indexing *g, int64_t *low)
{
    const int64_t size = (int64_t)ga__dtype_size(g->x->dtype);
    int64_t high = 0;
    *low = 0;
    for (int k = 0; k < g->count; k++) {
        const int64_t reach = (g->index[k].length - 1) * (g->index[k].stride / size);
        *(reach < 0 ? low : &high) += reach;
    }
    return high - *low + 1;
}

ga_status ga__scatter_keys(const char *name, const ga__indexing *g, ga__tuple_keys *keys)
{
    scatter s = {.name = name, .g = g, .mode = GA_RAISE, .table = keys->keys};
    keys->span = ga__scatter_span(g, &keys->low);
    s.low = keys->low;
    return run(&s, KEYS);
}

ga_status ga__scatter_pack(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value, const ga__packed *packed)
{
    const scatter s = {.name = name,
                       .g = g,
                       .mode = mode,
                       .value = value,
                       .table = packed->words,
                       .low = packed->low,
                       .packed = packed};
    return run(&s, PACK);
}

ga_status ga__scatter_fold(const char *name, const ga__indexing *g, ga_value value,
                           const char *fold, ga_dtype loop)
{
    const scatter s = {
        .name = name, .g = g, .mode = GA_RAISE, .value = value, .fold = fold, .loop = loop};
    return run(&s, FOLD);
}

ga_status ga__scatter_sum(const char *name, const ga__indexing *g, ga_value value, ga_dtype loop,
                          const ga__sums *sums)
{
    const scatter s = {.name = name,
                       .g = g,
                       .mode = GA_RAISE,
                       .value = value,
                       .sums = sums,
                       .low = sums->low,
                       .loop = loop};
    return run(&s, SUM);
}

ga_status ga__check_tuples(const char *name, const ga__indexing *g)
{
    const scatter s = {.name = name, .g = g, .mode = GA_RAISE};
    return ga__indexing_tuples(g) > 0 ? run(&s, CHECK) : GA_OK;
}

ga_status ga__scattered_value(const char *name, const gpuarray *x, ga_value *value, gpuarray **copy)
{
    ga__device *device;
    *copy = NULL;
    ga_status status = ga__check_values(name, 1, value, &device);
    if (status != GA_OK)
        return status;
    if (value->kind == GA_VALUE_NUMBER)
        return ga__check_number(name, *value, x->dtype);
    const gpuarray *from = value->as.array;
    if (device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the array is on %s, the value on %s", name,
                        x->buffer->device->name, device->name);
    if (from->dtype == x->dtype && !ga__arrays_overlap(x, from))
        return GA_OK;
    *copy = ga_astype(from, x->dtype);
    value->as.array = *copy;
    return *copy ? GA_OK : ga_error();
}
