/* Results of one element, which kernels also write where the host finds them without a copy. */
#ifndef GA_DEVICE_READBACK_H
#define GA_DEVICE_READBACK_H

#include "device/stream.h"

/* What a kernel is told: where it posts each four bytes of its result, beside the tag, in words of
 * 64 bits. An address of 0: nowhere. */
typedef struct ga__readback {
    uint64_t address;
    uint32_t tag;
} ga__readback;

#define GA__READBACK_BYTES ((size_t)16)

/* For the next launch in the stream, which writes `nbytes` at `at` in the buffer and nothing else
 * there. Comes after ga__use(). Until anything else may write the buffer, ga__readback_read() finds
 * the result. Nowhere for more than GA__READBACK_BYTES, on the host, in a graph, which posts each
 * time it runs, and where the memory's address is known to others. */
ga__readback ga__readback_begin(ga__stream *stream, ga__buffer *buffer, const void *at,
                                size_t nbytes);

/* Copies the result that was posted of the `nbytes` at `at`, waiting a moment for it. False: there
 * is none, or not yet, and it is to be copied like anything else. */
bool ga__readback_read(const ga__buffer *buffer, const void *at, void *to, size_t nbytes);

/* The memory's address is given away: what happens to it is no longer known here. */
static inline void ga__buffer_expose(ga__buffer *buffer)
{
    atomic_store_explicit(&buffer->exposed, true, memory_order_relaxed);
}

#endif
