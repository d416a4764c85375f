/* What graphs and streams gain: 20 small operations replayed, and 16 threads on streams of their
 * own. */
#include <pthread.h>
#include <string.h>

#include <quarry.h>

#include "overheads.h"

enum { OPS = 20, ROUNDS = 50, REPEATS = 15, THREADS = 16, CALLS = 40, HOST_CALLS = 2 };
enum { ELEMENTS = 4096, HOST_ELEMENTS = 256 };

/* ---- 20 operations, one after another ---- */

typedef struct sequence {
    gpuarray *x;
    ga_graph *graph;
} sequence;

static void run_ops(const sequence *s)
{
    for (int i = 0; i < OPS; i++)
        ga_add_into(s->x, s->x, 1);
}

static void launch_graph(const sequence *s)
{
    ga_graph_launch(s->graph);
}

/* Microseconds a round: until the calls return, or until the work is done. */
static double round_us(void (*body)(const sequence *), const sequence *s, bool done)
{
    ga_synchronize();
    const double start = now_us();
    for (int i = 0; i < ROUNDS; i++)
        body(s);
    if (done)
        ga_synchronize();
    const double us = (now_us() - start) / ROUNDS;
    ga_synchronize();
    return us;
}

static void bench_sequence(report *r, const char *name, const sequence *s, bool done)
{
    double graph[REPEATS], ops[REPEATS];

    round_us(run_ops, s, done);
    round_us(launch_graph, s, done);
    for (int i = 0; i < REPEATS; i++) {
        graph[i] = round_us(launch_graph, s, done);
        ops[i] = round_us(run_ops, s, done);
    }
    report_add(r, (result){.name = name,
                           .us = median(graph, REPEATS),
                           .limit_us = median(ops, REPEATS),
                           .wrong = ga_error() != GA_OK});
}

/* ---- Threads ---- */

/* Enough arithmetic on few enough elements for many to fit on the device side by side. */
static const char *const busy_text = "float v = x[i];"
                                     "for (int k = 0; k < 20000; k++) v = v * 0.999f + 0.001f;"
                                     "x[i] = v";
static ga_kernel *busy;
static const char *device;
static int calls; /* of each thread: a host takes far longer for one than a GPU, so also fewer */
static int64_t elements;

static void *work(void *stream)
{
    ga_set_device(device);
    ga_set_stream(stream);
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(elements));
    for (int i = 0; i < calls; i++)
        ga_run(busy, x);
    const ga_status status = ga_stream_synchronize(stream);
    ga_free(x);
    ga_set_stream(NULL);
    return status == GA_OK ? NULL : stream;
}

/* Microseconds until as many threads have done their calls. */
static double threads_us(ga_stream **streams, int count)
{
    pthread_t threads[THREADS];
    const double start = now_us();
    int started = 0;

    while (started < count && pthread_create(&threads[started], NULL, work, streams[started]) == 0)
        started++;
    for (int t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
    return now_us() - start;
}

/* All threads at once, beside one of them. */
static void bench_threads(report *r, const char *name)
{
    double all[REPEATS], one[REPEATS];
    ga_stream *streams[THREADS];

    device = ga_current_device();
    const bool host = strcmp(device, "cpu") == 0;
    calls = host ? HOST_CALLS : CALLS;
    elements = host ? HOST_ELEMENTS : ELEMENTS;
    busy = ga_elementwise_kernel("float *x", busy_text, "busy");
    for (int t = 0; t < THREADS; t++)
        streams[t] = ga_stream_new();
    threads_us(streams, THREADS);
    for (int i = 0; i < REPEATS; i++) {
        all[i] = threads_us(streams, THREADS);
        one[i] = threads_us(streams, 1);
    }
    for (int t = 0; t < THREADS; t++)
        ga_stream_free(streams[t]);
    ga_kernel_free(busy);
    report_add(r, (result){.name = name,
                           .us = median(all, REPEATS),
                           .limit_us = median(one, REPEATS),
                           .wrong = ga_error() != GA_OK});
}

void bench_streams(report *r, wanted_case wanted)
{
    sequence s = {ga_zeros(GA_FLOAT32, GA_SHAPE(1024)), NULL};

    GA_GRAPH(s.graph) run_ops(&s);
    if (wanted("host: graph of 20 ops"))
        bench_sequence(r, "host: graph of 20 ops", &s, false);
    if (wanted("host: graph of 20 ops, done"))
        bench_sequence(r, "host: graph of 20 ops, done", &s, true);
    if (wanted("host: 16 threads, 16 streams"))
        bench_threads(r, "host: 16 threads, 16 streams");
    ga_graph_free(s.graph);
    ga_free(s.x);
}
