/* Tests of membership: which elements of one array are in another. */
#include "ops/sets/members.h"

#include "base/error.h"
#include "ops/bins/bin_calls.h"
#include "ops/convert.h"
#include "ops/order/along.h"

/* By the way, then by what is true. */
#define FORMULA(n, text)                                                                           \
    {                                                                                              \
        .id = GA__BINS_FORMULA_ID(GA__ID_MEMBERS + (n)), .name = "isin", .body = text              \
    }
static const ga__formula formulas[2][2] = {
    {FORMULA(0, "ga::mark_members<false>(bin, x, ga_table)"),
     FORMULA(1, "ga::mark_members<true>(bin, x, ga_table)")},
    {FORMULA(2, "ga::mark_few_members<false>(bin, x, ga_table)"),
     FORMULA(3, "ga::mark_few_members<true>(bin, x, ga_table)")}};

/* The elements of the set, which has some; sorted unless they are few. */
static gpuarray *make_table(const char *name, ga__set set, ga_dtype common, bool few)
{
    gpuarray *flat = ga_ravel(set.elements),
             *elements = flat ? ga__contiguous_as(flat, common) : NULL;
    if (elements && !few && !set.sorted &&
        ga__sort_along(name, elements, 0, false, &elements, NULL) != GA_OK)
        return NULL;
    return elements ? ga__contiguous_as(elements, ga__search_dtype(common)) : NULL;
}

gpuarray *ga__members(const char *name, const gpuarray *x, ga__set set, bool invert)
{
    const ga_dtype common = ga_result_type(x->dtype, set.elements->dtype);
    gpuarray *out = ga__array_new(name, x->buffer->device, GA_BOOL, x->ndim, x->shape);
    if (!out || out->size == 0)
        return out;
    if (set.elements->size == 0)
        return ga__fill_elements(out, ga_value_int(invert)) == GA_OK ? out : NULL;
    const bool few = set.elements->size <= GA__FEW_ELEMENTS;
    gpuarray *table = make_table(name, set, common, few);
    if (!table)
        return NULL;
    /* x is read as the common dtype of both; the table has elements in what a search compares. */
    const ga_dtype type = ga__dtype_rounds(common) ? common : table->dtype;
    return ga__search_into(&formulas[few][invert], out, x, type, table) == GA_OK ? out : NULL;
}
