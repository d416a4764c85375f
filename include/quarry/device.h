/* Devices: where arrays live and work runs. */
#ifndef QUARRY_DEVICE_H
#define QUARRY_DEVICE_H

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* The number of CUDA devices that work here; 0 if there is no driver. The device "cpu" always
 * exists. */
GA_API int ga_device_count(void);

/* Makes "cpu", "cuda" (= "cuda:0") or "cuda:N" the current device of the calling thread. New arrays
 * are created on the current device. A thread that never calls this uses QUARRY_DEVICE, else cuda:0
 * if it works, else cpu. GA_ERR_DEVICE (and no change) if the device does not exist or does not
 * work. */
GA_API ga_status ga_set_device(const char *name);

/* The name of the calling thread's current device, "cpu" or "cuda:N". NULL (and GA_ERR_DEVICE) if
 * QUARRY_DEVICE names a device that does not work. Owned by the library and valid forever. */
GA_API const char *ga_current_device(void);

/* A description of the device: "NVIDIA H200", or the host's processor and threads. `device` is as
 * in ga_set_device(); NULL is the current device. Owned by the library and valid forever. NULL and
 * GA_ERR_DEVICE if there is no such device. */
GA_API const char *ga_device_name(const char *device);

/* The device of x, "cpu" or "cuda:N"; NULL for NULL. Owned by the library and valid forever. */
GA_API const char *ga_device_of(const gpuarray *x);

/* A contiguous copy of x on `device` (as in ga_set_device()). If x is already there, the result is
 * x itself, retained, or inside a scope a view of x that the scope owns. GA_ERR_DEVICE if there is
 * no such device. */
GA_API gpuarray *ga_to_device(const gpuarray *x, const char *device);

/* Waits until all work queued on the current device is done, on every stream. Returns the first
 * failure in it: GA_ERR_DEVICE, or GA_ERR_INDEX for an index out of range. GA_ERR_UNSUPPORTED
 * while a graph is recorded. */
GA_API ga_status ga_synchronize(void);

GA_END_DECLS

#endif
