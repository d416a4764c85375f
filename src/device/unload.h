/* Loaded code, and the time at which it can be unloaded: a launch may use it long after its call
 * returned. */
#ifndef GA_DEVICE_UNLOAD_H
#define GA_DEVICE_UNLOAD_H

#include "device/backend.h"

/* An image, and the devices of one architecture that use it. */
typedef struct ga__loaded {
    ga__image *image;
    ga__device **devices;
    size_t ndevices;
    struct ga__loaded *next; /* unload.c's */
} ga__loaded;

/* Like the backend's load(). */
ga_status ga__load(ga__device *device, const void *code, size_t nbytes, ga__loaded **loaded);

/* Prepares the code for another device of the same architecture; does nothing if that is done
 * already. */
ga_status ga__load_also(ga__device *device, ga__loaded *loaded);

/* For code that no later launch uses: ga__unload_sweep() unloads it once all work is done that its
 * devices' streams had at that time. Cannot fail; NULL is allowed. */
void ga__unload(ga__loaded *loaded);

/* Unloads code that is no longer in use, and records events in all streams for the rest. Does not
 * wait or raise: code that cannot be unloaded now is left for the next call. */
void ga__unload_sweep(void);

#endif
