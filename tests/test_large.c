/* Arrays of more than 2^31 elements: sums, indices and slices at the far end. Runs on a GPU only.
 */
#include "array_support.h"
#include "golden.h"

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
        assert_true(ga_item_bool(ga_all(ga_equal(sums, other))));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_past_two_to_the_31),
        cmocka_unit_test(steps_past_two_to_the_31),
        cmocka_unit_test(broadcast_results_past_two_to_the_31),
        cmocka_unit_test(bytes_of_wide_elements_past_two_to_the_32),
        cmocka_unit_test(the_index_in_a_kernel_is_wide),
    };
    if (on_host()) {
        printf("skipped: arrays of more than 2^31 elements are tested on a GPU, and the device is "
               "%s\n",
               ga_current_device());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
