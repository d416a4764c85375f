/* Counters that the blocks of a launch share. */
#ifndef GA_DEVICE_TICKETS_H
#define GA_DEVICE_TICKETS_H

#include "device/backend.h"

/* GA__TICKETS 32-bit counters on the device, all zero. Kernels use them as tickets and leave them
 * zero. No two launches that may run at once share them: a stream of a CUDA device runs in order, a
 * host launch is complete before its thread starts another, and a graph runs once at a time. NULL
 * and an error if memory is out. */
#define GA__TICKETS 4096
void *ga__stream_tickets(ga__stream *stream);

/* Frees the stream's tickets before the stream is closed. */
void ga__tickets_free(ga__stream *stream);

#endif
