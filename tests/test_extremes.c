/* Reductions of small elements by the words that hold them: CUDA's kernels in the simulator give
 * what a loop over the elements gives, for rows that end within words, zeros of both signs,
 * infinities and NaN. */
#include <math.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "run.h"
#include "simulated_device.h"

enum { MOST = 1 << 16 };

/* Elements of one matrix, as numbers. */
static double element[MOST];

typedef enum contents { MIXED, SPECIAL, ZEROS, LEAST, CONTENTS } contents;

static double number_of(ga_dtype dtype, contents which, uint64_t random)
{
    const bool floats = ga__dtype_kind(dtype) == 'f';
    const double small = (double)(random % 31) - (dtype == GA_UINT8 || dtype == GA_UINT16 ? 0 : 15);
    if (dtype == GA_BOOL)
        return which == LEAST ? 0 : which == ZEROS ? random % 40 != 0 : random % 40 == 0;
    if (which == LEAST)
        return floats              ? -(double)INFINITY
               : dtype == GA_INT8  ? -128
               : dtype == GA_INT16 ? -32768
                                   : 0;
    if (which == ZEROS)
        return floats && random % 2 ? -0.0 : 0;
    if (which == SPECIAL && floats)
        return random % 200 == 0 ? NAN
               : random % 7 == 0 ? -(double)INFINITY
               : random % 7 == 1 ? (double)INFINITY
                                 : small;
    return small;
}

static gpuarray *given(ga_dtype dtype, contents which, int64_t rows, int64_t length)
{
    static char bytes[MOST * 2];
    uint64_t random = (uint64_t)(length * 31 + which);
    assert_true(rows * length <= MOST);
    for (int64_t k = 0; k < rows * length; k++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        element[k] = number_of(dtype, which, random >> 40);
        const ga_value value = {
            .kind = GA_VALUE_NUMBER, .dtype = GA_FLOAT64, .as.z = {element[k], 0}};
        ga__dtype_store(dtype, value, bytes + (size_t)k * ga_dtype_size(dtype));
    }
    return ga_from_host(bytes, dtype, GA_SHAPE(rows, length));
}

/* Whether `a` comes before `b` as the extreme: NaN first. */
static bool precedes(double a, double b, bool greatest)
{
    if (isnan(b))
        return false;
    return isnan(a) || (greatest ? a > b : a < b);
}

static int64_t place_of(int64_t first, int64_t count, int64_t step, bool greatest)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (precedes(element[first + k * step], element[first + best * step], greatest))
            best = k;
    return best;
}

static void check_places(ga_dtype dtype, contents which, int64_t rows, int64_t length, int axis)
{
    static int64_t got[2][MOST];
    const int64_t results = axis ? rows : length;
    GA_SCOPE {
        const gpuarray *x = given(dtype, which, rows, length);
        ga_to_host(ga_argmin(x, GA_AXIS(axis)), got[0], (size_t)results * 8);
        ga_to_host(ga_eval(axis ? "argmax(x, axis=1)" : "argmax(x, axis=0)", GA(x)), got[1],
                   (size_t)results * 8);
        assert_int_equal(ga_error(), GA_OK);
    }
    for (int64_t r = 0; r < results; r++)
        for (int greatest = 0; greatest < 2; greatest++) {
            const int64_t wanted =
                place_of(axis ? r * length : r, axis ? length : rows, axis ? 1 : length, greatest);
            if (got[greatest][r] != wanted)
                fail_msg("%s of (%lld, %lld), contents %d, axis %d: result %lld is %lld, not %lld",
                         ga_dtype_name(dtype), (long long)rows, (long long)length, which, axis,
                         (long long)r, (long long)got[greatest][r], (long long)wanted);
        }
}

static const ga_dtype small[] = {GA_INT8, GA_UINT8,   GA_INT16,   GA_UINT16,
                                 GA_BOOL, GA_FLOAT16, GA_BFLOAT16};
enum { SMALL = sizeof small / sizeof *small };
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void places_in_rows(void **state)
{
    static const int64_t lengths[] = {2, 3, 5, 13, 64, 161, 255, 1025, 1700};
    (void)state;
    for (int d = 0; d < SMALL; d++)
        for (size_t l = 0; in_short_sample("rows", d, SMALL) && l < COUNT(lengths); l++)
            for (contents which = MIXED; which < CONTENTS; which++)
                check_places(small[d], which, 37, lengths[l], 1);
}

static void places_in_columns(void **state)
{
    static const int64_t shapes[][2] = {{1500, 13}, {900, 64}, {400, 161}, {60, 1025}};
    (void)state;
    for (int d = 0; d < SMALL; d++)
        for (size_t s = 0; in_short_sample("columns", d, SMALL) && s < COUNT(shapes); s++)
            for (contents which = MIXED; which < CONTENTS; which++)
                check_places(small[d], which, shapes[s][0], shapes[s][1], 0);
}

/* The products wrap as their dtype does; their sums have 64 bits. */
static void check_products(ga_dtype dtype, int64_t rows, int64_t length)
{
    static int64_t got[MOST];
    GA_SCOPE {
        const gpuarray *x = given(dtype, MIXED, rows, length);
        ga_to_host(ga_eval("sum(x * (x - 3), axis=1)", GA(x)), got, (size_t)rows * 8);
        assert_int_equal(ga_error(), GA_OK);
    }
    for (int64_t r = 0; r < rows; r++) {
        int64_t wanted = 0;
        for (int64_t k = 0; k < length; k++) {
            const int product = (int)element[r * length + k] * ((int)element[r * length + k] - 3);
            wanted += dtype == GA_INT8    ? (int8_t)product
                      : dtype == GA_UINT8 ? (uint8_t)product
                      : dtype == GA_INT16 ? (int16_t)product
                                          : (uint16_t)product;
        }
        assert_int_equal(got[r], wanted);
    }
}

static void sums_of_small_products(void **state)
{
    static const int64_t lengths[] = {2, 7, 13, 161, 1025};
    (void)state;
    for (int d = 0; d < 4; d++)
        for (size_t l = 0; in_short_sample("products", d, 4) && l < COUNT(lengths); l++)
            check_products(small[d], 37, lengths[l]);
}

/* Sums, extremes and truth of rows of each length, which begin and end within words. */
static void words_of_rows(void **state)
{
    static int8_t low[MOST], high[MOST];
    static int64_t sum[MOST];
    static bool some[MOST], all[MOST];
    enum { ROWS = 41 };
    (void)state;
    for (int64_t length = 2; length <= 18; length++) {
        GA_SCOPE {
            const gpuarray *x = given(GA_INT8, MIXED, ROWS, length);
            ga_to_host(ga_sum(x, GA_AXIS(1)), sum, ROWS * 8);
            ga_to_host(ga_min(x, GA_AXIS(1)), low, ROWS);
            ga_to_host(ga_max(x, GA_AXIS(1)), high, ROWS);
            ga_to_host(ga_any(x, GA_AXIS(1)), some, ROWS);
            ga_to_host(ga_all(x, GA_AXIS(1)), all, ROWS);
            assert_int_equal(ga_error(), GA_OK);
        }
        for (int64_t r = 0; r < ROWS; r++) {
            double s = 0, least = 127, most = -128;
            bool any_one = false, every = true;
            for (int64_t k = 0; k < length; k++) {
                const double v = element[r * length + k];
                s += v;
                least = v < least ? v : least;
                most = v > most ? v : most;
                any_one |= v != 0;
                every &= v != 0;
            }
            assert_int_equal(sum[r], (int64_t)s);
            assert_int_equal(low[r], (int)least);
            assert_int_equal(high[r], (int)most);
            assert_int_equal(some[r], any_one);
            assert_int_equal(all[r], every);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        simulated_test(places_in_rows),           simulated_test(places_in_columns),
        simulated_test(sums_of_small_products),   simulated_test(words_of_rows),
        cmocka_unit_test(places_in_rows),         cmocka_unit_test(places_in_columns),
        cmocka_unit_test(sums_of_small_products), cmocka_unit_test(words_of_rows),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
