/* Reductions with masks, initial elements and offsets, and functions with options or several
 * results, against NumPy's answers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "base/given.h"
#include "golden.h"
#include "layouts.h"
#include "parallel.h"
#include "reductions.h"
#include "run.h"
#include "simulated_device.h"

static golden_file *file;

static void check(const golden_case *c, int k, const char *how, const gpuarray *got)
{
    char why[300];
    const golden_blob *want = c->out[k];
    if (!golden_result(c, want, got, 1, why, sizeof why))
        fail_later("%s, %s, result %d: %s", golden_call(c), how, k, why);
    else if (ga_ndim(got) != want->ndim)
        fail_later("%s, %s: %d axes, wanted %d", golden_call(c), how, ga_ndim(got), want->ndim);
    ga_clear_error();
}

/* ---- Reductions ---- */

static void check_reduction(const golden_case *c, reduce_function call, layout how)
{
    const golden_blob *b = c->arg[0], *extra = c->arg[1];
    gpuarray *x = layout_array(how, b->data, b->dtype, b->ndim, b->shape);
    gpuarray *more = layout_array(how, extra->data, extra->dtype, extra->ndim, extra->shape);
    ga_reduce_args args = {.x = x,
                           .naxes = c->naxes > 0 ? c->naxes : 0,
                           .axes = c->axes,
                           .keepdims = c->flags & GOLDEN_KEEPDIMS,
                           .ddof = c->ddof};
    if (extra->dtype == GA_BOOL)
        args.where = more;
    else
        args.offsets = more;
    if (c->nargs > 2)
        args.initial = c->number[2];
    check(c, 0, layout_names[how], call(sizeof args, &args));
    if (how != LAYOUT_CONTIGUOUS || c->out[0]->size == 0)
        return;
    args.out = ga_zeros(c->out[0]->dtype, c->out[0]->ndim, c->out[0]->shape);
    gpuarray *out = call(sizeof args, &args);
    if (out != args.out)
        fail_later("%s: with .out the result is not out: %s", golden_call(c), ga_error_message());
    check(c, 0, ".out", out);
}

/* ---- Functions ---- */

static double number_of(const golden_case *c, int k)
{
    const ga_value v = c->number[k];
    return v.dtype == GA_FLOAT64 ? v.as.z[0] : (double)v.as.i;
}

static gpuarray *make(const golden_case *c)
{
    const double first = number_of(c, 0), second = c->nargs > 1 ? number_of(c, 1) : 0;
    const int64_t m = (int64_t)first;
    if (strcmp(c->name, "bartlett") == 0)
        return ga_bartlett(GA_FLOAT64, m);
    if (strcmp(c->name, "blackman") == 0)
        return ga_blackman(GA_FLOAT64, m);
    if (strcmp(c->name, "hamming") == 0)
        return ga_hamming(GA_FLOAT64, m);
    if (strcmp(c->name, "hanning") == 0)
        return ga_hanning(GA_FLOAT64, m);
    if (strcmp(c->name, "kaiser") == 0)
        return ga_kaiser(GA_FLOAT64, m, second);
    const int64_t count = (int64_t)number_of(c, 2);
    return strcmp(c->name, "logspace") == 0 ? ga_logspace(GA_FLOAT64, first, second, count)
                                            : ga_geomspace(GA_FLOAT64, first, second, count);
}

static void check_function(const golden_case *c)
{
    gpuarray *x = c->arg[0] ? golden_array(c->arg[0]) : NULL, *q = NULL, *r = NULL;
    gpuarray *y = c->nargs > 1 && c->arg[1] ? golden_array(c->arg[1]) : NULL;
    if (!x)
        check(c, 0, "made", make(c));
    else if (strcmp(c->name, "round") == 0)
        check(c, 0, "a copy", ga_round(x, (int)number_of(c, 1)));
    else if (strcmp(c->name, "isclose") == 0)
        check(c, 0, "with options", ga_isclose(x, y, .rtol = 0, .atol = 0.02, .equal_nan = true));
    else if (strcmp(c->name, "nan_to_num") == 0)
        check(c, 0, "with options", ga_nan_to_num(x, .nan = 1.5, .posinf = 0, .neginf = -7));
    else if (strcmp(c->name, "cov") == 0)
        check(c, 0, "rows", ga_cov(x));
    else if (strcmp(c->name, "corrcoef") == 0)
        check(c, 0, "rows", ga_corrcoef(x));
    else if (strcmp(c->name, "average") == 0)
        check(c, 0, "weighted", ga_average(x, GA_AXIS(1), .weights = y));
    else if (ga_divmod(x, y, &q, &r) == GA_OK) {
        check(c, 0, "quotients", q);
        check(c, 1, "remainders", r);
    } else {
        fail_later("%s: %s", golden_call(c), ga_error_message());
    }
}

static void run_case(int item)
{
    const golden_case *c = &file->cases[item];
    const reduce_function call = find_reduction(c->name);
    GA_SCOPE {
        if (!call) {
            check_function(c);
            continue;
        }
        check_reduction(c, call, LAYOUT_CONTIGUOUS);
        if (c->arg[0]->dtype == GA_FLOAT32)
            for (layout how = LAYOUT_FORTRAN; how < LAYOUT_BROADCAST; how++)
                check_reduction(c, call, how);
    }
}

static const char *case_text(int item)
{
    return golden_row(&file->cases[item]);
}

static void every_function_answers_as_numpy(void **state)
{
    (void)state;
    rows_in_threads(file->ncases, case_text, run_case);
    assert_int_equal(failures(), 0);
}

/* ---- Wholes ---- */

static void arrays_compare_as_wholes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, 1, 2, 1000), *near = ga_multiply(x, 1.0001f);
        gpuarray *nan = ga_log(ga_full(GA_FLOAT32, GA_SHAPE(3), -1.0));
        assert_true(ga_allclose(x, x) && ga_allclose(x, near, .rtol = 1e-3));
        assert_false(ga_allclose(x, near) || ga_allclose(x, near, .rtol = 0, .atol = 1e-5));
        assert_true(ga_allclose(ga_reshape(x, GA_SHAPE(10, 100)), ga_slice(x, ":100"), .atol = 2));
        assert_true(ga_allclose(3, 3.0) && ga_allclose(x, 1.5, .atol = 0.6));
        assert_false(ga_allclose(nan, nan));
        assert_true(ga_allclose(nan, nan, .equal_nan = true));
        assert_true(ga_array_equal(x, x) && !ga_array_equal(x, ga_slice(x, "1:")));
        assert_false(ga_array_equal(x, near) || ga_array_equal(nan, nan));
        assert_true(ga_array_equal(nan, nan, .equal_nan = true));
        assert_true(ga_array_equal(ga_ones(GA_INT8, GA_SHAPE(4)), ga_ones(GA_UINT64, GA_SHAPE(4))));
        assert_true(ga_array_equal(ga_zeros(GA_INT8, GA_SHAPE(0)), ga_zeros(GA_INT8, GA_SHAPE(0))));
        assert_true(
            ga_array_equiv(ga_ones(GA_INT8, GA_SHAPE(2, 1)), ga_ones(GA_FLOAT32, GA_SHAPE(3))));
        assert_false(ga_array_equiv(x, nan));
        assert_int_equal(ga_error(), GA_OK);
        assert_false(ga_allclose(x, nan));
        assert_int_equal(ga_error(), GA_ERR_SHAPE);
        ga_clear_error();
    }
}

static void the_text_of_a_call_says_what_is_given(void **state)
{
    (void)state;
    const char *text = ".rtol = f(1, \".atol = ,\"), .x = {0, ')'},  . atol = 0";
    assert_true(ga__option_given(text, "rtol") && ga__option_given(text, "atol"));
    assert_true(ga__option_given(text, "x") && !ga__option_given(text, "equal_nan"));
    assert_false(ga__option_given("(s).rtol, .rtols = 1", "rtol") || ga__option_given("", "rtol"));
    assert_true(ga__option_given(NULL, "rtol"));
}

static void wrong_options_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *w = ga_ones(GA_BOOL, GA_SHAPE(3));
        gpuarray *falls = ga_from_host((const int[]){3, 1}, GA_INT32, GA_SHAPE(2));
        gpuarray *past = ga_from_host((const int[]){0, 9}, GA_INT32, GA_SHAPE(2));
        assert_null(ga_sum(x, .where = w));
        assert_int_equal(ga_error(), GA_ERR_SHAPE);
        ga_clear_error();
        assert_null(ga_min(x, .where = ga_slice(x, "0")));
        assert_string_equal(ga_error_message(),
                            "min: .where requires GA_INITIAL(): an empty reduction has no result");
        ga_clear_error();
        assert_null(ga_mean(x, GA_INITIAL(1)));
        assert_string_equal(ga_error_message(), "mean: takes no initial element");
        ga_clear_error();
        assert_null(ga_sum(x, .naxes = 1, .axes = NULL, .offsets = falls));
        assert_string_equal(ga_error_message(), "sum: the list of axes is NULL");
        ga_clear_error();
        assert_null(ga_sum(x, GA_AXIS(1), .offsets = falls));
        assert_string_equal(ga_error_message(), "sum: offsets: 1 of them decrease");
        ga_clear_error();
        assert_null(ga_sum(x, GA_AXIS(1), .offsets = past));
        assert_int_equal(ga_error(), GA_ERR_INDEX);
        ga_clear_error();
        assert_null(ga_argmax(x, GA_AXIS(1), .offsets = past));
        assert_int_equal(ga_error(), GA_ERR_UNSUPPORTED);
        ga_clear_error();
        assert_null(ga_geomspace(GA_FLOAT64, -1, 1, 3));
        assert_int_equal(ga_error(), GA_ERR_INVALID);
        ga_clear_error();
    }
}

/* ---- Averages and covariances of nothing ---- */

/* Asserts a matrix of this dtype, with v rows and columns that are all NaN; 0-d if v is 1. */
static void expect_nan(const gpuarray *matrix, ga_dtype dtype, int64_t v)
{
    assert_int_equal(ga_error(), GA_OK);
    assert_int_equal(ga_dtype_of(matrix), dtype);
    assert_shape(matrix, v == 1 ? 0 : 2, (const int64_t[]){v, v});
    assert_true(ga_item_bool(ga_all(ga_isnan(matrix))));
}

static void nothing_varies_with_nothing(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *none = ga_zeros(GA_COMPLEX64, GA_SHAPE(0, 3)), *two = ga_eye(GA_FLOAT32, 2);
        gpuarray *flat = ga_zeros(GA_FLOAT32, GA_SHAPE(0)), *three = ga_ones(GA_INT8, GA_SHAPE(3));
        gpuarray *columns = ga_zeros(GA_FLOAT32, GA_SHAPE(0, 2));
        /* No variables: float64 (0, 0), whatever else is given. */
        expect_nan(ga_cov(none), GA_FLOAT64, 0);
        expect_nan(ga_cov(none, .y = two), GA_FLOAT64, 0);
        expect_nan(ga_cov(none, .y = three), GA_FLOAT64, 0);
        expect_nan(ga_cov(none, .y = none, .aweights = two), GA_FLOAT64, 0);
        expect_nan(ga_corrcoef(none, .y = two), GA_FLOAT64, 0);
        expect_nan(ga_cov(ga_zeros(GA_INT8, GA_SHAPE(3, 0)), .y = two, .columns = true), GA_FLOAT64,
                   0);
        assert_shape(ga_cov(three, .y = none), 0, NULL);
        assert_int_equal(ga_dtype_of(ga_cov(three, .y = none)), GA_COMPLEX128);
        /* No observations. */
        expect_nan(ga_cov(ga_transpose(none)), GA_COMPLEX128, 3);
        expect_nan(ga_cov(flat), GA_FLOAT64, 1);
        expect_nan(ga_corrcoef(flat), GA_FLOAT64, 1);
        expect_nan(ga_cov(flat, .y = flat), GA_FLOAT64, 2);
        expect_nan(ga_corrcoef(none, .y = columns, .columns = true), GA_COMPLEX128, 5);
        assert_null(ga_cov(ga_transpose(columns), .aweights = flat));
        expect_raised(GA_ERR_INVALID, "cov: the weights of 0 observations sum to 0");
        assert_null(ga_cov(two, .fweights = ga_zeros(GA_INT32, GA_SHAPE(2))));
        expect_raised(GA_ERR_INVALID, "cov: the weights of 2 observations sum to 0");
        assert_null(ga_cov(flat, .y = three));
        expect_raised(GA_ERR_SHAPE, "cov: x has 0 observations, y has 3");
        assert_null(ga_cov(none, .y = ga_zeros(GA_FLOAT32, GA_SHAPE(1, 1, 1))));
        expect_raised(GA_ERR_SHAPE, "cov: the array has 3 dimensions");
    }
}

/* One row of y is one variable, though the variables of x are columns. */
static void one_row_is_one_variable(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_arange(GA_FLOAT64, 0, 6, 1), GA_SHAPE(3, 2));
        gpuarray *y = ga_reshape(ga_arange(GA_FLOAT64, 3, 0, -1), GA_SHAPE(1, 3));
        assert_true(ga_allclose(ga_cov(x, .y = y, .columns = true),
                                ga_cov(ga_transpose(x), .y = ga_ravel(y))));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* NumPy's out=(q, r), in place, into another dtype, and where it does not go. */
static void two_results_go_into_arrays(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_INT32, -6, 6, 1), *y = ga_copy(x),
                 *q = ga_zeros(GA_FLOAT64, GA_SHAPE(2, 12)),
                 *r = ga_zeros(GA_INT32, GA_SHAPE(2, 12));
        assert_int_equal(ga_divmod_into(q, r, x, 5), GA_OK);
        assert_true(ga_array_equal(ga_slice(q, "1"), ga_floor_divide(x, 5)));
        assert_true(ga_array_equal(ga_slice(r, "0"), ga_remainder(x, 5)));
        assert_int_equal(ga_divmod_into(ga_slice(r, "0"), y, y, 4), GA_OK);
        assert_true(ga_array_equal(y, ga_remainder(x, 4)));
        assert_true(ga_array_equal(ga_slice(r, "0"), ga_floor_divide(x, 4)));
        gpuarray *before = ga_copy(y);
        assert_int_equal(ga_divmod_into(x, ga_flip(y, 0), y, 3), GA_OK);
        assert_true(ga_array_equal(ga_flip(y, 0), ga_remainder(before, 3)));
        assert_int_equal(ga_divmod_into(ga_slice(r, "0"), ga_slice(r, "0"), x, 2), GA_ERR_INVALID);
        expect_raised(GA_ERR_INVALID, "divmod: the results share memory");
        assert_int_equal(ga_divmod_into(x, r, x, 2), GA_ERR_SHAPE);
        expect_raised(GA_ERR_SHAPE, "divmod: the results have shapes (12,) and (2, 12)");
        assert_int_equal(ga_divmod_into(ga_slice(x, ":3"), ga_slice(y, ":3"), x, 2), GA_ERR_SHAPE);
        expect_raised(GA_ERR_SHAPE, "divmod: the result has shape (12,), out has (3,)");
        assert_int_equal(ga_frexp_into(q, x, q), GA_ERR_SHAPE);
        ga_clear_error();
        assert_int_equal(ga_modf_into(x, y, ga_ones(GA_FLOAT32, GA_SHAPE(12))), GA_ERR_DTYPE);
        expect_raised(GA_ERR_DTYPE, "modf: the result is float32");
        assert_int_equal(ga_modf_into(x, NULL, x), GA_ERR_INVALID);
        expect_raised(GA_ERR_INVALID, "modf: out is NULL");
    }
}

/* Signs of zeros, as NumPy's. */
static void quotients_of_complex_numbers_are_exact(void **state)
{
    (void)state;
    const double numbers[] = {0, 1, 1, 3, 0.5, 3, 3, -2, 0, -1};
    double got[10];
    GA_SCOPE {
        gpuarray *x = ga_from_host(numbers, GA_COMPLEX128, GA_SHAPE(5));
        assert_int_equal(ga_to_host(ga_divide(x, x), got, sizeof got), GA_OK);
        for (int k = 0; k < 10; k++)
            assert_true(k % 2 ? got[k] == 0 : got[k] == 1);
        assert_false(signbit(got[1]));
    }
}

static void averages_need_weights(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 0)), *sums = NULL;
        gpuarray *flat = ga_zeros(GA_FLOAT32, GA_SHAPE(0)), *row = ga_ones(GA_INT8, GA_SHAPE(3));
        gpuarray *corner = ga_zeros(GA_FLOAT32, GA_SHAPE(0, 0));
        assert_null(ga_average(flat, .weights = flat, .returned = &sums));
        expect_raised(GA_ERR_INVALID, "average: weights of shape (0,) have no elements");
        assert_null(sums);
        assert_null(ga_average(x, .weights = x));
        expect_raised(GA_ERR_INVALID, "average: weights of shape (3, 0) have no elements");
        assert_null(ga_average(x, GA_AXIS(1), .weights = flat));
        expect_raised(GA_ERR_INVALID, "have no elements");
        assert_null(ga_average(corner, GA_AXIS(1), .weights = flat));
        expect_raised(GA_ERR_INVALID, "have no elements");
        /* No sum at all, and sums of some. */
        assert_shape(ga_average(x, GA_AXIS(0), .weights = x), 1, (const int64_t[]){0});
        assert_shape(ga_average(x, GA_AXIS(0), .weights = row), 1, (const int64_t[]){0});
        assert_shape(ga_average(corner, GA_AXIS(1), .weights = corner), 1, (const int64_t[]){0});
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Where NumPy raises ZeroDivisionError, the quotient is that of the sums: n / 0. */
static void weights_may_sum_to_zero(void **state)
{
    double got[3];
    (void)state;
    GA_SCOPE {
        const double none[] = {0, 0, 0, 1, 2, 1}, apart[] = {1, -1};
        gpuarray *x = ga_reshape(ga_arange(GA_FLOAT64, 1, 7, 1), GA_SHAPE(2, 3)), *sums = NULL,
                 *w = ga_from_host(none, GA_FLOAT64, GA_SHAPE(2, 3)),
                 *halves = ga_from_host(apart, GA_FLOAT64, GA_SHAPE(2));
        gpuarray *rows = ga_average(x, GA_AXIS(1), .weights = w, .returned = &sums);
        assert_int_equal(ga_to_host(rows, got, 2 * sizeof *got), GA_OK);
        assert_true(isnan(got[0]) && got[1] == 5);
        assert_int_equal(ga_to_host(sums, got, 2 * sizeof *got), GA_OK);
        assert_true(got[0] == 0 && got[1] == 4);
        gpuarray *columns = ga_average(x, GA_AXIS(0), .weights = halves);
        assert_int_equal(ga_to_host(columns, got, sizeof got), GA_OK);
        for (int k = 0; k < 3; k++)
            assert_true(isinf(got[k]) && got[k] < 0);
        gpuarray *whole = ga_zeros(GA_INT32, GA_SHAPE(2, 3));
        assert_true(isnan(ga_item_double(ga_average(x, .weights = whole))));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Of no element the distance of the extremes is NaN, or the integer 0; of one it is 0. */
static void nothing_has_no_extent(void **state)
{
    static const ga_dtype dtypes[] = {GA_INT8,    GA_UINT16,  GA_INT64,    GA_UINT64,
                                      GA_FLOAT16, GA_FLOAT32, GA_COMPLEX64};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        GA_SCOPE {
            gpuarray *x = ga_astype(counting(GA_SHAPE(3, 4)), dtypes[d]),
                     *mask = ga_from_host(((bool[]){0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1}), GA_BOOL,
                                          GA_SHAPE(3, 4)),
                     *ends = ga_from_host(((int64_t[]){0, 0, 1, 5, 12}), GA_INT64, GA_SHAPE(5));
            const bool whole = dtypes[d] <= GA_UINT64;
            gpuarray *rows = ga_ptp(x, GA_AXIS(1), .where = mask),
                     *parts = ga_ptp(ga_ravel(x), .offsets = ends);
            assert_true(whole ? ga_item_int64(rows, 0) == 0
                              : ga_item_bool(ga_isnan(ga_slice(rows, "0"))));
            assert_true(whole ? ga_item_int64(parts, 0) == 0
                              : ga_item_bool(ga_isnan(ga_slice(parts, "0"))));
            assert_numbers(ga_astype(ga_real(ga_slice(rows, "1:")), GA_INT32), NUMBERS(0, 3));
            assert_numbers(ga_astype(ga_real(ga_slice(parts, "1:")), GA_INT32), NUMBERS(0, 3, 6));
            assert_int_equal(ga_error(), GA_OK);
        }
}

/* ---- Dtypes ---- */

static void dtypes_have_numpys_limits(void **state)
{
    (void)state;
    assert_int_equal(ga_iinfo(GA_INT8).min, -128);
    assert_true(ga_iinfo(GA_UINT64).max == UINT64_MAX && ga_iinfo(GA_INT64).max == INT64_MAX);
    assert_true(ga_iinfo(GA_INT64).min == INT64_MIN && ga_iinfo(GA_UINT16).bits == 16);
    const ga_float_info half = ga_finfo(GA_FLOAT16), single = ga_finfo(GA_COMPLEX64);
    assert_true(half.max == 65504 && half.eps == 0x1p-10 && half.smallest_subnormal == 0x1p-24);
    assert_true(half.precision == 3 && half.nmant == 10 && half.nexp == 5 && half.tiny == 0x1p-14);
    assert_true(single.max == 0x1.fffffep127 && single.epsneg == 0x1p-24 && single.bits == 32);
    assert_true(single.dtype == GA_FLOAT32 && single.precision == 6 && single.min == -single.max);
    assert_true(ga_finfo(GA_FLOAT64).max == 0x1.fffffffffffffp1023);
    assert_true(ga_finfo(GA_FLOAT8_E4M3FN).max == 448 && ga_finfo(GA_BFLOAT16).eps == 0x1p-7);
    assert_int_equal(ga_error(), GA_OK);
    assert_int_equal(ga_iinfo(GA_FLOAT32).bits, 0);
    assert_int_equal(ga_error(), GA_ERR_DTYPE);
    ga_clear_error();
    assert_int_equal(ga_finfo(GA_BOOL).bits, 0);
    ga_clear_error();
    assert_true(ga_isdtype(GA_BOOL, "bool") && ga_isdtype(GA_UINT8, "integral"));
    assert_true(ga_isdtype(GA_BFLOAT16, "real floating") && !ga_isdtype(GA_BOOL, "numeric"));
    assert_false(ga_isdtype(GA_INT8, "unsigned integer") || ga_isdtype(GA_INT8, "float"));
    assert_int_equal(ga_error(), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_promote_types(GA_INT8, GA_UINT8), GA_INT16);
}

static void check_masked_places(int64_t rows, int64_t length, int axis, uint64_t seed)
{
    enum { MOST = 4096 };
    static int8_t x[MOST];
    static bool w[MOST];
    int64_t places[2][MOST];
    const int64_t step = axis ? 1 : length, count = axis ? rows : length;
    for (int64_t k = 0; k < rows * length; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[k] = seed >> 61 ? (int8_t)(seed >> 40) : INT8_MAX;
        w[k] = seed >> 60 < 6;
    }
    GA_SCOPE {
        const gpuarray *a = ga_from_host(x, GA_INT8, GA_SHAPE(rows, length)),
                       *mask = ga_from_host(w, GA_BOOL, GA_SHAPE(rows, length));
        ga_to_host(ga_argmin(a, GA_AXIS(axis), .where = mask), places[0], (size_t)count * 8);
        ga_to_host(ga_argmax(a, GA_AXIS(axis), .where = mask), places[1], (size_t)count * 8);
        assert_int_equal(ga_error(), GA_OK);
    }
    for (int64_t r = 0; r < count; r++) {
        const int64_t first = axis ? r * length : r, n = axis ? length : rows;
        int64_t low = -1, high = -1;
        for (int64_t k = 0; k < n; k++)
            if (w[first + k * step]) {
                const int8_t v = x[first + k * step];
                low = low < 0 || v < x[first + low * step] ? k : low;
                high = high < 0 || v > x[first + high * step] ? k : high;
            }
        assert_int_equal(places[0][r], low);
        assert_int_equal(places[1][r], high);
    }
}

/* Elements that a mask leaves out lose against every other one: CUDA's kernels hold int8 as ints,
 * and join them with their places. */
static void masked_places_of_small_integers(void **state)
{
    static const int64_t shapes[][2] = {{40, 37}, {8, 512}, {512, 8}, {64, 64}, {4, 5}, {3, 1365}};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int axis = 0; in_short_sample("masked places", (int)s, 6) && axis < 2; axis++)
            check_masked_places(shapes[s][0], shapes[s][1], axis, s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(every_function_answers_as_numpy),
        cmocka_unit_test(arrays_compare_as_wholes),
        cmocka_unit_test(the_text_of_a_call_says_what_is_given),
        cmocka_unit_test(wrong_options_are_errors),
        cmocka_unit_test(nothing_varies_with_nothing),
        cmocka_unit_test(one_row_is_one_variable),
        cmocka_unit_test(two_results_go_into_arrays),
        cmocka_unit_test(quotients_of_complex_numbers_are_exact),
        cmocka_unit_test(averages_need_weights),
        cmocka_unit_test(weights_may_sum_to_zero),
        slow_test(nothing_has_no_extent),
        cmocka_unit_test(dtypes_have_numpys_limits),
        cmocka_unit_test(masked_places_of_small_integers),
        simulated_test(masked_places_of_small_integers),
    };
    file = golden_open("functions.bin");
    sample_on_gpu(3);
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
