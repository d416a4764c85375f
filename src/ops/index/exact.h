/* Adds floats to indexed elements of a GPU exactly: wide sums by atomics, rounded once. */
#ifndef GA_OPS_INDEX_EXACT_H
#define GA_OPS_INDEX_EXACT_H

#include "ops/index/scatter.h"

/* Plans the sums of x[parts] += value that is computed in `loop`, but for their memory. False if
 * sums by order suit it better: for dtypes other than floats of up to 32 bits and complex numbers
 * of these, for whole rows, and for x so large that a sort takes less memory. */
bool ga__exact_plan(const ga__indexing *g, ga_value value, ga_dtype loop, ga__sums *plan);

/* Adds the value to what the parts describe, as planned. */
ga_status ga__add_exactly(const char *name, const ga__indexing *g, ga_value value, ga_dtype loop,
                          const ga__sums *plan);

#endif
