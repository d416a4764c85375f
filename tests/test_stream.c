/* Streams and events: implicit order across streams, waiting, timing, many streams. */
#include <math.h>
#include <pthread.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "base/alloc.h"
#include "run.h"

enum { TIMES = 40, STREAMS = 70, THREADS = 16 };

/* Elements: on a GPU enough that TIMES operations are far from done when their calls return. */
static int64_t slow = 1 << 24;

static int clear(void **state)
{
    (void)state;
    ga_set_stream(NULL);
    ga_clear_error();
    return 0;
}

/* Adds 1 to all of x, TIMES times. */
static void add_slowly(gpuarray *x)
{
    for (int i = 0; i < TIMES; i++)
        assert_int_equal(ga_add_into(x, x, 1), GA_OK);
}

static double last_item(const gpuarray *x)
{
    gpuarray *last = ga_slice(x, "-1");
    const double value = ga_item_double(last);
    ga_free(last);
    return value;
}

/* ---- Order ---- */

static void a_reader_waits_for_the_writer(void **state)
{
    (void)state;
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    GA_SCOPE {
        assert_int_equal(ga_set_stream(a), GA_OK);
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(slow));
        add_slowly(x);
        ga_set_stream(b);
        gpuarray *y = ga_copy(x);
        gpuarray *sum = ga_sum(x);
        ga_set_stream(NULL);
        assert_true(last_item(y) == TIMES);
        assert_true(ga_item_double(sum) == (double)TIMES * slow);
    }
    ga_stream_free(a);
    ga_stream_free(b);
}

static void a_writer_waits_for_the_readers(void **state)
{
    (void)state;
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(slow));
        gpuarray *y = ga_zeros_like(x);
        ga_set_stream(a);
        for (int i = 0; i < TIMES; i++)
            assert_int_equal(ga_add_into(y, y, x), GA_OK);
        ga_set_stream(b);
        assert_int_equal(ga_assign(x, 1000), GA_OK);
        ga_set_stream(a);
        assert_true(last_item(y) == TIMES);
        assert_true(last_item(x) == 1000);
    }
    ga_stream_free(a);
    ga_stream_free(b);
}

/* The other tests rely on this: without the record of x's writer, its reader would not wait. */
static void without_the_order_the_reader_is_early(void **state)
{
    (void)state;
    if (on_host()) {
        print_message("skipped on cpu: work is done when its call returns\n");
        skip();
    }
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    GA_SCOPE {
        ga_set_stream(a);
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(slow));
        add_slowly(x);
        assert_int_equal(ga_synchronize(), GA_OK);
        assert_int_equal(ga_assign(x, 0), GA_OK);
        ga_set_stream(b);
        gpuarray *out = ga_copy(x); /* memory and kernels exist: nothing below takes time */
        assert_int_equal(ga_assign(out, x), GA_OK);
        assert_true(last_item(out) == 0);
        ga_set_stream(a);
        add_slowly(x);
        ga_set_stream(b);
        atomic_store(&out->buffer->uses, b->exclusive_use);
        atomic_store(&x->buffer->uses, b->exclusive_use);
        assert_int_equal(ga_assign(out, x), GA_OK);
        assert_true(last_item(out) < TIMES);
        ga_synchronize();
    }
    ga_stream_free(a);
    ga_stream_free(b);
}

static void memory_is_reused_only_when_all_are_done(void **state)
{
    (void)state;
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    gpuarray *results[8];
    for (int round = 0; round < 8; round++) {
        ga_set_stream(a);
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(slow / 8), round);
        ga_set_stream(b);
        results[round] = ga_zeros_like(x);
        for (int i = 0; i < TIMES; i++)
            ga_add_into(results[round], results[round], x);
        ga_free(x); /* b still reads it, and a may get its memory next */
        ga_set_stream(a);
        gpuarray *poison = ga_full(GA_FLOAT32, GA_SHAPE(slow / 8), -1e6);
        ga_free(poison);
    }
    for (int round = 0; round < 8; round++) {
        assert_true(last_item(results[round]) == TIMES * round);
        ga_free(results[round]);
    }
    ga_stream_free(a);
    ga_stream_free(b);
}

static void more_streams_than_numbers_are_ordered_too(void **state)
{
    (void)state;
    static ga_stream *streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        assert_non_null(streams[i] = ga_stream_new());
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT64, GA_SHAPE(slow / 16)), *copies[STREAMS];
        for (int i = 0; i < STREAMS; i++) {
            ga_set_stream(streams[i]);
            ga_add_into(x, x, 1);
            ga_set_stream(streams[STREAMS - 1 - i]);
            copies[i] = ga_copy(x);
        }
        for (int i = 0; i < STREAMS; i++)
            assert_true(last_item(copies[i]) == i + 1);
    }
    for (int i = 0; i < STREAMS; i++)
        ga_stream_free(streams[i]);
    assert_int_equal(ga_error(), GA_OK);
}

static void arrays_outlive_their_stream(void **state)
{
    (void)state;
    ga_stream *a = ga_stream_new();
    ga_set_stream(a);
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(slow));
    add_slowly(x);
    ga_stream_free(a);
    assert_null(ga_current_stream());
    ga_stream *b = ga_stream_new();
    ga_set_stream(b);
    assert_true(last_item(x) == TIMES);
    ga_free(x);
    ga_stream_free(b);
}

/* ---- Threads ---- */

static gpuarray *shared;

static void *work_on_a_stream(void *failed)
{
    ga_stream *stream = ga_stream_new();
    ga_set_stream(stream);
    for (int i = 0; i < 20; i++)
        GA_SCOPE {
            gpuarray *y = ga_add(shared, i);
            gpuarray *z = ga_multiply(y, y);
            if (ga_item_double(ga_sum(z)) != 100003.0 * (i + 2) * (i + 2))
                *(bool *)failed = true;
        }
    ga_stream_free(stream);
    if (ga_error() != GA_OK)
        *(bool *)failed = true;
    return NULL;
}

static void threads_work_on_streams_of_their_own(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    bool failed[THREADS] = {false};
    shared = ga_full(GA_FLOAT64, GA_SHAPE(100003), 2);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, work_on_a_stream, &failed[t]), 0);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_false(failed[t]);
    }
    ga_free(shared);
}

/* ---- Streams as objects ---- */

static void a_thread_has_one_stream(void **state)
{
    (void)state;
    ga_stream *a = ga_stream_new();
    assert_non_null(a);
    assert_null(ga_current_stream());
    assert_int_equal(ga_set_stream(a), GA_OK);
    assert_ptr_equal(ga_current_stream(), a);
    assert_int_equal(ga_stream_synchronize(a), GA_OK);
    assert_int_equal(ga_stream_synchronize(NULL), GA_OK);
    assert_true(ga_stream_query(a));
    assert_true(ga_stream_query(NULL));
    assert_int_equal(ga_stream_handle(a) == NULL, on_host());
    assert_null(ga_stream_handle(NULL));
    ga_stream_free(a);
    ga_stream_free(NULL);
    assert_null(ga_current_stream());
}

static void a_stream_of_others_can_be_wrapped(void **state)
{
    (void)state;
    ga_stream *own = ga_stream_new();
    ga_stream *wrapped = ga_stream_wrap(ga_stream_handle(own));
    if (on_host()) {
        assert_null(wrapped);
        assert_error(GA_ERR_UNSUPPORTED, "cpu has no streams");
    } else {
        assert_ptr_equal(ga_stream_handle(wrapped), ga_stream_handle(own));
        ga_set_stream(wrapped);
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(1000));
        assert_true(last_item(x) == 1);
        ga_free(x);
    }
    ga_stream_free(wrapped);
    assert_int_equal(ga_stream_synchronize(own), GA_OK);
    ga_stream_free(own);
}

/* ---- Events ---- */

static void events_tell_when_and_how_long(void **state)
{
    (void)state;
    ga_event *from = ga_event_new(), *to = ga_event_new();
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(slow));
    add_slowly(x);
    ga_set_stream(a);
    assert_int_equal(ga_event_record(from, NULL), GA_OK);
    add_slowly(x);
    assert_int_equal(ga_event_record(to, a), GA_OK);
    assert_int_equal(ga_stream_wait_event(b, to), GA_OK);
    assert_int_equal(ga_event_synchronize(to), GA_OK);
    assert_true(ga_event_query(from) && ga_event_query(to));
    const double ms = ga_event_elapsed(from, to);
    assert_true(ms > 0 && ms < 60e3);
    assert_int_equal(ga_stream_synchronize(b), GA_OK);
    ga_free(x);
    ga_event_free(from);
    ga_event_free(to);
    ga_event_free(NULL);
    ga_stream_free(a);
    ga_stream_free(b);
}

static void events_that_were_not_recorded_are_refused(void **state)
{
    (void)state;
    ga_event *event = ga_event_new();
    assert_int_equal(ga_event_synchronize(event), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "event_synchronize: the event was never recorded");
    assert_false(ga_event_query(event));
    assert_error(GA_ERR_INVALID, "event_query: the event was never recorded");
    assert_true(isnan(ga_event_elapsed(event, event)));
    assert_error(GA_ERR_INVALID, "event_elapsed");
    assert_int_equal(ga_stream_wait_event(NULL, event), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_event_record(NULL, NULL), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "event_record: the event is NULL");
    ga_event_free(event);
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    const int64_t live = ga__alloc_live();
    for (int n = 1; n < 4; n++) {
        ga__alloc_fail_at(n);
        ga_stream *stream = ga_stream_new();
        ga_event *event = ga_event_new();
        ga__alloc_fail_at(0);
        ga_stream_free(stream);
        ga_event_free(event);
        assert_int_equal(ga_error(), GA_ERR_MEMORY);
        ga_clear_error();
        assert_int_equal(ga__alloc_live(), live);
    }
}

/* ---- Several devices ---- */

static void *work_on_device(void *name)
{
    double sum = 0;
    if (ga_set_device(name) == GA_OK)
        GA_SCOPE {
            gpuarray *x = ga_arange(GA_FLOAT64, 0, 100001, 1);
            for (int i = 0; i < 100; i++)
                x = ga_add(x, 1);
            sum = ga_item_double(ga_sum(x));
        }
    return sum == 100001.0 * 50000 + 100.0 * 100001 ? NULL : name;
}

static void devices_work_side_by_side(void **state)
{
    (void)state;
    if (ga_device_count() < 2) {
        print_message("skipped: %d CUDA devices, not 2\n", ga_device_count());
        skip();
    }
    char names[2][8] = {"cuda:0", "cuda:1"};
    pthread_t threads[4];
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, work_on_device, names[t % 2]), 0);
    for (int t = 0; t < 4; t++) {
        void *failed = NULL;
        pthread_join(threads[t], &failed);
        assert_null(failed);
    }
}

static void peer_copies_wait_for_their_source(void **state)
{
    (void)state;
    if (ga_device_count() < 2) {
        print_message("skipped: %d CUDA devices, not 2\n", ga_device_count());
        skip();
    }
    const char *before = ga_current_device();
    ga_set_device("cuda:0");
    ga_stream *a = ga_stream_new();
    GA_SCOPE {
        gpuarray *small = ga_arange(GA_INT32, 0, 1000, 1);
        gpuarray *there = ga_to_device(small, "cuda:1");
        assert_string_equal(ga_device_of(there), "cuda:1");
        assert_int_equal(ga_item_int64(ga_sum(there)), 499500);
        ga_set_stream(a);
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(slow));
        add_slowly(x);
        gpuarray *y = ga_to_device(x, "cuda:1");
        ga_assign(x, -1); /* not before it is copied */
        gpuarray *back = ga_to_device(y, "cuda:0");
        assert_true(last_item(y) == TIMES);
        assert_true(last_item(back) == TIMES);
        assert_null(ga_add(x, y));
        assert_error(GA_ERR_DEVICE, "cuda:1");
    }
    ga_stream_free(a);
    ga_set_device(before);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    if (on_host())
        slow = 1 << 17;
    const struct CMUnitTest tests[] = {
        TEST(a_reader_waits_for_the_writer),
        TEST(a_writer_waits_for_the_readers),
        TEST(without_the_order_the_reader_is_early),
        TEST(memory_is_reused_only_when_all_are_done),
        TEST(more_streams_than_numbers_are_ordered_too),
        TEST(arrays_outlive_their_stream),
        TEST(threads_work_on_streams_of_their_own),
        TEST(a_thread_has_one_stream),
        TEST(a_stream_of_others_can_be_wrapped),
        TEST(events_tell_when_and_how_long),
        TEST(events_that_were_not_recorded_are_refused),
        TEST(failed_allocations_leave_nothing),
        TEST(devices_work_side_by_side),
        TEST(peer_copies_wait_for_their_source),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
