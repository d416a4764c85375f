/* The numbers of products: errors of rounding within the bounds of docs/products.md, NaN and
 * infinities, alpha and beta, by every way in which products are computed. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "model/dtype.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

static uint64_t first_seed;

/* ---- Operands ---- */

/* A stack of products, or with places 0 a single one. A vector is the only row of a, or the only
 * column of b. */
typedef struct shape {
    int64_t places, m, n, k;
    bool a_turned, b_turned; /* transposes of matrices in C order */
    bool shared;             /* b is one matrix for all places */
    bool vectors;            /* a 1-D operand where a length allows it */
} shape;

static bool is_complex(ga_dtype dtype)
{
    return ga__dtype_kind(dtype) == 'c';
}

/* Numbers in [-1, 1), each part of complex ones. */
static void fill(ga_dtype dtype, char *bytes, int64_t count, uint64_t *seed)
{
    const size_t size = ga_dtype_size(dtype);
    for (int64_t k = 0; k < count; k++) {
        void *const at = bytes + (size_t)k * size;
        const double re = random_real(seed), im = random_real(seed);
        if (dtype == GA_COMPLEX64)
            memcpy(at, (float[]){(float)re, (float)im}, size);
        else if (dtype == GA_COMPLEX128)
            memcpy(at, (double[]){re, im}, size);
        else
            ga__dtype_store(dtype, ga_value_double(re), at);
    }
}

/* A stack of matrices, or a vector. */
static gpuarray *operand(ga_dtype dtype, int64_t places, int64_t rows, int64_t columns, bool turned,
                         bool vector, uint64_t *seed)
{
    const int64_t count = (places ? places : 1) * rows * columns;
    const int64_t lengths[] = {places, turned ? columns : rows, turned ? rows : columns};
    char *bytes = malloc((size_t)count * ga_dtype_size(dtype) + 1);
    assert_non_null(bytes);
    fill(dtype, bytes, count, seed);
    gpuarray *x = vector ? ga_from_host(bytes, dtype, 1, &count)
                         : ga_from_host(bytes, dtype, places ? 3 : 2, lengths + !places);
    free(bytes);
    assert_non_null(x);
    return turned && !vector ? ga_matrix_transpose(x) : x;
}

/* All elements in C order, as numbers. */
typedef struct numbers {
    double *re, *im;
} numbers;

static numbers numbers_of(const gpuarray *x)
{
    const ga_dtype dtype = ga_dtype_of(x);
    const int64_t count = ga_size(x);
    const size_t size = ga_dtype_size(dtype);
    char *bytes = malloc(ga_nbytes(x) + 1);
    numbers made = {calloc((size_t)count + 1, sizeof(double)),
                    calloc((size_t)count + 1, sizeof(double))};
    assert_non_null(bytes);
    assert_true(made.re && made.im);
    assert_int_equal(ga_to_host(x, bytes, ga_nbytes(x)), GA_OK);
    for (int64_t k = 0; k < count; k++) {
        const void *const at = bytes + (size_t)k * size;
        float parts[2];
        if (dtype == GA_COMPLEX64) {
            memcpy(parts, at, size);
            made.re[k] = (double)parts[0];
            made.im[k] = (double)parts[1];
        } else if (dtype == GA_COMPLEX128) {
            memcpy(&made.re[k], at, sizeof(double));
            memcpy(&made.im[k], (const char *)at + sizeof(double), sizeof(double));
        } else {
            made.re[k] = ga__number_double(ga__dtype_fetch(dtype, at));
        }
    }
    free(bytes);
    return made;
}

static void forget(numbers x)
{
    free(x.re);
    free(x.im);
}

/* ---- Errors of rounding ---- */

/* How a dtype is multiplied. */
typedef struct format {
    ga_dtype dtype;
    double accumulator, unit, least; /* units of the sums and of the result; its least number */
    int64_t most_k;                  /* sums stay below the largest number */
    bool tf32;
} format;

static const format formats[] = {
    {GA_FLOAT64, DBL_EPSILON, DBL_EPSILON, 0x1p-1074, 1 << 20, false},
    {GA_FLOAT32, FLT_EPSILON, FLT_EPSILON, 0x1p-149, 1 << 20, false},
    {GA_FLOAT32, FLT_EPSILON, FLT_EPSILON, 0x1p-149, 1 << 20, true},
    {GA_FLOAT16, FLT_EPSILON, 0x1p-10, 0x1p-24, 1 << 20, false},
    {GA_BFLOAT16, FLT_EPSILON, 0x1p-7, 0x1p-133, 1 << 20, false},
    {GA_FLOAT8_E4M3FN, FLT_EPSILON, 0x1p-3, 0x1p-9, 1 << 15, false},
    {GA_FLOAT8_E5M2, FLT_EPSILON, 0x1p-2, 0x1p-16, 1 << 20, false},
    {GA_COMPLEX64, FLT_EPSILON, FLT_EPSILON, 0x1p-149, 1 << 20, false},
    {GA_COMPLEX128, DBL_EPSILON, DBL_EPSILON, 0x1p-1074, 1 << 20, false},
};

enum { FORMATS = sizeof formats / sizeof *formats };

/* What sort of shape. */
enum { USUAL, THIN, LONG, STACK, VECTORS, KINDS };

static const char *const kinds[] = {"usual", "thin", "long", "stack", "vectors"};

static int64_t up_to(int64_t most, uint64_t *seed)
{
    return 1 + random_below(seed, most);
}

static shape random_shape(int kind, const format *f, uint64_t *seed)
{
    shape s = {.a_turned = random_below(seed, 2), .b_turned = random_below(seed, 2)};
    const int64_t longest = f->most_k;
    s.m = up_to(kind == THIN ? 3 : kind == LONG ? 2 : kind == STACK ? 64 : 40, seed);
    s.n = up_to(kind == THIN ? 300 : kind == LONG ? 2 : kind == STACK ? 64 : 40, seed);
    s.k = kind == LONG ? longest - random_below(seed, longest / 4) : up_to(700, seed);
    if (kind == STACK) {
        s.places = 1 + up_to(12, seed);
        s.k = up_to(130, seed);
        s.shared = random_below(seed, 4) == 0;
    }
    s.vectors = kind == VECTORS;
    if (kind == THIN ? random_below(seed, 2) : 0) {
        const int64_t m = s.m;
        s.m = s.n;
        s.n = m;
    }
    if (kind == VECTORS) {
        const int64_t which = random_below(seed, 3);
        s.m = which != 1 ? 1 : s.m;
        s.n = which != 0 ? 1 : s.n;
        s.k = up_to(3000, seed);
    }
    return s;
}

/* The exact sum of an element's products, and that of their magnitudes, for each part. */
typedef struct sums {
    long double re, im, re_magnitude, im_magnitude;
} sums;

static void add_product(sums *s, double ar, double ai, double br, double bi)
{
    const long double terms[] = {(long double)ar * br, -(long double)ai * bi, (long double)ar * bi,
                                 (long double)ai * br};
    s->re += terms[0] + terms[1];
    s->im += terms[2] + terms[3];
    s->re_magnitude += fabsl(terms[0]) + fabsl(terms[1]);
    s->im_magnitude += fabsl(terms[2]) + fabsl(terms[3]);
}

static sums sums_at(const shape *s, numbers a, numbers b, int64_t at)
{
    const int64_t place = at / (s->m * s->n), row = at / s->n % s->m, column = at % s->n;
    const int64_t left = (place * s->m + row) * s->k,
                  right = (s->shared ? 0 : place) * s->k * s->n + column;
    sums made = {0};
    for (int64_t l = 0; l < s->k; l++)
        add_product(&made, a.re[left + l], a.im[left + l], b.re[right + l * s->n],
                    b.im[right + l * s->n]);
    return made;
}

/* As docs/products.md states it. A part of a complex sum has twice as many products. */
static long double bound_of(const format *f, int64_t k, long double sum, long double magnitude)
{
    const long double terms = (long double)k * (is_complex(f->dtype) ? 2 : 1);
    const long double factors = f->tf32 ? 0x1p-9L + 0x1p-20L : 0;
    return (terms / 2 * f->accumulator + factors) * magnitude * (1 + 1e-6L) +
           f->unit / 2 * fabsl(sum) * 1.01L + f->least / 2;
}

static void check_bounds(const format *f, int kind, uint64_t seed)
{
    const uint64_t given = seed;
    const shape s = random_shape(kind, f, &seed);
    GA_SCOPE {
        const gpuarray *a = operand(f->dtype, s.places, s.m, s.k, s.a_turned, s.vectors && s.m == 1,
                                    &seed),
                       *b = operand(f->dtype, s.shared ? 0 : s.places, s.k, s.n, s.b_turned,
                                    s.vectors && s.n == 1, &seed),
                       *c = ga_matmul(a, b, .tf32 = f->tf32);
        if (!c)
            fail_msg("%s", ga_error_message());
        const numbers left = numbers_of(a), right = numbers_of(b), got = numbers_of(c);
        const int64_t count = ga_size(c);
        assert_int_equal(count, (s.places ? s.places : 1) * s.m * s.n);
        for (int64_t at = 0; at < count; at++) {
            const sums wanted = sums_at(&s, left, right, at);
            const long double re = fabsl(got.re[at] - wanted.re),
                              im = fabsl(got.im[at] - wanted.im);
            if (!(re <= bound_of(f, s.k, wanted.re, wanted.re_magnitude)) ||
                !(im <= bound_of(f, s.k, wanted.im, wanted.im_magnitude)))
                fail_msg("%s%s, %s, seed %llu: %d of (%d, %d, %d) @ (%d, %d): element %d is off by "
                         "%Lg, %Lg",
                         ga_dtype_name(f->dtype), f->tf32 ? " (tf32)" : "", kinds[kind],
                         (unsigned long long)given, (int)s.places, (int)s.places, (int)s.m,
                         (int)s.k, (int)s.k, (int)s.n, (int)at, re, im);
        }
        forget(left), forget(right), forget(got);
    }
}

static void check_all_bounds(const char *list, int repeats)
{
    const int count = FORMATS * KINDS * repeats;
    for (int k = 0; k < count; k++)
        if (in_short_sample(list, k, count))
            check_bounds(&formats[k % FORMATS], k / FORMATS % KINDS,
                         first_seed + (uint64_t)k * 1000003);
}

static void errors_are_bounded(void **state)
{
    (void)state;
    check_all_bounds("bounds", items_here(4, 1));
}

static void simulated_errors_stay_within_bounds(void **state)
{
    (void)state;
    check_all_bounds("simulated bounds", 1);
}

/* ---- NaN, infinities, alpha and beta ---- */

static gpuarray *ones(ga_dtype dtype, int64_t places, int64_t rows, int64_t columns, bool turned)
{
    const int64_t lengths[] = {places, turned ? columns : rows, turned ? rows : columns};
    gpuarray *x = ga_ones(dtype, places ? 3 : 2, lengths + !places);
    assert_non_null(x);
    return turned ? ga_matrix_transpose(x) : x;
}

/* Matrices of an odd layout, without one element that is a number. */
static gpuarray *no_numbers(const gpuarray *like)
{
    int64_t lengths[3];
    const int ndim = ga_ndim(like);
    for (int k = 0; k < ndim; k++)
        lengths[k] = ga_shape(like)[k] * (k < ndim - 2 ? 1 : 2);
    return ga_slice(ga_full(ga_dtype_of(like), ndim, lengths, NAN), "..., ::2, ::-2");
}

static void put(gpuarray *x, const char *where, double number)
{
    assert_int_equal(ga_assign(ga_slice(x, where), number), GA_OK);
}

/* What a row and column of each place is: NaN, infinite or a number. */
typedef double (*expected)(const shape *s, int64_t row, int64_t column);

static void check(const char *what, const shape *s, const gpuarray *c, expected of)
{
    if (!c)
        fail_msg("%s: %s", what, ga_error_message());
    const numbers got = numbers_of(c);
    for (int64_t k = 0; k < ga_size(c); k++) {
        const double wanted = of(s, k / s->n % s->m, k % s->n);
        if (isnan(wanted) ? !isnan(got.re[k]) : got.re[k] != wanted)
            fail_msg("%s: %s of (%d, %d, %d) @ (%d, %d): element %d is %g, wanted %g", what,
                     ga_dtype_name(ga_dtype_of(c)), (int)s->places, (int)s->m, (int)s->k, (int)s->k,
                     (int)s->n, (int)k, got.re[k], wanted);
    }
    forget(got);
}

static double twice_k(const shape *s, int64_t row, int64_t column)
{
    (void)row, (void)column;
    return 2 * (double)s->k;
}

static double first_row_is_nan(const shape *s, int64_t row, int64_t column)
{
    (void)column;
    return row == 0 ? NAN : (double)s->k;
}

static double last_one_is_nan(const shape *s, int64_t row, int64_t column)
{
    return row == s->m - 1 && column == s->n - 1 ? NAN : (double)s->k + 3;
}

/* The last factors of the last row are infinite, those of the first column 0. */
static double last_row_is_infinite(const shape *s, int64_t row, int64_t column)
{
    return row < s->m - 1 ? (double)s->k - (column == 0) : column == 0 ? NAN : INFINITY;
}

static void check_numbers(ga_dtype dtype, const shape *s)
{
    GA_SCOPE {
        gpuarray *a = ones(dtype, s->places, s->m, s->k, s->a_turned),
                 *b = ones(dtype, s->places, s->k, s->n, s->b_turned), *c = ga_matmul(a, b);
        check("beta 0", s, ga_matmul(a, b, .out = ga_full_like(c, NAN), .alpha = 2), twice_k);
        check("beta 0, strides", s, ga_matmul(a, b, .out = no_numbers(c), .alpha = 2), twice_k);
        if (is_complex(dtype))
            check("imaginary alpha", s,
                  ga_multiply(ga_matmul(a, b, .out = ga_full_like(c, NAN), .alpha_imag = 2),
                              ga_value_floating(GA_COMPLEX128, 0, -1)),
                  twice_k);
        gpuarray *out = ga_full_like(c, 3);
        put(out, "..., -1, -1", NAN);
        check("beta 1", s, ga_matmul(a, b, .out = out, .beta = 1), last_one_is_nan);
        put(a, "..., 0, 0", NAN);
        check("alpha 0", s, ga_matmul(a, b, .alpha = 0), first_row_is_nan);
        check("alpha 0 and out", s, ga_matmul(a, b, .out = ga_full_like(c, NAN), .alpha = 0),
              first_row_is_nan);
        if (!is_complex(dtype)) {
            put(a, "..., 0, 0", 1);
            put(a, "..., -1, -1", INFINITY);
            put(b, "..., -1, 0", 0);
            check("infinity", s, ga_matmul(a, b), last_row_is_infinite);
        }
    }
}

/* relu(x @ w + b), with a library by its epilogue. */
static double last_one_is_nan_above_relu(const shape *s, int64_t row, int64_t column)
{
    return row == 0 ? NAN : column == 0 ? 0 : (double)s->k + 1;
}

static void check_epilogue(ga_dtype dtype, const shape *s)
{
    GA_SCOPE {
        gpuarray *x = ones(dtype, s->places, s->m, s->k, s->a_turned),
                 *w = ones(dtype, s->places, s->k, s->n, s->b_turned),
                 *r = ga_ones(dtype, GA_SHAPE(s->n)), *out = ga_full_like(ga_matmul(x, w), NAN);
        put(x, "..., 0, 0", NAN);
        put(r, "0", -2 * (double)s->k);
        assert_int_equal(ga_eval_into(out, "relu(x @ w + r)", GA_NAMED("x", x), GA_NAMED("w", w),
                                      GA_NAMED("r", r)),
                         GA_OK);
        check("epilogue", s, out, last_one_is_nan_above_relu);
    }
}

/* Tiles and panels; a row, a column; stacks for lanes and for teams of threads. */
static const shape shapes[] = {{.m = 40, .n = 40, .k = 40},
                               {.m = 70, .n = 131, .k = 67, .a_turned = true},
                               {.m = 1, .n = 50, .k = 30},
                               {.m = 1, .n = 50, .k = 30, .b_turned = true},
                               {.m = 40, .n = 1, .k = 30},
                               {.places = 20, .m = 6, .n = 6, .k = 6},
                               {.places = 20, .m = 5, .n = 2, .k = 7, .b_turned = true},
                               {.places = 5, .m = 13, .n = 7, .k = 19},
                               {.places = 5, .m = 16, .n = 24, .k = 80, .a_turned = true}};
static const ga_dtype dtypes[] = {GA_FLOAT32,  GA_FLOAT64,   GA_FLOAT16,
                                  GA_BFLOAT16, GA_COMPLEX64, GA_COMPLEX128};

enum { SHAPES = sizeof shapes / sizeof *shapes, DTYPES = sizeof dtypes / sizeof *dtypes };

static void check_all_numbers(const char *list, int ndtypes)
{
    const int count = SHAPES * ndtypes;
    for (int k = 0; k < count; k++) {
        if (!in_short_sample(list, k, count))
            continue;
        check_numbers(dtypes[k % ndtypes], &shapes[k / ndtypes]);
        if (!is_complex(dtypes[k % ndtypes]))
            check_epilogue(dtypes[k % ndtypes], &shapes[k / ndtypes]);
    }
}

static void nan_is_not_read_with_beta_0_and_else_stays(void **state)
{
    (void)state;
    check_all_numbers("NaN", DTYPES);
}

static void simulated_nan_does_not_spread(void **state)
{
    (void)state;
    check_all_numbers("simulated NaN", DTYPES);
}

#ifdef QUARRY_CUDA
/* A library of the tests stands for cuBLASLt, which multiplies float32 and float64. */
static void library_does_not_read_nan_with_beta_0(void **state)
{
    (void)state;
    (void)simulate_cublaslt();
    check_all_numbers("NaN by a library", 2);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_bounded),
        cmocka_unit_test(nan_is_not_read_with_beta_0_and_else_stays),
        simulated_test(simulated_errors_stay_within_bounds),
        simulated_test(simulated_nan_does_not_spread),
#ifdef QUARRY_CUDA
        simulated_test(library_does_not_read_nan_with_beta_0),
#endif
    };
#ifdef __x86_64__
    setenv("OPENBLAS_CORETYPE", "Prescott", 0); /* OpenBLAS multiplies on every processor */
#endif
    first_seed = run_seed();
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
