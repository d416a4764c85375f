/* For tests below the arrays: the current device and its backend. */
#ifndef GA_TESTS_DEVICE_SUPPORT_H
#define GA_TESTS_DEVICE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <quarry/error.h>

#include "device/context.h"

static ga__device *device;
static const ga__backend *backend;

static int choose_device(void **state)
{
    (void)state;
    device = ga__current_device();
    if (device == NULL) {
        print_error("%s\n", ga_error_message());
        return -1;
    }
    backend = device->backend;
    print_message("device %s: %s\n", device->name, device->description);
    return 0;
}

/* Says why a test does not run here, and skips it. */
static inline void need_host(const char *reason)
{
    if (device->arch == 0)
        return;
    print_message("skipped on %s: %s\n", device->name, reason);
    skip();
}

#endif
