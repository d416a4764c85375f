/* Tests that every kernel the engines can ask for compiles with NVRTC: a device that only compiles.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array/array.h"
#include "base/error.h"
#include "device/context.h"
#include "jit/compile.h"

#ifndef QUARRY_CUDA

int main(void)
{
    puts("skipped: built without the CUDA toolkit, so there is no NVRTC to compile with");
    return 77;
}

#else

#include "fake_device.h"

/* ---- What is compiled ---- */

static void check(const char *what)
{
    if (ga_error() == GA_OK)
        return;
    /* The tables say which dtypes a row takes; a refusal is an answer, a failed compile is not. */
    if (ga_error() != GA_ERR_DTYPE)
        fail_msg("%s on %s: %s", what, ga_current_device(), ga_error_message());
    ga_clear_error();
}

static void all_rows(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(64)), *r, *s;
        const gpuarray *a = x;
#define GA_UNARY(name, ...) ga_##name(a), check(#name " " #__VA_ARGS__);
#include <quarry/unary.def>
#define GA_BINARY(name, ...) ga_##name(a, a), check(#name);
#include <quarry/binary.def>
#define GA_TERNARY(name, ...) ga_##name(a, a, a), check(#name);
#include <quarry/ternary.def>
#define GA_SPLIT(name, ...) (void)ga_##name(a, &r, &s), check(#name);
#include <quarry/split.def>
#define GA_REDUCE(name, ...) ga_##name(a), check(#name);
#include <quarry/reduce.def>
        ga_dot(a, a), check("dot");
        for (int to = GA_BOOL; to < GA_DTYPE_COUNT; to++)
            ga_astype(a, (ga_dtype)to), check("astype");
    }
}

static void elementwise_variants(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *m = ga_empty(dtype, GA_SHAPE(64, 96)),
                 *cube = ga_empty(dtype, GA_SHAPE(40, 64, 48));
        gpuarray *line = ga_empty(dtype, GA_SHAPE(1003)), *i8 = ga_empty(GA_INT8, GA_SHAPE(64, 96));
        gpuarray *t = ga_transpose(cube);
        ga_add(line, line), check("vectors and a tail");
        ga_add(ga_slice(line, "1:"), ga_slice(line, ":-1")), check("misaligned");
        ga_add(ga_slice(line, "::2"), ga_slice(line, "::-2")), check("strided");
        ga_add(m, ga_slice(m, "0")), check("a row");
        ga_add(m, ga_slice(m, ":, :1")), check("a column");
        ga_add(m, 1), check("a number");
        ga_add(m, i8), check("mixed");
        ga_add(t, ga_copy(t)), check("tiled, three axes");
        ga_copy(ga_transpose(m)), check("tiled copy");
        ga_add(ga_transpose(m), ga_empty(dtype, GA_SHAPE(96, 64))), check("tiled and not");
        ga_add(ga_transpose(m), ga_transpose(i8)), check("tiled, two items");
        ga_copy(ga_transpose(ga_slice(m, "1:, 1:"))), check("tiled, odd");
        ga_copy(ga_transpose(ga_slice(m, ":, :20"))), check("small squares");
        ga_copy(ga_slice(cube, "::2, ::3, ::2")), check("three axes");
        ga_assign(ga_slice(m, "::2, ::2"), 1), check("strided output");
        ga_equal(m, m), check("comparison");
        ga_arange(dtype, 0, 100, 1), check("index");
        ga_eye(dtype, 12), check("eye");
        ga_linspace(dtype, 0, 1, 10), check("linspace");
    }
}

static void reduction_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{3000, 64}, {64, 3000}, {200000, 4}, {4, 200000},
                                        {1003, 7},  {7, 1003},  {3, 70001},  {33, 40}};
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, 2, shapes[k]), *t = ga_transpose(x);
            ga_sum(x), check("sum");
            ga_sum(x, GA_AXIS(0)), check("sum axis 0");
            ga_sum(x, GA_AXIS(1)), check("sum axis 1");
            ga_argmax(t), check("argmax of a transpose");
            ga_argmax(x, GA_AXIS(0)), check("argmax axis 0");
            ga_var(t, GA_AXIS(0)), check("var");
            ga_any(x), check("any");
            ga_all(x, GA_AXIS(1)), check("all axis 1");
            ga_any(x, GA_AXIS(0)), check("any axis 0");
            ga_sum(ga_slice(x, "::2, ::3")), check("sum strided");
            ga_max(ga_slice(x, ":, 1:"), GA_AXIS(1)), check("max misaligned");
        }
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(12, 13, 14, 15));
        ga_sum(x, GA_AXIS(1)), check("middle axis");
        ga_sum(x, GA_AXIS(0, 2)), check("two axes");
        ga_argmin(x, GA_AXIS(1, 3)), check("argmin of two axes");
    }
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(1 << 20, 2, 4)),
                 *y = ga_empty(dtype, GA_SHAPE(1 << 20, 7));
        gpuarray *wide = ga_empty(dtype, GA_SHAPE(300, 80000));
        ga_sum(wide, GA_AXIS(0)), check("narrow tiles");
        ga_sum(x, GA_AXIS(2)), check("thin rows");
        ga_argmax(x, GA_AXIS(2)), check("argmax of thin rows");
        ga_var(y, GA_AXIS(1)), check("var of rows of 7");
        ga_all(ga_transpose(y), GA_AXIS(0)), check("all of rows of 7");
    }
}

static void custom_variants(void)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(64, 96)),
                 *h = ga_empty(GA_FLOAT16, GA_SHAPE(64, 96));
        gpuarray *c = ga_empty(GA_COMPLEX64, GA_SHAPE(64, 96)),
                 *b = ga_empty(GA_BFLOAT16, GA_SHAPE(64, 96));
        gpuarray *w = ga_empty(GA_INT64, GA_SHAPE(7));
        ga_kernel *k[] = {
            ga_elementwise_kernel("float a, float *x, half *h", "x[i] = a * x[i] + h[i]", "axpy"),
            ga_elementwise_kernel("bfloat16 *b, float *x", "b[i] = sqrtf(x[i]) + max(x[i], 2.0f)",
                                  "root"),
            ga_elementwise_kernel("complex64 *c, int64_t *w",
                                  "if (i > 3) c[i] = c[i] * (float)w[i % 7]", "table"),
            ga_elementwise_kernel("float *x", "x[i] = f(x[i]) + s", "prep",
                                  .preamble = "__device__ float f(float v) { return v * v; }",
                                  .loop_prep = "float s = 1", .after_loop = "s = 0",
                                  .fast_math = true)};
        ga_run(k[0], 2, x, h), check("axpy");
        ga_run(k[0], 2, ga_transpose(x), ga_transpose(h)), check("axpy of transposes");
        ga_run(k[0], 2, ga_transpose(x), h), check("axpy of two shapes");
        ga_run(k[1], b, x), check("root");
        ga_run(k[2], c, w), check("table");
        ga_run(k[2], ga_slice(c, "::2"), ga_slice(w, "::-1")), check("strided table");
        ga_run(k[3], x), check("prep");
        for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++)
            ga_kernel_free(k[n]);
        ga_kernel *r =
            ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]*i", "float *x", "weighted");
        ga_reduce(r, ga_slice(x, "1:, ::2")), check("weighted");
        ga_kernel_free(r);
        r = ga_reduction_kernel(GA_NO_DTYPE, "{1e30f, -1e30f}",
                                "{min(a.lo, b.lo), max(a.hi, b.hi)}", "{x[i], x[i]}", "float *x",
                                "minmax", .preamble = "struct minmax { float lo, hi; };",
                                .struct_name = "minmax", .struct_bytes = 8);
        ga_reduce(r, x), check("minmax");
        ga_kernel_free(r);
    }
}

static void expression_variants(ga_dtype dtype)
{
    static const char *const texts[] = {
        "where(x > 1, x*y, y) + 2*x - y/3 + x**2",
        "float16(x) * complex64(y) + float64(r) == 3",
        "abs(mean((x - y)**2)) + 1",
        "std(x + r, axis=0, ddof=1)",
        "x - sum(x * y, axis=1, keepdims=True)",
        "count_nonzero(x, axis=0) + argmax(x + y, axis=0)",
        "all(isnan(x) or x == y, axis=1) and any(y)",
        "x % 3 // 2 - maximum(x, t)",
        "nextafter(x, y) * hypot(x, r)",
        "(x & 3 | y << 2) ^ ~x",
        "exp(x) / sqrt(nansum(x) + 2j)",
        "prod(x * y, axis=0, keepdims=True) + r",
        "max(x) - min(x)",
        "(x - mean(x, axis=1, keepdims=True)) / std(x, axis=1, keepdims=True)",
        "log(x) / sqrt(x / (x + 1))",
        "var(x, axis=0) + mean(x, axis=0) + argmin(x, axis=0) + any(x, axis=0)",
    };
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(64, 96)), *y = ga_slice(x, "::-1"),
                 *r = ga_slice(x, "0");
        gpuarray *t = ga_transpose(ga_empty(dtype, GA_SHAPE(96, 64)));
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
            ga_eval(texts[k], GA(x), GA(y), GA(r), GA(t)), check(texts[k]);
    }
}

static ga_status read_zeros(void *user, int64_t first, int64_t count, void *elements)
{
    (void)first;
    memset(elements, 0, (size_t)count * *(const size_t *)user);
    return GA_OK;
}

/* Reductions that carry on from launch to launch. */
static void chunked_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{64, 3000}, {20000, 4}};
    static const char *const texts[] = {"sum(x)",          "sum(x, axis=0) * 2", "std(x)",
                                        "argmax(x)",       "argmin(x, axis=0)",  "all(x, axis=0)",
                                        "nanmean(x) + 1j", "x - mean(x, axis=0)"};
    size_t itemsize = ga_dtype_size(dtype);
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        GA_SCOPE {
            ga_source *x = ga_source_new(dtype, 2, shapes[s], read_zeros, &itemsize);
            const ga_chunks chunks = {.bytes = 20000 * (int64_t)itemsize};
            for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
                ga_eval_chunked(&chunks, texts[k], GA(x)), check(texts[k]);
            ga_source_free(x);
        }
}

static void random_variants(ga_dtype dtype)
{
    ga_rng *rng = ga_rng_new(1);
    for (int begin = 0; begin < 2; begin++) /* at the start of a share, and within one */
        GA_SCOPE {
            ga_rng_set_state(rng, &(ga_rng_state){1, (uint64_t)begin});
            ga_rng_random(rng, dtype, GA_SHAPE(5000)), check("random");
            ga_rng_uniform(rng, dtype, 1, 2, GA_SHAPE(5000)), check("uniform");
            ga_rng_standard_normal(rng, dtype, GA_SHAPE(5000)), check("standard_normal");
            ga_rng_normal(rng, dtype, 1, 2, GA_SHAPE(5000)), check("normal");
            ga_rng_lognormal(rng, dtype, 1, 2, GA_SHAPE(5000)), check("lognormal");
            ga_rng_exponential(rng, dtype, 2, GA_SHAPE(5000)), check("exponential");
            ga_rng_integers(rng, dtype, 0, 2, GA_SHAPE(5000)), check("integers");
            ga_rng_poisson(rng, dtype, 3, GA_SHAPE(5000)), check("poisson of 3");
            ga_rng_poisson(rng, dtype, 30, GA_SHAPE(5000)), check("poisson of 30");
            ga_rng_permutation(rng, 5000), check("permutation");
            ga_rng_bytes(rng, 5000), check("bytes");
        }
    GA_SCOPE {
        ga_rng_integers(rng, GA_INT64, 0, INT64_C(1) << 40, GA_SHAPE(5000)), check("wide integers");
        ga_rng_integers_endpoint(rng, GA_UINT64, 0, UINT64_MAX, GA_SHAPE(5000)), check("all bits");
    }
    ga_rng_free(rng);
}

/* ---- Threads: NVRTC compiles header-free sources in parallel ---- */

typedef struct job {
    void (*run)(ga_dtype);
    const ga_dtype *dtypes;
    int ndtypes, ndevices;
    ga__device *device;
    int first;
} job;

static void *run_job(void *argument)
{
    const job *j = argument;
    for (int k = j->first; k < j->ndtypes * j->ndevices; k += 2) {
        ga__use_device(&j->device[k / j->ndtypes]);
        j->run(j->dtypes[k % j->ndtypes]);
    }
    return NULL;
}

static void run_twice(void (*run)(ga_dtype), const ga_dtype *dtypes, int ndtypes,
                      ga__device *device, int ndevices)
{
    job jobs[2] = {{run, dtypes, ndtypes, ndevices, device, 0},
                   {run, dtypes, ndtypes, ndevices, device, 1}};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_job, &jobs[1]), 0);
    run_job(&jobs[0]);
    pthread_join(other, NULL);
}

static const ga_dtype some_dtypes[] = {GA_FLOAT32, GA_FLOAT16, GA_INT8, GA_COMPLEX128};

static void every_row_compiles_for_every_dtype(void **state)
{
    (void)state;
    ga_dtype all[GA_DTYPE_COUNT - 1];
    for (int k = 0; k < GA_DTYPE_COUNT - 1; k++)
        all[k] = (ga_dtype)(GA_BOOL + k);
    run_twice(all_rows, all, GA_DTYPE_COUNT - 1, &devices[2], 1);
}

static void elementwise_variants_compile_everywhere(void **state)
{
    (void)state;
    run_twice(elementwise_variants, some_dtypes, 4, devices, DEVICES);
}

static void reduction_variants_compile_everywhere(void **state)
{
    (void)state;
    run_twice(reduction_variants, some_dtypes, 2, devices, DEVICES); /* with other launch bounds */
    run_twice(reduction_variants, some_dtypes + 2, 2, &devices[2], 1);
}

static void expressions_compile_everywhere(void **state)
{
    (void)state;
    run_twice(expression_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(expression_variants, some_dtypes + 1, 3, &devices[2], 1);
    run_twice(chunked_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(chunked_variants, some_dtypes + 2, 1, &devices[2], 1);
}

static void random_numbers_compile_everywhere(void **state)
{
    static const ga_dtype wide[] = {GA_FLOAT32, GA_FLOAT64, GA_INT64};
    static const ga_dtype others[] = {GA_FLOAT16, GA_BFLOAT16, GA_INT32, GA_UINT8, GA_BOOL};
    (void)state;
    run_twice(random_variants, wide, 3, devices, DEVICES);
    run_twice(random_variants, others, 5, &devices[2], 1); /* they differ in the cast at the end */
}

static void custom_kernels_compile_everywhere(void **state)
{
    (void)state;
    for (int k = 0; k < DEVICES; k++) {
        ga__use_device(&devices[k]);
        custom_variants();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(custom_kernels_compile_everywhere),
        cmocka_unit_test(expressions_compile_everywhere),
        cmocka_unit_test(elementwise_variants_compile_everywhere),
        cmocka_unit_test(reduction_variants_compile_everywhere),
        cmocka_unit_test(random_numbers_compile_everywhere),
        cmocka_unit_test(every_row_compiles_for_every_dtype),
    };
    if (!open_fake_devices())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    const ga__module_counts counts = ga__module_count();
    printf("%lld kernels compiled\n", (long long)counts.compiled);
    return failed;
}

#endif
