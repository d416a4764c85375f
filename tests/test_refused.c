/* Calls that are refused while a graph is recorded leave nothing in it: they take no memory of the
 * graph, and it keeps none of their operands. */
#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "device/buffer.h"
#include "device/context.h"
#include "reductions.h"
#include "run.h"

/* The operands of the calls. */
static gpuarray *x, *turned, *empty, *flat, *wide, *narrow, *numbers, *offsets, *halves, *choices,
    *rough;
static gpuarray **const operands[] = {&x,       &turned,  &empty,  &flat,    &wide, &narrow,
                                      &numbers, &offsets, &halves, &choices, &rough};
enum { OPERANDS = sizeof operands / sizeof *operands };

static size_t memory;
static int references[OPERANDS];

static size_t used(void)
{
    ga_memory_stats stats = {0};
    assert_int_equal(ga_memory_info(NULL, &stats), GA_OK);
    return stats.used;
}

/* All references to the memory. */
static int references_to(const gpuarray *array)
{
    return __atomic_load_n(&array->buffer->references, __ATOMIC_RELAXED);
}

/* With checks for NaN or without. */
static int make_operands(bool checks)
{
    ga_clear_error();
    assert_non_null(ga_current_device()); /* reads QUARRY_CHECK when it opens */
    x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4));
    turned = ga_transpose(x);
    empty = ga_zeros(GA_FLOAT32, GA_SHAPE(2, 0, 3));
    flat = ga_zeros(GA_FLOAT64, GA_SHAPE(0));
    wide = ga_zeros(GA_FLOAT64, GA_SHAPE(7));
    narrow = ga_zeros(GA_BOOL, GA_SHAPE(3));
    numbers = ga_zeros(GA_INT32, GA_SHAPE(4));
    offsets = ga_arange(GA_INT64, 0, 3, 1);
    halves = ga_zeros(GA_FLOAT32, GA_SHAPE(2));
    choices = ga_zeros(GA_INT64, GA_SHAPE(3, 4));
    rough = ga_zeros(GA_COMPLEX64, GA_SHAPE(3, 4));
    ga__check_nan = checks;
    return 0;
}

static int plain(void **state)
{
    (void)state;
    return make_operands(false);
}

static int checked(void **state)
{
    (void)state;
    return make_operands(true);
}

static void record(void)
{
    assert_int_equal(ga_graph_begin(), GA_OK);
    memory = used();
    for (int k = 0; k < OPERANDS; k++)
        references[k] = references_to(*operands[k]);
}

static int finish(void **state)
{
    (void)state;
    ga__check_nan = false;
    ga_clear_error();
    ga_graph_free(ga_graph_end());
    ga_clear_error();
    for (int k = 0; k < OPERANDS; k++)
        ga_free(*operands[k]);
    return 0;
}

/* Asserts that the call failed and left nothing, and clears its error. */
static void expect_nothing(bool refused, const char *call, int line)
{
    if (!refused || ga_error() == GA_OK)
        fail_msg("line %d: %s is not refused", line, call);
    if (used() != memory)
        fail_msg("line %d: %s: the graph has %zu bytes, wanted %zu", line, call, used(), memory);
    for (int k = 0; k < OPERANDS; k++)
        if (references_to(*operands[k]) != references[k])
            fail_msg("line %d: %s: operand %d has %d references, wanted %d", line, call, k,
                     references_to(*operands[k]), references[k]);
    ga_clear_error();
}
#define REFUSED(call) expect_nothing(!(call), #call, __LINE__)
#define REFUSED_INTO(call) expect_nothing((call) != GA_OK, #call, __LINE__)

/* The same for a reduction, whose rows give calls their names. */
static void refuse(const named_reduction *r, ga_reduce_args args, int line)
{
    expect_nothing(!r->call(sizeof args, &args), r->name, line);
}
#define REFUSED_AS(r, ...) refuse(r, (ga_reduce_args){__VA_ARGS__}, __LINE__)

static void reductions_leave_nothing(void **state)
{
    static const int past[] = {2}, twice[] = {0, 0}, first[] = {0};
    (void)state;
    record();
    for (const named_reduction *r = reductions; r->name; r++) {
        REFUSED_AS(r, .x = NULL);
        REFUSED_AS(r, .x = x, .naxes = 1, .axes = past);
        REFUSED_AS(r, .x = x, .naxes = 2, .axes = twice);
        REFUSED_AS(r, .x = x, .out = x);
        REFUSED_AS(r, .x = x, .naxes = 1, .axes = first, .out = wide);
        REFUSED_AS(r, .x = turned, .naxes = 1, .axes = first, .out = turned);
        REFUSED_AS(r, .x = x, .dtype = (ga_dtype)99);
        REFUSED_AS(r, .x = x, .where = narrow);
        REFUSED_AS(r, .x = x, .offsets = halves);
        REFUSED_AS(r, .x = x, .naxes = 1, .axes = first, .offsets = halves);
        REFUSED_AS(r, .x = x, .naxes = 1, .axes = first, .offsets = x);
        REFUSED_AS(r, .x = x, .naxes = 1, .axes = first, .offsets = offsets, .out = wide);
        REFUSED_AS(r, .x = x, .where = narrow, .offsets = offsets);
    }
}

static void extremes_of_nothing_leave_nothing(void **state)
{
    static const char *const names[] = {"min", "max", "ptp", "argmin", "argmax", "nanargmin"};
    static const int middle[] = {1};
    (void)state;
    record();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const named_reduction r = {names[k], find_reduction(names[k])};
        REFUSED_AS(&r, .x = flat);
        REFUSED_AS(&r, .x = empty);
        REFUSED_AS(&r, .x = empty, .keepdims = true);
        REFUSED_AS(&r, .x = empty, .naxes = 1, .axes = middle);
        REFUSED_AS(&r, .x = flat, .out = flat);
    }
    REFUSED(ga_min(x, .where = narrow));
    REFUSED(ga_argmax(x, .initial = GA_V(3)));
    REFUSED(ga_eval("x + max(e)", GA(x), GA_NAMED("e", empty)));
    REFUSED(ga_eval("argmin(e, axis=1)", GA_NAMED("e", empty)));
    gpuarray *values = NULL;
    REFUSED_INTO(ga_mode(empty, &values, NULL, GA_AXIS(1)));
    REFUSED_INTO(ga_topk(empty, 1, &values, NULL, GA_AXIS(1)));
    REFUSED(ga_quantile(empty, 0.5, GA_AXIS(1)));
    REFUSED(ga_median(turned, GA_AXIS(0), .out = wide));
    REFUSED(ga_partition(turned, 12, .flat = true));
    REFUSED(ga_argpartition(turned, -5, GA_AXIS(0)));
    assert_null(values);
}

static void scans_leave_nothing(void **state)
{
    (void)state;
    record();
    REFUSED(ga_cumsum(NULL));
    REFUSED(ga_cumsum(x, GA_AXIS(2)));
    REFUSED(ga_cumsum(turned, .out = wide));
    REFUSED(ga_cumsum(turned, .out = turned));
    REFUSED(ga_cumprod(turned, GA_AXIS(0), .out = numbers));
    REFUSED(ga_cumsum(turned, GA_AXIS(0), .offsets = halves));
    REFUSED(ga_cumsum(turned, .offsets = x));
    REFUSED(ga_cummax(x, GA_AXIS(1), .offsets = halves, .out = x));
    REFUSED(ga_cumsum(rough, .dtype = GA_FLOAT32));
}

static void elementwise_calls_leave_nothing(void **state)
{
    (void)state;
    record();
    REFUSED_INTO(ga_add_into(x, x, wide));
    REFUSED_INTO(ga_add_into(turned, turned, wide));
    REFUSED_INTO(ga_add_into(turned, turned, rough));
    REFUSED_INTO(ga_add_into(numbers, numbers, halves));
    REFUSED(ga_add(x, wide));
    REFUSED(ga_choose(choices, GA_ARRAYS(x, x), .mode = GA_CLIP, .out = wide));
    REFUSED(ga_choose(choices, GA_ARRAYS(x, x), .mode = GA_CLIP, .out = choices));
}

static void expressions_leave_nothing(void **state)
{
    (void)state;
    record();
    REFUSED(ga_eval("x + sqrt(x", GA(x)));
    REFUSED(ga_eval("sum(x) + y", GA(x)));
    REFUSED(ga_eval("sqrt(x) + max(x, axis=2)", GA(x)));
    REFUSED(ga_eval("sum(x) + wide + x", GA(x), GA(wide)));
    REFUSED_INTO(ga_eval_into(x, "sqrt(x", GA(x)));
    REFUSED_INTO(ga_eval_into(x, "sum(x, axis=0) + argmax(e)", GA(x), GA_NAMED("e", empty)));
    REFUSED_INTO(ga_eval_into(x, "wide + sum(x)", GA(x), GA(wide)));
    REFUSED_INTO(ga_eval_into(numbers, "numbers * 0.5", GA(numbers)));
    REFUSED_INTO(ga_eval_into(x, "sort(turned)", GA(turned)));
}

/* With a plan from before the recording, whose second kernel is the first to be refused. */
static void kept_plans_leave_nothing(void **state)
{
    gpuarray *e = ga_slice(wide, ":4");
    (void)state;
    gpuarray *places = ga_eval("argmax(x - sum(x)) + argmax(e)", GA(x), GA(e));
    gpuarray *sums = ga_eval("x - sum(x) + e", GA(x), GA(e));
    assert_true(places && sums);
    ga_free(places);
    ga_free(sums);
    ga_free(e);
    record();
    e = flat;
    REFUSED(ga_eval("argmax(x - sum(x)) + argmax(e)", GA(x), GA(e)));
    e = wide;
    REFUSED(ga_eval("x - sum(x) + e", GA(x), GA(e)));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define BOTH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, plain, finish),                                          \
        cmocka_unit_test_setup_teardown(test, checked, finish)
        BOTH(reductions_leave_nothing),  BOTH(extremes_of_nothing_leave_nothing),
        BOTH(scans_leave_nothing),       BOTH(elementwise_calls_leave_nothing),
        BOTH(expressions_leave_nothing), BOTH(kept_plans_leave_nothing),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
