/* CUDA's kernels of bins, run by the simulator: searches, counts and sums of weights are the
 * host's, for random sizes of data and tables, aligned or not, strided or not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, MOST_BYTES = 1 << 21, TRIALS = 6 };

/* One call: n elements, a table or so many bins, and the seed of both. */
typedef struct trial {
    int64_t n, m;
    uint64_t seed;
} trial;

/* ---- Arrays ---- */

/* Multiples of a half in [-range / 4, range / 4), or integers in [0, range); of floats, a few NaN
 * and infinities if `odd`. */
static gpuarray *given(const trial *t, ga_dtype dtype, int64_t n, int64_t range, bool odd)
{
    static unsigned char bytes[MOST_BYTES];
    uint64_t seed = t->seed;
    const size_t size = ga_dtype_size(dtype);
    const bool real = ga__dtype_kind(dtype) == 'f';
    assert_true((size_t)n * size <= sizeof bytes);
    for (int64_t k = 0; k < n; k++) {
        static const double oddities[] = {NAN, INFINITY, -INFINITY, -0.0};
        const int64_t number = random_below(&seed, range);
        double value = real ? (double)(number - range / 2) / 2 : (double)number;
        if (real && odd && random_below(&seed, 40) == 0)
            value = oddities[random_below(&seed, 4)];
        ga__dtype_store(dtype, ga_value_double(value), bytes + (size_t)k * size);
    }
    return ga_from_host(bytes, dtype, 1, &n);
}

/* Ascending, with equal neighbours. */
static gpuarray *table(const trial *t, ga_dtype dtype)
{
    gpuarray *steps = ga_arange(GA_FLOAT64, 0, (double)t->m, 1);
    return ga_astype(ga_floor(ga_multiply(steps, 0.75)), dtype);
}

/* n elements that begin away from a line's start. */
static gpuarray *away(gpuarray *line)
{
    return ga_slice(line, "1:");
}

/* ---- Searches ---- */

static gpuarray *search_floats(const trial *t)
{
    return ga_searchsorted(table(t, GA_FLOAT32), given(t, GA_FLOAT32, t->n, 4 * t->m + 8, true));
}

static gpuarray *search_away(const trial *t)
{
    return ga_searchsorted(table(t, GA_FLOAT32),
                           away(given(t, GA_FLOAT32, t->n + 1, 4 * t->m + 8, true)));
}

static gpuarray *search_right(const trial *t)
{
    return ga_searchsorted(table(t, GA_INT64), given(t, GA_INT64, t->n, t->m + 8, false),
                           .side_right = true);
}

/* In a table of whole steps, whose last ones are one load: the places of all its elements, of what
 * lies between them, and of NaN. */
static gpuarray *search_steps(const trial *t)
{
    const trial even = {.n = t->n, .m = t->m / 256 * 256 + 256, .seed = t->seed};
    return ga_searchsorted(table(&even, GA_FLOAT32),
                           given(t, GA_FLOAT32, t->n, 4 * even.m + 8, true));
}

static gpuarray *search_steps_right(const trial *t)
{
    const trial even = {.n = t->n, .m = t->m / 256 * 256 + 256, .seed = t->seed};
    return ga_searchsorted(table(&even, GA_INT16), given(t, GA_INT16, t->n, even.m + 8, false),
                           .side_right = true);
}

static gpuarray *search_columns(const trial *t)
{
    gpuarray *x = given(t, GA_FLOAT64, 6 * t->n, 3 * t->m + 8, true);
    return ga_searchsorted(table(t, GA_INT16),
                           ga_slice(ga_reshape(x, GA_SHAPE(6, t->n)), "::2, ::-1"));
}

static gpuarray *digitize_down(const trial *t)
{
    return ga_digitize(given(t, GA_UINT8, t->n, 100, false), ga_flip(table(t, GA_FLOAT32), 0));
}

/* ---- Counts ---- */

static gpuarray *count_bytes(const trial *t)
{
    return ga_bincount(given(t, GA_UINT8, t->n, 200, false));
}

static gpuarray *count_longs(const trial *t)
{
    return ga_bincount(away(given(t, GA_INT64, t->n + 1, t->m + 1, false)));
}

/* So many that a sample, every third element, tells the number of bins. m: of element 1, which the
 * sample lacks. */
static gpuarray *longs_with(const trial *t)
{
    gpuarray *x = given(t, GA_INT64, (1 << 17) + 5, 300, false);
    return ga_assign(ga_slice(x, "1:2"), ga_value_int((int)t->m)) == GA_OK ? x : NULL;
}

static gpuarray *count_sampled(const trial *t)
{
    return ga_bincount(longs_with(t), .minlength = t->n);
}

/* More than shared memory holds. */
static gpuarray *count_many(const trial *t)
{
    return ga_bincount(given(t, GA_INT32, t->n, t->m + 1, false), .minlength = 60000);
}

static gpuarray *weigh(const trial *t)
{
    return ga_bincount(given(t, GA_INT32, t->n, t->m + 1, false),
                       .weights = given(t, GA_FLOAT32, t->n, 50, false));
}

static gpuarray *weigh_columns(const trial *t)
{
    gpuarray *x =
        ga_transpose(ga_reshape(given(t, GA_FLOAT32, 4 * t->n, 90, true), GA_SHAPE(4, t->n)));
    gpuarray *w = ga_reshape(given(t, GA_FLOAT64, 4 * t->n, 50, false), GA_SHAPE(t->n, 4));
    gpuarray *counts;
    return ga_histogram(x, 7, &counts, NULL, .range = {-9, 11}, .weights = w) == GA_OK ? counts
                                                                                       : NULL;
}

static gpuarray *histogram_floats(const trial *t)
{
    gpuarray *counts;
    return ga_histogram(given(t, GA_FLOAT32, t->n, 400, false), t->m + 1, &counts, NULL) == GA_OK
               ? counts
               : NULL;
}

/* Numbers on the edges, or next to them, for which a guess is not enough. */
static gpuarray *histogram_on_edges(const trial *t)
{
    const int64_t bins = 40 + t->m;
    gpuarray *places = given(t, GA_INT32, t->n + 4 * bins, bins + 1, false);
    gpuarray *x = ga_multiply(ga_astype(places, GA_FLOAT32), 0.1);
    gpuarray *counts;
    return ga_histogram(x, bins, &counts, NULL, .range = {0, 0.1 * (double)bins}) == GA_OK ? counts
                                                                                           : NULL;
}

static gpuarray *histogram_halves(const trial *t)
{
    gpuarray *counts;
    return ga_histogram(given(t, GA_FLOAT16, t->n, 400, true), 9, &counts, NULL,
                        .range = {-70.25, 60.5}) == GA_OK
               ? counts
               : NULL;
}

static gpuarray *histogram_edges(const trial *t)
{
    gpuarray *counts;
    return ga_histogram(given(t, GA_FLOAT64, t->n, 4 * t->m + 8, true), table(t, GA_INT32), &counts,
                        NULL) == GA_OK
               ? counts
               : NULL;
}

static gpuarray *histogram_plane(const trial *t)
{
    gpuarray *counts;
    return ga_histogram2d(given(t, GA_FLOAT32, t->n, 90, false),
                          given(t, GA_INT32, t->n, 90, false), t->m % 20 + 1, table(t, GA_FLOAT64),
                          &counts, NULL, NULL) == GA_OK
               ? counts
               : NULL;
}

/* ---- Both devices ---- */

typedef gpuarray *(*work)(const trial *);

static size_t result_on(ga__device *device, work make, const trial *t, char *bytes)
{
    size_t nbytes = 0;
    ga__use_device(device);
    GA_SCOPE {
        const gpuarray *x = make(t);
        if (!x)
            fail_msg("%lld, %lld: %s", (long long)t->n, (long long)t->m, ga_error_message());
        nbytes = ga_nbytes(x);
        assert_true(nbytes <= MOST_BYTES);
        assert_int_equal(ga_to_host(x, bytes, nbytes), GA_OK);
    }
    return nbytes;
}

static void compare(const char *what, work make, const trial *t)
{
    static char wanted[MOST_BYTES], got[MOST_BYTES];
    const int before = simulated.launches;
    const size_t nbytes = result_on(ga__find_device("cpu"), make, t, wanted);
    assert_int_equal(simulated.launches, before);
    assert_int_equal(result_on(&simulated_device, make, t, got), nbytes);
    assert_true(simulated.launches > before);
    assert_int_equal(simulated.rejected, 0);
    for (size_t at = 0; at < nbytes; at += 8)
        if (memcmp(wanted + at, got + at, 8) != 0)
            fail_msg("%s of %lld, %lld, seed %llu: element %zu differs", what, (long long)t->n,
                     (long long)t->m, (unsigned long long)t->seed, at / 8);
}

/* Sizes within a vector, a block and several turns of all blocks. */
static trial any_trial(uint64_t *seed, int64_t most)
{
    static const int64_t sizes[] = {20, 700, 9000, 40000};
    trial t;
    t.n = 1 + random_below(seed, sizes[random_below(seed, 4)]);
    t.m = 1 + random_below(seed, random_below(seed, 2) ? most : 20);
    t.seed = next_random(seed);
    return t;
}

static void compare_all(const char *what, work make, int64_t most)
{
    static uint64_t begun;
    if (begun == 0)
        begun = run_seed();
    uint64_t seed = begun;
    for (int k = 0; k < TRIALS; k++) {
        const trial t = any_trial(&seed, most);
        compare(what, make, &t);
    }
}

#define COMPARE(make, most) compare_all(#make, make, most)

static void searches(void **state)
{
    (void)state;
    COMPARE(search_floats, 60000);
    COMPARE(search_away, 60000);
    COMPARE(search_right, 30000);
    COMPARE(search_steps, 60000);
    COMPARE(search_steps_right, 30000);
    COMPARE(search_columns, 3000);
    COMPARE(digitize_down, 120);
}

static void counts(void **state)
{
    (void)state;
    COMPARE(count_bytes, 2);
    COMPARE(count_longs, 30000);
    COMPARE(count_many, 70000);
    COMPARE(histogram_on_edges, 300);
    COMPARE(histogram_floats, 300);
    COMPARE(histogram_halves, 2);
    COMPARE(histogram_edges, 6000);
    COMPARE(histogram_plane, 50);
}

static int launches_of(const trial *t)
{
    const int before = simulated.launches;
    compare("count_sampled", count_sampled, t);
    return simulated.launches - before;
}

/* A pass over all elements is saved if the sample has the largest. */
static void a_sample_tells_the_number_of_bins(void **state)
{
    (void)state;
    const int once = launches_of(&(trial){.n = 0, .m = 7, .seed = 3});
    assert_int_equal(launches_of(&(trial){.n = 900, .m = 800, .seed = 3}), once);
    assert_true(launches_of(&(trial){.n = 0, .m = 800, .seed = 3}) > once);
    assert_true(launches_of(&(trial){.n = 900, .m = 900, .seed = 3}) > once);
    launches_of(&(trial){.n = 5000, .m = 7, .seed = 3});
    ga__use_device(&simulated_device);
    GA_SCOPE {
        assert_null(count_sampled(&(trial){.m = -4, .seed = 3}));
        assert_string_equal(ga_error_message(), "bincount: x has the negative element -4");
    }
}

static void sums_of_weights(void **state)
{
    (void)state;
    COMPARE(weigh, 9000);
    COMPARE(weigh_columns, 2);
}

static int open_device(void **state)
{
    (void)state;
    return open_simulated_device(PROCESSORS) ? 0 : 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches),
        cmocka_unit_test(counts),
        cmocka_unit_test(a_sample_tells_the_number_of_bins),
        cmocka_unit_test(sums_of_weights),
    };
    return run_named_tests(argc, argv, tests, open_device, NULL);
}
