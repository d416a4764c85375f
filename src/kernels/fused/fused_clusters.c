/* Plans rows that a block of CUDA has one at a time, or that several blocks share. */
#include "kernels/fused/fused_cuda.h"

#define MOST_BLOCKS 32      /* of a cluster whose rows have one stage, or are doubles; */
#define MOST_OF_STAGES 48   /* of float32 that have several, or of sums of exponentials */
#define PART_BYTES 16384    /* of a row's part in a block of a cluster, at least */
#define MOST_MEETINGS 2     /* of blocks that have a row's parts in registers; of double, half */
#define MOST_MET 64         /* blocks times meetings: more take longer to meet */
#define SLACK_BYTES 2048    /* of a block's shared memory, besides the elements */
#define GROUP_PROCESSORS 16 /* of a group of the hardware, about */
#define FEW_BLOCKS 8        /* of a cluster, from which on larger ones are faster */
#define FIRST_WITH_BULK 90  /* architecture */

typedef ga__fused_plan plan;

/* One row of a block at a time comes to shared memory; false if there are few rows or they are too
 * long. */
static bool stage_rows(plan *p)
{
    p->v.staged = p->own;
    p->rows_of_block = 1;
    if (p->part > (int64_t)ga__fused_shared_limit(p))
        return false;
    ga__fused_place(p);
    return p->shared <= ga__fused_shared_limit(p) &&
           p->rows * p->blocks >= p->call->device->processors / FEW_ROWS;
}

/* How many blocks a row is divided among. */
static void choose_walk(plan *p, int blocks)
{
    p->v.walk = blocks == 1                                 ? GA__WALK_ROWS
                : blocks <= p->call->device->cluster_blocks ? GA__WALK_DISTRIBUTED
                                                            : GA__WALK_CLUSTERS;
}

/* The elements of a part, and the blocks that then have any. */
static void divide_row(plan *p, int blocks)
{
    const int64_t lines = ga__ceil_div(ga__fused_vectors_of_row(p) * p->v.lanes, ga__fused_line(p)),
                  lines_of_part = ga__ceil_div(lines, blocks);
    p->part = blocks > 1 ? lines_of_part * ga__fused_line(p) : p->length;
    p->blocks = blocks > 1 ? (int)ga__ceil_div(lines, lines_of_part) : 1;
}

/* How the next row comes to shared memory. Where blocks meet in memory, copies in bulk would hold
 * their meetings up. */
static ga__fused_ahead ahead_of(const plan *p)
{
    bool vectors = p->v.registers && p->v.walk != GA__WALK_CLUSTERS;
    for (int k = 1; k < p->call->noperands; k++)
        vectors &= !(p->v.staged >> k & 1) || p->v.lanes * ga__fused_size(p, k) == GA__VECTOR_BYTES;
    return vectors && p->call->device->arch >= FIRST_WITH_BULK ? GA__AHEAD_IN_BULK
                                                               : GA__AHEAD_BY_THREADS;
}

void ga__fused_begin_ahead(plan *p)
{
    p->v.registers = true;
    p->v.ahead = GA__AHEAD_BY_THREADS;
    p->v.staged = p->own;
    if (p->last)
        p->v.late = true;
}

/* Rows in the registers of a block, or parts of them in those of each of some blocks, while the
 * next ones come to shared memory. */
bool ga__fused_plan_ahead(plan *p, int blocks, int largest)
{
    ga__fused_begin_ahead(p);
    p->v.gathers = false;
    choose_walk(p, blocks);
    ga__fused_choose_lanes(p);
    divide_row(p, blocks);
    blocks = p->blocks;
    p->v.ahead = (uint8_t)ahead_of(p);
    const int most = ga__fused_vectors_with_room(p, ga__fused_most_ahead(p));
    const int64_t vectors = ga__fused_vectors_of_part(p);
    if (vectors > largest * (int64_t)most || !stage_rows(p) || p->v.staged == 0 ||
        !ga__fused_copies_ahead(p))
        return false;
    const int team =
        blocks > 1 ? largest : ga__fused_power_of_two(ga__ceil_div(vectors, most), largest);
    ga__fused_take_team(p, team, most);
    p->v.block = p->v.team;
    p->grid = ga__fused_at_most(p->rows, ga__fused_blocks_at_once(p) / blocks) * blocks;
    return p->grid > 0;
}

/* Rows in the shared memory of a block, or parts of them in that of each of some blocks. */
static bool plan_shared(plan *p, int blocks)
{
    p->v.registers = p->v.gathers = false;
    p->v.ahead = GA__NOT_AHEAD;
    choose_walk(p, blocks);
    ga__fused_choose_lanes(p);
    p->v.each = p->v.sure = 0;
    divide_row(p, blocks);
    blocks = p->blocks;
    if (!stage_rows(p) || (blocks > 1 && (p->v.staged == 0 || !ga__fused_copies_ahead(p))))
        return false;
    p->v.ahead = ga__fused_copies_ahead(p) ? GA__AHEAD_BY_THREADS : GA__NOT_AHEAD;
    p->v.block = p->v.team = (uint16_t)ga__fused_threads_in_shared(p);
    p->grid = ga__fused_at_most(p->rows, ga__fused_blocks_at_once(p) / blocks) * blocks;
    return p->grid > 0;
}

/* One row per block, in shared memory, with at least `several` blocks per multiprocessor. */
bool ga__fused_plan_rows(plan *p, int several)
{
    if (!plan_shared(p, 1) || ga__fused_blocks_with_room(p) < several)
        return false;
    ga__fused_set_wait(p);
    return true;
}

/* The most blocks of a cluster. More take longer to meet than the steps take to read a row again.
 * They read small floats once for each stage, but once for a maximum and exponentials that join it,
 * as they read others. A softmax of doubles computes too long between meetings. Measured on an H100
 * and an H200. */
static int64_t most_blocks(const plan *p, int64_t all)
{
    const ga__fused_formula *f = p->call->formula;
    const int64_t few = ga__fused_at_most(MOST_BLOCKS, all);
    if (f->nstages == 1)
        return few;
    if (p->widest > WORD)
        return f->per_row ? few : 0;
    return p->widest == WORD || f->joins ? ga__fused_at_most(MOST_OF_STAGES, all)
           : f->per_row                  ? all
                                         : all - all / 4;
}

/* Bytes of a row's elements that come to shared memory. */
static size_t staged_bytes(const plan *p)
{
    const uint64_t staged = p->own;
    size_t nbytes = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (staged >> k & 1 || ga__fused_is_staged_once(p->call->formula, &p->v, k))
            nbytes += (size_t)p->length * ga__fused_size(p, k);
    return nbytes;
}

/* More blocks for a row than have room for it, if some of `all` would be left over, or rows are
 * few.
 */
static int64_t spread_row(const plan *p, int64_t blocks, int64_t all)
{
    const int64_t clusters = ga__fused_at_most(p->rows, blocks < all ? all / blocks : 1),
                  most = p->length * (int64_t)p->widest / PART_BYTES;
    return ga__fused_at_most(all / clusters, most > blocks ? most : blocks);
}

/* Rows that some blocks share. They are as few as leave room for several blocks of a
 * multiprocessor, or more where blocks would be left over, or rows are few. Most numbers are too
 * small by the elements of a part alone: only the others are planned. */
bool ga__fused_plan_clusters(plan *p, int several)
{
    const int64_t all = (int64_t)several * p->call->device->processors, limit = most_blocks(p, all);
    const size_t needed = (size_t)several * staged_bytes(p), room = ga__fused_shared_limit(p);
    int64_t blocks = 2;
    if (!p->call->device->meets)
        return false;
    while (blocks <= limit && ((size_t)blocks * room < needed || !plan_shared(p, (int)blocks) ||
                               ga__fused_blocks_with_room(p) < several))
        blocks = blocks < limit ? ga__fused_at_most(limit, blocks + ga__ceil_div(blocks, 16))
                                : limit + 1;
    return blocks <= limit && plan_shared(p, (int)spread_row(p, blocks, all));
}

/* Prepares what counts the blocks of a row. */
static void begin_parts(plan *p, ga__fused_walk walk)
{
    ga__fused_begin_ahead(p);
    p->v.walk = (uint8_t)walk;
    ga__fused_choose_lanes(p);
    p->v.ahead = (uint8_t)ahead_of(p);
}

/* How often the blocks of a row meet. */
static int meetings(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    int count = 0;
    for (int s = 0; s < f->nstages; s++)
        for (int k = 0; k < f->stages[s].nparts; k++)
            count += f->stages[s].sum_of[k] < 0;
    return count;
}

/* How many blocks of `threads` threads together have room for a row, in registers and in shared
 * memory. */
static int64_t blocks_of_row(plan *p, int threads)
{
    const int64_t room = threads * (int64_t)ga__fused_vectors_with_room(p, ga__fused_most_ahead(p)),
                  shared = (int64_t)ga__fused_shared_limit(p) * threads / WIDE_THREADS,
                  needed = ga__ceil_div(ga__fused_vectors_of_row(p), room),
                  staged = ga__ceil_div((int64_t)staged_bytes(p), shared - SLACK_BYTES),
                  blocks = needed > staged ? needed : staged;
    return blocks > 2 ? blocks : 2;
}

/* Blocks of `threads` threads that the device runs at once. */
static int64_t blocks_of(const plan *p, int threads)
{
    return (int64_t)(WIDE_THREADS / threads) * p->call->device->processors;
}

/* Lets the fewest blocks of `threads` threads share a row that have room for it in registers, or
 * more. */
static bool plan_parts(plan *p, int threads)
{
    const int64_t blocks = blocks_of_row(p, threads), all = blocks_of(p, threads);
    return blocks <= all && blocks * meetings(p) <= MOST_MET &&
           ga__fused_plan_ahead(p, (int)spread_row(p, blocks, all), threads);
}

/* The most blocks of a hardware cluster for which a group of neighbouring multiprocessors still
 * runs as many clusters at once. A cluster never spans two groups. */
static int64_t fill_group(int64_t blocks, int threads)
{
    const int64_t room = GROUP_PROCESSORS * (WIDE_THREADS / threads);
    return blocks < room ? room / (room / blocks) : blocks;
}

/* Parts of rows in the registers of a cluster of the hardware, of small blocks if few of them have
 * room for a row: several of a multiprocessor hide each other's meetings. */
bool ga__fused_plan_distributed(plan *p)
{
    const int64_t most = p->call->device->cluster_blocks;
    if (p->call->formula->per_row || most == 0)
        return false;
    for (int threads = BLOCK; threads <= LARGEST_BLOCK; threads *= 2) {
        begin_parts(p, GA__WALK_DISTRIBUTED);
        const int64_t blocks = blocks_of_row(p, threads),
                      limit = threads == LARGEST_BLOCK ? most : FEW_BLOCKS,
                      spread = spread_row(p, blocks, blocks_of(p, threads)),
                      filled = fill_group(blocks, threads);
        if (blocks <= limit)
            return ga__fused_plan_ahead(
                p, (int)ga__fused_at_most(most, spread > filled ? spread : filled), threads);
    }
    return false;
}

/* Whether parts in registers are faster than in shared memory: if the last pass alone reads some
 * operand; else those of floats, if they have several stages or are few. */
static bool gains_from_registers(plan *p)
{
    const int threads = ga__fused_has_pairs(p) ? BLOCK : LARGEST_TEAM;
    return ga__fused_has_late(p) || (p->widest <= WORD && (p->call->formula->nstages > 1 ||
                                                           blocks_of_row(p, threads) <= GA__WARP));
}

/* Parts of rows in registers. While blocks meet, the bus idles once the next parts have come. A
 * multiprocessor holds more rows in shared memory, which hide meetings better: measured on an H200,
 * section "Long rows" of bench/results/h200-2026-11-26.md. Small floats gain from more blocks. */
bool ga__fused_plan_meeting(plan *p)
{
    const int most = p->widest > WORD ? MOST_MEETINGS / 2 : MOST_MEETINGS;
    if (!p->call->device->meets || p->call->formula->per_row || meetings(p) > most)
        return false;
    begin_parts(p, GA__WALK_CLUSTERS);
    if (!gains_from_registers(p))
        return false;
    return (ga__fused_has_pairs(p) && plan_parts(p, BLOCK)) || plan_parts(p, LARGEST_TEAM);
}
