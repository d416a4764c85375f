/* Chooses how a reduction runs on CUDA: vectors, blocks, and the number of blocks that share a row.
 */
#include <assert.h>

#include "device/tickets.h"
#include "kernels/reduce_plan.h"

/* Threads of a block, and vectors that a thread loads together in rows; more threads load fewer
 * vectors each where a small accumulator leaves registers for them. Measured on an H200. */
#define BLOCK 256
#define ROW_UNROLL 8
#define LEAST_ROW_UNROLL 2 /* where fewer have less of an incomplete batch */
#define LARGE_BLOCK 512
#define LARGE_ROW_UNROLL 4
#define SMALL_ACCUMULATOR 8    /* bytes */
#define INDEXED_ACCUMULATOR 32 /* a value and its index: as far as they fit 40 registers */
#define RAGGED_THREADS 1024    /* of a multiprocessor, at least */
#define LONG_ROW 1024          /* vectors: a whole block reduces the row, */
#define SMALL_BLOCK 128        /* a small one where there are many rows of few vectors each: */
#define SMALL_BLOCK_VECTORS 32 /* fewer than these for each of its threads */
#define TESTED_ROW (4 << 10)   /* bytes, from which a row's ends cost little; measured */
#define WAVES 8                /* maximum waves of blocks */
#define SHORTEST_SHARE 4       /* minimum stretches of a block */

/* Short chains: accumulators above the thread's own, and the chains that the only one adds where
 * blocks share the row, fewer when batches are added apart or in pairs. */
#define CHAIN_LEVELS 3
#define MOST_CHAINS_SINGLY 12
#define MOST_CHAINS 8

typedef ga__reduce_plan plan;

/* The place of an operand's first element in a vector, in elements. */
static uint64_t phase(const plan *p, int k, int lanes)
{
    const gpuarray *x = p->operands[k].array;
    return (uintptr_t)x->data / ga__dtype_size(x->dtype) % (uintptr_t)lanes;
}

/* Whether the elements of the operand begin a vector in each row and at each step of outer axes;
 * and if not, whether they are as far from that as those of operand `first` in each row. */
static bool are_aligned(const plan *p, int k, int lanes)
{
    const int place = p->place[k];
    return phase(p, k, lanes) == 0 && ga__nest_in_step(&p->kept, place, 0, lanes) &&
           ga__nest_in_step(&p->reduced, place, 1, lanes);
}
static bool are_parallel(const plan *p, int k, int first, int lanes)
{
    const int64_t *mine = p->kept.strides[p->place[k]], *others = p->kept.strides[p->place[first]];
    for (int axis = 0; axis < p->kept.ndim; axis++)
        if ((mine[axis] - others[axis]) % lanes)
            return false;
    return phase(p, k, lanes) == phase(p, first, lanes);
}

/* Whether operand k takes part in the choice of vectors: all others are the same for all of them.
 */
static bool has_steps(const plan *p, int k)
{
    return p->place[k] != GA__NO_PLACE && p->v.operand[k].step != STEP_ZERO;
}

/* The lanes of vectors; sets `peeled` where rows do not begin with a whole one. */
int ga__reduce_plan_lanes(plan *p)
{
    const ga__nest *nest = &p->reduced;
    size_t widest = 1;
    int first = -1;
    for (int k = 0; k < p->noperands; k++)
        if (has_steps(p, k)) {
            const size_t size = ga__vector_size(ga__dtype_size(p->operands[k].array->dtype));
            if (p->v.operand[k].step != STEP_ONE)
                return 1;
            widest = size > widest ? size : widest;
            first = first < 0 ? k : first;
        }
    const int lanes = (int)(GA__VECTOR_BYTES / widest);
    const bool ragged = nest->shape[0] % lanes && nest->ndim > 1;
    if (first < 0 || nest->shape[0] < lanes || ragged)
        return 1;
    bool aligned = true, parallel = nest->ndim == 1 && p->count >= 2 * lanes;
    for (int k = 0; k < p->noperands; k++)
        if (has_steps(p, k)) {
            aligned &= are_aligned(p, k, lanes);
            parallel &= are_parallel(p, k, first, lanes);
        }
    p->v.peeled = !aligned && parallel;
    return aligned || parallel ? lanes : 1;
}

int ga__reduce_plan_power(int64_t at_least, int most)
{
    if (at_least >= most)
        return most;
    return at_least <= 1 ? 1 : 1 << (64 - __builtin_clzll((uint64_t)at_least - 1));
}

bool ga__reduce_plan_short_circuits(const ga__reduction *reduction)
{
    bool all = true;
    for (int part = 0; part < reduction->formula.nparts; part++)
        all &= reduction->formula.parts[part]->short_circuits;
    return all;
}

int64_t ga__reduce_plan_blocks(const plan *p)
{
    return (int64_t)p->device->processors * p->device->threads_per_processor / p->v.block;
}

/* A single wave ends when the slowest
 * multiprocessor does: on some H200s a few are 5 % slower than the others, and any may be busy with
 * another stream's work. Where there is work for several waves, blocks are short, and idle
 * multiprocessors take them. A reduction that short-circuits has one wave, because later blocks
 * would only start to learn the result. So have tiles of columns, which are many by themselves or
 * share columns as seldom as possible. */
void ga__reduce_plan_segments(plan *p, int64_t target, int64_t useful)
{
    const bool one = ga__reduce_plan_short_circuits(p->reduction) || (p->v.columns && p->tiles > 1);
    const int64_t waves = one ? 1 : useful * p->tiles / (SHORTEST_SHARE * target);
    p->waves = waves >= WAVES ? WAVES : waves > 1 ? (int)waves : 1;
    p->useful = useful;
}

/* How a row's several batches are added: the way that needs the fewest registers and instructions
 * for its lanes. Measured on an H200, where the other ways cost 2 to 10 %. */
static ga__batch choose_batch(const plan *p)
{
    const int bytes = p->v.accumulator_bytes;
    if (p->v.columns)
        return bytes == 8 && p->tiles > 1 ? GA__BATCH_SINGLY : GA__BATCH_PAIRS;
    return bytes > 4 || p->v.lanes > 4 ? GA__BATCH_APART : GA__BATCH_PAIRS;
}

/* Accumulators above a thread's own that `chains` chains need. */
static int chain_levels(int64_t chains)
{
    int levels = 1;
    for (int64_t most = GA__CUDA_CHAINS; most < chains && levels < CHAIN_LEVELS; levels++)
        most *= GA__CUDA_CHAINS;
    return levels;
}

/* A sum rounds at most 64 times on an element's way to the result, for up to 2^33 elements, so
 * that its error is at most 32 units in the last place. A thread's chain is 16 additions. Where
 * blocks share long rows anyway, more blocks do. Elsewhere a second accumulator adds up the
 * chains, and a third and a fourth one those of rows that cannot be shared. A row of one batch
 * needs none. */
static void shorten_chains(plan *p, int64_t target, int64_t together)
{
    const bool may_share = p->useful > 1 && p->tiles <= GA__TICKETS,
               shares = may_share && p->v.lanes > 1 && !p->v.columns;
    const int64_t batches = ga__ceil_div(p->vectors, together * p->v.unroll);
    p->v.batch = batches > 1 ? choose_batch(p) : GA__BATCH_SINGLY;
    const bool singly = p->v.batch == GA__BATCH_SINGLY;
    p->v.batches_per_chain = singly ? GA__CUDA_CHAIN / p->v.unroll : GA__CUDA_CHAIN;
    const int64_t chains = ga__ceil_div(batches, p->v.batches_per_chain),
                  likely = may_share ? p->waves * (target / 2) / p->tiles : 1;
    if (!shares && chains > 1 && chains > likely)
        p->v.chain_levels = may_share ? 1 : chain_levels(chains);
    if (may_share)
        p->least = !p->v.chain_levels
                       ? chains
                       : ga__ceil_div(chains, singly ? MOST_CHAINS_SINGLY : MOST_CHAINS);
    p->least = p->least < p->useful ? p->least : p->useful;
}

void ga__reduce_plan_share(plan *p, int64_t at_once)
{
    const int64_t needed = ga__ceil_div(p->least * p->tiles, at_once),
                  waves = p->waves > needed ? p->waves : needed, fit = waves * at_once / p->tiles,
                  wanted = fit > p->least ? fit : p->least;
    p->segments = wanted < p->segments ? wanted : p->segments;
    const int64_t shares = p->v.ragged ? p->apart / p->down : 1;
    p->segments = p->segments > shares ? p->segments / shares * shares : shares;
}

/* Whether a block has many threads: each keeps little, and there is work for all. */
static bool wants_large_block(const plan *p)
{
    const ga__reduce_formula *f = &p->reduction->formula;
    const bool small = p->v.accumulator_bytes <= SMALL_ACCUMULATOR,
               indexed = f->base.uses_index && f->maps_nothing &&
                         p->v.accumulator_bytes <= INDEXED_ACCUMULATOR;
    if (p->streamed != 1)
        return false;
    if (p->vectors < LONG_ROW)
        return false;
    return small ? p->v.lanes <= 8 : indexed && p->v.lanes > 1 && p->v.lanes <= 4;
}

/* Blocks whose registers a multiprocessor must hold, set where the compiler would otherwise take a
 * few registers too many; 0: no constraint. Four large blocks are all its threads, but if a map
 * needs registers too, the compiler no longer loads all vectors before it adds the first: 240.7 us
 * instead of 239.2 for mean(x**2) on an H200. */
static int min_blocks(const plan *p)
{
    if (p->v.ragged)
        return p->v.block < RAGGED_THREADS ? RAGGED_THREADS / p->v.block : 1;
    if (!p->large)
        return 0;
    if (p->v.accumulator_bytes > SMALL_ACCUMULATOR)
        return 3;
    const int most = p->reduction->formula.maps_nothing ? 4 : 3;
    return p->v.lanes == 8 || (p->v.batch == GA__BATCH_PAIRS && p->v.chain_levels == 0) ? most : 0;
}

/* Many rows need no large blocks: what a small one loses at a row's ends is less. */
static void choose_block(plan *p)
{
    p->v.block = LARGE_BLOCK;
    const bool small = p->vectors >= LONG_ROW && p->vectors < SMALL_BLOCK_VECTORS * SMALL_BLOCK &&
                       p->outputs >= 2 * ga__reduce_plan_blocks(p);
    p->large = !small && wants_large_block(p);
    p->v.block = p->large ? LARGE_BLOCK : small ? SMALL_BLOCK : BLOCK;
}

/* Vectors that a thread with `vectors` of a row loads together: an incomplete batch takes as long
 * as a whole one, so fewer where that saves a tenth. */
static int row_unroll(int64_t vectors, int most, bool whole)
{
    int unroll = ga__reduce_plan_power(vectors, most);
    for (int fewer = unroll / 2; whole && fewer >= LEAST_ROW_UNROLL; fewer /= 2)
        if (10 * ga__ceil_div(vectors, fewer) * fewer <= 9 * ga__ceil_div(vectors, unroll) * unroll)
            unroll = fewer;
    return unroll;
}

/* Plans rows, but not their chains; returns how many threads walk a row together. */
static int64_t plan_rows(plan *p)
{
    p->v.lanes = ga__reduce_plan_lanes(p);
    p->v.across = 1;
    p->vectors = p->count / p->v.lanes;
    p->kept_vectors = p->outputs;
    p->v.tail = p->v.lanes > 1 && p->reduced.ndim == 1;
    choose_block(p);
    p->v.team = p->vectors >= LONG_ROW ? p->v.block : ga__reduce_plan_power(p->vectors, GA__WARP);
    p->tiles = ga__ceil_div(p->outputs, p->v.block / p->v.team);
    const bool few = p->large && p->v.lanes > 1; /* loads; of single elements there are more */
    p->v.unroll = row_unroll(ga__ceil_div(p->vectors, p->v.team),
                             few ? LARGE_ROW_UNROLL : ROW_UNROLL, p->v.lanes > 1);
    const int64_t target = ga__reduce_plan_blocks(p);
    if (p->v.team == p->v.block)
        ga__reduce_plan_segments(p, target,
                                 ga__ceil_div(p->vectors, (int64_t)p->v.team * p->v.unroll));
    return p->v.team;
}

bool ga__reduce_plan_adds_integers(const plan *p)
{
    const ga__reduction *r = p->reduction;
    const ga__part_formula *part = r->formula.parts[0];
    if (r->formula.nparts != 1 || !r->formula.maps_nothing || !part->rounds ||
        part->holds != GA__ACCUMULATOR_VALUE || ga__dtype_rounds(r->type[0]) ||
        ga__dtype_size(r->type[0]) != sizeof(int64_t))
        return false;
    const ga_dtype memory = p->operands[0].array->dtype;
    return !ga__dtype_rounds(memory) && ga__dtype_size(memory) <= sizeof(int16_t);
}

bool ga__reduce_plan_tests_integers(const plan *p)
{
    const ga__reduce_formula *f = &p->reduction->formula;
    if (f->nparts != 1 || !f->maps_nothing || !f->parts[0]->short_circuits)
        return false;
    const ga_dtype memory = p->operands[0].array->dtype;
    return !ga__dtype_rounds(memory) && ga__dtype_size(memory) <= sizeof(int16_t) &&
           memory == (ga_dtype)p->reduction->type[0];
}

/* Whether words of whole vectors, from memory, are tested sooner than elements that shared memory
 * passes on. */
static bool has_long_rows(const plan *p)
{
    return p->v.operand[0].step == STEP_ONE && p->reduced.ndim == 1 &&
           p->count * (int64_t)ga__dtype_size(p->operands[0].array->dtype) >= TESTED_ROW;
}

/* Whether columns of 16-bit floats are compared two at once, for the places of extremes. */
static bool compares_pairs(const plan *p)
{
    const ga__reduce_formula *f = &p->reduction->formula;
    const ga_dtype memory = (ga_dtype)p->v.operand[0].memory;
    return p->v.columns && f->nparts == 1 && f->maps_nothing && p->noperands == 1 &&
           p->v.ascending && !p->v.carried && p->reduced.ndim == 1 && p->v.lanes % 2 == 0 &&
           ga__part_is_indexed(f->parts[0]) && memory == (ga_dtype)p->v.part_type[0] &&
           ga__dtype_kind(memory) == 'f' && ga__dtype_size(memory) == sizeof(int16_t) &&
           p->device->arch >= GA__FIRST_WITH_PAIRS;
}

/* Whether the map of columns takes two neighbours of 16 bits at once. */
static bool maps_pairs(const plan *p)
{
    const ga__reduce_formula *f = &p->reduction->formula;
    bool pairs = p->v.columns && p->v.lanes % 2 == 0 && f->pairs != GA_NO_DTYPE &&
                 !f->base.uses_index && p->v.batch <= GA__BATCH_PAIRS;
    for (int k = 0; k < p->noperands && pairs; k++)
        pairs = !p->operands[k].array ||
                (p->place[k] != GA__NO_PLACE && p->v.operand[k].memory == f->pairs &&
                 (p->v.operand[k].step == STEP_ONE || p->v.operand[k].held));
    for (int k = 0; k < f->nparts && pairs; k++)
        pairs = p->v.part_type[k] == f->pairs;
    return pairs;
}

void ga__reduce_plan_cuda(plan *p)
{
    if (p->v.accumulator_bytes < sizeof(int) && !p->v.carried)
        p->v.accumulator_bytes = sizeof(int); /* of small integers, which are held as ints */
    const bool tests = ga__reduce_plan_tests_integers(p);
    if (!(tests && has_long_rows(p)) && ga__reduce_plan_staged(p))
        return;
    p->waves = 1;
    p->useful = p->least = 1;
    if (ga__reduce_plan_adds_integers(p))
        p->v.batch = GA__BATCH_NARROW;
    if (tests)
        p->v.batch = GA__BATCH_TRUTHS;
    const int64_t together = p->v.columns ? ga__reduce_plan_columns(p) : plan_rows(p);
    if (compares_pairs(p))
        p->v.batch = GA__BATCH_PLACES;
    const int64_t target = ga__reduce_plan_blocks(p);
    p->v.posted = p->outputs == 1 && p->reduction->formula.nresults == 1 && !p->v.carried &&
                  !p->reduction->formula.raw_result;
    if (p->sums)
        shorten_chains(p, target, together);
    p->v.paired = maps_pairs(p);
    p->v.min_blocks = min_blocks(p);
    p->segments = p->useful;
    ga__reduce_plan_share(p, target);
}
