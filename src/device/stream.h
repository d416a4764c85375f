/* Streams: sequences of work on a device, each thread's current stream, and waits between
 * streams. */
#ifndef GA_DEVICE_STREAM_H
#define GA_DEVICE_STREAM_H

#include <stdatomic.h>

#include <quarry/stream.h>

#include "device/buffer.h"

/* The stream for the calling thread's work on the device. NULL and an error while the thread
 * records a graph of another device. */
ga__stream *ga__current_stream(ga__device *device);

/* The stream that the calling thread chose; NULL: each device's own. */
ga__stream *ga__chosen_stream(void);

/* Makes the stream the calling thread's choice for work on its device; NULL selects that device's
 * own. Returns the previous choice. */
ga__stream *ga__choose_stream(ga__stream *stream);

/* Opens a stream on the device and lists it. `recorded`: the stream only records, so nothing waits
 * for it. */
ga_status ga__stream_init(ga__stream *stream, ga__device *device, bool recorded);

/* Closes a stream that has no work left. */
void ga__stream_reset(ga__stream *stream);

/* One word of a buffer records its users: 6 bits identify the stream that wrote it last, and 58
 * bits are the set of streams that have read it since, including the writer. All streams past the
 * 57th share the last number (the overflow slot), which therefore proves nothing. A stream has no
 * work left when it is freed, so its number can be reused: what the words say of it holds for any
 * stream. */
#define GA__STREAM_BITS 58

/* The word of a buffer that only this stream has used. */
uint64_t ga__first_use(const ga__stream *stream);

ga_status ga__use_other(ga__stream *stream, ga__buffer *buffer, bool writes);

/* Makes the stream wait for other streams' work on the buffer: for their writes before it reads,
 * and also for their reads before it writes. Call it before the launch or copy. */
static inline ga_status ga__use(ga__stream *stream, ga__buffer *buffer, bool writes)
{
    if (writes)
        atomic_store_explicit(&buffer->tag, 0, memory_order_relaxed); /* the readback is outdated */
    if (atomic_load_explicit(&buffer->uses, memory_order_relaxed) == stream->exclusive_use)
        return GA_OK;
    return ga__use_other(stream, buffer, writes);
}

/* The stream in whose order the buffer's memory may be freed. It waits for all other streams that
 * use the buffer first. */
ga__stream *ga__last_user(ga__buffer *buffer);

/* Waits for all streams that use the buffer. */
ga_status ga__buffer_synchronize(ga__buffer *buffer);

/* Whether the calling thread records a graph. */
bool ga__recording(void);

/* Raises and returns false if the calling thread records a graph, which cannot contain `name`. */
bool ga__not_recording(const char *name);

#endif
