/* Quantiles of weighted elements: sorts rows, sums their weights, and searches in the sums. */
#include "ops/rank/weighted.h"

#include <math.h>
#include <string.h>

#include <quarry/ops.h>

#include "base/error.h"
#include "model/dtype.h"
#include "ops/convert.h"
#include "ops/order/along.h"
#include "ops/rank/rows.h"
#include "ops/scan/take_number.h"

/* ---- Weights ---- */

static bool has_lengths_of(const gpuarray *weights, const gpuarray *x, int naxes, const int *axes)
{
    bool same = weights->ndim == naxes;
    for (int k = 0; k < naxes && same; k++)
        same = weights->shape[k] == x->shape[axes[k] + (axes[k] < 0 ? x->ndim : 0)];
    return same;
}

gpuarray *ga__weights_over(const char *name, const gpuarray *x, const gpuarray *weights, int naxes,
                           const int *axes)
{
    int64_t strides[GA_MAX_NDIM] = {0};
    const char kind = ga__dtype_kind(weights->dtype);
    if (kind == 'c' || kind == 'V')
        return ga__fail_null(GA_ERR_DTYPE, "%s: weights are %s, expected real numbers", name,
                             ga_dtype_name(weights->dtype));
    if (weights->buffer->device != x->buffer->device)
        return ga__fail_null(GA_ERR_DEVICE, "%s: the array is on %s, the weights on %s", name,
                             x->buffer->device->name, weights->buffer->device->name);
    if (ga__same_shape(x->ndim, x->shape, weights->ndim, weights->shape))
        return ga_retain((gpuarray *)weights);
    if (naxes <= 0 || !has_lengths_of(weights, x, naxes, axes))
        return ga__fail_null(GA_ERR_SHAPE, "%s: weights of shape %s do not fit %s", name,
                             ga__shape_text(weights->ndim, weights->shape),
                             ga__shape_text(x->ndim, x->shape));
    for (int k = 0; k < naxes; k++)
        strides[axes[k] + (axes[k] < 0 ? x->ndim : 0)] = weights->strides[k];
    return ga__array_view(weights, weights->dtype, x->ndim, x->shape, strides, 0);
}

static ga_status check_weights(const ga__weighing *w)
{
    gpuarray *negative = ga_less(w->weights, 0);
    int64_t found = 0;
    const ga_status status = ga__take_number(negative ? ga_any(negative) : NULL, &found);
    ga_free(negative);
    return status == GA_OK && found
               ? ga__fail(GA_ERR_INVALID, "%s: some weights are negative", w->name)
               : status;
}

/* ---- Rows ---- */

/* The steps of one call; each is made from those before. */
typedef struct steps {
    const ga__weighing *w;
    int64_t rows, count;
    gpuarray *x;       /* sorted rows */
    gpuarray *weights; /* of its elements, then */
    gpuarray *levels;  /* their sums from the start of each row, as shares of the row's total */
} steps;

/* Replaces an array by another, which may be NULL after an error. */
static ga_status replace(gpuarray **x, gpuarray *with)
{
    ga_free(*x);
    *x = with;
    return with ? GA_OK : ga_error();
}

static ga_status sort_elements(steps *s, gpuarray **order)
{
    ga__rank_rows rows;
    ga_status status = ga__rows_over(&rows, s->w->x, s->w->reduced);
    if (status != GA_OK)
        return status;
    s->rows = rows.rows;
    s->count = rows.count;
    gpuarray *matrix = ga_reshape(rows.x, GA_SHAPE(s->rows, s->count));
    status = matrix ? ga__sort_along(s->w->name, matrix, 1, false, &s->x, order) : ga_error();
    ga_free(matrix);
    ga_free(rows.x);
    return status;
}

/* The weights in the order of the sorted elements. Those of NaN count nothing if it is skipped. */
static ga_status order_weights(steps *s, const gpuarray *order)
{
    ga__rank_rows rows;
    ga_status status = ga__rows_beside(&rows, s->w->x, s->w->weights, s->w->reduced);
    if (status != GA_OK)
        return status;
    gpuarray *matrix = ga_reshape(rows.x, GA_SHAPE(s->rows, s->count));
    s->weights = matrix ? ga__take_rows(s->w->name, matrix, order) : NULL;
    ga_free(matrix);
    ga_free(rows.x);
    if (!s->weights || !s->w->skips_nan || ga__dtype_kind(s->x->dtype) != 'f')
        return s->weights ? GA_OK : ga_error();
    gpuarray *missing = ga_isnan(s->x);
    status = missing ? replace(&s->weights, ga_where(missing, 0, s->weights)) : ga_error();
    ga_free(missing);
    return status;
}

/* A column of rows; a view. */
static gpuarray *column(const gpuarray *x, int64_t at)
{
    const int64_t shape[] = {x->shape[0], 1};
    return ga__array_view(x, x->dtype, 2, shape, x->strides, at * x->strides[1]);
}

/* The totals; of a row that has only NaN, all skipped, 1. */
static gpuarray *find_totals(const steps *s)
{
    gpuarray *last = column(s->levels, s->count - 1);
    if (!last || !s->w->skips_nan || ga__dtype_kind(s->x->dtype) != 'f')
        return last;
    gpuarray *least = column(s->x, 0), *missing = least ? ga_isnan(least) : NULL,
             *totals = missing ? ga_where(missing, 1, last) : NULL;
    ga_free(last);
    ga_free(least);
    ga_free(missing);
    return totals;
}

/* Raises unless each total is a positive finite number. */
static ga_status check_totals(const steps *s, const gpuarray *totals)
{
    double least = 0, greatest = 0;
    ga_status status = ga__take_double(ga_min(totals), &least);
    if (status == GA_OK)
        status = ga__take_double(ga_max(totals), &greatest);
    if (status != GA_OK || (least > 0 && isfinite(greatest)))
        return status;
    return ga__fail(GA_ERR_INVALID,
                    "%s: weights of a row sum to %g, expected a positive finite number", s->w->name,
                    least > 0 ? greatest : least);
}

/* Shares of the total, rounded to the dtype of q. */
static ga_status find_levels(steps *s)
{
    s->levels = ga_cumsum(s->weights, GA_AXIS(1), .dtype = GA_FLOAT64);
    gpuarray *totals = s->levels ? find_totals(s) : NULL;
    ga_status status = totals ? check_totals(s, totals) : ga_error();
    if (status == GA_OK)
        status = replace(&s->levels, ga_divide(s->levels, totals));
    ga_free(totals);
    if (status == GA_OK && s->w->q_type != GA_FLOAT64) {
        status = replace(&s->levels, ga_astype(s->levels, s->w->q_type));
        if (status == GA_OK)
            status = replace(&s->levels, ga_astype(s->levels, GA_FLOAT64));
    }
    return status;
}

/* ---- The search ---- */

/* Of row i % rows the first element whose level reaches q; elements before the first weight have
 * level 0 and reach none. NaN, which is last, is the result unless it is skipped. */
#define SEARCH                                                                                     \
    "const auto row = s + i % rows * m; const auto level = d + i % rows * m; "                     \
    "const double wanted = q[i / rows]; long long k = 0; "                                         \
    "for (long long end = m - 1; k < end;) { const long long at = (k + end) / 2; "                 \
    "if (level[at] > 0 && level[at] >= wanted) end = at; else k = at + 1; } "

static ga_status search(const steps *s, gpuarray *values)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(365),
         .name = "weighted_quantile",
         .body = SEARCH "r = row[k]",
         .uses_index = true},
        {.id = GA__FORMULA_ID(366),
         .name = "weighted_quantile",
         .body = SEARCH "if (ga::isnan(ga::cast<double>(row[m - 1]))) k = m - 1; r = row[k]",
         .uses_index = true}};
    const bool checks_nan = !s->w->skips_nan && ga__dtype_kind(s->x->dtype) == 'f';
    gpuarray *q = ga__array_from(s->w->name, s->x->buffer->device, GA_FLOAT64, 1,
                                 (int64_t[]){s->w->nq}, s->w->q);
    ga_status status = q ? GA_OK : ga_error();
    if (status == GA_OK) {
        const ga__operand operands[] = {
            ga__read_operand("s", s->x), ga__read_operand("d", s->levels), ga__read_operand("q", q),
            ga__unsigned_operand("rows", (uint64_t)s->rows),
            ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, s->count))};
        status = ga__fill_by(&formulas[checks_nan], values, values->dtype, 5, operands);
    }
    ga_free(q);
    return status;
}

ga_status ga__weighted_quantiles(const ga__weighing *w, gpuarray *values)
{
    steps s = {.w = w};
    gpuarray *order = NULL;
    ga_status status = check_weights(w);
    if (status == GA_OK)
        status = sort_elements(&s, &order);
    if (status == GA_OK)
        status = order_weights(&s, order);
    ga_free(order);
    if (status == GA_OK)
        status = find_levels(&s);
    if (status == GA_OK)
        status = search(&s, values);
    ga_free(s.x);
    ga_free(s.weights);
    ga_free(s.levels);
    return status;
}
