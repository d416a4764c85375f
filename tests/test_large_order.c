/* Arrays of more than 2^31 elements: sorts, scans, selection, sets, histograms, indices and joins;
 * and scans that have the same bits whatever runs beside them. Runs only on a GPU. */
#include <stdio.h>

#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "run.h"

static const int64_t COUNT = ((int64_t)1 << 31) + 11;

/* Bytes that look random; the same on every run. */
static gpuarray *mixed(int64_t count)
{
    gpuarray *x = ga_empty(GA_UINT8, GA_SHAPE(count));
    ga_kernel *k = ga_elementwise_kernel(
        "unsigned char *x", "x[i] = (unsigned char)(((unsigned long long)i * 2654435761ull) >> 21)",
        "mixed");
    assert_int_equal(ga_run(k, x), GA_OK);
    ga_kernel_free(k);
    return x;
}

static bool everywhere(const gpuarray *truth)
{
    return ga_item_bool(ga_all(truth));
}

static void sorts(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = mixed(COUNT), *counts = ga_bincount(x, .minlength = 256),
                 *sorted = ga_sort(x);
        assert_int_equal(ga_item_int64(ga_sum(counts)), COUNT);
        assert_true(everywhere(ga_less_equal(ga_slice(sorted, ":-1"), ga_slice(sorted, "1:"))));
        gpuarray *ends =
            ga_searchsorted(sorted, ga_arange(GA_UINT8, 0, 256, 1), .side_right = true);
        assert_arrays_equal(ends, ga_cumsum(counts));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Sorted places lead to sorted elements, and ascend where elements are equal. */
static void sorts_of_places(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = mixed(COUNT), *places = ga_argsort(x), *sorted = ga_take(x, places);
        gpuarray *wrong =
            ga_eval("sum((a > b) | (a == b) & (i >= j))", GA_NAMED("a", ga_slice(sorted, ":-1")),
                    GA_NAMED("b", ga_slice(sorted, "1:")), GA_NAMED("i", ga_slice(places, ":-1")),
                    GA_NAMED("j", ga_slice(places, "1:")));
        assert_int_equal(ga_item_int64(wrong), 0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void order_statistics(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_minimum(mixed(COUNT), 200), *sorted = ga_sort(x);
        double middle = ga_item_double(ga_slice(sorted, "%lld", (long long)(COUNT / 2)));
        assert_true(ga_item_double(ga_median(x)) == middle);
        assert_int_equal(ga_assign(ga_slice(x, "-2"), 255), GA_OK);
        assert_int_equal(ga_assign(ga_slice(x, "7"), 254), GA_OK);
        gpuarray *values, *places;
        assert_int_equal(ga_topk(x, 2, &values, &places), GA_OK);
        assert_numbers(ga_astype(values, GA_INT32), NUMBERS(255, 254));
        assert_int_equal(ga_item_int64(ga_slice(places, "0")), COUNT - 2);
        assert_int_equal(ga_item_int64(ga_slice(places, "1")), 7);
        gpuarray *least = ga_partition(x, 10);
        assert_true(ga_item_double(ga_max(ga_slice(least, ":10"))) <=
                    ga_item_double(ga_slice(least, "10")));
        assert_int_equal(ga_item_int64(ga_argmax(x)), COUNT - 2);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void sums_of_bytes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *ones = ga_ones(GA_INT8, GA_SHAPE(COUNT)), *sums = ga_cumsum(ones);
        assert_true(everywhere(ga_equal(ga_slice(sums, ":1000"), ga_arange(GA_INT64, 1, 1001, 1))));
        gpuarray *steps = ga_eval("sum(b - a)", GA_NAMED("a", ga_slice(sums, ":-1")),
                                  GA_NAMED("b", ga_slice(sums, "1:")));
        assert_int_equal(ga_item_int64(steps), COUNT - 1);
        assert_int_equal(ga_item_int64(ga_slice(sums, "-1")), COUNT);
        assert_int_equal(ga_item_int64(ga_slice(sums, "%lld", (long long)1 << 31)),
                         ((int64_t)1 << 31) + 1);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void selections(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = mixed(COUNT), *mask = ga_zeros(GA_BOOL, GA_SHAPE(COUNT));
        assert_int_equal(ga_assign(ga_slice(mask, "::1001"), 1), GA_OK);
        assert_int_equal(ga_assign(ga_slice(mask, "-1"), 1), GA_OK);
        gpuarray *places = ga_flatnonzero(mask);
        int64_t marks = (COUNT + 1000) / 1001 + ((COUNT - 1) % 1001 != 0);
        assert_int_equal(ga_size(places), marks);
        assert_int_equal(ga_item_int64(ga_slice(places, "-1")), COUNT - 1);
        assert_arrays_equal(ga_extract(mask, x), ga_take(x, places));
        assert_int_equal(ga_assign(mask, 1), GA_OK);
        assert_true(everywhere(ga_equal(ga_extract(mask, x), x)));
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void sets_and_histograms(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = mixed(COUNT), *values, *counts, *bins;
        assert_int_equal(ga_unique_counts(x, &values, &counts), GA_OK);
        assert_int_equal(ga_size(values), 256);
        assert_arrays_equal(counts, ga_bincount(x));
        assert_int_equal(ga_histogram(x, 256, &bins, NULL, .range = {0, 256}), GA_OK);
        assert_arrays_equal(bins, counts);
        gpuarray *found = ga_isin(x, ga_astype(ga_slice(values, "128:"), GA_UINT8));
        assert_int_equal(ga_item_int64(ga_count_nonzero(found)),
                         ga_item_int64(ga_sum(ga_slice(counts, "128:"))));
        gpuarray *bin = ga_searchsorted(ga_arange(GA_UINT8, 0, 256, 1), x);
        assert_true(everywhere(ga_equal(bin, x)));
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void indices(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = mixed(COUNT), *backwards = ga_arange(GA_INT64, (double)COUNT - 1, -1, -1);
        gpuarray *turned = ga_take(x, backwards);
        assert_true(everywhere(ga_equal(turned, ga_flip(x, 0))));
        assert_int_equal(ga_assign(turned, 0), GA_OK);
        assert_int_equal(ga_put(turned, backwards, x), GA_OK);
        assert_true(everywhere(ga_equal(turned, ga_flip(x, 0))));
        gpuarray *far =
            ga_from_host(((int64_t[]){-1, COUNT - 2, 1ll << 31}), GA_INT64, GA_SHAPE(3));
        assert_int_equal(ga_index_set(x, 77, far), GA_OK);
        assert_numbers(ga_astype(ga_index(x, far), GA_INT32), NUMBERS(77, 77, 77));
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void joins(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = mixed(COUNT), *two = ga_concatenate(GA_ARRAYS(x, x));
        assert_int_equal(ga_size(two), 2 * COUNT);
        assert_true(everywhere(ga_equal(ga_slice(two, "%lld:", (long long)COUNT), x)));
        gpuarray *rolled = ga_roll(x, COUNT - 5);
        assert_true(everywhere(ga_equal(ga_slice(rolled, ":-5"), ga_slice(x, "5:"))));
        assert_true(everywhere(ga_equal(ga_slice(rolled, "-5:"), ga_slice(x, ":5"))));
        gpuarray *twice = ga_repeat(ga_slice(x, "%lld:", (long long)COUNT / 2), 2);
        assert_true(everywhere(ga_equal(ga_slice(twice, "1::2"), ga_slice(twice, "::2"))));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* 1000 sums of 10^8 random numbers, while two streams keep the device busy. */
static void sums_have_the_same_bits_beside_other_work(void **state)
{
    (void)state;
    GA_SCOPE {
        const int64_t count = 100000007;
        ga_rng *rng = ga_rng_new(7);
        gpuarray *x = ga_rng_standard_normal(rng, GA_FLOAT32, GA_SHAPE(count)),
                 *sums = ga_cumsum(x), *again = ga_empty_like(x),
                 *y = ga_rng_standard_normal(rng, GA_FLOAT32, GA_SHAPE(1 << 22)), *z = ga_copy(y),
                 *wrong = ga_zeros(GA_INT64, 0, NULL);
        ga_rng_free(rng);
        ga_stream *busy[] = {ga_stream_new(), ga_stream_new()}, *own = ga_stream_new();
        ga_synchronize();
        for (int run = 0; run < 1000; run++) {
            for (int k = 0; k < 2; k++) {
                ga_set_stream(busy[k]);
                for (int times = 0; times < 3 + run % 5; times++)
                    ga_add_into(k ? y : z, k ? y : z, 1);
            }
            ga_set_stream(own);
            GA_SCOPE {
                ga_cumsum(x, .out = again);
                ga_add_into(wrong, wrong,
                            ga_count_nonzero(
                                ga_not_equal(ga_view(again, GA_INT32), ga_view(sums, GA_INT32))));
            }
        }
        ga_set_stream(NULL);
        ga_synchronize();
        assert_int_equal(ga_item_int64(wrong), 0);
        for (int k = 0; k < 2; k++)
            ga_stream_free(busy[k]);
        ga_stream_free(own);
        assert_int_equal(ga_error(), GA_OK);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(sorts_of_places),
        cmocka_unit_test(order_statistics),
        cmocka_unit_test(sums_of_bytes),
        cmocka_unit_test(selections),
        cmocka_unit_test(sets_and_histograms),
        cmocka_unit_test(indices),
        cmocka_unit_test(joins),
        cmocka_unit_test(sums_have_the_same_bits_beside_other_work),
    };
    if (on_host()) {
        printf("skipped: arrays this large are tested on a GPU, and the device is %s\n",
               ga_current_device());
        return 77;
    }
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
