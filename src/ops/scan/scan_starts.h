/* Marks the elements at which segments of a scan start. */
#ifndef GA_OPS_SCAN_STARTS_H
#define GA_OPS_SCAN_STARTS_H

#include "array/array.h"

/* Bools of the shape (length, 1, ...) with `trailing` axes after the first: true where an offset
 * says that a segment starts; reversed: where one ends. Offsets are 1-D integers from 0 to the
 * length, and may repeat. NULL and an error on failure: GA_ERR_DTYPE, GA_ERR_SHAPE, GA_ERR_DEVICE,
 * GA_ERR_INDEX. */
gpuarray *ga__scan_starts(const char *name, ga__device *device, const gpuarray *offsets,
                          int64_t length, bool reverse, int trailing);

#endif
