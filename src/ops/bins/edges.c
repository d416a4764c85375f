/* The edges of bins: their order, and those of equal bins as NumPy rounds them. */
#include "ops/bins/edges.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "ops/bins/bin_calls.h"
#include "ops/reduction_op.h"

/* ---- The order of given edges ---- */

/* What some neighbours are. */
enum { ASCENDS = 1, DESCENDS = 2, HAS_NAN = 4, NAN_BEFORE_NUMBER = 8 };

static ga_status reduce_order(const gpuarray *left, const gpuarray *right, gpuarray *out)
{
    static const ga__part_formula part = {.accumulator = "int",
                                          .neutral = "0",
                                          .step = "a | x",
                                          .combine = "a | b",
                                          .finish = "a",
                                          .holds = GA__ACCUMULATOR_VALUE};
    ga__reduction r = {
        .formula = {.base = {.id = GA__BINS_FORMULA_ID(GA__ID_ORDER), .name = "order", .body = ""},
                    .map = "return {(x < y ? 1 : 0) | (x > y ? 2 : 0) | "
                           "(x != x || y != y ? 4 : 0) | (x != x && y == y ? 8 : 0)}",
                    .nresults = 1,
                    .results = {"ga_finish0(a)"}}};
    const ga_dtype type = ga__search_dtype(left->dtype);
    const ga__operand operands[] = {ga__streamed_operand("x", left, type),
                                    ga__streamed_operand("y", right, type)};
    const bool reduced[] = {true};
    ga__add_part(&r, &part, GA_INT32, 0);
    return ga__reduce(&r, left->buffer->device, 1, left->shape, reduced, 2, operands, &out);
}

/* The union of what all neighbours are. */
static ga_status find_order(const char *name, const gpuarray *edges, int *order)
{
    *order = 0;
    if (edges->size < 2)
        return GA_OK;
    const int64_t count = edges->size - 1;
    gpuarray *out = ga__array_new("order", edges->buffer->device, GA_INT32, 0, NULL);
    gpuarray *left = out ? ga__array_view(edges, edges->dtype, 1, &count, edges->strides, 0) : NULL;
    gpuarray *right =
        left ? ga__array_view(edges, edges->dtype, 1, &count, edges->strides, edges->strides[0])
             : NULL;
    ga_status status = right ? reduce_order(left, right, out) : ga_error();
    if (status == GA_OK)
        status = ga__array_download(name, out, 0, order, sizeof *order);
    ga_free(right);
    ga_free(left);
    ga_free(out);
    return status;
}

ga_status ga__edges_check(const char *name, const gpuarray *edges)
{
    int order;
    const ga_status status = find_order(name, edges, &order);
    if (status != GA_OK || !(order & (DESCENDS | NAN_BEFORE_NUMBER)))
        return status;
    return ga__fail(GA_ERR_INVALID, "%s: the %lld edges do not ascend%s", name,
                    (long long)edges->size,
                    order & NAN_BEFORE_NUMBER ? ": a number follows NaN" : "");
}

/* NumPy's check of edges with NaN, for which neither neighbour is the larger one. */
static int direction_of(const double *edge, int64_t count)
{
    int64_t k = 1;
    while (k < count && edge[k] == edge[0])
        k++;
    if (k >= count)
        return 1;
    const bool up = edge[k - 1] < edge[k];
    for (k++; k < count; k++)
        if (up ? edge[k - 1] > edge[k] : edge[k - 1] < edge[k])
            return 0;
    return up ? 1 : -1;
}

static ga_status direction_with_nan(const char *name, const gpuarray *edges, int *direction)
{
    gpuarray *wide = ga__contiguous_as(edges, GA_FLOAT64);
    double *elements = wide ? ga__malloc(ga_nbytes(wide)) : NULL;
    const ga_status status =
        elements ? ga__array_download(name, wide, 0, elements, ga_nbytes(wide)) : ga_error();
    if (status == GA_OK)
        *direction = direction_of(elements, edges->size);
    ga__free(elements);
    ga_free(wide);
    return status;
}

ga_status ga__edges_direction(const char *name, const gpuarray *edges, int *direction)
{
    int order;
    const ga_status status = find_order(name, edges, &order);
    if (status != GA_OK)
        return status;
    if (order & HAS_NAN)
        return direction_with_nan(name, edges, direction);
    *direction = !(order & DESCENDS) ? 1 : order & ASCENDS ? 0 : -1;
    return GA_OK;
}

/* ---- Equal bins ---- */

/* The float64 nearest to a - b of two integers. */
static double whole_difference(ga_value a, ga_value b)
{
    if (ga__dtype_kind(a.dtype) == 'u')
        return (double)(a.as.u - b.as.u);
    return (double)((uint64_t)a.as.i - (uint64_t)b.as.i);
}

/* A number of float64 as it is in the dtype. */
static double rounded(ga_dtype dtype, double number)
{
    unsigned char element[16];
    volatile double kept = number; /* so that no product is fused with a sum */
    if (ga__dtype_size(dtype) == sizeof(double))
        return kept;
    if (ga__dtype_size(dtype) == sizeof(float))
        return (double)(float)number;
    ga__dtype_store(dtype, ga_value_double(number), element);
    return ga__dtype_fetch(dtype, element).as.z[0];
}

ga_dtype ga__edges_dtype(const gpuarray *x)
{
    if (!ga__dtype_rounds(x->dtype))
        return GA_FLOAT64;
    /* NumPy writes the digits of its own floats. */
    const bool known = ga__dtype_row_of(x->dtype)->digits == x->dtype;
    return known ? x->dtype : ga__dtype_compute(x->dtype);
}

static ga_status outer_of_data(const char *name, const gpuarray *x, ga__outer_edges *outer)
{
    ga_value low, high;
    const ga_status status = ga__extremes(name, x, &low, &high);
    if (status != GA_OK)
        return status;
    const bool real = ga__dtype_rounds(x->dtype);
    outer->dtype = ga__edges_dtype(x);
    outer->first = ga__number_double(low);
    outer->last = ga__number_double(high);
    outer->width =
        real ? rounded(outer->dtype, outer->last - outer->first) : whole_difference(high, low);
    if (isfinite(outer->first) && isfinite(outer->last))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: the data's range [%.9g, %.9g] is not finite", name,
                    outer->first, outer->last);
}

static ga_status outer_of_range(const char *name, const double *range, ga__outer_edges *outer)
{
    if (range[0] > range[1])
        return ga__fail(GA_ERR_INVALID, "%s: the range [%.9g, %.9g] is reversed", name, range[0],
                        range[1]);
    if (!isfinite(range[0]) || !isfinite(range[1]))
        return ga__fail(GA_ERR_INVALID, "%s: the range [%.9g, %.9g] is not finite", name, range[0],
                        range[1]);
    *outer = (ga__outer_edges){range[0], range[1], range[1] - range[0], GA_FLOAT64};
    return GA_OK;
}

/* A range of one number, of width 0, becomes one of width 1 about it.
 * Integers that are one float64 have a width. */
static void widen(ga__outer_edges *outer)
{
    outer->first = rounded(outer->dtype, outer->first - 0.5);
    outer->last = rounded(outer->dtype, outer->last + 0.5);
    outer->width = rounded(outer->dtype, outer->last - outer->first);
}

ga_status ga__edges_outer(const char *name, const gpuarray *x, const double *range,
                          ga__outer_edges *outer)
{
    static const double unit[] = {0, 1};
    const bool given = range && (range[0] != 0 || range[1] != 0);
    const ga_status status = given || x->size == 0
                                 ? outer_of_range(name, given ? range : unit, outer)
                                 : outer_of_data(name, x, outer);
    if (status != GA_OK)
        return status;
    if (outer->width == 0)
        widen(outer);
    if (isfinite(outer->width))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: the range [%.9g, %.9g] is wider than the largest %s", name,
                    outer->first, outer->last, ga_dtype_name(outer->dtype));
}

/* numpy.linspace in the dtype of the outer edges, each step rounded to it. */
static bool fill_edges(const ga__outer_edges *outer, int64_t nbins, ga_dtype dtype, char *element)
{
    const ga_dtype in = outer->dtype;
    const size_t size = ga__dtype_size(dtype);
    const double width = rounded(in, outer->last - outer->first),
                 step = rounded(in, width / (double)nbins);
    double before = -INFINITY;
    bool strict = true;
    for (int64_t k = 0; k <= nbins; k++, element += size) {
        const double at = rounded(in, (double)k);
        const double offset = step != 0 ? rounded(in, at * step)
                                        : rounded(in, rounded(in, at / (double)nbins) * width);
        const double edge = k == nbins ? outer->last : rounded(in, offset + outer->first);
        const double stored = rounded(dtype, edge);
        ga__dtype_store(dtype, ga_value_double(stored), element);
        strict = strict && !(before >= stored);
        before = stored;
    }
    return strict;
}

gpuarray *ga__edges_uniform(const char *name, ga__device *device, const ga__outer_edges *outer,
                            int64_t nbins, ga_dtype dtype, bool *strict)
{
    const int64_t count = ga__add_sizes(nbins, 1);
    gpuarray *edges = ga__array_new(name, device, dtype, 1, &count);
    char *elements = edges ? ga__malloc(ga_nbytes(edges)) : NULL;
    ga_status status = elements ? GA_OK : ga_error();
    if (status == GA_OK) {
        *strict = fill_edges(outer, nbins, dtype, elements);
        status = ga__array_upload(name, edges, 0, elements, ga_nbytes(edges));
    }
    ga__free(elements);
    if (status == GA_OK)
        return edges;
    ga_free(edges);
    return NULL;
}

/* ---- What the caller asks for ---- */

static ga_status read_number(const char *name, ga_value number, int64_t *nbins)
{
    const char kind = ga__dtype_kind(number.dtype);
    if (kind == 'f' || kind == 'c')
        return ga__fail(GA_ERR_DTYPE, "%s: %g is not a number of bins", name, number.as.z[0]);
    const bool large = kind == 'u' && number.as.u > INT64_MAX;
    *nbins = large ? INT64_MAX : ga__number_int64(number);
    if (*nbins < 1)
        return ga__fail(GA_ERR_INVALID, "%s: %lld bins, expected at least 1", name,
                        (long long)*nbins);
    return GA_OK;
}

/* A 0-d array is a number. */
static ga_status read_element(const char *name, const gpuarray *x, int64_t *nbins)
{
    unsigned char element[16];
    const size_t size = ga__dtype_size(x->dtype);
    gpuarray *dense = ga__contiguous_as(x, x->dtype);
    const ga_status status = dense ? ga__array_download(name, dense, 0, element, size) : ga_error();
    ga_free(dense);
    return status == GA_OK ? read_number(name, ga__dtype_fetch(x->dtype, element), nbins) : status;
}

ga_status ga__edges_wanted(const char *name, ga_value bins, const gpuarray *x,
                           const gpuarray **edges, int64_t *nbins)
{
    *edges = NULL;
    if (ga__is_number(bins))
        return read_number(name, bins, nbins);
    if (bins.kind != GA_VALUE_ARRAY)
        return ga__fail(GA_ERR_INVALID, "%s: the bins are neither a gpuarray nor a number", name);
    const gpuarray *given = bins.as.array;
    ga_status status = ga__check_operand(name, "the array of edges", given,
                                         given && given->ndim == 0 ? 0 : 1, "biuf");
    if (status == GA_OK)
        status = ga__check_same_device(name, x, given);
    if (status != GA_OK || given->ndim == 0)
        return status == GA_OK ? read_element(name, given, nbins) : status;
    status = ga__edges_check(name, given);
    if (status == GA_OK) {
        *edges = given;
        *nbins = given->size > 0 ? given->size - 1 : 0;
    }
    return status;
}
