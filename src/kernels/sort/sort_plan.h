/* How a sort runs: the way that suits the length of its rows, and how the launches share them. */
#ifndef GA_KERNELS_SORT_SORT_PLAN_H
#define GA_KERNELS_SORT_SORT_PLAN_H

#include "kernels/sort/sort_call.h"
#include "kernels/sort/sort_text.h"

typedef enum ga__sort_way {
    GA__SORT_BY_NETWORK, /* short rows: one launch */
    GA__SORT_BY_ROW,     /* a block or worker has a row: one launch */
    GA__SORT_BY_PASSES,  /* blocks share rows: a launch for each digit and some more */
    GA__SORT_BY_BUCKETS  /* on the host: workers share rows, by comparisons of words */
} ga__sort_way;

/* All that the launches of one sort share. */
typedef struct ga__sort_plan {
    const ga__sort_call *call;
    ga__device *device;
    ga__sort_way way;
    ga__sort_variant v; /* but for its step */
    int64_t rows, length;
    int64_t share, shares; /* as in sort_params.def; of passes */
    int64_t count_share;   /* CUDA: elements that a block counts, */
    int64_t count_shares;  /* and such blocks of a row */
    int digits;            /* bytes of a key */
    size_t shared;         /* CUDA: dynamic bytes of a block */
    /* Bytes of memory that the launches need: elements that are not wanted, spare elements and
     * indices, counts, words of tiles; or scratch memory of a host's worker. */
    size_t to_bytes, spare_bytes, spare_index_bytes, state_bytes, status_bytes, scratch_bytes;
} ga__sort_plan;

/* Plans a sort of at least one row of at least two elements. */
void ga__sort_plan_make(ga__sort_plan *p, const ga__sort_call *call);

/* Blocks of a launch of this step. */
int64_t ga__sort_plan_grid(const ga__sort_plan *p, ga__sort_step step);

#endif
