/* Random numbers: known answers, equal numbers for every way to draw them, statistics, and rejected
 * arguments. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "golden.h"
#include "kernels/rng.h"
#include "layouts.h"
#include "parallel.h"
#include "random.h"
#include "run.h"

#define GA_FN static inline
#include "philox.tmpl"

/* ---- Known answers ---- */

/* philox4x32 10 of kat_vectors, https://github.com/DEShawResearch/random123: c0 .. c3, k0, k1. */
static void the_generator_gives_the_known_answers(void **state)
{
    static const unsigned known[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1}};
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const unsigned *v = known[k];
        const words counter = {{v[0], v[1], v[2], v[3]}};
        const words got = philox(counter, (unsigned long long)v[5] << 32 | v[4]);
        assert_memory_equal(got.w, v + 6, sizeof got.w);
    }
}

/* The work of CUDA's kernels: the remaining rounds, from the values that a launch computes once. */
static void lanes_give_the_words_of_the_counters(void **state)
{
    static const uint64_t blocks[] = {0, 5, 1023, GA__RNG_RUN - 3, GA__RNG_RUN + 6, UINT64_MAX - 1};
    (void)state;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        for (int rows = 1; rows <= 4; rows *= 2) {
            const uint64_t seed = 0x9e3779b97f4a7c15 * (k + 1), block = blocks[k];
            const round_keys keys = philox_keys(seed);
            uint64_t lanes[GA__RNG_LANE_WORDS];
            unsigned words_of_lanes[2 * GA__RNG_LANE_WORDS];
            ga__rng_lanes(seed, block, rows, lanes);
            memcpy(words_of_lanes, lanes, sizeof lanes);
            const words got = philox_of_lane((unsigned)(block >> 2), words_of_lanes,
                                             (unsigned)(block & 3), keys.pair);
            const words want = philox(philox_counter(block, 0, philox_purpose(rows)), seed);
            assert_memory_equal(got.w, want.w, sizeof want.w);
        }
}

/* The first of them through a kernel: the four words of block 0 are 128 elements apart. */
static void kernels_give_the_known_answer(void **state)
{
    static const uint32_t known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    uint32_t got[512];
    (void)state;
    ga_rng *rng = ga_rng_new(0);
    gpuarray *x = ga_rng_integers_endpoint(rng, GA_UINT32, 0, UINT32_MAX, GA_SHAPE(512));
    assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
    for (int k = 0; k < 4; k++)
        assert_int_equal(got[128 * k], known[k]);
    ga_free(x);
    ga_rng_free(rng);
}

/* With an array as the mean. */
static gpuarray *poisson_each(ga_rng *rng, ga_dtype dtype, double mean, int64_t n)
{
    gpuarray *lam = ga_full(GA_FLOAT64, GA_SHAPE0, mean);
    gpuarray *drawn = ga_rng_poisson(rng, dtype, lam, 1, &n);
    ga_free(lam);
    return drawn;
}

/* One draw by its name. */
static gpuarray *draw(const char *name, ga_rng *rng, ga_dtype dtype, double a, double b, int64_t n)
{
    if (!strcmp(name, "random"))
        return ga_rng_random(rng, dtype, 1, &n);
    if (!strcmp(name, "uniform"))
        return ga_rng_uniform(rng, dtype, a, b, 1, &n);
    if (!strcmp(name, "standard_normal"))
        return ga_rng_standard_normal(rng, dtype, 1, &n);
    if (!strcmp(name, "normal"))
        return ga_rng_normal(rng, dtype, a, b, 1, &n);
    if (!strcmp(name, "lognormal"))
        return ga_rng_lognormal(rng, dtype, a, b, 1, &n);
    if (!strcmp(name, "exponential"))
        return ga_rng_exponential(rng, dtype, a, 1, &n);
    if (!strcmp(name, "integers"))
        return ga_rng_integers(rng, dtype, (int64_t)a, (int64_t)b, 1, &n);
    if (!strcmp(name, "poisson"))
        return ga_rng_poisson(rng, dtype, a, 1, &n);
    if (!strcmp(name, "poisson_each"))
        return poisson_each(rng, dtype, a, n);
    fail_msg("no such distribution: %s", name);
    return NULL;
}

static ga_status fill(const char *name, gpuarray *out, ga_rng *rng, double a, double b)
{
    if (!strcmp(name, "random"))
        return ga_rng_random_into(out, rng);
    if (!strcmp(name, "uniform"))
        return ga_rng_uniform_into(out, rng, a, b);
    if (!strcmp(name, "standard_normal"))
        return ga_rng_standard_normal_into(out, rng);
    if (!strcmp(name, "normal"))
        return ga_rng_normal_into(out, rng, a, b);
    if (!strcmp(name, "lognormal"))
        return ga_rng_lognormal_into(out, rng, a, b);
    if (!strcmp(name, "exponential"))
        return ga_rng_exponential_into(out, rng, a);
    if (!strcmp(name, "integers"))
        return ga_rng_integers_into(out, rng, (int64_t)a, (int64_t)b);
    if (!strcmp(name, "poisson"))
        return ga_rng_poisson_into(out, rng, a);
    gpuarray *lam = ga_full(GA_FLOAT64, GA_SHAPE0, a);
    const ga_status status = ga_rng_poisson_into(out, rng, lam);
    ga_free(lam);
    return status;
}

static ga_rng *at(uint64_t seed, uint64_t position)
{
    ga_rng *rng = ga_rng_new(0);
    assert_int_equal(ga_rng_set_state(rng, &(ga_rng_state){seed, position}), GA_OK);
    return rng;
}

static void elements_are_those_of_the_other_implementation(void **state)
{
    char why[300];
    (void)state;
    golden_file *file = golden_open("random.bin");
    assert_true(file->ncases > 150);
    for (int k = 0; k < file->ncases; k++) {
        const golden_case *c = &file->cases[k];
        const ga_value *number = c->number;
        if (!in_sample(golden_call(c)))
            continue;
        const int64_t n = c->out[0]->size;
        const ga_dtype dtype = c->out[0]->dtype;
        ga_rng_state from;
        gpuarray *got;
        memcpy(&from, c->arg[0]->data, sizeof from);
        ga_rng *rng = at(from.seed, from.position);
        if (!strcmp(c->name, "integers"))
            got = (ga_rng_integers_endpoint)(rng, dtype, number[1], number[2], 1, &n);
        else if (!strcmp(c->name, "permutation"))
            got = ga_rng_permutation(rng, n);
        else
            got = draw(c->name, rng, dtype, number[1].as.z[0], number[2].as.z[0], n);
        if (!golden_result(c, c->out[0], got, 1, why, sizeof why))
            fail_later("%s from %llu on: %s", golden_call(c), (unsigned long long)from.position,
                       why);
        ga_free(got);
        ga_rng_free(rng);
    }
    golden_close(file);
    assert_int_equal(failures(), 0);
}

static void bytes_are_those_of_the_words(void **state)
{
    unsigned char got[600];
    uint32_t want[512];
    (void)state;
    ga_rng *rng = at(3, 100), *same = at(3, 100);
    gpuarray *w = ga_rng_integers_endpoint(same, GA_UINT32, 0, UINT32_MAX, GA_SHAPE(512));
    assert_int_equal(ga_to_host(w, want, sizeof want), GA_OK);
    gpuarray *bytes = ga_rng_bytes(rng, 599), *more = ga_rng_bytes(rng, 1);
    assert_int_equal(ga_dtype_of(bytes), GA_UINT8);
    assert_int_equal(ga_to_host(bytes, got, 599), GA_OK);
    assert_int_equal(ga_to_host(more, got + 599, 1), GA_OK);
    assert_memory_equal(got, want, 599);
    assert_memory_equal(got + 599, &want[150], 1); /* the 599 took 150 elements */
    ga_free(w), ga_free(bytes), ga_free(more);
    ga_rng_free(rng), ga_rng_free(same);
}

/* ---- The same numbers for every way to draw them ---- */

/* Every distribution and dtype, and a hash of elements 5 to 1000007 of seed 11: these numbers are
 * the same on every device and in every version. */
typedef struct row {
    const char *name;
    ga_dtype dtype;
    double a, b;
    uint64_t hash;
} row;

static const row rows[] = {
    {"random", GA_FLOAT16, 0, 0, UINT64_C(0x2f2bfc98a64a2cd7)},
    {"random", GA_BFLOAT16, 0, 0, UINT64_C(0xae39f42517828cd0)},
    {"random", GA_FLOAT8_E4M3FN, 0, 0, UINT64_C(0x699b7d7dcab936a5)},
    {"random", GA_FLOAT8_E5M2, 0, 0, UINT64_C(0x32526c1a272b6c8d)},
    {"random", GA_FLOAT32, 0, 0, UINT64_C(0x0cacefa81c611e17)},
    {"random", GA_FLOAT64, 0, 0, UINT64_C(0x2d16319637bb6a42)},
    {"uniform", GA_FLOAT16, -1, 3, UINT64_C(0x0f97d7729949a137)},
    {"uniform", GA_BFLOAT16, -1, 3, UINT64_C(0x2aa28deb76002457)},
    {"uniform", GA_FLOAT8_E4M3FN, -1, 3, UINT64_C(0x72f5ce3ad64c754c)},
    {"uniform", GA_FLOAT32, -1, 3, UINT64_C(0xf865f6e31d794f9b)},
    {"uniform", GA_FLOAT64, -1, 3, UINT64_C(0x425fdae6586b5ece)},
    {"standard_normal", GA_FLOAT16, 0, 0, UINT64_C(0xda32b1da42db9b0a)},
    {"standard_normal", GA_BFLOAT16, 0, 0, UINT64_C(0xb81ff2d62b790295)},
    {"standard_normal", GA_FLOAT8_E4M3FN, 0, 0, UINT64_C(0x1342ad2f23488c7f)},
    {"standard_normal", GA_FLOAT8_E5M2, 0, 0, UINT64_C(0xa205aafc56c7fadd)},
    {"standard_normal", GA_FLOAT32, 0, 0, UINT64_C(0xff24e922f036e063)},
    {"standard_normal", GA_FLOAT64, 0, 0, UINT64_C(0x8735711e56ac2dd2)},
    {"normal", GA_FLOAT16, 1, 2, UINT64_C(0x55e0210c34ecb421)},
    {"normal", GA_BFLOAT16, 1, 2, UINT64_C(0xc39bae458b458648)},
    {"normal", GA_FLOAT32, 1, 2, UINT64_C(0x59f7c687a8071833)},
    {"normal", GA_FLOAT64, 1, 2, UINT64_C(0x065908cbc22b0f2b)},
    {"lognormal", GA_FLOAT16, 0, 0.5, UINT64_C(0x2a5e8ac26b6089c6)},
    {"lognormal", GA_BFLOAT16, 0, 0.5, UINT64_C(0xa0e78f2cadec2e79)},
    {"lognormal", GA_FLOAT32, 0, 0.5, UINT64_C(0x2e6e5cef190a38ba)},
    {"lognormal", GA_FLOAT64, 0, 0.5, UINT64_C(0xd81d2b484308fe25)},
    {"exponential", GA_FLOAT16, 3, 0, UINT64_C(0xc974deeedb85384d)},
    {"exponential", GA_BFLOAT16, 3, 0, UINT64_C(0x2f5f6950612ab6c9)},
    {"exponential", GA_FLOAT8_E5M2, 3, 0, UINT64_C(0x5ac021c4092aec36)},
    {"exponential", GA_FLOAT32, 3, 0, UINT64_C(0x32d0945fd5558aec)},
    {"exponential", GA_FLOAT64, 3, 0, UINT64_C(0x35b52025ee1736bf)},
    {"integers", GA_BOOL, 0, 2, UINT64_C(0x564dc8d47d84eb89)},
    {"integers", GA_INT8, 0, 100, UINT64_C(0x40252030980e60be)},
    {"integers", GA_UINT16, 0, 100, UINT64_C(0xb3e82d6414cce554)},
    {"integers", GA_INT32, 0, 100, UINT64_C(0x69b997db8626e72e)},
    {"integers", GA_INT64, 0, 100, UINT64_C(0x131bb5a9e65ddd24)},
    {"integers", GA_UINT64, 0, 100, UINT64_C(0x131bb5a9e65ddd24)},
    {"integers", GA_INT64, -3, 0x3p60, UINT64_C(0x2373b8e7c56859e3)},
    {"poisson", GA_INT8, 2.5, 0, UINT64_C(0x88deb89afc914f7b)},
    {"poisson", GA_UINT16, 2.5, 0, UINT64_C(0xe79f17d06b4deaf8)},
    {"poisson", GA_INT32, 2.5, 0, UINT64_C(0x63860e8918eb87e9)},
    {"poisson", GA_UINT64, 2.5, 0, UINT64_C(0x4d4c323447cf0d5e)},
    {"poisson", GA_INT32, 75, 0, UINT64_C(0xee88872d4095f3e5)},
    {"poisson", GA_INT64, 75, 0, UINT64_C(0xf1e7164f1244658c)},
    {"poisson_each", GA_INT32, 2.5, 0, UINT64_C(0x63860e8918eb87e9)},
    {"poisson_each", GA_INT64, 75, 0, UINT64_C(0x10af1a6d13ef3cbf)},
};
enum { ROWS = sizeof rows / sizeof *rows, HASHED = 1000003 };

static void *host_copy(const gpuarray *x)
{
    if (!x)
        fail_msg("no array: %s", ga_error_message());
    void *host = malloc(ga_nbytes(x) + 1);
    assert_int_equal(ga_to_host(x, host, ga_nbytes(x)), GA_OK);
    return host;
}

static bool same_elements(gpuarray *x, gpuarray *y)
{
    void *a = host_copy(x), *b = host_copy(y);
    const bool same = ga_nbytes(x) == ga_nbytes(y) && memcmp(a, b, ga_nbytes(x)) == 0;
    free(a), free(b);
    return same;
}

static void elements_stay_what_they_are(void **state)
{
    (void)state;
    for (int k = 0; k < ROWS; k++) {
        const row *r = &rows[k];
        char item[80];
        snprintf(item, sizeof item, "%s %s %g %g", r->name, ga_dtype_name(r->dtype), r->a, r->b);
        if (!in_eighth(item))
            continue;
        ga_rng *rng = at(11, 5);
        gpuarray *x = draw(r->name, rng, r->dtype, r->a, r->b, HASHED);
        void *host = host_copy(x);
        const uint64_t hash = ga__hash64(host, ga_nbytes(x), 0);
        if (hash != r->hash)
            fail_later("{\"%s\", GA_%s, %g, %g, 0x%016llx},", r->name, ga_dtype_name(r->dtype),
                       r->a, r->b, (unsigned long long)hash);
        free(host);
        ga_free(x);
        ga_rng_free(rng);
    }
    assert_int_equal(failures(), 0);
}

static void many_calls_give_the_elements_of_one(void **state)
{
    enum { N = 9000 };
    uint64_t seed = 1;
    (void)state;
    for (int k = 0; k < ROWS; k++) {
        const row *r = &rows[k];
        const size_t size = ga_dtype_size(r->dtype);
        ga_rng *rng = at(12, 1000);
        gpuarray *all = draw(r->name, rng, r->dtype, r->a, r->b, N);
        char *want = host_copy(all);
        ga_rng_set_state(rng, &(ga_rng_state){12, 1000});
        for (int64_t done = 0, n; done < N; done += n) {
            n = (int64_t)(next_random(&seed) % (next_random(&seed) % 8 ? 300 : 3000));
            n = n < N - done ? n : N - done;
            gpuarray *some = draw(r->name, rng, r->dtype, r->a, r->b, n);
            char *got = host_copy(some);
            if (memcmp(got, want + (size_t)done * size, (size_t)n * size) != 0)
                fail_later("%s of %s: elements %lld and %lld on", r->name, ga_dtype_name(r->dtype),
                           (long long)done, (long long)n);
            free(got);
            ga_free(some);
        }
        free(want);
        ga_free(all);
        ga_rng_free(rng);
    }
    assert_int_equal(failures(), 0);
}

/* In every layout of `out`: elements in C order, and no other memory is written. */
static void layouts_are_filled_in_c_order(void **state)
{
    static const int64_t shape[] = {7, 1, 33, 5};
    const int64_t n = 7 * 33 * 5;
    (void)state;
    void *zeros = calloc((size_t)n, 8);
    for (int k = 0; k < ROWS; k++)
        for (layout how = LAYOUT_CONTIGUOUS; how < LAYOUT_BROADCAST; how++)
            GA_SCOPE {
                const row *r = &rows[k];
                ga_rng *rng = at(13, 77);
                gpuarray *want = draw(r->name, rng, r->dtype, r->a, r->b, n);
                gpuarray *out = layout_array(how, zeros, r->dtype, 4, shape);
                ga_rng_set_state(rng, &(ga_rng_state){13, 77});
                assert_int_equal(fill(r->name, out, rng, r->a, r->b), GA_OK);
                if (!same_elements(out, want))
                    fail_later("%s of %s, %s", r->name, ga_dtype_name(r->dtype), layout_names[how]);
                ga_rng_free(rng);
            }
    free(zeros);
    assert_int_equal(failures(), 0);
}

static void no_elements_and_single_ones(void **state)
{
    (void)state;
    for (int k = 0; k < ROWS; k++)
        GA_SCOPE {
            ga_rng_state after;
            ga_rng *rng = at(14, 3);
            gpuarray *none = draw(rows[k].name, rng, rows[k].dtype, rows[k].a, rows[k].b, 0);
            assert_non_null(none);
            gpuarray *one = ga_empty(rows[k].dtype, 0, NULL);
            assert_int_equal(fill(rows[k].name, one, rng, rows[k].a, rows[k].b), GA_OK);
            assert_int_equal(ga_rng_get_state(rng, &after), GA_OK);
            assert_true(after.seed == 14 && after.position == 4);
            ga_rng_free(rng);
        }
}

/* ---- Generators ---- */

static void states_jumps_and_splits(void **state)
{
    ga_rng_state saved;
    (void)state;
    GA_SCOPE {
        ga_rng *rng = ga_rng_new(15), *other = ga_rng_new(15);
        gpuarray *first = ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(100));
        assert_int_equal(ga_rng_get_state(rng, &saved), GA_OK);
        assert_true(saved.seed == 15 && saved.position == 100);
        gpuarray *next = ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(100));
        assert_false(same_elements(first, next));
        assert_int_equal(ga_rng_jump(other, 100), GA_OK);
        assert_arrays_equal(next, ga_rng_random(other, GA_FLOAT32, GA_SHAPE(100)));
        assert_int_equal(ga_rng_set_state(rng, &saved), GA_OK);
        assert_arrays_equal(next, ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(100)));

        ga_rng *child = ga_rng_split(rng), *twin = ga_rng_split(rng), *again = ga_rng_split(other);
        gpuarray *of_child = ga_rng_random(child, GA_FLOAT32, GA_SHAPE(100));
        assert_arrays_equal(of_child, ga_rng_random(again, GA_FLOAT32, GA_SHAPE(100)));
        assert_false(same_elements(of_child, ga_rng_random(twin, GA_FLOAT32, GA_SHAPE(100))));
        ga_rng_free(child), ga_rng_free(twin), ga_rng_free(again);
        ga_rng_free(rng), ga_rng_free(other);
    }
    ga_rng_free(NULL);
}

static void the_default_generator(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_rng_state first, second;
        assert_int_equal(ga_rng_get_state(ga_rng_default(), &first), GA_OK);
        ga_rng *rng = ga_rng_new(16);
        ga_random_seed(16);
        gpuarray *x = ga_random(GA_SHAPE(3, 4));
        assert_shape(x, GA_SHAPE(3, 4));
        assert_int_equal(ga_dtype_of(x), GA_FLOAT64);
        assert_arrays_equal(x, ga_rng_random(rng, GA_FLOAT64, GA_SHAPE(3, 4)));
        ga_rng_free(ga_rng_default()); /* changes nothing */
        assert_arrays_equal(ga_random(GA_SHAPE(5)), ga_rng_random(rng, GA_FLOAT64, GA_SHAPE(5)));
        ga_rng_get_state(ga_rng_default(), &second);
        assert_true(second.seed == 16 && second.position == 17);
        assert_true(first.seed != 0 && first.seed != 16); /* the system's entropy */
        ga_rng_free(rng);
    }
}

enum { THREADS = 8, CALLS = 40, EACH = 250 };
static ga_rng *shared;
static uint64_t hashes[THREADS * CALLS];

static void *draw_from_the_shared(void *number)
{
    for (int k = 0; k < CALLS; k++) {
        uint64_t host[EACH];
        gpuarray *x = ga_rng_integers_endpoint(shared, GA_UINT64, 0, UINT64_MAX, GA_SHAPE(EACH));
        if (ga_to_host(x, host, sizeof host) != GA_OK)
            fail_later("thread: %s", ga_error_message());
        hashes[(uint64_t *)number - hashes + k] = ga__hash64(host, sizeof host, 0);
        ga_free(x);
    }
    return NULL;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Each call of a thread gets EACH consecutive elements, and no element occurs twice. */
static void threads_may_share_a_generator(void **state)
{
    static uint64_t host[THREADS * CALLS][EACH], want[THREADS * CALLS];
    pthread_t threads[THREADS];
    (void)state;
    shared = ga_rng_new(17);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(
            pthread_create(&threads[t], NULL, draw_from_the_shared, &hashes[t * CALLS]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(failures(), 0);
    assert_int_equal(ga_rng_set_state(shared, &(ga_rng_state){17, 0}), GA_OK);
    gpuarray *x =
        ga_rng_integers_endpoint(shared, GA_UINT64, 0, UINT64_MAX, GA_SHAPE(THREADS * CALLS, EACH));
    assert_int_equal(ga_to_host(x, host, sizeof host), GA_OK);
    for (int k = 0; k < THREADS * CALLS; k++)
        want[k] = ga__hash64(host[k], sizeof host[k], 0);
    qsort(want, THREADS * CALLS, sizeof *want, compare_words);
    qsort(hashes, THREADS * CALLS, sizeof *hashes, compare_words);
    assert_memory_equal(hashes, want, sizeof want);
    ga_free(x);
    ga_rng_free(shared);
}

/* ---- Streams and graphs ---- */

static void the_work_is_the_streams(void **state)
{
    (void)state;
    ga_stream *one = ga_stream_new(), *two = ga_stream_new();
    GA_SCOPE {
        ga_rng *rng = at(18, 0), *same = at(18, 0);
        gpuarray *want = ga_rng_standard_normal(same, GA_FLOAT32, GA_SHAPE(3000000));
        gpuarray *out = ga_empty(GA_FLOAT32, GA_SHAPE(3000000)), *twice = ga_empty_like(out);
        for (int k = 0; k < 20; k++) {
            ga_rng_set_state(rng, &(ga_rng_state){18, 0});
            assert_int_equal(ga_set_stream(one), GA_OK);
            assert_int_equal(ga_rng_standard_normal_into(out, rng), GA_OK);
            assert_int_equal(ga_set_stream(two), GA_OK); /* waits for one, to read and to write */
            assert_int_equal(ga_add_into(twice, out, out), GA_OK);
            assert_int_equal(ga_rng_uniform_into(out, rng, 5, 6), GA_OK);
        }
        assert_int_equal(ga_set_stream(NULL), GA_OK);
        assert_arrays_equal(twice, ga_add(want, want));
        assert_true(ga_item_double(ga_min(out)) >= 5);
        ga_rng_free(rng), ga_rng_free(same);
    }
    ga_stream_free(one);
    ga_stream_free(two);
}

static void graphs_refuse_random_numbers(void **state)
{
    static const char *const names[] = {"standard_normal", "uniform", "permutation", "bytes"};
    (void)state;
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(100));
    ga_rng *rng = at(19, 5);
    for (int k = 0; k < 4; k++) {
        ga_graph *graph;
        GA_GRAPH(graph)
        {
            if (k == 0)
                ga_rng_standard_normal_into(x, rng);
            else if (k == 1)
                ga_rng_uniform(rng, GA_FLOAT32, 0, 1, GA_SHAPE(4));
            else if (k == 2)
                ga_rng_permutation(rng, 10);
            else
                ga_rng_bytes(rng, 10);
        }
        assert_null(graph);
        assert_error(GA_ERR_UNSUPPORTED, names[k]);
    }
    ga_rng_state after;
    ga_rng_get_state(rng, &after);
    assert_true(after.position == 5);
    ga_rng_free(rng);
    ga_free(x);
}

/* ---- Statistics ---- */

/* Fixed seeds: a test that passes once always passes. Correct numbers miss the bounds once in some
 * ten thousand tests. */
static int64_t how_many(void)
{
    return getenv("QUARRY_TEST_REDUCED") ? 1000000 : 10000000;
}

/* Transforms a chi-square statistic of these degrees of freedom to a standard normal number: E. B.
 * Wilson and M. M. Hilferty, "The distribution of chi-square" (1931). */
static double chi_square_deviate(double statistic, int freedom)
{
    const double v = 2.0 / (9.0 * freedom);
    return (cbrt(statistic / freedom) - (1 - v)) / sqrt(v);
}

static void expect_deviate(const char *what, double deviate)
{
    if (!(fabs(deviate) < 4))
        fail_later("%s: %.1f deviations", what, deviate);
}

/* Counts that should be about equal. */
static void expect_even(const char *what, const int64_t *count, int cells)
{
    double total = 0, statistic = 0;
    for (int k = 0; k < cells; k++)
        total += (double)count[k];
    for (int k = 0; k < cells; k++) {
        const double apart = (double)count[k] - total / cells;
        statistic += apart * apart / (total / cells);
    }
    expect_deviate(what, chi_square_deviate(statistic, cells - 1));
}

/* One distribution of real numbers: its integral, and the moments 1 .. 8 about 0. */
typedef struct law {
    const char *name;
    double a, b;
    double (*integral)(double x);
    double moments[8];
} law;

static double uniform_integral(double x)
{
    return x;
}

static double normal_integral(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static double lognormal_integral(double x)
{
    return normal_integral(log(x) / 0.25);
}

static double exponential_integral(double x)
{
    return -expm1(-x);
}

static const law laws[] = {
    {"random",
     0,
     0,
     uniform_integral,
     {1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8, 1. / 9}},
    {"standard_normal", 0, 0, normal_integral, {0, 1, 0, 3, 0, 15, 0, 105}},
    {"exponential", 1, 0, exponential_integral, {1, 2, 6, 24, 120, 720, 5040, 40320}},
    /* e ** (k * k / 32) */
    {"lognormal",
     0,
     0.25,
     lognormal_integral,
     {1.0317434074991028, 1.1331484530668263, 1.3247847587288655, 1.6487212707001282,
      2.1841943218830634, 3.0802168489180310, 4.6239898360053120, 7.3890560989306500}}};

enum { CELLS = 4096, SIDE = 64, LAGS = 5 };

/* The counts of numbers that their integral makes uniform. */
typedef struct counts {
    int64_t cell[CELLS];
    int64_t pair[LAGS][SIDE * SIDE]; /* against the number this many places later: */
    double power[4];
} counts;
static const int lags[LAGS] = {1, 128, 256, 384, 512};

static double element(const void *host, ga_dtype dtype, int64_t k)
{
    return dtype == GA_FLOAT64 ? ((const double *)host)[k] : ((const float *)host)[k];
}

static void count(counts *c, const law *l, const gpuarray *x)
{
    void *host = host_copy(x);
    const int64_t n = ga_size(x);
    double *even = malloc((size_t)n * sizeof *even);
    for (int64_t k = 0; k < n; k++) {
        const double v = element(host, ga_dtype_of(x), k);
        double power = 1;
        for (int m = 0; m < 4; m++)
            c->power[m] += power *= v;
        even[k] = fmin(l->integral(v), 1 - 1e-9);
        c->cell[(int)(even[k] * CELLS)]++;
    }
    for (int m = 0; m < LAGS; m++)
        for (int64_t k = 0; k + lags[m] < n; k++)
            c->pair[m][(int)(even[k] * SIDE) * SIDE + (int)(even[k + lags[m]] * SIDE)]++;
    free(even);
    free(host);
}

/* Kolmogorov's statistic at the cells' edges: neither too far from the law nor too near. */
static void expect_kolmogorov(const char *what, const int64_t *cell, int64_t n)
{
    double worst = 0, below = 0;
    for (int k = 0; k < CELLS; k++) {
        below += (double)cell[k];
        worst = fmax(worst, fabs(below / (double)n - (k + 1.0) / CELLS));
    }
    if (!(worst * sqrt((double)n) < 2.1 && worst * sqrt((double)n) > 0.3))
        fail_later("%s: Kolmogorov's statistic is %g", what, worst * sqrt((double)n));
}

static void check_law(const law *l, ga_dtype dtype)
{
    static counts c;
    const int64_t n = how_many(), part = 500000;
    char what[100];
    ga_rng *rng = at(40, 0);
    memset(&c, 0, sizeof c);
    for (int64_t done = 0; done < n; done += part) {
        gpuarray *x = draw(l->name, rng, dtype, l->a, l->b, part);
        count(&c, l, x);
        ga_free(x);
    }
    ga_rng_free(rng);
    snprintf(what, sizeof what, "%s of %s", l->name, ga_dtype_name(dtype));
    expect_even(what, c.cell, CELLS);
    expect_kolmogorov(what, c.cell, n);
    for (int m = 0; m < 4; m++) {
        const double mean = l->moments[m], variance = l->moments[2 * m + 1] - mean * mean;
        snprintf(what, sizeof what, "%s of %s, moment %d", l->name, ga_dtype_name(dtype), m + 1);
        expect_deviate(what, (c.power[m] / (double)n - mean) / sqrt(variance / (double)n));
    }
    for (int m = 0; m < LAGS; m++) {
        snprintf(what, sizeof what, "%s of %s, %d apart", l->name, ga_dtype_name(dtype), lags[m]);
        expect_even(what, c.pair[m], SIDE * SIDE);
    }
}

static void real_numbers_follow_their_laws(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        check_law(&laws[k], GA_FLOAT32);
        check_law(&laws[k], GA_FLOAT64);
    }
    assert_int_equal(failures(), 0);
}

/* The four normal numbers of a block are two points in the plane: the distance and direction of one
 * point tell nothing about the other, nor do its own coordinates about each other. */
static void normal_numbers_of_a_block_are_independent(void **state)
{
    static int64_t pair[4][4][SIDE * SIDE];
    const int64_t n = how_many() / 512 * 512;
    (void)state;
    memset(pair, 0, sizeof pair);
    ga_rng *rng = at(41, 0);
    gpuarray *x = ga_rng_standard_normal(rng, GA_FLOAT32, 1, &n);
    float *z = host_copy(x);
    for (int64_t k = 0; k < n; k += k % 512 == 127 ? 512 - 127 : 1) {
        int cell[4];
        for (int point = 0; point < 2; point++) {
            const double a = (double)z[k + 256 * point], b = (double)z[k + 256 * point + 128];
            const double part[] = {exp(-0.5 * (a * a + b * b)),
                                   atan2(b, a) / 6.2831853071795865 + 0.5};
            for (int c = 0; c < 2; c++)
                cell[2 * point + c] = (int)(fmin(part[c], 1 - 1e-9) * SIDE);
        }
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                pair[a][b][cell[a] * SIDE + cell[b]]++;
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++)
            expect_even("coordinates of points", pair[a][b], SIDE * SIDE);
    free(z);
    ga_free(x);
    ga_rng_free(rng);
    assert_int_equal(failures(), 0);
}

/* How many exceed 3, 3.5 .. 5.5 deviations, among ten times as many. */
static void the_tails_are_there(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT64};
    enum { LIMITS = 6 };
    (void)state;
    for (int d = 0; d < 2; d++) {
        const int64_t n = how_many();
        double past[LIMITS] = {0}, greatest = 0;
        ga_rng *rng = at(21, 0);
        for (int part = 0; part < 10; part++)
            GA_SCOPE {
                gpuarray *x = ga_absolute(ga_rng_standard_normal(rng, dtypes[d], 1, &n));
                greatest = fmax(greatest, ga_item_double(ga_max(x)));
                for (int k = 0; k < LIMITS; k++)
                    past[k] += ga_item_double(ga_sum(ga_greater(x, 3 + 0.5 * k)));
            }
        for (int k = 0; k < LIMITS; k++) {
            const double expected = 10 * (double)n * erfc((3 + 0.5 * k) / sqrt(2.0));
            if (!(fabs(past[k] - expected) < 4 * sqrt(expected) + 1))
                fail_later("%s: %g numbers past %g, expected %g", ga_dtype_name(dtypes[d]), past[k],
                           3 + 0.5 * k, expected);
        }
        if (!(greatest < 6.8))
            fail_later("%s: a number of %g", ga_dtype_name(dtypes[d]), greatest);
        ga_rng_free(rng);
    }
    assert_int_equal(failures(), 0);
}

static void edges_of_intervals(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_BFLOAT16,      GA_FLOAT32,
                                      GA_FLOAT64, GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2};
    static const double bounds[][2] = {{0, 1}, {-1, 1}, {-3, -2.5}, {-0.25, 0}, {1000, 1001}};
    const int64_t n = 2000000;
    (void)state;
    for (int d = 0; d < 6; d++)
        for (int b = 0; b < (ga_dtype_size(dtypes[d]) == 1 ? 4 : 5); b++)
            GA_SCOPE {
                const double low = bounds[b][0], high = bounds[b][1];
                char item[60];
                snprintf(item, sizeof item, "%s in [%g, %g)", ga_dtype_name(dtypes[d]), low, high);
                if (!in_eighth(item))
                    continue;
                ga_rng *rng = at(22, 0);
                gpuarray *x = ga_rng_uniform(rng, dtypes[d], low, high, 1, &n);
                assert_true(ga_item_double(ga_min(x)) >= low);
                assert_true(ga_item_double(ga_max(x)) < high);
                gpuarray *alike = ga_rng_uniform(rng, dtypes[d], low, low, GA_SHAPE(100));
                assert_true(ga_item_double(ga_min(alike)) == low);
                assert_true(ga_item_double(ga_max(alike)) == low);
                gpuarray *unit = ga_rng_random(rng, dtypes[d], 1, &n);
                assert_true(ga_item_double(ga_min(unit)) >= 0 && ga_item_double(ga_max(unit)) < 1);
                gpuarray *above = ga_rng_exponential(rng, GA_FLOAT32, 1, 1, &n);
                assert_true(ga_item_double(ga_min(above)) > 0);
                ga_rng_free(rng);
            }
    GA_SCOPE {
        ga_rng *rng = at(23, 0);
        gpuarray *same = ga_rng_normal(rng, GA_FLOAT64, 2.5, 0, GA_SHAPE(100));
        assert_true(ga_item_double(ga_min(same)) == 2.5 && ga_item_double(ga_max(same)) == 2.5);
        assert_true(ga_item_double(ga_max(ga_rng_exponential(rng, GA_FLOAT32, 0, GA_SHAPE(9)))) ==
                    0);
        assert_int_equal(ga_item_int64(ga_max(ga_rng_poisson(rng, GA_INT8, 0, GA_SHAPE(1000)))), 0);
        ga_rng_free(rng);
    }
}

static int64_t *int64_numbers(gpuarray *x)
{
    gpuarray *wide = ga_astype(x, GA_INT64);
    int64_t *host = host_copy(wide);
    ga_free(wide);
    ga_free(x);
    return host;
}

/* [low, low + cells) of a dtype, each equally often. */
static void check_even_integers(ga_dtype dtype, int64_t low, int cells)
{
    static int64_t number[1000];
    const int64_t n = how_many();
    char what[100];
    ga_rng *rng = at(24, 0);
    int64_t *host = int64_numbers(ga_rng_integers(rng, dtype, low, low + cells, 1, &n));
    memset(number, 0, sizeof number);
    for (int64_t k = 0; k < n; k++) {
        assert_true(host[k] >= low && host[k] - low < cells);
        number[host[k] - low]++;
    }
    snprintf(what, sizeof what, "integers of %s from %lld", ga_dtype_name(dtype), (long long)low);
    expect_even(what, number, cells);
    free(host);
    ga_rng_free(rng);
}

/* A range of two thirds of 2^64: its quarters occur equally often, which taking a remainder would
 * break. */
static void check_wide_integers(void)
{
    const int64_t n = how_many(), third = INT64_MAX / 3;
    int64_t number[4] = {0};
    ga_rng *rng = at(25, 0);
    int64_t *host = int64_numbers(ga_rng_integers(rng, GA_INT64, -third, 3 * third, 1, &n));
    for (int64_t k = 0; k < n; k++)
        number[((uint64_t)host[k] + (uint64_t)third) / (uint64_t)third]++;
    expect_even("wide integers", number, 4);
    free(host);
    ga_rng_free(rng);
}

static void bits_are_even(void)
{
    const int64_t n = how_many();
    static int64_t number[8][256];
    ga_rng *rng = at(26, 0);
    gpuarray *x = ga_rng_integers_endpoint(rng, GA_UINT64, 0, UINT64_MAX, 1, &n);
    unsigned char *host = host_copy(x);
    for (int64_t k = 0; k < 8 * n; k++)
        number[k % 8][host[k]]++;
    for (int k = 0; k < 8; k++)
        expect_even("a byte of 64 bits", number[k], 256);
    free(host);
    ga_free(x);
    ga_rng_free(rng);
}

/* Each of 2^k numbers comes from an equal share of the upper bits of the generator's word, and none
 * is rejected. */
static void ranges_of_powers_of_two_are_the_upper_bits(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static uint32_t narrow[MANY];
    static uint64_t wide[MANY];
    static const int exponents[] = {1, 8, 16, 30, 31, 32, 33, 34, 48, 62};
    const int64_t n = MANY;
    ga_rng *short_words = at(31, 0), *long_words = at(31, 0);
    gpuarray *all = ga_rng_integers_endpoint(short_words, GA_UINT32, 0, UINT32_MAX, 1, &n);
    assert_int_equal(ga_to_host(all, narrow, sizeof narrow), GA_OK);
    ga_free(all);
    all = ga_rng_integers_endpoint(long_words, GA_UINT64, 0, UINT64_MAX, 1, &n);
    assert_int_equal(ga_to_host(all, wide, sizeof wide), GA_OK);
    ga_free(all);
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        const int bits = exponents[e];
        ga_rng *rng = at(31, 0);
        int64_t *host =
            int64_numbers(ga_rng_integers(rng, GA_INT64, -3, (INT64_C(1) << bits) - 3, 1, &n));
        for (int k = 0; k < MANY; k++) {
            const uint64_t number = bits <= 32 ? narrow[k] >> (32 - bits) : wide[k] >> (64 - bits);
            if (host[k] != (int64_t)number - 3)
                fail_msg("2^%d numbers: %d is %lld, not %lld", bits, k, (long long)host[k],
                         (long long)number - 3);
        }
        free(host);
        ga_rng_free(rng);
    }
    ga_rng_free(short_words);
    ga_rng_free(long_words);
}

static void integers_are_even(void **state)
{
    (void)state;
    check_even_integers(GA_INT32, -5, 7);
    check_even_integers(GA_UINT8, 0, 256);
    check_even_integers(GA_INT64, INT64_C(1) << 40, 1000);
    check_even_integers(GA_BOOL, 0, 2);
    check_wide_integers();
    bits_are_even();
    assert_int_equal(failures(), 0);
}

/* `name` is that of draws with a number or with an array. */
static void check_poisson(const char *name, double lam)
{
    enum { MOST = 5000 };
    static int64_t number[MOST];
    const int64_t n = how_many() / 2;
    double statistic = 0, rest = (double)n, counted = (double)n;
    int freedom = 0;
    char what[100];
    ga_rng *rng = at(27, 0);
    int64_t *host = int64_numbers(draw(name, rng, GA_INT32, lam, 0, n));
    memset(number, 0, sizeof number);
    for (int64_t k = 0; k < n; k++) {
        assert_true(host[k] >= 0 && host[k] < MOST);
        number[host[k]]++;
    }
    for (int k = 0; k < MOST; k++) { /* cells of 20 and more, and the others as one */
        const double expected = (double)n * exp(k * log(lam) - lam - lgamma(k + 1.0));
        if (expected < 20)
            continue;
        statistic += pow((double)number[k] - expected, 2) / expected;
        rest -= expected;
        counted -= (double)number[k];
        freedom++;
    }
    if (rest > 20)
        statistic += pow(counted - rest, 2) / rest;
    snprintf(what, sizeof what, "%s of %g", name, lam);
    expect_deviate(what, chi_square_deviate(statistic, rest > 20 ? freedom : freedom - 1));
    free(host);
    ga_rng_free(rng);
}

static void poissons_numbers_follow_their_law(void **state)
{
    static const double means[] = {0.05, 0.9, 3.3, 9.9, 10, 17.5, 120, 1000, 4096, 4096.5};
    (void)state;
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        check_poisson("poisson", means[k]);
        check_poisson("poisson_each", means[k]);
    }
    assert_int_equal(failures(), 0);
}

/* For a mean that no table contains: mean and variance. */
static void large_poisson_numbers(void **state)
{
    const int64_t n = 1000000;
    (void)state;
    GA_SCOPE {
        const double lam = 3e12;
        ga_rng *rng = at(28, 0);
        gpuarray *x = ga_rng_poisson(rng, GA_INT64, lam, 1, &n);
        gpuarray *z = ga_divide(ga_subtract(x, (int64_t)lam), sqrt(lam));
        expect_deviate("mean", ga_item_double(ga_mean(z)) * 1000);
        expect_deviate("variance", (ga_item_double(ga_var(z)) - 1) * 1000 / sqrt(2.0));
        ga_rng_free(rng);
    }
    assert_int_equal(failures(), 0);
}

static int64_t order_number(const int64_t *p)
{
    int64_t number = 0;
    for (int k = 0; k < 4; k++) {
        int before = 0;
        for (int j = k + 1; j < 4; j++)
            before += p[j] < p[k];
        number = number * (4 - k) + before;
    }
    return number;
}

static void every_order_is_as_likely(void **state)
{
    int64_t orders[24] = {0}, places[100] = {0};
    (void)state;
    ga_rng *rng = at(29, 0);
    for (int k = 0; k < 20000; k++) {
        int64_t p[4], q[10];
        gpuarray *four = ga_rng_permutation(rng, 4), *ten = ga_rng_permutation(rng, 10);
        assert_int_equal(ga_to_host(four, p, sizeof p), GA_OK);
        assert_int_equal(ga_to_host(ten, q, sizeof q), GA_OK);
        orders[order_number(p)]++;
        for (int j = 0; j < 10; j++)
            places[10 * j + q[j]]++;
        ga_free(four), ga_free(ten);
    }
    expect_even("orders of four", orders, 24);
    /* The rows and columns of a table of positions have known sums: 81 free cells. */
    double statistic = 0;
    for (int k = 0; k < 100; k++)
        statistic += pow((double)places[k] - 2000, 2) / 2000;
    expect_deviate("places of ten", chi_square_deviate(statistic * 0.9, 81));
    ga_rng_free(rng);
    assert_int_equal(failures(), 0);
}

static void permutations_have_every_number_once(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 255, 256, 257, 4097, 65537, 1000000};
    (void)state;
    ga_rng *rng = at(30, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s];
        double agree = 0;
        gpuarray *x = ga_rng_permutation(rng, n);
        assert_shape(x, 1, &n);
        int64_t *host = host_copy(x);
        bool *seen = calloc((size_t)n + 1, 1);
        for (int64_t k = 0; k < n; k++) {
            assert_true(host[k] >= 0 && host[k] < n && !seen[host[k]]);
            seen[host[k]] = true;
            agree += ((double)k / (double)n - 0.5) * ((double)host[k] / (double)n - 0.5) * 12;
        }
        if (n > 1000)
            expect_deviate("places and numbers", agree / sqrt((double)n));
        free(seen);
        free(host);
        ga_free(x);
    }
    ga_rng_free(rng);
    assert_int_equal(failures(), 0);
}

/* The numbers of two generators side by side: of neighbouring seeds, and of a parent and a
 * child. */
static void generators_are_independent(void **state)
{
    static int64_t pair[2][SIDE * SIDE];
    const int64_t n = how_many();
    (void)state;
    ga_rng *rng = at(31, 0), *neighbour = at(32, 0), *child = ga_rng_split(rng);
    ga_rng_set_state(rng, &(ga_rng_state){31, 0});
    gpuarray *x = ga_rng_random(rng, GA_FLOAT32, 1, &n);
    gpuarray *others[] = {ga_rng_random(neighbour, GA_FLOAT32, 1, &n),
                          ga_rng_random(child, GA_FLOAT32, 1, &n)};
    float *a = host_copy(x);
    for (int j = 0; j < 2; j++) {
        float *b = host_copy(others[j]);
        for (int64_t k = 0; k < n; k++)
            pair[j][(int)(a[k] * SIDE) * SIDE + (int)(b[k] * SIDE)]++;
        expect_even(j == 0 ? "seeds 31 and 32" : "parent and child", pair[j], SIDE * SIDE);
        free(b);
        ga_free(others[j]);
    }
    free(a);
    ga_free(x);
    ga_rng_free(rng), ga_rng_free(neighbour), ga_rng_free(child);
    assert_int_equal(failures(), 0);
}

/* ---- Rejected arguments ---- */

static void null_generators_are_refused(void **state)
{
    ga_rng_state s = {0, 0};
    (void)state;
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
    assert_null(ga_rng_random(NULL, GA_FLOAT32, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "random: the generator is NULL");
    assert_int_equal(ga_rng_normal_into(x, NULL, 0, 1), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "normal: the generator is NULL");
    assert_null(ga_rng_integers(NULL, GA_INT32, 0, 5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "integers: the generator is NULL");
    assert_null(ga_rng_poisson(NULL, GA_INT32, 5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "poisson: the generator is NULL");
    assert_null(ga_rng_bytes(NULL, 3));
    assert_error(GA_ERR_INVALID, "bytes: the generator is NULL");
    assert_null(ga_rng_permutation(NULL, 3));
    assert_error(GA_ERR_INVALID, "permutation: the generator is NULL");
    assert_null(ga_rng_split(NULL));
    assert_error(GA_ERR_INVALID, "rng_split: the generator is NULL");
    assert_int_equal(ga_rng_jump(NULL, 3), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "rng_jump: the generator is NULL");
    assert_int_equal(ga_rng_get_state(NULL, &s), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "rng_get_state: the generator is NULL");
    assert_int_equal(ga_rng_set_state(ga_rng_default(), NULL), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "rng_set_state: the state is NULL");
    ga_free(x);
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    ga_rng *g = at(33, 9);
    assert_null(ga_rng_uniform(g, GA_FLOAT32, 3, 2, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "uniform: low 3 is above high 2");
    assert_null(ga_rng_uniform(g, GA_FLOAT32, (double)NAN, 2, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "uniform: the distance from nan to 2 is not finite in float32");
    assert_null(ga_rng_uniform(g, GA_FLOAT16, 0, 1e6, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "from 0 to 1e+06 is not finite in float16");
    assert_null(ga_rng_uniform(g, GA_FLOAT64, -1e308, 1e308, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "is not finite in float64");
    assert_null(ga_rng_normal(g, GA_FLOAT32, 0, -1.5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "normal: scale is -1.5");
    assert_null(ga_rng_normal(g, GA_FLOAT32, INFINITY, 1, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "normal: loc is inf");
    assert_null(ga_rng_lognormal(g, GA_FLOAT32, 0, (double)NAN, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "lognormal: sigma is nan");
    assert_null(ga_rng_exponential(g, GA_FLOAT32, -2, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "exponential: scale is -2");
    assert_null(ga_rng_poisson(g, GA_INT32, -0.5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "poisson: lam is -0.5");
    assert_null(ga_rng_poisson(g, GA_INT8, 100, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "poisson: lam 100 is too large for int8");
    assert_null(ga_rng_integers(g, GA_INT32, 5, 5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "integers: low 5 is not below high 5");
    assert_null(ga_rng_integers(g, GA_INT8, -129, 5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "integers: low -129 is out of bounds for int8");
    assert_null(ga_rng_integers(g, GA_UINT8, 0, 257, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "integers: high 257 is out of bounds for uint8");
    assert_null(ga_rng_integers_endpoint(g, GA_INT64, 7, 6u, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "rng_integers_endpoint: low 7 is above high 6");
    assert_null(ga_rng_integers_endpoint(g, GA_INT64, 0, UINT64_MAX, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "high 18446744073709551615 is out of bounds for int64");
    assert_null(ga_rng_integers_endpoint(g, GA_INT64, 0, 2.5, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "rng_integers_endpoint: high is not a C integer");
    assert_null(ga_rng_bytes(g, -1));
    assert_error(GA_ERR_INVALID, "bytes: the length -1 is negative");
    assert_null(ga_rng_permutation(g, -4));
    assert_error(GA_ERR_INVALID, "permutation: the length -4 is negative");
    ga_rng_state after;
    ga_rng_get_state(g, &after);
    assert_true(after.position == 9);
    ga_rng_free(g);
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    ga_rng *g = at(34, 9);
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3)), *wide = ga_broadcast_to(x, GA_SHAPE(2, 3));
    assert_null(ga_rng_random(g, GA_INT32, GA_SHAPE(3)));
    assert_error(GA_ERR_DTYPE, "random: the dtype must be a float, not int32");
    assert_null(ga_rng_standard_normal(g, GA_COMPLEX64, GA_SHAPE(3)));
    assert_error(GA_ERR_DTYPE, "standard_normal: the dtype must be a float, not complex64");
    assert_null(ga_rng_integers(g, GA_FLOAT32, 0, 5, GA_SHAPE(3)));
    assert_error(GA_ERR_DTYPE, "integers: the dtype must be an integer or bool, not float32");
    assert_null(ga_rng_poisson(g, GA_BOOL, 1, GA_SHAPE(3)));
    assert_error(GA_ERR_DTYPE, "poisson: the dtype must be an integer, not bool");
    assert_null(ga_rng_random(g, GA_NO_DTYPE, GA_SHAPE(3)));
    assert_error(GA_ERR_DTYPE, "random: ");
    assert_null(ga_rng_random(g, GA_FLOAT32, GA_SHAPE(3, -2)));
    assert_error(GA_ERR_SHAPE, "-2");
    assert_int_equal(ga_rng_random_into(NULL, g), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "rng_random_into: out is NULL");
    assert_int_equal(ga_rng_uniform_into(wide, g, 0, 1), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "uniform");
    assert_int_equal(ga_rng_integers_into(x, g, 0, 5), GA_ERR_DTYPE);
    assert_error(GA_ERR_DTYPE,
                 "rng_integers_into: the dtype must be an integer or bool, not float32");
    ga_rng_state after;
    ga_rng_get_state(g, &after);
    assert_true(after.position == 9);
    ga_free(wide), ga_free(x);
    ga_rng_free(g);
}

/* Calls that fail for want of memory do not consume elements. */
static void failed_calls_take_nothing(void **state)
{
    ga_rng_state after;
    (void)state;
    ga_rng *rng = at(35, 50);
    ga_free(ga_rng_uniform(rng, GA_FLOAT32, 0, 1, GA_SHAPE(100)));
    for (int n = 1; n < 40; n++) {
        ga_rng_set_state(rng, &(ga_rng_state){35, 50});
        ga__alloc_fail_at(n);
        gpuarray *x = ga_rng_uniform(rng, GA_FLOAT32, 0, 1, GA_SHAPE(100));
        ga__alloc_fail_at(0);
        ga_clear_error();
        ga_rng_get_state(rng, &after);
        assert_true(after.position == (x ? 150 : 50));
        ga_free(x);
    }
    ga_rng_free(rng);
}

static int clear(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_set_stream(NULL);
    ga_clear_error();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_generator_gives_the_known_answers, clear),
        cmocka_unit_test_teardown(lanes_give_the_words_of_the_counters, clear),
        cmocka_unit_test_teardown(kernels_give_the_known_answer, clear),
        cmocka_unit_test_teardown(elements_are_those_of_the_other_implementation, clear),
        cmocka_unit_test_teardown(bytes_are_those_of_the_words, clear),
        cmocka_unit_test_teardown(elements_stay_what_they_are, clear),
        cmocka_unit_test_teardown(many_calls_give_the_elements_of_one, clear),
        cmocka_unit_test_teardown(layouts_are_filled_in_c_order, clear),
        cmocka_unit_test_teardown(no_elements_and_single_ones, clear),
        cmocka_unit_test_teardown(states_jumps_and_splits, clear),
        cmocka_unit_test_teardown(the_default_generator, clear),
        cmocka_unit_test_teardown(threads_may_share_a_generator, clear),
        cmocka_unit_test_teardown(the_work_is_the_streams, clear),
        cmocka_unit_test_teardown(graphs_refuse_random_numbers, clear),
        slow_test_teardown(real_numbers_follow_their_laws, clear),
        slow_test_teardown(normal_numbers_of_a_block_are_independent, clear),
        slow_test_teardown(the_tails_are_there, clear),
        cmocka_unit_test_teardown(edges_of_intervals, clear),
        cmocka_unit_test_teardown(ranges_of_powers_of_two_are_the_upper_bits, clear),
        cmocka_unit_test_teardown(integers_are_even, clear),
        slow_test_teardown(poissons_numbers_follow_their_law, clear),
        cmocka_unit_test_teardown(large_poisson_numbers, clear),
        cmocka_unit_test_teardown(every_order_is_as_likely, clear),
        cmocka_unit_test_teardown(permutations_have_every_number_once, clear),
        cmocka_unit_test_teardown(generators_are_independent, clear),
        cmocka_unit_test_teardown(null_generators_are_refused, clear),
        cmocka_unit_test_teardown(wrong_numbers_are_refused, clear),
        cmocka_unit_test_teardown(wrong_arrays_are_refused, clear),
        cmocka_unit_test_teardown(failed_calls_take_nothing, clear),
    };
    sample_on_gpu(3);
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
