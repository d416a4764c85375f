/* What the text of a kernel may depend on beside its formula: no address, no size. */
#ifndef GA_KERNELS_VARIANT_H
#define GA_KERNELS_VARIANT_H

#include <stddef.h>

#include "kernels/distribution.h"
#include "kernels/reduction.h"

/* How the formula declares an operand; its id stands for all of them. */
typedef struct ga__declaration {
    const char *name;
    ga__access access;
    bool reads, writes, is_const;
} ga__declaration;

/* How a thread of a tile on CUDA moves the elements of its vector: one by one; as a vector, since
 * they are neighbours; as vectors of the rows of axis 0; as a vector of shared memory, which holds
 * the one row that they have; one for all elements; or one for each row. */
typedef enum ga__move {
    GA__MOVE_SINGLY,
    GA__MOVE_DENSE,
    GA__MOVE_ROW,
    GA__MOVE_RING,
    GA__MOVE_HELD,
    GA__MOVE_PAIR
} ga__move;

/* What one operand of a call adds to the variant. */
typedef struct ga__operand_variant {
    uint16_t type;    /* the dtype whose compute type the name has */
    uint16_t memory;  /* the array's dtype; GA_NO_DTYPE: a number */
    uint8_t step : 2; /* STEP_ZERO, STEP_ONE, STEP_ANY or, on the host, STEP_BACK along its axis */
    uint8_t transposed : 1; /* it passes through tiles */
    uint8_t streamed : 1;   /* the engine follows it from element to element; */
    uint8_t deinterleaved : 1;
    uint8_t staged : 1;     /* CUDA: its rows pass through shared memory, */
    uint8_t apart : 1;      /* where each begins a vector of its own, */
    uint8_t skewed : 1;     /* and whose lines do not follow each other directly */
    uint8_t placed : 1;     /* the body loads and stores; with GA_NO_DTYPE it is a coordinate */
    uint8_t contiguous : 1; /* of an accessor, */
    uint8_t ndim : 6;       /* and its axes */
    uint8_t move;           /* a ga__move */
    uint8_t swizzled : 1;   /* in its tiles bits of the line's number change the bank */
    uint8_t loose : 1;      /* CUDA: its vectors begin at any element */
    uint8_t lined : 1;      /* CUDA: a block copies its line to shared memory */
    uint8_t held : 1;       /* CUDA: the rows of a reduction all meet the same ones */
    uint8_t panelled : 1;   /* host: its short rows pass through a panel, */
    uint8_t once : 1;       /* which is filled but once */
    uint8_t unused : 2;     /* named, so that a key has no bits without a value */
} ga__operand_variant;
_Static_assert(sizeof(ga__operand_variant) == 8, "an operand is one word of the key");
_Static_assert((int)GA_LAST_STRUCT <= UINT16_MAX, "a dtype has sixteen bits");

/* The kernel of an elementwise call, but its operands. */
typedef struct ga__elementwise_head {
    uint8_t ndim, lanes, unroll;
    uint8_t run; /* of a tile on CUDA: axes along which its results are neighbours */
    uint16_t block;
    uint8_t index_step; /* of the element's index, if the formula uses it */
    uint8_t noperands;
    uint16_t square; /* elements a side of CUDA's squares; 0: the kernel has none */
    bool host, wide, tiled;
    bool past_cache;       /* on the host: results are stored past the cache, */
    bool pads;             /* and elements that are not there may be computed beside the others */
    uint8_t tail : 1;      /* CUDA: elements follow the last whole vector */
    uint8_t fast_path : 1; /* by fast_path.tmpl where it can */
    uint8_t lines : 1;     /* CUDA: a block has a line of axis 0 */
    uint8_t spans : 1;     /* CUDA: vectors of neighbours, wherever the body finds these */
    uint8_t descends : 1;  /* CUDA: threads walk down rows, and hold what these share */
    uint8_t panels : 1;    /* host: short rows, taken some at a time */
    uint8_t unused : 2;
} ga__elementwise_head;
_Static_assert(sizeof(ga__elementwise_head) == 16, "the head is two words of the key");

/* Whether the kernel counts axis 0 in vectors. */
static inline bool ga__elementwise_counts_vectors(const ga__elementwise_head *head)
{
    return head->lanes > 1 && !head->tiled && !head->spans && !head->descends;
}

/* The kernel of an elementwise call: its words are the key, after the formula's id and device. */
typedef struct ga__elementwise_variant {
    ga__elementwise_head head;
    ga__operand_variant operand[GA__MAX_OPERANDS];
} ga__elementwise_variant;

/* How a thread of CUDA adds a batch of elements to its accumulator: one after another, or the batch
 * by itself first. The batch by itself adds up in order or in pairs. Batches of small elements add
 * up as an int, or as words: a zero decides them, or they give the extreme or its place. */
typedef enum ga__batch {
    GA__BATCH_SINGLY,
    GA__BATCH_APART,
    GA__BATCH_PAIRS,
    GA__BATCH_NARROW,
    GA__BATCH_TRUTHS,
    GA__BATCH_EXTREMES,
    GA__BATCH_PLACES
} ga__batch;

/* How CUDA's kernel of ragged columns reads rows that are not whole vectors of a block: several
 * rows of a contiguous matrix as a line of whole vectors, or each row by itself. */
typedef enum ga__ragged { GA__RAGGED_NOT, GA__RAGGED_FOLDED, GA__RAGGED_APART } ga__ragged;

/* The kernel of a reduction: its words are the key, after the formula's id and the device. */
typedef struct ga__reduce_variant {
    bool host;
    bool columns;    /* neighbouring threads take neighbouring outputs */
    bool wide;       /* 64-bit indices */
    bool tail;       /* elements follow the last whole vector */
    bool split;      /* several blocks share a tile */
    bool posted;     /* the one result also goes to the host's memory */
    bool carried;    /* earlier launches left accumulators */
    bool ascending;  /* a thread meets the elements in the order of their indices */
    bool short_rows; /* host: one loop has a whole row */
    uint8_t kept_ndim, reduced_ndim;
    uint8_t output_step; /* along the vector axis */
    uint8_t noperands;
    uint8_t lanes; /* CUDA: elements of a vector; host: accumulators side by side */

    uint8_t unroll;            /* CUDA: vectors that a thread loads together */
    uint8_t across;            /* CUDA: vectors of neighbouring columns of a block */
    uint8_t min_blocks;        /* CUDA: for __launch_bounds__; 0: no constraint */
    uint8_t batch;             /* CUDA: a ga__batch */
    uint8_t chain_levels;      /* CUDA: accumulators above a thread's own */
    uint8_t batches_per_chain; /* CUDA */
    uint16_t block, team; /* CUDA: threads of a block, and those that reduce one row together */

    bool staged;        /* CUDA: rows pass through shared memory; host: strips are mapped
                           before the parts take them */
    bool plain : 1;     /* host: staged, and the part takes the floats of 16-bit elements */
    bool cascade : 1;   /* host: the results of chains meet in a tree, */
    bool many_runs : 1; /* and so do the runs of a row */
    bool paired : 1;    /* CUDA, columns: the map takes two neighbours of 16 bits at once */
    uint8_t unused_bits : 4;
    uint8_t row_length; /* CUDA: of staged rows, in the text of the kernel; 0: a parameter */
    uint8_t unused;
    uint8_t deinterleave;      /* host: elements of the rows that are deinterleaved; 1: none */
    uint8_t rows_per_pass;     /* host: rows of columns that one loop takes */
    uint16_t strip;            /* host: elements that are mapped together */
    uint16_t outputs_per_pass; /* host: outputs whose runs alternate */

    uint16_t accumulator_bytes;
    uint8_t part_type[GA__MAX_PARTS];
    uint8_t result_type[GA__MAX_PARTS];
    uint8_t ragged; /* CUDA: a ga__ragged */
    uint8_t ahead;  /* CUDA: vectors of an operand that a thread stages together */
    uint8_t packed; /* CUDA: elements of such a row that the smallest batch reads */
    bool peeled;    /* CUDA: vectors of a row begin at its first aligned one */
    ga__operand_variant operand[GA__MAX_OPERANDS];
} ga__reduce_variant;
_Static_assert(offsetof(ga__reduce_variant, peeled) == 47 &&
                   offsetof(ga__reduce_variant, operand) == 48,
               "before its operands the variant is six words of the key, without padding");

/* The kernel of a draw: its word is the key, after the formula's id and the device. */
typedef struct ga__draw_variant {
    uint8_t type;  /* the array's dtype */
    uint8_t drawn; /* the dtype of a block's numbers; GA_NO_DTYPE: its words */
    uint8_t nnumbers;
    uint8_t number_type[GA__DRAW_NUMBERS];
    uint8_t host : 1;
    uint8_t together : 1;   /* CUDA: a thread stores vectors */
    uint8_t past_cache : 1; /* host: elements are stored past the cache */
    uint8_t unused : 5;
} ga__draw_variant;
_Static_assert(sizeof(ga__draw_variant) == 8, "a draw's variant is one word of the key");

static inline ga__declaration ga__declaration_of(const ga__operand *operand)
{
    return (ga__declaration){.name = operand->name,
                             .access = operand->access,
                             .reads = operand->reads,
                             .writes = operand->writes,
                             .is_const = operand->is_const};
}

/* Kernels that only move structs are shared by all structs of a size. */
static inline uint16_t ga__variant_dtype(const ga__operand *operand, ga_dtype dtype)
{
    const bool moves = ga__dtype_is_struct(dtype) && !operand->named;
    return (uint16_t)(moves ? ga__dtype_moved(dtype) : dtype);
}

/* `step` and `transposed` are of a streamed array. */
static inline void ga__operand_variant_set(ga__operand_variant *v, const ga__operand *operand,
                                           int step, bool transposed)
{
    const gpuarray *x = operand->array;
    const uint16_t type = ga__variant_dtype(operand, operand->type),
                   memory = x ? ga__variant_dtype(operand, x->dtype) : GA_NO_DTYPE;
    const ga__access access = operand->access;
    if (!x)
        *v = (ga__operand_variant){.type = type, .memory = GA_NO_DTYPE};
    else if (access == GA__ACCESSOR)
        *v = (ga__operand_variant){.type = type,
                                   .memory = memory,
                                   .contiguous = x->contiguous,
                                   .ndim = (uint8_t)(x->ndim & 63)};
    else
        *v = (ga__operand_variant){.type = type,
                                   .memory = access == GA__COORDINATE ? GA_NO_DTYPE : memory,
                                   .placed = access == GA__COORDINATE || access == GA__PLACED,
                                   .streamed = true,
                                   .step = (uint8_t)(step & 3),
                                   .transposed = transposed};
}

#endif
