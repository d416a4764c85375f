/* Streams and events: several orders of work on one device, and points in them. */
#ifndef QUARRY_STREAM_H
#define QUARRY_STREAM_H

#include <stdbool.h>

#include <quarry/error.h>

GA_BEGIN_DECLS

/* An order of work on one device: what is given to it runs in the order it was given, beside what
 * other streams do. Arrays may be used on any stream of their device: one that was last written on
 * another stream makes the current one wait by itself, and memory is never reused before all
 * streams are done with it. On "cpu" work is done when a call returns, so streams change nothing.
 */
typedef struct ga_stream ga_stream;

/* A new stream on the current device. The caller frees it; NULL on failure. */
GA_API ga_stream *ga_stream_new(void);

/* A stream over the caller's own, a cudaStream_t of the current device that outlives it; NULL is
 * the legacy default stream. Work that the caller gives to the handle himself is in its order.
 * The caller frees it, which leaves the handle alone. GA_ERR_UNSUPPORTED on "cpu". */
GA_API ga_stream *ga_stream_wrap(void *handle);

/* Waits for the stream's work, then frees it; a calling thread whose current stream it is goes back
 * to the default one. No other thread may use it any more. NULL does nothing. */
GA_API void ga_stream_free(ga_stream *stream);

/* Makes the stream the calling thread's: its work on the stream's device goes there. NULL: the
 * default stream, which all threads share. GA_ERR_UNSUPPORTED while a graph is recorded. */
GA_API ga_status ga_set_stream(ga_stream *stream);

/* The stream that ga_set_stream() set; NULL for the default one. */
GA_API ga_stream *ga_current_stream(void);

/* Waits until all work given to the stream is done, and reports what failed in it. NULL: the
 * default stream of the current device. */
GA_API ga_status ga_stream_synchronize(ga_stream *stream);

/* Whether all work given to the stream is done; false and an error when it failed. NULL as above.
 */
GA_API bool ga_stream_query(ga_stream *stream);

/* The cudaStream_t, for calls of CUDA's own; NULL for the default stream and on "cpu". */
GA_API void *ga_stream_handle(const ga_stream *stream);

/* A point in a stream's work, and the time it was reached. */
typedef struct ga_event ga_event;

/* A new event of the current device, not recorded yet. The caller frees it; NULL on failure. */
GA_API ga_event *ga_event_new(void);
GA_API void ga_event_free(ga_event *event);

/* Sets the event behind the work given to the stream so far; NULL: the calling thread's current
 * stream of the event's device. GA_ERR_DEVICE when the stream is of another device. */
GA_API ga_status ga_event_record(ga_event *event, ga_stream *stream);

/* Makes the stream (NULL as above; of any CUDA device) wait until the event is reached. The host
 * does not wait. GA_ERR_INVALID when the event was never recorded. */
GA_API ga_status ga_stream_wait_event(ga_stream *stream, ga_event *event);

/* Waits until the event is reached. An event that was never recorded is GA_ERR_INVALID, here and
 * below. */
GA_API ga_status ga_event_synchronize(ga_event *event);

/* Whether the event is reached; false and an error when work before it failed. */
GA_API bool ga_event_query(ga_event *event);

/* Milliseconds from one event to the other, of one device and both reached; NaN and an error
 * otherwise. */
GA_API double ga_event_elapsed(ga_event *from, ga_event *to);

GA_END_DECLS

#endif
