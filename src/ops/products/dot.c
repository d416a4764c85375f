/* ga_dot: of vectors by the reduction engine, of other arrays by that of products. */
#include <quarry/ops.h>
#include <quarry/products.h>

#include <string.h>

#include "base/error.h"
#include "base/range.h"
#include "model/promote.h"
#include "kernels/reduce.h"
#include "model/promote.h"
#include "ops/check_nan.h"
#include "ops/elementwise_op.h"
#include "ops/functions/parts.h"
#include "ops/products/operands.h"

typedef ga__product_view view;

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
         ga__check_reduced("dot", out, false, 0, NULL, 2, (const gpuarray *[]){a, b}) == GA_OK))
        return out;
    ga_free(out);
    return NULL;
}

static void move_axis(view *v, int from, int to)
{
    const int64_t length = v->shape[from], stride = v->strides[from];
    for (int axis = from; axis < to; axis++) {
        v->shape[axis] = v->shape[axis + 1];
        v->strides[axis] = v->strides[axis + 1];
    }
    v->shape[to] = length;
    v->strides[to] = stride;
}

/* The result has the dimensions of a but its last, then those of b but the last but one. As a stack
 * of matrices, every matrix of a meets every one of b. */
static gpuarray *dot_stacks(const gpuarray *a, const gpuarray *b, ga__device *device)
{
    int64_t shape[2 * GA_MAX_NDIM];
    const int rows = a->ndim - 1, ndim = rows + b->ndim - 1;
    if (ndim > GA_MAX_NDIM)
        return ga__fail_null(
            GA_ERR_SHAPE, "dot: the result of shapes %s and %s has more than %d dimensions",
            ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape), GA_MAX_NDIM);
    memcpy(shape, a->shape, (size_t)rows * sizeof *shape);
    memcpy(shape + rows, b->shape, (size_t)(b->ndim - 2) * sizeof *shape);
    shape[ndim - 1] = b->shape[b->ndim - 1];
    gpuarray *out = ga__array_new("dot", device, ga_result_type(a->dtype, b->dtype), ndim, shape);
    if (!out)
        return NULL;
    view left, right, result;
    ga__product_view_of(&left, a);
    ga__product_view_of(&right, b);
    ga__product_view_of(&result, out);
    for (int axis = 0; axis < b->ndim - 2; axis++)
        ga__product_view_insert(&left, rows - 1);
    move_axis(&result, rows - 1, ndim - 2);
    const ga__product_options options = {.name = "dot"};
    if (ga__multiply_views(&options, &left, &right, &result) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static gpuarray *dot(const gpuarray *a, const gpuarray *b)
{
    const ga_value values[] = {ga_value_array(a), ga_value_array(b)};
    ga__device *device;
    if (ga__check_values("dot", 2, values, &device) != GA_OK ||
        ga__check_numeric("dot", a->dtype) != GA_OK || ga__check_numeric("dot", b->dtype) != GA_OK)
        return NULL;
    if (a->ndim == 0 || b->ndim == 0)
        return (ga_multiply)(values[0], values[1]);
    if (a->shape[a->ndim - 1] != b->shape[b->ndim == 1 ? 0 : b->ndim - 2])
        return ga__fail_null(
            GA_ERR_SHAPE,
            "dot: shapes %s and %s do not match: the last axis of the first array and "
            "the last but one (or only) axis of the second differ",
            ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape));
    if (a->ndim == 1 && b->ndim == 1)
        return dot_vectors(a, b, device);
    if (a->ndim == 1 || b->ndim <= 2)
        return ga_matmul(a, b);
    return dot_stacks(a, b, device);
}

gpuarray *(ga_dot)(const gpuarray *a, const gpuarray *b)
{
    GA__RANGE("dot");
    return dot(a, b);
}
