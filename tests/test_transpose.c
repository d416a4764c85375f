/* Transposed operands: any order of 2 to 5 axes, items of 1 to 16 bytes, even and odd lengths. */
#include <stdlib.h>
#include <string.h>

/* Distinct enough bytes: neighbours, rows and planes all differ. */

#include <quarry.h>

#include "golden.h"
#include "run.h"
static unsigned char *make_bytes(size_t nbytes)
{
    unsigned char *bytes = malloc(nbytes);
    uint32_t state = 12345;
    for (size_t i = 0; i < nbytes; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
    return bytes;
}

/* Indices of the transposed array's elements in C order, in the original. */
static void fill_order(int ndim, const int64_t *shape, const int *axes, int64_t *order)
{
    int64_t strides[5], step = 1, index[5] = {0}, n = 1;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        strides[axis] = step;
        step *= shape[axis];
        n *= shape[axis];
    }
    for (int64_t k = 0; k < n; k++) {
        order[k] = 0;
        for (int axis = 0; axis < ndim; axis++)
            order[k] += index[axis] * strides[axes[axis]];
        for (int axis = ndim - 1; axis >= 0 && ++index[axis] == shape[axes[axis]]; axis--)
            index[axis] = 0;
    }
}

static void check_copy(ga_dtype dtype, int ndim, const int64_t *shape, const int *axes)
{
    const size_t item = ga_dtype_size(dtype);
    int64_t n = 1;
    for (int axis = 0; axis < ndim; axis++)
        n *= shape[axis];
    unsigned char *bytes = make_bytes((size_t)n * item), *got = malloc((size_t)n * item);
    int64_t *order = malloc((size_t)n * sizeof *order);
    fill_order(ndim, shape, axes, order);
    GA_SCOPE {
        gpuarray *x = ga_from_host(bytes, dtype, ndim, shape);
        gpuarray *copy = ga_copy(ga_transpose_axes(x, ndim, axes));
        assert_int_equal(ga_to_host(copy, got, (size_t)n * item), GA_OK);
    }
    for (int64_t k = 0; k < n; k++)
        if (memcmp(got + (size_t)k * item, bytes + (size_t)order[k] * item, item) != 0)
            fail_msg("%s, %d axes, %lld x %lld ...: element %lld", ga_dtype_name(dtype), ndim,
                     (long long)shape[0], (long long)shape[1], (long long)k);
    free(order);
    free(got);
    free(bytes);
}

/* Calls check_copy with every order of the axes. */
static void check_orders(ga_dtype dtype, int ndim, const int64_t *shape, int *axes, int fixed)
{
    if (fixed == ndim) {
        check_copy(dtype, ndim, shape, axes);
        return;
    }
    for (int i = fixed; i < ndim; i++) {
        const int a = axes[fixed], b = axes[i];
        axes[fixed] = b, axes[i] = a;
        check_orders(dtype, ndim, shape, axes, fixed + 1);
        axes[fixed] = a, axes[i] = b;
    }
}

static const ga_dtype items[] = {GA_INT8, GA_INT16, GA_INT32, GA_INT64, GA_COMPLEX128};

static void every_order_of_axes_is_copied_right(void **state)
{
    static const struct {
        int ndim;
        int64_t shape[5];
    } cases[] = {{2, {128, 256}},       {2, {129, 130}},     {2, {64, 67}},
                 {2, {33, 500}},        {2, {20, 1000}},     {2, {300, 132}},
                 {3, {5, 64, 72}},      {3, {40, 3, 70}},    {3, {65, 33, 6}},
                 {4, {3, 40, 2, 68}},   {4, {34, 2, 36, 5}}, {5, {2, 34, 3, 36, 2}},
                 {5, {1, 70, 1, 68, 1}}};
    (void)state;
    for (size_t d = 0; d < sizeof items / sizeof *items; d++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            int axes[5] = {0, 1, 2, 3, 4};
            if (cases[k].ndim == 5 && items[d] != GA_INT16 && items[d] != GA_INT64)
                continue; /* 120 orders each */
            check_orders(items[d], cases[k].ndim, cases[k].shape, axes, 0);
        }
}

/* x.T + y with views that start off a vector's boundary, compared with the same operation in
 * another order. */
static void check_sum(ga_dtype a, ga_dtype b, int64_t rows, int64_t columns, int64_t skip)
{
    GA_SCOPE {
        gpuarray *count = ga_arange(GA_FLOAT64, 0, (double)((rows + skip) * (columns + skip)), 1);
        gpuarray *wide = ga_remainder(count, 101);
        gpuarray *x =
            ga_slice(ga_astype(ga_reshape(wide, GA_SHAPE(columns + skip, rows + skip)), a),
                     "%d:, %d:", (int)skip, (int)skip);
        gpuarray *y =
            ga_slice(ga_astype(ga_reshape(wide, GA_SHAPE(rows + skip, columns + skip)), b),
                     "%d:, %d:", (int)skip, (int)skip);
        gpuarray *sum = ga_add(ga_transpose(x), y);
        gpuarray *again = ga_transpose(ga_add(ga_copy(x), ga_copy(ga_transpose(y))));
        gpuarray *t = ga_transpose(x), *u = ga_slice(sum, ":, ::-1");
        assert_arrays_equal(sum, again);
        gpuarray *fused = ga_eval("where(t > 50, t - u, y)", GA(t), GA(u), GA(y));
        gpuarray *parts = (ga_where)(GA_V(ga_greater(ga_copy(t), 50)),
                                     GA_V(ga_subtract(ga_copy(t), ga_copy(u))), GA_V(ga_copy(y)));
        assert_arrays_equal(fused, parts);
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void sums_with_transposes_are_right(void **state)
{
    static const ga_dtype pairs[][2] = {{GA_FLOAT32, GA_FLOAT32},
                                        {GA_INT8, GA_FLOAT32},
                                        {GA_FLOAT64, GA_INT16},
                                        {GA_FLOAT16, GA_FLOAT16},
                                        {GA_INT8, GA_INT8}};
    (void)state;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (int64_t skip = 0; skip < 3; skip++) {
            check_sum(pairs[k][0], pairs[k][1], 128, 192, skip);
            check_sum(pairs[k][0], pairs[k][1], 131, 260, skip);
            check_sum(pairs[k][0], pairs[k][1], 30, 77, skip);
        }
}

/* Results stored past the cache, in an array wider than they are: whole cache lines belong to one
 * band of columns, wherever in a line a row starts, and neighbouring elements stay unchanged. */
static void check_large(ga_dtype dtype, int64_t rows, int64_t columns, int64_t beside)
{
    const size_t item = ga_dtype_size(dtype);
    const int64_t width = columns + 2 * beside;
    unsigned char *bytes = make_bytes((size_t)(rows * columns) * item);
    unsigned char *got = malloc((size_t)(rows * width) * item);
    GA_SCOPE {
        gpuarray *x = ga_from_host(bytes, dtype, GA_SHAPE(columns, rows));
        gpuarray *wide = ga_zeros(dtype, GA_SHAPE(rows, width));
        gpuarray *out = ga_slice(wide, ":, %d:%d", (int)beside, (int)(beside + columns));
        assert_int_equal(ga_positive_into(out, ga_transpose(x)), GA_OK);
        assert_int_equal(ga_to_host(wide, got, (size_t)(rows * width) * item), GA_OK);
    }
    static const unsigned char zeros[16];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++) {
            const bool inside = j >= beside && j < beside + columns;
            const unsigned char *want =
                inside ? bytes + (size_t)((j - beside) * rows + i) * item : zeros;
            if (memcmp(got + (size_t)(i * width + j) * item, want, item) != 0)
                fail_msg("%s, %lld x %lld, %lld beside: element %lld, %lld", ga_dtype_name(dtype),
                         (long long)rows, (long long)columns, (long long)beside, (long long)i,
                         (long long)j);
        }
    free(got);
    free(bytes);
}

static void large_transposes_are_right(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof items / sizeof *items; d++) {
        const int64_t rows = (9 << 20) / 1031 / (int64_t)ga_dtype_size(items[d]);
        check_large(items[d], rows, 1031, 0);
        check_large(items[d], rows, 1024, 0);
        check_large(items[d], rows, 1031, 3);
        check_large(items[d], 1030, rows < 256 ? 1024 : rows, 1);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        slow_test(every_order_of_axes_is_copied_right),
        slow_test(sums_with_transposes_are_right),
        cmocka_unit_test(large_transposes_are_right),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
