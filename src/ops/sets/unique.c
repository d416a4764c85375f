/* ga_unique() and the array API's forms: the elements once each. */
#include <quarry/sets.h>

#include <quarry/histogram.h>
#include <quarry/joining.h>
#include <quarry/ops.h>
#include <quarry/select.h>

#include "base/call.h"
#include "base/error.h"
#include "device/stream.h"
#include "model/promote.h"
#include "base/options.h"
#include "ops/bins/bin_calls.h"
#include "ops/order/along.h"
#include "ops/scan/take_number.h"
#include "ops/sets/runs.h"
#include "ops/sets/unique.h"

/* From this number of elements on, counters cost less than a sort. */
enum { COUNTED = 1 << 12 };

/* The values of integers of 8 bits, in order. */
static gpuarray *all_values(const char *name, const gpuarray *flat)
{
    signed char values[256];
    const int low = flat->dtype == GA_INT8 ? -128 : 0;
    for (int k = 0; k < 256; k++)
        values[k] = (signed char)(low + k);
    return ga__array_from(name, flat->buffer->device, flat->dtype, GA_SHAPE(256), values);
}

/* How many elements of a flat array have each of all values. */
static gpuarray *count_values(const gpuarray *flat)
{
    gpuarray *bits = ga_view(flat, GA_UINT8),
             *counts = bits ? ga_bincount(bits, .minlength = 256) : NULL;
    if (!counts || flat->dtype != GA_INT8)
        return counts;
    return ga_roll(counts, 128); /* the sign is the highest bit */
}

static ga_status unique_by_counts(const char *name, const gpuarray *flat, ga__wanted_runs wanted,
                                  ga__made_runs *made)
{
    gpuarray *counts = count_values(flat), *all = counts ? all_values(name, flat) : NULL;
    made->values = all ? ga_extract(counts, all) : NULL;
    if (made->values && wanted.counts)
        made->counts = ga_extract(counts, counts);
    return made->values && (made->counts || !wanted.counts) ? GA_OK : ga_error();
}

/* One number tells all of bools. */
static ga_status unique_bools(const char *name, const gpuarray *flat, ga__wanted_runs wanted,
                              ga__made_runs *made)
{
    int64_t ones, counts[2], found = 0;
    unsigned char values[2];
    if (ga__take_number(ga_count_nonzero(flat), &ones) != GA_OK)
        return ga_error();
    for (int value = 0; value < 2; value++) {
        counts[found] = value ? ones : flat->size - ones;
        values[found] = (unsigned char)value;
        found += counts[found] > 0;
    }
    ga__device *device = flat->buffer->device;
    made->values = ga__array_from(name, device, GA_BOOL, 1, &found, values);
    if (made->values && wanted.counts)
        made->counts = ga__array_from(name, device, GA_INT64, 1, &found, counts);
    return made->values && (made->counts || !wanted.counts) ? GA_OK : ga_error();
}

/* Without places, values of few bits are counted. *done says whether they were. */
static ga_status unique_of_few(const char *name, const gpuarray *flat, ga__wanted_runs wanted,
                               ga__made_runs *made, bool *done)
{
    const bool bools = flat->dtype == GA_BOOL;
    *done = flat->size >= COUNTED && !wanted.indices && !wanted.inverse &&
            (bools || flat->dtype == GA_INT8 || flat->dtype == GA_UINT8);
    if (!*done)
        return GA_OK;
    *made = (ga__made_runs){NULL, NULL, NULL, NULL};
    if (!ga__not_recording(name))
        return ga_error();
    return bools ? unique_bools(name, flat, wanted, made)
                 : unique_by_counts(name, flat, wanted, made);
}

ga_status ga__unique(const char *name, const gpuarray *x, bool distinct_nan, ga__wanted_runs wanted,
                     ga__made_runs *made)
{
    if (ga__check_numeric(name, x->dtype) != GA_OK)
        return ga_error();
    gpuarray *flat = ga_ravel(x), *sorted, *order = NULL;
    const bool ordered = wanted.indices || wanted.inverse;
    bool done = false;
    if (!flat || unique_of_few(name, flat, wanted, made, &done) != GA_OK)
        return ga_error();
    if (done)
        return GA_OK;
    if (ga__sort_along(name, flat, 0, false, &sorted, ordered ? &order : NULL) != GA_OK)
        return ga_error();
    const ga__runs runs = {.elements = sorted, .order = order, .distinct_nan = distinct_nan};
    return ga__find_runs(name, &runs, wanted, x->ndim, x->shape, made);
}

/* Where the results go; NULL: nowhere. */
typedef struct targets {
    gpuarray **values, **indices, **inverse, **counts;
} targets;

static ga_status deliver(const ga__made_runs *made, const targets *to)
{
    gpuarray **const places[] = {to->values, to->indices, to->inverse, to->counts};
    gpuarray *const all[] = {made->values, made->indices, made->inverse, made->counts};
    gpuarray *kept[4];
    int n = 0;
    for (int k = 0; k < 4; k++)
        if (places[k])
            kept[n++] = all[k];
    const ga_status status = ga__keep_all(n, kept);
    for (int k = 0; k < 4 && status == GA_OK; k++)
        if (places[k])
            *places[k] = all[k];
    return status;
}

/* Along one axis; NULL: of all elements. */
static ga_status unique(const char *name, const gpuarray *x, const int *axis, bool distinct_nan,
                        const targets *to)
{
    ga__made_runs made;
    const ga__wanted_runs wanted = {to->indices != NULL, to->inverse != NULL, to->counts != NULL};
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: x is NULL", name);
    ga_scope_begin();
    ga_status status = axis ? ga__unique_along(name, x, *axis, wanted, &made)
                            : ga__unique(name, x, distinct_nan, wanted, &made);
    if (status == GA_OK)
        status = deliver(&made, to);
    ga_scope_end();
    return status;
}

gpuarray *(ga_unique)(size_t size, const ga_unique_args *args)
{
    GA__CALL("unique");
    ga_unique_args known;
    gpuarray *values;
    if (ga__options_read("unique", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    const targets to = {&values, known.indices, known.inverse, known.counts};
    int axis = 0;
    bool along = known.x && known.naxes > 0;
    if (ga__one_axis("unique", known.naxes, known.axes) != GA_OK ||
        (along && ga__check_axis("unique", known.axes[0], known.x->ndim, &axis) != GA_OK))
        return NULL;
    along = along && known.x->ndim > 1;
    return unique("unique", known.x, along ? &axis : NULL, known.distinct_nan, &to) == GA_OK
               ? values
               : NULL;
}

ga_status ga_unique_all(const gpuarray *x, gpuarray **values, gpuarray **indices,
                        gpuarray **inverse, gpuarray **counts)
{
    GA__CALL("unique_all");
    const targets to = {values, indices, inverse, counts};
    return unique("unique_all", x, NULL, true, &to);
}

ga_status ga_unique_counts(const gpuarray *x, gpuarray **values, gpuarray **counts)
{
    GA__CALL("unique_counts");
    const targets to = {.values = values, .counts = counts};
    return unique("unique_counts", x, NULL, true, &to);
}

ga_status ga_unique_inverse(const gpuarray *x, gpuarray **values, gpuarray **inverse)
{
    GA__CALL("unique_inverse");
    const targets to = {.values = values, .inverse = inverse};
    return unique("unique_inverse", x, NULL, true, &to);
}

gpuarray *ga_unique_values(const gpuarray *x)
{
    GA__CALL("unique");
    gpuarray *values = NULL;
    const targets to = {.values = &values};
    unique("unique_values", x, NULL, true, &to);
    return values;
}
