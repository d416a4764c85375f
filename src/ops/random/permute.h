/* Random orders of numbers. */
#ifndef GA_OPS_RANDOM_PERMUTE_H
#define GA_OPS_RANDOM_PERMUTE_H

#include <quarry/random.h>

#include "array/array.h"

/* The first `count` of the numbers 0 .. m - 1 in random order, int64, from one element of the
 * generator, or from none without numbers. NULL on failure. */
gpuarray *ga__order_start(const char *name, ga__device *device, ga_rng *rng, int64_t m,
                          int64_t count);

#endif
