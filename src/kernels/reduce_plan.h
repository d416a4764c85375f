/* How a reduction runs: its loop nests, and the variant of the kernel that suits them. */
#ifndef GA_KERNELS_REDUCE_PLAN_H
#define GA_KERNELS_REDUCE_PLAN_H

#include "kernels/reduction.h"
#include "kernels/request.h"

/* How a thread of CUDA adds a batch of elements to what it has: one after another, or the batch by
 * itself first, in order or in pairs. */
typedef enum ga__batch { GA__BATCH_SINGLY, GA__BATCH_APART, GA__BATCH_PAIRS } ga__batch;

/* On CUDA each accumulator above a thread's own adds up so many of those below, but the highest. */
enum { GA__CUDA_CHAINS = 16 };

/* How long chains of what rounds are on the host: rows of columns; steps of a run, of as many lanes
 * each; and runs, a row of columns being shorter. */
enum { GA__HOST_CHAIN = 32, GA__HOST_RUN = 128, GA__HOST_RUNS = 8 };

/* One call. Two loop nests: the kept axes, whose operands are the streamed arrays and last the
 * output, and the reduced axes, whose operands are the streamed arrays and last the index. */
typedef struct ga__reduce_plan {
    const ga__reduction *reduction;
    ga__device *device;
    int noperands;
    const ga__operand *operands;
    gpuarray *out;        /* the first */
    gpuarray *const *all; /* nresults */
    int64_t count, outputs;
    ga__nest kept, reduced;
    int rows;                  /* streamed arrays */
    int row[GA__MAX_OPERANDS]; /* nest operand of operand k, GA__NO_ROW for others */
    int step[GA__MAX_OPERANDS +
             1]; /* of the vector axis, by nest operand; of the index in rows mode */
    bool columns, wide, tail, split, host;
    int strip;            /* on the host: elements that are taken together */
    int rows_per_pass;    /* and rows of columns */
    int deinterleave;     /* on the host: elements of rows that are taken apart; 1 */
    int outputs_per_pass; /* on the host: outputs whose runs are taken in turn */
    bool short_rows;      /* on the host: one loop takes all elements of each row */
    bool staged;          /* on the host: strips are mapped before the parts take them */
    bool plain;           /* staged, and the part takes the very floats that its elements become */
    bool large;           /* on CUDA: more threads a block, with fewer registers */
    bool thin;            /* rows of one vector a thread, several rows at a time */
    bool posted;          /* the one result goes to the host's memory too */
    bool ascending;       /* a thread meets the elements by their number */
    bool sums;            /* a part rounds: its elements are taken in short chains */
    ga__batch batch;      /* on CUDA; */
    int turns;            /* of so many batches is a chain; */
    int chains;           /* and accumulators above a thread's own */
    bool cascade;   /* on the host: the results of chains are so many that they meet in a tree, */
    bool many_runs; /* and so are the runs of a row, by neighbouring outputs at once */
    int levels;     /* on the host: of accumulators of neighbouring outputs, for such a tree */
    int block, lanes, unroll, team, across;
    int waves;             /* of blocks that share rows, so many times those that run at once */
    int64_t useful, least; /* on CUDA: segments at most, and at least so that chains are short */
    int64_t tiles, segments, group, vectors, kept_vectors;
    ga__params words;
    size_t kept_word[GA_MAX_NDIM], reduced_word[GA_MAX_NDIM]; /* divisors */
    size_t data_word[GA__MAX_OPERANDS], out_word, index_word, carry_word, scratch_word;
    size_t result_word[GA__MAX_PARTS]; /* pointers of the results */
} ga__reduce_plan;

/* Parameter words: those that are known last, and the first part's ddof. */
enum {
    GA__REDUCE_SEGMENTS = 3,
    GA__REDUCE_PARTIALS,
    GA__REDUCE_TICKETS,
    GA__REDUCE_GROUP,
    GA__REDUCE_POST,
    GA__REDUCE_TAG,
    GA__REDUCE_DDOF
};

/* The record of the template that the plan, a ga__reduce_plan with its words, asks for; its caller
 * frees it. NULL and an error when memory is out. */
ga__record *ga__reduce_describe(const void *plan);

/* From the reduction, its operands and outputs in *p, all of the plan but its words. */
void ga__reduce_plan_make(ga__reduce_plan *p, int ndim, const int64_t *shape, const bool *reduced);

/* How many blocks the registers of a multiprocessor must hold, where the compiler would take a few
 * registers more; 0: as it comes. Four large ones are all its threads. */
int ga__reduce_plan_min_blocks(const ga__reduce_plan *p);

/* Of the plan's segments no more than fill its waves when `at_once` blocks run at once. */
void ga__reduce_plan_share(ga__reduce_plan *p, int64_t at_once);

/* On the host: bytes of a level. */
size_t ga__reduce_plan_level_bytes(const ga__reduce_plan *p);

/* Whether the few elements of operand k's rows are taken apart into columns. */
bool ga__reduce_plan_deinterleaves(const ga__reduce_plan *p, int k);

/* The parts of ga__reduce_plan_make() that differ by the kind of device. */
void ga__reduce_plan_cuda(ga__reduce_plan *p);
void ga__reduce_plan_host(ga__reduce_plan *p);

/* Whether the host had better take short rows side by side, at any stride. */
bool ga__reduce_plan_thin(const ga__reduce_plan *p);

#endif
