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
