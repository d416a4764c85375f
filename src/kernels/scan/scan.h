/* The scan engine: each element's accumulator joins all elements up to it along one axis. */
#ifndef GA_KERNELS_SCAN_H
#define GA_KERNELS_SCAN_H

#include "kernels/scan/scan_formula.h"

/* Scans the operands, all of this shape, along the axis. Written operands may be operands that are
 * read, exactly. A user's formula has a shape of one axis. */
ga_status ga__scan_run(const ga__scan *scan, ga__device *device, int ndim, const int64_t *shape,
                       int axis, int noperands, const ga__operand *operands);

#endif
