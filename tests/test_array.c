/* Making, reading, copying, converting and moving arrays. */

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "golden.h"
#include "run.h"

static void makers_give_their_shapes_and_numbers(void **state)
{
    double got[6];

    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT64, GA_SHAPE(2, 3));
        assert_shape(x, GA_SHAPE(2, 3));
        assert_int_equal(ga_strides(x)[0], 24);
        assert_int_equal(ga_strides(x)[1], 8);
        assert_int_equal(ga_size(x), 6);
        assert_int_equal(ga_nbytes(x), 48);
        assert_int_equal(ga_dtype_of(x), GA_FLOAT64);
        assert_true(ga_is_contiguous(x));
        assert_non_null(ga_data(x));
        assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
        assert_elements(GA_FLOAT64, 6, got, (double[6]){0});
        assert_int_equal(ga_to_host(ga_ones_like(x), got, sizeof got), GA_OK);
        assert_elements(GA_FLOAT64, 6, got, (double[]){1, 1, 1, 1, 1, 1});
        assert_numbers(ga_ones(GA_INT32, GA_SHAPE(3)), NUMBERS(1, 1, 1));
        assert_numbers(ga_full(GA_INT32, GA_SHAPE(2), -7.9), NUMBERS(-7, -7));
        assert_numbers(ga_full(GA_INT32, 1, (int64_t[]){2}, 7), NUMBERS(7, 7));
        assert_numbers(ga_full_like(counting(GA_SHAPE(1, 2)), 5), NUMBERS(5, 5));
        assert_numbers(ga_zeros_like(counting(GA_SHAPE(2))), NUMBERS(0, 0));
        assert_shape(ga_empty_like(ga_transpose(x)), GA_SHAPE(3, 2));
        assert_true(ga_is_contiguous(ga_empty_like(ga_transpose(x))));
        assert_int_equal(ga_ndim(ga_zeros(GA_BOOL, GA_SHAPE0)), 0);
        assert_shape(ga_ones(GA_INT8, GA_SHAPE(0, 4)), GA_SHAPE(0, 4));
        assert_null(ga_data(ga_empty(GA_INT8, GA_SHAPE(0))));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void full_broadcasts_an_array(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *row = counting(GA_SHAPE(2));
        assert_numbers(ga_full(GA_INT32, GA_SHAPE(3, 2), row), NUMBERS(0, 1, 0, 1, 0, 1));
        assert_numbers(ga_full(GA_INT32, GA_SHAPE(2), ga_scalar(GA_FLOAT64, 2.5)), NUMBERS(2, 2));
        assert_shape(ga_full(GA_INT32, GA_SHAPE(0, 2), row), GA_SHAPE(0, 2));
        assert_null(ga_full(GA_INT32, GA_SHAPE(2, 3), row));
        assert_error(GA_ERR_SHAPE, "full: a fill of shape (2,) does not broadcast to (2, 3)");
        assert_null(ga_full(GA_INT32, GA_SHAPE(1), row));
        assert_error(GA_ERR_SHAPE, "does not broadcast to (1,)");
        assert_null(ga_full(GA_INT32, GA_SHAPE(2), (void *)row));
        assert_error(GA_ERR_INVALID, "pointer");
    }
}

static void bad_shapes_are_errors(void **state)
{
    int64_t many[GA_MAX_NDIM + 1] = {0};

    (void)state;
    assert_null(ga_empty(GA_INT8, GA_SHAPE(3, -1)));
    assert_error(GA_ERR_SHAPE, "shape (3, -1) has the negative length -1");
    assert_null(ga_zeros(GA_INT8, GA_SHAPE(INT64_MAX, 2)));
    assert_error(GA_ERR_SHAPE, "(9223372036854775807, 2) of int8");
    assert_null(ga_ones(GA_FLOAT64, GA_SHAPE(INT64_C(1) << 60)));
    assert_error(GA_ERR_SHAPE, "more than 2^63 bytes");
    assert_null(ga_empty(GA_INT8, GA_MAX_NDIM + 1, many));
    assert_error(GA_ERR_INVALID, "33 dimensions");
    assert_null(ga_empty(GA_INT8, -1, many));
    assert_error(GA_ERR_INVALID, "-1 dimensions");
    assert_null(ga_empty(GA_INT8, 2, NULL));
    assert_error(GA_ERR_INVALID, "NULL");
    assert_null(ga_empty(GA_NO_DTYPE, GA_SHAPE(1)));
    assert_error(GA_ERR_DTYPE, "0 is not a dtype");
    assert_null(ga_empty((ga_dtype)999, GA_SHAPE(1)));
    assert_error(GA_ERR_DTYPE, "999 is not a dtype");
    assert_null(ga_scalar((ga_dtype)999, 1));
    assert_error(GA_ERR_DTYPE, "999 is not a dtype");
    gpuarray *x = ga_empty(GA_INT8, GA_SHAPE(0, INT64_MAX, 4));
    ga_free(x); /* empty whatever the other lengths are, or rejected */
    ga_clear_error();
    x = ga_ones(GA_INT8, GA_SHAPE(2));
    assert_null(ga_astype(x, (ga_dtype)99));
    assert_error(GA_ERR_DTYPE, "astype: 99 is not a dtype");
    ga_free(x);
    ga_clear_error();
}

static void questions_about_null_have_answers(void **state)
{
    (void)state;
    assert_null(ga_device_of(NULL));
    assert_int_equal(ga_ndim(NULL), -1);
    assert_null(ga_shape(NULL));
    assert_null(ga_strides(NULL));
    assert_int_equal(ga_size(NULL), 0);
    assert_int_equal(ga_nbytes(NULL), 0);
    assert_int_equal(ga_dtype_of(NULL), GA_NO_DTYPE);
    assert_null(ga_data(NULL));
    assert_false(ga_is_contiguous(NULL));
    assert_int_equal(ga_error(), GA_OK);
    assert_int_equal(ga_to_host(NULL, NULL, 0), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "to_host");
    assert_null(ga_empty(GA_INT8, GA_SHAPE(-5))); /* the first error stays */
    assert_true(isnan(ga_item_double(NULL)));
    assert_error(GA_ERR_SHAPE, "-5");
}

static void host_memory_goes_there_and_back(void **state)
{
    const int16_t numbers[] = {1, 2, 3, 4, 5, 6};
    int16_t got[6];

    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host(numbers, GA_INT16, GA_SHAPE(2, 3));
        assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
        assert_elements(GA_INT16, 6, got, numbers);
        assert_int_equal(ga_to_host(ga_transpose(x), got, sizeof got), GA_OK);
        assert_elements(GA_INT16, 6, got, (int16_t[]){1, 4, 2, 5, 3, 6});
        assert_int_equal(ga_to_host(x, got, 10), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "the buffer has 10 bytes, shape (2, 3) of int16 has 12");
        assert_int_equal(ga_to_host(x, NULL, 12), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "buffer is NULL");
        assert_null(ga_from_host(NULL, GA_INT16, GA_SHAPE(2)));
        assert_error(GA_ERR_INVALID, "data is NULL");
        gpuarray *none = ga_from_host(NULL, GA_INT16, GA_SHAPE(0));
        assert_shape(none, GA_SHAPE(0));
        assert_int_equal(ga_to_host(none, NULL, 0), GA_OK);
    }
}

static void copies_have_memory_of_their_own(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3));
        gpuarray *y = ga_copy(x);
        assert_numbers(y, NUMBERS(0, 1, 2, 3, 4, 5));
        assert_ptr_not_equal(ga_data(x), ga_data(y));
        y = ga_copy(ga_slice(x, "::-1, 1:"));
        assert_numbers(y, NUMBERS(4, 5, 1, 2));
        assert_true(ga_is_contiguous(y));
        y = ga_astype(ga_astype(x, GA_COMPLEX64), GA_INT32);
        assert_numbers(y, NUMBERS(0, 1, 2, 3, 4, 5));
        assert_numbers(ga_astype(ga_astype(x, GA_BOOL), GA_INT32), NUMBERS(0, 1, 1, 1, 1, 1));
        assert_ptr_not_equal(ga_data(ga_astype(x, GA_INT32)), ga_data(x));
        assert_null(ga_astype(x, GA_NO_DTYPE));
        assert_error(GA_ERR_DTYPE, "not a dtype");
        assert_int_equal(ga_ndim(ga_copy(ga_scalar(GA_INT8, 1))), 0);
        assert_shape(ga_copy(ga_slice(x, ":0")), GA_SHAPE(0, 3));
    }
}

/* Numbers that no element of these dtypes can hold, and how messages show them. */
static const struct {
    ga_dtype dtype;
    ga_value number;
    const char *text;
} misfits[] = {
    {GA_INT8, {GA_VALUE_NUMBER, GA_INT32, {.i = 1000}}, "1000 does not fit int8"},
    {GA_INT8, {GA_VALUE_NUMBER, GA_INT32, {.i = -129}}, "-129 does not fit int8"},
    {GA_UINT8, {GA_VALUE_NUMBER, GA_INT32, {.i = 300}}, "300 does not fit uint8"},
    {GA_UINT64, {GA_VALUE_NUMBER, GA_INT64, {.i = -1}}, "-1 does not fit uint64"},
    {GA_INT64, {GA_VALUE_NUMBER, GA_UINT64, {.u = UINT64_MAX}}, "18446744073709551615 does not"},
    {GA_INT8, {GA_VALUE_NUMBER, GA_FLOAT64, {.z = {128}}}, "128 does not fit int8"},
    {GA_UINT16, {GA_VALUE_NUMBER, GA_FLOAT64, {.z = {-1}}}, "-1 does not fit uint16"},
    {GA_INT64, {GA_VALUE_NUMBER, GA_FLOAT64, {.z = {0x1p63}}}, "9.2233720368547758e+18 does not"},
    {GA_INT32, {GA_VALUE_NUMBER, GA_FLOAT64, {.z = {NAN}}}, "nan does not fit int32"},
    {GA_UINT8, {GA_VALUE_NUMBER, GA_COMPLEX128, {.z = {INFINITY, 0}}}, "inf does not fit uint8"},
};

static void a_number_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    GA_SCOPE {
        for (size_t k = 0; k < sizeof misfits / sizeof *misfits; k++) {
            gpuarray *x = ga_ones(misfits[k].dtype, GA_SHAPE(2));
            assert_int_equal(ga_assign(x, misfits[k].number), GA_ERR_INVALID);
            assert_error(GA_ERR_INVALID, misfits[k].text);
            assert_true(ga_item_double(ga_max(x)) == 1);
            assert_null(ga_full(misfits[k].dtype, GA_SHAPE(2), misfits[k].number));
            assert_error(GA_ERR_INVALID, misfits[k].text);
            assert_null(ga_full_like(x, misfits[k].number));
            assert_error(GA_ERR_INVALID, misfits[k].text);
            assert_null(ga_scalar(misfits[k].dtype, misfits[k].number));
            assert_error(GA_ERR_INVALID, misfits[k].text);
        }
    }
}

static void the_ends_of_a_dtype_fit(void **state)
{
    (void)state;
    GA_SCOPE {
        assert_int_equal(ga_item_int64(ga_full(GA_INT8, GA_SHAPE(1), -128)), -128);
        assert_int_equal(ga_item_int64(ga_full(GA_INT8, GA_SHAPE(1), -128.9)), -128);
        assert_int_equal(ga_item_int64(ga_full(GA_INT8, GA_SHAPE(1), 127.9)), 127);
        assert_int_equal(ga_item_int64(ga_full(GA_UINT8, GA_SHAPE(1), -0.9)), 0);
        assert_int_equal(ga_item_int64(ga_full(GA_BOOL, GA_SHAPE(1), 1000)), 1);
        assert_int_equal(ga_item_int64(ga_scalar(GA_INT64, -0x1p63)), INT64_MIN);
        assert_int_equal((uint64_t)ga_item_int64(ga_scalar(GA_UINT64, UINT64_MAX)), UINT64_MAX);
        gpuarray *x = ga_zeros(GA_INT8, GA_SHAPE(1));
        assert_int_equal(ga_assign(x, ga_scalar(GA_INT32, 1000)), GA_OK); /* an array is cast */
        assert_int_equal(ga_item_int64(x), -24);
    }
}

static void scalars_give_their_items_back(void **state)
{
    (void)state;
    GA_SCOPE {
        assert_true(ga_item_double(ga_scalar(GA_FLOAT32, 0.5)) == 0.5);
        assert_int_equal(ga_item_int64(ga_scalar(GA_INT64, INT64_MIN)), INT64_MIN);
        assert_int_equal(ga_item_int64(ga_scalar(GA_FLOAT64, -2.9)), -2);
        assert_true(ga_item_bool(ga_scalar(GA_FLOAT16, 0.5)));
        assert_false(ga_item_bool(ga_scalar(GA_COMPLEX64, 0.0)));
        const double _Complex z = ga_item_complex(ga_scalar(GA_COMPLEX128, 1.0 - 2.0 * I));
        assert_true(creal(z) == 1.0 && cimag(z) == -2.0);
        assert_true(creal(ga_item_complex(ga_scalar(GA_INT8, -3))) == -3.0);
        assert_true(ga_item_double(ga_scalar(GA_BFLOAT16, 1.0)) == 1.0);
        for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++)
            assert_true(ga_item_double(ga_scalar((ga_dtype)d, 1)) == 1.0);
        gpuarray *x = counting(GA_SHAPE(3));
        assert_int_equal(ga_item_int64(ga_slice(x, "2:")), 2);
        assert_int_equal(ga_item_int64(x), 0);
        assert_error(GA_ERR_SHAPE,
                     "item: the array of shape (3,) has 3 elements, expected 1; indices");
        assert_true(isnan(ga_item_double(ga_slice(x, ":0"))));
        assert_error(GA_ERR_SHAPE, "has 0 elements");
        assert_true(isnan(creal(ga_item_complex(x))));
        ga_clear_error();
        assert_false(ga_item_bool(x));
        ga_clear_error();
        assert_true(ga_item_double(ga_scalar(GA_FLOAT64, ga_slice(x, "1"))) == 1.0);
        assert_null(ga_scalar(GA_FLOAT64, x));
        assert_error(GA_ERR_SHAPE, "shape (3,) is not a scalar");
    }
}

/* In a scope the result is a view, because the scope owns only one reference of each array. */
static void the_same_device_gives_the_same_array(void **state)
{
    const int64_t live = live_blocks();

    (void)state;
    gpuarray *x = counting(GA_SHAPE(3));
    gpuarray *y = ga_to_device(x, ga_device_of(x));
    assert_ptr_equal(x, y);
    ga_free(y);
    GA_SCOPE {
        y = ga_to_device(x, NULL);
        assert_ptr_equal(y->buffer, x->buffer);
        ga_free(y);
        y = ga_to_device(x, NULL);
    }
    assert_numbers(x, NUMBERS(0, 1, 2));
    ga_free(x);
    assert_int_equal(live_blocks(), live);
    assert_null(ga_to_device((x = counting(GA_SHAPE(1))), "moon"));
    assert_error(GA_ERR_DEVICE, "moon");
    ga_free(x);
}

static void arrays_go_to_other_devices(void **state)
{
    (void)state;
    if (ga_device_count() == 0) {
        print_message("skipped: there is no CUDA device\n");
        return;
    }
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3));
        for (int i = 0; i < ga_device_count(); i++) {
            char name[32];
            snprintf(name, sizeof name, "cuda:%d", i);
            gpuarray *y = ga_to_device(x, name);
            assert_string_equal(ga_device_of(y), name);
            assert_numbers(ga_to_device(y, "cpu"), NUMBERS(0, 1, 2, 3, 4, 5));
            assert_numbers(ga_to_device(ga_to_device(y, "cuda:0"), "cpu"),
                           NUMBERS(0, 1, 2, 3, 4, 5));
            assert_numbers(ga_to_device(ga_transpose(y), "cpu"), NUMBERS(0, 3, 1, 4, 2, 5));
            assert_shape(ga_to_device(ga_slice(y, ":0"), "cpu"), GA_SHAPE(0, 3));
        }
    }
    assert_int_equal(ga_error(), GA_OK);
}

static bool make_once(void)
{
    static const int32_t numbers[4] = {1, 2, 3, 4};
    int32_t got[4];

    GA_SCOPE {
        gpuarray *x = ga_from_host(numbers, GA_INT32, GA_SHAPE(2, 2));
        if (!ga_zeros(GA_INT8, GA_SHAPE(3)) || !ga_ones(GA_INT8, GA_SHAPE(3)) ||
            !ga_full_like(x, x) || !ga_scalar(GA_FLOAT64, 1) || !ga_astype(x, GA_FLOAT64) ||
            !ga_copy(ga_transpose(x)) || !ga_to_device(x, NULL) ||
            ga_to_host(ga_transpose(x), got, sizeof got) != GA_OK)
            return false;
    }
    gpuarray *x = ga_empty(GA_INT32, GA_SHAPE(2));
    ga_free(x);
    return x;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    survive_failures(make_once);
}

/* A NULL array is an error of its own, unless it stands for an earlier one. */
static void null_arrays_are_errors(void **state)
{
    (void)state;
    const gpuarray *nothing = NULL;
#define IS_ERROR(call)                                                                             \
    assert_null(call);                                                                             \
    assert_int_equal(ga_error(), GA_ERR_INVALID);                                                  \
    assert_non_null(strstr(ga_error_message(), "NULL"));                                           \
    ga_clear_error()
    IS_ERROR(ga_empty_like(nothing));
    IS_ERROR(ga_zeros_like(nothing));
    IS_ERROR(ga_ones_like(nothing));
    IS_ERROR(ga_full_like(nothing, 1));
    IS_ERROR(ga_full(GA_INT8, GA_SHAPE(2), nothing));
    IS_ERROR(ga_scalar(GA_INT8, nothing));
    IS_ERROR(ga_copy(nothing));
    IS_ERROR(ga_astype(nothing, GA_INT8));
    IS_ERROR(ga_slice(nothing, "0"));
    IS_ERROR(ga_slice_ranges(nothing, 0, NULL));
    IS_ERROR(ga_reshape(nothing, GA_SHAPE(1)));
    IS_ERROR(ga_ravel(nothing));
    IS_ERROR(ga_transpose(nothing));
    IS_ERROR(ga_transpose_axes(nothing, GA_AXES(0)));
    IS_ERROR(ga_squeeze(nothing));
    IS_ERROR(ga_expand_dims(nothing, 0));
    IS_ERROR(ga_broadcast_to(nothing, GA_SHAPE(1)));
    IS_ERROR(ga_flip(nothing, 0));
    IS_ERROR(ga_real(nothing));
    IS_ERROR(ga_imag(nothing));
    IS_ERROR(ga_view(nothing, GA_INT8));
    IS_ERROR(ga_to_device(nothing, "cpu"));
    IS_ERROR(ga_format(nothing));
    IS_ERROR(ga_sum(nothing));
    IS_ERROR(ga_dot(nothing, nothing));
#undef IS_ERROR
    assert_int_equal(ga_assign((gpuarray *)NULL, 1), GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga_save(nothing, "nowhere.npy"), GA_ERR_INVALID);
    ga_clear_error();
}

/* As numpy.ndarray.item: an index for each axis, or one in C order. */
static void items_by_index(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_transpose(ga_reshape(ga_arange(GA_INT16, 0, 6, 1), GA_SHAPE(2, 3)));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) {
                assert_int_equal(ga_item_int64(x, i, j), 3 * j + i);
                assert_int_equal(ga_item_int64(x, i - 3, j - 2), 3 * j + i);
                assert_int_equal(ga_item_int64(x, 2 * i + j), 3 * j + i);
                assert_int_equal(ga_item_uint64(x, 2 * i + j - 6), 3 * j + i);
            }
        assert_true(ga_item_bool(x, 1, 0) && !ga_item_bool(x, 0, 0));
        assert_true(creal(ga_item_complex(x, 2, 1)) == 5);
        gpuarray *most = ga_full(GA_UINT64, GA_SHAPE0, UINT64_MAX);
        assert_true(ga_item_uint64(most) == UINT64_MAX);
        assert_true(ga_item_uint64(ga_full(GA_FLOAT32, GA_SHAPE0, -1.5)) == 0);
        assert_true(isnan(ga_item_double(x, 3, 0)));
        assert_error(GA_ERR_INDEX, "item: index 3 is out of range for axis 0 of length 3");
        assert_int_equal(ga_item_int64(x, 0, -3), 0);
        assert_error(GA_ERR_INDEX, "item: index -3 is out of range for axis 1 of length 2");
        assert_int_equal(ga_item_int64(x, 6), 0);
        assert_error(GA_ERR_INDEX, "item: index 6 is out of range for 6 elements");
        assert_int_equal(ga_item_uint64(x, 0, 0, 0), 0);
        assert_error(GA_ERR_INDEX, "item: 3 indices for shape (3, 2)");
        assert_false(ga_item_bool_at(x, 2, NULL));
        assert_error(GA_ERR_INDEX, "but the list is NULL");
        assert_int_equal(ga_item_uint64((gpuarray *)NULL), 0);
        assert_error(GA_ERR_INVALID, "item: the array is NULL");
        assert_int_equal(ga_item_int64(ga_zeros(GA_INT8, GA_SHAPE(0)), 0), 0);
        assert_error(GA_ERR_INDEX, "out of range");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_by_index),
        cmocka_unit_test(null_arrays_are_errors),
        cmocka_unit_test(makers_give_their_shapes_and_numbers),
        cmocka_unit_test(full_broadcasts_an_array),
        cmocka_unit_test(bad_shapes_are_errors),
        cmocka_unit_test(questions_about_null_have_answers),
        cmocka_unit_test(host_memory_goes_there_and_back),
        cmocka_unit_test(copies_have_memory_of_their_own),
        cmocka_unit_test(a_number_that_does_not_fit_is_an_error),
        cmocka_unit_test(the_ends_of_a_dtype_fit),
        cmocka_unit_test(scalars_give_their_items_back),
        cmocka_unit_test(the_same_device_gives_the_same_array),
        cmocka_unit_test(arrays_go_to_other_devices),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
