/* The limits of a launch of CUDA kernels. */
#ifndef GA_DEVICE_GRID_H
#define GA_DEVICE_GRID_H

#include "device/backend.h"

/* Whether the kernel can be launched so on a device of either kind; raises GA_ERR_INVALID. */
ga_status ga__check_grid(const ga__grid_launch *launch, const ga__function_info *info);

#endif
