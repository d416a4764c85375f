/* Tests of launching modules' kernels: arguments, host memory, shapes, streams, graphs, errors. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "array_support.h"
#include "children.h"
#include "golden.h"
#include "run.h"

static ga_module *module;

static int clear(void **state)
{
    (void)state;
    ga_set_stream(NULL);
    ga_clear_error();
    return 0;
}

static ga_kernel *kernel(const char *name)
{
    ga_kernel *k = ga_module_kernel(module, name);
    if (!k)
        fail_msg("%s", ga_error_message());
    return k;
}

static const char *const kernels =
    "struct pair { float x; double y; char name[11]; };\n"
    "extern \"C\" __global__ void integers(long long *out, bool a, char b, signed char c,\n"
    "    unsigned char d, short e, unsigned short f, int g, unsigned h, long i, unsigned long j,\n"
    "    long long k, unsigned long long l) {\n"
    "    long long all[] = {a, b, c, d, e, f, g, h, i, (long long)j, k, (long long)l};\n"
    "    for (int n = 0; n < 12; n++) out[n] = all[n];\n"
    "}\n"
    "struct complex64 { float re, im; };\n"
    "struct alignas(16) complex128 { double re, im; };\n"
    "extern \"C\" __global__ void floats(double *out, float a, double b, complex64 c, complex128 "
    "d) {\n"
    "    double all[] = {a, b, c.re, c.im, d.re, d.im};\n"
    "    for (int n = 0; n < 6; n++) out[n] = all[n];\n"
    "}\n"
    "extern \"C\" __global__ void take_pair(double *out, pair p, int last) {\n"
    "    out[0] = p.x; out[1] = p.y; out[2] = p.name[0]; out[3] = p.name[10]; out[4] = last;\n"
    "}\n"
    "extern \"C\" __global__ void add_one(int *x, long long n) {\n"
    "    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
    "         i += gridDim.x * blockDim.x)\n"
    "        x[i] += 1;\n"
    "}\n"
    "extern \"C\" __global__ void add(float *sum, const float *a, const float *b) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    sum[i] = a[i] + b[i];\n"
    "}\n"
    "extern \"C\" __global__ void where(int *out) {\n"
    "    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
    "    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
    "    int at = block * blockDim.x * blockDim.y * blockDim.z + thread;\n"
    "    out[at] = at + 1;\n"
    "}\n"
    "extern \"C\" __global__ void reverse(int *x) {\n"
    "    extern __shared__ int held[];\n"
    "    held[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void nothing() {}\n"
    "extern \"C\" __global__ void is_null(int *out, const float *p) { *out = p == nullptr; }\n"
    "extern \"C\" __global__ void __launch_bounds__(96) bounded(float *x) { x[threadIdx.x] = 1; }\n"
    "extern \"C\" __global__ void fixed_shared(float *x) {\n"
    "    __shared__ float held[1000];\n"
    "    held[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = held[threadIdx.x ^ 1];\n"
    "}\n"
    "extern \"C\" __global__ void many(int *out, char a, char b, char c, char d, char e, char f,\n"
    "    char g, char h, char i, char j, char k, char l, char m, char n, char o, char p, char q,\n"
    "    char r, char s, char t, char u, char v, char w, char x, char y, char z, char a1, char "
    "a2,\n"
    "    char a3, char a4, char a5) {\n"
    "    *out = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t + u "
    "+\n"
    "           v + w + x + y + z + a1 + a2 + a3 + a4 + 100 * a5;\n"
    "}\n";

/* Fails the test with the message if a call failed. */
static void ok(ga_status status)
{
    if (status != GA_OK || ga_error() != GA_OK)
        fail_msg("%s: %s", ga_status_name(status), ga_error_message());
}

/* ---- Arguments ---- */

static void numbers_arrive_in_their_exact_type(void **state)
{
    (void)state;
    long long out[12];
    const long long expected[12] = {1,  'b',        -3, 200, -30000,    60000,
                                    -7, 4000000000, -9, 10,  INT64_MIN, -1};
    ok(ga_launch(kernel("integers"), GA_DIM(1), GA_DIM(1), GA_OUT(out, sizeof out), (bool)true,
                 (char)'b', (signed char)-3, (unsigned char)200, (short)-30000,
                 (unsigned short)60000, -7, 4000000000u, -9L, 10UL, (long long)INT64_MIN, ~0ULL));
    assert_elements(GA_INT64, 12, out, expected);
    double real[6];
    const double expected_real[6] = {(double)0.1f, 0.1, (double)2.5f, -1, 1e300, -0.3};
    float _Complex c;
    double _Complex d;
    ((float *)&c)[0] = 2.5f, ((float *)&c)[1] = -1;
    ((double *)&d)[0] = 1e300, ((double *)&d)[1] = -0.3;
    ok(ga_launch(kernel("floats"), GA_DIM(1), GA_DIM(1), GA_OUT(real, sizeof real), 0.1f, 0.1, c,
                 d));
    assert_elements(GA_FLOAT64, (int64_t)(sizeof real / sizeof *real), real, expected_real);
}

struct pair {
    float x;
    double y;
    char name[11];
};

static void structs_arrive_as_bytes(void **state)
{
    (void)state;
    double out[5];
    const double expected[5] = {1.5, 2.5, 'n', 'e', 77};
    const struct pair p = {1.5f, 2.5, {'n', 0, 0, 0, 0, 0, 0, 0, 0, 0, 'e'}};
    ok(ga_launch(kernel("take_pair"), GA_DIM(1), GA_DIM(1), GA_OUT(out, sizeof out), GA_STRUCT(p),
                 77));
    assert_elements(GA_FLOAT64, 5, out, expected);
    ok(ga_launch(kernel("take_pair"), GA_DIM(1), GA_DIM(1), GA_OUT(out, sizeof out),
                 GA_STRUCT((struct pair){.x = 3, .name = "n"}), GA_STRUCT((int){5})));
    assert_true(out[0] == 3 && out[1] == 0 && out[2] == 'n' && out[3] == 0 && out[4] == 5);
}

static void arrays_are_their_first_elements_address(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(1000));
        ga_launch(kernel("add_one"), GA_DIM(3), GA_DIM(128), x, (long long)ga_size(x));
        assert_int_equal(ga_item_int64(ga_sum(x)), 1000);
        gpuarray *tail = ga_slice(x, "990:");
        ga_launch(kernel("add_one"), GA_DIM(1), GA_DIM(32), tail, (long long)ga_size(tail));
        assert_int_equal(ga_item_int64(ga_sum(x)), 1010);
        assert_int_equal(ga_item_int64(ga_slice(x, "990")), 2);
        ga_launch(kernel("add_one"), GA_DIM(1), GA_DIM(32), ga_data(x), 3LL);
        assert_int_equal(ga_item_int64(ga_sum(x)), 1013);
        const gpuarray *fixed = x;
        ga_launch(kernel("add_one"), GA_DIM(1), GA_DIM(32), fixed, 1LL);
        assert_int_equal(ga_item_int64(ga_sum(x)), 1014);
        int is_null = -1;
        gpuarray *empty = ga_empty(GA_FLOAT32, GA_SHAPE(0));
        ga_launch(kernel("is_null"), GA_DIM(1), GA_DIM(1), GA_OUT(&is_null, sizeof is_null), empty);
        assert_int_equal(is_null, 1);
        ga_launch(kernel("is_null"), GA_DIM(1), GA_DIM(1), GA_OUT(&is_null, sizeof is_null),
                  UINT64_C(0));
        assert_int_equal(is_null, 1);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void there_may_be_none_or_many(void **state)
{
    (void)state;
    int out = 0;
    const char c = 1;
    ok(ga_launch(kernel("nothing"), GA_DIM(1), GA_DIM(1)));
    assert_int_equal(
        ga_launch_with(kernel("nothing"), GA_DIM(2), GA_DIM(3), GA_WITH(.stream = NULL)), GA_OK);
    ok(ga_launch(kernel("many"), GA_DIM(1), GA_DIM(1), GA_OUT(&out, sizeof out), c, c, c, c, c, c,
                 c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c));
    assert_int_equal(out, 130);
}

/* ---- Host memory ---- */

static void host_memory_goes_there_and_back(void **state)
{
    (void)state;
    enum { N = 400 };
    float a[N], b[N], sum[N], a_before[N], wanted[N];
    for (int i = 0; i < N; i++) {
        a[i] = a_before[i] = (float)i;
        wanted[i] = 1001.0f * (float)i;
        b[i] = 1000.0f * (float)i;
        sum[i] = -1;
    }
    ok(ga_launch(kernel("add"), GA_DIM(4), GA_DIM(100), GA_OUT(sum, sizeof sum), GA_IN(a, sizeof a),
                 GA_IN(b, sizeof b)));
    assert_elements(GA_FLOAT32, N, sum, wanted);
    assert_elements(GA_FLOAT32, N, a, a_before);
}

/* Around the sizes at which the copy method changes. */
static void host_memory_of_every_size_arrives(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1,
                                    63,
                                    4096,
                                    4097,
                                    16383,
                                    16385,
                                    (64 << 8),
                                    (64 << 8) + 1,
                                    (1 << 18) + 3,
                                    1 << 20,
                                    (1 << 20) + 1,
                                    3000001};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t n = sizes[k];
        const size_t nbytes = (size_t)n * sizeof(int);
        int *x = malloc(nbytes);
        for (int64_t i = 0; i < n; i++)
            x[i] = (int)(i * 7);
        ok(ga_launch(kernel("add_one"), GA_DIM((n + 255) / 256), GA_DIM(256), GA_INOUT(x, nbytes),
                     (long long)n));
        for (int64_t i = 0; i < n; i++)
            if (x[i] != (int)(i * 7) + 1)
                fail_msg("%lld elements: [%lld] is %d", (long long)n, (long long)i, x[i]);
        free(x);
    }
    int untouched = 5;
    assert_int_equal(
        ga_launch(kernel("add_one"), GA_DIM(1), GA_DIM(1), GA_INOUT(&untouched, 0), 0LL), GA_OK);
    ok(ga_launch(kernel("add_one"), GA_DIM(1), GA_DIM(1), GA_INOUT(NULL, 0), 0LL));
    assert_int_equal(untouched, 5);
}

/* IN memory may be reused when the launch returns, although the kernel may not have run yet. */
static void in_memory_may_change_at_once(void **state)
{
    (void)state;
    enum { N = 300000, ROUNDS = 20 };
    float *a = malloc(N * sizeof *a), *b = calloc(N, sizeof *b);
    gpuarray *sums[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            a[i] = (float)(round + 1);
        sums[round] = ga_empty(GA_FLOAT32, GA_SHAPE(N));
        ok(ga_launch(kernel("add"), GA_DIM(N / 100), GA_DIM(100), sums[round],
                     GA_IN(a, N * sizeof *a), GA_IN(b, N * sizeof *b)));
        memset(a, 0xff, N * sizeof *a);
    }
    for (int round = 0; round < ROUNDS; round++) {
        gpuarray *least = ga_min(sums[round]), *most = ga_max(sums[round]);
        assert_true(ga_item_double(least) == round + 1 && ga_item_double(most) == round + 1);
        ga_free(least);
        ga_free(most);
        ga_free(sums[round]);
    }
    free(a);
    free(b);
}

/* ---- Shapes ---- */

static void grids_and_blocks_have_three_dimensions(void **state)
{
    (void)state;
    static const int64_t dims[][6] = {{1, 1, 1, 1, 1, 1}, {5, 1, 1, 7, 1, 1},
                                      {1, 4, 1, 1, 8, 1}, {1, 1, 3, 1, 1, 64},
                                      {2, 3, 4, 5, 6, 7}, {1, 1, 1, 1024, 1, 1}};
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        const int64_t *d = dims[k], n = d[0] * d[1] * d[2] * d[3] * d[4] * d[5];
        gpuarray *out = ga_zeros(GA_INT32, GA_SHAPE(n));
        assert_int_equal(
            ga_launch(kernel("where"), GA_DIM(d[0], d[1], d[2]), GA_DIM(d[3], d[4], d[5]), out),
            GA_OK);
        gpuarray *expected = ga_arange(GA_INT32, 1, (double)n + 1, 1);
        gpuarray *equal = ga_equal(out, expected), *all = ga_all(equal);
        assert_true(ga_item_bool(all));
        ga_free(all);
        ga_free(equal);
        ga_free(expected);
        ga_free(out);
    }
}

static void dynamic_shared_memory_is_there(void **state)
{
    (void)state;
    int x[256];
    for (int i = 0; i < 256; i++)
        x[i] = i;
    ok(ga_launch_with(kernel("reverse"), GA_DIM(1), GA_DIM(256), GA_WITH(.shared_bytes = sizeof x),
                      GA_INOUT(x, sizeof x)));
    for (int i = 0; i < 256; i++)
        assert_int_equal(x[i], 255 - i);
    ga_kernel_properties properties;
    ok(ga_kernel_info(kernel("reverse"), &properties));
    const size_t most = properties.max_shared_bytes - properties.shared_bytes;
    ok(ga_launch_with(kernel("reverse"), GA_DIM(1), GA_DIM(256), GA_WITH(.shared_bytes = most),
                      GA_INOUT(x, sizeof x)));
    assert_int_equal(x[3], 3);
}

static void properties_are_told(void **state)
{
    (void)state;
    ga_kernel_properties p;
    ok(ga_kernel_info(kernel("fixed_shared"), &p));
    assert_int_equal(p.parameters, 1);
    assert_true(p.shared_bytes >= 4000 && p.max_shared_bytes >= (48 << 10));
    assert_int_equal(p.max_threads, 1024);
    assert_true(p.suggested_block >= 32 && p.suggested_block <= 1024);
    assert_true(p.occupancy > 0.4 && p.occupancy <= 1.0);
    assert_true(on_host() ? p.registers == 0 : p.registers > 0 && p.registers < 256);
    ok(ga_kernel_info(kernel("bounded"), &p));
    assert_true(on_host() || p.max_threads == 96);
    assert_true(p.suggested_block <= p.max_threads);
    ok(ga_kernel_info(kernel("many"), &p));
    assert_int_equal(p.parameters, 32);
    assert_int_not_equal(ga_kernel_info(NULL, &p), GA_OK);
    assert_error(GA_ERR_INVALID, "kernel info: the kernel is NULL");
    assert_int_not_equal(ga_kernel_info(kernel("many"), NULL), GA_OK);
    assert_error(GA_ERR_INVALID, "many: the result is NULL");
}

/* ---- Streams and graphs ---- */

static void launches_go_to_streams_in_order(void **state)
{
    (void)state;
    ga_stream *a = ga_stream_new(), *b = ga_stream_new();
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(1 << 20));
    ga_kernel *k = kernel("add_one");
    for (int i = 0; i < 30; i++)
        ga_launch_with(k, GA_DIM(64), GA_DIM(256), GA_WITH(.stream = i % 2 ? a : b), x,
                       (long long)ga_size(x));
    ga_add_into(x, x, 1); /* on the default stream, behind them */
    ga_set_stream(a);
    ga_launch(k, GA_DIM(64), GA_DIM(256), x, (long long)ga_size(x));
    ga_set_stream(NULL);
    gpuarray *least = ga_min(x), *most = ga_max(x);
    assert_int_equal(ga_item_int64(least), 32);
    assert_int_equal(ga_item_int64(most), 32);
    int host[3] = {1, 2, 3};
    ga_launch_with(k, GA_DIM(1), GA_DIM(3), GA_WITH(.stream = b), GA_INOUT(host, sizeof host), 3LL);
    assert_true(host[0] == 2 && host[2] == 4);
    assert_int_equal(ga_error(), GA_OK);
    ga_free(least);
    ga_free(most);
    ga_free(x);
    ga_stream_free(a);
    ga_stream_free(b);
}

static void launches_are_recorded(void **state)
{
    (void)state;
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(1000));
    ga_kernel *k = kernel("add_one");
    ga_graph *graph;
    int host = 1;
    GA_GRAPH(graph)
    {
        ga_launch(k, GA_DIM(2), GA_DIM(256), x, (long long)ga_size(x));
        ga_multiply_into(x, x, 2);
    }
    assert_non_null(graph);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ga_graph_launch(graph), GA_OK);
    gpuarray *sum = ga_sum(x);
    assert_int_equal(ga_item_int64(sum), 14 * 1000);
    ga_graph_free(graph);
    GA_GRAPH(graph)
    {
        assert_int_equal(ga_launch(k, GA_DIM(1), GA_DIM(1), GA_INOUT(&host, sizeof host), 1LL),
                         GA_ERR_UNSUPPORTED);
    }
    assert_null(graph);
    assert_error(GA_ERR_UNSUPPORTED, "add_one: cannot be recorded");
    assert_int_equal(host, 1);
    ga_free(sum);
    ga_free(x);
}

/* ---- Errors: nothing is launched ---- */

static void wrong_arguments_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(10));
        ga_kernel *k = kernel("add_one"), *f = kernel("floats");
        ga_launch(k, GA_DIM(1), GA_DIM(32), x);
        assert_error(GA_ERR_INVALID, "add_one: takes 2 arguments, not 1");
        ga_launch(k, GA_DIM(1), GA_DIM(32), x, 10LL, 3);
        assert_error(GA_ERR_INVALID, "add_one: takes 2 arguments, not 3");
        ga_launch(k, GA_DIM(1), GA_DIM(32), x, 10);
        assert_error(GA_ERR_INVALID,
                     "add_one: argument 2 is int32 of 4 bytes, the kernel's parameter has 8");
        ga_launch(f, GA_DIM(1), GA_DIM(1), x, 1.0, 1.0, 1.0, 1.0);
        assert_error(GA_ERR_INVALID,
                     "floats: argument 2 is float64 of 8 bytes, the kernel's parameter has 4");
        ga_launch(k, GA_DIM(1), GA_DIM(32), 1, 10LL);
        assert_error(GA_ERR_INVALID,
                     "argument 1 is int32 of 4 bytes, the kernel's parameter has 8");
        ga_launch(f, GA_DIM(1), GA_DIM(1), x, x, 1.0, 1.0, 1.0);
        assert_error(GA_ERR_INVALID,
                     "argument 2 is an array's address of 8 bytes, the kernel's parameter has 4");
        ga_launch(f, GA_DIM(1), GA_DIM(1), x, GA_STRUCT((struct pair){.x = 1}), 1.0, 1.0, 1.0);
        assert_error(GA_ERR_INVALID,
                     "argument 2 is a struct of 32 bytes, the kernel's parameter has 4");
        ga_launch(k, GA_DIM(1), GA_DIM(32), GA_IN(NULL, 40), 10LL);
        assert_error(GA_ERR_INVALID, "argument 1 is NULL memory of 40 bytes");
        ga_launch(k, GA_DIM(1), GA_DIM(32), (gpuarray *)NULL, 10LL);
        assert_error(GA_ERR_INVALID, "add_one: argument 1 is NULL");
        ga_launch(k, GA_DIM(1), GA_DIM(32), ga_add(x, ga_zeros(GA_INT32, GA_SHAPE(3))), 10LL);
        assert_error(GA_ERR_SHAPE, "do not broadcast");
        assert_int_equal(ga_item_int64(ga_sum(x)), 0);
    }
}

static void wrong_shapes_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(10));
        ga_kernel *k = kernel("where");
        ga_launch(k, GA_DIM(0), GA_DIM(32), x);
        assert_error(GA_ERR_INVALID, "where: the grid is (0, 1, 1), not from (1, 1, 1) to "
                                     "(2147483647, 65535, 65535)");
        ga_launch(k, GA_DIM(1, -1), GA_DIM(32), x);
        assert_error(GA_ERR_INVALID, "the grid is (1, -1, 1)");
        ga_launch(k, GA_DIM(1, 65536), GA_DIM(32), x);
        assert_error(GA_ERR_INVALID, "the grid is (1, 65536, 1)");
        ga_launch(k, GA_DIM(INT64_C(1) << 32), GA_DIM(32), x);
        assert_error(GA_ERR_INVALID, "the grid is (4294967296, 1, 1)");
        ga_launch(k, GA_DIM(1), GA_DIM(0), x);
        assert_error(GA_ERR_INVALID, "the block is (0, 1, 1)");
        ga_launch(k, GA_DIM(1), GA_DIM(1025), x);
        assert_error(GA_ERR_INVALID,
                     "the block is (1025, 1, 1), not from (1, 1, 1) to (1024, 1024, 64)");
        ga_launch(k, GA_DIM(1), GA_DIM(1, 1, 65), x);
        assert_error(GA_ERR_INVALID, "the block is (1, 1, 65)");
        ga_launch(k, GA_DIM(1), GA_DIM(33, 32), x);
        assert_error(GA_ERR_INVALID,
                     "where: a block of (33, 32, 1) has 1056 threads, the kernel allows 1024");
        ga_launch_with(kernel("fixed_shared"), GA_DIM(1), GA_DIM(2),
                       GA_WITH(.shared_bytes = 1 << 20), x);
        assert_error(GA_ERR_INVALID, "fixed_shared: 1048576 bytes of dynamic shared memory and the "
                                     "kernel's own");
        ga_kernel_properties p;
        ok(ga_kernel_info(kernel("fixed_shared"), &p));
        ga_launch_with(kernel("fixed_shared"), GA_DIM(1), GA_DIM(2),
                       GA_WITH(.shared_bytes = p.max_shared_bytes - p.shared_bytes + 1), x);
        assert_error(GA_ERR_INVALID, "fixed_shared: ");
        ga_launch_with(k, GA_DIM(1), GA_DIM(2), GA_WITH(.shared_bytes = SIZE_MAX), x);
        assert_error(GA_ERR_INVALID, "18446744073709551615 bytes of dynamic shared memory");
        assert_int_equal(ga_item_int64(ga_sum(x)), 0);
    }
}

static void other_kernels_run_by_other_functions(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(10));
        ga_kernel *elementwise = ga_elementwise_kernel("float *x", "x[i] = 1", "ones");
        ga_kernel *reduction =
            ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]", "float *x", "total");
        ga_launch(elementwise, GA_DIM(1), GA_DIM(10), x);
        assert_error(GA_ERR_INVALID, "ones: this is an elementwise kernel: run it with ga_run");
        ga_launch(reduction, GA_DIM(1), GA_DIM(10), x);
        assert_error(GA_ERR_INVALID, "total: this is a reduction kernel: run it with ga_reduce");
        ga_run(kernel("add"), x, x, x);
        assert_error(GA_ERR_INVALID, "add: this is a module's kernel: run it with ga_launch");
        assert_null(ga_reduce(kernel("add"), x));
        assert_error(GA_ERR_INVALID, "add: this is a module's kernel: run it with ga_launch");
        ga_launch(NULL, GA_DIM(1), GA_DIM(1), x);
        assert_error(GA_ERR_INVALID, "launch: the kernel is NULL");
        ga_kernel_free(elementwise);
        ga_kernel_free(reduction);
    }
}

static void arrays_of_other_devices_are_errors(void **state)
{
    (void)state;
    if (ga_device_count() == 0) {
        print_message("skipped: there is one device only\n");
        skip();
    }
    const char *here = ga_current_device(), *there = on_host() ? "cuda:0" : "cpu";
    char expected[80];
    assert_int_equal(ga_set_device(there), GA_OK);
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(10));
    assert_int_equal(ga_set_device(here), GA_OK);
    ga_launch(kernel("where"), GA_DIM(1), GA_DIM(10), x);
    snprintf(expected, sizeof expected, "where: argument 1 is on %s, the kernel on %s", there,
             here);
    assert_error(GA_ERR_DEVICE, expected);
    ga_free(x);
}

/* ---- A kernel that faults, in a process of its own ---- */

static const char *const faulty = "__global__ void stray(int *x) { x[threadIdx.x] = 1; }\n"
                                  "__global__ void trap() { __trap(); }\n"
                                  "__global__ void right(int *x) { *x = 1; }\n";

/* A GPU cannot continue; returns 0, or the number of the failed check. */
static int check_broken(ga_kernel *right)
{
    int host = 0;
    if (!strstr(ga_error_message(), "restarted") || strstr(ga_error_message(), "\"right\""))
        return 3;
    fprintf(stderr, "%s\n", ga_error_message());
    ga_clear_error();
    if (ga_launch(right, GA_DIM(1), GA_DIM(1), GA_OUT(&host, sizeof host)) == GA_OK)
        return 4;
    ga_clear_error();
    return ga_zeros(GA_INT32, GA_SHAPE(1 << 20)) || ga_error() != GA_ERR_DEVICE ? 5 : 0;
}

/* The host continues. */
static int check_whole(ga_kernel *right)
{
    int host = 0;
    ga_clear_error();
    ga_launch(right, GA_DIM(1), GA_DIM(1), GA_OUT(&host, sizeof host));
    return host == 1 ? 0 : 6;
}

/* Exits with 0 if all checks pass, otherwise with the number of the failed one. */
static int run_fault(const char *name)
{
    alarm(HANG_SECONDS);
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(4));
    ga_module *m = ga_module_compile(faulty, .name = "faulty");
    ga_kernel *bad = ga_module_kernel(m, name), *right = ga_module_kernel(m, "right");
    if (ga_launch(right, GA_DIM(1), GA_DIM(1), x) != GA_OK || ga_synchronize() != GA_OK) {
        fprintf(stderr, "%s\n", ga_error_message());
        return 1;
    }
    (void)(strcmp(name, "trap") == 0 ? ga_launch(bad, GA_DIM(1), GA_DIM(32))
                                     : ga_launch(bad, GA_DIM(1), GA_DIM(32), UINT64_C(64)));
    ga_synchronize();
    if (ga_error() != GA_ERR_DEVICE || !strstr(ga_error_message(), name))
        return 2;
    const int wrong = on_host() ? check_whole(right) : check_broken(right);
    ga_free(x);
    ga_module_free(m);
    return wrong;
}

static void a_fault_names_the_kernel_and_ends(void **state)
{
    (void)state;
    static const char *const names[] = {"trap", "stray"};
    for (int i = 0; i < (on_host() ? 1 : 2); i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/exe", (int)getpid());
        const pid_t child = fork();
        if (child == 0) {
            execl(path, "test_launch", "--fault", names[i], (char *)NULL);
            _exit(127);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("%s: status %x", names[i], status);
    }
}

/* ---- Packing and compiling without a GPU ---- */

#ifdef QUARRY_CUDA
#include "fake_device.h"

static void on_fake(int index)
{
    ga__use_device(&devices[index]);
    memset(&fake, 0, sizeof fake);
    fake.info.max_threads = 1024;
    fake.info.max_shared_bytes = 227 << 10;
}

static const char *const everything =
    "#include <cuda_fp16.h>\n"
    "#include \"mine.h\"\n"
    "__constant__ float table[64];\n"
    "namespace ns { template <class T> __global__ void scale(T *x, T by) {\n"
    "    x[blockIdx.x * blockDim.x + threadIdx.x] *= by;\n"
    "} }\n"
    "__global__ void all_of_it(__half *h, float4 *v, int *n, MINE m) {\n"
    "    extern __shared__ float held[];\n"
    "    __shared__ int total;\n"
    "    cudaTextureObject_t none = 0;\n"
    "    int lane = threadIdx.x & 31;\n"
    "    held[threadIdx.x] = table[lane] + v->w + (float)none;\n"
    "    __syncthreads();\n"
    "    float sum = held[threadIdx.x ^ 1];\n"
    "    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);\n"
    "    if (__any_sync(~0u, sum > 3)) atomicAdd(&total, 1);\n"
    "    atomicMax(n, total);\n"
    "    *h = __float2half(sinf(sum) + (float)m);\n"
    "    if (lane == 99) printf(\"%f\\n\", sum);\n"
    "}\n";

static void modules_compile_for_every_architecture(void **state)
{
    (void)state;
    const bool has_headers = access("/usr/local/cuda/include/cuda_fp16.h", R_OK) == 0;
    const char *text = has_headers ? everything : strchr(everything, '\n') + 1;
    const char *here = ga_current_device();
    for (int i = 0; i < DEVICES; i++) {
        on_fake(i);
        ga_module *m = ga_module_compile(
            text, .headers = GA_HEADERS({"mine.h", "typedef long long MINE;\n"}),
            .kernels = "ns::scale<double>",
            .options = has_headers ? "--use_fast_math" : "-D__half=float -D__float2half=float");
        if (!m)
            fail_msg("%s: %s", devices[i].name, ga_error_message());
        assert_non_null(ga_module_kernel(m, "all_of_it"));
        assert_int_equal(strncmp(fake.symbol, "_Z9all_of_it", 12), 0);
        assert_non_null(ga_module_kernel(m, "ns::scale<double>"));
        assert_string_equal(fake.symbol, "_ZN2ns5scaleIdEEvPT_S1_");
        gpuarray *table = ga_module_global(m, "ns::table");
        assert_ptr_equal(ga_data(table), fake.variable);
        ga_module_free(m);
        assert_int_equal(fake.unloads, 0);
        ga_free(table);
        assert_int_equal(fake.unloads, 1);
    }
    ga_set_device(here);
}

static void instances_are_code_of_their_own(void **state)
{
    (void)state;
    const char *here = ga_current_device();
    on_fake(2);
    ga_module *m = ga_module_compile("template <int N> __global__ void f(int *x) { *x = N; }\n"
                                     "__global__ void g() {}");
    assert_non_null(ga_module_kernel(m, "g"));
    assert_string_equal(fake.symbol, "_Z1gv");
    assert_non_null(ga_module_kernel(m, "f<-3>"));
    assert_string_equal(fake.symbol, "_Z1fILin3EEvPi");
    ga_module_free(m);
    assert_int_equal(fake.unloads, 2);
    ga_set_device(here);
}

static void arguments_are_packed_bit_for_bit(void **state)
{
    (void)state;
    const char *here = ga_current_device();
    on_fake(0);
    ga_module *m = ga_module_compile("__global__ void f(int a) {}");
    static const size_t bytes[] = {8, 4, 4, 1, 2, 3, 8, 8, 8};
    fake.info.nparams = 9;
    memcpy(fake.info.param_bytes, bytes, sizeof bytes);
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(8)), *tail = ga_slice(x, "3:");
    struct {
        char c[3];
    } three = {"xyz"};
    const float f = -1.25f;
    const int32_t minus_two = -2;
    const double d = 0.1;
    void *data = ga_data(x), *third = (char *)data + 12;
    ok(ga_launch_with(ga_module_kernel(m, "f"), GA_DIM(7, 6, 5), GA_DIM(4, 3, 2),
                      GA_WITH(.shared_bytes = 77), tail, f, -2, (bool)true, (unsigned short)0xabcd,
                      GA_STRUCT(three), 1L << 40, d, data));
    assert_int_equal(fake.launches, 1);
    assert_string_equal(fake.last.name, "f");
    assert_true(fake.last.grid[0] == 7 && fake.last.grid[1] == 6 && fake.last.grid[2] == 5);
    assert_true(fake.last.block[0] == 4 && fake.last.block[1] == 3 && fake.last.block[2] == 2);
    assert_int_equal(fake.last.shared, 77);
    assert_memory_equal(fake.args[0], &third, sizeof third);
    assert_memory_equal(fake.args[1], &f, sizeof f);
    assert_memory_equal(fake.args[2], &minus_two, sizeof minus_two);
    assert_memory_equal(fake.args[3], "\1", 1);
    assert_memory_equal(fake.args[4], "\xcd\xab", 2);
    assert_memory_equal(fake.args[5], "xyz", 3);
    assert_memory_equal(fake.args[6], &(int64_t){INT64_C(1) << 40}, 8);
    assert_memory_equal(fake.args[7], &d, sizeof d);
    assert_memory_equal(fake.args[8], &data, sizeof data);
    ga_launch(ga_module_kernel(m, "f"), GA_DIM(1), GA_DIM(1), tail, f, -2, true);
    assert_error(GA_ERR_INVALID, "f: takes 9 arguments, not 4");
    assert_int_equal(fake.launches, 1);
    ga_free(tail);
    ga_free(x);
    ga_module_free(m);
    ga_set_device(here);
}

static void occupancy_suggests_a_block(void **state)
{
    (void)state;
    const char *here = ga_current_device();
    on_fake(2);
    ga_module *m = ga_module_compile("__global__ void f(int a) {}");
    ga_kernel_properties p;
    /* The device runs 132 * 1536 threads for any block size, minus the waste of that size. */
    ok(ga_kernel_info(ga_module_kernel(m, "f"), &p));
    assert_int_equal(p.suggested_block, 1024);
    assert_true(p.occupancy == 0.75);
    ga_module_free(m);
    ga_set_device(here);
}
#endif

#define TEST(name) cmocka_unit_test_teardown(name, clear)

static int run_all(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_arrive_in_their_exact_type),
        TEST(structs_arrive_as_bytes),
        TEST(arrays_are_their_first_elements_address),
        TEST(there_may_be_none_or_many),
        TEST(host_memory_goes_there_and_back),
        TEST(host_memory_of_every_size_arrives),
        TEST(in_memory_may_change_at_once),
        TEST(grids_and_blocks_have_three_dimensions),
        TEST(dynamic_shared_memory_is_there),
        TEST(properties_are_told),
        TEST(launches_go_to_streams_in_order),
        TEST(launches_are_recorded),
        TEST(wrong_arguments_are_errors),
        TEST(wrong_shapes_are_errors),
        TEST(other_kernels_run_by_other_functions),
        TEST(arrays_of_other_devices_are_errors),
        TEST(a_fault_names_the_kernel_and_ends),
#ifdef QUARRY_CUDA
        TEST(modules_compile_for_every_architecture),
        TEST(instances_are_code_of_their_own),
        TEST(arguments_are_packed_bit_for_bit),
        TEST(occupancy_suggests_a_block),
#endif
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--fault") == 0)
        return run_fault(argv[2]);
#ifdef QUARRY_CUDA
    if (!open_fake_devices())
        return 1;
#endif
    module = ga_module_compile(kernels, .name = "launches");
    if (!module) {
        fprintf(stderr, "%s\n", ga_error_message());
        return 1;
    }
    const int failed = run_all(argc, argv);
    ga_module_free(module);
    return failed;
}
