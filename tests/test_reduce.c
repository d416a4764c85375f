/* Every reduction against NumPy's answers and, for random arrays in every layout, against host
 * loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "layouts.h"
#include "model/dtype.h"
#include "parallel.h"
#include "random.h"
#include "reductions.h"
#include "run.h"

static golden_file *file;

/* ---- Golden files ---- */

static gpuarray *call(const golden_case *c, const gpuarray *x, gpuarray *out)
{
    ga_reduce_args args = {.x = x,
                           .keepdims = c->flags & GOLDEN_KEEPDIMS,
                           .dtype = c->dtype,
                           .ddof = c->ddof,
                           .out = out};
    args.naxes = c->naxes > 0 ? c->naxes : 0;
    args.axes = c->axes;
    return find_reduction(c->name)(sizeof args, &args);
}

static const char *case_text(const golden_case *c)
{
    static _Thread_local char text[400];
    char shape[100] = "", axes[60] = "all";
    const golden_blob *b = c->arg[0];
    for (int i = 0, used = 0; i < b->ndim; i++)
        used +=
            snprintf(shape + used, sizeof shape - (size_t)used, "%lld,", (long long)b->shape[i]);
    for (int i = 0, used = 0; i < c->naxes; i++)
        used += snprintf(axes + used, sizeof axes - (size_t)used, "%d,", c->axes[i]);
    snprintf(text, sizeof text, "%s dtype %s; of shape (%s) over %s ddof %d", golden_call(c),
             ga_dtype_name(c->dtype), shape, axes, c->ddof);
    return text;
}

static bool shape_is(const gpuarray *x, int ndim, const int64_t *shape)
{
    return ga_ndim(x) == ndim &&
           (ndim == 0 || memcmp(ga_shape(x), shape, (size_t)ndim * sizeof *shape) == 0);
}

static void check_answer(const golden_case *c, const gpuarray *got)
{
    char why[300];
    if (!golden_result(c, c->out[0], got, 1, why, sizeof why))
        fail_later("%s: %s", case_text(c), why);
    else if (!shape_is(got, c->out[0]->ndim, c->out[0]->shape))
        fail_later("%s: the shape has %d axes, wanted %d", case_text(c), ga_ndim(got),
                   c->out[0]->ndim);
    ga_clear_error();
}

/* The case again with its array in Fortran order, reversed and stepped: float32 only. */
static void check_layouts(const golden_case *c)
{
    const golden_blob *b = c->arg[0];
    for (layout how = LAYOUT_FORTRAN; how < LAYOUT_BROADCAST; how++)
        check_answer(c, call(c, layout_array(how, b->data, b->dtype, b->ndim, b->shape), NULL));
}

static void check_out(const golden_case *c, const gpuarray *x)
{
    const golden_blob *want = c->out[0];
    gpuarray *out = ga_zeros(want->dtype, want->ndim, want->shape);
    gpuarray *got = call(c, x, out);
    if (got != out)
        fail_later("%s: with .out the result is not out: %s", case_text(c), ga_error_message());
    else
        check_answer(c, out);
    ga_clear_error();
}

static void run_case(int item)
{
    const golden_case *c = &file->cases[item];
    GA_SCOPE {
        gpuarray *x = golden_array(c->arg[0]);
        if (strcmp(c->name, "dot") == 0) {
            check_answer(c, ga_dot(x, golden_array(c->arg[1])));
        } else if (c->flags & GOLDEN_ERROR) {
            golden_refuses(c, case_text(c), call(c, x, NULL));
        } else {
            check_answer(c, call(c, x, NULL));
            if (c->arg[0]->dtype == GA_FLOAT32)
                check_layouts(c);
            if (item % 7 == 0)
                check_out(c, x);
        }
    }
}

static const char *row_text(int item)
{
    return case_text(&file->cases[item]);
}

static void every_row_answers_as_numpy(void **state)
{
    (void)state;
    rows_in_threads(file->ncases, row_text, run_case);
    assert_int_equal(failures(), 0);
}

/* ---- Properties ---- */

/* Sums, largest elements and their positions in a C-order array over the marked axes, in double. */
typedef struct loop_result {
    int64_t count;
    double *sum, *max;
    int64_t *place;
} loop_result;

static void loop_result_free(loop_result *r)
{
    free(r->sum);
    free(r->max);
    free(r->place);
}

static void loop_result_init(loop_result *r, int ndim, const int64_t *shape, unsigned reduced)
{
    r->count = 1;
    for (int i = 0; i < ndim; i++)
        r->count *= reduced >> i & 1 ? 1 : shape[i];
    r->sum = calloc((size_t)r->count, sizeof *r->sum);
    r->max = malloc((size_t)r->count * sizeof *r->max);
    r->place = calloc((size_t)r->count, sizeof *r->place);
    assert_true(r->sum && r->max && r->place);
    for (int64_t i = 0; i < r->count; i++)
        r->max[i] = -INFINITY;
}

/* The output of element k, and k's index among that output's elements. */
static void place_of(int64_t k, int ndim, const int64_t *shape, unsigned reduced, int64_t *to,
                     int64_t *number)
{
    int64_t to_stride = 1, number_stride = 1;
    *to = *number = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        int64_t index = k % shape[i];
        k /= shape[i];
        int64_t *sum = reduced >> i & 1 ? number : to;
        int64_t *stride = reduced >> i & 1 ? &number_stride : &to_stride;
        *sum += index * *stride;
        *stride *= shape[i];
    }
}

static void loop_reduce(loop_result *r, const float *x, int ndim, const int64_t *shape,
                        unsigned reduced)
{
    int64_t size = 1, to, number;
    loop_result_init(r, ndim, shape, reduced);
    for (int i = 0; i < ndim; i++)
        size *= shape[i];
    for (int64_t k = 0; k < size; k++) {
        place_of(k, ndim, shape, reduced, &to, &number);
        r->sum[to] += (double)x[k];
        if ((double)x[k] > r->max[to] || ((double)x[k] == r->max[to] && number < r->place[to])) {
            r->max[to] = (double)x[k];
            r->place[to] = number;
        }
    }
}

/* Multiples of 1/8 below 8: float sums of a few thousand of them are exact, and there are ties. */
static float *random_eighths(int64_t count, uint64_t seed)
{
    float *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)((int64_t)(next_random(&seed) % 128) - 64) / 8.0f;
    return x;
}

static void read_all(const gpuarray *x, void *to, size_t nbytes)
{
    if (ga_to_host(x, to, nbytes) != GA_OK)
        fail_later("reading: %s", ga_error_message());
    ga_clear_error();
}

/* `repeats`: the number of times that each element counts (a broadcast axis was reduced). */
static void compare_loops(const char *what, const gpuarray *x, ga_reduce_args args,
                          const loop_result *r, int repeats)
{
    float *sum = calloc((size_t)r->count, sizeof *sum),
          *max = calloc((size_t)r->count, sizeof *max);
    int64_t *place = calloc((size_t)r->count, sizeof *place);
    args.x = x;
    read_all((ga_sum)(sizeof args, &args), sum, (size_t)r->count * sizeof *sum);
    read_all((ga_max)(sizeof args, &args), max, (size_t)r->count * sizeof *max);
    read_all((ga_argmax)(sizeof args, &args), place, (size_t)r->count * sizeof *place);
    for (int64_t i = 0; i < r->count; i++) {
        double wanted = r->sum[i] * repeats;
        bool same =
            (double)sum[i] == wanted && (double)max[i] == r->max[i] && place[i] == r->place[i];
        if (same)
            continue;
        fail_later("%s: output %lld: sum %g max %g argmax %lld, wanted %g %g %lld", what,
                   (long long)i, (double)sum[i], (double)max[i], (long long)place[i], wanted,
                   r->max[i], (long long)r->place[i]);
        break;
    }
    free(sum);
    free(max);
    free(place);
}

static const int64_t property_shape[4] = {6, 5, 7, 9};

static void check_subset(int item)
{
    unsigned reduced = (unsigned)item % 15 + 1;
    layout how = (layout)((unsigned)item / 15);
    float *x = random_eighths(6 * 5 * 7 * 9, 7);
    loop_result r;
    int axes[5], naxes = 0, shift = how == LAYOUT_BROADCAST;
    char what[80];
    loop_reduce(&r, x, 4, property_shape, reduced);
    for (int i = 0; i < 4; i++)
        if (reduced >> i & 1)
            axes[naxes++] = i + shift;
    if (shift)
        axes[naxes++] = 0;
    snprintf(what, sizeof what, "axes %#x, %s", reduced, layout_names[how]);
    GA_SCOPE {
        gpuarray *a = layout_array(how, x, GA_FLOAT32, 4, property_shape);
        ga_reduce_args args = {.naxes = naxes, .axes = axes};
        compare_loops(what, a, args, &r, shift ? 3 : 1);
    }
    loop_result_free(&r);
    free(x);
}

static void any_axes_of_any_layout_agree_with_loops(void **state)
{
    (void)state;
    in_threads(15 * LAYOUT_COUNT, check_subset);
    assert_int_equal(failures(), 0);
}

/* Long, narrow and wide arrays: every kind of kernel. */
static const struct {
    int64_t shape[2];
    unsigned reduced;
} ladders[] = {{{1000003, 1}, 3}, {{200000, 3}, 2}, {{200000, 3}, 1}, {{3, 200000}, 2},
               {{3, 200000}, 1},  {{3000, 17}, 1},  {{3000, 17}, 2},  {{17, 3000}, 2},
               {{17, 3000}, 1},   {{1, 70000}, 2},  {{70000, 1}, 2},  {{700, 700}, 1},
               {{700, 700}, 2},   {{33, 33}, 3},    {{70003, 8}, 2},  {{70003, 8}, 1}};

static void check_ladder(int item)
{
    const int64_t *shape = ladders[item / 2].shape;
    layout how = item % 2 ? LAYOUT_FORTRAN : LAYOUT_CONTIGUOUS;
    float *x = random_eighths(shape[0] * shape[1], 11);
    loop_result r;
    int axes[2], naxes = 0;
    char what[120];
    loop_reduce(&r, x, 2, shape, ladders[item / 2].reduced);
    for (int i = 0; i < 2; i++)
        if (ladders[item / 2].reduced >> i & 1)
            axes[naxes++] = i;
    snprintf(what, sizeof what, "shape (%lld, %lld), axes %#x, %s", (long long)shape[0],
             (long long)shape[1], ladders[item / 2].reduced, layout_names[how]);
    GA_SCOPE {
        ga_reduce_args args = {.naxes = naxes, .axes = axes};
        compare_loops(what, layout_array(how, x, GA_FLOAT32, 2, shape), args, &r, 1);
    }
    loop_result_free(&r);
    free(x);
}

static void every_rung_of_the_ladder_agrees_with_loops(void **state)
{
    (void)state;
    in_threads(2 * (int)(sizeof ladders / sizeof *ladders), check_ladder);
    assert_int_equal(failures(), 0);
}

/* Whether rows that follow each other give the same results as columns. */
static void compare_rows_with_columns(ga_dtype dtype, int64_t count, int64_t length)
{
    GA_SCOPE {
        gpuarray *numbers = ga_remainder(ga_arange(GA_INT64, 0, (double)(count * length), 1), 23);
        gpuarray *x = ga_reshape(ga_astype(numbers, dtype), GA_SHAPE(count, length));
        gpuarray *y = ga_copy(ga_transpose(x));
        char why[300];
        const size_t room = sizeof why;
        const bool same =
            equal_arrays(ga_sum(x, GA_AXIS(1)), ga_sum(y, GA_AXIS(0)), why, room) &&
            equal_arrays(ga_any(x, GA_AXIS(1)), ga_any(y, GA_AXIS(0)), why, room) &&
            (dtype >= GA_COMPLEX64 ||
             equal_arrays(ga_argmax(x, GA_AXIS(1)), ga_argmax(y, GA_AXIS(0)), why, room));
        if (!same || ga_error() != GA_OK)
            fail_msg("%lld rows of %lld %s: %s %s", (long long)count, (long long)length,
                     ga_dtype_name(dtype), same ? "" : why, ga_error_message());
    }
}

static const ga_dtype some_dtypes[] = {GA_BOOL,    GA_INT8,    GA_UINT16,    GA_FLOAT16,
                                       GA_FLOAT32, GA_FLOAT64, GA_COMPLEX64, GA_COMPLEX128};
enum { SOME_DTYPES = sizeof some_dtypes / sizeof *some_dtypes };

static bool takes(const char *test, int d)
{
    return in_short_sample(test, d, SOME_DTYPES);
}

static void short_rows_of_any_dtype_agree_with_columns(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 31, 32, 40, 1029, 70001};
    for (int d = 0; d < SOME_DTYPES; d++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int64_t length = 2; takes("short rows", d) && length <= 8; length *= 2)
                compare_rows_with_columns(some_dtypes[d], counts[c], length);
}

/* Columns are processed several rows at a time, and the remainder row by row. */
static void wide_columns_of_any_dtype_agree_with_rows(void **state)
{
    (void)state;
    for (int d = 0; d < SOME_DTYPES; d++)
        if (takes("wide columns", d))
            compare_rows_with_columns(some_dtypes[d], 4099, 29);
    for (int64_t length = 3; length <= 16; length++)
        compare_rows_with_columns(GA_FLOAT32, 1030, length);
    compare_rows_with_columns(GA_FLOAT32, 12000, 300); /* many narrow tiles at once */
    GA_SCOPE {
        gpuarray *x =
            ga_eval("arange % 23", GA_NAMED("arange", ga_arange(GA_FLOAT32, 0, 4099 * 29, 1)));
        gpuarray *rows = ga_reshape(x, GA_SHAPE(4099, 29)), *columns = ga_copy(ga_transpose(rows));
        gpuarray *again = ga_copy(columns);
        gpuarray *squares = ga_eval("sum(rows * rows, axis=1)", GA(rows));
        gpuarray *products = ga_eval("sum(columns * again, axis=0)", GA(columns), GA(again));
        gpuarray *v = ga_var(rows, GA_AXIS(1)), *w = ga_var(columns, GA_AXIS(0));
        assert_arrays_equal(squares, products);
        assert_true(ga_item_bool(ga_eval("all(abs(v - w) <= 1e-5 * w)", GA(v), GA(w))));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Outputs of several runs each: one run of each at a time, in turn. */
static void runs_of_many_outputs_agree_with_rows(void **state)
{
    (void)state;
    for (int d = 0; d < SOME_DTYPES; d++)
        GA_SCOPE {
            if (!takes("runs of outputs", d))
                continue;
            gpuarray *numbers = ga_remainder(ga_arange(GA_INT64, 0, 3 * 300 * 70, 1), 23);
            gpuarray *x = ga_reshape(ga_astype(numbers, some_dtypes[d]), GA_SHAPE(3, 300, 70));
            gpuarray *rows = ga_copy(ga_transpose_axes(x, 3, (const int[]){1, 0, 2}));
            gpuarray *sums = ga_sum(ga_reshape(rows, GA_SHAPE(300, 210)), GA_AXIS(1));
            char why[300];
            if (!equal_arrays(ga_sum(x, GA_AXIS(0, 2)), sums, why, sizeof why))
                fail_msg("%s: %s", ga_dtype_name(some_dtypes[d]), why);
        }
}

static gpuarray *random_floats(int64_t count)
{
    uint64_t seed = 3;
    float *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)random_real(&seed);
    gpuarray *made = ga_from_host(x, GA_FLOAT32, GA_SHAPE(count));
    free(x);
    return made;
}

static void check_same_bits(const gpuarray *x, ga_reduce_args args)
{
    float first[64], again[64];
    args.x = x;
    for (int run = 0; run < 20; run++) {
        gpuarray *sum = (ga_sum)(sizeof args, &args);
        assert_true(sum != NULL && ga_nbytes(sum) <= sizeof first);
        assert_int_equal(ga_to_host(sum, run ? again : first, ga_nbytes(sum)), GA_OK);
        if (run)
            assert_elements(GA_FLOAT32, ga_size(sum), again, first);
        ga_free(sum);
    }
}

static void a_sum_has_the_same_bits_in_every_run(void **state)
{
    (void)state;
    gpuarray *x = random_floats(1000003);
    gpuarray *rows = random_floats(600000);
    gpuarray *thin = ga_reshape(rows, GA_SHAPE(3, 200000)),
             *wide = ga_reshape(rows, GA_SHAPE(200000, 3));
    check_same_bits(x, (ga_reduce_args){0});
    check_same_bits(thin, (ga_reduce_args){GA_AXIS(1)});
    check_same_bits(wide, (ga_reduce_args){GA_AXIS(0)});
    ga_free(thin);
    ga_free(wide);
    ga_free(rows);
    ga_free(x);
}

static void large_sums_are_accurate(void **state)
{
    (void)state;
    uint64_t seed = 3;
    double sum = 0, squares = 0;
    const int64_t count = 1000003;
    for (int64_t i = 0; i < count; i++) {
        double v = (double)(float)random_real(&seed);
        sum += v;
        squares += v * v;
    }
    GA_SCOPE {
        gpuarray *x = random_floats(count);
        double mean = sum / (double)count, var = squares / (double)count - mean * mean;
        assert_float_equal(ga_item_double(ga_sum(x, .dtype = GA_FLOAT64)), sum, 1e-6);
        assert_float_equal(ga_item_double(ga_sum(x)), sum, 0.05);
        assert_float_equal(ga_item_double(ga_var(x)), var, 1e-6);
        assert_float_equal(ga_item_double(ga_std(x)), sqrt(var), 1e-6);
        assert_float_equal(ga_item_double(ga_dot(x, x)), squares, 0.5);
    }
}

/* 10000 ones overflow float16's 11 bits at 2048, not float32's. */
static void small_floats_sum_in_float32(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *h = ga_ones(GA_FLOAT16, GA_SHAPE(10000)),
                 *b = ga_ones(GA_BFLOAT16, GA_SHAPE(4096)),
                 *e = ga_ones(GA_FLOAT8_E5M2, GA_SHAPE(4096));
        assert_float_equal(ga_item_double(ga_sum(h)), 10000.0, 0.0);
        assert_float_equal(ga_item_double(ga_sum(b)), 4096.0, 0.0);
        assert_float_equal(ga_item_double(ga_sum(e)), 4096.0, 0.0);
        assert_float_equal(ga_item_double(ga_mean(h)), 1.0, 0.0);
        assert_int_equal(ga_dtype_of(ga_sum(h)), GA_FLOAT16);
        assert_float_equal(ga_item_double(ga_mean(ga_full(GA_FLOAT16, GA_SHAPE(4000), 60000.0))),
                           60000.0, 32.0);
    }
}

static void ties_give_the_first_place(void **state)
{
    (void)state;
    enum { COUNT = 100003 };
    float *x = calloc(COUNT, sizeof *x);
    assert_non_null(x);
    x[77] = x[99] = x[100002] = 3;
    x[5003] = x[5004] = -2;
    GA_SCOPE {
        gpuarray *a = ga_from_host(x, GA_FLOAT32, GA_SHAPE(COUNT));
        assert_int_equal(ga_item_int64(ga_argmax(a)), 77);
        assert_int_equal(ga_item_int64(ga_argmin(a)), 5003);
        assert_int_equal(ga_item_int64(ga_argmax(ga_zeros_like(a))), 0);
        assert_int_equal(ga_item_int64(ga_argmax(ga_flip(a, 0))), 0);
        assert_int_equal(ga_item_int64(ga_argmin(ga_flip(a, 0))), COUNT - 1 - 5004);
        x[60000] = x[60001] = NAN;
        gpuarray *n = ga_from_host(x, GA_FLOAT32, GA_SHAPE(COUNT));
        assert_int_equal(ga_item_int64(ga_argmax(n)), 60000);
        assert_int_equal(ga_item_int64(ga_argmin(n)), 60000);
        assert_true(isnan(ga_item_double(ga_max(n))));
        assert_float_equal(ga_item_double(ga_nanmax(n)), 3.0, 0.0);
    }
    free(x);
}

/* ---- Errors ---- */

static void expect_error(const gpuarray *got, ga_status status, const char *text)
{
    assert_null(got);
    assert_int_equal(ga_error(), status);
    if (!strstr(ga_error_message(), text))
        fail_msg("\"%s\" lacks \"%s\"", ga_error_message(), text);
    ga_clear_error();
}

/* Rows whose last vector overlaps the one before, forwards and backwards. */
static void places_are_right_in_rows_of_any_length(void **state)
{
    enum { ROWS = 6, MOST = 150, DRAWS = 12 };
    static int32_t x[ROWS * MOST];
    int64_t places[ROWS];
    uint64_t seed = 7;
    (void)state;
    for (int64_t draw = DRAWS, length; (length = draw / DRAWS) <= MOST; draw++)
        GA_SCOPE {
            for (int64_t k = 0; k < ROWS * length; k++)
                x[k] = (int32_t)random_below(&seed, 16);
            const bool back = random_below(&seed, 2);
            const gpuarray *rows = ga_from_host(x, GA_INT32, GA_SHAPE(ROWS, length));
            const gpuarray *found = ga_argmax(back ? ga_flip(rows, 1) : rows, GA_AXIS(1));
            assert_int_equal(ga_to_host(found, places, ga_nbytes(found)), GA_OK);
            for (int64_t r = 0; r < ROWS; r++) {
                int64_t best = 0;
                for (int64_t k = 1; k < length; k++) {
                    const int32_t *row = x + r * length;
                    const int64_t last = length - 1;
                    if (row[back ? last - k : k] > row[back ? last - best : best])
                        best = k;
                }
                if (places[r] != best)
                    fail_msg("row %d of %d elements: %d, wanted %d", (int)r, (int)length,
                             (int)places[r], (int)best);
            }
        }
}

/* Rows about the lengths at which the host takes 32, 64 and 128 elements side by side, and about
 * those that leave a quarter of them at the end: a length, a NaN in every third row. */
static void compare_extremes(ga_dtype dtype, int64_t length)
{
    enum { ROWS = 5 };
    static double x[ROWS * 1100], most[ROWS];
    int64_t places[ROWS];
    uint64_t seed = (uint64_t)length;
    for (int64_t k = 0; k < ROWS * length; k++)
        x[k] = (double)random_below(&seed, 100) - 110;
    for (int r = 0; r < ROWS && dtype != GA_INT8; r += 3)
        x[r * length + (int64_t)random_below(&seed, (unsigned)length)] = NAN;
    GA_SCOPE {
        const gpuarray *rows =
            ga_astype(ga_from_host(x, GA_FLOAT64, GA_SHAPE(ROWS, length)), dtype);
        ga_to_host(ga_astype(ga_max(rows, GA_AXIS(1)), GA_FLOAT64), most, sizeof most);
        ga_to_host(ga_argmax(rows, GA_AXIS(1)), places, sizeof places);
        assert_int_equal(ga_error(), GA_OK);
    }
    for (int64_t r = 0; r < ROWS; r++) {
        const double *row = x + r * length;
        int64_t best = 0;
        for (int64_t k = 1; k < length; k++)
            if (!isnan(row[best]) && (isnan(row[k]) || row[k] > row[best]))
                best = k;
        if (places[r] != best || !(most[r] == row[best] || (isnan(most[r]) && isnan(row[best]))))
            fail_msg("%s, row %d of %d elements: %g at %d, wanted %g at %d", ga_dtype_name(dtype),
                     (int)r, (int)length, most[r], (int)places[r], row[best], (int)best);
    }
}

static void extremes_are_right_about_every_count_of_lanes(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT64, GA_INT8};
    static const int64_t lengths[] = {255,  256,  257,  256 + 7,   256 + 8,   256 + 9,  256 + 17,
                                      511,  512,  513,  512 + 15,  512 + 16,  512 + 17, 512 + 33,
                                      1023, 1024, 1025, 1024 + 31, 1024 + 32, 1024 + 33};
    (void)state;
    for (int d = 0; d < 3; d++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            compare_extremes(dtypes[d], lengths[l]);
}

static void wrong_axes_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *v = ga_ones(GA_FLOAT32, GA_SHAPE(5));
        expect_error(ga_sum(x, GA_AXIS(2)), GA_ERR_INVALID, "sum");
        expect_error(ga_sum(x, GA_AXIS(-3)), GA_ERR_INVALID, "-3");
        expect_error(ga_max(x, GA_AXIS(0, 0)), GA_ERR_INVALID, "max");
        expect_error(ga_max(x, GA_AXIS(1, -1)), GA_ERR_INVALID, "max");
        expect_error(ga_dot(x, x), GA_ERR_SHAPE, "dot");
        expect_error(ga_dot(v, ga_ones(GA_FLOAT32, GA_SHAPE(4))), GA_ERR_SHAPE, "dot");
        expect_error(ga_sum(NULL), GA_ERR_INVALID, "");
    }
}

/* Axes 0 and -1 of a 0-d array, which NumPy accepts. */
static void arrays_of_no_axes_take_axis_0(void **state)
{
    const int axes[] = {0, -1};
    char text[100];
    (void)state;
    for (size_t k = 0; reductions[k].name; k++)
        for (int way = 0; way < 4 && in_eighth(reductions[k].name); way++)
            GA_SCOPE {
                gpuarray *x = ga_scalar(GA_FLOAT32, 2.5);
                const ga_reduce_args plain = {.x = x};
                const ga_reduce_args named = {
                    .x = x, .naxes = 1, .axes = &axes[way % 2], .keepdims = way > 1};
                const double want = ga_item_double(reductions[k].call(sizeof plain, &plain));
                gpuarray *got = reductions[k].call(sizeof named, &named);
                assert_int_equal(ga_ndim(got), 0);
                assert_float_equal(ga_item_double(got), want, 0.0);
                snprintf(text, sizeof text, "%s(x, axis=%d, keepdims=%s)", reductions[k].name,
                         axes[way % 2], way > 1 ? "True" : "False");
                got = ga_eval(text, GA(x));
                assert_int_equal(ga_ndim(got), 0);
                assert_float_equal(ga_item_double(got), want, 0.0);
            }
    GA_SCOPE {
        gpuarray *x = ga_scalar(GA_FLOAT32, 2.5), *v = ga_ones(GA_FLOAT32, GA_SHAPE(5));
        assert_float_equal(ga_item_double(ga_eval("sum(v, axis=0)", GA(v))), 5.0, 0.0);
        assert_float_equal(ga_item_double(ga_eval("sum(v, axis=0)", GA_NAMED("v", x))), 2.5, 0.0);
        expect_error(ga_sum(x, GA_AXIS(1)), GA_ERR_INVALID, "axis 1 is out of range for 0");
        expect_error(ga_max(x, GA_AXIS(-2)), GA_ERR_INVALID, "axis -2");
        expect_error(ga_argmax(x, GA_AXIS(0, -1)), GA_ERR_INVALID, "argmax");
        expect_error(ga_eval("sum(x, axis=1)", GA(x)), GA_ERR_INVALID, "axis 1 is out of range");
        expect_error(ga_eval("sum(x, axis=(0, -1))", GA(x)), GA_ERR_INVALID, "axis 0");
        expect_error(ga_eval("sum(v, axis=(0, -1))", GA(v)), GA_ERR_INVALID, "given twice");
    }
}

static void wrong_outs_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4));
        gpuarray *row = ga_zeros(GA_FLOAT32, GA_SHAPE(4)),
                 *wrong = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
        gpuarray *ints = ga_zeros(GA_INT32, GA_SHAPE(4));
        expect_error(ga_sum(x, GA_AXIS(0), .out = wrong), GA_ERR_SHAPE, "sum");
        expect_error(ga_sum(x, GA_AXIS(0), .out = ints), GA_ERR_DTYPE, "int32");
        expect_error(ga_sum(x, GA_AXIS(0), .out = ga_broadcast_to(row, GA_SHAPE(2, 4))),
                     GA_ERR_INVALID, "sum");
        assert_ptr_equal(ga_sum(x, GA_AXIS(0), .out = row), row);
        assert_float_equal(ga_item_double(ga_max(row)), 3.0, 0.0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* .out may be (part of) the array that is reduced. */
static void out_may_overlap_the_array(void **state)
{
    (void)state;
    GA_SCOPE {
        float host[12], sums[4];
        for (int i = 0; i < 12; i++)
            host[i] = (float)i;
        gpuarray *x = ga_from_host(host, GA_FLOAT32, GA_SHAPE(3, 4));
        assert_non_null(ga_sum(x, GA_AXIS(0), .out = ga_slice(x, "1")));
        assert_int_equal(ga_to_host(ga_slice(x, "1"), sums, sizeof sums), GA_OK);
        for (int i = 0; i < 4; i++)
            assert_float_equal(sums[i], 12.0f + 3.0f * (float)i, 0.0f);
    }
}

/* axis=() reduces each element by itself. */
static void no_axes_reduce_each_element(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_arange(GA_INT8, -3, 3, 1), GA_SHAPE(2, 3));
        gpuarray *sum = ga_sum(ga_transpose(x), GA_AXIS()), *any = ga_any(x, GA_AXIS());
        gpuarray *var = ga_var(x, GA_AXIS(), .keepdims = true), *max = ga_max(x, GA_AXIS());
        assert_int_equal(ga_dtype_of(sum), GA_INT64);
        assert_int_equal(ga_ndim(sum), 2);
        for (int i = 0; i < 6; i++) {
            assert_int_equal(ga_item_int64(sum, i % 3, i / 3), i - 3);
            assert_int_equal(ga_item_bool(any, i), i != 3);
            assert_true(ga_item_double(var, i) == 0);
            assert_int_equal(ga_item_int64(max, i), i - 3);
        }
        assert_int_equal(ga_item_int64(ga_sum(ga_scalar(GA_INT8, 5), GA_AXIS())), 5);
        assert_int_equal(ga_size(ga_sum(ga_zeros(GA_INT8, GA_SHAPE(0, 2)), GA_AXIS())), 0);
        gpuarray *half = ga_var(ga_arange(GA_FLOAT64, 0, 3, 1), .correction = 0.5);
        assert_true(ga_item_double(half) == 0.8);
        half = ga_var(ga_arange(GA_FLOAT64, 0, 3, 1), .ddof = 1, .correction = -0.5);
        assert_true(ga_item_double(half) == 0.8);
    }
}

/* Element (row, column) of operand k: a small integer. */
static int64_t digit_of(int k, int64_t row, int64_t column)
{
    static const int64_t down[] = {1, 3, 5, 2, 7}, modulus[] = {11, 7, 13, 5, 17};
    return (down[k] * row + column) % modulus[k];
}

/* Few rows of many columns: a thread takes as many rows together as its operands leave room for. */
static void tall_columns_of_several_operands_are_whole(void **state)
{
    (void)state;
    enum { ROWS = 41, OPERANDS = 5 };
    static const char *const texts[] = {"sum(a - b, axis=0)", "sum(a - b + c, axis=0)",
                                        "sum(a - b + c - d, axis=0)",
                                        "sum(a - b + c - d + e, axis=0)"};
    static const char *const letters[] = {"a", "b", "c", "d", "e"};
    const int64_t columns = on_host() ? 2001 : 140001;
    float *numbers = malloc((size_t)(ROWS * columns) * sizeof *numbers);
    assert_non_null(numbers);
    GA_SCOPE {
        ga_named names[OPERANDS];
        for (int k = 0; k < OPERANDS; k++) {
            for (int64_t at = 0; at < ROWS * columns; at++)
                numbers[at] = (float)digit_of(k, at / columns, at % columns);
            gpuarray *x = ga_from_host(numbers, GA_FLOAT32, GA_SHAPE(ROWS, columns));
            names[k] = GA_NAMED(letters[k], k == 3 ? ga_astype(x, GA_FLOAT16) : x);
        }
        for (int n = 2; n <= OPERANDS; n++) {
            const gpuarray *sums = (ga_eval)(texts[n - 2], n, names);
            assert_int_equal(ga_to_host(sums, numbers, (size_t)columns * sizeof *numbers), GA_OK);
            for (int64_t column = 0; column < columns; column++) {
                int64_t wanted = 0;
                for (int64_t row = 0; row < ROWS; row++)
                    for (int k = 0; k < n; k++)
                        wanted += (k % 2 ? -1 : 1) * digit_of(k, row, column);
                if (numbers[column] != (float)wanted)
                    fail_msg("%s: column %lld is %g, not %lld", texts[n - 2], (long long)column,
                             (double)numbers[column], (long long)wanted);
            }
        }
    }
    free(numbers);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(every_row_answers_as_numpy),
        cmocka_unit_test(any_axes_of_any_layout_agree_with_loops),
        cmocka_unit_test(every_rung_of_the_ladder_agrees_with_loops),
        slow_test(short_rows_of_any_dtype_agree_with_columns),
        slow_test(wide_columns_of_any_dtype_agree_with_rows),
        cmocka_unit_test(runs_of_many_outputs_agree_with_rows),
        cmocka_unit_test(a_sum_has_the_same_bits_in_every_run),
        cmocka_unit_test(large_sums_are_accurate),
        cmocka_unit_test(small_floats_sum_in_float32),
        cmocka_unit_test(ties_give_the_first_place),
        cmocka_unit_test(places_are_right_in_rows_of_any_length),
        slow_test(extremes_are_right_about_every_count_of_lanes),
        cmocka_unit_test(wrong_axes_are_errors),
        cmocka_unit_test(arrays_of_no_axes_take_axis_0),
        cmocka_unit_test(wrong_outs_are_errors),
        cmocka_unit_test(out_may_overlap_the_array),
        cmocka_unit_test(no_axes_reduce_each_element),
        cmocka_unit_test(tall_columns_of_several_operands_are_whole),
    };
    file = golden_open("reduce.bin");
    sample_on_gpu(5);
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
