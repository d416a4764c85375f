/* Runs the threads of one block after another as fibers: the task of a launch's worker. */
#ifndef GA_DEVICE_SIMT_BLOCK_H
#define GA_DEVICE_SIMT_BLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "device/backend.h"
#include "device/simt/fiber.h"
#include "simt_abi.host"

#define GA__BLOCK_THREADS GA__STACKS
#define GA__BLOCK_WARPS (GA__BLOCK_THREADS / GA_SIMT_WARP)

/* The C library's tls_index: a place in the variables that a module has once for each thread. */
typedef struct ga__tls_place {
    unsigned long module, offset;
} ga__tls_place;

/* One launch; its workers share it. */
typedef struct ga__grid {
    const ga_simt_kernel *kernel;
    const ga__grid_launch *launch;
    size_t tls_module, tls_bytes;          /* the module's static __shared__ memory; 0: none */
    void *(*tls_address)(ga__tls_place *); /* locates the calling thread's own instance of it */
    int64_t nblocks, chunk;                /* blocks claimed at once */
    _Atomic int64_t next;                  /* the first unclaimed block */
    atomic_flag failing;                   /* a worker is writing the message */
    atomic_bool failed;
    ga_status status;
    char message[1024];
} ga__grid;

/* A thread that runs, waits or is ready; stored at the top of its stack. */
typedef struct ga__simt_thread {
    ga_simt_thread view; /* first: the kernel's view of it */
    int linear;          /* its index in the block */
    const ga_simt_wait *wait;
    unsigned long long result; /* of the wait */
    ga__fiber fiber;
    struct ga__simt_thread *next_idle;
} ga__simt_thread;

/* The block that a worker runs now, and what the worker keeps between blocks and launches. */
typedef struct ga__block {
    ga_simt_block view; /* first: the kernel's view of it */
    ga__grid *grid;
    int64_t linear, end; /* the block's index, and the end of those claimed with it */
    int nthreads, started, returned;
    /* At the block's barrier: the number of threads that arrived, the number whose predicate holds,
     * the kind of barrier (-1: several kinds), and the result of the last barrier. */
    int arrived, votes, op;
    unsigned long long barrier_result;
    ga__simt_thread *threads[GA__BLOCK_THREADS];
    /* One bit for each lane of each warp. */
    uint32_t ready[GA__BLOCK_WARPS], waiting[GA__BLOCK_WARPS], converging[GA__BLOCK_WARPS],
        exited[GA__BLOCK_WARPS];
    uint32_t ready_warps; /* those with a bit in `ready` */
    char *statics, *dynamic;
    ga__fiber main;        /* the worker's own context */
    ga__simt_thread *idle; /* flows whose stacks are unused */
    ga__stacks stacks;
    int nstacks; /* in use or idle */
    struct ga__block *next_free;
} ga__block;

/* Runs blocks of the grid until none are left or the launch has failed. */
void ga__block_run(ga__block *block, ga__grid *grid);

/* The index of a thread or block in an extent, from its linear index. */
ga_simt_index ga__simt_index_of(int64_t linear, ga_simt_index extent);

/* Computes a warp operation's results for the participating lanes; other lanes keep theirs. */
void ga__warp_results(ga__simt_thread *const lanes[GA_SIMT_WARP], uint32_t members);

/* Describes which threads wait for what, for a block that cannot continue. */
void ga__block_describe(const ga__block *block, char *text, size_t size);

#endif
