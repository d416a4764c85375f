/* What the files of the CUDA backend share: errors, and the thread's device. */
#ifndef GA_DEVICE_CUDA_H
#define GA_DEVICE_CUDA_H

#include <cuda_runtime_api.h>

#include "device/backend.h"

/* Raises a failed call; `what` was being done. cudaGetLastError forgets the error where it can be
 * forgotten; after a fault the message names the kernels that may have caused it. */
ga_status ga__cuda_fail(const ga__device *device, cudaError_t error, const char *what);

/* Makes the device the calling thread's, for the runtime. */
ga_status ga__cuda_use(const ga__device *device);

/* Remembers that a user's kernel is launched; its name lives until the process ends. */
void ga__cuda_launched(const ga__device *device, const char *name);

#endif
