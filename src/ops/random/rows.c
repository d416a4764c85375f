/* Rows of numbers that depend on each other: multinomial and hypergeometric counts, Dirichlet and
 * multivariate normal numbers. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "device/stream.h"
#include "ops/bins/bin_calls.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/random/draw_op.h"
#include "ops/reduction_op.h"

/* The shape of a call with a last axis of `count` elements for the rows. */
typedef struct row_shape {
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    int64_t count;
} row_shape;

static ga_status check_rows(const char *name, int ndim, const int64_t *lengths, int64_t count,
                            row_shape *rows)
{
    int64_t size;
    ga_status status = ga__check_shape(name, GA_INT64, ndim, lengths, &size);
    if (status == GA_OK && ndim >= GA_MAX_NDIM)
        status = ga__fail(GA_ERR_SHAPE, "%s: the result has %d dimensions, more than %d", name,
                          ndim + 1, GA_MAX_NDIM);
    if (status != GA_OK)
        return status;
    *rows = (row_shape){.ndim = ndim + 1, .count = count};
    memcpy(rows->shape, lengths, sizeof(int64_t) * (size_t)ndim);
    rows->shape[ndim] = count;
    return GA_OK;
}

static ga_status check_vector(const char *name, const char *which, const ga_rng *rng,
                              const gpuarray *x)
{
    if (!rng || !x)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, rng ? which : "the generator");
    if (!ga__not_recording(name))
        return ga_error();
    if (!strchr("biuf", ga__dtype_kind(x->dtype)))
        return ga__fail(GA_ERR_DTYPE, "%s: %s is %s, not real", name, which,
                        ga_dtype_name(x->dtype));
    return x->ndim > 0 ? GA_OK : ga__fail(GA_ERR_SHAPE, "%s: %s has no axis", name, which);
}

/* x as contiguous elements of dtype in the shape of the rows; one row alone stays one. */
static gpuarray *spread(const char *name, const gpuarray *x, const row_shape *rows, ga_dtype dtype)
{
    if (x->ndim == 1)
        return ga__contiguous_as(x, dtype);
    if (!ga__broadcasts_to(x->ndim, x->shape, rows->ndim, rows->shape))
        return ga__fail_null(GA_ERR_SHAPE, "%s: rows of shape %s do not broadcast to %s", name,
                             ga__shape_text(x->ndim, x->shape),
                             ga__shape_text(rows->ndim, rows->shape));
    gpuarray *view = ga_broadcast_to(x, rows->ndim, rows->shape);
    gpuarray *made = view ? ga__contiguous_as(view, dtype) : NULL;
    ga_free(view);
    return made;
}

/* The first column of rows: what a kernel of one thread for each row writes. */
static gpuarray *first_column(const gpuarray *x)
{
    return ga__array_view(x, x->dtype, x->ndim - 1, x->shape, x->strides, 0);
}

/* ---- Multinomial ---- */

static ga_status check_chances(const gpuarray *chances)
{
    static const ga__parameter share = {"an element of pvals", GA__PARAMETER_SHARE};
    const ga_value value = ga_value_array(chances);
    ga_status status = ga__check_parameters("multinomial", 1, &share, &value, GA_FLOAT64);
    const int last = chances->ndim - 1;
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, chances->shape, sizeof shape[0] * (size_t)chances->ndim);
    if (status != GA_OK || shape[last] < 2)
        return status;
    shape[last]--;
    gpuarray *all_but_last =
        ga__array_view(chances, chances->dtype, chances->ndim, shape, chances->strides, 0);
    gpuarray *sums =
        all_but_last
            ? ga__apply_reduction(GA__ROW_sum,
                                  &(ga_reduce_args){.x = all_but_last, .naxes = 1, .axes = &last})
            : NULL;
    static const ga__parameter total = {"the sum of all pvals but the last", GA__PARAMETER_SUM};
    const ga_value summed = ga_value_array(sums);
    status =
        sums ? ga__check_parameters("multinomial", 1, &total, &summed, GA_FLOAT64) : ga_error();
    ga_free(sums);
    ga_free(all_but_last);
    return status;
}

/* Rows of counts: of n trials with the probabilities `chances`, or of n draws from the numbers of
 * things in `chances`. */
static ga_status count_outcomes(const ga__formula *formula, gpuarray *out, ga_rng *rng, ga_value n,
                                const gpuarray *chances)
{
    const int64_t count = out->shape[out->ndim - 1];
    const gpuarray *trials = n.kind == GA_VALUE_ARRAY ? n.as.array : NULL;
    const uint64_t apart = chances->ndim == 1 ? 0 : (uint64_t)count;
    gpuarray *column = first_column(out);
    if (!column)
        return ga_error();
    const ga_rng_state state = ga__rng_take(rng, (uint64_t)out->size);
    const ga__operand operands[] = {
        {.name = "r", .array = column, .type = out->dtype, .writes = true},
        {.name = "trials", .array = trials, .number = n, .type = GA_FLOAT64, .reads = true},
        ga__write_operand("x", out),
        ga__indexed_operand("p", chances),
        ga__unsigned_operand("m", (uint64_t)count),
        ga__unsigned_operand("apart", apart),
        ga__unsigned_operand("place", state.position),
        ga__unsigned_operand("key", state.seed)};
    const ga_status status =
        ga__elementwise(formula, out->buffer->device, column->ndim, column->shape, 8, operands);
    if (status != GA_OK)
        ga__rng_give_back(rng, state, (uint64_t)out->size);
    ga_free(column);
    return status;
}

static ga_status check_trials(const char *name, ga_value n, const row_shape *rows, ga_dtype dtype,
                              const ga__device *device)
{
    static const ga__parameter parameter = {"n", GA__PARAMETER_FITTING};
    ga__device *found;
    ga_status status = ga__check_values(name, 1, &n, &found);
    const gpuarray *x = n.kind == GA_VALUE_ARRAY ? n.as.array : NULL;
    if (!strchr("iu", ga__dtype_kind(dtype)))
        return ga__fail(GA_ERR_DTYPE, "%s: the dtype must be an integer, not %s", name,
                        ga_dtype_name(dtype));
    if (status == GA_OK && x && found != device)
        status =
            ga__fail(GA_ERR_DEVICE, "%s: operands on %s and %s", name, found->name, device->name);
    if (status == GA_OK && x && !ga__broadcasts_to(x->ndim, x->shape, rows->ndim - 1, rows->shape))
        status = ga__fail(GA_ERR_SHAPE, "%s: n of shape %s does not broadcast to %s", name,
                          ga__shape_text(x->ndim, x->shape),
                          ga__shape_text(rows->ndim - 1, rows->shape));
    return status == GA_OK ? ga__check_parameters(name, 1, &parameter, &n, dtype) : status;
}

/* New rows, or NULL; `given` has been checked, or is NULL after an error. */
static gpuarray *counted_rows(const ga__formula *formula, ga_rng *rng, ga_dtype dtype, ga_value n,
                              const gpuarray *given, const row_shape *rows)
{
    gpuarray *out =
        given ? ga__array_new(formula->name, given->buffer->device, dtype, rows->ndim, rows->shape)
              : NULL;
    if (!out || out->size == 0 || count_outcomes(formula, out, rng, n, given) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *(ga_rng_multinomial)(ga_rng *rng, ga_dtype dtype, ga_value n, const gpuarray *pvals,
                               int ndim, const int64_t *lengths)
{
    GA__CALL("rng_multinomial");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(8),
        .name = "multinomial",
        .body = "ga::multinomial_row(x, p + i * apart, i, (long long)m, trials, place, key); "
                "r = x[i * m]",
        .uses_index = true};
    row_shape rows;
    if (check_vector("multinomial", "pvals", rng, pvals) != GA_OK ||
        check_rows("multinomial", ndim, lengths, pvals->shape[pvals->ndim - 1], &rows) != GA_OK)
        return NULL;
    if (check_trials("multinomial", n, &rows, dtype, pvals->buffer->device) != GA_OK)
        return NULL;
    gpuarray *chances = spread("multinomial", pvals, &rows, GA_FLOAT64);
    const bool right = chances && check_chances(chances) == GA_OK;
    gpuarray *out = counted_rows(&formula, rng, dtype, n, right ? chances : NULL, &rows);
    ga_free(chances);
    return out;
}

/* ---- Hypergeometric ---- */

/* Each sample is at most all things of its row. */
static ga_status check_sample(const gpuarray *colors, ga_value n)
{
    static const ga__parameter color = {"an element of colors", GA__PARAMETER_POPULATION};
    static const ga__parameter parameters[] = {{"the sum of colors", GA__PARAMETER_POPULATION},
                                               {"nothing", GA__PARAMETER_POPULATION},
                                               {"nsample", GA__PARAMETER_SAMPLE}};
    static const char *const name = "multivariate_hypergeometric";
    const ga_value all = ga_value_array(colors);
    const int last = colors->ndim - 1;
    ga_status status = ga__check_parameters(name, 1, &color, &all, GA_INT64);
    if (status != GA_OK)
        return status;
    gpuarray *sums =
        ga__apply_reduction(GA__ROW_sum, &(ga_reduce_args){.x = colors, .naxes = 1, .axes = &last});
    const ga_value values[] = {ga_value_array(sums), ga_value_int(0), n};
    status = sums ? ga__check_parameters(name, 3, parameters, values, GA_INT64) : ga_error();
    ga_free(sums);
    return status;
}

gpuarray *(ga_rng_multivariate_hypergeometric)(ga_rng *rng, ga_dtype dtype, const gpuarray *colors,
                                               ga_value nsample, int ndim, const int64_t *lengths)
{
    GA__CALL("rng_multivariate_hypergeometric");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(351),
        .name = "multivariate_hypergeometric",
        .body = "ga::urn_row(x, p + i * apart, i, (long long)m, trials, place, key); r = x[i * m]",
        .uses_index = true};
    const char *const name = formula.name;
    row_shape rows;
    if (check_vector(name, "colors", rng, colors) != GA_OK ||
        check_rows(name, ndim, lengths, colors->shape[colors->ndim - 1], &rows) != GA_OK ||
        check_trials(name, nsample, &rows, dtype, colors->buffer->device) != GA_OK)
        return NULL;
    if (ga__dtype_kind(colors->dtype) == 'f')
        return ga__fail_null(GA_ERR_DTYPE, "%s: colors is %s, not an integer", name,
                             ga_dtype_name(colors->dtype));
    gpuarray *counts = spread(name, colors, &rows, GA_INT64);
    const bool right = counts && check_sample(counts, nsample) == GA_OK;
    gpuarray *out = counted_rows(&formula, rng, dtype, nsample, right ? counts : NULL, &rows);
    ga_free(counts);
    return out;
}

/* ---- Dirichlet ---- */

/* Divides each row of e ** x by its sum. */
static ga_status share_rows(gpuarray *x)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(9),
                                        .name = "dirichlet",
                                        .body =
                                            "ga::share_row(x + i * m, (long long)m); r = x[i * m]",
                                        .uses_index = true};
    const uint64_t count = (uint64_t)x->shape[x->ndim - 1];
    gpuarray *column = first_column(x);
    if (!column)
        return ga_error();
    const ga__operand operands[] = {
        {.name = "r", .array = column, .type = x->dtype, .writes = true},
        ga__write_operand("x", x),
        ga__unsigned_operand("m", count)};
    const ga_status status =
        ga__elementwise(&formula, x->buffer->device, column->ndim, column->shape, 3, operands);
    ga_free(column);
    return status;
}

/* Rows made in the compute type, in dtype. Frees x. */
static gpuarray *finished(gpuarray *x, ga_status status, ga_dtype dtype)
{
    gpuarray *made = status != GA_OK     ? NULL
                     : x->dtype == dtype ? ga_retain(x)
                                         : ga_astype(x, dtype);
    ga_free(x);
    return made;
}

static ga_status check_float(const char *name, ga_dtype dtype)
{
    return ga__dtype_kind(dtype) == 'f'
               ? GA_OK
               : ga__fail(GA_ERR_DTYPE, "%s: the dtype must be a float, not %s", name,
                          ga_dtype_name(dtype));
}

gpuarray *(ga_rng_dirichlet)(ga_rng *rng, ga_dtype dtype, const gpuarray *alpha, int ndim,
                             const int64_t *lengths)
{
    GA__CALL("rng_dirichlet");
    row_shape rows;
    if (check_vector("dirichlet", "alpha", rng, alpha) != GA_OK ||
        check_rows("dirichlet", ndim, lengths, alpha->shape[alpha->ndim - 1], &rows) != GA_OK ||
        check_float("dirichlet", dtype) != GA_OK)
        return NULL;
    const ga_value value = ga_value_array(alpha);
    const ga_rng_state before = ga__rng_take(rng, 0);
    gpuarray *x = ga__draw_row_call(&ga__log_gamma, rng, ga__dtype_compute(dtype), &value,
                                    rows.ndim, rows.shape);
    ga_status status = x ? GA_OK : ga_error();
    if (status == GA_OK && x->size > 0)
        status = share_rows(x);
    const uint64_t used = x ? (uint64_t)x->size : 0;
    gpuarray *made = finished(x, status, dtype);
    if (!made)
        ga__rng_give_back(rng, before, used);
    return made;
}

/* ---- Multivariate normal ---- */

/* The Cholesky factor of a matrix d x d in place, its upper half 0. GA_ERR_INVALID if it is not
 * symmetric or has a negative eigenvalue, apart from rounding. */
static ga_status factorise(double *a, int64_t d)
{
    double greatest = 0;
    for (int64_t k = 0; k < d; k++)
        greatest = fmax(greatest, fabs(a[k * d + k]));
    for (int64_t r = 0; r < d; r++)
        for (int64_t c = 0; c < r; c++)
            if (!(fabs(a[r * d + c] - a[c * d + r]) <= 1e-8 * greatest))
                return ga__fail(GA_ERR_INVALID, "multivariate_normal: cov is not symmetric");
    for (int64_t c = 0; c < d; c++) {
        double pivot = a[c * d + c];
        for (int64_t k = 0; k < c; k++)
            pivot -= a[c * d + k] * a[c * d + k];
        if (!(pivot >= -1e-8 * greatest))
            return ga__fail(GA_ERR_INVALID,
                            "multivariate_normal: cov is not positive semidefinite");
        const bool zero = pivot <= 1e-13 * greatest;
        a[c * d + c] = zero ? 0 : sqrt(pivot);
        for (int64_t r = c + 1; r < d; r++) {
            double rest = a[r * d + c];
            for (int64_t k = 0; k < c; k++)
                rest -= a[r * d + k] * a[c * d + k];
            if (zero && fabs(rest) > 1e-6 * greatest)
                return ga__fail(GA_ERR_INVALID,
                                "multivariate_normal: cov is not positive semidefinite");
            a[r * d + c] = zero ? 0 : rest / a[c * d + c];
            a[c * d + r] = 0;
        }
    }
    return GA_OK;
}

/* The factor of cov on its device, float64. */
static gpuarray *factor_of(const gpuarray *cov)
{
    gpuarray *whole = ga__contiguous_as(cov, GA_FLOAT64);
    double *a = whole ? ga__malloc((size_t)whole->size * sizeof *a) : NULL;
    ga_status status = a ? ga_to_host(whole, a, (size_t)whole->size * sizeof *a) : ga_error();
    if (status == GA_OK)
        status = factorise(a, cov->shape[0]);
    gpuarray *made = status == GA_OK ? ga__array_from("multivariate_normal", cov->buffer->device,
                                                      GA_FLOAT64, 2, cov->shape, a)
                                     : NULL;
    ga__free(a);
    ga_free(whole);
    return made;
}

static ga_status check_normal(const ga_rng *rng, ga_dtype dtype, const gpuarray *mean,
                              const gpuarray *cov)
{
    static const char *const name = "multivariate_normal";
    ga_status status = check_vector(name, "mean", rng, mean);
    if (status == GA_OK)
        status = check_vector(name, "cov", rng, cov);
    if (status == GA_OK)
        status = check_float(name, dtype);
    if (status != GA_OK)
        return status;
    if (mean->ndim != 1 || cov->ndim != 2 || cov->shape[0] != mean->size ||
        cov->shape[1] != mean->size || mean->size == 0)
        return ga__fail(GA_ERR_SHAPE, "%s: mean has shape %s and cov %s, expected (d,) and (d, d)",
                        name, ga__shape_text(mean->ndim, mean->shape),
                        ga__shape_text(cov->ndim, cov->shape));
    if (mean->buffer->device != cov->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: operands on %s and %s", name,
                        mean->buffer->device->name, cov->buffer->device->name);
    return GA_OK;
}

/* out[row][c] = mean[c] + the sum of factor[c][k] * z[row][k], k <= c, in this order. */
static ga_status mix(gpuarray *out, const gpuarray *z, const gpuarray *mean, const gpuarray *factor)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(10),
        .name = "multivariate_normal",
        .body = "r = ga::mixed_row(z + i / m * m, factor + i % m * m, (long long)(i % m), mean)",
        .uses_index = true};
    const ga__operand operands[] = {
        {.name = "r", .array = out, .type = out->dtype, .writes = true},
        {.name = "mean", .array = mean, .type = z->dtype, .reads = true},
        ga__indexed_operand("z", z),
        ga__indexed_operand("factor", factor),
        ga__unsigned_operand("m", (uint64_t)mean->size)};
    return ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, 5, operands);
}

gpuarray *(ga_rng_multivariate_normal)(ga_rng *rng, ga_dtype dtype, const gpuarray *mean,
                                       const gpuarray *cov, int ndim, const int64_t *lengths)
{
    GA__CALL("rng_multivariate_normal");
    row_shape rows;
    if (check_normal(rng, dtype, mean, cov) != GA_OK ||
        check_rows("multivariate_normal", ndim, lengths, mean->size, &rows) != GA_OK)
        return NULL;
    ga__device *device = mean->buffer->device;
    gpuarray *factor = factor_of(cov);
    gpuarray *out =
        factor ? ga__array_new("multivariate_normal", device, dtype, rows.ndim, rows.shape) : NULL;
    gpuarray *z = out ? ga__array_new("multivariate_normal", device, ga__dtype_compute(dtype),
                                      rows.ndim, rows.shape)
                      : NULL;
    const ga_rng_state before = ga__rng_take(rng, 0);
    ga_status status = z ? ga_rng_standard_normal_into(z, rng) : ga_error();
    if (status == GA_OK && out->size > 0)
        status = mix(out, z, mean, factor);
    if (z && status != GA_OK)
        ga__rng_give_back(rng, before, (uint64_t)z->size);
    ga_free(z);
    ga_free(factor);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}
