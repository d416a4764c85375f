/* CUDA's kernels of selection without a GPU: the simulator runs them, and each gives the elements
 * of the host's kernel for the same call. */
#include <math.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "contents.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, MOST_BYTES = 1 << 22 };

/* A call on rows; two results at most. */
typedef struct task {
    const char *name;
    ga_dtype dtype, result; /* no result: of other dtypes, or of elements */
    const char *method;
    int64_t winners; /* topk: per mille of a row */
} task;

static void call(const task *t, gpuarray *x, uint64_t seed, gpuarray **first, gpuarray **second)
{
    const int64_t n = ga_shape(x)[1], kth = random_below(&seed, n);
    static const double three[] = {0.5, 0.05, 0.99}, four[] = {1, 0, 0.3, 0.7};
    *second = NULL;
    if (strcmp(t->name, "median") == 0)
        *first = ga_median(x, GA_AXIS(1));
    else if (strcmp(t->name, "nanmedian") == 0)
        *first = ga_nanmedian(x, GA_AXIS(1));
    else if (strcmp(t->name, "quantile") == 0)
        *first = ga_quantile(x, ga_from_host(three, GA_FLOAT64, GA_SHAPE(3)), GA_AXIS(1),
                             .method = t->method);
    else if (strcmp(t->name, "nanquantile") == 0)
        *first = ga_nanquantile(x, ga_from_host(four, GA_FLOAT64, GA_SHAPE(4)), GA_AXIS(1),
                                .method = t->method);
    else if (strcmp(t->name, "partition") == 0)
        *first = ga_partition(x, kth);
    else if (strcmp(t->name, "argpartition") == 0)
        *first = ga_argpartition(x, kth);
    else if (ga_topk(x, 1 + (n - 1) * t->winners / 1000, first, second,
                     .smallest = seed % 2 == 0) != GA_OK)
        *first = NULL;
}

/* The bytes of the results, one after another. */
static size_t results_on(ga__device *device, const task *t, int64_t rows, int64_t n,
                         const void *elements, uint64_t seed, char *bytes, size_t *first_bytes)
{
    size_t nbytes = 0;
    ga__use_device(device);
    GA_SCOPE {
        gpuarray *x = ga_from_host(elements, t->dtype, GA_SHAPE(rows, n + 1)), *first, *second;
        x = ga_slice(x, ":, :%lld", (long long)n); /* a copy, or rows that begin anywhere */
        if (rows == 1)
            x = ga_slice(ga_from_host(elements, t->dtype, GA_SHAPE(1, n + 1)), ":, 1:");
        call(t, x, seed, &first, &second);
        if (!first)
            fail_msg("%s: %s", t->name, ga_error_message());
        *first_bytes = nbytes = ga_nbytes(first);
        assert_int_equal(ga_to_host(first, bytes, nbytes), GA_OK);
        if (second) {
            assert_int_equal(ga_to_host(second, bytes + nbytes, ga_nbytes(second)), GA_OK);
            nbytes += ga_nbytes(second);
        }
    }
    return nbytes;
}

/* Whether the byte is equal, or part of a NaN whose sign may differ: processors make both. */
static bool same_element(const task *t, const char *wanted, const char *got, size_t at,
                         size_t first)
{
    const size_t size = ga_dtype_size(t->result ? t->result : t->dtype), from = at - at % size;
    if (wanted[at] == got[at] || at >= first || !t->result)
        return wanted[at] == got[at];
    const double a = ga__number_double(ga__dtype_fetch(t->result, wanted + from)),
                 b = ga__number_double(ga__dtype_fetch(t->result, got + from));
    return isnan(a) && isnan(b);
}

static void compare(const task *t, content what, int64_t rows, int64_t n, uint64_t seed)
{
    static char elements[MOST_BYTES], wanted[MOST_BYTES], got[MOST_BYTES];
    size_t first, second;
    assert_true((size_t)(rows * (n + 1)) * 8 < MOST_BYTES / 2);
    fill_content(what, t->dtype, rows * (n + 1), elements, &seed);
    /* First: memory that it does not write must not hold the host's results. */
    const int before = simulated.launches;
    const size_t nbytes = results_on(&simulated_device, t, rows, n, elements, seed, got, &second);
    const int after = simulated.launches;
    assert_true(after > before);
    assert_int_equal(results_on(ga__find_device("cpu"), t, rows, n, elements, seed, wanted, &first),
                     nbytes);
    assert_int_equal(simulated.launches, after);
    assert_int_equal(first, second);
    size_t at = 0;
    while (at < nbytes && same_element(t, wanted, got, at, first))
        at++;
    if (at == nbytes)
        return;
    fail_msg("%s of %s, method %s, %s, rows %lld of %lld: byte %zu of %zu + %zu differs", t->name,
             ga_dtype_name(t->dtype), t->method ? t->method : "-", content_names[what],
             (long long)rows, (long long)n, at, first, nbytes - first);
}

static void compare_sampled(const task *t, content what, int64_t rows, int64_t n, int length_class,
                            uint64_t seed)
{
    char text[120];
    snprintf(text, sizeof text, "%s of %s, %d winners, lengths %d; %s", t->name,
             ga_dtype_name(t->dtype), (int)t->winners, length_class, content_names[what]);
    if (in_sample(text))
        compare(t, what, rows, n, seed);
}

/* Row lengths: of warps, of blocks, and of rounds; the last ones begin anywhere. */
static void run_task(const task *t)
{
    static const int64_t rows[] = {5, 3, 2, 1, 1}, most[] = {70, 1100, 9000, 24000, 60000};
    uint64_t seed = 7;
    for (int k = 0; k < 5; k++)
        for (int what = 0; what < CONTENTS; what++) {
            const int64_t least = k > 0 ? most[k - 1] : 1;
            const int64_t n = least + random_below(&seed, most[k] - least);
            compare_sampled(t, (content)what, rows[k], n, k, next_random(&seed));
        }
    compare_sampled(t, CONTENT_WIDE, 2, 1, 0, seed);
    compare_sampled(t, CONTENT_WIDE, 1, 200000, 4, seed); /* more tiles than blocks */
}

static const task tasks[] = {
    {.name = "median", .dtype = GA_FLOAT32, .result = GA_FLOAT32},
    {.name = "median", .dtype = GA_INT8},
    {.name = "nanmedian", .dtype = GA_FLOAT16, .result = GA_FLOAT16},
    {.name = "quantile", .dtype = GA_FLOAT64, .result = GA_FLOAT64, .method = "hazen"},
    {.name = "quantile", .dtype = GA_UINT32, .method = "nearest"},
    {.name = "nanquantile", .dtype = GA_FLOAT32, .result = GA_FLOAT64},
    {.name = "nanquantile", .dtype = GA_BFLOAT16, .result = GA_FLOAT64, .method = "midpoint"},
    {.name = "partition", .dtype = GA_FLOAT32},
    {.name = "partition", .dtype = GA_INT64},
    {.name = "argpartition", .dtype = GA_FLOAT64},
    {.name = "argpartition", .dtype = GA_BOOL},
    {.name = "topk", .dtype = GA_FLOAT32, .winners = 20},
    {.name = "topk", .dtype = GA_UINT16, .winners = 700},
    {.name = "topk", .dtype = GA_FLOAT64, .winners = 2},
    {.name = "topk", .dtype = GA_FLOAT16, .winners = 1},
};

static void medians(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        run_task(&tasks[k]);
}

static void quantiles(void **state)
{
    (void)state;
    for (int k = 3; k < 7; k++)
        run_task(&tasks[k]);
}

static void partitions(void **state)
{
    (void)state;
    for (int k = 7; k < 11; k++)
        run_task(&tasks[k]);
}

static void first_elements(void **state)
{
    (void)state;
    for (int k = 11; k < 15; k++)
        run_task(&tasks[k]);
}

/* Rows so long that a sample bounds the keys that the first round stores: those of some rows are
 * too many, and the rounds begin anew. */
static void samples_of_long_rows(void **state)
{
    (void)state;
    static const int sampled[] = {11, 13, 14};
    for (size_t k = 0; k < sizeof sampled / sizeof *sampled; k++)
        for (int what = 0; what < CONTENTS; what++) {
            char item[60];
            snprintf(item, sizeof item, "samples of task %d, content %d", sampled[k], what);
            if (!in_eighth(item))
                continue;
            compare(&tasks[sampled[k]], (content)what, 1, 150001 + 1000 * what, k + 1);
            compare(&tasks[sampled[k]], (content)what, 3, 70001, k + 1);
        }
}

/* Devices differ in the shared memory of a block: rows that exceed it take rounds. */
static void little_shared_memory(void **state)
{
    static const size_t sizes[] = {64 << 10, 99 << 10};
    const size_t before = simulated_device.shared_bytes;
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        simulated_device.shared_bytes = sizes[k];
        compare(&tasks[3], CONTENT_WIDE, 2, 8192, k);
        compare(&tasks[9], CONTENT_WIDE, 5, 1024, k);
        compare(&tasks[0], CONTENT_WIDE, 2, 22000, k);
    }
    simulated_device.shared_bytes = before;
}

static int open_devices(void **state)
{
    (void)state;
    return open_simulated_device(PROCESSORS) ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),       cmocka_unit_test(quantiles),
        cmocka_unit_test(partitions),    cmocka_unit_test(first_elements),
        slow_test(samples_of_long_rows), cmocka_unit_test(little_shared_memory),
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
