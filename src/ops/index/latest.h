/* Writes to the elements of a GPU's array through a word of each, which tells its last tuple. */
#ifndef GA_OPS_INDEX_LATEST_H
#define GA_OPS_INDEX_LATEST_H

#include "ops/index/scatter.h"

/* Plans the words of x[parts] = value, an array, and allocates nothing. False if they do not suit
 * it: on the host, of rows, for elements with gaps between them, or for many more elements than
 * tuples. */
bool ga__latest_plan(const ga__indexing *g, const int64_t *steps, ga_value value, ga__latest *plan);

/* Writes as planned; as ga__scatter(). */
ga_status ga__write_latest(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value, const ga__latest *plan);

#endif
