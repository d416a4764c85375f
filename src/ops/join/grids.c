/* Grids of indices, and powers of a line. */
#include <quarry/shaping.h>

#include <string.h>

#include <quarry/sort.h>

#include "base/call.h"
#include "base/error.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/checked.h"
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

/* ---- unravel_index, ravel_multi_index ---- */

/* Writes the coordinate of each index along an axis of `length`, behind which are `step` elements.
 */
static gpuarray *coordinate_of(const gpuarray *indices, int64_t size, int64_t length, int64_t step)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(217),
        .name = "unravel_index",
        .body = "r = ga::from_start(j, size, fault, call, 0, (long long)i) / step % length",
        .uses_index = true};
    ga__checked checked;
    gpuarray *out = ga__array_new("unravel_index", indices->buffer->device, GA_INT64, indices->ndim,
                                  indices->shape);
    if (!out)
        return NULL;
    ga__operand operands[5 + GA__CHECKED_OPERANDS] = {
        {.name = "r", .array = out, .type = GA_INT64, .writes = true},
        {.name = "j", .array = indices, .type = GA_INT64, .reads = true},
        ga__integer_operand("size", size),
        ga__integer_operand("length", length),
        ga__integer_operand("step", step)};
    const int n = ga__checked_begin(&checked, "unravel_index", out->buffer->device, operands, 5);
    ga_status status =
        n < 0 ? ga_error()
              : ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, n, operands);
    if (n >= 0)
        status = ga__checked_end(&checked, status);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

ga_status ga_unravel_index(const gpuarray *indices, int ndim, const int64_t *shape, gpuarray **out)
{
    GA__CALL("unravel_index");
    gpuarray *made[GA_MAX_NDIM];
    int64_t size, step;
    int n = 0;
    if (!out)
        return ga__fail(GA_ERR_INVALID, "unravel_index: the list of results is NULL");
    if (ga__check_shape("unravel_index", GA_INT64, ndim, shape, &size) != GA_OK ||
        ga__check_indices("unravel_index", indices, indices) != GA_OK)
        return ga_error();
    if (size == 0 && indices->size > 0)
        return ga__fail(GA_ERR_INDEX, "unravel_index: shape %s has no elements",
                        ga__shape_text(ndim, shape));
    for (step = size; n < ndim; n++) {
        step = shape[n] > 0 ? step / shape[n] : 1;
        made[n] = coordinate_of(indices, size, shape[n], step);
        if (!made[n])
            break;
    }
    return ga__give_results(made, n, ndim, out);
}

/* sum + within(j) * step; j's dtype is converted, and negative indices are errors, as in NumPy. */
static gpuarray *add_coordinate(const gpuarray *sum, const gpuarray *j, int axis, int64_t length,
                                int64_t step)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(218),
        .name = "ravel_multi_index",
        .body = "r = (s + ga::from_start(j, length, fault, call, axis, (long long)i) * step)",
        .uses_index = true};
    ga__checked checked;
    int64_t shape[GA_MAX_NDIM];
    int ndim = 0;
    if (!ga__broadcast_shape(&ndim, shape, sum->ndim, sum->shape) ||
        !ga__broadcast_shape(&ndim, shape, j->ndim, j->shape))
        return ga__fail_null(GA_ERR_SHAPE, "ravel_multi_index: shapes %s and %s do not broadcast",
                             ga__shape_text(sum->ndim, sum->shape),
                             ga__shape_text(j->ndim, j->shape));
    gpuarray *out = ga__array_new("ravel_multi_index", sum->buffer->device, GA_INT64, ndim, shape);
    if (!out)
        return NULL;
    ga__operand operands[6 + GA__CHECKED_OPERANDS] = {
        {.name = "r", .array = out, .type = GA_INT64, .writes = true},
        {.name = "s", .array = sum, .type = GA_INT64, .reads = true},
        {.name = "j", .array = j, .type = GA_INT64, .reads = true},
        ga__integer_operand("length", length),
        ga__integer_operand("step", step),
        ga__integer_operand("axis", axis)};
    const int n =
        ga__checked_begin(&checked, "ravel_multi_index", out->buffer->device, operands, 6);
    ga_status status =
        n < 0 ? ga_error()
              : ga__elementwise(&formula, out->buffer->device, ndim, shape, n, operands);
    if (n >= 0)
        status = ga__checked_end(&checked, status);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga_ravel_multi_index(const gpuarray *const *indices, int ndim, const int64_t *shape)
{
    GA__CALL("ravel_multi_index");
    int64_t size;
    if (!indices || ndim < 1)
        return ga__fail_null(GA_ERR_INVALID, "ravel_multi_index: %d arrays%s", ndim,
                             indices ? "" : ", and the list is NULL");
    if (ga__check_shape("ravel_multi_index", GA_INT64, ndim, shape, &size) != GA_OK)
        return NULL;
    for (int k = 0; k < ndim; k++) {
        if (ga__check_indices("ravel_multi_index", indices[0], indices[k]) != GA_OK)
            return NULL;
        if (shape[k] == 0 && indices[k]->size > 0)
            return ga__fail_null(GA_ERR_INDEX, "ravel_multi_index: axis %d has no elements", k);
    }
    gpuarray *sum =
        ga__array_new("ravel_multi_index", indices[0]->buffer->device, GA_INT64, 0, NULL);
    if (sum && ga__fill_elements(sum, ga_value_bool(false)) != GA_OK) {
        ga_free(sum);
        sum = NULL;
    }
    for (int k = 0; sum && k < ndim; k++) {
        size = shape[k] > 0 ? size / shape[k] : 1;
        gpuarray *next = add_coordinate(sum, indices[k], k, shape[k], size);
        ga_free(sum);
        sum = next;
    }
    return sum;
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
