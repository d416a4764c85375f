/* Copies and conversions of elements, for other operations. */
#ifndef GA_OPS_CONVERT_H
#define GA_OPS_CONVERT_H

#include "kernels/elementwise.h"

/* Runs `formula` over `out`. The result is the first operand, computed in `type`; `inputs` numbers
 * and arrays follow, at most GA__FILL_INPUTS. */
#define GA__FILL_INPUTS 5
ga_status ga__fill_by(const ga__formula *formula, gpuarray *out, ga_dtype type, int inputs,
                      const ga__operand *input);

/* A number as an operand, converted to `type`. */
ga__operand ga__number_operand(const char *name, ga_dtype type, ga_value number);
ga__operand ga__unsigned_operand(const char *name, uint64_t number);

/* An array that the body indexes in C order, whatever its layout: read, read and declared const, or
 * written. */
ga__operand ga__indexed_operand(const char *name, const gpuarray *array);
ga__operand ga__read_operand(const char *name, const gpuarray *array);
ga__operand ga__write_operand(const char *name, const gpuarray *array);

/* Copies `from` into `to` with a kernel; they have the same shape and device, any layouts and
 * dtypes. */
ga_status ga__copy_elements(gpuarray *to, const gpuarray *from);

/* Sets every element of `to` to the number. */
ga_status ga__fill_elements(gpuarray *to, ga_value number);

/* Copies `from` into `to`, as bytes if layouts and dtypes match; they have the same shape and
 * device. */
ga_status ga__array_copy_into(gpuarray *to, const gpuarray *from);

/* view[...] = value, as ga_assign() for the function `name`. */
ga_status ga__assign(const char *name, gpuarray *view, ga_value value);

/* Sets the only element of x, given in its memory representation; can be recorded. */
ga_status ga__array_set_element(gpuarray *x, const void *element);

/* Gives the caller the results if all `count` of them were made, otherwise frees the first n. */
ga_status ga__give_results(gpuarray *const *made, int n, int count, gpuarray **out);

#endif
