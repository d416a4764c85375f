/* The unique elements of an array, for other operations on sets. */
#ifndef GA_OPS_SETS_UNIQUE_H
#define GA_OPS_SETS_UNIQUE_H

#include "ops/sets/runs.h"

/* The unique elements of x in order, and what is wanted of them. The caller's scope owns all that
 * it makes, also on failure. */
ga_status ga__unique(const char *name, const gpuarray *x, bool distinct_nan, ga__wanted_runs wanted,
                     ga__made_runs *made);

/* The same of the parts along an axis, whose elements decide in C order; `indices` and `inverse`
 * are of parts. */
ga_status ga__unique_along(const char *name, const gpuarray *x, int axis, ga__wanted_runs wanted,
                           ga__made_runs *made);

#endif
