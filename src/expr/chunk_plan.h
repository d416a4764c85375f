/* Plans the evaluation of data that does not fit memory: sweeps over chunks of rows. */
#ifndef GA_EXPR_CHUNK_PLAN_H
#define GA_EXPR_CHUNK_PLAN_H

#include "expr/source.h"
#include "expr/plan.h"

/* A step's part in a sweep. */
typedef struct ga__part {
    int step;
    bool combined; /* a reduction over the split axes: each launch continues the previous one */
    uint64_t streamed_inputs; /* a bit for each input that is read chunk by chunk */
    uint64_t local; /* a bit for each input that an earlier part of the same chunk computes */
} ga__part;

/* Steps that process the leading axes of their data together. A chunk is `rows` neighbours on axis
 * depth - 1, at one index of each axis before it. */
typedef struct ga__sweep {
    int depth; /* the number of split axes; 0: the whole is one chunk */
    int64_t lengths[GA_MAX_NDIM];
    int64_t rows, chunks;
    int64_t bytes;          /* of files that it reads and writes */
    uint64_t streamed_args; /* a bit for each argument that is read chunk by chunk */
    uint64_t whole;         /* a bit for each source that must be in memory completely */
    int nparts;
    ga__part *parts;
} ga__sweep;

typedef struct ga__split {
    int nsweeps;
    ga__sweep *sweeps; /* in order; the last one computes the result */
    bool *kept;        /* by step: its result outlives the chunk */
    int64_t bytes;     /* of files that are read and written */
} ga__split;

/* The available memory, in bytes. */
typedef struct ga__room {
    int64_t chunk;     /* for the data read and written at a time; data that fits is not split */
    int64_t whole;     /* for all arrays that every chunk needs */
    int64_t otherwise; /* for everything, if the data cannot be split to fit */
    bool saves;        /* the result goes to a file chunk by chunk, not into an array */
} ga__room;

/* Splits the plan. GA_ERR_UNSUPPORTED shows the part of the text that cannot be split to fit the
 * memory. The arguments are those that the plan was made for. After a failure there is nothing to
 * reset. */
ga_status ga__split_make(ga__split *split, const ga__plan *plan, const ga_named *args,
                         const char *text, const ga__room *room);
void ga__split_reset(ga__split *split);

/* Sets the split axes of the box to the ranges of chunk `chunk`. */
void ga__sweep_box(const ga__sweep *sweep, int64_t chunk, ga__box *box);

#endif
