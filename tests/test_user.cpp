/* A program as C++ users write it: the public header alone, run and checked. */
#include <quarry.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>

static int wrong;

static void check(bool right, const char *what)
{
    if (right)
        return;
    std::fprintf(stderr, "wrong: %s (%s)\n", what, ga_error_message());
    wrong++;
}

static void slopes()
{
    float host[20 * 30];
    for (int i = 0; i < 600; i++)
        host[i] = static_cast<float>(3 * (i / 30) + 4 * (i % 30));
    GA_SCOPE {
        gpuarray *z = ga_from_host(host, GA_FLOAT32, GA_SHAPE(20, 30));
        gpuarray *dx =
            ga_multiply(0.5, ga_subtract(ga_slice(z, "1:-1, 2:"), ga_slice(z, "1:-1, :-2")));
        gpuarray *dy =
            ga_multiply(0.5, ga_subtract(ga_slice(z, "2:, 1:-1"), ga_slice(z, ":-2, 1:-1")));
        gpuarray *slope = ga_hypot(dx, dy);
        check(ga_item_int64(ga_sum(ga_greater(slope, 4.5))) == 18 * 28, "every cell is steep");
        const int axes[] = {1};
        ga_reduce_args args = {};
        args.x = slope;
        args.naxes = 1;
        args.axes = axes;
        args.keepdims = true;
        gpuarray *rows = ga_max(args);
        check(ga_ndim(rows) == 2 && ga_shape(rows)[0] == 18 && ga_shape(rows)[1] == 1, "kept axes");
        check(ga_item_double(ga_mean(slope)) == 5.0, "the mean slope");
        ga_sort_args order = {};
        order.x = dx;
        order.naxes = 1;
        order.axes = axes;
        order.descending = true;
        check(ga_size(ga_sort(order)) == ga_size(dx) && ga_argsort(slope) &&
                  ga_lexsort(GA_ARRAYS(dx, dy)),
              "sorts");
        gpuarray *counts = nullptr, *edges = nullptr;
        check(ga_histogram(slope, 3, &counts, &edges) == GA_OK && ga_size(edges) == 4, "bins");
        check(ga_item_int64(ga_searchsorted(edges, 9.0)) == 4, "a search");
        check(ga_item_double(ga_interp(ga_item_double(ga_slice(edges, "1")), edges, edges)) ==
                  ga_item_double(ga_slice(edges, "1")),
              "a line between points");
        ga_unique_args unique = {};
        unique.x = slope;
        unique.counts = &counts;
        check(ga_size(ga_unique(unique)) == 1 && ga_item_int64(counts) == 18 * 28, "a set");
        check(ga_size(ga_union1d(dx, dy)) == 2 && ga_size(ga_setdiff1d(dx, dy)) == 1 &&
                  ga_item_bool(ga_all(ga_isin(dx, dx))) && ga_size(ga_unique(dy)) == 1,
              "sets");
        gpuarray *gram = ga_einsum("ij,kj->ik", GA_ARRAYS(slope, slope));
        ga_einsum_args einsum = {};
        const gpuarray *factors[] = {slope, slope};
        einsum.subscripts = "ij,ij->";
        einsum.count = 2;
        einsum.operands = factors;
        check(ga_allclose(ga_trace(gram, 0, 0, 1), ga_einsum(einsum)) &&
                  ga_allclose(ga_tensordot(slope, slope, 2), ga_vdot(slope, slope)) &&
                  ga_allclose(ga_tensordot(slope, slope, GA_AXES(1), GA_AXES(1)), gram) &&
                  ga_allclose(ga_vecdot(slope, slope), ga_diagonal(gram, 0, 0, 1)) &&
                  ga_size(ga_outer(slope, ga_ones(GA_FLOAT32, GA_SHAPE(2)))) == 2 * ga_size(slope),
              "sums of products");
        check(ga_mode(dx, &counts, nullptr) == GA_OK && ga_item_double(counts) == 4, "a mode");
    }
}

static void indices()
{
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT64, 0, 99, 100);
        check(ga_length(ga_concatenate(GA_ARRAYS(x, x)), 0) == 200 &&
                  ga_length(ga_delete(x, 1), 0) == 99 &&
                  ga_length(ga_insert(x, 1, 2.0), 0) == 101 &&
                  ga_length(ga_gradient(x), 0) == 100 &&
                  ga_size(ga_convolve(ga_ravel(x), ga_ravel(x), {"same"})) == ga_size(x) &&
                  ga_result_type_of(x, 2) == ga_dtype_of(x) &&
                  ga_length(ga_pad(x, GA_SHAPE(1, 2)), 0) == 103 &&
                  ga_item_double(ga_roll(x, 1), 0) == 99 && ga_length(ga_repeat(x, 2), 0) == 200 &&
                  ga_length(ga_diff(x, 1), 0) == 99 && ga_length(ga_append(x, x), 0) == 200,
              "joined arrays");
        gpuarray *last = ga_arange(GA_INT64, 99, 97, -1), *top = ga_take(x, last);
        check(ga_item_double(ga_index(x, last), 1) == 98 && ga_item_double(top, 0) == 99 &&
                  ga_length(ga_index(x, GA_RANGE(0, 3, 1), GA_NEWAXIS), 0) == 3 &&
                  ga_put(top, ga_arange(GA_INT64, 0, 1, 1), 5) == GA_OK &&
                  ga_index_add(top, 0, ga_arange(GA_INT64, 0, 2, 1)) == GA_OK &&
                  ga_index_set(top, 7, 1) == GA_OK && ga_item_double(ga_sum(top)) == 12,
              "indexed arrays");
        ga_take_args args = {};
        args.x = x;
        args.indices = last;
        args.mode = GA_CLIP;
        check(ga_size(ga_take(args)) == 2, "a struct");
    }
}

static void ranks()
{
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_linspace(GA_FLOAT64, 0, 99, 100), GA_SHAPE(4, 25));
        gpuarray *values = nullptr, *indices = nullptr;
        const int axes[] = {0};
        check(ga_item_double(ga_median(x)) == 49.5, "a median");
        check(ga_item_double(ga_quantile(x, 0.5)) == 49.5, "a quantile");
        check(ga_item_double(ga_slice(ga_partition(x, 3), "2, 3")) == 53, "a partition");
        check(ga_topk(x, 2, &values, &indices) == GA_OK, "the first elements");
        ga_quantile_args args = {};
        args.x = x;
        args.q = GA_V(1);
        args.naxes = 1;
        args.axes = axes;
        args.method = "lower";
        check(ga_item_double(ga_slice(ga_quantile(args), "24")) == 99, "a struct of options");
    }
}

static void kernels()
{
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, 0, 99, 100);
        gpuarray *y = ga_ones(GA_FLOAT32, GA_SHAPE(100));
        gpuarray *z = ga_empty_like(x);
        ga_kernel *lin_comb =
            ga_elementwise_kernel("float a, float *x, float b, float *y, float *z",
                                  "z[i] = a*x[i] + b*y[i]", "linear_combination");
        check(ga_run(lin_comb, 5, x, 6, y, z) == GA_OK, "a run");
        check(ga_item_double(ga_slice(z, "%d", 99)) == 501.0, "the linear combination");
        ga_reduction_args args = {};
        args.dtype_out = GA_FLOAT32;
        args.neutral = "0";
        args.reduce_expr = "a+b";
        args.map_expr = "square(x[i]-y[i])";
        args.arguments = "float *x, float *y";
        args.preamble = "__device__ float square(float v) { return v * v; }";
        ga_kernel *sqdiff = ga_reduction_kernel(args);
        check(ga_item_double(ga_reduce(sqdiff, x, y)) == 98.0 * 99 * 197 / 6 + 1,
              "the squared difference");
        ga_kernel *prefix =
            ga_scan_kernel(GA_FLOAT32, "float *x", "x[i]", "a+b", "0", "x[i] = item", "prefix");
        check(ga_scan(prefix, x) == GA_OK && ga_item_double(ga_max(x)) == 4950, "a custom scan");
        ga_scan_args scan = {};
        scan.x = y;
        scan.exclusive = true;
        check(ga_item_double(ga_slice(ga_cumsum(scan), "99")) == 99, "a scan's options");
        check(ga_item_double(ga_slice(ga_cumsum(y), "99")) == 100, "a scan");
        ga_compress_args selection = {};
        selection.condition = selection.x = y;
        check(ga_size(ga_compress(selection)) == 100, "a selection");
        ga_kernel_free(prefix);
        ga_kernel_free(lin_comb);
        ga_kernel_free(sqdiff);
    }
}

static void modules()
{
    struct range {
        long long begin, end;
    };
    const ga_header headers[] = {{"factor.h", "#define FACTOR 2\n"}, {nullptr, nullptr}};
    ga_module_args args = {};
    args.source = "#include \"factor.h\"\n"
                  "struct range { long long begin, end; };\n"
                  "template <class T> __global__ void shift(T *x, range r, T by) {\n"
                  "    long long i = r.begin + blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "    if (i < r.end) x[i] = FACTOR * x[i] + by;\n"
                  "}\n";
    args.headers = headers;
    args.kernels = "shift<float>";
    ga_module *m = ga_module_compile(args);
    ga_kernel *shift = ga_module_kernel(m, "shift<float>");
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(6));
        const size_t blocks = 2;
        ga_launch(shift, GA_DIM(blocks), GA_DIM(32), x, GA_STRUCT(range{2, 5}), 0.5f);
        check(ga_item_double(ga_sum(x)) == 3 + 3 * 2.5, "a launch");
        ga_launch_options options = {};
        options.shared_bytes = 64;
        ga_launch_with(shift, GA_DIM(1), GA_DIM(32), options, ga_data(x), GA_STRUCT(range{0, 1}),
                       0.0f);
        check(ga_item_double(ga_slice(x, "0")) == 2.0, "a launch with options, over an address");
        float host[3] = {1, 2, 3};
        ga_launch(shift, GA_DIM(1), GA_DIM(32), GA_INOUT(host, sizeof host), GA_STRUCT(range{0, 3}),
                  1.0f);
        check(host[2] == 7.0f, "host memory");
        check(ga_launch(shift, GA_DIM(1), GA_DIM(32)) == GA_ERR_INVALID, "no arguments");
        ga_clear_error();
    }
    ga_module_free(m);
    m = ga_module_compile("__global__ void nothing() {}", "-DN=1", "nothing");
    check(ga_launch(ga_module_kernel(m, "nothing"), GA_DIM(1), GA_DIM(1)) == GA_OK, "no arguments");
    ga_module_free(m);
}

static void numbers()
{
    GA_SCOPE {
        gpuarray *x = ga_full(GA_INT8, 2, ga_shape(ga_zeros(GA_BOOL, GA_SHAPE(2, 3))), 7);
        check(ga_dtype_of(ga_add(x, 1)) == GA_INT8, "an int is weak");
        check(ga_dtype_of(ga_add(1.0, x)) == GA_FLOAT64, "a double is of another kind");
        check(ga_dtype_of(ga_add(x, std::complex<double>(0, 2))) == GA_COMPLEX128, "complex");
        check(ga_assign(ga_slice(x, ":, 1"), 1) == GA_OK && ga_item_int64(ga_sum(x)) == 30,
              "assign");
        check(ga_add_into(x, x, x) == GA_OK && ga_item_int64(ga_max(x)) == 14, "into");
        check(ga_sum(ga_transpose(x)) != nullptr, "a reduction of a view");
        check(ga_add(x, nullptr) == nullptr && ga_error() != GA_OK, "nullptr is an error");
        ga_clear_error();
    }
}

static ga_status count_up(void *, int64_t first, int64_t count, void *elements)
{
    for (int64_t k = 0; k < count; k++)
        static_cast<float *>(elements)[k] = static_cast<float>(first + k);
    return GA_OK;
}

static void sources()
{
    GA_SCOPE {
        ga_source *x = ga_source_new(GA_FLOAT32, GA_SHAPE(100, 10), count_up, nullptr);
        const ga_source *same = x;
        ga_chunks chunks = {};
        chunks.bytes = 400;
        gpuarray *r =
            ga_eval_chunked(&chunks, "sum(x - same) + max(a*x)", GA(x), GA(same), GA_NAMED("a", 2));
        check(ga_item_double(r) == 1998.0, "a source in chunks");
        char *plan = ga_explain_chunked(&chunks, "x - 1", GA(x));
        check(plan != nullptr, "how a source is cut");
        std::free(plan);
        check(ga_eval_save("/nonexistent/r.npy", &chunks, "x", GA(x)) == GA_ERR_IO, "no folder");
        ga_clear_error();
        ga_source_free(x);
    }
}

static void expressions()
{
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, 0, 3, 4);
        gpuarray *r = ga_eval("a*x + 1", GA(x), GA_NAMED("a", 2.0));
        check(ga_dtype_of(r) == GA_FLOAT32 && ga_item_double(ga_sum(r)) == 16.0, "an expression");
        check(ga_item_int64(ga_eval("1 + 2")) == 3, "an expression of numbers");
        check(ga_eval_into(x, "x + 1", GA(x)) == GA_OK, "into itself");
        check(ga_eval_into(x, "7") == GA_OK && ga_item_double(ga_min(x)) == 7.0, "a number into");
        ga_expr *e = ga_compile_expr("n ** 2");
        check(ga_item_int64(ga_eval_expr(e, GA_NAMED("n", 5))) == 25, "a parsed expression");
        ga_expr_free(e);
        e = ga_compile_fast_expr("x / 2");
        check(ga_eval_expr_into(x, e, GA(x)) == GA_OK && ga_item_double(ga_max(x)) == 3.5,
              "a parsed expression into");
        ga_expr_free(e);
        char *plan = ga_explain("mean(x)", GA(x));
        check(plan != nullptr, "a plan");
        std::free(plan);
    }
}

static void random_numbers()
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

static void text()
{
    GA_SCOPE {
        ga_print_options options = {};
        options.precision = 2;
        gpuarray *x = ga_divide(ga_ones(GA_FLOAT64, GA_SHAPE(2)), 3);
#if __cplusplus >= 202002L
        check(ga_set_print_options(.precision = 2) == GA_OK, "print options");
        check((ga_set_print_options)(sizeof options, &options) == GA_OK, "the struct");
#else
        check(ga_set_print_options(options) == GA_OK, "print options");
#endif
        char *shown = ga_format(x);
        check(shown != nullptr && std::string(shown) == "[0.33 0.33]", "two digits");
        std::free(shown);
        ga_set_print_options();
    }
}

static void streams_and_graphs()
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
        check(ga_set_stream(nullptr) == GA_OK && ga_item_double(ga_max(x)) == 8.0, "their order");
        ga_graph_free(graph);
        ga_stream_free(stream);
        ga_memory_stats memory;
        check(ga_memory_info(nullptr, &memory) == GA_OK && memory.used >= 4000, "memory");
    }
}

int main()
{
    slopes();
    indices();
    ranks();
    kernels();
    modules();
    numbers();
    expressions();
    sources();
    random_numbers();
    text();
    streams_and_graphs();
    std::printf("quarry %s on %s: %s\n", ga_version(), ga_device_name(nullptr),
                wrong ? "wrong" : "right");
    return wrong || ga_error() != GA_OK;
}
