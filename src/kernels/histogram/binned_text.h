/* The text of a kernel of bins. */
#ifndef GA_KERNELS_HISTOGRAM_BINNED_TEXT_H
#define GA_KERNELS_HISTOGRAM_BINNED_TEXT_H

#include "kernels/elementwise_text.h"
#include "kernels/histogram/binning.h"

/* The parameters begin with this. The rest are as in an elementwise kernel. */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__bins_params {
#include "bins_params.def"
} ga__bins_params;
#undef GA_PARAM

/* What a block of a GPU has in shared memory beside its bins. */
typedef enum ga__binned_table {
    GA__TABLE_NONE,
    GA__TABLE_SORTED, /* a part of the sorted table, which the host reads where it is */
    GA__TABLE_EDGES   /* all edges of equal bins */
} ga__binned_table;

/* What the text depends on beside the formula and the operands. */
typedef struct ga__binned_head {
    uint8_t use;   /* a ga__binned_use */
    uint8_t table; /* a ga__binned_table */
    bool own_bins; /* CUDA: a block's bins are in shared memory */
    bool wide;     /* bins have 64 bits */
    bool past_cache;
    uint8_t group;  /* host: elements that are mapped together */
    bool wide_sums; /* of integers, of 64 bits; counts of the host that are the result */
    uint8_t blocks; /* CUDA: for which the compiler leaves registers; 0: any number */
} ga__binned_head;
_Static_assert(sizeof(ga__binned_head) == 8, "the head is one word of the key");

typedef struct ga__binned_variant {
    ga__binned_head head;
    ga__elementwise_variant walk;
} ga__binned_variant;

/* The record of binned.tmpl, a function of the formula and the variant alone; its caller frees it.
 * NULL and an error when memory is out. `d` has the variant's operands. */
ga__record *ga__binned_text(const ga__formula *f, const ga__declaration *d,
                            const ga__binned_variant *v);

#endif
