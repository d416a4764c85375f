/* Memory of arrays: counted, shared by an array and its views, from the device's pool or
 * elsewhere. */
#ifndef GA_DEVICE_MEMORY_H
#define GA_DEVICE_MEMORY_H

#include <quarry/memory.h>

#include "device/buffer.h"

/* A new buffer with one reference, in the order of the thread's current stream. If memory is out,
 * drains the pools and tries once more; then GA_ERR_MEMORY states what was wanted, the device, how
 * much the device holds, and its largest arrays. */
ga__buffer *ga__buffer_new(ga__device *device, size_t nbytes);

/* The same for an array, which messages and ga_memory_report() then describe. */
ga__buffer *ga__buffer_new_for(ga__device *device, size_t nbytes, const ga__wanted *wanted);

/* A buffer over memory that the caller provides. When its last reference goes, this waits for the
 * streams that use the memory, then calls free_function(owner) unless that is NULL. On failure
 * free_function is not called. */
ga__buffer *ga__buffer_wrap(ga__device *device, void *memory, size_t nbytes, void *owner,
                            void (*free_function)(void *owner));

/* Makes a wrapped buffer forget its owner, which keeps the memory. */
void ga__buffer_disown(ga__buffer *buffer);

ga__buffer *ga__buffer_retain(ga__buffer *buffer);
void ga__buffer_release(ga__buffer *buffer);

/* Allocates in the stream's order; retries and counts like ga__buffer_new. */
ga_status ga__memory_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory);
void ga__memory_free(ga__stream *stream, const ga__memory *memory, size_t nbytes);

/* Gives the device's unused memory back to the system. */
void ga__memory_trim(ga__device *device);

#endif
