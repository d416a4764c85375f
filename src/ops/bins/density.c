/* From counts to densities: a few operations of the tables, in NumPy's order. */
#include "ops/bins/density.h"

#include <quarry/ops.h>

#include "ops/bins/bin_calls.h"

/* The widths of an axis' bins as float64, in a shape that broadcasts along this axis. */
static gpuarray *widths(const gpuarray *edges, int axis, int naxes)
{
    int64_t shape[GA_MAX_NDIM];
    const gpuarray *numbers =
        ga__dtype_kind(edges->dtype) == 'b' ? ga_astype(edges, GA_UINT8) : edges;
    const gpuarray *upper = numbers ? ga_slice(numbers, "1:") : NULL,
                   *lower = numbers ? ga_slice(numbers, ":-1") : NULL;
    const gpuarray *width = upper && lower ? ga_subtract(upper, lower) : NULL,
                   *wide = width ? ga_astype(width, GA_FLOAT64) : NULL;
    for (int k = 0; k < naxes; k++)
        shape[k] = k == axis && wide ? wide->size : 1;
    return wide ? ga_reshape(wide, naxes, shape) : NULL;
}

gpuarray *ga__density(gpuarray *counts, int naxes, const gpuarray *const *edges)
{
    const gpuarray *sum = ga_sum(counts);
    gpuarray *density = sum ? counts : NULL;
    for (int axis = 0; axis < naxes && density; axis++) {
        const gpuarray *width = widths(edges[axis], axis, naxes);
        density = width ? ga_divide(density, width) : NULL;
    }
    return density ? ga_divide(density, sum) : NULL;
}
