/* Sums of positive floats, cumulative ones too, against long double: for any dtype, axes, layout
 * and length, within 32 units in the last place of the accumulator's type. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "model/dtype.h"
#include "run.h"

#define ULPS 32

static bool reduced(void)
{
    return getenv("QUARRY_TEST_REDUCED") != NULL;
}

/* ---- Random numbers and elements ---- */

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 16) % n;
}

/* The values of the elements. LEAD: one large element, and the others so small that each addition
 * rounds. */
typedef enum content { TENTH, THIRD, UNIFORM, LEAD, CONTENTS } content;

static double new_element(content c, bool first, double epsilon)
{
    switch (c) {
    case TENTH: return 0.1;
    case THIRD: return 1.0 / 3;
    case LEAD: return first ? 1 : 0.51 * epsilon;
    default: return (double)(1 + random_below(1 << 20)) * 0x1p-20;
    }
}

/* 2 to the power of minus the fraction bits of the type that sums of this dtype accumulate in. */
static double epsilon_of(ga_dtype dtype)
{
    const size_t size = ga_dtype_size(dtype);
    return size == (ga__dtype_kind(dtype) == 'c' ? 16u : 8u) ? 0x1p-52 : 0x1p-23;
}

static gpuarray *new_array(ga_dtype dtype, content c, int ndim, const int64_t *shape)
{
    int64_t size = 1;
    for (int axis = 0; axis < ndim; axis++)
        size *= shape[axis];
    const size_t itemsize = ga_dtype_size(dtype);
    char *bytes = malloc((size_t)size * itemsize + 1);
    assert_non_null(bytes);
    for (int64_t k = 0; k < size; k++) {
        const double re = new_element(c, k == 0, epsilon_of(dtype)),
                     im = new_element(c, k == 0, epsilon_of(dtype));
        const ga_value v = {GA_VALUE_NUMBER, GA_COMPLEX128, {.z = {re, im}}},
                       r = {GA_VALUE_NUMBER, GA_FLOAT64, {.z = {re}}};
        ga__dtype_store(dtype, ga__dtype_kind(dtype) == 'c' ? v : r, bytes + (size_t)k * itemsize);
    }
    gpuarray *x = ga_from_host(bytes, dtype, ndim, shape);
    free(bytes);
    return x;
}

/* All elements of x in C order as complex numbers; the caller frees them. */
static long double (*elements_of(const gpuarray *x))[2]
{
    const size_t itemsize = ga_dtype_size(ga_dtype_of(x)), size = (size_t)ga_size(x);
    char *bytes = malloc(size * itemsize + 1);
    long double(*all)[2] = malloc(size * sizeof *all + 1);
    assert_non_null(bytes);
    assert_non_null(all);
    assert_int_equal(ga_to_host(x, bytes, size * itemsize), GA_OK);
    for (size_t k = 0; k < size; k++) {
        const ga_value v = ga__dtype_fetch(ga_dtype_of(x), bytes + k * itemsize);
        all[k][0] = v.as.z[0];
        all[k][1] = ga__dtype_kind(ga_dtype_of(x)) == 'c' ? v.as.z[1] : 0;
    }
    free(bytes);
    return all;
}

/* A sum of positive numbers, exact to the precision of long double: it also sums the rounding error
 * of each addition (M. Pichat and A. Neumaier). */
typedef struct exact_sum {
    long double sum, left_out;
} exact_sum;

static void add_exactly(exact_sum *s, long double x)
{
    const long double sum = s->sum + x;
    s->left_out += s->sum >= x ? (s->sum - sum) + x : (x - sum) + s->sum;
    s->sum = sum;
}

static long double value_of(const exact_sum *s)
{
    return s->sum + s->left_out;
}

/* ---- Operands and expected results ---- */

typedef enum operation { SUM, MEAN, NANSUM, NANMEAN, VAR, STD, OPERATIONS } operation;

static const char *const operation_names[] = {"sum", "mean", "nansum", "nanmean", "var", "std"};

static gpuarray *reduce_with(operation op, const ga_reduce_args *args)
{
    static gpuarray *(*const functions[])(size_t, const ga_reduce_args *) = {
        (ga_sum), (ga_mean), (ga_nansum), (ga_nanmean), (ga_var), (ga_std)};
    return functions[op](sizeof *args, args);
}

static gpuarray *reduce_it(operation op, const gpuarray *x, int naxes, const int *axes)
{
    return reduce_with(op, &(ga_reduce_args){.x = x, .naxes = naxes, .axes = axes});
}

/* From the sum, the sum of squared differences from the mean, and the count. */
static long double result_of(operation op, long double sum, long double squares, long double count)
{
    switch (op) {
    case SUM:
    case NANSUM: return sum;
    case VAR: return squares / count;
    case STD: return sqrtl(squares / count);
    default: return sum / count;
    }
}

static char case_text[256];
static long double worst; /* over all cases, in units in the last place */

static void check_one(ga_dtype computed, ga_dtype stored, long double got, long double expected)
{
    const long double room =
        ULPS * (long double)epsilon_of(computed) + (stored == GA_FLOAT16 ? 0x1p-11L : 0);
    const long double least = stored == GA_FLOAT16 ? 0x1p-25L : 0; /* half the smallest half */
    const long double ulps = (got - expected) / expected / (long double)epsilon_of(computed);
    if (ga_dtype_size(stored) > 2 && fabsl(ulps) > worst)
        worst = fabsl(ulps);
    if (!(fabsl(got - expected) <= room * expected + least))
        fail_msg("%s: %.9Lg, not %.9Lg: %.1Lf units in the last place", case_text, got, expected,
                 ulps);
}

/* The index of element k's output: its position on the kept axes. */
static int64_t output_of(const gpuarray *x, const bool *gone, int64_t k)
{
    int64_t output = 0, step = 1;
    for (int axis = ga_ndim(x) - 1; axis >= 0; axis--) {
        const int64_t length = ga_shape(x)[axis];
        if (!gone[axis]) {
            output += k % length * step;
            step *= length;
        }
        k /= length;
    }
    return output;
}

/* r: of x without the axes that are `gone`. */
static void check_result(operation op, const gpuarray *x, const bool *gone, const gpuarray *r)
{
    if (!r)
        fail_msg("%s: %s", case_text, ga_error_message());
    const int64_t outputs = ga_size(r), count = ga_size(x) / outputs;
    long double(*all)[2] = elements_of(x), (*got)[2] = elements_of(r);
    exact_sum(*sums)[2] = calloc((size_t)outputs, sizeof *sums),
    *squares = calloc((size_t)outputs, sizeof *squares);
    for (int64_t k = 0; k < ga_size(x); k++)
        for (int part = 0; part < 2; part++)
            add_exactly(&sums[output_of(x, gone, k)][part], all[k][part]);
    for (int64_t k = 0; k < ga_size(x); k++)
        for (int part = 0; part < 2; part++) {
            const int64_t o = output_of(x, gone, k);
            const long double apart = all[k][part] - value_of(&sums[o][part]) / (long double)count;
            add_exactly(&squares[o], apart * apart);
        }
    for (int64_t o = 0; o < outputs; o++)
        for (int part = 0; part < (ga__dtype_kind(ga_dtype_of(r)) == 'c' ? 2 : 1); part++)
            check_one(
                ga_dtype_of(x), ga_dtype_of(r), got[o][part],
                result_of(op, value_of(&sums[o][part]), value_of(&squares[o]), (long double)count));
    free(all), free(got), free(sums), free(squares);
}

static void check_reduction(operation op, const gpuarray *x, int naxes, const int *axes)
{
    bool gone[GA_MAX_NDIM] = {false};
    for (int k = 0; k < naxes; k++)
        gone[axes[k]] = true;
    gpuarray *r = reduce_it(op, x, naxes, axes);
    check_result(op, x, gone, r);
    ga_free(r);
}

/* ---- Random cases ---- */

static gpuarray *random_layout(gpuarray *x, char *name)
{
    gpuarray *view = NULL;
    switch (random_below(6)) {
    case 0:
        strcpy(name, "every second");
        view = ga_slice(x, "..., ::2");
        break;
    case 1:
        strcpy(name, "flipped");
        view = ga_flip(x, (int)random_below((uint64_t)ga_ndim(x)));
        break;
    case 2:
        strcpy(name, "transposed");
        view = ga_transpose(x);
        break;
    case 3:
        strcpy(name, "cut");
        view = ga_slice(x, "..., %d:", ga_shape(x)[ga_ndim(x) - 1] > 1);
        break;
    case 4: {
        strcpy(name, "repeated");
        int64_t shape[4] = {1 + (int64_t)random_below(40)};
        for (int axis = 0; axis < ga_ndim(x); axis++)
            shape[axis + 1] = ga_shape(x)[axis];
        view = ga_broadcast_to(x, ga_ndim(x) + 1, shape);
        break;
    }
    default: strcpy(name, "whole"); view = ga_retain(x);
    }
    ga_free(x);
    return view;
}

static void random_shape(int ndim, int64_t most, int64_t *shape)
{
    for (int axis = 0; axis < ndim; axis++) {
        int bits = 0;
        while (most >> (bits + 1))
            bits++;
        const int64_t length =
            axis == ndim - 1 ? most : (int64_t)1 << random_below((uint64_t)bits + 1);
        shape[axis] = 1 + (int64_t)random_below((uint64_t)(length > 0 ? length : 1));
        most /= shape[axis];
    }
    if (ndim > 1 && random_below(2)) {
        const int64_t first = shape[0];
        shape[0] = shape[ndim - 1];
        shape[ndim - 1] = first;
    }
}

static void random_case(int number)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT16,   GA_FLOAT32,   GA_FLOAT64,
                                      GA_FLOAT32, GA_COMPLEX64, GA_COMPLEX128};
    const ga_dtype dtype = dtypes[random_below(sizeof dtypes / sizeof *dtypes)];
    const int ndim = 1 + (int)random_below(3);
    operation op = (operation)random_below(OPERATIONS);
    content what = (content)random_below(CONTENTS);
    if (op >= VAR || (what == LEAD && dtype == GA_FLOAT16))
        what = UNIFORM; /* halves have no such small elements, and a constant has no variance */
    if (dtype == GA_FLOAT16 && (op == SUM || op == NANSUM))
        op = op == SUM ? MEAN : NANMEAN; /* a sum would exceed the largest half */
    char layout[32];
    int64_t shape[3];
    int axes[4], naxes = 0;
    random_shape(ndim, reduced() ? 20000 : 400000, shape);
    GA_SCOPE {
        const gpuarray *x = random_layout(ga_retain(new_array(dtype, what, ndim, shape)), layout);
        assert_non_null(x);
        for (int axis = 0; axis < ga_ndim(x); axis++)
            if (random_below(2))
                axes[naxes++] = axis;
        if (naxes == 0)
            for (; naxes < ga_ndim(x); naxes++)
                axes[naxes] = naxes;
        int64_t count = 1;
        for (int k = 0; k < naxes; k++)
            count *= ga_shape(x)[axes[k]];
        if (op >= VAR && count < 16) /* with few, nearly equal elements no result is exact */
            op = MEAN;
        snprintf(case_text, sizeof case_text, "case %d: %s of %s %s, content %d, axis %d%s, %s",
                 number, operation_names[op], ga_dtype_name(dtype),
                 ga__shape_text(ga_ndim(x), ga_shape(x)), (int)what, axes[0],
                 naxes > 1 ? " and others" : "", layout);
        if (in_sample(case_text))
            check_reduction(op, x, naxes, axes);
        ga_free((gpuarray *)x);
    }
}

/* One given seed, or several; the first of these found a chain that was too long. */
static void sums_of_any_shape_are_within_the_bound(void **state)
{
    static const uint64_t seeds[] = {1916021228, 20261122, 5, 77};
    (void)state;
    const char *given = getenv("QUARRY_TEST_SEED"), *cases = getenv("QUARRY_TEST_CASES");
    const int count = cases ? atoi(cases) : items_here(60, 15);
    const int most = given ? 1 : (int)(sizeof seeds / sizeof *seeds);
    for (int k = 0; k < most; k++) {
        if (!in_short_sample("seeds of sums", k, most))
            continue;
        seed = given ? strtoull(given, NULL, 0) : seeds[k];
        print_message("QUARRY_TEST_SEED=%llu\n", (unsigned long long)seed);
        for (int number = 0; number < count; number++)
            random_case(number);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Runs with gaps between them, of lengths around all limits of chains: each addition to the large
 * element rounds. */
static void sums_of_several_runs_are_within_the_bound(void **state)
{
    static const int lengths[] = {2,  3,  5,  8,   13,  16,  21,  25,  31,   32,   33,   47,  63,
                                  64, 65, 95, 100, 128, 500, 513, 991, 1023, 1024, 2048, 4095},
                     counts[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 20, 40};
    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k += (size_t)items_here(1, 3))
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int side = 0; side < 2; side++)
                GA_SCOPE {
                    const int64_t run = lengths[k], runs = counts[c];
                    const int64_t shape[] = {side ? runs : 3, side ? run + 1 : runs,
                                             side ? 3 : run + 1};
                    const gpuarray *x = ga_slice(new_array(GA_FLOAT32, LEAD, 3, shape),
                                                 side ? ":, :-1" : "..., :-1");
                    snprintf(case_text, sizeof case_text, "%d runs of %d, %s", (int)runs, (int)run,
                             side ? "columns" : "rows");
                    check_reduction(SUM, x, 2, side ? (int[]){0, 1} : (int[]){1, 2});
                }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Long sums: few elements, repeated ---- */

enum { LONGEST = 33 };
static bool longest; /* all elements on the host too */

/* Elements of each case: as many as a GPU sums in a few milliseconds. */
static int64_t most_elements(void)
{
    const int bits = on_host() && !longest ? 27 : LONGEST;
    return (int64_t)1 << (!reduced() ? bits : on_host() ? 24 : 28);
}

/* The elements of `inner` (0: none), repeated along axis `axis`, which has the rest of the
 * elements. */
static gpuarray *repeated(ga_dtype dtype, content c, int ndim, const int64_t *shape)
{
    int64_t inner[3], outer[3], others = 1;
    for (int axis = 0; axis < ndim; axis++) {
        inner[axis] = outer[axis] = shape[axis] ? shape[axis] : 1;
        others *= inner[axis];
    }
    for (int axis = 0; axis < ndim; axis++)
        outer[axis] = shape[axis] ? shape[axis] : most_elements() / others;
    return ga_broadcast_to(new_array(dtype, c, ndim, inner), ndim, outer);
}

/* r: of the elements of `once`, each `times` times, without the axes that are `gone`. */
static void check_repeated(operation op, const gpuarray *once, int64_t times, const bool *gone,
                           const gpuarray *r)
{
    if (!r)
        fail_msg("%s: %s", case_text, ga_error_message());
    long double(*all)[2] = elements_of(once), (*got)[2] = elements_of(r);
    const int64_t outputs = ga_size(r), few = ga_size(once) / outputs;
    for (int64_t o = 0; o < outputs; o++)
        for (int part = 0; part < (ga__dtype_kind(ga_dtype_of(r)) == 'c' ? 2 : 1); part++) {
            long double sum = 0, squares = 0;
            for (int64_t k = 0; k < ga_size(once); k++)
                sum += output_of(once, gone, k) == o ? all[k][part] : 0;
            for (int64_t k = 0; k < ga_size(once); k++) {
                const long double apart = all[k][part] - sum / (long double)few;
                squares += output_of(once, gone, k) == o ? apart * apart : 0;
            }
            check_one(ga_dtype_of(once), ga_dtype_of(r), got[o][part],
                      result_of(op, sum * (long double)times, squares * (long double)times,
                                (long double)(few * times)));
        }
    free(all), free(got);
}

static void check_long(operation op, ga_dtype dtype, content c, int ndim, const int64_t *shape,
                       const char *slice, int naxes, const int *axes)
{
    GA_SCOPE {
        const gpuarray *x = repeated(dtype, c, ndim, shape);
        const gpuarray *view = x ? ga_slice(x, "%s", slice) : NULL;
        if (!view)
            fail_msg("%s", ga_error_message());
        snprintf(case_text, sizeof case_text, "%s of %s, (%lld, %lld, %lld)[%s], axis %d",
                 operation_names[op], ga_dtype_name(dtype), (long long)shape[0],
                 (long long)(ndim > 1 ? shape[1] : 1), (long long)(ndim > 2 ? shape[2] : 1), slice,
                 naxes ? axes[0] : -1);
        /* The same for one element of each repeated axis. */
        int64_t times = 1;
        const gpuarray *once = view;
        for (int axis = 0; axis < ndim; axis++)
            if (shape[axis] == 0) {
                times = ga_shape(view)[axis];
                once = ga_slice(once, axis == 0 ? ":1" : axis == 1 ? ":, :1" : ":, :, :1");
            }
        bool gone[GA_MAX_NDIM] = {false};
        for (int axis = 0; axis < ndim; axis++)
            gone[axis] = naxes == 0;
        for (int k = 0; k < naxes; k++)
            gone[axes[k]] = true;
        check_repeated(op, once, times, gone, reduce_it(op, view, naxes, axes));
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void long_sums_are_within_the_bound(void **state)
{
    (void)state;
    static const struct {
        ga_dtype dtype;
        operation op;
        content content;
        int ndim;
        int64_t shape[3]; /* 0: repeated */
        const char *slice;
        int naxes, axes[2];
    } cases[] = {
        {GA_FLOAT32, SUM, TENTH, 1, {0}, "...", 0, {0}},
        {GA_FLOAT32, SUM, TENTH, 1, {0}, "3:", 0, {0}},
        {GA_FLOAT32, MEAN, THIRD, 1, {0}, "...", 0, {0}},
        {GA_FLOAT16, MEAN, TENTH, 1, {0}, "...", 0, {0}},
        {GA_FLOAT64, SUM, TENTH, 1, {0}, "...", 0, {0}},
        {GA_COMPLEX64, SUM, TENTH, 1, {0}, "...", 0, {0}},
        {GA_FLOAT32, SUM, UNIFORM, 2, {0, 4096}, "...", 0, {0}},
        {GA_FLOAT32, SUM, UNIFORM, 2, {0, 1000}, ":, :900", 0, {0}},
        {GA_FLOAT32, SUM, UNIFORM, 2, {0, 20}, ":, :17", 0, {0}},
        {GA_FLOAT16, MEAN, UNIFORM, 2, {0, 1000}, ":, :900", 0, {0}},
        {GA_FLOAT32, SUM, TENTH, 2, {0, 1}, "...", 1, {0}},
        {GA_FLOAT32, SUM, TENTH, 2, {0, 4}, "...", 1, {0}},
        {GA_FLOAT32, SUM, TENTH, 2, {0, 8}, ":, :3", 1, {0}},
        {GA_FLOAT32, SUM, TENTH, 2, {0, 33}, "...", 1, {0}},
        {GA_FLOAT32, MEAN, TENTH, 2, {0, 1024}, "...", 1, {0}},
        {GA_FLOAT16, MEAN, TENTH, 2, {0, 1024}, "...", 1, {0}},
        {GA_FLOAT32, SUM, THIRD, 2, {0, 4096}, "...", 1, {0}},
        {GA_FLOAT64, SUM, THIRD, 2, {0, 1024}, "...", 1, {0}},
        {GA_COMPLEX64, SUM, THIRD, 2, {0, 64}, "...", 1, {0}},
        {GA_FLOAT32, VAR, UNIFORM, 2, {0, 1024}, "...", 0, {0}},
        {GA_FLOAT32, VAR, UNIFORM, 2, {64, 0}, "...", 0, {0}},
        {GA_FLOAT64, STD, UNIFORM, 2, {0, 1024}, "...", 0, {0}},
        {GA_FLOAT32, SUM, TENTH, 2, {3, 0}, "...", 1, {1}},
        {GA_FLOAT32, SUM, TENTH, 2, {600, 0}, "...", 1, {1}},
        {GA_FLOAT16, MEAN, TENTH, 2, {40, 0}, "...", 1, {1}},
        {GA_FLOAT32, VAR, UNIFORM, 2, {0, 512}, ":, ::2", 0, {0}},
        {GA_FLOAT32, SUM, TENTH, 3, {64, 0, 64}, "...", 1, {1}},
        {GA_FLOAT32, SUM, UNIFORM, 3, {0, 64, 5}, "...", 2, {0, 2}},
        {GA_FLOAT32, SUM, UNIFORM, 3, {0, 30, 40}, "...", 2, {0, 2}},
        {GA_FLOAT16, NANMEAN, UNIFORM, 3, {0, 30, 40}, "...", 2, {0, 2}},
        {GA_FLOAT32, NANSUM, UNIFORM, 3, {0, 3, 1100}, "...", 2, {0, 2}},
    };
    seed = 7;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check_long(cases[k].op, cases[k].dtype, cases[k].content, cases[k].ndim, cases[k].shape,
                   cases[k].slice, cases[k].naxes, cases[k].axes);
}

/* On the host too: a row and columns. */
static void longest_sums_are_within_the_bound(void **state)
{
    (void)state;
    static const int first[] = {0};
    longest = true;
    check_long(SUM, GA_FLOAT32, TENTH, 1, (int64_t[]){0, 0, 0}, "...", 0, NULL);
    check_long(MEAN, GA_FLOAT32, TENTH, 2, (int64_t[]){0, 512, 0}, "...", 1, first);
    longest = false;
}

/* ---- Segments ---- */

static void check_segment(operation op, ga_dtype dtype, int64_t n)
{
    GA_SCOPE {
        const bool gone[] = {true, true};
        const int64_t ends[] = {0, 0, n};
        const gpuarray *once = new_array(dtype, THIRD, 2, (int64_t[]){1, 64}),
                       *all = ga_broadcast_to(once, 2, (int64_t[]){n / 64, 64});
        const ga_reduce_args args = {.x = ga_ravel(all),
                                     .offsets = ga_from_host(ends, GA_INT64, 1, (int64_t[]){3})};
        snprintf(case_text, sizeof case_text, "%s of a segment of %s, %lld elements",
                 operation_names[op], ga_dtype_name(dtype), (long long)n);
        check_repeated(op, once, n / 64, gone, ga_slice(reduce_with(op, &args), "1"));
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void sums_of_segments_are_within_the_bound(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT16, GA_FLOAT64, GA_COMPLEX64};
    const int bits = reduced() ? 18 : on_host() ? 22 : 28;
    seed = 11;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        for (operation op = SUM; op < OPERATIONS; op++)
            if (dtypes[k] != GA_FLOAT16 || op == MEAN || op == NANMEAN)
                check_segment(op, dtypes[k], (int64_t)1 << bits);
    check_segment(SUM, GA_FLOAT32, (int64_t)1 << (on_host() ? bits + 4 : bits + 2));
}

/* ---- Fused, several at once, custom, chunked ---- */

static void check_number(const char *what, double got, long double expected)
{
    snprintf(case_text, sizeof case_text, "%s", what);
    check_one(GA_FLOAT32, GA_FLOAT32, got, expected);
}

static void fused_sums_are_within_the_bound(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *x = repeated(GA_FLOAT32, TENTH, 1, (int64_t[]){0});
        const long double n = (long double)ga_size(x), v = 0.1f;
        const float square = 0.1f * 0.1f;
        check_number("dot", ga_item_double(ga_dot(x, x)), n * square);
        check_number("sum(x*x)", ga_item_double(ga_eval("sum(x*x)", GA(x))), n * square);
        check_number("mean(x) + max(x)", ga_item_double(ga_eval("mean(x) + max(x)", GA(x))), 2 * v);
        check_number("sum(sqrt(x))", ga_item_double(ga_eval("sum(sqrt(x))", GA(x))),
                     n * sqrtf(0.1f));
        check_number("sum(x) / sum(x*x)", ga_item_double(ga_eval("sum(x) / sum(x*x)", GA(x))),
                     v / square);
        const gpuarray *c = ga_full(GA_FLOAT32, GA_SHAPE(8000, 512), 0.1),
                       *sums = ga_eval("sum(c * max(c, axis=0), axis=0)", GA(c));
        check_number("a fused column", ga_item_double(ga_slice(sums, "3")), 8000.0L * square);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void custom_sums_are_within_the_bound(void **state)
{
    (void)state;
    ga_kernel *plain = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]", "float *x", "plain"),
              *both = ga_reduction_kernel(
                  GA_NO_DTYPE, .neutral = "two{0, 0}",
                  .reduce_expr = "two{a.sum + b.sum, a.squares + b.squares}",
                  .map_expr = "two{x[i], x[i] * x[i]}", .arguments = "float *x", .name = "both",
                  .preamble = "struct two { float sum, squares; };", .struct_name = "two",
                  .struct_bytes = 2 * sizeof(float));
    GA_SCOPE {
        const gpuarray *x = repeated(GA_FLOAT32, TENTH, 1, (int64_t[]){0});
        const long double n = (long double)ga_size(x);
        float two[2] = {0};
        check_number("custom a+b", ga_item_double(ga_reduce(plain, x)), n * 0.1f);
        assert_int_equal(ga_to_host(ga_reduce(both, x), two, sizeof two), GA_OK);
        check_number("custom struct", two[0], n * 0.1f);
        check_number("custom struct's squares", two[1], n * (0.1f * 0.1f));
        assert_int_equal(ga_error(), GA_OK);
    }
    ga_kernel_free(plain);
    ga_kernel_free(both);
}

static ga_status read_tenths(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user, (void)first;
    for (int64_t k = 0; k < count; k++)
        ((float *)elements)[k] = 0.1f;
    return GA_OK;
}

static void chunked_sums_are_within_the_bound(void **state)
{
    (void)state;
    const int64_t n = (int64_t)1 << (reduced() ? 25 : 27), shape[] = {n / 4, 4};
    const ga_chunks chunks = {.bytes = (int64_t)1 << 20};
    ga_source *x = ga_source_new(GA_FLOAT32, 2, shape, read_tenths, NULL);
    GA_SCOPE {
        const gpuarray *columns = ga_eval_chunked(&chunks, "sum(x, axis=0)", GA(x));
        check_number("sum of chunks", ga_item_double(ga_eval_chunked(&chunks, "sum(x)", GA(x))),
                     (long double)n * 0.1f);
        check_number("columns of chunks", ga_item_double(ga_slice(columns, "3")),
                     (long double)n / 4 * 0.1f);
        assert_int_equal(ga_error(), GA_OK);
    }
    ga_source_free(x);
}

/* ---- Cumulative sums ---- */

/* float16 accumulates in float32: so are its results, which have no room for long sums otherwise.
 */
static ga_dtype dtype_of_sums(ga_dtype dtype)
{
    return dtype == GA_FLOAT16 ? GA_FLOAT32 : dtype;
}

static gpuarray *running_sums(const gpuarray *x, int axis, bool reverse, bool exclusive)
{
    gpuarray *r = ga_cumsum(x, GA_AXIS(axis), .reverse = reverse, .exclusive = exclusive,
                            .dtype = dtype_of_sums(ga_dtype_of(x)));
    if (!r)
        fail_msg("%s: %s", case_text, ga_error_message());
    return r;
}

/* All results of one row: its first element, and the step to the next one. */
static void check_row(ga_dtype dtype, long double (*all)[2], long double (*got)[2], int64_t length,
                      int64_t step, bool exclusive)
{
    exact_sum sums[2] = {{0}};
    for (int64_t n = 0; n < length; n++, all += step, got += step)
        for (int part = 0; part < (ga__dtype_kind(dtype) == 'c' ? 2 : 1); part++) {
            const exact_sum before = sums[part];
            add_exactly(&sums[part], (*all)[part]);
            check_one(dtype, dtype_of_sums(dtype), (*got)[part],
                      value_of(exclusive ? &before : &sums[part]));
        }
}

static void check_scan(const gpuarray *x, int axis, bool reverse, bool exclusive)
{
    gpuarray *r = running_sums(x, axis, reverse, exclusive);
    long double(*all)[2] = elements_of(x), (*got)[2] = elements_of(r);
    const int64_t length = ga_shape(x)[axis];
    int64_t inner = 1;
    for (int k = axis + 1; k < ga_ndim(x); k++)
        inner *= ga_shape(x)[k];
    for (int64_t row = 0; row < ga_size(x) / length; row++) {
        const int64_t first =
            row / inner * length * inner + row % inner + (reverse ? (length - 1) * inner : 0);
        check_row(ga_dtype_of(x), all + first, got + first, length, reverse ? -inner : inner,
                  exclusive);
    }
    free(all), free(got);
    ga_free(r);
}

static void random_scan(int number)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT16,   GA_FLOAT32,   GA_FLOAT64,
                                      GA_FLOAT32, GA_COMPLEX64, GA_COMPLEX128};
    const ga_dtype dtype = dtypes[random_below(sizeof dtypes / sizeof *dtypes)];
    const content what = (content)random_below(dtype == GA_FLOAT16 ? LEAD : CONTENTS);
    const int ndim = 1 + (int)random_below(3);
    const bool reverse = random_below(4) == 0, exclusive = random_below(4) == 0;
    char layout[32];
    int64_t shape[3];
    random_shape(ndim, reduced() ? 20000 : 400000, shape);
    GA_SCOPE {
        gpuarray *x = random_layout(ga_retain(new_array(dtype, what, ndim, shape)), layout);
        assert_non_null(x);
        const int axis = (int)random_below((uint64_t)ga_ndim(x));
        snprintf(case_text, sizeof case_text,
                 "case %d: cumsum of %s %s, content %d, axis %d%s%s, %s", number,
                 ga_dtype_name(dtype), ga__shape_text(ga_ndim(x), ga_shape(x)), (int)what, axis,
                 reverse ? ", reverse" : "", exclusive ? ", exclusive" : "", layout);
        if (in_sample(case_text))
            check_scan(x, axis, reverse, exclusive);
        ga_free(x);
    }
}

static void cumulative_sums_of_any_shape_are_within_the_bound(void **state)
{
    (void)state;
    const char *given = getenv("QUARRY_TEST_SEED"), *cases = getenv("QUARRY_TEST_CASES");
    const int count = cases ? atoi(cases) : items_here(60, 15);
    seed = given ? strtoull(given, NULL, 0) : 20261127;
    print_message("QUARRY_TEST_SEED=%llu\n", (unsigned long long)seed);
    for (int number = 0; number < count; number++)
        random_scan(number);
    assert_int_equal(ga_error(), GA_OK);
}

/* The last results and some before them: sums of one number so many times. */
static void check_sampled(const gpuarray *r, ga_dtype dtype, int axis, long double value,
                          int64_t length)
{
    static const char *const before[] = {"", ":, ", ":, :, "};
    const int64_t step = length / 997 + 1;
    const gpuarray *some = ga_slice(r, "%s::-%lld", before[axis], (long long)step);
    long double(*got)[2] = elements_of(some);
    int64_t inner = 1;
    for (int k = axis + 1; k < ga_ndim(some); k++)
        inner *= ga_shape(some)[k];
    for (int64_t k = 0; k < ga_size(some); k++)
        check_one(dtype, ga_dtype_of(r), got[k][0],
                  (long double)(length - k / inner % ga_shape(some)[axis] * step) * value);
    free(got);
}

static void long_cumulative_sums_are_within_the_bound(void **state)
{
    (void)state;
    static const struct {
        ga_dtype dtype;
        int bits; /* of the number of elements */
        content content;
        int ndim, axis;
        int64_t shape[3]; /* 0: the scanned axis */
    } cases[] = {
        {GA_FLOAT32, 27, TENTH, 1, 0, {0}},          {GA_FLOAT32, 24, THIRD, 1, 0, {0}},
        {GA_FLOAT16, 24, TENTH, 1, 0, {0}},          {GA_FLOAT64, 24, TENTH, 1, 0, {0}},
        {GA_COMPLEX64, 23, TENTH, 1, 0, {0}},        {GA_COMPLEX128, 22, THIRD, 1, 0, {0}},
        {GA_FLOAT32, 25, TENTH, 2, 0, {0, 2}},       {GA_FLOAT32, 24, TENTH, 2, 0, {0, 3}},
        {GA_FLOAT32, 25, TENTH, 2, 0, {0, 64}},      {GA_FLOAT32, 25, TENTH, 2, 0, {0, 1000}},
        {GA_FLOAT64, 24, TENTH, 2, 0, {0, 5}},       {GA_FLOAT16, 23, THIRD, 2, 0, {0, 33}},
        {GA_COMPLEX64, 22, THIRD, 2, 0, {0, 7}},     {GA_FLOAT32, 25, TENTH, 2, 1, {3, 0}},
        {GA_FLOAT32, 25, THIRD, 2, 1, {64, 0}},      {GA_FLOAT64, 24, TENTH, 2, 1, {20, 0}},
        {GA_FLOAT32, 25, TENTH, 3, 1, {3, 0, 4}},    {GA_FLOAT32, 25, TENTH, 3, 1, {40, 0, 70}},
        {GA_COMPLEX128, 22, TENTH, 3, 1, {2, 0, 3}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        GA_SCOPE {
            const int64_t all = (int64_t)1 << (cases[k].bits - (reduced() ? 4 : 0));
            int64_t one[3] = {1, 1, 1}, shape[3], others = 1;
            for (int axis = 0; axis < cases[k].ndim; axis++)
                others *= cases[k].shape[axis] ? cases[k].shape[axis] : 1;
            for (int axis = 0; axis < cases[k].ndim; axis++)
                shape[axis] = cases[k].shape[axis] ? cases[k].shape[axis] : all / others;
            const gpuarray *x = new_array(cases[k].dtype, cases[k].content, cases[k].ndim, one);
            long double(*value)[2] = elements_of(x);
            snprintf(case_text, sizeof case_text, "cumsum of %s %s, content %d, axis %d",
                     ga_dtype_name(cases[k].dtype), ga__shape_text(cases[k].ndim, shape),
                     (int)cases[k].content, cases[k].axis);
            const gpuarray *r =
                running_sums(ga_broadcast_to(x, cases[k].ndim, shape), cases[k].axis, false, false);
            check_sampled(r, cases[k].dtype, cases[k].axis, value[0][0], shape[cases[k].axis]);
            free(value);
        }
    assert_int_equal(ga_error(), GA_OK);
}

static void check_flat(const char *what, const gpuarray *r, long double value)
{
    if (!r)
        fail_msg("%s: %s", what, ga_error_message());
    snprintf(case_text, sizeof case_text, "%s", what);
    check_sampled(r, GA_FLOAT32, 0, value, ga_size(r));
}

static void other_cumulative_sums_are_within_the_bound(void **state)
{
    (void)state;
    const int64_t n = (int64_t)1 << (reduced() ? 20 : 24), half = n / 2;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(n), 0.1), *copy = ga_copy(x),
                 *starts = ga_from_host((int64_t[]){0, 100, half}, GA_INT64, 1, (int64_t[]){3});
        check_flat("cumsum(x*x)", ga_eval("cumsum(x*x)", GA(x)), 0.1f * 0.1f);
        check_flat("nancumsum", ga_nancumsum(x), 0.1f);
        check_flat("in place", ga_cumsum(copy, .out = copy), 0.1f);
        const gpuarray *parts = ga_cumsum(x, .offsets = starts);
        assert_non_null(parts);
        check_flat("a segment", ga_slice(parts, "%lld:", (long long)half), 0.1f);
        check_flat("the segment before it", ga_slice(parts, "100:%lld", (long long)half), 0.1f);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void custom_scans_by_sums_are_within_the_bound(void **state)
{
    (void)state;
    const int64_t n = (int64_t)1 << (reduced() ? 20 : 26);
    ga_kernel *sums =
        ga_scan_kernel(GA_FLOAT32, "const float *x, float *r", "x[i]", "a + b", "0", "r[i] = item");
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, 1, &n, 0.1), *r = ga_empty_like(x);
        if (ga_scan(sums, x, r) != GA_OK)
            fail_msg("%s", ga_error_message());
        check_flat("a custom scan", r, 0.1f);
    }
    ga_kernel_free(sums);
}

/* The numbers that are not finite pass a carry as they pass an addition. */
static void cumulative_sums_keep_infinities(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT64, GA_COMPLEX64};
    for (int axis = 0; axis < 2; axis++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
            GA_SCOPE {
                gpuarray *x = ga_ones(dtypes[k], GA_SHAPE(70000, 2));
                x = axis ? ga_copy(ga_transpose(x)) : x;
                ga_assign(axis ? ga_slice(x, "0, 100") : ga_slice(x, "100, 0"), INFINITY);
                ga_assign(axis ? ga_slice(x, "0, 60000") : ga_slice(x, "60000, 0"), -INFINITY);
                const gpuarray *r = ga_real(ga_cumsum(x, GA_AXIS(axis)));
                r = axis ? ga_transpose(r) : r;
                assert_int_equal(ga_item_double(ga_slice(r, "99, 0")), 100);
                assert_true(ga_item_bool(ga_all(ga_equal(ga_slice(r, "100:60000, 0"), INFINITY))));
                assert_true(ga_item_bool(ga_all(ga_isnan(ga_slice(r, "60000:, 0")))));
                assert_int_equal(ga_item_double(ga_slice(r, "-1, 1")), 70000);
                assert_int_equal(ga_error(), GA_OK);
            }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_any_shape_are_within_the_bound),
        cmocka_unit_test(sums_of_several_runs_are_within_the_bound),
        slow_test(long_sums_are_within_the_bound),
        slow_test(longest_sums_are_within_the_bound),
        slow_test(sums_of_segments_are_within_the_bound),
        cmocka_unit_test(fused_sums_are_within_the_bound),
        cmocka_unit_test(custom_sums_are_within_the_bound),
        cmocka_unit_test(chunked_sums_are_within_the_bound),
        cmocka_unit_test(cumulative_sums_of_any_shape_are_within_the_bound),
        slow_test(long_cumulative_sums_are_within_the_bound),
        cmocka_unit_test(other_cumulative_sums_are_within_the_bound),
        slow_test(custom_scans_by_sums_are_within_the_bound),
        cmocka_unit_test(cumulative_sums_keep_infinities),
    };
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    printf("worst: %.2Lf units in the last place\n", worst);
    return failed;
}
