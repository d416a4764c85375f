/* Rows of an array: the elements along some axes, one after another in memory. */
#include "ops/rank/rows.h"

#include "base/error.h"

/* A view of x whose axes come in this order. */
static gpuarray *permuted(const gpuarray *x, const int *order)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    for (int k = 0; k < x->ndim; k++) {
        shape[k] = x->shape[order[k]];
        strides[k] = x->strides[order[k]];
    }
    return ga__array_view(x, x->dtype, x->ndim, shape, strides, 0);
}

/* Takes the reference. */
static gpuarray *contiguous(gpuarray *view)
{
    if (!view || view->contiguous)
        return view;
    gpuarray *copy = ga_copy(view);
    ga_free(view);
    return copy;
}

static int64_t reach(const gpuarray *x, int axis)
{
    return x->strides[axis] < 0 ? -x->strides[axis] : x->strides[axis];
}

/* Inserts an axis before those with a smaller stride, from order[first] on. */
static void insert_axis(const gpuarray *x, int *order, int first, int count, int axis)
{
    int at = first + count;
    for (; at > first && reach(x, order[at - 1]) < reach(x, axis); at--)
        order[at] = order[at - 1];
    order[at] = axis;
}

ga_status ga__rows_beside(ga__rank_rows *rows, const gpuarray *x, const gpuarray *y,
                          const bool *reduced)
{
    int order[GA_MAX_NDIM], kept = 0, count = 0;
    *rows = (ga__rank_rows){.rows = 1, .count = 1};
    for (int axis = 0; axis < x->ndim; axis++)
        if (!reduced[axis]) {
            order[kept++] = axis;
            rows->rows *= x->shape[axis];
        }
    for (int axis = 0; axis < x->ndim; axis++)
        if (reduced[axis]) {
            insert_axis(x, order, kept, count++, axis);
            rows->count *= x->shape[axis];
        }
    rows->x = contiguous(permuted(y, order));
    return rows->x ? GA_OK : ga_error();
}

ga_status ga__rows_over(ga__rank_rows *rows, const gpuarray *x, const bool *reduced)
{
    return ga__rows_beside(rows, x, x, reduced);
}

/* The order of axes that has one last. */
static void put_last(int ndim, int axis, int *order)
{
    int count = 0;
    for (int k = 0; k < ndim; k++)
        if (k != axis)
            order[count++] = k;
    order[count] = axis;
}

ga_status ga__rows_along(ga__rank_rows *rows, const gpuarray *x, int axis)
{
    int order[GA_MAX_NDIM];
    put_last(x->ndim, axis, order);
    *rows = (ga__rank_rows){.rows = 1, .count = x->shape[axis]};
    for (int k = 0; k < x->ndim; k++)
        rows->rows *= k == axis ? 1 : x->shape[k];
    rows->x = contiguous(permuted(x, order));
    return rows->x ? GA_OK : ga_error();
}

gpuarray *ga__rows_result(const char *name, const gpuarray *x, int axis, ga_dtype dtype,
                          int64_t count)
{
    int order[GA_MAX_NDIM];
    int64_t shape[GA_MAX_NDIM];
    put_last(x->ndim, axis, order);
    for (int k = 0; k < x->ndim; k++)
        shape[k] = order[k] == axis ? count : x->shape[order[k]];
    return ga__array_new(name, x->buffer->device, dtype, x->ndim, shape);
}

gpuarray *ga__rows_restore(gpuarray *result, int axis)
{
    int order[GA_MAX_NDIM];
    if (!result)
        return NULL;
    for (int k = 0; k < result->ndim; k++)
        order[k] = k < axis ? k : k == axis ? result->ndim - 1 : k - 1;
    if (axis == result->ndim - 1)
        return result;
    gpuarray *view = permuted(result, order);
    ga_free(result);
    return contiguous(view);
}
