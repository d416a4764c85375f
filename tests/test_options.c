/* What the ABI promises: sizes and places of public structs, and options of other versions. */
#include <stdio.h>
#include <stddef.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/options.h"
#include "run.h"

/* Programs own this name: no public header includes <complex.h>. */
enum { I = 1 };

/* These structs never change: they are passed by value or in arrays. */
_Static_assert(sizeof(ga_value) == 24 && offsetof(ga_value, as) == 8, "ga_value");
_Static_assert(sizeof(ga_named) == 32 && offsetof(ga_named, value) == 8, "ga_named");
_Static_assert(sizeof(ga_range) == 40 && offsetof(ga_range, has_start) == 32, "ga_range");
_Static_assert(sizeof(ga_dim) == 24, "ga_dim");
_Static_assert(sizeof(ga_header) == 16, "ga_header");
_Static_assert(sizeof(ga_rng_state) == 16, "ga_rng_state");
_Static_assert(sizeof(ga_site) == 16, "ga_site");
_Static_assert(sizeof(ga_part) == 56, "ga_part");
_Static_assert(sizeof(ga_integer_info) == 32, "ga_integer_info");
_Static_assert(sizeof(ga_float_info) == 88, "ga_float_info");

/* These grow at their ends: the last member of 0.1.0 stays where it is. */
_Static_assert(offsetof(ga_reduce_args, out) == 40, "ga_reduce_args");
_Static_assert(offsetof(ga_sort_args, out) == 32, "ga_sort_args");
_Static_assert(offsetof(ga_product_args, tf32) == 40, "ga_product_args");
_Static_assert(offsetof(ga_scan_args, out) == 64, "ga_scan_args");
_Static_assert(offsetof(ga_compress_args, axes) == 24, "ga_compress_args");
_Static_assert(offsetof(ga_scan_kernel_args, fast_math) == 72, "ga_scan_kernel_args");
_Static_assert(offsetof(ga_elementwise_args, fast_math) == 48, "ga_elementwise_args");
_Static_assert(offsetof(ga_reduction_args, fast_math) == 72, "ga_reduction_args");
_Static_assert(offsetof(ga_module_args, kernels) == 32, "ga_module_args");
_Static_assert(offsetof(ga_launch_options, stream) == 8, "ga_launch_options");
_Static_assert(offsetof(ga_append_args, axes) == 24, "ga_append_args");
_Static_assert(offsetof(ga_array_equal_args, equal_nan) == 16, "ga_array_equal_args");
_Static_assert(offsetof(ga_average_args, keepdims) == 40, "ga_average_args");
_Static_assert(offsetof(ga_bincount_args, minlength) == 16, "ga_bincount_args");
_Static_assert(offsetof(ga_choice_args, axes) == 64, "ga_choice_args");
_Static_assert(offsetof(ga_close_args, given) == 24, "ga_close_args");
_Static_assert(offsetof(ga_convolve_args, mode) == 16, "ga_convolve_args");
_Static_assert(offsetof(ga_cov_args, ddof) == 20, "ga_cov_args");
_Static_assert(offsetof(ga_delete_args, axes) == 72, "ga_delete_args");
_Static_assert(offsetof(ga_diff_args, append) == 32, "ga_diff_args");
_Static_assert(offsetof(ga_digitize_args, right) == 16, "ga_digitize_args");
_Static_assert(offsetof(ga_einsum_args, out) == 32, "ga_einsum_args");
_Static_assert(offsetof(ga_gradient_args, edge_order) == 48, "ga_gradient_args");
_Static_assert(offsetof(ga_histogram2d_args, density) == 128, "ga_histogram2d_args");
_Static_assert(offsetof(ga_histogram_args, density) == 72, "ga_histogram_args");
_Static_assert(offsetof(ga_histogramdd_args, density) == 56, "ga_histogramdd_args");
_Static_assert(offsetof(ga_index_add_args, relaxed) == 48, "ga_index_add_args");
_Static_assert(offsetof(ga_insert_args, axes) == 96, "ga_insert_args");
_Static_assert(offsetof(ga_interp_args, period) == 88, "ga_interp_args");
_Static_assert(offsetof(ga_intersect1d_args, b_indices) == 32, "ga_intersect1d_args");
_Static_assert(offsetof(ga_isin_args, assume_unique) == 17, "ga_isin_args");
_Static_assert(offsetof(ga_join_args, out) == 32, "ga_join_args");
_Static_assert(offsetof(ga_link_args, files) == 32, "ga_link_args");
_Static_assert(offsetof(ga_linspace_args, endpoint) == 8, "ga_linspace_args");
_Static_assert(offsetof(ga_logspace_args, given) == 24, "ga_logspace_args");
_Static_assert(offsetof(ga_median_args, out) == 32, "ga_median_args");
_Static_assert(offsetof(ga_meshgrid_args, sparse) == 32, "ga_meshgrid_args");
_Static_assert(offsetof(ga_mode_args, keepdims) == 40, "ga_mode_args");
_Static_assert(offsetof(ga_nan_to_num_args, given) == 24, "ga_nan_to_num_args");
_Static_assert(offsetof(ga_outer_args, out) == 16, "ga_outer_args");
_Static_assert(offsetof(ga_pad_args, value) == 32, "ga_pad_args");
_Static_assert(offsetof(ga_partition_args, flat) == 32, "ga_partition_args");
_Static_assert(offsetof(ga_put_along_args, axes) == 48, "ga_put_along_args");
_Static_assert(offsetof(ga_put_args, mode) == 40, "ga_put_args");
_Static_assert(offsetof(ga_quantile_args, out) == 64, "ga_quantile_args");
_Static_assert(offsetof(ga_repeat_args, axes) == 40, "ga_repeat_args");
_Static_assert(offsetof(ga_roll_args, axes) == 24, "ga_roll_args");
_Static_assert(offsetof(ga_searchsorted_args, sorter) == 40, "ga_searchsorted_args");
_Static_assert(offsetof(ga_setdiff1d_args, assume_unique) == 16, "ga_setdiff1d_args");
_Static_assert(offsetof(ga_sobol_args, seed) == 40, "ga_sobol_args");
_Static_assert(offsetof(ga_squeeze_args, axes) == 16, "ga_squeeze_args");
_Static_assert(offsetof(ga_take_args, out) == 40, "ga_take_args");
_Static_assert(offsetof(ga_tensordot_args, out) == 48, "ga_tensordot_args");
_Static_assert(offsetof(ga_topk_args, smallest) == 48, "ga_topk_args");
_Static_assert(offsetof(ga_trapezoid_args, dx) == 32, "ga_trapezoid_args");
_Static_assert(offsetof(ga_unique_args, distinct_nan) == 32, "ga_unique_args");
_Static_assert(offsetof(ga_unwrap_args, period) == 32, "ga_unwrap_args");
_Static_assert(offsetof(ga_vector_args, out) == 32, "ga_vector_args");
_Static_assert(offsetof(ga_chunks, user) == 16, "ga_chunks");
_Static_assert(offsetof(ga_allocator, user) == 16, "ga_allocator");
_Static_assert(offsetof(ga_memory_stats, total) == 40, "ga_memory_stats");
_Static_assert(offsetof(ga_kernel_properties, occupancy) == 48, "ga_kernel_properties");
_Static_assert(offsetof(ga_print_options, suppress) == 24, "ga_print_options");
_Static_assert(offsetof(ga_cache_entry, used) == 16, "ga_cache_entry");
_Static_assert(offsetof(ga_cache_entry, device) == 32, "ga_cache_entry");

/* Statuses and dtypes keep their numbers. */
_Static_assert(GA_ERR_CANCELLED == 11 && GA_BOOL == 1 && GA_COMPLEX128 == 15, "enumerators");

/* Options as a later version may have them. */
typedef struct later {
    ga_reduce_args known;
    int64_t more;
} later;

static void options_of_other_versions_are_read(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(2, 3));
        later options = {.known = {.x = x, .keepdims = true}};
        /* An older program ends before .out. */
        gpuarray *sum = (ga_sum)(offsetof(ga_reduce_args, out), &options.known);
        assert_shape(sum, GA_SHAPE(1, 1));
        /* A later program that sets nothing new. */
        sum = (ga_sum)(sizeof options, &options.known);
        assert_shape(sum, GA_SHAPE(1, 1));
        options.more = 1;
        assert_null((ga_sum)(sizeof options, &options.known));
        char wanted[80];
        snprintf(wanted, sizeof wanted, "sum: the program sets an option at byte %zu, Quarry ",
                 offsetof(later, more));
        assert_error(GA_ERR_UNSUPPORTED, wanted);
        assert_null((ga_sum)(sizeof options, NULL));
        assert_error(GA_ERR_INVALID, "sum: the options are NULL");
        assert_null((ga_elementwise_kernel)(sizeof(ga_elementwise_args), NULL));
        assert_error(GA_ERR_INVALID, "elementwise_kernel: the options are NULL");
    }
}

static void results_of_other_versions_are_written(void **state)
{
    struct {
        ga_memory_stats known;
        size_t more;
    } stats = {.more = 7};

    (void)state;
    assert_int_equal((ga_memory_info)(NULL, sizeof stats, &stats.known), GA_OK);
    assert_int_equal(stats.more, 0);
    stats.known.held = stats.more = 7;
    assert_int_equal((ga_memory_info)(NULL, offsetof(ga_memory_stats, held), &stats.known), GA_OK);
    assert_int_equal(stats.known.held, 7);
    assert_int_equal(stats.more, 7);
}

static void the_headers_have_the_librarys_version(void **state)
{
    char text[40];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", QUARRY_VERSION_MAJOR, QUARRY_VERSION_MINOR,
             QUARRY_VERSION_PATCH);
    assert_string_equal(text, ga_version());
    assert_true(QUARRY_VERSION_NUMBER >= 100);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_other_versions_are_read),
        cmocka_unit_test(results_of_other_versions_are_written),
        cmocka_unit_test(the_headers_have_the_librarys_version),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
