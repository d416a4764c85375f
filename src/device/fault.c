/* Faults: a report in memory that the host and the device reach. */
#include "device/fault.h"

#include <string.h>

#include "base/error.h"

/* The device's report, made at first use. NULL and an error on failure. */
static ga__fault *report_of(ga__device *device)
{
    void *made, *none = NULL;
    ga__fault *report = atomic_load_explicit(&device->fault, memory_order_acquire);
    if (report || device->backend->memory.pin(device, sizeof *report, &made) != GA_OK)
        return report;
    memset(made, 0, sizeof *report);
    if (atomic_compare_exchange_strong(&device->fault, &none, made))
        return made;
    device->backend->memory.unpin(device, made);
    return none;
}

uint64_t ga__fault_begin(ga__device *device, ga__fault *own)
{
    memset(own, 0, sizeof *own);
    ga__fault *report = ga__on_host(device) && !ga__recording() ? own : report_of(device);
    return (uint64_t)(uintptr_t)report;
}

static ga_status raise(const ga__fault *fault)
{
    return ga__fail(GA_ERR_INDEX,
                    "%s: index %lld at position %lld is out of range for axis %lld of length %lld",
                    (const char *)(uintptr_t)fault->call, (long long)fault->index,
                    (long long)fault->position, (long long)fault->axis, (long long)fault->length);
}

ga_status ga__fault_end(const ga__fault *own)
{
    return atomic_load_explicit(&own->reported, memory_order_relaxed) ? raise(own) : GA_OK;
}

ga_status ga__fault_check(ga__device *device, ga_status status)
{
    ga__fault *report = atomic_load_explicit(&device->fault, memory_order_acquire);
    if (status != GA_OK || !report ||
        !atomic_load_explicit(&report->reported, memory_order_acquire))
        return status;
    status = raise(report);
    atomic_store_explicit(&report->reported, 0, memory_order_relaxed);
    atomic_store_explicit(&report->lock, 0, memory_order_release);
    return status;
}
