/* A program as users write it: only the public header, with the strictest warnings, run and
 * checked. */
#include <quarry.h>

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "wrong: %s (%s)\n", what, ga_error_message());
    wrong++;
}

static void slopes(void)
{
    float host[20 * 30];
    for (int i = 0; i < 600; i++)
        host[i] = (float)(3 * (i / 30) + 4 * (i % 30));
    GA_SCOPE {
        gpuarray *z = ga_from_host(host, GA_FLOAT32, GA_SHAPE(20, 30));
        gpuarray *dx =
            ga_multiply(0.5, ga_subtract(ga_slice(z, "1:-1, 2:"), ga_slice(z, "1:-1, :-2")));
        gpuarray *dy =
            ga_multiply(0.5, ga_subtract(ga_slice(z, "2:, 1:-1"), ga_slice(z, ":-2, 1:-1")));
        gpuarray *slope = ga_hypot(dx, dy);
        gpuarray *steep = ga_sum(ga_greater(slope, 4.5));
        gpuarray *rows = ga_max(slope, GA_AXIS(1), .keepdims = true);
        check(ga_item_int64(steep) == 18 * 28, "every cell is steep");
        check(ga_ndim(rows) == 2 && ga_shape(rows)[0] == 18 && ga_shape(rows)[1] == 1, "kept axes");
        check(ga_item_double(ga_sqrt(ga_mean(ga_square(slope)))) == 5.0, "the mean slope");
        check(ga_error() == GA_OK, "one check at the end");
    }
}

static void indices(void)
{
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT64, 0, 99, 100);
        check(ga_length(ga_concatenate(GA_ARRAYS(x, x), GA_AXIS(0)), 0) == 200 &&
                  ga_length(ga_delete(x, 1, GA_AXIS(0)), 0) == 99 &&
                  ga_length(ga_insert(x, 1, 2.0, GA_AXIS(0)), 0) == 101 &&
                  ga_length(ga_gradient(x, GA_AXIS(0)), 0) == 100 &&
                  ga_size(ga_convolve(ga_ravel(x), ga_ravel(x), .mode = "same")) == ga_size(x) &&
                  ga_result_type_of(x, 2) == ga_dtype_of(x) &&
                  ga_length(ga_pad(x, GA_SHAPE(1, 2), .mode = "edge"), 0) == 103 &&
                  ga_item_double(ga_roll(x, 1), 0) == 99 && ga_length(ga_repeat(x, 2), 0) == 200,
              "joined arrays");
        gpuarray *last = ga_arange(GA_INT64, 99, 97, -1), *top = ga_take(x, last, GA_AXIS(0));
        check(ga_item_double(ga_index(x, last), 1) == 98 && ga_item_double(top, 0) == 99 &&
                  ga_length(ga_index(x, GA_RANGE(0, 3, 1), GA_NEWAXIS), 0) == 3 &&
                  ga_put(top, ga_arange(GA_INT64, 0, 1, 1), 5, .mode = GA_CLIP) == GA_OK &&
                  ga_index_add(top, 0, ga_arange(GA_INT64, 0, 2, 1)) == GA_OK &&
                  ga_index_set(top, 7, 1) == GA_OK && ga_item_double(ga_sum(top)) == 12,
              "indexed arrays");
    }
}

static void ranks(void)
{
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_linspace(GA_FLOAT64, 0, 99, 100), GA_SHAPE(4, 25)), *values,
                 *indices;
        const double numbers[] = {0.25, 0.75};
        gpuarray *q = ga_from_host(numbers, GA_FLOAT64, GA_SHAPE(2));
        check(ga_item_double(ga_median(x)) == 49.5, "a median");
        check(ga_ndim(ga_nanmedian(x, GA_AXIS(0), .keepdims = true)) == 2, "kept axes");
        check(ga_item_double(ga_quantile(x, 0.5)) == 49.5, "a quantile");
        check(ga_item_double(ga_percentile(x, 90, .method = "lower")) == 89, "a percentile");
        check(ga_shape(ga_quantile(x, q, GA_AXIS(1), .method = "hazen"))[0] == 2, "two quantiles");
        check(ga_shape(ga_nanquantile(x, q, GA_AXIS(0)))[1] == 25, "of columns");
        check(ga_item_double(ga_slice(ga_partition(x, 7, .flat = true), "7")) == 7, "a partition");
        check(ga_item_int64(ga_slice(ga_argpartition(x, 1, GA_AXIS(0)), "1, 3")) == 1, "its index");
        check(ga_topk(x, 2, &values, &indices, GA_AXIS(0)) == GA_OK, "the first elements");
        check(ga_topk(x, 3, &values, NULL, .smallest = true) == GA_OK, "the least elements");
        check(ga_item_double(ga_slice(values, "2, 2")) == 52, "their order");
    }
}

static void kernels(void)
{
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, 0, 99, 100), *y = ga_ones(GA_FLOAT32, GA_SHAPE(100));
        gpuarray *z = ga_empty_like(x);
        ga_kernel *lin_comb =
            ga_elementwise_kernel("float a, float *x, float b, float *y, float *z",
                                  "z[i] = a*x[i] + b*y[i]", "linear_combination");
        ga_run(lin_comb, 5, x, 6, y, z);
        check(ga_item_double(ga_slice(z, "%d", 99)) == 501.0, "the linear combination");
        ga_kernel *sqdiff = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "(x[i]-y[i])*(x[i]-y[i])",
                                                "float *x, float *y", "sqdiff");
        gpuarray *d = ga_reduce(sqdiff, x, y);
        check(ga_item_double(d) == 98.0 * 99 * 197 / 6 + 1, "the squared difference");
        ga_kernel *count = ga_reduction_kernel(
            GA_INT64, "0", "a+b", "is_even(x[i])", "float *x", "evens",
            .preamble = "__device__ int is_even(float v) { return (int)v % 2 == 0; }");
        check(ga_item_int64(ga_reduce(count, x)) == 50, "a kernel with an option");
        ga_kernel_free(lin_comb);
        ga_kernel_free(sqdiff);
        ga_kernel_free(count);
    }
}

static void modules(void)
{
    ga_module *m = ga_module_compile(
        "#include \"shift.h\"\n"
        "__constant__ float offset[2];\n"
        "struct range { long long begin, end; };\n"
        "__global__ void shift(float *x, range r, float by) {\n"
        "    long long i = r.begin + blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < r.end) x[i] = SHIFTED(x[i]) + by + offset[1];\n"
        "}\n",
        .name = "shifts", .options = "-DFACTOR=2",
        .headers = GA_HEADERS({"shift.h", "#define SHIFTED(x) (FACTOR * (x))\n"}));
    ga_kernel *shift = ga_module_kernel(m, "shift");
    const struct {
        long long begin, end;
    } range = {2, 5};
    float host[4] = {1, 2, 3, 4};
    ga_kernel_properties properties;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(6));
        ga_assign(ga_view(ga_module_global(m, "offset"), GA_FLOAT32), 100);
        ga_launch(shift, GA_DIM(2), GA_DIM(32, 1, 1), x, GA_STRUCT(range), 0.5f);
        check(ga_item_double(ga_sum(x)) == 3 + 3 * 102.5, "a launch");
        ga_launch_with(shift, GA_DIM(1), GA_DIM(32), GA_WITH(.shared_bytes = 64),
                       GA_INOUT(host, sizeof host), GA_STRUCT(range), 0.0f);
        check(host[1] == 2 && host[2] == 106 && host[3] == 108, "host memory");
        check(ga_kernel_info(shift, &properties) == GA_OK && properties.parameters == 3, "info");
        check(ga_launch(shift, GA_DIM(1), GA_DIM(32), x, GA_STRUCT(range), 1.0) == GA_ERR_INVALID,
              "a double is no float");
        ga_clear_error();
    }
    ga_module_free(m);
}

static void numbers(void)
{
    GA_SCOPE {
        gpuarray *x = ga_full(GA_INT8, GA_SHAPE(2, 3), 7);
        check(ga_dtype_of(ga_add(x, 1)) == GA_INT8, "an int is weak");
        check(ga_dtype_of(ga_add(x, 1.0)) == GA_FLOAT64, "a double is of another kind");
        check(ga_dtype_of(ga_add(x, ga_scalar(GA_INT32, 1))) == GA_INT32, "a 0-d array is strong");
        gpuarray *z = ga_add(x, 2.0 * I);
        check(ga_dtype_of(z) == GA_COMPLEX128 && cimag(ga_item_complex(ga_slice(z, "0, 0"))) == 2.0,
              "complex");
        check(ga_assign(ga_slice(x, ":, 1"), 1) == GA_OK && ga_item_int64(ga_sum(x)) == 30,
              "assign");
        check(ga_add_into(x, x, x) == GA_OK && ga_item_int64(ga_max(x)) == 14, "into");
    }
}

static ga_status count_up(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user;
    for (int64_t k = 0; k < count; k++)
        ((float *)elements)[k] = (float)(first + k);
    return GA_OK;
}

static void sources(void)
{
    GA_SCOPE {
        ga_source *x = ga_source_new(GA_FLOAT32, GA_SHAPE(100, 10), count_up, NULL);
        const ga_source *same = x;
        const ga_chunks chunks = {.bytes = 400};
        gpuarray *r =
            ga_eval_chunked(&chunks, "sum(x - same) + max(a*x)", GA(x), GA(same), GA_NAMED("a", 2));
        check(ga_item_double(r) == 1998.0, "a source in chunks");
        check(ga_item_int64(ga_eval_chunked(NULL, "3")) == 3, "no source in chunks");
        char *plan = ga_explain_chunked(&chunks, "x - 1", GA(x));
        check(plan && strstr(plan, "chunks"), "how a source is cut");
        free(plan);
        check(ga_eval_save("/nonexistent/r.npy", &chunks, "x", GA(x)) == GA_ERR_IO, "no folder");
        ga_clear_error();
        ga_source_free(x);
    }
}

static void expressions(void)
{
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, 0, 3, 4), *y = ga_ones(GA_FLOAT32, GA_SHAPE(2, 1));
        const gpuarray *fixed = x;
        gpuarray *r = ga_eval("sqrt(x*x + y*y - 1)", GA(x), GA(y));
        check(ga_ndim(r) == 2 && ga_item_double(ga_sum(r)) == 12.0, "an expression");
        check(ga_item_int64(ga_eval("1 + 2")) == 3, "an expression of numbers");
        check(ga_item_double(ga_eval("sum(a*fixed)", GA(fixed), GA_NAMED("a", 2))) == 12.0,
              "a map and a sum");
        check(ga_eval_into(x, "x + 1", GA(x)) == GA_OK && ga_item_double(ga_max(x)) == 4.0,
              "into itself");
        check(ga_eval_into(x, "7") == GA_OK && ga_item_double(ga_min(x)) == 7.0, "a number into");
        ga_expr *e = ga_compile_expr("n ** 2");
        check(ga_item_int64(ga_eval_expr(e, GA_NAMED("n", 5))) == 25, "a parsed expression");
        ga_expr_free(e);
        e = ga_compile_fast_expr("x / 2");
        check(ga_eval_expr_into(x, e, GA(x)) == GA_OK && ga_item_double(ga_max(x)) == 3.5,
              "a parsed expression into");
        ga_expr_free(e);
        char *plan = ga_explain("mean(x)", GA(x)), *none = ga_explain("2");
        check(plan && none, "a plan");
        free(plan);
        free(none);
        check(!ga_eval("x +", GA(x)) && ga_error() == GA_ERR_INVALID, "a mistake");
        ga_clear_error();
    }
}

static gpuarray *early(int leave)
{
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT64, GA_SHAPE(3));
        if (leave)
            return ga_keep(x);
    }
    return NULL;
}

static void ownership(void)
{
    gpuarray *x = early(1);
    check(ga_size(x) == 3, "a kept array outlives its scope");
    check(early(0) == NULL, "a scope closes");
    gpuarray *view = ga_slice(x, "1:");
    ga_free(x);
    gpuarray *sum = ga_sum(view);
    check(ga_item_double(sum) == 2.0, "a view keeps the memory");
    ga_free(sum);
    ga_free(view);
}

static void random_numbers(void)
{
    GA_SCOPE {
        ga_rng *rng = ga_rng_new(1);
        gpuarray *x = ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(1000));
        check(ga_item_double(ga_max(x)) < 1.0, "numbers below 1");
        gpuarray *dice = ga_rng_integers_endpoint(rng, GA_INT8, 1, 6, GA_SHAPE(10, 100));
        check(ga_item_int64(ga_min(dice)) == 1 && ga_item_int64(ga_max(dice)) == 6, "dice");
        ga_random_seed(5);
        check(ga_size(ga_random(GA_SHAPE(2, 3))) == 6, "the default generator");
        ga_rng_free(rng);
    }
}

static void streams_and_graphs(void)
{
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(1000));
        ga_stream *stream = ga_stream_new();
        ga_graph *graph;
        check(ga_set_stream(stream) == GA_OK && ga_add_into(x, x, 1) == GA_OK, "a stream");
        GA_GRAPH(graph)
        {
            ga_multiply_into(x, x, 2);
        }
        check(ga_graph_launch(graph) == GA_OK && ga_graph_launch(graph) == GA_OK, "a graph");
        check(ga_set_stream(NULL) == GA_OK && ga_item_double(ga_max(x)) == 8.0, "their order");
        ga_graph_free(graph);
        ga_stream_free(stream);
        ga_memory_stats memory;
        check(ga_memory_info(NULL, &memory) == GA_OK && memory.used >= 4000, "memory");
    }
}

static void errors(void)
{
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4));
        gpuarray *bad = ga_sin(ga_add(x, ga_ones(GA_FLOAT32, GA_SHAPE(5))));
        check(bad == NULL && ga_error() == GA_ERR_SHAPE, "an error comes through the chain");
        ga_clear_error();
    }
}

int main(void)
{
    slopes();
    indices();
    ranks();
    kernels();
    modules();
    numbers();
    expressions();
    sources();
    ownership();
    random_numbers();
    streams_and_graphs();
    errors();
    printf("quarry %s on %s: %s\n", ga_version(), ga_device_name(NULL), wrong ? "wrong" : "right");
    return wrong || ga_error() != GA_OK;
}
