/* Views of a base array, and the positions of their elements in the base. */
#include "views.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

view view_whole(gpuarray *base)
{
    view v = {.array = base, .ndim = ga_ndim(base)};
    int64_t stride = 1;
    for (int axis = v.ndim - 1; axis >= 0; axis--) {
        v.shape[axis] = ga_shape(base)[axis];
        v.stride[axis] = stride;
        stride *= v.shape[axis];
    }
    return v;
}

view view_range(view v, int axis, int64_t first, int64_t count, int64_t step)
{
    ga_range ranges[VIEW_AXES];
    const int64_t last = first + (count - 1) * step, low = step < 0 ? last : first;
    for (int k = 0; k < v.ndim; k++)
        ranges[k] = GA_RANGE(0, v.shape[k], 1);
    ranges[axis] = GA_RANGE(low, low + (count - 1) * llabs(step) + 1, llabs(step));
    v.array = ga_slice_ranges(v.array, v.ndim, ranges);
    if (step < 0)
        v.array = ga_flip(v.array, axis);
    v.start += first * v.stride[axis];
    v.stride[axis] *= step;
    v.shape[axis] = count;
    return v;
}

view view_transposed(view v, const int *order)
{
    view turned = v;
    turned.array = ga_transpose_axes(v.array, v.ndim, order);
    for (int axis = 0; axis < v.ndim; axis++) {
        turned.shape[axis] = v.shape[order[axis]];
        turned.stride[axis] = v.stride[order[axis]];
    }
    return turned;
}

view view_repeated(view v, int axis, int64_t count)
{
    v.shape[axis] = count;
    v.stride[axis] = 0;
    v.array = ga_broadcast_to(v.array, v.ndim, v.shape);
    return v;
}

int64_t view_size(const view *v)
{
    int64_t size = 1;
    for (int axis = 0; axis < v->ndim; axis++)
        size *= v->shape[axis];
    return size;
}

int64_t view_place(const view *v, int64_t k)
{
    int64_t place = v->start;
    for (int axis = v->ndim - 1; axis >= 0; axis--) {
        place += k % v->shape[axis] * v->stride[axis];
        k /= v->shape[axis];
    }
    return place;
}

static void shuffle(int *order, int n, uint64_t *seed)
{
    for (int k = 0; k < n; k++)
        order[k] = k;
    for (int k = n - 1; k > 0; k--) {
        const int j = (int)random_below(seed, k + 1), swap = order[k];
        order[k] = order[j];
        order[j] = swap;
    }
}

/* A random range of `count` elements of an axis. */
static view random_range(view v, int axis, int64_t count, uint64_t *seed)
{
    const int64_t length = v.shape[axis], step = 1 + (random_below(seed, 3) == 0);
    const int64_t spread = (count - 1) * step + 1 > length ? 1 : step;
    const int64_t first = random_below(seed, length - (count - 1) * spread);
    const bool backwards = random_below(seed, 4) == 0;
    return backwards ? view_range(v, axis, first + (count - 1) * spread, count, -spread)
                     : view_range(v, axis, first, count, spread);
}

view view_random(gpuarray *base, const int64_t *shape, uint64_t *seed)
{
    view v = view_whole(base);
    int order[VIEW_AXES];
    shuffle(order, v.ndim, seed);
    v = view_transposed(v, order);
    for (int axis = 0; axis < v.ndim; axis++)
        v = random_range(v, axis, shape[axis], seed);
    return v;
}
