/* What the tests of arrays share: assertions, failing allocations. */
#include "array_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "base/alloc.h"
#include "golden.h"
#include "run.h"

void assert_error(ga_status status, const char *text)
{
    assert_string_equal(ga_status_name(ga_error()), ga_status_name(status));
    if (!strstr(ga_error_message(), text))
        fail_msg("\"%s\" lacks \"%s\"", ga_error_message(), text);
    ga_clear_error();
}

void assert_fails(ga_status got, ga_status status, const char *text)
{
    if (got != status)
        fail_msg("%s, wanted %s: %s", ga_status_name(got), ga_status_name(status),
                 ga_error_message());
    assert_error(status, text);
}

void assert_shape(const gpuarray *x, int ndim, const int64_t *shape)
{
    if (!x)
        fail_msg("no array: %s", ga_error_message());
    assert_int_equal(ga_ndim(x), ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(ga_shape(x)[i], shape[i]);
}

gpuarray *counting(int ndim, const int64_t *shape)
{
    const int64_t size = ga__shape_size(ndim, shape);
    int32_t *numbers = malloc((size_t)size * sizeof *numbers + 1);

    for (int64_t i = 0; i < size; i++)
        numbers[i] = (int32_t)i;
    gpuarray *x = ga_from_host(numbers, GA_INT32, ndim, shape);
    free(numbers);
    assert_non_null(x);
    return x;
}

void assert_numbers(const gpuarray *x, int64_t count, const int32_t *numbers)
{
    int32_t got[64] = {0};

    if (!x)
        fail_msg("no array: %s", ga_error_message());
    assert_int_equal(ga_size(x), count);
    assert_in_range(count, 0, sizeof got / sizeof *got);
    assert_int_equal(ga_dtype_of(x), GA_INT32);
    assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
    assert_elements(GA_INT32, count, got, numbers);
}

int64_t live_blocks(void)
{
    ga__device *device = ga__current_device();

    ga__memory_trim(device);
    return ga__alloc_live();
}

void survive_failures(bool (*work)(void))
{
    bool reached = true;

    assert_true(work());
    for (int64_t n = 1; reached; n++) {
        const int64_t live = live_blocks();
        ga__alloc_fail_at(n);
        const bool done = work();
        reached = true;
        for (int64_t i = 0; i < n && reached; i++)
            reached = !ga__alloc_fails();
        ga__alloc_fail_at(0);
        if (!done)
            assert_error(GA_ERR_MEMORY, "memory");
        assert_int_equal(ga_error(), GA_OK);
        assert_int_equal(live_blocks(), live);
        assert_true(done || reached);
        assert_true(n < 10000);
    }
}

void survive_failures_on_host(bool (*work)(void))
{
    if (on_host())
        survive_failures(work);
    else
        puts("skipped: allocations fail on the host only");
}

int leave_no_error(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_clear_error();
    return 0;
}

bool on_host(void)
{
    const char *device = ga_current_device();
    if (!device) {
        fprintf(stderr, "no device: %s\n", ga_error_message());
        exit(1);
    }
    return strcmp(device, "cpu") == 0;
}

void sample_on_gpu(uint64_t share)
{
    if (on_host())
        return;
    sample_usually(share);
    print_message("on %s one of %llu items; QUARRY_TEST_SHARE=1 takes all\n", ga_current_device(),
                  (unsigned long long)share);
}

int items_here(int host, int gpu)
{
    return on_host() ? host : gpu;
}

void expect_raised(ga_status status, const char *part)
{
    if (ga_error() != status || !strstr(ga_error_message(), part))
        fail_msg("not %s with \"%s\" but %s: %s", ga_status_name(status), part,
                 ga_status_name(ga_error()), ga_error_message());
    ga_clear_error();
}
