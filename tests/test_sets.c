/* Sets: NumPy's answers in several layouts, properties of random arrays on the host and by CUDA's
 * kernels in the simulator, refused arguments, and the failure of any allocation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "golden.h"
#include "layouts.h"
#include "parallel.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

static golden_file *file;
static uint64_t seed = 40;

/* ---- NumPy's answers ---- */

static gpuarray *given(const golden_case *c, int k)
{
    const layout how = (layout)((c - file->cases + 3 * k) % LAYOUT_BROADCAST);
    const golden_blob *x = c->arg[k];
    return layout_array(x->ndim > 0 ? how : LAYOUT_CONTIGUOUS, x->data, x->dtype, x->ndim,
                        x->shape);
}

static void run_unique(const golden_case *c, gpuarray **got)
{
    const gpuarray *x = given(c, 0);
    got[0] = ga_unique(x, .distinct_nan = c->ddof, .indices = &got[1], .counts = &got[2],
                       .naxes = c->naxes > 0 ? c->naxes : 0, .axes = c->axes);
}

static void run_inverse(const golden_case *c, gpuarray **got)
{
    const gpuarray *x = given(c, 0);
    if (c->ddof)
        ga_unique_inverse(x, &got[0], &got[1]);
    else
        got[0] =
            ga_unique(x, .inverse = &got[1], .naxes = c->naxes > 0 ? c->naxes : 0, .axes = c->axes);
}

static void run_pair(const golden_case *c, gpuarray **got)
{
    const gpuarray *a = given(c, 0), *b = given(c, 1);
    if (!strcmp(c->name, "isin"))
        got[0] = ga_isin(a, b, .invert = c->ddof);
    else if (!strcmp(c->name, "in1d"))
        got[0] = ga_in1d(a, b, .assume_unique = true);
    else if (!strcmp(c->name, "union1d"))
        got[0] = ga_union1d(a, b);
    else if (!strcmp(c->name, "intersect1d"))
        got[0] = ga_intersect1d(a, b, .assume_unique = c->ddof, .a_indices = &got[1],
                                .b_indices = &got[2]);
    else if (!strcmp(c->name, "setdiff1d"))
        got[0] = ga_setdiff1d(a, b, .assume_unique = c->ddof);
    else if (!strcmp(c->name, "setxor1d"))
        got[0] = ga_setxor1d(a, b, .assume_unique = c->ddof);
    else
        fail_later("unknown case %s", c->name);
}

static const char *case_text(int item)
{
    return golden_call(&file->cases[item]);
}

static void run_mode(const golden_case *c, gpuarray **got)
{
    ga_mode(given(c, 0), &got[0], &got[1], .naxes = c->naxes < 0 ? 0 : c->naxes, .axes = c->axes);
}

static void check_case(const golden_case *c)
{
    gpuarray *got[3] = {NULL};
    char why[300];
    if (!strcmp(c->name, "unique"))
        run_unique(c, got);
    else if (!strcmp(c->name, "inverse"))
        run_inverse(c, got);
    else if (!strcmp(c->name, "mode"))
        run_mode(c, got);
    else
        run_pair(c, got);
    for (int k = 0; k < c->nouts; k++)
        if (!golden_result(c, c->out[k], got[k], 1, why, sizeof why))
            fail_later("%s, %d: result %d: %s (%s)", golden_call(c), c->ddof, k, why,
                       ga_error_message());
    ga_clear_error();
}

static void check_item(int item)
{
    GA_SCOPE {
        check_case(&file->cases[item]);
    }
}

static void answers_are_numpys(void **state)
{
    (void)state;
    assert_true(file->ncases > 1500);
    rows_in_threads(file->ncases, case_text, check_item);
    assert_int_equal(failures(), 0);
}

/* ---- Properties ---- */

enum { MOST = 100000 };

static int32_t numbers[MOST];
static float floats[MOST], unique_floats[MOST];
static int64_t where[MOST], inverse_of[MOST], counts_of[MOST];

static void fetch(const gpuarray *x, void *to)
{
    if (!x || ga_to_host(x, to, ga_nbytes(x)) != GA_OK)
        fail_msg("%s", ga_error_message());
}

/* Floats with a bounded number of values, a few of them NaN. */
static gpuarray *draw(int64_t size, int64_t values)
{
    for (int64_t k = 0; k < size; k++) {
        const int64_t r = random_below(&seed, values);
        floats[k] = r == 0 ? NAN : (float)(r - values / 2) * 0.5f;
    }
    return ga_from_host(floats, GA_FLOAT32, GA_SHAPE(size));
}

/* Values ascend, occur in x where the indices and the inverse say, first there, and so often. */
static void check_unique(int64_t size, int64_t values)
{
    gpuarray *x = draw(size, values), *indices, *inverse, *counts;
    gpuarray *u = ga_unique(x, .indices = &indices, .inverse = &inverse, .counts = &counts);
    const int64_t n = u ? ga_size(u) : 0;
    fetch(u, unique_floats);
    fetch(indices, where);
    fetch(inverse, inverse_of);
    fetch(counts, counts_of);
    for (int64_t k = 0; k < n; k++) {
        assert_true(k == 0 || isnan(unique_floats[k]) || unique_floats[k - 1] < unique_floats[k]);
        assert_true(k == n - 1 || !isnan(unique_floats[k]));
        assert_int_equal(inverse_of[where[k]], k);
    }
    for (int64_t k = 0; k < size; k++) {
        const int64_t at = inverse_of[k];
        if (at < 0 || at >= n || memcmp(&floats[where[at]], &unique_floats[at], 4) != 0 ||
            !(floats[k] == unique_floats[at] || (isnan(floats[k]) && isnan(unique_floats[at]))) ||
            where[at] > k)
            fail_msg("element %lld of %lld, value %lld", (long long)k, (long long)size,
                     (long long)at);
        counts_of[at]--;
    }
    for (int64_t k = 0; k < n; k++)
        assert_int_equal(counts_of[k], 0);
}

static void unique_elements_stand_for_all(void **state)
{
    static const int64_t sizes[] = {1, 2, 31, 700, 5000, 40001};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        GA_SCOPE {
            check_unique(sizes[k], 1 + random_below(&seed, 20));
            check_unique(sizes[k], 2 * sizes[k]);
        }
}

static void assert_same(const gpuarray *found, const gpuarray *wanted)
{
    char why[200];
    if (!found || !wanted || !equal_arrays(found, wanted, why, sizeof why))
        fail_msg("%s", found && wanted ? why : ga_error_message());
}

static gpuarray *draw_integers(int64_t size, int64_t values)
{
    for (int64_t k = 0; k < size; k++)
        numbers[k] = (int32_t)random_below(&seed, values);
    return ga_from_host(numbers, GA_INT32, GA_SHAPE(size));
}

/* Values with counters of their own are those of the same numbers, which are sorted. */
static void check_narrow(ga_dtype dtype, int64_t size, int64_t values)
{
    gpuarray *wide = ga_subtract(draw_integers(size, values), dtype == GA_INT8 ? values / 2 : 0),
             *narrow = ga_astype(wide, dtype), *counts, *wanted_counts, *same_counts, *inverse;
    gpuarray *turned = ga_slice(narrow, "::-1");
    gpuarray *u = ga_unique(turned, .counts = &counts),
             *wanted = ga_unique(ga_astype(narrow, GA_INT32), .counts = &wanted_counts);
    assert_int_equal(ga_dtype_of(u), dtype);
    assert_same(ga_astype(u, GA_INT32), wanted);
    assert_same(counts, wanted_counts);
    assert_same(ga_unique(narrow), u);
    assert_int_equal(ga_unique_counts(narrow, &u, &same_counts), GA_OK);
    assert_same(same_counts, counts);
    ga_free(u);
    ga_free(same_counts);
    u = ga_unique(narrow, .inverse = &inverse);
    if (size > 0)
        assert_same(ga_take(u, inverse), narrow);
}

static void narrow_elements_are_counted(void **state)
{
    static const ga_dtype dtypes[] = {GA_BOOL, GA_INT8, GA_UINT8};
    static const int64_t sizes[] = {0, 1, 4095, 4096, 4097, 70001};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            GA_SCOPE {
                const int64_t most = dtypes[d] == GA_BOOL ? 2 : 256;
                check_narrow(dtypes[d], sizes[k], most);
                check_narrow(dtypes[d], sizes[k], 1 + random_below(&seed, most));
            }
}

/* A call runs on its operand's device; the current one does not matter. */
static void results_are_where_the_operand_is(void **state)
{
    static const ga_dtype dtypes[] = {GA_BOOL, GA_INT8, GA_UINT8, GA_INT32};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        GA_SCOPE {
            gpuarray *x = ga_astype(draw_integers(5000, 100), dtypes[d]), *counts, *u;
            const char *const here = ga_device_of(x);
            ga__use_device(ga__find_device("cpu"));
            u = ga_unique(x, .counts = &counts);
            if (!u)
                fail_msg("%s", ga_error_message());
            assert_string_equal(ga_device_of(u), here);
            assert_string_equal(ga_device_of(counts), here);
            ga__use_device(&simulated_device);
        }
}

/* a & b, a - b, b - a and what they make up. */
static void check_algebra(int64_t size, int64_t other, int64_t values)
{
    gpuarray *a = draw_integers(size, values), *b = draw_integers(other, values), *of_a, *of_b;
    gpuarray *both = ga_intersect1d(a, b, .a_indices = &of_a, .b_indices = &of_b),
             *only_a = ga_setdiff1d(a, b), *only_b = ga_setdiff1d(b, a), *either = ga_union1d(a, b),
             *one = ga_setxor1d(a, b);
    assert_same(ga_union1d(both, one), either);
    assert_same(ga_union1d(only_a, only_b), one);
    assert_same(ga_setdiff1d(either, one), both);
    assert_same(ga_intersect1d(b, a), both);
    assert_same(ga_extract(ga_isin(a, b), a), ga_extract(ga_isin(a, both), a));
    assert_same(ga_isin(a, b, .invert = true), ga_isin(a, only_a));
    assert_same(ga_union1d(a, a), ga_unique(a));
    assert_int_equal(ga_size(ga_setxor1d(a, a)), 0);
    assert_int_equal(ga_size(both) + ga_size(only_a), ga_size(ga_unique(a)));
    assert_int_equal(ga_size(of_a), ga_size(both));
    assert_int_equal(ga_size(of_b), ga_size(both));
}

/* The runs of many elements are marked, unless the inverse is wanted. */
static void many_runs_are_those_of_the_inverse(void **state)
{
    (void)state;
    for (int64_t values = 1; values <= MOST; values *= 300)
        GA_SCOPE {
            gpuarray *x = draw(70001, values + 1), *indices, *counts, *other_indices, *other_counts,
                     *inverse;
            for (int nan = 0; nan < 2; nan++) {
                gpuarray *u =
                    ga_unique(x, .indices = &indices, .counts = &counts, .distinct_nan = nan);
                gpuarray *v = ga_unique(x, .indices = &other_indices, .counts = &other_counts,
                                        .inverse = &inverse, .distinct_nan = nan);
                assert_same(ga_view(u, GA_INT32), ga_view(v, GA_INT32));
                assert_same(indices, other_indices);
                assert_same(counts, other_counts);
                u = ga_unique(x, .distinct_nan = nan);
                assert_same(ga_view(u, GA_INT32), ga_view(v, GA_INT32));
            }
        }
    GA_SCOPE {
        check_algebra(70000, 66000, 50000);
    }
}

static void unions_and_differences_agree(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++)
        GA_SCOPE {
            if (!in_short_sample("algebra", k, 8))
                continue;
            check_algebra(1 + random_below(&seed, 3000), 1 + random_below(&seed, 3000),
                          1 + random_below(&seed, 4000));
            check_algebra(random_below(&seed, 400), random_below(&seed, 60), 100);
        }
}

/* Results of the array API's forms that nobody wants. */
static void any_result_may_be_left_out(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host((float[]){2, NAN, 2, NAN}, GA_FLOAT32, GA_SHAPE(2, 2)), *values,
                 *inverse, *counts;
        assert_int_equal(ga_unique_all(x, NULL, NULL, &inverse, NULL), GA_OK);
        assert_shape(inverse, GA_SHAPE(2, 2));
        assert_int_equal(ga_unique_all(x, NULL, NULL, NULL, NULL), GA_OK);
        assert_int_equal(ga_unique_counts(x, &values, &counts), GA_OK);
        assert_shape(values, GA_SHAPE(3));
        assert_numbers(ga_astype(counts, GA_INT32), NUMBERS(2, 1, 1));
        assert_shape(ga_unique_values(x), GA_SHAPE(3));
        assert_shape(ga_unique(x), GA_SHAPE(2));
    }
}

static void modes_have_the_kept_axes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host((int32_t[]){3, 1, 1, 3, 2, 2, 2, 1}, GA_INT32, GA_SHAPE(2, 4)),
                 *values, *counts = x;
        assert_int_equal(ga_mode(x, &values, &counts, GA_AXIS(-1), .keepdims = true), GA_OK);
        assert_shape(counts, GA_SHAPE(2, 1));
        assert_numbers(values, NUMBERS(1, 2));
        assert_int_equal(ga_mode(x, &values, NULL), GA_OK);
        assert_numbers(values, NUMBERS(1));
        assert_int_equal(ga_mode(ga_zeros(GA_INT8, GA_SHAPE(0, 3)), NULL, &counts, GA_AXIS(1)),
                         GA_OK);
        assert_shape(counts, GA_SHAPE(0));
        assert_int_equal(ga_mode(ga_zeros(GA_INT8, GA_SHAPE(0, 3)), &values, &counts),
                         GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "mode: shape (0, 3) has no elements along the reduced axes");
        assert_int_equal(ga_mode(x, &values, &counts, GA_AXIS(2)), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "mode: axis 2 is out of range");
    }
}

/* A long row and many short ones, against the counts of unique elements. */
static void modes_are_the_most_frequent(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        GA_SCOPE {
            if (!in_short_sample("modes", k, 4))
                continue;
            gpuarray *x = draw_integers(20000, 1 + random_below(&seed, 900)), *value, *count,
                     *counts, *values, *other;
            gpuarray *u = ga_unique(x, .counts = &counts);
            assert_int_equal(ga_mode(x, &value, &count), GA_OK);
            const int64_t most = ga_item_int64(ga_argmax(counts));
            assert_int_equal(ga_item_int64(count), ga_item_int64(ga_max(counts)));
            assert_int_equal(ga_item_int64(value),
                             ga_item_int64(ga_slice(u, "%lld", (long long)most)));
            gpuarray *rows = ga_reshape(x, GA_SHAPE(2, 200, 50));
            assert_int_equal(ga_mode(rows, &values, &counts, GA_AXIS(1)), GA_OK);
            gpuarray *column = ga_slice(rows, "1, :, 7");
            assert_int_equal(ga_mode(column, &value, &other), GA_OK);
            assert_same(ga_slice(values, "1, 7"), value);
            assert_same(ga_slice(counts, "1, 7"), other);
        }
}

/* The bits of the first of equal elements are kept, of NaN too. */
static void kept_elements_keep_their_bits(void **state)
{
    static const uint16_t halves[] = {0x7e01, 0x0000, 0x8000, 0xfe02, 0x3c00},
                          signals[] = {0x7d01, 0x3c00};
    uint16_t kept[3];
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host(halves, GA_FLOAT16, GA_SHAPE(5)),
                 *none = ga_zeros(GA_FLOAT16, GA_SHAPE(0));
        fetch(ga_unique(x), kept);
        assert_int_equal(kept[0], 0x0000);
        assert_int_equal(kept[2], 0x7e01);
        fetch(ga_unique(ga_from_host(signals, GA_FLOAT16, GA_SHAPE(2))), kept);
        assert_int_equal(kept[1], 0x7d01);
        fetch(ga_unique(ga_flip(x, 0)), kept);
        assert_int_equal(kept[0], 0x8000);
        assert_int_equal(kept[2], 0xfe02);
        fetch(ga_union1d(none, x), kept);
        assert_int_equal(kept[2], 0x7e01);
        uint16_t all[5];
        fetch(ga_setdiff1d(x, none, .assume_unique = true), all);
        assert_memory_equal(all, halves, sizeof halves);
    }
}

/* ---- Bad calls ---- */

static void bad_calls_are_refused(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(4)), *left = x, *null = NULL;
        assert_null(ga_unique(null));
        assert_error(GA_ERR_INVALID, "unique: x is NULL");
        assert_int_equal(ga_unique_counts(NULL, &left, NULL), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "unique_counts: x is NULL");
        assert_ptr_equal(left, x);
        assert_null(ga_isin(x, null));
        assert_error(GA_ERR_INVALID, "isin: the array of test elements is NULL");
        assert_null(ga_in1d(null, x));
        assert_error(GA_ERR_INVALID, "in1d: x is NULL");
        assert_null(ga_union1d(x, NULL));
        assert_error(GA_ERR_INVALID, "union1d: the second array is NULL");
        assert_null(ga_setdiff1d(null, x));
        assert_error(GA_ERR_INVALID, "setdiff1d: the first array is NULL");
        assert_null(ga_intersect1d(x, null, .a_indices = &left));
        assert_error(GA_ERR_INVALID, "intersect1d: the second array is NULL");
        assert_ptr_equal(left, x);
        assert_int_equal(ga_graph_begin(), GA_OK);
        assert_null(ga_unique(x, .counts = &left));
        assert_error(GA_ERR_UNSUPPORTED, "unique");
        assert_ptr_equal(left, x);
        ga_graph_free(ga_graph_end());
        ga_clear_error();
    }
}

static void membership_can_be_recorded(void **state)
{
    int32_t next[40];
    ga_graph *graph;
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(6)), *test = ga_zeros(GA_INT32, GA_SHAPE(40)),
                 *found = ga_zeros(GA_BOOL, GA_SHAPE(6));
        GA_GRAPH(graph)
        {
            ga_assign(found, ga_isin(x, test));
        }
        assert_non_null(graph);
        for (int32_t k = 0; k < 40; k++)
            next[k] = 2 * k + 1;
        assert_int_equal(ga_set(test, next, sizeof next), GA_OK);
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_numbers(ga_astype(found, GA_INT32), NUMBERS(0, 1, 0, 1, 0, 1));
        ga_graph_free(graph);
    }
}

/* ---- Memory ---- */

static bool make_sets(void)
{
    gpuarray *one = NULL, *two = NULL, *three = NULL;
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(3, 20)), *y = x ? ga_ones_like(x) : NULL;
        done = y && ga_unique(x, .indices = &one, .inverse = &two, .counts = &three) &&
               ga_unique(x, .counts = &three, GA_AXIS(0)) &&
               ga_intersect1d(x, y, .a_indices = &one, .b_indices = &two) && ga_setxor1d(x, y) &&
               ga_union1d(x, y) && ga_setdiff1d(x, y) && ga_isin(x, y) &&
               ga_mode(x, &one, &two, GA_AXIS(0)) == GA_OK;
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures(make_sets);
}

/* A failed call leaves the results' places as they were, and no array behind. */
static void failed_calls_set_nothing(void **state)
{
    (void)state;
    gpuarray *x = counting(GA_SHAPE(50)), *values = x, *counts = x;
    ga_free(ga_unique(x, .counts = &counts)); /* loads the kernels */
    ga_free(counts);
    counts = x;
    const int64_t live = live_blocks();
    for (int64_t n = 1; n < 200; n++) {
        ga__alloc_fail_at(n);
        values = ga_unique(x, .counts = &counts);
        ga__alloc_fail_at(0);
        if (values) {
            ga_free(values);
            ga_free(counts);
            counts = x;
        }
        ga_clear_error();
        assert_ptr_equal(counts, x);
        assert_int_equal(live_blocks(), live);
    }
    ga_free(x);
}

static int open_file(void **state)
{
    (void)state;
    file = golden_open("sets.bin");
    return 0;
}

static int close_file(void **state)
{
    (void)state;
    golden_close(file);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(answers_are_numpys),
        cmocka_unit_test(unique_elements_stand_for_all),
        slow_test(narrow_elements_are_counted),
        slow_test(many_runs_are_those_of_the_inverse),
        cmocka_unit_test(unions_and_differences_agree),
        cmocka_unit_test(any_result_may_be_left_out),
        cmocka_unit_test(kept_elements_keep_their_bits),
        cmocka_unit_test(modes_have_the_kept_axes),
        cmocka_unit_test(modes_are_the_most_frequent),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(membership_can_be_recorded),
        cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(failed_calls_set_nothing),
        simulated_test(unique_elements_stand_for_all),
        simulated_test(narrow_elements_are_counted),
        simulated_test(results_are_where_the_operand_is),
        simulated_test(unions_and_differences_agree),
        simulated_test(modes_are_the_most_frequent),
        simulated_test(kept_elements_keep_their_bits),
    };
    return run_named_tests(argc, argv, tests, open_file, close_file);
}
