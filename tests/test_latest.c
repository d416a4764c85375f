/* Writes by index on CUDA, in the simulator, through words that tell the last tuple of each
 * element: of elements of all sizes, in words of both lengths, at elements of any order. */
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "ops/index/latest.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { CACHE = 1 << 20, COUNT = 3000, LENGTH = 1000, MOST = 1 << 16, KEPT = 7, STEP = 13 };

/* The elements that tuples name, some of them from the end, and what the elements are at last:
 * tuple k writes (k * STEP) % 100, and every element was KEPT before. */
static int64_t key[MOST];
static int32_t wanted[LENGTH];

static void draw_keys(uint64_t seed, int64_t count)
{
    for (int e = 0; e < LENGTH; e++)
        wanted[e] = KEPT;
    for (int64_t k = 0; k < count; k++) {
        const int64_t e = random_below(&seed, LENGTH);
        key[k] = random_below(&seed, 2) ? e : e - LENGTH;
        wanted[e] = (int32_t)(k * STEP % 100);
    }
}

static gpuarray *values(int64_t count, ga_dtype dtype)
{
    return ga_astype(ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, count, 1), STEP), 100), dtype);
}

static gpuarray *wanted_elements(ga_dtype dtype)
{
    return ga_astype(ga_from_host(wanted, GA_INT32, GA_SHAPE(LENGTH)), dtype);
}

/* Clears words, raises them, takes from them: a clear may be no launch. */
static void assert_written(gpuarray *x, int64_t count)
{
    gpuarray *v = values(count, x->dtype), *keys = ga_from_host(key, GA_INT64, GA_SHAPE(count));
    const int before = simulated.launches;
    assert_int_equal(ga_index_set(x, v, keys), GA_OK);
    assert_in_range(simulated.launches - before, 2, 3);
    assert_true(ga_array_equal(x, wanted_elements(x->dtype)));
}

static void elements_have_any_size(void **state)
{
    static const ga_dtype dtypes[] = {GA_BOOL,  GA_INT8,    GA_FLOAT16,   GA_INT32,
                                      GA_INT64, GA_FLOAT32, GA_COMPLEX128};
    (void)state;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        GA_SCOPE {
            draw_keys(k, COUNT);
            assert_written(ga_full(dtypes[k], GA_SHAPE(LENGTH), KEPT), COUNT);
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* Three bytes are no word. */
static void structs_are_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        const ga_dtype dtype =
            ga_struct_dtype("colour", 3, "struct colour { unsigned char red, green, blue; };");
        gpuarray *bytes = ga_full(GA_UINT8, GA_SHAPE(LENGTH, 3), KEPT),
                 *x = ga_reshape(ga_view(bytes, dtype), GA_SHAPE(LENGTH)),
                 *v = ga_copy(ga_broadcast_to(
                     ga_reshape(values(COUNT, GA_UINT8), GA_SHAPE(COUNT, 1)), GA_SHAPE(COUNT, 3)));
        draw_keys(2, COUNT);
        assert_int_equal(ga_index_set(x, ga_reshape(ga_view(v, dtype), GA_SHAPE(COUNT)),
                                      ga_from_host(key, GA_INT64, GA_SHAPE(COUNT))),
                         GA_OK);
        for (int k = 0; k < 3; k++)
            assert_true(ga_array_equal(ga_index(bytes, GA_ALL, k), wanted_elements(GA_UINT8)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* A word of 32 bits has 16 of a value and positions up to 2^16 - 1; one more takes 64. */
static void the_last_position_has_room(void **state)
{
    (void)state;
    for (int64_t count = MOST - 1; count <= MOST; count++)
        GA_SCOPE {
            draw_keys((uint64_t)count, count);
            assert_written(ga_full(GA_FLOAT16, GA_SHAPE(LENGTH), KEPT), count);
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* From behind, in the middle of other elements, and along two axes that are the other way round. */
static void elements_lie_in_any_order(void **state)
{
    enum { ROWS = 20, COLUMNS = LENGTH / ROWS };
    (void)state;
    GA_SCOPE {
        gpuarray *whole = ga_full(GA_INT16, GA_SHAPE(LENGTH + 9), 1),
                 *middle = ga_slice(whole, "5:-4");
        draw_keys(1, COUNT);
        assert_int_equal(ga_assign(middle, KEPT), GA_OK);
        assert_written(ga_slice(middle, "::-1"), COUNT);
        assert_true(ga_item_bool(ga_all(ga_equal(ga_slice(whole, ":5"), 1)), 0));
        assert_true(ga_item_bool(ga_all(ga_equal(ga_slice(whole, "-4:"), 1)), 0));

        gpuarray *x = ga_full(GA_INT64, GA_SHAPE(COLUMNS, ROWS), KEPT),
                 *keys = ga_remainder(ga_from_host(key, GA_INT64, GA_SHAPE(COUNT)), LENGTH),
                 *i = ga_floor_divide(keys, COLUMNS), *j = ga_remainder(keys, COLUMNS),
                 *v = values(COUNT, GA_INT64);
        const int before = simulated.launches;
        assert_int_equal(ga_index_set(ga_transpose(x), v, i, j), GA_OK);
        assert_in_range(simulated.launches - before, 2, 3);
        assert_true(ga_array_equal(ga_ravel(ga_transpose(x)), wanted_elements(GA_INT64)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* A value that broadcasts to the tuples, long and short; indices out of range; bytes of bool. */
static void values_and_indices_vary(void **state)
{
    static const uint8_t odd[] = {2, 0, 4, 0};
    (void)state;
    for (int turn = 0; turn < 2; turn++)
        GA_SCOPE {
            const ga_dtype dtype = turn ? GA_FLOAT64 : GA_INT8;
            gpuarray *x = ga_zeros(dtype, GA_SHAPE(4)),
                     *keys =
                         ga_from_host(((int64_t[]){0, 1, 9, 1, -9, 3}), GA_INT64, GA_SHAPE(3, 2)),
                     *v = ga_reshape(ga_arange(dtype, 5, 8, 1), GA_SHAPE(3, 1));
            assert_int_equal(ga_index_set(x, v, keys), GA_OK);
            assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
            ga_clear_error();
            assert_true(
                ga_array_equal(x, ga_from_host(((int32_t[]){5, 6, 0, 7}), GA_INT32, GA_SHAPE(4))));
            assert_int_equal(ga_put(x, keys, ga_arange(dtype, 1, 7, 1), .mode = GA_CLIP), GA_OK);
            assert_true(
                ga_array_equal(x, ga_from_host(((int32_t[]){5, 4, 0, 6}), GA_INT32, GA_SHAPE(4))));
        }
    GA_SCOPE {
        gpuarray *truths = ga_view(ga_from_host(odd, GA_UINT8, GA_SHAPE(4)), GA_BOOL),
                 *x = ga_zeros(GA_BOOL, GA_SHAPE(4)),
                 *keys = ga_from_host(((int64_t[]){0, 1, 1, 0}), GA_INT64, GA_SHAPE(4));
        assert_int_equal(ga_put(x, keys, truths), GA_OK);
        assert_true(
            ga_array_equal(x, ga_from_host(((int32_t[]){0, 1, 0, 0}), GA_INT32, GA_SHAPE(4))));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Plans ---- */

/* The plan of x[indices] = an array, for vectors of these lengths, without memory. */
static bool plan(ga_dtype dtype, int64_t length, int64_t step, int64_t tuples, ga__latest *latest)
{
    ga__buffer buffer = {.device = &simulated_device};
    const gpuarray x = {.dtype = dtype, .buffer = &buffer}, v = {.dtype = dtype, .size = tuples};
    const int64_t size = (int64_t)ga_dtype_size(dtype);
    const ga__indexing g = {.x = &x,
                            .count = 1,
                            .index = {{.length = length, .stride = step * size}},
                            .ndim = 1,
                            .index_ndim = 1,
                            .shape = {tuples}};
    return ga__latest_plan(&g, NULL, (ga_value){.kind = GA_VALUE_ARRAY, .as.array = &v}, latest);
}

static void words_have_room(void **state)
{
    static const struct {
        ga_dtype dtype;
        int64_t tuples;
        int bits;
        size_t nbytes;
    } words[] = {
        {GA_BOOL, (1ll << 31) - 1, 1, 4}, {GA_BOOL, 1ll << 31, 1, 8},
        {GA_UINT8, (1 << 24) - 1, 8, 4},  {GA_UINT8, 1 << 24, 8, 8},
        {GA_FLOAT32, 300, 32, 8},         {GA_FLOAT32, (1ll << 32) - 1, 32, 8},
        {GA_FLOAT32, 1ll << 32, 0, 8},    {GA_INT64, (1ll << 32) - 1, 0, 4},
        {GA_COMPLEX128, 1ll << 32, 0, 8},
    };
    ga__latest latest;
    (void)state;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        assert_true(plan(words[k].dtype, 1000, 1, words[k].tuples, &latest));
        assert_int_equal(latest.bits, words[k].bits);
        assert_int_equal(ga_dtype_size(latest.word), words[k].nbytes);
    }
}

static void other_writes_have_no_words(void **state)
{
    ga__latest latest;
    (void)state;
    assert_true(plan(GA_INT32, 16000, 1, 1000, &latest));
    assert_true(plan(GA_INT32, 4000, -1, 1000, &latest));
    assert_int_equal(latest.low, -3999);
    assert_false(plan(GA_INT32, 16016, 1, 1000, &latest)); /* too many elements */
    assert_true(plan(GA_INT32, CACHE / 8, 1, CACHE, &latest));
    assert_false(plan(GA_INT32, CACHE / 8 + 1, 1, CACHE, &latest)); /* words past the cache */
    assert_false(plan(GA_INT32, 1000, 2, 1000, &latest));           /* gaps */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        simulated_test(elements_have_any_size),     simulated_test(the_last_position_has_room),
        simulated_test(structs_are_elements),       simulated_test(elements_lie_in_any_order),
        simulated_test(values_and_indices_vary),    simulated_test(words_have_room),
        simulated_test(other_writes_have_no_words),
    };
    simulated_device.cache_bytes = CACHE;
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
