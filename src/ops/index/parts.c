/* x[parts] taken apart: the axes that ranges leave, and the arrays of indices. */
#include "ops/index/parts.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/slice.h"

/* Parts without an ellipsis: each is one axis of the view, or a new one. */
typedef struct written {
    const char *name; /* of the function, for messages */
    int count;
    ga_range range[GA__MOST_INDEX_PARTS];
    int gap; /* the part before which an ellipsis of no axes stands; 0: none does */
    int index[GA__MOST_INDEX_PARTS]; /* which array of indices it is; WHOLE or NUMBER otherwise */
    int arrays;
    ga__indexed array[GA__MOST_INDEX_PARTS];
} written;

enum { WHOLE = -1, NUMBER = -2 };

static ga_status add_part(written *w, ga_range range, int index)
{
    if (w->count == GA__MOST_INDEX_PARTS)
        return ga__fail(GA_ERR_INDEX, "%s: more than %d parts", w->name, GA__MOST_INDEX_PARTS);
    w->range[w->count] = range;
    w->index[w->count++] = index;
    return GA_OK;
}

/* An array of indices of an axis: GA_ALL, or GA_NEWAXIS for one of length 1 that x does not have.
 */
static ga_status add_index(written *w, const gpuarray *array, ga_range axis)
{
    const ga_status status = add_part(w, axis, w->arrays);
    if (status == GA_OK)
        w->array[w->arrays++].array = array;
    return status;
}

/* One truth chooses index 0 of a new axis, or nothing. */
static ga_status add_truth(ga__indexing *g, written *w, const gpuarray *truth)
{
    gpuarray *chosen = ga_flatnonzero(truth);
    if (!chosen)
        return ga_error();
    g->owned[g->nowned++] = chosen;
    return add_index(w, chosen, GA_NEWAXIS);
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
        status = add_index(w, found[k], GA_ALL);
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
            status = add_index(w, part->array, GA_ALL);
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
static ga_status broadcast_indices(const written *w, int *ndim, int64_t *shape)
{
    *ndim = 0;
    for (int k = 0; k < w->arrays; k++) {
        const gpuarray *a = w->array[k].array;
        if (!ga__broadcast_shape(ndim, shape, a->ndim, a->shape))
            return ga__fail(GA_ERR_SHAPE, "%s: indices of shapes %s and %s %s", w->name,
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
static ga_status lay_out(ga__indexing *g, written *w, const ga__slice *view,
                         const int64_t *index_shape)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int plain = 0, axis = 0;
    for (int k = 0, source = 0; k < w->count; k++) {
        const bool number = w->index[k] == NUMBER;
        if (w->index[k] >= 0) {
            ga__indexed *index = &w->array[w->index[k]];
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
        return ga__fail(GA_ERR_INDEX, "%s: the result has more than %d dimensions", w->name,
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
static ga_status check_lengths(const written *w)
{
    for (int k = 0; k < w->arrays; k++)
        if (w->array[k].length == 0 && w->array[k].array->size > 0)
            return ga__fail(GA_ERR_INDEX, "%s: axis %d has no elements", w->name, w->array[k].axis);
    return GA_OK;
}

/* ---- Many arrays ---- */

/* Adds the offsets that `count` indices give to the places; where one is out of range, the place is
 * too. */
static ga_status offsets_text(int count, ga__strbuf *text)
{
    for (int k = 0; k < count; k++)
        ga__strbuf_addf(text, "const long long k%d = ga::within(j%d, n%d, fault, call, a%d, p);\n",
                        k, k, k, k);
    ga__strbuf_add(text, "r = (r");
    for (int k = 0; k < count; k++)
        ga__strbuf_addf(text, " | k%d", k);
    ga__strbuf_add(text, ") < 0 ? (long long)(1ull << 63) : r");
    for (int k = 0; k < count; k++)
        ga__strbuf_addf(text, " + k%d * s%d", k, k);
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

/* Adds the offsets of g's indices, in elements. */
static ga_status add_offsets(const char *name, const ga__indexing *g, gpuarray *places)
{
    ga__index_operands memory[GA__MOST_INDICES];
    ga__operand operands[2 + GA__INDEX_OPERANDS * GA__MOST_INDICES + GA__CHECKED_OPERANDS];
    ga__lens sums, position;
    ga__checked checked;
    ga__strbuf text = GA__STRBUF_INIT;
    int64_t strides[GA_MAX_NDIM];
    int n = 2;
    ga__indexing_position(g, strides);
    ga__lens_set(&position, NULL, places->ndim, places->shape, strides + g->first, 0);
    ga__lens_set_typed(&sums, places, places->ndim, places->shape, places->strides, 0);
    operands[0] = ga__lens_operand("r", &sums, GA__VALUE, true);
    operands[0].reads = true;
    operands[1] = ga__lens_operand("p", &position, GA__COORDINATE, false);
    for (int k = 0; k < g->count; k++, n += GA__INDEX_OPERANDS)
        ga__index_operands_set(&memory[k], g, k, g->first, g->index_ndim, operands + n);
    n = ga__checked_begin(&checked, name, g->x->buffer->device, operands, n);
    ga_status status = n < 0 ? ga_error() : offsets_text(g->count, &text);
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_INDEX, 256u + (unsigned)g->count),
                                 .name = "index_places",
                                 .body = text.text};
    if (status == GA_OK)
        status = ga__elementwise(&formula, g->x->buffer->device, places->ndim, places->shape, n,
                                 operands);
    ga__strbuf_reset(&text);
    return n < 0 ? status : ga__checked_end(&checked, status);
}

/* As many arrays from number `from` on as a kernel takes. */
static ga__indexing group_of(const ga__indexing *g, const written *w, int from)
{
    ga__indexing group = *g;
    group.count = w->arrays - from < GA__MOST_INDICES ? w->arrays - from : GA__MOST_INDICES;
    memcpy(group.index, w->array + from, sizeof(ga__indexed) * (size_t)group.count);
    return group;
}

/* The places that the arrays can name, in elements; *low is the lowest one. */
static int64_t span_of(const ga__indexing *g, const written *w, int64_t *low)
{
    int64_t span = 1;
    *low = 0;
    for (int k = 0; k < w->arrays; k += GA__MOST_INDICES) {
        int64_t least;
        const ga__indexing group = group_of(g, w, k);
        span += ga__indexing_span(&group, &least) - 1;
        *low += least;
    }
    return span;
}

/* Makes one array of indices of all: places in memory from the lowest one on. */
static ga_status unite_indices(ga__indexing *g, const written *w)
{
    const int64_t size = (int64_t)ga__dtype_size(g->x->dtype);
    int64_t low, span = span_of(g, w, &low);
    gpuarray *places =
        ga__array_new(w->name, g->x->buffer->device, GA_INT64, g->index_ndim, g->shape + g->first);
    if (!places)
        return ga_error();
    g->owned[g->nowned++] = places;
    g->index[0] = (ga__indexed){places, w->array[w->arrays - 1].axis, span, size};
    g->count = 1;
    if (places->size == 0)
        return GA_OK;
    g->offset += low * size;
    ga_status status = ga__fill_elements(places, ga_value_signed(GA_INT64, -low));
    for (int k = 0; k < w->arrays && status == GA_OK; k += GA__MOST_INDICES) {
        const ga__indexing group = group_of(g, w, k);
        status = add_offsets(w->name, &group, places);
    }
    return status;
}

/* Gives the arrays of indices to g. */
static ga_status keep_indices(ga__indexing *g, const written *w)
{
    if (w->arrays > GA__MOST_INDICES)
        return unite_indices(g, w);
    g->count = w->arrays;
    memcpy(g->index, w->array, sizeof(ga__indexed) * (size_t)w->arrays);
    return GA_OK;
}

ga_status ga__indexing_init(ga__indexing *g, const char *name, const gpuarray *x, int n,
                            const ga_part *parts, gpuarray **view)
{
    written w;
    ga__slice slice;
    int64_t index_shape[GA_MAX_NDIM];
    int taken;
    *view = NULL;
    g->x = x;
    g->count = g->nowned = 0;
    w.name = name;
    w.count = w.arrays = w.gap = 0;
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
    if (w.arrays == 0) {
        *view = ga__array_view(x, x->dtype, slice.ndim, slice.shape, slice.strides, slice.offset);
        return *view ? GA_OK : ga_error();
    }
    g->first = place_indices(&w);
    status = broadcast_indices(&w, &g->index_ndim, index_shape);
    if (status == GA_OK)
        status = lay_out(g, &w, &slice, index_shape);
    if (status == GA_OK)
        status = check_lengths(&w);
    return status == GA_OK ? keep_indices(g, &w) : status;
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

void ga__index_operands_set(ga__index_operands *memory, const ga__indexing *g, int k, int first,
                            int ndim, ga__operand *operands)
{
    static const char letters[] = "jnas";
    const ga__indexed *index = &g->index[k];
    int64_t strides[GA_MAX_NDIM];
    for (int j = 0; j < GA__INDEX_OPERANDS; j++)
        snprintf(memory->names[j], sizeof *memory->names, "%c%d", letters[j], k);
    ga__indexing_strides(g, k, strides);
    ga__lens_set_typed(&memory->array, index->array, ndim, g->shape + first, strides + first, 0);
    operands[0] = ga__lens_operand(memory->names[0], &memory->array, GA__VALUE, false);
    operands[0].type = GA_INT64;
    operands[1] = ga__integer_operand(memory->names[1], index->length);
    operands[2] = ga__integer_operand(memory->names[2], index->axis);
    operands[3] =
        ga__integer_operand(memory->names[3], index->stride / (int64_t)ga__dtype_size(g->x->dtype));
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

int64_t ga__indexing_span(const ga__indexing *g, int64_t *low)
{
    const int64_t size = (int64_t)ga__dtype_size(g->x->dtype);
    int64_t high = 0;
    *low = 0;
    for (int k = 0; k < g->count; k++) {
        const int64_t reach = (g->index[k].length - 1) * (g->index[k].stride / size);
        *(reach < 0 ? low : &high) += reach;
    }
    return high - *low + 1;
}

int64_t ga__indexing_tuples(const ga__indexing *g)
{
    return ga__shape_size(g->index_ndim, g->shape + g->first);
}
