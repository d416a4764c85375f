/* Counters and tagged words that the blocks of a launch share. */
#ifndef GA_DEVICE_TICKETS_H
#define GA_DEVICE_TICKETS_H

#include "device/backend.h"

/* GA__TICKETS 32-bit counters on the device, all zero. Kernels use them as tickets and leave them
 * zero. No two launches that may run at once share them: a stream of a CUDA device runs in order, a
 * host launch is complete before its thread starts another, and a graph runs once at a time. NULL
 * and an error if memory is out. */
#define GA__TICKETS 4096
void *ga__stream_tickets(ga__stream *stream);

/* Memory of a CUDA stream in which the blocks of a launch leave words for others, each with the
 * launch's tag, which no earlier launch has had. It begins as zeros; no tag is 0. As of the
 * tickets, no two launches that may run at once share it. *states is NULL if the stream has no such
 * memory: while it records a graph, its own or its user's, whose launches run again with their
 * tags; and after 2^32 - 1 calls. */
#define GA__STATE_BYTES ((size_t)256 << 10)
ga_status ga__stream_states(ga__stream *stream, void **states, uint32_t *tag);

/* Frees the stream's tickets and states before the stream is closed. */
void ga__tickets_free(ga__stream *stream);

#endif
