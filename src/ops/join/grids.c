/* Grids of indices, and powers of a line. */
#include <quarry/shaping.h>

#include <string.h>

#include <quarry/sort.h>

#include "base/call.h"
#include "base/error.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/gather.h"
#include "ops/join/owned.h"

/* ---- indices ---- */

/* Each coordinate of an element as a number of it. */
static ga_status fill_coordinate(gpuarray *out, int axis)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(216), .name = "indices", .body = "r = c"};
    ga__lens coordinate;
    ga__lens_coordinate(&coordinate, out->ndim, out->shape, axis, 0);
    const ga__operand operands[] = {{.name = "r", .array = out, .type = GA_INT64, .writes = true},
                                    ga__lens_operand("c", &coordinate, GA__COORDINATE, false)};
    return ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, 2, operands);
}

gpuarray *(ga_indices)(int ndim, const int64_t *shape)
{
    GA__CALL("indices");
    int64_t whole[GA_MAX_NDIM + 1];
    if (ga__check_ndim("indices", ndim, shape) != GA_OK)
        return NULL;
    if (ndim == GA_MAX_NDIM)
        return ga__fail_null(GA_ERR_INVALID, "indices: %d dimensions, more than %d", ndim,
                             GA_MAX_NDIM - 1);
    whole[0] = ndim;
    if (ndim > 0)
        memcpy(whole + 1, shape, sizeof(int64_t) * (size_t)ndim);
    gpuarray *out = ga__array_new("indices", ga__current_device(), GA_INT64, 1 + ndim, whole);
    ga_status status = out ? GA_OK : ga_error();
    for (int axis = 0; axis < ndim && status == GA_OK && out->size > 0; axis++) {
        gpuarray *plane =
            ga__array_view(out, GA_INT64, ndim, shape, out->strides + 1, axis * out->strides[0]);
        status = plane ? fill_coordinate(plane, axis) : ga_error();
        ga_free(plane);
    }
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* ---- ix_ ---- */

/* The array as axis k of `count`. */
static gpuarray *as_axis(const gpuarray *x, int k, int count)
{
    int64_t shape[GA_MAX_NDIM];
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "ix_: array %d is NULL", k + 1);
    if (x->ndim != 1)
        return ga__fail_null(GA_ERR_SHAPE, "ix_: array %d has shape %s, expected one dimension",
                             k + 1, ga__shape_text(x->ndim, x->shape));
    gpuarray *line = x->dtype == GA_BOOL ? ga_flatnonzero(x) : ga_ravel(x);
    for (int axis = 0; line && axis < count; axis++)
        shape[axis] = axis == k ? line->size : 1;
    gpuarray *out = line ? ga_reshape(line, count, shape) : NULL;
    ga_free(line);
    return out;
}

ga_status ga_ix_(int count, const gpuarray *const *arrays, gpuarray **out)
{
    GA__CALL("ix_");
    gpuarray *made[GA_MAX_NDIM];
    int n = 0;
    if (count < 1 || count > GA_MAX_NDIM || !arrays || !out)
        return ga__fail(GA_ERR_INVALID, "ix_: %d arrays%s", count,
                        arrays && out ? "" : ", and a list is NULL");
    while (n < count && (made[n] = as_axis(arrays[n], n, count)) != NULL)
        n++;
    return ga__give_results(made, n, count, out);
}

/* ---- Triangles ---- */

static ga_status triangle(const char *name, int64_t n, int64_t k, int64_t m, bool upper,
                          gpuarray **out)
{
    gpuarray *found[2];
    if (!out)
        return ga__fail(GA_ERR_INVALID, "%s: the list of results is NULL", name);
    gpuarray *lower = ga_tri(GA_BOOL, n, m, upper ? k - 1 : k);
    gpuarray *chosen = lower && upper ? (ga_logical_not)(ga_value_array(lower)) : ga_retain(lower);
    const ga_status status = chosen ? ga_nonzero(chosen, found) : ga_error();
    if (status == GA_OK)
        memcpy(out, found, sizeof found);
    ga_free(chosen);
    ga_free(lower);
    return status;
}

ga_status ga_tril_indices(int64_t n, int64_t k, int64_t m, gpuarray **out)
{
    GA__CALL("tril_indices");
    return triangle("tril_indices", n, k, m, false, out);
}

ga_status ga_triu_indices(int64_t n, int64_t k, int64_t m, gpuarray **out)
{
    GA__CALL("triu_indices");
    return triangle("triu_indices", n, k, m, true, out);
}

/* ---- diag_indices ---- */

ga_status ga_diag_indices(int64_t n, int ndim, gpuarray **out)
{
    GA__CALL("diag_indices");
    gpuarray *made[GA_MAX_NDIM];
    int count = 0;
    if (!out)
        return ga__fail(GA_ERR_INVALID, "diag_indices: the list of results is NULL");
    if (ndim < 1 || ndim > GA_MAX_NDIM)
        return ga__fail(GA_ERR_INVALID, "diag_indices: %d dimensions, expected 1 to %d", ndim,
                        GA_MAX_NDIM);
    if (n < 0)
        return ga__fail(GA_ERR_SHAPE, "diag_indices: length %lld is negative", (long long)n);
    while (count < ndim && (made[count] = ga_arange(GA_INT64, 0, n, 1)) != NULL)
        count++;
    return ga__give_results(made, count, ndim, out);
}

/* ---- vander ---- */

/* The products of 1, x, x, ... along the last axis. */
static gpuarray *powers(const gpuarray *x, ga_dtype dtype, int64_t columns, ga__owned *owned)
{
    const int64_t shape[] = {x->size, columns}, column[] = {x->size, 1};
    gpuarray *line = ga__own(owned, ga_reshape(x, 2, column)),
             *factors = ga__own(owned, ga__array_new("vander", x->buffer->device, dtype, 2, shape));
    if (!line || !factors)
        return NULL;
    const int64_t rest[] = {x->size, columns > 0 ? columns - 1 : 0};
    gpuarray *right = ga__own(owned, ga__array_view(factors, dtype, 2, rest, factors->strides,
                                                    columns > 1 ? factors->strides[1] : 0));
    if (!right || ga__fill_elements(factors, ga_value_int(1)) != GA_OK ||
        (ga_assign)(right, ga_value_array(line)) != GA_OK)
        return NULL;
    return ga__own(owned, ga_cumprod(factors, GA_AXIS(1), .dtype = dtype));
}

gpuarray *ga_vander(const gpuarray *x, int64_t columns, bool increasing)
{
    GA__CALL("vander");
    ga__owned owned = {.n = 0};
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "vander: the array is NULL");
    if (x->ndim != 1)
        return ga__fail_null(GA_ERR_SHAPE, "vander: the array has %d dimensions, expected 1",
                             x->ndim);
    if (columns < -1)
        return ga__fail_null(GA_ERR_INVALID, "vander: %lld columns, expected at least 0, or -1",
                             (long long)columns);
    const ga_dtype dtype = ga_result_type(x->dtype, GA_INT64);
    gpuarray *out = powers(x, dtype, columns < 0 ? x->size : columns, &owned);
    const int axis = 1;
    gpuarray *reversed = !out || increasing ? ga_retain(out) : ga_flip_axes(out, 1, &axis);
    ga__owned_free(&owned);
    return reversed;
}
