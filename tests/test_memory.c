/* Memory: statistics, limits, other allocators, wrapped and pinned memory. */
#define GA_CALL_SITES 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "golden.h"
#include "random.h"
#include "run.h"

static int clear(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_memory_set_limit(NULL, 0);
    ga_set_allocator(NULL);
    ga_clear_error();
    return 0;
}

static ga_memory_stats stats(void)
{
    ga_memory_stats s = {0};
    assert_int_equal(ga_memory_info(NULL, &s), GA_OK);
    return s;
}

/* ---- Counting and limits ---- */

static void arrays_are_counted(void **state)
{
    (void)state;
    const ga_memory_stats before = stats();
    gpuarray *x = ga_empty(GA_FLOAT64, GA_SHAPE(1000, 1000));
    gpuarray *view = ga_slice(x, "::2");
    const ga_memory_stats with = stats();
    assert_int_equal(with.used, before.used + 8000000);
    assert_true(with.peak >= with.used && with.held >= with.used);
    assert_true(with.total >= (size_t)64 << 20 && with.available <= with.total);
    ga_free(x);
    assert_int_equal(stats().used, with.used);
    ga_free(view);
    assert_int_equal(stats().used, before.used);
    assert_true(stats().peak >= with.peak);
    assert_true(stats().held >= before.used + 8000000); /* kept for the next request */
    assert_int_equal(ga_memory_trim(NULL), GA_OK);
    assert_true(stats().held < before.used + 8000000);
}

/* Results whose lengths depend on values: each is a little shorter or longer than the one before,
 * which is freed after it. */
static void near_lengths_take_the_same_memory(void **state)
{
    (void)state;
    const size_t nbytes = (size_t)64 << 20;
    uint64_t seed = 7;
    assert_int_equal(ga_memory_trim(NULL), GA_OK);
    const ga_memory_stats before = stats();
    gpuarray *last = NULL;
    for (int k = 0; k < 50; k++) {
        const int64_t n = (int64_t)nbytes + random_below(&seed, 1 << 16);
        ga_replace(&last, ga_empty(GA_UINT8, GA_SHAPE(n)));
        assert_non_null(last);
        assert_true(stats().held <= before.held + 3 * nbytes);
    }
    ga_free(last);
    assert_int_equal(ga_memory_trim(NULL), GA_OK);
}

/* The message of an array that does not fit names it, and the largest arrays with their makers. */
static void out_of_memory_shows_what_fills_it(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *small = ga_ones(GA_INT8, GA_SHAPE(5, 7));
        gpuarray *large = ga_add(ga_zeros(GA_FLOAT32, GA_SHAPE(512, 1024)), 1);
        const int line = __LINE__ - 1;
        char expected[200];
        assert_int_equal(ga_memory_set_limit(NULL, stats().used + (1 << 20)), GA_OK);
        assert_null(ga_sqrt(large));
        assert_int_equal(ga_error(), GA_ERR_MEMORY);
        snprintf(expected, sizeof expected,
                 "sqrt: out of memory: float32 (512, 1024) takes 2.00 MiB on %s (",
                 ga_current_device());
        assert_memory_equal(ga_error_message(), expected, strlen(expected));
        snprintf(expected, sizeof expected, "2.00 MiB  float32 (512, 1024)  add at %s:%d\n",
                 __FILE__, line);
        expect_raised(GA_ERR_MEMORY, expected);
        assert_null(ga_sqrt(large));
        expect_raised(GA_ERR_MEMORY, "35 bytes  int8 (5, 7)  ones at ");
        assert_int_equal(ga_memory_set_limit(NULL, 0), GA_OK);
        ga_free(small);
    }
}

static char *report(void)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    assert_int_equal(ga_memory_report(file), GA_OK);
    fclose(file);
    return text;
}

static void the_report_lists_the_ten_largest_arrays(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *view = NULL, *first = ga_full(GA_INT16, GA_SHAPE(300000), 1);
        for (int i = 1; i <= 12; i++)
            ga_full(GA_FLOAT64, GA_SHAPE(i, 1000), 1);
        view = ga_slice(first, ":1");
        ga_free(first); /* the view keeps its memory */
        char *text = report();
        assert_non_null(strstr(text, " in use, "));
        assert_non_null(strstr(text, " at the peak, "));
        assert_non_null(strstr(text, "no limit"));
        const char *largest = strstr(text, "int16 (300000,)  full at ");
        assert_non_null(largest);
        assert_true(largest < strstr(text, "float64 (12, 1000)  full at "));
        assert_non_null(strstr(text, "float64 (4, 1000)"));
        assert_null(strstr(text, "float64 (3, 1000)"));
        assert_non_null(strstr(text, "48000 bytes  in 3 smaller arrays\n"));
        free(text);
        ga_free(view);
        text = report();
        assert_null(strstr(text, "int16 (300000,)"));
        free(text);
    }
    char *text = report();
    assert_null(strstr(text, "float64"));
    free(text);
    assert_int_equal(ga_memory_report(NULL), GA_ERR_INVALID);
    expect_raised(GA_ERR_INVALID, "memory_report: the file is NULL");
    FILE *full = fopen("/dev/full", "w");
    assert_int_equal(ga_memory_report(full), GA_ERR_IO);
    expect_raised(GA_ERR_IO, "cannot be written");
    fclose(full);
}

static void a_limit_is_kept_and_named(void **state)
{
    (void)state;
    const size_t used = stats().used;
    assert_int_equal(ga_memory_set_limit(ga_current_device(), used + 5000), GA_OK);
    assert_int_equal(stats().limit, used + 5000);
    gpuarray *x = ga_empty(GA_INT8, GA_SHAPE(4000));
    assert_non_null(x);
    assert_null(ga_empty(GA_INT8, GA_SHAPE(1001)));
    assert_error(GA_ERR_MEMORY, "empty: out of memory: int8 (1001,) takes 1001 bytes on ");
    gpuarray *y = ga_empty(GA_INT8, GA_SHAPE(1000));
    assert_non_null(y);
    ga_free(x);
    ga_free(y);
}

static void bad_names_and_results_are_refused(void **state)
{
    ga_memory_stats s;
    (void)state;
    assert_int_equal(ga_memory_info("nosuch", &s), GA_ERR_DEVICE);
    ga_clear_error();
    assert_int_equal(ga_memory_info("cpu", NULL), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_memory_trim("cuda:99"), GA_ERR_DEVICE);
    ga_clear_error();
    assert_int_equal(ga_memory_set_limit("x", 1), GA_ERR_DEVICE);
    ga_clear_error();
}

/* ---- Users' allocators ---- */

static struct {
    int allocs, frees, refuse;
    size_t nbytes;
} seen;

/* On a GPU, memory of the test's own arrays replaces another library's. */
static gpuarray *pieces[8];

static void *lend(size_t nbytes, const char *device, void *stream, void *user)
{
    (void)stream;
    assert_ptr_equal(user, &seen);
    assert_string_equal(device, ga_current_device());
    if (seen.refuse)
        return NULL;
    seen.nbytes += nbytes;
    return ga_data(pieces[seen.allocs++]);
}

static void take_back(void *memory, size_t nbytes, const char *device, void *stream, void *user)
{
    (void)memory, (void)device, (void)stream, (void)user;
    seen.frees++;
    seen.nbytes -= nbytes;
}

static void arrays_come_from_the_users_allocator(void **state)
{
    (void)state;
    const ga_allocator mine = {lend, take_back, &seen};
    const size_t used = stats().used;
    for (int i = 0; i < 8; i++)
        pieces[i] = ga_empty(GA_INT8, GA_SHAPE(1 << 16));
    memset(&seen, 0, sizeof seen);
    assert_int_equal(ga_set_allocator(&mine), GA_OK);
    gpuarray *x = ga_full(GA_INT32, GA_SHAPE(1000), 7), *y = ga_add(x, 1);
    assert_ptr_equal(ga_data(x), ga_data(pieces[0]));
    assert_int_equal(seen.nbytes, 8000);
    assert_int_equal(stats().used, used + 8 * (1 << 16) + 8000);
    assert_int_equal(ga_set_allocator(NULL), GA_OK);
    gpuarray *z = ga_add(y, 1); /* from Quarry's pools again */
    assert_int_equal(seen.allocs, 2);
    ga_free(x);
    ga_free(y);
    assert_int_equal(seen.frees, 2);
    assert_int_equal(seen.nbytes, 0);
    ga_free(z);
    seen.refuse = 1;
    assert_int_equal(ga_set_allocator(&mine), GA_OK);
    assert_null(ga_empty(GA_INT8, GA_SHAPE(100)));
    assert_error(GA_ERR_MEMORY, "int8 (100,) takes 100 bytes");
    assert_int_equal(ga_set_allocator(&(ga_allocator){lend, NULL, NULL}), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "set_allocator: free is NULL");
    ga_set_allocator(NULL);
    for (int i = 0; i < 8; i++)
        ga_free(pieces[i]);
    assert_int_equal(stats().used, used);
}

/* ---- Wrapped memory ---- */

static void count_call(void *owner)
{
    (*(int *)owner)++;
}

static void wrapped_memory_is_used_where_it_is(void **state)
{
    (void)state;
    int freed = 0;
    gpuarray *lender = ga_arange(GA_INT32, 0, 24, 1);
    gpuarray *x = ga_wrap(ga_data(lender), GA_INT32, GA_SHAPE(4, 6), NULL, &freed, count_call);
    assert_non_null(x);
    assert_true(ga_is_contiguous(x));
    const size_t used = stats().used;
    assert_int_equal(ga_add_into(x, x, 100), GA_OK);
    gpuarray *view = ga_slice(x, "1:, ::2"), *sum = ga_sum(lender);
    assert_int_equal(ga_item_int64(sum), 276 + 2400);
    ga_free(x);
    assert_int_equal(freed, 0);
    ga_free(view);
    assert_int_equal(freed, 1);
    ga_free(sum);
    assert_true(stats().used <= used);
    ga_free(lender);
}

static void wrapped_strides_may_be_any(void **state)
{
    (void)state;
    int freed = 0;
    int32_t got[4];
    gpuarray *lender = ga_arange(GA_INT32, 0, 24, 1);
    char *last = (char *)ga_data(lender) + 23 * 4;
    const int64_t backwards[] = {-6 * 4, -8};
    gpuarray *x = ga_wrap(last, GA_INT32, GA_SHAPE(2, 2), backwards, &freed, count_call);
    assert_false(ga_is_contiguous(x));
    assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
    assert_int_equal(got[0], 23);
    assert_int_equal(got[1], 21);
    assert_int_equal(got[2], 17);
    assert_int_equal(got[3], 15);
    ga_free(x);
    x = ga_wrap(NULL, GA_INT32, GA_SHAPE(0, 3), NULL, &freed, count_call);
    assert_int_equal(ga_size(x), 0);
    ga_free(x);
    assert_int_equal(freed, 2);
    GA_SCOPE {
        ga_wrap(last, GA_INT32, GA_SHAPE0, NULL, &freed, count_call);
        assert_int_equal(freed, 2);
    }
    assert_int_equal(freed, 3);
    ga_free(lender);
}

static void what_cannot_be_wrapped_stays_the_callers(void **state)
{
    (void)state;
    int freed = 0, local = 0;
    const int64_t odd[] = {6};
    assert_null(ga_wrap(NULL, GA_INT32, GA_SHAPE(2), NULL, &freed, count_call));
    assert_error(GA_ERR_INVALID, "wrap: the pointer is NULL");
    assert_null(ga_wrap((char *)&local + 1, GA_INT32, GA_SHAPE(1), NULL, &freed, count_call));
    assert_error(GA_ERR_INVALID, "is not aligned to int32's 4 bytes");
    gpuarray *lender = ga_arange(GA_INT32, 0, 24, 1);
    assert_null(ga_wrap(ga_data(lender), GA_INT32, GA_SHAPE(2), odd, &freed, count_call));
    assert_error(GA_ERR_INVALID, "wrap: strides (6,) do not fit items of 4 bytes");
    assert_null(ga_wrap(ga_data(lender), GA_INT32, GA_SHAPE(-2), NULL, &freed, count_call));
    ga_clear_error();
    if (!on_host()) {
        assert_null(ga_wrap(&local, GA_INT32, GA_SHAPE0, NULL, &freed, count_call));
        assert_error(GA_ERR_INVALID, "it is neither the device's nor pinned");
    }
    const int64_t live = ga__alloc_live();
    for (int n = 1; n < 6; n++) {
        gpuarray *x = NULL;
        GA_SCOPE {
            ga__alloc_fail_at(n);
            x = ga_wrap(ga_data(lender), GA_INT32, GA_SHAPE(24), NULL, &freed, count_call);
            ga__alloc_fail_at(0);
        }
        assert_int_equal(freed, x ? 1 : 0);
        freed = 0;
        ga_clear_error();
    }
    assert_int_equal(ga__alloc_live(), live);
    ga_free(lender);
}

/* ---- Pinned memory and asynchronous copies ---- */

static void pinned_memory_is_copied_asynchronously(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    ga_stream *stream = ga_stream_new();
    float *in = ga_pinned_alloc(N * sizeof *in), *out = ga_pinned_alloc(N * sizeof *out);
    assert_non_null(in);
    assert_non_null(out);
    ga_set_stream(stream);
    for (int round = 0; round < 3; round++)
        GA_SCOPE {
            for (int i = 0; i < N; i++)
                in[i] = (float)(i % 1000 + round);
            gpuarray *x = ga_from_host_async(in, GA_FLOAT32, GA_SHAPE(N));
            gpuarray *y = ga_multiply(x, 2);
            assert_int_equal(ga_to_host_async(y, out, N * sizeof *out), GA_OK);
            assert_int_equal(ga_stream_synchronize(stream), GA_OK);
            for (int i = 0; i < N; i++)
                if (out[i] != 2 * in[i])
                    fail_msg("%d: %g, not %g", i, (double)out[i], 2 * (double)in[i]);
            assert_int_equal(ga_set_async(x, out, N * sizeof *out), GA_OK);
            assert_int_equal(ga_set(y, in, N * sizeof *in), GA_OK);
            assert_arrays_equal(x, ga_multiply(y, 2));
        }
    ga_set_stream(NULL);
    ga_stream_free(stream);
    ga_pinned_free(in);
    ga_pinned_free(out);
    ga_pinned_free(NULL);
    assert_int_equal(ga_error(), GA_OK);
}

static void registered_memory_is_copied_too(void **state)
{
    (void)state;
    enum { NBYTES = 1 << 20 };
    char *memory = aligned_alloc(4096, NBYTES);
    memset(memory, 5, NBYTES);
    assert_int_equal(ga_host_register(memory, NBYTES), GA_OK);
    gpuarray *x = ga_from_host_async(memory, GA_INT8, GA_SHAPE(NBYTES)), *sum = ga_sum(x);
    assert_int_equal(ga_item_int64(sum), 5 * NBYTES);
    assert_int_equal(ga_host_unregister(memory), GA_OK);
    ga_free(x);
    ga_free(sum);
    free(memory);
    assert_int_equal(ga_host_register(NULL, 5), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_host_unregister(NULL), GA_ERR_INVALID);
    ga_clear_error();
    int other;
    ga_pinned_free(&other);
    assert_error(GA_ERR_INVALID, "was not allocated by ga_pinned_alloc()");
}

static void host_buffers_are_checked(void **state)
{
    (void)state;
    int32_t values[6] = {1, 2, 3, 4, 5, 6};
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(2, 3)), *t = ga_transpose(x);
    assert_int_equal(ga_set(x, values, 20), GA_ERR_SHAPE);
    assert_error(GA_ERR_SHAPE, "set: the buffer has 20 bytes, shape (2, 3) of int32 has 24");
    assert_int_equal(ga_set(x, NULL, 24), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_set(NULL, values, 24), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_set_async(t, values, 24), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "set_async: the array of shape (3, 2) is not contiguous");
    assert_int_equal(ga_to_host_async(t, values, 24), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_set(t, values, 24), GA_OK); /* a view, in its own order */
    int32_t got[6];
    assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
    assert_elements(GA_INT32, 6, got, (int32_t[]){1, 3, 5, 2, 4, 6});
    gpuarray *repeated = ga_broadcast_to(x, GA_SHAPE(2, 2, 3));
    int32_t twice[12] = {0};
    assert_int_equal(ga_set(repeated, twice, sizeof twice), GA_ERR_INVALID);
    ga_clear_error();
    ga_free(repeated);
    ga_free(t);
    ga_free(x);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(arrays_are_counted),
        TEST(near_lengths_take_the_same_memory),
        TEST(out_of_memory_shows_what_fills_it),
        TEST(the_report_lists_the_ten_largest_arrays),
        TEST(a_limit_is_kept_and_named),
        TEST(bad_names_and_results_are_refused),
        TEST(arrays_come_from_the_users_allocator),
        TEST(wrapped_memory_is_used_where_it_is),
        TEST(wrapped_strides_may_be_any),
        TEST(what_cannot_be_wrapped_stays_the_callers),
        TEST(pinned_memory_is_copied_asynchronously),
        TEST(registered_memory_is_copied_too),
        TEST(host_buffers_are_checked),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
