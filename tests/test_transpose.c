/* Transposed operands: any order of 2 to 5 axes, items of 1 to 16 bytes, even and odd lengths. */
#include "array_support.h"

/* Distinct enough bytes: neighbours, rows and planes all differ. */
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

/* Element numbers of the transposed array in C order, counted in the original. */
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

/* x.T + y with views that start off a vector's boundary, beside the same in another order. */
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
        assert_true(ga_item_bool(ga_all(ga_equal(sum, again))));
        gpuarray *fused = ga_eval("where(t > 50, t - u, y)", GA(t), GA(u), GA(y));
        gpuarray *parts = (ga_where)(GA_V(ga_greater(ga_copy(t), 50)),
                                     GA_V(ga_subtract(ga_copy(t), ga_copy(u))), GA_V(ga_copy(y)));
        assert_true(ga_item_bool(ga_all(ga_equal(fused, parts))));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_axes_is_copied_right),
        cmocka_unit_test(sums_with_transposes_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
