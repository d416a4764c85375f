/* ga_searchsorted() and ga_digitize(): places of values in sorted arrays. */
#include <quarry/ops.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "kernels/reduce.h"
#include "ops/bins/bin_calls.h"
#include "ops/bins/edges.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"

/* ---- The search ---- */

/* By side, then by the way, then by the direction of the table. */
#define FORMULA(n, text)                                                                           \
    {                                                                                              \
        .id = GA__BINS_FORMULA_ID(GA__ID_SEARCH + (n)), .name = "searchsorted", .body = text       \
    }
static const ga__formula formulas[2][2][2] = {
    {{FORMULA(0, "ga::search<false>(bin, x, ga_table)"),
      FORMULA(1, "ga::search<false>(bin, x, ga_table); ga::count_down(bin, (ga_bin)m)")},
     {FORMULA(2, "ga::count_before<false>(bin, x, ga_table)"),
      FORMULA(3, "ga::count_before<false>(bin, x, ga_table); ga::count_down(bin, (ga_bin)m)")}},
    {{FORMULA(4, "ga::search<true>(bin, x, ga_table)"),
      FORMULA(5, "ga::search<true>(bin, x, ga_table); ga::count_down(bin, (ga_bin)m)")},
     {FORMULA(6, "ga::count_before<true>(bin, x, ga_table)"),
      FORMULA(7, "ga::count_before<true>(bin, x, ga_table); ga::count_down(bin, (ga_bin)m)")}}};

/* The places of x among the elements of `a` in their common dtype. */
static gpuarray *search(const char *name, const gpuarray *a, const gpuarray *x, bool right,
                        bool descends)
{
    const ga_dtype common = ga_result_type(a->dtype, x->dtype);
    if (common == GA_NO_DTYPE)
        return NULL;
    gpuarray *table = ga__contiguous_as(a, ga__search_dtype(common));
    gpuarray *out =
        table ? ga__array_new(name, x->buffer->device, GA_INT64, x->ndim, x->shape) : NULL;
    ga_status status = out ? GA_OK : ga_error();
    if (status == GA_OK && out->size > 0)
        status = ga__search_into(&formulas[right][table->size <= GA__FEW_ELEMENTS][descends], out,
                                 x, table->dtype, table);
    ga_free(table);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* ---- searchsorted ---- */

static ga_status check_sorter(const gpuarray *a, const gpuarray *sorter)
{
    ga_value low, high;
    ga_status status = ga__check_operand("searchsorted", "the sorter", sorter, 1, "iu");
    if (status == GA_OK)
        status = ga__check_same_device("searchsorted", a, sorter);
    if (status == GA_OK && sorter->size != a->size)
        status =
            ga__fail(GA_ERR_SHAPE, "searchsorted: the array has %lld elements, the sorter has %lld",
                     (long long)a->size, (long long)sorter->size);
    if (status != GA_OK || a->size == 0)
        return status;
    status = ga__extremes("searchsorted", sorter, &low, &high);
    if (status != GA_OK)
        return status;
    const bool negative = ga__number_double(low) < 0;
    if (negative || ga__number_double(high) >= (double)a->size)
        status =
            ga__fail(GA_ERR_INDEX, "searchsorted: the sorter's index %lld is outside %lld elements",
                     (long long)ga__number_int64(negative ? low : high), (long long)a->size);
    return status;
}

/* a[sorter] */
static gpuarray *sorted(const gpuarray *a, const gpuarray *sorter)
{
    static const ga__formula formula = {
        .id = GA__BINS_FORMULA_ID(GA__ID_TAKE), .name = "searchsorted", .body = "r = a[s]"};
    if (check_sorter(a, sorter) != GA_OK)
        return NULL;
    gpuarray *out = ga__array_new("searchsorted", a->buffer->device, a->dtype, 1, a->shape);
    if (!out || out->size == 0)
        return out;
    const ga__operand operands[] = {{.name = "r", .array = out, .type = a->dtype, .writes = true},
                                    ga__streamed_operand("s", sorter, GA_INT64),
                                    ga__indexed_operand("a", a)};
    if (ga__elementwise(&formula, a->buffer->device, 1, out->shape, 3, operands) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *(ga_searchsorted)(size_t size, const ga_searchsorted_args *given)
{
    GA__CALL("searchsorted");
    ga_searchsorted_args args;
    ga__device *device;
    if (ga__options_read("searchsorted", &args, sizeof args, given, size) != GA_OK ||
        ga__check_operand("searchsorted", "the sorted array", args.a, 1, "biufc") != GA_OK ||
        ga__check_values("searchsorted", 2, (ga_value[]){ga_value_array(args.a), args.v},
                         &device) != GA_OK)
        return NULL;
    const bool number = args.v.kind == GA_VALUE_NUMBER;
    gpuarray *made = NULL, *ordered = NULL, *places = NULL;
    if (number)
        made = ga__full_number("searchsorted", device, args.v);
    if (args.sorter)
        ordered = sorted(args.a, args.sorter);
    const gpuarray *x = number ? made : args.v.as.array, *a = args.sorter ? ordered : args.a;
    if (x && a)
        places = search("searchsorted", a, x, args.side_right, false);
    ga_free(ordered);
    ga_free(made);
    return places;
}

/* ---- digitize ---- */

gpuarray *(ga_digitize)(size_t size, const ga_digitize_args *given)
{
    GA__CALL("digitize");
    ga_digitize_args args;
    int direction;
    if (ga__options_read("digitize", &args, sizeof args, given, size) != GA_OK ||
        ga__check_operand("digitize", "x", args.x, -1, "biuf") != GA_OK ||
        ga__check_operand("digitize", "the array of bins", args.bins, 1, "biuf") != GA_OK ||
        ga__check_same_device("digitize", args.x, args.bins) != GA_OK ||
        ga__edges_direction("digitize", args.bins, &direction) != GA_OK)
        return NULL;
    if (direction == 0)
        return ga__fail_null(GA_ERR_INVALID, "digitize: the %lld bins neither ascend nor descend",
                             (long long)args.bins->size);
    if (direction > 0)
        return search("digitize", args.bins, args.x, !args.right, false);
    gpuarray *ascending = ga_flip(args.bins, 0);
    gpuarray *places = ascending ? search("digitize", ascending, args.x, !args.right, true) : NULL;
    ga_free(ascending);
    return places;
}
