/* Allocation failures: programs over the whole API run with each of their requests failing in
 * turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <quarry.h>

#include "base/alloc.h"
#include "jit/compile.h"
#include "run.h"

/* A program may make anything in the enclosing scope, and need not check anything. */
typedef void (*program)(void);

static void run(program body)
{
    GA_SCOPE {
        body();
    }
}

/* Caches release blocks when memory is out: there may be fewer than before, never more. A failed
 * request may be recovered (the pool is drained and the request repeated), so one run without an
 * error is not the end; many such runs in a row are. */
enum { QUIET_RUNS = 25, MOST_RUNS = 5000 };

static void fail_every_request(const char *name, program body)
{
    for (int warm = 0; warm < 2; warm++) {
        run(body);
        if (ga_error() != GA_OK)
            fail_msg("%s without failures: %s", name, ga_error_message());
    }
    int64_t live = ga__alloc_live();
    int quiet = 0, failed = 0;
    for (int n = 1; quiet < QUIET_RUNS; n++) {
        assert_true(n < MOST_RUNS);
        ga__alloc_fail_at(n);
        run(body);
        ga__alloc_fail_at(0);
        bool error = ga_error() != GA_OK;
        quiet = error ? 0 : quiet + 1;
        failed += error;
        ga_clear_error();
        if (ga__alloc_live() > live)
            fail_msg("%s, request %d failing: %lld blocks more are live", name, n,
                     (long long)(ga__alloc_live() - live));
    }
    assert_true(failed > 0);
    run(body);
    assert_int_equal(ga_error(), GA_OK);
    assert_true(ga__alloc_live() <= live);
}

static gpuarray *sample(void)
{
    static const float host[12] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    return ga_from_host(host, GA_FLOAT32, GA_SHAPE(3, 4));
}

static void making(void)
{
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 4));
    ga_ones(GA_INT32, GA_SHAPE(5));
    ga_full(GA_FLOAT64, GA_SHAPE(2, 2), 7);
    ga_full(GA_FLOAT32, GA_SHAPE(2, 4), ga_slice(x, "0"));
    ga_empty_like(x);
    ga_zeros_like(x);
    ga_ones_like(x);
    ga_full_like(x, 2.5);
    ga_arange(GA_FLOAT32, 0, 10, 1);
    ga_linspace(GA_FLOAT64, 0, 1, 11);
    ga_eye(GA_FLOAT32, 3);
    ga_scalar(GA_FLOAT32, 3.0);
    sample();
}

static void reading(void)
{
    float host[12];
    gpuarray *x = sample();
    ga_to_host(x, host, sizeof host);
    ga_to_host(ga_transpose(x), host, sizeof host);
    ga_item_double(ga_slice(x, "1, 1"));
    ga_item_int64(ga_slice(x, "1, 1"));
    ga_item_bool(ga_slice(x, "1, 1"));
    ga_item_complex(ga_slice(x, "1, 1"));
    ga_to_device(x, ga_device_of(x));
    ga_synchronize();
    free(ga_format(x));
}

static void viewing(void)
{
    gpuarray *x = sample();
    ga_slice(x, "1:, ::%d, None", 2);
    ga_slice_ranges(x, 2, (const ga_range[]){GA_INDEX(1), GA_ALL});
    ga_reshape(x, GA_SHAPE(2, -1));
    ga_reshape(ga_transpose(x), GA_SHAPE(12));
    ga_ravel(x);
    ga_transpose_axes(x, GA_AXES(1, 0));
    ga_squeeze(ga_expand_dims(x, 0));
    ga_broadcast_to(x, GA_SHAPE(2, 3, 4));
    ga_flip(x, 1);
    ga_real(x);
    ga_imag(x);
    ga_view(x, GA_INT32);
}

static void converting(void)
{
    gpuarray *x = sample();
    ga_copy(x);
    ga_copy(ga_transpose(x));
    ga_astype(x, GA_INT16);
    ga_assign(x, 3);
    ga_assign(ga_slice(x, "1"), ga_ones(GA_INT32, GA_SHAPE(4)));
}

static void computing(void)
{
    gpuarray *x = sample(), *out = ga_zeros_like(x), *mantissa, *exponent;
    ga_sin(x);
    ga_add(x, ga_slice(x, "0"));
    ga_multiply(2.0, ga_transpose(x));
    ga_where(ga_less(x, 3), x, 0);
    ga_add_into(out, x, 1);
    ga_add_into(ga_slice(out, "1:"), ga_slice(out, ":-1"), 1);
    ga_add_into(ga_zeros(GA_FLOAT64, GA_SHAPE(3, 4)), x, x);
    ga_frexp(x, &mantissa, &exponent);
    ga_modf_into(ga_slice(out, "1:"), ga_zeros(GA_FLOAT64, GA_SHAPE(2, 4)), ga_slice(out, ":-1"));
    ga_add(x, ga_ones(GA_FLOAT64, GA_SHAPE(3, 1)));
}

static void reducing(void)
{
    gpuarray *x = sample();
    ga_sum(x);
    ga_max(x, GA_AXIS(0), .keepdims = true);
    ga_argmin(ga_transpose(x), GA_AXIS(1));
    ga_mean(x, .dtype = GA_FLOAT64);
    ga_std(x, GA_AXIS(0), .ddof = 1);
    ga_sum(x, GA_AXIS(0), .out = ga_zeros(GA_FLOAT32, GA_SHAPE(4)));
    ga_sum(x, GA_AXIS(0), .out = ga_slice(x, "0"));
    ga_dot(ga_ravel(x), ga_ravel(x));
    ga_sum(ga_ones(GA_FLOAT32, GA_SHAPE(200000)));
}

static void running_new_kernels(void)
{
    gpuarray *x = sample(), *z = ga_zeros_like(x);
    ga_kernel *k =
        ga_elementwise_kernel("float a, const float *x, float *z", "z[i] = twice(a*x[i])", "scaled",
                              .preamble = "__device__ float twice(float v) { return v + v; }");
    ga_run(k, 5, x, z);
    ga_run(k, 5, ga_flip(x, 0), z);
    ga_kernel_free(k);
    k = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]*x[i]", "const float *x", "squares");
    ga_reduce(k, x);
    ga_reduce(k, ga_transpose(x));
    ga_kernel_free(k);
}

/* The first run of a kernel may keep something, so these are made only once. */
static ga_kernel *elementwise, *reduction;

static void running_kernels(void)
{
    gpuarray *x = sample(), *z = ga_zeros_like(x);
    ga_run(elementwise, 5, x, z);
    ga_run(elementwise, 5, ga_flip(x, 0), z);
    ga_run(elementwise, 5, ga_slice(x, "1:"), ga_slice(x, ":-1"));
    ga_reduce(reduction, x);
    ga_reduce(reduction, ga_transpose(x));
}

static void making_kernels(void)
{
    ga_kernel_free(ga_elementwise_kernel("float *x", "x[i] = f(i)", "scaled",
                                         .preamble = "int f(int);", .loop_prep = ";",
                                         .after_loop = ";"));
    ga_kernel_free(ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "", "const float *x", "squares"));
}

static void modules(void)
{
    int in = 3, out = 0;
    ga_module *m = ga_module_compile(
        "#include \"two.h\"\n"
        "__global__ void add(int *out, const int *in, int *x) { *out = *in + TWO; *x = 1; }",
        .name = "alloc", .options = "-DA=1 -DB=2",
        .headers = GA_HEADERS({"two.h", "#define TWO 2"}));
    gpuarray *x = ga_empty(GA_INT32, GA_SHAPE(1));
    ga_launch(ga_module_kernel(m, "add"), GA_DIM(1), GA_DIM(1), GA_OUT(&out, sizeof out),
              GA_IN(&in, sizeof in), x);
    if (ga_error() == GA_OK)
        assert_int_equal(out, 5);
    ga_module_free(m);
    m = ga_module_compile("__device__ int v[4]; template <int N> __global__ void f() {}",
                          .kernels = "f<1>, f<2>");
    ga_module_kernel(m, "f<2>");
    ga_module_global(m, "v");
    if (ga_error() == GA_OK) {
        ga_module_kernel(m, "f<3>"); /* an error whose message lists the variables */
        if (ga_error() != GA_ERR_MEMORY)
            ga_clear_error();
    }
    ga_module_free(m);
}

static char file_name[] = "/tmp/quarry-test-alloc-XXXXXX";

static void saving_and_loading(void)
{
    gpuarray *x = sample();
    ga_save(x, file_name);
    ga_load(file_name);
    ga_save(ga_transpose(x), file_name);
}

/* Restarts the stream, whatever failed before: at another position the kernel might be another one,
 * which would stay loaded from then on. */
static ga_rng *restarted(ga_rng *rng)
{
    const ga_rng_state start = {.seed = 1};
    ga_rng *source = rng ? rng : ga_rng_default();
    ga_rng_set_state(source, &start);
    return source;
}

static void drawing(void)
{
    ga_rng *rng = ga_rng_new(1), *child = ga_rng_split(restarted(rng));
    ga_rng_random(restarted(rng), GA_FLOAT32, GA_SHAPE(5));
    ga_rng_normal_into(ga_transpose(sample()), restarted(rng), 1, 2);
    ga_rng_integers(restarted(rng), GA_INT64, 0, 10, GA_SHAPE(5));
    ga_rng_poisson(restarted(rng), GA_INT32, 3, GA_SHAPE(5));
    ga_rng_bytes(restarted(rng), 5);
    ga_rng_permutation(restarted(rng), 5);
    restarted(NULL);
    ga_random(GA_SHAPE(5));
    ga_rng_free(child);
    ga_rng_free(rng);
}

/* Wrong calls format messages, which allocate too. */
static void complaining(void)
{
    gpuarray *x = sample();
    ga_status before = ga_error();
    if (before == GA_OK) {
        ga_add(x, ga_ones(GA_FLOAT32, GA_SHAPE(5)));
        ga_slice(x, "17, oops");
        ga_elementwise_kernel("float *", "x", "bad");
        ga_status mistake = ga_error();
        if (mistake != GA_ERR_MEMORY && mistake != GA_OK)
            ga_clear_error();
    }
}

static void other_calls(void)
{
    ga_kernel *k = ga_elementwise_kernel("float *x, int j", "x[i] = j", "kernel");
    ga_device_name(NULL);
    ga_kernel_free(k);
    ga_current_device();
}

static void kept_arrays(void)
{
    gpuarray *kept = NULL;
    GA_SCOPE {
        kept = ga_keep(ga_add(sample(), 1));
        ga_free(ga_retain(sample()));
    }
    ga_free(kept);
}

/* ---- The tests ---- */

static const struct {
    const char *name;
    program body;
} programs[] = {{"making", making},
                {"reading", reading},
                {"viewing", viewing},
                {"converting", converting},
                {"computing", computing},
                {"reducing", reducing},
                {"making_kernels", making_kernels},
                {"running_kernels", running_kernels},
                {"modules", modules},
                {"drawing", drawing},
                {"saving_and_loading", saving_and_loading},
                {"complaining", complaining},
                {"other_calls", other_calls},
                {"kept_arrays", kept_arrays}};

static void no_failing_request_leaks(void **state)
{
    (void)state;
    int descriptor = mkstemp(file_name);
    assert_true(descriptor >= 0);
    close(descriptor);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        fail_every_request(programs[i].name, programs[i].body);
    unlink(file_name);
}

/* Kernels found on disk again: loaded code stays, so blocks may stay; but nothing crashes, and a
 * second attempt works. */
static void a_failing_kernel_load_is_tried_again(void **state)
{
    (void)state;
    for (int n = 1; n < 60; n++) {
        ga__module_forget();
        ga__alloc_fail_at(n);
        run(running_new_kernels);
        ga__alloc_fail_at(0);
        ga_clear_error();
        run(running_new_kernels);
        if (ga_error() != GA_OK)
            fail_msg("after request %d failed: %s", n, ga_error_message());
    }
}

/* A failed call leaves its output unchanged. */
static void a_failed_write_changes_nothing_or_all(void **state)
{
    (void)state;
    gpuarray *x = sample(), *out = ga_zeros_like(x);
    for (int n = 1; n < 40; n++) {
        ga__alloc_fail_at(n);
        ga_status status = ga_add_into(out, x, n);
        ga__alloc_fail_at(0);
        ga_clear_error();
        gpuarray *first = ga_slice(out, "0, 0");
        assert_float_equal(ga_item_double(first), status == GA_OK ? 3 + n : 0, 0);
        ga_free(first);
        ga_assign(out, 0);
    }
    ga_free(out);
    ga_free(x);
    assert_int_equal(ga_error(), GA_OK);
}

static int make_kernels(void **state)
{
    (void)state;
    elementwise =
        ga_elementwise_kernel("float a, const float *x, float *z", "z[i] = a*x[i]", "scaled");
    reduction =
        ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]*x[i]", "const float *x", "squares");
    return !elementwise || !reduction;
}

static int free_kernels(void **state)
{
    (void)state;
    ga_kernel_free(elementwise);
    ga_kernel_free(reduction);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_failing_request_leaks),
        cmocka_unit_test(a_failing_kernel_load_is_tried_again),
        cmocka_unit_test(a_failed_write_changes_nothing_or_all),
    };
    return run_named_tests(argc, argv, tests, make_kernels, free_kernels);
}
