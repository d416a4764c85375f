/* Tuples of a write as words, which sort by element on a GPU. */
#ifndef GA_OPS_INDEX_PACKED_H
#define GA_OPS_INDEX_PACKED_H

#include "ops/index/scatter.h"

/* A word of each tuple: in its high bits the key of the element (as ga__tuple_keys counts, and all
 * ones for a tuple that is out of range), in the low ones the value's element if that has up to 32
 * bits, or the tuple's position. */
typedef struct ga__packed {
    gpuarray *words; /* uint64; to be freed */
    int64_t low, span;
    int shift;       /* bits below the key */
    bool has_values; /* otherwise positions */
} ga__packed;

/* Whether ga__write_packed() takes such a call: tuples are single elements, and so many that passes
 * over digits sort them. The value is an array that broadcasts to the shape of the result. */
bool ga__packs(const ga__indexing *g, ga_value value);

/* x[...] = value, where of equal tuples the last one wins. */
ga_status ga__write_packed(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value);

/* The tuples in the order of their elements, and of one element in their own order. Values are kept
 * if they fit and may stand for their positions: where `value` is an array. GA_ERR_UNSUPPORTED if
 * key and position need more than 64 bits. */
ga_status ga__pack_sorted(const char *name, const ga__indexing *g, ga_index_mode mode,
                          ga_value value, ga__packed *packed);

/* The kernel that fills packed->words, in scatter.c. */
ga_status ga__scatter_pack(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value, const ga__packed *packed);

#endif
