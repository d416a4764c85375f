/* Arrays built and taken apart, grids, numbers along an axis, and indices in formulas: what random
 * calls against NumPy (tests/stateful/building.py) do not reach: macros, errors, counts of
 * launches, failing allocations, and CUDA's kernels in the simulator. */
#include <math.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "run.h"
#include "simulated_device.h"

static gpuarray *int64s(int64_t count, const int64_t *numbers)
{
    return ga_from_host(numbers, GA_INT64, 1, &count);
}
#define INT64S(...)                                                                                \
    int64s((int64_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

/* ---- Values ---- */

static void elements_are_put_in_and_left_out(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *line = ga_ravel(x);
        assert_numbers(ga_insert(line, 2, 9), NUMBERS(0, 1, 9, 2, 3, 4, 5));
        assert_numbers(ga_insert(x, 1, counting(GA_SHAPE(2)), GA_AXIS(1)),
                       NUMBERS(0, 0, 1, 2, 3, 1, 4, 5));
        assert_numbers(ga_insert(line, INT64S(4, 1, 4), INT64S(7, 8, 9)),
                       NUMBERS(0, 8, 1, 2, 3, 7, 9, 4, 5));
        assert_numbers(ga_delete(line, -1), NUMBERS(0, 1, 2, 3, 4));
        assert_numbers(ga_delete(x, INT64S(0, 2), GA_AXIS(1)), NUMBERS(1, 4));
        assert_numbers(ga_delete(line, GA_RANGE(1, 5, 2)), NUMBERS(0, 2, 4, 5));
        assert_numbers(ga_delete(line, ga_greater(line, 3)), NUMBERS(0, 1, 2, 3));
        assert_numbers(ga_resize(x, GA_SHAPE(4, 2)), NUMBERS(0, 1, 2, 3, 4, 5, 0, 1));
        assert_numbers(ga_trim_zeros(ga_multiply(line, ga_less(line, 4)), NULL), NUMBERS(1, 2, 3));
        const gpuarray *const blocks[] = {x, x, line, line};
        assert_null(ga_block(2, 2, blocks));
        assert_error(GA_ERR_SHAPE, "block: row 1 has length 12, row 0 has 6");
        const gpuarray *const rows[] = {x, x};
        assert_numbers(ga_block(1, 2, rows), NUMBERS(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void grids_name_elements(void **state)
{
    (void)state;
    gpuarray *out[3];
    GA_SCOPE {
        assert_numbers(ga_astype(ga_indices(GA_SHAPE(2, 2)), GA_INT32),
                       NUMBERS(0, 0, 1, 1, 0, 1, 0, 1));
        assert_int_equal(ga_ix_(GA_ARRAYS(INT64S(1, 0), INT64S(0, 2)), out), GA_OK);
        assert_numbers(ga_index(counting(GA_SHAPE(2, 3)), out[0], out[1]), NUMBERS(3, 5, 0, 2));
        assert_int_equal(ga_unravel_index(INT64S(5, 0), GA_SHAPE(2, 3), out), GA_OK);
        assert_numbers(ga_astype(out[1], GA_INT32), NUMBERS(2, 0));
        const gpuarray *const both[] = {out[0], out[1]};
        assert_numbers(ga_astype(ga_ravel_multi_index(both, GA_SHAPE(2, 3)), GA_INT32),
                       NUMBERS(5, 0));
        assert_int_equal(ga_triu_indices(2, 0, 2, out), GA_OK);
        assert_numbers(ga_astype(out[1], GA_INT32), NUMBERS(0, 1, 1));
        assert_numbers(ga_astype(ga_vander(INT64S(2, 3), 3, false), GA_INT32),
                       NUMBERS(4, 2, 1, 9, 3, 1));
        assert_numbers(ga_astype(ga_identity(GA_FLOAT32, 2), GA_INT32), NUMBERS(1, 0, 0, 1));
    }
    assert_int_equal(ga_error(), GA_OK);
    assert_null(ga_identity(GA_FLOAT32, -2));
    assert_error(GA_ERR_SHAPE, "identity: ");
}

/* Expected values are NumPy's. */
static void indices_have_modes_and_orders(void **state)
{
    (void)state;
    gpuarray *out[3];
    const ga_index_mode modes[] = {GA_CLIP, GA_WRAP};
    GA_SCOPE {
        const gpuarray *const far[] = {INT64S(-1, 1, 7), INT64S(2, -4, 5)};
        const gpuarray *const near[] = {INT64S(1, 0), INT64S(0, 2)};
        gpuarray *wrapped = ga_ravel_multi_index(far, GA_SHAPE(2, 3), .mode = GA_WRAP),
                 *clipped = ga_ravel_multi_index(far, GA_SHAPE(2, 3), .mode = GA_CLIP),
                 *each = ga_ravel_multi_index(far, GA_SHAPE(2, 3), .modes = modes),
                 *columns = ga_ravel_multi_index(near, GA_SHAPE(2, 3), .order = 'F');
        assert_numbers(ga_astype(wrapped, GA_INT32), NUMBERS(5, 5, 5));
        assert_numbers(ga_astype(clipped, GA_INT32), NUMBERS(2, 3, 5));
        assert_numbers(ga_astype(each, GA_INT32), NUMBERS(2, 5, 5));
        assert_numbers(ga_astype(columns, GA_INT32), NUMBERS(1, 4));
        assert_int_equal(ga_unravel_index(columns, GA_SHAPE(2, 3), out, .order = 'F'), GA_OK);
        assert_true(ga_array_equal(out[0], near[0]) && ga_array_equal(out[1], near[1]));
        assert_int_equal(ga_unravel_index(columns, GA_SHAPE(2, 3), out, .order = 'C'), GA_OK);
        assert_numbers(ga_astype(out[1], GA_INT32), NUMBERS(1, 1));
        assert_int_equal(ga_diag_indices(3, 2, out), GA_OK);
        assert_numbers(ga_index(counting(GA_SHAPE(3, 3)), out[0], out[1]), NUMBERS(0, 4, 8));
        assert_int_equal(ga_error(), GA_OK);
        assert_null(ga_ravel_multi_index(near, GA_SHAPE(2, 3), .order = 'K'));
        assert_error(GA_ERR_INVALID, "ravel_multi_index: the order is character 75");
        assert_int_equal(ga_unravel_index(near[0], GA_SHAPE(2, 3), out, .order = 'A'),
                         GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "unravel_index: the order is character 65");
        assert_null(ga_ravel_multi_index(near, GA_SHAPE(2, 3), .mode = (ga_index_mode)7));
        assert_error(GA_ERR_INVALID, "ravel_multi_index: unknown mode 7");
        assert_int_equal(ga_diag_indices(-1, 2, out), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "diag_indices: length -1 is negative");
        assert_int_equal(ga_diag_indices(3, 0, out), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "diag_indices: 0 dimensions, expected 1 to 32");
        assert_int_equal(ga_diag_indices(3, 2, NULL), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "diag_indices: the list of results is NULL");
    }
}

static void windows_slide(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *both = ga_sliding_window_view(x, GA_SHAPE(2, 3)),
                 *rows = ga_sliding_window_view(ga_flip(x, 0), GA_SHAPE(2), GA_AXIS(-2));
        assert_shape(both, GA_SHAPE(2, 2, 2, 3));
        assert_numbers(ga_slice(both, "1, 0"), NUMBERS(4, 5, 6, 8, 9, 10));
        assert_shape(rows, GA_SHAPE(2, 4, 2));
        assert_numbers(ga_slice(rows, "0"), NUMBERS(8, 4, 9, 5, 10, 6, 11, 7));
        assert_shape(ga_sliding_window_view(x, GA_SHAPE(2, 2), GA_AXIS(1, 1)),
                     GA_SHAPE(3, 2, 2, 2));
        assert_shape(ga_sliding_window_view(x, GA_SHAPE(0), GA_AXIS(0)), GA_SHAPE(4, 4, 0));
        assert_int_equal(ga_assign(both, 1), GA_ERR_INVALID);
        ga_clear_error();
        assert_null(ga_sliding_window_view(x, GA_SHAPE(2)));
        assert_error(GA_ERR_SHAPE, "sliding_window_view: a window of 1 axes along 2 of the array");
        assert_null(ga_sliding_window_view(x, GA_SHAPE(5), GA_AXIS(1)));
        assert_error(GA_ERR_SHAPE, "sliding_window_view: a window of 5 along axis 1, where 4 fit");
        assert_null(ga_sliding_window_view(x, GA_SHAPE(2), GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "sliding_window_view: axis 2 is out of range");
        assert_null(ga_sliding_window_view(NULL, GA_SHAPE(2)));
        assert_error(GA_ERR_INVALID, "sliding_window_view: the array is NULL");
    }
}

static void bits_are_packed(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_greater(ga_remainder(counting(GA_SHAPE(3, 10)), 3), 0),
                 *bytes = ga_packbits(x, GA_AXIS(1)),
                 *little = ga_packbits(ga_transpose(x), .bitorder = "little", GA_AXIS(-2));
        assert_numbers(ga_astype(bytes, GA_INT32), NUMBERS(109, 128, 219, 64, 182, 192));
        assert_numbers(ga_astype(little, GA_INT32), NUMBERS(182, 219, 109, 1, 2, 3));
        assert_numbers(ga_astype(ga_packbits(x), GA_INT32), NUMBERS(109, 182, 219, 108));
        assert_true(ga_array_equal(ga_unpackbits(bytes, GA_AXIS(1), .count = 10), x));
        assert_true(ga_array_equal(ga_unpackbits(bytes, GA_AXIS(1), .count = -6), x));
        assert_true(ga_array_equal(
            ga_unpackbits(little, GA_AXIS(0), .count = 10, .bitorder = "little"), ga_transpose(x)));
        assert_numbers(ga_astype(ga_unpackbits(ga_slice(bytes, "0, 1:"), .count = 10), GA_INT32),
                       NUMBERS(1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        assert_int_equal(ga_size(ga_packbits(ga_zeros(GA_INT8, GA_SHAPE(0)))), 0);
        assert_int_equal(ga_size(ga_unpackbits(bytes, .count = -48)), 0);
        assert_int_equal(ga_error(), GA_OK);
        assert_null(ga_packbits(ga_ones(GA_FLOAT32, GA_SHAPE(2))));
        assert_error(GA_ERR_DTYPE, "packbits: the array is float32, expected integers or bool");
        assert_null(ga_unpackbits(x));
        assert_error(GA_ERR_DTYPE, "unpackbits: the array is bool, expected uint8");
        assert_null(ga_unpackbits(bytes, .count = -49));
        assert_error(GA_ERR_INVALID, "unpackbits: count -49 leaves out more than all 48 bits");
        assert_null(ga_packbits(x, .bitorder = "middle"));
        assert_error(GA_ERR_INVALID, "packbits: unknown bitorder \"middle\"");
        assert_null(ga_packbits(x, GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "packbits: axis 2 is out of range for 2 dimensions");
        assert_null(ga_unpackbits(NULL));
    }
    ga_clear_error();
}

static void numbers_along_an_axis(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_astype(INT64S(0, 1, 4, 9, 16), GA_FLOAT32);
        assert_numbers(ga_astype(ga_gradient(x), GA_INT32), NUMBERS(1, 2, 4, 6, 7));
        assert_numbers(ga_astype(ga_gradient(x, .spacing = GA_V(0.5), .edge_order = 2), GA_INT32),
                       NUMBERS(0, 4, 8, 12, 16));
        assert_numbers(ga_astype(ga_gradient(x, .spacing = GA_V(INT64S(0, 2, 4, 6, 8))), GA_INT32),
                       NUMBERS(0, 1, 2, 3, 3));
        assert_numbers(ga_astype(ga_trapezoid(x, .dx = 2), GA_INT32), NUMBERS(44));
        assert_numbers(ga_astype(ga_unwrap(INT64S(0, 3, 6, 9), .period = 4), GA_INT32),
                       NUMBERS(0, -1, -2, -3));
        assert_numbers(ga_astype(ga_polyval(INT64S(2, 0, 1), x), GA_INT32),
                       NUMBERS(1, 3, 33, 163, 513));
        assert_numbers(ga_astype(ga_convolve(INT64S(1, 2, 3), INT64S(1, 10)), GA_INT32),
                       NUMBERS(1, 12, 23, 30));
        assert_numbers(
            ga_astype(ga_correlate(INT64S(1, 2, 3), INT64S(1, 10), .mode = "same"), GA_INT32),
            NUMBERS(10, 21, 32));
        assert_numbers(ga_diff(counting(GA_SHAPE(3)), 1, .prepend = ga_scalar(GA_INT32, 5)),
                       NUMBERS(-5, 1, 1));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Element k of the convolution of n and m numbers. */
static int64_t convolved(const int64_t *a, int64_t n, const int64_t *v, int64_t m, int64_t k)
{
    int64_t sum = 0;
    for (int64_t j = 0; j < m; j++)
        sum += k - j >= 0 && k - j < n ? a[k - j] * v[j] : 0;
    return sum;
}

/* Runs of 64 elements on the host meet up to 64 factors together. */
static void convolutions_of_any_length(void **state)
{
    static const int64_t lengths[][2] = {{1, 1},    {64, 64},  {65, 3},    {3, 65},
                                         {130, 67}, {67, 130}, {200, 129}, {300, 1}};
    int64_t a[300], v[300];
    (void)state;
    for (int64_t k = 0; k < 300; k++) {
        a[k] = k * k % 23 - 11;
        v[k] = k * 7 % 19 - 9;
    }
    for (size_t c = 0; c < sizeof lengths / sizeof *lengths; c++)
        GA_SCOPE {
            const int64_t n = lengths[c][0], m = lengths[c][1];
            gpuarray *x = int64s(n, a), *y = int64s(m, v);
            const size_t nbytes = (size_t)(n + m - 1) * sizeof(int64_t);
            int64_t both[2][600];
            gpuarray *turned = ga_correlate(x, ga_flip(y, 0), .mode = "full");
            assert_int_equal(ga_to_host(ga_convolve(x, y), both[0], nbytes), GA_OK);
            assert_int_equal(ga_to_host(turned, both[1], nbytes), GA_OK);
            for (int64_t k = 0; k < n + m - 1; k++) {
                assert_int_equal(both[0][k], convolved(a, n, v, m, k));
                assert_int_equal(both[1][k], both[0][k]);
            }
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* Infinity times a complex number is infinite. */
static void convolutions_keep_infinities(void **state)
{
    const double number[] = {INFINITY, INFINITY};
    double sums[2 * 71];
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_COMPLEX128, GA_SHAPE(70)),
                 *y = ga_ones(GA_COMPLEX128, GA_SHAPE(2));
        const gpuarray *infinite = ga_from_host(number, GA_COMPLEX128, GA_SHAPE(1));
        assert_int_equal(ga_assign(ga_slice(x, "66:67"), infinite), GA_OK);
        assert_int_equal(ga_to_host(ga_convolve(x, y), sums, sizeof sums), GA_OK);
        for (int k = 0; k < 71; k++)
            assert_int_equal(isinf(sums[2 * k]) && isinf(sums[2 * k + 1]), k == 66 || k == 67);
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void dtypes_are_promoted(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *i = ga_zeros(GA_INT8, GA_SHAPE(1)), *f = ga_zeros(GA_FLOAT16, GA_SHAPE(1));
        assert_int_equal(ga_result_type_of(i, 1000), GA_INT8);
        assert_int_equal(ga_result_type_of(i, 2.0), GA_FLOAT64);
        assert_int_equal(ga_result_type_of(i, f, 2.0, 7), GA_FLOAT16);
        assert_int_equal(ga_result_type_of(1, 2.0), GA_FLOAT64);
        assert_int_equal((ga_result_type_of)(0, NULL), GA_NO_DTYPE);
        assert_error(GA_ERR_INVALID, "result_type: 0 operands");
    }
    assert_true(ga_can_cast_as(GA_FLOAT64, GA_FLOAT32, "same_kind"));
    assert_false(ga_can_cast_as(GA_FLOAT64, GA_FLOAT32, "safe"));
    assert_false(ga_can_cast_as(GA_FLOAT64, GA_INT32, "same_kind"));
    assert_true(ga_can_cast_as(GA_FLOAT64, GA_INT32, "unsafe"));
    assert_false(ga_can_cast_as(GA_INT32, GA_INT64, "equiv"));
    assert_true(ga_can_cast_as(GA_INT32, GA_INT32, "no"));
    assert_int_equal(ga_error(), GA_OK);
    assert_false(ga_can_cast_as(GA_INT32, GA_INT32, "some"));
    assert_error(GA_ERR_INVALID, "can_cast: unknown casting \"some\"");
    assert_false(ga_can_cast_as(GA_NO_DTYPE, GA_INT32, "safe"));
    assert_error(GA_ERR_DTYPE, "can_cast: 0 is not a dtype");
}

static void several_axes_move(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3, 4, 5));
        const int from[] = {0, -1}, to[] = {2, 0}, twice[] = {1, 1}, far[] = {0, 4};
        gpuarray *moved = ga_move_axes(x, 2, from, to);
        assert_true(ga_array_equal(moved, ga_transpose_axes(x, GA_AXES(3, 1, 0, 2))));
        assert_true(ga_array_equal(ga_move_axes(x, 0, NULL, NULL), x));
        assert_int_equal(ga_error(), GA_OK);
        assert_null(ga_move_axes(x, 2, twice, to));
        assert_error(GA_ERR_INVALID, "move_axes: axis 1 is given twice");
        assert_null(ga_move_axes(x, 2, from, far));
        assert_error(GA_ERR_INVALID, "move_axes");
        assert_null(ga_move_axes(x, 5, from, to));
        assert_error(GA_ERR_INVALID, "move_axes: 5 axes of 4 dimensions");
        assert_null(ga_move_axes(x, 1, NULL, to));
        assert_error(GA_ERR_INVALID, "but the list is NULL");
        assert_null(ga_move_axes(NULL, 2, from, to));
        assert_error(GA_ERR_INVALID, "move_axes: the array is NULL");
    }
}

static void all_axes_of_the_most_move(void **state)
{
    int from[GA_MAX_NDIM], to[GA_MAX_NDIM], order[GA_MAX_NDIM];
    int64_t shape[GA_MAX_NDIM];
    (void)state;
    for (int k = 0; k < GA_MAX_NDIM; k++) {
        from[k] = k;
        to[k] = (k + 1) % GA_MAX_NDIM;
        order[to[k]] = k;
        shape[k] = k == 0 || k == 7 || k == GA_MAX_NDIM - 1 ? 2 : 1;
    }
    GA_SCOPE {
        gpuarray *x = counting(GA_MAX_NDIM, shape), *moved = ga_move_axes(x, GA_MAX_NDIM, from, to);
        assert_true(ga_array_equal(moved, ga_transpose_axes(x, GA_MAX_NDIM, order)));
    }
}

/* Without an axis, lines are those of the last one. */
static void lines_are_of_the_last_axis(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *order = ga_argsort(ga_negative(x));
        assert_numbers(ga_take_along_axis(x, order), NUMBERS(2, 1, 0, 5, 4, 3));
        assert_int_equal(ga_error(), GA_OK);
        assert_null(ga_take_along_axis(ga_sum(x), order));
        assert_error(GA_ERR_INVALID, "take_along_axis");
    }
}

/* Each side has a value of its own; the sides of the last axis have the corners. */
static void sides_have_values(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(1, 2));
        assert_numbers(ga_pad(x, GA_SHAPE(1), GA_PAD_VALUES(7, 8, 5, 6)),
                       NUMBERS(5, 7, 7, 6, 5, 0, 1, 6, 5, 8, 8, 6));
        assert_numbers(ga_pad(x, GA_SHAPE(0, 0, 1, 1), .mode = "maximum", GA_PAD_LENGTHS(1, 2)),
                       NUMBERS(0, 0, 1, 1));
        assert_int_equal(ga_error(), GA_OK);
        gpuarray *line = ga_astype(INT64S(1, 2, 4), GA_INT32);
        assert_numbers(ga_pad(line, GA_SHAPE(4, 3), .mode = "reflect", .reflect_type = "odd"),
                       NUMBERS(-5, -4, -2, 0, 1, 2, 4, 6, 7, 8));
        assert_null(ga_pad(line, GA_SHAPE(1), .mode = "reflect", .reflect_type = "oddly"));
        assert_error(GA_ERR_INVALID, "pad: unknown reflect_type \"oddly\"");
        assert_null(ga_pad(x, GA_SHAPE(1), GA_PAD_VALUES(7, 8, 5)));
        assert_error(GA_ERR_SHAPE, "pad: 3 values, expected 1, 2 or two for each of 2 dimensions");
        assert_null(ga_pad(x, GA_SHAPE(1), GA_PAD_VALUES(7, (int64_t)1 << 40)));
        assert_true(ga_error() != GA_OK);
        ga_clear_error();
        assert_numbers(ga_pad(x, GA_SHAPE(0, 0, 1, 1), GA_PAD_VALUES(2)), NUMBERS(2, 0, 1, 2));
        assert_null(ga_pad(x, GA_SHAPE(1), .value = {GA_VALUE_NUMBER})); /* as .value = 1 */
        assert_error(GA_ERR_INVALID, "pad: the value is not a number as GA_PAD_VALUES(2)");
        assert_null(ga_sum(x, .initial = {GA_VALUE_NUMBER}));
        assert_error(GA_ERR_INVALID, "sum: initial is not a number as GA_INITIAL(0) is");
        assert_null(ga_pad(x, GA_SHAPE(1), .nvalues = 2));
        assert_error(GA_ERR_INVALID, "pad: 2 values, but the list is NULL");
    }
}

/* ---- Formulas ---- */

static void formulas_take_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *i = INT64S(2, 0, -1), *y = INT64S(1, 2, 3);
        assert_numbers(ga_eval("x[i, :] + 1", GA(x), GA(i)),
                       NUMBERS(9, 10, 11, 12, 1, 2, 3, 4, 9, 10, 11, 12));
        assert_numbers(ga_eval("x[:, i]", GA(x), GA(i)), NUMBERS(2, 0, 3, 6, 4, 7, 10, 8, 11));
        assert_numbers(ga_astype(ga_eval("take(y, i) * 2 + y", GA(y), GA(i)), GA_INT32),
                       NUMBERS(7, 4, 9));
        assert_numbers(ga_astype(ga_eval("sum(x[(i)], axis=1)", GA(x), GA(i)), GA_INT32),
                       NUMBERS(38, 6, 38));
        assert_int_equal(ga_eval_into(y, "y[i]", GA(y), GA(i)), GA_OK);
        assert_numbers(ga_astype(y, GA_INT32), NUMBERS(3, 1, 3));
        assert_numbers(ga_eval("x[i, :][1:, 0]", GA(x), GA(i)), NUMBERS(0, 8));
        gpuarray *f4 = ga_astype(x, GA_FLOAT32), *ones = ga_ones(GA_FLOAT32, GA_SHAPE(4));
        assert_numbers(ga_astype(ga_eval("f4[i] @ ones", GA(f4), GA(i), GA(ones)), GA_INT32),
                       NUMBERS(38, 6, 38));
        const int k = 1;
        assert_numbers(ga_eval("x[(k)]", GA(x), GA(k)), NUMBERS(4, 5, 6, 7));
        assert_numbers(ga_eval("x[i, (i + 1)]", GA(x), GA(i)), NUMBERS(11, 1, 8));
        gpuarray *t = counting(GA_SHAPE(2, 2, 3));
        assert_numbers(ga_eval("t[1, :, i]", GA(t), GA(i)), NUMBERS(8, 11, 6, 9, 8, 11));
        assert_numbers(ga_eval("x[i, None, 0]", GA(x), GA(i)), NUMBERS(8, 0, 8));
        assert_numbers(ga_eval("take(x.T, i)", GA(x), GA(i)), NUMBERS(8, 0, 11));
        assert_numbers(ga_eval("take_along_axis(x, i[:, None])", GA(x), GA(i)), NUMBERS(2, 4, 11));
        gpuarray *mask = ga_greater(i, -1);
        assert_numbers(ga_eval("x[mask]", GA(x), GA(mask)), NUMBERS(0, 1, 2, 3, 4, 5, 6, 7));
        assert_numbers(ga_eval("x[(i > 0), 1:]", GA(x), GA(i)), NUMBERS(1, 2, 3));
        gpuarray *f = ga_full(GA_FLOAT32, GA_SHAPE(1), 12.345);
        assert_int_equal((int)(100 * ga_item_double(ga_eval("round(f, 1)", GA(f)))), 1230);
        assert_int_equal((int)ga_item_double(ga_eval("round(f, -1)", GA(f))), 10);
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Elements at indices need no kernel of their own. */
static void gathers_are_fused(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(30)), *i = ga_arange(GA_INT64, 29, -1, -1);
        const int before = simulated.launches;
        gpuarray *sum = ga_eval("x[i] * 2 + x[(i + 0)] - x", GA(x), GA(i));
        assert_int_equal(simulated.launches - before, 1);
        assert_true(ga_array_equal(sum, ga_subtract(ga_multiply(ga_flip(x, 0), 3), x)));
        gpuarray *m = counting(GA_SHAPE(30, 30));
        const int launches = simulated.launches;
        gpuarray *diagonal = ga_eval("m[i, (i + 0)] - x[i]", GA(m), GA(i), GA(x));
        assert_int_equal(simulated.launches - launches, 1);
        assert_true(ga_array_equal(diagonal, ga_multiply(ga_flip(x, 0), 30)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void bad_formulas_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *i = INT64S(0, 2),
                 *f = ga_ones(GA_FLOAT32, GA_SHAPE(2)), *mask = ga_greater(x, 2);
        if (on_host()) {
            assert_null(ga_eval("x[i]", GA(x), GA(i)));
            assert_error(GA_ERR_INDEX,
                         "eval: index 2 at position 1 is out of range for axis 0 of length 2");
        }
        assert_null(ga_eval("x[f]", GA(x), GA(f)));
        assert_error(GA_ERR_DTYPE, "expected integers");
        gpuarray *short_mask = ga_slice(mask, "1:");
        assert_null(ga_eval("x[short_mask]", GA(x), GA(short_mask)));
        assert_error(GA_ERR_SHAPE, "a mask of shape");
        assert_null(ga_eval("cumsum(x[mask])", GA(x), GA(mask)));
        assert_error(GA_ERR_UNSUPPORTED, "mask");
        if (on_host()) {
            assert_null(ga_eval("x[(i - 2), i] + x[(i - 2), (i + 1)]", GA(x), GA(i)));
            assert_error(GA_ERR_INDEX,
                         "eval: index 3 at position 1 is out of range for axis 1 of length 3");
            assert_null(ga_eval("take(x, (i + 4))", GA(x), GA(i)));
            assert_error(GA_ERR_INDEX,
                         "eval: index 6 at position 1 is out of range for axis 0 of length 6");
        }
        assert_null(ga_eval("x[None, i, :, 0, i, i]", GA(x), GA(i)));
        assert_error(GA_ERR_INDEX, "too many indices");
        assert_null(ga_eval("take(x, i, axis=2)", GA(x), GA(i)));
        assert_error(GA_ERR_INDEX, "axis 2 is out of range for 2 dimensions");
        gpuarray *none = ga_slice(x, ":0");
        assert_null(ga_eval("none[i]", GA(none), GA(i)));
        assert_error(GA_ERR_INDEX, "the axis of the indices has no elements");
    }
}

static void bad_calls_are_errors(void **state)
{
    (void)state;
    gpuarray *out[2] = {NULL, NULL};
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *line = counting(GA_SHAPE(3));
        assert_null(ga_delete(line, 3));
        assert_error(GA_ERR_INDEX, "delete: index 3 is out of range for axis 0 of length 3");
        if (on_host()) {
            assert_null(ga_delete(line, INT64S(0, 5)));
            assert_error(GA_ERR_INDEX, "delete: index 5 at position 1 is out of range for axis 0");
        }
        assert_null(ga_delete(line, ga_ones(GA_BOOL, GA_SHAPE(2))));
        assert_error(GA_ERR_SHAPE, "delete: a mask of shape (2,) for axis 0 of length 3");
        assert_null(ga_insert(line, INT64S(0, 4), 1));
        assert_error(GA_ERR_INDEX, "insert: index 4 is out of range for axis 0 of length 3");
        assert_null(ga_insert(x, 0, counting(GA_SHAPE(4)), GA_AXIS(0)));
        assert_error(GA_ERR_SHAPE,
                     "insert: values of shape (1, 4) do not broadcast to shape (1, 3)");
        assert_null(ga_insert(line, GA_NEWAXIS, 1));
        assert_error(GA_ERR_INVALID, "insert: the part is neither an index nor a range");
        assert_null(ga_trim_zeros(line, "x"));
        assert_error(GA_ERR_INVALID, "trim_zeros: unknown sides \"x\"");
        assert_int_equal(ga_ix_(GA_ARRAYS(x), out), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "ix_: array 1 has shape (2, 3), expected one dimension");
        assert_null(out[0]);
        assert_null(ga_vander(x, -1, false));
        assert_error(GA_ERR_SHAPE, "vander: the array has 2 dimensions, expected 1");
        assert_null(ga_trim_zeros_axes(x, NULL, 2, (const int[]){0, -2}));
        assert_error(GA_ERR_INVALID, "trim_zeros_axes: axis 0 is named twice");
        assert_null(ga_ediff1d_between(line, NULL, ga_ones(GA_FLOAT64, GA_SHAPE(2))));
        assert_error(GA_ERR_DTYPE, "ediff1d_between: float64 does not cast to int32 of the array");
        assert_int_equal(ga_gradients(x, 0, NULL, NULL, 2, out), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "gradients: axis 0 has length 2, expected at least 3");
        if (on_host()) {
            assert_int_equal(ga_unravel_index(INT64S(3, -1), GA_SHAPE(2, 3), out), GA_ERR_INDEX);
            assert_error(GA_ERR_INDEX, "unravel_index: index -1 at position 1 is out of range");
            const gpuarray *const both[] = {INT64S(0, 1), INT64S(2, -1)};
            assert_null(ga_ravel_multi_index(both, GA_SHAPE(2, 3)));
            assert_error(GA_ERR_INDEX, "ravel_multi_index: index -1 at position 1 is out of range");
        }
        assert_int_equal(ga_gradients(x, 2, (const int[]){0, -2}, NULL, 1, out), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "gradients: axis 0 is given twice");
        assert_null(ga_pad(x, GA_SHAPE(1), .mode = "median", .stat_length = -1));
        assert_error(GA_ERR_INVALID, "pad: stat_length -1 is negative");
        assert_null(ga_cov(x, .fweights = line, .aweights = ga_negative(line)));
        assert_error(GA_ERR_INVALID, "cov: some weights are negative");
        assert_null(ga_cov(x, .fweights = ga_ones(GA_FLOAT64, GA_SHAPE(3))));
        assert_error(GA_ERR_DTYPE, "cov: weights are float64, expected integers");
        assert_null(ga_cov(x, .aweights = counting(GA_SHAPE(2))));
        assert_error(GA_ERR_SHAPE, "cov: weights of shape (2,) for 3 observations");
        assert_null(ga_gradient(x));
        assert_error(GA_ERR_INVALID, "gradient: an array of 2 dimensions needs an axis");
        assert_null(ga_gradient(ga_slice(line, ":1")));
        assert_error(GA_ERR_SHAPE, "gradient: axis 0 has length 1, expected at least 2");
        assert_null(ga_gradient(line, .edge_order = 3));
        assert_error(GA_ERR_INVALID, "gradient: edge_order is 3, expected 1 or 2");
        assert_null(ga_trapezoid(x, .x = counting(GA_SHAPE(2))));
        assert_error(GA_ERR_SHAPE,
                     "trapezoid: coordinates of shape (2,) do not match shape (2, 3)");
        assert_null(ga_convolve(line, line, .mode = "some"));
        assert_error(GA_ERR_INVALID, "convolve: unknown mode \"some\"");
        assert_null(ga_correlate(line, x));
        assert_error(GA_ERR_SHAPE,
                     "correlate: shapes (3,) and (2, 3), expected two 1-D arrays with elements");
    }
}

/* ---- Allocations ---- */

static bool build(void)
{
    bool done = false;
    gpuarray *out[2];
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(3, 4)),
                 *k = x ? ga_ones(GA_INT64, GA_SHAPE(2)) : NULL;
        const gpuarray *const blocks[] = {x, x};
        done = k && ga_insert(x, k, 3, GA_AXIS(0)) && ga_insert(x, 1, 2) && ga_delete(x, k) &&
               ga_delete(x, 1, GA_AXIS(1)) && ga_resize(x, GA_SHAPE(5)) && ga_trim_zeros(x, NULL) &&
               ga_ediff1d_between(x, k, k) && ga_fill_diagonal_wrapped(x, k) == GA_OK &&
               ga_pad(x, GA_SHAPE(1), .mode = "median") &&
               ga_pad(x, GA_SHAPE(9), .mode = "reflect", .reflect_type = "odd") &&
               ga_block(2, 1, blocks) && ga_indices(GA_SHAPE(2, 2)) &&
               ga_ix_(GA_ARRAYS(k, k), out) == GA_OK &&
               ga_unravel_index(k, GA_SHAPE(2, 2), out, .order = 'F') == GA_OK &&
               ga_diag_indices(2, 2, out) == GA_OK && ga_packbits(x, GA_AXIS(0)) &&
               ga_unpackbits(ga_packbits(x)) &&
               ga_sliding_window_view(x, GA_SHAPE(2), GA_AXIS(0)) && ga_vander(k, 3, false);
    }
    return done;
}

static bool measure(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(6)),
                 *k = x ? ga_ones(GA_INT64, GA_SHAPE(2)) : NULL;
        gpuarray *slope;
        done = k && ga_gradients(x, 0, NULL, NULL, 1, &slope) == GA_OK &&
               ga_cov(x, .aweights = x) && ga_gradient(x) && ga_trapezoid(x) && ga_unwrap(x) &&
               ga_polyval(k, x) && ga_convolve(x, k) && ga_diff(x, 1, .append = x) &&
               ga_eval("x[k] + sum(x[(k + 1)])", GA(x), GA(k));
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    static bool (*const calls[])(void) = {build, measure};
    (void)state;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        survive_failures(calls[k]);
}

/* ---- Nothing ---- */

static void no_variables_have_a_matrix(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_UINT8, GA_SHAPE(0, 5)), *w = ga_ones(GA_INT64, GA_SHAPE(5));
        assert_shape(ga_cov(x), 2, (int64_t[]){0, 0});
        assert_shape(ga_cov(x, .fweights = w, .aweights = w), 2, (int64_t[]){0, 0});
        assert_shape(ga_corrcoef(x), 2, (int64_t[]){0, 0});
        gpuarray *z = ga_ones(GA_COMPLEX64, GA_SHAPE(0, 5));
        assert_int_equal(ga_dtype_of(ga_cov(z)), GA_FLOAT64);
        assert_int_equal(ga_dtype_of(ga_corrcoef(z)), GA_FLOAT64);
        assert_shape(ga_cov(ga_transpose(x), .columns = true), 2, (int64_t[]){0, 0});
    }
}

/* NumPy checks no index along an axis where the result has no elements. */
static void no_elements_need_no_index(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *k = ga_full(GA_INT64, GA_SHAPE(1, 1), 7);
        for (int64_t n = 0; n < 3; n++)
            assert_shape(ga_take_along_axis(ga_ones(GA_INT8, GA_SHAPE(0, n)), k, GA_AXIS(1)), 2,
                         (int64_t[]){0, 1});
        assert_null(ga_take_along_axis(ga_ones(GA_INT8, GA_SHAPE(1, 0)), k, GA_AXIS(1)));
        assert_error(GA_ERR_INDEX, "take_along_axis: axis 1 has no elements");
    }
}

/* ---- Diagonals ---- */

/* NumPy's rule: element number k * step of x, in C order, becomes value number k. */
static void assert_diagonal(int ndim, int64_t rows, int64_t columns, int count, bool wrapped)
{
    const int64_t shape[] = {rows, columns, columns, columns}, numbers[] = {7, -8, 9};
    int32_t wanted[64] = {0};
    int64_t size = 1, step = ndim == 2 ? columns + 1 : 1, power = 1;
    for (int k = 0; k < ndim; k++) {
        size *= shape[k];
        step += ndim > 2 &&k > 0 ? power *= columns : 0;
    }
    const int64_t square = columns * columns,
                  end = ndim == 2 && !wrapped && square < size ? square : size;
    for (int64_t k = 0; k * step < end; k++)
        wanted[k * step] = (int32_t)numbers[k % count];
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT32, ndim, shape),
                 *v = ga_from_host(numbers, GA_INT64, GA_SHAPE(count));
        assert_int_equal(wrapped ? ga_fill_diagonal_wrapped(x, v) : ga_fill_diagonal(x, v), GA_OK);
        assert_numbers(ga_ravel(x), size, wanted);
    }
}

static void diagonals_of_every_shape(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 64; n++)
        for (int count = 1; count <= 3; count++)
            for (int wrapped = 0; wrapped < 2; wrapped++) {
                assert_diagonal(2, n / 8, n % 8, count, wrapped);
                if (n < 3) {
                    assert_diagonal(3, n, n, count, wrapped);
                    assert_diagonal(4, n, n, count, wrapped);
                }
            }
}

/* ---- Segments, on CUDA ---- */

static void segments_are_reduced(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 6)), *ends = INT64S(0, 2, 2, 6);
        assert_numbers(ga_astype(ga_sum(x, GA_AXIS(1), .offsets = ends), GA_INT32),
                       NUMBERS(1, 0, 14, 13, 0, 38));
        assert_numbers(ga_max(ga_ravel(x), .offsets = INT64S(0, 5, 12)), NUMBERS(4, 11));
        gpuarray *many = ga_ones(GA_FLOAT32, GA_SHAPE(20000)), *cuts = INT64S(0, 1, 15000, 20000);
        assert_numbers(ga_astype(ga_sum(many, .offsets = cuts), GA_INT32), NUMBERS(1, 14999, 5000));
        assert_numbers(ga_astype(ga_mean(many, .offsets = cuts), GA_INT32), NUMBERS(1, 1, 1));
    }
    assert_int_equal(ga_error(), GA_OK);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_put_in_and_left_out),
        cmocka_unit_test(grids_name_elements),
        cmocka_unit_test(indices_have_modes_and_orders),
        cmocka_unit_test(windows_slide),
        cmocka_unit_test(bits_are_packed),
        cmocka_unit_test(numbers_along_an_axis),
        cmocka_unit_test(convolutions_of_any_length),
        cmocka_unit_test(convolutions_keep_infinities),
        cmocka_unit_test(dtypes_are_promoted),
        cmocka_unit_test(several_axes_move),
        cmocka_unit_test(all_axes_of_the_most_move),
        cmocka_unit_test(lines_are_of_the_last_axis),
        cmocka_unit_test(sides_have_values),
        cmocka_unit_test(formulas_take_elements),
        cmocka_unit_test(bad_formulas_are_errors),
        cmocka_unit_test(bad_calls_are_errors),
        cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(diagonals_of_every_shape),
        cmocka_unit_test(no_variables_have_a_matrix),
        cmocka_unit_test(no_elements_need_no_index),
        cmocka_unit_test(segments_are_reduced),
        simulated_test(gathers_are_fused),
        simulated_test(formulas_take_elements),
        simulated_test(elements_are_put_in_and_left_out),
        simulated_test(numbers_along_an_axis),
        simulated_test(segments_are_reduced),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
