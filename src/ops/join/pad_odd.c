/* Pads an axis by odd reflection: elements beyond an edge are twice the edge less the mirrored. */
#include <quarry/joining.h>

#include <string.h>

#include "base/error.h"
#include "ops/join/join.h"

ga_status ga__reflect_type(const char *type, bool *odd)
{
    *odd = type && strcmp(type, "odd") == 0;
    if (*odd || !type || strcmp(type, "even") == 0)
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "pad: unknown reflect_type \"%s\"", type);
}

/* 2 * edge - part. Integers wrap, and truths count as integers. */
static gpuarray *beyond(const gpuarray *edge, const gpuarray *part)
{
    gpuarray *twice = ga_multiply(edge, 2), *less = twice ? ga_subtract(twice, part) : NULL,
             *out = less && less->dtype != part->dtype ? ga_astype(less, part->dtype)
                                                       : ga_retain(less);
    ga_free(twice);
    ga_free(less);
    return out;
}

/* `count` elements for one end of x. The nearest one mirrors the element `inset` from the edge. */
static gpuarray *reflected(const gpuarray *x, int axis, bool behind, int64_t inset, int64_t count)
{
    const int64_t length = x->shape[axis];
    gpuarray *edge = ga__slice_along(x, axis, behind ? length - 1 : 0, 1),
             *part = ga__slice_along(x, axis, behind ? length - inset - count : inset, count),
             *reversed = edge && part ? ga_flip_axes(part, 1, &axis) : NULL,
             *out = reversed ? beyond(edge, reversed) : NULL;
    ga_free(edge);
    ga_free(part);
    ga_free(reversed);
    return out;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* x between up to `width` more elements at both ends, which becomes what is still missing. A turn
 * mirrors at most whole periods of what it finds, as NumPy's. */
static gpuarray *pad_turn(const gpuarray *x, int axis, bool symmetric, int64_t period,
                          int64_t *width)
{
    const int64_t inset = symmetric ? 0 : 1, step = period - inset,
                  most = (x->shape[axis] - inset) / step * step;
    const int64_t count[] = {least(most, width[0]), least(most, width[1])};
    gpuarray *const side[] = {count[0] > 0 ? reflected(x, axis, false, inset, count[0]) : NULL,
                              count[1] > 0 ? reflected(x, axis, true, inset, count[1]) : NULL};
    width[0] -= count[0];
    width[1] -= count[1];
    return ga__pad_join(x, axis, side, count);
}

/* NumPy repeats the edge of an axis of one element. */
static gpuarray *pad_single(const gpuarray *x, int axis, const int64_t *width)
{
    gpuarray *repeated = ga__repeat_along(x, axis, width[0] + 1 + width[1]),
             *out = repeated ? ga_copy(repeated) : NULL;
    ga_free(repeated);
    return out;
}

gpuarray *ga__pad_odd(const gpuarray *x, int axis, bool symmetric, const int64_t *widths)
{
    const int64_t period = x->shape[axis];
    int64_t width[] = {widths[0], widths[1]};
    gpuarray *out = period == 1 ? pad_single(x, axis, width) : ga_retain((gpuarray *)x);
    while (period > 1 && out && (width[0] > 0 || width[1] > 0)) {
        gpuarray *next = pad_turn(out, axis, symmetric, period, width);
        ga_free(out);
        out = next;
    }
    return out;
}
