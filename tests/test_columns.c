/* Fused columns: reductions along an axis whose neighbour is contiguous give what the steps give,
 * by one of CUDA's kernels, which the simulator runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "fused_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2 };

#define EXP "exp(x - max(x, axis=-2, keepdims=True))"

/* Expressions over x and y, whose last axis but one is the column, v, which has one element for
 * each column, and g, which has one for each element of a column. */
static const char *const forms[] = {
    EXP " / sum(" EXP ", axis=-2, keepdims=True)",
    "(x - mean(x, axis=-2, keepdims=True)) / sqrt(var(x, axis=-2, keepdims=True) + 1e-3) * g + v",
    "x / sqrt(mean(x*x, axis=-2, keepdims=True) + 1) * v",
    "(x - mean(x, axis=-2, keepdims=True)) / std(x, axis=-2, keepdims=True, ddof=1) + g",
    "log(sum(" EXP ", axis=-2)) + max(x, axis=-2)",
    "sum(y * (x - mean(x, axis=-2, keepdims=True))**2, axis=-2) / 100",
    "x * float32(argmax(x, axis=-2, keepdims=True)) + y",
    "where(all(x > -50, axis=-2, keepdims=True), x / (1 + max(y, axis=-2, keepdims=True)), y)",
    "exp(x/50 - max(x/50, axis=-2, keepdims=True)) / sum(exp(x/50 - max(x/50, axis=-2, "
    "keepdims=True)) * y, axis=-2, keepdims=True)",
    EXP " / sum(" EXP ", axis=-2, keepdims=True) + x * y", /* the last pass reads x again */
};
enum { FORMS = sizeof forms / sizeof *forms };

typedef struct shape_case {
    ga_dtype dtype;
    int64_t planes, length, width; /* planes 0: x has two axes */
} shape_case;

/* The operands x, y, g and v of a case, on the current device. */
static void make_operands(const shape_case *c, ga_named *names)
{
    static const char *const letters[] = {"x", "y", "g", "v"};
    const int64_t whole[] = {c->planes, c->length, c->width};
    const int ndim = c->planes ? 3 : 2;
    for (int k = 0; k < 4; k++) {
        const gpuarray *a = k < 2    ? given(c->dtype, ndim, whole + 3 - ndim, (uint64_t)k + 1)
                            : k == 2 ? given(c->dtype, GA_SHAPE(c->length, 1), 3)
                                     : given(c->dtype, GA_SHAPE(c->width), 4);
        names[k] = GA_NAMED(letters[k], a);
    }
}

/* By one kernel on a device, and by the steps on the host. */
static void check_case(const char *text, const shape_case *c, ga__device *device, bool wanted)
{
    char what[100], item[500];
    ga_named names[4], others[4];
    snprintf(what, sizeof what, "%s (%lld, %lld, %lld) of %s", ga_dtype_name(c->dtype),
             (long long)c->planes, (long long)c->length, (long long)c->width, device->name);
    snprintf(item, sizeof item, "%s %s", text, what);
    if (!in_sample(item))
        return;
    GA_SCOPE {
        ga__use_device(device);
        make_operands(c, names);
        if (fuses("columns", text, 4, names) != wanted)
            fail_msg("%s, %s: wanted%s one kernel", text, what, wanted ? "" : " not");
        const gpuarray *got = (ga_eval)(text, 4, names);
        ga__use_device(ga__find_device("cpu"));
        make_operands(c, others);
        for (int k = 0; k < 2; k++)
            others[k].value.as.array = backwards(others[k].value.as.array);
        assert_false(fuses("columns", text, 4, others) || fuses("rows", text, 4, others));
        expect_same(text, what, got, (ga_eval)(text, 4, others));
    }
}

/* Short columns of one thread, columns that some threads share in registers, in registers with the
 * next strip on its way, and in shared memory. */
static void every_way_of_cuda(void **state)
{
    static const shape_case cases[] = {
        {GA_FLOAT32, 0, 5, 200},   {GA_FLOAT32, 0, 60, 33},    {GA_FLOAT32, 3, 100, 7},
        {GA_FLOAT32, 0, 1000, 72}, {GA_FLOAT32, 2, 900, 24},   {GA_FLOAT32, 0, 999, 40},
        {GA_FLOAT16, 0, 33, 130},  {GA_FLOAT16, 40, 7, 3},     {GA_FLOAT16, 0, 250, 32},
        {GA_FLOAT16, 0, 61, 90},   {GA_BFLOAT16, 0, 129, 208}, {GA_FLOAT64, 0, 31, 65},
        {GA_FLOAT64, 5, 700, 12},  {GA_FLOAT64, 0, 901, 12},
    };
    static const int some[] = {0, 1, 5, 6, FORMS - 1};
    (void)state;
    need_simulator();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t f = 0; f < 5; f++)
            if ((k + 2 * f) % 5 < 2)
                check_case(forms[some[f]], &cases[k], &simulated_device, true);
}

static void every_form_of_cuda(void **state)
{
    static const shape_case cases[] = {{GA_FLOAT32, 0, 90, 50}, {GA_FLOAT64, 3, 700, 12}};
    (void)state;
    need_simulator();
    for (int f = 0; f < FORMS; f++)
        check_case(forms[f], &cases[f % 2], &simulated_device, true);
}

/* Strips of whole groups and of fewer columns; some columns are too long for the cache. */
static void every_form_of_the_host(void **state)
{
    static const struct {
        shape_case shape;
        bool fused;
    } cases[] = {
        {{GA_FLOAT32, 0, 90, 200}, true},   {{GA_FLOAT64, 3, 130, 61}, true},
        {{GA_FLOAT16, 0, 500, 64}, true},   {{GA_BFLOAT16, 2, 17, 50}, true},
        {{GA_FLOAT32, 0, 1500, 230}, true}, {{GA_FLOAT64, 0, 20000, 64}, false},
    };
    (void)state;
    need_simulator();
    for (size_t f = 0; f < FORMS; f++)
        for (size_t k = f % 3; k < sizeof cases / sizeof *cases; k += 3)
            check_case(forms[f], &cases[k].shape, ga__find_device("cpu"), cases[k].fused);
}

/* Windows at any address, of any length and width; whether they are one kernel is not asked. */
static void check_window(uint64_t *seed, ga__device *device)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT16, GA_FLOAT64, GA_BFLOAT16};
    const int64_t length = 1 + (int64_t)exp2((double)(next_random(seed) % 1000) / 80),
                  width = 1 + (int64_t)(next_random(seed) % 200),
                  from = (int64_t)(next_random(seed) % 3);
    const ga_dtype dtype = dtypes[next_random(seed) % 4];
    const char *const text = forms[next_random(seed) % FORMS];
    char what[100];
    snprintf(what, sizeof what, "a window of %s, %lld columns from %lld", ga_dtype_name(dtype),
             (long long)width, (long long)from);
    GA_SCOPE {
        const gpuarray *results[2];
        for (int k = 0; k < 2; k++) {
            ga__use_device(k ? ga__find_device("cpu") : device);
            const gpuarray *whole = given(dtype, GA_SHAPE(length, width + 3), 1),
                           *y = given(dtype, GA_SHAPE(length, width), 2),
                           *g = given(dtype, GA_SHAPE(length, 1), 3),
                           *v = given(dtype, GA_SHAPE(width), 4),
                           *x = ga_slice(whole, ":, %lld:%lld", (long long)from,
                                         (long long)(from + width));
            x = k ? backwards(x) : x;
            y = k ? backwards(y) : y;
            results[k] = ga_eval(text, GA(x), GA(y), GA(g), GA(v));
        }
        expect_same(text, what, results[0], results[1]);
    }
}

static void windows_of_any_shape(void **state)
{
    enum { DRAWS = 10 };
    uint64_t seed = run_seed();
    (void)state;
    need_simulator();
    for (int k = 0; k < DRAWS; k++) {
        char text[20];
        snprintf(text, sizeof text, "draw %d", k);
        if (in_sample(text))
            check_window(&seed, k % 2 ? ga__find_device("cpu") : &simulated_device);
    }
}

/* Whether the form over such a matrix is one kernel on a GPU of an H100's size. Nothing runs. */
static bool fuses_on_large(const char *text, ga_dtype dtype, int64_t length, int64_t width)
{
    enum { LARGE = 132 };
    bool fused = false;
    simulated_device.processors = LARGE;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        const gpuarray *x = ga_empty(dtype, GA_SHAPE(length, width));
        fused = fuses("columns", text, 1, (const ga_named[]){GA(x)});
    }
    ga__use_device(NULL);
    simulated_device.processors = PROCESSORS;
    return fused;
}

/* Long columns need enough strips, and rows of whole sectors. */
static void columns_fit_or_keep_the_steps(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t length, width;
        bool fused;
    } cases[] = {
        {GA_FLOAT32, 2, 1, false},       {GA_FLOAT32, 2, 3, true},
        {GA_FLOAT32, 512, 8, true},      {GA_FLOAT32, 512, 5, false},
        {GA_FLOAT32, 1000, 200, false},  {GA_FLOAT32, 1000, 520, true},
        {GA_FLOAT32, 1024, 1000, true},  {GA_FLOAT32, 1025, 1000, false},
        {GA_FLOAT32, 9000, 1000, false}, {GA_FLOAT32, 128, 1001, true},
        {GA_FLOAT32, 129, 1001, false},  {GA_FLOAT64, 1000, 300, true},
        {GA_FLOAT64, 1025, 300, false},  {GA_FLOAT16, 256, 1040, true},
        {GA_FLOAT16, 257, 1040, false},  {GA_FLOAT16, 200, 1041, true},
    };
    (void)state;
    need_simulator();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (fuses_on_large(forms[0], cases[k].dtype, cases[k].length, cases[k].width) !=
            cases[k].fused)
            fail_msg("%s (%lld, %lld): wanted%s one kernel", ga_dtype_name(cases[k].dtype),
                     (long long)cases[k].length, (long long)cases[k].width,
                     cases[k].fused ? "" : " not");
}

/* The registers of a thread hold one element of few operands, and none of many. */
static void columns_of_any_number_of_operands_are_planned(void **state)
{
    enum { MOST = 36 };
    char text[MOST * 8 + 80], names[MOST][8], sum[MOST * 4 + 4], *end = sum;
    ga_named args[MOST];
    (void)state;
    need_simulator();
    simulated_device.processors = 132;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        for (int k = 0; k < MOST; k++) {
            snprintf(names[k], sizeof names[k], "v%d", k);
            end += sprintf(end, "%s%s", k ? "+" : "", names[k]);
            args[k] = GA_NAMED(names[k], ga_empty(GA_FLOAT64, GA_SHAPE(96, 1001)));
            snprintf(text, sizeof text, "exp(%s) / sum(exp(%s), axis=0)", sum, sum);
            fuses("columns", text, k + 1, args);
        }
    }
    simulated_device.processors = PROCESSORS;
}

/* Beside the memory of an H200 the steps are faster earlier. */
static void fast_memory_ends_columns_earlier(void **state)
{
    static const struct {
        bool keeps; /* values that columns' elements have */
        ga_dtype dtype;
        int64_t longest, width;
    } cases[] = {
        {true, GA_FLOAT32, 512, 1000},  {true, GA_FLOAT32, 128, 1001},
        {false, GA_FLOAT32, 512, 1000}, {true, GA_FLOAT64, 768, 1000},
        {true, GA_FLOAT64, 256, 1001},  {false, GA_FLOAT64, 128, 1001},
        {true, GA_FLOAT16, 256, 2000},  {true, GA_FLOAT16, 128, 2001},
        {false, GA_FLOAT16, 64, 2000},
    };
    static const char *const norm = "x / sqrt(mean(x*x, axis=0) + 1)";
    (void)state;
    need_simulator();
    simulated_device.memory_rate = 4900000;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int more = 0; more < 2; more++)
            if (fuses_on_large(cases[k].keeps ? forms[0] : norm, cases[k].dtype,
                               cases[k].longest + more, cases[k].width) == more)
                fail_msg("%s (%lld, %lld): wanted%s one kernel", ga_dtype_name(cases[k].dtype),
                         (long long)cases[k].longest + more, (long long)cases[k].width,
                         more ? " not" : "");
}

static int forget_memory_rate(void **state)
{
    simulated_device.memory_rate = 0;
    return use_default_device(state);
}

/* Columns of one reduction are soon faster by the steps, which read them once as well. */
static void long_columns_of_one_step_are_reduced(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t longest;
    } cases[] = {
        {GA_FLOAT16, 1}, {GA_BFLOAT16, 1}, {GA_FLOAT32, 128}, {GA_FLOAT64, 8}}; /* 1: none */
    (void)state;
    need_simulator();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_true(fuses_on_large(forms[4], cases[k].dtype, cases[k].longest, 9999) ==
                    (cases[k].longest > 1));
        assert_false(fuses_on_large(forms[4], cases[k].dtype, cases[k].longest + 1, 9999));
    }
}

/* ---- Values of columns without the reduced axes ---- */

#define NEAR "(x - mean(x, axis=0)) / (1 + max(x, axis=0))"

static void expect_way(const char *along, const char *text, const gpuarray *x, bool wanted)
{
    const gpuarray *p = backwards(x);
    const ga_named names[] = {GA(x)};
    if (fuses(along, text, 1, names) != wanted)
        fail_msg("%s of shape %s: wanted%s one kernel over %s", text,
                 ga__shape_text(ga_ndim(x), ga_shape(x)), wanted ? "" : " not", along);
    expect_same(text, along, (ga_eval)(text, 1, names), ga_eval(text, GA_NAMED("x", p)));
}

/* Those of the first axes broadcast as if they had them; those of others do so to other elements.
 */
static void values_without_reduced_axes(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *m = given(GA_FLOAT32, GA_SHAPE(70, 120), 1),
                       *cube = given(GA_FLOAT32, GA_SHAPE(64, 64, 64), 2),
                       *shallow = given(GA_FLOAT32, GA_SHAPE(3, 5, 64), 3);
        expect_way("columns", NEAR, m, true);
        expect_way("columns", NEAR, cube, true);
        expect_way("columns", "x - sum(x, axis=(0, 1))", shallow, true);
        expect_way("columns", "x - sum(x, axis=1)", cube, false);
        expect_way("columns", "sum(x - max(x, axis=1, keepdims=True), axis=1)", cube, true);
        expect_way("columns", "x - sum(x, axis=(0, 2), keepdims=True)", cube, false);
        expect_way("columns", "sum(x - max(x, axis=0), axis=0) - max(x, axis=0, keepdims=True)", m,
                   true);
    }
}

#define SOFTMAX "exp(x - max(x, axis=0)) / sum(exp(x - max(x, axis=0)), axis=0)"

/* The strides decide: a transposed matrix has columns along its last axis, and rows along its
 * first.
 */
static void strides_decide(void **state)
{
    static const char last[] = "log(sum(exp(x - max(x, axis=1, keepdims=True)), axis=1))",
                      first[] = "log(sum(exp(x - max(x, axis=0)), axis=0))";
    (void)state;
    GA_SCOPE {
        const gpuarray *m = given(GA_FLOAT32, GA_SHAPE(70, 120), 1), *t = ga_transpose(m);
        expect_way("rows", last, m, true);
        expect_way("columns", last, t, true);
        expect_way("columns", first, m, true);
        expect_way("rows", first, t, true);
        expect_way("columns", first, ga_slice(m, "::-1"), true);
        expect_way("columns", first, ga_slice(m, ":, ::2"), false);
        /* Strips that have few columns repay only values that are kept. */
        const gpuarray *narrow = ga_slice(m, ":, :33");
        expect_way("columns", SOFTMAX, narrow, true);
        expect_way("columns", "x / (100 + max(x, axis=0))", narrow,
                   strcmp(ga_current_device(), "cpu") != 0);
    }
}

/* ---- Results ---- */

static void results_go_where_they_are_told(void **state)
{
    static const char text[] = "x / (100 + sum(x, axis=0))";
    (void)state;
    GA_SCOPE {
        gpuarray *x = given(GA_FLOAT32, GA_SHAPE(30, 100), 9), *wanted = ga_eval(text, GA(x)),
                 *own = ga_copy(x), *all = ga_zeros(GA_FLOAT32, GA_SHAPE(31, 100)),
                 *later = ga_slice(all, "1:"),
                 *gaps = ga_slice(ga_zeros(GA_FLOAT32, GA_SHAPE(30, 200)), ":, ::2");
        expect_way("columns", text, x, true);
        assert_int_equal(ga_eval_into(own, text, GA_NAMED("x", own)), GA_OK);
        expect_same(text, "in place", own, wanted);
        assert_int_equal(ga_eval_into(gaps, text, GA(x)), GA_OK);
        expect_same(text, "into a view", gaps, wanted);
        ga_assign(ga_slice(all, ":-1"), x);
        assert_int_equal(ga_eval_into(later, text, GA_NAMED("x", ga_slice(all, ":-1"))), GA_OK);
        expect_same(text, "into a part of the input", later, wanted);
    }
}

static void on_both(void (*test)(void **), void **state)
{
    ga__use_device(ga__find_device("cpu"));
    test(state);
    ga__use_device(&simulated_device);
    test(state);
}

static void calls_on_both_devices(void **state)
{
    need_simulator();
    on_both(values_without_reduced_axes, state);
    on_both(strides_decide, state);
    on_both(results_go_where_they_are_told, state);
}

static int open_devices(void **state)
{
    (void)state;
    return open_simulated_device(PROCESSORS) ? 0 : -1;
}

int main(int argc, char **argv)
{
    setenv("QUARRY_THREADS", "3", 1); /* the simulator runs as many blocks at once */
    const struct CMUnitTest tests[] = {
        simulating_test(every_way_of_cuda),
        simulating_test(every_form_of_cuda),
        simulating_test(every_form_of_the_host),
        simulating_test(columns_fit_or_keep_the_steps),
        simulating_test(columns_of_any_number_of_operands_are_planned),
        cmocka_unit_test_teardown(fast_memory_ends_columns_earlier, forget_memory_rate),
        simulating_test(windows_of_any_shape),
        slow_test_teardown(calls_on_both_devices, use_default_device),
        simulating_test(long_columns_of_one_step_are_reduced),
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
