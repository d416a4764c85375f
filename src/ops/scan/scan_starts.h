/* Marks the elements at which segments of a scan start. */
#ifndef GA_OPS_SCAN_STARTS_H
#define GA_OPS_SCAN_STARTS_H

#include "array/array.h"

/* Raises unless the offsets are 1-D integers on the device: GA_ERR_DTYPE, GA_ERR_SHAPE,
 * GA_ERR_DEVICE. */
ga_status ga__check_starts(const char *name, const ga__device *device, const gpuarray *offsets);

/* Bools of the shape (length, 1, ...) with `trailing` axes after the first: true where an offset
 * says that a segment starts; reversed: where one ends. Offsets have been checked; they are from 0
 * to the length, and may repeat. NULL on failure, with GA_ERR_INDEX for other ones. */
gpuarray *ga__scan_starts(const char *name, ga__device *device, const gpuarray *offsets,
                          int64_t length, bool reverse, int trailing);

#endif
