/* Chooses how a reduction runs on the host: strips, lanes, and the rows of one loop. */
#include <string.h>

#include "device/tickets.h"
#include "kernels/reduce_plan.h"

#define SMALL_ACCUMULATOR 8 /* bytes */
#define LANES 32            /* accumulators side by side in a run of a row, */
#define SHORT_LANES 16      /* in runs too short to repay combining that many */
#define SHORT_RUN 1024
#define SHORT_SUM 512     /* the same for sums: a run too short for a second chain has none */
#define LANE_BYTES 256    /* of the accumulators of choices, such as maxima and their places, */
#define MOST_LANES 128    /* and how many at most; */
#define STEPS_OF_LANES 8  /* each takes as many elements or more */
#define STRIP 1024        /* elements, or neighbouring outputs, of a loop */
#define STRIP_BYTES 32768 /* of accumulators that fit the cache: more outputs if they are small */
#define LONGEST_STRIP 4096
#define STACK_BYTES                                                                                \
    (128 << 10)                 /* of accumulators of outputs that are reduced together, at most,  \
                                 */
#define SPLIT_BYTES (256 << 10) /* and of the columns into which rows are split */
#define TREES 64                /* accumulators of two trees */
#define LANE_ARRAYS 4   /* accumulators of a lane: of a block and before it, each twice the lanes */
#define GROUP 64        /* elements that are mapped at once */
#define LONG_BYTES 8192 /* of a row that is worth reading beside others */
#define WIDE 64         /* neighbouring outputs that fill vectors by themselves */
#define OUTPUTS_PER_PASS 256 /* outputs whose runs alternate */
#define SHORT_ROW 32         /* elements: shorter rows are reduced side by side */
#define MOST_THIN 4          /* columns, and the bytes of a row, */
#define THIN_BYTES 16        /* whose indices are found one column after another */
#define GRAIN 65536          /* elements that are worth a block of their own */

typedef ga__reduce_plan plan;

/* Whether rows are so short that reducing neighbouring outputs together pays, at any stride. */
bool ga__reduce_plan_has_short_rows(const plan *p)
{
    return p->streamed > 0 && p->count > 0 && p->count < SHORT_ROW && p->kept.shape[0] >= SHORT_ROW;
}

/* A column by itself is searched in vectors, side by side with few others it is not. Each column
 * reads all memory, so that more of them cost more than they save. */
bool ga__reduce_plan_has_thin_columns(const plan *p)
{
    const int64_t width = p->kept.shape[0];
    int64_t row = 0; /* bytes */
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE)
            row += width * (int64_t)ga__dtype_size(p->operands[k].array->dtype);
    return p->reduction->formula.base.uses_index && width <= MOST_THIN && row <= THIN_BYTES;
}

/* Outputs that are reduced together, at most `most`: their accumulators fit the stack. */
static int outputs_together(const plan *p, int most)
{
    while (most > 1 && most * (int64_t)p->v.accumulator_bytes > STACK_BYTES)
        most /= 2;
    return most;
}

/* Longer rows are read whole as far as their accumulators fit the cache. */
static int strip_of_columns(const plan *p)
{
    if (p->kept.shape[0] <= STRIP || ga__reduce_plan_has_short_rows(p))
        return outputs_together(p, STRIP);
    const int64_t fit = STRIP_BYTES / (int64_t)p->v.accumulator_bytes;
    return fit < STRIP           ? outputs_together(p, STRIP)
           : fit < LONGEST_STRIP ? (int)fit
                                 : LONGEST_STRIP;
}

/* Whether operand k's rows follow each other and have the few elements that shuffles split into
 * columns. Measured: for less than 8 elements of 4 or 8 bytes loads from far apart do as well. */
static bool deinterleaves(const plan *p, int k)
{
    const int place = p->place[k];
    return p->v.deinterleave > 1 && place != GA__NO_PLACE &&
           p->kept.strides[place][0] == p->v.deinterleave && p->reduced.strides[place][0] == 1 &&
           (p->v.deinterleave == 8 || ga__dtype_size(p->operands[k].array->dtype) <= 2);
}

/* Rows of columns that follow each other in every array and fit a strip. */
static int64_t rows_folded(const plan *p)
{
    const int64_t width = p->kept.shape[0];
    if (p->kept.ndim > 1 || p->reduced.ndim > 1 || p->reduction->formula.base.uses_index)
        return 1;
    for (int place = 0; place < p->streamed; place++)
        if (p->reduced.strides[place][0] != width * p->kept.strides[place][0])
            return 1;
    return width < p->v.strip ? p->v.strip / width : 1;
}

/* Whether strips of elements are mapped before the parts take them: if there are several parts, if
 * functions of libm have vector forms, or if small floats become float. */
static bool is_staged(const plan *p)
{
    const ga__reduce_formula *f = &p->reduction->formula;
    bool narrow = false;
    for (int k = 0; k < p->noperands; k++)
        narrow |= ga__variant_is_narrow(&p->v.operand[k]);
    return !f->base.user_text && (narrow || f->nparts > 1 || f->maps_libm);
}

/* Whether the one part takes the floats of small elements as they are. */
static bool is_plain(const plan *p)
{
    return p->v.staged && p->reduction->formula.maps_nothing &&
           ga__variant_is_narrow(&p->v.operand[0]) && p->v.operand[0].step != STEP_ZERO;
}

/* Rows of columns that one loop reads. Each is a stream of its own, which pays if it is long, or if
 * accumulators take long to load. */
static int rows_per_pass(const plan *p)
{
    const int64_t width = p->kept.shape[0] < p->v.strip ? p->kept.shape[0] : p->v.strip;
    bool worth = p->v.accumulator_bytes > SMALL_ACCUMULATOR;
    if (p->v.staged || p->v.deinterleave > 1 ||
        (p->reduction->formula.base.uses_index && width >= WIDE))
        return 1;
    for (int k = 0; k < p->noperands && !worth; k++)
        worth = p->place[k] != GA__NO_PLACE &&
                width * (int64_t)ga__dtype_size(p->operands[k].array->dtype) >= LONG_BYTES;
    return !worth ? (p->sums && p->kept.ndim == 1 ? 4 : 1) : p->streamed > 1 ? 4 : 8;
}

/* Whether one loop reduces whole rows, which have the same few elements in every array. */
static bool rows_are_short(const plan *p)
{
    if (p->v.deinterleave == 1 || p->v.staged || p->reduction->formula.base.uses_index ||
        p->v.accumulator_bytes > SMALL_ACCUMULATOR)
        return false;
    for (int place = 0; place < p->streamed; place++)
        if (p->kept.strides[place][0] != p->v.deinterleave || p->reduced.strides[place][0] != 1)
            return false;
    return true;
}

/* As many as fill LANE_BYTES, where a run repays their combining: choices wait for each other, and
 * side by side they wait at once. */
static int lanes_of_choices(const plan *p)
{
    const int size = (int)ga__dtype_size(p->reduction->type[0]);
    int lanes = SHORT_LANES;
    while (2 * lanes <= MOST_LANES && 2 * lanes * size <= LANE_BYTES &&
           2 * lanes * STEPS_OF_LANES <= p->reduced.shape[0])
        lanes *= 2;
    return lanes;
}

/* Integers are reduced in any order, so the compiler makes vectors of what the lanes leave. */
static int host_lanes(const plan *p)
{
    const char kind = ga__dtype_kind(p->reduction->type[0]);
    const bool ordered = p->reduction->formula.base.uses_index || !strchr("biu", kind);
    const int64_t run = p->reduced.shape[0];
    if (p->v.columns || !ordered)
        return LANES;
    if (!p->sums && p->reduction->formula.nparts == 1)
        return lanes_of_choices(p);
    if (p->sums && run < 2 * SHORT_LANES)
        return 1; /* no run has enough for several */
    return run < (p->sums && !p->v.staged ? SHORT_SUM : SHORT_RUN) ? SHORT_LANES : LANES;
}

/* Levels that hold the results of `count` blocks. */
static int levels_of(int64_t count)
{
    int levels = 1;
    for (; count > 1; count /= 2)
        levels++;
    return levels;
}

/* Additions that follow one another where a run of this many elements joins a row's sum, as
 * reduce_rows.host counts them: those of a long run are in lanes, and few results of them join. */
static int64_t steps_of_run(int64_t run)
{
    return run < GA__HOST_CHAIN ? run : GA__HOST_RUN_STEPS;
}

/* Results of chains meet in a tree if more than a few follow one after another. */
static void choose_cascade(plan *p)
{
    if (p->v.columns) {
        const int64_t folds = ga__ceil_div(p->count, p->group),
                      rows = ga__ceil_div(folds, p->segments);
        p->v.cascade = p->sums && rows > (int64_t)GA__HOST_CHAIN * p->v.rows_per_pass;
        p->levels = levels_of(rows / GA__HOST_CHAIN);
        return;
    }
    const int64_t run = p->reduced.shape[0], runs = run > 0 ? p->count / run : 0;
    p->v.cascade = p->sums && run > (int64_t)GA__HOST_RUN * p->v.lanes;
    p->v.many_runs = p->sums && runs > 1 && runs * steps_of_run(run) > GA__HOST_STEPS;
    p->levels = levels_of(runs);
}

/* Chooses the operands whose rows are split into columns, and returns the bytes of these: none, if
 * one loop has a whole row. */
static size_t split_columns(plan *p)
{
    size_t nbytes = 0;
    for (int k = 0; k < p->noperands; k++) {
        if (!deinterleaves(p, k))
            continue;
        const size_t elements = p->v.short_rows ? 0 : (size_t)p->v.deinterleave * p->v.strip,
                     more = elements * ga__dtype_size(p->operands[k].array->dtype);
        p->v.operand[k].deinterleaved = nbytes + more <= SPLIT_BYTES;
        nbytes += p->v.operand[k].deinterleaved ? more : 0;
    }
    return nbytes;
}

/* Bytes of the arrays of a group and of a strip that is mapped. */
static size_t mapped_bytes(const plan *p)
{
    size_t grouped = 0, stripped = 0;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE)
            grouped += ga__dtype_size(p->operands[k].array->dtype) + sizeof(float);
    for (int k = 0; k < p->reduction->formula.nparts; k++)
        stripped += ga__dtype_size(ga__dtype_compute(p->reduction->type[k]));
    return GROUP * grouped + p->v.strip * stripped;
}

/* Bytes of the accumulators, of lanes and of the trees in which their results meet, and of what is
 * mapped. */
static size_t stack_of(const plan *p)
{
    const size_t outputs = p->v.columns ? p->v.strip : p->v.outputs_per_pass,
                 lanes = p->v.short_rows ? 0 : outputs + TREES + LANE_ARRAYS * p->v.lanes;
    return lanes * p->v.accumulator_bytes + (p->v.staged ? mapped_bytes(p) : 0);
}

void ga__reduce_plan_host(plan *p)
{
    p->v.strip = STRIP;
    p->v.block = p->v.unroll = p->v.team = p->v.across = 1;
    p->v.staged = is_staged(p);
    p->v.lanes = host_lanes(p);
    p->v.plain = is_plain(p);
    if (p->v.columns) {
        const int64_t width = p->kept.shape[0];
        p->v.strip = strip_of_columns(p);
        p->group = rows_folded(p);
        p->tiles = p->outputs / width * ga__ceil_div(width, p->v.strip);
        if (p->kept.ndim == 1 && p->reduced.ndim == 1 &&
            (p->count == 2 || p->count == 4 || p->count == 8))
            p->v.deinterleave = (int)p->count;
        p->v.short_rows = rows_are_short(p);
        if (p->v.short_rows) {
            p->v.strip = LONGEST_STRIP;
            p->tiles = ga__ceil_div(width, p->v.strip);
        }
        p->v.rows_per_pass = rows_per_pass(p);
    } else {
        if (p->reduced.ndim > 1 && p->outputs > 1)
            p->v.outputs_per_pass = (uint16_t)outputs_together(p, OUTPUTS_PER_PASS);
        p->group = p->count < GRAIN ? ga__ceil_div(GRAIN, p->count + 1) : p->v.outputs_per_pass;
        p->tiles = ga__ceil_div(p->outputs, p->group);
    }
    const int64_t useful = ga__ceil_div(p->count * p->outputs, (int64_t)GRAIN * p->tiles);
    const int64_t wanted = p->tiles >= 16 ? 1 : 64 / p->tiles;
    p->segments = wanted < useful ? wanted : useful;
    if (p->segments < 1 ||
        (!p->v.columns && (p->group > p->v.outputs_per_pass || p->outputs > GA__TICKETS)))
        p->segments = 1;
    choose_cascade(p);
    p->stack = split_columns(p) + stack_of(p);
}
