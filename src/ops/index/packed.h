/* Writes to indexed elements, on a GPU by sorted tuples where claims would be far apart. */
#ifndef GA_OPS_INDEX_PACKED_H
#define GA_OPS_INDEX_PACKED_H

#include "ops/index/scatter.h"

/* As ga__scatter(). */
ga_status ga__write_indexed(const char *name, const ga__indexing *g, ga_index_mode mode,
                            const int64_t *steps, ga_value value);

/* The tuples in the order of their elements, and of one element in their own order. Values are kept
 * if they fit and may stand for their positions: where `value` is an array. GA_ERR_UNSUPPORTED if
 * key and position need more than 64 bits. */
ga_status ga__pack_sorted(const char *name, const ga__indexing *g, ga_index_mode mode,
                          ga_value value, ga__packed *packed);

#endif
