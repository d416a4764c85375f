/* Faults: kernels that check indices report them instead of accessing memory outside an array. */
#ifndef GA_DEVICE_FAULT_H
#define GA_DEVICE_FAULT_H

#include "device/stream.h"

/* What a kernel reports (templates/lib/gather.tmpl): the index, its position in the array of
 * indices, the axis of the indexed array and its length. */
typedef struct ga__fault {
    _Atomic uint64_t lock, reported;
    uint64_t call; /* the name of the function, a static text */
    int64_t axis, position, index, length;
} ga__fault;

/* The address of the report of the next launch. On the host that is `own`, which the launch leaves
 * complete. Elsewhere, and in a graph, it is the device's own report, for ga__fault_check(). 0 and
 * an error on failure. */
uint64_t ga__fault_begin(ga__device *device, ga__fault *own);

/* Raises GA_ERR_INDEX if the launch reported to `own`. */
ga_status ga__fault_end(const ga__fault *own);

/* Raises GA_ERR_INDEX if a kernel that has ended reported to the device, and forgets the report.
 * Returns `status` if that is an error. Call it after a wait. */
ga_status ga__fault_check(ga__device *device, ga_status status);

#endif
