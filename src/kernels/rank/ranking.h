/* What a selection computes. */
#ifndef GA_KERNELS_RANK_RANKING_H
#define GA_KERNELS_RANK_RANKING_H

#include "array/array.h"

typedef enum ga__rank_task {
    GA__RANK_QUANTILES,    /* values at places between ranks */
    GA__RANK_PARTITION,    /* the row, its elements on their side of element kth */
    GA__RANK_ARGPARTITION, /* the indices of those */
    GA__RANK_TOPK          /* the first elements of the sorted row, and their indices */
} ga__rank_task;

typedef enum ga__rank_method {
#define GA_METHOD(name, interpolates, whole) GA__RANK_##name,
#include "rank_methods.def"
#undef GA_METHOD
    GA__RANK_METHODS,
    GA__RANK_median = GA__RANK_METHODS /* the mean of the middle elements */
} ga__rank_method;

/* One call, its arguments checked. Arrays are contiguous and on x's device. */
typedef struct ga__ranking {
    ga__rank_task task;
    const gpuarray *x; /* `rows` rows of `count` elements, neither 0 */
    int64_t rows, count;
    gpuarray *values, *indices; /* what the task has; the other is NULL */
    bool descending;            /* topk */
    int64_t kth;                /* partition, argpartition: a rank */
    int64_t winners;            /* topk: elements of a row, from 1 to `count` */
    ga__rank_method method;     /* quantiles: the rest */
    bool skips_nan;             /* otherwise a row with NaN has the quantile NaN */
    bool weak;                  /* q is a C number */
    ga_dtype q_type;            /* in which places are computed; with a weak q float64 */
    int64_t nq;                 /* numbers q, each with `rows` values */
    const double *q;
} ga__ranking;

#endif
