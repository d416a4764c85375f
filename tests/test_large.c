/* Arrays of more than 2^31 elements: sums, indices and slices at the far end, and reductions with
 * more blocks than run at once. Runs only on a GPU. */
#include <stdio.h>

#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "run.h"

static const int64_t COUNT = ((int64_t)1 << 31) + 1003;

static double element(const gpuarray *x, int64_t i)
{
    return ga_item_double(ga_slice(x, "%lld", (long long)i));
}

static void bytes_past_two_to_the_31(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT8, GA_SHAPE(COUNT));
        assert_int_equal(ga_assign(ga_slice(x, "-3:"), 5), GA_OK);
        gpuarray *y = ga_add(x, 1);
        assert_int_equal(ga_size(y), COUNT);
        assert_float_equal(element(y, -1), 6, 0);
        assert_float_equal(element(y, COUNT - 4), 2, 0);
        assert_float_equal(element(y, 0), 2, 0);
        assert_int_equal(ga_item_int64(ga_sum(y)), 2 * COUNT + 12);
        assert_int_equal(ga_item_int64(ga_argmax(y)), COUNT - 3);
        assert_int_equal(ga_item_int64(ga_argmax(ga_flip(y, 0))), 0);
        assert_int_equal(ga_item_int64(ga_count_nonzero(ga_equal(y, 6))), 3);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void steps_past_two_to_the_31(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT8, GA_SHAPE(COUNT));
        assert_int_equal(ga_assign(ga_slice(x, "::1001"), 1), GA_OK);
        int64_t marks = (COUNT + 1000) / 1001;
        assert_int_equal(ga_item_int64(ga_sum(x)), marks);
        assert_int_equal(ga_item_int64(ga_sum(ga_slice(x, "::-1"))), marks);
        gpuarray *picked = ga_copy(ga_slice(x, "::1001"));
        assert_int_equal(ga_size(picked), marks);
        assert_int_equal(ga_item_int64(ga_min(picked)), 1);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void broadcast_results_past_two_to_the_31(void **state)
{
    (void)state;
    enum { SIDE = 50021 };
    GA_SCOPE {
        gpuarray *row = ga_remainder(ga_arange(GA_INT32, 0, SIDE, 1), 100);
        gpuarray *bytes = ga_astype(row, GA_UINT8), *column = ga_expand_dims(bytes, 1);
        gpuarray *table = ga_add(column, bytes);
        assert_int_equal(ga_size(table), (int64_t)SIDE * SIDE);
        assert_float_equal(ga_item_double(ga_slice(table, "-1, -1")), 2 * ((SIDE - 1) % 100), 0);
        assert_float_equal(ga_item_double(ga_slice(table, "50000, 17")), 17, 0);
        gpuarray *sums = ga_sum(table, GA_AXIS(0)),
                 *other = ga_sum(ga_transpose(table), GA_AXIS(0));
        assert_arrays_equal(sums, other);
        int64_t total = ga_item_int64(ga_sum(bytes));
        assert_int_equal(ga_item_int64(ga_slice(sums, "-1")),
                         total + (int64_t)SIDE * ((SIDE - 1) % 100));
        assert_int_equal(ga_item_int64(ga_sum(table)), 2 * SIDE * total);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void bytes_of_wide_elements_past_two_to_the_32(void **state)
{
    (void)state;
    const int64_t count = ((int64_t)1 << 29) + 77;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT64, GA_SHAPE(count));
        assert_int_equal(ga_assign(ga_slice(x, "-1"), 9), GA_OK);
        gpuarray *y = ga_multiply(ga_flip(x, 0), 2);
        assert_float_equal(element(y, 0), 18, 0);
        assert_float_equal(element(y, -1), 2, 0);
        assert_float_equal(ga_item_double(ga_sum(y)), 2.0 * (double)count + 16, 0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void the_index_in_a_kernel_is_wide(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT8, GA_SHAPE(COUNT));
        ga_kernel *k =
            ga_elementwise_kernel("signed char *x", "if (i == n - 2) x[i] = i % 100", "far");
        assert_int_equal(ga_run(k, x), GA_OK);
        assert_float_equal(element(x, COUNT - 2), (double)((COUNT - 2) % 100), 0);
        assert_int_equal(ga_item_int64(ga_sum(x)), (COUNT - 2) % 100);
        ga_kernel_free(k);
        k = ga_reduction_kernel(GA_INT64, "0", "a > b ? a : b", "x[i] ? i : 0", "signed char *x",
                                "farthest");
        assert_int_equal(ga_item_int64(ga_reduce(k, x)), COUNT - 2);
        ga_kernel_free(k);
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Numbers 0 to 6 repeated, in 1000 rows of whole periods. */
enum { ROWS = 1000, ROW = 7 * 40000 };

static gpuarray *turns(ga_dtype dtype)
{
    return ga_astype(ga_remainder(ga_arange(GA_INT32, 0, ROWS * ROW, 1), 7), dtype);
}

static void expect_extremes(const gpuarray *x, int64_t at, int64_t start)
{
    const gpuarray *tail = ga_slice(x, "%lld:", (long long)start);
    gpuarray *spot = ga_slice(x, "%lld:%lld", (long long)at, (long long)at + 1);
    assert_int_equal(ga_assign(spot, 9), GA_OK);
    assert_int_equal(ga_item_int64(ga_argmax(tail)), at - start);
    assert_float_equal(ga_item_double(ga_max(tail)), 9, 0);
    assert_int_equal(ga_assign(spot, -9), GA_OK);
    assert_int_equal(ga_item_int64(ga_argmin(tail)), at - start);
    assert_float_equal(ga_item_double(ga_min(tail)), -9, 0);
    assert_int_equal(ga_assign(spot, at % 7), GA_OK);
}

static void extremes_in_several_waves(void **state)
{
    (void)state;
    const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT64, GA_FLOAT16};
    const int64_t n = (int64_t)ROWS * ROW, at[] = {1, 2, 4099, n / 3, n / 2 + 12345, n - 2, n - 1};
    for (size_t d = 0; d < sizeof(dtypes) / sizeof(dtypes[0]); d++)
        GA_SCOPE {
            const gpuarray *x = turns(dtypes[d]);
            assert_int_equal(ga_item_int64(ga_argmax(x)), 6); /* the first of many */
            assert_int_equal(ga_item_int64(ga_argmin(x)), 0);
            for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++)
                for (int start = 0; start < 2; start++)
                    expect_extremes(x, at[k], start);
            assert_int_equal(ga_error(), GA_OK);
        }
}

static void expect_everywhere(const gpuarray *x, double value, double within)
{
    assert_true(ga_item_bool(ga_all(ga_less_equal(ga_absolute(ga_subtract(x, value)), within))));
}

static void sums_in_several_waves(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *x = turns(GA_FLOAT32), *whole = turns(GA_INT32),
                       *rows = ga_reshape(x, GA_SHAPE(ROWS, ROW)),
                       *fours = ga_reshape(x, GA_SHAPE(-1, 4));
        const double n = (double)ROWS * ROW;
        assert_int_equal(ga_item_int64(ga_sum(whole)), (int64_t)ROWS * ROW * 3);
        assert_int_equal(ga_item_int64(ga_sum(ga_slice(whole, "1:"))), (int64_t)ROWS * ROW * 3);
        assert_int_equal(ga_item_int64(ga_count_nonzero(x)), (int64_t)ROWS * ROW / 7 * 6);
        assert_float_equal(ga_item_double(ga_sum(x)) / n, 3, 1e-6);
        assert_float_equal(ga_item_double(ga_sum(ga_slice(x, "::7"))), 0, 0);
        assert_float_equal(ga_item_double(ga_var(x)), 4, 1e-5);
        assert_float_equal(ga_item_double(ga_mean(turns(GA_FLOAT64))), 3, 1e-14);
        assert_float_equal(ga_item_double(ga_var(turns(GA_FLOAT64))), 4, 1e-13);
        assert_float_equal(ga_item_double(ga_dot(x, x)) / n, 13, 1e-5);
        expect_everywhere(ga_sum(rows, GA_AXIS(1)), 3. * ROW, 1);
        expect_everywhere(ga_var(rows, GA_AXIS(1)), 4, 1e-5);
        expect_everywhere(ga_argmax(rows, GA_AXIS(1)), 6, 0);
        expect_everywhere(ga_sum(fours, GA_AXIS(0)), 3. * n / 4, 3e-6 * n);
        expect_everywhere(ga_max(fours, GA_AXIS(0)), 6, 0);
        const gpuarray *least = ga_argmin(fours, GA_AXIS(0));
        const double rows_of_zero[] = {0, 5, 3, 1};
        for (int k = 0; k < 4; k++)
            assert_float_equal(element(least, k), rows_of_zero[k], 0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void truth_in_a_long_array(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *x = turns(GA_FLOAT32), *shifted = ga_add(x, 1);
        assert_true(ga_item_bool(ga_any(x)));
        assert_false(ga_item_bool(ga_all(x)));
        assert_true(ga_item_bool(ga_all(shifted)));
        assert_int_equal(ga_assign(ga_slice(shifted, "-1:"), 0), GA_OK);
        assert_false(ga_item_bool(ga_all(shifted)));
        assert_false(ga_item_bool(ga_any(ga_slice(x, "::7"))));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Results and operands of more than 2^31 elements, by the own kernel and by the library. */
static void products_past_two_to_the_31(void **state)
{
    (void)state;
    enum { DOWN = 65537, ACROSS = 32800 };
    GA_SCOPE {
        const gpuarray *rows = ga_remainder(ga_arange(GA_INT32, 0, DOWN, 1), 3),
                       *columns = ga_remainder(ga_arange(GA_INT32, 0, ACROSS, 1), 5),
                       *a = ga_reshape(ga_astype(rows, GA_INT8), GA_SHAPE(DOWN, 1)),
                       *b = ga_reshape(ga_astype(columns, GA_INT8), GA_SHAPE(1, ACROSS)),
                       *c = ga_matmul(a, b);
        assert_true(ga_item_bool(ga_all(ga_equal(c, ga_multiply(a, b)))));
        const gpuarray *sums = ga_matmul(c, ga_ones(GA_INT8, GA_SHAPE(ACROSS, 16))),
                       *wanted = ga_astype(ga_sum(c, GA_AXIS(1), .keepdims = true), GA_INT8);
        assert_true(ga_item_bool(ga_all(ga_equal(sums, wanted))));
        const gpuarray *halves = ga_ones(GA_FLOAT16, GA_SHAPE(DOWN, ACROSS)),
                       *some = ga_ones(GA_FLOAT16, GA_SHAPE(ACROSS, 16));
        expect_everywhere(ga_matmul(halves, some), ACROSS, 0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_past_two_to_the_31),
        cmocka_unit_test(steps_past_two_to_the_31),
        cmocka_unit_test(broadcast_results_past_two_to_the_31),
        cmocka_unit_test(bytes_of_wide_elements_past_two_to_the_32),
        cmocka_unit_test(the_index_in_a_kernel_is_wide),
        cmocka_unit_test(extremes_in_several_waves),
        cmocka_unit_test(sums_in_several_waves),
        cmocka_unit_test(truth_in_a_long_array),
        cmocka_unit_test(products_past_two_to_the_31),
    };
    if (on_host()) {
        printf("skipped: arrays this large are tested on a GPU, and the device is "
               "%s\n",
               ga_current_device());
        return 77;
    }
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
