/* Views: other shapes, orders and dtypes of the same memory. */
#include <string.h>

#include <quarry/ops.h>
#include <quarry/struct.h>

#include "array/array.h"
#include "ops/convert.h"
#include "base/error.h"
#include "base/options.h"

static int64_t itemsize_of(const gpuarray *x)
{
    return (int64_t)ga__dtype_size(x->dtype);
}

static gpuarray *view_as(const gpuarray *x, int ndim, const int64_t *shape, const int64_t *strides)
{
    return ga__array_view(x, x->dtype, ndim, shape, strides, 0);
}

static ga_status fail_reshape(const gpuarray *x, int ndim, const int64_t *wanted)
{
    return ga__fail(GA_ERR_SHAPE, "reshape: cannot reshape size %lld to %s", (long long)x->size,
                    ga__shape_text(ndim, wanted));
}

/* Copies `wanted` with its -1 resolved. */
static ga_status resolve_shape(const gpuarray *x, int ndim, const int64_t *wanted, int64_t *shape)
{
    int unknown = -1;

    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = wanted[axis];
        if (wanted[axis] != -1)
            continue;
        if (unknown >= 0)
            return ga__fail(GA_ERR_SHAPE, "reshape: only one length can be -1, not two of %s",
                            ga__shape_text(ndim, wanted));
        unknown = axis;
        shape[axis] = 1;
    }
    const int64_t itemsize = itemsize_of(x);
    const int64_t bytes = ga__shape_bytes(ndim, shape, itemsize), known = bytes / itemsize;
    if (bytes < 0 || (unknown < 0 && known != x->size))
        return fail_reshape(x, ndim, wanted);
    if (unknown < 0)
        return GA_OK;
    if (known == 0 || x->size % known != 0)
        return fail_reshape(x, ndim, wanted);
    shape[unknown] = x->size / known;
    return GA_OK;
}

/* The shape and strides of x without its axes of length 1; returns the number of axes left. */
static int without_unit_axes(const gpuarray *x, int64_t *shape, int64_t *strides)
{
    int ndim = 0;

    for (int axis = 0; axis < x->ndim; axis++) {
        if (x->shape[axis] == 1)
            continue;
        shape[ndim] = x->shape[axis];
        strides[ndim++] = x->strides[axis];
    }
    return ndim;
}

/* The strides that give x this shape without a copy, found as in NumPy: both shapes are divided
 * into the smallest groups of axes with equal products, and each group of x must be evenly spaced.
 * False if there are none. x is not empty. */
static bool strides_without_copy(const gpuarray *x, int ndim, const int64_t *shape,
                                 int64_t *strides)
{
    int64_t old_shape[GA_MAX_NDIM], old_strides[GA_MAX_NDIM];
    const int old_ndim = without_unit_axes(x, old_shape, old_strides);
    int old_begin = 0, begin = 0;

    while (begin < ndim && old_begin < old_ndim) {
        int old_end = old_begin + 1, end = begin + 1;
        int64_t old_product = old_shape[old_begin], product = shape[begin];
        while (product != old_product) {
            if (product < old_product)
                product *= shape[end++];
            else
                old_product *= old_shape[old_end++];
        }
        for (int axis = old_begin; axis < old_end - 1; axis++) {
            if (old_strides[axis] != old_shape[axis + 1] * old_strides[axis + 1])
                return false;
        }
        strides[end - 1] = old_strides[old_end - 1];
        for (int axis = end - 1; axis > begin; axis--)
            strides[axis - 1] = strides[axis] * shape[axis];
        begin = end;
        old_begin = old_end;
    }
    for (int axis = begin; axis < ndim; axis++) /* the remaining axes have length 1 */
        strides[axis] = axis > 0 ? strides[axis - 1] : itemsize_of(x);
    return true;
}

gpuarray *(ga_reshape)(const gpuarray *x, int ndim, const int64_t *shape)
{
    int64_t resolved[GA_MAX_NDIM] = {0}, strides[GA_MAX_NDIM];

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "reshape: the array is NULL");
    if (ga__check_ndim("reshape", ndim, shape) != GA_OK ||
        resolve_shape(x, ndim, shape, resolved) != GA_OK)
        return NULL;
    if (x->contiguous || x->size == 0) {
        ga__contiguous_strides(ndim, resolved, itemsize_of(x), strides);
        return view_as(x, ndim, resolved, strides);
    }
    if (strides_without_copy(x, ndim, resolved, strides))
        return view_as(x, ndim, resolved, strides);
    gpuarray *copy = ga_copy(x);
    if (!copy)
        return NULL;
    ga__contiguous_strides(ndim, resolved, itemsize_of(x), strides);
    gpuarray *view = view_as(copy, ndim, resolved, strides);
    ga_free(copy);
    return view;
}

gpuarray *ga_ravel(const gpuarray *x)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "ravel: the array is NULL");
    return ga_reshape(x, 1, &x->size);
}

gpuarray *ga_transpose(const gpuarray *x)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "transpose: the array is NULL");
    for (int axis = 0; axis < x->ndim; axis++) {
        shape[axis] = x->shape[x->ndim - 1 - axis];
        strides[axis] = x->strides[x->ndim - 1 - axis];
    }
    return view_as(x, x->ndim, shape, strides);
}

gpuarray *(ga_transpose_axes)(const gpuarray *x, int naxes, const int *axes)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    bool taken[GA_MAX_NDIM] = {false};

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "transpose_axes: the array is NULL");
    if (naxes != x->ndim || (naxes > 0 && !axes))
        return ga__fail_null(GA_ERR_INVALID, "transpose: %d axes given for shape %s", naxes,
                             ga__shape_text(x->ndim, x->shape));
    for (int i = 0; i < naxes; i++) {
        int axis;
        if (ga__check_axis("transpose", axes[i], x->ndim, &axis) != GA_OK)
            return NULL;
        if (taken[axis])
            return ga__fail_null(GA_ERR_INVALID, "transpose: axis %d is given twice", axes[i]);
        taken[axis] = true;
        shape[i] = x->shape[axis];
        strides[i] = x->strides[axis];
    }
    return view_as(x, naxes, shape, strides);
}

gpuarray *(ga_squeeze)(const gpuarray *x)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "squeeze: the array is NULL");
    const int ndim = without_unit_axes(x, shape, strides);
    return view_as(x, ndim, shape, strides);
}

gpuarray *(ga_squeeze_axes)(const gpuarray *x, int naxes, const int *axes)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    uint32_t dropped = 0;
    int ndim = 0;

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "squeeze: the array is NULL");
    if (naxes < 0 || (naxes > 0 && !axes))
        return ga__fail_null(GA_ERR_INVALID, "squeeze: %d axes%s", naxes,
                             axes ? "" : ", but the list is NULL");
    if (naxes > 0 && ga__check_axes("squeeze", naxes, axes, x->ndim, &dropped) != GA_OK)
        return NULL;
    for (int axis = 0; axis < x->ndim; axis++) {
        if (dropped >> axis & 1 && x->shape[axis] != 1)
            return ga__fail_null(GA_ERR_SHAPE,
                                 "squeeze: axis %d of shape %s has length %lld, not 1", axis,
                                 ga__shape_text(x->ndim, x->shape), (long long)x->shape[axis]);
        if (dropped >> axis & 1)
            continue;
        shape[ndim] = x->shape[axis];
        strides[ndim++] = x->strides[axis];
    }
    return view_as(x, ndim, shape, strides);
}

gpuarray *ga_squeeze_with(size_t size, const ga_squeeze_args *args)
{
    ga_squeeze_args known;

    if (ga__options_read("squeeze", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    if (known.naxes == 0)
        return (ga_squeeze)(known.x);
    return ga_squeeze_axes(known.x, known.naxes == GA_NO_AXES ? 0 : known.naxes, known.axes);
}

gpuarray *ga_expand_dims(const gpuarray *x, int axis)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int at;

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "expand_dims: the array is NULL");
    if (x->ndim == GA_MAX_NDIM)
        return ga__fail_null(GA_ERR_INVALID, "expand_dims: %d dimensions, not 0 to %d", x->ndim + 1,
                             GA_MAX_NDIM);
    if (ga__check_axis("expand_dims", axis, x->ndim + 1, &at) != GA_OK)
        return NULL;
    for (int i = 0; i <= x->ndim; i++) {
        const int old = i < at ? i : i - 1;
        shape[i] = i == at ? 1 : x->shape[old];
        strides[i] = i == at ? 0 : x->strides[old];
    }
    return view_as(x, x->ndim + 1, shape, strides);
}

/* A broadcast view; the shape must fit. */
static gpuarray *repeated(const gpuarray *x, int ndim, const int64_t *shape)
{
    int64_t strides[GA_MAX_NDIM];

    ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
    gpuarray *view = view_as(x, ndim, shape, strides);
    if (view)
        view->readonly = true;
    return view;
}

gpuarray *(ga_broadcast_to)(const gpuarray *x, int ndim, const int64_t *shape)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "broadcast_to: the array is NULL");
    int64_t size;
    if (ga__check_shape("broadcast_to", x->dtype, ndim, shape, &size) != GA_OK)
        return NULL;
    if (!ga__broadcasts_to(x->ndim, x->shape, ndim, shape))
        return ga__fail_null(GA_ERR_SHAPE, "broadcast_to: shape %s does not broadcast to %s",
                             ga__shape_text(x->ndim, x->shape), ga__shape_text(ndim, shape));
    return repeated(x, ndim, shape);
}

gpuarray *ga_flip(const gpuarray *x, int axis)
{
    int64_t strides[GA_MAX_NDIM];
    int at;

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "flip: the array is NULL");
    if (ga__check_axis("flip", axis, x->ndim, &at) != GA_OK)
        return NULL;
    memcpy(strides, x->strides, (size_t)x->ndim * sizeof *strides);
    strides[at] = -strides[at];
    const int64_t last = x->shape[at] > 0 ? x->shape[at] - 1 : 0;
    return ga__array_view(x, x->dtype, x->ndim, x->shape, strides, last * x->strides[at]);
}

gpuarray *ga_real(const gpuarray *x)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "real: the array is NULL");
    return ga__array_view(x, ga__dtype_real(x->dtype), x->ndim, x->shape, x->strides, 0);
}

/* One zero of x's dtype, broadcast to x's shape. */
static gpuarray *zeros_in_shape_of(const gpuarray *x)
{
    const uint64_t element[2] = {0, 0};
    gpuarray *zero = ga__array_new("imag", x->buffer->device, x->dtype, 0, NULL);
    gpuarray *view = NULL;

    if (zero && ga__array_set_element(zero, element) == GA_OK)
        view = repeated(zero, x->ndim, x->shape);
    ga_free(zero);
    return view;
}

gpuarray *ga_imag(const gpuarray *x)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "imag: the array is NULL");
    const ga_dtype real = ga__dtype_real(x->dtype);
    if (real == x->dtype)
        return zeros_in_shape_of(x);
    return ga__array_view(x, real, x->ndim, x->shape, x->strides, (int64_t)ga__dtype_size(real));
}

/* Adapts the last axis of a view to another element size; the other strides stay. */
static ga_status resize_last_axis(const gpuarray *x, ga_dtype dtype, int64_t *shape,
                                  int64_t *strides)
{
    const int64_t old_size = itemsize_of(x), new_size = (int64_t)ga__dtype_size(dtype);
    const int last = x->ndim - 1;

    if (old_size == new_size)
        return GA_OK;
    if (last < 0)
        return ga__fail(GA_ERR_SHAPE, "view: a 0-d array of %s has no %s elements",
                        ga_dtype_name(x->dtype), ga_dtype_name(dtype));
    if (shape[last] != 1 && x->size > 0 && strides[last] != old_size)
        return ga__fail(GA_ERR_SHAPE, "view: the last axis has stride %lld, not %lld, to be %s",
                        (long long)strides[last], (long long)old_size, ga_dtype_name(dtype));
    if (shape[last] * old_size % new_size != 0)
        return ga__fail(GA_ERR_SHAPE, "view: %lld bytes of the last axis do not divide into %s",
                        (long long)(shape[last] * old_size), ga_dtype_name(dtype));
    shape[last] = shape[last] * old_size / new_size;
    strides[last] = new_size;
    return GA_OK;
}

/* Raises GA_ERR_SHAPE if the view's elements would not be aligned. */
static bool check_alignment(const gpuarray *x, ga_dtype dtype, const int64_t *shape,
                            const int64_t *strides)
{
    const int64_t size = (int64_t)ga__dtype_size(dtype);
    bool aligned = (uintptr_t)x->data % ga__dtype_alignment(dtype) == 0;

    for (int axis = 0; axis < x->ndim; axis++)
        aligned = aligned && (shape[axis] <= 1 || strides[axis] % size == 0);
    if (!aligned && x->size > 0)
        ga__fail(GA_ERR_SHAPE, "view: shape %s of %s is not aligned for %s",
                 ga__shape_text(x->ndim, x->shape), ga_dtype_name(x->dtype), ga_dtype_name(dtype));
    return aligned || x->size == 0;
}

gpuarray *ga_view(const gpuarray *x, ga_dtype dtype)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM], size;

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "view: the array is NULL");
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "view: %d is not a dtype", (int)dtype);
    if (x->ndim > 0) {
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
        memcpy(strides, x->strides, (size_t)x->ndim * sizeof *strides);
    }
    if (resize_last_axis(x, dtype, shape, strides) != GA_OK ||
        ga__check_shape("view", dtype, x->ndim, shape, &size) != GA_OK ||
        !check_alignment(x, dtype, shape, strides))
        return NULL;
    return ga__array_view(x, dtype, x->ndim, shape, strides, 0);
}

/* Raises GA_ERR_SHAPE unless x's elements have such a member, one every whole number of members. */
static ga_status check_member(const gpuarray *x, ga_dtype dtype, size_t offset)
{
    const size_t size = ga__dtype_size(dtype), whole = ga__dtype_size(x->dtype);

    if (offset > whole || size > whole - offset)
        return ga__fail(GA_ERR_SHAPE, "field: %s at byte %zu is not within the %zu bytes of %s",
                        ga_dtype_name(dtype), offset, whole, ga_dtype_name(x->dtype));
    for (int axis = 0; axis < x->ndim; axis++)
        if (x->shape[axis] > 1 && x->strides[axis] % (int64_t)size != 0)
            return ga__fail(GA_ERR_SHAPE,
                            "field: a stride of %lld bytes is not a multiple of %s's %zu",
                            (long long)x->strides[axis], ga_dtype_name(dtype), size);
    if (x->size > 0 && ((uintptr_t)x->data + offset) % ga__dtype_alignment(dtype) != 0)
        return ga__fail(GA_ERR_SHAPE, "field: byte %zu of %s is not aligned for %s", offset,
                        ga_dtype_name(x->dtype), ga_dtype_name(dtype));
    return GA_OK;
}

gpuarray *ga_field(const gpuarray *x, ga_dtype dtype, size_t offset)
{
    int64_t strides[GA_MAX_NDIM];

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "field: the array is NULL");
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "field: %d is not a dtype", (int)dtype);
    if (check_member(x, dtype, offset) != GA_OK)
        return NULL;
    for (int axis = 0; axis < x->ndim; axis++) /* of one element any stride will do */
        strides[axis] = x->shape[axis] > 1 ? x->strides[axis] : (int64_t)ga__dtype_size(dtype);
    return ga__array_view(x, dtype, x->ndim, x->shape, strides, (int64_t)offset);
}
