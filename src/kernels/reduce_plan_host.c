/* Chooses how a reduction runs on the host: strips, lanes, and rows that one loop takes together.
 */
#include <string.h>

#include "device/tickets.h"
#include "kernels/reduce_plan.h"

#define SMALL_ACCUMULATOR 8 /* bytes */
#define LANES 32            /* accumulators side by side in a run of a row, */
#define SHORT_LANES 16      /* in runs too short to repay the combining of so many */
#define SHORT_RUN 1024
#define SHORT_SUM 512     /* of sums, so that a run short of a second chain has none */
#define STRIP 1024        /* elements, or neighbouring outputs, taken together */
#define STRIP_BYTES 32768 /* of small outputs more: their accumulators fit the cache */
#define LONGEST_STRIP 4096
#define LONG_BYTES 8192    /* of a row, to be read beside others */
#define WIDE 64            /* neighbouring outputs that are vectors enough by themselves */
#define TOGETHER 256       /* outputs whose runs are taken in turn */
#define THIN 32            /* rows shorter than this are taken side by side */
#define GRAIN 65536        /* elements that are worth a block of their own */
#define LEVEL_ALIGNMENT 64 /* bytes, of each part's accumulators */

typedef ga__reduce_plan plan;

/* Whether rows are so short that it pays to take neighbouring outputs together, at any stride. */
bool ga__reduce_plan_thin(const plan *p)
{
    return p->rows > 0 && p->count > 1 && p->count < THIN && p->kept.shape[0] >= THIN;
}

/* Rows that are longer than a strip had better be read whole, as far as accumulators fit. */
static int strip_of_columns(const plan *p)
{
    if (p->kept.shape[0] <= STRIP || ga__reduce_plan_thin(p))
        return STRIP;
    const int64_t fit = STRIP_BYTES / (int64_t)p->reduction->accumulator_bytes;
    return fit < STRIP ? STRIP : fit < LONGEST_STRIP ? (int)fit : LONGEST_STRIP;
}

/* Whether operand k's rows are of as few elements as are taken apart by shuffles, and follow each
 * other. Measured: for less than 8 of 4 or 8 bytes loads from far apart do as well. */
bool ga__reduce_plan_deinterleaves(const plan *p, int k)
{
    const int row = p->row[k];
    return p->deinterleave > 1 && row != GA__NO_ROW && p->kept.strides[row][0] == p->deinterleave &&
           p->reduced.strides[row][0] == 1 &&
           (p->deinterleave == 8 || ga__dtype_size(p->operands[k].array->dtype) <= 2);
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
    if (p->staged || p->deinterleave > 1 || (p->reduction->formula.uses_index && width >= WIDE))
        return 1;
    for (int k = 0; k < p->noperands && !worth; k++)
        worth = p->row[k] != GA__NO_ROW &&
                width * (int64_t)ga__dtype_size(p->operands[k].array->dtype) >= LONG_BYTES;
    return !worth ? (p->sums && p->kept.ndim == 1 ? 4 : 1) : p->rows > 1 ? 4 : 8;
}

/* Whether one loop takes all elements of each row, which are as few in every array. */
static bool rows_are_short(const plan *p)
{
    if (p->deinterleave == 1 || p->staged || p->reduction->formula.uses_index ||
        p->reduction->accumulator_bytes > SMALL_ACCUMULATOR)
        return false;
    for (int row = 0; row < p->rows; row++)
        if (p->kept.strides[row][0] != p->deinterleave || p->reduced.strides[row][0] != 1)
            return false;
    return true;
}

/* Integers are taken in any order, so that the compiler makes vectors of what the lanes leave. */
static int host_lanes(const plan *p)
{
    const char kind = ga__dtype_kind(p->reduction->parts[0].type);
    const bool ordered = p->reduction->formula.uses_index || !strchr("biu", kind);
    if (p->sums && !p->columns && p->reduced.shape[0] < 2 * SHORT_LANES)
        return 1; /* no run has enough for several */
    const int short_run = p->sums && !p->staged ? SHORT_SUM : SHORT_RUN;
    return !p->columns && ordered && p->reduced.shape[0] < short_run ? SHORT_LANES : LANES;
}

size_t ga__reduce_plan_level_bytes(const plan *p)
{
    const size_t width = (size_t)(p->columns ? p->strip : p->outputs_per_pass),
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
static void choose_cascade(plan *p)
{
    if (p->columns) {
        const int64_t folds = ga__ceil_div(p->count, p->group),
                      rows = ga__ceil_div(folds, p->segments);
        p->cascade = p->sums && rows > (int64_t)GA__HOST_CHAIN * p->rows_per_pass;
        p->levels = levels_of(rows / GA__HOST_CHAIN);
        return;
    }
    const int64_t run = p->reduced.shape[0], runs = run > 0 ? p->count / run : 0;
    p->cascade = p->sums && run > (int64_t)GA__HOST_RUN * p->lanes;
    p->many_runs = p->sums && runs > GA__HOST_RUNS;
    p->levels = levels_of(runs);
}

void ga__reduce_plan_host(plan *p)
{
    p->strip = STRIP;
    p->block = p->unroll = p->team = p->across = 1;
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
            p->deinterleave = (int)p->count;
        p->short_rows = rows_are_short(p);
        if (p->short_rows) {
            p->strip = LONGEST_STRIP;
            p->tiles = ga__ceil_div(width, p->strip);
        }
        p->rows_per_pass = rows_abreast(p);
    } else {
        if (p->reduced.ndim > 1 && p->outputs > 1)
            p->outputs_per_pass = TOGETHER;
        p->group = p->count < GRAIN ? ga__ceil_div(GRAIN, p->count + 1) : p->outputs_per_pass;
        p->tiles = ga__ceil_div(p->outputs, p->group);
    }
    const int64_t useful = ga__ceil_div(p->count * p->outputs, (int64_t)GRAIN * p->tiles);
    const int64_t wanted = p->tiles >= 16 ? 1 : 64 / p->tiles;
    p->segments = wanted < useful ? wanted : useful;
    if (p->segments < 1 ||
        (!p->columns && (p->group > p->outputs_per_pass || p->outputs > GA__TICKETS)))
        p->segments = 1;
    choose_cascade(p);
}
