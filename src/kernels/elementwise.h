/* The elementwise engine: one expression over any operands, as one kernel. */
#ifndef GA_KERNELS_ELEMENTWISE_H
#define GA_KERNELS_ELEMENTWISE_H

#include "kernels/operand.h"

/* Runs the formula over `shape` on `device`: arrays of access VALUE and ELEMENT broadcast to it
 * (written ones have exactly it). Writable, overlap and dtype checks are the caller's; see
 * ga__elementwise_into. */
ga_status ga__elementwise(const ga__formula *formula, ga__device *device, int ndim,
                          const int64_t *shape, int noperands, const ga__operand *operands);

#endif
