/* Devices: where arrays live and work runs. */
#ifndef QUARRY_DEVICE_H
#define QUARRY_DEVICE_H

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* How many CUDA devices work here: 0 when there is no driver. The device "cpu" is always there. */
GA_API int ga_device_count(void);

/* Makes "cpu", "cuda" (= "cuda:0") or "cuda:N" the current device of the calling thread: the place
 * where new arrays are made. A thread that never calls it uses QUARRY_DEVICE, else cuda:0 when it
 * works, else cpu. GA_ERR_DEVICE (and no change) when the device does not exist or does not work.
 */
GA_API ga_status ga_set_device(const char *name);

/* The name of the calling thread's current device, "cpu" or "cuda:N"; NULL (and GA_ERR_DEVICE) when
 * QUARRY_DEVICE names one that does not work. Owned by the library, valid for ever. */
GA_API const char *ga_current_device(void);

/* What the device is ("NVIDIA H200", or the host's processor and threads); `device` as in
 * ga_set_device, NULL for the current one. Owned by the library, valid for ever; NULL on error. */
GA_API const char *ga_device_name(const char *device);

/* The device of x, "cpu" or "cuda:N"; NULL for NULL. Owned by the library, valid for ever. */
GA_API const char *ga_device_of(const gpuarray *x);

/* A contiguous copy of x on `device`; when it is there already x itself, retained, or inside a
 * scope a view of it that the scope owns. */
GA_API gpuarray *ga_to_device(const gpuarray *x, const char *device);

/* Waits until all work given to the current device is done, and reports what failed in it. */
GA_API ga_status ga_synchronize(void);

GA_END_DECLS

#endif
