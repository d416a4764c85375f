/* Applies a row of the elementwise tables: checks the operands and calls the engine. */
#ifndef GA_OPS_ELEMENTWISE_OP_H
#define GA_OPS_ELEMENTWISE_OP_H

#include "kernels/elementwise.h"
#include "model/rows.h"

#define GA__MAX_INPUTS 3

/* A new array of the broadcast shape. NULL on failure. */
gpuarray *ga__apply(ga__row_id row, const ga_value *inputs);

/* Computes into `out`, which must have the broadcast shape. */
ga_status ga__apply_into(ga__row_id row, gpuarray *out, const ga_value *inputs);

/* A new array, or `out` unless that is NULL, from a row that is in no table, whose formula also
 * takes numbers of double: `p`, `q` and `s`. NULL on failure. */
#define GA__MAX_NUMBERS 3
gpuarray *ga__apply_numbers(const ga__row *op, gpuarray *out, const ga_value *inputs, int count,
                            const double *numbers);

/* Computes two new arrays, set only if both could be made. */
ga_status ga__apply_split(ga__row_id row, const ga_value *inputs, gpuarray **first,
                          gpuarray **second);

/* The same into two arrays of one shape, which the inputs broadcast to. Either may be an input, but
 * they share no memory with each other. */
ga_status ga__apply_split_into(ga__row_id row, gpuarray *first, gpuarray *second,
                               const ga_value *inputs);

/* Raises unless each value is a number or an array and all arrays are on one device; *device is
 * that device, or the current one if there are only numbers. Custom kernels use it too. */
ga_status ga__check_values(const char *name, int count, const ga_value *values,
                           ga__device **device);

/* Raises unless out is writable, a result of this shape broadcasts to it, and the dtype casts to
 * its dtype. */
ga_status ga__check_out(const char *name, const gpuarray *out, int ndim, const int64_t *shape,
                        ga_dtype dtype);

/* The same of a result that does not broadcast, and of an operand on the device. */
ga_status ga__check_own_out(const char *name, const gpuarray *out, const ga__device *device,
                            int ndim, const int64_t *shape, ga_dtype dtype);

/* Copies the input if it overlaps the written array other than exactly. *copy (NULL if there is
 * none) is to be freed after the launch. GA_ERR_MEMORY and others. */
ga_status ga__separate(const gpuarray *written, const gpuarray **input, gpuarray **copy);

#endif
