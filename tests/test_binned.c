/* CUDA's kernels of bins, run by the simulator: searches, counts and sums of weights are the
 * host's, for random sizes of data and tables, aligned or not, strided or not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "base/alloc.h"
#include "kernels/histogram/binned.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, MOST_BYTES = 1 << 21, TRIALS = 6 };

/* One call: n elements, a table or a number of bins, and the seed of both. */
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

/* So many that they are counted before the largest is known. m: an element in the first turn of a
 * block, or in the last one of all. */
static gpuarray *longs_with(const trial *t, int64_t range, bool last)
{
    gpuarray *x = given(t, GA_INT64, (1 << 17) + 5, range, false);
    const ga_status status =
        x ? ga_assign(ga_slice(x, last ? "-1:" : "1:2"), ga_value_int((int)t->m)) : ga_error();
    return status == GA_OK ? x : NULL;
}

static gpuarray *count_few(const trial *t)
{
    gpuarray *x = longs_with(t, 300, false);
    return x ? ga_bincount(x, .minlength = t->n) : NULL;
}

static gpuarray *count_few_and_last(const trial *t)
{
    gpuarray *x = longs_with(t, 300, true);
    return x ? ga_bincount(x, .minlength = t->n) : NULL;
}

static gpuarray *count_thousands(const trial *t)
{
    gpuarray *x = longs_with(t, 2000, false);
    return x ? ga_bincount(x, .minlength = t->n) : NULL;
}

static gpuarray *count_thousands_and_last(const trial *t)
{
    gpuarray *x = longs_with(t, 2000, true);
    return x ? ga_bincount(x, .minlength = t->n) : NULL;
}

/* One of two elements, read where it is. */
static gpuarray *count_steps(const trial *t)
{
    gpuarray *x = longs_with(t, 2000, false);
    return x ? ga_bincount(ga_slice(ga_repeat(x, 2), "1::2")) : NULL;
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
    for (int k = 0; k < TRIALS && in_eighth(what); k++) {
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

static int launches_of(work make, int64_t minlength, int64_t element)
{
    const trial t = {.n = minlength, .m = element, .seed = 3};
    const int before = simulated.launches;
    compare("bincount", make, &t);
    return simulated.launches - before - 1; /* ga_assign()'s */
}

/* One launch is enough if all elements are in the bins that cost no more than a single one, and two
 * if blocks begin with the largest: the order of threads may hide an element of steps. */
static void few_bins_are_counted_at_once(void **state)
{
    (void)state;
    const int64_t most = ga__binned_fast_counts(&simulated_device) - 1;
    assert_in_range(most, 300, 1000);
    assert_int_equal(launches_of(count_few, 0, 7), 1);
    assert_int_equal(launches_of(count_few, 0, most - 1), 1);
    assert_int_equal(launches_of(count_few, 0, most), 2);
    assert_int_equal(launches_of(count_few, 2000, 1999), 1);
    assert_int_equal(launches_of(count_few, 2000, 2000), 2);
    assert_int_equal(launches_of(count_thousands, 0, 3000), 2);
    assert_in_range(launches_of(count_steps, 0, 3000), 3, 5); /* one joins */
}

/* Passes that find the extremes come after those that did not find enough bins. Whether the last
 * turn's largest element is seen depends on the order of threads. */
static void the_largest_element_may_be_the_last(void **state)
{
    (void)state;
    const int64_t most = ga__binned_fast_counts(&simulated_device) - 1;
    assert_int_equal(launches_of(count_few_and_last, 0, most - 1), 1);
    assert_in_range(launches_of(count_few_and_last, 0, most), 2, 3);
    assert_int_equal(launches_of(count_thousands_and_last, 0, 1990), 2);
    assert_in_range(launches_of(count_thousands_and_last, 0, 3000), 3, 4);
    assert_int_equal(launches_of(count_thousands, 0, 5000), 3);
    assert_int_equal(launches_of(count_few, 5000, 7), 2);
}

static void negative_elements_are_refused(void **state)
{
    (void)state;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        const work calls[] = {count_few, count_few_and_last, count_thousands};
        for (int k = 0; k < 3; k++) {
            assert_null(calls[k](&(trial){.m = -4, .seed = 3}));
            assert_string_equal(ga_error_message(), "bincount: x has the negative element -4");
            ga_clear_error();
        }
        const int64_t n = 1 << 18;
        assert_null(ga_bincount(ga_full(GA_INT32, 1, &n, INT32_MIN)));
        assert_string_equal(ga_error_message(), "bincount: x has the negative element -2147483648");
        ga_clear_error();
    }
}

static bool count_all(void)
{
    bool done = false;
    GA_SCOPE {
        done = count_few(&(trial){.m = 7, .seed = 3}) &&
               count_thousands_and_last(&(trial){.m = 3000, .seed = 3});
    }
    return done;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    ga__use_device(&simulated_device);
    assert_true(count_all());
    const int64_t live = ga__alloc_live();
    int failed = 0;
    for (int n = 1, quiet = 0; quiet < 3; n++) {
        ga__alloc_fail_at(n);
        const bool done = count_all();
        ga__alloc_fail_at(0);
        assert_true(done || ga_error() == GA_ERR_MEMORY);
        ga_clear_error();
        assert_true(ga__alloc_live() <= live);
        quiet = done ? quiet + 1 : 0;
        failed += done ? 0 : 1;
    }
    assert_true(failed > 10);
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
        cmocka_unit_test(few_bins_are_counted_at_once),
        cmocka_unit_test(the_largest_element_may_be_the_last),
        cmocka_unit_test(negative_elements_are_refused),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(sums_of_weights),
    };
    return run_named_tests(argc, argv, tests, open_device, NULL);
}
