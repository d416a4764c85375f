/* Views with other axes: moved, reversed, added, broadcast. */
#include <quarry/joining.h>

#include <string.h>

#include "array/array.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"

/* The axis `axis` of x as a number from 0 on; false and an error for a bad one or no array. */
static bool find_axis(const char *name, const gpuarray *x, int axis, int *found)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", name) == GA_OK;
    return ga__check_axis(name, axis, x->ndim, found) == GA_OK;
}

gpuarray *ga_swapaxes(const gpuarray *x, int a, int b)
{
    int order[GA_MAX_NDIM], first, second;
    if (!find_axis("swapaxes", x, a, &first) || !find_axis("swapaxes", x, b, &second))
        return NULL;
    for (int k = 0; k < x->ndim; k++)
        order[k] = k == first ? second : k == second ? first : k;
    return ga_transpose_axes(x, x->ndim, order);
}

/* The axis `from` becomes axis `to`; the others keep their order. */
static gpuarray *move(const gpuarray *x, int from, int to)
{
    int order[GA_MAX_NDIM];
    for (int k = 0, next = 0; k < x->ndim; k++) {
        next += next == from;
        order[k] = k == to ? from : next++;
    }
    return ga_transpose_axes(x, x->ndim, order);
}

gpuarray *ga_moveaxis(const gpuarray *x, int from, int to)
{
    int source, target;
    if (!find_axis("moveaxis", x, from, &source) || !find_axis("moveaxis", x, to, &target))
        return NULL;
    return move(x, source, target);
}

/* The axes of x as bits; false and an error for one that is out of range or repeats. */
static bool find_axes(const char *name, const gpuarray *x, int n, const int *axes, int *found)
{
    uint32_t seen = 0;
    if (n < 0 || n > x->ndim || (n > 0 && !axes))
        return ga__fail(GA_ERR_INVALID, "%s: %d axes of %d dimensions%s", name, n, x->ndim,
                        n > 0 && !axes ? ", but the list is NULL" : ""),
               false;
    for (int k = 0; k < n; k++) {
        if (ga__check_axis(name, axes[k], x->ndim, &found[k]) != GA_OK)
            return false;
        if (seen >> found[k] & 1)
            return ga__fail(GA_ERR_INVALID, "%s: axis %d is given twice", name, found[k]), false;
        seen |= (uint32_t)1 << found[k];
    }
    return true;
}

gpuarray *ga_move_axes(const gpuarray *x, int n, const int *from, const int *to)
{
    int source[GA_MAX_NDIM], target[GA_MAX_NDIM], order[GA_MAX_NDIM];
    uint32_t moves = 0;
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "move_axes: the array is NULL");
    if (!find_axes("move_axes", x, n, from, source) || !find_axes("move_axes", x, n, to, target))
        return NULL;
    for (int k = 0; k < x->ndim; k++)
        order[k] = -1;
    for (int k = 0; k < n; k++) {
        order[target[k]] = source[k];
        moves |= (uint32_t)1 << source[k];
    }
    for (int k = 0, next = 0; k < x->ndim; k++) {
        if (order[k] >= 0)
            continue;
        while (moves >> next & 1)
            next++;
        order[k] = next++;
    }
    return ga_transpose_axes(x, x->ndim, order);
}

gpuarray *ga_rollaxis(const gpuarray *x, int axis, int start)
{
    int from;
    if (!find_axis("rollaxis", x, axis, &from))
        return NULL;
    const int to = start < 0 ? start + x->ndim : start;
    if (to < 0 || to > x->ndim)
        return ga__fail_null(GA_ERR_INVALID, "rollaxis: start %d is out of range for %d dimensions",
                             start, x->ndim);
    return move(x, from, from < to ? to - 1 : to);
}

/* ---- Reversed ---- */

static gpuarray *reverse(const gpuarray *x, uint32_t axes)
{
    int64_t strides[GA_MAX_NDIM], offset = 0;
    for (int k = 0; k < x->ndim; k++) {
        const bool reversed = axes >> k & 1 && x->shape[k] > 0;
        offset += reversed ? (x->shape[k] - 1) * x->strides[k] : 0;
        strides[k] = reversed ? -x->strides[k] : x->strides[k];
    }
    return ga__array_view(x, x->dtype, x->ndim, x->shape, strides, x->size > 0 ? offset : 0);
}

gpuarray *(ga_flip_axes)(const gpuarray *x, int naxes, const int *axes)
{
    uint32_t set = UINT32_MAX;
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "flip_axes: the array is NULL");
    if (naxes < 0 || (naxes > 0 && !axes))
        return ga__fail_null(GA_ERR_INVALID, "flip_axes: %d axes%s", naxes,
                             axes ? "" : ", but the list is NULL");
    if (naxes > 0 && ga__check_axes("flip_axes", naxes, axes, x->ndim, &set) != GA_OK)
        return NULL;
    return reverse(x, set);
}

static gpuarray *flip_one(const char *name, const gpuarray *x, int axis)
{
    int found;
    return find_axis(name, x, axis, &found) ? reverse(x, (uint32_t)1 << found) : NULL;
}

gpuarray *ga_fliplr(const gpuarray *x)
{
    return flip_one("fliplr", x, 1);
}

gpuarray *ga_flipud(const gpuarray *x)
{
    return flip_one("flipud", x, 0);
}

gpuarray *ga_rot90_axes(const gpuarray *x, int k, int from, int to)
{
    int a, b;
    if (!find_axis("rot90", x, from, &a) || !find_axis("rot90", x, to, &b))
        return NULL;
    if (a == b)
        return ga__fail_null(GA_ERR_INVALID, "rot90: axes %d and %d are the same", from, to);
    const int turns = (k % 4 + 4) % 4;
    if (turns % 2 == 0)
        return reverse(x, turns == 0 ? 0 : (uint32_t)1 << a | (uint32_t)1 << b);
    /* One turn reverses `to` and exchanges the axes; three reverse `from`. */
    gpuarray *reversed = reverse(x, (uint32_t)1 << (turns == 1 ? b : a)),
             *result = reversed ? ga_swapaxes(reversed, a, b) : NULL;
    ga_free(reversed);
    return result;
}

gpuarray *ga_rot90(const gpuarray *x, int k)
{
    return ga_rot90_axes(x, k, 0, 1);
}

/* ---- More axes ---- */

/* x with axes of length 1 before and after its own. */
static gpuarray *surround(const gpuarray *x, int before, int after)
{
    int64_t shape[GA_MAX_NDIM + 4], strides[GA_MAX_NDIM + 4];
    const int ndim = before + x->ndim + after;
    for (int k = 0; k < ndim; k++) {
        const bool own = k >= before && k < before + x->ndim;
        shape[k] = own ? x->shape[k - before] : 1;
        strides[k] = own ? x->strides[k - before] : 0;
    }
    return ga__array_view(x, x->dtype, ndim, shape, strides, 0);
}

gpuarray *ga_atleast_1d(const gpuarray *x)
{
    return x ? surround(x, x->ndim == 0, 0)
             : ga__fail_null(GA_ERR_INVALID, "atleast_1d: the array is NULL");
}

gpuarray *ga_atleast_2d(const gpuarray *x)
{
    return x ? surround(x, x->ndim < 2 ? 2 - x->ndim : 0, 0)
             : ga__fail_null(GA_ERR_INVALID, "atleast_2d: the array is NULL");
}

gpuarray *ga_atleast_3d(const gpuarray *x)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "atleast_3d: the array is NULL");
    const int before = x->ndim < 2;
    return surround(x, before, x->ndim < 3 ? 3 - before - x->ndim : 0);
}

/* ---- Broadcast ---- */

ga_status ga_broadcast_shapes(int count, const int *ndims, const int64_t *const *shapes, int *ndim,
                              int64_t *shape)
{
    int64_t common[GA_MAX_NDIM];
    int axes = 0;
    if (count < 0 || !ndim || !shape || (count > 0 && (!ndims || !shapes)))
        return ga__fail(GA_ERR_INVALID, "broadcast_shapes: %d shapes, and a list is NULL", count);
    for (int k = 0; k < count; k++) {
        if (ga__check_ndim("broadcast_shapes", ndims[k], shapes[k]) != GA_OK)
            return GA_ERR_INVALID;
        if (!ga__broadcast_shape(&axes, common, ndims[k], shapes[k]))
            return ga__fail(GA_ERR_SHAPE, "broadcast_shapes: shapes %s and %s %s",
                            ga__shape_text(axes, common), ga__shape_text(ndims[k], shapes[k]),
                            ga__broadcast_problem(axes, common, ndims[k], shapes[k]));
    }
    *ndim = axes;
    memcpy(shape, common, sizeof(int64_t) * (size_t)axes);
    return GA_OK;
}

static void free_made(int count, gpuarray **made)
{
    for (int k = 0; k < count; k++)
        ga_free(made[k]);
}

ga_status ga_broadcast_arrays(int count, const gpuarray *const *arrays, gpuarray **out)
{
    int64_t shape[GA_MAX_NDIM];
    int ndim = 0;
    if (count < 0 || (count > 0 && (!arrays || !out)))
        return ga__fail(GA_ERR_INVALID, "broadcast_arrays: %d arrays, and a list is NULL", count);
    for (int k = 0; k < count; k++) {
        const gpuarray *x = arrays[k];
        if (!x)
            return ga__fail(GA_ERR_INVALID, "broadcast_arrays: array %d is NULL", k + 1);
        if (!ga__broadcast_shape(&ndim, shape, x->ndim, x->shape))
            return ga__fail(GA_ERR_SHAPE, "broadcast_arrays: shapes %s and %s %s",
                            ga__shape_text(ndim, shape), ga__shape_text(x->ndim, x->shape),
                            ga__broadcast_problem(ndim, shape, x->ndim, x->shape));
    }
    gpuarray *made[count + 1];
    for (int k = 0; k < count; k++) {
        made[k] = ga_broadcast_to(arrays[k], ndim, shape);
        if (!made[k]) {
            free_made(k, made);
            return ga_error();
        }
    }
    memcpy(out, made, sizeof *made * (size_t)count);
    return GA_OK;
}

/* Array k of a grid as a view: along its own axis its elements, along the others repeated, or of
 * length 1 if the grid is sparse. */
static gpuarray *grid_view(const gpuarray *x, int axis, int ndim, const int64_t *shape, bool sparse)
{
    int64_t strides[GA_MAX_NDIM] = {0}, ones[GA_MAX_NDIM];
    for (int k = 0; k < ndim; k++)
        ones[k] = k == axis ? shape[k] : 1;
    strides[axis] = x->ndim > 0 ? x->strides[0] : 0;
    return ga__array_view(x, x->dtype, ndim, sparse ? ones : shape, strides, 0);
}

/* Checks the arguments and finds the shape of the grid. Axis k is that of array k, but "xy" swaps
 * the first two. */
static ga_status grid_shape(const ga_meshgrid_args *args, int64_t *shape, bool *swaps)
{
    const int count = args->count;
    const char *indexing = args->indexing;
    if (count < 0 || count > GA_MAX_NDIM)
        return ga__fail(GA_ERR_INVALID, "meshgrid: %d arrays, expected 0 to %d", count,
                        GA_MAX_NDIM);
    if (count > 0 && (!args->arrays || !args->out))
        return ga__fail(GA_ERR_INVALID, "meshgrid: %d arrays, but a list is NULL", count);
    if (indexing && strcmp(indexing, "xy") != 0 && strcmp(indexing, "ij") != 0)
        return ga__fail(GA_ERR_INVALID,
                        "meshgrid: unknown indexing \"%s\", expected \"xy\" or \"ij\"", indexing);
    *swaps = count > 1 && (!indexing || strcmp(indexing, "xy") == 0);
    for (int k = 0; k < count; k++) {
        const gpuarray *x = args->arrays[k];
        if (!x)
            return ga__fail(GA_ERR_INVALID, "meshgrid: array %d is NULL", k + 1);
        if (x->ndim > 1)
            return ga__fail(GA_ERR_SHAPE, "meshgrid: array %d has %d dimensions, expected 1", k + 1,
                            x->ndim);
        shape[*swaps && k < 2 ? 1 - k : k] = x->size;
    }
    return GA_OK;
}

ga_status(ga_meshgrid)(size_t size, const ga_meshgrid_args *args)
{
    GA__CALL("meshgrid");
    ga_meshgrid_args known;
    int64_t shape[GA_MAX_NDIM];
    gpuarray *made[GA_MAX_NDIM];
    bool swaps = false;
    ga_status status = ga__options_read("meshgrid", &known, sizeof known, args, size);
    if (status == GA_OK)
        status = grid_shape(&known, shape, &swaps);
    for (int k = 0; status == GA_OK && k < known.count; k++) {
        const int axis = swaps && k < 2 ? 1 - k : k;
        gpuarray *view = grid_view(known.arrays[k], axis, known.count, shape, known.sparse);
        made[k] = view ? ga_copy(view) : NULL;
        ga_free(view);
        if (made[k])
            continue;
        free_made(k, made);
        status = ga_error();
    }
    if (status == GA_OK && known.count > 0)
        memcpy(known.out, made, sizeof *made * (size_t)known.count);
    return status;
}

/* ---- Parts of an axis ---- */

gpuarray *ga__slice_along(const gpuarray *x, int axis, int64_t start, int64_t count)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = count;
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides,
                          ga__shape_size(x->ndim, shape) > 0 ? start * x->strides[axis] : 0);
}

gpuarray *ga__repeat_along(const gpuarray *x, int axis, int64_t count)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = count;
    return ga_broadcast_to(x, x->ndim, shape);
}
