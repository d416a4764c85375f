/* Fused rows: one kernel gives what the steps give, on the host and by CUDA's kernels, and calls of
 * other forms keep the steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "fused_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, LARGE = 132 };

#define EXP "exp(x - max(x, axis=1, keepdims=True))"

/* Expressions over the matrices x and y, the row g and the column v. */
static const char *const forms[] = {
    EXP " / sum(" EXP ", axis=1, keepdims=True)",
    "x - max(x, axis=1, keepdims=True) - log(sum(" EXP ", axis=1, keepdims=True))",
    "(x - mean(x, axis=1, keepdims=True)) / sqrt(var(x, axis=1, keepdims=True) + 1e-3) * g + 1",
    "x / sqrt(mean(x*x, axis=1, keepdims=True) + 1) * g",
    "(x - mean(x, axis=1, keepdims=True)) / std(x, axis=1, keepdims=True, ddof=1) + v",
    "log(sum(" EXP ", axis=1)) + max(x, axis=1)",
    "sum(y * (x - mean(x, axis=1, keepdims=True))**2, axis=1) / 100",
    "x * float32(argmax(x, axis=1, keepdims=True)) + y",
    "where(all(x > -50, axis=1, keepdims=True), x / (1 + max(y, axis=1, keepdims=True)), y)",
    "(x - min(x, axis=1, keepdims=True)) / (v + max(x, axis=1, keepdims=True))",
    "exp(x/50 - max(x/50, axis=1, keepdims=True)) / sum(exp(x/50 - max(x/50, axis=1, "
    "keepdims=True))"
    " * y, axis=1, keepdims=True)",
    EXP " / sum(" EXP ", axis=1, keepdims=True) + x * y", /* the last pass reads x again */
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- The same by the steps ---- */

/* One form over the matrices, fused and by the steps. */
static void check_form(const char *text, const char *what, const gpuarray *x, const gpuarray *y,
                       const gpuarray *g, const gpuarray *v, bool wanted)
{
    const ga_named names[] = {GA(x), GA(y), GA(g), GA(v)};
    const gpuarray *p = backwards(x), *q = backwards(y);
    const ga_named others[] = {GA_NAMED("x", p), GA_NAMED("y", q), GA(g), GA(v)};
    if (fuses("rows", text, 4, names) != wanted)
        fail_msg("%s, %s: wanted%s one kernel", text, what, wanted ? "" : " not");
    assert_false(fuses("rows", text, 4, others));
    expect_same(text, what, (ga_eval)(text, 4, names), (ga_eval)(text, 4, others));
}

/* Rows of this form that are one reduction: long_rows_of_one_step_are_reduced() has the limits. */
static bool is_one_reduction(const char *text, ga_dtype dtype, int64_t length)
{
    const bool is_long =
        length * (int64_t)ga_dtype_size(dtype) > (dtype == GA_FLOAT64 ? 32768 : 65536);
    return text == forms[5] && is_long;
}

static void check_shape(const char *text, ga_dtype dtype, int64_t rows, int64_t length)
{
    char what[64], item[400];
    snprintf(what, sizeof what, "%s of %s", ga_dtype_name(dtype), ga_current_device());
    snprintf(item, sizeof item, "%s %s; %lld", text, what, (long long)length);
    if (!in_sample(item))
        return;
    GA_SCOPE {
        check_form(text, what, given(dtype, GA_SHAPE(rows, length), 1),
                   given(dtype, GA_SHAPE(rows, length), 2), given(dtype, GA_SHAPE(length), 3),
                   given(dtype, GA_SHAPE(rows, 1), 4), !is_one_reduction(text, dtype, length));
    }
}

/* Rows that do not fit a thread's registers are at least a quarter of a GPU's processors: fewer of
 * them keep the steps. */
static const int64_t shapes[][2] = {{70, 64}, {33, 65},   {40, 127},
                                    {9, 100}, {50, 1025}, {50, 3000}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static ga_dtype second_dtype(int shape)
{
    return shape % 2 ? GA_FLOAT64 : GA_FLOAT16;
}

static void every_form_as_the_steps(void **state)
{
    (void)state;
    for (int k = 0; k < FORMS; k++)
        for (int s = 0; s < SHAPES; s++) {
            check_shape(forms[k], GA_FLOAT32, shapes[s][0], shapes[s][1]);
            check_shape(forms[k], second_dtype(s), shapes[s][0], shapes[s][1]);
        }
}

/* Whether the form over such matrices is one kernel on a GPU with that number of processors. */
static bool fuses_on(int processors, const char *text, ga_dtype dtype, int64_t rows, int64_t length)
{
    bool fused = false;
    simulated_device.processors = processors;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        gpuarray *x = given(dtype, GA_SHAPE(rows, length), 1),
                 *y = given(dtype, GA_SHAPE(rows, length), 2),
                 *g = given(dtype, GA_SHAPE(length), 3), *v = given(dtype, GA_SHAPE(rows, 1), 4);
        const ga_named names[] = {GA(x), GA(y), GA(g), GA(v)};
        fused = fuses("rows", text, 4, names);
    }
    ga__use_device(NULL);
    simulated_device.processors = PROCESSORS;
    return fused;
}

/* Sums of exponentials join the maximum: one reduction, which long rows take. */
static void long_rows_of_one_step_are_reduced(void **state)
{
    (void)state;
    assert_true(fuses_on(PROCESSORS, forms[5], GA_FLOAT32, 9, 16000));
    assert_false(fuses_on(PROCESSORS, forms[5], GA_FLOAT32, 9, 17000));
    assert_true(fuses_on(PROCESSORS, forms[5], GA_FLOAT16, 9, 32000));
    assert_false(fuses_on(PROCESSORS, forms[5], GA_FLOAT16, 9, 33000));
    assert_true(fuses_on(PROCESSORS, forms[6], GA_FLOAT32, 9, 17000));
    /* Doubles also where a row leaves most registers of a large block empty. */
    assert_true(fuses_on(PROCESSORS, forms[5], GA_FLOAT64, 9, 4096));
    assert_false(fuses_on(PROCESSORS, forms[5], GA_FLOAT64, 9, 4097));
    assert_false(fuses_on(PROCESSORS, forms[5], GA_FLOAT64, 9, 6144));
    assert_true(fuses_on(PROCESSORS, forms[5], GA_FLOAT64, 9, 6145));
    assert_false(fuses_on(PROCESSORS, forms[5], GA_FLOAT64, 9, 8193));
    assert_true(fuses_on(PROCESSORS, forms[6], GA_FLOAT64, 9, 4097));
}

/* By the steps a softmax of halves reads its rows twice: clusters of many blocks do not repay that.
 * Other halves are read once more by the steps. */
static void few_blocks_share_rows_of_exponentials(void **state)
{
    (void)state;
    simulated_device.meets = true;
    assert_true(fuses_on(LARGE, forms[0], GA_FLOAT16, 3, 1200001));
    assert_false(fuses_on(LARGE, forms[0], GA_FLOAT16, 3, 2000003));
    assert_true(fuses_on(LARGE,
                         "x / (1 + max(x - min(x, axis=1, keepdims=True), axis=1, "
                         "keepdims=True))",
                         GA_FLOAT16, 3, 2000003));
    simulated_device.meets = false;
}

/* The threads and blocks of long rows of double: a softmax has two blocks of rows in shared memory,
 * norms have rows in registers. */
static void long_rows_of_doubles(void **state)
{
    static const struct {
        int form, length, threads;
        int blocks; /* of a multiprocessor */
    } cases[] = {{0, 9001, 512, 2}, {3, 1101, 128, 5}};
    enum { ROWS = 5 };
    (void)state;
    need_simulator();
    simulated_device.processors = 1;
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *const text = forms[cases[k].form];
        GA_SCOPE {
            const gpuarray *x = given(GA_FLOAT64, GA_SHAPE(ROWS, cases[k].length), k),
                           *g = ga_slice(x, "0");
            assert_non_null(ga_eval(text, GA(x), GA(g)));
        }
        if (simulated.last.grid != cases[k].blocks || simulated.last.block != cases[k].threads)
            fail_msg("%s, rows of %d: %d blocks of %d threads", text, cases[k].length,
                     (int)simulated.last.grid, (int)simulated.last.block);
        check_shape(text, GA_FLOAT64, ROWS, cases[k].length);
    }
    ga__use_device(NULL);
    simulated_device.processors = PROCESSORS;
}

/* Plans alone: nothing runs. */
static void large_gpus_fuse_the_same_forms(void **state)
{

    (void)state;
    for (int k = 0; k < FORMS; k++)
        for (int s = 0; s < SHAPES; s++)
            for (int second = 0; second < 2; second++) {
                const ga_dtype dtype = second ? second_dtype(s) : GA_FLOAT32;
                if (!fuses_on(LARGE, forms[k], dtype, shapes[s][0], shapes[s][1]))
                    fail_msg("%s, %s (%d, %d): wanted one kernel", forms[k], ga_dtype_name(dtype),
                             (int)shapes[s][0], (int)shapes[s][1]);
            }
    for (int rows = LARGE / 4 - 1; rows <= LARGE / 4; rows++) {
        assert_true(fuses_on(LARGE, forms[0], GA_FLOAT64, rows, 9000) == (rows == LARGE / 4));
        assert_true(fuses_on(LARGE, forms[0], GA_FLOAT64, rows, 1000));
        assert_true(fuses_on(PROCESSORS, forms[0], GA_FLOAT64, rows, 9000));
    }
}

/* Elements behind a row would be its greatest ones if they counted as zeros. */
static void pairs_end_with_the_row(void **state)
{
    static const int64_t lengths[] = {13, 35, 161};
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_BFLOAT16};
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < 6; k++)
        GA_SCOPE {
            const int64_t length = lengths[k / 2], rows = 40;
            const gpuarray *whole = given(dtypes[k % 2], GA_SHAPE(rows, length), 1),
                           *x = ga_subtract(whole, 20);
            check_form(forms[k % 4 < 2 ? 5 : 0], "rows of an odd length", x, x, ga_slice(x, "0"),
                       ga_slice(x, ":, :1"), true);
        }
}

/* CUDA's kernels: rows of whole vectors in registers, rows that pass through shared memory, rows
 * that warps read without it, rows that stay in shared memory,
 * and short rows of a thread. */
static void every_way_of_cuda(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t rows, length;
    } cases[] = {{GA_FLOAT32, 300, 16},  {GA_FLOAT32, 300, 17},  {GA_FLOAT32, 3, 1000},
                 {GA_FLOAT32, 5, 1025},  {GA_FLOAT32, 21, 9001}, {GA_FLOAT16, 130, 33},
                 {GA_FLOAT16, 2, 1027},  {GA_FLOAT64, 40, 31},   {GA_FLOAT16, 2, 20001},
                 {GA_FLOAT64, 3, 6000},  {GA_FLOAT32, 600, 5},   {GA_FLOAT16, 1000, 3},
                 {GA_FLOAT16, 700, 8},   {GA_FLOAT64, 300, 5},   {GA_FLOAT16, 130, 55},
                 {GA_FLOAT32, 3, 14001}, {GA_FLOAT16, 2, 30001}, {GA_FLOAT64, 3, 9001}};
    static const int some[] = {0, 2, 5, 7, FORMS - 1};
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t f = 0; f < sizeof some / sizeof *some; f++)
            check_shape(forms[some[f]], cases[k].dtype, cases[k].rows, cases[k].length);
}

/* Fewer short rows than a block has groups for: its threads read no further than its memory. */
static void few_short_rows(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t rows, length;
        int form;
    } cases[] = {{GA_FLOAT32, 1, 6, 0},
                 {GA_FLOAT32, 7, 3, 2},
                 {GA_FLOAT16, 2, 3, 0},
                 {GA_FLOAT16, 31, 7, 5},
                 {GA_FLOAT64, 5, 5, 0}};
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const size_t row = (size_t)cases[k].length * ga_dtype_size(cases[k].dtype);
        GA_SCOPE {
            const gpuarray *x = given(cases[k].dtype, GA_SHAPE(cases[k].rows, cases[k].length), k);
            assert_non_null(ga_eval(forms[cases[k].form], GA(x), GA_NAMED("g", 2.0)));
        }
        assert_true(simulated.last.shared >= (size_t)simulated.last.block * row);
        check_shape(forms[cases[k].form], cases[k].dtype, cases[k].rows, cases[k].length);
    }
}

/* Rows of a thread each, and several of them where there are many: their results take the place of
 * the operand. Rows of an odd length share words. */
static void threads_have_rows(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t rows, length;
        int form, team;
        bool several;
    } cases[] = {{GA_FLOAT16, 130, 17, 0, 1, false}, {GA_FLOAT16, 129, 63, 2, 1, false},
                 {GA_FLOAT32, 130, 25, 3, 1, false}, {GA_BFLOAT16, 3, 33, 0, 1, false},
                 {GA_FLOAT16, 4200, 19, 0, 1, true}, {GA_FLOAT16, 2100, 18, 2, 1, true},
                 {GA_FLOAT16, 2100, 35, 5, 1, true}, {GA_FLOAT32, 2100, 22, 0, 1, true},
                 {GA_FLOAT16, 2100, 21, 9, 1, true}, {GA_FLOAT16, 70, 65, 0, 2, false},
                 {GA_FLOAT32, 70, 31, 7, 2, false},  {GA_FLOAT16, 1100, 67, 0, 2, true},
                 {GA_FLOAT32, 1100, 35, 2, 2, true}, {GA_FLOAT16, 1100, 90, 3, 2, true}};
    (void)state;
    need_simulator();
    simulated_device.processors = 1;
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t rows = cases[k].rows, blocks = (rows * cases[k].team + 127) / 128;
        GA_SCOPE {
            const gpuarray *x = given(cases[k].dtype, GA_SHAPE(rows, cases[k].length), k);
            assert_non_null(ga_eval(forms[cases[k].form], GA(x), GA_NAMED("y", x),
                                    GA_NAMED("g", 2.0), GA_NAMED("v", 3.0)));
        }
        if (cases[k].several ? simulated.last.grid >= blocks : simulated.last.grid != blocks)
            fail_msg("%s, %d rows of %d: %d blocks of %d threads", forms[cases[k].form], (int)rows,
                     (int)cases[k].length, (int)simulated.last.grid, (int)simulated.last.block);
        check_shape(forms[cases[k].form], cases[k].dtype, rows, cases[k].length);
    }
    GA_SCOPE {
        const gpuarray *x = ga_slice(given(GA_FLOAT16, GA_SHAPE(2100, 24), 1), ":, 1:22");
        check_form(forms[0], "many rows of a window", x, x, ga_slice(x, "0"), ga_slice(x, ":, :1"),
                   true);
    }
    simulated_device.processors = PROCESSORS;
}

/* A form over rows of one element on the current device, which lie side by side or apart. */
static gpuarray *of_one_element(const char *text, ga_dtype dtype, bool apart)
{
    enum { ROWS = 2101 };
    gpuarray *whole = given(dtype, GA_SHAPE(ROWS, 3), 1), *g = ga_slice(whole, "0, 1:2"), *x;
    if (apart)
        x = ga_slice(whole, ":, 1:2");
    else
        x = ga_reshape(ga_slice(ga_ravel(whole), ":%d", ROWS), GA_SHAPE(ROWS, 1));
    return ga_eval(text, GA(x), GA_NAMED("y", x), GA(g), GA_NAMED("v", x));
}

/* Rows of one element that lie side by side are groups of a thread, in whole vectors; others are
 * taken one by one. */
static void rows_of_one_element(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    static const int some[] = {0, 2, 4, 5};
    enum { TOGETHER = 128, ONE_BY_ONE = 256 }; /* threads of a block */
    (void)state;
    need_simulator();
    for (int k = 0; k < 24; k++)
        GA_SCOPE {
            const char *const text = forms[some[k / 6]];
            const gpuarray *wanted = of_one_element(text, dtypes[k / 2 % 3], k % 2);
            ga__use_device(&simulated_device);
            const gpuarray *got = of_one_element(text, dtypes[k / 2 % 3], k % 2);
            expect_same(text, "rows of one element", got, wanted);
            assert_int_equal(simulated.last.block, k % 2 ? ONE_BY_ONE : TOGETHER);
            ga__use_device(NULL);
        }
}

/* The moments of a row come with the sum that its mean needs: of the same elements alone, and an
 * infinite one if they are infinite. */
static void means_beside_variances(void **state)
{
    static const char others[] = "(x - mean(x, axis=1, keepdims=True)) / sqrt(var(y, axis=1, "
                                 "keepdims=True) + 1)",
                      infinite[] = "where(isnan(var(x, axis=1, keepdims=True)), "
                                   "mean(x, axis=1, keepdims=True), x)";
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    check_shape(others, GA_FLOAT32, 5, 300);
    GA_SCOPE {
        gpuarray *x = given(GA_FLOAT32, GA_SHAPE(3, 300), 1);
        assert_int_equal(ga_assign(ga_slice(x, "1, 7"), INFINITY), GA_OK);
        check_form(infinite, "an infinite element", x, x, ga_slice(x, "0"), ga_slice(x, ":, :1"),
                   true);
        const gpuarray *r = ga_eval(infinite, GA(x));
        assert_true(isinf(ga_item_double(r, 1, 9)));
    }
}

/* Rows with gaps between them: close ones pass through shared memory with their gaps. */
static void windows_of_cuda(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t rows, length, gap;
    } cases[] = {{GA_FLOAT32, 300, 3, 1},  {GA_FLOAT32, 300, 9, 8}, {GA_FLOAT32, 300, 9, 9},
                 {GA_FLOAT32, 90, 60, 3},  {GA_FLOAT32, 2, 50, 7},  {GA_FLOAT16, 300, 5, 16},
                 {GA_FLOAT16, 9, 1027, 5}, {GA_FLOAT64, 300, 7, 4}, {GA_FLOAT64, 40, 40, 5},
                 {GA_FLOAT16, 150, 46, 3}, {GA_FLOAT16, 300, 12, 1}};
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        GA_SCOPE {
            const ga_dtype dtype = cases[k].dtype;
            const int64_t rows = cases[k].rows, length = cases[k].length;
            gpuarray *whole = given(dtype, GA_SHAPE(rows, length + cases[k].gap), k + 1),
                     *x = ga_slice(whole, ":, 1:%lld", (long long)(length + 1)),
                     *y = ga_slice(whole, ":, :%lld", (long long)length);
            check_form(forms[k % 2 ? 8 : 0], "a window", x, y, given(dtype, GA_SHAPE(length), 3),
                       given(dtype, GA_SHAPE(rows, 1), 4), true);
        }
}

/* One kernel with as much shared memory as each row takes: about 48 KiB, the most, and less
 * again. */
static void rows_around_the_limits_of_shared_memory(void **state)
{
    static const int64_t lengths[] = {12261, 12272, 12280, 12284, 12290,
                                      56000, 40000, 56000, 60001};
    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        GA_SCOPE {
            const gpuarray *x = given(GA_FLOAT32, GA_SHAPE(3, lengths[k]), k + 1),
                           *p = backwards(x);
            expect_same(forms[0], "a long row", ga_eval(forms[0], GA(x)),
                        ga_eval(forms[0], GA_NAMED("x", p)));
        }
}

/* The longest rows that fit shared memory beside what the kernel has there by itself: the simulator
 * refuses a launch that exceeds it. */
static void the_longest_rows_of_cuda(void **state)
{
    static const int some[] = {0, 2, 10};
    (void)state;
    need_simulator();
    for (size_t f = 0; f < sizeof some / sizeof *some; f++) {
        const char *const text = forms[some[f]];
        int64_t fits = 1000, exceeds = 100000;
        while (exceeds - fits > 1) {
            const int64_t length = (fits + exceeds) / 2;
            *(fuses_on(PROCESSORS, text, GA_FLOAT32, 1, length) ? &fits : &exceeds) = length;
        }
        ga__use_device(&simulated_device);
        check_shape(text, GA_FLOAT32, 2, fits);
        ga__use_device(NULL);
    }
}

/* Several blocks share a row of each shape, and meet in memory. */
static void blocks_of_a_cluster_meet(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t rows, length;
        int form;
    } cases[] = {{GA_FLOAT32, 5, 25003, 0}, {GA_FLOAT32, 4, 25003, 2},  {GA_FLOAT32, 2, 25003, 7},
                 {GA_FLOAT32, 3, 25011, 6}, {GA_FLOAT16, 3, 100003, 0}, {GA_FLOAT16, 2, 100003, 2},
                 {GA_FLOAT64, 4, 26003, 2}, {GA_FLOAT64, 3, 13003, 6},  {GA_FLOAT32, 3, 25003, 3},
                 {GA_FLOAT16, 3, 100003, 3}};
    (void)state;
    need_simulator();
    simulated_device.meets = true;
    simulated_device.processors = 1;
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *const text = forms[cases[k].form];
        GA_SCOPE {
            const gpuarray *x = given(cases[k].dtype, GA_SHAPE(cases[k].rows, cases[k].length), k);
            assert_non_null(ga_eval(text, GA(x), GA_NAMED("y", x), GA_NAMED("g", 2.0)));
        }
        if (!simulated.last.together)
            fail_msg("%s of %s: no cluster", text, ga_dtype_name(cases[k].dtype));
        check_shape(text, cases[k].dtype, cases[k].rows, cases[k].length);
    }
    ga__use_device(NULL);
    simulated_device.processors = PROCESSORS;
    simulated_device.meets = false;
}

/* A view of rows that begin `before` elements after those of a wider matrix. */
static gpuarray *window(ga_dtype dtype, int64_t rows, int64_t length, int64_t before, uint64_t seed)
{
    char slice[64];
    snprintf(slice, sizeof slice, ":, %lld:%lld", (long long)before, (long long)(before + length));
    return ga_slice(given(dtype, GA_SHAPE(rows, length + 17), seed), slice);
}

/* Rows that one block or several share, of random lengths, at random places in memory. */
static void long_rows_at_any_place(void **state)
{
    enum { CALLS = 24, ELEMENTS = 1200000 };
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT16, GA_FLOAT64, GA_BFLOAT16};
    static const int some[] = {0, 1, 2, 3, 4, 7, 8, 9, 11};
    uint64_t random = run_seed();
    (void)state;
    for (int k = 0; k < CALLS; k++) {
        const ga_dtype dtype = dtypes[random_below(&random, 4)];
        const char *const text = forms[some[random_below(&random, 9)]];
        const int64_t length = (int64_t)exp2(12 + 7 * random_real(&random)),
                      most = ELEMENTS / length, rows = most < 36 ? most : 36;
        const int64_t before = random_below(&random, 17),
                      other = random_below(&random, 2) ? before : random_below(&random, 17);
        char item[400];
        snprintf(item, sizeof item, "%s %s: %lld rows of %lld from %lld and %lld", text,
                 ga_dtype_name(dtype), (long long)rows, (long long)length, (long long)before,
                 (long long)other);
        if (!in_sample(item))
            continue;
        GA_SCOPE {
            const gpuarray *x = window(dtype, rows, length, before, 1),
                           *y = window(dtype, rows, length, other, 2),
                           *g = given(dtype, GA_SHAPE(length), 3),
                           *v = given(dtype, GA_SHAPE(rows, 1), 4), *p = backwards(x),
                           *q = backwards(y);
            const ga_named names[] = {GA(x), GA(y), GA(g), GA(v)},
                           others[] = {GA_NAMED("x", p), GA_NAMED("y", q), GA(g), GA(v)};
            expect_same(text, item, (ga_eval)(text, 4, names), (ga_eval)(text, 4, others));
        }
    }
}

/* ---- Quotients ---- */

enum { QUOTIENT_ROWS = 64, QUOTIENTS = 64 }; /* of a row */

static double quotient_of(ga_dtype type, double x, double d)
{
    return type == GA_FLOAT32 ? (double)((float)x / (float)d) : x / d;
}

/* x / d by each row's divisor d, whatever it is: the sum of a row of d and zeros, or of d alone. */
static void check_quotients(ga_dtype type, const double *numbers, const double *divisors,
                            int64_t length)
{
    static const char text[] = "x / sum(y, axis=1, keepdims=True)";
    enum { COUNT = QUOTIENT_ROWS * QUOTIENTS };
    static double sums[COUNT], got[COUNT];
    for (int k = 0; k < COUNT; k++)
        sums[k] = k % length ? 0 : divisors[k / QUOTIENTS];
    GA_SCOPE {
        const int64_t shape[] = {COUNT / length, length};
        gpuarray *wide = ga_from_host(numbers, GA_FLOAT64, 2, shape),
                 *wide_sums = ga_from_host(sums, GA_FLOAT64, 2, shape), *x = ga_astype(wide, type),
                 *y = ga_astype(wide_sums, type);
        const ga_named names[] = {GA(x), GA(y)};
        assert_true(fuses("rows", text, 2, names));
        gpuarray *q = ga_astype((ga_eval)(text, 2, names), GA_FLOAT64);
        assert_int_equal(ga_to_host(q, got, sizeof got), GA_OK);
    }
    for (int k = 0; k < COUNT; k++) {
        const double d = divisors[k / QUOTIENTS] + 0.0, wanted = quotient_of(type, numbers[k], d);
        if (memcmp(&got[k], &wanted, 8) != 0 && !(isnan(got[k]) && isnan(wanted)))
            fail_msg("%s: %a / %a is %a, not %a", ga_dtype_name(type), numbers[k], d, got[k],
                     wanted);
    }
}

/* On the host, and on a simulated GPU. */
static void check_quotients_everywhere(ga_dtype type, const double *numbers, const double *divisors)
{
    check_quotients(type, numbers, divisors, QUOTIENTS);
    if (!on_host())
        return;
    ga__use_device(&simulated_device);
    check_quotients(type, numbers, divisors, QUOTIENTS);
    check_quotients(type, numbers, divisors, 1);
    ga__use_device(NULL);
}

/* Zero, of either sign, or a number of ordinary size. A row of those needs no division. */
static double ordinary(uint64_t bits, double least)
{
    const double sign = bits & 1 ? -1 : 1;
    return bits >> 1 & 7 ? sign * (double)(bits >> 11) * least : sign * 0.0;
}

/* Subnormal, infinite and other quotients have the division's bits, of either sign; so have those
 * halfway between two subnormal numbers. */
static void quotients_are_the_divisions(void **state)
{
    static const float special[] = {0,  INFINITY,  NAN, 0x1p-149f, 0x1.fffffep127f, 3,
                                    -3, 0x1p-126f, 1,   -INFINITY, -0x1.8p-130f};
    static double numbers[QUOTIENT_ROWS * QUOTIENTS], divisors[QUOTIENT_ROWS];
    uint64_t seed = 7;
    (void)state;
    for (int r = 0; r < QUOTIENT_ROWS; r++) {
        const int specials = sizeof special / sizeof *special;
        divisors[r] = r < specials
                          ? (double)special[r]
                          : (double)((float)(next_random(&seed) >> 33) * (r % 2 ? 0x1p-20f : -1));
        for (int k = 0; k < QUOTIENTS; k++) {
            uint32_t bits = (uint32_t)(next_random(&seed) >> 32);
            float x;
            if (k % 3 == 0)
                bits &= k % 2 ? 0x80000000u : 0x81ffffffu; /* zeros; quotients that underflow */
            memcpy(&x, &bits, sizeof x);
            if (k % 3 == 1)
                x = ((float)(bits % 1024) + 0.5f) * 0x1p-140f * (float)divisors[r];
            numbers[r * QUOTIENTS + k] =
                r % 4 < 2 ? (double)x : (double)(float)ordinary(next_random(&seed), 0x1p-50);
        }
    }
    check_quotients_everywhere(GA_FLOAT32, numbers, divisors);
}

static void quotients_of_doubles_are_the_divisions(void **state)
{
    static const double special[] = {
        0,         INFINITY, NAN,       0x1p-1074,   0x1.fffffffffffffp1023, 3, -3,
        0x1p-1022, 1,        -INFINITY, -0x1.8p-1030};
    static double numbers[QUOTIENT_ROWS * QUOTIENTS], divisors[QUOTIENT_ROWS];
    uint64_t seed = 13;
    (void)state;
    for (int r = 0; r < QUOTIENT_ROWS; r++) {
        const int specials = sizeof special / sizeof *special;
        divisors[r] = r < specials ? special[r]
                                   : ldexp((double)(int64_t)next_random(&seed),
                                           (int)(next_random(&seed) >> 32) % 300 - 150);
        for (int k = 0; k < QUOTIENTS; k++) {
            uint64_t bits = next_random(&seed);
            if (k % 4 == 0)
                bits &= k % 8 ? 0x8000000000000000u : 0x801fffffffffffffu;
            if (k % 4 == 1) /* a mantissa of few bits: quotients near the middle of two doubles */
                bits &= 0xbffff80000000000u;
            memcpy(&numbers[r * QUOTIENTS + k], &bits, 8);
            if (r % 4 >= 2)
                numbers[r * QUOTIENTS + k] = ordinary(next_random(&seed), 0x1p-50);
        }
    }
    check_quotients_everywhere(GA_FLOAT64, numbers, divisors);
}

/* Quotients of any two float16, those halfway between two subnormal ones too. */
static void quotients_of_halves_are_the_divisions(void **state)
{
    enum { ROWS = 64, LENGTH = 1027 };
    static const char text[] = "x / max(y, axis=1, keepdims=True)";
    static uint16_t numbers[ROWS * LENGTH], divisors[ROWS * LENGTH];
    static uint16_t got[ROWS * LENGTH], wanted[ROWS * LENGTH];
    static const uint16_t special[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x0001,
                                       0x8001, 0x03ff, 0x0400, 0x7bff, 0x3c00, 0xbc01};
    enum { SPECIAL = sizeof special / sizeof *special };
    uint64_t seed = 11;
    (void)state;
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < LENGTH; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            numbers[r * LENGTH + k] = k < SPECIAL ? special[k] : (uint16_t)(seed >> 40);
            if (k % 4 == 3)
                numbers[r * LENGTH + k] &= 0x87ff; /* quotients that underflow */
            divisors[r * LENGTH + k] = k > 0         ? divisors[r * LENGTH]
                                       : r < SPECIAL ? special[r]
                                                     : (uint16_t)(seed >> 33);
        }
    if (on_host())
        ga__use_device(&simulated_device);
    GA_SCOPE {
        gpuarray *x = ga_from_host(numbers, GA_FLOAT16, GA_SHAPE(ROWS, LENGTH)),
                 *y = ga_from_host(divisors, GA_FLOAT16, GA_SHAPE(ROWS, LENGTH)),
                 *wide = ga_divide(ga_astype(x, GA_FLOAT32), ga_astype(y, GA_FLOAT32));
        const ga_named names[] = {GA(x), GA(y)};
        assert_true(fuses("rows", text, 2, names));
        assert_int_equal(ga_to_host((ga_eval)(text, 2, names), got, sizeof got), GA_OK);
        assert_int_equal(ga_to_host(ga_astype(wide, GA_FLOAT16), wanted, sizeof wanted), GA_OK);
    }
    for (int k = 0; k < ROWS * LENGTH; k++)
        if (got[k] != wanted[k] && ((got[k] & 0x7fff) <= 0x7c00 || (wanted[k] & 0x7fff) <= 0x7c00))
            fail_msg("%#x / %#x is %#x, not %#x", (unsigned)numbers[k], (unsigned)divisors[k],
                     (unsigned)got[k], (unsigned)wanted[k]);
}

/* ---- Calls ---- */

static void results_go_where_they_are_told(void **state)
{
    const char *const text = forms[0];
    (void)state;
    GA_SCOPE {
        gpuarray *x = given(GA_FLOAT32, GA_SHAPE(30, 100), 9), *wanted = ga_eval(text, GA(x));
        gpuarray *own = ga_copy(x), *wide = ga_zeros(GA_FLOAT64, GA_SHAPE(30, 100)),
                 *gaps = ga_slice(ga_zeros(GA_FLOAT32, GA_SHAPE(30, 200)), ":, ::2"),
                 *all = ga_zeros(GA_FLOAT32, GA_SHAPE(31, 100)), *later = ga_slice(all, "1:");
        assert_int_equal(ga_eval_into(own, text, GA_NAMED("x", own)), GA_OK);
        expect_same(text, "in place", own, wanted);
        assert_int_equal(ga_eval_into(wide, text, GA(x)), GA_OK);
        expect_same(text, "into float64", ga_astype(wide, GA_FLOAT32), wanted);
        assert_int_equal(ga_eval_into(gaps, text, GA(x)), GA_OK);
        expect_same(text, "into a view", gaps, wanted);
        ga_assign(ga_slice(all, ":-1"), x);
        assert_int_equal(ga_eval_into(later, text, GA_NAMED("x", ga_slice(all, ":-1"))), GA_OK);
        expect_same(text, "into a part of the input", later, wanted);
        assert_int_equal(ga_eval_into(ga_empty(GA_FLOAT32, GA_SHAPE(30, 99)), text, GA(x)),
                         GA_ERR_SHAPE);
        ga_clear_error();
    }
}

/* One plan, and calls that fit it or not. */
static void expect_bits(const char *what, const gpuarray *got, const gpuarray *wanted)
{
    if (!ga_item_bool(ga_all(ga_equal(got, wanted))))
        fail_msg("%s: another result", what);
}

/* Launches whose blocks wait for each other, on two streams at once and in a graph. */
static void long_rows_on_streams_and_in_graphs(void **state)
{
    enum { ROWS = 5, LENGTH = 300007, ROUNDS = 8 };
    (void)state;
    ga_stream *streams[2] = {ga_stream_new(), ga_stream_new()};
    GA_SCOPE {
        gpuarray *x = given(GA_FLOAT32, GA_SHAPE(ROWS, LENGTH), 1), *out = ga_zeros_like(x);
        const gpuarray *wanted = ga_eval(forms[0], GA(x)), *got[ROUNDS];
        ga_graph *graph = NULL;
        for (int k = 0; k < ROUNDS; k++) {
            assert_int_equal(ga_set_stream(streams[k % 2]), GA_OK);
            got[k] = ga_eval(forms[0], GA(x));
        }
        ga_set_stream(NULL);
        for (int k = 0; k < ROUNDS; k++)
            expect_bits("two streams", got[k], wanted);
        GA_GRAPH(graph)
        ga_eval_into(out, forms[0], GA(x));
        for (int k = 0; k < 3; k++) {
            assert_int_equal(ga_assign(out, 0), GA_OK);
            assert_int_equal(ga_graph_launch(graph), GA_OK);
            expect_bits("a graph", out, wanted);
        }
        ga_graph_free(graph);
    }
    for (int s = 0; s < 2; s++)
        ga_stream_free(streams[s]);
}

static void other_calls_keep_the_steps(void **state)
{
    static const char text[] = "x - max(y, axis=1, keepdims=True)";
    (void)state;
    GA_SCOPE {
        gpuarray *x = given(GA_FLOAT32, GA_SHAPE(20, 90), 1),
                 *y = given(GA_FLOAT32, GA_SHAPE(20, 90), 2);
        gpuarray *row = ga_slice(y, ":1"), *column = ga_slice(y, ":, :1"),
                 *none = ga_slice(y, ":0"), *others[] = {y, row, column, ga_slice(y, ":, ::-1"), y};
        for (int k = 0; k < 5; k++) {
            const ga_named names[] = {GA(x), GA_NAMED("y", others[k])};
            assert_true(fuses("rows", text, 2, names) == (k == 0 || k == 4));
            expect_same(text, "another layout", (ga_eval)(text, 2, names),
                        ga_subtract(x, ga_max(others[k], GA_AXIS(1), .keepdims = true)));
        }
        gpuarray *nothing = ga_eval(text, GA_NAMED("x", none), GA_NAMED("y", none));
        assert_int_equal(ga_size(nothing), 0);
        gpuarray *short_rows = ga_slice(y, ":, :0");
        assert_null(ga_eval(text, GA_NAMED("x", short_rows), GA_NAMED("y", short_rows)));
        assert_int_equal(ga_error(), GA_ERR_INVALID);
        ga_clear_error();
    }
}

static int open_devices(void **state)
{
    (void)state;
    sample_on_gpu(3);
    return open_simulated_device(PROCESSORS) ? 0 : -1;
}

int main(int argc, char **argv)
{
    setenv("QUARRY_THREADS", "4", 1); /* the simulator runs as many blocks at once */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_as_the_steps),
        simulating_test(large_gpus_fuse_the_same_forms),
        simulating_test(long_rows_of_one_step_are_reduced),
        simulating_test(few_blocks_share_rows_of_exponentials),
        simulating_test(long_rows_of_doubles),
        simulating_test(every_way_of_cuda),
        slow_test_teardown(pairs_end_with_the_row, use_default_device),
        slow_test_teardown(threads_have_rows, use_default_device),
        slow_test_teardown(rows_of_one_element, use_default_device),
        simulating_test(means_beside_variances),
        slow_test_teardown(windows_of_cuda, use_default_device),
        simulating_test(few_short_rows),
        simulating_test(the_longest_rows_of_cuda),
        slow_test_teardown(blocks_of_a_cluster_meet, use_default_device),
        cmocka_unit_test(rows_around_the_limits_of_shared_memory),
        cmocka_unit_test(long_rows_at_any_place),
        simulating_test(quotients_are_the_divisions),
        simulating_test(quotients_of_doubles_are_the_divisions),
        simulating_test(quotients_of_halves_are_the_divisions),
        cmocka_unit_test(results_go_where_they_are_told),
        cmocka_unit_test(long_rows_on_streams_and_in_graphs),
        cmocka_unit_test(other_calls_keep_the_steps),
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
