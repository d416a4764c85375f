/* How a call of the engine of bins runs: its walk over the operands, and where the bins are. */
#ifndef GA_KERNELS_HISTOGRAM_BINNED_PLAN_H
#define GA_KERNELS_HISTOGRAM_BINNED_PLAN_H

#include "kernels/elementwise_plan.h"
#include "kernels/histogram/binned_text.h"

typedef struct ga__binned_plan {
    const ga__binned *call;
    ga__elementwise_plan walk;
    ga__binned_head head;
    int64_t chunk;                 /* host: elements of a block; CUDA: turns of a range's blocks */
    int64_t segments, range, grid; /* blocks of a range, its bins, all blocks */
    int64_t rows, pitch, copies;   /* rows of bins, slots from one to the next, rows of a block */
    int64_t uppers, step;          /* of the table's elements in shared memory */
    size_t room, shared;           /* bytes of those or the edges, and of all shared memory */
} ga__binned_plan;

/* Fills the rest of *p from the call and the memory for the strides of all operands. */
void ga__binned_plan_make(ga__binned_plan *p);

/* The dtype of a row's slots. */
static inline ga_dtype ga__binned_slot(const ga__binned_plan *p)
{
    if (p->call->use == GA__BINNED_WEIGH)
        return GA_FLOAT64;
    if (p->call->use == GA__BINNED_SUM)
        return p->call->wide_sums ? GA_UINT64 : GA_UINT32;
    return p->walk.head.host && !p->head.wide_sums ? GA_UINT32 : GA_INT64;
}

#endif
