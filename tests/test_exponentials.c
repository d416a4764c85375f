/* Sums of exponentials beside the maximum: one pass on CUDA, with the values of two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "device/context.h"

#include "array_support.h"
#include "fused_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { OUTER = 3, KEPT = 5, INNER = 67, MOST = OUTER * KEPT * INNER };

#define LARGEST "max(x, axis=(0, 2), keepdims=True)"
#define EXP "exp(x - " LARGEST ")"
#define SUM "sum(" EXP ", axis=(0, 2), keepdims=True)"

static bool same(double got, double wanted, double bound)
{
    return isnan(wanted) ? isnan(got) : got == wanted || fabs(got - wanted) <= bound * fabs(wanted);
}

/* sum(exp(x - max(x))) of the kept element k, in two passes. */
static double sum_of(const double *x, int k)
{
    double largest = -INFINITY, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < OUTER; i++)
            for (int j = 0; j < INNER; j++) {
                const double each = x[(i * KEPT + k) * INNER + j];
                if (pass)
                    sum += exp(each - largest);
                else if (isnan(each) || each > largest)
                    largest = each;
            }
    return sum;
}

/* The kinds of exponents. */
enum { ORDINARY, LARGE, SPECIAL, HUGE_ONES, KINDS };

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 40) * 0x1p-24 - 0.5;
}

/* Exponents of kept element k around the places where a sum of doubles is relative to something
 * else: multiples of 64 and of 32, and 2^57, from which on it is the largest exponent. */
static double huge(int k, uint64_t *seed)
{
    const double scale[KEPT] = {0x1p57, 256, 130, 1e308, 0x1p58},
                 centre[KEPT] = {0x1p63 - 0x1p58 + 0x1p10, 0x1p57, 32, -1e308, -0x1p59};
    return centre[k] + uniform(seed) * scale[k];
}

/* Fills x by its kind. Special numbers are among ordinary ones. */
static void fill(double *x, int kind)
{
    uint64_t seed = 11;
    for (int k = 0; k < MOST; k++)
        x[k] = kind == HUGE_ONES ? huge(k / INNER % KEPT, &seed)
                                 : uniform(&seed) * (kind == LARGE ? 1000 : 10);
    for (int i = 0; i < OUTER && kind == SPECIAL; i++)
        for (int j = 0; j < INNER; j++) {
            double *const row = x + i * KEPT * INNER + j;
            row[0] = -INFINITY;                                /* nothing else */
            row[INNER] = j % 3 && i ? -INFINITY : row[INNER];  /* with numbers, which come first */
            row[2 * INNER] = j < 30 || !i ? -INFINITY : 1;     /* or last */
            row[3 * INNER] = j == 40 && i == 1 ? INFINITY : 2; /* one infinity, */
            row[4 * INNER] = j == 40 && i == 1 ? NAN : INFINITY; /* and NaN */
        }
}

/* The largest exponent of the kept element k. */
static double largest_of(const double *x, int k)
{
    double largest = -INFINITY;
    for (int i = 0; i < OUTER; i++)
        for (int j = 0; j < INNER; j++) {
            const double each = x[(i * KEPT + k) * INNER + j];
            if (isnan(each) || each > largest)
                largest = each;
        }
    return largest;
}

static void to_doubles(const gpuarray *x, double *to, size_t nbytes)
{
    GA_SCOPE {
        assert_int_equal(ga_to_host(ga_astype(x, GA_FLOAT64), to, nbytes), GA_OK);
    }
}

/* Compares the sums, the maxima of the same kernel and what a softmax adds up to. Exponents of 16
 * bits round between the passes of a softmax. */
static void check_sums(ga_dtype dtype, int kind)
{
    double x[MOST], got[KEPT], most[KEPT], all[MOST];
    const double bound = dtype == GA_FLOAT64   ? 1e-14
                         : dtype == GA_FLOAT32 ? 4e-6
                         : dtype == GA_FLOAT16 ? 0x1p-11
                                               : 0x1p-8,
                 of_softmax = dtype == GA_FLOAT64 || dtype == GA_FLOAT32 ? 10 * bound : 4 * bound;
    fill(x, kind);
    GA_SCOPE {
        const gpuarray *wide = ga_from_host(x, GA_FLOAT64, GA_SHAPE(OUTER, KEPT, INNER)),
                       *given = ga_astype(wide, dtype);
        to_doubles(given, x, sizeof x);
        to_doubles(ga_eval(SUM, GA_NAMED("x", given)), got, sizeof got);
        to_doubles(ga_eval(LARGEST " + 0 * (" SUM " > 0)", GA_NAMED("x", given)), most,
                   sizeof most);
        to_doubles(ga_eval(EXP " / " SUM, GA_NAMED("x", given)), all, sizeof all);
    }
    for (int k = 0; k < KEPT; k++) {
        const double wanted = sum_of(x, k);
        double total = 0;
        if (!same(got[k], wanted, bound))
            fail_msg("%s, kind %d, %d: the sum is %.17g, not %.17g", ga_dtype_name(dtype), kind, k,
                     got[k], wanted);
        if (!same(most[k], largest_of(x, k), 0))
            fail_msg("%s, kind %d, %d: the maximum is %.17g, not %.17g", ga_dtype_name(dtype), kind,
                     k, most[k], largest_of(x, k));
        for (int i = 0; i < OUTER; i++)
            for (int j = 0; j < INNER; j++)
                total += all[(i * KEPT + k) * INNER + j];
        if (!same(total, isnan(wanted) ? NAN : 1, of_softmax))
            fail_msg("%s, kind %d, %d: softmax adds up to %.17g", ga_dtype_name(dtype), kind, k,
                     total);
    }
}

/* The host rounds 16-bit floats between the passes of a sum, too. */
static void sums_as_in_two_passes(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        check_sums(GA_FLOAT32, kind);
        check_sums(GA_FLOAT64, kind);
        if (ga__on_host(ga__current_device()))
            continue;
        check_sums(GA_FLOAT16, kind);
        check_sums(GA_BFLOAT16, kind);
    }
}

/* The titles of the kernels by which the current device computes the steps. */
static void expect_kernels(const char *text, ga_dtype dtype, const char *wanted)
{
    char got[200] = "";
    GA_SCOPE {
        const gpuarray *x = backwards(ga_zeros(dtype, GA_SHAPE(4, 4, 4)));
        char *explained = ga_explain(text, GA(x));
        assert_non_null(explained);
        for (const char *at = explained; (at = strstr(at, "\nkernel ")); at++) {
            const char *title = strchr(at, ':') + 2;
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%.*s", *got ? "; " : "",
                     (int)strcspn(title, "\n"), title);
        }
        free(explained);
    }
    if (strcmp(got, wanted) != 0)
        fail_msg("%s of %s: %s; wanted %s", text, ga_dtype_name(dtype), got, wanted);
}

/* The maximum of other elements, and other reductions of the same ones, are parts of their own. */
static void other_reductions_beside_the_sum(void **state)
{
    static const char text[] = "max(x + x, axis=(0, 2)) - min(x, axis=(0, 2)) + "
                               "0 * (sum(" EXP ", axis=(0, 2)) > 0)";
    double x[MOST], got[KEPT];
    (void)state;
    expect_kernels(text, GA_FLOAT32, "max, min, sumexp over axes 0, 2");
    fill(x, ORDINARY);
    GA_SCOPE {
        const gpuarray *given = ga_from_host(x, GA_FLOAT64, GA_SHAPE(OUTER, KEPT, INNER));
        to_doubles(ga_eval(text, GA_NAMED("x", given)), got, sizeof got);
    }
    for (int k = 0; k < KEPT; k++) {
        double least = INFINITY;
        for (int i = 0; i < OUTER; i++)
            for (int j = 0; j < INNER; j++)
                least = fmin(least, x[(i * KEPT + k) * INNER + j]);
        assert_true(got[k] == 2 * largest_of(x, k) - least);
    }
}

/* Threads of long rows take batches. A batch of nothing but -infinity adds nothing. */
static void batches_of_nothing_add_nothing(void **state)
{
    (void)state;
    enum { ROWS = 2, LENGTH = 40000, FINITE = 3 };
    for (int wide = 0; wide < 2; wide++)
        GA_SCOPE {
            double got[ROWS];
            const gpuarray *i = ga_arange(GA_INT32, 0, LENGTH, 1);
            const gpuarray *x =
                ga_eval("where(i % (n // 3) == n // 7, x, -inf)", GA(i), GA_NAMED("n", LENGTH),
                        GA_NAMED("x", ga_full(GA_FLOAT64, GA_SHAPE(ROWS, 1), 1.5)));
            const gpuarray *sums =
                ga_eval("sum(exp(x - max(x, axis=1, keepdims=True)), axis=1)",
                        GA_NAMED("x", ga_astype(x, wide ? GA_FLOAT64 : GA_FLOAT32)));
            assert_non_null(sums);
            assert_int_equal(ga_to_host(ga_astype(sums, GA_FLOAT64), got, sizeof got), GA_OK);
            for (int row = 0; row < ROWS; row++)
                assert_true(got[row] == FINITE);
        }
}

static void sums_that_join_the_maximum(void **state)
{
    (void)state;
    expect_kernels(EXP " / " SUM, GA_FLOAT32, "max, sumexp over axes 0, 2; elementwise");
    expect_kernels(EXP " / " SUM, GA_FLOAT16, "max, sumexp over axes 0, 2; elementwise");
    expect_kernels("sum(exp(x - max(x, axis=0)), axis=0)", GA_BFLOAT16, "sumexp over axis 0");
    expect_kernels("sum(exp(x - max(x, axis=0)), axis=0)", GA_FLOAT64, "sumexp over axis 0");
    expect_kernels("log(sum(exp(x - " LARGEST "), axis=(0, 2))) + max(x, axis=(0, 2))", GA_FLOAT32,
                   "sumexp, max over axes 0, 2");
}

/* A sum in another dtype rounds exponentials; a maximum over other axes, or one that broadcasts
 * along them, is another number. */
static void sums_that_keep_their_pass(void **state)
{
    (void)state;
    expect_kernels("sum(" EXP ", axis=(0, 2), dtype=float32)", GA_FLOAT16,
                   "max over axes 0, 2; sum over axes 0, 2");
    expect_kernels("sum(exp(x - max(x, axis=2)), axis=2)", GA_FLOAT32,
                   "max over axis 2; sum over axis 2");
    expect_kernels("sum(exp(x - max(x)), axis=(0, 2))", GA_FLOAT32,
                   "max over axes 0, 1, 2; sum over axes 0, 2");
    expect_kernels("sum(exp(x - min(x, axis=0)), axis=0)", GA_FLOAT32,
                   "min over axis 0; sum over axis 0");
    expect_kernels("sum(exp(max(x, axis=0) - x), axis=0)", GA_FLOAT32,
                   "max over axis 0; sum over axis 0");
    expect_kernels("sum(exp(x - max(x + 1, axis=0)), axis=0)", GA_FLOAT32,
                   "max over axis 0; sum over axis 0");
    expect_kernels("sum(exp(x - max(x, axis=0)), axis=0, dtype=float64)", GA_FLOAT32,
                   "max over axis 0; sum over axis 0");
}

static void the_host_keeps_its_passes(void **state)
{
    (void)state;
    if (on_host())
        expect_kernels(EXP " / " SUM, GA_FLOAT32,
                       "max over axes 0, 2; sum over axes 0, 2; elementwise");
}

/* ---- Columns that all rows share ---- */

#define OF_COLUMN "max(x, axis=0)"

/* Halves, so many that threads walk down rows: single elements follow the last whole vector, and
 * vectors hold the ends of several rows. */
static void check_columns(const char *text, ga_dtype dtype, int64_t rows, int64_t columns)
{
    gpuarray *result[2];
    GA_SCOPE {
        for (int host = 0; host < 2; host++) {
            ga__use_device(host ? ga__find_device("cpu") : &simulated_device);
            const gpuarray *x = given(dtype, GA_SHAPE(rows, columns), 3),
                           *y = given(dtype, GA_SHAPE(rows, 1), 4);
            result[host] = ga_eval(text, GA(x), GA(y));
        }
        expect_same(text, ga_dtype_name(dtype), result[0], result[1]);
    }
}

static void rows_share_what_columns_have(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "exp(x - " OF_COLUMN ") / sum(exp(x - " OF_COLUMN "), axis=0)",
        "(x - mean(x, axis=0)) / sqrt(var(x, axis=0) + 0.001)",
        "x / sqrt(mean(x * x, axis=0) + 0.001) * y", "sum(x * exp(x - " OF_COLUMN "), axis=0)",
        "sum((x + x) * (x - x) + (exp(x) + x) * (x - exp(x)) - (exp(x) + exp(x)) * (exp(x) - "
        "exp(x))"
        " + x**2 * exp(x), axis=0)"};
    check_columns(texts[4], GA_FLOAT16, 349, 403); /* every operation that pairs have */
    check_columns(texts[4], GA_BFLOAT16, 349, 403);
    check_columns(texts[3], GA_FLOAT16, 349, 403); /* no sum that joins the maximum */
    check_columns(texts[0], GA_FLOAT16, 46667, 3);
    check_columns(texts[0], GA_FLOAT16, 349, 403);
    check_columns(texts[0], GA_BFLOAT16, 4001, 35);
    check_columns(texts[1], GA_FLOAT16, 4001, 35);
    check_columns(texts[2], GA_FLOAT16, 139, 1024);
    check_columns(texts[2], GA_FLOAT32, 801, 101);
}

/* A quotient of 16-bit floats by the steps: -0, infinities, NaN and subnormal numbers are those of
 * a division. */
static void check_quotients(ga_dtype dtype, uint16_t one, uint16_t infinite, uint16_t nan)
{
    const uint16_t x[] = {0x8000, 0, infinite, infinite | 0x8000, nan, 0x8001, one, one | 0x8000},
                   by_zero[] = {nan, nan, x[2], x[3], nan, x[3], x[2], x[3]},
                   by_infinity[] = {0x8000, 0, nan, nan, nan, 0x8000, 0, 0x8000};
    const uint16_t *const wanted[] = {x, by_zero, by_infinity};
    static const double divisors[] = {1, 0, INFINITY};
    uint16_t all[72], got[72];
    for (int at = 0; at < 72; at++)
        all[at] = x[at / 3 % 8];
    for (int k = 0; k < 3; k++)
        GA_SCOPE {
            const gpuarray *a = backwards(ga_from_host(all, dtype, GA_SHAPE(3, 8, 3))),
                           *b = backwards(ga_full(dtype, GA_SHAPE(3, 8, 3), divisors[k]));
            const gpuarray *r = ga_eval("a / max(b, axis=(0, 2), keepdims=True)", GA(a), GA(b));
            assert_int_equal(ga_to_host(r, got, sizeof got), GA_OK);
            for (int at = 0; at < 72; at++) {
                const uint16_t want = wanted[k][at / 3 % 8];
                if (got[at] != want && !((got[at] & 0x7fff) > infinite && want == nan))
                    fail_msg("%s: %#x / %g is %#x, not %#x", ga_dtype_name(dtype), all[at],
                             divisors[k], got[at], want);
            }
        }
}

static void quotients_divide_special_numbers(void **state)
{
    (void)state;
    check_quotients(GA_FLOAT16, 0x3c00, 0x7c00, 0x7e00);
    check_quotients(GA_BFLOAT16, 0x3f80, 0x7f80, 0x7fc0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_as_in_two_passes),
        cmocka_unit_test(the_host_keeps_its_passes),
        simulated_test(sums_as_in_two_passes),
        simulated_test(sums_that_join_the_maximum),
        simulated_test(sums_that_keep_their_pass),
        simulated_test(other_reductions_beside_the_sum),
        cmocka_unit_test(batches_of_nothing_add_nothing),
        simulated_test(batches_of_nothing_add_nothing),
        simulated_test(rows_share_what_columns_have),
        simulated_test(quotients_divide_special_numbers),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
