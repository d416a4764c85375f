/* Writes to indexed elements: first each tuple claims its key in a table, where the last one stays;
 * then those that stay write. On the host, one processor writes all of few tuples in their order.
 */
#include "ops/index/scatter.h"

#include "base/error.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"

/* The most places for each tuple of a table that has a place for each key. */
#define SPARSE 4

/* On the host, from these numbers of processors and elements on, processors that claim elements
 * before they write finish sooner than one that writes all. */
#define CLAIMING_PROCESSORS 8
#define MANY_ELEMENTS (1 << 16)

int64_t ga__count_keys(const ga__indexing *g, const int64_t *steps)
{
    int64_t keys = 1;
    for (int k = 0; k < g->count; k++)
        if (__builtin_mul_overflow(keys, g->index[k].length, &keys))
            return INT64_MAX;
    for (int k = 0; steps && k < g->index_ndim; k++)
        if (steps[k] != 0)
            keys = ga__add_sizes(keys, (g->shape[g->first + k] - 1) * steps[k]);
    return keys;
}

/* The places of a table of claims; *mask is not 0 if it is a hash table. */
static int64_t count_places(const ga__scattering *s, int64_t *mask)
{
    const int64_t keys = ga__count_keys(s->g, s->steps), tuples = ga__indexing_tuples(s->g);
    int64_t places = 4;
    *mask = 0;
    if (keys / SPARSE <= tuples)
        return keys;
    while (places < 2 * tuples)
        places *= 2;
    *mask = places - 1;
    return 2 * places;
}

static ga_status make_table(ga__scattering *s)
{
    const int64_t places = count_places(s, &s->mask);
    s->table = ga__array_new(s->name, s->g->x->buffer->device, GA_INT64, 1, &places);
    return s->table ? ga__fill_elements(s->table, ga_value_signed(GA_INT64, 0)) : ga_error();
}

static ga_status claim_and_write(ga__scattering *s)
{
    ga_status status = make_table(s);
    if (status == GA_OK)
        status = ga__scatter_run(s, GA__STEP_CLAIM);
    if (status == GA_OK)
        status = ga__scatter_run(s, GA__STEP_WRITE);
    ga_free(s->table);
    return status;
}

/* Whether one processor of the host writes, and meets the tuples in order: along their one axis it
 * does, whatever the other axes of the nest. */
static bool writes_in_order(const ga__scattering *s)
{
    const ga__indexing *g = s->g;
    const ga__device *device = g->x->buffer->device;
    const bool few = ga__shape_size(g->ndim, g->shape) < MANY_ELEMENTS;
    return ga__on_host(device) && g->index_ndim == 1 && !s->steps &&
           (few || (g->ndim == 1 && device->processors < CLAIMING_PROCESSORS));
}

ga_status ga__scatter(const char *name, const ga__indexing *g, ga_index_mode mode,
                      const int64_t *steps, ga_value value)
{
    ga__scattering s = {.name = name, .g = g, .mode = mode, .steps = steps, .value = value};
    if (ga__indexing_tuples(g) == 0)
        return GA_OK;
    if (ga__shape_size(g->ndim, g->shape) == 0)
        return mode == GA_RAISE ? ga__scatter_run(&s, GA__STEP_CHECK) : GA_OK;
    const bool one_value = value.kind == GA_VALUE_NUMBER || value.as.array->size == 1;
    if (!one_value && !writes_in_order(&s))
        return claim_and_write(&s);
    /* Of one value every order gives the same. On the host the error comes before the writes. */
    ga_status status = GA_OK;
    if (ga__on_host(g->x->buffer->device) && mode == GA_RAISE)
        status = ga__scatter_run(&s, GA__STEP_CHECK);
    s.ordered = !one_value;
    return status == GA_OK ? ga__scatter_run(&s, GA__STEP_WRITE_ALL) : status;
}

int ga__bits_of(uint64_t number)
{
    return number == 0 ? 0 : 64 - __builtin_clzll(number);
}

int ga__value_bits(ga_dtype dtype)
{
    const size_t nbytes = ga__dtype_size(dtype);
    if (nbytes > sizeof(uint32_t) || ga__dtype_integer('u', nbytes) == GA_NO_DTYPE)
        return 0;
    return dtype == GA_BOOL ? 1 : 8 * (int)nbytes;
}

bool ga__claims_are_far(const ga__indexing *g, const int64_t *steps)
{
    const ga__scattering s = {.g = g, .steps = steps};
    const ga__device *device = g->x->buffer->device;
    int64_t mask;
    return !ga__on_host(device) && !steps &&
           (size_t)count_places(&s, &mask) > device->cache_bytes / sizeof(int64_t);
}

ga_status ga__scatter_keys(const char *name, const ga__indexing *g, ga__tuple_keys *keys)
{
    ga__scattering s = {.name = name, .g = g, .mode = GA_RAISE, .table = keys->keys};
    keys->span = ga__indexing_span(g, &keys->low);
    s.low = keys->low;
    return ga__scatter_run(&s, GA__STEP_KEYS);
}

static ga__scattering into_words(const char *name, const ga__indexing *g, ga_index_mode mode,
                                 ga_value value, gpuarray *words, int64_t low)
{
    return (ga__scattering){
        .name = name, .g = g, .mode = mode, .value = value, .table = words, .low = low};
}

ga_status ga__scatter_pack(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value, const ga__packed *packed)
{
    ga__scattering s = into_words(name, g, mode, value, packed->words, packed->low);
    s.packed = packed;
    return ga__scatter_run(&s, GA__STEP_PACK);
}

ga_status ga__scatter_latest(const char *name, const ga__indexing *g, ga_index_mode mode,
                             ga_value value, const ga__latest *latest)
{
    ga__scattering s = into_words(name, g, mode, value, latest->words, latest->low);
    s.latest = latest;
    return ga__scatter_run(&s, GA__STEP_LATEST);
}

ga_status ga__scatter_fold(const char *name, const ga__indexing *g, ga_value value,
                           const char *fold, ga_dtype loop)
{
    const ga__scattering s = {
        .name = name, .g = g, .mode = GA_RAISE, .value = value, .fold = fold, .loop = loop};
    return ga__scatter_run(&s, GA__STEP_FOLD);
}

ga_status ga__scatter_sum(const char *name, const ga__indexing *g, ga_value value, ga_dtype loop,
                          const ga__sums *sums)
{
    const ga__scattering s = {.name = name,
                              .g = g,
                              .mode = GA_RAISE,
                              .value = value,
                              .sums = sums,
                              .low = sums->low,
                              .loop = loop};
    return ga__scatter_run(&s, GA__STEP_SUM);
}

ga_status ga__check_tuples(const char *name, const ga__indexing *g)
{
    const ga__scattering s = {.name = name, .g = g, .mode = GA_RAISE};
    return ga__indexing_tuples(g) > 0 ? ga__scatter_run(&s, GA__STEP_CHECK) : GA_OK;
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
