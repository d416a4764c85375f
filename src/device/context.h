/* The devices of the process, the current one of each thread, and memory on them. */
#ifndef GA_DEVICE_CONTEXT_H
#define GA_DEVICE_CONTEXT_H

#include "device/backend.h"

/* The calling thread's current device, opened; NULL and an error when QUARRY_DEVICE names none. One
 * thread-local read once it is set. */
ga__device *ga__current_device(void);

/* "cpu", "cuda", "cuda:N"; opened on first use. NULL and GA_ERR_DEVICE (with the number of devices
 * in the message) when there is none such. */
ga__device *ga__find_device(const char *name);
void ga__use_device(ga__device *device);

/* Memory on a device, shared by an array and its views. */
typedef struct ga__buffer {
    ga__device *device;
    void *memory; /* NULL when nbytes is 0 */
    size_t nbytes;
    int references; /* atomic */
} ga__buffer;

/* A new buffer with one reference. When memory is out the pool is drained and the request tried
 * once more; then GA_ERR_MEMORY says how much was asked of which device. */
ga__buffer *ga__buffer_new(ga__device *device, size_t nbytes);
ga__buffer *ga__buffer_retain(ga__buffer *buffer);
void ga__buffer_release(ga__buffer *buffer);

/* GA__TICKETS 32-bit counters on the device, all zero, that kernels use as tickets and leave zero.
 * No two launches that may run at once share them: work of a CUDA device is in one order, a host
 * launch is complete before its thread gives another. NULL and an error when memory is out. */
#define GA__TICKETS 4096
void *ga__device_tickets(ga__device *device);

#endif
