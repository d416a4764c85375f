/* Weighted averages, covariances and correlations. */
#include <string.h>

#include <quarry/array.h>
#include <quarry/functions.h>
#include <quarry/joining.h>

#include "array/scope.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/elementwise_op.h"
#include "ops/reduction_op.h"
#include "ops/scan/take_number.h"

/* ---- average ---- */

/* The weights as a view of x's dimensions. */
static gpuarray *weights_of(const ga_average_args *args, const bool *reduced)
{
    const gpuarray *x = args->x, *w = args->weights;
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    if (ga__same_shape(x->ndim, x->shape, w->ndim, w->shape))
        return ga_retain((gpuarray *)w);
    int axis = x->ndim - 1;
    while (axis > 0 && !reduced[axis])
        axis--;
    if (w->ndim != 1 || args->naxes != 1 || w->shape[0] != x->shape[axis])
        return ga__fail_null(GA_ERR_SHAPE, "average: weights of shape %s do not fit %s",
                             ga__shape_text(w->ndim, w->shape), ga__shape_text(x->ndim, x->shape));
    for (int k = 0; k < x->ndim; k++) {
        shape[k] = k == axis ? w->shape[0] : 1;
        strides[k] = k == axis ? w->strides[0] : 0;
    }
    return ga__array_view(w, w->dtype, x->ndim, shape, strides, 0);
}

/* Raises if a sum of weights has no elements, and so is 0. */
static ga_status check_sums(const gpuarray *w, const bool *reduced)
{
    int64_t sums = 1, count = 1;
    for (int axis = 0; axis < w->ndim; axis++)
        *(reduced[axis] ? &count : &sums) *= w->shape[axis];
    return sums == 0 || count > 0
               ? GA_OK
               : ga__fail(GA_ERR_INVALID,
                          "average: weights of shape %s have no elements, and their sum is 0",
                          ga__shape_text(w->ndim, w->shape));
}

/* The sums of products and of weights, and their quotients, in one pass. */
static ga_status reduce_weighted(const gpuarray *x, const gpuarray *w, ga_dtype dtype,
                                 const bool *reduced, gpuarray **out)
{
    ga__reduction r = ga__reduction_of(GA__ROW_sum, "return {ga::multiply(x, w), w}", dtype, 0);
    r.formula.base.id = (ga__hash128)GA__FORMULA_ID(113);
    r.formula.base.name = "average";
    ga__add_part(&r, &ga__rows[GA__ROW_sum].part, dtype, 0);
    r.formula.nresults = 2;
    r.formula.results[0] = "a.part0 / a.part1";
    r.formula.results[1] = "ga_finish1(a)";
    const ga__operand operands[] = {{.name = "x", .array = x, .type = dtype, .reads = true},
                                    {.name = "w", .array = w, .type = dtype, .reads = true}};
    return ga__reduce_keeping(&r, x->buffer->device, x->ndim, x->shape, reduced, 2, operands, out);
}

static int result_shape(const ga_average_args *args, const bool *reduced, int64_t *shape)
{
    int ndim = 0;
    for (int axis = 0; axis < args->x->ndim; axis++)
        if (!reduced[axis] || args->keepdims)
            shape[ndim++] = reduced[axis] ? 1 : args->x->shape[axis];
    return ndim;
}

static gpuarray *weighted(const ga_average_args *args)
{
    const gpuarray *x = args->x;
    const ga_value values[] = {ga_value_array(x), ga_value_array(args->weights)};
    const ga__operand_type types[] = {{.dtype = x->dtype}, {.dtype = args->weights->dtype}};
    bool reduced[GA_MAX_NDIM];
    int64_t shape[GA_MAX_NDIM];
    ga_dtype loop[2], dtype;
    ga__device *device;
    gpuarray *out[2] = {NULL, NULL}, *w = NULL;
    if (ga__check_values("average", 2, values, &device) != GA_OK ||
        ga__resolve("average", "?iufc", GA__RULE_DOUBLE, 2, types, loop, &dtype) != GA_OK ||
        ga__read_axes("average", x, args->naxes, args->axes, reduced) != GA_OK ||
        !(w = weights_of(args, reduced)))
        return NULL;
    const int ndim = result_shape(args, reduced, shape);
    ga_status status = check_sums(w, reduced);
    for (int k = 0; k < 2 && status == GA_OK; k++)
        out[k] = k == 0 || out[0] ? ga__array_new("average", device, dtype, ndim, shape) : NULL;
    if (status == GA_OK)
        status = out[1] ? reduce_weighted(x, w, dtype, reduced, out) : ga_error();
    ga_free(w);
    if (status == GA_OK && args->returned)
        *args->returned = out[1];
    else
        ga_free(out[1]);
    if (status == GA_OK)
        return out[0];
    ga_free(out[0]);
    return NULL;
}

/* How many elements each average has, as an array of its shape. */
static gpuarray *counts_of(const ga_average_args *args, const gpuarray *average)
{
    const int64_t count = average->size ? args->x->size / average->size : 0;
    return (ga_full)(average->dtype, average->ndim, average->shape, ga_value_double((double)count));
}

gpuarray *(ga_average)(size_t size, const ga_average_args *args)
{
    GA__CALL("average");
    ga_average_args known;
    if (ga__options_read("average", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    if (!known.x)
        return ga__fail_null(GA_ERR_INVALID, "average: the operand is NULL");
    if (known.weights)
        return weighted(&known);
    const ga_reduce_args mean = {
        .x = known.x, .naxes = known.naxes, .axes = known.axes, .keepdims = known.keepdims};
    gpuarray *result = (ga_mean)(sizeof mean, &mean);
    if (!result || !known.returned)
        return result;
    gpuarray *counts = counts_of(&known, result);
    if (counts) {
        *known.returned = counts;
        return result;
    }
    ga_free(result);
    return NULL;
}

/* ---- cov and corrcoef ---- */

/* x as variables in rows: its transpose if they are columns; 1-D is one variable. */
static gpuarray *rows_of(const char *name, const gpuarray *x, bool columns)
{
    if (x->ndim > 2)
        return ga__fail_null(GA_ERR_SHAPE, "%s: the array has %d dimensions, expected at most 2",
                             name, x->ndim);
    if (x->ndim == 2 && columns)
        return ga_transpose(x);
    const int64_t shape[] = {x->ndim == 2 ? x->shape[0] : 1,
                             x->ndim > 0 ? x->shape[x->ndim - 1] : 1};
    return ga_reshape(x, 2, shape);
}

/* The rows of x, then those of y, as one array of this dtype. */
static gpuarray *join_rows(const char *name, const gpuarray *x, const gpuarray *y, ga_dtype dtype)
{
    if (x->shape[1] != y->shape[1])
        return ga__fail_null(GA_ERR_SHAPE, "%s: x has %lld observations, y has %lld", name,
                             (long long)x->shape[1], (long long)y->shape[1]);
    const gpuarray *const both[] = {x, y};
    const ga_join_args rows = {
        .count = 2, .arrays = both, .naxes = 1, .axes = (const int[]){0}, .dtype = dtype};
    return (ga_concatenate)(sizeof rows, &rows);
}

/* All variables, or NULL; *dtype is the dtype of the results. As in NumPy, y is nothing beside an x
 * without variables, and one row of it is one variable even if variables are columns. */
static gpuarray *variables(const char *name, const ga_cov_args *args, ga_dtype *dtype)
{
    const gpuarray *x = args->x, *y = args->y;
    const ga_value values[] = {ga_value_array(x), ga_value_array(y ? y : x)};
    ga__device *device;
    if (ga__check_values(name, 2, values, &device) != GA_OK)
        return NULL;
    *dtype = ga_result_type(ga_result_type(x->dtype, y ? y->dtype : x->dtype), GA_FLOAT64);
    gpuarray *rows = rows_of(name, x, args->columns);
    if (!rows || !y)
        return rows;
    gpuarray *more = rows_of(name, y, args->columns && y->ndim == 2 && y->shape[0] != 1);
    gpuarray *all = !more                 ? NULL
                    : rows->shape[0] == 0 ? ga_retain(rows)
                                          : join_rows(name, rows, more, *dtype);
    ga_free(more);
    ga_free(rows);
    return all;
}

/* An array of v rows as axis `axis` of (v, v, n), or their means. */
static gpuarray *along(const gpuarray *x, int axis)
{
    int64_t shape[] = {1, 1, x->ndim == 2 ? x->shape[1] : 1};
    shape[axis] = x->shape[0];
    return ga_reshape(x, 3, shape);
}

/* The sums of products of distances from the means, one pass, over the degrees of freedom. */
static ga_status multiply_rows(const gpuarray *x, const gpuarray *mean, const gpuarray *weights,
                               ga_dtype dtype, double freedom, gpuarray *out)
{
    static const char *const names[] = {"x", "y", "p", "q"};
    static const bool reduced[] = {false, false, true};
    const int64_t v = x->shape[0], shape[] = {v, v, x->shape[1]};
    ga__operand operands[6];
    gpuarray *views[4];
    bool made = true;
    ga__reduction r =
        ga__reduction_of(GA__ROW_sum,
                         weights ? "return {ga::multiply(ga::multiply(x - p, w), ga::conj(y - q))}"
                                 : "return {ga::multiply(x - p, ga::conj(y - q))}",
                         dtype, 0);
    r.formula.base.id =
        weights ? (ga__hash128)GA__FORMULA_ID(349) : (ga__hash128)GA__FORMULA_ID(114);
    r.formula.base.name = "cov";
    r.formula.results[0] = "ga::ratio(a.part0, d)";
    for (int k = 0; k < 4; k++) {
        views[k] = along(k < 2 ? x : mean, k % 2);
        made = made && views[k];
        operands[k] =
            (ga__operand){.name = names[k], .array = views[k], .type = dtype, .reads = true};
    }
    operands[4] = (ga__operand){
        .name = "d", .number = ga_value_double(freedom), .type = GA_FLOAT64, .reads = true};
    operands[5] = (ga__operand){.name = "w", .array = weights, .type = dtype, .reads = true};
    const ga_status status =
        made ? ga__reduce(&r, x->buffer->device, 3, shape, reduced, weights ? 6 : 5, operands, &out)
             : ga_error();
    for (int k = 0; k < 4; k++)
        ga_free(views[k]);
    return status;
}

/* Raises unless the weights are one real number for each observation, and none is negative. */
static ga_status check_weights(const char *name, const gpuarray *x, const gpuarray *w, bool counts)
{
    const char kind = w ? ga__dtype_kind(w->dtype) : 'i';
    if (!w)
        return GA_OK;
    if (kind != 'i' && kind != 'u' && kind != 'b' && (counts || kind != 'f'))
        return ga__fail(GA_ERR_DTYPE, "%s: weights are %s, expected %s", name,
                        ga_dtype_name(w->dtype), counts ? "integers" : "real numbers");
    if (w->ndim != 1 || w->size != x->shape[1])
        return ga__fail(GA_ERR_SHAPE, "%s: weights of shape %s for %lld observations", name,
                        ga__shape_text(w->ndim, w->shape), (long long)x->shape[1]);
    if (w->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the array is on %s, the weights on %s", name,
                        x->buffer->device->name, w->buffer->device->name);
    gpuarray *negative = ga_less(w, 0);
    int64_t found = 0;
    const ga_status status = ga__take_number(negative ? ga_any(negative) : NULL, &found);
    ga_free(negative);
    return status == GA_OK && found
               ? ga__fail(GA_ERR_INVALID, "%s: some weights are negative", name)
               : status;
}

/* The product of both weights, float64; NULL and no error if there are none. */
static gpuarray *all_weights(const ga_cov_args *args)
{
    const gpuarray *f = args->fweights, *a = args->aweights;
    if (!f && !a)
        return NULL;
    gpuarray *first = ga_astype(f ? f : a, GA_FLOAT64);
    gpuarray *all = first && f && a ? ga_multiply(first, a) : ga_retain(first);
    ga_free(first);
    return all;
}

/* The divisor of the sums, as numpy.cov defines it. */
static ga_status find_freedom(const char *name, const ga_cov_args *args, const gpuarray *w,
                              int64_t count, double *freedom)
{
    const double ddof = args->ddof ? args->ddof : args->bias ? 0 : 1;
    *freedom = (double)count - ddof;
    if (!w)
        return GA_OK;
    double all = 0, products = 0;
    ga_status status = ga__take_double(ga_sum(w), &all);
    if (status == GA_OK && args->aweights) {
        gpuarray *each = ga_multiply(w, args->aweights);
        status = ga__take_double(each ? ga_sum(each) : NULL, &products);
        ga_free(each);
    }
    if (status == GA_OK && all == 0)
        return ga__fail(GA_ERR_INVALID, "%s: the weights of %lld observations sum to 0", name,
                        (long long)count);
    *freedom = all - (args->aweights && ddof != 0 ? ddof * products / all : ddof);
    return status;
}

/* The covariances of the rows of x. NULL on failure. */
static gpuarray *covariances_of(const char *name, const gpuarray *x, const ga_cov_args *args,
                                ga_dtype dtype)
{
    static const int last[] = {1};
    const int64_t v = x->shape[0], shape[] = {v, v};
    double freedom = 0;
    gpuarray *w = NULL, *mean = NULL, *out = NULL;
    ga_status status = check_weights(name, x, args->fweights, true);
    if (status == GA_OK)
        status = check_weights(name, x, args->aweights, false);
    if (status == GA_OK && (args->fweights || args->aweights)) {
        w = all_weights(args);
        status = w ? GA_OK : ga_error();
    }
    if (status == GA_OK)
        status = find_freedom(name, args, w, x->shape[1], &freedom);
    const ga_average_args weighted_mean = {.x = x, .naxes = 1, .axes = last, .weights = w};
    const ga_reduce_args options = {.x = x, .naxes = 1, .axes = last, .dtype = dtype};
    if (status == GA_OK)
        mean = w ? (ga_average)(sizeof weighted_mean, &weighted_mean)
                 : (ga_mean)(sizeof options, &options);
    if (mean)
        out = ga__array_new(name, x->buffer->device, dtype, 2, shape);
    if (out && multiply_rows(x, mean, w, dtype, freedom > 0 ? freedom : 0, out) != GA_OK) {
        ga_free(out);
        out = NULL;
    }
    ga_free(mean);
    ga_free(w);
    return out;
}

/* The matrix of covariances; NumPy's of no variables is always float64, and it looks at nothing
 * else. NULL on failure. */
static gpuarray *covariances(const char *name, const ga_cov_args *args)
{
    ga_dtype dtype;
    gpuarray *x = variables(name, args, &dtype), *out = NULL;
    if (x)
        out = x->shape[0] > 0
                  ? covariances_of(name, x, args, dtype)
                  : ga__array_new(name, x->buffer->device, GA_FLOAT64, 2, (const int64_t[]){0, 0});
    ga_free(x);
    return out;
}

/* The matrix of one variable is a number. */
static gpuarray *squeezed(gpuarray *matrix)
{
    if (!matrix || matrix->shape[0] != 1)
        return matrix;
    gpuarray *number = ga_reshape(matrix, 0, NULL);
    ga_free(matrix);
    return number;
}

gpuarray *(ga_cov)(size_t size, const ga_cov_args *args)
{
    GA__CALL("cov");
    ga_cov_args known;
    if (ga__options_read("cov", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    return squeezed(covariances("cov", &known));
}

/* Divides by the deviations of both variables, as NumPy does, and corrects what rounds past 1. */
static ga_status normalise(gpuarray *c)
{
    const int64_t v = c->shape[0], step = c->strides[0] + c->strides[1];
    const bool complex_type = ga__dtype_kind(c->dtype) == 'c';
    gpuarray *diagonal = ga__array_view(c, c->dtype, 1, &v, &step, 0);
    gpuarray *real = diagonal ? ga_real(diagonal) : NULL;
    gpuarray *deviation = real ? (ga_sqrt)(ga_value_array(real)) : NULL;
    gpuarray *column = deviation ? ga_expand_dims(deviation, 1) : NULL;
    const ga_value all = ga_value_array(c);
    ga_status status = column ? (ga_divide_into)(c, all, ga_value_array(column)) : ga_error();
    if (status == GA_OK)
        status = (ga_divide_into)(c, all, ga_value_array(deviation));
    for (int part = 0; part < 1 + complex_type && status == GA_OK; part++) {
        gpuarray *view = part ? ga_imag(c) : ga_real(c);
        status = view ? (ga_clip_into)(view, ga_value_array(view), ga_value_double(-1),
                                       ga_value_double(1))
                      : ga_error();
        ga_free(view);
    }
    ga_free(column);
    ga_free(deviation);
    ga_free(real);
    ga_free(diagonal);
    return status;
}

gpuarray *(ga_corrcoef)(size_t size, const ga_cov_args *args)
{
    GA__CALL("corrcoef");
    ga_cov_args known;
    if (ga__options_read("corrcoef", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    gpuarray *c = covariances("corrcoef", &known);
    if (!c || normalise(c) == GA_OK)
        return squeezed(c);
    ga_free(c);
    return NULL;
}
