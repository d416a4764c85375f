/* What searches and histograms share: their operands, tables, extremes and sums of rows. */
#include "ops/bins/bin_calls.h"

#include <string.h>

#include "base/error.h"
#include "ops/convert.h"
#include "ops/reduction_op.h"

ga_dtype ga__search_dtype(ga_dtype common)
{
    if (ga__dtype_size(common) >= 4)
        return common;
    return ga__dtype_rounds(common) ? GA_FLOAT32 : GA_INT32;
}

gpuarray *ga__contiguous_as(const gpuarray *x, ga_dtype dtype)
{
    if (x->contiguous && x->dtype == dtype)
        return ga__array_view(x, dtype, x->ndim, x->shape, x->strides, 0);
    return ga_astype(x, dtype);
}

gpuarray *ga__full_number(const char *name, ga__device *device, ga_value number)
{
    gpuarray *x = ga__array_new(name, device, number.dtype, 0, NULL);
    if (!x || ga__fill_elements(x, number) == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

ga__operand ga__streamed_operand(const char *name, const gpuarray *x, ga_dtype type)
{
    return (ga__operand){.name = name, .array = x, .type = type, .reads = true};
}

ga_status ga__search_into(const ga__formula *formula, gpuarray *out, const gpuarray *x,
                          ga_dtype type, const gpuarray *table)
{
    const ga__operand operands[] = {
        {.name = "r", .array = out, .type = out->dtype, .writes = true},
        ga__streamed_operand("x", x, type),
        ga__indexed_operand("t", table),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, table->size))};
    const ga__binned call = {.formula = formula,
                             .device = x->buffer->device,
                             .use = GA__BINNED_STORE,
                             .nbins = table->size,
                             .table = table,
                             .ndim = x->ndim,
                             .shape = x->shape,
                             .noperands = 4,
                             .operands = operands};
    return ga__binned_run(&call, NULL);
}

/* In words, the classes of dtypes whose letters are given. */
static const char *kinds_text(const char *kinds)
{
    return strchr(kinds, 'c')   ? "numbers"
           : strchr(kinds, 'f') ? "real numbers"
           : strchr(kinds, 'b') ? "integers or bool"
                                : "integers";
}

ga_status ga__check_operand(const char *name, const char *what, const gpuarray *x, int ndim,
                            const char *kinds)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, what);
    if (ndim >= 0 && x->ndim != ndim)
        return ga__fail(GA_ERR_SHAPE, "%s: %s has shape %s, expected %d dimension%s", name, what,
                        ga__shape_text(x->ndim, x->shape), ndim, ndim == 1 ? "" : "s");
    if (!strchr(kinds, ga__dtype_kind(x->dtype)))
        return ga__fail(GA_ERR_DTYPE, "%s: %s is %s, expected %s", name, what,
                        ga_dtype_name(x->dtype), kinds_text(kinds));
    return GA_OK;
}

ga_status ga__check_same_device(const char *name, const gpuarray *x, const gpuarray *other)
{
    if (!other || x->buffer->device == other->buffer->device)
        return GA_OK;
    return ga__fail(GA_ERR_DEVICE, "%s: operands on %s and %s", name, x->buffer->device->name,
                    other->buffer->device->name);
}

/* ---- Extremes ---- */

static ga_status reduce_extremes(const gpuarray *x, gpuarray *const *out)
{
    ga__reduction r = {
        .formula = {
            .base = {.id = GA__BINS_FORMULA_ID(GA__ID_EXTREMES), .name = "extremes", .body = ""},
            .map = "return {x, x}",
            .nresults = 2,
            .results = {"ga_finish0(a)", "ga_finish1(a)"}}};
    const ga__operand operand = ga__streamed_operand("x", x, x->dtype);
    bool reduced[GA_MAX_NDIM];
    for (int axis = 0; axis < x->ndim; axis++)
        reduced[axis] = true;
    ga__add_part(&r, &ga__rows[GA__ROW_min].part, x->dtype, 0);
    ga__add_part(&r, &ga__rows[GA__ROW_max].part, x->dtype, 0);
    return ga__reduce(&r, x->buffer->device, x->ndim, x->shape, reduced, 1, &operand, out);
}

ga_status ga__extremes(const char *name, const gpuarray *x, ga_value *low, ga_value *high)
{
    const int64_t two = 2, size = (int64_t)ga__dtype_size(x->dtype);
    unsigned char bytes[2 * 16];
    gpuarray *both = ga__array_new("extremes", x->buffer->device, x->dtype, 1, &two);
    gpuarray *out[] = {both ? ga__array_view(both, x->dtype, 0, NULL, NULL, 0) : NULL, NULL};
    out[1] = out[0] ? ga__array_view(both, x->dtype, 0, NULL, NULL, size) : NULL;
    ga_status status = out[1] ? reduce_extremes(x, out) : ga_error();
    if (status == GA_OK)
        status = ga__array_download(name, both, 0, bytes, (size_t)(2 * size));
    if (status == GA_OK) {
        *low = ga__dtype_fetch(x->dtype, bytes);
        *high = ga__dtype_fetch(x->dtype, bytes + size);
    }
    ga_free(out[0]);
    ga_free(out[1]);
    ga_free(both);
    return status;
}

/* ---- Counts ---- */

static gpuarray *no_counts(const ga__binned *call, ga_dtype dtype)
{
    gpuarray *counts = ga__array_new(call->formula->name, call->device, dtype, 1, &call->nbins);
    if (!counts || counts->size == 0 ||
        ga__fill_elements(counts, ga_value_signed(GA_INT64, 0)) == GA_OK)
        return counts;
    ga_free(counts);
    return NULL;
}

gpuarray *ga__count_bins(ga__binned *call, ga__operand *operands, const gpuarray *weights)
{
    const ga_dtype dtype = weights ? GA_FLOAT64 : GA_INT64;
    static const int first = 0;
    gpuarray *rows;
    int64_t size;
    if (ga__check_shape(call->formula->name, dtype, 1, &call->nbins, &size) != GA_OK)
        return NULL;
    if (call->nbins == 0 || ga__shape_size(call->ndim, call->shape) == 0)
        return no_counts(call, dtype);
    if (weights)
        operands[call->noperands++] = ga__streamed_operand("w", weights, GA_FLOAT64);
    call->use = weights ? GA__BINNED_WEIGH : GA__BINNED_COUNT;
    call->operands = operands;
    if (ga__binned_run(call, &rows) != GA_OK)
        return NULL;
    gpuarray *counts =
        rows->shape[0] == 1 && rows->dtype == dtype
            ? ga__array_view(rows, dtype, 1, &rows->shape[1], &rows->strides[1], 0)
            : ga__apply_reduction(
                  GA__ROW_sum,
                  &(ga_reduce_args){.x = rows, .naxes = 1, .axes = &first, .dtype = dtype});
    ga_free(rows);
    return counts;
}

ga_status ga__keep_all(int count, gpuarray *const *results)
{
    int kept = 0;
    while (kept < count && ga_keep(results[kept]))
        kept++;
    if (kept == count)
        return GA_OK;
    while (kept-- > 0)
        ga_free(results[kept]);
    return ga_error();
}
