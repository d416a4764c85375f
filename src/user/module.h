/* The kernels of users' modules, as launches see them. */
#ifndef GA_USER_MODULE_H
#define GA_USER_MODULE_H

#include <quarry/module.h>

#include "device/backend.h"
#include "user/kernel.h"

/* A kernel of kind MODULE; freed with its module. */
typedef struct ga__module_kernel {
    ga_kernel base;
    uint64_t id; /* unique; never reused */
    ga__device *device;
    ga__function *function;
    ga__function_info info;
    struct ga__module_kernel *next; /* in the module's list */
} ga__module_kernel;

#endif
