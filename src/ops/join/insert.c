/* Arrays with elements of an axis put in or left out. */
#include <quarry/shaping.h>

#include <inttypes.h>
#include <string.h>

#include <quarry/sort.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/index/scatter.h"
#include "ops/join/join.h"
#include "ops/join/owned.h"
#include "ops/scan/take_number.h"
#include "ops/slice.h"

/* ---- The axis and the part of a call ---- */

typedef struct call {
    const char *name;
    const gpuarray *x; /* a line of all elements if the call names no axis */
    ga_part part;
    int axis;
    int64_t n; /* its length */
    ga__owned owned;
} call;

static ga_status begin(call *c, const gpuarray *x, const ga_part *part, int naxes, const int *axes)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", c->name);
    if (ga__one_axis(c->name, naxes, axes) != GA_OK)
        return ga_error();
    c->part = *part;
    c->x = naxes > 0 ? x : ga__own(&c->owned, ga_ravel(x));
    if (!c->x || ga__check_axis(c->name, naxes > 0 ? axes[0] : 0, c->x->ndim, &c->axis) != GA_OK)
        return ga_error();
    c->n = c->x->shape[c->axis];
    if (!part->is_array)
        return part->range.kind == 0 || part->range.kind == 1
                   ? GA_OK
                   : ga__fail(GA_ERR_INVALID, "%s: the part is neither an index nor a range",
                              c->name);
    if (!part->array)
        return ga__fail(GA_ERR_INVALID, "%s: the array of indices is NULL", c->name);
    if (part->array->dtype != GA_BOOL)
        return ga__check_indices(c->name, x, part->array);
    if (part->array->ndim != 1 || part->array->size != c->n)
        return ga__fail(GA_ERR_SHAPE, "%s: a mask of shape %s for axis %d of length %" PRId64,
                        c->name, ga__shape_text(part->array->ndim, part->array->shape), c->axis,
                        c->n);
    return GA_OK;
}

/* A number as an index up to `most`, from the end if it is negative. */
static ga_status find_index(const call *c, int64_t most, int64_t *index)
{
    const int64_t given = c->part.range.start;
    *index = given < 0 ? given + c->n : given;
    if (*index >= 0 && *index <= most)
        return GA_OK;
    return ga__fail(GA_ERR_INDEX,
                    "%s: index %" PRId64 " is out of range for axis %d of length %" PRId64, c->name,
                    given, c->axis, c->n);
}

/* The elements that a range names. */
static ga_status find_range(const call *c, ga__slice *range)
{
    const int64_t one = 1;
    return ga__slice_make(c->name, 1, &c->n, &one, 1, &c->part.range, range);
}

/* x from `start` to `stop` along the axis. NULL on failure. */
static gpuarray *part_of(const gpuarray *x, int axis, int64_t start, int64_t stop)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = stop - start;
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides,
                          ga__shape_size(x->ndim, shape) > 0 ? start * x->strides[axis] : 0);
}

/* x[parts] = value, where the axis has the indices. */
static ga_status set_along(const call *c, gpuarray *x, const gpuarray *indices, ga_value value)
{
    ga_part parts[GA_MAX_NDIM];
    for (int k = 0; k < c->axis; k++)
        parts[k] = ga_part_of_range(GA_ALL);
    parts[c->axis] = ga_part_of_array(indices);
    return ga_index_set_parts(x, value, c->axis + 1, parts);
}

/* ---- delete ---- */

/* The parts before and behind, in one launch. */
static gpuarray *without(call *c, int64_t start, int64_t stop)
{
    const gpuarray *const ends[] = {ga__own(&c->owned, part_of(c->x, c->axis, 0, start)),
                                    ga__own(&c->owned, part_of(c->x, c->axis, stop, c->n))};
    return ends[0] && ends[1] ? ga__join(c->name, 2, ends, c->axis, GA_NO_DTYPE, NULL) : NULL;
}

/* A mask of the axis that is false at what the part names; true there if `marks`. */
static gpuarray *marked(call *c, ga_part part, bool marks)
{
    ga__indexing g;
    gpuarray *view,
        *mask = ga__own(&c->owned, ga__array_new(c->name, c->x->buffer->device, GA_BOOL, 1, &c->n));
    if (!mask || (ga_assign)(mask, ga_value_bool(!marks)) != GA_OK)
        return NULL;
    ga_status status = ga__indexing_init(&g, c->name, mask, 1, &part, &view);
    if (status == GA_OK)
        status = view ? (ga_assign)(view, ga_value_bool(marks))
                      : ga__scatter(c->name, &g, GA_RAISE, NULL, ga_value_bool(marks));
    ga_free(view);
    ga__indexing_reset(&g);
    return status == GA_OK ? mask : NULL;
}

static gpuarray *remove_parts(call *c)
{
    int64_t index;
    ga__slice range;
    const bool is_mask = c->part.is_array && c->part.array->dtype == GA_BOOL;
    if (!c->part.is_array && c->part.range.kind == 1)
        return find_index(c, c->n - 1, &index) == GA_OK ? without(c, index, index + 1) : NULL;
    if (!c->part.is_array) {
        if (find_range(c, &range) != GA_OK)
            return NULL;
        const int64_t count = range.shape[0];
        if (count == 0 || range.strides[0] == 1)
            return without(c, count ? range.offset : 0, count ? range.offset + count : 0);
    }
    const gpuarray *keep = is_mask
                               ? ga__own(&c->owned, (ga_logical_not)(ga_value_array(c->part.array)))
                               : marked(c, c->part, false);
    const ga_compress_args args = {.condition = keep, .x = c->x, .naxes = 1, .axes = &c->axis};
    return keep ? (ga_compress)(sizeof args, &args) : NULL;
}

gpuarray *(ga_delete)(size_t size, const ga_delete_args *args)
{
    GA__CALL("delete");
    ga_delete_args known;
    call c = {.name = "delete"};
    gpuarray *out = NULL;
    if (ga__options_read(c.name, &known, sizeof known, args, size) == GA_OK &&
        begin(&c, known.x, &known.part, known.naxes, known.axes) == GA_OK)
        out = remove_parts(&c);
    ga__owned_free(&c.owned);
    return out;
}

/* ---- insert ---- */

/* The value in the dtype of x, with as many axes. Of one index its first axis is the call's. */
static gpuarray *value_for(call *c, ga_value value, bool one)
{
    int64_t shape[GA_MAX_NDIM];
    if (value.kind == GA_VALUE_NUMBER && ga__check_number(c->name, value, c->x->dtype) != GA_OK)
        return NULL;
    gpuarray *array = value.kind == GA_VALUE_ARRAY
                          ? ga__own(&c->owned, ga_astype(value.as.array, c->x->dtype))
                          : ga__own(&c->owned, (ga_full)(c->x->dtype, 0, NULL, value));
    if (!array)
        return NULL;
    const int more = c->x->ndim - array->ndim;
    if (more < 0)
        return ga__fail_null(GA_ERR_SHAPE,
                             "%s: the values have %d dimensions, more than the array's %d", c->name,
                             array->ndim, c->x->ndim);
    for (int k = 0; k < c->x->ndim; k++)
        shape[k] = k < more ? 1 : array->shape[k - more];
    gpuarray *shaped = ga__own(&c->owned, ga_reshape(array, c->x->ndim, shape));
    return shaped && one ? ga__own(&c->owned, ga_moveaxis(shaped, 0, c->axis)) : shaped;
}

/* Raises unless the value broadcasts to the elements to be inserted. */
static ga_status check_value(const call *c, const gpuarray *value, int64_t count)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, c->x->shape, sizeof(int64_t) * (size_t)c->x->ndim);
    shape[c->axis] = count;
    if (ga__broadcasts_to(value->ndim, value->shape, c->x->ndim, shape))
        return GA_OK;
    return ga__fail(GA_ERR_SHAPE, "%s: values of shape %s do not broadcast to shape %s", c->name,
                    ga__shape_text(value->ndim, value->shape), ga__shape_text(c->x->ndim, shape));
}

/* All values before one element. */
static gpuarray *insert_at(call *c, int64_t index, const gpuarray *value)
{
    int64_t shape[GA_MAX_NDIM];
    const int64_t count = value->shape[c->axis];
    if (check_value(c, value, count) != GA_OK)
        return NULL;
    memcpy(shape, c->x->shape, sizeof(int64_t) * (size_t)c->x->ndim);
    shape[c->axis] = count;
    const gpuarray *const parts[] = {ga__own(&c->owned, part_of(c->x, c->axis, 0, index)),
                                     ga__own(&c->owned, ga_broadcast_to(value, c->x->ndim, shape)),
                                     ga__own(&c->owned, part_of(c->x, c->axis, index, c->n))};
    return parts[0] && parts[1] && parts[2]
               ? ga__join(c->name, 3, parts, c->axis, GA_NO_DTYPE, NULL)
               : NULL;
}

/* The indices of the part as int64 from 0 on, which are waited for. NULL on failure. */
static gpuarray *indices_of(call *c)
{
    int64_t least = 0, most = 0;
    ga__slice range;
    gpuarray *indices;
    if (!c->part.is_array) {
        if (find_range(c, &range) != GA_OK)
            return NULL;
        const int64_t start = range.offset, step = range.strides[0];
        return ga__own(&c->owned, ga_arange(GA_INT64, start, start + range.shape[0] * step, step));
    }
    if (c->part.array->dtype == GA_BOOL)
        return ga__own(&c->owned, ga_flatnonzero(c->part.array));
    gpuarray *flat = ga__own(&c->owned, ga_ravel(c->part.array));
    indices = flat ? ga__own(&c->owned, ga_astype(flat, GA_INT64)) : NULL;
    if (!indices || indices->size == 0)
        return indices;
    if (ga__take_number(ga_min(indices), &least) != GA_OK ||
        ga__take_number(ga_max(indices), &most) != GA_OK)
        return NULL;
    if (least < -c->n || most > c->n)
        return ga__fail_null(GA_ERR_INDEX,
                             "%s: index %" PRId64 " is out of range for axis %d of length %" PRId64,
                             c->name, least < -c->n ? least : most, c->axis, c->n);
    if (least >= 0)
        return indices;
    gpuarray *raised = ga__own(&c->owned, ga_add(indices, c->n)),
             *negative = ga__own(&c->owned, ga_less(indices, 0));
    return raised && negative ? ga__own(&c->owned, ga_where(negative, raised, indices)) : NULL;
}

/* Where the values stand in the result: equal indices keep their order. */
static gpuarray *places_of(call *c, const gpuarray *indices)
{
    const ga_sort_args sort = {.x = indices};
    gpuarray *order = ga__own(&c->owned, (ga_argsort)(sizeof sort, &sort)),
             *rank = ga__own(&c->owned, ga_arange(GA_INT64, 0, indices->size, 1)),
             *places = ga__own(&c->owned, ga_copy(indices));
    if (!order || !rank || !places)
        return NULL;
    gpuarray *sorted = ga__own(&c->owned, ga_take(indices, order)),
             *moved = sorted ? ga__own(&c->owned, ga_add(sorted, rank)) : NULL;
    return moved && ga_index_set(places, moved, order) == GA_OK ? places : NULL;
}

static gpuarray *insert_many(call *c, const gpuarray *indices, const gpuarray *value)
{
    int64_t shape[GA_MAX_NDIM];
    const gpuarray *x = c->x;
    gpuarray *places = places_of(c, indices);
    if (!places || check_value(c, value, indices->size) != GA_OK)
        return NULL;
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    call whole = {.name = c->name, .x = x, .axis = c->axis, .n = c->n + indices->size};
    shape[c->axis] = whole.n;
    gpuarray *out = NULL, *old = marked(&whole, ga_part_of_array(places), false),
             *count = old ? ga__own(&c->owned, ga_cumsum(old, .dtype = GA_INT64)) : NULL,
             *from = count ? ga__own(&c->owned, ga_subtract(count, 1)) : NULL;
    if (from && c->n > 0)
        out = ga_take(x, from, GA_AXIS(c->axis), .mode = GA_CLIP);
    else if (from)
        out = ga__array_new(c->name, x->buffer->device, x->dtype, x->ndim, shape);
    ga__owned_free(&whole.owned);
    if (!out || set_along(c, out, places, ga_value_array(value)) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static gpuarray *insert_parts(call *c, ga_value value)
{
    int64_t index;
    if (!c->part.is_array && c->part.range.kind == 1) {
        const gpuarray *values = value_for(c, value, true);
        return values && find_index(c, c->n, &index) == GA_OK ? insert_at(c, index, values) : NULL;
    }
    const gpuarray *indices = indices_of(c), *values = indices ? value_for(c, value, false) : NULL;
    if (!values)
        return NULL;
    if (indices->size != 1)
        return insert_many(c, indices, values);
    gpuarray *first = ga_retain((gpuarray *)indices);
    return ga__take_number(first, &index) == GA_OK ? insert_at(c, index, values) : NULL;
}

gpuarray *(ga_insert)(size_t size, const ga_insert_args *args)
{
    GA__CALL("insert");
    ga_insert_args known;
    call c = {.name = "insert"};
    gpuarray *out = NULL;
    if (ga__options_read(c.name, &known, sizeof known, args, size) == GA_OK &&
        begin(&c, known.x, &known.part, known.naxes, known.axes) == GA_OK) {
        if (known.value.kind == GA_VALUE_ARRAY && !known.value.as.array)
            ga__fail(GA_ERR_INVALID, "insert: the value is NULL");
        else
            out = insert_parts(&c, known.value);
    }
    ga__owned_free(&c.owned);
    return out;
}
