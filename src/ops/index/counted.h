/* Adds integers to indexed elements: each block of a GPU sums by element, in its shared memory. */
#ifndef GA_OPS_INDEX_COUNTED_H
#define GA_OPS_INDEX_COUNTED_H

#include "ops/index/parts.h"

/* Whether x[parts] += value is of this kind: x and the value are integers, a block has room for all
 * elements that the indices can name, and there are many tuples for each. Atomics on the few
 * elements of x itself would wait for each other. */
bool ga__counts_in_blocks(const ga__indexing *g, ga_value value);

/* Adds the value to what the parts describe; sums wrap around. */
ga_status ga__add_counted(const char *name, const ga__indexing *g, ga_value value);

#endif
