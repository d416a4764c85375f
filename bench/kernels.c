/* quarry-kernels: writes the source and the machine code of each kernel variant, without a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "device/context.h"
#include "device/cuda/nvrtc.h"
#include "fake_device.h"
#include "formulas.h"

/* What is compiled goes to files of this name. */
static const char *directory, *current;
static int written;

static bool write_file(const char *ending, const void *bytes, size_t nbytes)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/%02d-%s.%s", directory, written, current, ending);
    FILE *file = fopen(path, "wb");
    const bool done = file && fwrite(bytes, 1, nbytes, file) == nbytes;
    if (!file || fclose(file) != 0 || !done)
        fprintf(stderr, "quarry-kernels: cannot write %s\n", path);
    return done;
}

static ga_status compile(ga__device *device, const ga__source *source, void **code, size_t *nbytes)
{
    const ga_status status = ga__nvrtc_compile(source->name, source->text, device->arch,
                                               source->fast_math, code, nbytes);

    if (status == GA_OK && write_file("cu", source->text, strlen(source->text)) &&
        write_file("cubin", *code, *nbytes))
        written++;
    return status;
}

static bool use_device(void)
{
    static ga__backend backend;

    setenv("QUARRY_CACHE_DIR", "", 1); /* what is found on disk is not compiled */
    backend = fake_backend;
    backend.code.compile = compile;
    devices[2].backend = &backend;
    ga__use_device(&devices[2]);
    return open_fake_devices();
}

/* ---- The variants, each under the name of its case ---- */

enum { SIDE = 16384 };
#define N ((int64_t)SIDE * SIDE)

static void elementwise(void)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(N)), *h = ga_empty(GA_FLOAT16, GA_SHAPE(N)),
                 *i = ga_empty(GA_INT8, GA_SHAPE(N)), *d = ga_empty(GA_FLOAT64, GA_SHAPE(N / 2));
        gpuarray *m = ga_reshape(x, GA_SHAPE(SIDE, SIDE)), *t = ga_transpose(m),
                 *bytes = ga_reshape(i, GA_SHAPE(SIDE, SIDE));
        gpuarray *cube = ga_reshape(x, GA_SHAPE(256, 4096, 256));
        current = "add-f32", ga_add(x, x);
        current = "add-f16", ga_add(h, h);
        current = "add-i8", ga_add(i, i);
        current = "add-mixed-i8-f32", ga_add(i, x);
        current = "sin-f32", ga_sin(x);
        current = "exp-f64", ga_exp(d);
        current = "row", ga_add(m, ga_slice(m, "0"));
        current = "column", ga_add(m, ga_slice(m, ":, :1"));
        current = "every-second", ga_add(ga_slice(x, "::2"), ga_slice(x, "1::2"));
        current = "misaligned", ga_add(ga_slice(x, "1:"), ga_slice(x, ":-1"));
        current = "odd-rows", ga_add(ga_slice(m, ":, 1:"), ga_slice(m, ":, :-1"));
        current = "m.T+m2", ga_add(t, m);
        current = "copy-m.T-f32", ga_copy(t);
        current = "copy-m.T-i8", ga_copy(ga_transpose(bytes));
        current = "copy-cube.T", ga_copy(ga_transpose(cube));
        current = "where", ga_where(ga_view(i, GA_BOOL), x, x);
    }
}

static void reductions(void)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(N)), *h = ga_empty(GA_FLOAT16, GA_SHAPE(N)),
                 *d = ga_empty(GA_FLOAT64, GA_SHAPE(N / 2)),
                 *small = ga_empty(GA_FLOAT32, GA_SHAPE(16));
        gpuarray *m = ga_reshape(x, GA_SHAPE(SIDE, SIDE)),
                 *cube = ga_reshape(x, GA_SHAPE(256, 4096, 256)),
                 *thin = ga_reshape(x, GA_SHAPE(N / 4, 4));
        current = "sum-f32", ga_sum(x);
        current = "sum-f16", ga_sum(h);
        current = "sum-f64", ga_sum(d);
        current = "sum-of-16", ga_sum(small);
        current = "max-f32", ga_max(x);
        current = "argmax-f32", ga_argmax(x);
        current = "var-f32", ga_var(x);
        current = "any-f32", ga_any(x);
        current = "dot-f32", ga_dot(x, x);
        current = "sum-axis-0", ga_sum(m, GA_AXIS(0));
        current = "sum-axis-1", ga_sum(m, GA_AXIS(1));
        current = "sum-middle", ga_sum(cube, GA_AXIS(1));
        current = "thin-axis-0", ga_sum(thin, GA_AXIS(0));
        current = "thin-axis-1", ga_sum(thin, GA_AXIS(1));
        current = "sum-c64", ga_sum(ga_view(d, GA_COMPLEX64));
        current = "sum-misaligned", ga_sum(ga_slice(x, "1:"));
        current = "sum-stripe", ga_sum(ga_slice(m, ":, :900"));
        current = "sum-axis-0-f64", ga_sum(ga_view(m, GA_FLOAT64), GA_AXIS(0));
        current = "sum-axis-0-c64", ga_sum(ga_view(m, GA_COMPLEX64), GA_AXIS(0));
        current = "sum-axis-0-f16", ga_sum(ga_view(m, GA_FLOAT16), GA_AXIS(0));
        current = "sum-rows-of-33", ga_sum(ga_slice(m, ":, :33"), GA_AXIS(1));
        current = "sum-rows-of-1025", ga_sum(ga_slice(m, ":, :1025"), GA_AXIS(1));
        current = "sum-column", ga_sum(ga_reshape(x, GA_SHAPE(N, 1)), GA_AXIS(0));
    }
}

static void expressions(void)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(N)), *y = ga_empty(GA_FLOAT32, GA_SHAPE(N)),
                 *z = ga_empty(GA_FLOAT32, GA_SHAPE(N));
        current = "sqrt-xx-yy", ga_eval("sqrt(x*x + y*y)", GA(x), GA(y));
        current = "sum-squares", ga_eval("sum((x - y)**2)", GA(x), GA(y));
        current = "rms", ga_eval("sqrt(mean(x**2))", GA(x));
        current = "max-min", ga_eval("max(x) - min(x)", GA(x));
        current = "mean-var", ga_eval("mean(x) / var(x)", GA(x));
        const ga_named call[] = {GA_NAMED("spot", x), GA_NAMED("strike", y), GA_NAMED("years", z),
                                 GA_NAMED("rate", 0.02), GA_NAMED("sigma", 0.3)};
        current = "black-scholes", (ga_eval)(BLACK_SCHOLES, 5, call);
        ga_expr *fast = ga_compile_fast_expr(BLACK_SCHOLES);
        current = "black-scholes-fast", (ga_eval_expr)(fast, 5, call);
        ga_expr_free(fast);
        current = "normalise", ga_eval("(x - mean(x)) / std(x)", GA(x));
    }
}

static void random_numbers(void)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(N));
        ga_rng *rng = ga_rng_new(1);
        current = "random-f32", ga_rng_random_into(x, rng);
        current = "normal-f32", ga_rng_standard_normal_into(x, rng);
        current = "exponential-f32", ga_rng_exponential_into(x, rng, 1);
        gpuarray *wide = ga_empty(GA_FLOAT64, GA_SHAPE(N / 2)),
                 *whole = ga_empty(GA_INT64, GA_SHAPE(N / 2));
        current = "normal-f64", ga_rng_standard_normal_into(wide, rng);
        current = "integers-i64", ga_rng_integers_into(whole, rng, 0, 1000);
        current = "poisson-i64", ga_rng_poisson_into(whole, rng, 5000);
        current = "poisson-table-i64", ga_rng_poisson_into(whole, rng, 75);
        ga_rng_free(rng);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: quarry-kernels DIRECTORY\n", stderr);
        return 2;
    }
    directory = argv[1];
    if (!use_device())
        return 1;
    elementwise();
    reductions();
    expressions();
    random_numbers();
    if (ga_error() != GA_OK) {
        fprintf(stderr, "quarry-kernels: %s: %s\n", current, ga_error_message());
        return 1;
    }
    printf("%d kernels in %s\n", written, directory);
    return 0;
}
