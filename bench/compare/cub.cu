/* The cases that CUB has, timed as quarry-bench times its own: quarry-bench-cub [--n N]
 * [--cases NAME,...]; a line of JSON for each. */
#include <cmath>
#include <cstdlib>

#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cub_case.h"

const char *cases_wanted;

namespace
{

/* ---- Elementwise: cub::DeviceTransform ---- */

struct plus {
    template <class T> __host__ __device__ T operator()(T a, T b) const
    {
        return (T)(a + b);
    }
};

struct choose {
    __host__ __device__ float operator()(float x, float y) const
    {
        return x > 0.5f ? x : y;
    }
};

struct linear {
    __host__ __device__ float operator()(float x, float y) const
    {
        return 5 * x + 6 * y;
    }
};

struct length {
    __host__ __device__ float operator()(float x, float y) const
    {
        return sqrtf(x * x + y * y);
    }
};

struct sine {
    __host__ __device__ float operator()(float x) const
    {
        return sinf(x);
    }
};

struct root {
    __host__ __device__ float operator()(float x) const
    {
        return sqrtf(x);
    }
};

struct exponential {
    __host__ __device__ double operator()(double x) const
    {
        return exp(x);
    }
};

/* The price of a call by Black and Scholes; rate and volatility as in quarry-bench. */
struct call {
    __host__ __device__ static float normal(float x)
    {
        return 0.5f * erfcf(-0.70710678f * x);
    }

    __host__ __device__ float operator()(float spot, float strike, float years) const
    {
        const float deviation = 0.30f * sqrtf(years);
        const float d = (logf(spot / strike) + (0.02f + 0.5f * 0.09f) * years) / deviation;
        return spot * normal(d) - strike * expf(-0.02f * years) * normal(d - deviation);
    }
};

template <class T> T input(const cub_case &c, const set &s, int which, int64_t k)
{
    return (T)(float)random_value(c.kind, s.seed + (uint32_t)which, (uint64_t)k);
}

template <> double input<double>(const cub_case &c, const set &s, int which, int64_t k)
{
    return random_value(c.kind, s.seed + (uint32_t)which, (uint64_t)k);
}

template <class T, class Op> T host_result(Op op, const cub_case &c, const set &s, int64_t k)
{
    if constexpr (std::is_invocable_v<Op, T, T, T>)
        return op(input<T>(c, s, 0, k), input<T>(c, s, 1, k), input<T>(c, s, 2, k));
    else if constexpr (std::is_invocable_v<Op, T, T>)
        return op(input<T>(c, s, 0, k), input<T>(c, s, 1, k));
    else
        return op(input<T>(c, s, 0, k));
}

/* The first and the last 32 elements. */
template <class T, class Op> bool right_elements(Op op, const cub_case &c, const set &s)
{
    for (int i = 0; i < 64; i++) {
        const int64_t k = i < 32 ? i : c.n - 64 + i;
        T got;
        if (!gpu.read(&got, (const T *)s.out + k, sizeof got))
            return false;
        const double expected = (double)(float)host_result<T>(op, c, s, k);
        if (!(fabs((double)(float)got - expected) <= 1e-5 * (1 + fabs(expected))))
            return false;
    }
    return true;
}

template <class T, class Op> void transform(const char *name, random_kind kind, int64_t n, Op op)
{
    constexpr int inputs = std::is_invocable_v<Op, T, T, T> ? 3
                           : std::is_invocable_v<Op, T, T>  ? 2
                                                            : 1;
    cub_case c = {name, kind, inputs, n, (size_t)n * sizeof(T)};

    c.run = [=](set &s) {
        const T *x = (const T *)s.in[0], *y = (const T *)s.in[1], *z = (const T *)s.in[2];
        if (!s.scratch)
            return cudaSuccess;
        if constexpr (inputs == 3)
            return cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y, z), (T *)s.out, n,
                                                   op);
        else if constexpr (inputs == 2)
            return cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), (T *)s.out, n, op);
        else
            return cub::DeviceTransform::Transform(x, (T *)s.out, n, op);
    };
    c.right = [&](const set &s) { return right_elements<T>(op, c, s); };
    bench(c);
}

/* ---- Reductions ---- */

double at(const cub_case &c, const set &s, int64_t k)
{
    return random_value(c.kind, s.seed, (uint64_t)k);
}

double sum_of(const cub_case &c, const set &s, int64_t first, int64_t count)
{
    double sum = 0;

    for (int64_t k = first; k < first + count; k++)
        sum += at(c, s, k);
    return sum;
}

double max_of(const cub_case &c, const set &s)
{
    double max = -INFINITY;

    for (int64_t k = 0; k < c.n; k++)
        max = fmax(max, at(c, s, k));
    return max;
}

template <class T> bool near(const void *got, double expected, double terms)
{
    T value;

    return gpu.read(&value, got, sizeof value) &&
           fabs((double)value - expected) <= 1e-6 * fabs(expected) + 1e-4 * sqrt(terms);
}

template <class T> void sum(const std::string &name, random_kind kind, int64_t n)
{
    cub_case c = {name, kind, 1, n, sizeof(T)};

    c.run = [=](set &s) {
        return cub::DeviceReduce::Sum(s.scratch, s.scratch_bytes, (const T *)s.in[0], (T *)s.out,
                                      n);
    };
    c.right = [&](const set &s) { return near<T>(s.out, sum_of(c, s, 0, n), (double)n); };
    bench(c);
}

void max(int64_t n)
{
    cub_case c = {"max f32", RANDOM_F32, 1, n, sizeof(float)};

    c.run = [=](set &s) {
        return cub::DeviceReduce::Max(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                      (float *)s.out, n);
    };
    c.right = [&](const set &s) { return near<float>(s.out, max_of(c, s), 0); };
    bench(c);
}

/* The maximum and its index. */
void argmax(int64_t n)
{
    cub_case c = {"argmax f32", RANDOM_F32, 1, n, 16};

    c.run = [=](set &s) {
        return cub::DeviceReduce::ArgMax(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                         (float *)s.out, (int64_t *)s.out + 1, n);
    };
    c.right = [&](const set &s) {
        int64_t index = -1;
        return gpu.read(&index, (int64_t *)s.out + 1, 8) && index >= 0 && index < n &&
               at(c, s, index) == max_of(c, s);
    };
    bench(c);
}

struct offset {
    int64_t length;

    __host__ __device__ int64_t operator()(int64_t row) const
    {
        return row * length;
    }
};

void sum_rows(const char *name, int64_t rows, int64_t length)
{
    cub_case c = {name, RANDOM_F32, 1, rows * length, (size_t)rows * sizeof(float)};

    c.run = [=](set &s) {
        const auto begins = thrust::make_transform_iterator(
            thrust::make_counting_iterator((int64_t)0), offset{length});
        return cub::DeviceSegmentedReduce::Sum(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                               (float *)s.out, rows, begins, begins + 1);
    };
    c.right = [&](const set &s) {
        const int64_t last = rows - 1;
        return near<float>((float *)s.out + last, sum_of(c, s, last * length, length),
                           (double)length);
    };
    bench(c);
}

void bench_all(int64_t n)
{
    const int64_t side = (int64_t)sqrt((double)n);

    transform<float>("add f32", RANDOM_F32, n, plus());
    transform<__half>("add f16", RANDOM_F16, n, plus());
    transform<int8_t>("add i8", RANDOM_I8, n, plus());
    transform<__nv_bfloat16>("add bf16", RANDOM_BF16, n, plus());
    transform<float>("sin f32", RANDOM_F32, n, sine());
    transform<float>("sqrt f32", RANDOM_F32_POSITIVE, n, root());
    transform<double>("exp f64", RANDOM_F64, n / 2, exponential());
    transform<float>("where(x > .5, x, y) kernel", RANDOM_F32, n, choose());
    transform<float>("5*x + 6*y kernel", RANDOM_F32, n, linear());
    transform<float>("eval sqrt(x*x + y*y)", RANDOM_F32, n, length());
    transform<float>("eval Black-Scholes call", RANDOM_F32_POSITIVE, n, call());
    sum<float>("sum f32", RANDOM_F32, n);
    sum<double>("sum f64", RANDOM_F64, n / 2);
    max(n);
    argmax(n);
    sum_rows("sum m axis 1", side, side);
    sum_rows("sum (k,4) axis 1", n / 4, 4);
    sum<float>("sum f32 10^3", RANDOM_F32, 1000);
    sum<float>("sum f32 10^5", RANDOM_F32, 100000);
    sum<float>("sum f32 10^6", RANDOM_F32, 1000000);
    sum<float>("sum f32 10^7", RANDOM_F32, 10000000);
    bench_order(n);
}

} // namespace

int main(int argc, char **argv)
{
    int64_t n = gpu.default_n;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--n") == 0)
            n = atoll(argv[i + 1]);
        else if (strcmp(argv[i], "--cases") == 0)
            cases_wanted = argv[i + 1];
    }
    if (!gpu.open())
        return 1;
    printf("{\"version\": \"%d.%d.%d\"}\n", CCCL_MAJOR_VERSION, CCCL_MINOR_VERSION,
           CCCL_PATCH_VERSION);
    bench_all(n);
    return 0;
}
