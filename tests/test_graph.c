/* Graphs: recorded work runs on each launch, as often as launched, in memory of its own. */
#include <pthread.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "base/error.h"
#include "run.h"

static int clear(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_set_stream(NULL);
    ga_clear_error();
    return 0;
}

static double item(const gpuarray *x, int64_t i)
{
    gpuarray *one = ga_slice(x, "%lld", (long long)i);
    const double value = ga_item_double(one);
    ga_free(one);
    return value;
}

static void nothing_runs_before_the_launch(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(1000));
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        assert_int_equal(ga_multiply_into(x, x, 2), GA_OK);
        assert_int_equal(ga_add_into(x, x, 1), GA_OK);
    }
    assert_non_null(graph);
    assert_true(item(x, 999) == 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ga_graph_launch(graph), GA_OK);
    assert_true(item(x, 0) == 63 && item(x, 999) == 63);
    ga_graph_free(graph);
    ga_graph_free(NULL);
    ga_free(x);
}

static size_t used(void)
{
    ga_memory_stats stats;
    assert_int_equal(ga_memory_info(NULL, &stats), GA_OK);
    return stats.used;
}

/* Memory that a graph or a stream takes for itself counts until it is freed, and no longer. */
static void accounts_end_as_they_began(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(1000000));
    const size_t before = used();
    for (int i = 0; i < items_here(1000, 100); i++) {
        gpuarray *sum = NULL;
        ga_graph *graph;
        GA_GRAPH(graph)
        {
            sum = ga_sum(x);
        }
        assert_non_null(graph);
        assert_true(used() > before);
        if (i % 50 == 0)
            assert_int_equal(ga_graph_launch(graph), GA_OK);
        ga_graph_free(graph);
        ga_free(sum);
        assert_int_equal(used(), before);
        assert_int_equal(ga_graph_begin(), GA_OK); /* and one that fails */
        ga__fail(GA_ERR_INVALID, "no graph");
        assert_null(ga_graph_end());
        ga_clear_error();
        assert_int_equal(used(), before);
    }
    for (int i = 0; i < 100; i++) {
        ga_stream *stream = ga_stream_new();
        assert_int_equal(ga_set_stream(stream), GA_OK);
        gpuarray *sum = ga_sum(x); /* several blocks, which need tickets */
        assert_true(ga_item_double(sum) == 1000000);
        ga_free(sum);
        ga_set_stream(NULL);
        ga_stream_free(stream);
        assert_int_equal(used(), before);
    }
    ga_free(x);
}

static void arrays_made_in_it_live_in_it(void **state)
{
    (void)state;
    gpuarray *x = ga_arange(GA_FLOAT64, 0, 100000, 1), *rms = NULL, *rows = NULL;
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        gpuarray *square = ga_multiply(x, x);
        gpuarray *mean = ga_mean(square); /* several blocks: tickets and partial results */
        rms = ga_sqrt(mean);
        ga_free(square);
        ga_free(mean);
        gpuarray *table = ga_reshape(x, GA_SHAPE(100, 1000));
        rows = ga_sum(table, GA_AXIS(1));
        ga_free(table);
    }
    assert_non_null(graph);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ga_assign(x, i + 1), GA_OK);
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_true(ga_item_double(rms) == i + 1);
        assert_true(item(rows, 99) == 1000.0 * (i + 1));
    }
    gpuarray *others[20]; /* eager memory must not be the graph's */
    for (int i = 0; i < 20; i++)
        others[i] = ga_full(GA_FLOAT64, GA_SHAPE(100000), -1);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    for (int i = 0; i < 20; i++) {
        assert_true(item(others[i], 5) == -1);
        ga_free(others[i]);
    }
    ga_free(x); /* the graph keeps what it uses alive */
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    ga_graph_free(graph);
    assert_true(ga_item_double(rms) == 3); /* and arrays keep the memory */
    ga_free(rms);
    ga_free(rows);
}

static size_t used_bytes(void)
{
    ga_memory_stats stats = {0};
    assert_int_equal(ga_memory_info(NULL, &stats), GA_OK);
    return stats.used;
}

/* Arrays that live at the same time share no memory of the graph; the memory of others is
 * reused. */
static void memory_of_a_graph_is_shared_in_turns(void **state)
{
    (void)state;
    enum { N = 100000, TIMES = 50 };
    gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(N), 1), *y = NULL, *z = NULL;
    ga_graph *graph;
    const size_t before = used_bytes();
    GA_GRAPH(graph)
    {
        for (int i = 0; i < TIMES; i++)
            ga_free(ga_add(x, i));
        y = ga_add(x, 1);
        z = ga_add(x, 2);
    }
    assert_non_null(graph);
    assert_true(used_bytes() - before < 4 * N * sizeof(float));
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    assert_true(item(y, 0) == 2 && item(y, N - 1) == 2);
    assert_true(item(z, 0) == 3 && item(z, N - 1) == 3);
    ga_graph_free(graph);
    ga_free(x);
    ga_free(y);
    ga_free(z);
}

static void expressions_and_kernels_are_recorded(void **state)
{
    (void)state;
    gpuarray *x = ga_arange(GA_FLOAT32, 0, 1000, 1), *y = ga_zeros_like(x), *s = NULL;
    ga_kernel *kernel =
        ga_elementwise_kernel("float *x, float *y, float a", "y[i] = a * x[i]", "scale");
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        ga_run(kernel, x, y, 3);
        s = ga_eval("sum(x + y) + 1", GA(x), GA(y));
        ga_add_into(x, x, x);
        ga_assign(y, 5);
    }
    assert_non_null(graph);
    ga_kernel_free(kernel);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    assert_true(ga_item_double(s) == 4 * 499500 + 1);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    assert_true(ga_item_double(s) == 8 * 499500 + 1);
    assert_true(item(y, 7) == 5 && item(x, 7) == 28);
    ga_graph_free(graph);
    ga_free(s);
    ga_free(x);
    ga_free(y);
}

static void scalars_and_scopes_are_recorded(void **state)
{
    (void)state;
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(7));
    ga_graph *graph;
    GA_GRAPH(graph)
    GA_SCOPE {
        gpuarray *two = ga_scalar(GA_FLOAT64, 2), *zeros = ga_zeros(GA_FLOAT32, GA_SHAPE(7));
        ga_add_into(x, x, ga_add(ga_imag(x), ga_astype(ga_add(two, zeros), GA_FLOAT32)));
    }
    assert_non_null(graph);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ga_graph_launch(graph), GA_OK);
    assert_true(item(x, 6) == 8);
    ga_graph_free(graph);
    ga_free(x);
}

static void host_memory_is_read_at_each_launch(void **state)
{
    (void)state;
    float *in = ga_pinned_alloc(400), *out = ga_pinned_alloc(400);
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(100));
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        ga_set_async(x, in, 400);
        ga_add_into(x, x, 1);
        ga_to_host_async(x, out, 400);
    }
    assert_non_null(graph);
    for (int round = 0; round < 3; round++) {
        in[99] = (float)round;
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_int_equal(ga_synchronize(), GA_OK);
        assert_true(out[99] == (float)(round + 1));
    }
    ga_graph_free(graph);
    ga_free(x);
    ga_pinned_free(in);
    ga_pinned_free(out);
}

static void launches_follow_each_other_across_streams(void **state)
{
    (void)state;
    enum { N = 1 << 22 };
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(N));
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        for (int i = 0; i < 10; i++)
            ga_add_into(x, x, 1);
    }
    for (int round = 0; round < 6; round++) {
        ga_set_stream(round % 2 ? a : b);
        assert_int_equal(ga_graph_launch(graph), GA_OK);
    }
    ga_set_stream(NULL);
    assert_true(item(x, N - 1) == 60);
    ga_stream_free(a);
    ga_stream_free(b);
    ga_graph_free(graph);
    ga_free(x);
}

/* ---- Calls that cannot be recorded ---- */

#define REFUSED(statement, text)                                                                   \
    GA_GRAPH(graph)                                                                                \
    {                                                                                              \
        (void)(statement);                                                                         \
    }                                                                                              \
    assert_null(graph);                                                                            \
    assert_error(GA_ERR_UNSUPPORTED, text)

static void what_needs_values_is_named(void **state)
{
    (void)state;
    float values[4] = {0};
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(4)), *one = ga_scalar(GA_FLOAT32, 1);
    ga_graph *graph;
    REFUSED(ga_item_double(one), "item: cannot be recorded in a graph");
    REFUSED(ga_to_host(x, values, sizeof values), "to_host: cannot be recorded");
    REFUSED(ga_from_host(values, GA_FLOAT32, GA_SHAPE(4)), "from_host: cannot be recorded");
    REFUSED(ga_set(x, values, sizeof values), "set: cannot be recorded");
    REFUSED(ga_synchronize(), "synchronize: cannot be recorded");
    REFUSED(ga_stream_synchronize(NULL), "stream_synchronize: cannot be recorded");
    REFUSED(ga_memory_trim(NULL), "memory_trim: cannot be recorded");
    REFUSED(ga_save(x, "/tmp/never-written.npy"), "save: cannot be recorded");
    REFUSED(ga_load("/tmp/never-read.npy"), "load: cannot be recorded");
    REFUSED(ga_set_stream(NULL), "set_stream: the thread is recording a graph");
    char *text = NULL;
    REFUSED(text = ga_format(x), "cannot be recorded");
    assert_null(text);
    assert_true(item(x, 3) == 1); /* and everything is as before */
    ga_free(x);
    ga_free(one);
}

/* Functions that look at elements, or that compute some on the host, say so too. */
static void what_looks_at_elements_is_named(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(4)), *edges = ga_arange(GA_FLOAT64, 0, 4, 1);
    gpuarray *counts, *made, *table = ga_ones(GA_FLOAT64, GA_SHAPE(4, 1));
    ga_graph *graph;
    REFUSED(ga_bincount(x), "bincount: cannot be recorded");
    REFUSED(ga_digitize(x, edges), "digitize: cannot be recorded");
    REFUSED(ga_searchsorted(edges, x, .sorter = x), "searchsorted: cannot be recorded");
    REFUSED(ga_histogram(x, 3, &counts, &made, .range = {0, 3}), "histogram: cannot be recorded");
    REFUSED(ga_histogram(x, 3, &counts, &made), "histogram: cannot be recorded");
    REFUSED(ga_histogram(x, edges, &counts, &made), "histogram: cannot be recorded");
    REFUSED(ga_histogramdd(table, GA_BINS(3), &counts, &made), "histogramdd: cannot be recorded");
    REFUSED(ga_sobol(GA_FLOAT64, 4, 2), "sobol: cannot be recorded");
    ga_free(table);
    ga_free(edges);
    ga_free(x);
}

static void recordings_do_not_nest(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(4));
    ga_graph *graph, *inner = NULL;
    assert_null(ga_graph_end());
    assert_error(GA_ERR_INVALID, "graph_end: the thread is not recording a graph");
    GA_GRAPH(inner)
    {
        ga_add_into(x, x, 1);
    }
    GA_GRAPH(graph)
    {
        assert_int_equal(ga_graph_begin(), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "already recording a graph on");
        assert_int_equal(ga_graph_launch(inner), GA_ERR_UNSUPPORTED);
    }
    assert_null(graph);
    ga_clear_error();
    assert_int_equal(ga_graph_launch(NULL), GA_ERR_INVALID);
    ga_graph_free(inner);
    ga_free(x);
}

static void another_devices_work_is_refused(void **state)
{
    (void)state;
    if (ga_device_count() == 0) {
        print_message("skipped: there is only the device cpu\n");
        skip();
    }
    const char *device = ga_current_device();
    ga_set_device(strcmp(device, "cpu") ? "cpu" : "cuda:0");
    gpuarray *other = ga_ones(GA_FLOAT32, GA_SHAPE(4));
    ga_set_device(device);
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        assert_int_equal(ga_add_into(other, other, 1), GA_ERR_UNSUPPORTED);
    }
    assert_null(graph);
    assert_error(GA_ERR_UNSUPPORTED, "cannot record work on");
    ga_free(other);
}

static void failures_while_recording_lose_nothing(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(100000));
    GA_SCOPE {
        ga_add_into(x, x, ga_sum(x));
    } /* the kernels are loaded */
    ga_assign(x, 2);
    ga_memory_trim(NULL);
    const int64_t live = ga__alloc_live();
    int failures = 0;
    for (int n = 1;; n++) {
        ga_graph *graph = NULL;
        ga__alloc_fail_at(n);
        GA_GRAPH(graph)
        GA_SCOPE {
            ga_add_into(x, x, ga_sum(x));
        }
        ga__alloc_fail_at(0);
        const bool complete = graph != NULL;
        failures += !complete;
        ga_graph_free(graph);
        ga_memory_trim(NULL);
        ga_clear_error();
        assert_int_equal(ga__alloc_live(), live);
        if (complete && n > 12)
            break;
    }
    assert_true(failures >= 4);
    assert_true(item(x, 5) == 2);
    ga_free(x);
}

static void *launch_often(void *graph)
{
    for (int i = 0; i < 50; i++)
        if (ga_graph_launch(graph) != GA_OK)
            return graph;
    return NULL;
}

static void threads_share_a_graph(void **state)
{
    (void)state;
    gpuarray *x = ga_zeros(GA_FLOAT64, GA_SHAPE(1000)), *total = NULL;
    ga_graph *graph;
    pthread_t threads[4];
    GA_GRAPH(graph)
    {
        ga_add_into(x, x, 1);
        total = ga_sum(x);
    }
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, launch_often, graph), 0);
    for (int t = 0; t < 4; t++) {
        void *failed = NULL;
        pthread_join(threads[t], &failed);
        assert_null(failed);
    }
    assert_true(ga_item_double(total) == 200000);
    ga_graph_free(graph);
    ga_free(total);
    ga_free(x);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_runs_before_the_launch),
        TEST(accounts_end_as_they_began),
        TEST(arrays_made_in_it_live_in_it),
        TEST(memory_of_a_graph_is_shared_in_turns),
        TEST(expressions_and_kernels_are_recorded),
        TEST(scalars_and_scopes_are_recorded),
        TEST(host_memory_is_read_at_each_launch),
        TEST(launches_follow_each_other_across_streams),
        TEST(what_needs_values_is_named),
        TEST(what_looks_at_elements_is_named),
        TEST(recordings_do_not_nest),
        TEST(another_devices_work_is_refused),
        TEST(failures_while_recording_lose_nothing),
        TEST(threads_share_a_graph),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
