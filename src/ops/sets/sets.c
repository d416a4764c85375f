/* ga_isin(), and unions, intersections and differences of two arrays. */
#include <quarry/sets.h>

#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "ops/bins/bin_calls.h"
#include "ops/order/along.h"
#include "ops/sets/members.h"
#include "ops/sets/unique.h"

static const ga__wanted_runs values_only = {false, false, false};

static ga_status check_pair(const char *name, const char *first, const char *second,
                            const gpuarray *a, const gpuarray *b)
{
    if (!a || !b)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, a ? second : first);
    if (ga__check_numeric(name, a->dtype) != GA_OK || ga__check_numeric(name, b->dtype) != GA_OK)
        return ga_error();
    return ga__check_same_device(name, a, b);
}

/* Closes the scope, and moves the result out of it. */
static gpuarray *leave(gpuarray *result)
{
    gpuarray *const kept = result ? ga_keep(result) : NULL;
    ga_scope_end();
    return kept;
}

/* The elements in C order in another dtype. */
static gpuarray *flat_as(const gpuarray *x, ga_dtype dtype)
{
    gpuarray *flat = ga_ravel(x);
    return flat ? ga__contiguous_as(flat, dtype) : NULL;
}

/* ---- Membership ---- */

static gpuarray *isin(const char *name, size_t size, const ga_isin_args *args, bool flat)
{
    ga_isin_args known;
    if (ga__options_read(name, &known, sizeof known, args, size) != GA_OK ||
        check_pair(name, "x", "the array of test elements", known.x, known.test) != GA_OK)
        return NULL;
    ga_scope_begin();
    const gpuarray *x = flat ? ga_ravel(known.x) : known.x;
    return leave(x ? ga__members(name, x, (ga__set){known.test, false}, known.invert) : NULL);
}

gpuarray *(ga_isin)(size_t size, const ga_isin_args *args)
{
    GA__CALL("isin");
    return isin("isin", size, args, false);
}

gpuarray *(ga_in1d)(size_t size, const ga_isin_args *args)
{
    GA__CALL("in1d");
    return isin("in1d", size, args, true);
}

/* ---- Union ---- */

/* The elements of both, one array after the other. */
static gpuarray *join(const char *name, const gpuarray *a, const gpuarray *b)
{
    const gpuarray *const parts[] = {a, b};
    const ga_dtype common = ga_result_type(a->dtype, b->dtype);
    const int64_t size = ga__add_sizes(a->size, b->size);
    const int64_t step = (int64_t)ga__dtype_size(common);
    gpuarray *const out = ga__array_new(name, a->buffer->device, common, 1, &size);
    int64_t offset = 0;
    for (int k = 0; k < 2 && out; offset += parts[k++]->size * step) {
        if (parts[k]->size == 0)
            continue;
        gpuarray *from = ga_ravel(parts[k]),
                 *to = from ? ga__array_view(out, common, 1, &parts[k]->size, &step, offset) : NULL;
        if (!to || ga__assign_bits(to, from) != GA_OK)
            return NULL;
    }
    return out;
}

gpuarray *ga_union1d(const gpuarray *a, const gpuarray *b)
{
    GA__CALL("union1d");
    ga__made_runs made = {NULL, NULL, NULL, NULL};
    if (check_pair("union1d", "the first array", "the second array", a, b) != GA_OK)
        return NULL;
    ga_scope_begin();
    gpuarray *both = join("union1d", a, b);
    const bool ok = both && ga__unique("union1d", both, false, values_only, &made) == GA_OK;
    return leave(ok ? made.values : NULL);
}

/* ---- Intersection ---- */

/* Both arrays in order. */
typedef struct ordered_pair {
    gpuarray *a, *b, *a_order, *b_order;
} ordered_pair;

static ga_status sort_pair(const char *name, const gpuarray *a, const gpuarray *b, bool a_order,
                           bool b_order, ordered_pair *p)
{
    const ga_dtype common = ga_result_type(a->dtype, b->dtype);
    gpuarray *first = flat_as(a, common), *second = first ? flat_as(b, common) : NULL;
    ga_status status = second ? GA_OK : ga_error();
    *p = (ordered_pair){NULL, NULL, NULL, NULL};
    if (status == GA_OK)
        status = ga__sort_along(name, first, 0, false, &p->a, a_order ? &p->a_order : NULL);
    if (status == GA_OK)
        status = ga__sort_along(name, second, 0, false, &p->b, b_order ? &p->b_order : NULL);
    return status;
}

static gpuarray *intersect(const ga_intersect1d_args *args, ga__made_runs *made,
                           gpuarray **b_indices)
{
    static const char name[] = "intersect1d";
    const ga__wanted_runs wanted = {.indices = args->a_indices != NULL};
    ordered_pair p;
    if (sort_pair(name, args->a, args->b, wanted.indices, args->b_indices != NULL, &p) != GA_OK)
        return NULL;
    const ga__runs runs = {.elements = p.a,
                           .order = p.a_order,
                           .chosen = ga__members(name, p.a, (ga__set){p.b, true}, false),
                           .each = args->assume_unique};
    if (!runs.chosen || ga__find_runs(name, &runs, wanted, 1, p.a->shape, made) != GA_OK)
        return NULL;
    if (args->b_indices) {
        gpuarray *places = ga_searchsorted(p.b, made->values);
        *b_indices = places ? ga__take_rows(name, p.b_order, places) : NULL;
    }
    return args->b_indices && !*b_indices ? NULL : made->values;
}

/* Moves the results out of the scope, and sets those that are wanted. */
static gpuarray *deliver(const ga_intersect1d_args *args, const ga__made_runs *made,
                         gpuarray *b_indices)
{
    gpuarray *kept[3] = {made->values};
    int n = 1;
    if (args->a_indices)
        kept[n++] = made->indices;
    if (args->b_indices)
        kept[n++] = b_indices;
    if (ga__keep_all(n, kept) != GA_OK)
        return NULL;
    if (args->a_indices)
        *args->a_indices = made->indices;
    if (args->b_indices)
        *args->b_indices = b_indices;
    return made->values;
}

gpuarray *(ga_intersect1d)(size_t size, const ga_intersect1d_args *args)
{
    GA__CALL("intersect1d");
    ga_intersect1d_args known;
    ga__made_runs made;
    gpuarray *b_indices = NULL;
    if (ga__options_read("intersect1d", &known, sizeof known, args, size) != GA_OK ||
        check_pair("intersect1d", "the first array", "the second array", known.a, known.b) != GA_OK)
        return NULL;
    ga_scope_begin();
    gpuarray *values = intersect(&known, &made, &b_indices);
    if (values)
        values = deliver(&known, &made, b_indices);
    ga_scope_end();
    return values;
}

/* ---- Differences ---- */

/* The elements that are not in the set: of sorted ones once each, or with `each` all in order. */
static gpuarray *remaining(const char *name, const gpuarray *elements, ga__set set, bool each)
{
    ga__made_runs made;
    const ga__runs runs = {
        .elements = elements, .chosen = ga__members(name, elements, set, true), .each = each};
    if (!runs.chosen || ga__find_runs(name, &runs, values_only, 1, elements->shape, &made) != GA_OK)
        return NULL;
    return made.values;
}

static ga_status read_difference(const char *name, ga_setdiff1d_args *known, size_t size,
                                 const ga_setdiff1d_args *args)
{
    const ga_status status = ga__options_read(name, known, sizeof *known, args, size);
    return status == GA_OK
               ? check_pair(name, "the first array", "the second array", known->a, known->b)
               : status;
}

gpuarray *(ga_setdiff1d)(size_t size, const ga_setdiff1d_args *args)
{
    GA__CALL("setdiff1d");
    ga_setdiff1d_args known;
    if (read_difference("setdiff1d", &known, size, args) != GA_OK)
        return NULL;
    ga_scope_begin();
    gpuarray *a = flat_as(known.a, known.a->dtype);
    const ga__set b = {known.b, false};
    if (a && !known.assume_unique && ga__sort_along("setdiff1d", a, 0, false, &a, NULL) != GA_OK)
        a = NULL;
    return leave(a ? remaining("setdiff1d", a, b, known.assume_unique) : NULL);
}

/* What only a has, and what only b has, in order. */
static gpuarray *exclusive(const ga_setdiff1d_args *args)
{
    static const char name[] = "setxor1d";
    const bool each = args->assume_unique;
    ordered_pair p;
    if (sort_pair(name, args->a, args->b, false, false, &p) != GA_OK)
        return NULL;
    gpuarray *a = remaining(name, p.a, (ga__set){p.b, true}, each),
             *b = a ? remaining(name, p.b, (ga__set){p.a, true}, each) : NULL,
             *both = b ? join(name, a, b) : NULL, *sorted;
    if (!both || ga__sort_along(name, both, 0, false, &sorted, NULL) != GA_OK)
        return NULL;
    return sorted;
}

gpuarray *(ga_setxor1d)(size_t size, const ga_setdiff1d_args *args)
{
    GA__CALL("setxor1d");
    ga_setdiff1d_args known;
    if (read_difference("setxor1d", &known, size, args) != GA_OK)
        return NULL;
    ga_scope_begin();
    return leave(exclusive(&known));
}
