/* A pool of threads that runs the blocks of one launch. */
#ifndef GA_DEVICE_CPU_THREADS_H
#define GA_DEVICE_CPU_THREADS_H

#include <stdint.h>

/* Threads that take part in a launch, the caller among them: QUARRY_THREADS, else one per
 * processor. */
int ga__pool_size(void);

/* The number of the calling thread among those of the launch that it works for, less than
 * ga__pool_size(): 0 for a caller that is no thread of the pool. */
int ga__pool_member(void);

/* Calls body(context, block) for every block of [0, nblocks) and returns when all are done. Blocks
 * are claimed one by one by whoever is free. The threads start at the first call with several
 * blocks; a call from inside a block, or while another thread's call runs, is served by its caller
 * alone. */
void ga__pool_run(void (*body)(const void *context, int64_t block), const void *context,
                  int64_t nblocks);

#endif
