/* Chooses tiles and blocks of ragged columns on CUDA: rows that are not whole vectors of a block,
 * or that begin anywhere. */
#include "device/tickets.h"
#include "kernels/cuda/reduce_cost.h"

/* Threads of a block, fewer where accumulators are large; bytes that a thread loads together, and
 * keeps in accumulators. */
#define BLOCK 512
#define SMALL_BLOCK 256
#define LARGE_BLOCK 1024
#define MANY_ACCUMULATORS 64 /* bytes; a small block has at most twice as many */
#define LOADED 64
#define MOST_LANES 8
#define WIDEST 128  /* the most vectors of neighbouring columns of a block, */
#define NARROWEST 4 /* and the fewest at first */
#define MOST_UNROLL 8

#define NOT_WORTHWHILE 0.95 /* as a share of the cost of whole vectors */
#define MOST_WAVES 8

/* Measured on an H200. */
static const ga__column_costs ragged = {
    .vector = 4.5, .element = 0.4, .block = 100, .grouped = true};

typedef ga__reduce_plan plan;
typedef ga__tiling tiling;

static int64_t common_divisor(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- The operands ---- */

static int64_t place_in_vector(const plan *p, int k, int lanes)
{
    const gpuarray *x = p->operands[k].array;
    return (int64_t)((uintptr_t)x->data / ga__dtype_size(x->dtype) % (uintptr_t)lanes);
}

/* Whether rows of both operands always begin at the same lane. */
static bool agree(const plan *p, int a, int b, int lanes)
{
    const int64_t *kept_a = p->kept.strides[p->place[a]], *kept_b = p->kept.strides[p->place[b]];
    const int64_t down_a = p->reduced.strides[p->place[a]][0],
                  down_b = p->reduced.strides[p->place[b]][0];
    bool same = place_in_vector(p, a, lanes) == place_in_vector(p, b, lanes) &&
                (down_a - down_b) % lanes == 0;
    for (int axis = 1; axis < p->kept.ndim; axis++)
        same &= (kept_a[axis] - kept_b[axis]) % lanes == 0;
    return same;
}

/* Vectors that all operands share, and as many accumulators as registers hold. */
static int choose_lanes(const plan *p, int first)
{
    int lanes = MOST_LANES;
    if (first < 0)
        return 1;
    const int bytes = p->v.accumulator_bytes * (p->sums ? 2 : 1); /* and those of chains */
    while (lanes > 1 && lanes * bytes > 2 * MANY_ACCUMULATORS)
        lanes /= 2;
    for (int k = 0; k < p->noperands; k++) {
        if (!ga__reduce_in_vectors(p, k))
            continue;
        const size_t size = ga__vector_size(ga__dtype_size(p->operands[k].array->dtype));
        while (lanes * size > GA__VECTOR_BYTES || !agree(p, first, k, lanes))
            lanes /= 2;
    }
    return lanes;
}

/* Whether all rows begin with a vector. */
static bool begins_with_vectors(const plan *p, int first, int lanes)
{
    bool whole = place_in_vector(p, first, lanes) == 0;
    for (int axis = 1; axis < p->kept.ndim; axis++)
        whole &= p->kept.strides[p->place[first]][axis] % lanes == 0;
    return whole && p->reduced.strides[p->place[first]][0] % lanes == 0;
}

/* Whether vectors may end after a row: the next row follows it there. The last row of each tile is
 * not read in vectors. */
static bool rows_follow(const plan *p, int lanes)
{
    const int64_t columns = p->kept.shape[0], least = columns > lanes - 1 ? columns : lanes - 1;
    for (int k = 0; k < p->noperands; k++)
        if (ga__reduce_in_vectors(p, k) && p->reduced.strides[p->place[k]][0] < least)
            return false;
    return true;
}

/* Sets the waves that cost least, and what they cost. */
static void choose_waves(const plan *p, tiling *t)
{
    const int64_t tiles = t->row_tiles * (p->outputs / p->kept.shape[0]);
    t->waves = 0;
    for (int waves = 1; waves <= MOST_WAVES; waves *= 2) {
        const double cost = ga__reduce_cost(p, t, tiles, waves);
        if (t->waves == 0 || cost < t->cost) {
            t->waves = waves;
            t->cost = cost;
        }
    }
}

/* ---- The tilings ---- */

static bool has_room(const plan *p, const tiling *t, int rows)
{
    ga__reduce_variant v = p->v;
    v.block = (uint16_t)t->block;
    return (int64_t)(1 + rows) * t->width <= ga__reduce_room(&v);
}

static void consider(tiling *best, const tiling *t)
{
    if (best->waves == 0 || t->cost < best->cost)
        *best = *t;
}

/* Lines of whole vectors, one beside the other as far as the block goes. */
static void consider_folded(const plan *p, tiling t, tiling *best)
{
    const int64_t columns = p->kept.shape[0], period = columns / common_divisor(columns, t.lanes);
    if (period > t.block || !ga__reduce_is_contiguous(p))
        return;
    t.folded = true;
    t.width = (int)columns;
    t.fold = (int)(period * t.lanes / columns);
    t.across = (int)period;
    t.apart = t.down = t.block / t.across;
    t.row_tiles = 1;
    t.turns = ga__ceil_div(p->count, t.fold);
    if (!has_room(p, &t, t.fold))
        return;
    t.bytes = ga__reduce_delivered_bytes(p, 0, &t);
    choose_waves(p, &t);
    consider(best, &t);
}

/* Tiles of at most `across` vectors. If rows begin anywhere, a tile shares its first and its last
 * vector with the tiles beside it. */
static void consider_apart(const plan *p, tiling t, int across, int shared, int first, tiling *best)
{
    const int64_t columns = p->kept.shape[0];
    t.row_tiles = ga__ceil_div(columns, (int64_t)(across - shared) * t.lanes);
    t.width = (int)ga__ceil_div(columns, t.row_tiles * t.lanes) * t.lanes;
    t.across = t.width / t.lanes + shared;
    t.down = t.block / t.across;
    t.down =
        t.down < t.fold ? ga__reduce_plan_power(t.down / 2 + 1, t.fold) : t.down / t.fold * t.fold;
    t.apart = t.down < t.fold ? t.fold : t.down;
    t.turns = p->count - 1; /* the last row comes in single elements */
    if (!has_room(p, &t, 1) ||
        (t.down < t.fold && t.row_tiles * (p->outputs / columns) > GA__TICKETS))
        return;
    t.bytes = ga__reduce_delivered_bytes(p, first, &t);
    choose_waves(p, &t);
    consider(best, &t);
}

/* Tiles of any width. */
static void consider_tiles(const plan *p, tiling t, int first, tiling *best)
{
    while (t.lanes > 1 && !rows_follow(p, t.lanes) &&
           (p->kept.shape[0] % t.lanes || !begins_with_vectors(p, first, t.lanes)))
        t.lanes /= 2;
    const int shared = first < 0 || begins_with_vectors(p, first, t.lanes) ? 0 : 1;
    t.fold = 1;
    if (first >= 0)
        t.fold = t.lanes / (int)common_divisor(p->reduced.strides[p->place[first]][0], t.lanes);
    for (int across = WIDEST; across >= NARROWEST; across = across * 2 / 3)
        consider_apart(p, t, across, shared, first, best);
}

static tiling choose_tiling(const plan *p, int first)
{
    tiling best = {0}, t = {.costs = &ragged, .lanes = choose_lanes(p, first)};
    t.block = t.lanes * p->v.accumulator_bytes <= MANY_ACCUMULATORS ? BLOCK : SMALL_BLOCK;
    const int size = first < 0 ? 1 : (int)ga__dtype_size(p->operands[first].array->dtype),
              loads = LOADED / (t.lanes * size);
    t.unroll = loads > MOST_UNROLL ? MOST_UNROLL : loads > 1 ? loads : 1;
    consider_folded(p, t, &best);
    if (t.block == BLOCK &&
        p->kept.shape[0] / common_divisor(p->kept.shape[0], t.lanes) > BLOCK / 2) {
        t.block = LARGE_BLOCK;
        consider_folded(p, t, &best);
        t.block = BLOCK;
    }
    consider_tiles(p, t, first, &best);
    return best;
}

int64_t ga__reduce_plan_ragged(plan *p)
{
    const int64_t threads = (int64_t)p->device->processors * p->device->threads_per_processor;
    if (p->streamed == 0 || p->reduced.ndim > 1 || p->count * p->outputs < threads)
        return 0;
    const int first = ga__reduce_first_vector(p);
    const double most = NOT_WORTHWHILE * ga__reduce_columns_cost(p),
                 least = (double)p->count * (double)p->outputs / (double)threads;
    if (most <=
        least * ga__reduce_delivered_bytes(p, first, &(tiling){.row_tiles = 1, .width = 1 << 20}))
        return 0;
    tiling t = choose_tiling(p, first);
    if (t.waves == 0 || t.cost > most)
        return 0;
    ga__reduce_forget_loose(p);
    p->v.ragged = t.folded ? GA__RAGGED_FOLDED : GA__RAGGED_APART;
    p->v.lanes = (uint8_t)t.lanes;
    p->v.block = (uint16_t)t.block;
    p->v.across = 1;
    p->large = false;
    p->width = t.width;
    p->across = t.across;
    p->down = t.down;
    p->fold = t.fold;
    p->row_tiles = t.row_tiles;
    p->tiles = t.row_tiles * (p->outputs / p->kept.shape[0]);
    p->vectors = t.turns;
    p->kept_vectors = p->kept.shape[0];
    p->v.unroll = (uint8_t)ga__reduce_plan_power(ga__ceil_div(t.turns, t.apart), t.unroll);
    p->apart = t.apart;
    t.unroll = p->v.unroll;
    p->useful = ga__reduce_useful_segments(&t);
    p->waves = ga__reduce_plan_short_circuits(p->reduction) ? 1 : t.waves;
    return t.down;
}
