/* The kernels of users' modules, as launches see them. */
#ifndef GA_KERNELS_USER_MODULE_H
#define GA_KERNELS_USER_MODULE_H

#include <quarry/module.h>

#include "device/backend.h"
#include "kernels/kernel.h"

/* A kernel of kind MODULE. Its name lives until the process ends, for errors of the device come
 * late; the rest is freed with its module. */
typedef struct ga__module_kernel {
    ga_kernel base;
    ga__device *device;
    ga__function *function;
    ga__function_info info;
    struct ga__module_kernel *next; /* of the same module */
} ga__module_kernel;

#endif
