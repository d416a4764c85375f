/* Marks the elements at which segments of a scan start. */
#include "ops/scan/scan_starts.h"

#include <inttypes.h>

#include <quarry/ops.h>

#include "base/error.h"
#include "kernels/elementwise.h"
#include "ops/scan/take_number.h"

ga_status ga__check_starts(const char *name, const ga__device *device, const gpuarray *offsets)
{
    const char kind = ga__dtype_kind(offsets->dtype);
    if (kind != 'i' && kind != 'u')
        return ga__fail(GA_ERR_DTYPE, "%s: offsets: %s is not an integer dtype", name,
                        ga_dtype_name(offsets->dtype));
    if (offsets->ndim != 1)
        return ga__fail(GA_ERR_SHAPE, "%s: offsets: shape %s is not 1-D", name,
                        ga__shape_text(offsets->ndim, offsets->shape));
    if (offsets->buffer->device != device)
        return ga__fail(GA_ERR_DEVICE, "%s: the operand is on %s, offsets on %s", name,
                        device->name, offsets->buffer->device->name);
    return GA_OK;
}

/* Waits for the offsets, so a graph cannot do it: its kernel leaves out those that are outside. */
static ga_status check_range(const char *name, const gpuarray *offsets, int64_t length)
{
    int64_t least = 0, most = 0;
    if (offsets->size == 0 || ga__recording())
        return GA_OK;
    if (ga__take_number(ga_min(offsets), &least) != GA_OK ||
        ga__take_number(ga_max(offsets), &most) != GA_OK)
        return ga_error();
    if (least >= 0 && most <= length)
        return GA_OK;
    return ga__fail(GA_ERR_INDEX, "%s: offsets: %" PRId64 " is not in [0, %" PRId64 "]", name,
                    least < 0 ? least : most, length);
}

static ga_status mark(gpuarray *flags, const gpuarray *offsets, int64_t length, bool reverse)
{
    static const ga__formula starts = {.id = GA__FORMULA_ID(40),
                                       .name = "starts",
                                       .body = "if (o >= 0 && o < m) f[o] = true"},
                             ends = {.id = GA__FORMULA_ID(41),
                                     .name = "ends",
                                     .body = "if (o > 0 && o <= m) f[o - 1] = true"};
    const ga__operand operands[] = {
        {.name = "f", .array = flags, .type = GA_BOOL, .access = GA__ACCESSOR, .writes = true},
        {.name = "o", .array = offsets, .type = GA_INT64, .reads = true},
        {.name = "m",
         .number = ga_value_signed(GA_INT64, length),
         .type = GA_INT64,
         .reads = true}};
    return ga__elementwise(reverse ? &ends : &starts, flags->buffer->device, 1, offsets->shape, 3,
                           operands);
}

/* The same elements with more axes of length 1. */
static gpuarray *with_axes(gpuarray *flags, int trailing)
{
    int64_t shape[GA_MAX_NDIM] = {flags->size}, strides[GA_MAX_NDIM] = {1};
    for (int axis = 1; axis <= trailing; axis++)
        shape[axis] = 1, strides[axis] = 0;
    return ga__array_view(flags, GA_BOOL, 1 + trailing, shape, strides, 0);
}

gpuarray *ga__scan_starts(const char *name, ga__device *device, const gpuarray *offsets,
                          int64_t length, bool reverse, int trailing)
{
    if (check_range(name, offsets, length) != GA_OK)
        return NULL;
    gpuarray *flags = ga__array_new(name, device, GA_BOOL, 1, &length), *view = NULL;
    const bool filled =
        flags && (ga_assign)(flags, ga_value_bool(false)) == GA_OK &&
        (length == 0 || offsets->size == 0 || mark(flags, offsets, length, reverse) == GA_OK);
    if (filled)
        view = with_axes(flags, trailing);
    ga_free(flags);
    return view;
}
