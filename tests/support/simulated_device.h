/* A CUDA device without a GPU: it gets the kernels of a GPU, which the simulator of users' modules
 * runs on the host. Slow to compile for, so that tests take few kernels of each kind. */
#ifndef GA_TESTS_SIMULATED_DEVICE_H
#define GA_TESTS_SIMULATED_DEVICE_H

#include "device/context.h"

/* What it was given. */
extern struct simulated {
    int launches;
    ga__launch last;
} simulated;

extern ga__device simulated_device;

/* `processors`: few, so that small problems are large ones. */
bool open_simulated_device(int processors);

#endif
