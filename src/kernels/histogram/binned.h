/* The engine of bins: maps each element to a bin, and stores the bin, counts it or adds a weight.
 */
#ifndef GA_KERNELS_HISTOGRAM_BINNED_H
#define GA_KERNELS_HISTOGRAM_BINNED_H

#include "kernels/histogram/binning.h"

/* Runs the call. To count, *rows becomes a new array of integers, (rows, nbins), whose sum over
 * axis 0 is the result; to weigh, of float64; to sum, of uint32 or uint64, in one row. The rows,
 * and so the bits of sums, depend on the shape, the layouts and the device alone. */
ga_status ga__binned_run(const ga__binned *binned, gpuarray **rows);

/* Whether a block of a GPU has room for so many counts or sums of so many bytes. */
bool ga__binned_owns(const ga__device *device, int64_t nbins, size_t size);

#endif
