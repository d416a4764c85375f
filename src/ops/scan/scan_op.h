/* Applies a row of the scans' table: checks the options and calls the engine. */
#ifndef GA_OPS_SCAN_OP_H
#define GA_OPS_SCAN_OP_H

#include <quarry/ops.h>

#include "kernels/scan/scan.h"
#include "model/rows.h"

/* The dtype in which the row computes with elements of `dtype`, or of `wanted` unless that is
 * GA_NO_DTYPE. */
ga_status ga__scan_dtype(const ga__row *op, const char *name, ga_dtype dtype, ga_dtype wanted,
                         ga_dtype *loop);

/* The result's shape of a scan along the axis whose bit is set, or with no bit over all elements in
 * C order; returns its number of axes. */
int ga__scan_shape(int ndim, const int64_t *shape, uint32_t axes, int64_t *result);

/* A new array, or args.out, with the `size` bytes of options that the program knows; NULL on
 * failure. Messages start with `name`; the names of the array API do not flatten. */
gpuarray *ga__scan_call(ga__row_id row, const char *name, size_t size, const ga_scan_args *args);

#endif
