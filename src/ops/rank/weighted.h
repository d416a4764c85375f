/* Quantiles of weighted elements. */
#ifndef GA_OPS_RANK_WEIGHTED_H
#define GA_OPS_RANK_WEIGHTED_H

#include "array/array.h"

/* One call, its arguments checked. */
typedef struct ga__weighing {
    const char *name;
    const gpuarray *x, *weights; /* of one shape, on one device, and not empty */
    const bool *reduced;         /* axes of x */
    bool skips_nan;              /* otherwise a row with NaN has the quantile NaN */
    ga_dtype q_type;             /* to which shares of the weights round */
    int64_t nq;
    const double *q;
} ga__weighing;

/* A view of the weights in the shape of x; naxes = 0: all axes. GA_ERR_SHAPE if they have neither
 * this shape nor that of the axes, in their order; GA_ERR_DTYPE, GA_ERR_DEVICE; NULL then. */
gpuarray *ga__weights_over(const char *name, const gpuarray *x, const gpuarray *weights, int naxes,
                           const int *axes);

/* Fills `values`, contiguous and of x's dtype: for each q the elements of all rows. Waits for the
 * weights. GA_ERR_INVALID if one is negative, or if those of a row have no positive finite sum. */
ga_status ga__weighted_quantiles(const ga__weighing *w, gpuarray *values);

#endif
