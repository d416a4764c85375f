/* The edges of bins: their order, and those of equal bins as NumPy rounds them. */
#ifndef GA_OPS_BINS_EDGES_H
#define GA_OPS_BINS_EDGES_H

#include "array/array.h"

/* Which way 1-D edges run, as numpy.digitize decides it: 1 up (also if all are equal), -1 down, 0
 * neither. */
ga_status ga__edges_direction(const char *name, const gpuarray *edges, int *direction);

/* Raises unless the edges ascend in the order of sorted arrays. */
ga_status ga__edges_check(const char *name, const gpuarray *edges);

/* The dtype of the edges of equal bins: x's own if it is a float, float32 for floats that NumPy
 * lacks, and float64 for integers. */
ga_dtype ga__edges_dtype(const gpuarray *x);

/* The outer edges of equal bins. */
typedef struct ga__outer_edges {
    double first, last;
    double width;   /* last - first as NumPy computes it, */
    ga_dtype dtype; /* in this dtype: ga__edges_dtype(x) if its extremes are the edges */
} ga__outer_edges;

/* From the range, or the extremes of x if it is {0, 0}. GA_ERR_INVALID. */
ga_status ga__edges_outer(const char *name, const gpuarray *x, const double *range,
                          ga__outer_edges *outer);

/* The nbins + 1 edges as numpy.linspace computes them in outer->dtype, an array of `dtype`; *strict
 * is whether each is above the one before. */
gpuarray *ga__edges_uniform(const char *name, ga__device *device, const ga__outer_edges *outer,
                            int64_t nbins, ga_dtype dtype, bool *strict);

/* The bins that a caller asks for: a number of them, which is at least 1, or edges. *edges is NULL
 * for a number. */
ga_status ga__edges_wanted(const char *name, ga_value bins, const gpuarray *x,
                           const gpuarray **edges, int64_t *nbins);

#endif
