/* Memory of arrays: counted, shared by an array and its views, from the device's pool or elsewhere.
 */
#ifndef GA_DEVICE_MEMORY_H
#define GA_DEVICE_MEMORY_H

#include <quarry/memory.h>

#include "device/buffer.h"

/* A new buffer with one reference, in the order of the thread's current stream. When memory is out
 * the pool is drained and the request tried once more; then GA_ERR_MEMORY says how much was asked
 * of which device, and what it holds. */
ga__buffer *ga__buffer_new(ga__device *device, size_t nbytes);

/* Over memory of somebody else. When its last reference goes, what streams do with it is waited
 * for, then free_function(owner) called, unless it is NULL. On failure it is not called. */
ga__buffer *ga__buffer_wrap(ga__device *device, void *memory, size_t nbytes, void *owner,
                            void (*free_function)(void *owner));

/* Makes a wrapped buffer forget its owner, who keeps the memory. */
void ga__buffer_disown(ga__buffer *buffer);

ga__buffer *ga__buffer_retain(ga__buffer *buffer);
void ga__buffer_release(ga__buffer *buffer);

/* Memory in the stream's order, tried twice and counted as ga__buffer_new does. */
ga_status ga__memory_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory);
void ga__memory_free(ga__stream *stream, const ga__memory *memory, size_t nbytes);

/* Gives what the device keeps unused back to the system. */
void ga__memory_trim(ga__device *device);

#endif
