/* Broadcasting, strides and writing into arrays: random shapes and layouts against host loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "model/layout.h"
#include "parallel.h"
#include "random.h"
#include "run.h"

/* ---- Random operands ---- */

/* An operand: its elements in C order on the host, and an array that holds them in some layout. */
typedef struct operand {
    int ndim;
    int64_t shape[GA_MAX_NDIM], size;
    double *values;
    gpuarray *array;
} operand;

static int64_t below(uint64_t *seed, int64_t bound)
{
    return (int64_t)(next_random(seed) % (uint64_t)bound);
}

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* Stores `value` as element k of dtype (bool, int32, float32 or float64). */
static void store(ga_dtype dtype, void *to, int64_t k, double value)
{
    if (dtype == GA_BOOL)
        ((bool *)to)[k] = value != 0;
    else if (dtype == GA_INT32)
        ((int32_t *)to)[k] = (int32_t)value;
    else if (dtype == GA_FLOAT32)
        ((float *)to)[k] = (float)value;
    else
        ((double *)to)[k] = value;
}

static double fetch(ga_dtype dtype, const void *from, int64_t k)
{
    if (dtype == GA_BOOL)
        return ((const bool *)from)[k];
    if (dtype == GA_INT32)
        return ((const int32_t *)from)[k];
    return dtype == GA_FLOAT32 ? (double)((const float *)from)[k] : ((const double *)from)[k];
}

/* The elements of a base, of axes that come before, from which an axis has no gaps: 32 axes with
 * gaps would be gigabytes. */
enum { MOST_PADDED = 1 << 16 };

/* The memory layout of a random operand: its axis k is axis `order[k]` of its base, every step-th
 * element from `start` on, possibly backwards. */
typedef struct arrangement {
    int order[GA_MAX_NDIM], inverse[GA_MAX_NDIM];
    int64_t base[GA_MAX_NDIM], step[GA_MAX_NDIM], start[GA_MAX_NDIM];
    bool backwards[GA_MAX_NDIM];
} arrangement;

static void arrange(arrangement *m, const operand *o, uint64_t *seed)
{
    bool plain = below(seed, 3) == 0;
    for (int k = 0; k < o->ndim; k++)
        m->order[k] = k;
    for (int k = o->ndim - 1; k > 0 && !plain; k--) {
        int j = (int)below(seed, k + 1), swap = m->order[k];
        m->order[k] = m->order[j];
        m->order[j] = swap;
    }
    int64_t base_size = 1;
    for (int k = 0; k < o->ndim; k++) {
        const bool whole = plain || base_size > MOST_PADDED;
        m->inverse[m->order[k]] = k;
        m->step[k] = whole ? 1 : 1 + (below(seed, 4) == 0);
        m->start[k] = whole ? 0 : below(seed, 2);
        m->backwards[k] = !plain && below(seed, 4) == 0;
        m->base[k] = m->start[k] + o->shape[m->order[k]] * m->step[k];
        base_size *= m->base[k];
    }
}

/* The position in the base of element `index` (in the operand's axes). */
static int64_t base_place(const arrangement *m, const operand *o, const int64_t *index)
{
    int64_t place = 0;
    for (int k = 0; k < o->ndim; k++) {
        int64_t i = index[m->order[k]], length = o->shape[m->order[k]];
        place =
            place * m->base[k] + m->start[k] + (m->backwards[k] ? length - 1 - i : i) * m->step[k];
    }
    return place;
}

/* The view of the base that is the operand. */
static gpuarray *arranged_view(const arrangement *m, const operand *o, gpuarray *base)
{
    ga_range ranges[GA_MAX_NDIM];
    for (int k = 0; k < o->ndim; k++)
        ranges[k] =
            GA_RANGE(m->start[k], m->start[k] + o->shape[m->order[k]] * m->step[k], m->step[k]);
    gpuarray *view = ga_slice_ranges(base, o->ndim, ranges);
    for (int k = 0; k < o->ndim; k++)
        view = m->backwards[k] ? ga_flip(view, k) : view;
    return ga_transpose_axes(view, o->ndim, m->inverse);
}

static bool next_index(int ndim, const int64_t *shape, int64_t *index)
{
    for (int i = ndim - 1; i >= 0; i--) {
        if (++index[i] < shape[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/* Fills the values and the array of an operand whose shape is set. */
static void operand_fill(operand *o, ga_dtype dtype, uint64_t *seed)
{
    arrangement m;
    int64_t base_size = 1, index[GA_MAX_NDIM] = {0};
    arrange(&m, o, seed);
    o->size = 1;
    for (int k = 0; k < o->ndim; k++) {
        o->size *= o->shape[k];
        base_size *= m.base[k];
    }
    o->values = checked(calloc((size_t)o->size + 1, sizeof *o->values));
    void *host = checked(calloc((size_t)base_size + 1, 8));
    for (int64_t k = 0; k < o->size; k++, next_index(o->ndim, o->shape, index)) {
        o->values[k] = (double)(dtype == GA_BOOL ? below(seed, 2) : below(seed, 2000) - 1000);
        store(dtype, host, base_place(&m, o, index), o->values[k]);
    }
    o->array = arranged_view(&m, o, ga_from_host(host, dtype, o->ndim, m.base));
    free(host);
}

/* A random shape that broadcasts to `shape`, and an operand of that shape. */
static void operand_init(operand *o, ga_dtype dtype, int ndim, const int64_t *shape, uint64_t *seed)
{
    int dropped = below(seed, 3) == 0 ? (int)below(seed, ndim + 1) : 0;
    o->ndim = ndim - dropped;
    for (int k = 0; k < o->ndim; k++)
        o->shape[k] = below(seed, 4) == 0 ? 1 : shape[dropped + k];
    operand_fill(o, dtype, seed);
}

/* The operand's element at an index of the broadcast shape. */
static double broadcast_element(const operand *o, int ndim, const int64_t *index)
{
    int64_t place = 0;
    for (int k = 0; k < o->ndim; k++)
        place = place * o->shape[k] + (o->shape[k] == 1 ? 0 : index[ndim - o->ndim + k]);
    return o->values[place];
}

/* ---- Operations against loops ---- */

typedef struct operation {
    const char *name;
    int nargs;
    ga_dtype dtypes[3], result;
    gpuarray *(*device)(const operand *);
    double (*host)(const double *);
} operation;

static gpuarray *device_add(const operand *o)
{
    return ga_add(o[0].array, o[1].array);
}
static double host_add(const double *v)
{
    return v[0] + v[1];
}
static gpuarray *device_where(const operand *o)
{
    return ga_where(o[0].array, o[1].array, o[2].array);
}
static double host_where(const double *v)
{
    return v[0] != 0 ? v[1] : v[2];
}
static gpuarray *device_copy(const operand *o)
{
    return ga_copy(o[0].array);
}
static gpuarray *device_astype(const operand *o)
{
    return ga_astype(o[0].array, GA_FLOAT64);
}
static double host_copy(const double *v)
{
    return v[0];
}

static const operation operations[] = {
    {"add", 2, {GA_FLOAT32, GA_FLOAT32}, GA_FLOAT32, device_add, host_add},
    {"add of int32 and float64", 2, {GA_INT32, GA_FLOAT64}, GA_FLOAT64, device_add, host_add},
    {"where", 3, {GA_BOOL, GA_FLOAT32, GA_FLOAT32}, GA_FLOAT32, device_where, host_where},
    {"copy", 1, {GA_FLOAT32}, GA_FLOAT32, device_copy, host_copy},
    {"astype", 1, {GA_INT32}, GA_FLOAT64, device_astype, host_copy},
};
enum { OPERATIONS = sizeof operations / sizeof *operations, ROUNDS = 60 };

/* The broadcast shape of the operands that were made. */
static int result_shape(const operand *o, int count, int64_t *shape)
{
    int ndim = 0;
    for (int a = 0; a < count; a++)
        ndim = o[a].ndim > ndim ? o[a].ndim : ndim;
    for (int k = 0; k < ndim; k++)
        shape[k] = 1;
    for (int a = 0; a < count; a++)
        for (int k = 0; k < o[a].ndim; k++)
            if (o[a].shape[k] != 1)
                shape[ndim - o[a].ndim + k] = o[a].shape[k];
    return ndim;
}

static void compare(const operation *op, const operand *o, const gpuarray *got, const char *what)
{
    int64_t shape[GA_MAX_NDIM], index[GA_MAX_NDIM] = {0};
    int ndim = result_shape(o, op->nargs, shape);
    if (!got || ga_ndim(got) != ndim || ga_dtype_of(got) != op->result ||
        (ndim && memcmp(ga_shape(got), shape, (size_t)ndim * 8) != 0)) {
        fail_later("%s, %s: %s %s, wanted %s %s; %s", op->name, what,
                   ga_dtype_name(ga_dtype_of(got)), ga__shape_text(ga_ndim(got), ga_shape(got)),
                   ga_dtype_name(op->result), ga__shape_text(ndim, shape), ga_error_message());
        return;
    }
    void *host = checked(malloc(ga_nbytes(got) + 1));
    ga_to_host(got, host, ga_nbytes(got));
    for (int64_t k = 0; k < ga_size(got); k++, next_index(ndim, shape, index)) {
        double v[3] = {0};
        for (int a = 0; a < op->nargs; a++)
            v[a] = broadcast_element(&o[a], ndim, index);
        if (fetch(op->result, host, k) == op->host(v))
            continue;
        fail_later("%s, %s: element %lld is %g, wanted %g", op->name, what, (long long)k,
                   fetch(op->result, host, k), op->host(v));
        break;
    }
    free(host);
}

static void run_operation(const operation *op, int ndim, const int64_t *shape, uint64_t *seed,
                          const char *what)
{
    operand o[3];
    GA_SCOPE {
        for (int a = 0; a < op->nargs; a++)
            operand_init(&o[a], op->dtypes[a], ndim, shape, seed);
        compare(op, o, op->device(o), what);
        for (int a = 0; a < op->nargs; a++)
            free(o[a].values);
    }
    ga_clear_error();
}

static void check_round(int item)
{
    uint64_t seed = (uint64_t)item * 977 + 5;
    char what[40];
    int64_t shape[5];
    int ndim = (int)below(&seed, 6);
    for (int k = 0; k < ndim; k++)
        shape[k] = below(&seed, 12) == 0 ? 0 : 1 + below(&seed, ndim < 3 ? 40 : 6);
    snprintf(what, sizeof what, "round %d", item);
    run_operation(&operations[item % OPERATIONS], ndim, shape, &seed, what);
}

static void random_shapes_and_layouts_agree_with_loops(void **state)
{
    (void)state;
    in_threads(ROUNDS * OPERATIONS, check_round);
    assert_int_equal(failures(), 0);
}

static void arrays_of_eight_and_32_axes_work(void **state)
{
    (void)state;
    const int64_t eight[8] = {2, 3, 2, 1, 3, 2, 2, 3};
    int64_t most[GA_MAX_NDIM];
    uint64_t seed = 99;
    for (int k = 0; k < GA_MAX_NDIM; k++)
        most[k] = k % 4 == 1 ? 2 : 1;
    for (int i = 0; i < 6; i++) {
        run_operation(&operations[i % OPERATIONS], 8, eight, &seed, "8 axes");
        run_operation(&operations[i % OPERATIONS], GA_MAX_NDIM, most, &seed, "32 axes");
    }
    assert_int_equal(failures(), 0);
}

/* Rows that are far apart: strides are large in bytes, but their elements fit 32 bits. */
static void a_transpose_of_a_large_array_is_copied_right(void **state)
{
    (void)state;
    enum { ROWS = 517, COLUMNS = 403 };
    float *x = checked(malloc(ROWS * COLUMNS * sizeof *x)),
          *y = checked(malloc(ROWS * COLUMNS * sizeof *y));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)i;
    GA_SCOPE {
        gpuarray *a = ga_from_host(x, GA_FLOAT32, GA_SHAPE(ROWS, COLUMNS));
        gpuarray *b = ga_from_host(x, GA_FLOAT32, GA_SHAPE(COLUMNS, ROWS));
        gpuarray *sum = ga_add(ga_transpose(a), b);
        assert_int_equal(ga_to_host(sum, y, ROWS * COLUMNS * sizeof *y), GA_OK);
        for (int i = 0; i < COLUMNS; i++)
            for (int j = 0; j < ROWS; j++)
                assert_true(y[i * ROWS + j] == x[j * COLUMNS + i] + x[i * ROWS + j]);
    }
    free(x);
    free(y);
}

/* ---- Writing into arrays ---- */

static gpuarray *count_up(int64_t count)
{
    return ga_arange(GA_FLOAT32, 0, (double)count, 1);
}

static double element(const gpuarray *x, int64_t i)
{
    return ga_item_double(ga_slice(x, "%lld", (long long)i));
}

static void out_may_be_an_operand(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(1000);
        assert_int_equal(ga_add_into(x, x, x), GA_OK);
        assert_int_equal(ga_multiply_into(x, x, 0.5), GA_OK);
        assert_int_equal(ga_subtract_into(x, 999.0, x), GA_OK);
        for (int i = 0; i < 1000; i += 37)
            assert_float_equal(element(x, i), 999 - i, 0);
        gpuarray *row = ga_slice(ga_reshape(x, GA_SHAPE(10, 100)), "3");
        assert_int_equal(ga_negative_into(row, row), GA_OK);
        assert_float_equal(element(x, 299), 700, 0);
        assert_float_equal(element(x, 300), -699, 0);
        assert_float_equal(element(x, 400), 599, 0);
    }
}

/* The results are as if every operand had been copied first. */
static void out_may_overlap_the_operands(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(100000);
        assert_int_equal(ga_add_into(ga_slice(x, "1:"), ga_slice(x, ":-1"), 1), GA_OK);
        for (int i = 0; i < 100000; i += 997)
            assert_float_equal(element(x, i), i, 0);
        assert_int_equal(ga_add_into(ga_slice(x, ":-1"), ga_slice(x, "1:"), 1), GA_OK);
        assert_float_equal(element(x, 5), 7, 0);
        gpuarray *y = count_up(1001);
        assert_int_equal(ga_positive_into(y, ga_flip(y, 0)), GA_OK);
        for (int i = 0; i < 1001; i += 100)
            assert_float_equal(element(y, i), 1000 - i, 0);
        gpuarray *m = ga_reshape(count_up(90000), GA_SHAPE(300, 300)), *flat = ga_ravel(m);
        assert_int_equal(ga_positive_into(m, ga_transpose(m)), GA_OK);
        assert_float_equal(element(flat, 7), 2100, 0);
        assert_float_equal(element(flat, 300 * 17 + 3), 300 * 3 + 17, 0);
        assert_int_equal(ga_add_into(ga_slice(m, "1:"), ga_slice(m, "1:"), ga_slice(m, "0")),
                         GA_OK);
        assert_int_equal(ga_add_into(m, m, ga_slice(m, "1")), GA_OK);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void out_may_have_another_dtype_of_its_kind(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(37);
        gpuarray *wide = ga_zeros(GA_FLOAT64, GA_SHAPE(37)),
                 *half = ga_zeros(GA_FLOAT16, GA_SHAPE(37));
        gpuarray *z = ga_zeros(GA_COMPLEX64, GA_SHAPE(37)),
                 *truth = ga_zeros(GA_UINT8, GA_SHAPE(37));
        assert_int_equal(ga_add_into(wide, x, 0.5f), GA_OK);
        assert_int_equal(ga_add_into(half, x, 0.5), GA_OK);
        assert_int_equal(ga_add_into(z, x, 0.5), GA_OK);
        assert_int_equal(ga_less_into(truth, x, 7), GA_OK);
        assert_float_equal(element(wide, 36), 36.5, 0);
        assert_float_equal(element(half, 36), 36.5, 0);
        assert_float_equal(element(ga_real(z), 36), 36.5, 0);
        assert_int_equal(ga_item_int64(ga_sum(truth)), 7);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void operands_broadcast_into_out(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *out = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 37));
        assert_int_equal(ga_add_into(out, count_up(37), 1), GA_OK);
        assert_float_equal(ga_item_double(ga_slice(out, "2, 36")), 37, 0);
        assert_int_equal(ga_add_into(ga_zeros(GA_FLOAT32, GA_SHAPE(0, 4)), 1.0, 2.0), GA_OK);
        assert_int_equal(ga_assign(ga_slice(out, ":, ::2"), -1), GA_OK);
        assert_float_equal(ga_item_double(ga_sum(ga_slice(out, "1, ::2"))), -19, 0);
        assert_float_equal(ga_item_double(ga_slice(out, "1, 1")), 2, 0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* ---- Errors ---- */

static void expect_null(const gpuarray *got, ga_status status, const char *text)
{
    assert_null(got);
    assert_error(status, text);
}

static void wrong_shapes_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *b = ga_ones(GA_FLOAT32, GA_SHAPE(5));
        gpuarray *out = ga_ones(GA_FLOAT32, GA_SHAPE(4));
        expect_null(ga_add(a, b), GA_ERR_SHAPE, "add: shapes (3, 4) and (5,) do not broadcast");
        expect_null(ga_where(ga_less(a, 2), a, b), GA_ERR_SHAPE, "where: shapes");
        assert_fails(ga_add_into(out, a, 1), GA_ERR_SHAPE, "add");
        assert_fails(ga_add_into(ga_slice(a, "0:1"), a, 1), GA_ERR_SHAPE, "(3, 4)");
        assert_fails(ga_assign(out, a), GA_ERR_SHAPE, "(3, 4)");
    }
}

static void wrong_outs_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_ones(GA_FLOAT32, GA_SHAPE(4)), *ints = ga_ones(GA_INT32, GA_SHAPE(4));
        assert_fails(ga_add_into(ints, a, 1), GA_ERR_DTYPE, "float32");
        assert_fails(ga_add_into(ga_ones(GA_UINT8, GA_SHAPE(4)), ints, 1), GA_ERR_DTYPE, "uint8");
        assert_fails(ga_add_into(a, ga_ones(GA_COMPLEX64, GA_SHAPE(4)), 1), GA_ERR_DTYPE,
                     "complex64");
        assert_fails(ga_add_into(ga_broadcast_to(a, GA_SHAPE(3, 4)), a, 1), GA_ERR_INVALID, "add");
        assert_float_equal(ga_item_double(ga_sum(a)), 4, 0);
        assert_float_equal(ga_item_double(ga_sum(ints)), 4, 0);
    }
}

/* With no earlier error, NULL itself may be one. */
static void expect_nothing(const gpuarray *got)
{
    assert_null(got);
    assert_true(ga_error() == GA_OK || ga_error() == GA_ERR_INVALID);
    ga_clear_error();
}

/* A failed result passes through a chain; the first error is kept. */
static void null_passes_through(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3)), *nothing = NULL;
        expect_nothing(ga_add(x, nothing));
        expect_nothing(ga_sin(nothing));
        expect_nothing(ga_where(x, nothing, 1));
        expect_nothing(ga_sum(ga_sqrt(nothing)));
        expect_nothing(ga_transpose(ga_copy(nothing)));
        assert_fails(ga_add_into(nothing, x, x), GA_ERR_INVALID, "add");
        assert_fails(ga_add_into(x, nothing, 5), GA_ERR_INVALID, "add");
        assert_float_equal(ga_item_double(ga_sum(x)), 3, 0);
        gpuarray *bad = ga_add(x, ga_ones(GA_FLOAT32, GA_SHAPE(2)));
        assert_null(ga_reshape(ga_multiply(bad, 2), GA_SHAPE(17)));
        assert_null(ga_slice(x, "9"));
        assert_int_equal(ga_error(), GA_ERR_SHAPE);
        assert_string_equal(ga_error_message(), "add: shapes (3,) and (2,) do not broadcast");
        ga_clear_error();
        assert_string_equal(ga_error_message(), "");
    }
}

static void a_pointer_that_is_no_array_is_an_error(void **state)
{
    (void)state;
    int number = 0;
    void *pointer = &number;
    GA_SCOPE {
        expect_null(ga_sin(pointer), GA_ERR_INVALID, "sin");
        expect_null(ga_add(ga_ones(GA_FLOAT32, GA_SHAPE(2)), pointer), GA_ERR_INVALID, "add");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_shapes_and_layouts_agree_with_loops),
        cmocka_unit_test(arrays_of_eight_and_32_axes_work),
        cmocka_unit_test(a_transpose_of_a_large_array_is_copied_right),
        cmocka_unit_test(out_may_be_an_operand),
        cmocka_unit_test(out_may_overlap_the_operands),
        cmocka_unit_test(out_may_have_another_dtype_of_its_kind),
        cmocka_unit_test(operands_broadcast_into_out),
        cmocka_unit_test(wrong_shapes_are_errors),
        cmocka_unit_test(wrong_outs_are_errors),
        cmocka_unit_test(null_passes_through),
        cmocka_unit_test(a_pointer_that_is_no_array_is_an_error),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
