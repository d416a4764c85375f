/* The CUDA backend's functions for users' own modules: kernels by name, variables, launches. */
#ifndef GA_DEVICE_CUDA_MODULE_H
#define GA_DEVICE_CUDA_MODULE_H

#include "device/backend.h"

/* Entries of the backend's table. Names in the source apply to kernels that are not templates. */
ga_status ga__cuda_find(ga__image *image, const char *symbol, ga__function **function);
ga_status ga__cuda_find_by_name(ga__image *image, const char *name, ga__function **function);
ga_status ga__cuda_global(ga__device *device, ga__image *image, const char *symbol, void **memory,
                          size_t *nbytes);
ga_status ga__cuda_function_info(ga__device *device, ga__function *function,
                                 ga__function_info *info);
ga_status ga__cuda_launch_grid(ga__stream *stream, ga__function *function,
                               const ga__grid_launch *launch);

#endif
