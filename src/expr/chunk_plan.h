/* How a plan goes through data that does not fit memory: in sweeps, each over chunks of rows. */
#ifndef GA_EXPR_CHUNK_PLAN_H
#define GA_EXPR_CHUNK_PLAN_H

#include "expr/source.h"
#include "expr/plan.h"

/* A step's part in a sweep. */
typedef struct ga__part {
    int step;
    bool combined;  /* a reduction over the axes that are cut: its launches carry on */
    uint64_t cut;   /* a bit for each input that is read chunk by chunk */
    uint64_t local; /* likewise for those that an earlier part leaves in the same chunk */
} ga__part;

/* Steps that go through the leading axes of their data together. A chunk is `rows` neighbours on
 * axis depth - 1, at one index of each axis before it. */
typedef struct ga__sweep {
    int depth; /* how many axes are cut; 0: none, the whole is one chunk */
    int64_t lengths[GA_MAX_NDIM];
    int64_t rows, chunks;
    int64_t bytes;  /* of files read and written by it */
    uint64_t cut;   /* arguments read chunk by chunk, a bit for each */
    uint64_t whole; /* sources that it needs whole */
    int nparts;
    ga__part *parts;
} ga__sweep;

typedef struct ga__split {
    int nsweeps;
    ga__sweep *sweeps; /* in order; the last one leaves the result */
    bool *kept;        /* by step: its result outlives the chunk */
    int64_t bytes;     /* of files read and written */
} ga__split;

/* What there is room for, in bytes. */
typedef struct ga__room {
    int64_t chunk;     /* read and written at a time; where that is all, nothing is split */
    int64_t whole;     /* arrays that every chunk needs, together */
    int64_t otherwise; /* everything, when it cannot be split so */
    bool saves;        /* the result goes to a file chunk by chunk, not into an array */
} ga__room;

/* GA_ERR_UNSUPPORTED shows in the text what cannot be split so that it fits the room. The arguments
 * are those the plan was made for. Nothing is to be reset after a failure. */
ga_status ga__split_make(ga__split *split, const ga__plan *plan, const ga_named *args,
                         const char *text, const ga__room *room);
void ga__split_reset(ga__split *split);

/* The box of a sweep's data that is chunk number `chunk`, as far as its axes are cut. */
void ga__sweep_box(const ga__sweep *sweep, int64_t chunk, ga__box *box);

#endif
