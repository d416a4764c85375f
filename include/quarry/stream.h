/* Streams and events: independent queues of work on one device, and points in them. */
#ifndef QUARRY_STREAM_H
#define QUARRY_STREAM_H

#include <stdbool.h>

#include <quarry/error.h>

GA_BEGIN_DECLS

/* A queue of work on one device. Its work runs in the order of the calls and may overlap the work
 * of other streams. Any stream of an array's device may use the array: if another stream wrote it
 * last, the current stream waits for that stream automatically. Memory is reused only after every
 * stream is done with it. On "cpu" work is complete when a call returns, so streams have no
 * effect. */
typedef struct ga_stream ga_stream;

/* A new stream on the current device. The caller frees it with ga_stream_free(); NULL on failure.
 */
GA_API ga_stream *ga_stream_new(void);

/* A stream over the caller's own cudaStream_t on the current device; NULL is the legacy default
 * stream. The handle must outlive the stream. Work that the caller queues on the handle directly is
 * part of the same order. The caller frees the stream; the handle stays open. GA_ERR_UNSUPPORTED on
 * "cpu". */
GA_API ga_stream *ga_stream_wrap(void *handle);

/* Waits for the stream's work, then frees it. If it is the calling thread's current stream, the
 * thread returns to the default one. No other thread may use it any more. NULL is a no-op. */
GA_API void ga_stream_free(ga_stream *stream);

/* Makes the stream the calling thread's current one for work on the stream's device. NULL: the
 * default stream, which all threads share. GA_ERR_UNSUPPORTED while a graph is recorded. */
GA_API ga_status ga_set_stream(ga_stream *stream);

/* The stream that ga_set_stream() set; NULL for the default one. */
GA_API ga_stream *ga_current_stream(void);

/* Waits until all work queued on the stream is done, and reports any failure in it. NULL: the
 * default stream of the current device. */
GA_API ga_status ga_stream_synchronize(ga_stream *stream);

/* Whether all work queued on the stream is done; false and an error if it failed. NULL as above. */
GA_API bool ga_stream_query(ga_stream *stream);

/* The cudaStream_t, for direct calls of CUDA; NULL for the default stream and on "cpu". */
GA_API void *ga_stream_handle(const ga_stream *stream);

/* A point in a stream's work, and the time at which it was reached. */
typedef struct ga_event ga_event;

/* A new event of the current device, not yet recorded. The caller frees it with ga_event_free();
 * NULL on failure. */
GA_API ga_event *ga_event_new(void);

/* Frees an event; work that waits for it is not affected. NULL is a no-op. */
GA_API void ga_event_free(ga_event *event);

/* Records the event after all work queued on the stream so far. NULL: the calling thread's current
 * stream of the event's device. GA_ERR_DEVICE if the stream belongs to another device. */
GA_API ga_status ga_event_record(ga_event *event, ga_stream *stream);

/* Makes the stream (NULL as above; of any CUDA device) wait until the event is reached. The host
 * does not wait. GA_ERR_INVALID if the event was never recorded. */
GA_API ga_status ga_stream_wait_event(ga_stream *stream, ga_event *event);

/* Waits until the event is reached. Here and below, an event that was never recorded is
 * GA_ERR_INVALID. */
GA_API ga_status ga_event_synchronize(ga_event *event);

/* Whether the event has been reached; false and an error if work before it failed. */
GA_API bool ga_event_query(ga_event *event);

/* Milliseconds from one event to the other. Both must belong to one device (GA_ERR_DEVICE) and
 * have been reached; otherwise NaN and an error. */
GA_API double ga_event_elapsed(ga_event *from, ga_event *to);

GA_END_DECLS

#endif
