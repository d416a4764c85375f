/* Medians and quantiles: checks the arguments, finds NumPy's dtypes, and selects in rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <quarry/rank.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "kernels/rank/rank.h"
#include "kernels/rank/rank_text.h"
#include "ops/convert.h"
#include "ops/order/along.h"
#include "ops/rank/rows.h"
#include "ops/rank/weighted.h"
#include "ops/reduction_op.h"

/* The numbers q of a call, and the axes that they add to the result. */
typedef struct numbers {
    double *q;
    double one; /* the memory of a single q */
    int64_t count;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    ga_dtype given; /* the dtype of an array q */
    ga_dtype dtype; /* in which places are computed */
    bool weak;      /* a C number */
    bool whole;     /* of an integer dtype */
} numbers;

/* One call. */
typedef struct call {
    const char *name;
    ga_quantile_args args;
    bool median, skips_nan, percent;
    ga__rank_method method;
    numbers n;
    bool reduced[GA_MAX_NDIM];
    int ndim; /* of the result */
    int64_t shape[GA_MAX_NDIM];
    int64_t count; /* elements of a row */
    ga_dtype result;
    gpuarray *weights; /* a view in the shape of x; NULL: each element counts once */
} call;

/* ---- q ---- */

static double in_dtype(ga_dtype dtype, double number)
{
    uint64_t element[2] = {0, 0};
    ga__dtype_store(dtype, ga_value_double(number), element);
    return ga__number_double(ga__dtype_fetch(dtype, element));
}

/* Whether the dtype is that of a real number. */
static bool is_real(ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    return kind != 'c' && kind != '-';
}

static ga_status read_number(call *c, ga_value value)
{
    if (value.kind != GA_VALUE_NUMBER || !is_real(value.dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: q is not a real number", c->name);
    c->n.weak = true;
    c->n.count = 1;
    c->n.q = &c->n.one;
    c->n.one = ga__number_double(value);
    c->n.whole = ga__dtype_kind(value.dtype) != 'f';
    c->n.dtype = GA_FLOAT64;
    return GA_OK;
}

static ga_status download_numbers(numbers *n, const gpuarray *q)
{
    const size_t itemsize = ga__dtype_size(q->dtype);
    char *elements = ga__malloc(ga_nbytes(q) + 1);
    n->q = ga__malloc((size_t)q->size * sizeof *n->q + 1);
    if (!elements || !n->q) {
        ga__free(elements);
        return ga_error();
    }
    const ga_status status = q->size > 0 ? ga_to_host(q, elements, ga_nbytes(q)) : GA_OK;
    for (int64_t k = 0; k < q->size && status == GA_OK; k++)
        n->q[k] = ga__number_double(ga__dtype_fetch(q->dtype, elements + (size_t)k * itemsize));
    ga__free(elements);
    return status;
}

static ga_status read_array(call *c, const gpuarray *q)
{
    if (!q)
        return ga__fail(GA_ERR_INVALID, "%s: q is NULL", c->name);
    if (!is_real(q->dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: q has complex elements", c->name);
    if (q->ndim > 2)
        return ga__fail(GA_ERR_SHAPE, "%s: q has shape %s, expected a number or one axis", c->name,
                        ga__shape_text(q->ndim, q->shape));
    c->n.count = q->size;
    c->n.ndim = q->ndim;
    memcpy(c->n.shape, q->shape, (size_t)q->ndim * sizeof *q->shape);
    c->n.whole = ga__dtype_kind(q->dtype) != 'f';
    c->n.given = q->dtype;
    c->n.dtype = c->n.whole ? GA_FLOAT64 : q->dtype;
    return download_numbers(&c->n, q);
}

static ga_status check_numbers(call *c)
{
    const double most = c->percent ? 100 : 1;
    for (int64_t k = 0; k < c->n.count; k++) {
        const double q = c->n.q[k];
        if (!(q >= 0 && q <= most))
            return ga__fail(GA_ERR_INVALID, "%s: q is %g, expected a number from 0 to %g", c->name,
                            q, most);
        if (c->percent)
            c->n.q[k] = in_dtype(c->n.dtype, q / 100);
    }
    c->n.whole &= !c->percent;
    return GA_OK;
}

static ga_status read_q(call *c)
{
    const ga_value q = c->args.q;
    const ga_status status =
        q.kind == GA_VALUE_ARRAY ? read_array(c, q.as.array) : read_number(c, q);
    return status == GA_OK ? check_numbers(c) : status;
}

static void free_numbers(numbers *n)
{
    if (n->q != &n->one)
        ga__free(n->q);
}

/* ---- The other arguments ---- */

static ga_status read_method(call *c)
{
    const char *name = c->args.method ? c->args.method : "linear";
    for (int k = 0; k < GA__RANK_METHODS; k++)
        if (strcmp(name, ga__rank_method_name((ga__rank_method)k)) == 0) {
            c->method = (ga__rank_method)k;
            /* NumPy takes the element at the whole index that it computes. */
            if (c->method == GA__RANK_linear && c->n.whole)
                c->method = GA__RANK_lower;
            return GA_OK;
        }
    return ga__fail(GA_ERR_INVALID, "%s: unknown method \"%.40s\"", c->name, name);
}

/* After the axes are known to be good. */
static ga_status read_weights(call *c)
{
    const ga_quantile_args *args = &c->args;
    if (!args->weights)
        return GA_OK;
    if (c->method != GA__RANK_inverted_cdf)
        return ga__fail(GA_ERR_INVALID, "%s: method \"%s\" takes no weights, \"%s\" does", c->name,
                        args->method ? args->method : "linear",
                        ga__rank_method_name(GA__RANK_inverted_cdf));
    c->weights = ga__weights_over(c->name, args->x, args->weights, args->naxes, args->axes);
    return c->weights ? GA_OK : ga_error();
}

/* The axes of q, then those that are kept. */
static ga_status find_shape(call *c)
{
    const gpuarray *x = c->args.x;
    int ndim = c->n.ndim;
    int64_t shape[2 * GA_MAX_NDIM];
    memcpy(shape, c->n.shape, (size_t)ndim * sizeof *shape);
    c->count = 1;
    for (int axis = 0; axis < x->ndim; axis++) {
        c->count *= c->reduced[axis] ? x->shape[axis] : 1;
        if (!c->reduced[axis] || c->args.keepdims)
            shape[ndim++] = c->reduced[axis] ? 1 : x->shape[axis];
    }
    if (ndim > GA_MAX_NDIM)
        return ga__fail(GA_ERR_INVALID, "%s: the result has %d dimensions, more than %d", c->name,
                        ndim, GA_MAX_NDIM);
    c->ndim = ndim;
    memcpy(c->shape, shape, (size_t)ndim * sizeof *shape);
    return GA_OK;
}

/* NumPy's: a mean for medians; an element; or what _lerp computes. */
static ga_status find_dtype(call *c)
{
    const ga_dtype x = c->args.x->dtype;
    const char kind = ga__dtype_kind(x);
    if (kind == 'c' && !c->median)
        return ga__fail(GA_ERR_DTYPE, "%s: %s is not a real dtype", c->name, ga_dtype_name(x));
    if (c->median)
        c->result = kind == 'f' || kind == 'c' ? x : GA_FLOAT64;
    else if (!ga__rank_interpolates(c->method))
        c->result = x;
    else if (kind == 'b')
        return ga__fail(GA_ERR_DTYPE, "%s: method \"%s\" does not compute with bool", c->name,
                        ga__rank_method_name(c->method));
    else if (c->n.weak)
        c->result = kind == 'f' ? x : GA_FLOAT64;
    else
        c->result =
            ga_result_type(x, c->n.whole && ga__rank_whole(c->method) ? c->n.given : c->n.dtype);
    return GA_OK;
}

static bool gives_nan(const call *c)
{
    const char kind = ga__dtype_kind(c->result);
    return c->median || (c->skips_nan && (kind == 'f' || kind == 'c'));
}

static ga_status prepare(call *c)
{
    if (!c->args.x)
        return ga__fail(GA_ERR_INVALID, "%s: the operand is NULL", c->name);
    ga_status status = ga__check_numeric(c->name, c->args.x->dtype);
    if (status == GA_OK && !c->median)
        status = read_q(c);
    if (status == GA_OK && !c->median)
        status = read_method(c);
    if (status == GA_OK)
        status = ga__read_axes(c->name, c->args.x, c->args.naxes, c->args.axes, c->reduced);
    if (status == GA_OK)
        status = read_weights(c);
    if (status == GA_OK)
        status = find_shape(c);
    if (status == GA_OK)
        status = find_dtype(c);
    if (status != GA_OK)
        return status;
    if (c->count == 0 && !gives_nan(c))
        return ga__fail(GA_ERR_INVALID, "%s: nothing to reduce in shape %s", c->name,
                        ga__shape_text(c->args.x->ndim, c->args.x->shape));
    return c->args.out ? ga__check_reduced_out(c->name, c->args.x, c->result, c->ndim, c->shape,
                                               c->args.out)
                       : GA_OK;
}

/* ---- The work ---- */

/* Of complex rows, which the engine does not select in: they are sorted. What NumPy takes is the
 * last element if it is NaN; nanmedian() leaves out those from the first NaN on. */
static ga_status fill_complex(const call *c, const ga__rank_rows *rows, gpuarray *result)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(227),
         .name = "median",
         .body =
             "const auto row = s + i * m; const ga_s0 last = row[m - 1], low = row[(m - 1) / 2]; "
             "const ga_s0 sum = low + ga_s0(row[m / 2]); r = last; "
             "if (!ga::isnan(last)) r = m % 2 ? low : ga_s0{sum.re / 2, sum.im / 2}",
         .uses_index = true},
        {.id = GA__FORMULA_ID(228),
         .name = "nanmedian",
         .body = "const auto row = s + i * m; long long k = 0; "
                 "for (long long end = m; k < end;) { const long long at = (k + end) / 2; "
                 "if (ga::isnan(ga_s0(row[at]))) end = at; else k = at + 1; } "
                 "const ga_s0 low = row[k > 0 ? (k - 1) / 2 : 0], sum = low + ga_s0(row[k / 2 < m "
                 "? k / 2 : 0]); "
                 "r = low; if (k % 2 == 0) r = ga_s0{sum.re / 2, sum.im / 2}; "
                 "if (k == 0) r = ga_s0{ga::not_a_number<decltype(low.re)>(), 0}",
         .uses_index = true}};
    gpuarray *matrix = ga_reshape(rows->x, GA_SHAPE(rows->rows, rows->count)), *sorted = NULL;
    ga_status status =
        matrix ? ga__sort_along(c->name, matrix, 1, false, &sorted, NULL) : ga_error();
    if (status == GA_OK) {
        const ga__operand operands[] = {
            ga__read_operand("s", sorted),
            ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, rows->count))};
        status = ga__fill_by(&formulas[c->skips_nan], result, result->dtype, 2, operands);
    }
    ga_free(matrix);
    ga_free(sorted);
    return status;
}

static ga_status fill_weighted(const call *c, gpuarray *result)
{
    const ga__weighing weighing = {.name = c->name,
                                   .x = c->args.x,
                                   .weights = c->weights,
                                   .reduced = c->reduced,
                                   .skips_nan = c->skips_nan,
                                   .q_type = c->n.dtype,
                                   .nq = c->n.count,
                                   .q = c->n.q};
    return ga__weighted_quantiles(&weighing, result);
}

static ga_status fill(const call *c, gpuarray *result)
{
    ga__rank_rows rows;
    if (result->size == 0)
        return GA_OK;
    if (c->count == 0)
        return (ga_assign)(result, ga_value_double(NAN));
    if (c->weights)
        return fill_weighted(c, result);
    const ga_status status = ga__rows_over(&rows, c->args.x, c->reduced);
    if (status != GA_OK)
        return status;
    const ga__ranking ranking = {.task = GA__RANK_QUANTILES,
                                 .x = rows.x,
                                 .rows = rows.rows,
                                 .count = rows.count,
                                 .values = result,
                                 .method = c->method,
                                 .skips_nan = c->skips_nan,
                                 .weak = c->n.weak,
                                 .q_type = c->n.dtype,
                                 .nq = c->n.count,
                                 .q = c->n.q};
    const ga_status ranked =
        ga__dtype_kind(c->result) == 'c' ? fill_complex(c, &rows, result) : ga__rank(&ranking);
    ga_free(rows.x);
    return ranked;
}

/* Results go to `out` at once if they can. */
static gpuarray *run(const call *c)
{
    gpuarray *const out = c->args.out;
    const bool direct =
        out && out->contiguous && out->dtype == c->result && !ga__arrays_overlap(out, c->args.x);
    gpuarray *result =
        direct ? out
               : ga__array_new(c->name, c->args.x->buffer->device, c->result, c->ndim, c->shape);
    ga_status status = result ? fill(c, result) : ga_error();
    if (status == GA_OK && out && !direct)
        status = (ga_assign)(out, ga_value_array(result));
    if (result != out && (out || status != GA_OK))
        ga_free(result);
    if (status != GA_OK)
        return NULL;
    return out ? out : result;
}

static gpuarray *apply(call *c)
{
    gpuarray *result = prepare(c) == GA_OK ? run(c) : NULL;
    free_numbers(&c->n);
    ga_free(c->weights);
    return result;
}

static gpuarray *median(const char *name, size_t size, const ga_median_args *given, bool skips_nan)
{
    ga_median_args args;
    if (ga__options_read(name, &args, sizeof args, given, size) != GA_OK)
        return NULL;
    call c = {.name = name,
              .median = true,
              .skips_nan = skips_nan,
              .method = GA__RANK_median,
              .args = {.x = args.x,
                       .naxes = args.naxes,
                       .axes = args.axes,
                       .keepdims = args.keepdims,
                       .out = args.out},
              .n = {.count = 1, .dtype = GA_FLOAT64, .weak = true}};
    c.n.q = &c.n.one;
    return apply(&c);
}

static gpuarray *quantile(const char *name, size_t size, const ga_quantile_args *given,
                          bool percent, bool skips_nan)
{
    call c = {.name = name, .percent = percent, .skips_nan = skips_nan};
    c.n.q = &c.n.one;
    if (ga__options_read(name, &c.args, sizeof c.args, given, size) != GA_OK)
        return NULL;
    return apply(&c);
}

gpuarray *(ga_median)(size_t size, const ga_median_args *args)
{
    GA__CALL("median");
    return median("median", size, args, false);
}

gpuarray *(ga_nanmedian)(size_t size, const ga_median_args *args)
{
    GA__CALL("nanmedian");
    return median("nanmedian", size, args, true);
}

gpuarray *(ga_quantile)(size_t size, const ga_quantile_args *args)
{
    GA__CALL("quantile");
    return quantile("quantile", size, args, false, false);
}

gpuarray *(ga_percentile)(size_t size, const ga_quantile_args *args)
{
    GA__CALL("percentile");
    return quantile("percentile", size, args, true, false);
}

gpuarray *(ga_nanquantile)(size_t size, const ga_quantile_args *args)
{
    GA__CALL("nanquantile");
    return quantile("nanquantile", size, args, false, true);
}

gpuarray *(ga_nanpercentile)(size_t size, const ga_quantile_args *args)
{
    GA__CALL("nanpercentile");
    return quantile("nanpercentile", size, args, true, true);
}
