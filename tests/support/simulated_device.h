/* A CUDA device without a GPU: the simulator of users' modules runs its kernels on the host.
 * Compiling for it is slow, so tests use few kernels of each kind. */
#ifndef GA_TESTS_SIMULATED_DEVICE_H
#define GA_TESTS_SIMULATED_DEVICE_H

#include "device/context.h"

/* The requests it received. */
extern struct simulated {
    int launches;
    int rejected; /* sources that did not compile */
    ga__launch last;
} simulated;

extern ga__device simulated_device;

/* `processors`: few, so that small problems count as large ones. */
bool open_simulated_device(int processors);

#endif
