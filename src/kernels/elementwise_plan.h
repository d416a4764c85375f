/* How an elementwise call runs: its loop nest, and the variant of the kernel that suits it. */
#ifndef GA_KERNELS_ELEMENTWISE_PLAN_H
#define GA_KERNELS_ELEMENTWISE_PLAN_H

#include "kernels/elementwise_text.h"
#include "kernels/request.h"
#include "kernels/cuda/tile_plan.h"

/* One call. Operands of the nest are the streamed arrays, written ones first, then the index. */
typedef struct ga__elementwise_plan {
    const ga__formula *formula;
    ga__device *device;
    int noperands;
    const ga__operand *operands;
    int64_t n;
    ga__elementwise_head head; /* of the variant; ga__elementwise_set_variant() completes it */
    ga__nest nest;
    int place[GA__MAX_OPERANDS]; /* of operand k in the nest; GA__NO_PLACE: not in it */
    int index_place;             /* nest operand of the index */
    int step[GA__MAX_OPERANDS];  /* by nest operand */
    bool transposed[GA__MAX_OPERANDS];
    bool panelled[GA__MAX_OPERANDS], once[GA__MAX_OPERANDS]; /* by nest operand, of panels */
    ga__move move[GA__MAX_OPERANDS];                         /* by nest operand, of CUDA's tiles */
    bool odd; /* some streamed elements, of structs, are no part of 16-byte vectors */
    int64_t vectors, chunk, grid;
    int64_t panel;           /* host: rows of short rows that are taken together */
    const ga__operand *line; /* CUDA: the operand whose lines are copied; NULL: there is none, */
    size_t shared;           /* and the shared memory that they take */
    ga__tile tile;           /* of CUDA, where `tiled` without squares */
} ga__elementwise_plan;

/* Fills the rest of *p from the formula, its operands, the count n > 0 of elements, and the nest's
 * memory for the strides of all operands and the index. */
void ga__elementwise_plan_make(ga__elementwise_plan *p, int ndim, const int64_t *shape);

/* The first half of it: the nest and its steps, for an engine that walks the operands in its own
 * way, without tiles. */
void ga__elementwise_plan_walk(ga__elementwise_plan *p, int ndim, const int64_t *shape);

/* The elements of a 16-byte vector of every operand of the nest; 1 where some cannot be moved so.
 */
int ga__elementwise_lanes(const ga__elementwise_plan *p);

/* What follows the head of the parameters: the divisors of the axes, the operands, the index. */
void ga__elementwise_add_walk(const ga__elementwise_plan *p, ga__params *params);

/* The most words of parameters of a call over `ndim` axes. */
size_t ga__elementwise_most_params(int ndim, int noperands, const ga__operand *operands);

/* On the host, the bytes of the arrays that a block keeps on its thread's stack; the same of tiles,
 * and of what no groups hold. */
size_t ga__elementwise_rare_stack(const ga__elementwise_plan *p);
static inline size_t ga__elementwise_stack(const ga__elementwise_plan *p)
{
    return !p->head.host                    ? 0
           : p->head.pads && !p->head.tiled ? GA__HOST_ARRAYS + GA__HOST_PANEL
                                            : ga__elementwise_rare_stack(p);
}

void ga__elementwise_set_variant(const ga__elementwise_plan *p, ga__elementwise_variant *v);

/* The words of the key that the variant is. */
static inline size_t ga__elementwise_variant_bytes(const ga__elementwise_variant *v)
{
    return sizeof v->head + 8 * (size_t)v->head.noperands;
}

/* Whether operand k, whose neighbours are along the axis `near`, can be moved `lanes` elements at a
 * time: address and other strides in step. */
bool ga__elementwise_lanes_fit(const ga__elementwise_plan *p, int k, int lanes, int near);

/* ---- The host's short rows (host/short_plan.c) ---- */

#define GA__HOST_BLOCKS_PER_WORKER 16 /* evens out their times */
#define GA__HOST_LEAST (1 << 15)      /* elements that are worth a block */

/* Plans panels of whole rows where axis 0 is short and all operands may pass through them. False,
 * with the nest unchanged, elsewhere. */
bool ga__elementwise_panels(ga__elementwise_plan *p);

/* ---- The order of CUDA's blocks (cuda/turn_plan.c) ---- */

/* Whether rows may be so long that the cache holds no two of them: a test for all calls. */
static inline bool ga__elementwise_has_long_rows(const ga__elementwise_plan *p)
{
    const size_t widest = 2 * sizeof(double), cache = p->device->cache_bytes;
    return cache > 0 && p->nest.ndim > 1 &&
           (size_t)p->nest.shape[0] * (size_t)p->noperands * widest > cache / 2;
}

/* Whether all rows of such a call read the same row, which has left the cache when the next row
 * asks for it. */
bool ga__elementwise_reads_again(const ga__elementwise_plan *p);

/* Blocks then take the same part of all rows in turn: sets p->chunk, the blocks of a row. */
void ga__elementwise_take_turns(ga__elementwise_plan *p);

/* ---- CUDA's squares (cuda/square_plan.c) ---- */

/* Plans the call in squares of shared memory where these are faster than tiles: arrays in two
 * orders of axes all move whole aligned vectors. False, with the plan unchanged, elsewhere. */
bool ga__elementwise_squares(ga__elementwise_plan *p);

/* ---- CUDA's lines (cuda/line_plan.c) ---- */

#define GA__LINE_LENGTH 256 /* the least number of results of a line */

/* Plans a block for each line of axis 0 where the body takes elements from anywhere in a line of an
 * operand that fits shared memory, often enough. False, with the plan unchanged, elsewhere. */
bool ga__elementwise_lines(ga__elementwise_plan *p);

/* ---- CUDA's spans (cuda/span_plan.c) ---- */

/* Plans whole vectors of results where the body, whose formula says that it moves elements, takes
 * most of these from neighbouring places of operands. False, with the plan unchanged, elsewhere. */
bool ga__elementwise_spans(ga__elementwise_plan *p);

/* ---- CUDA's descents (cuda/descent_plan.c) ---- */

/* Plans threads that walk down the rows of narrow results where all rows share some operand, and
 * instructions take longer than memory. False, with the plan unchanged, elsewhere. */
bool ga__elementwise_descends(ga__elementwise_plan *p);

/* Whether all rows share operand k. */
bool ga__elementwise_is_held(const ga__elementwise_plan *p, int k);

/* ---- CUDA's tiles (cuda/elementwise_tiles.c) ---- */

/* Plans the call in tiles where these save accesses: operands whose neighbours are not the results'
 * pass through shared memory, and vectors of narrow elements move whatever their addresses. False,
 * with p->lanes unchanged, where the plan's own vectors do. */
bool ga__elementwise_tiles(ga__elementwise_plan *p);

/* Whether the stage of the operand at this place is swizzled. */
bool ga__elementwise_swizzled(const ga__elementwise_plan *p, int place);

/* Adds the head, and the words of each axis. */
void ga__elementwise_tile_head(const ga__elementwise_plan *p, ga__params *params);

/* What follows the strides of operand k. */
void ga__elementwise_tile_operand(const ga__elementwise_plan *p, int k, ga__params *params);

#endif
