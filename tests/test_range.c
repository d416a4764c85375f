/* ga_arange and ga_linspace against NumPy's answers, bit for bit, and the numbers they accept. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "golden.h"
#include "parallel.h"
#include "run.h"

static golden_file *file;

static gpuarray *range_of(const golden_case *c)
{
    const ga_value *v = c->number;
    if (strcmp(c->name, "arange") == 0)
        return ga_arange_values(c->dtype, v[0], v[1], v[2]);
    const bool ints[2] = {v[0].dtype != GA_FLOAT64, v[1].dtype != GA_FLOAT64};
    return ga_linspace(c->dtype, ints[0] ? (double)v[0].as.i : v[0].as.z[0],
                       ints[1] ? (double)v[1].as.i : v[1].as.z[0], v[2].as.i);
}

static const char *number_text(ga_value v, char *text, size_t room)
{
    if (v.dtype == GA_FLOAT64)
        snprintf(text, room, "%.17g", v.as.z[0]);
    else
        snprintf(text, room, v.dtype == GA_UINT64 ? "%llu" : "%lld", (unsigned long long)v.as.u);
    return text;
}

/* "arange(int8, 0, 5, 1)" */
static const char *case_text(const golden_case *c)
{
    static char text[200];
    char number[3][40];
    snprintf(text, sizeof text, "%s(%s, %s, %s, %s)", c->name, ga_dtype_name(c->dtype),
             number_text(c->number[0], number[0], sizeof number[0]),
             number_text(c->number[1], number[1], sizeof number[1]),
             number_text(c->number[2], number[2], sizeof number[2]));
    return text;
}

static void check_case(const golden_case *c)
{
    char why[300];
    gpuarray *got = range_of(c);
    const bool refused = !got && ga_error() == GA_ERR_INVALID;
    const bool right =
        c->flags & GOLDEN_ERROR ? refused : golden_result(c, c->out[0], got, 1, why, sizeof why);
    if (c->flags & GOLDEN_ERROR)
        snprintf(why, sizeof why, "%s", got ? "not refused" : ga_error_message());
    if (!right)
        fail_later("%s: %s", case_text(c), why);
    ga_free(got);
    ga_clear_error();
}

static void ranges_have_numpys_bits(void **state)
{
    (void)state;
    for (int i = 0; i < file->ncases; i++)
        if (row_selected(case_text(&file->cases[i])))
            check_case(&file->cases[i]);
    assert_true(file->ncases > 1000);
    assert_int_equal(failures(), 0);
}

/* The index of an element as a float32 is not exact past 2^24. */
static void numbers_past_a_floats_integers_round(void **state)
{
    enum { LENGTH = (1 << 24) + 9 };
    (void)state;
    gpuarray *x = ga_arange(GA_FLOAT32, 0, LENGTH * 0.3, 0.3);
    float *host = malloc(sizeof(float) * LENGTH);
    assert_int_equal(ga_size(x), LENGTH);
    assert_int_equal(ga_to_host(x, host, sizeof(float) * LENGTH), GA_OK);
    for (int i = LENGTH - 2000; i < LENGTH; i++) {
        volatile float product = (float)i * 0.3f;
        if (host[i] != product)
            fail_msg("element %d is %.9g, wanted %.9g", i, (double)host[i], (double)product);
    }
    free(host);
    ga_free(x);
}

static void expect_integers(gpuarray *x, int count, const int64_t *want)
{
    int64_t got[8];
    assert_non_null(x);
    assert_int_equal(ga_dtype_of(x), GA_INT64);
    assert_int_equal(ga_size(x), count);
    assert_int_equal(ga_to_host(x, got, sizeof *got * (size_t)count), GA_OK);
    assert_elements(GA_INT64, count, got, want);
    ga_free(x);
}

/* Through the macro, and through the function that programs call with doubles. */
static void any_c_numbers_are_taken(void **state)
{
    const int64_t past = (INT64_C(1) << 53) + 1, small[] = {1, 3, 5};
    gpuarray *(*function)(ga_dtype, double, double, double) = ga_arange;
    (void)state;
    expect_integers(ga_arange(GA_INT64, past, past + 3, 1), 3,
                    (const int64_t[]){past, past + 1, past + 2});
    expect_integers(ga_arange(GA_INT64, INT64_MIN, INT64_MAX, INT64_MAX), 3,
                    (const int64_t[]){INT64_MIN, -1, INT64_MAX - 1});
    expect_integers(ga_arange(GA_INT64, (char)1, 6u, 2ull), 3, small);
    expect_integers(ga_arange(GA_INT64, 1.0f, 6.0L, (short)2), 3, small);
    expect_integers(function(GA_INT64, 1, 6, 2), 3, small);
    expect_integers((ga_arange)(GA_INT64, 1, 6, 2), 3, small);
}

static void expect_refusal(gpuarray *x, ga_status status, const char *part)
{
    assert_null(x);
    assert_int_equal(ga_error(), status);
    if (!strstr(ga_error_message(), part))
        fail_msg("\"%s\" lacks \"%s\"", ga_error_message(), part);
    ga_clear_error();
}

static void refusals_name_the_numbers(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_INT64, GA_SHAPE0);
    expect_refusal(ga_arange(GA_UINT8, -3, 3, 1), GA_ERR_INVALID,
                   "from -3 to 3 by 1 do not fit uint8");
    expect_refusal(ga_arange(GA_UINT64, 1, -1.5, -2), GA_ERR_INVALID,
                   "from 1 to -1.5 by -2 do not fit uint64");
    expect_refusal(ga_arange(GA_BOOL, 0, 3, 1), GA_ERR_INVALID,
                   "3 numbers from 0 to 3 by 1 do not fit bool");
    expect_refusal(ga_arange(GA_INT64, 0, 3, 0), GA_ERR_INVALID, "from 0 to 3 by 0");
    expect_refusal(ga_arange(GA_INT64, INT64_MIN, UINT64_MAX, 1), GA_ERR_INVALID,
                   "the length of the range from -9223372036854775808");
    expect_refusal(ga_arange(GA_FLOAT64, 0, INFINITY, 1), GA_ERR_INVALID, "to inf");
    expect_refusal(ga_arange(GA_INT64, x, 3, 1), GA_ERR_INVALID, "real numbers");
    expect_refusal(ga_arange((ga_dtype)99, 0, 3, 1), GA_ERR_DTYPE, "99 is not a dtype");
    expect_refusal(ga_arange(GA_INT8, 0, INT64_MAX, 1), GA_ERR_MEMORY, "");
    expect_refusal(ga_arange(GA_INT64, 0, INT64_MAX, 1), GA_ERR_SHAPE, "more than 2^63 bytes");
    ga_free(x);
}

static void spaces_without_their_end(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT64, 1, 2, 10, .endpoint = false);
        assert_int_equal(ga_size(x), 10);
        assert_true(ga_is_contiguous(x));
        for (int i = 0; i < 10; i++)
            assert_true(ga_item_double(x, i) == i * 0.1 + 1);
        x = ga_linspace(GA_INT32, 0, 7, 3, .endpoint = false); /* 0, 2.33, 4.67 */
        assert_true(ga_item_int64(x, 1) == 2 && ga_item_int64(x, 2) == 4);
        assert_int_equal(ga_size(ga_linspace(GA_FLOAT32, 0, 1, 0, .endpoint = false)), 0);
        x = ga_linspace(GA_FLOAT32, 3, 9, 1, .endpoint = false);
        assert_true(ga_item_double(x) == 3);
        assert_null(ga_linspace(GA_FLOAT32, 0, 1, -1, .endpoint = false));
        assert_int_equal(ga_error(), GA_ERR_INVALID);
        ga_clear_error();
    }
}

static void spaces_of_complex_numbers(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_COMPLEX128, 1 + 2 * I, 3 - 2 * I, 5);
        for (int i = 0; i < 5; i++) {
            const double complex z = ga_item_complex(x, i);
            assert_true(creal(z) == 1 + i * 0.5 && cimag(z) == 2 - i);
        }
        x = ga_linspace(GA_COMPLEX64, 0, 4 * I, 4, .endpoint = false);
        assert_true(cimag(ga_item_complex(x, 3)) == 3);
        assert_null(ga_linspace(GA_FLOAT64, 0, 1 * I, 4));
        assert_int_equal(ga_error(), GA_ERR_DTYPE);
        assert_string_equal(ga_error_message(), "linspace: complex numbers do not fit float64");
        ga_clear_error();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(ranges_have_numpys_bits),
        cmocka_unit_test(numbers_past_a_floats_integers_round),
        cmocka_unit_test(any_c_numbers_are_taken),
        cmocka_unit_test(refusals_name_the_numbers),
        cmocka_unit_test(spaces_without_their_end),
        cmocka_unit_test(spaces_of_complex_numbers),
    };
    file = golden_open("range.bin");
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
