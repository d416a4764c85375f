/* For tests below the arrays: the current device and its backend. */
#include "device_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <quarry/error.h>

ga__device *device;
const ga__backend *backend;

int choose_device(void **state)
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

void need_host(const char *reason)
{
    const ga__device *current = ga__current_device();
    if (current == NULL || ga__on_host(current))
        return;
    print_message("skipped on %s: %s\n", current->name, reason);
    skip();
}
