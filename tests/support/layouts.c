/* Arrays of given elements in every layout. */
#include "layouts.h"

#include <stdlib.h>
#include <string.h>

const char *const layout_names[LAYOUT_COUNT] = {"contiguous",    "fortran", "step 2",
                                                "negative step", "offset",  "broadcast"};

/* Elements of an array of shape (a, b, ...) in C order, written in the C order of the reversed
 * shape. */
static void transpose_host(const char *from, char *to, size_t size, int ndim, const int64_t *shape)
{
    int64_t count = 1, index[GA_MAX_NDIM] = {0};
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    for (int64_t k = 0; k < count; k++) {
        int64_t at = 0;
        for (int i = ndim - 1; i >= 0; i--)
            at = at * shape[i] + index[i];
        memcpy(to + (size_t)at * size, from + (size_t)k * size, size);
        for (int i = ndim - 1; i >= 0 && ++index[i] == shape[i]; i--)
            index[i] = 0;
    }
}

static gpuarray *fortran_array(const void *data, ga_dtype dtype, int ndim, const int64_t *shape,
                               char *room)
{
    int64_t reversed[GA_MAX_NDIM] = {0};
    for (int i = 0; i < ndim; i++)
        reversed[i] = shape[ndim - 1 - i];
    transpose_host(data, room, ga_dtype_size(dtype), ndim, shape);
    gpuarray *base = ga_from_host(room, dtype, ndim, reversed);
    gpuarray *view = ga_transpose(base);
    ga_free(base);
    return view;
}

/* Spreads the rows of the last axis to every `step`-th of twice as many elements, or reverses
 * them. */
static gpuarray *stepped_array(const void *data, ga_dtype dtype, int ndim, const int64_t *shape,
                               bool reverse, char *room, size_t count)
{
    size_t size = ga_dtype_size(dtype), width = (size_t)shape[ndim - 1];
    int64_t wide[GA_MAX_NDIM] = {0};
    memcpy(wide, shape, (size_t)ndim * sizeof *wide);
    wide[ndim - 1] *= reverse ? 1 : 2;
    memset(room, 0x55, 2 * count * size);
    for (size_t k = 0; k < count; k++) {
        size_t to = reverse ? k / width * width + (width - 1 - k % width) : 2 * k;
        memcpy(room + to * size, (const char *)data + k * size, size);
    }
    /* 0x55 is not a bool */
    if (dtype == GA_BOOL)
        for (size_t k = 0; k < 2 * count; k++)
            room[k] = room[k] == 0x55 ? 1 : room[k];
    gpuarray *base = ga_from_host(room, dtype, ndim, wide);
    gpuarray *view = ga_slice(base, reverse ? "..., ::-1" : "..., ::2");
    ga_free(base);
    return view;
}

static gpuarray *offset_array(const void *data, ga_dtype dtype, int ndim, const int64_t *shape,
                              char *room, size_t count)
{
    size_t size = ga_dtype_size(dtype);
    int64_t longer = (int64_t)count + 1;
    memset(room, 0, size);
    memcpy(room + size, data, count * size);
    gpuarray *base = ga_from_host(room, dtype, 1, &longer);
    gpuarray *tail = ga_slice(base, "1:");
    gpuarray *view = ga_reshape(tail, ndim, shape);
    ga_free(tail);
    ga_free(base);
    return view;
}

static gpuarray *broadcast_array(const void *data, ga_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t wide[GA_MAX_NDIM] = {3};
    memcpy(wide + 1, shape, (size_t)ndim * sizeof *wide);
    gpuarray *base = ga_from_host(data, dtype, ndim, shape);
    gpuarray *view = ga_broadcast_to(base, ndim + 1, wide);
    ga_free(base);
    return view;
}

gpuarray *layout_array(layout how, const void *data, ga_dtype dtype, int ndim, const int64_t *shape)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= (size_t)shape[i];
    if (how == LAYOUT_CONTIGUOUS || (ndim == 0 && how != LAYOUT_BROADCAST))
        return ga_from_host(data, dtype, ndim, shape);
    if (how == LAYOUT_BROADCAST)
        return broadcast_array(data, dtype, ndim, shape);
    char *room = malloc(2 * (count + 1) * ga_dtype_size(dtype));
    gpuarray *made = NULL;
    if (room && how == LAYOUT_FORTRAN)
        made = fortran_array(data, dtype, ndim, shape, room);
    else if (room && how == LAYOUT_OFFSET)
        made = offset_array(data, dtype, ndim, shape, room, count);
    else if (room)
        made = stepped_array(data, dtype, ndim, shape, how == LAYOUT_NEGATIVE, room, count);
    free(room);
    return made;
}
