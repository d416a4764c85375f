/* The machine under test, without Quarry: its clock, its random data and its limits. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How fast memory can be, in bytes read and written per second. */
typedef enum limit_kind {
    LIMIT_COPY,         /* 1 read + 1 write, the machine's own memcpy */
    LIMIT_READ1_WRITE1, /* the same by the best there is, memcpy included */
    LIMIT_READ2_WRITE1,
    LIMIT_READ,
    LIMIT_WRITE,
    LIMIT_COUNT
} limit_kind;

/* How many arrays a limit reads and writes. */
static inline int limit_streams(limit_kind limit)
{
    static const int streams[LIMIT_COUNT] = {2, 2, 3, 1, 1};
    return streams[limit];
}

/* Every median is of this many samples. */
#define SAMPLES 15

/* Memory is the device's, as ga_data() gives it. A function that is NULL has no meaning there. */
typedef struct machine {
    const char *name;
    int64_t default_n;
    size_t (*cache_bytes)(void); /* data must be larger than this to come from memory */

    /* False when the machine cannot be used. */
    bool (*open)(void);

    /* The time one run takes in the device's order of work, its launch hidden. */
    double (*time_us)(void (*run)(void *), void *context);

    void (*fill)(void *data, random_kind kind, int64_t count, uint32_t seed);
    void (*poison)(void *data, size_t nbytes); /* every byte 0xff */
    bool (*read)(void *host, const void *data, size_t nbytes);

    /* GB/s of the best variant, the median of SAMPLES; nbytes each, a multiple of 64. */
    double (*bandwidth)(limit_kind limit, void *out, const void *x, const void *y, size_t nbytes);

    /* GB/s of one more run of that best variant, to be compared with work timed beside it. A kernel
     * moves `nbytes` in all, or what it was given: so it starts and ends as often as that work. */
    double (*bandwidth_again)(limit_kind limit, double nbytes);

    /* Host time of one raw launch of a small add; then with a pool allocation and its free; the
     * mean of `count` that are waited for only after the clock has stopped. */
    double (*launch_us)(int count);
    double (*launch_pool_us)(int count);

    /* Host time to launch a reduction of 16 elements and read the result. */
    double (*round_trip_us)(void);

    /* The compiler's own time for a kernel's source, without loading; negative when it fails. */
    double (*compile_ms)(const char *source);
} machine;

extern const machine host_machine;
#ifdef BENCH_CUDA
extern const machine cuda_machine;
#endif

/* Sorts the samples; the middle one. */
double median(double *samples, int count);

/* The monotonic clock. */
double now_us(void);

#ifdef __cplusplus
}
#endif

#endif
