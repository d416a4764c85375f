/* The kernel of each elementwise call, planned for an H200 (without one) and for the host: the loop
 * nest covers all elements, and vectors, tails, tiles and blocks fit it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <quarry.h>

#include "array/array.h"
#include "kernels/elementwise_plan.h"
#include "model/layout.h"
#include "random.h"
#include "run.h"

enum { PROCESSORS = 132, THREADS = 2048, SHARED = 227 << 10, MOST = 4, RESULT = 0 };

/* A call with up to MOST arrays, the result first, and its plan, which points into the other
 * members. */
typedef struct planned {
    ga__device device;
    ga__formula formula;
    gpuarray x[MOST];
    int64_t shape[MOST][GA_MAX_NDIM], strides[MOST][GA_MAX_NDIM];
    int64_t nest_strides[MOST + 1][GA_MAX_NDIM];
    ga__operand operands[MOST];
    ga__elementwise_plan plan;
} planned;

static void start(planned *p, int arch)
{
    memset(p, 0, sizeof *p);
    memset(&p->plan, 0x5a, sizeof p->plan); /* as on a stack: nothing is zero */
    p->plan.noperands = 0;
    p->device.arch = arch;
    p->device.processors = PROCESSORS;
    p->device.shared_bytes = SHARED;
    p->device.threads_per_processor = THREADS;
    p->formula.name = "test";
    p->formula.body = "r = x";
    p->plan.formula = &p->formula;
    p->plan.device = &p->device;
    p->plan.operands = p->operands;
    p->plan.nest.strides = p->nest_strides;
}

static bool in_c_order(const gpuarray *x)
{
    int64_t strides[GA_MAX_NDIM];
    ga__contiguous_strides(x->ndim, x->shape, (int64_t)ga_dtype_size(x->dtype), strides);
    return memcmp(strides, x->strides, sizeof *strides * (size_t)x->ndim) == 0;
}

/* Adds an operand; strides in elements, or NULL for C order. */
static ga__operand *add(planned *p, ga_dtype dtype, uintptr_t data, int ndim, const int64_t *shape,
                        const int64_t *strides)
{
    const int k = p->plan.noperands++;
    const int64_t size = (int64_t)ga_dtype_size(dtype);
    p->x[k] = (gpuarray){.dtype = dtype,
                         .ndim = ndim,
                         .size = ga__shape_size(ndim, shape),
                         .data = (char *)data,
                         .shape = p->shape[k],
                         .strides = p->strides[k]};
    memcpy(p->shape[k], shape, sizeof *shape * (size_t)ndim);
    ga__contiguous_strides(ndim, shape, size, p->strides[k]);
    for (int axis = 0; strides && axis < ndim; axis++)
        p->strides[k][axis] = strides[axis] * size;
    p->x[k].contiguous = in_c_order(&p->x[k]);
    p->operands[k] = (ga__operand){
        .name = "x", .array = &p->x[k], .type = dtype, .reads = k != RESULT, .writes = k == RESULT};
    return &p->operands[k];
}

/* With the result's shape. */
static const ga__elementwise_plan *plan_it(planned *p)
{
    p->plan.n = p->x[RESULT].size;
    ga__elementwise_plan_make(&p->plan, p->x[RESULT].ndim, p->shape[RESULT]);
    return &p->plan;
}

#define SHAPE(...)                                                                                 \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[])                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define STRIDES(...) ((int64_t[]){__VA_ARGS__})

/* n elements each, in C order from these addresses. */
static const ga__elementwise_plan *plan_two(planned *p, ga_dtype to, uintptr_t at, ga_dtype from,
                                            uintptr_t from_at, int64_t n)
{
    start(p, 90);
    add(p, to, at, SHAPE(n), NULL);
    add(p, from, from_at, SHAPE(n), NULL);
    return plan_it(p);
}

/* ---- Vectors ---- */

static void contiguous_elements_move_16_bytes_at_a_time(void **state)
{
    (void)state;
    static const struct {
        ga_dtype to, from;
        int lanes;
    } cases[] = {{GA_INT8, GA_INT8, 16},     {GA_FLOAT16, GA_INT8, 8}, {GA_FLOAT32, GA_FLOAT32, 4},
                 {GA_FLOAT64, GA_INT8, 2},   {GA_INT8, GA_FLOAT64, 2}, {GA_COMPLEX64, GA_BOOL, 2},
                 {GA_COMPLEX128, GA_INT8, 1}};
    planned p;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t n = 1000003, lanes = cases[k].lanes;
        const ga__elementwise_plan *q = plan_two(&p, cases[k].to, 4096, cases[k].from, 8192, n);
        assert_int_equal(q->head.lanes, lanes);
        assert_int_equal(q->head.tail, lanes > 1);
        assert_int_equal(q->head.unroll, lanes > 1 ? 1 : 4);
        assert_int_equal(q->vectors, n / lanes);
        assert_int_equal(q->head.block, 128);
        assert_int_equal(q->grid, (q->vectors + 128 * q->head.unroll - 1) / (128 * q->head.unroll));
        assert_true(!q->head.wide && !q->head.tiled && !q->head.fast_path && !q->head.host);
    }
}

static void vectors_start_where_a_load_can(void **state)
{
    (void)state;
    planned p;
    assert_int_equal(plan_two(&p, GA_FLOAT32, 4096, GA_FLOAT32, 4096 + 4, 1000)->head.lanes, 1);
    assert_int_equal(plan_two(&p, GA_FLOAT32, 4096 + 8, GA_FLOAT32, 4096, 1000)->head.lanes, 1);
    assert_int_equal(plan_two(&p, GA_FLOAT32, 4096 + 16, GA_FLOAT32, 4096, 1000)->head.lanes, 4);
    /* A 1-byte item and an 8-byte item move two at a time: from any even address. */
    assert_int_equal(plan_two(&p, GA_FLOAT64, 4096, GA_INT8, 4096 + 2, 1000)->head.lanes, 2);
    assert_int_equal(plan_two(&p, GA_FLOAT64, 4096, GA_INT8, 4096 + 1, 1000)->head.lanes, 1);
    /* Narrow elements that do not align move in vectors all the same, in tiles. */
    assert_true(plan_two(&p, GA_FLOAT16, 4096, GA_FLOAT16, 4096 + 2, 1000)->head.tiled);
    assert_int_equal(plan_two(&p, GA_FLOAT16, 4096, GA_FLOAT16, 4096 + 2, 1000)->head.lanes, 8);
    assert_false(
        plan_two(&p, GA_FLOAT16, 4096, GA_FLOAT16, 4096 + 2, 255)->head.tiled); /* 510 bytes */
    assert_true(plan_two(&p, GA_FLOAT16, 4096, GA_FLOAT16, 4096 + 2, 256)->head.tiled);
    assert_false(plan_two(&p, GA_FLOAT32, 4096, GA_FLOAT32, 4096 + 4, 1000)->head.tiled);
    assert_int_equal(plan_two(&p, GA_FLOAT32, 4096, GA_FLOAT32, 4096, 3)->head.lanes, 1);
    assert_int_equal(plan_two(&p, GA_FLOAT32, 4096, GA_FLOAT32, 4096, 4)->head.lanes, 4);
}

static void rows_hold_whole_vectors(void **state)
{
    (void)state;
    static const struct {
        int64_t width, pitch; /* of the read rows */
        int lanes;
    } cases[] = {{64, 80, 4}, {64, 81, 1}, {66, 80, 1}, {2, 80, 1}, {64, -80, 4}};
    planned p;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t width = cases[k].width;
        start(&p, 90);
        add(&p, GA_FLOAT32, 4096, SHAPE(100, width), NULL);
        add(&p, GA_FLOAT32, 1 << 20, SHAPE(100, width), STRIDES(cases[k].pitch, 1));
        const ga__elementwise_plan *q = plan_it(&p);
        assert_int_equal(q->nest.ndim, 2);
        assert_int_equal(q->head.lanes, cases[k].lanes);
        assert_false(q->head.tail);
        assert_int_equal(q->vectors * q->head.lanes, q->n);
    }
}

static void repeated_elements_need_no_address(void **state)
{
    (void)state;
    planned p;
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(100, 64), NULL);
    add(&p, GA_FLOAT32, 4096 + 4, SHAPE(100, 1), NULL); /* a column: read once per vector */
    const ga__elementwise_plan *q = plan_it(&p);
    assert_int_equal(q->head.lanes, 4);
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(6400), NULL);
    add(&p, GA_FLOAT64, 4096 + 8, SHAPE(1), NULL);
    q = plan_it(&p);
    assert_int_equal(q->nest.ndim, 1);
    assert_int_equal(q->step[q->place[1]], STEP_ZERO);
    assert_int_equal(q->head.lanes, 4); /* nor does its width count */
}

/* Where the body alone goes to memory, neighbouring threads have neighbouring elements. */
static void elements_without_vectors_are_one_by_one(void **state)
{
    (void)state;
    planned p;
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(6400), STRIDES(0))->access = GA__PLACED;
    add(&p, GA_UINT8, 0, SHAPE(6400), NULL)->access = GA__COORDINATE;
    const ga__elementwise_plan *q = plan_it(&p);
    assert_int_equal(q->head.lanes, 1);
    assert_int_equal(q->head.unroll, 4);
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(100, 64), STRIDES(1, 0))->access = GA__PLACED;
    add(&p, GA_UINT8, 0, SHAPE(100, 64), STRIDES(128, 1))->access = GA__COORDINATE;
    assert_int_equal(plan_it(&p)->head.lanes, 1);
}

/* What the body loads itself it loads one by one; what it finds at one place it may repeat. */
static void elements_that_the_body_loads_are_in_no_vector(void **state)
{
    (void)state;
    planned p;
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(6400), NULL);
    add(&p, GA_FLOAT32, 8192, SHAPE(6400), NULL)->access = GA__PLACED;
    assert_int_equal(plan_it(&p)->head.lanes, 1);
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(100, 64), NULL);
    add(&p, GA_FLOAT32, 8192, SHAPE(100, 64), STRIDES(80, 1))->access = GA__PLACED;
    assert_int_equal(plan_it(&p)->head.lanes, 1);
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(6400), NULL);
    add(&p, GA_FLOAT64, 4096 + 8, SHAPE(1), NULL)->access = GA__PLACED;
    assert_int_equal(plan_it(&p)->head.lanes, 4);
}

/* Elements that do not fill a vector move one by one. */
static void structs_of_odd_sizes_move_one_by_one(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        int lanes;
    } cases[] = {{2, 8}, {3, 1}, {4, 4}, {5, 1}, {6, 1}, {7, 1}, {8, 2}, {12, 1}, {20, 1}};
    planned p;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char name[32];
        snprintf(name, sizeof name, "plan_of_%zu", cases[k].size);
        const ga_dtype dtype = ga_struct_dtype(name, cases[k].size, NULL);
        assert_int_equal(plan_two(&p, dtype, 4096, dtype, 1 << 20, 1000)->head.lanes,
                         cases[k].lanes);
    }
}

static void formulas_that_pay_take_several_vectors_a_thread(void **state)
{
    (void)state;
    const int64_t threads = (int64_t)PROCESSORS * THREADS;
    planned p;
    for (int64_t turns = 0; turns < 7; turns++) {
        start(&p, 90);
        p.formula.fast_path = true;
        add(&p, GA_FLOAT32, 4096, SHAPE(4 * threads * turns + 400), NULL);
        const ga__elementwise_plan *q = plan_it(&p);
        assert_true(q->head.fast_path);
        assert_int_equal(q->chunk, turns < 1 ? 1 : turns < 4 ? turns : 4);
        assert_true(q->grid * q->head.block * q->chunk * q->head.lanes >= q->n);
        assert_true((q->grid - 1) * q->head.block * q->chunk * q->head.lanes < q->n);
    }
    start(&p, 90);
    p.formula.fast_path = true;
    add(&p, GA_FLOAT32, 4096 + 4, SHAPE(1000), NULL);
    assert_false(plan_it(&p)->head.fast_path); /* whole vectors */
}

/* Of a column and a row; the result, or one operand, is of `lines` lines. */
static int vectors_of_an_outer_product(int64_t lines, bool whole)
{
    planned p;
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(lines, 4096), NULL);
    add(&p, GA_FLOAT32, 4096, SHAPE(whole ? lines : 1, 4096), NULL);
    add(&p, GA_FLOAT32, 4096, SHAPE(lines, 1), NULL);
    const ga__elementwise_plan *q = plan_it(&p);
    assert_int_equal(q->head.lanes, 4);
    assert_int_equal(q->grid, (q->vectors + 128 * q->head.unroll - 1) / (128 * q->head.unroll));
    return q->head.unroll;
}

static void threads_that_read_little_store_several_vectors(void **state)
{
    (void)state;
    const int64_t lines = 4 * (int64_t)PROCESSORS * THREADS / 1024;
    assert_int_equal(vectors_of_an_outer_product(lines, false), 4);
    assert_int_equal(vectors_of_an_outer_product(lines - 1, false), 1); /* too few threads */
    assert_int_equal(vectors_of_an_outer_product(lines, true), 1);
}

/* ---- Spans ---- */

/* An operand whose elements the body finds. */
static void add_found(planned *p, ga_dtype dtype, uintptr_t data, int ndim, const int64_t *shape)
{
    ga__operand *from = add(p, dtype, data, ndim, shape, (int64_t[GA_MAX_NDIM]){0});
    from->access = GA__PLACED;
    from->low = (char *)data;
    from->high = from->low + 64;
}

/* A matrix of `columns`, each of its elements from a place that the body finds in another one. */
static const ga__elementwise_plan *plan_found(planned *p, ga_dtype dtype, int64_t columns)
{
    start(p, 90);
    p->formula.moves = true;
    add(p, dtype, 4096, SHAPE(5, columns), NULL);
    add_found(p, dtype, 1 << 20, SHAPE(5, columns));
    add(p, GA_UINT8, 0, SHAPE(5, columns), STRIDES(0, 1))->access = GA__COORDINATE;
    return plan_it(p);
}

static void elements_that_the_body_finds_move_in_vectors(void **state)
{
    (void)state;
    planned p;
    const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int odd = 0; odd < 2; odd++) {
            const int64_t size = (int64_t)ga_dtype_size(dtypes[d]), columns = 2048 / size + odd;
            const ga__elementwise_plan *q = plan_found(&p, dtypes[d], columns);
            assert_true(q->head.spans);
            assert_int_equal(q->head.lanes, 16 / size);
            assert_int_equal(q->vectors, (5 * columns * size + 15) / 16);
            assert_true(q->grid * q->head.block * q->head.unroll >= q->vectors);
            assert_true((q->grid - 1) * q->head.block * q->head.unroll < q->vectors);
            assert_false(plan_found(&p, dtypes[d], 2048 / size - 1)->head.spans); /* too short */
        }
    assert_false(plan_found(&p, GA_COMPLEX128, 4096)->head.spans); /* one fills a vector */
    plan_found(&p, GA_INT16, 4096); /* pieces of a join: each result comes from one of them */
    add_found(&p, GA_INT16, (3 << 20) + 2, SHAPE(5, 4096));
    assert_true(plan_it(&p)->head.spans);
}

/* Of other calls of such a body, no two results need come from neighbours. */
static void other_elements_move_singly(void **state)
{
    (void)state;
    planned p;
    for (int fault = 0; fault < 8; fault++) {
        assert_true(plan_found(&p, GA_FLOAT32, 1024)->head.spans);
        if (fault == 0)
            p.operands[1].high = NULL; /* from anywhere */
        else if (fault == 1)
            p.x[RESULT].data += 4; /* not aligned */
        else if (fault == 2)
            p.strides[RESULT][0] += 16; /* rows with gaps */
        else if (fault == 3)
            p.x[1].dtype = p.operands[1].type = GA_INT32; /* it converts */
        else if (fault == 4)
            add(&p, GA_FLOAT32, 8192, SHAPE(5, 1024), NULL); /* and another operand */
        else if (fault == 5) {                               /* one of two converts */
            p.x[1].dtype = p.operands[1].type = GA_INT32;
            add_found(&p, GA_FLOAT32, 8192, SHAPE(5, 1024));
        } else if (fault == 6)
            p.formula.moves = false;
        else
            p.operands[RESULT].reads = true;
        p.x[RESULT].contiguous = in_c_order(&p.x[RESULT]);
        assert_false(plan_it(&p)->head.spans);
    }
}

/* ---- Descents ---- */

/* (x - y) / z of a matrix, a row that its rows share, and a number of each row. */
static const ga__elementwise_plan *plan_shared(planned *p, ga_dtype dtype, int64_t rows,
                                               int64_t columns)
{
    start(p, 90);
    p->formula.body = "r = ga::divide(x - y, z)";
    add(p, dtype, 4096, SHAPE(rows, columns), NULL);
    add(p, dtype, 1 << 20, SHAPE(rows, columns), NULL);
    add(p, dtype, 1 << 21, SHAPE(rows, columns), STRIDES(0, 1));
    add(p, dtype, 1 << 22, SHAPE(rows, columns), STRIDES(1, 0));
    return plan_it(p);
}

/* Blocks that take turns begin past the end of some rows: an int counts their vectors too. */
static void turns_of_long_rows_fit_an_int(void **state)
{
    (void)state;
    planned p;
    int turns = 0;
    for (int64_t rows = 1000; rows < 9000; rows += 500) {
        const int64_t columns = ((INT64_C(1) << 31) - (3 << 19)) / rows;
        start(&p, 90);
        p.device.cache_bytes = 1 << 20;
        p.formula.body = "r = x + y";
        add(&p, GA_COMPLEX128, 4096, SHAPE(rows, columns), NULL);
        add(&p, GA_COMPLEX128, 1 << 20, SHAPE(rows, columns), NULL);
        add(&p, GA_COMPLEX128, 1 << 21, SHAPE(rows, columns), STRIDES(0, 1));
        const ga__elementwise_plan *q = plan_it(&p);
        turns += q->chunk > 0;
        assert_true(q->head.wide || q->grid * q->head.block * q->head.unroll <= INT32_MAX);
    }
    assert_true(turns > 0);
}

/* From a vector of a thread to its next one whole rows follow each other; blocks have all. */
static void threads_walk_down_rows_that_share_operands(void **state)
{
    (void)state;
    planned p;
    const int64_t columns[] = {3, 12, 403, 8190, 300001}, n = INT64_C(1) << 28;
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const ga__elementwise_plan *q = plan_shared(&p, GA_FLOAT16, n / columns[k], columns[k]);
        const int64_t vectors = (q->n + q->head.lanes - 1) / q->head.lanes;
        assert_true(q->head.descends);
        assert_int_equal(q->head.lanes, 8);
        assert_int_equal(q->vectors * q->head.lanes % columns[k], 0);
        assert_true(q->chunk == 4 && q->vectors >= 2048);
        const int64_t across = (q->vectors + q->head.block - 1) / q->head.block,
                      down = q->grid / across;
        assert_int_equal(q->grid, across * down);
        assert_true(down * q->vectors * q->chunk >= vectors);
        assert_true((down - 1) * q->vectors * q->chunk < vectors);
    }
    assert_false(
        plan_shared(&p, GA_FLOAT32, 1 << 18, 403)->head.descends); /* memory takes longer */
    assert_false(plan_shared(&p, GA_FLOAT16, 1 << 18, 408)->head.descends); /* whole vectors */
    assert_false(
        plan_shared(&p, GA_FLOAT16, 1 << 12, 403)->head.descends); /* too few for the threads */
    assert_false(plan_shared(&p, GA_FLOAT16, 31, 9999999)->head.descends); /* too few rows */
}

static void other_rows_are_not_walked_down(void **state)
{
    (void)state;
    planned p;
    for (int fault = 0; fault < 7; fault++) {
        assert_true(plan_shared(&p, GA_FLOAT16, 1 << 18, 403)->head.descends);
        if (fault == 0)
            p.formula.body = "r = x - y"; /* which takes no longer than memory */
        else if (fault == 1)
            p.x[RESULT].data += 2; /* not aligned */
        else if (fault == 2)
            p.x[1].data += 2;
        else if (fault == 3)
            p.strides[1][0] += 16; /* rows with gaps */
        else if (fault == 4)
            p.strides[2][0] = 2 * 403; /* nothing is shared */
        else if (fault == 5)
            p.formula.user_text = true;
        else
            p.operands[3].access = GA__ACCESSOR;
        p.x[1].contiguous = in_c_order(&p.x[1]);
        p.x[2].contiguous = in_c_order(&p.x[2]);
        assert_false(plan_it(&p)->head.descends);
    }
}

/* ---- The width of indices ---- */

static void indices_are_as_wide_as_any_operand_needs(void **state)
{
    (void)state;
    const int64_t most = INT32_MAX; /* minus those that threads past the end would have */
    const int64_t wide[] = {most - 512, most, most + 1, INT64_C(1) << 32, (INT64_C(1) << 32) + 5};
    planned p;
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        assert_true(plan_two(&p, GA_INT8, 4096, GA_INT8, 4096, wide[k])->head.wide);
    assert_false(plan_two(&p, GA_INT8, 4096, GA_INT8, 4096, most - (2 << 20))->head.wide);
    for (int sign = -1; sign <= 1; sign += 2) { /* 64 elements, far apart */
        start(&p, 90);
        add(&p, GA_FLOAT32, 4096, SHAPE(64), NULL);
        add(&p, GA_FLOAT32, 4096, SHAPE(64), STRIDES(sign * (INT64_C(1) << 26)));
        assert_true(plan_it(&p)->head.wide);
        start(&p, 90);
        add(&p, GA_FLOAT32, 4096, SHAPE(64), NULL);
        add(&p, GA_FLOAT32, 4096, SHAPE(64), STRIDES(sign * (INT64_C(1) << 23)));
        assert_false(plan_it(&p)->head.wide);
        start(&p, 90); /* on the outer axis */
        add(&p, GA_FLOAT32, 4096, SHAPE(4, 64), NULL);
        add(&p, GA_FLOAT32, 4096, SHAPE(4, 64), STRIDES(sign * (INT64_C(1) << 30), 1));
        assert_true(plan_it(&p)->head.wide);
    }
}

static void arrays_that_are_indexed_freely_count_by_their_size(void **state)
{
    (void)state;
    for (int64_t size = INT64_C(1) << 30; size <= INT64_C(1) << 32; size <<= 2) {
        planned p;
        start(&p, 90);
        add(&p, GA_INT8, 4096, SHAPE(100), NULL);
        add(&p, GA_INT8, 4096, SHAPE(size), NULL)->access = GA__ACCESSOR;
        const ga__elementwise_plan *q = plan_it(&p);
        assert_int_equal(q->place[1], GA__NO_PLACE);
        assert_int_equal(q->head.wide, size > INT32_MAX);
    }
}

/* ---- Tiles ---- */

/* The transpose of a contiguous array, planned. */
static const ga__elementwise_plan *plan_transpose(planned *p, ga_dtype dtype, int64_t rows,
                                                  int64_t columns)
{
    start(p, 90);
    add(p, dtype, 4096, SHAPE(columns, rows), NULL);
    add(p, dtype, 1 << 20, SHAPE(columns, rows), STRIDES(1, columns));
    return plan_it(p);
}

static const ga_dtype by_size[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};

/* Both sides of a tile are stretches of at least 96 bytes, or as long as the array lets them be. */
static void tiles_have_long_stretches_on_both_sides(void **state)
{
    (void)state;
    planned p;
    for (size_t d = 0; d < sizeof by_size / sizeof *by_size; d++)
        for (int64_t columns = 2; columns < 3000; columns += 1 + columns / 7)
            for (int turned = 0; turned < 2; turned++) {
                const int64_t size = (int64_t)ga_dtype_size(by_size[d]), rows = (1 << 24) / columns;
                const ga__elementwise_plan *q = turned
                                                    ? plan_transpose(&p, by_size[d], columns, rows)
                                                    : plan_transpose(&p, by_size[d], rows, columns);
                const ga__tile *t = &q->tile;
                const ga__stage *in = &t->stage[0];
                if (q->head.square)
                    continue;
                assert_true(q->head.tiled && t->nstages == 1 && q->transposed[q->place[1]]);
                assert_true(t->part * size >= 96 || t->part >= t->total);
                assert_true(in->vectors * 16 >= 96 || t->extent[1] == q->nest.shape[1]);
                assert_true(t->shared <= SHARED / 2);
                assert_int_equal(q->head.lanes, 16 / size);
                /* The bytes that tiles copy to shared memory, in relation to the array's. */
                int64_t moved = in->vectors * q->grid * 16;
                for (int axis = 0; axis < q->nest.ndim; axis++)
                    moved *= in->count[axis];
                assert_true(moved * 10 <= q->n * size * 19);
            }
}

/* Where one axis is short the other side of a tile is one stretch. */
static void narrow_arrays_have_one_stretch(void **state)
{
    (void)state;
    planned p;
    for (size_t d = 0; d < sizeof by_size / sizeof *by_size; d++)
        for (int64_t narrow = 2; narrow * (int64_t)ga_dtype_size(by_size[d]) <= 128; narrow++) {
            const ga__elementwise_plan *q = plan_transpose(&p, by_size[d], 300000, narrow);
            assert_int_equal(q->tile.stage[0].count[0] * q->tile.stage[0].count[1], 1);
            assert_int_equal(q->tile.run, 1);
            assert_int_equal(q->tile.stretches, narrow);
            q = plan_transpose(&p, by_size[d], narrow, 300000);
            assert_int_equal(q->tile.run, 2);
            assert_int_equal(q->tile.stretches, 1);
            assert_int_equal(q->tile.stage[0].count[0], narrow);
        }
}

/* How many of the neighbouring vectors that a warp takes meet in a bank, from this one on. */
static int most_that_meet(const ga__elementwise_plan *q, int first)
{
    const ga__stage *s = &q->tile.stage[0];
    int met[8] = {0}, most = 0;
    for (int v = 0; v < 1 << q->tile.across; v++) {
        const int64_t at = (first + v * q->head.lanes) * s->step[0];
        const int n = ++met[(at ^ (at >> s->shift & s->mask)) / 16 % 8];
        most = n > most ? n : most;
    }
    return most;
}

/* Copies write a line's vectors in their order. Two vectors may meet where four banks lie between
 * neighbours: there a line has no bits that tell them apart. */
static void neighbours_are_in_all_banks(void **state)
{
    (void)state;
    planned p;
    for (size_t d = 0; d < sizeof by_size / sizeof *by_size; d++)
        for (int64_t columns = 2; columns < 600; columns += 1 + columns / 13) {
            const ga__elementwise_plan *q = plan_transpose(&p, by_size[d], 100000, columns);
            const ga__stage *s = &q->tile.stage[0];
            if (q->head.square || q->tile.stretches < 4)
                continue;
            assert_true(s->mask == 0 || s->shift >= 3);
            const bool two = q->head.lanes * s->step[0] / 16 % 8 == 4;
            for (int first = 0; first < 100; first++)
                assert_in_range(most_that_meet(q, first), 1, two ? 2 : 1);
        }
}

/* All operands that are staged have their neighbours along one axis, and fit shared memory. */
static void stages_fit_and_share_an_axis(void **state)
{
    (void)state;
    planned p;
    for (int turned = 1; turned <= 3; turned++) {
        start(&p, 90);
        add(&p, GA_FLOAT32, 4096, SHAPE(1024, 512), NULL);
        for (int k = 0; k < turned; k++)
            add(&p, GA_FLOAT32, (1 << 20) + 4, SHAPE(1024, 512), STRIDES(1, 1024));
        const ga__elementwise_plan *q = plan_it(&p);
        assert_int_equal(q->tile.nstages, turned);
        assert_true(q->tile.shared <= SHARED / 2);
        const int64_t held = q->tile.extent[0] * q->tile.extent[1] * 4;
        for (int k = 1; k < turned; k++)
            assert_true(q->tile.stage[k].offset >= q->tile.stage[k - 1].offset + held);
    }
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(64, 64, 64), NULL);
    add(&p, GA_FLOAT32, 1 << 20, SHAPE(64, 64, 64), STRIDES(4096, 1, 64));
    add(&p, GA_FLOAT32, 1 << 21, SHAPE(64, 64, 64), STRIDES(1, 4096, 64));
    const ga__elementwise_plan *q = plan_it(&p);
    assert_true(q->head.tiled);
    assert_int_equal(q->transposed[q->place[1]] + q->transposed[q->place[2]], 1);
}

/* Short stretches with gaps between them take more of shared memory than they have bytes. */
static void stages_of_short_stretches_fit(void **state)
{
    (void)state;
    planned p;
    int tiled = 0;
    for (size_t d = 0; d < sizeof by_size / sizeof *by_size; d++)
        for (int64_t length = 2; length < 80; length++) {
            start(&p, 90);
            add(&p, by_size[d], 4096, SHAPE(length, 4096, 4096), NULL);
            add(&p, by_size[d], 1 << 20, SHAPE(length, 4096, 4096),
                STRIDES(1, length + 3, 4096 * (length + 3)));
            const ga__elementwise_plan *q = plan_it(&p);
            if (!q->head.tiled || q->head.square)
                continue;
            tiled++;
            assert_true(q->tile.shared <= SHARED / 2);
        }
    assert_true(tiled > 100);
}

/* ---- Squares ---- */

static void round_transposes_go_through_squares(void **state)
{
    (void)state;
    static const struct {
        ga_dtype dtype;
        int side;
    } cases[] = {{GA_FLOAT16, 128}, {GA_FLOAT32, 64}, {GA_FLOAT64, 64}, {GA_COMPLEX128, 32}};
    planned p;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int side = cases[k].side;
        start(&p, 90);
        add(&p, cases[k].dtype, 4096, SHAPE(3, 1024, 512), NULL);
        add(&p, cases[k].dtype, 1 << 20, SHAPE(3, 1024, 512), STRIDES(1024 * 512, 1, 1024));
        add(&p, cases[k].dtype, 1 << 21, SHAPE(3, 1024, 512), NULL);
        const ga__elementwise_plan *q = plan_it(&p);
        assert_true(q->head.tiled && q->transposed[q->place[1]] && !q->transposed[q->place[0]]);
        assert_false(q->transposed[q->place[2]]);
        assert_int_equal(q->nest.strides[q->place[1]][1], 1);
        assert_int_equal(q->head.square, side);
        assert_int_equal(q->head.block, side > 32 ? 512 : 128);
        assert_int_equal(q->head.lanes, 16 / ga_dtype_size(cases[k].dtype));
        assert_int_equal(q->grid, 3 * (1024 / side) * (512 / side));
    }
    assert_int_equal(plan_transpose(&p, GA_FLOAT64, 1000, 1000)->head.square, 64);
    assert_int_equal(plan_transpose(&p, GA_FLOAT32, 64, 1024)->head.square, 64);
    assert_int_equal(plan_transpose(&p, GA_COMPLEX128, 32, 33)->head.square, 32);
}

/* Where squares are not faster. */
static void other_transposes_go_through_tiles(void **state)
{
    (void)state;
    static const struct {
        ga_dtype dtype;
        int64_t rows, columns;
    } cases[] = {{GA_INT8, 4096, 4096},    {GA_FLOAT16, 4096, 4096}, {GA_FLOAT32, 1022, 1024},
                 {GA_FLOAT32, 1024, 1022}, {GA_FLOAT64, 1001, 1000}, {GA_FLOAT32, 60, 1024},
                 {GA_FLOAT32, 1024, 60},   {GA_COMPLEX128, 31, 1024}};
    planned p;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const ga__elementwise_plan *q =
            plan_transpose(&p, cases[k].dtype, cases[k].rows, cases[k].columns);
        assert_true(q->head.tiled && q->head.square == 0 && q->tile.nstages == 1);
    }
    for (int why = 0; why < 5; why++) {
        const int64_t pitch = why == 0 ? 1026 : 1024, rows = why == 4 ? 1022 : 1024;
        start(&p, 90);
        add(&p, GA_FLOAT32, 4096, SHAPE(rows, 512), NULL);
        add(&p, GA_FLOAT32, (1 << 20) + 8 * (why == 1), SHAPE(rows, 512), STRIDES(1, pitch));
        if (why == 2 || why == 3) /* an array that moves one by one */
            add(&p, GA_FLOAT32, (1 << 21) + 4 * (why == 2), SHAPE(rows, 512),
                why == 3 ? STRIDES(1024, 2) : NULL);
        const ga__elementwise_plan *q = plan_it(&p);
        assert_true(q->head.tiled && q->head.square == 0);
    }
}

/* Each transposed operand has its own square in shared memory; a column is read as it is. */
static void squares_fit_shared_memory(void **state)
{
    (void)state;
    planned p;
    for (int turned = 1; turned <= 3; turned++) {
        start(&p, 90);
        add(&p, GA_FLOAT32, 4096, SHAPE(1024, 512), NULL);
        for (int k = 0; k < turned; k++)
            add(&p, GA_FLOAT32, 1 << 20, SHAPE(1024, 512), STRIDES(1, 1024));
        const ga__elementwise_plan *q = plan_it(&p);
        assert_true(q->head.tiled);
        assert_int_equal(q->head.square, turned < 3 ? 64 : 0); /* 16640 bytes each, of 49152 */
    }
    start(&p, 90);
    add(&p, GA_FLOAT32, 4096, SHAPE(1024, 512), NULL);
    add(&p, GA_FLOAT32, 1 << 20, SHAPE(1024, 512), STRIDES(1, 1024));
    add(&p, GA_FLOAT32, (1 << 21) + 4, SHAPE(1024, 1), NULL);
    assert_int_equal(plan_it(&p)->head.square, 64);
    start(&p, 90); /* one array of 2-byte elements is read: a column is none */
    add(&p, GA_FLOAT16, 4096, SHAPE(1024, 512), NULL);
    add(&p, GA_FLOAT16, 1 << 20, SHAPE(1024, 512), STRIDES(1, 1024));
    add(&p, GA_FLOAT16, 1 << 21, SHAPE(1024, 1), NULL);
    assert_int_equal(plan_it(&p)->head.square, 0);
}

/* ---- Rows that are no whole vectors ---- */

static void rows_of_any_length_move_in_vectors(void **state)
{
    (void)state;
    planned p;
    for (int64_t width = 17; width < 2000; width += 1 + width / 5) {
        start(&p, 90);
        add(&p, GA_INT8, 4096, SHAPE(1000, width), NULL);
        add(&p, GA_INT8, 1 << 20, SHAPE(1000, width), NULL);
        add(&p, GA_INT8, 1 << 22, SHAPE(1000, 1), NULL); /* a column */
        const ga__elementwise_plan *q = plan_it(&p);
        assert_int_equal(q->head.lanes, 16);
        if (width % 16 == 0)
            continue;
        assert_true(q->head.tiled && q->tile.nstages == 0 && q->tile.run == 2);
        assert_int_equal(q->move[q->place[0]], GA__MOVE_DENSE);
        assert_int_equal(q->move[q->place[1]], GA__MOVE_DENSE);
        assert_int_equal(q->move[q->place[2]], GA__MOVE_PAIR);
        start(&p, 90);
        add(&p, GA_INT8, 4096, SHAPE(1000, width), NULL);
        add(&p, GA_INT8, 1 << 20, SHAPE(1000, width), NULL);
        add(&p, GA_INT8, 1 << 22, SHAPE(width), NULL); /* a row: in shared memory if it is short */
        q = plan_it(&p);
        assert_true(q->head.tiled && q->tile.run == 2);
        assert_int_equal(q->tile.nstages, 0);
        assert_int_equal(q->move[q->place[1]], GA__MOVE_DENSE);
        assert_int_equal(q->move[q->place[2]],
                         width <= GA__RING_BYTES ? GA__MOVE_RING : GA__MOVE_ROW);
    }
}

/* ---- On the host ---- */

static void host_blocks_are_of_a_worthwhile_size(void **state)
{
    (void)state;
    planned p;
    start(&p, 0);
    add(&p, GA_FLOAT32, 4096, SHAPE(1000), NULL);
    const ga__elementwise_plan *q = plan_it(&p);
    assert_true(q->head.host && q->head.wide && q->head.lanes == 1);
    assert_int_equal(q->chunk, 1 << 15);
    assert_int_equal(q->grid, 1);
    start(&p, 0);
    add(&p, GA_FLOAT32, 4096, SHAPE(100000), NULL);
    q = plan_it(&p);
    assert_int_equal(q->chunk, 1 << 15);
    assert_int_equal(q->grid, 4); /* the last one is partial */
    start(&p, 0);
    add(&p, GA_FLOAT32, 4096, SHAPE(1 << 30), NULL);
    q = plan_it(&p);
    assert_int_equal(q->chunk % 4096, 0);
    assert_true(q->grid <= PROCESSORS * 16 && q->grid > PROCESSORS * 12);
}

/* The offset of operand `place` at row `row` of the nest's axes from the second on. */
static int64_t row_offset(const ga__elementwise_plan *q, int place, int64_t row)
{
    int64_t offset = 0;
    for (int axis = 1; axis < q->nest.ndim; axis++) {
        offset += row % q->nest.shape[axis] * q->nest.strides[place][axis];
        row /= q->nest.shape[axis];
    }
    return offset;
}

/* Blocks are whole panels of whole rows, which fit; what stays in place has no gaps, and what is
 * filled once is the same in all panels. */
static void check_panels(const planned *p, const ga__elementwise_plan *q)
{
    const int64_t length = q->nest.shape[0], rows = q->n / length;
    size_t widest = 0;
    for (int k = 0; k < q->noperands; k++)
        widest = ga_dtype_size(p->x[k].dtype) > widest ? ga_dtype_size(p->x[k].dtype) : widest;
    assert_true(q->head.host && q->head.pads && q->nest.ndim > 1 && !q->head.tiled);
    assert_true(q->panel > 0 && q->panel * length * (int64_t)widest <= GA__HOST_PANEL);
    assert_int_equal(q->chunk % q->panel, 0);
    assert_true(q->grid * q->chunk >= rows && (q->grid - 1) * q->chunk < rows);
    for (int place = 0; place < q->nest.noperands; place++)
        for (int64_t row = 0; row < rows && row < 4 * q->panel; row++) {
            const int64_t at = row_offset(q, place, row);
            assert_true(q->panelled[place] ||
                        (at == row * length && q->nest.strides[place][0] == 1));
            assert_true(!q->once[place] || row < q->panel ||
                        at == row_offset(q, place, row - q->panel));
        }
}

/* A matrix and a row that its rows share, or a window of a matrix. */
static const ga__elementwise_plan *plan_rows(planned *p, ga_dtype dtype, int processors,
                                             int64_t rows, int64_t length, bool window)
{
    start(p, 0);
    p->device.processors = processors;
    add(p, dtype, 4096, SHAPE(rows, length), NULL);
    if (window)
        add(p, dtype, 1 << 20, SHAPE(rows, length), STRIDES(length + 2, 1));
    else
        add(p, dtype, 1 << 20, SHAPE(length), NULL);
    return plan_it(p);
}

static void short_rows_come_in_panels(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};
    static const int processors[] = {1, 2, 3, 16, PROCESSORS};
    planned p;
    uint64_t seed = 5;
    for (int64_t length = 2; length < 300; length++)
        for (int k = 0; k < 25; k++) {
            const ga_dtype dtype = dtypes[k % 5];
            const int threads = processors[k / 5];
            const bool window = next_random(&seed) % 2;
            const int64_t rows = 2 + (int64_t)(next_random(&seed) % (UINT64_C(1) << k)),
                          bytes = length * (int64_t)ga_dtype_size(dtype);
            const ga__elementwise_plan *q = plan_rows(&p, dtype, threads, rows, length, window);
            assert_int_equal(q->head.panels, bytes <= 192);
            if (!q->head.panels)
                continue;
            check_panels(&p, q);
            assert_false(q->panelled[q->place[RESULT]]);
            assert_true(q->panelled[q->place[1]]);
            assert_int_equal(q->once[q->place[1]], !window || rows <= q->panel);
            assert_true(q->grid <= threads * 16 && (q->grid == 1 || q->chunk * length >= 1 << 15));
            assert_true(threads == 1 || rows * length < threads << 16 || q->grid >= threads);
        }
}

static void results_of_three_axes_stay_in_place(void **state)
{
    (void)state;
    planned p;
    start(&p, 0);
    add(&p, GA_FLOAT32, 4096, SHAPE(500, 3, 5), NULL);
    add(&p, GA_FLOAT32, 1 << 20, SHAPE(500, 1, 5), NULL);
    const ga__elementwise_plan *q = plan_it(&p);
    assert_true(q->head.panels && q->nest.ndim == 3);
    assert_false(q->panelled[q->place[RESULT]]);
    assert_true(q->panelled[q->place[1]]);
}

static void rows_of_equal_elements_are_shorter(void **state)
{
    (void)state;
    planned p;
    for (int64_t length = 2; length < 60; length++) {
        start(&p, 0);
        add(&p, GA_FLOAT32, 4096, SHAPE(5000, length), NULL);
        add(&p, GA_FLOAT32, 1 << 20, SHAPE(5000, 1), NULL);
        const ga__elementwise_plan *q = plan_it(&p);
        assert_int_equal(q->head.panels, length <= 32);
        assert_true(!q->head.panels || (q->panelled[q->place[1]] && !q->once[q->place[1]]));
    }
}

/* Lines of the results belong to one panel, where these have room for as many rows. */
static void panels_are_whole_lines(void **state)
{
    (void)state;
    planned p;
    for (int64_t length = 2; length <= 24; length++)
        assert_int_equal(plan_rows(&p, GA_FLOAT64, 16, 100000, length, false)->panel % 8, 0);
    for (int64_t length = 2; length <= 128; length++)
        assert_int_equal(plan_rows(&p, GA_INT8, 16, 100000, length, false)->panel % 64, 0);
}

/* Operands that pass through panels are loaded from the cache, and results stored there. */
static void short_rows_in_place_go_past_the_cache(void **state)
{
    (void)state;
    planned p;
    assert_true(plan_rows(&p, GA_FLOAT32, 2, 1 << 22, 7, true)->head.past_cache);
    assert_true(plan_rows(&p, GA_FLOAT32, 2, 1 << 22, 7, false)->head.past_cache);
    assert_false(plan_rows(&p, GA_FLOAT32, 2, 1 << 16, 7, false)->head.past_cache);
    assert_true(plan_rows(&p, GA_FLOAT32, 2, 1 << 22, 7, false)->head.panels);
    p.strides[RESULT][0] += 4;
    p.x[RESULT].contiguous = false;
    assert_true(plan_it(&p)->head.panels);
    assert_false(plan_it(&p)->head.past_cache);
}

/* Others than the engine's own loads and stores, elements in an order or at places that matter. */
static void other_short_rows_come_one_by_one(void **state)
{
    (void)state;
    planned p;
    for (int why = 0; why < 5; why++) {
        assert_true(plan_rows(&p, GA_FLOAT32, 2, 1000, 7, true)->head.panels);
        p.operands[1].access = why == 0 ? GA__PLACED : GA__VALUE;
        p.formula.ordered = why == 1;
        p.formula.heavy = why == 2;
        p.formula.user_text = p.formula.uses_index = why == 3;
        if (why == 4) { /* indices do not follow each other in a turned result */
            p.formula.uses_index = true;
            p.x[RESULT].contiguous = false;
            p.shape[RESULT][0] = p.shape[1][0] = 7, p.strides[RESULT][0] = 4;
            p.shape[RESULT][1] = p.shape[1][1] = 1000, p.strides[RESULT][1] = 28;
        }
        assert_false(plan_it(&p)->head.panels);
    }
}

static void results_go_past_the_cache_only_in_whole_strips_and_not_in_place(void **state)
{
    (void)state;
    const int64_t n = 1 << 28;
    planned p;
    start(&p, 0);
    add(&p, GA_FLOAT32, 4096, SHAPE(n), NULL);
    add(&p, GA_FLOAT32, 8192, SHAPE(n), NULL);
    assert_true(plan_it(&p)->head.past_cache);
    for (int why = 0; why < 6; why++) {
        start(&p, 0);
        add(&p, GA_FLOAT32, 4096, SHAPE(why == 1 ? 1 << 20 : n / 128, why == 1 ? 1 : 128), NULL);
        ga__operand *x = add(&p, GA_FLOAT32, why == 0 ? 4096 : 8192, p.x[0].ndim, p.shape[0],
                             why == 2 ? STRIDES(256, 2) : NULL);
        if (why == 3)
            x->access = GA__ACCESSOR; /* has unlimited extent */
        p.formula.user_text = p.formula.uses_index = why == 4;
        if (why == 5)
            p.strides[RESULT][0] *= 2, p.x[RESULT].contiguous = false; /* rows of 128 */
        assert_false(plan_it(&p)->head.past_cache);
    }
    for (int64_t stride = -1; stride <= 1; stride++) { /* reversed, repeated, in order */
        start(&p, 0);
        add(&p, GA_FLOAT32, 4096, SHAPE(n), NULL);
        add(&p, GA_FLOAT32, 8192, SHAPE(n), STRIDES(stride));
        assert_int_equal(plan_it(&p)->head.past_cache, stride >= 0);
    }
}

static void only_texts_that_cannot_tell_are_given_more_elements(void **state)
{
    (void)state;
    planned p;
    start(&p, 0);
    ga__operand *x =
        (add(&p, GA_FLOAT32, 4096, SHAPE(100), NULL), add(&p, GA_FLOAT32, 8192, SHAPE(100), NULL));
    assert_true(plan_it(&p)->head.pads);
    p.formula.uses_index = true; /* the cost of our own text is known */
    assert_true(plan_it(&p)->head.pads);
    p.formula.user_text = true;
    assert_false(plan_it(&p)->head.pads);
    p.formula.uses_index = false;
    assert_true(plan_it(&p)->head.pads);
    x->access = GA__ACCESSOR;
    assert_false(plan_it(&p)->head.pads);
}

/* ---- Any call ---- */

/* An array of any layout over a part of the shape's last axes, some of them repeated. */
static void add_any(planned *p, uint64_t *seed, int ndim, const int64_t *shape)
{
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};
    const ga_dtype dtype = dtypes[next_random(seed) % 5];
    const bool result = p->plan.noperands == RESULT;
    int64_t of[GA_MAX_NDIM], strides[GA_MAX_NDIM], next = 1;
    int order[GA_MAX_NDIM];
    const int from =
        result || next_random(seed) % 4 ? 0 : (int)(next_random(seed) % (uint64_t)ndim);
    const int own = ndim - from;
    for (int axis = 0; axis < own; axis++) {
        of[axis] = result || next_random(seed) % 6 ? shape[from + axis] : 1;
        order[axis] = own - 1 - axis;
    }
    if (next_random(seed) % 2) { /* the axes in any order */
        const int a = (int)(next_random(seed) % (uint64_t)own), b = order[0];
        order[0] = order[a];
        order[a] = b;
    }
    for (int k = 0; k < own; k++) {
        next *= next_random(seed) % 8 ? 1 : 1 + (int64_t)(next_random(seed) % 8);
        strides[order[k]] = next_random(seed) % 8 ? next : -next;
        next *= of[order[k]];
    }
    const uint64_t skipped = next_random(seed) % 4 ? 0 : next_random(seed) % 8;
    const uintptr_t at = (1 << 20) + skipped * ga_dtype_size(dtype);
    add(p, dtype, at, own, of, strides);
}

/* The offset of operand k for the coordinates of the result, from axis 0 (the last) on. */
static int64_t offset_of(const planned *p, int k, int ndim, const int64_t *at)
{
    const gpuarray *x = &p->x[k];
    int64_t offset = 0;
    for (int axis = 0; axis < x->ndim; axis++)
        if (x->shape[axis] > 1)
            offset += at[ndim - x->ndim + axis] * x->strides[axis];
    return offset / (int64_t)ga_dtype_size(x->dtype);
}

enum { LARGEST = 4096 };

/* The position of each operand at each of the result's elements, found by the result's offset
 * there. */
static void check_nest(const planned *p, const ga__elementwise_plan *q)
{
    static int64_t wanted[LARGEST][MOST];
    static int64_t results[LARGEST];
    const gpuarray *r = &p->x[RESULT];
    int64_t at[GA_MAX_NDIM] = {0}, met = 0;
    for (int64_t i = 0; i < q->n; i++) {
        for (int k = 0; k < q->noperands; k++)
            wanted[i][k] = offset_of(p, k, r->ndim, at);
        results[i] = wanted[i][RESULT];
        for (int axis = r->ndim - 1; axis >= 0 && ++at[axis] == r->shape[axis]; axis--)
            at[axis] = 0;
    }
    int64_t place[GA_MAX_NDIM] = {0};
    for (int64_t i = 0; i < q->n; i++) {
        int64_t got[MOST] = {0}, k = 0;
        for (int operand = 0; operand < q->noperands; operand++)
            for (int axis = 0; axis < q->nest.ndim; axis++)
                got[operand] += place[axis] * q->nest.strides[q->place[operand]][axis];
        while (k < q->n && results[k] != got[RESULT])
            k++;
        assert_true(k < q->n); /* each element once: a result's elements are all distinct */
        results[k] = INT64_MIN;
        assert_memory_equal(got, wanted[k], sizeof *got * (size_t)q->noperands);
        met++;
        for (int axis = 0; axis < q->nest.ndim && ++place[axis] == q->nest.shape[axis]; axis++)
            place[axis] = 0;
    }
    assert_int_equal(met, q->n);
}

/* Each vector is one access: at its first element, on axis 0 or on a transposed operand's own fast
 * axis. Tiles move vectors at any address. */
static void check_vectors(const planned *p, const ga__elementwise_plan *q)
{
    for (int k = 0; k < q->noperands && q->head.lanes > 1 && (q->head.square || !q->head.tiled);
         k++) {
        const int place = q->place[k], near = q->transposed[place] ? 1 : 0;
        const int64_t *strides = q->nest.strides[place];
        const size_t bytes = ga_dtype_size(p->x[k].dtype) * (size_t)q->head.lanes;
        assert_true(k != RESULT || strides[near] == 1);
        assert_true(strides[near] == 0 || strides[near] == 1);
        if (strides[near] == 0)
            continue;
        assert_true(bytes <= 16);
        assert_int_equal((uintptr_t)p->x[k].data % bytes, 0);
        for (int axis = 0; axis < q->nest.ndim; axis++)
            assert_true(axis == near || strides[axis] % q->head.lanes == 0);
        assert_true(q->head.tail || q->nest.shape[near] % q->head.lanes == 0);
    }
}

/* The tiles cover each axis, and the part of the run whose stretches begin early; stages hold what
 * their tiles read, without overlap. */
static void check_tiles(const ga__elementwise_plan *q)
{
    const ga__tile *t = &q->tile;
    int64_t grid = 1;
    for (int axis = 0; axis < q->nest.ndim; axis++) {
        grid *= t->tiles[axis];
        if (axis >= t->run)
            assert_true(t->extent[axis] * t->tiles[axis] >= q->nest.shape[axis]);
    }
    assert_int_equal(q->grid, grid);
    assert_true(t->tiles[t->run - 1] * t->part >= t->total + t->spare);
    assert_true((t->tiles[t->run - 1] - 1) * t->part < t->total + t->spare);
    assert_true((int64_t)t->vectors * q->head.lanes >= t->part);
    assert_true(t->turns << t->across >= t->vectors);
    assert_true(t->ids >= t->vectors * t->stretches);
    assert_true(t->shared <= SHARED / 2);
    for (int k = 0; k < t->nstages; k++)
        for (int axis = 0; axis < q->nest.ndim; axis++) {
            const int64_t stride = q->nest.strides[t->stage[k].place][axis] * t->stage[k].size;
            assert_int_equal((t->stage[k].step[axis] - stride) % 16, 0);
        }
}

/* The squares of all transposed operands fit shared memory, and each thread has whole vectors. */
static void check_squares(const planned *p, const ga__elementwise_plan *q)
{
    size_t shared = 0;
    for (int k = 0; k < q->noperands; k++)
        if (q->transposed[q->place[k]])
            shared +=
                ga_dtype_size(p->x[k].dtype) * (size_t)(q->head.square * (q->head.square + 1));
    assert_true(shared > 0 && shared <= 48 << 10);
    assert_int_equal(q->head.square * q->head.square % (q->head.block * q->head.lanes), 0);
    assert_true(q->nest.shape[0] >= q->head.square && q->nest.shape[1] >= q->head.square);
}

static void check_blocks(const planned *p, const ga__elementwise_plan *q)
{
    if (q->head.panels) {
        check_panels(p, q);
    } else if (q->head.host && !q->head.tiled) {
        assert_true(q->grid * q->chunk >= q->n && (q->grid - 1) * q->chunk < q->n);
    } else if (!q->head.host && !q->head.tiled) {
        const int64_t each = (int64_t)q->head.block * q->head.unroll;
        assert_true(q->grid * each >= q->vectors);
        assert_true(q->grid == 0 || (q->grid - 1) * each < q->vectors);
        assert_int_equal(q->vectors, q->n / q->head.lanes);
        assert_true(q->head.tail || q->vectors * q->head.lanes == q->n);
        assert_true(!q->head.tail ||
                    q->n % q->head.lanes < q->head.block); /* by the first block's threads */
        assert_true(q->grid > 0);
    } else if (q->head.square) {
        check_squares(p, q);
    } else if (!q->head.host) {
        check_tiles(q);
    }
}

static void any_call_is_covered(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int kinds[2][3] = {{0}}; /* single elements, vectors, tiles */
    const int rounds = getenv("QUARRY_TEST_REDUCED") ? 2000 : 8000;
    for (int round = 0; round < rounds; round++) {
        planned p;
        int64_t shape[4], n = 1;
        const int ndim = 1 + (int)(next_random(&seed) % 4);
        start(&p, next_random(&seed) % 3 ? 90 : 0);
        for (int axis = 0; axis < ndim; axis++) {
            const uint64_t most = UINT64_C(2) << next_random(&seed) % 8;
            shape[axis] = 1 + (int64_t)(next_random(&seed) % most);
            shape[axis] = next_random(&seed) % 2 ? shape[axis] : (shape[axis] + 3) / 4 * 4;
            while (n * shape[axis] > LARGEST)
                shape[axis] = (shape[axis] + 1) / 2;
            n *= shape[axis];
        }
        for (int count = 2 + (int)(next_random(&seed) % 3); count > 0; count--)
            add_any(&p, &seed, ndim, shape);
        const ga__elementwise_plan *q = plan_it(&p);
        if (round % 8 == 0)
            check_nest(&p, q);
        check_vectors(&p, q);
        check_blocks(&p, q);
        kinds[q->head.host][q->head.tiled ? 2 : q->head.lanes > 1]++;
    }
    assert_true(kinds[0][0] > rounds / 16 && kinds[0][1] > rounds / 27 &&
                kinds[0][2] > rounds / 160);
    assert_true(kinds[1][0] > rounds / 16 && kinds[1][1] == 0 && kinds[1][2] > rounds / 400);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguous_elements_move_16_bytes_at_a_time),
        cmocka_unit_test(vectors_start_where_a_load_can),
        cmocka_unit_test(rows_hold_whole_vectors),
        cmocka_unit_test(repeated_elements_need_no_address),
        cmocka_unit_test(elements_without_vectors_are_one_by_one),
        cmocka_unit_test(elements_that_the_body_loads_are_in_no_vector),
        cmocka_unit_test(structs_of_odd_sizes_move_one_by_one),
        cmocka_unit_test(formulas_that_pay_take_several_vectors_a_thread),
        cmocka_unit_test(threads_that_read_little_store_several_vectors),
        cmocka_unit_test(elements_that_the_body_finds_move_in_vectors),
        cmocka_unit_test(other_elements_move_singly),
        cmocka_unit_test(turns_of_long_rows_fit_an_int),
        cmocka_unit_test(threads_walk_down_rows_that_share_operands),
        cmocka_unit_test(other_rows_are_not_walked_down),
        cmocka_unit_test(indices_are_as_wide_as_any_operand_needs),
        cmocka_unit_test(arrays_that_are_indexed_freely_count_by_their_size),
        cmocka_unit_test(tiles_have_long_stretches_on_both_sides),
        cmocka_unit_test(narrow_arrays_have_one_stretch),
        cmocka_unit_test(neighbours_are_in_all_banks),
        cmocka_unit_test(stages_fit_and_share_an_axis),
        cmocka_unit_test(stages_of_short_stretches_fit),
        cmocka_unit_test(round_transposes_go_through_squares),
        cmocka_unit_test(other_transposes_go_through_tiles),
        cmocka_unit_test(squares_fit_shared_memory),
        cmocka_unit_test(rows_of_any_length_move_in_vectors),
        cmocka_unit_test(host_blocks_are_of_a_worthwhile_size),
        cmocka_unit_test(short_rows_come_in_panels),
        cmocka_unit_test(results_of_three_axes_stay_in_place),
        cmocka_unit_test(rows_of_equal_elements_are_shorter),
        cmocka_unit_test(panels_are_whole_lines),
        cmocka_unit_test(short_rows_in_place_go_past_the_cache),
        cmocka_unit_test(other_short_rows_come_one_by_one),
        cmocka_unit_test(results_go_past_the_cache_only_in_whole_strips_and_not_in_place),
        cmocka_unit_test(only_texts_that_cannot_tell_are_given_more_elements),
        cmocka_unit_test(any_call_is_covered),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
