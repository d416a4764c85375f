/* Users' own scans: PyCUDA's test_scan and PyOpenCL's tests of its general scan, on the current
 * device and by CUDA's kernels in the simulator. */
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

/* ---- What is scanned ---- */

/* Integers in [0, below), the same for the same length. */
static int *random_ints(int64_t n, int below)
{
    uint64_t seed = (uint64_t)n + 1;
    int *x = malloc((size_t)(n + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t k = 0; k < n; k++)
        x[k] = (int)random_below(&seed, below);
    return x;
}

static gpuarray *ints(const int *x, int64_t n)
{
    gpuarray *a = ga_from_host(x, GA_INT32, GA_SHAPE(n));
    assert_non_null(a);
    return a;
}

static void assert_ints(const gpuarray *x, const int *wanted, int64_t count)
{
    int *got = malloc((size_t)(ga_size(x) + 1) * sizeof *got);
    assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
    assert_memory_equal(got, wanted, (size_t)count * sizeof *got);
    free(got);
}

#define CHECK(status) check(status, #status)
static void check(ga_status status, const char *call)
{
    if (status != GA_OK)
        fail_msg("%s: %s", call, ga_error_message());
}

/* ---- PyCUDA: test_scan, InclusiveScanKernel and ExclusiveScanKernel ---- */

static void scan_of(int64_t n, const char *output, bool exclusive)
{
    int *x = random_ints(n, 10), *sums = malloc((size_t)(n + 1) * sizeof *sums);
    for (int64_t k = 0, sum = 0; k < n; k++) {
        sums[k] = (int)(exclusive ? sum : sum + x[k]);
        sum += x[k];
    }
    GA_SCOPE {
        ga_kernel *k = ga_scan_kernel(GA_INT32, "int *x", "x[i]", "a+b", "0", output, "scan");
        gpuarray *a = ints(x, n);
        CHECK(ga_scan(k, a));
        assert_ints(a, sums, n);
        ga_kernel_free(k);
    }
    free(x);
    free(sums);
}

/* In the simulator, slow checkers leave out the longest: it only repeats the switches of threads
 * that shorter ones make. */
static void scans_in_place(void **state)
{
    (void)state;
    const bool is_simulated = strncmp(ga_current_device(), "simulated", 9) == 0;
    const int64_t longest = is_simulated && getenv("QUARRY_TEST_REDUCED") ? (1 << 20) + 5 : 1 << 24;
    static const int64_t lengths[] = {10,
                                      (1 << 10) - 5,
                                      1 << 10,
                                      (1 << 20) - (1 << 18),
                                      (1 << 20) - (1 << 18) + 5,
                                      (1 << 10) + 5,
                                      (1 << 20) + 5,
                                      1 << 20,
                                      1 << 24};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths && lengths[k] <= longest; k++) {
        scan_of(lengths[k], "x[i] = item", false);
        scan_of(lengths[k], "x[i] = prev_item", true);
    }
}

/* ---- PyOpenCL: test_copy_if, test_partition, test_unique, test_index_preservation ---- */

static void some_elements_are_copied(void **state)
{
    (void)state;
    ga_kernel *kernel = ga_scan_kernel(
        GA_INT32, "const int *ary, int *out, int *count", "ary[i] > 300 ? 1 : 0", "a+b", "0",
        "if (prev_item != item) out[item - 1] = ary[i]; if (i + 1 == n) count[0] = item;",
        "copy_if");
    for (int64_t n = 1; n < 3000000; n = n * 7 + 3) {
        int *x = random_ints(n, 1000), *kept = malloc((size_t)n * sizeof *kept), count = 0;
        for (int64_t k = 0; k < n; k++)
            if (x[k] > 300)
                kept[count++] = x[k];
        GA_SCOPE {
            gpuarray *out = ga_zeros(GA_INT32, GA_SHAPE(n)), *c = ga_zeros(GA_INT32, GA_SHAPE(1));
            CHECK(ga_scan(kernel, ints(x, n), out, c));
            assert_int_equal(ga_item_int64(ga_slice(c, "0")), count);
            assert_ints(out, kept, count);
        }
        free(x);
        free(kept);
    }
    ga_kernel_free(kernel);
}

/* Those that follow the last kept one go behind all kept ones: last_item is their number. */
static void elements_are_parted(void **state)
{
    (void)state;
    ga_kernel *kernel =
        ga_scan_kernel(GA_INT32, "const int *ary, int *out", "ary[i] > 200", "a+b", "0",
                       "if (item != prev_item) out[prev_item] = ary[i]; "
                       "else out[last_item + i - item] = ary[i]",
                       "partition");
    for (int64_t n = 5; n < 1000000; n = n * 11 + 1) {
        int *x = random_ints(n, 400), *parted = malloc((size_t)n * sizeof *parted);
        int64_t at = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t k = 0; k < n; k++)
                if ((x[k] > 200) == !pass)
                    parted[at++] = x[k];
        GA_SCOPE {
            gpuarray *out = ga_zeros(GA_INT32, GA_SHAPE(n));
            CHECK(ga_scan(kernel, ints(x, n), out));
            assert_ints(out, parted, n);
        }
        free(x);
        free(parted);
    }
    ga_kernel_free(kernel);
}

/* The texts read neighbours, and the results are longer than the elements. */
static void runs_become_one(void **state)
{
    (void)state;
    ga_kernel *kernel = ga_scan_kernel(
        GA_INT32, "const int *ary, int *out, int *starts", "i == 0 || ary[i] != ary[i - 1]", "a+b",
        "0", "if (item != prev_item) { out[item - 1] = ary[i]; starts[item - 1] = (int)i; }",
        "unique");
    const int64_t n = 70001;
    int *x = random_ints(n, 3), *kept = malloc((size_t)n * sizeof *kept),
        *starts = malloc((size_t)n * sizeof *starts), count = 0;
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || x[k] != x[k - 1]) {
            starts[count] = (int)k;
            kept[count++] = x[k];
        }
    GA_SCOPE {
        gpuarray *out = ga_zeros(GA_INT32, GA_SHAPE(n)), *first = ga_zeros(GA_INT32, GA_SHAPE(n));
        CHECK(ga_scan(kernel, ints(x, n), out, first));
        assert_ints(out, kept, count);
        assert_ints(first, starts, count);
    }
    ga_kernel_free(kernel);
    free(x);
    free(kept);
    free(starts);
}

/* An operator that is not commutative: the last of two. */
static void order_is_kept(void **state)
{
    (void)state;
    ga_kernel *kernel = ga_scan_kernel(GA_INT32, "int *out", "(int)i", "b < 0 ? a : b", "-1",
                                       "out[i] = item - prev_item", "last_of_two");
    GA_SCOPE {
        gpuarray *out = ga_zeros(GA_INT32, GA_SHAPE(100003));
        CHECK(ga_scan(kernel, out));
        assert_int_equal(ga_item_int64(ga_min(out)), 1);
        assert_int_equal(ga_item_int64(ga_max(out)), 1);
    }
    ga_kernel_free(kernel);
}

/* ---- PyOpenCL: test_segmented_scan ---- */

static void segments_start_anew(void **state)
{
    (void)state;
    static const char *const outputs[] = {"out[i] = item", "out[i] = prev_item"};
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        ga_kernel *kernel = ga_scan_kernel(GA_INT32, "const int *ary, const char *starts, int *out",
                                           "ary[i]", "a+b", "0", outputs[exclusive], "segmented",
                                           .is_segment_start_expr = "starts[i]");
        for (int64_t n = 1; n < 500000; n = n * 13 + 2) {
            int *x = random_ints(n, 10), *sums = malloc((size_t)n * sizeof *sums);
            char *starts = calloc((size_t)n, 1);
            uint64_t seed = 3;
            for (int64_t k = 0; k < n / 10; k++)
                starts[random_below(&seed, n)] = 1;
            for (int64_t k = 0, sum = 0; k < n; k++) {
                const int64_t before = starts[k] ? 0 : sum;
                sum = before + x[k];
                sums[k] = (int)(exclusive ? before : sum);
            }
            GA_SCOPE {
                gpuarray *out = ga_zeros(GA_INT32, GA_SHAPE(n));
                CHECK(ga_scan(kernel, ints(x, n), ga_from_host(starts, GA_INT8, GA_SHAPE(n)), out));
                assert_ints(out, sums, n);
            }
            free(x);
            free(sums);
            free(starts);
        }
        ga_kernel_free(kernel);
    }
}

/* ---- Types, layouts, numbers, preambles ---- */

static void arrays_of_any_layout_and_numbers_are_arguments(void **state)
{
    (void)state;
    ga_kernel *kernel = ga_scan_kernel(GA_FLOAT32, "float scale, const half *h, double *out",
                                       "scaled(h[i], scale)", "a+b", "0", "out[i] = item", "mixed",
                                       .preamble = "__device__ float scaled(float x, float s) "
                                                   "{ return x * s; }");
    GA_SCOPE {
        gpuarray *h = ga_transpose(ga_astype(counting(GA_SHAPE(3, 5)), GA_FLOAT16)),
                 *out = ga_slice(ga_zeros(GA_FLOAT64, GA_SHAPE(30)), "::-2");
        CHECK(ga_scan(kernel, 0.5, h, out));
        gpuarray *wanted = ga_multiply(0.5, ga_cumsum(ga_astype(h, GA_FLOAT64)));
        assert_true(ga_item_bool(ga_all(ga_equal(out, wanted))));
        CHECK(ga_scan(kernel, 1, ga_zeros(GA_FLOAT16, GA_SHAPE(0)),
                      ga_zeros(GA_FLOAT64, GA_SHAPE(0))));
    }
    ga_kernel_free(kernel);
}

/* An array so long that indices have 64 bits. */
static void large_arrays_have_wide_indices(void **state)
{
    (void)state;
    ga_kernel *kernel = ga_scan_kernel(GA_INT64, "const int *far, long long *out",
                                       "far[(long long)i * 4000000000 + i % 7]", "a+b", "0",
                                       "out[i] = item", "from_afar");
    GA_SCOPE {
        gpuarray *x = ga_add(counting(GA_SHAPE(7)), 1),
                 *far = ga_broadcast_to(x, GA_SHAPE(INT64_C(1) << 32, 7)),
                 *out = ga_zeros(GA_INT64, GA_SHAPE(7));
        CHECK(ga_scan(kernel, far, out));
        /* 4000000000 is 3 modulo 7. */
        gpuarray *wanted =
            ga_cumsum(ga_from_host((int[]){1, 5, 2, 6, 3, 7, 4}, GA_INT32, GA_SHAPE(7)));
        assert_true(ga_item_bool(ga_all(ga_equal(out, wanted))));
    }
    ga_kernel_free(kernel);
}

static void bad_texts_are_errors(void **state)
{
    (void)state;
    assert_null(ga_scan_kernel(GA_INT32, "int *x", NULL, "a+b", "0", "x[i] = item", "named"));
    assert_error(GA_ERR_INVALID, "named: input_expr is NULL");
    assert_null(ga_scan_kernel(GA_INT32, "int *x", "x[i]", "a+b", "0", NULL));
    assert_error(GA_ERR_INVALID, "kernel: output_statement is NULL");
    assert_null(ga_scan_kernel((ga_dtype)77, "int *x", "x[i]", "a+b", "0", "x[i] = item"));
    assert_error(GA_ERR_DTYPE, "kernel: dtype: 77 is not a dtype");
    assert_null(ga_scan_kernel(GA_INT32, "int x", "x", "a+b", "0", "", "numbers"));
    assert_error(GA_ERR_INVALID, "numbers: no argument is an array");
    GA_SCOPE {
        ga_kernel *k = ga_scan_kernel(GA_INT32, "int *x", "x[i] +", "a+b", "0", "x[i] = item"),
                  *pair = ga_scan_kernel(GA_INT32, "int *x, int *y", "x[i]", "a+b", "0",
                                         "y[i] = item", "pair");
        gpuarray *x = counting(GA_SHAPE(3)), *y = counting(GA_SHAPE(4));
        assert_int_equal(ga_scan(k, x), GA_ERR_COMPILE);
        assert_error(GA_ERR_COMPILE, "input_expr");
        assert_int_equal(ga_scan(pair, x, y), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "pair: x has 3 elements, y has 4");
        assert_int_equal(ga_scan(pair, x), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "pair: takes 2 arguments, not 1");
        assert_int_equal(ga_run(pair, x, y), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "pair: this is a scan kernel: run it with ga_scan");
        assert_int_equal(ga_scan(NULL, x), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "scan: the kernel is NULL");
        ga_kernel_free(k);
        ga_kernel_free(pair);
    }
}

static bool make_and_run(void)
{
    bool done = false;
    ga_kernel *kernel =
        ga_scan_kernel(GA_INT32, "int *x", "x[i]", "a+b", "0", "x[i] = last_item - item", "rest");
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(100000));
        done = x && kernel && ga_scan(kernel, x) == GA_OK;
    }
    ga_kernel_free(kernel);
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures(make_and_run);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_in_place),
        cmocka_unit_test(some_elements_are_copied),
        cmocka_unit_test(elements_are_parted),
        cmocka_unit_test(runs_become_one),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(segments_start_anew),
        cmocka_unit_test(arrays_of_any_layout_and_numbers_are_arguments),
        cmocka_unit_test(large_arrays_have_wide_indices),
        cmocka_unit_test(bad_texts_are_errors),
        cmocka_unit_test(allocations_may_fail),
        simulated_test(scans_in_place),
        simulated_test(some_elements_are_copied),
        simulated_test(elements_are_parted),
        simulated_test(runs_become_one),
        simulated_test(order_is_kept),
        simulated_test(segments_start_anew),
        simulated_test(arrays_of_any_layout_and_numbers_are_arguments),
        simulated_test(large_arrays_have_wide_indices),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
