/* Chooses how a reduction runs, for either kind of device. */
#include "kernels/reduce_plan.h"

#include <assert.h>
#include <string.h>

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
#define WIDEST 32           /* vectors of neighbouring columns that a block takes, */
#define NARROWEST 8         /* and the fewest where it saves cutting the columns */
#define THIN_ROWS 4         /* short rows that a team has under way */
#define WAVES 8             /* of as many blocks as run at once, where each has */
#define SHORTEST_SHARE 4    /* so many stretches at least */
#define HOST_LANES 32       /* accumulators side by side in a run of a row, */
#define HOST_SHORT_LANES 16 /* in runs too short to repay the combining of so many */
#define HOST_SHORT_RUN 1024
#define HOST_SHORT_SUM 512     /* of sums, so that a run short of a second chain has none */
#define HOST_STRIP 1024        /* elements, or neighbouring outputs, taken together */
#define HOST_STRIP_BYTES 32768 /* of small outputs more: their accumulators fit the cache */
#define HOST_LONGEST_STRIP 4096
#define HOST_LONG_BYTES 8192 /* of a row, to be read beside others */
#define HOST_WIDE 64         /* neighbouring outputs that are vectors enough by themselves */
#define HOST_TOGETHER 256    /* outputs whose runs are taken in turn */
#define HOST_THIN 32         /* rows shorter than this are taken side by side */
#define HOST_GRAIN 65536     /* elements that are worth a block of their own on the host */
#define LEVEL_ALIGNMENT 64   /* bytes, of each part's accumulators */

typedef ga__reduce_plan plan;

/* ---- The loop nests ---- */

static void number_rows(plan *p)
{
    p->rows = 0;
    for (int k = 0; k < p->noperands; k++)
        p->row[k] = ga__operand_streamed(&p->operands[k]) ? p->rows++ : GA__NO_ROW;
}

/* A nest of one axis of `length`, for no axes or no elements. */
static void set_one_axis(ga__nest *nest, int64_t length)
{
    nest->ndim = 1;
    nest->shape[0] = length;
    for (int row = 0; row < nest->noperands; row++)
        nest->strides[row][0] = 0;
}

/* Gives row `row` of each nest its strides, in elements, innermost axis first. */
static void set_row(plan *p, int row, int ndim, const bool *reduced, const int64_t *strides,
                    int64_t itemsize)
{
    int kept = 0, gone = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        if (reduced[axis])
            p->reduced.strides[row][gone++] = strides[axis] / itemsize;
        else
            p->kept.strides[row][kept++] = strides[axis] / itemsize;
    }
}

/* The strides of the last row of each nest: the output's on kept axes, the index's on reduced ones.
 */
static void output_and_index_strides(const plan *p, int ndim, const int64_t *shape,
                                     const bool *reduced, int64_t *strides)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(p->out->dtype);
    int64_t index = 1;
    for (int axis = ndim - 1, kept = p->out->ndim - 1; axis >= 0; axis--) {
        if (!reduced[axis]) {
            strides[axis] = p->out->strides[kept--] / itemsize;
            continue;
        }
        strides[axis] = index;
        index *= shape[axis];
    }
}

static void plan_nests(plan *p, int ndim, const int64_t *shape, const bool *reduced)
{
    int64_t strides[GA_MAX_NDIM];
    p->kept.ndim = p->reduced.ndim = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        ga__nest *nest = reduced[axis] ? &p->reduced : &p->kept;
        nest->shape[nest->ndim++] = shape[axis];
    }
    for (int k = 0; k < p->noperands; k++) {
        if (p->row[k] == GA__NO_ROW)
            continue;
        const gpuarray *x = p->operands[k].array;
        ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
        set_row(p, p->row[k], ndim, reduced, strides, (int64_t)ga__dtype_size(x->dtype));
    }
    output_and_index_strides(p, ndim, shape, reduced, strides);
    set_row(p, p->rows, ndim, reduced, strides, 1);
    p->kept.noperands = p->rows + 1;
    p->reduced.noperands = p->rows + (p->reduction->formula.uses_index || p->rows == 0);
    ga__nest_collapse(&p->kept);
    if (p->kept.ndim == 0)
        set_one_axis(&p->kept, 1);
    if (p->count > 0)
        ga__nest_collapse(&p->reduced);
    if (p->count == 0 || p->reduced.ndim == 0)
        set_one_axis(&p->reduced, p->count);
    if (p->reduced.noperands == p->rows)
        memset(p->reduced.strides[p->rows], 0, sizeof(int64_t) * (size_t)p->reduced.ndim);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Which axis goes to neighbouring threads: the one on which the first array steps least. */
static bool columns_are_better(const plan *p)
{
    if (p->rows == 0 || p->outputs == 1 || p->count <= 1)
        return false;
    const int64_t kept = magnitude(p->kept.strides[0][0]),
                  gone = magnitude(p->reduced.strides[0][0]);
    return gone == 0 ? kept != 0 : kept != 0 && kept < gone;
}

/* An axis of one element takes the kernel of contiguous ones. */
static void choose_steps(plan *p)
{
    const ga__nest *nest = p->columns ? &p->kept : &p->reduced;
    for (int row = 0; row <= p->rows; row++) {
        const int64_t inner = nest->shape[0] > 1 ? nest->strides[row][0] : 1;
        p->step[row] = inner == 0 ? STEP_ZERO : inner == 1 ? STEP_ONE : STEP_ANY;
    }
}

static bool is_wide(const plan *p)
{
    int64_t reach = p->count > p->outputs ? p->count : p->outputs;
    for (int row = 0; row <= p->rows; row++) {
        int64_t extent = 1;
        for (int axis = 0; axis < p->kept.ndim; axis++)
            extent += (p->kept.shape[axis] - 1) * magnitude(p->kept.strides[row][axis]);
        for (int axis = 0; axis < p->reduced.ndim; axis++)
            extent += (p->reduced.shape[axis] - 1) * magnitude(p->reduced.strides[row][axis]);
        reach = extent > reach ? extent : reach;
    }
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] == GA__NO_ROW && p->operands[k].array && p->operands[k].array->size > reach)
            reach = p->operands[k].array->size;
    return !ga__fits_32_bits(reach + (1 << 23));
}

/* Whether the index ascends along the reduced nest. */
static bool index_ascends(const plan *p)
{
    const ga__nest *nest = &p->reduced;
    const int64_t *strides = nest->strides[p->rows];
    int64_t reach = 0;
    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->shape[axis] > 1 && strides[axis] <= reach)
            return false;
        reach += (nest->shape[axis] - 1) * strides[axis];
    }
    return true;
}

/* ---- The CUDA variant ---- */

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

static bool settles(const ga__reduction *reduction)
{
    bool all = true;
    for (int part = 0; part < reduction->nparts; part++)
        all &= reduction->parts[part].settles;
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
    const bool one = settles(p->reduction) || (p->columns && p->tiles > 1);
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

int ga__reduce_plan_hold(const plan *p)
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

static void choose_cuda_variant(plan *p)
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

/* ---- The host variant ---- */

/* Whether rows are so short that it pays to take neighbouring outputs together, at any stride. */
static bool rows_are_thin(const plan *p)
{
    return p->rows > 0 && p->count > 1 && p->count < HOST_THIN && p->kept.shape[0] >= HOST_THIN;
}

/* Rows that are longer than a strip had better be read whole, as far as accumulators fit. */
static int strip_of_columns(const plan *p)
{
    if (p->kept.shape[0] <= HOST_STRIP || rows_are_thin(p))
        return HOST_STRIP;
    const int64_t fit = HOST_STRIP_BYTES / (int64_t)p->reduction->accumulator_bytes;
    return fit < HOST_STRIP ? HOST_STRIP : fit < HOST_LONGEST_STRIP ? (int)fit : HOST_LONGEST_STRIP;
}

/* Whether operand k's rows are of as few elements as are taken apart by shuffles, and follow each
 * other. Measured: for less than 8 of 4 or 8 bytes loads from far apart do as well. */
bool ga__reduce_plan_unzips(const plan *p, int k)
{
    const int row = p->row[k];
    return p->unzip > 1 && row != GA__NO_ROW && p->kept.strides[row][0] == p->unzip &&
           p->reduced.strides[row][0] == 1 &&
           (p->unzip == 8 || ga__dtype_size(p->operands[k].array->dtype) <= 2);
}

/* How many rows of columns follow each other in every array and fit a strip. */
static int64_t rows_folded(const plan *p)
{
    const int64_t width = p->kept.shape[0];
    if (p->kept.ndim > 1 || p->reduced.ndim > 1 || p->reduction->formula.uses_index)
        return 1;
    for (int row = 0; row < p->rows; row++)
        if (p->reduced.strides[row][0] != width * p->kept.strides[row][0])
            return 1;
    return width < p->strip ? p->strip / width : 1;
}

/* Whether a host's kernel maps strips of elements before its parts take them: where several parts
 * do, functions of libm have vector forms, or 16-bit floats become float. */
static bool is_staged(const plan *p)
{
    bool narrow = false;
    for (int k = 0; k < p->noperands; k++)
        narrow |= ga__operand_is_narrow(&p->operands[k]);
    return !p->reduction->formula.user_text &&
           (narrow || p->reduction->nparts > 1 || p->reduction->maps_math);
}

/* Whether the one part takes the very floats that 16-bit elements become. */
static bool is_plain(const plan *p)
{
    return p->staged && p->reduction->maps_nothing && ga__operand_is_narrow(&p->operands[0]) &&
           p->step[p->row[0]] != STEP_ZERO;
}

/* How many rows of columns a host's loop takes at once. Each is a stream of its own, which is worth
 * it where it is long, or where accumulators take long to load. */
static int rows_abreast(const plan *p)
{
    const int64_t width = p->kept.shape[0] < p->strip ? p->kept.shape[0] : p->strip;
    bool worth = p->reduction->accumulator_bytes > SMALL_ACCUMULATOR;
    if (p->staged || p->unzip > 1 || (p->reduction->formula.uses_index && width >= HOST_WIDE))
        return 1;
    for (int k = 0; k < p->noperands && !worth; k++)
        worth = p->row[k] != GA__NO_ROW &&
                width * (int64_t)ga__dtype_size(p->operands[k].array->dtype) >= HOST_LONG_BYTES;
    return !worth ? (p->sums && p->kept.ndim == 1 ? 4 : 1) : p->rows > 1 ? 4 : 8;
}

/* Whether one loop takes all elements of each row, which are as few in every array. */
static bool rows_are_short(const plan *p)
{
    if (p->unzip == 1 || p->staged || p->reduction->formula.uses_index ||
        p->reduction->accumulator_bytes > SMALL_ACCUMULATOR)
        return false;
    for (int row = 0; row < p->rows; row++)
        if (p->kept.strides[row][0] != p->unzip || p->reduced.strides[row][0] != 1)
            return false;
    return true;
}

/* Integers are taken in any order, so that the compiler makes vectors of what the lanes leave. */
static int host_lanes(const plan *p)
{
    const char kind = ga__dtype_kind(p->reduction->parts[0].type);
    const bool ordered = p->reduction->formula.uses_index || !strchr("biu", kind);
    if (p->sums && !p->columns && p->reduced.shape[0] < 2 * HOST_SHORT_LANES)
        return 1; /* no run has enough for several */
    const int short_run = p->sums && !p->staged ? HOST_SHORT_SUM : HOST_SHORT_RUN;
    return !p->columns && ordered && p->reduced.shape[0] < short_run ? HOST_SHORT_LANES
                                                                     : HOST_LANES;
}

size_t ga__reduce_plan_level_bytes(const plan *p)
{
    const size_t width = (size_t)(p->columns ? p->strip : p->together),
                 bytes = width * p->reduction->accumulator_bytes +
                         LEVEL_ALIGNMENT * (size_t)p->reduction->nparts;
    return bytes / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
}

/* Levels that hold the results of `count` blocks. */
static int levels_of(int64_t count)
{
    int levels = 1;
    for (; count > 1; count /= 2)
        levels++;
    return levels;
}

/* Which results of chains meet in a tree: where there are more than a few one after another. */
static void choose_host_cascade(plan *p)
{
    if (p->columns) {
        const int64_t folds = ga__ceil_div(p->count, p->group),
                      rows = ga__ceil_div(folds, p->segments);
        p->cascade = p->sums && rows > (int64_t)GA__HOST_CHAIN * p->abreast;
        p->levels = levels_of(rows / GA__HOST_CHAIN);
        return;
    }
    const int64_t run = p->reduced.shape[0], runs = run > 0 ? p->count / run : 0;
    p->cascade = p->sums && run > (int64_t)GA__HOST_RUN * p->lanes;
    p->many_runs = p->sums && runs > GA__HOST_RUNS;
    p->levels = levels_of(runs);
}

static void choose_host_variant(plan *p)
{
    p->block = BLOCK;
    p->unroll = p->team = p->across = 1;
    p->tail = p->thin = p->posted = false;
    p->staged = is_staged(p);
    p->lanes = host_lanes(p);
    p->plain = is_plain(p);
    if (p->columns) {
        const int64_t width = p->kept.shape[0];
        p->strip = strip_of_columns(p);
        p->group = rows_folded(p);
        p->tiles = p->outputs / width * ga__ceil_div(width, p->strip);
        if (p->kept.ndim == 1 && p->reduced.ndim == 1 &&
            (p->count == 2 || p->count == 4 || p->count == 8))
            p->unzip = (int)p->count;
        p->short_rows = rows_are_short(p);
        if (p->short_rows) {
            p->strip = HOST_LONGEST_STRIP;
            p->tiles = ga__ceil_div(width, p->strip);
        }
        p->abreast = rows_abreast(p);
    } else {
        if (p->reduced.ndim > 1 && p->outputs > 1)
            p->together = HOST_TOGETHER;
        p->group = p->count < HOST_GRAIN ? ga__ceil_div(HOST_GRAIN, p->count + 1) : p->together;
        p->tiles = ga__ceil_div(p->outputs, p->group);
    }
    const int64_t useful = ga__ceil_div(p->count * p->outputs, (int64_t)HOST_GRAIN * p->tiles);
    const int64_t wanted = p->tiles >= 16 ? 1 : 64 / p->tiles;
    p->segments = wanted < useful ? wanted : useful;
    if (p->segments < 1 || (!p->columns && (p->group > p->together || p->outputs > GA__TICKETS)))
        p->segments = 1;
    choose_host_cascade(p);
}

static void choose_variant(plan *p)
{
    p->host = p->device->arch == 0;
    p->together = 1;
    p->strip = HOST_STRIP;
    p->unzip = p->abreast = 1;
    p->short_rows = p->staged = p->plain = p->large = false;
    p->cascade = p->many_runs = p->sums = false;
    p->batch = GA__BATCH_SINGLY;
    p->turns = p->chains = 0;
    for (int part = 0; part < p->reduction->nparts; part++)
        p->sums |= p->reduction->parts[part].rounds;
    p->columns = columns_are_better(p) || (p->host && rows_are_thin(p));
    p->wide = p->host || is_wide(p);
    choose_steps(p);
    /* The host takes the elements of a row side by side. */
    p->ascending = (p->columns || !p->host) && p->reduction->formula.uses_index && index_ascends(p);
    if (p->host)
        choose_host_variant(p);
    else
        choose_cuda_variant(p);
    if (p->tiles > GA__TICKETS)
        p->segments = 1;
    p->split = p->segments > 1;
}

void ga__reduce_plan_make(ga__reduce_plan *p, int ndim, const int64_t *shape, const bool *reduced)
{
    p->count = p->group = 1;
    p->vectors = p->kept_vectors = 0;
    for (int axis = 0; axis < ndim; axis++)
        p->count *= reduced[axis] ? shape[axis] : 1;
    number_rows(p);
    plan_nests(p, ndim, shape, reduced);
    choose_variant(p);
}
