/* Runs of equal elements among sorted ones, and what sets need of each run. */
#ifndef GA_OPS_SETS_RUNS_H
#define GA_OPS_SETS_RUNS_H

#include "array/array.h"

/* The elements, a contiguous array of one axis. */
typedef struct ga__runs {
    const gpuarray *elements;
    const gpuarray *order;  /* int64: where each element was before it was sorted; or NULL */
    const gpuarray *chosen; /* bool: which elements count, the same for all of a run; NULL: all */
    bool each;              /* each element is a run of its own, in any order */
    bool distinct_nan;      /* no NaN equals another one */
} ga__runs;

/* What is wanted of the runs beside the first element of each. */
typedef struct ga__wanted_runs {
    bool indices; /* where the first element was */
    bool inverse; /* of each element where it was, its run; of all runs only */
    bool counts;  /* the number of elements; of all runs only */
} ga__wanted_runs;

/* New arrays of as many elements as there are runs; those that are not wanted are NULL. */
typedef struct ga__made_runs {
    gpuarray *values, *indices, *inverse, *counts;
} ga__made_runs;

/* Finds the runs, and waits for their number; `ndim` and `shape` are those of `inverse`. The
 * caller's scope owns all that it makes, also on failure. */
ga_status ga__find_runs(const char *name, const ga__runs *runs, ga__wanted_runs wanted, int ndim,
                        const int64_t *shape, ga__made_runs *made);

#endif
