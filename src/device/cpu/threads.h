/* A pool of threads that runs the blocks of one launch. */
#ifndef GA_DEVICE_CPU_THREADS_H
#define GA_DEVICE_CPU_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of threads that take part in a launch, including the caller: QUARRY_THREADS, or one
 * per processor. */
int ga__pool_size(void);

/* The calling thread's index among the threads of its launch, less than ga__pool_size(); 0 for a
 * caller that is not a thread of the pool. */
int ga__pool_member(void);

/* Calls body(context, block) for every block of [0, nblocks) and returns when all are done. Each
 * thread claims the blocks of a share of its own, one by one, then those of others: calls with
 * equally many blocks find their data in the caches of the same threads. With `in_order` all claim
 * from the first block on. The threads start at the first call with several blocks. A call from
 * inside a block, or during another thread's call, runs on its caller alone. */
void ga__pool_run(void (*body)(const void *context, int64_t block), const void *context,
                  int64_t nblocks, bool in_order);

#endif
