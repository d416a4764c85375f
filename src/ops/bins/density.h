/* From counts to densities. */
#ifndef GA_OPS_BINS_DENSITY_H
#define GA_OPS_BINS_DENSITY_H

#include "array/array.h"

/* The counts over the width of their bins along each axis, and over their sum: a new array of the
 * current scope. NULL on failure. */
gpuarray *ga__density(gpuarray *counts, int naxes, const gpuarray *const *edges);

#endif
