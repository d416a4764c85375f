/* CUDA's own kernels without a GPU: the simulator of users' modules runs them, and each gives the
 * result of the host's kernel for the same call. */
#include <math.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "kernels/reduce_text.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, MOST_BYTES = 1 << 24 };

/* A deterministic array: small integers, whose sums are exact in any order. */
static gpuarray *given(ga_dtype dtype, int ndim, const int64_t *shape)
{
    static char bytes[MOST_BYTES];
    const int64_t size = ga__shape_size(ndim, shape);
    const size_t itemsize = ga_dtype_size(dtype);
    assert_true((size_t)size * itemsize <= sizeof bytes);
    for (int64_t k = 0; k < size; k++) {
        const int64_t number = (k * 7919 + k / 97) % 101 - 50;
        const ga_value value = {.kind = GA_VALUE_NUMBER, .dtype = GA_INT64, .as.i = number};
        ga__dtype_store(dtype, value, bytes + (size_t)k * itemsize);
    }
    gpuarray *x = ga_from_host(bytes, dtype, ndim, shape);
    assert_non_null(x);
    return x;
}

/* ---- Both devices ---- */

typedef gpuarray *(*work)(int64_t n);

/* Runs the work on the device; returns its result in host memory. */
static size_t result_on(ga__device *device, work make, int64_t n, char *bytes, ga_dtype *dtype)
{
    size_t nbytes = 0;
    ga__use_device(device);
    GA_SCOPE {
        const gpuarray *x = make(n);
        if (!x)
            fail_msg("%lld: %s", (long long)n, ga_error_message());
        nbytes = ga_nbytes(x);
        *dtype = ga_dtype_of(x);
        assert_true(nbytes <= MOST_BYTES);
        assert_int_equal(ga_to_host(x, bytes, nbytes), GA_OK);
    }
    return nbytes;
}

static void compare(const char *what, work make, int64_t n, double tolerance)
{
    static char wanted[MOST_BYTES], got[MOST_BYTES];
    ga_dtype dtype;
    const int before = simulated.launches;
    /* First, because both have the host's memory: later it may hold the host's results. */
    const size_t nbytes = result_on(&simulated_device, make, n, got, &dtype);
    const int after = simulated.launches;
    assert_true(after > before);
    assert_int_equal(result_on(ga__find_device("cpu"), make, n, wanted, &dtype), nbytes);
    assert_int_equal(simulated.launches, after);
    assert_int_equal(simulated.rejected, 0); /* a custom kernel then runs another form */
    for (size_t at = 0; at < nbytes; at += ga_dtype_size(dtype)) {
        const double a = ga__number_double(ga__dtype_fetch(dtype, wanted + at)),
                     b = ga__number_double(ga__dtype_fetch(dtype, got + at));
        if (memcmp(wanted + at, got + at, ga_dtype_size(dtype)) != 0 &&
            !(fabs(a - b) <= tolerance * fabs(a)) && !(isnan(a) && isnan(b)))
            fail_msg("%s of %lld: element %zu is %.17g on the host and %.17g by CUDA's kernel",
                     what, (long long)n, at / ga_dtype_size(dtype), a, b);
    }
}

/* Whether the sample of this run has the call. */
static bool wants(const char *what, int64_t length)
{
    char text[100];
    snprintf(text, sizeof text, "%s; %lld", what, (long long)length);
    return in_sample(text);
}

/* For each length: ends within vectors, blocks and waves. */
#define COMPARE(work, tolerance, ...)                                                              \
    do {                                                                                           \
        const int64_t lengths[] = {__VA_ARGS__};                                                   \
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)                              \
            if (wants(#work, lengths[k]))                                                          \
                compare(#work, work, lengths[k], tolerance);                                       \
    } while (0)

/* ---- Elementwise ---- */

static gpuarray *add_floats(int64_t n)
{
    return ga_add(given(GA_FLOAT32, GA_SHAPE(n)), given(GA_FLOAT32, GA_SHAPE(n)));
}

static gpuarray *add_bytes(int64_t n)
{
    return ga_add(given(GA_INT8, GA_SHAPE(n)), 1);
}

static gpuarray *add_halves(int64_t n)
{
    return ga_add(given(GA_FLOAT16, GA_SHAPE(n)), given(GA_FLOAT64, GA_SHAPE(n)));
}

/* All bits of a half, to a float of a byte and back; sums of those. */
static gpuarray *through_e4m3fn(int64_t n)
{
    gpuarray *bits = ga_astype(ga_arange(GA_INT32, 0, (double)n, 1), GA_UINT16);
    return ga_astype(ga_astype(ga_view(bits, GA_FLOAT16), GA_FLOAT8_E4M3FN), GA_FLOAT32);
}

static gpuarray *through_e5m2(int64_t n)
{
    gpuarray *bits = ga_astype(ga_arange(GA_INT32, 0, (double)n, 1), GA_UINT16);
    return ga_astype(ga_astype(ga_view(bits, GA_FLOAT16), GA_FLOAT8_E5M2), GA_FLOAT32);
}

static gpuarray *add_float_bytes(int64_t n)
{
    gpuarray *bits = ga_astype(ga_arange(GA_INT32, 0, (double)n, 1), GA_UINT8);
    gpuarray *x = ga_view(bits, GA_FLOAT8_E4M3FN), *y = ga_view(bits, GA_FLOAT8_E5M2);
    return ga_eval("x/3 + y*y", GA(x), GA(y));
}

/* Each statement reads the float that the one before computed. */
static gpuarray *custom_float_bytes(int64_t n)
{
    gpuarray *x = ga_full(GA_FLOAT8_E4M3FN, GA_SHAPE(n), 1.75),
             *y = ga_full(GA_FLOAT8_E5M2, GA_SHAPE(n), 3),
             *sums = ga_zeros(GA_FLOAT32, GA_SHAPE(n));
    ga_kernel *kernel = ga_elementwise_kernel(
        "float8_e4m3fn *x, __nv_fp8_e5m2 *y, float8_e4m3fn s, float *sums",
        "x[i] += y[i]; y[i] = float8_e5m2(x[i] / 3); sums[i] = x[i] + y[i] + s", "bytes");
    assert_int_equal(ga_run(kernel, x, y, 0.3, sums), GA_OK);
    ga_kernel_free(kernel);
    return sums;
}

static gpuarray *add_misaligned(int64_t n)
{
    return ga_add(ga_slice(given(GA_FLOAT32, GA_SHAPE(n + 1)), "1:"), 2);
}

static gpuarray *add_in_place(int64_t n)
{
    gpuarray *x = ga_slice(given(GA_FLOAT32, GA_SHAPE(n + 1)), "1:");
    assert_int_equal(ga_add_into(x, x, 1), GA_OK);
    return x;
}

static void vectors_and_tails(void **state)
{
    (void)state;
    COMPARE(add_floats, 0, 1, 2, 3, 4, 5, 6, 7, 511, 512, 513, 514, 515, 4099, 100002);
    COMPARE(add_bytes, 0, 15, 16, 17, 31, 2047, 2048, 2049, 100001);
    COMPARE(add_halves, 0, 2, 3, 257, 1001);
    COMPARE(through_e4m3fn, 0, 65536);
    COMPARE(through_e5m2, 0, 65536);
    COMPARE(add_float_bytes, 0, 256, 515);
    COMPARE(custom_float_bytes, 0, 67);
    COMPARE(add_in_place, 0, 1, 129, 513);
    COMPARE(add_misaligned, 0, 1, 3, 127, 129, 511, 512, 513, 5003);
}

static gpuarray *add_rows_and_columns(int64_t n)
{
    gpuarray *x = given(GA_FLOAT64, GA_SHAPE(37, n)), *row = given(GA_FLOAT64, GA_SHAPE(n)),
             *column = given(GA_FLOAT64, GA_SHAPE(37, 1));
    return ga_eval("a - b*c", GA_NAMED("a", x), GA_NAMED("b", row), GA_NAMED("c", column));
}

static gpuarray *add_strided(int64_t n)
{
    gpuarray *x = given(GA_INT32, GA_SHAPE(5, n, 12)), *y = given(GA_INT32, GA_SHAPE(n, 4));
    return ga_subtract(ga_slice(x, "::2, ::-1, 1::3"), y);
}

static gpuarray *numbers_of_elements(int64_t n)
{
    gpuarray *x = given(GA_INT32, GA_SHAPE(n)), *y = ga_empty_like(x);
    ga_kernel *kernel = ga_elementwise_kernel("int *x, int *y", "y[i] = x[i] * 1000 + i", "number");
    assert_int_equal(ga_run(kernel, x, y), GA_OK);
    ga_kernel_free(kernel);
    return y;
}

/* Both arrays are contiguous along the first axis, along which `i` advances by n. */
static gpuarray *numbers_of_columns(int64_t n)
{
    gpuarray *x = ga_transpose(given(GA_FLOAT32, GA_SHAPE(n, 20))),
             *y = ga_transpose(ga_zeros(GA_FLOAT32, GA_SHAPE(n, 20)));
    ga_kernel *kernel =
        ga_elementwise_kernel("const float *x, float *y", "y[i] = x[i] + 7*i", "number");
    assert_int_equal(ga_run(kernel, x, y), GA_OK);
    ga_kernel_free(kernel);
    return y;
}

static gpuarray *backwards(int64_t n)
{
    gpuarray *x = given(GA_INT32, GA_SHAPE(n)), *y = ga_empty_like(x);
    ga_kernel *kernel =
        ga_elementwise_kernel("const int *x, int *y", "y[i] = x[n - 1 - i] + i", "backwards");
    assert_int_equal(ga_run(kernel, x, y), GA_OK);
    ga_kernel_free(kernel);
    return y;
}

/* An array that needs 64-bit indices. */
static gpuarray *from_afar(int64_t n)
{
    gpuarray *x = ga_broadcast_to(given(GA_INT32, GA_SHAPE(7)), GA_SHAPE(INT64_C(1) << 32, 7));
    gpuarray *y = ga_empty(GA_INT32, GA_SHAPE(n));
    ga_kernel *kernel = ga_elementwise_kernel(
        "const int *x, int *y", "y[i] = x[(long long)i * 4000000000 + i % 7]", "from_afar");
    assert_int_equal(ga_run(kernel, x, y), GA_OK);
    ga_kernel_free(kernel);
    return y;
}

/* The same kernel's text with 32-bit and 64-bit indices. */
static gpuarray *from_any_size(int64_t n)
{
    gpuarray *x =
        ga_broadcast_to(given(GA_INT32, GA_SHAPE(7)), GA_SHAPE(n % 2 ? INT64_C(1) << 32 : 2, 7));
    gpuarray *y = ga_empty(GA_INT32, GA_SHAPE(n));
    ga_kernel *kernel =
        ga_elementwise_kernel("const int *x, int *y", "y[i] = x[(i * 3) % 14]", "from_any_size");
    assert_int_equal(ga_run(kernel, x, y), GA_OK);
    ga_kernel_free(kernel);
    return y;
}

static void strides_and_indices(void **state)
{
    (void)state;
    COMPARE(add_rows_and_columns, 0, 2, 64, 65);
    COMPARE(add_strided, 0, 1, 2, 33);
    COMPARE(numbers_of_elements, 0, 3, 4, 7, 1003);
    COMPARE(numbers_of_columns, 0, 2, 30, 65);
    COMPARE(backwards, 0, 1, 7, 1003);
    COMPARE(from_afar, 0, 7, 515);
    COMPARE(from_any_size, 0, 8, 515, 514);
}

static gpuarray *add_transposed(int64_t n)
{
    gpuarray *x = given(GA_FLOAT32, GA_SHAPE(n, n)), *y = given(GA_FLOAT32, GA_SHAPE(n, n));
    return ga_subtract(x, ga_transpose(y));
}

static gpuarray *turn_bytes(int64_t n)
{
    return ga_copy(ga_transpose_axes(given(GA_INT8, GA_SHAPE(3, n, 140)), GA_AXES(0, 2, 1)));
}

static void squares(void **state)
{
    (void)state;
    COMPARE(add_transposed, 0, 33, 67, 128, 260, 67); /* 67: no vectors, before and after */
    COMPARE(turn_bytes, 0, 20, 144, 150);
}

static gpuarray *quick_functions(int64_t n)
{
    return ga_eval("log(x*x + 2) + sqrt(x*x/7)/(x*x + 3)",
                   GA_NAMED("x", given(GA_FLOAT32, GA_SHAPE(n))));
}

/* Arguments that quick functions reject, among others. */
static gpuarray *rare_arguments(int64_t n)
{
    return ga_eval("log(x) + sqrt(x/7)/x", GA_NAMED("x", given(GA_FLOAT32, GA_SHAPE(n))));
}

static void quick_functions_and_those_for_the_rest(void **state)
{
    (void)state;
    COMPARE(quick_functions, 1e-6, 4, 515, 70001);
    COMPARE(rare_arguments, 1e-6, 4, 515, 70001);
}

/* ---- Moves: vectors that begin anywhere ---- */

enum { ROW = 4096 }; /* bytes from which on they pay */

static gpuarray *pad_edges(int64_t n)
{
    return ga_pad(given(GA_FLOAT32, GA_SHAPE(3, ROW / 4 + n)), GA_SHAPE(1), .mode = "edge");
}

static gpuarray *pad_bytes(int64_t n)
{
    return ga_pad(given(GA_INT8, GA_SHAPE(3, ROW + n)), GA_SHAPE(1, 0, n + 30, 5),
                  .value = GA_V(9));
}

static gpuarray *pad_mirrored(int64_t n)
{
    return ga_pad(given(GA_FLOAT16, GA_SHAPE(2, 3, ROW / 2 + n)), GA_SHAPE(1, n + 20),
                  .mode = "symmetric");
}

/* A window whose first and last rows begin and end the array's memory, at odd addresses. */
static gpuarray *wrap_a_window(int64_t n)
{
    const gpuarray *x = given(GA_INT16, GA_SHAPE(4, ROW / 2 + 20 + n));
    return ga_pad(
        ga_slice_ranges(x, 2, (const ga_range[]){GA_ALL, GA_RANGE(5, ROW / 2 + 12 + n, 1)}),
        GA_SHAPE(0, 0, 3, 2), .mode = "wrap");
}

static gpuarray *roll_both(int64_t n)
{
    return ga_roll(given(GA_FLOAT32, GA_SHAPE(5, ROW / 4 + n)), 3, GA_AXIS(0, 1));
}

static gpuarray *roll_doubles(int64_t n)
{
    return ga_roll(given(GA_FLOAT64, GA_SHAPE(2, 3, ROW / 8 + n)), -1 - n, GA_AXIS(2));
}

static gpuarray *roll_outer_bytes(int64_t n)
{
    return ga_roll(given(GA_INT8, GA_SHAPE(2, 3, ROW + n)), 1, GA_AXIS(1));
}

/* Words of 2, 4, 8 and 16 bytes, one element of each piece after another. */
static gpuarray *stack_of(ga_dtype dtype, int count, int64_t n)
{
    const gpuarray *pieces[16];
    gpuarray *all = given(dtype, GA_SHAPE(count, n + 3));
    for (int k = 0; k < count; k++)
        pieces[k] = ga_slice_ranges(all, 2, (const ga_range[]){GA_INDEX(k), GA_RANGE(3, n + 3, 1)});
    return ga_stack(count, pieces, GA_AXIS(-1));
}

static gpuarray *stack_floats(int64_t n)
{
    return stack_of(GA_FLOAT32, 2, n);
}

static gpuarray *stack_bytes(int64_t n)
{
    return stack_of(GA_INT8, n % 2 ? 16 : 4, n);
}

static gpuarray *stack_doubles(int64_t n)
{
    return stack_of(GA_FLOAT64, 2, n);
}

static gpuarray *stack_halves(int64_t n)
{
    return stack_of(GA_FLOAT16, n % 2 ? 3 : 4, n); /* 3: no word */
}

static void moves(void **state)
{
    (void)state;
    COMPARE(pad_edges, 0, 0, 1, 2, 7);
    COMPARE(pad_bytes, 0, 0, 1, 15);
    COMPARE(pad_mirrored, 0, 0, 3, 8);
    COMPARE(wrap_a_window, 0, 0, 1);
    COMPARE(roll_both, 0, 0, 1, 6);
    COMPARE(roll_doubles, 0, 0, 1);
    COMPARE(roll_outer_bytes, 0, 0, 3, 16);
    COMPARE(stack_floats, 0, 1, 6, 1030);
    COMPARE(stack_bytes, 0, 6, 517);
    COMPARE(stack_doubles, 0, 5, 512);
    COMPARE(stack_halves, 0, 7, 1028);
}

/* ---- Reductions: teams, blocks, several blocks to a row ---- */

static gpuarray *sum_all(int64_t n)
{
    return ga_sum(given(GA_INT32, GA_SHAPE(n)));
}

static gpuarray *sum_product(int64_t n)
{
    gpuarray *x = given(GA_FLOAT64, GA_SHAPE(n)), *y = given(GA_FLOAT32, GA_SHAPE(n));
    return ga_eval("sum(x*y)", GA(x), GA(y));
}

static gpuarray *sum_short_rows(int64_t n)
{
    return ga_sum(given(GA_INT32, GA_SHAPE(n, 4)), GA_AXIS(1));
}

static gpuarray *sum_rows_of_12(int64_t n)
{
    return ga_sum(given(GA_INT32, GA_SHAPE(n, 12)), GA_AXIS(1));
}

static gpuarray *sum_parts_of_rows(int64_t n)
{
    return ga_sum(ga_slice(given(GA_INT32, GA_SHAPE(n, 8)), ":, :5"), GA_AXIS(1));
}

static gpuarray *sum_rows(int64_t n)
{
    return ga_sum(given(GA_FLOAT64, GA_SHAPE(7, n)), GA_AXIS(1));
}

static gpuarray *sum_columns(int64_t n)
{
    return ga_sum(given(GA_FLOAT32, GA_SHAPE(n, 36)), GA_AXIS(0));
}

static gpuarray *sum_odd_columns(int64_t n)
{
    return ga_sum(given(GA_INT32, GA_SHAPE(n, 37)), GA_AXIS(0));
}

static gpuarray *sum_middles(int64_t n)
{
    return ga_sum(given(GA_FLOAT32, GA_SHAPE(5, n, 20)), GA_AXIS(1));
}

static gpuarray *sum_ends(int64_t n)
{
    return ga_sum(given(GA_FLOAT32, GA_SHAPE(6, n, 5)), GA_AXIS(0, 2));
}

static void sums(void **state)
{
    (void)state;
    COMPARE(sum_all, 0, 1, 2, 5, 31, 100, 1003, 5003, 100003, 1000001);
    COMPARE(sum_product, 0, 3, 1001, 100001);
    COMPARE(sum_short_rows, 0, 3, 5000, 20001);
    COMPARE(sum_rows_of_12, 0, 7, 20001);
    COMPARE(sum_parts_of_rows, 0, 7, 20001);
    COMPARE(sum_rows, 0, 3, 70, 5001, 40000);
    COMPARE(sum_columns, 0, 2, 33, 100, 140, 1001, 20001); /* 140: a larger block */
    COMPARE(sum_odd_columns, 0, 3, 5001);
    COMPARE(sum_middles, 0, 3, 300);
    COMPARE(sum_ends, 0, 4, 100);
}

static gpuarray *first_greatest(int64_t n)
{
    return ga_argmax(given(GA_FLOAT32, GA_SHAPE(n)));
}

static gpuarray *first_greatest_of_columns(int64_t n)
{
    return ga_argmax(given(GA_FLOAT32, GA_SHAPE(n, 20)), GA_AXIS(0));
}

static gpuarray *any_equal(int64_t n)
{
    gpuarray *x = given(GA_INT32, GA_SHAPE(n));
    gpuarray *any = ga_any(ga_equal(x, 50)), *all = ga_all(ga_less(x, 50));
    return ga_add(ga_multiply(ga_astype(any, GA_INT32), 2), all);
}

/* Rows of `length` elements that are not zero, but for one of two rows in three; the zeros have all
 * places within vectors. Both results of each row. */
static gpuarray *decided_rows(ga_dtype dtype, int64_t length)
{
    enum { ROWS = 67 };
    static char bytes[MOST_BYTES];
    const size_t size = ga_dtype_size(dtype);
    for (int64_t k = 0; k < ROWS * length; k++) {
        const int64_t row = k / length;
        const bool odd = row % 3 > 0 && k % length == row * 9973 % length;
        const ga_value value = {.kind = GA_VALUE_NUMBER, .dtype = GA_INT64, .as.i = odd ? 0 : -128};
        ga__dtype_store(dtype, value, bytes + (size_t)k * size);
    }
    gpuarray *x = ga_from_host(bytes, dtype, 2, (int64_t[]){ROWS, length});
    gpuarray *none = ga_any(ga_logical_not(x), GA_AXIS(1)), *all = ga_all(x, GA_AXIS(1));
    return ga_add(ga_multiply(ga_astype(none, GA_INT32), 2), all);
}

static gpuarray *decided_truths(int64_t n)
{
    return decided_rows(GA_BOOL, n);
}

static gpuarray *decided_bytes(int64_t n)
{
    return decided_rows(GA_INT8, n);
}

static gpuarray *decided_shorts(int64_t n)
{
    return decided_rows(GA_INT16, n);
}

static gpuarray *variance(int64_t n)
{
    return ga_var(given(GA_FLOAT64, GA_SHAPE(n)));
}

static gpuarray *of_a_struct(int64_t n)
{
    ga_kernel *kernel = ga_reduction_kernel(GA_INT64, "-1000000000", "a > b ? a : b",
                                            "x[i] * 1000000 + i", "const int *x", "last_greatest");
    assert_non_null(kernel);
    gpuarray *result = ga_reduce(kernel, given(GA_INT32, GA_SHAPE(n)));
    ga_kernel_free(kernel);
    return result;
}

static void other_reductions(void **state)
{
    (void)state;
    COMPARE(first_greatest, 0, 3, 100, 5003, 300001);
    COMPARE(first_greatest_of_columns, 0, 5, 5003);
    COMPARE(any_equal, 0, 7, 101, 300001);
    COMPARE(decided_truths, 0, 100, 4097, 16384, 40001);
    COMPARE(decided_bytes, 0, 100, 9386, 16401, 40000);
    COMPARE(decided_shorts, 0, 100, 4693, 8192, 40001);
    COMPARE(variance, 1e-13, 5, 1001, 300001);
    COMPARE(of_a_struct, 0, 5, 300001);
}

/* ---- Columns of any number, whose rows begin anywhere ---- */

/* A matrix of `columns` columns, `offset` elements into its memory. */
static gpuarray *ragged(ga_dtype dtype, int64_t columns, int64_t offset)
{
    const int64_t rows = 3 + 60000 / columns;
    gpuarray *all = given(dtype, GA_SHAPE(offset + rows * columns));
    return ga_reshape(ga_slice(all, "%lld:", (long long)offset), GA_SHAPE(rows, columns));
}

/* A window of `columns` columns of a wider matrix. */
static gpuarray *window(ga_dtype dtype, int64_t columns, int64_t offset)
{
    const int64_t rows = 3 + 60000 / columns;
    return ga_slice(given(dtype, GA_SHAPE(rows, columns + 5 + offset)), ":, %lld:-5",
                    (long long)offset);
}

static gpuarray *sum_ragged_bytes(int64_t n)
{
    return ga_sum(ragged(GA_INT8, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *sum_ragged_floats(int64_t n)
{
    return ga_sum(ragged(GA_FLOAT32, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *max_ragged_halves(int64_t n)
{
    return ga_max(ragged(GA_FLOAT16, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *sum_ragged_complexes(int64_t n)
{
    return ga_sum(ragged(GA_COMPLEX128, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *first_greatest_of_ragged(int64_t n)
{
    return ga_argmax(ragged(GA_FLOAT32, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *var_ragged_doubles(int64_t n)
{
    return ga_var(ragged(GA_FLOAT64, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *sum_window(int64_t n)
{
    return ga_sum(window(GA_FLOAT32, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *first_smallest_of_window(int64_t n)
{
    return ga_argmin(window(GA_INT8, n / 16, n % 16), GA_AXIS(0));
}

static gpuarray *sum_ragged_middles(int64_t n)
{
    return ga_sum(given(GA_FLOAT32, GA_SHAPE(3, 20000 / n, n)), GA_AXIS(1));
}

static gpuarray *any_of_ragged(int64_t n)
{
    return ga_any(ga_equal(ragged(GA_INT16, n / 16, n % 16), 50), GA_AXIS(0));
}

/* Its blocks are many, by a kernel that no smaller device has loaded: groups of them combine their
 * results first. */
static gpuarray *sum_many_bytes(int64_t n)
{
    return ga_sum(given(GA_UINT8, GA_SHAPE(MOST_BYTES / n, n)), GA_AXIS(0));
}

/* Both operands lie alike within vectors, but one has a number for each row. */
static gpuarray *weighted_columns(int64_t n)
{
    const int64_t columns = n / 16, rows = 3 + 60000 / columns;
    gpuarray *x = ragged(GA_FLOAT32, columns, n % 16), *y = ragged(GA_FLOAT32, columns, n % 16);
    gpuarray *w = given(GA_FLOAT32, GA_SHAPE(rows, 1));
    return ga_eval("sum(x*y - w, axis=0)", GA(x), GA(y), GA(w));
}

/* From the last row to the first. */
static gpuarray *sum_reversed(int64_t n)
{
    return ga_sum(ga_slice(ragged(GA_FLOAT32, n / 16, n % 16), "::-1"), GA_AXIS(0));
}

/* The same row of numbers for all rows. */
static gpuarray *weighted_rows(int64_t n)
{
    const int64_t columns = n / 16;
    gpuarray *x = ragged(GA_FLOAT32, columns, n % 16),
             *w = ga_slice(given(GA_FLOAT32, GA_SHAPE(columns + n % 16)),
                           "%lld:", (long long)(n % 16));
    return ga_eval("sum(x*w, axis=0)", GA(x), GA(w));
}

/* One operand begins with a vector, the other within one. */
static gpuarray *products_of_columns(int64_t n)
{
    gpuarray *x = ragged(GA_FLOAT32, n / 16, 0), *y = ragged(GA_FLOAT32, n / 16, n % 16);
    return ga_eval("sum(x*y, axis=0)", GA(x), GA(y));
}

enum { AT = 16 };

static void ragged_columns(void **state)
{
    (void)state;
    COMPARE(sum_ragged_bytes, 0, 2 * AT, 3 * AT + 1, 7 * AT + 15, 8 * AT, 9 * AT + 8, 33 * AT + 3,
            63 * AT + 4, 64 * AT + 9, 255 * AT + 7, 257 * AT + 1, 511 * AT, 513 * AT + 5,
            1025 * AT + 13, 4097 * AT + 2, 20001 * AT + 6);
    COMPARE(sum_ragged_floats, 0, 2 * AT + 1, 3 * AT, 5 * AT + 2, 17 * AT + 3, 33 * AT, 65 * AT + 1,
            100 * AT, 511 * AT + 2, 513 * AT, 1023 * AT + 3, 1025 * AT, 2049 * AT + 1,
            10001 * AT + 2);
    COMPARE(max_ragged_halves, 0, 3 * AT + 1, 33 * AT, 255 * AT + 7, 513 * AT + 5, 1025 * AT + 2,
            5001 * AT);
    COMPARE(sum_ragged_complexes, 0, 3 * AT, 17 * AT + 1, 513 * AT, 1025 * AT + 1);
    COMPARE(first_greatest_of_ragged, 0, 3 * AT + 1, 17 * AT + 2, 33 * AT, 513 * AT + 3, 1025 * AT);
    COMPARE(var_ragged_doubles, 1e-13, 3 * AT + 1, 33 * AT, 513 * AT + 1, 1025 * AT);
    COMPARE(sum_window, 0, 17 * AT + 1, 64 * AT + 3, 100 * AT + 2, 513 * AT, 1027 * AT + 7);
    COMPARE(first_smallest_of_window, 0, 33 * AT + 1, 64 * AT + 3, 300 * AT + 8, 1027 * AT + 13);
    COMPARE(sum_ragged_middles, 0, 3, 5, 17, 33, 65, 513, 1025);
    COMPARE(weighted_columns, 0, 5 * AT, 33 * AT + 1, 513 * AT + 3, 1025 * AT);
    COMPARE(sum_reversed, 0, 33 * AT, 64 * AT, 1025 * AT + 1);
    COMPARE(weighted_rows, 0, 3 * AT + 1, 33 * AT + 1, 64 * AT + 1, 512 * AT, 1025 * AT + 1);
    COMPARE(products_of_columns, 0, 33 * AT + 1, 1025 * AT + 2, 1024 * AT + 4);
    COMPARE(any_of_ragged, 0, 3 * AT + 1, 33 * AT, 1025 * AT + 3);
    simulated_device.processors = 32 * PROCESSORS;
    COMPARE(sum_many_bytes, 0, 33);
    simulated_device.processors = PROCESSORS;
}

/* ---- Few rows of many columns ---- */

/* Rows, columns of a window of a matrix, and elements before the window. */
static gpuarray *tall(ga_dtype dtype, int64_t rows, int64_t n)
{
    const int64_t columns = n / AT, offset = n % AT, gap = offset % 3;
    gpuarray *all = given(dtype, GA_SHAPE(offset + rows * (columns + gap)));
    all = ga_reshape(ga_slice(all, "%lld:", (long long)offset), GA_SHAPE(rows, columns + gap));
    return ga_slice(all, ":, :%lld", (long long)columns);
}

static gpuarray *sum_tall_bytes(int64_t n)
{
    return ga_sum(tall(GA_INT8, 21, n), GA_AXIS(0));
}

static gpuarray *max_tall_bytes(int64_t n)
{
    return ga_max(tall(GA_UINT8, 3, n), GA_AXIS(0));
}

static gpuarray *first_least_of_tall(int64_t n)
{
    return ga_argmin(tall(GA_INT8, 37, n), GA_AXIS(0));
}

static gpuarray *first_greatest_tall_halves(int64_t n)
{
    return ga_argmax(tall(GA_FLOAT16, 18, n), GA_AXIS(0));
}

static gpuarray *var_tall_halves(int64_t n)
{
    return ga_var(tall(GA_FLOAT16, 9, n), GA_AXIS(0));
}

static gpuarray *sum_tall_floats(int64_t n)
{
    return ga_sum(tall(GA_FLOAT32, 14, n), GA_AXIS(0));
}

static gpuarray *all_of_tall(int64_t n)
{
    return ga_all(tall(GA_INT16, 5, n), GA_AXIS(0));
}

static gpuarray *sum_tall_middles(int64_t n)
{
    gpuarray *all = given(GA_INT8, GA_SHAPE(3 * 8 * (n / AT) + n % AT));
    all = ga_slice(all, "%lld:", (long long)(n % AT));
    return ga_sum(ga_reshape(all, GA_SHAPE(3, 8, n / AT)), GA_AXIS(1));
}

static gpuarray *tall_products(int64_t n)
{
    gpuarray *x = tall(GA_FLOAT16, 7, n), *y = tall(GA_FLOAT16, 7, n + 5);
    return ga_eval("sum(x*y, axis=0)", GA(x), GA(y));
}

/* All rows meet the same numbers, every other one of some. */
static gpuarray *weighted_tall_rows(int64_t n)
{
    gpuarray *x = tall(GA_FLOAT16, 7, n), *w = given(GA_FLOAT16, GA_SHAPE(2 * (n / AT)));
    return ga_eval("sum(x*w, axis=0)", GA(x), GA_NAMED("w", ga_slice(w, "::2")));
}

static void few_rows(void **state)
{
    (void)state;
    COMPARE(sum_tall_bytes, 0, 20001 * AT, 20002 * AT + 1, 30007 * AT + 5, 65536 * AT + 3);
    COMPARE(max_tall_bytes, 0, 20003 * AT + 15, 70001 * AT + 2);
    COMPARE(first_least_of_tall, 0, 20005 * AT + 7, 33333 * AT + 4);
    COMPARE(first_greatest_tall_halves, 0, 20001 * AT, 40003 * AT + 7);
    COMPARE(var_tall_halves, 1e-3, 20001 * AT + 1, 30003 * AT);
    COMPARE(sum_tall_floats, 0, 20001 * AT + 1, 16384 * AT, 16384 * AT + 4);
    COMPARE(all_of_tall, 0, 20001 * AT, 50001 * AT + 1);
    COMPARE(sum_tall_middles, 0, 20001 * AT, 30002 * AT + 3);
    COMPARE(tall_products, 0, 20001 * AT, 40002 * AT + 1);
    COMPARE(weighted_tall_rows, 0, 20001 * AT + 1, 16384 * AT);
}

/* ---- Rows that pass through shared memory ---- */

/* What the functions below make their rows of. */
static struct {
    ga_dtype dtype;
    int offset; /* elements before the first row */
    int gap;    /* elements between rows */
} rows;

/* As many rows of n elements as two blocks or more share, but few enough for the simulator. */
static int64_t row_count(int64_t n)
{
    const int64_t count = 30000 / n;
    return count < 3 ? 3 : count > 5003 ? 5003 : count;
}

static gpuarray *rows_window(int64_t count, int64_t n)
{
    const int64_t pitch = n + rows.gap;
    gpuarray *all = given(rows.dtype, GA_SHAPE(rows.offset + count * pitch));
    all = ga_reshape(ga_slice(all, "%d:", rows.offset), GA_SHAPE(count, pitch));
    return ga_slice(all, ":, :%lld", (long long)n);
}

static gpuarray *sum_of_rows(int64_t n)
{
    return ga_sum(rows_window(row_count(n), n), GA_AXIS(1));
}

static gpuarray *max_window(int64_t n)
{
    return ga_max(rows_window(row_count(n), n), GA_AXIS(1));
}

static gpuarray *argmin_window(int64_t n)
{
    return ga_argmin(rows_window(row_count(n), n), GA_AXIS(1));
}

static gpuarray *var_window(int64_t n)
{
    return ga_var(rows_window(row_count(n), n), GA_AXIS(1));
}

static gpuarray *any_window(int64_t n)
{
    return ga_any(ga_equal(rows_window(row_count(n), n), 50), GA_AXIS(1));
}

static gpuarray *range_of_window(int64_t n)
{
    return ga_eval("max(x, axis=1) - min(x, axis=1)", GA_NAMED("x", rows_window(row_count(n), n)));
}

/* Every 50 is NaN. */
static gpuarray *first_nan_of_window(int64_t n)
{
    gpuarray *x = rows_window(row_count(n), n);
    return ga_eval("argmax(where(x == 50, nan, x), axis=1) + 1000 * argmin(x, axis=1)",
                   GA_NAMED("x", x), GA_NAMED("nan", NAN));
}

static gpuarray *argmax_window(int64_t n)
{
    return ga_eval("argmax(x, axis=1)", GA_NAMED("x", rows_window(row_count(n), n)));
}

/* More tiles than blocks: each block has several in turn. */
static gpuarray *sum_many_rows(int64_t n)
{
    return ga_eval("sum(x, axis=1)", GA_NAMED("x", rows_window(3500000 / n, n)));
}

/* Two operands, whose rows begin alike within vectors, and otherwise. */
static gpuarray *dot_of_rows(int64_t n)
{
    return ga_eval("sum(x*y, axis=1)", GA_NAMED("x", rows_window(3, n)),
                   GA_NAMED("y", rows_window(3, n)));
}

static gpuarray *dot_of_unlike_rows(int64_t n)
{
    return ga_eval("sum(x*y, axis=1)", GA_NAMED("x", rows_window(3, n)),
                   GA_NAMED("y", given(GA_FLOAT64, GA_SHAPE(3, n))));
}

static gpuarray *upside_down(int64_t n)
{
    return ga_sum(ga_slice(rows_window(row_count(n), n), "::-1"), GA_AXIS(1));
}

static gpuarray *every_other(int64_t n)
{
    return ga_argmax(ga_slice(rows_window(row_count(n), 2 * n), ":, ::2"), GA_AXIS(1));
}

/* Elements of one array lie as elements of the next do not: a weight for each column, a number for
 * each row, and rows that another axis repeats. */
static gpuarray *weighted_elements(int64_t n)
{
    const int64_t count = row_count(n);
    return ga_eval("sum(x*w + c, axis=1)", GA_NAMED("x", rows_window(count, n)),
                   GA_NAMED("w", given(GA_FLOAT64, GA_SHAPE(n))),
                   GA_NAMED("c", given(GA_INT32, GA_SHAPE(count, 1))));
}

static gpuarray *repeated_rows(int64_t n)
{
    const int64_t count = row_count(n);
    gpuarray *y = ga_slice(given(GA_INT8, GA_SHAPE(count * n + 3)), "3:");
    return ga_eval("sum(x*y, axis=2)", GA_NAMED("x", given(GA_FLOAT32, GA_SHAPE(3, count, n))),
                   GA_NAMED("y", ga_reshape(y, GA_SHAPE(count, n))));
}

/* One row meets all others, or those of one place. */
static gpuarray *rows_times_one(int64_t n)
{
    return ga_eval("sum(x*w, axis=1)", GA_NAMED("x", rows_window(20, n)),
                   GA_NAMED("w", ga_slice(given(rows.dtype, GA_SHAPE(n + 1)), "1:")));
}

static gpuarray *rows_times_one_of_each_place(int64_t n)
{
    return ga_eval("sum(x*w, axis=2)",
                   GA_NAMED("x", ga_reshape(rows_window(3 * 20, n), GA_SHAPE(3, 20, n))),
                   GA_NAMED("w", given(rows.dtype, GA_SHAPE(3, 1, n))));
}

static void set_rows(ga_dtype dtype, int offset, int gap)
{
    rows.dtype = dtype, rows.offset = offset, rows.gap = gap;
}

static void rows_of_any_length(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        set_rows(dtypes[d], 0, 0);
        COMPARE(sum_of_rows, 0, 2, 3, 5, 8, 15, 16, 17, 32, 33, 65, 100, 256, 257, 1025, 1901,
                4000);
    }
    set_rows(GA_FLOAT32, 0, 0);
    COMPARE(argmin_window, 0, 2, 5, 31, 33, 64, 65, 255, 257, 1025, 3900, 3967, 4096, 4097);
    COMPARE(var_window, 1e-5, 2, 5, 33, 64, 65, 255, 1025, 3900);
    set_rows(GA_INT8, 0, 0);
    COMPARE(max_window, 0, 2, 3, 7, 33, 255, 1025, 4095, 15999, 16385);
    COMPARE(any_window, 0, 3, 33, 257);
    COMPARE(range_of_window, 0, 5, 33, 1025);
    COMPARE(sum_many_rows, 0, 33, 1025);
}

/* Those of 768 bytes are in the cache, as those of 2816 that all share. Longer ones pass through
 * shared memory if 8048 bytes have room for them. */
static void rows_that_many_meet(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        set_rows(dtypes[d], 0, 0);
        const int64_t size = (int64_t)ga_dtype_size(dtypes[d]), cached = 768 / size,
                      shared = 2816 / size, most = 8048 / size;
        COMPARE(rows_times_one, 0, 33, shared - 1, shared, shared + 1, 2 * shared - 1, most,
                most + 1);
        COMPARE(rows_times_one_of_each_place, 0, 3, cached - 1, cached, cached + 1, shared + 1);
    }
}

static void extremes_of_rows(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8,  GA_UINT8,   GA_INT16,   GA_UINT16, GA_INT32,
                                      GA_INT64, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        set_rows(dtypes[d], 1, 0);
        COMPARE(argmax_window, 0, 3, 33, 257, 1025);
        COMPARE(argmin_window, 0, 33, 1025, 17000);
    }
    set_rows(GA_FLOAT32, 0, 0);
    COMPARE(first_nan_of_window, 0, 4, 7, 33, 257, 5001);
    set_rows(GA_FLOAT16, 0, 0);
    COMPARE(first_nan_of_window, 0, 33, 257);
}

static void rows_that_begin_anywhere(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int offset = 0; offset < 16 / (int)ga_dtype_size(dtypes[d]); offset++) {
            set_rows(dtypes[d], offset, 0);
            COMPARE(max_window, 0, 2, 33, 100, 1025);
            set_rows(dtypes[d], offset, offset == 1 ? 33 : offset);
            COMPARE(max_window, 0, 2, 33, 100, 1025);
        }
    for (int offset = 0; offset < 3; offset++) {
        set_rows(GA_FLOAT32, offset, offset * 20);
        COMPARE(upside_down, 0, 5, 33, 1025);
        COMPARE(every_other, 0, 5, 33, 1025);
        COMPARE(weighted_elements, 0, 5, 33, 1025);
        set_rows(GA_INT8, offset, offset * 20);
        COMPARE(weighted_elements, 0, 5, 33, 1025);
        COMPARE(every_other, 0, 5, 33, 1025);
    }
    COMPARE(repeated_rows, 0, 5, 33, 1025);
    for (int offset = 0; offset < 4; offset++) {
        set_rows(GA_FLOAT32, offset, offset);
        COMPARE(dot_of_rows, 0, 4097, 20001);
        COMPARE(dot_of_unlike_rows, 0, 4097, 20001);
        COMPARE(argmin_window, 0, 4097, 20001);
    }
}

/* ---- Random numbers: the same bits on every device ---- */

static gpuarray *draw(ga_dtype dtype, int64_t n, ga_status (*into)(gpuarray *, ga_rng *))
{
    ga_rng *rng = ga_rng_new(12345);
    gpuarray *all = ga_zeros(dtype, GA_SHAPE(6 + 2 * n));
    const long long size = n;
    assert_int_equal(into(ga_slice(all, ":5"), rng), GA_OK);
    assert_int_equal(into(ga_slice(all, "5:%lld", 5 + size), rng), GA_OK);
    assert_int_equal(into(ga_slice(all, "%lld:", 6 + size), rng), GA_OK);
    ga_rng_free(rng);
    return all;
}

static ga_status integers_into(gpuarray *out, ga_rng *rng)
{
    return ga_rng_integers_into(out, rng, 0, INT64_C(1) << 31);
}

static ga_status dice_into(gpuarray *out, ga_rng *rng)
{
    return ga_rng_integers_into(out, rng, -3, 3);
}

static gpuarray *draw_floats(int64_t n)
{
    return draw(GA_FLOAT32, n, ga_rng_random_into);
}

static gpuarray *draw_doubles(int64_t n)
{
    return draw(GA_FLOAT64, n, ga_rng_random_into);
}

static gpuarray *draw_normals(int64_t n)
{
    return draw(GA_FLOAT32, n, ga_rng_standard_normal_into);
}

static gpuarray *draw_integers(int64_t n)
{
    return draw(GA_INT64, n, integers_into);
}

static gpuarray *draw_dice(int64_t n)
{
    return draw(GA_INT8, n, dice_into);
}

/* Some numbers of each distribution one after another, with numbers and with an array as the first
 * parameter. */
#define DRAW_ALL(f, ...)                                                                           \
    do {                                                                                           \
        gpuarray *const a = (f)(__VA_ARGS__, GA_SHAPE(n));                                         \
        if (a)                                                                                     \
            assert_int_equal(ga_assign(ga_slice(all, "%d", row++), a), GA_OK);                     \
        else                                                                                       \
            fail_msg("%s: %s", #f, ga_error_message());                                            \
    } while (0)
static gpuarray *draw_reals(ga_dtype dtype, int64_t n)
{
    enum { DRAWS = 24 };
    const ga_value one = ga_value_double(1.5), two = ga_value_double(0.25), mu = ga_value_double(3);
    gpuarray *const each = given(GA_FLOAT32, GA_SHAPE(n));
    gpuarray *const positive = ga_add(ga_absolute(each), 0.125);
    const ga_value array = ga_value_array(positive);
    gpuarray *all = ga_zeros(dtype, GA_SHAPE(DRAWS, n));
    ga_rng *rng = ga_rng_new(99);
    int row = 0;
    DRAW_ALL(ga_rng_standard_cauchy, rng, dtype);
    DRAW_ALL(ga_rng_laplace, rng, dtype, one, two);
    DRAW_ALL(ga_rng_logistic, rng, dtype, one, two);
    DRAW_ALL(ga_rng_gumbel, rng, dtype, one, two);
    DRAW_ALL(ga_rng_rayleigh, rng, dtype, one);
    DRAW_ALL(ga_rng_weibull, rng, dtype, one);
    DRAW_ALL(ga_rng_pareto, rng, dtype, mu);
    DRAW_ALL(ga_rng_power, rng, dtype, one);
    DRAW_ALL(ga_rng_triangular, rng, dtype, two, one, mu);
    DRAW_ALL(ga_rng_gamma, rng, dtype, one, two);
    DRAW_ALL(ga_rng_gamma, rng, dtype, two, two);
    DRAW_ALL(ga_rng_gamma, rng, dtype, array, two);
    DRAW_ALL(ga_rng_beta, rng, dtype, two, mu);
    DRAW_ALL(ga_rng_chisquare, rng, dtype, mu);
    DRAW_ALL(ga_rng_noncentral_chisquare, rng, dtype, two, mu);
    DRAW_ALL(ga_rng_noncentral_chisquare, rng, dtype, mu, mu);
    DRAW_ALL(ga_rng_f, rng, dtype, two, mu);
    DRAW_ALL(ga_rng_standard_t, rng, dtype, mu);
    DRAW_ALL(ga_rng_wald, rng, dtype, one, mu);
    DRAW_ALL(ga_rng_vonmises, rng, dtype, two, mu);
    DRAW_ALL(ga_rng_truncated_normal, rng, dtype, two, mu, one, two);
    DRAW_ALL(ga_rng_normal, rng, dtype, array, two);
    DRAW_ALL(ga_rng_exponential, rng, dtype, array);
    DRAW_ALL(ga_rng_standard_t, rng, dtype, array);
    assert_int_equal(row, DRAWS);
    ga_rng_free(rng);
    return all;
}

static gpuarray *draw_counts(int64_t n)
{
    enum { DRAWS = 14 };
    const ga_dtype dtype = GA_INT32;
    const ga_value few = ga_value_signed(GA_INT64, 12), many = ga_value_signed(GA_INT64, 3000),
                   share = ga_value_double(0.375), slope = ga_value_double(2.25);
    gpuarray *const each = given(GA_FLOAT32, GA_SHAPE(n));
    gpuarray *const positive = ga_absolute(each);
    const ga_value array = ga_value_array(positive);
    gpuarray *all = ga_zeros(dtype, GA_SHAPE(DRAWS, n));
    ga_rng *rng = ga_rng_new(98);
    int row = 0;
    DRAW_ALL(ga_rng_poisson, rng, dtype, slope);
    DRAW_ALL(ga_rng_poisson, rng, dtype, many);
    DRAW_ALL(ga_rng_poisson, rng, dtype, array);
    DRAW_ALL(ga_rng_binomial, rng, dtype, few, share);
    DRAW_ALL(ga_rng_binomial, rng, dtype, many, share);
    DRAW_ALL(ga_rng_negative_binomial, rng, dtype, few, share);
    DRAW_ALL(ga_rng_geometric, rng, dtype, share);
    DRAW_ALL(ga_rng_hypergeometric, rng, dtype, few, many, few);
    DRAW_ALL(ga_rng_hypergeometric, rng, dtype, many, many, many);
    DRAW_ALL(ga_rng_zipf, rng, dtype, slope);
    DRAW_ALL(ga_rng_logseries, rng, dtype, share);
    gpuarray *const chances = ga_full(GA_FLOAT64, GA_SHAPE(4), 0.25);
    gpuarray *const outcomes = ga_rng_multinomial(rng, dtype, 100, chances, GA_SHAPE(n));
    assert_int_equal(ga_assign(ga_slice(all, "%d", row++), ga_slice(outcomes, ":, 2")), GA_OK);
    gpuarray *const colors = ga_arange(GA_INT32, 0, 40, 10);
    gpuarray *const taken = ga_rng_multivariate_hypergeometric(rng, dtype, colors, 30, GA_SHAPE(n));
    assert_int_equal(ga_assign(ga_slice(all, "%d", row++), ga_slice(taken, ":, 2")), GA_OK);
    assert_int_equal(ga_assign(ga_slice(all, "%d", row++), ga_rng_choice(rng, 1000, GA_SHAPE(n))),
                     GA_OK);
    assert_int_equal(row, DRAWS);
    ga_rng_free(rng);
    return all;
}

static gpuarray *draw_small_reals(int64_t n)
{
    return draw_reals(GA_FLOAT32, n);
}

static gpuarray *draw_large_reals(int64_t n)
{
    return draw_reals(GA_FLOAT64, n);
}

static gpuarray *draw_rows(int64_t n)
{
    ga_rng *rng = ga_rng_new(97);
    gpuarray *alpha = ga_full(GA_FLOAT32, GA_SHAPE(5), 0.5), *cov = ga_eye(GA_FLOAT64, 5);
    gpuarray *all = ga_zeros(GA_FLOAT32, GA_SHAPE(4, n, 5));
    gpuarray *grid = ga_reshape(ga_arange(GA_FLOAT32, 0, (double)(5 * n), 1), GA_SHAPE(n, 5));
    assert_int_equal(
        ga_assign(ga_slice(all, "0"), ga_rng_dirichlet(rng, GA_FLOAT32, alpha, GA_SHAPE(n))),
        GA_OK);
    assert_int_equal(ga_assign(ga_slice(all, "1"), ga_rng_multivariate_normal(
                                                       rng, GA_FLOAT32, alpha, cov, GA_SHAPE(n))),
                     GA_OK);
    assert_int_equal(ga_assign(ga_slice(all, "2"), ga_rng_permuted(rng, grid, 0)), GA_OK);
    assert_int_equal(
        ga_assign(ga_slice(all, "3"), ga_sobol(GA_FLOAT32, n, 5, .skip = 100, .scrambled = true)),
        GA_OK);
    ga_rng_free(rng);
    return all;
}

static void distributions(void **state)
{
    (void)state;
    COMPARE(draw_small_reals, 0, 1, 3001);
    COMPARE(draw_large_reals, 0, 1, 2003);
    COMPARE(draw_counts, 0, 1, 2003);
    COMPARE(draw_rows, 0, 1, 1003);
}

static void draws(void **state)
{
    (void)state;
    COMPARE(draw_floats, 0, 1, 8, 4096, 60003);
    COMPARE(draw_doubles, 0, 3, 1019, 60000);
    COMPARE(draw_normals, 0, 3, 60003);
    COMPARE(draw_integers, 0, 7, 20001);
    COMPARE(draw_dice, 0, 7, 20001);
}

/* ---- Hints and readbacks ---- */

/* Rows that are staged ask for room in the L1 cache, others do not: it would cost them blocks. */
static void stages_leave_room_for_loads(void **state)
{
    (void)state;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        gpuarray *x = ga_full(GA_UINT16, GA_SHAPE(600, 5), 3);
        simulated.carveout = 0;
        assert_non_null(ga_sum(x));
        assert_int_equal(simulated.carveout, 0);
        assert_non_null(ga_sum(x, GA_AXIS(1)));
        assert_int_equal(simulated.carveout, GA__STAGE_CARVEOUT);
    }
    ga__use_device(NULL);
}

static void results_are_read_back(void **state)
{
    (void)state;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        gpuarray *x = given(GA_INT32, GA_SHAPE(100003)), *sum = ga_sum(x);
        const double wanted = ga_item_double(sum);
        ga__use_device(ga__find_device("cpu"));
        assert_true(ga_item_double(ga_sum(given(GA_INT32, GA_SHAPE(100003)))) == wanted);
        ga_data(sum); /* the current value is read from its memory */
        assert_true(ga_item_double(sum) == wanted);
    }
}

static int open_devices(void **state)
{
    (void)state;
    return open_simulated_device(PROCESSORS) ? 0 : -1;
}

/* ---- Long sums ---- */

/* n rows of `width` tenths, or thirds, all equal. */
static gpuarray *repeated(ga_dtype dtype, int64_t n, int64_t width)
{
    const gpuarray *row = ga_full(dtype, GA_SHAPE(width), dtype == GA_FLOAT64 ? 1.0 / 3 : 0.1);
    return ga_broadcast_to(row, GA_SHAPE(n, width));
}

/* Each element of r is n times `value`, to 32 units in the last place. */
static void expect_sums(const char *what, const gpuarray *r, long double value, int64_t n,
                        double epsilon)
{
    static char bytes[MOST_BYTES];
    if (!r)
        fail_msg("%s: %s", what, ga_error_message());
    const long double expected = value * (long double)n;
    const size_t size = ga_dtype_size(ga_dtype_of(r));
    assert_int_equal(ga_to_host(r, bytes, ga_nbytes(r)), GA_OK);
    for (int64_t k = 0; k < ga_size(r); k++) {
        const ga_value got = ga__dtype_fetch(ga_dtype_of(r), bytes + (size_t)k * size);
        if (!(fabsl(got.as.z[0] - expected) <= 32 * epsilon * expected))
            fail_msg("%s: element %lld is %.17g, not %.17Lg: %.1Lf units in the last place", what,
                     (long long)k, got.as.z[0], expected,
                     (got.as.z[0] - expected) / expected / epsilon);
    }
}

static void long_sums_are_within_the_bound(void **state)
{
    (void)state;
    const int64_t n = 1 << 14, few = 1 << 10;
    ga__use_device(&simulated_device);
    GA_SCOPE {
        const gpuarray *x = repeated(GA_FLOAT32, n, 1024), *d = repeated(GA_FLOAT64, n, 64),
                       *line = repeated(GA_FLOAT32, n * 256, 1), *ten = repeated(GA_FLOAT32, n, 5),
                       *halves = repeated(GA_FLOAT16, n, 64);
        const long double tenth = 0.1f, third = 1.0 / 3;
        ga_kernel *custom =
            ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]", "float *x", "custom");
        expect_sums("sum", ga_sum(x), tenth, n * 1024, 0x1p-23);
        expect_sums("sum of a line", ga_sum(line), tenth, n * 256, 0x1p-23);
        expect_sums("custom", ga_reduce(custom, line), tenth, n * 256, 0x1p-23);
        expect_sums("float64", ga_sum(d), third, n * 64, 0x1p-52);
        expect_sums("mean of halves", ga_mean(halves, .dtype = GA_FLOAT32), 0x1.998p-4L, 1,
                    0x1p-23);
        expect_sums("columns", ga_sum(x, GA_AXIS(0)), tenth, n, 0x1p-23);
        expect_sums("five columns", ga_sum(ten, GA_AXIS(0)), tenth, n, 0x1p-23);
        expect_sums("rows",
                    ga_sum(ga_broadcast_to(ga_slice(line, ":1"), GA_SHAPE(few, n * 8)), GA_AXIS(1)),
                    tenth, n * 8, 0x1p-23);
        ga_kernel_free(custom);
        assert_int_equal(ga_error(), GA_OK);
    }
    ga__use_device(ga__find_device("cpu"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_and_tails),
        cmocka_unit_test(strides_and_indices),
        cmocka_unit_test(squares),
        cmocka_unit_test(quick_functions_and_those_for_the_rest),
        cmocka_unit_test(moves),
        cmocka_unit_test(sums),
        cmocka_unit_test(other_reductions),
        cmocka_unit_test(rows_of_any_length),
        cmocka_unit_test(rows_that_many_meet),
        cmocka_unit_test(extremes_of_rows),
        cmocka_unit_test(rows_that_begin_anywhere),
        cmocka_unit_test(ragged_columns),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(long_sums_are_within_the_bound),
        cmocka_unit_test(draws),
        cmocka_unit_test(distributions),
        cmocka_unit_test(stages_leave_room_for_loads),
        cmocka_unit_test(results_are_read_back),
    };
    if (!on_host()) {
        print_message("skipped on %s: the simulator runs its kernels on the host\n",
                      ga_current_device());
        return 0;
    }
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
