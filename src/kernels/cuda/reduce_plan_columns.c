/* Chooses how a reduction over columns runs on CUDA: vectors, blocks, and tiles of columns. */
#include "kernels/cuda/reduce_cost.h"

/* Threads of a block; more where a small accumulator leaves registers for them. Measured on an
 * H200. */
#define BLOCK 256
#define LARGE_BLOCK 512
#define SMALL_ACCUMULATOR 8 /* bytes */
#define UNROLL 4
#define WIDEST 32   /* the most vectors of neighbouring columns of a block, */
#define NARROWEST 8 /* and the fewest where narrow tiles save splitting the columns */

/* Tall tiles: threads of a block, fewer than which walk down the same columns; bytes that a thread
 * loads together, of small elements at any address too, whose rows are no shorter than those; and
 * the most bytes of its accumulators. */
#define TALL_BLOCK 128
#define TALL_NARROWEST 32
#define TALL_LOADED 64
#define TALL_UNROLL 8
#define LOOSE_BYTES 8
#define LOOSE_LANES 4
#define LOOSE_ROW 16
#define MOST_ACCUMULATORS 128

/* Measured on an H200: of blocks as they are, of tall ones, also with vectors that begin anywhere,
 * and of rows of threads below each other. */
static const ga__column_costs whole = {.vector = 4.5, .element = 0.4, .block = 48},
                              tall = {.vector = 1, .element = 0.4, .block = 4},
                              loose = {.vector = 2, .element = 0.4, .block = 4},
                              tall_down = {.vector = 1, .element = 0.4, .block = 24},
                              loose_down = {.vector = 2, .element = 0.4, .block = 24};

typedef ga__reduce_plan plan;

/* Whether operand k takes part in the choice of vectors: others are the same for all of them, or
 * are held. */
static bool has_steps(const plan *p, int k)
{
    return p->place[k] != GA__NO_PLACE && !p->v.operand[k].held &&
           p->v.operand[k].step != STEP_ZERO;
}

static bool is_same_in_rows(const plan *p, int k)
{
    bool same = true;
    for (int axis = 0; axis < p->reduced.ndim; axis++)
        same &= p->reduced.strides[p->place[k]][axis] == 0;
    return same;
}

/* A thread reads what all rows share, such as the largest element of each column, once. */
static void find_held(plan *p)
{
    bool rows_differ = false;
    for (int k = 0; k < p->noperands; k++)
        rows_differ |= p->place[k] != GA__NO_PLACE && !is_same_in_rows(p, k);
    for (int k = 0; k < p->noperands && rows_differ && p->count > 1; k++)
        p->v.operand[k].held = p->place[k] != GA__NO_PLACE && p->v.operand[k].step != STEP_ZERO &&
                               is_same_in_rows(p, k);
}

static size_t widest_result(const plan *p, size_t widest)
{
    for (int k = 0; k < p->reduction->formula.nresults; k++) {
        const size_t size = ga__vector_size(ga__dtype_size(p->out[k]->dtype));
        widest = size > widest ? size : widest;
    }
    return widest;
}

static int choose_lanes(const plan *p)
{
    size_t widest = 1;
    bool contiguous = false;
    for (int k = 0; k < p->noperands; k++)
        if (has_steps(p, k) && p->v.operand[k].step == STEP_ONE) {
            const size_t size = ga__vector_size(ga__dtype_size(p->operands[k].array->dtype));
            widest = size > widest ? size : widest;
            contiguous = true;
        }
    if (p->count == 1) /* as many results as elements */
        widest = widest_result(p, widest);
    const int lanes = (int)(GA__VECTOR_BYTES / widest);
    if (!contiguous || p->kept.shape[0] % lanes)
        return 1;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (!has_steps(p, k))
            continue;
        const gpuarray *x = p->operands[k].array;
        if (p->v.operand[k].step != STEP_ONE ||
            (uintptr_t)x->data % ((uintptr_t)lanes * ga__dtype_size(x->dtype)) ||
            !ga__nest_in_step(&p->kept, place, 1, lanes) ||
            !ga__nest_in_step(&p->reduced, place, 0, lanes))
            return 1;
    }
    return lanes;
}

/* Whether a block has many threads: each keeps little, and there is work for all. */
static bool wants_large_block(const plan *p)
{
    return p->streamed == 1 && p->v.accumulator_bytes <= SMALL_ACCUMULATOR && p->v.lanes <= 4 &&
           p->vectors * p->v.across >= LARGE_BLOCK * UNROLL;
}

/* Narrower tiles make more blocks: nearly two waves, or at least enough that no columns are split.
 * Measured on an H200: 1.3 % faster for 1 GiB in 16384 columns, without partial results. */
static int narrowed(const plan *p, int64_t target)
{
    const int64_t wanted[] = {3 * target / 2, target / 2 + 1};
    if (p->v.lanes == 1)
        return p->v.across;
    for (int k = 0; k < 2; k++)
        for (int across = p->v.across; across >= NARROWEST; across /= 2)
            if (ga__ceil_div(p->kept_vectors, across) >= wanted[k] &&
                p->vectors >= (int64_t)(p->v.block / across) * UNROLL)
                return across;
    return p->v.across;
}

/* ---- Tall tiles ---- */

/* The elements of a vector that begins anywhere in each operand; fewer than LOOSE_LANES: none. */
static int loose_lanes(const plan *p)
{
    size_t widest = LOOSE_BYTES;
    const int first = ga__reduce_first_vector(p);
    if (first < 0 || p->reduced.ndim > 1)
        return 1;
    widest = 1;
    for (int k = 0; k < p->noperands; k++) {
        if (!has_steps(p, k))
            continue;
        const size_t size = ga__dtype_size(p->operands[k].array->dtype);
        if (p->v.operand[k].step != STEP_ONE ||
            p->reduced.strides[p->place[k]][0] * (int64_t)size < LOOSE_ROW)
            return 1;
        widest = size > widest ? size : widest;
    }
    const int lanes = (int)(LOOSE_BYTES / widest);
    return p->kept.shape[0] >= lanes && lanes * p->v.accumulator_bytes <= MOST_ACCUMULATORS ? lanes
                                                                                            : 1;
}

void ga__reduce_forget_loose(plan *p)
{
    p->group = 1;
    for (int k = 0; k < p->noperands; k++)
        p->v.operand[k].loose = false;
}

static void set_loose(plan *p, int lanes)
{
    p->v.lanes = (uint8_t)lanes;
    p->group = p->kept.shape[0];
    for (int k = 0; k < p->noperands; k++)
        p->v.operand[k].loose = ga__reduce_in_vectors(p, k);
}

static int loaded_bytes(const plan *p)
{
    int bytes = 0;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && !p->v.operand[k].held)
            bytes += p->v.lanes * (int)ga__dtype_size(p->operands[k].array->dtype);
    return bytes;
}

static void set_tall(plan *p, int across)
{
    const int loads = TALL_LOADED / loaded_bytes(p), down = TALL_BLOCK / across;
    p->large = false;
    p->v.block = TALL_BLOCK;
    p->v.across = (uint8_t)across;
    p->kept_vectors = ga__ceil_div(p->kept.shape[0], p->v.lanes) * (p->outputs / p->kept.shape[0]);
    p->tiles = ga__ceil_div(p->kept_vectors, across);
    p->v.unroll = (uint8_t)ga__reduce_plan_power(ga__ceil_div(p->vectors, down),
                                                 loads < 1             ? 1
                                                 : loads < TALL_UNROLL ? loads
                                                                       : TALL_UNROLL);
    p->width = across * p->v.lanes;
    ga__reduce_plan_segments(p, ga__reduce_plan_blocks(p),
                             ga__ceil_div(p->vectors, (int64_t)down * p->v.unroll));
}

static bool is_tall(const plan *p)
{
    return p->v.block == TALL_BLOCK;
}

static const ga__column_costs *costs_of(const plan *p)
{
    const bool down = p->v.across < p->v.block;
    if (!is_tall(p))
        return &whole;
    if (p->group > 1)
        return down ? &loose_down : &loose;
    return down ? &tall_down : &tall;
}

double ga__reduce_columns_cost(const plan *p)
{
    ga__tiling t = {.costs = costs_of(p),
                    .lanes = p->v.lanes,
                    .block = p->v.block,
                    .unroll = p->v.unroll,
                    .down = p->v.block / p->v.across,
                    .apart = p->v.block / p->v.across,
                    .width = p->width,
                    .row_tiles = ga__ceil_div(p->kept.shape[0], p->width),
                    .turns = p->vectors};
    t.bytes = ga__reduce_delivered_bytes(p, ga__reduce_first_vector(p), &t);
    return ga__reduce_cost(p, &t, p->tiles, p->waves);
}

/* Few rows of many columns: a thread walks down all rows, or a few threads do, so that results need
 * not meet in shared memory. */
static void consider_tall(plan *p)
{
    const int lanes = p->v.lanes == 1 ? loose_lanes(p) : 1;
    plan best = *p, t = *p;
    if (lanes >= LOOSE_LANES)
        set_loose(&t, lanes);
    for (int across = TALL_BLOCK; across >= TALL_NARROWEST; across /= 2) {
        set_tall(&t, across);
        if (t.tiles > ga__reduce_plan_blocks(&t) / 2 &&
            ga__reduce_columns_cost(&t) < ga__reduce_columns_cost(&best))
            best = t;
    }
    *p = best;
}

int64_t ga__reduce_plan_columns(plan *p)
{
    find_held(p);
    p->v.lanes = (uint8_t)choose_lanes(p);
    p->v.team = 1;
    p->vectors = p->count;
    p->kept_vectors = p->outputs / p->v.lanes;
    p->v.across = (uint8_t)ga__reduce_plan_power(p->kept_vectors, WIDEST);
    p->large = wants_large_block(p);
    p->v.block = p->large ? LARGE_BLOCK : BLOCK;
    const int64_t target = ga__reduce_plan_blocks(p);
    p->v.across = (uint8_t)narrowed(p, target);
    const int down = p->v.block / p->v.across;
    p->tiles = ga__ceil_div(p->kept_vectors, p->v.across);
    p->v.unroll = (uint8_t)ga__reduce_plan_power(ga__ceil_div(p->vectors, down), UNROLL);
    p->width = p->v.across * p->v.lanes;
    ga__reduce_plan_segments(p, target, ga__ceil_div(p->vectors, (int64_t)down * p->v.unroll));
    consider_tall(p);
    const int64_t ragged = ga__reduce_plan_ragged(p);
    return ragged ? ragged : p->v.block / p->v.across;
}
