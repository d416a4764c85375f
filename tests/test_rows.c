/* Rows that are not adjacent: short ones in every layout, and long ones that are split within a
 * row, compared with loops over the same elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "model/dtype.h"
#include "random.h"
#include "run.h"
#include "views.h"

/* ---- Elements on host and device ---- */

/* A base array and its elements, integers, on the host. */
typedef struct base {
    gpuarray *array;
    int *values;
} base;

/* Integers in [-most, most]. */
static base new_base(ga_dtype dtype, int ndim, const int64_t *shape, int most, uint64_t *seed)
{
    int64_t size = 1;
    for (int axis = 0; axis < ndim; axis++)
        size *= shape[axis];
    const size_t itemsize = ga_dtype_size(dtype);
    base b = {.values = malloc((size_t)size * sizeof(int))};
    char *bytes = malloc((size_t)size * itemsize);
    assert_true(b.values && bytes);
    for (int64_t k = 0; k < size; k++) {
        b.values[k] = (int)random_below(seed, 2 * most + 1) - most;
        ga__dtype_store(dtype, ga_value_int(b.values[k]), bytes + (size_t)k * itemsize);
    }
    b.array = ga_from_host(bytes, dtype, ndim, shape);
    free(bytes);
    return b;
}

static double *read_numbers(const gpuarray *x, const char *what)
{
    const size_t itemsize = x ? ga_dtype_size(ga_dtype_of(x)) : 0;
    char *bytes = malloc(x ? ga_nbytes(x) + 1 : 1);
    double *numbers = malloc(x ? (size_t)ga_size(x) * sizeof *numbers + 1 : 1);
    assert_true(bytes && numbers);
    if (!x || ga_to_host(x, bytes, ga_nbytes(x)) != GA_OK)
        fail_msg("%s: %s", what, ga_error_message());
    for (int64_t k = 0; k < ga_size(x); k++)
        numbers[k] =
            ga__number_double(ga__dtype_fetch(ga_dtype_of(x), bytes + (size_t)k * itemsize));
    free(bytes);
    return numbers;
}

static void compare(const gpuarray *got, const double *want, const char *what)
{
    double *numbers = read_numbers(got, what);
    for (int64_t k = 0; k < ga_size(got); k++)
        if (numbers[k] != want[k])
            fail_msg("%s: element %lld is %.17g, wanted %.17g", what, (long long)k, numbers[k],
                     want[k]);
    free(numbers);
}

/* ---- Short rows ---- */

enum { SHORT_LAYOUTS = 14 };

/* Rows that start `row` elements apart, of every step-th element: they overlap. */
static view overlapping_rows(gpuarray *array, int64_t count, int64_t length, int64_t row,
                             int64_t step)
{
    const int64_t itemsize = (int64_t)ga_dtype_size(ga_dtype_of(array)),
                  bytes[] = {row * itemsize, step * itemsize};
    view v = {.ndim = 2, .shape = {count, length}, .stride = {row, step}};
    v.array = ga_wrap(ga_data(array), ga_dtype_of(array), 2, v.shape, bytes, NULL, NULL);
    return v;
}

/* (count, length) of a base that is large enough, in one of the layouts. */
static view short_rows(gpuarray *array, int how, int64_t count, int64_t length)
{
    static const int turned[] = {1, 0};
    const view whole = view_whole(array);
    const view all = view_range(whole, 0, 0, count, 1), wide = view_range(all, 1, 0, length, 1);
    switch (how) {
    case 0: return wide;
    case 1: return view_range(all, 1, length - 1, length, -1);
    case 2: return view_range(all, 1, 1, length, 1);
    case 3: return view_range(all, 1, 1, length, 2);
    case 4: return view_range(all, 1, 2 * length - 1, length, -2);
    case 5: return view_repeated(view_range(all, 1, 1, 1, 1), 1, length);
    case 6: return view_range(wide, 0, count - 1, count, -1);
    case 7: return view_range(view_range(whole, 1, 0, length, 1), 0, 0, count, 2);
    case 8: return view_range(view_range(all, 1, length - 1, length, -1), 0, count - 1, count, -1);
    case 9: return view_repeated(view_range(wide, 0, 1, 1, 1), 0, count);
    case 10:
        return view_transposed(view_range(view_range(whole, 0, 0, length, 1), 1, 0, 2, 1), turned);
    case 11: return overlapping_rows(array, count, length, length, 2);
    case 12: return overlapping_rows(array, count, length, 1, 1);
    default: return view_range(all, 1, length, length, 1);
    }
}

/* The base's rows are as long as the summed ones, or three times as long. */
static void check_short_rows(ga_dtype dtype, int64_t count, int64_t length, bool tight, int how)
{
    uint64_t seed = (uint64_t)(count * 8 + length);
    char what[120];
    const int64_t shape[] = {2 * count, tight ? length : 3 * length};
    snprintf(what, sizeof what, "%lld rows of %lld %s of %lld, layout %d", (long long)count,
             (long long)length, ga_dtype_name(dtype), (long long)shape[1], how);
    base b = new_base(dtype, 2, shape, 15, &seed);
    view x = short_rows(b.array, how, count, length);
    double *sums = calloc((size_t)x.shape[0], sizeof *sums);
    assert_non_null(sums);
    for (int64_t k = 0; k < view_size(&x); k++)
        sums[k / x.shape[1]] += b.values[view_place(&x, k)];
    compare(ga_sum(x.array, GA_AXIS(1)), sums, what);
    free(sums);
    free(b.values);
}

static bool needs_wide_base(int how)
{
    return how == 2 || how == 3 || how == 4 || how == 13;
}

static void short_rows_of_every_layout_agree_with_loops(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32};
    static const int64_t counts[] = {33, 1030, 5000};
    for (int item = 0; item < 3 * 3 * 3 * SHORT_LAYOUTS; item++)
        GA_SCOPE {
            const int how = item % SHORT_LAYOUTS, rest = item / SHORT_LAYOUTS;
            const int64_t length = 2 << rest % 3, count = counts[rest / 3 % 3];
            char text[60];
            snprintf(text, sizeof text, "rows of %d %s %d", (int)length,
                     ga_dtype_name(dtypes[rest / 9]), how);
            if (!in_eighth(text))
                continue;
            check_short_rows(dtypes[rest / 9], count, length, false, how);
            if (!needs_wide_base(how))
                check_short_rows(dtypes[rest / 9], count, length, true, how);
        }
}

/* Two arrays whose short rows lie differently, in one kernel. */
static void short_rows_of_two_layouts_agree_with_loops(void **state)
{
    (void)state;
    uint64_t seed = 17;
    for (int round = 0; round < 120; round++)
        GA_SCOPE {
            const int64_t length = 2 << round % 3, count = 300 + random_below(&seed, 3000);
            const int64_t shape[] = {2 * count, length};
            const ga_dtype dtype = round / 3 % 2 ? GA_FLOAT32 : GA_FLOAT16;
            char what[80];
            snprintf(what, sizeof what, "round %d: %lld rows of %lld %s", round, (long long)count,
                     (long long)length, ga_dtype_name(dtype));
            if (!in_eighth(what))
                continue;
            view v[2];
            base b[2];
            for (int k = 0; k < 2; k++) {
                static const int tight[] = {0, 1, 5, 6, 8, 9};
                b[k] = new_base(dtype, 2, shape, 3, &seed);
                v[k] = short_rows(b[k].array, tight[random_below(&seed, 6)], count, length);
            }
            double *sums = calloc((size_t)count, sizeof *sums);
            assert_non_null(sums);
            for (int64_t k = 0; k < count * length; k++)
                sums[k / length] +=
                    (double)b[0].values[view_place(&v[0], k)] * b[1].values[view_place(&v[1], k)];
            compare(
                ga_eval("sum(a * b, axis=1)", GA_NAMED("a", v[0].array), GA_NAMED("b", v[1].array)),
                sums, what);
            free(sums);
            free(b[0].values);
            free(b[1].values);
        }
}

/* ---- Long rows, split between processors ---- */

/* A view of two or three axes that cannot merge, with at least 2 * 10^5 elements. */
static view long_rows(base *b, ga_dtype dtype, int most, uint64_t *seed)
{
    const bool three = random_below(seed, 3) == 0;
    const int64_t rows = 2 + random_below(seed, three ? 3 : 9),
                  length = (200000 + random_below(seed, 200000)) / rows;
    const int64_t shape[] = {rows + 1, three ? 3 : length + 3, length / 3 + 3};
    *b = new_base(dtype, three ? 3 : 2, shape, most, seed);
    view v = view_whole(b->array);
    for (int axis = 0; axis < v.ndim; axis++) {
        const int64_t count = v.shape[axis] - (axis == v.ndim - 1 ? 1 + random_below(seed, 2) : 1);
        v = random_below(seed, 2) ? view_range(v, axis, 1, count, 1)
                                  : view_range(v, axis, count - 1, count, -1);
    }
    return v;
}

/* Its sums and first largest elements over all axes, or over all but the first. */
static void check_long_reductions(ga_dtype dtype, int round)
{
    uint64_t seed = (uint64_t)round * 31 + dtype;
    char what[80];
    base b;
    const view v = long_rows(&b, dtype, dtype == GA_FLOAT16 ? 1 : 9999, &seed);
    const int64_t rows = round % 2 ? v.shape[0] : 1, each = view_size(&v) / rows;
    double sums[16] = {0}, largest[16], places[16];
    assert_true(rows <= 16);
    for (int64_t k = 0; k < view_size(&v); k++) {
        const double value = b.values[view_place(&v, k)];
        sums[k / each] += value;
        if (k % each == 0 || value > largest[k / each]) {
            largest[k / each] = value;
            places[k / each] = (double)(k % each);
        }
    }
    snprintf(what, sizeof what, "round %d of %s, %lld rows", round, ga_dtype_name(dtype),
             (long long)rows);
    const int axes[] = {1, 2};
    const ga_reduce_args args = {.x = v.array, .naxes = rows > 1 ? v.ndim - 1 : 0, .axes = axes};
    compare((ga_sum)(sizeof args, &args), sums, what);
    compare((ga_argmax)(sizeof args, &args), places, what);
    free(b.values);
}

static void long_rows_are_reduced_as_by_loops(void **state)
{
    (void)state;
    for (int round = 0; round < 24; round++)
        GA_SCOPE {
            char item[40];
            snprintf(item, sizeof item, "long rows, round %d", round);
            if (!in_eighth(item))
                continue;
            check_long_reductions(GA_INT32, round);
            check_long_reductions(GA_FLOAT16, round);
        }
}

/* The sum of two such arrays into a third one, with other elements between its own. */
static void check_long_sum(ga_dtype dtype, int round)
{
    uint64_t seed = (uint64_t)round * 57 + dtype;
    char what[80];
    base b[3];
    view v[3];
    v[0] = long_rows(&b[0], dtype, 99, &seed);
    for (int k = 1; k < 3; k++) {
        b[k] = new_base(dtype, v[0].ndim, ga_shape(b[0].array), 99, &seed);
        v[k] = view_whole(b[k].array);
        for (int axis = 0; axis < v[0].ndim; axis++)
            v[k] = view_range(v[k], axis, 0, v[0].shape[axis], 1);
    }
    const int64_t whole = ga_size(b[2].array);
    double *want = malloc((size_t)whole * sizeof *want);
    assert_non_null(want);
    for (int64_t k = 0; k < whole; k++)
        want[k] = b[2].values[k];
    for (int64_t k = 0; k < view_size(&v[0]); k++)
        want[view_place(&v[2], k)] =
            b[0].values[view_place(&v[0], k)] + b[1].values[view_place(&v[1], k)];
    snprintf(what, sizeof what, "sum %d of %s", round, ga_dtype_name(dtype));
    assert_int_equal(ga_add_into(v[2].array, v[0].array, v[1].array), GA_OK);
    compare(b[2].array, want, what);
    free(want);
    for (int k = 0; k < 3; k++)
        free(b[k].values);
}

static void long_rows_are_added_as_by_loops(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++)
        GA_SCOPE {
            check_long_sum(GA_INT32, round);
            check_long_sum(GA_FLOAT16, round);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_rows_of_every_layout_agree_with_loops),
        cmocka_unit_test(short_rows_of_two_layouts_agree_with_loops),
        cmocka_unit_test(long_rows_are_reduced_as_by_loops),
        cmocka_unit_test(long_rows_are_added_as_by_loops),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
