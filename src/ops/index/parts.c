/* x[parts] taken apart: the axes that ranges leave, and the arrays of indices. */
#include "ops/index/parts.h"

#include <string.h>

#include "base/error.h"
#include "ops/slice.h"

/* Parts without an ellipsis: each is one axis of the view, or a new one. */
typedef struct written {
    const char *name; /* of the function, for messages */
    int count;
    ga_range range[2 * GA_MAX_NDIM + 1];
    int gap; /* the part before which an ellipsis of no axes stands; 0: none does */
    int index[2 * GA_MAX_NDIM + 1]; /* which array of indices it is; WHOLE or NUMBER otherwise */
} written;

enum { WHOLE = -1, NUMBER = -2 };

static ga_status add_part(written *w, ga_range range, int index)
{
    if (w->count == 2 * GA_MAX_NDIM + 1)
        return ga__fail(GA_ERR_INDEX, "%s: more than %d parts", w->name, 2 * GA_MAX_NDIM + 1);
    w->range[w->count] = range;
    w->index[w->count++] = index;
    return GA_OK;
}

/* An array of indices of an axis: GA_ALL, or GA_NEWAXIS for one of length 1 that x does not have.
 */
static ga_status add_index(ga__indexing *g, written *w, const gpuarray *array, ga_range axis)
{
    if (g->count == GA__MOST_INDICES)
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: more than %d arrays of indices", w->name,
                        GA__MOST_INDICES);
    g->index[g->count].array = array;
    return add_part(w, axis, g->count++);
}

/* One truth chooses index 0 of a new axis, or nothing. */
static ga_status add_truth(ga__indexing *g, written *w, const gpuarray *truth)
{
    gpuarray *chosen = ga_flatnonzero(truth);
    if (!chosen)
        return ga_error();
    g->owned[g->nowned++] = chosen;
    return add_index(g, w, chosen, GA_NEWAXIS);
}

/* A mask becomes the indices of its true elements. `axis`: the first one that it takes. */
static ga_status add_mask(ga__indexing *g, written *w, const gpuarray *mask, int axis)
{
    const gpuarray *x = g->x;
    if (mask->ndim == 0)
        return add_truth(g, w, mask);
    for (int k = 0; k < mask->ndim; k++)
        if (axis + k >= x->ndim || mask->shape[k] != x->shape[axis + k])
            return ga__fail(GA_ERR_INDEX,
                            "%s: a mask of shape %s does not fit shape %s from axis %d on", w->name,
                            ga__shape_text(mask->ndim, mask->shape),
                            ga__shape_text(x->ndim, x->shape), axis);
    gpuarray *found[GA_MAX_NDIM];
    ga_status status = ga_nonzero(mask, found);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < mask->ndim; k++)
        g->owned[g->nowned++] = found[k];
    for (int k = 0; k < mask->ndim && status == GA_OK; k++)
        status = add_index(g, w, found[k], GA_ALL);
    return status;
}

static int axes_of(const ga_part *part)
{
    if (part->is_array)
        return part->array->dtype == GA_BOOL ? part->array->ndim : 1;
    return part->range.kind <= 1;
}

/* Raises for parts that cannot be; counts the axes that they take. */
static ga_status check_parts(const char *name, const gpuarray *x, int n, const ga_part *parts,
                             int *taken)
{
    int ellipses = 0;
    *taken = 0;
    for (int k = 0; k < n; k++) {
        const gpuarray *array = parts[k].array;
        if (parts[k].is_array && !array)
            return ga__fail(GA_ERR_INVALID, "%s: part %d is NULL", name, k + 1);
        if (parts[k].is_array && array->dtype != GA_BOOL &&
            ga__check_indices(name, x, array) != GA_OK)
            return ga_error();
        if (parts[k].is_array && array->buffer->device != x->buffer->device)
            return ga__fail(GA_ERR_DEVICE, "%s: the array is on %s, the mask on %s", name,
                            x->buffer->device->name, array->buffer->device->name);
        if (!parts[k].is_array && (parts[k].range.kind < 0 || parts[k].range.kind > 3))
            return ga__fail(GA_ERR_INVALID, "%s: part %d has kind %d, expected 0 to 3", name, k + 1,
                            parts[k].range.kind);
        ellipses += !parts[k].is_array && parts[k].range.kind == 3;
        *taken += axes_of(&parts[k]);
    }
    if (ellipses > 1)
        return ga__fail(GA_ERR_INDEX, "%s: more than one ellipsis (%d)", name, ellipses);
    if (*taken > x->ndim)
        return ga__fail(GA_ERR_INDEX, "%s: too many indices: %d for shape %s", name, *taken,
                        ga__shape_text(x->ndim, x->shape));
    return GA_OK;
}

static ga_status write_whole(written *w, int count)
{
    ga_status status = GA_OK;
    for (; count > 0 && status == GA_OK; count--)
        status = add_part(w, GA_ALL, WHOLE);
    return status;
}

/* Writes the parts out. `rest`: the axes that none of them takes. */
static ga_status write_parts(ga__indexing *g, int n, const ga_part *parts, int rest, written *w)
{
    ga_status status = GA_OK;
    bool ellipsis = false;
    int axis = 0;
    for (int k = 0; k < n && status == GA_OK; k++) {
        const ga_part *part = &parts[k];
        const int kind = part->range.kind;
        if (part->is_array && part->array->dtype == GA_BOOL)
            status = add_mask(g, w, part->array, axis);
        else if (part->is_array)
            status = add_index(g, w, part->array, GA_ALL);
        else if (kind == 3) {
            w->gap = rest == 0 ? w->count : 0;
            status = write_whole(w, rest);
        } else
            status = add_part(w, part->range, kind == 1 ? NUMBER : WHOLE);
        axis += !part->is_array && kind == 3 ? rest : axes_of(part);
        ellipsis = ellipsis || (!part->is_array && kind == 3);
    }
    return status == GA_OK && !ellipsis ? write_whole(w, rest) : status;
}

/* The common shape of the indices. */
static ga_status broadcast_indices(const ga__indexing *g, const char *name, int *ndim,
                                   int64_t *shape)
{
    *ndim = 0;
    for (int k = 0; k < g->count; k++) {
        const gpuarray *a = g->index[k].array;
        if (!ga__broadcast_shape(ndim, shape, a->ndim, a->shape))
            return ga__fail(GA_ERR_SHAPE, "%s: indices of shapes %s and %s %s", name,
                            ga__shape_text(*ndim, shape), ga__shape_text(a->ndim, a->shape),
                            ga__broadcast_problem(*ndim, shape, a->ndim, a->shape));
    }
    return GA_OK;
}

/* Where the axes of the indices stand: the first index if all are neighbours, otherwise in front.
 * As in NumPy, an ellipsis of no axes stands between its neighbours too. */
static int place_indices(const written *w)
{
    int first = -1, last = -1, indices = 0, axes = 0, at = 0;
    for (int k = 0; k < w->count; k++) {
        if (w->index[k] == WHOLE) {
            axes++;
            continue;
        }
        at = first < 0 ? axes : at;
        first = first < 0 ? k : first;
        last = k;
        indices++;
    }
    const bool apart = first < w->gap && w->gap <= last;
    return last - first + 1 == indices && !apart ? at : 0;
}

/* The result's axes: those of the ranges, with the indices' put in at g->first. */
static ga_status lay_out(ga__indexing *g, const char *name, const written *w, const ga__slice *view,
                         const int64_t *index_shape)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int plain = 0, axis = 0;
    for (int k = 0, source = 0; k < w->count; k++) {
        const bool number = w->index[k] == NUMBER;
        if (w->index[k] >= 0) {
            ga__indexed *index = &g->index[w->index[k]];
            index->axis = source;
            index->length = view->shape[axis];
            index->stride = view->strides[axis];
        } else if (!number) {
            shape[plain] = view->shape[axis];
            strides[plain++] = view->strides[axis];
        }
        axis += !number;
        source += w->range[k].kind <= 1;
    }
    if (plain + g->index_ndim > GA_MAX_NDIM)
        return ga__fail(GA_ERR_INDEX, "%s: the result has more than %d dimensions", name,
                        GA_MAX_NDIM);
    g->ndim = plain + g->index_ndim;
    for (int k = 0, own = 0; k < g->ndim; k++) {
        const bool indexed = k >= g->first && k < g->first + g->index_ndim;
        g->shape[k] = indexed ? index_shape[k - g->first] : shape[own];
        g->strides[k] = indexed ? 0 : strides[own++];
    }
    return GA_OK;
}

/* Raises for an axis of no elements that an array indexes. */
static ga_status check_lengths(const ga__indexing *g, const char *name)
{
    for (int k = 0; k < g->count; k++)
        if (g->index[k].length == 0 && g->index[k].array->size > 0)
            return ga__fail(GA_ERR_INDEX, "%s: axis %d has no elements", name, g->index[k].axis);
    return GA_OK;
}

ga_status ga__indexing_init(ga__indexing *g, const char *name, const gpuarray *x, int n,
                            const ga_part *parts, gpuarray **view)
{
    written w = {.name = name};
    ga__slice slice;
    int64_t index_shape[GA_MAX_NDIM];
    int taken;
    *view = NULL;
    *g = (ga__indexing){.x = x};
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", name);
    if (n < 0 || (n > 0 && !parts))
        return ga__fail(GA_ERR_INVALID, "%s: %d parts%s", name, n,
                        parts ? "" : ", but the list is NULL");
    ga_status status = check_parts(name, x, n, parts, &taken);
    if (status == GA_OK)
        status = write_parts(g, n, parts, x->ndim - taken, &w);
    if (status == GA_OK)
        status = ga__slice_make(name, x->ndim, x->shape, x->strides, w.count, w.range, &slice);
    if (status != GA_OK)
        return status;
    g->offset = slice.offset;
    if (g->count == 0) {
        *view = ga__array_view(x, x->dtype, slice.ndim, slice.shape, slice.strides, slice.offset);
        return *view ? GA_OK : ga_error();
    }
    g->first = place_indices(&w);
    status = broadcast_indices(g, name, &g->index_ndim, index_shape);
    if (status == GA_OK)
        status = lay_out(g, name, &w, &slice, index_shape);
    return status == GA_OK ? check_lengths(g, name) : status;
}

void ga__indexing_reset(ga__indexing *g)
{
    for (int k = 0; k < g->nowned; k++)
        ga_free(g->owned[k]);
    g->nowned = 0;
}

ga_status ga__indexing_separate(ga__indexing *g)
{
    for (int k = 0; k < g->count; k++) {
        if (!ga__arrays_overlap(g->x, g->index[k].array))
            continue;
        gpuarray *copy = ga_copy(g->index[k].array);
        if (!copy)
            return ga_error();
        g->owned[g->nowned++] = copy;
        g->index[k].array = copy;
    }
    return GA_OK;
}

void ga__indexing_strides(const ga__indexing *g, int k, int64_t *strides)
{
    const gpuarray *a = g->index[k].array;
    memset(strides, 0, sizeof(int64_t) * GA_MAX_NDIM);
    ga__broadcast_strides(g->index_ndim, g->shape + g->first, a->ndim, a->shape, a->strides,
                          strides + g->first);
}

void ga__indexing_position(const ga__indexing *g, int64_t *strides)
{
    memset(strides, 0, sizeof(int64_t) * GA_MAX_NDIM);
    ga__contiguous_strides(g->index_ndim, g->shape + g->first, 1, strides + g->first);
}

int64_t ga__indexing_tuples(const ga__indexing *g)
{
    return ga__shape_size(g->index_ndim, g->shape + g->first);
}
