/* From a row of the elementwise tables to a call of the engine. */
#ifndef GA_OPS_ELEMENTWISE_OP_H
#define GA_OPS_ELEMENTWISE_OP_H

#include "kernels/elementwise.h"
#include "model/rows.h"

#define GA__MAX_INPUTS 3

/* A new array of the broadcast shape. NULL on failure. */
gpuarray *ga__apply(ga__row_id row, const ga_value *inputs);

/* Into `out`, whose shape must be the broadcast shape. */
ga_status ga__apply_into(ga__row_id row, gpuarray *out, const ga_value *inputs);

/* Two new arrays, set only when both could be made. */
ga_status ga__apply_split(ga__row_id row, const gpuarray *x, gpuarray **first, gpuarray **second);

/* Raises unless each value is a number or an array, all arrays on one device; *device is that
 * device, or the current one when there are only numbers. Shared with custom kernels. */
ga_status ga__check_values(const char *name, int count, const ga_value *values,
                           ga__device **device);

/* Raises unless out is writable, a result of the shape broadcasts to it, and one of the dtype casts
 * to its dtype. */
ga_status ga__check_out(const char *name, const gpuarray *out, int ndim, const int64_t *shape,
                        ga_dtype dtype);

/* Inputs that overlap a written array other than exactly are replaced by copies; *copy (NULL when
 * there is none) is to be freed after the launch. GA_ERR_MEMORY and so on. */
ga_status ga__separate(const gpuarray *written, const gpuarray **input, gpuarray **copy);

#endif
