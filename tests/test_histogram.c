/* Searches and histograms: NumPy's answers in several layouts, refused arguments, results that are
 * written on success only, and the failure of any allocation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "files.h"
#include "golden.h"
#include "layouts.h"
#include "parallel.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

static golden_file *file;
static uint64_t seed = 20261123;

/* ---- NumPy's answers ---- */

enum { DENSITY = 1, RANGE = 2, WEIGHTS = 4 };

static gpuarray *given(const golden_case *c, int k)
{
    if (k >= c->nargs || !c->arg[k])
        return NULL;
    const layout how = (layout)random_below(&seed, LAYOUT_BROADCAST);
    const golden_blob *x = c->arg[k];
    return layout_array(x->ndim > 0 ? how : LAYOUT_CONTIGUOUS, x->data, x->dtype, x->ndim,
                        x->shape);
}

static gpuarray *run_histogram(const golden_case *c, gpuarray **edges)
{
    const gpuarray *x = given(c, 0), *third = given(c, 2);
    const ga_value bins = c->arg[1] ? GA_V(given(c, 1)) : c->number[1];
    gpuarray *counts = NULL;
    double range[2] = {0, 0};
    if (c->ddof & RANGE)
        memcpy(range, c->arg[2]->data, sizeof range);
    const ga_status status =
        ga_histogram(x, bins, &counts, edges, .range = {range[0], range[1]},
                     .weights = c->ddof & WEIGHTS ? third : NULL, .density = c->ddof & DENSITY);
    assert_int_equal(status, ga_error());
    return counts;
}

static gpuarray *run_interp(const golden_case *c)
{
    const ga_value none = {0};
    return ga_interp(given(c, 0), given(c, 1), given(c, 2), .left = c->ddof & 1 ? GA_V(-7) : none,
                     .right = c->ddof & 2 ? GA_V(99.5) : none, .period = c->ddof & 4 ? -7.5 : 0);
}

static gpuarray *run_case(const golden_case *c, gpuarray **edges)
{
    const gpuarray *x = given(c, 0);
    if (!strcmp(c->name, "searchsorted"))
        return ga_searchsorted(x, given(c, 1), .side_right = c->ddof, .sorter = given(c, 2));
    if (!strcmp(c->name, "digitize"))
        return ga_digitize(x, given(c, 1), .right = c->ddof);
    if (!strcmp(c->name, "bincount"))
        return ga_bincount(x, .minlength = c->number[1].as.i, .weights = given(c, 2));
    if (!strcmp(c->name, "interp"))
        return run_interp(c);
    assert_string_equal(c->name, "histogram");
    return run_histogram(c, edges);
}

static void check_case(const golden_case *c)
{
    char why[300];
    gpuarray *edges = NULL, *got = run_case(c, &edges);
    if (c->flags & GOLDEN_ERROR) {
        if (got || edges || ga_error() == GA_OK)
            fail_later("%s did not fail", golden_call(c));
        ga_clear_error();
        return;
    }
    if (!golden_result(c, c->out[0], got, 1, why, sizeof why) ||
        (c->nouts > 1 && !(c->flags & GOLDEN_BOUNDED) &&
         !golden_result(c, c->out[1], edges, 1, why, sizeof why)))
        fail_later("%s: %s (%s)", golden_call(c), why, ga_error_message());
    ga_clear_error();
}

static void answers_are_numpys(void **state)
{
    (void)state;
    assert_true(file->ncases > 500);
    for (int k = 0; k < file->ncases; k++)
        if (row_selected(golden_row(&file->cases[k])))
            GA_SCOPE {
                check_case(&file->cases[k]);
            }
    assert_int_equal(failures(), 0);
}

static void numbers_are_searched_for(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_arange(GA_INT8, 0, 100, 1);
        assert_int_equal(ga_item_int64(ga_searchsorted(a, 300)), 100);
        assert_int_equal(ga_item_int64(ga_searchsorted(a, 6.5)), 7);
        assert_int_equal(ga_item_int64(ga_searchsorted(a, (unsigned char)7)), 7);
        assert_int_equal(ga_item_int64(ga_searchsorted(a, 7, .side_right = true)), 8);
        assert_int_equal(ga_ndim(ga_searchsorted(a, 7)), 0);
    }
}

/* ---- Points of several axes ---- */

static void numbers_stand_on_lines_between_points(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *xp = ga_arange(GA_INT16, 0, 4, 1), *fp = ga_multiply(xp, 10), *none = NULL;
        const gpuarray *one = ga_interp(2.5, xp, fp);
        assert_true(ga_ndim(one) == 0 && ga_item_double(one) == 25);
        assert_true(ga_item_double(ga_interp(-1, xp, fp, .left = GA_V(7))) == 7);
        assert_true(ga_item_double(ga_interp(4.5, xp, fp, .period = 4)) == 5);
        assert_int_equal(ga_size(ga_interp(ga_zeros(GA_INT8, GA_SHAPE(0, 2)), xp, fp)), 0);
        assert_null(ga_interp(1, ga_zeros(GA_INT8, GA_SHAPE(0)), fp));
        assert_error(GA_ERR_INVALID, "interp: xp has no elements");
        assert_null(ga_interp(1, xp, ga_slice(fp, "1:")));
        assert_error(GA_ERR_SHAPE, "interp: xp has 4 elements, fp has 3");
        assert_null(ga_interp(ga_zeros(GA_COMPLEX64, GA_SHAPE(2)), xp, fp));
        assert_error(GA_ERR_DTYPE, "interp: x is complex64, expected real numbers");
        assert_null(ga_interp(1, ga_reshape(xp, GA_SHAPE(2, 2)), fp));
        assert_error(GA_ERR_SHAPE, "interp: the array xp has shape (2, 2), expected 1 dimension");
        assert_null(ga_interp(1, xp, none));
        assert_error(GA_ERR_INVALID, "interp: the array fp is NULL");
        assert_null(ga_interp(1, xp, fp, .right = GA_V(xp)));
        assert_error(GA_ERR_INVALID, "interp: .left and .right must be numbers");
    }
}

static void axes_have_bins_of_their_own(void **state)
{
    static const double x[] = {0, 1, 2, 2.5, 3, 9}, y[] = {5, 5, 6, 7, 7, 7};
    static const double edges[] = {0, 2, 3}, wanted[] = {2, 0, 0, 3};
    gpuarray *counts, *xedges, *both[2];
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_from_host(x, GA_FLOAT64, GA_SHAPE(6)),
                 *b = ga_from_host(y, GA_FLOAT64, GA_SHAPE(6)),
                 *e = ga_from_host(edges, GA_FLOAT64, GA_SHAPE(3)),
                 *expected = ga_from_host(wanted, GA_FLOAT64, GA_SHAPE(2, 2));
        assert_int_equal(ga_histogram2d(a, b, e, 2, &counts, &xedges, NULL), GA_OK);
        assert_arrays_equal(counts, expected);
        assert_arrays_equal(xedges, e);
        gpuarray *sample = ga_empty(GA_FLOAT64, GA_SHAPE(6, 2));
        ga_assign(ga_slice(sample, ":, 0"), GA_V(a));
        ga_assign(ga_slice(sample, ":, 1"), GA_V(b));
        assert_int_equal(ga_histogramdd(sample, GA_BINS(e, 2), &counts, both), GA_OK);
        assert_arrays_equal(counts, expected);
        assert_arrays_equal(both[0], e);
        assert_int_equal(
            ga_histogramdd(sample, GA_BINS(3), &counts, NULL, .ranges = (double[]){0, 1, 0, 0}),
            GA_OK);
        assert_int_equal(ga_item_int64(ga_sum(counts)), 2);
    }
}

/* ---- Refused arguments ---- */

/* The results keep what they hold. */
#define REFUSED(status, text, call)                                                                \
    do {                                                                                           \
        counts = edges = mark;                                                                     \
        assert_int_equal(call, status);                                                            \
        assert_ptr_equal(counts, mark);                                                            \
        assert_ptr_equal(edges, mark);                                                             \
        assert_error(status, text);                                                                \
    } while (0)

/* The numbers of tests/golden/make_rules.py; a negative count: that many equal ones. */
static gpuarray *ruled(int count, ga_dtype dtype)
{
    if (count < 0)
        return ga_full(dtype, GA_SHAPE(-count), 4);
    gpuarray *k = ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, count, 1), 7919), 1009),
             *squares = ga_multiply(k, k);
    return ga_astype(dtype == GA_INT32 ? ga_floor_divide(squares, 1009) : ga_divide(squares, 1009),
                     dtype);
}

static void rules_make_numpys_bins(void **state)
{
    static const char *const rules[] = {"auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"};
    size_t nbytes;
    char *text = read_bytes(golden_path("rules.txt"), &nbytes), *rest, *line, dtype[16];
    (void)state;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        GA_SCOPE {
            int count, wanted[7];
            double low, high;
            if (!in_eighth(line))
                continue;
            assert_int_equal(sscanf(line, "%d %15s %lf %lf %d %d %d %d %d %d %d", &count, dtype,
                                    &low, &high, wanted, wanted + 1, wanted + 2, wanted + 3,
                                    wanted + 4, wanted + 5, wanted + 6),
                             11);
            gpuarray *x = ruled(count, strcmp(dtype, "float64") == 0   ? GA_FLOAT64
                                       : strcmp(dtype, "float32") == 0 ? GA_FLOAT32
                                                                       : GA_INT32);
            for (int k = 0; k < 7; k++) {
                const int64_t found = ga_histogram_bins(x, .rule = rules[k], .range = {low, high});
                if (found != wanted[k])
                    fail_msg("%s: %s makes %lld bins", line, rules[k], (long long)found);
            }
        }
    free(text);
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *counts;
        assert_int_equal(ga_histogram(x, ga_histogram_bins(x), &counts, NULL), GA_OK);
        assert_int_equal(ga_histogram_bins(x, .rule = "stone"), 0);
        assert_error(GA_ERR_INVALID, "histogram_bins: unknown rule \"stone\"");
        assert_int_equal(ga_histogram_bins(x, .range = {3, 1}), 0);
        assert_error(GA_ERR_INVALID, "histogram_bins: the range [3, 1] is reversed");
        assert_int_equal(ga_histogram_bins(ga_ones(GA_COMPLEX64, GA_SHAPE(2))), 0);
        assert_error(GA_ERR_DTYPE, "histogram_bins: ");
        assert_int_equal(ga_histogram_bins(NULL), 0);
        assert_error(GA_ERR_INVALID, "histogram_bins: ");
        assert_int_equal(ga_histogram_bins(ga_full(GA_FLOAT32, GA_SHAPE(2), INFINITY)), 0);
        assert_error(GA_ERR_INVALID, "histogram_bins: the data's range [inf, inf] is not finite");
    }
}

static void histograms_refuse_with_the_numbers(void **state)
{
    gpuarray *counts, *edges, *mark;
    (void)state;
    GA_SCOPE {
        mark = ga_zeros(GA_INT8, GA_SHAPE(1));
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 10, 1), *z = ga_zeros(GA_COMPLEX64, GA_SHAPE(3)),
                 *down = ga_flip(x, 0), *wide = ga_zeros(GA_FLOAT32, GA_SHAPE(10, 17));
        REFUSED(GA_ERR_INVALID, "histogram: 0 bins, expected at least 1",
                ga_histogram(x, 0, &counts, &edges));
        REFUSED(GA_ERR_DTYPE, "histogram: 4.5 is not a number of bins",
                ga_histogram(x, 4.5, &counts, &edges));
        REFUSED(GA_ERR_INVALID, "histogram: the 10 edges do not ascend",
                ga_histogram(x, down, &counts, &edges));
        REFUSED(GA_ERR_INVALID, "histogram: the 3 edges do not ascend: a number follows NaN",
                ga_histogram(x,
                             ga_from_host(((const double[]){1, NAN, 2}), GA_FLOAT64, GA_SHAPE(3)),
                             &counts, &edges));
        REFUSED(GA_ERR_INVALID, "histogram: the range [3, 2] is reversed",
                ga_histogram(x, 4, &counts, &edges, .range = {3, 2}));
        REFUSED(GA_ERR_INVALID, "histogram: the range [0, inf] is not finite",
                ga_histogram(x, 4, &counts, &edges, .range = {0, INFINITY}));
        REFUSED(GA_ERR_INVALID, "histogram: the data's range [-inf, 8] is not finite",
                ga_histogram(ga_where(ga_equal(x, 9), -INFINITY, x), 4, &counts, &edges));
        REFUSED(GA_ERR_INVALID,
                "histogram: float32 has too few numbers in [16777216, 16777218] for 10 bins",
                ga_histogram(x, 10, &counts, &edges, .range = {16777216, 16777218}));
        REFUSED(GA_ERR_INVALID, "wider than the largest float64",
                ga_histogram(x, 10, &counts, &edges, .range = {-1.7e308, 1.7e308}));
        REFUSED(GA_ERR_SHAPE, "histogram: x has shape (10,), the weights have (3,)",
                ga_histogram(x, 10, &counts, &edges, .weights = z));
        REFUSED(GA_ERR_DTYPE, "histogram: x is complex64", ga_histogram(z, 10, &counts, &edges));
        REFUSED(GA_ERR_INVALID, "histogram: x is NULL",
                ga_histogram((gpuarray *)NULL, 10, &counts, &edges));
        REFUSED(GA_ERR_INVALID, "histogram: a result pointer is NULL",
                ga_histogram(x, 10, (gpuarray **)NULL, &edges));
        REFUSED(GA_ERR_SHAPE, "more than 2^63 bytes", ga_histogram(x, INT64_MAX, &counts, &edges));
        REFUSED(GA_ERR_SHAPE, "histogram2d: x has 10 elements, y has 3",
                ga_histogram2d(x, ga_real(z), 2, 2, &counts, &edges, NULL));
        REFUSED(GA_ERR_SHAPE, "histogramdd: 17 axes, expected 1 to 12",
                ga_histogramdd(wide, GA_BINS(2), &counts, &edges));
        REFUSED(GA_ERR_SHAPE, "histogramdd: shape (2147483648, 2147483648) of float64 has too many",
                ga_histogramdd(ga_slice(wide, ":, :2"), GA_BINS((int64_t)1 << 31, (int64_t)1 << 31),
                               &counts, &edges));
        REFUSED(GA_ERR_INVALID, "histogramdd: bins for 2 axes, the sample has 3",
                ga_histogramdd(ga_slice(wide, ":, :3"), GA_BINS(2, 2), &counts, &edges));
    }
}

static void searches_refuse_with_the_numbers(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 10, 1), *i = ga_arange(GA_INT32, 1, 11, 1);
        assert_null(ga_searchsorted(ga_reshape(x, GA_SHAPE(2, 5)), 1));
        assert_error(GA_ERR_SHAPE, "searchsorted: the sorted array has shape (2, 5)");
        assert_null(ga_searchsorted(x, (gpuarray *)NULL));
        assert_error(GA_ERR_INVALID, "searchsorted: operand 2 is NULL");
        assert_null(ga_searchsorted(x, 1, .sorter = x));
        assert_error(GA_ERR_DTYPE, "searchsorted: the sorter is float32");
        assert_null(ga_searchsorted(x, 1, .sorter = ga_slice(i, ":3")));
        assert_error(GA_ERR_SHAPE, "searchsorted: the array has 10 elements, the sorter has 3");
        assert_null(ga_searchsorted(x, 1, .sorter = i));
        assert_error(GA_ERR_INDEX, "searchsorted: the sorter's index 10 is outside 10 elements");
        assert_null(ga_searchsorted(x, 1, .sorter = ga_subtract(i, 5)));
        assert_error(GA_ERR_INDEX, "the sorter's index -4 is outside");
        assert_null(ga_bincount(ga_subtract(i, 5)));
        assert_error(GA_ERR_INVALID, "bincount: x has the negative element -4");
        assert_null(ga_bincount(x));
        assert_error(GA_ERR_DTYPE, "bincount: x is float32, expected integers or bool");
        assert_null(ga_bincount(i, .minlength = -1));
        assert_error(GA_ERR_INVALID, "bincount: minlength -1 is negative");
        assert_null(ga_bincount(i, .weights = ga_slice(x, ":3")));
        assert_error(GA_ERR_SHAPE, "bincount: x has 10 elements, the weights have 3");
        assert_null(ga_bincount(ga_full(GA_UINT64, GA_SHAPE(1), UINT64_MAX)));
        assert_error(GA_ERR_SHAPE, "more than 2^63 bytes");
    }
}

/* ---- Bits and memory ---- */

static void sums_have_the_same_bits_in_every_run(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_rng *rng = ga_rng_new(7);
        gpuarray *x = ga_rng_integers(rng, GA_INT32, 0, 40, GA_SHAPE(300000)),
                 *w = ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(300000));
        const gpuarray *first = ga_bincount(x, .weights = w);
        for (int k = 0; k < 20; k++)
            assert_arrays_equal(ga_bincount(x, .weights = w), first);
        ga_rng_free(rng);
    }
}

static bool all_once(void)
{
    bool done = false;
    gpuarray *counts = NULL, *edges = NULL, *plane = NULL;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 40, 1), *i = x ? ga_astype(x, GA_INT32) : NULL;
        done = i && ga_searchsorted(x, i, .sorter = i) && ga_searchsorted(x, 3.5) &&
               ga_digitize(x, i) && ga_interp(x, x, i, .period = 7) &&
               ga_bincount(i, .weights = x) &&
               ga_histogram_bins(x, .rule = "doane", .range = {1, 30}) > 0 &&
               ga_histogram_bins(i) > 0 &&
               ga_histogram(ga_transpose(ga_reshape(x, GA_SHAPE(4, 10))), 5, &counts, &edges,
                            .density = true) == GA_OK &&
               ga_histogram2d(x, i, 3, x, &plane, NULL, NULL) == GA_OK;
    }
    return done;
}

/* The same values in order and not: the host searches for those in order between their ends. */
static void values_in_order_have_the_same_places(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *table = ga_astype(ga_arange(GA_INT32, 0, 900, 3), GA_FLOAT32);
        gpuarray *up = ga_linspace(GA_FLOAT32, -20, 920, 1000);
        assert_int_equal(ga_assign(ga_slice(up, "999:"), NAN), GA_OK);
        gpuarray *down = ga_flip(up, 0);
        for (int right = 0; right < 2; right++) {
            gpuarray *places = ga_searchsorted(table, up, .side_right = right),
                     *others = ga_flip(ga_searchsorted(table, down, .side_right = right), 0);
            assert_true(ga_item_bool(ga_all(ga_equal(places, others))));
        }
        gpuarray *values = ga_interp(up, table, table),
                 *others = ga_flip(ga_interp(down, table, table), 0);
        assert_true(
            ga_item_bool(ga_all(ga_equal(ga_slice(values, ":-1"), ga_slice(others, ":-1")))));
        assert_true(isnan(ga_item_double(ga_slice(values, "-1"))));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    survive_failures(all_once);
}

/* Two results in a scope of some arrays; the n-th allocation fails. */
static void keep_two(const gpuarray *x, int arrays, int64_t n)
{
    gpuarray *counts, *edges;
    GA_SCOPE {
        for (int k = 0; k < arrays; k++)
            assert_non_null(ga_zeros(GA_INT8, 1, (const int64_t[]){1}));
        const int64_t live = ga__alloc_live();
        ga__alloc_fail_at(n);
        const ga_status status = ga_histogram(x, 10, &counts, &edges);
        ga__alloc_fail_at(0);
        assert_true(status == GA_OK || ga__alloc_live() == live);
    }
    ga_clear_error();
}

/* A scope that is full has to grow for one of the two. If it cannot, it keeps neither. */
static void a_scope_keeps_all_results_or_none(void **state)
{
    (void)state;
    gpuarray *x = ga_arange(GA_FLOAT64, 0, 10, 1);
    keep_two(x, 0, 0); /* compiles */
    for (int arrays = 0; arrays < 20; arrays++)
        for (int64_t n = 1; n < 100; n++)
            keep_two(x, arrays, n);
    ga_free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(answers_are_numpys),
        cmocka_unit_test(numbers_are_searched_for),
        cmocka_unit_test(numbers_stand_on_lines_between_points),
        cmocka_unit_test(values_in_order_have_the_same_places),
        cmocka_unit_test(axes_have_bins_of_their_own),
        cmocka_unit_test(rules_make_numpys_bins),
        cmocka_unit_test(histograms_refuse_with_the_numbers),
        cmocka_unit_test(searches_refuse_with_the_numbers),
        cmocka_unit_test(sums_have_the_same_bits_in_every_run),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(a_scope_keeps_all_results_or_none),
        simulated_test(numbers_are_searched_for),
        simulated_test(numbers_stand_on_lines_between_points),
    };
    file = golden_open("histogram.bin");
    sample_on_gpu(3);
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
