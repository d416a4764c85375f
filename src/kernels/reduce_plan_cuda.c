/* Chooses how a reduction runs on CUDA: vectors, blocks, and how many blocks share a row. */
#include <assert.h>

#include "device/tickets.h"
#include "kernels/reduce_plan.h"

/* Threads of a block, and the vectors that one has under way at once in rows; less of them in more
 * threads where a small accumulator leaves registers for that. Measured on an H200. */
#define BLOCK 256
#define ROW_UNROLL 8
#define LARGE_BLOCK 512
#define LARGE_ROW_UNROLL 4
#define SMALL_ACCUMULATOR 8     /* bytes */
#define NUMBERED_ACCUMULATOR 32 /* a value and its number: as far as they fit 40 registers */
#define LONG_ROW 1024           /* vectors: a block takes the row together */
#define COLUMN_UNROLL 4
#define WIDEST 32        /* vectors of neighbouring columns that a block takes, */
#define NARROWEST 8      /* and the fewest where it saves cutting the columns */
#define THIN_ROWS 4      /* short rows that a team has under way */
#define WAVES 8          /* of as many blocks as run at once, where each has */
#define SHORTEST_SHARE 4 /* so many stretches at least */

typedef ga__reduce_plan plan;

static bool in_step(const ga__nest *nest, int row, int first_axis, int lanes)
{
    for (int axis = first_axis; axis < nest->ndim; axis++)
        if (nest->strides[row][axis] % lanes)
            return false;
    return true;
}

static int choose_lanes(const plan *p)
{
    const ga__nest *nest = p->columns ? &p->kept : &p->reduced;
    size_t widest = 1;
    bool contiguous = false;
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != GA__NO_ROW && p->step[p->row[k]] == STEP_ONE) {
            const size_t size = ga__dtype_size(p->operands[k].array->dtype);
            widest = size > widest ? size : widest;
            contiguous = true;
        }
    const int lanes = (int)(16 / widest);
    const bool ragged = nest->shape[0] % lanes && (p->columns || nest->ndim > 1);
    if (!contiguous || nest->shape[0] < lanes || ragged)
        return 1;
    for (int k = 0; k < p->noperands; k++) {
        const int row = p->row[k];
        if (row == GA__NO_ROW || p->step[row] == STEP_ZERO)
            continue;
        const gpuarray *x = p->operands[k].array;
        if (p->step[row] != STEP_ONE ||
            (uintptr_t)x->data % ((uintptr_t)lanes * ga__dtype_size(x->dtype)) ||
            !in_step(&p->kept, row, p->columns ? 1 : 0, lanes) ||
            !in_step(&p->reduced, row, p->columns ? 0 : 1, lanes))
            return 1;
    }
    return lanes;
}

/* The least power of two from `at_least` on, up to `most`, one itself. */
static int power_of_two(int64_t at_least, int most)
{
    if (at_least >= most)
        return most;
    return at_least <= 1 ? 1 : 1 << (64 - __builtin_clzll((uint64_t)at_least - 1));
}

static bool short_circuits(const ga__reduction *reduction)
{
    bool all = true;
    for (int part = 0; part < reduction->nparts; part++)
        all &= reduction->parts[part].short_circuits;
    return all;
}

/* Into how many segments `useful` stretches are cut, so that blocks come in whole waves. Those of a
 * single wave end when the slowest multiprocessor does: on some H200s a few are 5 % slower than the
 * others, and any may be busy with another stream's work. Where there is work for several waves,
 * blocks are short and go where there is time for them. But where the first elements may give the
 * result, later blocks would only start to hear that; and tiles of columns are so many themselves,
 * or share columns as seldom as may be. */
static void choose_segments(plan *p, int64_t target, int64_t useful)
{
    const bool one = short_circuits(p->reduction) || (p->columns && p->tiles > 1);
    const int64_t waves = one ? 1 : useful * p->tiles / (SHORTEST_SHARE * target);
    p->waves = waves >= WAVES ? WAVES : waves > 1 ? (int)waves : 1;
    p->useful = useful;
}

/* How batches are added where a row has several: what needs the fewest registers and instructions
 * for its lanes. Measured on an H200, where the others cost 2 to 10 %. */
static ga__batch choose_batch(const plan *p)
{
    const size_t bytes = p->reduction->accumulator_bytes;
    if (p->columns)
        return bytes == 8 && p->tiles > 1 ? GA__BATCH_SINGLY : GA__BATCH_PAIRS;
    return bytes > 4 || p->lanes > 4 ? GA__BATCH_APART : GA__BATCH_PAIRS;
}

/* A sum rounds at most 64 times on an element's way to the result, for up to 2^33 elements, so
 * that its error is at most 32 units in the last place. A thread's chain is 16 additions. Where
 * blocks share long rows anyway, more of them do. Elsewhere a second accumulator adds up the
 * chains, and a third and a fourth one those of rows that cannot be shared. A row of one batch
 * needs none. */
static void shorten_chains(plan *p, int64_t target, int together)
{
    const bool may_share = p->useful > 1 && p->tiles <= GA__TICKETS,
               shares = may_share && p->lanes > 1 && !p->columns;
    const int64_t turns = ga__ceil_div(p->vectors, (int64_t)together * p->unroll);
    p->batch = turns > 1 ? choose_batch(p) : GA__BATCH_SINGLY;
    p->turns = p->batch == GA__BATCH_SINGLY ? 16 / p->unroll : 16;
    const int64_t wanted = ga__ceil_div(turns, p->turns),
                  likely = may_share ? p->waves * (target / 2) / p->tiles : 1;
    if (!shares && wanted > 1 && wanted > likely)
        p->chains = may_share || wanted <= GA__CUDA_CHAINS                 ? 1
                    : wanted <= (int64_t)GA__CUDA_CHAINS * GA__CUDA_CHAINS ? 2
                                                                           : 3;
    if (may_share)
        p->least = p->chains ? ga__ceil_div(wanted, p->batch == GA__BATCH_SINGLY ? 12 : 8) : wanted;
    p->least = p->least < p->useful ? p->least : p->useful;
}

void ga__reduce_plan_share(plan *p, int64_t at_once)
{
    const int64_t needed = ga__ceil_div(p->least * p->tiles, at_once),
                  waves = p->waves > needed ? p->waves : needed, fit = waves * at_once / p->tiles,
                  wanted = fit > p->least ? fit : p->least;
    p->segments = wanted < p->segments ? wanted : p->segments;
}

/* Whether a block has many threads with little to keep each; it has enough to do for them. */
static bool wants_large_block(const plan *p)
{
    const ga__reduction *r = p->reduction;
    const bool small = r->accumulator_bytes <= SMALL_ACCUMULATOR,
               numbered = r->formula.uses_index && r->maps_nothing &&
                          r->accumulator_bytes <= NUMBERED_ACCUMULATOR;
    if (p->rows != 1)
        return false;
    if (p->columns)
        return small && p->lanes <= 4 && p->vectors * p->across >= LARGE_BLOCK * COLUMN_UNROLL;
    if (p->vectors < LONG_ROW)
        return false;
    return small ? p->lanes <= 8 : numbered && p->lanes > 1 && p->lanes <= 4;
}

int ga__reduce_plan_min_blocks(const plan *p)
{
    if (!p->large)
        return 0;
    if (p->reduction->accumulator_bytes > SMALL_ACCUMULATOR)
        return 3;
    return p->lanes == 8 || (p->batch == GA__BATCH_PAIRS && p->chains == 0) ? 4 : 0;
}

/* Narrower tiles are more blocks: two waves nearly, or at least so many that they need not share
 * columns. Measured on an H200: 1.3 % of 1 GiB in 16384 columns, whose partial results nobody
 * combines. */
static int narrowed(const plan *p, int64_t target)
{
    const int64_t wanted[] = {3 * target / 2, target / 2 + 1};
    if (p->lanes == 1)
        return p->across;
    for (int k = 0; k < 2; k++)
        for (int across = p->across; across >= NARROWEST; across /= 2)
            if (ga__ceil_div(p->kept_vectors, across) >= wanted[k] &&
                p->vectors >= (int64_t)(p->block / across) * COLUMN_UNROLL)
                return across;
    return p->across;
}

void ga__reduce_plan_cuda(plan *p)
{
    p->lanes = choose_lanes(p);
    p->team = p->across = 1;
    p->vectors = p->columns ? p->count : p->count / p->lanes;
    p->kept_vectors = p->columns ? p->outputs / p->lanes : p->outputs;
    p->tail = !p->columns && p->lanes > 1 && p->reduced.ndim == 1;
    if (p->columns)
        p->across = power_of_two(p->kept_vectors, WIDEST);
    p->large = wants_large_block(p);
    p->block = p->large ? LARGE_BLOCK : BLOCK;
    const int64_t threads = (int64_t)p->device->processors * p->device->threads_per_processor,
                  target = threads / p->block; /* blocks that run at once */
    int together;                              /* threads that walk the reduced axes together */
    if (p->columns) {
        p->across = narrowed(p, target);
        together = p->block / p->across;
        p->tiles = ga__ceil_div(p->kept_vectors, p->across);
    } else {
        p->team = p->vectors >= LONG_ROW ? p->block : power_of_two(p->vectors, 32);
        together = p->team;
        p->tiles = ga__ceil_div(p->outputs, p->block / p->team);
    }
    const bool few = p->large && p->lanes > 1; /* loads; of single elements there are more */
    p->unroll = power_of_two(ga__ceil_div(p->vectors, together), p->columns ? COLUMN_UNROLL
                                                                 : few      ? LARGE_ROW_UNROLL
                                                                            : ROW_UNROLL);
    p->waves = 1;
    p->useful = p->least = 1;
    p->thin = !p->columns && p->count > 0 && p->count % p->lanes == 0 && p->vectors <= p->team &&
              p->outputs * p->team >= THIN_ROWS * threads;
    p->posted = p->outputs == 1 && p->reduction->nresults == 1 && !p->reduction->carry &&
                p->reduction->results[0].dtype != GA_NO_DTYPE;
    if (p->thin) {
        p->tail = false;
        p->unroll = THIN_ROWS;
        p->tiles = ga__ceil_div(p->outputs, (int64_t)THIN_ROWS * (p->block / p->team));
    }
    if (p->columns || p->team == p->block)
        choose_segments(p, target, ga__ceil_div(p->vectors, (int64_t)together * p->unroll));
    if (p->sums)
        shorten_chains(p, target, together);
    p->segments = p->useful;
    ga__reduce_plan_share(p, target);
}
