/* The host as a machine under test: STREAM-like loops on as many threads as Quarry uses. */
#include "machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wide vectors where the processor has them; the program stays portable. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

enum { MAX_THREADS = 256 };

/* A job is one of these over a thread's share of the bytes. */
typedef struct job {
    limit_kind limit;
    char *out;
    const char *x, *y;
    size_t nbytes;
} job;

static struct {
    pthread_barrier_t start, done;
    int threads;
    job job;
    float sums[MAX_THREADS * 16]; /* a cache line each */
} pool;

WIDE static void scale(float *restrict out, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = 2.0f * x[i];
}

WIDE static void add(float *restrict out, const float *restrict x, const float *restrict y,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] + y[i];
}

/* Integer words: a float sum would not be allowed to vectorise. */
WIDE static uint32_t sum(const uint32_t *restrict x, size_t n)
{
    uint32_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += x[i];
    return total;
}

static void work(const job *j, int thread)
{
    const size_t share = (j->nbytes / (size_t)pool.threads) & ~(size_t)63;
    const size_t from = share * (size_t)thread;
    const size_t n = thread == pool.threads - 1 ? j->nbytes - from : share;
    float *out = (float *)(void *)(j->out + from);
    const float *x = (const float *)(const void *)(j->x + from);

    switch (j->limit) {
    case LIMIT_COPY: memcpy(out, x, n); break;
    case LIMIT_READ1_WRITE1: scale(out, x, n / 4); break;
    case LIMIT_READ2_WRITE1: add(out, x, (const float *)(const void *)(j->y + from), n / 4); break;
    case LIMIT_READ:
        pool.sums[16 * thread] = (float)sum((const uint32_t *)(const void *)x, n / 4);
        break;
    case LIMIT_WRITE: memset(out, 0, n); break;
    case LIMIT_COUNT: break;
    }
}

static void *worker(void *number)
{
    for (;;) {
        pthread_barrier_wait(&pool.start);
        work(&pool.job, (int)(intptr_t)number);
        pthread_barrier_wait(&pool.done);
    }
    return NULL;
}

static int thread_count(void)
{
    const char *wanted = getenv("QUARRY_THREADS");
    cpu_set_t set;
    int count = wanted ? atoi(wanted) : 0;

    if (count <= 0)
        count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < MAX_THREADS ? count : MAX_THREADS;
}

/* The calling thread is worker 0; the others wait at the barrier until the process ends. */
static bool host_open(void)
{
    pthread_t thread;

    pool.threads = thread_count();
    pthread_barrier_init(&pool.start, NULL, (unsigned)pool.threads);
    pthread_barrier_init(&pool.done, NULL, (unsigned)pool.threads);
    for (int i = 1; i < pool.threads; i++)
        if (pthread_create(&thread, NULL, worker, (void *)(intptr_t)i) != 0)
            return false;
    return true;
}

static double host_time_us(void (*run)(void *), void *context)
{
    const double start = now_us();

    run(context);
    return now_us() - start;
}

static size_t host_cache_bytes(void)
{
    const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);

    return bytes > 0 ? (size_t)bytes : (size_t)32 << 20;
}

static void host_fill(void *data, random_kind kind, int64_t count, uint32_t seed)
{
    const size_t bytes = (size_t)random_bytes(kind);

    for (int64_t k = 0; k < count; k++) {
        const uint64_t bits = random_bits(kind, seed, (uint64_t)k);
        memcpy((char *)data + (size_t)k * bytes, &bits, bytes);
    }
}

static void host_poison(void *data, size_t nbytes)
{
    memset(data, 0xff, nbytes);
}

static bool host_read(void *host, const void *data, size_t nbytes)
{
    memcpy(host, data, nbytes);
    return true;
}

static void run_job(void *context)
{
    pool.job = *(const job *)context;
    pthread_barrier_wait(&pool.start);
    work(&pool.job, 0);
    pthread_barrier_wait(&pool.done);
}

static job best[LIMIT_COUNT];

static double gbps(limit_kind limit, double us)
{
    return limit_streams(limit) * (double)best[limit].nbytes / us / 1e3;
}

static double median_us(job *j)
{
    double samples[SAMPLES];

    run_job(j);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = host_time_us(run_job, j);
    return median(samples, SAMPLES);
}

static double host_bandwidth(limit_kind limit, void *out, const void *x, const void *y,
                             size_t nbytes)
{
    job plain = {limit, out, x, y, nbytes}, copy = {LIMIT_COPY, out, x, y, nbytes};
    double us = median_us(&plain);

    best[limit] = plain;
    if (limit == LIMIT_READ1_WRITE1) {
        const double copy_us = median_us(&copy);
        if (copy_us < us)
            best[limit] = copy;
        us = copy_us < us ? copy_us : us;
    }
    return gbps(limit, us);
}

/* All of it: what it reads pushes the next inputs out of the cache. */
static double host_bandwidth_again(limit_kind limit, double nbytes)
{
    (void)nbytes;
    return gbps(limit, host_time_us(run_job, &best[limit]));
}

const machine host_machine = {
    .name = "cpu",
    .default_n = 10000000,
    .cache_bytes = host_cache_bytes,
    .open = host_open,
    .time_us = host_time_us,
    .fill = host_fill,
    .poison = host_poison,
    .read = host_read,
    .bandwidth = host_bandwidth,
    .bandwidth_again = host_bandwidth_again,
};
