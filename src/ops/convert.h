/* Copies and conversions of elements, for the other operations. */
#ifndef GA_OPS_CONVERT_H
#define GA_OPS_CONVERT_H

#include "kernels/elementwise.h"

/* Runs `formula` over `out`, with its `inputs` number and array operands after the result, which it
 * computes in `type`. */
ga_status ga__fill_by(const ga__formula *formula, gpuarray *out, ga_dtype type, int inputs,
                      const ga__operand *input);

/* An operand that is a number, converted to `type`. */
ga__operand ga__number_operand(const char *name, ga_dtype type, ga_value number);

/* Copies `from` into `to` with a kernel: one shape, one device, any layouts and dtypes. */
ga_status ga__copy_elements(gpuarray *to, const gpuarray *from);

/* Sets every element of `to` to the number. */
ga_status ga__fill_elements(gpuarray *to, ga_value number);

/* Copies `from` into `to`, as bytes where layouts and dtypes agree: one shape, one device. */
ga_status ga__array_copy_into(gpuarray *to, const gpuarray *from);

/* Sets the one element of x, given as it lies in memory; can be recorded. */
ga_status ga__array_set_element(gpuarray *x, const void *element);

#endif
