/* Runs the threads of one block after another as fibers: what a worker of a launch does. */
#ifndef GA_DEVICE_SIMT_BLOCK_H
#define GA_DEVICE_SIMT_BLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "device/backend.h"
#include "device/simt/fiber.h"
#include "simt_abi.host"

#define GA__BLOCK_THREADS GA__STACKS
#define GA__BLOCK_WARPS (GA__BLOCK_THREADS / GA_SIMT_WARP)

/* One launch; shared by its workers. */
typedef struct ga__grid {
    const ga_simt_kernel *kernel;
    const ga__grid_launch *launch;
    size_t tls_module, tls_bytes; /* where the module's static __shared__ memory is; 0: nowhere */
    int64_t nblocks, chunk;       /* blocks claimed at once */
    _Atomic int64_t next;         /* the first block that nobody has claimed */
    atomic_flag failing;          /* somebody writes the message */
    atomic_bool failed;
    ga_status status;
    char message[1024];
} ga__grid;

/* A thread that runs, waits, or is ready to go on; it lives at the top of its stack. */
typedef struct ga__simt_thread {
    ga_simt_thread view; /* first: what the kernel knows of it */
    int linear;          /* its number in the block */
    const ga_simt_wait *wait;
    unsigned long long result; /* of the wait */
    ga__fiber fiber;
    struct ga__simt_thread *next_idle;
} ga__simt_thread;

/* The block that a worker runs now, and what it keeps from block to block and launch to launch. */
typedef struct ga__block {
    ga_simt_block view; /* first: what the kernel knows of it */
    ga__grid *grid;
    int64_t linear, end; /* the block's number, and the end of those claimed with it */
    int nthreads, started, returned;
    /* At the block's barrier: how many threads, with a predicate that holds, at which kind of it
     * (-1: several), and the result of the last one. */
    int arrived, votes, op;
    unsigned long long barrier_result;
    ga__simt_thread *threads[GA__BLOCK_THREADS];
    /* A bit for each lane of each warp. */
    uint32_t ready[GA__BLOCK_WARPS], waiting[GA__BLOCK_WARPS], converging[GA__BLOCK_WARPS],
        exited[GA__BLOCK_WARPS];
    uint32_t ready_warps; /* with a bit in `ready` */
    char *statics, *dynamic;
    ga__fiber main;        /* the worker's own flow */
    ga__simt_thread *idle; /* on whose stacks nothing runs */
    ga__stacks stacks;
    int nstacks; /* in use or idle */
    struct ga__block *next_free;
} ga__block;

/* Runs blocks of the grid until there are none left or the launch has failed. */
void ga__block_run(ga__block *block, ga__grid *grid);

/* The index of the thread or block of this number in an extent. */
ga_simt_index ga__simt_index_of(int64_t linear, ga_simt_index extent);

/* The results of a warp's operation for the lanes that take part; those of other lanes stay as they
 * are. */
void ga__warp_results(ga__simt_thread *const lanes[GA_SIMT_WARP], uint32_t members);

/* Writes who waits for what, for a block that cannot go on. */
void ga__block_describe(const ga__block *block, char *text, size_t size);

#endif
