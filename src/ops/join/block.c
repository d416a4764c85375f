/* Arrays of blocks, resized and trimmed arrays. */
#include <quarry/shaping.h>

#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "ops/convert.h"
#include "ops/index/gather.h"
#include "ops/join/join.h"
#include "ops/join/owned.h"
#include "ops/scan/take_number.h"

/* ---- block ---- */

/* The blocks of a call, as views of the same number of axes. */
typedef struct blocks {
    int rows, columns, count, ndim;
    gpuarray **view;
    int64_t shape[GA_MAX_NDIM]; /* of the result */
} blocks;

static ga_status check_blocks(int rows, int columns, const gpuarray *const *given)
{
    if (rows < 1 || columns < 1 || !given)
        return ga__fail(GA_ERR_INVALID, "block: %d x %d blocks%s", rows, columns,
                        given ? "" : ", and the list is NULL");
    for (int k = 0; k < rows * columns; k++) {
        if (!given[k])
            return ga__fail(GA_ERR_INVALID, "block: array %d is NULL", k + 1);
        if (given[k]->buffer->device != given[0]->buffer->device)
            return ga__fail(GA_ERR_DEVICE, "block: operands on %s and %s",
                            given[0]->buffer->device->name, given[k]->buffer->device->name);
    }
    return GA_OK;
}

static ga_status make_views(blocks *b, const gpuarray *const *given)
{
    b->ndim = 2;
    for (int k = 0; k < b->rows * b->columns; k++)
        b->ndim = given[k]->ndim > b->ndim ? given[k]->ndim : b->ndim;
    for (int k = 0; k < b->rows * b->columns; k++) {
        int64_t shape[GA_MAX_NDIM];
        for (int axis = 0; axis < b->ndim; axis++) {
            const int own = axis - (b->ndim - given[k]->ndim);
            shape[axis] = own < 0 ? 1 : given[k]->shape[own];
        }
        b->view[k] = ga_reshape(given[k], b->ndim, shape);
        if (!b->view[k])
            return ga_error();
        b->count++;
    }
    return GA_OK;
}

/* The shape of the result; raises unless the blocks fill it. */
static ga_status measure(blocks *b)
{
    const int down = b->ndim - 2, along = b->ndim - 1;
    memcpy(b->shape, b->view[0]->shape, sizeof(int64_t) * (size_t)b->ndim);
    b->shape[down] = 0;
    for (int row = 0; row < b->rows; row++) {
        gpuarray *const *views = b->view + row * b->columns;
        int64_t width = 0;
        for (int k = 0; k < b->columns; k++) {
            for (int axis = 0; axis < b->ndim - 1; axis++)
                if (views[k]->shape[axis] != (axis < down ? b->view[0] : views[0])->shape[axis])
                    return ga__fail(GA_ERR_SHAPE, "block: blocks of shapes %s and %s in row %d",
                                    ga__shape_text(b->ndim, views[0]->shape),
                                    ga__shape_text(b->ndim, views[k]->shape), row);
            width = ga__add_sizes(width, views[k]->shape[along]);
        }
        if (row > 0 && width != b->shape[along])
            return ga__fail(GA_ERR_SHAPE, "block: row %d has length %lld, row 0 has %lld", row,
                            (long long)width, (long long)b->shape[along]);
        b->shape[along] = width;
        b->shape[down] = ga__add_sizes(b->shape[down], views[0]->shape[down]);
    }
    return GA_OK;
}

static ga_status copy_blocks(const blocks *b, gpuarray *out)
{
    ga_status status = GA_OK;
    int64_t at[2] = {0, 0};
    for (int k = 0; k < b->count && status == GA_OK; k++) {
        const gpuarray *block = b->view[k];
        if (k % b->columns == 0)
            at[1] = 0;
        if (block->size > 0) {
            gpuarray *part = ga__array_view(out, out->dtype, b->ndim, block->shape, out->strides,
                                            at[0] * out->strides[b->ndim - 2] +
                                                at[1] * out->strides[b->ndim - 1]);
            status = part ? ga__array_copy_into(part, block) : ga_error();
            ga_free(part);
        }
        at[1] += block->shape[b->ndim - 1];
        if (k % b->columns == b->columns - 1)
            at[0] += block->shape[b->ndim - 2];
    }
    return status;
}

gpuarray *ga_block(int rows, int columns, const gpuarray *const *given)
{
    GA__CALL("block");
    if (check_blocks(rows, columns, given) != GA_OK)
        return NULL;
    blocks b = {.rows = rows, .columns = columns};
    gpuarray *out = NULL;
    b.view = ga__malloc(sizeof(gpuarray *) * (size_t)rows * (size_t)columns);
    const ga_dtype dtype = ga__common_dtype("block", rows * columns, given);
    if (b.view && dtype != GA_NO_DTYPE && make_views(&b, given) == GA_OK && measure(&b) == GA_OK)
        out = ga__array_new("block", given[0]->buffer->device, dtype, b.ndim, b.shape);
    if (out && copy_blocks(&b, out) != GA_OK) {
        ga_free(out);
        out = NULL;
    }
    for (int k = 0; k < b.count; k++)
        ga_free(b.view[k]);
    ga__free(b.view);
    return out;
}

/* ---- resize ---- */

gpuarray *(ga_resize)(const gpuarray *x, int ndim, const int64_t *shape)
{
    GA__CALL("resize");
    static const ga__formula formula = {.id = GA__FORMULA_ID(215),
                                        .name = "resize",
                                        .body = "r = x[(long long)i % m]",
                                        .uses_index = true};
    ga__lens to, from;
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "resize: the array is NULL");
    gpuarray *out = ga__array_new("resize", x->buffer->device, x->dtype, ndim, shape);
    if (!out || out->size == 0)
        return out;
    ga_status status;
    if (x->size == 0) {
        status = ga__fill_elements(out, ga_value_bool(false));
    } else {
        ga__lens_whole(&to, out);
        ga__lens_whole(&from, x);
        const ga__operand operands[] = {ga__lens_operand("r", &to, GA__VALUE, true),
                                        ga__lens_operand("x", &from, GA__ACCESSOR, false),
                                        ga__integer_operand("m", x->size)};
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, 3, operands);
    }
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* ---- trim_zeros ---- */

/* The first and the last index along the axis that has an element other than zero. */
static ga_status find_ends(const gpuarray *x, int axis, int64_t *first, int64_t *last)
{
    int others[GA_MAX_NDIM], n = 0;
    ga__owned owned = {.n = 0};
    for (int k = 0; k < x->ndim; k++)
        if (k != axis)
            others[n++] = k;
    const ga_reduce_args any = {.x = x, .naxes = n, .axes = others};
    gpuarray *line = ga__own(&owned, n > 0 ? (ga_any)(sizeof any, &any)
                                           : (ga_not_equal)(ga_value_array(x), ga_value_int(0))),
             *back = line ? ga__own(&owned, ga_flip_axes(line, 0, NULL)) : NULL;
    ga_status status = back ? ga__take_number(ga_argmax(line), first) : ga_error();
    if (status == GA_OK)
        status = ga__take_number(ga_argmax(back), last);
    *last = x->shape[axis] - 1 - *last;
    ga__owned_free(&owned);
    return status;
}

static ga_status is_zero(const gpuarray *x, bool *zero)
{
    int64_t found = 0;
    const ga_status status = x->size > 0 ? ga__take_number(ga_any(x), &found) : GA_OK;
    *zero = found == 0;
    return status;
}

static gpuarray *trimmed(const gpuarray *x, const char *sides, const bool *trims)
{
    int64_t shape[GA_MAX_NDIM], offset = 0;
    bool zero;
    if (is_zero(x, &zero) != GA_OK)
        return NULL;
    for (int axis = 0; axis < x->ndim; axis++) {
        int64_t first = 0, last = zero ? -1 : x->shape[axis] - 1;
        shape[axis] = x->shape[axis];
        if (!trims[axis])
            continue;
        if (!zero && find_ends(x, axis, &first, &last) != GA_OK)
            return NULL;
        first = !zero && !strchr(sides, 'f') ? 0 : first;
        last = !zero && !strchr(sides, 'b') ? x->shape[axis] - 1 : last;
        shape[axis] = last - first + 1;
        offset += first * x->strides[axis];
    }
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides, offset);
}

gpuarray *ga_trim_zeros_axes(const gpuarray *x, const char *trim, int naxes, const int *axes)
{
    GA__CALL("trim_zeros_axes");
    const char *const sides = trim ? trim : "fb";
    bool trims[GA_MAX_NDIM] = {false};
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "trim_zeros: the array is NULL");
    if (!*sides || strlen(sides) > 2 || strspn(sides, "fb") != strlen(sides))
        return ga__fail_null(GA_ERR_INVALID,
                             "trim_zeros: unknown sides \"%s\", expected \"f\", \"b\" or \"fb\"",
                             sides);
    if (naxes < 0 || (naxes > 0 && !axes))
        return ga__fail_null(GA_ERR_INVALID, "trim_zeros: %d axes%s", naxes,
                             axes ? "" : ", but the list is NULL");
    for (int k = 0; k < naxes; k++) {
        int axis;
        if (ga__check_axis("trim_zeros", axes[k], x->ndim, &axis) != GA_OK)
            return NULL;
        if (trims[axis])
            return ga__fail_null(GA_ERR_INVALID, "trim_zeros: axis %d is named twice", axis);
        trims[axis] = true;
    }
    return trimmed(x, sides, trims);
}

gpuarray *ga_trim_zeros(const gpuarray *x, const char *trim)
{
    GA__CALL("trim_zeros");
    int axes[GA_MAX_NDIM];
    for (int k = 0; k < GA_MAX_NDIM; k++)
        axes[k] = k;
    return ga_trim_zeros_axes(x, trim, x ? x->ndim : 0, axes);
}
