/* Writes to indexed elements. */
#ifndef GA_OPS_INDEX_SCATTER_H
#define GA_OPS_INDEX_SCATTER_H

#include "ops/index/parts.h"

/* x[...] = value at what the parts describe. `mode` is that of every index. `steps` are the strides
 * of a tuple's key over the axes of the tuples, for calls in which a tuple also names elements of
 * other axes; NULL otherwise. Of equal tuples the last one wins. Raises before it writes where the
 * index is known to be out of range. The value is a number, or an array that broadcasts to the
 * shape of the result. */
ga_status ga__scatter(const char *name, const ga__indexing *g, ga_index_mode mode,
                      const int64_t *steps, ga_value value);

/* Raises what ga__scatter() would. */
ga_status ga__check_tuples(const char *name, const ga__indexing *g);

/* The value, if it is an array, in the dtype of x, on its device, and apart from its memory. *copy
 * is to be freed after the launch. */
ga_status ga__scattered_value(const char *name, const gpuarray *x, ga_value *value,
                              gpuarray **copy);

#endif
