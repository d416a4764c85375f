/* Streams: the orders of work on a device, each thread's current one, and waiting across them. */
#ifndef GA_DEVICE_STREAM_H
#define GA_DEVICE_STREAM_H

#include <stdatomic.h>

#include <quarry/stream.h>

#include "device/buffer.h"

/* Where the calling thread's work on the device goes. NULL and an error while the thread records a
 * graph of another device. */
ga__stream *ga__current_stream(ga__device *device);

/* The stream that the calling thread chose; NULL: each device's own. */
ga__stream *ga__chosen_stream(void);

/* Makes the stream the calling thread's, for work on its device; NULL: that device's own. Returns
 * the one before. */
ga__stream *ga__choose_stream(ga__stream *stream);

/* Opens a stream on the device and lists it. `recorded`: it only ever records, so nothing waits for
 * it. */
ga_status ga__stream_init(ga__stream *stream, ga__device *device, bool recorded);

/* Closes a stream that has no work left. */
void ga__stream_reset(ga__stream *stream);

/* A buffer remembers the stream that last wrote it and those that have read it since, in one word:
 * 6 bits number the writer, 58 bits are the set, writer included. The last number is shared by all
 * streams past the 57th, so nothing is concluded from it. A stream that is freed has no work left:
 * what its number says then is true of any stream that gets the number next. */
#define GA__STREAM_BITS 58

/* The word of a buffer that only the stream has used. */
uint64_t ga__first_use(const ga__stream *stream);

ga_status ga__use_other(ga__stream *stream, ga__buffer *buffer, bool writes);

/* Makes the stream wait for what other streams do with the buffer: their writing, before it reads;
 * their reading too, before it writes. Comes before the launch or copy. */
static inline ga_status ga__use(ga__stream *stream, ga__buffer *buffer, bool writes)
{
    if (writes)
        atomic_store_explicit(&buffer->tag, 0,
                              memory_order_relaxed); /* readback.h: it is outdated */
    if (atomic_load_explicit(&buffer->uses, memory_order_relaxed) == stream->exclusive_use)
        return GA_OK;
    return ga__use_other(stream, buffer, writes);
}

/* The stream in whose order the buffer's memory may be freed, once it has waited for all others
 * that use it. */
ga__stream *ga__last_user(ga__buffer *buffer);

/* Waits for all streams that use the buffer. */
ga_status ga__buffer_synchronize(ga__buffer *buffer);

/* Whether the calling thread records a graph. */
bool ga__recording(void);

/* Raises, and returns false, when the calling thread records a graph: `name` cannot be in it. */
bool ga__not_recording(const char *name);

#endif
