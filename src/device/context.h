/* The devices of the process, and the current one of each thread. */
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

#endif
