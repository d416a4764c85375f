/* The engine of bins: maps each element to a bin, and stores the bin, counts it or adds a weight.
 */
#ifndef GA_KERNELS_HISTOGRAM_BINNED_H
#define GA_KERNELS_HISTOGRAM_BINNED_H

#include "kernels/histogram/binning.h"

/* Runs the call. To count, *rows becomes a new array of integers, (rows, nbins), whose sum over
 * axis 0 is the result; to weigh, of float64; to sum, of uint32 or uint64, in one row. The rows,
 * and so the bits of sums, depend on the shape, the layouts and the device alone. */
ga_status ga__binned_run(const ga__binned *binned, gpuarray **rows);

/* CUDA: counts the elements of one operand as long as none has the last of the bins, and waits for
 * the result. *needed is the number of bins up to the last one with elements. If an element has the
 * last bin, *needed is at least call->nbins, the counts are those of a part of the elements, and
 * *needed is one more than the largest of some elements, or INT64_MAX. The use is
 * GA__BINNED_WITHIN, and a block has room for the counts. No graph can record it. */
ga_status ga__binned_run_within(const ga__binned *binned, gpuarray **rows, int64_t *needed);

/* The most bins of a GPU that count as fast as a single one: each lane of a warp has its own. */
int64_t ga__binned_fast_counts(const ga__device *device);

/* Whether a block of a GPU has room for `nbins` counts or sums of `size` bytes each. */
bool ga__binned_owns(const ga__device *device, int64_t nbins, size_t size);

#endif
