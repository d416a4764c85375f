/* Tests of kernels with quick functions: the same results as with the exact ones, for rare operands
 * too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "base/alloc.h"
#include "golden.h"
#include "kernels/fast_path.h"
#include "run.h"

/* Four quick functions, one of which is the result; all of them meet every element. */
#define CHOSEN "where(k < 1, x/y, where(k < 2, sqrt(abs(y)), where(k < 3, log(abs(x)), erf(x))))"

static int clear(void **state)
{
    (void)state;
    ga_clear_error();
    return 0;
}

static void texts_with_many_calls_pay(void **state)
{
    (void)state;
    assert_false(ga__fast_path_pays(GA__FAST_REAL, ""));
    assert_false(ga__fast_path_pays(GA__FAST_REAL, "t = ga::divide(a, b); u = ga::sqrt(t);"));
    assert_false(ga__fast_path_pays(
        GA__FAST_REAL, "ga::log10(a) ga::log1p(a) ga::erfc(a) ga::divides(a) ga::log2(a)"));
    assert_true(ga__fast_path_pays(GA__FAST_REAL, "ga::log(ga::divide(a, ga::sqrt(b)))"));
    char *text =
        ga__fast_path_text(GA__FAST_REAL, "r = ga::log(ga::add(a, ga::divide(a, ga::erfc(b))));");
    assert_string_equal(text, "r = ga_fast.log(ga::add(a, ga_fast.divide(a, ga::erfc(b))));");
    ga__free(text);
}

static uint32_t next_bits(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

static float from_bits(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Any sign, fraction and exponent from `least` on, of `count`. */
static float number_of(uint32_t *seed, uint32_t least, uint32_t count)
{
    const uint32_t bits = next_bits(seed);
    return from_bits((bits & 0x807fffffu) | (least + next_bits(seed) % count) << 23);
}

/* Numbers of all magnitudes, with one special value for every `rare` numbers; 0: all from 2^-20 to
 * 2^20. */
static void make_numbers(float *numbers, size_t n, uint32_t seed, uint32_t rare)
{
    static const float special[] = {0,     -0.0f, INFINITY, -INFINITY, NAN,       1e-45f, -1e-39f,
                                    3e38f, 1,     -1,       0x1p-126f, 0x1p-127f, 1e-30f, 0.5f};
    for (size_t k = 0; k < n; k++) {
        numbers[k] = rare ? number_of(&seed, 0, 255) : number_of(&seed, 107, 40);
        if (rare && next_bits(&seed) % rare == 0)
            numbers[k] = special[next_bits(&seed) % (sizeof special / sizeof *special)];
    }
}

/* In units in the last place of `exact`; 0 if they are equal or both NaN. */
static double error_of(float got, double exact)
{
    int exponent;
    if (isnan(exact))
        return isnan(got) ? 0 : INFINITY;
    if ((double)got == exact || (isinf(got) && fabs(exact) > 3.4028235677973366e38))
        return 0;
    frexp(exact, &exponent);
    return fabs(got - exact) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

static double exact_of(int function, float x, float y)
{
    switch (function) {
    case 0: return (double)(x / y);
    case 1: return (double)sqrtf(fabsf(y));
    case 2: return log(fabs((double)x));
    default: return erf((double)x);
    }
}

static void compare(const float *x, const float *y, const float *got, size_t n, int function)
{
    static const double allowed[] = {0, 0, 4, 4};
    for (size_t k = 0; k < n; k++) {
        const double error = error_of(got[k], exact_of(function, x[k], y[k]));
        if (!(error <= allowed[function]))
            fail_msg("function %d of %a and %a, number %zu of %zu, is %a: %g units off", function,
                     (double)x[k], (double)y[k], k, n, (double)got[k], error);
    }
}

static void run(size_t n, uint32_t rare)
{
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *got = malloc(n * sizeof *got);
    assert_true(x && y && got);
    make_numbers(x, n, 1 + (uint32_t)n, rare);
    make_numbers(y, n, 77 + (uint32_t)n, rare);
    for (int function = 0; function < 4; function++)
        GA_SCOPE {
            gpuarray *a = ga_from_host(x, GA_FLOAT32, GA_SHAPE((int64_t)n));
            gpuarray *b = ga_from_host(y, GA_FLOAT32, GA_SHAPE((int64_t)n));
            gpuarray *r =
                ga_eval(CHOSEN, GA_NAMED("x", a), GA_NAMED("y", b), GA_NAMED("k", function));
            assert_non_null(r);
            assert_int_equal(r->dtype, GA_FLOAT32);
            assert_int_equal(ga_to_host(r, got, n * sizeof *got), GA_OK);
            compare(x, y, got, n, function);
            /* in place: rejected elements are computed from operands that still exist */
            assert_int_equal(ga_eval_into(a, CHOSEN, GA_NAMED("x", a), GA_NAMED("y", b),
                                          GA_NAMED("k", function)),
                             GA_OK);
            assert_int_equal(ga_to_host(a, got, n * sizeof *got), GA_OK);
            compare(x, y, got, n, function);
        }
    free(x);
    free(y);
    free(got);
}

static void usual_numbers_are_right(void **state)
{
    (void)state;
    run(1 << 20, 0);
}

static void rare_numbers_are_right(void **state)
{
    (void)state;
    run(100003, 2);
    run(100002, 50);
    run(100001, 1000);
}

static void every_size_is_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 127, 128, 129, 511, 512, 513, 515, 1027};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        run(sizes[k], 0);
        run(sizes[k], 3);
    }
}

/* Other layouts, types and kernels that need few calls do not use them; results stay equal to eager
 * ones. */
static void other_kernels_agree(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_linspace(GA_FLOAT32, 0.25, 80, 6000), GA_SHAPE(60, 100));
        gpuarray *row = ga_slice(x, "3");
        gpuarray *z = ga_eval("sqrt(x/row)/(row/x)", GA(x), GA(row));
        gpuarray *ratio = ga_divide(x, row);
        gpuarray *want = ga_divide(ga_sqrt(ratio), ga_divide(row, x));
        assert_arrays_equal(z, want);
        gpuarray *d = ga_astype(x, GA_FLOAT64), *h = ga_astype(x, GA_FLOAT16);
        want = ga_divide(ga_sqrt(ga_divide(d, ga_add(d, 1))), d);
        z = ga_eval("sqrt(d/(d + 1))/d", GA(d));
        assert_arrays_equal(z, want);
        want = ga_divide(ga_sqrt(ga_divide(h, ga_add(h, 1))), h);
        z = ga_eval("sqrt(h/(h + 1))/h", GA(h));
        assert_arrays_equal(z, want);
        want = ga_divide(ga_sqrt(ga_divide(x, ga_add(d, 1))), h);
        z = ga_eval("sqrt(x/(d + 1))/h", GA(x), GA(d), GA(h));
        assert_arrays_equal(z, want);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_with_many_calls_pay),
        cmocka_unit_test_teardown(usual_numbers_are_right, clear),
        cmocka_unit_test_teardown(rare_numbers_are_right, clear),
        cmocka_unit_test_teardown(every_size_is_whole, clear),
        cmocka_unit_test_teardown(other_kernels_agree, clear),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
