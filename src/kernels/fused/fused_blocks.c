/* Counts the blocks and the threads of fused rows that a multiprocessor of CUDA runs at once. */
#include "kernels/fused/fused_cuda.h"

#define SHARED_THREADS 1536  /* of a multiprocessor, for rows in shared memory, */
#define SYSTEM_BYTES 1024    /* of shared memory that a block takes besides its own */
#define FIRST_WITH_COPIES 80 /* architecture */
#define PROCESSOR_BYTES 20   /* that a multiprocessor reads or writes in a nanosecond, about */

typedef ga__fused_plan plan;

int64_t ga__fused_blocks_with_room(const plan *p)
{
    const int64_t fit = (int64_t)(ga__fused_shared_limit(p) / (p->shared + SYSTEM_BYTES));
    return fit < 1 ? 1 : fit;
}

/* Threads that a multiprocessor has for rows in shared memory. */
static int threads_at_once(const plan *p)
{
    return p->v.registers || p->widest > WORD ? WIDE_THREADS : SHARED_THREADS;
}

int ga__fused_threads_in_shared(const plan *p)
{
    int team = LARGEST_BLOCK;
    while (team > BLOCK && 2 * (threads_at_once(p) / team) <= ga__fused_blocks_with_room(p))
        team /= 2;
    return team;
}

int64_t ga__fused_blocks_at_once(const plan *p)
{
    const int64_t fit = ga__fused_blocks_with_room(p), threads = threads_at_once(p) / p->v.block;
    return (fit < threads ? fit : threads) * p->call->device->processors;
}

bool ga__fused_copies_ahead(const plan *p)
{
    for (int k = 1; k < p->call->noperands; k++)
        if (p->v.staged >> k & 1 && p->v.lanes * ga__fused_size(p, k) < WORD)
            return false;
    return p->call->device->arch >= FIRST_WITH_COPIES;
}

/* Half a row's time, in which its multiprocessor reads and writes the rows of all of its blocks.
 * Measured on an H200: 3 to 4 %. */
void ga__fused_set_wait(plan *p)
{
    size_t nbytes = 0;
    for (int k = p->call->formula->per_row; k < p->call->noperands; k++)
        if (k == 0 || p->v.staged >> k & 1)
            nbytes += ga__fused_size(p, k);
    const int64_t blocks = ga__ceil_div(p->grid, p->call->device->processors);
    if (p->v.ahead && p->rows > 2 * p->grid)
        p->wait = blocks * p->rows_of_block * p->length * (int64_t)nbytes / PROCESSOR_BYTES / 2;
}
