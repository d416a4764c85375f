/* The devices of the process, and each thread's current device. */
#ifndef GA_DEVICE_CONTEXT_H
#define GA_DEVICE_CONTEXT_H

#include <stdbool.h>

#include "device/backend.h"

/* The calling thread's current device, opened; NULL and an error if QUARRY_DEVICE names no device.
 * Once set, this is one thread-local read. */
ga__device *ga__current_device(void);

/* Finds "cpu", "cuda" or "cuda:N"; opens it on first use. NULL and GA_ERR_DEVICE, with the number
 * of devices in the message, if there is no such device. */
ga__device *ga__find_device(const char *name);
void ga__use_device(ga__device *device); /* NULL: the default one */

/* Whether QUARRY_CHECK is "nan": results are checked (ops/check_nan.h). Read when the process opens
 * its first device, so it is false before. */
extern bool ga__check_nan;

/* Calls `each` with every device that was opened. */
void ga__each_device(void (*each)(ga__device *device, void *user), void *user);

#endif
