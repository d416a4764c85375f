/* The places of extremes, argmin and argmax, in rows, columns and whole arrays: ties, NaN,
 * infinities and equal elements, at lengths around vectors and blocks, against loops over the
 * elements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "model/dtype.h"
#include "random.h"
#include "run.h"

enum { MOST = 1 << 15 };

static const ga_dtype dtypes[] = {GA_BOOL,   GA_INT8,    GA_UINT8,   GA_INT16,   GA_INT32,
                                  GA_UINT64, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_BFLOAT16};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* What the elements are: few values with many ties; one value; numbers and NaN; infinities alone.
 */
typedef enum fill { TIES, EQUAL, SOME_NAN, INFINITE, FILLS } fill;

static double element(fill kind, bool is_float, uint64_t *seed)
{
    const double number = (double)random_below(seed, 3) + (is_float ? -1 : 0);
    if (kind == EQUAL)
        return 0;
    if (kind == SOME_NAN && is_float)
        return random_below(seed, 50) == 0 ? NAN : number;
    if (kind == INFINITE && is_float)
        return random_below(seed, 40) == 0 ? INFINITY : -INFINITY;
    return number;
}

static gpuarray *random_matrix(ga_dtype dtype, fill kind, int64_t rows, int64_t columns,
                               double *values, uint64_t *seed)
{
    static char bytes[MOST * 8];
    const size_t itemsize = ga_dtype_size(dtype);
    const char letter = ga__dtype_kind(dtype);
    for (int64_t k = 0; k < rows * columns; k++) {
        values[k] = element(kind, letter == 'f', seed);
        if (dtype == GA_BOOL)
            values[k] = values[k] > 0;
        ga__dtype_store(dtype, ga_value_double(values[k]), bytes + (size_t)k * itemsize);
    }
    return ga_from_host(bytes, dtype, 2, (int64_t[]){rows, columns});
}

static bool precedes(double a, double b, bool least)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && !isnan(b);
    return least ? a < b : a > b;
}

/* The place of the first extreme of `count` elements, `step` apart. */
static int64_t wanted_place(const double *values, int64_t count, int64_t step, bool least)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (precedes(values[k * step], values[best * step], least))
            best = k;
    return best;
}

static void compare(const gpuarray *got, const double *values, int64_t count, int64_t step,
                    int64_t apart, bool least, const char *what)
{
    static int64_t places[MOST];
    if (!got || ga_to_host(got, places, ga_nbytes(got)) != GA_OK)
        fail_msg("%s: %s", what, ga_error_message());
    for (int64_t k = 0; k < ga_size(got); k++) {
        const int64_t wanted = wanted_place(values + k * apart, count, step, least);
        if (places[k] != wanted)
            fail_msg("%s of %lld elements, output %lld: place %lld, wanted %lld", what,
                     (long long)count, (long long)k, (long long)places[k], (long long)wanted);
    }
}

static void check_matrix(ga_dtype dtype, fill kind, int64_t rows, int64_t columns, uint64_t *seed)
{
    static double values[MOST];
    char what[100];
    GA_SCOPE {
        const gpuarray *x = random_matrix(dtype, kind, rows, columns, values, seed);
        const struct {
            const char *name;
            gpuarray *(*find)(size_t size, const ga_reduce_args *args);
            bool least;
        } functions[] = {{"argmin", ga_argmin, true}, {"argmax", ga_argmax, false}};
        for (int f = 0; f < 2; f++) {
            snprintf(what, sizeof what, "%s of %s, fill %d, (%lld, %lld)", functions[f].name,
                     ga_dtype_name(dtype), kind, (long long)rows, (long long)columns);
            compare(functions[f].find(sizeof(ga_reduce_args),
                                      &(ga_reduce_args){.x = x, .naxes = 1, .axes = (int[]){1}}),
                    values, columns, 1, columns, functions[f].least, what);
            compare(functions[f].find(sizeof(ga_reduce_args),
                                      &(ga_reduce_args){.x = x, .naxes = 1, .axes = (int[]){0}}),
                    values, rows, columns, 1, functions[f].least, what);
            compare(functions[f].find(sizeof(ga_reduce_args), &(ga_reduce_args){.x = x}), values,
                    rows * columns, 1, 0, functions[f].least, what);
        }
    }
}

static void places_are_the_first_of_the_extremes(void **state)
{
    static const int64_t lengths[] = {1,  2,  3,  4,  5,   15,  16,  17,  31,   32,  33,
                                      47, 48, 63, 64, 100, 511, 512, 513, 1023, 1025};
    const uint64_t first = 20261123;
    uint64_t seed = first;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)first);
    for (int round = 0; round < items_here(400, 80); round++) {
        const int64_t length =
                          lengths[(size_t)random_below(&seed, sizeof lengths / sizeof *lengths)],
                      others = 1 + (int64_t)random_below(&seed, MOST / 32 / 32),
                      fit = others * length <= MOST ? others : MOST / length;
        const bool turned = random_below(&seed, 2) == 1;
        const ga_dtype dtype = dtypes[random_below(&seed, DTYPES)];
        uint64_t own = next_random(&seed);
        char text[80];
        snprintf(text, sizeof text, "%s of %d; round %d", ga_dtype_name(dtype), turned, round);
        if (in_sample(text))
            check_matrix(dtype, (fill)random_below(&own, FILLS), turned ? length : fit,
                         turned ? fit : length, &own);
    }
}

/* C order counts, not the order in memory. */
static void places_of_a_transpose_follow_its_own_order(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(40, 50));
        ga_assign(ga_slice(x, "3, 7"), 1);
        ga_assign(ga_slice(x, "30, 2"), 1);
        assert_int_equal(ga_item_int64(ga_argmax(x)), 3 * 50 + 7);
        assert_int_equal(ga_item_int64(ga_argmax(ga_transpose(x))), 2 * 40 + 30);
        assert_int_equal(ga_item_int64(ga_argmax(ga_flip(x, 0))), 9 * 50 + 2);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_the_first_of_the_extremes),
        cmocka_unit_test(places_of_a_transpose_follow_its_own_order),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
