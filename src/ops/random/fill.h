/* Fills arrays of any layout with fresh elements of a generator. */
#ifndef GA_OPS_RANDOM_FILL_H
#define GA_OPS_RANDOM_FILL_H

#include "kernels/draw.h"

/* A new array that the draw fills; `planned` is the status of its preparation. NULL on failure. */
gpuarray *ga__draw_new(const ga__draw *draw, ga_status planned, ga_rng *rng, ga_dtype dtype,
                       int ndim, const int64_t *shape);

/* Fills `out` likewise, in C order whatever its layout. */
ga_status ga__draw_into(const ga__draw *draw, ga_status planned, gpuarray *out, ga_rng *rng);

#endif
