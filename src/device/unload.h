/* Loaded code, and when it may be unloaded: a launch may use it long after its call returned. */
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

/* As the backend's load(). */
ga_status ga__load(ga__device *device, const void *code, size_t nbytes, ga__loaded **loaded);

/* Makes the code ready on another device of the same architecture, unless it is already. */
ga_status ga__load_also(ga__device *device, ga__loaded *loaded);

/* For code that no later launch uses: ga__unload_sweep() unloads it when all work that the device's
 * streams have by then is done. Cannot fail; NULL does nothing. */
void ga__unload(ga__loaded *loaded);

/* Unloads what is no longer in use, and marks in all streams when the rest will not be. Waits for
 * nothing and raises nothing: what cannot be unloaded now is left for the next call. */
void ga__unload_sweep(void);

#endif
