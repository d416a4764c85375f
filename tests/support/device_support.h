/* For tests below the arrays: the current device and its backend. */
#ifndef GA_TESTS_DEVICE_SUPPORT_H
#define GA_TESTS_DEVICE_SUPPORT_H

#include "device/context.h"

extern ga__device *device;
extern const ga__backend *backend;

/* A group setup: sets both, and prints the device. */
int choose_device(void **state);

/* Skips the test if the current device is another, and prints the reason. */
void need_host(const char *reason);

#endif
