/* The kernel of each reduction on a CUDA device, and the number of blocks that share its rows,
 * planned for an H200 (without one). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "device/tickets.h"
#include "kernels/reduce_plan.h"
#include "model/layout.h"
#include "model/rows.h"
#include "ops/reduction_op.h"
#include "random.h"
#include "run.h"

enum { PROCESSORS = 132, THREADS = 2048, AT_ONCE = PROCESSORS * (THREADS / 512) };

/* For a sum; half a unit in the last place each. */
#define MOST_ROUNDINGS 64

/* A reduction of one array, or of a row before it, and its plan, which points into the other
 * members. */
typedef struct planned {
    ga__device device;
    gpuarray x, row, out;
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int64_t kept_shape[GA_MAX_NDIM], kept_strides[GA_MAX_NDIM];
    bool reduced[GA_MAX_NDIM], maps;
    ga__operand operands[2];
    ga__reduction reduction;
    gpuarray *results[1];
    int64_t nest_strides[6][GA_MAX_NDIM];
    ga__reduce_plan plan;
} planned;

/* The array is in C order from address `data` on. */
static void set_array(planned *p, ga_dtype dtype, uintptr_t data, int ndim, const int64_t *shape)
{
    memset(p, 0, sizeof(*p));
    p->x = (gpuarray){.dtype = dtype,
                      .ndim = ndim,
                      .size = ga__shape_size(ndim, shape),
                      .data = (char *)data,
                      .shape = p->shape,
                      .strides = p->strides};
    memcpy(p->shape, shape, sizeof(*shape) * (size_t)ndim);
    ga__contiguous_strides(ndim, shape, (int64_t)ga_dtype_size(dtype), p->strides);
}

static ga__reduce_plan *plan_for(planned *p, ga__row_id place, int arch)
{
    p->device.arch = arch;
    p->device.processors = PROCESSORS;
    p->device.threads_per_processor = THREADS;
    p->out = (gpuarray){.dtype = p->x.dtype,
                        .contiguous = true,
                        .data = (char *)4096,
                        .shape = p->kept_shape,
                        .strides = p->kept_strides};
    for (int axis = 0; axis < p->x.ndim; axis++)
        if (!p->reduced[axis])
            p->kept_shape[p->out.ndim++] = p->shape[axis];
    p->out.size = ga__shape_size(p->out.ndim, p->kept_shape);
    ga__contiguous_strides(p->out.ndim, p->kept_shape, (int64_t)ga_dtype_size(p->x.dtype),
                           p->kept_strides);
    const ga__operand x = {.name = "x", .array = &p->x, .type = p->x.dtype, .reads = true},
                      row = {.name = "row", .array = &p->row, .type = p->x.dtype, .reads = true};
    const bool has_row = p->row.data != NULL;
    p->operands[0] = has_row ? row : x;
    p->operands[1] = x;
    p->reduction = (ga__reduction){.formula = {.base = {.name = ga__rows[place].formula.name},
                                               .maps_nothing = !p->maps,
                                               .nresults = 1,
                                               .results = {"ga_finish0(a)"}}};
    ga__add_part(&p->reduction, &ga__rows[place].part, p->x.dtype, 0);
    p->results[0] = &p->out;
    p->plan = (ga__reduce_plan){.reduction = &p->reduction,
                                .device = &p->device,
                                .noperands = 1 + has_row,
                                .operands = p->operands,
                                .out = p->results,
                                .outputs = p->out.size,
                                .kept.strides = p->nest_strides,
                                .reduced.strides = p->nest_strides + 3};
    ga__reduce_plan_make(&p->plan, p->x.ndim, p->shape, p->reduced);
    return &p->plan;
}

static ga__reduce_plan *plan_it(planned *p, ga__row_id place)
{
    return plan_for(p, place, 90);
}

/* Of n elements, over all axes. */
static ga__reduce_plan *plan_all(planned *p, ga__row_id place, ga_dtype dtype, uintptr_t data,
                                 int64_t n)
{
    set_array(p, dtype, data, 1, &n);
    p->reduced[0] = true;
    return plan_it(p, place);
}

/* Of a float32 matrix or cube, over one axis. */
static ga__reduce_plan *plan_axis(planned *p, ga__row_id place, int axis, int ndim,
                                  const int64_t *shape)
{
    set_array(p, GA_FLOAT32, 4096, ndim, shape);
    p->reduced[axis] = true;
    return plan_it(p, place);
}

#define SHAPE(...)                                                                                 \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[])                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Enough blocks share a row to keep chains short. Tiles of columns are as few as without chains,
 * and their threads add their chains up. No other reduction has either. */
static void long_sums_of_floats_have_short_chains(void **state)
{
    (void)state;
    planned p;
    const int64_t n = INT64_C(1) << 28;
    const int64_t chain = 4 * 16; /* elements */
    assert_int_equal(plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4096, n)->v.chain_levels, 0);
    assert_int_equal(p.plan.least, n / 4 / 512 / chain);
    assert_int_equal(plan_all(&p, GA__ROW_sum, GA_FLOAT64, 4096, n)->least, n / 2 / 512 / chain);
    assert_int_equal(plan_all(&p, GA__ROW_sum, GA_INT64, 4096, n)->least, 1);
    assert_int_equal(plan_all(&p, GA__ROW_max, GA_FLOAT32, 4096, n)->least, 1);
    assert_int_equal(plan_axis(&p, GA__ROW_sum, 0, SHAPE(n / 1024, 1024))->v.chain_levels, 1);
    assert_int_equal(plan_axis(&p, GA__ROW_max, 0, SHAPE(n / 1024, 1024))->v.chain_levels, 0);
    assert_int_equal(plan_axis(&p, GA__ROW_sum, 0, SHAPE(64, n / 64))->v.chain_levels, 0);
    assert_int_equal(plan_axis(&p, GA__ROW_sum, 1, SHAPE(5000, INT64_C(1) << 24))->v.chain_levels,
                     2);
    assert_int_equal(plan_axis(&p, GA__ROW_sum, 1, SHAPE(n / 1000, 1000))->v.chain_levels, 0);
}

static void long_reductions_come_in_whole_waves(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4096, INT64_C(1) << 28);
    assert_false(q->v.columns);
    assert_true(q->v.split && q->v.posted && !q->v.wide);
    assert_int_equal(q->v.block, 512);
    assert_int_equal(q->v.lanes, 4);
    assert_int_equal(q->v.unroll, 4);
    assert_int_equal(q->waves, 8);
    assert_int_equal(q->tiles * q->segments, 8 * AT_ONCE);
    ga__reduce_plan_share(&p.plan, 3 * PROCESSORS); /* registers let three run at once */
    assert_int_equal(q->segments, 8 * 3 * PROCESSORS);

    q = plan_all(&p, GA__ROW_sum, GA_FLOAT16, 4096,
                 INT64_C(1) << 28); /* 16384 segments of 32 KiB */
    assert_int_equal(q->v.lanes, 8);
    assert_int_equal(q->waves, 7);
    assert_int_equal(q->segments, 7 * AT_ONCE);
}

static void shorter_ones_in_one_wave_or_less(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4096, 10000000);
    assert_int_equal(q->waves, 1);
    assert_int_equal(q->segments, AT_ONCE);
    q = plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4096, 100000); /* 25000 vectors in segments of 2048 */
    assert_int_equal(q->segments, 13);
    q = plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4096, 1000);
    assert_int_equal(q->segments, 1);
    assert_int_equal(q->v.team, 32);
    assert_false(q->v.split);
}

static void what_may_stop_early_stays_in_one_wave(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_all(&p, GA__ROW_all, GA_FLOAT32, 4096, INT64_C(1) << 30);
    assert_int_equal(q->waves, 1);
    assert_int_equal(q->segments, AT_ONCE);
}

static void accumulators_choose_the_block(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_all(&p, GA__ROW_argmax, GA_FLOAT32, 4096, INT64_C(1) << 28);
    assert_int_equal(q->v.block, 512);
    assert_int_equal(q->v.unroll, 4);
    assert_true(q->v.ascending);
    assert_int_equal(q->v.min_blocks, 3);
    q = plan_all(&p, GA__ROW_var, GA_FLOAT32, 4096, INT64_C(1) << 28);
    assert_int_equal(q->v.block, 256);
    assert_int_equal(q->v.unroll, 8);
    assert_int_equal(q->v.min_blocks, 0);
    q = plan_all(&p, GA__ROW_argmax, GA_INT8, 4096, INT64_C(3) << 30);
    assert_true(q->v.wide);
}

static void a_map_leaves_registers_for_whole_batches(void **state)
{
    (void)state;
    planned p;
    for (int k = 0; k < 2; k++) {
        const ga_dtype dtype = k ? GA_FLOAT16 : GA_FLOAT32;
        assert_int_equal(plan_all(&p, GA__ROW_sum, dtype, 4096, INT64_C(1) << 28)->v.min_blocks, 4);
        p.maps = true;
        assert_int_equal(plan_it(&p, GA__ROW_sum)->v.min_blocks, 3);
    }
}

/* Of a window that is reduced whole: no vector holds the elements of two of its rows. */
static void rows_of_windows_are_whole_vectors(void **state)
{
    (void)state;
    planned p;
    for (int64_t columns = 1000; columns <= 1004; columns++) {
        set_array(&p, GA_FLOAT32, 4096, SHAPE(1000, columns));
        p.strides[0] = 4 * 1008;
        p.reduced[0] = p.reduced[1] = true;
        const ga__reduce_plan *q = plan_it(&p, GA__ROW_sum);
        assert_int_equal(q->v.lanes, columns % 4 == 0 ? 4 : 1);
        assert_int_equal(q->vectors * q->v.lanes, 1000 * columns);
        assert_false(q->v.tail);
    }
}

/* Elements that lie apart are loaded singly, and more at a time. */
static void vectors_begin_within_misaligned_arrays(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4100, INT64_C(1) << 28);
    assert_true(q->v.peeled);
    assert_int_equal(q->v.lanes, 4);
    assert_int_equal(q->v.block, 512);
    assert_int_equal(q->v.unroll, 4);
    assert_false(plan_all(&p, GA__ROW_sum, GA_FLOAT32, 4096, INT64_C(1) << 28)->v.peeled);
    set_array(&p, GA_FLOAT32, 4096, SHAPE(INT64_C(1) << 28));
    p.strides[0] = 8;
    p.reduced[0] = true;
    q = plan_it(&p, GA__ROW_sum);
    assert_false(q->v.peeled);
    assert_int_equal(q->v.lanes, 1);
    assert_int_equal(q->v.block, 512);
    assert_int_equal(q->v.unroll, 8);
}

static void rows_are_shared_where_they_are_few(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_axis(&p, GA__ROW_sum, 1, SHAPE(1000, 268000));
    assert_int_equal(q->tiles, 1000);
    assert_int_equal(q->segments, 8 * AT_ONCE / 1000);
    q = plan_axis(&p, GA__ROW_sum, 1, SHAPE(16384, 16384));
    assert_int_equal(q->tiles, 16384);
    assert_int_equal(q->segments, 1);
}

/* A tile is as much of neighbouring rows as fits, in whole turns of its teams. The longer the rows,
 * the more threads share one. */
static void short_rows_are_staged(void **state)
{
    (void)state;
    static const struct {
        int64_t length, team, group;
    } cases[] = {{2, 1, 1920}, {4, 1, 896}, {33, 1, 123}, {1025, 32, 3}};
    planned p;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t length = cases[k].length;
        const ga__reduce_plan *q = plan_axis(&p, GA__ROW_sum, 1, SHAPE((1 << 28) / length, length));
        assert_true(q->v.staged && q->v.operand[0].staged && !q->v.operand[0].apart);
        assert_int_equal(q->v.team, cases[k].team);
        assert_int_equal(q->group, cases[k].group);
    }
    /* Few rows go to all multiprocessors. */
    const ga__reduce_plan *q = plan_axis(&p, GA__ROW_sum, 1, SHAPE(1000, 100));
    assert_true(q->v.staged && q->tiles >= 3 * PROCESSORS);
    /* A tile has room for one row only: vectors are better, of rows that begin anywhere. */
    q = plan_axis(&p, GA__ROW_sum, 1, SHAPE(1 << 16, 4001));
    assert_true(!q->v.staged && q->v.peeled && q->v.lanes == 4 && q->v.team == 32);
    q = plan_axis(&p, GA__ROW_sum, 1, SHAPE(1 << 16, 4097));
    assert_true(!q->v.staged && q->v.peeled && q->v.team == q->v.block && q->v.block == 128);
    set_array(&p, GA_INT8, 4096, SHAPE(1 << 16, 16001));
    p.reduced[1] = true;
    assert_true(plan_it(&p, GA__ROW_sum)->v.staged);
}

/* Threads that read together use different banks: they take odd numbers of words each, or a stage
 * skips a word where they would not. */
static void stages_skip_bytes_where_banks_conflict(void **state)
{
    (void)state;
    planned p;
    static const int64_t even[] = {8, 16, 32, 64}, odd[] = {3, 5, 31, 33, 34, 257, 1025};
    for (size_t k = 0; k < sizeof even / sizeof *even; k++)
        assert_true(plan_axis(&p, GA__ROW_sum, 1, SHAPE(1 << 20, even[k]))->v.operand[0].skewed);
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        assert_false(plan_axis(&p, GA__ROW_sum, 1, SHAPE(1 << 20, odd[k]))->v.operand[0].skewed);
}

static void tiles_of_columns_are_narrow_rather_than_shared(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_axis(&p, GA__ROW_sum, 0, SHAPE(16384, 16384));
    assert_true(q->v.columns);
    assert_int_equal(q->v.across, 8);
    assert_int_equal(q->tiles, 512);
    assert_int_equal(q->segments, 1);
    q = plan_axis(&p, GA__ROW_sum, 1, SHAPE(256, 4096, 256));
    assert_true(q->v.columns);
    assert_int_equal(q->v.across, 16); /* nearly two waves */
    assert_int_equal(q->tiles, 1024);
    assert_int_equal(q->segments, 1);
    q = plan_axis(&p, GA__ROW_sum, 0, SHAPE(1 << 22, 4));
    assert_true(q->v.columns);
    assert_int_equal(q->tiles, 1);
    assert_int_equal(q->segments, AT_ONCE);
}

/* Memory reads the bytes between rows of a window anyway if they are few. Otherwise each row begins
 * a vector of its own in the stage. */
static void wide_gaps_are_not_staged(void **state)
{
    (void)state;
    planned p;
    for (int64_t pitch = 5; pitch <= 16; pitch++) {
        set_array(&p, GA_FLOAT32, 4096, SHAPE(1 << 22, 5));
        p.strides[0] = 4 * pitch;
        p.reduced[1] = true;
        const ga__reduce_plan *q = plan_it(&p, GA__ROW_sum);
        assert_true(q->v.staged && q->v.operand[0].staged);
        assert_int_equal(q->v.operand[0].apart, pitch > 13);
    }
}

/* Stages of several operands hold few rows: these are read where they are, if they are aligned and
 * a warp has a vector for each thread. */
static void aligned_rows_of_several_operands_are_not_staged(void **state)
{
    (void)state;
    static const struct {
        int64_t length, shift; /* of the array, in elements */
        bool several, staged;
    } cases[] = {{128, 0, true, false},  {500, 0, true, false}, {124, 0, true, true},
                 {129, 0, true, true},   {128, 1, true, true},  {128, 0, false, true},
                 {1000, 0, true, false}, {500, 0, false, true}};
    const int64_t repeated[] = {0, 4};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        planned p;
        set_array(&p, GA_FLOAT32, 4096 + 4 * (uintptr_t)cases[k].shift,
                  SHAPE(100000, cases[k].length));
        if (cases[k].several) {
            p.row = p.x;
            p.row.strides = (int64_t *)repeated;
        }
        p.reduced[1] = true;
        const ga__reduce_plan *q = plan_it(&p, GA__ROW_sum);
        assert_int_equal(q->v.staged, cases[k].staged);
        assert_false(q->v.peeled);
    }
}

/* Short rows that many neighbours meet are read from the cache. A longer one that all share is
 * staged once in each tile. */
static void rows_of_the_cache_are_not_staged(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, length, along; /* `along`: the stride between places */
        bool staged, apart;
    } cases[] = {{64, 101, 101, false, false}, {16, 191, 191, false, false},
                 {8, 101, 101, true, true},    {64, 333, 333, true, true},
                 {64, 333, 0, false, false},   {64, 703, 0, false, false},
                 {64, 705, 0, true, false},    {1, 1701, 0, true, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        planned p;
        const int64_t strides[] = {4 * cases[k].along, 0, 4};
        set_array(&p, GA_FLOAT32, 4096, SHAPE(100000, cases[k].rows, cases[k].length));
        p.row = p.x;
        p.row.strides = (int64_t *)strides;
        p.reduced[2] = true;
        const ga__reduce_plan *q = plan_it(&p, GA__ROW_sum);
        assert_true(q->v.staged && q->v.operand[1].staged);
        assert_int_equal(q->v.operand[0].staged, cases[k].staged);
        assert_int_equal(q->v.operand[0].apart, cases[k].apart);
    }
    planned p; /* without room in a tile, rows are read where they are */
    const int64_t strides[] = {0, 4};
    for (int64_t length = 2011; length <= 2013; length += 2) {
        set_array(&p, GA_FLOAT32, 4096, SHAPE(100000, length));
        p.row = p.x;
        p.row.strides = (int64_t *)strides;
        p.reduced[1] = true;
        assert_int_equal(plan_it(&p, GA__ROW_sum)->v.staged, length == 2011);
    }
}

/* Of few rows, columns that do not form whole vectors are loaded singly. */
static void few_ragged_columns_are_loaded_singly(void **state)
{
    (void)state;
    planned p;
    for (int64_t width = 5; width <= 8; width++) {
        set_array(&p, GA_FLOAT32, 4096, SHAPE(30000, width));
        p.strides[0] = 32;
        p.reduced[0] = true;
        const ga__reduce_plan *q = plan_it(&p, GA__ROW_sum);
        assert_true(q->v.columns && !q->v.ragged);
        assert_int_equal(q->v.lanes, width == 8 ? 4 : 1);
    }
}

/* Of 1 GiB, from an address that is not a vector's. */
/* A row that is repeated down the matrix does not decide, wherever it stands. */
static void arrays_that_are_repeated_have_no_say(void **state)
{
    (void)state;
    static const int64_t zero_and_item[] = {0, 4}, item_and_zero[] = {4, 0};
    for (int arch = 0; arch <= 90; arch += 90)
        for (int axis = 0; axis < 2; axis++) {
            planned p;
            set_array(&p, GA_FLOAT32, 4096, SHAPE(3000, 2000));
            p.row = p.x;
            p.row.strides = (int64_t *)(axis == 0 ? item_and_zero : zero_and_item);
            p.reduced[axis] = true;
            assert_int_equal(plan_for(&p, GA__ROW_sum, arch)->v.columns, axis == 0);
            p.strides[0] = 4; /* the same in F order */
            p.strides[1] = 3000 * 4;
            assert_int_equal(plan_for(&p, GA__ROW_sum, arch)->v.columns, axis == 1);
        }
}

static ga__reduce_plan *plan_columns(planned *p, ga_dtype dtype, int64_t width, int64_t pitch)
{
    const int64_t size = (int64_t)ga_dtype_size(dtype), rows = (1 << 30) / size / pitch;
    set_array(p, dtype, 4096 + ga_dtype_size(dtype), SHAPE(rows, width));
    p->strides[0] = pitch * size;
    p->reduced[0] = true;
    return plan_it(p, GA__ROW_sum);
}

/* Most threads of a block load vectors as wide as the accumulators allow, whatever the width: rows
 * that follow each other are lines of whole vectors. */
static void narrow_ragged_columns_fold_into_lines(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    static const int lanes[] = {8, 8, 4, 2};
    planned p;
    for (int d = 0; d < 4; d++)
        for (int64_t width = 3; width <= 511; width += width < 40 ? 2 : 36) {
            const ga__reduce_plan *q = plan_columns(&p, dtypes[d], width, width);
            assert_int_equal(q->v.ragged, GA__RAGGED_FOLDED);
            assert_int_equal(q->v.lanes, lanes[d]);
            assert_int_equal(q->width, width);
            assert_int_equal(q->fold * width, q->across * q->v.lanes);
            assert_true(q->across * q->down > q->v.block / 2);
        }
}

/* Rows of a window, or too wide for a line: tiles of neighbouring columns. */
static void other_ragged_columns_lie_apart(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_columns(&p, GA_FLOAT32, 1025, 1025);
    assert_int_equal(q->v.ragged, GA__RAGGED_APART);
    assert_int_equal(q->v.lanes, 4);
    assert_int_equal(q->fold, 4);
    assert_true(q->width % 4 == 0 && q->row_tiles * q->width >= 1025);
    q = plan_columns(&p, GA_FLOAT32, 33, 37);
    assert_int_equal(q->v.ragged, GA__RAGGED_APART);
    assert_int_equal(q->row_tiles, 1);
    q = plan_columns(&p, GA_FLOAT32, 100, 1002); /* every second row begins alike */
    assert_int_equal(q->fold, 2);
}

/* Shapes of whole vectors keep their kernel where it is as fast. */
static void whole_vectors_are_not_ragged(void **state)
{
    (void)state;
    planned p;
    for (int64_t width = 256; width <= 4096; width *= 2)
        assert_int_equal(plan_axis(&p, GA__ROW_sum, 0, SHAPE((1 << 28) / width, width))->v.ragged,
                         0);
    assert_int_equal(plan_axis(&p, GA__ROW_sum, 0, SHAPE((1 << 28) / 1000, 1000))->v.ragged,
                     GA__RAGGED_FOLDED);
}

/* Each row that blocks share has a ticket. */
static void rows_without_tickets_are_not_shared(void **state)
{
    (void)state;
    planned p;
    const ga__reduce_plan *q = plan_axis(&p, GA__ROW_var, 1, SHAPE(4000, 1 << 20));
    assert_true(q->tiles == 4000 && q->segments == 8 && q->v.split);
    q = plan_axis(&p, GA__ROW_var, 1, SHAPE(4100, 1 << 20));
    assert_true(q->tiles == 4100 && q->segments == 1 && !q->v.split);
}

/* Each vector is one load, within a row, from an aligned address. */
static void check_vectors(const planned *p, const ga__reduce_plan *q)
{
    const ga__nest *nest = q->v.columns ? &q->kept : &q->reduced;
    const size_t bytes = ga_dtype_size(p->x.dtype) * (size_t)q->v.lanes;
    if (q->v.lanes == 1 || q->v.ragged || q->v.operand[0].loose)
        return;
    if (q->v.peeled) {
        assert_true(q->v.tail && !q->v.columns && nest->ndim == 1 && nest->strides[0][0] == 1);
        assert_true(q->count >= 2 * q->v.lanes);
        return;
    }
    assert_true(nest->shape[0] % q->v.lanes == 0 || q->v.tail);
    assert_true(!q->v.tail || (!q->v.columns && nest->ndim == 1));
    assert_int_equal(nest->strides[0][0], 1);
    assert_int_equal((uintptr_t)p->x.data % bytes, 0);
    for (int axis = q->v.columns; axis < q->kept.ndim; axis++)
        assert_int_equal(q->kept.strides[0][axis] % q->v.lanes, 0);
    for (int axis = !q->v.columns; axis < q->reduced.ndim; axis++)
        assert_int_equal(q->reduced.strides[0][axis] % q->v.lanes, 0);
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int log2_of(int64_t n)
{
    int bits = 0;
    while (n >> (bits + 1))
        bits++;
    return bits;
}

/* Roundings of columns' results in a block: in warps, in groups of four, and between the groups. */
static int64_t roundings_down(int64_t across, int64_t block)
{
    const int64_t groups = (block / (across > 32 ? across : 32) + 3) / 4;
    return (across < 32 ? log2_of(32 / across) : 0) + 3 + groups - 1;
}

/* Of the results of `count` segments that `threads` threads read. */
static int64_t reading_roundings(const ga__reduce_plan *q, int64_t count, int64_t threads)
{
    const int bytes = q->v.accumulator_bytes;
    const int64_t unroll = bytes <= 4    ? 16
                           : bytes <= 16 ? 8
                                         : 4,
                  rounds = (count + threads * unroll - 1) / (threads * unroll);
    int64_t n = log2_of(unroll) + rounds / 1024 + 1;
    for (int64_t below = 1; below <= 256; below *= 4)
        n += least_of(rounds / below, 4);
    return n;
}

/* Those in a block's shared memory, and between segments; two for the ends of folded rows. */
static int64_t ragged_roundings(const ga__reduce_plan *q)
{
    const int64_t lines = (int64_t)q->down * (q->v.ragged == GA__RAGGED_FOLDED ? q->fold : 1),
                  room = ga__reduce_room(&q->v) / q->width - 1, groups = (lines + room - 1) / room;
    int64_t n = groups * (log2_of(least_of(lines, room) + 1) + 1) + 2;
    if (q->segments == 1)
        return n;
    const int64_t group = ga__reduce_plan_group(q),
                  threads = most_of(least_of(q->v.block, ga__reduce_room(&q->v)) / q->width, 1);
    n += reading_roundings(q, group, threads) + log2_of(threads) + 1;
    if (group < q->segments)
        n +=
            reading_roundings(q, (q->segments + group - 1) / group, threads) + log2_of(threads) + 1;
    return n;
}

/* The same where rows are staged: in a batch, the batches of a thread and their remainder, and a
 * team. */
static int64_t staged_roundings(const ga__reduce_plan *q)
{
    const int64_t batches = (q->vectors + q->v.unroll - 1) / q->v.unroll;
    return 2 * log2_of(q->v.unroll) + 1 + batches + log2_of(q->v.team) + 1;
}

/* The threads of a row take all its elements, and the stage has room for the rows of a tile. */
static void check_staged(const ga__reduce_plan *q)
{
    const int64_t size = (int64_t)ga_dtype_size(q->operands[0].array->dtype),
                  span = ((q->count - 1) * q->reduced.strides[0][0] + 1) * size,
                  room = (int64_t)q->v.ahead * q->v.block * 16;
    assert_true(q->v.team * q->vectors >= q->count);
    assert_int_equal(q->v.block % q->v.team, 0);
    assert_int_equal(q->vectors % q->v.packed, 0);
    assert_int_equal(q->v.row_length, q->v.team == 1 && q->count <= 8 ? q->count : 0);
    assert_true(q->group >= 1 && q->tiles >= 1 && (q->tiles - 1) * q->group < q->outputs);
    assert_true(q->segments == 1 && !q->v.split && !q->v.posted);
    if (q->v.operand[0].apart)
        assert_true(q->group * ((span + 30) / 16 * 16) <= room);
    else
        assert_true((q->group - 1) * q->kept.strides[0][0] * size + span + 127 + 15 <= room);
    if (q->sums && q->v.accumulator_bytes <= 16)
        assert_true(staged_roundings(q) <= MOST_ROUNDINGS);
}

/* The most roundings of a sum on an element's way to the result: in its thread's batches and
 * chains, among the block's threads, and among the blocks that share its row. */
static int64_t roundings(const ga__reduce_plan *q, int64_t stretches)
{
    const int64_t turns = (stretches + q->segments - 1) / q->segments;
    int64_t n = q->v.tail;
    n += q->v.batch == GA__BATCH_APART ? q->v.unroll : 0;
    n += q->v.batch == GA__BATCH_PAIRS ? log2_of(q->v.unroll) + 1 : 0;
    n += (q->v.chain_levels ? q->v.batches_per_chain : turns) *
         (q->v.batch == GA__BATCH_SINGLY ? q->v.unroll : 1);
    int64_t chains =
        q->v.chain_levels ? (turns + q->v.batches_per_chain - 1) / q->v.batches_per_chain : 0;
    for (int k = 1; k <= q->v.chain_levels; k++) {
        n += k < q->v.chain_levels ? GA__CUDA_CHAINS : chains + 1;
        chains = (chains + GA__CUDA_CHAINS - 1) / GA__CUDA_CHAINS;
    }
    if (q->v.ragged)
        return n + ragged_roundings(q);
    if (q->v.columns)
        n += roundings_down(q->v.across, q->v.block);
    else
        n += log2_of(q->v.lanes) + log2_of(q->v.team);
    if (q->segments == 1)
        return n;
    const int64_t width = least_of((int64_t)q->v.across * q->v.lanes, q->v.block),
                  threads = q->v.columns ? q->v.block / width : q->v.block;
    const int bytes = q->v.accumulator_bytes;
    const int64_t unroll = bytes <= 4 ? 16 : bytes <= 16 ? 8 : 4;
    const int64_t rounds = (q->segments + threads * unroll - 1) / (threads * unroll);
    n += log2_of(unroll) + rounds / 1024 + 1;
    for (int64_t below = 1; below <= 256; below *= 4)
        n += least_of(rounds / below, 4);
    return n + (q->v.columns ? roundings_down(width, q->v.block) : log2_of(q->v.block));
}

/* Properties of ragged columns: their tiles cover them, thread by thread, each thread's rows begin
 * alike, and there are tickets and room for results. */
static void check_ragged(const ga__reduce_plan *q)
{
    const int64_t columns = q->kept.shape[0], row = q->reduced.strides[0][0];
    const bool folded = q->v.ragged == GA__RAGGED_FOLDED;
    const int64_t group = ga__reduce_plan_group(q), groups = (q->segments + group - 1) / group;
    assert_int_equal(q->reduced.ndim, 1);
    assert_int_equal(q->tiles, q->row_tiles * (q->outputs / columns));
    assert_true(q->row_tiles * q->width >= columns);
    assert_true((q->row_tiles - 1) * q->width < columns);
    assert_true(q->down >= 1 && q->across * q->down <= q->v.block);
    assert_int_equal(q->apart % q->down, 0);
    assert_int_equal(q->segments % (q->apart / q->down), 0);
    assert_true((1 + (folded ? q->fold : 1)) * q->width <= ga__reduce_room(&q->v));
    assert_true(q->segments == 1 || q->tiles * (groups > 1 ? groups + 1 : 1) <= GA__TICKETS);
    const bool whole = row % q->v.lanes == 0 && columns % q->v.lanes == 0;
    assert_true(folded || whole || row >= (columns > q->v.lanes ? columns : q->v.lanes - 1));
    if (folded) {
        assert_int_equal(q->width * q->fold, q->across * q->v.lanes);
        assert_int_equal(row, columns);
    } else {
        assert_int_equal(q->apart * row % q->v.lanes, 0);
        assert_true(q->across * q->v.lanes >= q->width);
    }
}

/* Properties of every plan: the blocks cover the outputs and no segment is empty. */
static void check_plan(ga__reduce_plan *q, int64_t at_once)
{
    if (q->v.staged) {
        check_staged(q);
        return;
    }
    const int64_t together = q->v.ragged    ? q->down
                             : q->v.columns ? q->v.block / q->v.across
                                            : q->v.team;
    const int64_t stretches = (q->vectors + together * q->v.unroll - 1) / (together * q->v.unroll);
    const int64_t a_tile =
        q->v.columns ? (int64_t)q->v.across * q->v.lanes : (int64_t)q->v.block / q->v.team;
    if (q->v.ragged) {
        check_ragged(q);
    } else {
        assert_true(q->tiles * a_tile >= q->outputs);
        assert_true((q->tiles - 1) * a_tile < q->kept_vectors * q->v.lanes);
        assert_int_equal(q->v.block % together, 0);
    }
    assert_true(q->segments >= 1);
    assert_true(q->segments == 1 || q->v.ragged || q->segments <= stretches);
    assert_int_equal(q->v.split, q->segments > 1);
    assert_true(q->waves >= 1 && q->waves <= 8);
    assert_int_equal(q->v.posted, q->outputs == 1);
    const int64_t before = q->segments;
    ga__reduce_plan_share(q, at_once);
    assert_true(q->segments >= 1 && q->segments <= q->useful);
    assert_true(q->segments <= before);
    assert_true(q->v.ragged || q->segments <= q->least ||
                q->tiles * q->segments <= q->waves * at_once ||
                q->tiles * (q->segments - 1) < q->tiles * q->least + at_once);
    const bool simple = q->sums && q->v.accumulator_bytes <= 16; /* no moments */
    if (simple && (double)q->count * (double)q->outputs <= 0x1p33 &&
        roundings(q, stretches) > MOST_ROUNDINGS)
        fail_msg("%lld roundings: %lld elements of %lld outputs, %s, %d lanes, unroll %d, %d "
                 "chains, block %d, across %d, %lld tiles of %lld segments",
                 (long long)roundings(q, stretches), (long long)q->count, (long long)q->outputs,
                 q->v.columns ? "columns" : "rows", q->v.lanes, q->v.unroll, q->v.chain_levels,
                 q->v.block, q->v.across, (long long)q->tiles, (long long)q->segments);
}

static void any_shape_is_covered(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};
    static const ga__row_id rows[] = {GA__ROW_sum, GA__ROW_all, GA__ROW_argmax, GA__ROW_var};
    uint64_t seed = 1;
    for (int k = 0; k < 20000; k++) {
        planned p;
        int64_t shape[4];
        const int ndim = 1 + (int)(next_random(&seed) % 4);
        for (int axis = 0; axis < ndim; axis++) /* lengths of every order */
            shape[axis] =
                1 + (int64_t)(next_random(&seed) % (UINT64_C(2) << next_random(&seed) % 15));
        const ga_dtype dtype = dtypes[next_random(&seed) % 5];
        set_array(&p, dtype, 4096 + next_random(&seed) % 2 * ga_dtype_size(dtype), ndim, shape);
        for (int axis = 0; axis < ndim; axis++)
            p.reduced[axis] = next_random(&seed) % 2;
        const int a = (int)(next_random(&seed) % (uint64_t)ndim),
                  b = (int)(next_random(&seed) % (uint64_t)ndim); /* transposed, and reversed */
        const int64_t shape_a = p.shape[a], stride_a = p.strides[a];
        p.shape[a] = p.shape[b], p.strides[a] = p.strides[b];
        p.shape[b] = shape_a, p.strides[b] = next_random(&seed) % 4 ? stride_a : -stride_a;
        check_vectors(&p, plan_it(&p, rows[next_random(&seed) % 4]));
        check_plan(&p.plan, 1 + (int64_t)(next_random(&seed) % (2 * AT_ONCE)));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums_of_floats_have_short_chains),
        cmocka_unit_test(long_reductions_come_in_whole_waves),
        cmocka_unit_test(shorter_ones_in_one_wave_or_less),
        cmocka_unit_test(what_may_stop_early_stays_in_one_wave),
        cmocka_unit_test(accumulators_choose_the_block),
        cmocka_unit_test(a_map_leaves_registers_for_whole_batches),
        cmocka_unit_test(rows_of_windows_are_whole_vectors),
        cmocka_unit_test(vectors_begin_within_misaligned_arrays),
        cmocka_unit_test(rows_are_shared_where_they_are_few),
        cmocka_unit_test(short_rows_are_staged),
        cmocka_unit_test(stages_skip_bytes_where_banks_conflict),
        cmocka_unit_test(tiles_of_columns_are_narrow_rather_than_shared),
        cmocka_unit_test(wide_gaps_are_not_staged),
        cmocka_unit_test(arrays_that_are_repeated_have_no_say),
        cmocka_unit_test(aligned_rows_of_several_operands_are_not_staged),
        cmocka_unit_test(rows_of_the_cache_are_not_staged),
        cmocka_unit_test(few_ragged_columns_are_loaded_singly),
        cmocka_unit_test(narrow_ragged_columns_fold_into_lines),
        cmocka_unit_test(other_ragged_columns_lie_apart),
        cmocka_unit_test(whole_vectors_are_not_ragged),
        cmocka_unit_test(rows_without_tickets_are_not_shared),
        cmocka_unit_test(any_shape_is_covered),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
