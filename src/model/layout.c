/* Shapes and strides: sizes, broadcasting, extents, and the loop nests made from them. */
#include "model/layout.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/dtype.h"

/* ---- One shape ---- */

int64_t ga__shape_bytes(int ndim, const int64_t *shape, int64_t itemsize)
{
    int64_t bytes = itemsize;
    bool empty = false;

    for (int k = 0; k < ndim; k++) {
        if (shape[k] < 0)
            return -1;
        if (shape[k] == 0)
            empty = true;
        else if (__builtin_mul_overflow(bytes, shape[k], &bytes))
            return -1;
    }
    return empty ? 0 : bytes;
}

/* Raises what is wrong with lengths that ga__shape_bytes() refused. */
static ga_status fail_lengths(const char *name, ga_dtype dtype, int ndim, const int64_t *shape)
{
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] < 0)
            return ga__fail(GA_ERR_SHAPE, "%s: shape %s has the negative length %" PRId64, name,
                            ga__shape_text(ndim, shape), shape[axis]);
    }
    return ga__fail(GA_ERR_SHAPE, "%s: shape %s of %s has too many elements: more than 2^63 bytes",
                    name, ga__shape_text(ndim, shape), ga_dtype_name(dtype));
}

ga_status ga__check_ndim(const char *name, int ndim, const int64_t *shape)
{
    if (ndim < 0 || ndim > GA_MAX_NDIM)
        return ga__fail(GA_ERR_INVALID, "%s: %d dimensions, expected 0 to %d", name, ndim,
                        GA_MAX_NDIM);
    if (ndim > 0 && !shape)
        return ga__fail(GA_ERR_INVALID, "%s: the shape of %d dimensions is NULL", name, ndim);
    return GA_OK;
}

ga_status ga__check_shape(const char *name, ga_dtype dtype, int ndim, const int64_t *shape,
                          int64_t *size)
{
    if (!ga__dtype_valid(dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: %d is not a dtype", name, (int)dtype);
    if (ga__check_ndim(name, ndim, shape) != GA_OK)
        return GA_ERR_INVALID;
    const int64_t itemsize = (int64_t)ga__dtype_size(dtype);
    const int64_t bytes = ga__shape_bytes(ndim, shape, itemsize);
    if (bytes < 0)
        return fail_lengths(name, dtype, ndim, shape);
    *size = bytes / itemsize;
    return GA_OK;
}

/* All strides of an empty array are 0, as NumPy's: none is followed, and none can overflow. */
void ga__contiguous_strides(int ndim, const int64_t *shape, int64_t itemsize, int64_t *strides)
{
    int64_t stride = ga__shape_size(ndim, shape) > 0 ? itemsize : 0;

    for (int k = ndim - 1; k >= 0; k--) {
        strides[k] = stride;
        stride *= shape[k];
    }
}

bool ga__is_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t itemsize)
{
    bool contiguous = true;
    int64_t stride = itemsize;

    for (int k = ndim - 1; k >= 0; k--) {
        if (shape[k] == 0)
            return true;
        if (shape[k] == 1 || !contiguous)
            continue;
        contiguous = strides[k] == stride;
        stride *= contiguous ? shape[k] : 1;
    }
    return contiguous;
}

void ga__extent(int ndim, const int64_t *shape, const int64_t *strides, int64_t itemsize,
                int64_t *low, int64_t *high)
{
    int64_t first = 0, last = 0;

    for (int k = 0; k < ndim; k++) {
        if (shape[k] == 0) {
            *low = *high = 0;
            return;
        }
        const int64_t reach = (shape[k] - 1) * strides[k];
        first += reach < 0 ? reach : 0;
        last += reach > 0 ? reach : 0;
    }
    *low = first;
    *high = last + itemsize;
}

const char *ga__shape_text(int ndim, const int64_t *shape)
{
    enum { BUFFERS = 5, ROOM = 22 * GA_MAX_NDIM + 4 }; /* "-9223372036854775808, " is 22 long */
    static _Thread_local char buffers[BUFFERS][ROOM];
    static _Thread_local int next;
    char *text = buffers[next];
    int length = 1;

    assert(ndim <= GA_MAX_NDIM);
    next = (next + 1) % BUFFERS;
    text[0] = '(';
    for (int k = 0; k < ndim; k++)
        length += snprintf(text + length, (size_t)(ROOM - length), k ? ", %" PRId64 : "%" PRId64,
                           shape[k]);
    memcpy(text + length, ndim == 1 ? ",)" : ")", ndim == 1 ? 3 : 2);
    return text;
}

ga_status ga__check_axis(const char *name, int axis, int ndim, int *normal)
{
    if (axis < -ndim || axis >= ndim)
        return ga__fail(GA_ERR_INVALID, "%s: axis %d is out of range for %d dimension%s", name,
                        axis, ndim, ndim == 1 ? "" : "s");
    *normal = axis < 0 ? axis + ndim : axis;
    return GA_OK;
}

ga_status ga__one_axis(const char *name, int naxes, const int *axes)
{
    if (naxes == 1 && !axes)
        return ga__fail(GA_ERR_INVALID, "%s: the list of axes is NULL", name);
    if (naxes < 0 || naxes > 1)
        return ga__fail(GA_ERR_INVALID, "%s: %d axes, expected one", name, naxes);
    return GA_OK;
}

ga_status ga__check_axes(const char *name, int naxes, const int *axes, int ndim, uint32_t *set)
{
    uint32_t found = 0;

    const bool takes_none = ndim == 0 && naxes == 1 && (axes[0] == 0 || axes[0] == -1);
    for (int k = 0; k < naxes && !takes_none; k++) {
        int axis = 0;
        const ga_status status = ga__check_axis(name, axes[k], ndim, &axis);
        if (status != GA_OK)
            return status;
        if (found >> axis & 1)
            return ga__fail(GA_ERR_INVALID, "%s: axis %d is given twice", name, axis);
        found |= (uint32_t)1 << axis;
    }
    *set = found;
    return GA_OK;
}

/* ---- Broadcasting ---- */

/* The length of axis `axis` of a result of `ndim` axes, from a shape that may have fewer. */
static int64_t length_at(int axis, int ndim, int own_ndim, const int64_t *own)
{
    const int k = axis - (ndim - own_ndim);

    return k < 0 ? 1 : own[k];
}

bool ga__broadcast_shape(int *ndim, int64_t *shape, int other_ndim, const int64_t *other)
{
    const int common = *ndim > other_ndim ? *ndim : other_ndim;
    int64_t result[GA_MAX_NDIM];

    assert(common <= GA_MAX_NDIM);
    if (ga__same_shape(*ndim, shape, other_ndim, other))
        return true;
    if (*ndim == 0) {
        memcpy(shape, other, (size_t)other_ndim * sizeof *shape);
        *ndim = other_ndim;
        return true;
    }
    for (int k = 0; k < common; k++) {
        const int64_t a = length_at(k, common, *ndim, shape);
        const int64_t b = length_at(k, common, other_ndim, other);
        if (a != b && a != 1 && b != 1)
            return false;
        result[k] = a == 1 ? b : a;
    }
    if (ga__shape_size(common, result) < 0)
        return false;
    for (int k = 0; k < common; k++)
        shape[k] = result[k];
    *ndim = common;
    return true;
}

const char *ga__broadcast_problem(int ndim, const int64_t *shape, int other_ndim,
                                  const int64_t *other)
{
    const int common = ndim > other_ndim ? ndim : other_ndim;

    for (int k = 0; k < common; k++) {
        const int64_t a = length_at(k, common, ndim, shape);
        const int64_t b = length_at(k, common, other_ndim, other);
        if (a != b && a != 1 && b != 1)
            return "do not broadcast";
    }
    return "broadcast to more than 2^63 elements";
}

bool ga__broadcasts_to(int ndim, const int64_t *shape, int to_ndim, const int64_t *to)
{
    if (ndim > to_ndim)
        return false;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] != 1 && shape[k] != to[to_ndim - ndim + k])
            return false;
    }
    return true;
}

void ga__broadcast_strides(int ndim, const int64_t *shape, int other_ndim, const int64_t *other,
                           const int64_t *other_strides, int64_t *strides)
{
    const int added = ndim - other_ndim;

    assert(added >= 0);
    for (int k = 0; k < ndim; k++) {
        assert(k < added || other[k - added] == shape[k] || other[k - added] == 1);
        const bool repeated = k < added || (other[k - added] == 1 && shape[k] != 1);
        strides[k] = repeated ? 0 : other_strides[k - added];
    }
}

/* ---- Loop nests ---- */

static void copy_axis(ga__nest *nest, int from, int to)
{
    nest->shape[to] = nest->shape[from];
    for (int k = 0; k < nest->noperands; k++)
        nest->strides[k][to] = nest->strides[k][from];
}

/* An empty nest becomes one axis of length 0; true when it was one. */
static bool empty_nest(ga__nest *nest)
{
    if (ga__shape_size(nest->ndim, nest->shape) != 0)
        return false;
    nest->ndim = 1;
    nest->shape[0] = 0;
    for (int k = 0; k < nest->noperands; k++)
        nest->strides[k][0] = 0;
    return true;
}

static void drop_unit_axes(ga__nest *nest)
{
    int kept = 0;

    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->shape[axis] != 1)
            copy_axis(nest, axis, kept++);
    }
    nest->ndim = kept;
}

/* Which of two axes belongs inside: negative for a, positive for b, 0 when no operand can tell. An
 * operand that one of them repeats (stride 0) has no say. */
static int compare_axes(const ga__nest *nest, int a, int b)
{
    for (int k = 0; k < nest->noperands; k++) {
        const int64_t stride_a = llabs(nest->strides[k][a]), stride_b = llabs(nest->strides[k][b]);
        if (stride_a != 0 && stride_b != 0 && stride_a != stride_b)
            return stride_a < stride_b ? -1 : 1;
    }
    return 0;
}

/* Insertion sort as NumPy's iterator does it (npyiter_find_best_axis_ordering): repeated axes make
 * the comparison intransitive, which an insertion sort tolerates; axes no operand can tell apart
 * keep their order. */
static void sort_axes(const ga__nest *nest, int *order)
{
    for (int axis = 0; axis < nest->ndim; axis++) {
        int place = axis;
        for (int k = axis - 1; k >= 0; k--) {
            const int sign = compare_axes(nest, axis, order[k]);
            if (sign > 0)
                break;
            if (sign < 0)
                place = k;
        }
        memmove(order + place + 1, order + place, (size_t)(axis - place) * sizeof *order);
        order[place] = axis;
    }
}

static void permute(int n, const int *order, int64_t *numbers)
{
    int64_t old[GA_MAX_NDIM];

    for (int k = 0; k < n; k++)
        old[k] = numbers[k];
    for (int k = 0; k < n; k++)
        numbers[k] = old[order[k]];
}

static void order_axes(ga__nest *nest)
{
    int order[GA_MAX_NDIM];

    sort_axes(nest, order);
    permute(nest->ndim, order, nest->shape);
    for (int k = 0; k < nest->noperands; k++)
        permute(nest->ndim, order, nest->strides[k]);
}

static bool merges(const ga__nest *nest, int inner, int outer)
{
    for (int k = 0; k < nest->noperands; k++) {
        if (nest->strides[k][outer] != nest->strides[k][inner] * nest->shape[inner])
            return false;
    }
    return true;
}

static void merge_axes(ga__nest *nest)
{
    int last = 0;

    for (int axis = 1; axis < nest->ndim; axis++) {
        if (merges(nest, last, axis))
            nest->shape[last] *= nest->shape[axis];
        else
            copy_axis(nest, axis, ++last);
    }
    nest->ndim = nest->ndim ? last + 1 : 0;
}

void ga__nest_collapse(ga__nest *nest)
{
    if (empty_nest(nest))
        return;
    drop_unit_axes(nest);
    order_axes(nest);
    merge_axes(nest);
}

void ga__nest_merge(ga__nest *nest)
{
    if (empty_nest(nest))
        return;
    drop_unit_axes(nest);
    merge_axes(nest);
}

void ga__nest_swap(ga__nest *nest, int a, int b)
{
    const int64_t shape = nest->shape[a];
    nest->shape[a] = nest->shape[b];
    nest->shape[b] = shape;
    for (int place = 0; place < nest->noperands; place++) {
        const int64_t stride = nest->strides[place][a];
        nest->strides[place][a] = nest->strides[place][b];
        nest->strides[place][b] = stride;
    }
}

bool ga__nest_in_step(const ga__nest *nest, int place, int first_axis, int lanes)
{
    const int64_t *strides = nest->strides[place];
    for (int axis = first_axis; axis < nest->ndim; axis++)
        if (strides[axis] % lanes)
            return false;
    return true;
}
