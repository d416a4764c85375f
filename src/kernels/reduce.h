/* The reduction engine: a map, a combine and a finish over any axes, as one kernel. */
#ifndef GA_KERNELS_REDUCE_H
#define GA_KERNELS_REDUCE_H

#include "kernels/reduction.h"

/* Reduces the operands (read only, of one shape) over the axes marked in reduced[0..ndim-1] into
 * out[0..nresults-1], whose shape is the kept axes in order. One alone may have any strides;
 * several are contiguous. */
ga_status ga__reduce(const ga__reduction *reduction, ga__device *device, int ndim,
                     const int64_t *shape, const bool *reduced, int noperands,
                     const ga__operand *operands, gpuarray *const *out);

#endif
