/* Views: their elements, when they are copies, and rejected arguments. */

#include <complex.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "golden.h"
#include "run.h"

static void reshape_keeps_the_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4));
        assert_shape(ga_reshape(x, GA_SHAPE(2, -1)), GA_SHAPE(2, 6));
        assert_shape(ga_reshape(x, GA_SHAPE(-1)), GA_SHAPE(12));
        assert_shape(ga_reshape(x, GA_SHAPE(2, 1, 3, 2)), GA_SHAPE(2, 1, 3, 2));
        assert_shape(ga_reshape(ga_slice(x, "0, 0"), GA_SHAPE(1, 1)), GA_SHAPE(1, 1));
        assert_int_equal(ga_ndim(ga_reshape(ga_slice(x, "1, 1:2"), GA_SHAPE0)), 0);
        assert_numbers(ga_reshape(ga_transpose(x), GA_SHAPE(2, 6)),
                       NUMBERS(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
        gpuarray *none = ga_empty(GA_INT32, GA_SHAPE(0, 3));
        assert_shape(ga_reshape(none, GA_SHAPE(5, 0, 2)), GA_SHAPE(5, 0, 2));
        assert_shape(ga_reshape(none, GA_SHAPE(3, -1)), GA_SHAPE(3, 0));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void wrong_reshapes_are_errors(void **state)
{
    int64_t many[GA_MAX_NDIM + 1];

    (void)state;
    for (int i = 0; i <= GA_MAX_NDIM; i++)
        many[i] = 1;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4));
        assert_null(ga_reshape(x, GA_SHAPE(5, -1)));
        assert_error(GA_ERR_SHAPE, "reshape: cannot reshape size 12 to (5, -1)");
        assert_null(ga_reshape(x, GA_SHAPE(13)));
        assert_error(GA_ERR_SHAPE, "reshape: cannot reshape size 12 to (13,)");
        assert_null(ga_reshape(x, GA_SHAPE(-1, 2, -1)));
        assert_error(GA_ERR_SHAPE, "only one length can be -1");
        assert_null(ga_reshape(x, GA_SHAPE(-3, -4)));
        assert_error(GA_ERR_SHAPE, "size 12 to (-3, -4)");
        assert_null(ga_reshape(x, GA_SHAPE(INT64_C(1) << 62, INT64_C(1) << 62, -1)));
        assert_error(GA_ERR_SHAPE, "size 12");
        assert_null(ga_reshape(ga_empty(GA_INT32, GA_SHAPE(0)), GA_SHAPE(0, -1)));
        assert_error(GA_ERR_SHAPE, "size 0 to (0, -1)");
        assert_null(ga_reshape(x, GA_MAX_NDIM + 1, many));
        assert_error(GA_ERR_INVALID, "33 dimensions");
        assert_null(ga_reshape(x, 2, NULL));
        assert_error(GA_ERR_INVALID, "NULL");
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* As in NumPy: a view if the strides allow it. */
static void reshape_copies_only_where_it_must(void **state)
{
    static const struct {
        const char *slice;
        int ndim;
        int64_t shape[5];
        bool view;
    } cases[] = {
        {"::2", 4, {3, 5, 2, 2}, true},
        {"::2", 2, {3, 20}, true},
        {"::2", 1, {60}, false},
        {"::2", 2, {15, 4}, false},
        {":, ::2", 4, {6, 3, 2, 2}, true},
        {":, ::2", 2, {6, 12}, false},
        {":, ::2", 2, {18, 4}, false},
        {":, ::2", 4, {2, 3, 3, 4}, true},
        {":, :, ::2", 1, {60}, true},
        {":, :, ::2", 2, {5, 12}, true},
        {":, :, 1", 1, {30}, true},
        {"::-1", 1, {120}, false},
        {"::-1", 3, {2, 3, 20}, true},
        {":, :, ::-1", 4, {2, 3, 5, 4}, true},
        {":, :, ::-1", 2, {30, 4}, true},
        {":, 0:1, :", 2, {6, 4}, true},
        {":, 0:1, :", 1, {24}, false},
        {":, 0:1, :", 4, {3, 2, 1, 4}, true},
        {"1:2, :, 1:3", 2, {5, 2}, true},
        {"1:2, :, 1:3", 1, {10}, false},
        {":, :, 0:1", 5, {1, 6, 1, 5, 1}, true},
        {"0, 0, ::3", 2, {2, 1}, true},
        {"0:1, 0:1, 0:1", 2, {1, 1}, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GA_SCOPE {
            gpuarray *x = counting(GA_SHAPE(6, 5, 4));
            gpuarray *part = ga_slice(x, "%s", cases[i].slice);
            gpuarray *y = ga_reshape(part, cases[i].ndim, cases[i].shape);
            assert_shape(y, cases[i].ndim, cases[i].shape);
            if (cases[i].view != (y->buffer == x->buffer))
                fail_msg("[%s] to %s: a view %d", cases[i].slice, ga__shape_text(y->ndim, y->shape),
                         y->buffer == x->buffer);
            int32_t want[120], got[120];
            ga_to_host(part, want, ga_nbytes(part));
            ga_to_host(y, got, ga_nbytes(y));
            assert_elements(GA_INT32, ga_size(part), got, want);
        }
    }
}

static void transpose_permutes_the_axes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3, 4));
        gpuarray *y = ga_transpose_axes(x, GA_AXES(2, 0, 1));
        assert_shape(y, GA_SHAPE(4, 2, 3));
        assert_numbers(ga_slice(y, "1"), NUMBERS(1, 5, 9, 13, 17, 21));
        assert_shape(ga_transpose(x), GA_SHAPE(4, 3, 2));
        assert_shape(ga_transpose_axes(x, GA_AXES(-1, -3, -2)), GA_SHAPE(4, 2, 3));
        assert_true(ga_is_contiguous(ga_transpose(ga_transpose(x))));
        assert_int_equal(ga_ndim(ga_transpose(ga_slice(x, "0, 0, 0"))), 0);
        assert_null(ga_transpose_axes(x, GA_AXES(0, 1)));
        assert_error(GA_ERR_INVALID, "2 axes given for shape (2, 3, 4)");
        assert_null(ga_transpose_axes(x, GA_AXES(0, 1, -2)));
        assert_error(GA_ERR_INVALID, "axis -2 is given twice");
        assert_null(ga_transpose_axes(x, GA_AXES(0, 1, 3)));
        assert_error(GA_ERR_INVALID, "transpose");
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void chosen_unit_axes_go(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(1, 3, 1, 2));
        assert_shape(ga_squeeze(x, GA_AXIS(0)), GA_SHAPE(3, 1, 2));
        assert_shape(ga_squeeze(x, GA_AXIS(-2, 0)), GA_SHAPE(3, 2));
        assert_shape(ga_squeeze(x, GA_AXIS()), GA_SHAPE(1, 3, 1, 2));
        assert_shape(ga_squeeze_axes(x, GA_AXES(2)), GA_SHAPE(1, 3, 2));
        assert_numbers(ga_squeeze(ga_slice(x, "..., ::-1"), GA_AXIS(0, 2)),
                       NUMBERS(1, 0, 3, 2, 5, 4));
        assert_null(ga_squeeze(x, GA_AXIS(1)));
        assert_error(GA_ERR_SHAPE, "squeeze: axis 1 of shape (1, 3, 1, 2) has length 3, not 1");
        assert_null(ga_squeeze(x, GA_AXIS(0, -4)));
        assert_error(GA_ERR_INVALID, "squeeze: axis");
        assert_null(ga_squeeze(x, GA_AXIS(4)));
        assert_error(GA_ERR_INVALID, "squeeze: axis 4 is out of range for 4 dimensions");
        assert_null(ga_squeeze_axes(x, 2, NULL));
        assert_error(GA_ERR_INVALID, "squeeze: 2 axes, but the list is NULL");
        assert_null(ga_squeeze_axes(NULL, GA_AXES(0)));
        assert_error(GA_ERR_INVALID, "squeeze: the array is NULL");
    }
}

static void unit_axes_come_and_go(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(1, 3, 1, 2, 1));
        assert_shape(ga_squeeze(x), GA_SHAPE(3, 2));
        assert_shape(ga_squeeze(ga_slice(x, "..., :1, :1, :1")), GA_SHAPE(3));
        gpuarray *y = ga_squeeze(x);
        assert_shape(ga_expand_dims(y, 0), GA_SHAPE(1, 3, 2));
        assert_shape(ga_expand_dims(y, 1), GA_SHAPE(3, 1, 2));
        assert_shape(ga_expand_dims(y, -1), GA_SHAPE(3, 2, 1));
        assert_shape(ga_expand_dims(y, -3), GA_SHAPE(1, 3, 2));
        assert_true(ga_is_contiguous(ga_expand_dims(y, 1)));
        assert_null(ga_expand_dims(y, 3));
        assert_error(GA_ERR_INVALID, "expand_dims");
        while (ga_ndim(y) < GA_MAX_NDIM)
            y = ga_expand_dims(y, 0);
        assert_null(ga_expand_dims(y, 0));
        assert_error(GA_ERR_INVALID, "33 dimensions");
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void broadcast_views_are_not_writable(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 1));
        gpuarray *y = ga_broadcast_to(x, GA_SHAPE(2, 3, 2));
        assert_numbers(y, NUMBERS(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
        assert_false(ga__array_writable("test", y));
        assert_error(GA_ERR_INVALID, "test: the array of shape (2, 3, 2) is a broadcast view");
        assert_false(ga__array_writable("test", ga_slice(y, "0")));
        ga_clear_error();
        assert_true(ga__array_writable("test", ga_copy(y)));
        assert_true(ga__array_writable("test", x));
        assert_shape(ga_broadcast_to(x, GA_SHAPE(3, 0)), GA_SHAPE(3, 0));
        assert_null(ga_broadcast_to(x, GA_SHAPE(2, 2)));
        assert_error(GA_ERR_SHAPE, "broadcast_to: shape (3, 1) does not broadcast to (2, 2)");
        assert_null(ga_broadcast_to(x, GA_SHAPE(3)));
        assert_error(GA_ERR_SHAPE, "does not broadcast to (3,)");
        assert_null(ga_broadcast_to(x, GA_SHAPE(3, -1)));
        assert_error(GA_ERR_SHAPE, "(3, -1)");
        assert_null(ga_broadcast_to(x, GA_SHAPE(INT64_C(1) << 62, 3, 4)));
        assert_error(GA_ERR_SHAPE, "too many");
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void flip_reverses_an_axis(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3));
        assert_numbers(ga_flip(x, 0), NUMBERS(3, 4, 5, 0, 1, 2));
        assert_numbers(ga_flip(x, -1), NUMBERS(2, 1, 0, 5, 4, 3));
        assert_numbers(ga_flip(ga_flip(x, 1), 1), NUMBERS(0, 1, 2, 3, 4, 5));
        assert_shape(ga_flip(ga_empty(GA_INT8, GA_SHAPE(2, 0)), 1), GA_SHAPE(2, 0));
        assert_null(ga_flip(x, 2));
        assert_error(GA_ERR_INVALID, "flip");
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void parts_of_complex_numbers_are_views(void **state)
{
    const double _Complex numbers[] = {1.0 + 2.0 * I, 3.0 - 4.0 * I};
    double got[2];

    (void)state;
    GA_SCOPE {
        gpuarray *z = ga_from_host(numbers, GA_COMPLEX128, GA_SHAPE(2));
        assert_int_equal(ga_dtype_of(ga_real(z)), GA_FLOAT64);
        assert_int_equal(ga_to_host(ga_real(z), got, sizeof got), GA_OK);
        assert_true(got[0] == 1.0 && got[1] == 3.0);
        assert_int_equal(ga_to_host(ga_imag(z), got, sizeof got), GA_OK);
        assert_true(got[0] == 2.0 && got[1] == -4.0);
        assert_int_equal(ga_dtype_of(ga_imag(ga_astype(z, GA_COMPLEX64))), GA_FLOAT32);
        assert_true(ga__arrays_overlap(z, ga_imag(z)));
        gpuarray *x = counting(GA_SHAPE(2, 2));
        assert_numbers(ga_real(x), NUMBERS(0, 1, 2, 3));
        assert_ptr_equal(ga_real(x)->buffer, x->buffer);
        assert_numbers(ga_imag(x), NUMBERS(0, 0, 0, 0));
        assert_true(ga_imag(x)->readonly);
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void views_reinterpret_bytes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 4));
        assert_shape(ga_view(x, GA_FLOAT32), GA_SHAPE(2, 4));
        assert_shape(ga_view(x, GA_UINT8), GA_SHAPE(2, 16));
        assert_shape(ga_view(x, GA_COMPLEX128), GA_SHAPE(2, 1));
        assert_numbers(ga_view(ga_view(x, GA_INT64), GA_INT32), NUMBERS(0, 1, 2, 3, 4, 5, 6, 7));
        assert_shape(ga_view(ga_slice(x, "::-1, 2:"), GA_INT64), GA_SHAPE(2, 1));
        assert_numbers(ga_view(ga_view(ga_slice(x, "::-1, 2:"), GA_INT64), GA_INT32),
                       NUMBERS(6, 7, 2, 3));
        assert_shape(ga_view(ga_transpose(x), GA_FLOAT32), GA_SHAPE(4, 2));
        assert_null(ga_view(ga_transpose(x), GA_INT8));
        assert_error(GA_ERR_SHAPE, "last axis has stride 16, not 4");
        assert_null(ga_view(ga_slice(x, ":, :3"), GA_INT64));
        assert_error(GA_ERR_SHAPE, "12 bytes of the last axis");
        assert_null(ga_view(ga_slice(x, ":, 1:3"), GA_INT64));
        assert_error(GA_ERR_SHAPE, "not aligned for int64");
        assert_null(ga_view(ga_slice(x, "0, 0"), GA_INT8));
        assert_error(GA_ERR_SHAPE, "0-d");
        assert_null(ga_view(x, GA_NO_DTYPE));
        assert_error(GA_ERR_DTYPE, "not a dtype");
        assert_shape(ga_view(ga_empty(GA_INT32, GA_SHAPE(3, 0)), GA_INT64), GA_SHAPE(3, 0));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* All bits of NaNs too, although small floats are computed with as wider ones. */
static void copies_of_views_keep_all_bits(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_BFLOAT16, GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2};
    (void)state;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        GA_SCOPE {
            const ga_dtype word = ga_dtype_size(dtypes[k]) == 2 ? GA_UINT16 : GA_UINT8;
            gpuarray *bits = ga_reshape(ga_astype(ga_arange(GA_INT32, 0, 65536, 1), word),
                                        GA_SHAPE(256, 256)),
                     *x = ga_view(bits, dtypes[k]), *to = ga_zeros(dtypes[k], GA_SHAPE(256, 512));
            assert_true(ga_item_bool(
                ga_all(ga_equal(ga_view(ga_copy(ga_transpose(x)), word), ga_transpose(bits)))));
            assert_int_equal(ga_assign(ga_slice(to, ":, ::2"), x), GA_OK);
            assert_true(
                ga_item_bool(ga_all(ga_equal(ga_slice(ga_view(to, word), ":, ::2"), bits))));
        }
}

static void overlap_is_found(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(4, 4));
        gpuarray *top = ga_slice(x, ":2"), *bottom = ga_slice(x, "2:");
        assert_false(ga__arrays_overlap(top, bottom));
        assert_true(ga__arrays_overlap(ga_slice(x, "::-1"), bottom));
        assert_true(ga__arrays_overlap(top, ga_slice(x, "1:3")));
        assert_false(ga__arrays_overlap(top, ga_copy(top)));
        assert_false(ga__arrays_overlap(x, ga_slice(x, ":0")));
    }
}

static gpuarray *fixture;

static bool view_once(void)
{
    GA_SCOPE {
        gpuarray *(*const make[])(const gpuarray *) = {ga_ravel, ga_transpose, ga_squeeze,
                                                       ga_real,  ga_imag,      ga_copy};
        for (size_t i = 0; i < sizeof make / sizeof *make; i++)
            if (!make[i](fixture))
                return false;
        if (!ga_reshape(fixture, GA_SHAPE(2, -1)) || !ga_expand_dims(fixture, 0) ||
            !ga_broadcast_to(fixture, GA_SHAPE(2, 4, 3)) || !ga_flip(fixture, 0) ||
            !ga_view(fixture, GA_FLOAT32) || !ga_transpose_axes(fixture, GA_AXES(1, 0)))
            return false;
    }
    return true;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    gpuarray *x = counting(GA_SHAPE(3, 4));
    fixture = ga_transpose(x);
    survive_failures(view_once);
    ga_free(fixture);
    ga_free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape_keeps_the_elements),
        cmocka_unit_test(wrong_reshapes_are_errors),
        cmocka_unit_test(reshape_copies_only_where_it_must),
        cmocka_unit_test(transpose_permutes_the_axes),
        cmocka_unit_test(chosen_unit_axes_go),
        cmocka_unit_test(unit_axes_come_and_go),
        cmocka_unit_test(broadcast_views_are_not_writable),
        cmocka_unit_test(flip_reverses_an_axis),
        cmocka_unit_test(parts_of_complex_numbers_are_views),
        cmocka_unit_test(views_reinterpret_bytes),
        cmocka_unit_test(copies_of_views_keep_all_bits),
        cmocka_unit_test(overlap_is_found),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
