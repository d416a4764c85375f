/* Elementwise calls whose rows are short, in every layout, beside loops over the same elements: by
 * each number of threads that the build runs the program with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "model/dtype.h"
#include "device_support.h"
#include "random.h"
#include "run.h"
#include "views.h"

enum { LONGEST = 66, MANY = 150000 };

/* ---- Operands ---- */

/* How an operand lies in its base, whose axes have the operand's lengths or, where it repeats, 1.
 */
typedef enum lie { WHOLE, WINDOW, SKIPPING, BACKWARDS, TURNED, ROW, COLUMN, MIDDLE, NUMBER } lie;

typedef struct operand {
    double *values; /* of the base */
    gpuarray *base;
    view v;
} operand;

static bool repeats(lie how, int ndim, int axis)
{
    switch (how) {
    case ROW: return axis < ndim - 1;
    case COLUMN: return axis == ndim - 1;
    case MIDDLE: return axis == 1;
    default: return how == NUMBER;
    }
}

static double *numbers_of(const gpuarray *x)
{
    const ga_dtype dtype = ga_dtype_of(x);
    const size_t size = ga_dtype_size(dtype), count = (size_t)ga_size(x);
    char *bytes = malloc(count * size + 1);
    double *numbers = malloc(count * sizeof *numbers + 1);
    assert_true(bytes && numbers);
    assert_int_equal(ga_to_host(x, bytes, count * size), GA_OK);
    for (size_t k = 0; k < count; k++)
        numbers[k] = ga__number_double(ga__dtype_fetch(dtype, bytes + k * size));
    free(bytes);
    return numbers;
}

/* A base of integers so small that every dtype holds their sums exactly. */
static gpuarray *random_base(ga_dtype dtype, int ndim, const int64_t *shape, uint64_t *seed)
{
    int64_t count = 1;
    for (int axis = 0; axis < ndim; axis++)
        count *= shape[axis];
    const size_t size = ga_dtype_size(dtype);
    char *bytes = malloc((size_t)count * size);
    assert_non_null(bytes);
    for (int64_t k = 0; k < count; k++)
        ga__dtype_store(dtype, ga_value_int((int)random_below(seed, 60)), bytes + (size_t)k * size);
    gpuarray *base = ga_from_host(bytes, dtype, ndim, shape);
    free(bytes);
    return base;
}

static operand new_operand(ga_dtype dtype, lie how, int ndim, const int64_t *shape, uint64_t *seed)
{
    static const int order[2][3] = {{1, 0}, {2, 1, 0}};
    const int last = ndim - 1;
    int64_t lengths[3];
    for (int axis = 0; axis < ndim; axis++) {
        const int64_t length = shape[how == TURNED ? last - axis : axis];
        lengths[axis] = repeats(how, ndim, axis) ? 1 : length;
    }
    lengths[last] = how == WINDOW     ? lengths[last] + 2
                    : how == SKIPPING ? 2 * lengths[last]
                                      : lengths[last];
    operand o = {.base = random_base(dtype, ndim, lengths, seed)};
    o.values = numbers_of(o.base);
    o.v = view_whole(o.base);
    if (how == WINDOW)
        o.v = view_range(o.v, last, 1, shape[last], 1);
    else if (how == SKIPPING)
        o.v = view_range(o.v, last, 1, shape[last], 2);
    else if (how == BACKWARDS)
        o.v = view_range(o.v, last, shape[last] - 1, shape[last], -1);
    else if (how == TURNED)
        o.v = view_transposed(o.v, order[ndim - 2]);
    for (int axis = 0; axis < ndim; axis++)
        if (repeats(how, ndim, axis) && shape[axis] > 1)
            o.v = view_repeated(o.v, axis, shape[axis]);
    return o;
}

/* ---- Sums ---- */

/* out = a + b, or out += b. */
typedef struct call {
    lie out, a, b;
    bool in_place;
} call;

static const call calls[] = {{WHOLE, WHOLE, ROW, false},       {WHOLE, WHOLE, COLUMN, false},
                             {WINDOW, WHOLE, WINDOW, false},   {WHOLE, TURNED, NUMBER, false},
                             {WHOLE, SKIPPING, ROW, false},    {WHOLE, BACKWARDS, COLUMN, false},
                             {SKIPPING, WHOLE, COLUMN, false}, {TURNED, WHOLE, ROW, false},
                             {BACKWARDS, WINDOW, ROW, false},  {WHOLE, COLUMN, ROW, false},
                             {WHOLE, MIDDLE, WHOLE, false},    {WHOLE, MIDDLE, ROW, false},
                             {WHOLE, WHOLE, ROW, true},        {WHOLE, WHOLE, COLUMN, true},
                             {WINDOW, WINDOW, ROW, true},      {SKIPPING, SKIPPING, WINDOW, true}};
enum { CALLS = sizeof calls / sizeof *calls };

/* Compares the whole base of the result: around the view, elements keep their values. */
static void check_sums(const call *c, ga_dtype dtype, int ndim, const int64_t *shape,
                       uint64_t *seed)
{
    GA_SCOPE {
        operand out = new_operand(dtype, c->out, ndim, shape, seed),
                a = c->in_place ? out : new_operand(dtype, c->a, ndim, shape, seed),
                b = new_operand(dtype, c->b, ndim, shape, seed);
        double *want = numbers_of(out.base);
        for (int64_t k = 0; k < view_size(&out.v); k++)
            want[view_place(&out.v, k)] =
                a.values[view_place(&a.v, k)] + b.values[view_place(&b.v, k)];
        assert_int_equal(ga_add_into(out.v.array, a.v.array, b.v.array), GA_OK);
        double *got = numbers_of(out.base);
        for (int64_t k = 0; k < ga_size(out.base); k++)
            if (got[k] != want[k])
                fail_msg("call %d of %s, %d axes, (%lld, %lld, %lld): element %lld of the base is "
                         "%g, wanted %g",
                         (int)(c - calls), ga_dtype_name(dtype), ndim, (long long)shape[0],
                         (long long)shape[1], ndim > 2 ? (long long)shape[2] : 0LL, (long long)k,
                         got[k], want[k]);
        free(want), free(got), free(out.values), free(b.values);
        if (!c->in_place)
            free(a.values);
    }
}

static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT32, GA_FLOAT16, GA_FLOAT64, GA_COMPLEX128};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static void rows_of_every_length_agree_with_loops(void **state)
{
    (void)state;
    for (int item = 0; item < 2 * CALLS; item++) {
        const call *c = &calls[item % CALLS];
        const ga_dtype dtype = dtypes[item % DTYPES];
        char text[40];
        uint64_t seed = (uint64_t)item + 1;
        snprintf(text, sizeof text, "sums %d", item);
        if (!in_eighth(text))
            continue;
        for (int64_t length = 1; length <= LONGEST; length++) {
            const int64_t rows[] = {1 + random_below(&seed, 40), 1 + random_below(&seed, 1000)};
            for (int k = 0; k < 2; k++)
                check_sums(c, dtype, 2, (int64_t[]){rows[k], length}, &seed);
        }
    }
}

/* Blocks end between panels, and the last one is partial. */
static void rows_of_many_blocks_agree_with_loops(void **state)
{
    (void)state;
    static const int64_t lengths[] = {2, 3, 7, 13, 64};
    for (int item = 0; item < CALLS; item++) {
        char text[40];
        uint64_t seed = (uint64_t)item + 1;
        snprintf(text, sizeof text, "sums %d", item);
        for (int k = 0; k < 5 && in_eighth(text); k++) {
            const int64_t rows = MANY / lengths[k] + random_below(&seed, 1000);
            check_sums(&calls[item], dtypes[item % DTYPES], 2, (int64_t[]){rows, lengths[k]},
                       &seed);
        }
    }
}

/* Panels begin and end within an axis; what repeats has a period of one axis or of two. */
static void three_axes_agree_with_loops(void **state)
{
    (void)state;
    for (int item = 0; item < CALLS; item++) {
        char text[40];
        uint64_t seed = (uint64_t)item + 9;
        snprintf(text, sizeof text, "three axes %d", item);
        for (int round = 0; round < 30 && in_eighth(text); round++) {
            const int64_t shape[] = {1 + random_below(&seed, round % 3 ? 90 : 9),
                                     1 + random_below(&seed, round % 3 ? 9 : 300),
                                     1 + random_below(&seed, round % 2 ? 5 : 40)};
            check_sums(&calls[item], dtypes[(item + 1) % DTYPES], 3, shape, &seed);
        }
    }
}

/* Copies move without a panel; the row after the results stays as it was. */
static void check_copy(lie how, ga_dtype dtype, int64_t rows, int64_t length, uint64_t *seed)
{
    GA_SCOPE {
        operand out = new_operand(dtype, WHOLE, 2, (int64_t[]){rows + 1, length}, seed),
                a = new_operand(dtype, how, 2, (int64_t[]){rows, length}, seed);
        out.v = view_range(out.v, 0, 0, rows, 1);
        for (int64_t k = 0; k < view_size(&out.v); k++)
            out.values[view_place(&out.v, k)] = a.values[view_place(&a.v, k)];
        assert_int_equal(ga_assign(out.v.array, a.v.array), GA_OK);
        double *got = numbers_of(out.base);
        for (int64_t k = 0; k < ga_size(out.base); k++)
            if (got[k] != out.values[k])
                fail_msg("copy of %lld rows of %lld %s, layout %d: element %lld is %g, wanted %g",
                         (long long)rows, (long long)length, ga_dtype_name(dtype), (int)how,
                         (long long)k, got[k], out.values[k]);
        free(got), free(out.values), free(a.values);
    }
}

static void copies_of_short_rows_agree_with_loops(void **state)
{
    (void)state;
    static const lie lies[] = {WINDOW, SKIPPING, BACKWARDS, TURNED, ROW, COLUMN};
    uint64_t seed = 11;
    for (int64_t length = 2; length <= LONGEST; length += 1 + length / 16)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 2; d++)
                check_copy(lies[k], dtypes[d], 2 + random_below(&seed, 600), length, &seed);
}

/* Elements of functions are the same at any place, in a row and beside others. */
static void functions_of_short_rows_have_the_bits_of_long_ones(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int64_t length = 2; length <= 48; length += 1 + length / 8)
        GA_SCOPE {
            const int64_t rows = 1 + random_below(&seed, 900);
            gpuarray *x = ga_divide(
                         random_base(GA_FLOAT32, 2, (int64_t[]){rows, length + 1}, &seed), 7.0f),
                     *window = ga_slice(x, ":, 1:"), *got = ga_exp(window),
                     *want = ga_exp(ga_copy(window));
            assert_true(got && want);
            assert_int_equal(ga_item_int64(ga_sum(ga_not_equal(got, want))), 0);
        }
}

/* The elements of a row share a place, where the last one stays. */
static void rows_of_one_place_keep_the_last_element(void **state)
{
    enum { ROWS = 100, ALONG = 5 };
    static float memory[ROWS];
    (void)state;
    need_host("threads of a GPU write in any order");
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_arange(GA_FLOAT32, 0, ROWS * ALONG, 1), GA_SHAPE(ROWS, ALONG)),
                 *to = ga_wrap(memory, GA_FLOAT32, 2, (const int64_t[]){ROWS, ALONG},
                               (const int64_t[]){sizeof(float), 0}, NULL, NULL);
        assert_int_equal(ga_assign(to, x), GA_OK);
        for (int k = 0; k < ROWS; k++)
            assert_true(memory[k] == (float)(ALONG * k + ALONG - 1));
        assert_int_equal(ga_add_into(to, x, x), GA_OK);
        for (int k = 0; k < ROWS; k++)
            assert_true(memory[k] == 2 * (float)(ALONG * k + ALONG - 1));
    }
}

/* ---- Pads ---- */

/* A column before each row and two after it, a row before all and none after them. */
static void check_pad(ga_dtype dtype, const char *mode, int64_t rows, int64_t length,
                      uint64_t *seed)
{
    const int64_t shape[] = {rows, length}, width = length + 3;
    const bool edge = strcmp(mode, "edge") == 0;
    GA_SCOPE {
        operand x = new_operand(dtype, WHOLE, 2, shape, seed);
        double *got = numbers_of(ga_pad(x.base, GA_SHAPE(1, 0, 1, 2), .mode = mode));
        for (int64_t k = 0; k < (rows + 1) * width; k++) {
            const int64_t i = k / width - 1, j = k % width - 1, near_i = i < 0 ? 0 : i,
                          near_j = j < 0        ? 0
                                   : j < length ? j
                                                : length - 1;
            const bool inside = i == near_i && j == near_j;
            const double want = edge || inside ? x.values[near_i * length + near_j] : 0;
            if (got[k] != want)
                fail_msg("pad of %lld rows of %lld %s, \"%s\": element %lld is %g, wanted %g",
                         (long long)rows, (long long)length, ga_dtype_name(dtype), mode,
                         (long long)k, got[k], want);
        }
        free(got), free(x.values);
    }
}

static void pads_of_short_rows_agree_with_loops(void **state)
{
    (void)state;
    static const char *const modes[] = {"constant", "edge"};
    uint64_t seed = 7;
    for (int64_t length = 1; length <= 40; length += 1 + length / 12)
        for (int d = 0; d < 3; d++)
            for (int m = 0; m < 2; m++) {
                check_pad(dtypes[d], modes[m], 1 + random_below(&seed, 50), length, &seed);
                check_pad(dtypes[d], modes[m], 40000 / length + random_below(&seed, 50), length,
                          &seed);
            }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length_agree_with_loops),
        cmocka_unit_test(rows_of_many_blocks_agree_with_loops),
        cmocka_unit_test(three_axes_agree_with_loops),
        cmocka_unit_test(copies_of_short_rows_agree_with_loops),
        cmocka_unit_test(functions_of_short_rows_have_the_bits_of_long_ones),
        cmocka_unit_test(rows_of_one_place_keep_the_last_element),
        cmocka_unit_test(pads_of_short_rows_agree_with_loops),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
