/* Readbacks: one-element results that kernels also write to host memory, so that reading them needs
 * no copy. */
#ifndef GA_DEVICE_READBACK_H
#define GA_DEVICE_READBACK_H

#include "device/stream.h"

/* Parameters of the kernel: where it writes each four bytes of its result, together with the tag,
 * as words of 64 bits. An address of 0 means that it writes nothing. */
typedef struct ga__readback {
    uint64_t address;
    uint32_t tag;
} ga__readback;

#define GA__READBACK_BYTES ((size_t)16)

/* Prepares a readback for the next launch in the stream, which writes `nbytes` at `at` in the
 * buffer and nothing else there. Call it after ga__use(). ga__readback_read() finds the result
 * until other work writes the buffer. The address is 0 for more than GA__READBACK_BYTES, on the
 * host, in a graph (which would write on each run), and if the memory's address is known to
 * others. */
ga__readback ga__readback_begin(ga__stream *stream, ga__buffer *buffer, const void *at,
                                size_t nbytes);

/* Copies the result of the `nbytes` at `at`, and waits briefly for it. False if there is no
 * readback or it is not complete: the caller copies from the device. */
bool ga__readback_read(const ga__buffer *buffer, const void *at, void *to, size_t nbytes);

/* Notes that the memory's address is given away, so writes to it can no longer be tracked. */
static inline void ga__buffer_expose(ga__buffer *buffer)
{
    atomic_store_explicit(&buffer->exposed, true, memory_order_relaxed);
}

#endif
