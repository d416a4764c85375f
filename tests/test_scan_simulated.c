/* CUDA's kernels of scans without a GPU: the simulator runs them on random arrays, and each gives
 * the result of the host's kernel for the same call, in every run the same bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "base/alloc.h"
#include "device/tickets.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, MOST_BYTES = 1 << 26, CASES = 40 };

typedef gpuarray *(*scan_function)(size_t size, const ga_scan_args *args);

/* Scans whose results are exact in any order, and some that are not. */
static const struct {
    const char *name;
    scan_function call;
    ga_dtype dtype;
    double tolerance;
} scans[] = {
    {"cumsum", (ga_cumsum), GA_FLOAT32, 0},
    {"cumsum", (ga_cumsum), GA_INT8, 0},
    {"cumsum", (ga_cumsum), GA_COMPLEX128, 0},
    {"cummax", (ga_cummax), GA_FLOAT16, 0},
    {"cummin", (ga_cummin), GA_INT8, 0},
    {"cumprod", (ga_cumprod), GA_INT64, 0},
    {"logsumexp", (ga_cumulative_logsumexp), GA_FLOAT64, 1e-12},
};
enum { SCANS = sizeof scans / sizeof *scans };

/* How one case looks, from its seed alone: both devices get the same. */
typedef struct scan_case {
    int scan, ndim, axis;
    int64_t shape[3];
    int skipped, step; /* elements before the array in its memory; step of the last axis */
    bool turned, exclusive, reverse, initial, segments, in_place;
} scan_case;

/* Small integers: sums of a few thousand are exact in any float. */
static gpuarray *given(ga_dtype dtype, int64_t size)
{
    char *bytes = malloc((size_t)size * ga_dtype_size(dtype) + 1);
    assert_non_null(bytes);
    for (int64_t k = 0; k < size; k++)
        ga__dtype_store(dtype, ga_value_int((int)((k * 7919 + k / 97) % 13 - 6)),
                        bytes + (size_t)k * ga_dtype_size(dtype));
    gpuarray *x = ga_from_host(bytes, dtype, 1, &size);
    free(bytes);
    assert_non_null(x);
    return x;
}

static gpuarray *operand_of(const scan_case *c)
{
    int64_t shape[3], size = 1;
    for (int k = 0; k < c->ndim; k++)
        shape[k] = c->shape[c->turned ? c->ndim - 1 - k : k];
    shape[c->ndim - 1] *= c->step;
    for (int k = 0; k < c->ndim; k++)
        size *= shape[k];
    gpuarray *all = given(scans[c->scan].dtype, size + c->skipped);
    gpuarray *x = ga_reshape(ga_slice(all, "%d:", c->skipped), c->ndim, shape);
    x = ga_slice(x, "..., ::%d", c->step);
    return c->turned ? ga_transpose(x) : x;
}

static gpuarray *offsets_of(int64_t length)
{
    int64_t starts[200], count = 0;
    for (int64_t at = 0; at <= length && count < 200; at += 1 + at % 7 * at % 311)
        starts[count++] = at;
    return ga_from_host(starts, GA_INT64, 1, &count);
}

static gpuarray *run_case(const scan_case *c)
{
    gpuarray *x = operand_of(c);
    ga_scan_args args = {.x = x, .naxes = 1, .axes = &c->axis};
    args.exclusive = c->exclusive;
    args.reverse = c->reverse;
    if (c->initial)
        args.initial = ga_value_int(3);
    if (c->segments)
        args.offsets = offsets_of(c->shape[c->axis]);
    if (c->in_place)
        args.out = x;
    gpuarray *result = scans[c->scan].call(sizeof args, &args);
    if (!result)
        fail_msg("%s: %s", scans[c->scan].name, ga_error_message());
    return result;
}

static size_t result_on(ga__device *device, const scan_case *c, char *bytes, ga_dtype *dtype)
{
    size_t nbytes = 0;
    ga__use_device(device);
    GA_SCOPE {
        const gpuarray *x = run_case(c);
        nbytes = ga_nbytes(x);
        *dtype = ga_dtype_of(x);
        assert_true(nbytes <= MOST_BYTES);
        assert_int_equal(ga_to_host(x, bytes, nbytes), GA_OK);
    }
    return nbytes;
}

static const char *text_of(const scan_case *c)
{
    static char text[300];
    snprintf(text, sizeof text, "%s(%s) of %s axis %d, skipped %d, step %d%s%s%s%s%s%s",
             scans[c->scan].name, ga_dtype_name(scans[c->scan].dtype),
             ga__shape_text(c->ndim, c->shape), c->axis, c->skipped, c->step,
             c->turned ? " turned" : "", c->exclusive ? " exclusive" : "",
             c->reverse ? " reverse" : "", c->initial ? " initial" : "",
             c->segments ? " segments" : "", c->in_place ? " in place" : "");
    return text;
}

static bool differs(ga_dtype dtype, const char *wanted, const char *got, double tolerance)
{
    const double a = ga__number_double(ga__dtype_fetch(dtype, wanted)),
                 b = ga__number_double(ga__dtype_fetch(dtype, got));
    return memcmp(wanted, got, ga_dtype_size(dtype)) != 0 && a != b &&
           !(fabs(a - b) <= tolerance * (1 + fabs(a))) && !(isnan(a) && isnan(b));
}

static void compare(const scan_case *c)
{
    static char wanted[MOST_BYTES], got[MOST_BYTES], again[MOST_BYTES];
    ga_dtype dtype;
    const size_t nbytes = result_on(ga__find_device("cpu"), c, wanted, &dtype);
    const int before = simulated.launches;
    assert_int_equal(result_on(&simulated_device, c, got, &dtype), nbytes);
    assert_true(simulated.launches > before);
    for (size_t at = 0; at < nbytes; at += ga_dtype_size(dtype))
        if (differs(dtype, wanted + at, got + at, scans[c->scan].tolerance))
            fail_msg("%s: element %zu is %.17g on the host and %.17g by CUDA's kernel", text_of(c),
                     at / ga_dtype_size(dtype),
                     ga__number_double(ga__dtype_fetch(dtype, wanted + at)),
                     ga__number_double(ga__dtype_fetch(dtype, got + at)));
    result_on(&simulated_device, c, again, &dtype);
    assert_memory_equal(got, again, nbytes);
}

static void compare_simple(int scan, int axis, int ndim, int64_t a, int64_t b, int64_t c)
{
    const scan_case simple = {
        .scan = scan, .ndim = ndim, .axis = axis, .shape = {a, b, c}, .step = 1};
    if (in_eighth(text_of(&simple)))
        compare(&simple);
}

/* ---- Each kind of kernel, around the edges of vectors, tiles and groups of tiles ---- */

static void long_rows_look_back(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1,    3,     31,    7167,   7168,   7169,
                                      8191, 14337, 43009, 131072, 131073, 300007};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int scan = 0; scan < 3; scan++)
            compare_simple(scan, 0, 1, lengths[k], 1, 1);
    compare_simple(2, 1, 2, 3, 70001, 1);
    compare_simple(1, 1, 2, 3, 70016, 1); /* rows that move in whole vectors */
    compare_simple(6, 0, 1, 70001, 1, 1);
}

/* Launches leave words in one memory of their stream. Once tags run out, and while a
 * graph records them, each has its own. */
static void launches_have_tags_of_their_own(void **state)
{
    (void)state;
    ga__stream *stream = &simulated_device.stream, *host = &ga__find_device("cpu")->stream;
    void *first, *second;
    uint32_t tag, next;
    assert_int_equal(ga__stream_states(stream, &first, &tag), GA_OK);
    assert_int_equal(ga__stream_states(stream, &second, &next), GA_OK);
    assert_non_null(first);
    assert_ptr_equal(first, second);
    assert_int_equal(next, tag + 1);
    stream->tagged = UINT32_MAX - 1;
    assert_int_equal(ga__stream_states(stream, &first, &tag), GA_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(tag, UINT32_MAX);
    assert_int_equal(ga__stream_states(stream, &first, &tag), GA_OK);
    assert_null(first);
    compare(&(scan_case){.scan = 2, .ndim = 1, .shape = {43009}, .step = 1});
    stream->tagged = next;
    simulated.captured = true;
    assert_int_equal(ga__stream_states(stream, &first, &tag), GA_OK);
    assert_null(first);
    compare(&(scan_case){.scan = 2, .ndim = 1, .shape = {43009}, .step = 1});
    simulated.captured = false;
    assert_int_equal(ga__stream_states(stream, &first, &tag), GA_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(ga__stream_states(host, &first, &tag), GA_OK);
    assert_null(first);
}

/* In a new stream, the first scan makes that memory. */
static void a_stream_without_memory_scans_nothing(void **state)
{
    (void)state;
    int failed = 0;
    ga__use_device(&simulated_device);
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(43009));
    for (int n = 1, done = 0; !done; n++) {
        ga_stream *stream = ga_stream_new();
        assert_int_equal(ga_set_stream(stream), GA_OK);
        ga__alloc_fail_at(n);
        gpuarray *sums = ga_cumsum(x);
        ga__alloc_fail_at(0);
        assert_true(sums || ga_error() == GA_ERR_MEMORY);
        ga_clear_error();
        failed += sums ? 0 : 1;
        done = sums != NULL;
        GA_SCOPE {
            assert_true(!sums || ga_item_double(ga_slice(sums, "-1")) == 43009);
        }
        ga_free(sums);
        ga_stream_free(stream);
    }
    assert_true(failed > 0);
    ga_free(x);
}

static void compare_cases(int count, const scan_case *cases)
{
    for (int k = 0; k < count; k++) {
        scan_case c = cases[k];
        c.step = 1;
        if (in_eighth(text_of(&c)))
            compare(&c);
    }
}
#define COMPARE(cases) compare_cases((int)(sizeof(cases) / sizeof *(cases)), cases)

/* Tiles in shared memory: a few, several groups, and in rows that blocks take in turn. */
static void tiles_wait_in_shared_memory(void **state)
{
    (void)state;
    static const scan_case cases[] = {
        {.ndim = 1, .shape = {7168 * 3}, .segments = true},
        {.ndim = 1, .shape = {7168 * 70 + 4}, .segments = true, .in_place = true},
        {.ndim = 1, .shape = {7168 * 64}, .in_place = true, .exclusive = true},
        {.ndim = 2, .axis = 1, .shape = {5, 7168 * 34}, .initial = true},
        {.ndim = 2, .axis = 1, .shape = {2, 7168 * 33 + 8}, .segments = true},
        {.scan = 1, .ndim = 1, .shape = {14336 * 36 + 16}, .segments = true},
        {.scan = 3, .ndim = 1, .shape = {14336 * 5}, .in_place = true},
        {.scan = 6, .ndim = 1, .shape = {3584 * 37}}};
    COMPARE(cases);
}

/* More tiles, whose totals blocks add up long before they are scanned: joined in order, and before
 * results replace the elements. complex128 has the smallest tiles: 1792 elements where there are
 * few, and 2816. */
static void totals_are_there_before_tiles_are_scanned(void **state)
{
    (void)state;
    static const scan_case cases[] = {
        {.scan = 2, .ndim = 2, .axis = 1, .shape = {20, 2816 * 34 + 3}, .initial = true},
        {.scan = 2, .ndim = 1, .shape = {2816 * 1026 + 5}, .in_place = true, .exclusive = true}};
    COMPARE(cases);
}

static void short_rows_share_tiles(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 7, 8, 33, 100, 1000, 1025, 5000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int scan = 0; scan < 2; scan++)
            compare_simple(scan, 1, 2, 1 + 30000 / lengths[k], lengths[k], 1);
}

static void columns_are_read_by_neighbours(void **state)
{
    (void)state;
    static const int64_t widths[] = {2, 3, 4, 8, 33, 64, 130, 1000};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (int scan = 0; scan < 3; scan++) {
            char text[40];
            snprintf(text, sizeof text, "scan %d of %d columns", scan, (int)widths[k]);
            if (!in_sample(text))
                continue;
            compare_simple(scan, 0, 2, 3 + 100000 / widths[k], widths[k], 1);
            compare_simple(scan, 1, 3, 3, 2 + 10000 / widths[k], widths[k]);
        }
    compare_simple(0, 0, 2, 40000, 4, 1); /* two levels of totals */
}

/* Rows begin aligned, and end within a vector, whose other elements stay. */
static void scan_window(ga__device *device, int axis, char *bytes, size_t nbytes)
{
    ga__use_device(device);
    GA_SCOPE {
        gpuarray *all = ga_reshape(given(GA_FLOAT32, 100 * 36), GA_SHAPE(100, 36)),
                 *window = ga_slice(all, ":, :33");
        assert_non_null(ga_cumsum(window, GA_AXIS(axis), .out = window));
        assert_int_equal(ga_nbytes(all), nbytes);
        assert_int_equal(ga_to_host(all, bytes, nbytes), GA_OK);
    }
}

static void windows_are_scanned_in_place(void **state)
{
    (void)state;
    static char wanted[100 * 36 * 4], got[100 * 36 * 4];
    for (int axis = 0; axis < 2; axis++) {
        scan_window(ga__find_device("cpu"), axis, wanted, sizeof wanted);
        scan_window(&simulated_device, axis, got, sizeof got);
        assert_memory_equal(wanted, got, sizeof got);
    }
}

/* ---- Random ones ---- */

static int64_t random_length(uint64_t *seed)
{
    static const int64_t most[] = {3, 40, 300, 3000};
    return 1 + random_below(seed, most[random_below(seed, 4)]);
}

static scan_case random_case(uint64_t *seed)
{
    scan_case c = {.scan = (int)random_below(seed, SCANS),
                   .ndim = 1 + (int)random_below(seed, 3),
                   .skipped = random_below(seed, 3) == 0 ? (int)random_below(seed, 5) : 0,
                   .step = random_below(seed, 4) == 0 ? 2 : 1,
                   .turned = random_below(seed, 4) == 0,
                   .exclusive = random_below(seed, 3) == 0,
                   .reverse = random_below(seed, 4) == 0,
                   .initial = random_below(seed, 4) == 0,
                   .segments = random_below(seed, 4) == 0};
    c.axis = (int)random_below(seed, c.ndim);
    int64_t size = 1;
    for (int k = 0; k < c.ndim; k++, size *= c.shape[k - 1])
        c.shape[k] = 1 + random_length(seed) % (1 + 200000 / size);
    if (c.ndim == 1)
        c.shape[0] *= 1 + random_below(seed, 40);
    c.in_place = scans[c.scan].dtype != GA_INT8 && random_below(seed, 4) == 0;
    return c;
}

static void random_scans_agree_with_the_host(void **state)
{
    (void)state;
    uint64_t seed = run_seed();
    for (int k = 0; k < CASES; k++) {
        const scan_case c = random_case(&seed);
        char text[20];
        snprintf(text, sizeof text, "case %d", k);
        if (in_sample(text))
            compare(&c);
    }
}

static int open_devices(void **state)
{
    (void)state;
    return open_simulated_device(PROCESSORS) ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rows_look_back),
        cmocka_unit_test(launches_have_tags_of_their_own),
        cmocka_unit_test(a_stream_without_memory_scans_nothing),
        cmocka_unit_test(tiles_wait_in_shared_memory),
        cmocka_unit_test(totals_are_there_before_tiles_are_scanned),
        cmocka_unit_test(short_rows_share_tiles),
        cmocka_unit_test(columns_are_read_by_neighbours),
        cmocka_unit_test(windows_are_scanned_in_place),
        cmocka_unit_test(random_scans_agree_with_the_host),
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
