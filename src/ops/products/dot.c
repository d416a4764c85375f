/* ga_dot: of vectors by the reduction engine, of other arrays by that of products. */
#include <quarry/joining.h>
#include <quarry/products.h>

#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "kernels/reduce.h"
#include "model/promote.h"
#include "ops/check_nan.h"
#include "ops/elementwise_op.h"
#include "ops/functions/parts.h"
#include "ops/products/operands.h"

static gpuarray *dot_vectors(const gpuarray *a, const gpuarray *b, ga__device *device)
{
    const ga_dtype type = ga_result_type(a->dtype, b->dtype);
    gpuarray *out = ga__array_new("dot", device, type, 0, NULL);
    if (!out)
        return NULL;
    const ga__reduction reduction =
        ga__reduction_of(GA__ROW_dot, "return {ga::multiply(x, y)}", type, 0);
    const ga__operand operands[] = {{.name = "x", .array = a, .type = type, .reads = true},
                                    {.name = "y", .array = b, .type = type, .reads = true}};
    const bool reduced[] = {true};
    if (ga__reduce(&reduction, device, 1, a->shape, reduced, 2, operands, &out) == GA_OK &&
        (!ga__checks_nan() ||
         ga__check_reduced("dot", out, NULL, NULL, 2, (const gpuarray *[]){a, b}) == GA_OK))
        return out;
    ga_free(out);
    return NULL;
}

/* Checks that `out`, which may be NULL, has the shape of the result. */
static ga_status check_shape(const gpuarray *out, int ndim, const int64_t *shape)
{
    if (!out || ga__same_shape(ndim, shape, out->ndim, out->shape))
        return GA_OK;
    return ga__fail(GA_ERR_SHAPE, "dot: the result has shape %s, out has %s",
                    ga__shape_text(ndim, shape), ga__shape_text(out->ndim, out->shape));
}

/* Gives a 0-d result to `out`, which is then the result, unless that is NULL. */
static gpuarray *deliver(gpuarray *result, gpuarray *out)
{
    if (!result || !out)
        return result;
    ga_status status = ga__check_out("dot", out, 0, NULL, result->dtype);
    if (status == GA_OK)
        status = check_shape(out, 0, NULL);
    if (status == GA_OK && out->buffer->device != result->buffer->device)
        status = ga__fail(GA_ERR_DEVICE, "dot: the operands are on %s, out on %s",
                          result->buffer->device->name, out->buffer->device->name);
    if (status == GA_OK)
        status = ga_assign(out, result);
    ga_free(result);
    return status == GA_OK ? out : NULL;
}

/* a with axes of length 1 before its last but one, one for each matrix of b. */
static gpuarray *spread(const gpuarray *a, int axes)
{
    int64_t shape[2 * GA_MAX_NDIM], strides[2 * GA_MAX_NDIM];
    const int first = a->ndim - 2;
    for (int axis = 0; axis < a->ndim + axes; axis++) {
        const int from = axis < first ? axis : axis - axes;
        const bool is_new = axis >= first && from < first;
        shape[axis] = is_new ? 1 : a->shape[from];
        strides[axis] = is_new ? 0 : a->strides[from];
    }
    return ga__array_view(a, a->dtype, a->ndim + axes, shape, strides, 0);
}

/* The product of stacks into args->out, a view of `out`, which a check's message is about. */
static bool multiply_stacks(const ga_product_args *args, const gpuarray *out)
{
    ga__guard finite = GA__GUARD_INIT;
    if (!ga__checks_nan())
        return ga__dot_matrices(args) != NULL;
    ga__check_begin();
    ga__guard_add(&finite, args->a);
    ga__guard_add(&finite, args->b);
    if (args->beta != 0 || args->beta_imag != 0)
        ga__guard_add(&finite, out);
    const bool done =
        ga__dot_matrices(args) && ga__check_elements("dot", out, &finite, 0, NULL, NULL) == GA_OK;
    ga__check_end();
    return done;
}

/* The result has the dimensions of a but its last, then those of b but the last but one. As a stack
 * of matrices, every matrix of a meets every one of b. */
static gpuarray *dot_stacks(const ga_product_args *args)
{
    const gpuarray *a = args->a, *b = args->b;
    int64_t shape[2 * GA_MAX_NDIM];
    const int rows = a->ndim - 1, ndim = rows + b->ndim - 1;
    if (ndim > GA_MAX_NDIM)
        return ga__fail_null(
            GA_ERR_SHAPE, "dot: the result of shapes %s and %s has more than %d dimensions",
            ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape), GA_MAX_NDIM);
    memcpy(shape, a->shape, (size_t)rows * sizeof *shape);
    memcpy(shape + rows, b->shape, (size_t)(b->ndim - 2) * sizeof *shape);
    shape[ndim - 1] = b->shape[b->ndim - 1];
    const ga_dtype dtype = ga_result_type(a->dtype, b->dtype);
    if (check_shape(args->out, ndim, shape) != GA_OK ||
        ga__check_product_numbers("dot", args, dtype) != GA_OK)
        return NULL;
    gpuarray *out =
        args->out ? args->out : ga__array_new("dot", a->buffer->device, dtype, ndim, shape);
    gpuarray *left = out ? spread(a, b->ndim - 2) : NULL;
    gpuarray *result = left ? ga_moveaxis(out, rows - 1, ndim - 2) : NULL;
    ga_product_args stacked = *args;
    stacked.a = left;
    stacked.out = result;
    const bool done = result && multiply_stacks(&stacked, out);
    ga_free(result);
    ga_free(left);
    if (done)
        return out;
    if (!args->out)
        ga_free(out);
    return NULL;
}

static bool scales(const ga_product_args *args)
{
    return args->alpha != 0 || args->beta != 0 || args->alpha_imag != 0 || args->beta_imag != 0;
}

static gpuarray *dot_numbers(const ga_product_args *args)
{
    const ga_value a = ga_value_array(args->a), b = ga_value_array(args->b);
    if (scales(args))
        return ga__fail_null(GA_ERR_INVALID, "dot: alpha and beta take no array of 0 dimensions");
    if (!args->out)
        return (ga_multiply)(a, b);
    const gpuarray *shaped = args->a->ndim > 0 ? args->a : args->b;
    if (check_shape(args->out, shaped->ndim, shaped->shape) != GA_OK)
        return NULL;
    return (ga_multiply_into)(args->out, a, b) == GA_OK ? args->out : NULL;
}

static gpuarray *dot(const ga_product_args *args)
{
    const gpuarray *a = args->a, *b = args->b;
    const ga_value values[] = {ga_value_array(a), ga_value_array(b)};
    ga__device *device;
    if (ga__check_values("dot", 2, values, &device) != GA_OK ||
        ga__check_numeric("dot", a->dtype) != GA_OK || ga__check_numeric("dot", b->dtype) != GA_OK)
        return NULL;
    if (a->ndim == 0 || b->ndim == 0)
        return dot_numbers(args);
    if (a->shape[a->ndim - 1] != b->shape[b->ndim == 1 ? 0 : b->ndim - 2])
        return ga__fail_null(
            GA_ERR_SHAPE,
            "dot: shapes %s and %s do not match: the last axis of the first array and "
            "the last but one (or only) axis of the second differ",
            ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape));
    if (a->ndim == 1 && b->ndim == 1 && !scales(args))
        return deliver(dot_vectors(a, b, device), args->out);
    return a->ndim == 1 || b->ndim <= 2 ? ga__dot_matrices(args) : dot_stacks(args);
}

gpuarray *(ga_dot)(size_t size, const ga_product_args *args)
{
    GA__CALL("dot");
    ga_product_args known;
    if (size == sizeof known && args)
        return dot(args);
    return ga__options_read("dot", &known, sizeof known, args, size) == GA_OK ? dot(&known) : NULL;
}
