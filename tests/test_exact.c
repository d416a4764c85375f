/* Exact sums by index on CUDA, in the simulator: against sums in 128 bits, of numbers in any order,
 * of all dtypes that have them, and of numbers that are not finite. */
#include <math.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "ops/index/exact.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { COUNT = 1500, LENGTH = 40, WINDOW = 70, LAST_BIT = -149 };

/* Numbers, the elements that they are added to, and the sums. */
static struct cases {
    float value[COUNT], start[LENGTH], wanted[LENGTH];
    int64_t key[COUNT];
} cases;

/* A random multiple of 2^base of up to 24 bits, in a window of bits above. */
static __int128 draw(uint64_t *seed, int base, float *number)
{
    const int bits = 1 + (int)random_below(seed, 24), place = (int)random_below(seed, WINDOW);
    const int64_t most = (1 << bits) - 1, fraction = random_below(seed, 2 * most + 1) - most;
    *number = ldexpf((float)fraction, base + place);
    return (__int128)fraction * ((__int128)1 << place);
}

/* Half of the numbers go to the first element, and every third one cancels the one before. */
static void make_cases(uint64_t seed, int base)
{
    __int128 sum[LENGTH];
    for (int k = 0; k < LENGTH; k++)
        sum[k] = draw(&seed, base, &cases.start[k]);
    for (int k = 0; k < COUNT; k++) {
        if (k % 3 == 2) {
            cases.key[k] = cases.key[k - 1];
            cases.value[k] = -cases.value[k - 1];
            sum[cases.key[k]] -= (__int128)ldexpf(cases.value[k - 1], -base);
            continue;
        }
        cases.key[k] = random_below(&seed, 2) ? 0 : random_below(&seed, LENGTH);
        sum[cases.key[k]] += draw(&seed, base, &cases.value[k]);
    }
    for (int k = 0; k < LENGTH; k++)
        cases.wanted[k] = ldexpf((float)sum[k], base); /* one rounding: from 128 bits */
}

static gpuarray *floats(const float *numbers, int64_t count)
{
    return ga_from_host(numbers, GA_FLOAT32, 1, &count);
}

/* Three launches at most: clear, add, round. */
static void assert_sums(gpuarray *x, gpuarray *value, gpuarray *key)
{
    const int before = simulated.launches;
    assert_int_equal(ga_index_add(x, value, key), GA_OK);
    assert_in_range(simulated.launches - before, 2, 3);
}

/* From the least number to sums that exceed the largest. */
static void sums_are_rounded_once(void **state)
{
    static const int bases[] = {LAST_BIT, LAST_BIT + 11, -60, -20, 34};
    static float got[LENGTH];
    (void)state;
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
        GA_SCOPE {
            make_cases(b, bases[b]);
            gpuarray *x = floats(cases.start, LENGTH), *v = floats(cases.value, COUNT),
                     *k = ga_from_host(cases.key, GA_INT64, GA_SHAPE(COUNT));
            if (b % 2) { /* the same in another order, and far apart, without copies of words */
                v = ga_slice(v, "::-1");
                k = ga_slice(k, "::-1");
                gpuarray *far = ga_slice(ga_zeros(GA_FLOAT32, GA_SHAPE(128 * LENGTH)), "::128");
                assert_int_equal(ga_assign(far, x), GA_OK);
                x = far;
            }
            assert_sums(x, v, k);
            assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
            for (int e = 0; e < LENGTH; e++)
                if (memcmp(&got[e], &cases.wanted[e], sizeof(float)) != 0)
                    fail_msg("base %d, element %d: %a, not %a", bases[b], e, (double)got[e],
                             (double)cases.wanted[e]);
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* Digits far below the last bit decide about the middle of two numbers, of either sign. */
static void lowest_digits_decide_ties(void **state)
{
    static const float value[] = {1,  0x1p-24f,    0x1p-100f, 1,  0x1p-24f,    -0x1p-100f,
                                  -1, -0x1.8p-23f, 0x1p-100f, -1, -0x1.8p-23f, -0x1p-100f,
                                  1,  0x1p-24f,    0,         1,  0x1.8p-23f,  0};
    static const float wanted[] = {1 + 0x1p-23f, 1, -1 - 0x1p-23f, -1 - 0x1p-22f, 1, 1 + 0x1p-22f};
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(6)),
                 *k = ga_floor_divide(ga_arange(GA_INT64, 0, 18, 1), 3);
        assert_sums(x, floats(value, 18), k);
        assert_true(ga_array_equal(x, floats(wanted, 6)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* A float16 is rounded once too; parts of complex numbers are sums of their own. */
static void other_dtypes_are_rounded_once(void **state)
{
    (void)state;
    GA_SCOPE {
        make_cases(7, -66);
        gpuarray *v = floats(cases.value, COUNT), *start = floats(cases.start, LENGTH),
                 *k = ga_from_host(cases.key, GA_INT64, GA_SHAPE(COUNT)),
                 *wanted = floats(cases.wanted, LENGTH),
                 *z = ga_multiply(start, ga_value_floating(GA_COMPLEX64, 1, -1)),
                 *half = ga_zeros(GA_FLOAT16, GA_SHAPE(2));
        gpuarray *w = ga_multiply(v, ga_value_floating(GA_COMPLEX64, 1, -1));
        assert_sums(z, w, k);
        assert_true(ga_array_equal(ga_real(z), wanted));
        assert_true(ga_array_equal(ga_imag(z), ga_negative(wanted)));
        /* 1 + 2^-11 + 2^-40 is above the middle of two float16, but as a float it is the middle. */
        const float parts[] = {1, 0x1p-11f, 0x1p-40f, 1, 0x1p-11f, -0x1p-40f};
        gpuarray *to = ga_from_host(((int64_t[]){0, 0, 0, 1, 1, 1}), GA_INT64, GA_SHAPE(6));
        assert_sums(half, floats(parts, 6), to);
        const float near[] = {1 + 0x1p-10f, 1};
        assert_true(ga_array_equal(half, floats(near, 2)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Finite numbers of a small float, the least and the greatest among them; every third is that
 * before it, negative. */
static void draw_small(ga_dtype dtype, uint64_t seed, void *numbers, int count, double *number)
{
    const ga__dtype_row *row = ga__dtype_row_of(dtype);
    const uint16_t sign = (uint16_t)(1 << (8 * row->nbytes - 1));
    uint16_t code = 0;
    for (int k = 0; k < count; k++) {
        code =
            k % 3 == 2    ? code ^ sign
            : k % 50 == 0 ? 1
            : k % 50 == 1
                ? row->format.top - 1
                : (uint16_t)(random_below(&seed, row->format.top) + random_below(&seed, 2) * sign);
        memcpy((char *)numbers + (size_t)k * row->nbytes, &code, row->nbytes);
        number[k] = ga__dtype_fetch(dtype, &code).as.z[0];
    }
}

/* Small floats have few digits: their sums are exact in float64, from the least number to infinity.
 */
static void small_floats_have_few_digits(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2};
    static uint16_t value[COUNT], start[LENGTH], got[LENGTH], rounded;
    static double values[COUNT], sums[LENGTH];
    static int64_t key[COUNT];
    (void)state;
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
        GA_SCOPE {
            uint64_t seed = t;
            const ga_dtype dtype = dtypes[t];
            const size_t nbytes = ga_dtype_size(dtype);
            draw_small(dtype, 10 * t, value, COUNT, values);
            draw_small(dtype, 10 * t + 1, start, LENGTH, sums);
            for (int k = 0; k < COUNT; k++) {
                key[k] = k % 3 == 2 ? key[k - 1] : random_below(&seed, LENGTH);
                key[k] = k % 100 == 1 ? 5 : k % 100 == 2 ? 6 : key[k];
                sums[key[k]] += values[k];
            }
            gpuarray *x = ga_from_host(start, dtype, GA_SHAPE(LENGTH)),
                     *k = ga_from_host(key, GA_INT64, GA_SHAPE(COUNT));
            assert_sums(x, ga_from_host(value, dtype, GA_SHAPE(COUNT)), k);
            assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
            for (int e = 0; e < LENGTH; e++) {
                ga__dtype_store(dtype, ga_value_floating(GA_FLOAT64, sums[e], 0), &rounded);
                if (memcmp((char *)got + (size_t)e * nbytes, &rounded, nbytes) != 0)
                    fail_msg("%s, element %d: %a, not %a rounded", ga_dtype_name(dtype), e,
                             ga_item_double(x, e), sums[e]);
            }
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* Every element of a view with gaps; elements between and those without a number stay, -0 too. */
static void other_elements_stay(void **state)
{
    static const float start[] = {-0.0f, NAN, 1, INFINITY, 2, -0.0f, 3, INFINITY, 4, 5};
    static const float value[] = {INFINITY, -INFINITY, NAN, 1, -INFINITY, 0x1p127f, 0x1p127f};
    static float got[10];
    (void)state;
    GA_SCOPE {
        gpuarray *whole = floats(start, 10),
                 *x = ga_slice(whole, "::-2"); /* 5 3 2... from behind */
        gpuarray *k = ga_from_host(((int64_t[]){1, 1, 2, 4, 0, 3, -2}), GA_INT64, GA_SHAPE(7));
        assert_sums(x, floats(value, 7), k);
        assert_int_equal(ga_to_host(whole, got, sizeof got), GA_OK);
    }
    /* x is 5, INF, -0, INF, NaN: whole 9 7 5 3 1. */
    assert_true(got[9] == -INFINITY && isnan(got[7]) && isnan(got[5]));
    assert_true(got[3] == INFINITY && isnan(got[1]));
    for (int e = 0; e < 10; e += 2)
        assert_memory_equal(&got[e], &start[e], sizeof(float));
    GA_SCOPE {
        gpuarray *x = floats(start, 1), *y = ga_zeros(GA_FLOAT32, GA_SHAPE(2));
        gpuarray *zeros = ga_from_host(((int64_t[]){0, 0}), GA_INT64, GA_SHAPE(2));
        assert_sums(x, floats(((float[]){3, -3}), 2), zeros);
        assert_true(signbit(ga_item_double(x, 0))); /* a sum of 0 leaves it */
        assert_sums(y, floats(value + 5, 2), zeros);
        assert_true(ga_item_double(y, 0) == INFINITY && ga_item_double(y, 1) == 0);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* A number, several arrays of indices, and an index that is out of range. */
static void all_indices_may_sum(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 5)),
                 *i = ga_remainder(ga_arange(GA_INT64, 0, 300, 1), 3),
                 *j = ga_remainder(ga_arange(GA_INT32, 0, 300, 1), 5);
        assert_int_equal(ga_index_add(ga_transpose(x), 0.5f, j, i), GA_OK);
        assert_true(ga_array_equal(x, ga_full(GA_FLOAT32, GA_SHAPE(3, 5), 10)));
        assert_int_equal(ga_put(j, ga_from_host((int64_t[]){7}, GA_INT64, GA_SHAPE(1)), 5), GA_OK);
        assert_int_equal(ga_index_add(x, 1, i, j), GA_OK);
        assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
        ga_clear_error();
        assert_true(ga_item_double(ga_sum(x), 0) == 150 + 299);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Enough tuples for copies of each word. */
static void copies_are_added(void **state)
{
    enum { MANY = 3 << 18 };
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT16, GA_SHAPE(3)),
                 *k = ga_remainder(ga_arange(GA_INT32, 0, MANY, 1), 3);
        assert_sums(x, ga_full(GA_FLOAT16, GA_SHAPE(MANY), 0x1p-8), k);
        assert_true(ga_array_equal(x, ga_full(GA_FLOAT32, GA_SHAPE(3), 1024)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Plans ---- */

/* The plan of x[indices] += value for vectors of these lengths, without memory. */
static bool plan_of(ga_dtype dtype, ga_value value, int64_t length, int64_t tuples, ga__sums *sums)
{
    ga__buffer buffer = {.device = &simulated_device};
    const gpuarray x = {.dtype = dtype, .buffer = &buffer};
    const int64_t size = (int64_t)ga_dtype_size(dtype);
    const ga__indexing g = {.x = &x,
                            .count = 1,
                            .index = {{.length = length, .stride = size}},
                            .ndim = 1,
                            .index_ndim = 1,
                            .shape = {tuples}};
    return ga__exact_plan(&g, value, dtype, sums);
}

/* Of a value of this dtype, or of a number of no dtype. */
static ga_value value_of(gpuarray *v)
{
    return v->dtype == GA_NO_DTYPE ? ga_value_signed(GA_INT64, 1) : ga_value_array(v);
}

static bool plan(ga_dtype dtype, int64_t length, int64_t tuples, ga__sums *sums)
{
    return plan_of(dtype, value_of(&(gpuarray){.dtype = dtype}), length, tuples, sums);
}

/* Digits have room for all numbers and cover those of all floats. They take no more memory than
 * words that are sorted, or little. */
static void tables_have_room(void **state)
{
    enum { PLACES = 254, FRACTION = 24, WORD = 63 };
    uint64_t seed = 5;
    int planned = 0;
    (void)state;
    for (int k = 0; k < 4000; k++) {
        const int64_t tuples = 1 + random_below(&seed, 1ll << random_below(&seed, 32)),
                      length = 1 + random_below(&seed, 1ll << random_below(&seed, 40));
        const bool pairs = random_below(&seed, 2);
        ga__sums sums;
        if (!plan(pairs ? GA_COMPLEX64 : GA_FLOAT32, length, tuples, &sums))
            continue;
        planned++;
        int count_bits = 0;
        while ((tuples + 1) >> count_bits)
            count_bits++;
        const int64_t words = sums.elements * sums.copies * (sums.digits + 1);
        const int64_t room = tuples <= 1 << 14 ? 1 << 21 : (1 << 23) + 3 * tuples;
        assert_in_range(sums.bits, 8, 32);
        assert_true(sums.bits * sums.digits >= PLACES && sums.digits <= 32);
        assert_true(FRACTION + sums.bits - 1 + count_bits < WORD);
        assert_int_equal(sums.elements, length * (pairs ? 2 : 1));
        assert_int_equal(sums.copies & (sums.copies - 1), 0);
        assert_true(words <= room);
    }
    assert_in_range(planned, 1000, 3000);
}

static void other_sums_are_by_order(void **state)
{
    ga__sums sums;
    (void)state;
    assert_true(plan(GA_FLOAT16, 1000000, 1 << 26, &sums));
    assert_int_equal(sums.copies, 1);
    assert_true(plan(GA_FLOAT32, 1, 1 << 24, &sums));
    assert_int_equal(sums.copies, 32);
    assert_true(plan(GA_FLOAT32, 1, 1 << 16, &sums));
    assert_int_equal(sums.copies, 1);
    assert_false(plan(GA_FLOAT64, 1000, 1 << 20, &sums));
    assert_false(plan(GA_COMPLEX128, 1000, 1 << 20, &sums));
    assert_false(plan(GA_FLOAT32, 1 << 20, 1 << 20, &sums)); /* its table exceeds a sort's words */
    assert_false(plan(GA_FLOAT32, 10, 1ll << 33, &sums));    /* digits would be too short */
}

/* The places of all finite numbers of both. */
static void digits_are_those_of_the_dtypes(void **state)
{
    static const struct {
        ga_dtype x, value;
        int first, places;
    } rows[] = {
        {GA_FLOAT16, GA_FLOAT16, 102, 40},
        {GA_FLOAT8_E4M3FN, GA_FLOAT8_E4M3FN, 117, 18},
        {GA_FLOAT8_E5M2, GA_FLOAT8_E5M2, 110, 32},
        {GA_FLOAT16, GA_FLOAT8_E4M3FN, 102, 40},
        {GA_FLOAT8_E4M3FN, GA_FLOAT16, 102, 40},
        {GA_BFLOAT16, GA_BFLOAT16, 0, 254},
        {GA_FLOAT32, GA_FLOAT16, 0, 254},
        {GA_FLOAT16, GA_NO_DTYPE, 0, 254},
        {GA_FLOAT16, GA_INT8, 0, 254},
    };
    ga__sums sums;
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const ga_value value = value_of(&(gpuarray){.dtype = rows[k].value});
        assert_true(plan_of(rows[k].x, value, 100, 1 << 25, &sums));
        assert_int_equal(sums.bits, 12);
        assert_int_equal(sums.first, rows[k].first);
        assert_in_range(sums.digits, (rows[k].places + 11) / 12, (rows[k].places + 12) / 12);
    }
}

/* A few tuples are sorted by a block. */
static void tables_are_worth_a_sort(void **state)
{
    ga__sums sums;
    (void)state;
    assert_true(plan(GA_FLOAT32, 100000, 100000, &sums));
    assert_true(plan(GA_FLOAT32, 180000, 1000, &sums));
    assert_false(plan(GA_FLOAT32, 300000, 1 << 14, &sums));
    assert_true(plan(GA_FLOAT32, 300000, (1 << 14) + 1, &sums));
    assert_true(plan(GA_FLOAT32, 8000000, 1 << 26, &sums));
    assert_false(plan(GA_FLOAT32, 9000000, 1 << 26, &sums));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        simulated_test(lowest_digits_decide_ties),
        simulated_test(sums_are_rounded_once),
        simulated_test(other_dtypes_are_rounded_once),
        simulated_test(small_floats_have_few_digits),
        simulated_test(other_elements_stay),
        simulated_test(all_indices_may_sum),
        simulated_test(copies_are_added),
        simulated_test(tables_have_room),
        simulated_test(other_sums_are_by_order),
        simulated_test(digits_are_those_of_the_dtypes),
        simulated_test(tables_are_worth_a_sort),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
