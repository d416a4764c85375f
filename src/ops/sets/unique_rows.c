/* The unique parts of an array along an axis: they are sorted as rows of numbers. */
#include <string.h>

#include <quarry/indexing.h>
#include <quarry/ops.h>
#include <quarry/sort.h>

#include "base/alloc.h"
#include "base/error.h"
#include "ops/convert.h"
#include "ops/order/along.h"
#include "ops/sets/unique.h"

/* The array as a matrix with a column for each part along the axis: contiguous, and owned by the
 * scope, as all that follows. */
static gpuarray *columns_of(const gpuarray *x, int axis)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    const int64_t parts = x->shape[axis];
    int to = 0;
    for (int k = 0; k < x->ndim; k++)
        if (k != axis) {
            shape[to] = x->shape[k];
            strides[to++] = x->strides[k];
        }
    shape[to] = parts;
    strides[to] = x->strides[axis];
    gpuarray *view = ga__array_view(x, x->dtype, x->ndim, shape, strides, 0),
             *copy = view ? ga__copy_bits(view) : NULL;
    return copy ? ga_reshape(copy, GA_SHAPE(parts > 0 ? x->size / parts : 0, parts)) : NULL;
}

/* The order of the columns, by their first elements, then by the second ones, and so on. */
static gpuarray *order_of(const gpuarray *columns)
{
    const int64_t rows = columns->shape[0];
    const gpuarray **keys = ga__malloc(sizeof *keys * (size_t)rows);
    bool ok = keys != NULL;
    for (int64_t k = 0; k < rows && ok; k++)
        ok = (keys[k] = ga__array_view(columns, columns->dtype, 1, &columns->shape[1],
                                       &columns->strides[1],
                                       (rows - 1 - k) * columns->strides[0])) != NULL;
    gpuarray *order = ok ? ga_lexsort((int)rows, keys) : NULL;
    ga__free(keys);
    return order;
}

/* The number of different columns up to each, in their order. As NumPy's records, columns with NaN
 * differ. */
static gpuarray *number_columns(const char *name, const gpuarray *columns, const gpuarray *order)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(229),
        .name = "unique_rows",
        .body = "r = i == 0; for (long long k = 0; k < m && !r; k++) "
                "r = ga::differs<true>(c[k * n + p[i - 1]], c[k * n + p[i]])",
        .uses_index = true};
    const ga__operand operands[] = {
        ga__read_operand("c", columns), ga__read_operand("p", order),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, columns->shape[0]))};
    gpuarray *firsts = ga__array_new(name, columns->buffer->device, GA_BOOL, 1, &columns->shape[1]);
    if (!firsts || ga__fill_by(&formula, firsts, GA_BOOL, 3, operands) != GA_OK)
        return NULL;
    return ga_cumsum(firsts);
}

ga_status ga__unique_along(const char *name, const gpuarray *x, int axis, ga__wanted_runs wanted,
                           ga__made_runs *made)
{
    if (ga__check_numeric(name, x->dtype) != GA_OK)
        return ga_error();
    if (x->size == 0 || x->size / x->shape[axis] > INT32_MAX)
        return ga__fail(GA_ERR_INVALID,
                        "%s: the parts of shape %s along axis %d are not from 1 to 2147483647 "
                        "elements",
                        name, ga__shape_text(x->ndim, x->shape), axis);
    gpuarray *columns = columns_of(x, axis), *order = columns ? order_of(columns) : NULL,
             *numbers = order ? number_columns(name, columns, order) : NULL;
    const ga__runs runs = {.elements = numbers, .order = order};
    wanted.indices = true;
    ga_status status =
        numbers ? ga__find_runs(name, &runs, wanted, 1, &x->shape[axis], made) : ga_error();
    if (status == GA_OK && !(made->values = ga_take(x, made->indices, GA_AXIS(axis))))
        status = ga_error();
    return status;
}
