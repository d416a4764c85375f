/* Custom elementwise and reduction kernels, as include/quarry/kernel.h documents them. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "golden.h"
#include "jit/compile.h"
#include "run.h"

static void expect_ok(void)
{
    if (ga_error() != GA_OK)
        fail_msg("%s: %s", ga_status_name(ga_error()), ga_error_message());
}

static double element(const gpuarray *x, int64_t i)
{
    return ga_item_double(ga_slice(ga_ravel(x), "%lld", (long long)i));
}

static gpuarray *count_up(ga_dtype dtype, int64_t count)
{
    return ga_arange(dtype, 0, (double)count, 1);
}

/* Runs an elementwise kernel once and frees it. */
#define RUN_ONCE(arguments, operation, ...)                                                        \
    finish(ga_run(once = ga_elementwise_kernel(arguments, operation, "once"), __VA_ARGS__))
static ga_kernel *once;
static void finish(ga_status status)
{
    if (status != GA_OK)
        fail_msg("%s: %s", ga_status_name(status), ga_error_message());
    ga_kernel_free(once);
    expect_ok();
}

/* ---- Elementwise ---- */

static void a_linear_combination(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT32, 10001), *y = ga_ones(GA_FLOAT32, GA_SHAPE(10001));
        gpuarray *z = ga_empty_like(x);
        ga_kernel *k = ga_elementwise_kernel("float a, float *x, float b, float *y, float *z",
                                             "z[i] = a*x[i] + b*y[i]", "linear_combination");
        assert_int_equal(ga_run(k, 5, x, 6, y, z), GA_OK);
        assert_float_equal(element(z, 10000), 50006, 0);
        assert_int_equal(ga_run(k, 0.5, x, -1LL, y, z), GA_OK);
        assert_float_equal(element(z, 10000), 4999, 0);
        assert_float_equal(element(z, 0), -1, 0);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void a_preamble_and_loop_statements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT32, 1003), *y = ga_empty_like(x);
        ga_kernel *k = ga_elementwise_kernel(
            "const float *x, float *y, float s", "y[i] = twice(x[i]) + offset", "prepared",
            .preamble = "struct pair { float a, b; };\n"
                        "__device__ float twice(float v) { pair p = {v, v}; return p.a + p.b; }",
            .loop_prep = "float offset = s * 10.0f;", .after_loop = "offset = 0;");
        assert_int_equal(ga_run(k, x, y, 3), GA_OK);
        assert_float_equal(element(y, 1002), 2034, 0);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void arrays_of_any_layout(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_reshape(count_up(GA_FLOAT32, 35), GA_SHAPE(5, 7)),
                 *z = ga_zeros(GA_FLOAT32, GA_SHAPE(7, 5));
        RUN_ONCE("float *x, float *z", "z[i] = x[i] + 100*i", ga_transpose(x), z);
        assert_float_equal(element(z, 1), 107, 0);
        assert_float_equal(element(z, 34), 3434, 0);
        gpuarray *wide = ga_zeros(GA_FLOAT32, GA_SHAPE(70));
        RUN_ONCE("float *x, float *z", "z[i] = x[i] + 1", ga_flip(ga_ravel(x), 0),
                 ga_slice(wide, "1::2"));
        assert_float_equal(element(wide, 1), 35, 0);
        assert_float_equal(element(wide, 69), 1, 0);
        assert_float_equal(ga_item_double(ga_sum(ga_slice(wide, "::2"))), 0, 0);
    }
}

static void the_index_and_the_count(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT64, GA_SHAPE(1237));
        RUN_ONCE("long long *x", "x[i] = 1000*i + n", x);
        assert_int_equal(ga_item_int64(ga_slice(x, "-1")), 1236 * 1000 + 1237);
        gpuarray *empty = ga_zeros(GA_INT64, GA_SHAPE(0));
        RUN_ONCE("long long *x", "x[i] = 1000*i + n", empty);
    }
}

static void a_lookup_table_of_another_size(void **state)
{
    (void)state;
    GA_SCOPE {
        const float table[3] = {10, 20, 30};
        gpuarray *w = ga_from_host(table, GA_FLOAT32, GA_SHAPE(3));
        gpuarray *j = ga_remainder(count_up(GA_INT32, 100), 3),
                 *z = ga_zeros(GA_FLOAT32, GA_SHAPE(100));
        RUN_ONCE("const float *w, const int *j, float *z", "z[i] = w[j[i]] + w[0]", w, j, z);
        assert_float_equal(element(z, 99), 20, 0);
        assert_float_equal(element(z, 98), 40, 0);
        RUN_ONCE("const float *w, const int *j, float *z", "z[i] = w[j[i]]", ga_flip(w, 0), j, z);
        assert_float_equal(element(z, 99), 30, 0);
        RUN_ONCE("float *x, float *z", "z[i] = x[n - 1 - i]", ga_astype(j, GA_FLOAT32), z);
        assert_float_equal(element(z, 98), 1, 0);
    }
}

static void updates_in_place(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT32, 4099), *halves = ga_astype(x, GA_FLOAT16);
        RUN_ONCE("float *x", "x[i] += 1; x[i] *= 2", x);
        assert_float_equal(element(x, 4098), 8198, 0);
        RUN_ONCE("float *x", "x[i]++", x);
        assert_float_equal(element(x, 0), 3, 0);
        RUN_ONCE("half *x", "x[i] += 0.5f", halves);
        assert_float_equal(element(halves, 100), 100.5, 0);
    }
}

/* An element that is not assigned keeps its value, in every layout. */
static void conditional_writes_keep_old_values(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_INT32, 1001), *z = ga_full(GA_INT32, GA_SHAPE(1001), -7);
        RUN_ONCE("const int *x, int *z", "if (x[i] % 2) z[i] = x[i]", x, z);
        assert_float_equal(element(z, 1000), -7, 0);
        assert_float_equal(element(z, 999), 999, 0);
        gpuarray *every = ga_slice(ga_full(GA_INT32, GA_SHAPE(2002), -7), "::2");
        RUN_ONCE("const int *x, int *z", "if (x[i] > 5) z[i] = 1;", x, every);
        assert_int_equal(ga_item_int64(ga_sum(every)), -7 * 6 + 995);
    }
}

static void input_and_output_may_be_one_array(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT32, 777);
        RUN_ONCE("const float *x, const float *y, float *z", "z[i] = x[i] + 2*y[i]", x, x, x);
        assert_float_equal(element(x, 776), 3 * 776, 0);
    }
}

static void numbers_convert_to_the_declared_types(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *z = ga_zeros(GA_FLOAT64, GA_SHAPE(8));
        ga_kernel *k = ga_elementwise_kernel(
            "signed char a, unsigned short b, int c, unsigned long long d, bool e, float f, double "
            "g, "
            "int64_t h, size_t s, double *z",
            "z[i] = i == 0 ? a : i == 1 ? b : i == 2 ? c : i == 3 ? (double)d : i == 4 ? e : "
            "i == 5 ? f : i == 6 ? g : (double)h + s",
            "numbers");
        assert_int_equal(ga_run(k, -3, 65535u, 2.9, 1ull << 40, 7, 0.1, 0.1, -5, 3L, z), GA_OK);
        const double wanted[8] = {-3, 65535, 2, 0x1p40, 1, (double)0.1f, 0.1, -2};
        double got[8];
        assert_int_equal(ga_to_host(z, got, sizeof got), GA_OK);
        assert_elements(GA_FLOAT64, 8, got, wanted);
        ga_kernel_free(k);
        expect_ok();
    }
}

/* C would drop the imaginary part. */
static void a_complex_number_is_no_real_argument(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *z = ga_zeros(GA_COMPLEX64, GA_SHAPE(3)), *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
        const ga_value number = ga_value_floating(GA_COMPLEX128, 1.5, -2);
        ga_kernel *k = ga_elementwise_kernel("float a, float *x", "x[i] = a", "real");
        assert_fails(ga_run(k, number, x), GA_ERR_INVALID,
                     "real: argument 1 (a): 1.5-2j is complex, expected float32");
        ga_kernel_free(k);
        k = ga_elementwise_kernel("int a, float *x", "x[i] = a", "whole");
        assert_fails(ga_run(k, number, x), GA_ERR_INVALID,
                     "whole: argument 1 (a): 1.5-2j is complex, expected int32");
        ga_kernel_free(k);
        k = ga_elementwise_kernel("complex64 a, complex64 *z", "z[i] = a", "complex");
        assert_int_equal(ga_run(k, number, z), GA_OK);
        assert_true(ga_item_double(ga_imag(z), 2) == -2);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void half_and_bfloat16_arguments(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *h = ga_full(GA_FLOAT16, GA_SHAPE(67), 1.5),
                 *b = ga_full(GA_BFLOAT16, GA_SHAPE(67), 2.5);
        gpuarray *z = ga_zeros(GA_FLOAT16, GA_SHAPE(67));
        RUN_ONCE("half *h, bfloat16 *b, float16 s, half *z", "z[i] = h[i] * b[i] + s", h, b, 0.1,
                 z);
        assert_float_equal(element(z, 66), 3.8496, 0.002);
        RUN_ONCE("half *h, bfloat16 *b", "b[i] = h[i] / 3", h, b);
        assert_float_equal(element(b, 66), 0.5, 0);
    }
}

static void floats_of_a_byte_are_arguments(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT8_E4M3FN, GA_SHAPE(67), 1.75),
                 *y = ga_full(GA_FLOAT8_E5M2, GA_SHAPE(67), 3),
                 *sums = ga_zeros(GA_FLOAT32, GA_SHAPE(67));
        RUN_ONCE("float8_e4m3fn *x, __nv_fp8_e5m2 *y, float8_e4m3fn s, float *sums",
                 "x[i] += y[i]; y[i] = float8_e5m2(x[i] / 3); sums[i] = x[i] + y[i] + s", x, y, 0.3,
                 sums);
        assert_float_equal(element(x, 66), 5, 0);
        assert_float_equal(element(y, 66), 1.5, 0); /* 4.75 / 3: x rounds when it is stored */
        assert_float_equal(element(sums, 66), 4.75 + 1.5 + 0.3125, 0);
    }
}

static void complex_arguments(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_COMPLEX64, GA_SHAPE(33), 1.0 + 2.0 * I), *z = ga_zeros_like(x);
        gpuarray *wide = ga_zeros(GA_COMPLEX128, GA_SHAPE(33));
        RUN_ONCE("complex<float> *x, complex64 a, complex<float> *z", "z[i] = a * x[i] + x[i]", x,
                 0.0 + 1.0 * I, z);
        assert_float_equal(element(ga_real(z), 32), -1, 0);
        assert_float_equal(element(ga_imag(z), 32), 3, 0);
        RUN_ONCE("complex128 *z, double a", "z[i] = complex128(a, i)", wide, 0.25);
        assert_float_equal(element(ga_real(wide), 32), 0.25, 0);
        assert_float_equal(element(ga_imag(wide), 32), 32, 0);
    }
}

static void every_array_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ga_dtype dtype;
    } types[] = {{"bool *x", GA_BOOL},
                 {"signed char *x", GA_INT8},
                 {"int8_t *x", GA_INT8},
                 {"short *x", GA_INT16},
                 {"int *x", GA_INT32},
                 {"long *x", GA_INT64},
                 {"long long *x", GA_INT64},
                 {"int64_t *x", GA_INT64},
                 {"unsigned char *x", GA_UINT8},
                 {"uint16_t *x", GA_UINT16},
                 {"unsigned *x", GA_UINT32},
                 {"unsigned int *x", GA_UINT32},
                 {"uint64_t *x", GA_UINT64},
                 {"size_t *x", GA_UINT64},
                 {"unsigned long long *x", GA_UINT64},
                 {"float *x", GA_FLOAT32},
                 {"double *x", GA_FLOAT64},
                 {"float16 *x", GA_FLOAT16},
                 {"bfloat16* x", GA_BFLOAT16},
                 {"float8_e4m3fn *x", GA_FLOAT8_E4M3FN},
                 {"float8_e5m2 *x", GA_FLOAT8_E5M2},
                 {"  float  *  x  ", GA_FLOAT32}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        GA_SCOPE {
            gpuarray *x = ga_zeros(types[k].dtype, GA_SHAPE(5));
            ga_kernel *kernel = ga_elementwise_kernel(types[k].text, "x[i] = i > 2", types[k].text);
            assert_int_equal(ga_run(kernel, x), GA_OK);
            assert_float_equal(element(x, 2), 0, 0);
            assert_float_equal(element(x, 3), 1, 0);
            ga_kernel_free(kernel);
        }
    }
}

static void the_same_text_compiles_once(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(100));
        RUN_ONCE("float *x", "x[i] += 3.25f", x);
        int64_t before = ga__module_count().compiled + ga__module_count().disk_hits;
        RUN_ONCE("float *x", "x[i] += 3.25f", x);
        RUN_ONCE("float *x", "x[i] += 3.25f", x);
        assert_int_equal(ga__module_count().compiled + ga__module_count().disk_hits, before);
        assert_float_equal(element(x, 99), 9.75, 0);
    }
}

/* A program that makes the same kernel repeatedly does not grow. */
static void kernels_of_one_text_keep_one_entry(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(10));
        RUN_ONCE("float *x", "x[i] += 1", x);
        int64_t live = ga__alloc_live();
        for (int k = 0; k < 100; k++)
            RUN_ONCE("float *x", "x[i] += 1", x);
        assert_true(ga__alloc_live() < live + 50);
        assert_float_equal(element(x, 9), 101, 0);
    }
}

/* ---- Reductions ---- */

static void a_sum_of_squared_differences(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT32, 1000), *y = ga_add(x, 0.5);
        ga_kernel *k = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "(x[i]-y[i])*(x[i]-y[i])",
                                           "float *x, float *y", "sqdiff");
        gpuarray *d = ga_reduce(k, x, y);
        assert_int_equal(ga_ndim(d), 0);
        assert_int_equal(ga_dtype_of(d), GA_FLOAT32);
        assert_float_equal(ga_item_double(d), 250, 0);
        assert_float_equal(ga_item_double(ga_reduce(k, ga_slice(x, ":3"), ga_slice(y, "0:6:2"))),
                           0.25 + 2.25 + 6.25, 0);
        gpuarray *none = ga_slice(x, ":0");
        assert_float_equal(ga_item_double(ga_reduce(k, none, none)), 0, 0);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void a_reduction_without_a_map(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_subtract(count_up(GA_INT32, 300001), 1000);
        ga_kernel *k = ga_reduction_kernel(GA_INT32, "2147483647", "a < b ? a : b", NULL,
                                           "const int *x", "smallest");
        assert_int_equal(ga_item_int64(ga_reduce(k, x)), -1000);
        assert_int_equal(ga_item_int64(ga_reduce(k, ga_flip(x, 0))), -1000);
        ga_kernel_free(k);
        k = ga_reduction_kernel(GA_INT64, "0", "a+b", "", "const int *x", "total");
        assert_int_equal(ga_item_int64(ga_reduce(k, x)), 300000LL * 300001 / 2 - 300001LL * 1000);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void a_reduction_with_numbers_and_preamble(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT64, 5000);
        ga_kernel *k = ga_reduction_kernel(
            GA_FLOAT64, "0", "larger(a, b)", "away(x[i], centre)", "double *x, double centre",
            "farthest",
            .preamble =
                "__device__ double larger(double a, double b) { return a > b ? a : b; }\n"
                "__device__ double away(double v, double c) { return v > c ? v - c : c - v; }");
        assert_float_equal(ga_item_double(ga_reduce(k, x, 1000)), 3999, 0);
        assert_float_equal(ga_item_double(ga_reduce(k, x, 4000.5)), 4000.5, 0);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void a_complex_reduction(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_COMPLEX64, GA_SHAPE(100), 1.0 + 2.0 * I);
        ga_kernel *k = ga_reduction_kernel(GA_COMPLEX64, "0", "a+b", "x[i] * (float)i",
                                           "complex64 *x", "moment");
        gpuarray *d = ga_reduce(k, x);
        assert_int_equal(ga_dtype_of(d), GA_COMPLEX64);
        assert_true(creal(ga_item_complex(d)) == 4950 && cimag(ga_item_complex(d)) == 9900);
        ga_kernel_free(k);
        expect_ok();
    }
}

struct minmax {
    float smallest, largest;
    int64_t count;
};

/* The smallest and the largest number in one pass. */
static void a_struct_as_accumulator(void **state)
{
    (void)state;
    struct minmax got;
    static const char preamble[] =
        "struct minmax { float smallest, largest; long long count; };\n"
        "__device__ minmax one(float v) { minmax m; m.smallest = m.largest = v; m.count = 1; "
        "return m; }\n"
        "__device__ minmax none() { minmax m; m.smallest = 1e30f; m.largest = -1e30f; m.count = 0; "
        "return m; }\n"
        "__device__ minmax both(minmax a, minmax b)\n"
        "{\n"
        "    minmax m;\n"
        "    m.smallest = a.smallest < b.smallest ? a.smallest : b.smallest;\n"
        "    m.largest = a.largest > b.largest ? a.largest : b.largest;\n"
        "    m.count = a.count + b.count;\n"
        "    return m;\n"
        "}\n";
    GA_SCOPE {
        gpuarray *x = ga_subtract(count_up(GA_FLOAT32, 200003), 77);
        ga_kernel *k = ga_reduction_kernel(
            GA_UINT8, "none()", "both(a, b)", "one(x[i])", "const float *x", "minmax",
            .preamble = preamble, .struct_name = "minmax", .struct_bytes = sizeof(struct minmax));
        gpuarray *d = ga_reduce(k, x);
        assert_int_equal(ga_dtype_of(d), GA_UINT8);
        assert_int_equal(ga_size(d), sizeof got);
        assert_int_equal(ga_to_host(d, &got, sizeof got), GA_OK);
        assert_true(got.smallest == -77 && got.largest == 200002 - 77 && got.count == 200003);
        ga_kernel_free(k);
        expect_ok();
    }
}

static void large_reductions_have_the_same_bits_in_every_run(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_sin(count_up(GA_FLOAT32, 1000003));
        ga_kernel *k =
            ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]*x[i]", "float *x", "squares");
        float first = 0, again;
        assert_int_equal(ga_to_host(ga_reduce(k, x), &first, sizeof first), GA_OK);
        assert_float_equal(first, 500001.5, 30);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(ga_to_host(ga_reduce(k, x), &again, sizeof again), GA_OK);
            assert_elements(GA_FLOAT32, 1, &again, &first);
        }
        ga_kernel_free(k);
    }
}

/* ---- Errors ---- */

static void wrong_calls_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(5)), *y = ga_ones(GA_FLOAT32, GA_SHAPE(6));
        gpuarray *d = ga_ones(GA_FLOAT64, GA_SHAPE(5)), *none = NULL;
        ga_kernel *k =
            ga_elementwise_kernel("float *x, float a, float *y", "y[i] = a*x[i]", "scaled");
        assert_fails(ga_run(k, x, 2), GA_ERR_INVALID, "scaled");
        assert_fails(ga_run(k, x, 2, x, 3), GA_ERR_INVALID, "scaled");
        assert_fails(ga_run(k), GA_ERR_INVALID, "3");
        assert_fails(ga_run(k, x, 2, d), GA_ERR_DTYPE, "float64");
        assert_fails(ga_run(k, x, x, x), GA_ERR_INVALID, "scaled");
        assert_fails(ga_run(k, 1, 2, x), GA_ERR_INVALID, "scaled");
        assert_fails(ga_run(k, x, 2, y), GA_ERR_SHAPE, "6");
        assert_fails(ga_run(k, x, 2, ga_broadcast_to(ga_slice(x, "0"), GA_SHAPE(5))),
                     GA_ERR_INVALID, "scaled");
        assert_int_not_equal(ga_run(k, none, 2, x), GA_OK);
        ga_clear_error();
        assert_int_equal(ga_run(k, ga_broadcast_to(ga_slice(x, "0"), GA_SHAPE(5)), 2, x), GA_OK);
        assert_float_equal(element(x, 4), 2, 0);
        ga_kernel_free(k);
        ga_kernel_free(NULL);
    }
}

static void unreadable_argument_lists_are_errors(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",           "float",     "float *",           "flot *x",         "float *x,",
        "float x[3]", "float **x", "float *x float *y", "float *x, int x", "float *n",
        "void *x",    "float *9x", ", float *x",        "float *i"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        assert_null(ga_elementwise_kernel(texts[k], "x[i] = 1", "unreadable"));
        assert_int_equal(ga_error(), GA_ERR_INVALID);
        assert_non_null(strstr(ga_error_message(), "unreadable"));
        ga_clear_error();
    }
    assert_null(ga_elementwise_kernel(NULL, "x[i] = 1", "nothing"));
    assert_fails(ga_error(), GA_ERR_INVALID, "nothing");
    assert_null(ga_elementwise_kernel("float *x", NULL, "nothing"));
    assert_fails(ga_error(), GA_ERR_INVALID, "nothing");
    assert_null(ga_reduction_kernel(GA_NO_DTYPE, "0", "a+b", NULL, "float *x", "nothing"));
    ga_clear_error();
    assert_null(ga_reduction_kernel(GA_FLOAT32, NULL, "a+b", NULL, "float *x", "nothing"));
    assert_fails(ga_error(), GA_ERR_INVALID, "nothing");
}

static void compile_errors_show_the_users_line(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(5));
        ga_kernel *k = ga_elementwise_kernel(
            "float *x", "float y = 2;\nx[i] = undeclared_thing + y;", "broken");
        assert_fails(ga_run(k, x), GA_ERR_COMPILE, "x[i] = undeclared_thing + y;");
        assert_int_equal(ga_run(k, x), GA_ERR_COMPILE);
        assert_non_null(strstr(ga_error_message(), "broken"));
        ga_clear_error();
        ga_kernel_free(k);
        k = ga_reduction_kernel(GA_FLOAT32, "0", "a +* b ]", "x[i]", "float *x", "bad_reduction");
        assert_null(ga_reduce(k, x));
        assert_fails(ga_error(), GA_ERR_COMPILE, "a +* b ]");
        ga_kernel_free(k);
        k = ga_elementwise_kernel("float *x", "x[i] = f(1)", "bad_preamble",
                                  .preamble =
                                      "__device__ float f(float v)\n{ return missing_name; }");
        assert_fails(ga_run(k, x), GA_ERR_COMPILE, "missing_name");
        ga_kernel_free(k);
        assert_float_equal(ga_item_double(ga_sum(x)), 5, 0);
    }
}

/* 7 numbers repeated 2^32 times: an index past 2^31 finds the number at its remainder. */
static void indices_past_32_bits_find_their_elements(void **state)
{
    (void)state;
    const int32_t seven[] = {0, 1, 2, 3, 4, 5, 6};
    int32_t found[100];
    GA_SCOPE {
        gpuarray *x = ga_broadcast_to(ga_from_host(seven, GA_INT32, GA_SHAPE(7)),
                                      GA_SHAPE(INT64_C(1) << 32, 7));
        gpuarray *y = ga_empty(GA_INT32, GA_SHAPE(100));
        ga_kernel *kernel = ga_elementwise_kernel(
            "const int *x, int *y", "y[i] = x[(long long)i * 300000000 + i % 7]", "from_afar");
        assert_int_equal(ga_run(kernel, x, y), GA_OK);
        ga_kernel_free(kernel);
        assert_int_equal(ga_to_host(y, found, sizeof found), GA_OK);
    }
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(found[i], (i * 300000000 + i % 7) % 7);
}

static void a_const_array_cannot_be_written(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(5));
        ga_kernel *k = ga_elementwise_kernel("const float *x", "x[i] = 3", "constant");
        assert_int_not_equal(ga_run(k, x), GA_OK);
        ga_clear_error();
        assert_float_equal(ga_item_double(ga_sum(x)), 5, 0);
        ga_kernel_free(k);
    }
}

/* CUDA's words, on the host too. */
static void cudas_words_are_known(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_remainder(ga_arange(GA_INT32, 0, 100000, 1), 7);
        gpuarray *counts = ga_zeros(GA_INT32, GA_SHAPE(7)),
                 *sum = ga_zeros(GA_FLOAT64, GA_SHAPE(1));
        gpuarray *most = ga_zeros(GA_INT32, GA_SHAPE(1)), *r = ga_zeros(GA_FLOAT32, GA_SHAPE(5));
        RUN_ONCE("const int *x, int *counts, double *sum, int *most",
                 "atomicAdd(&counts[x[i]], 1); atomicAdd(sum, 0.5); atomicMax(most, __ldg(&x[i]))",
                 x, counts, sum, most);
        for (int k = 0; k < 7; k++)
            assert_int_equal(ga_item_int64(counts, k), 100000 / 7 + (k < 100000 % 7));
        assert_true(ga_item_double(sum) == 50000 && ga_item_int64(most) == 6);
        RUN_ONCE("float *r",
                 "float4 v = make_float4(1.5f, 2.5f, -0.5f, 0);"
                 "r[i] = i == 0 ? __float2int_rn(v.y) : i == 1 ? __popc(255u) + __clz(1)"
                 ": i == 2 ? __int_as_float(__float_as_int(v.x)) : i == 3 ? sinpif(v.z)"
                 ": threadIdx.x + __fadd_rz(v.x, 0)",
                 r);
        const double wanted[] = {2, 39, 1.5, -1, 1.5};
        for (int k = 0; k < 5; k++)
            assert_true(ga_item_double(r, k) == wanted[k]);
    }
}

/* On the host an error says what to do. */
static void functions_of_several_threads(void **state)
{
    static const char *const calls[] = {"__shfl_sync(~0u, 1, 0)",
                                        "__shfl_down_sync(~0u, 1.5f, 3, 16)",
                                        "__ballot_sync(~0u, i < 3)",
                                        "__any_sync(~0u, i < 3)",
                                        "__activemask()",
                                        "__reduce_add_sync(~0u, (int)i)",
                                        "__syncthreads_count(i > 7)",
                                        "__match_any_sync(~0u, (int)i)"};
    (void)state;
    if (strcmp(ga_current_device(), "cpu") != 0) {
        puts("skipped: GPUs have these functions");
        return;
    }
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        GA_SCOPE {
            char text[80], wanted[80];
            const int length = (int)strcspn(calls[k], "(");
            snprintf(text, sizeof text, "x[i] = %s", calls[k]);
            snprintf(wanted, sizeof wanted, "%.*s needs several threads", length, calls[k]);
            gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(10));
            ga_kernel *kernel = ga_elementwise_kernel("int *x", text, "of_threads");
            assert_non_null(kernel);
            if (ga_run(kernel, x) != GA_ERR_COMPILE)
                fail_msg("%s compiles", text);
            if (!strstr(ga_error_message(), wanted))
                fail_msg("no \"%s\" in %s", wanted, ga_error_message());
            ga_clear_error();
            assert_int_equal(ga_item_int64(x, 3), 1);
            ga_kernel_free(kernel);
        }
}

/* ---- A range of indices ---- */

/* As numpy.arange(n)[start:stop:step], or the whole of it. */
static void check_range(ga_kernel *k, int64_t n, ga_range range)
{
    GA_SCOPE {
        static float got[200];
        static int64_t wanted[200];
        gpuarray *x = ga_zeros(GA_FLOAT32, 1, &n), *all = ga_arange(GA_INT64, 0, (double)n, 1);
        gpuarray *part = ga_slice_ranges(all, 1, &range);
        const int64_t count = ga_size(part);
        expect_ok();
        assert_int_equal(ga_run_over(k, range, x), GA_OK);
        ga_to_host(x, got, (size_t)n * sizeof *got);
        ga_to_host(part, wanted, (size_t)count * sizeof *wanted);
        for (int64_t i = 0, at; i < n; i++) {
            for (at = 0; at < count && wanted[at] != i; at++)
                continue;
            if (got[i] != (float)(at < count ? 1000 * n + i : 0))
                fail_msg("element %lld of %lld is %g", (long long)i, (long long)n, (double)got[i]);
        }
    }
}

static void a_range_is_a_slice_of_the_indices(void **state)
{
    (void)state;
    ga_kernel *k = ga_elementwise_kernel("float *x", "x[i] = 1000 * n + i", "ranged");
    for (int64_t n = 0; n <= 200; n += 40) {
        check_range(k, n, GA_ALL);
        check_range(k, n, GA_RANGE(5, 10, 1));
        check_range(k, n, GA_RANGE(1, -1, 1));
        check_range(k, n, GA_RANGE(-30, 1000, 7));
        check_range(k, n, GA_FROM(-1, -1));
        check_range(k, n, GA_FROM(-3, -11));
        check_range(k, n, GA_UPTO(-20, 3));
        check_range(k, n, GA_RANGE(50, 20, 1));
    }
    ga_kernel_free(k);
}

static void a_range_reaches_neighbours(void **state)
{
    (void)state;
    GA_SCOPE {
        const int64_t shape[] = {10, 10};
        gpuarray *x = ga_reshape(count_up(GA_FLOAT64, 100), 2, shape);
        gpuarray *y = ga_zeros(GA_FLOAT64, 2, shape);
        ga_kernel *k = ga_elementwise_kernel(
            "const double *x, double *y", "if (i < 0) return; y[i] = x[i + 1] - x[i - 1]", "slope");
        assert_int_equal(ga_run_over(k, GA_RANGE(1, -1, 1), ga_transpose(x), ga_flip(y, 0)), GA_OK);
        expect_ok();
        /* x.T: steps of 10 along a row; at its end the next row's begins 89 below. */
        assert_true(element(y, 91) == 20 && element(y, 90) == 0 && element(y, 9) == 0);
        assert_true(element(y, 99) == 10 - 89 + 1 - 1 - 10 + 10 + 0 + 0);
        ga_kernel_free(k);
    }
}

static void a_range_checks_its_arguments(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = count_up(GA_FLOAT32, 10), *y = count_up(GA_FLOAT32, 9);
        ga_kernel *k = ga_elementwise_kernel("float *x, float *y", "x[i] = y[i]", "checked");
        assert_fails(ga_run_over(k, GA_INDEX(3), x, x), GA_ERR_INVALID, "an index is not a range");
        assert_fails(ga_run_over(k, GA_RANGE(0, 3, 0), x, x), GA_ERR_INDEX, "step");
        assert_fails(ga_run_over(k, GA_ALL, x, y), GA_ERR_SHAPE, "10 elements, y has 9");
        assert_fails(ga_run_over(k, GA_ALL, ga_broadcast_to(x, GA_SHAPE(2, 10)),
                                 ga_broadcast_to(x, GA_SHAPE(2, 10))),
                     GA_ERR_INVALID, "broadcast view");
        assert_fails(ga_run_over(NULL, GA_ALL, x, y), GA_ERR_INVALID, "run_over: the kernel");
        ga_kernel_free(k);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_combination),
        cmocka_unit_test(functions_of_several_threads),
        cmocka_unit_test(a_preamble_and_loop_statements),
        cmocka_unit_test(arrays_of_any_layout),
        cmocka_unit_test(the_index_and_the_count),
        cmocka_unit_test(a_lookup_table_of_another_size),
        cmocka_unit_test(updates_in_place),
        cmocka_unit_test(conditional_writes_keep_old_values),
        cmocka_unit_test(input_and_output_may_be_one_array),
        cmocka_unit_test(numbers_convert_to_the_declared_types),
        cmocka_unit_test(a_complex_number_is_no_real_argument),
        cmocka_unit_test(half_and_bfloat16_arguments),
        cmocka_unit_test(floats_of_a_byte_are_arguments),
        cmocka_unit_test(complex_arguments),
        cmocka_unit_test(every_array_type),
        cmocka_unit_test(the_same_text_compiles_once),
        cmocka_unit_test(kernels_of_one_text_keep_one_entry),
        cmocka_unit_test(a_sum_of_squared_differences),
        cmocka_unit_test(a_reduction_without_a_map),
        cmocka_unit_test(a_reduction_with_numbers_and_preamble),
        cmocka_unit_test(a_complex_reduction),
        cmocka_unit_test(a_struct_as_accumulator),
        cmocka_unit_test(large_reductions_have_the_same_bits_in_every_run),
        cmocka_unit_test(wrong_calls_are_errors),
        cmocka_unit_test(unreadable_argument_lists_are_errors),
        cmocka_unit_test(compile_errors_show_the_users_line),
        cmocka_unit_test(indices_past_32_bits_find_their_elements),
        cmocka_unit_test(a_const_array_cannot_be_written),
        cmocka_unit_test(cudas_words_are_known),
        cmocka_unit_test(a_range_is_a_slice_of_the_indices),
        cmocka_unit_test(a_range_reaches_neighbours),
        cmocka_unit_test(a_range_checks_its_arguments),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
