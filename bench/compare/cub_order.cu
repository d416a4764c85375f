/* The cases of CUB that scan, order, select and count elements. */
#include <algorithm>
#include <cmath>

#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cub_case.h"

namespace
{

enum { BINS = 256, MILLION = 1000000 };

/* ---- Elements, on the device and here ---- */

__host__ __device__ int remainder_of(int value, int m)
{
    return value % m < 0 ? value % m + m : value % m;
}

__host__ __device__ bool is_rare(uint32_t seed, int64_t k)
{
    return (float)random_value(RANDOM_F32_POSITIVE, seed, (uint64_t)k) < 1.01f;
}

/* The element of a stream as T. */
template <class T> T element(random_kind kind, uint32_t seed, int64_t k)
{
    const uint64_t bits = random_bits(kind, seed, (uint64_t)k);
    T value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T> std::vector<T> all_of(const void *data, int64_t count)
{
    std::vector<T> host((size_t)count);

    if (!gpu.read(host.data(), data, (size_t)count * sizeof(T)))
        throw std::runtime_error("the result cannot be read");
    return host;
}

template <class F> __global__ void each_kernel(int64_t n, F f)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;

    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += step)
        f(k);
}

struct remainders {
    int *x, m;

    __device__ void operator()(int64_t k) const
    {
        x[k] = remainder_of(x[k], m);
    }
};

struct numbers {
    int64_t *x;

    __device__ void operator()(int64_t k) const
    {
        x[k] = k;
    }
};

struct rare_flags {
    bool *flags;
    uint32_t seed;

    __device__ void operator()(int64_t k) const
    {
        flags[k] = is_rare(seed, k);
    }
};

template <class F> void each(int64_t n, F f)
{
    each_kernel<<<1024, 256>>>(n, f);
    check(cudaGetLastError(), "inputs");
}

void *memory(size_t nbytes)
{
    void *made = nullptr;

    check(cudaMalloc(&made, nbytes), "memory");
    return made;
}

/* ---- Sorts ---- */

/* A key whose order is that of the elements. */
template <class T> T key(T value)
{
    return value;
}

float key(__half value)
{
    return __half2float(value);
}

/* Rows that ascend, and the sum of all bits. */
template <class T> bool right_sort(const cub_case &c, const set &s, int64_t length)
{
    const std::vector<T> got = all_of<T>(s.out, c.n);
    uint64_t sum = 0;

    for (int64_t k = 0; k < c.n; k++) {
        uint64_t bits = 0;
        memcpy(&bits, &got[k], sizeof(T));
        sum += bits - random_bits(c.kind, s.seed, (uint64_t)k);
        if (k % length > 0 && key(got[k]) < key(got[k - 1]))
            return false;
    }
    return sum == 0;
}

template <class T> void sort(const char *name, random_kind kind, int64_t n)
{
    cub_case c = {name, kind, 1, n, (size_t)n * sizeof(T)};

    c.sorts = true;
    c.run = [=](set &s) {
        return cub::DeviceRadixSort::SortKeys(s.scratch, s.scratch_bytes, (const T *)s.in[0],
                                              (T *)s.out, n);
    };
    c.right = [&](const set &s) { return right_sort<T>(c, s, n); };
    bench(c);
}

struct multiple {
    int64_t length;

    __host__ __device__ int64_t operator()(int64_t row) const
    {
        return row * length;
    }
};

void sort_rows(const char *name, int64_t rows, int64_t length)
{
    cub_case c = {name, RANDOM_F32, 1, rows * length, (size_t)(rows * length) * sizeof(float)};

    c.sorts = true;
    c.run = [=](set &s) {
        const auto begins = thrust::make_transform_iterator(
            thrust::make_counting_iterator((int64_t)0), multiple{length});
        return cub::DeviceSegmentedSort::SortKeys(s.scratch, s.scratch_bytes,
                                                  (const float *)s.in[0], (float *)s.out,
                                                  rows * length, rows, begins, begins + 1);
    };
    c.right = [&](const set &s) { return right_sort<float>(c, s, length); };
    bench(c);
}

/* Elements that ascend, those that are equal by their index: then no index occurs twice. */
template <class T> bool right_argsort(const cub_case &c, const set &s)
{
    const std::vector<int64_t> got = all_of<int64_t>(s.out, c.n);

    for (int64_t k = 0; k < c.n; k++) {
        if (got[k] < 0 || got[k] >= c.n)
            return false;
        const auto here = key(element<T>(c.kind, s.seed, got[k]));
        const auto before = key(element<T>(c.kind, s.seed, got[k > 0 ? k - 1 : 0]));
        if (here < before || (k > 0 && here == before && got[k] <= got[k - 1]))
            return false;
    }
    return true;
}

/* The keys and the int64 indices that go with them. */
template <class T> void argsort(const char *name, random_kind kind, int64_t n)
{
    cub_case c = {name, kind, 1, n, (size_t)n * 8};

    c.sorts = true;
    c.more_bytes = (size_t)n * (8 + sizeof(T));
    c.prepare = [=](set &s) {
        s.in[1] = memory((size_t)n * 8);
        s.in[2] = memory((size_t)n * sizeof(T));
        each(n, numbers{(int64_t *)s.in[1]});
    };
    c.run = [=](set &s) {
        return cub::DeviceRadixSort::SortPairs(s.scratch, s.scratch_bytes, (const T *)s.in[0],
                                               (T *)s.in[2], (const int64_t *)s.in[1],
                                               (int64_t *)s.out, n);
    };
    c.right = [&](const set &s) { return right_argsort<T>(c, s); };
    bench(c);
}

/* ---- Selections: in[1] has flags or sorted elements, in[2] the number selected ---- */

/* All elements that are chosen, in their order. */
template <class T, class Chosen, class Value>
bool right_selection(const cub_case &c, const set &s, Chosen chosen, Value value)
{
    const int64_t count = all_of<int64_t>(s.in[2], 1)[0];
    const std::vector<T> got = all_of<T>(s.out, std::min(count, c.n));
    int64_t next = 0;

    for (int64_t k = 0; k < c.n; k++)
        if (chosen(k) && (next >= count || got[next++] != value(k)))
            return false;
    return next == count;
}

void extract(const char *name, int64_t n, bool rare)
{
    cub_case c = {name, RANDOM_F32_POSITIVE, 1, n, (size_t)n * sizeof(float)};

    c.prepare = [=](set &s) {
        s.in[1] = memory((size_t)n);
        s.in[2] = memory(8);
        if (rare)
            each(n, rare_flags{(bool *)s.in[1], s.seed + 2});
        else
            gpu.fill(s.in[1], RANDOM_BOOL, n, s.seed + 2);
    };
    c.run = [=](set &s) {
        return cub::DeviceSelect::Flagged(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                          (const bool *)s.in[1], (float *)s.out, (int64_t *)s.in[2],
                                          n);
    };
    c.right = [&](const set &s) {
        return right_selection<float>(
            c, s,
            [&](int64_t k) {
                return rare ? is_rare(s.seed + 2, k)
                            : random_value(RANDOM_BOOL, s.seed + 2, (uint64_t)k) != 0.0;
            },
            [&](int64_t k) { return element<float>(c.kind, s.seed, k); });
    };
    bench(c);
}

struct greater {
    __host__ __device__ bool operator()(float x) const
    {
        return x > 1.5f;
    }
};

void select(const char *name, int64_t n)
{
    cub_case c = {name, RANDOM_F32_POSITIVE, 1, n, (size_t)n * sizeof(float)};

    c.prepare = [](set &s) { s.in[2] = memory(8); };
    c.run = [=](set &s) {
        return cub::DeviceSelect::If(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                     (float *)s.out, (int64_t *)s.in[2], n, greater());
    };
    c.right = [&](const set &s) {
        const auto value = [&](int64_t k) { return element<float>(c.kind, s.seed, k); };
        return right_selection<float>(
            c, s, [&](int64_t k) { return greater()(value(k)); }, value);
    };
    bench(c);
}

void nonzero(const char *name, int64_t n)
{
    cub_case c = {name, RANDOM_BOOL, 1, n, (size_t)n * 8};

    c.prepare = [](set &s) { s.in[2] = memory(8); };
    c.run = [=](set &s) {
        return cub::DeviceSelect::Flagged(
            s.scratch, s.scratch_bytes, thrust::make_counting_iterator((int64_t)0),
            (const bool *)s.in[0], (int64_t *)s.out, (int64_t *)s.in[2], n);
    };
    c.right = [&](const set &s) {
        return right_selection<int64_t>(
            c, s, [&](int64_t k) { return random_value(c.kind, s.seed, (uint64_t)k) != 0.0; },
            [](int64_t k) { return k; });
    };
    bench(c);
}

bool right_unique(const cub_case &c, const set &s)
{
    const int64_t count = all_of<int64_t>(s.in[2], 1)[0];
    const std::vector<int> got = all_of<int>(s.out, std::min(count, c.n));
    std::vector<bool> there(MILLION);

    for (int64_t k = 0; k < c.n; k++)
        there[(size_t)remainder_of(element<int>(c.kind, s.seed, k), MILLION)] = true;
    for (size_t k = 0; k < got.size(); k++)
        if (!there[(size_t)got[k]] || (k > 0 && got[k] <= got[k - 1]))
            return false;
    return count == std::count(there.begin(), there.end(), true);
}

/* A sort, and what differs from its neighbour. */
void unique(const char *name, int64_t n)
{
    cub_case c = {name, RANDOM_I32, 1, n, (size_t)n * sizeof(int)};

    c.prepare = [=](set &s) {
        s.in[1] = memory((size_t)n * sizeof(int));
        s.in[2] = memory(8);
        each(n, remainders{(int *)s.in[0], MILLION});
    };
    c.run = [=](set &s) {
        size_t needed = s.scratch_bytes;
        const cudaError_t error = cub::DeviceRadixSort::SortKeys(
            s.scratch, s.scratch_bytes, (const int *)s.in[0], (int *)s.in[1], n);
        if (error != cudaSuccess)
            return error;
        const cudaError_t then = cub::DeviceSelect::Unique(s.scratch, needed, (const int *)s.in[1],
                                                           (int *)s.out, (int64_t *)s.in[2], n);
        s.scratch_bytes = std::max(s.scratch_bytes, needed);
        return then;
    };
    c.right = [&](const set &s) { return right_unique(c, s); };
    bench(c);
}

/* ---- Counts ---- */

template <class Bin> bool right_counts(const cub_case &c, const set &s, int bins, Bin bin)
{
    const std::vector<int> got = all_of<int>(s.out, bins);
    std::vector<int> counts((size_t)bins);

    for (int64_t k = 0; k < c.n; k++)
        counts[(size_t)bin(k)]++;
    return got == counts;
}

void histogram(const char *name, int64_t n)
{
    cub_case c = {name, RANDOM_F32_POSITIVE, 1, n, BINS * sizeof(int)};

    c.run = [=](set &s) {
        return cub::DeviceHistogram::HistogramEven(s.scratch, s.scratch_bytes,
                                                   (const float *)s.in[0], (int *)s.out, BINS + 1,
                                                   1.0f, 2.0f, n);
    };
    c.right = [&](const set &s) {
        return right_counts(c, s, BINS, [&](int64_t k) {
            return (int)((element<float>(c.kind, s.seed, k) - 1) * BINS);
        });
    };
    bench(c);
}

/* Edge k is 1 + (k / 256)^2. */
void histogram_edges(const char *name, int64_t n)
{
    std::vector<float> edges(BINS + 1);
    cub_case c = {name, RANDOM_F32_POSITIVE, 1, n, BINS * sizeof(int)};

    for (int k = 0; k <= BINS; k++)
        edges[(size_t)k] = 1 + (float)(k * k) / (BINS * BINS);
    c.prepare = [&](set &s) {
        s.in[1] = memory(edges.size() * sizeof(float));
        check(
            cudaMemcpy(s.in[1], edges.data(), edges.size() * sizeof(float), cudaMemcpyHostToDevice),
            "edges");
    };
    c.run = [=](set &s) {
        return cub::DeviceHistogram::HistogramRange(s.scratch, s.scratch_bytes,
                                                    (const float *)s.in[0], (int *)s.out, BINS + 1,
                                                    (const float *)s.in[1], n);
    };
    c.right = [&](const set &s) {
        return right_counts(c, s, BINS, [&](int64_t k) {
            const float x = element<float>(c.kind, s.seed, k);
            return (int)(std::upper_bound(edges.begin(), edges.end(), x) - edges.begin()) - 1;
        });
    };
    bench(c);
}

void bincount(const char *name, int64_t n, int bins)
{
    cub_case c = {name, RANDOM_I32, 1, n, (size_t)bins * sizeof(int)};

    c.prepare = [=](set &s) { each(n, remainders{(int *)s.in[0], bins}); };
    c.run = [=](set &s) {
        return cub::DeviceHistogram::HistogramEven(s.scratch, s.scratch_bytes, (const int *)s.in[0],
                                                   (int *)s.out, bins + 1, 0, bins, n);
    };
    c.right = [&](const set &s) {
        return right_counts(c, s, bins, [&](int64_t k) {
            return remainder_of(element<int>(c.kind, s.seed, k), bins);
        });
    };
    bench(c);
}

/* ---- Scans ---- */

/* The last result: a sum of all. */
template <class T, class In> bool right_total(const cub_case &c, const set &s)
{
    T got;
    double sum = 0;

    for (int64_t k = 0; k < c.n; k++)
        sum += (double)element<In>(c.kind, s.seed, k);
    return gpu.read(&got, (const T *)s.out + c.n - 1, sizeof got) &&
           fabs((double)got - sum) <= 1e-5 * (1 + fabs(sum));
}

/* Sums of T from elements of another type. */
template <class T, class In> void cumsum(const char *name, random_kind kind, int64_t n)
{
    cub_case c = {name, kind, 1, n, (size_t)n * sizeof(T)};

    c.run = [=](set &s) {
        return cub::DeviceScan::InclusiveScanInit(s.scratch, s.scratch_bytes, (const In *)s.in[0],
                                                  (T *)s.out, cuda::std::plus<>(), T(0), n);
    };
    c.right = [&](const set &s) { return right_total<T, In>(c, s); };
    bench(c);
}

void cumsum_floats(const char *name, int64_t n)
{
    cub_case c = {name, RANDOM_F32_POSITIVE, 1, n, (size_t)n * sizeof(float)};

    c.run = [=](set &s) {
        return cub::DeviceScan::InclusiveSum(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                             (float *)s.out, n);
    };
    c.right = [&](const set &s) { return right_total<float, float>(c, s); };
    bench(c);
}

void cummax(const char *name, int64_t n)
{
    cub_case c = {name, RANDOM_F32, 1, n, (size_t)n * sizeof(float)};

    c.run = [=](set &s) {
        return cub::DeviceScan::InclusiveScan(s.scratch, s.scratch_bytes, (const float *)s.in[0],
                                              (float *)s.out, cuda::maximum<>(), n);
    };
    c.right = [&](const set &s) {
        const std::vector<float> got = all_of<float>(s.out, n);
        float most = -INFINITY;
        for (int64_t k = 0; k < n; k++) {
            most = std::max(most, element<float>(c.kind, s.seed, k));
            if (got[(size_t)k] != most)
                return false;
        }
        return true;
    };
    bench(c);
}

} // namespace

void bench_order(int64_t n)
{
    const int64_t side = (int64_t)sqrt((double)n);

    cumsum_floats("cumsum f32", n);
    cumsum<int64_t, int8_t>("cumsum i8", RANDOM_I8, n);
    cumsum<int64_t, int32_t>("cumsum i32", RANDOM_I32, n);
    cummax("cummax f32", n);
    sort<int32_t>("sort i32", RANDOM_I32, n / 4);
    sort<int64_t>("sort i64", RANDOM_I64, n / 4);
    sort<float>("sort f32", RANDOM_F32, n / 4);
    sort<double>("sort f64", RANDOM_F64, n / 4);
    sort<__half>("sort f16", RANDOM_F16, n / 4);
    sort<uint8_t>("sort u8", RANDOM_U8, n / 4);
    argsort<float>("argsort f32", RANDOM_F32, n / 4);
    argsort<__half>("argsort f16", RANDOM_F16, n / 4);
    sort_rows("sort rows m", side / 4, side);
    sort_rows("sort rows (k,64)", n / 256, 64);
    sort_rows("sort rows (1000,1000)", 1000, 1000);
    unique("unique i32 of 10^6", n / 4);
    nonzero("nonzero, half", n);
    extract("x[mask], half", n, false);
    extract("x[mask], 1 %", n, true);
    select("x[x > 1.5], half", n);
    histogram("histogram f32, 256 bins", n);
    histogram_edges("histogram f32, 256 edges", n);
    bincount("bincount i32 below 256", n / 2, BINS);
    bincount("bincount i32 below 10^6", n / 2, MILLION);
    cumsum_floats("cumsum f32 10^3", 1000);
    cumsum_floats("cumsum f32 10^5", 100000);
    cumsum_floats("cumsum f32 10^6", 1000000);
    cumsum_floats("call: cumsum f32 10^3", 1000);
    cumsum_floats("call: cumsum f32 10^5", 100000);
    cumsum_floats("call: cumsum f32 10^6", 1000000);
    sort<float>("call: sort f32 10^3", RANDOM_F32, 1000);
    sort<float>("call: sort f32 10^5", RANDOM_F32, 100000);
    sort<float>("call: sort f32 10^6", RANDOM_F32, 1000000);
    argsort<float>("call: argsort f32 10^3", RANDOM_F32, 1000);
    argsort<float>("call: argsort f32 10^5", RANDOM_F32, 100000);
    argsort<float>("call: argsort f32 10^6", RANDOM_F32, 1000000);
}
