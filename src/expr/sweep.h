/* One evaluation by chunks, and its sweeps. */
#ifndef GA_EXPR_SWEEP_H
#define GA_EXPR_SWEEP_H

#include <quarry/eval.h>

#include "expr/chunk_plan.h"
#include "expr/run.h"
#include "ops/npy.h"

/* A file that is loaded or saved completely goes in slabs of this size; progress is reported
 * between them. */
#define GA__SLAB_BYTES ((int64_t)64 << 20)

/* One evaluation. */
typedef struct ga__evaluation {
    const ga__plan *plan;
    const char *text; /* the expression */
    int count;
    const ga_named *args;
    const ga_chunks *how; /* may be NULL */
    ga__device *device;
    ga__split split;
    ga__numbers numbers;
    ga__npy_writer *file;                /* for the result, or NULL */
    gpuarray *loaded[GA__MAX_EVAL_ARGS]; /* sources that are in memory completely */
    gpuarray **kept;                     /* by step: results that outlive their chunk */
    gpuarray **local;                    /* by step: the result for this chunk */
    int64_t done;                        /* bytes of files read and written */
} ga__evaluation;

/* Counts bytes read or written and calls the caller's progress function; GA_ERR_CANCELLED. */
ga_status ga__evaluation_report(ga__evaluation *s, int64_t bytes);

/* Appends bytes to the result's file, a ga__npy_writer. */
ga_status ga__evaluation_append(void *context, const void *bytes, size_t nbytes);

/* Computes all chunks of one sweep. */
ga_status ga__sweep_run(ga__evaluation *s, const ga__sweep *sweep);

#endif
