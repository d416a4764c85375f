/* A CUDA device as a machine under test: the best plain kernels, raw launches and NVRTC itself. */
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "machine.h"

namespace
{

cudaDeviceProp properties;
cudaEvent_t before, after;
float *small_x, *small_y, *small_out; /* 1024 elements each, for the launches */
float *mapped_host, *mapped_device;   /* one float that both sides see */

bool failed(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        fprintf(stderr, "quarry-bench: %s: %s\n", what, cudaGetErrorString(error));
    return error != cudaSuccess;
}

void check(cudaError_t error, const char *what)
{
    if (failed(error, what))
        exit(1);
}

/* ---- Kernels ---- */

__global__ void hold_kernel(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

__global__ void fill_kernel(unsigned char *data, random_kind kind, int64_t count, uint32_t seed)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    const int bytes = random_bytes(kind);

    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += step) {
        const uint64_t bits = random_bits(kind, seed, (uint64_t)k);
        if (bytes == 8)
            ((uint64_t *)data)[k] = bits;
        else if (bytes == 4)
            ((uint32_t *)data)[k] = (uint32_t)bits;
        else if (bytes == 2)
            ((uint16_t *)data)[k] = (uint16_t)bits;
        else if (bytes == 1)
            data[k] = (unsigned char)bits;
    }
}

__device__ float4 plus(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Each block takes tiles of UNROLL vectors per thread; `limit` is a constant for the compiler. */
template <limit_kind limit, int UNROLL>
__global__ void __launch_bounds__(1024)
    stream_kernel(float4 *out, const float4 *x, const float4 *y, int64_t n)
{
    const int64_t tile = (int64_t)blockDim.x * UNROLL;
    float4 sum = make_float4(0, 0, 0, 0);

    for (int64_t base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
        float4 a[UNROLL] = {}, b[UNROLL] = {};
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const int64_t k = base + u * blockDim.x + threadIdx.x;
            if (k < n && limit != LIMIT_WRITE)
                a[u] = x[k];
            if (k < n && limit == LIMIT_READ2_WRITE1)
                b[u] = y[k];
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const int64_t k = base + u * blockDim.x + threadIdx.x;
            if (limit == LIMIT_READ)
                sum = plus(sum, a[u]);
            else if (k < n)
                out[k] = limit == LIMIT_READ2_WRITE1 ? plus(a[u], b[u]) : a[u];
        }
    }
    /* Never true for the data here; the compiler cannot know that and must keep the loads. */
    if (limit == LIMIT_READ && sum.x + sum.y + sum.z + sum.w == 1e30f)
        out[0] = sum;
}

__global__ void add_kernel(float *out, const float *x, const float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}

__global__ void sum16_kernel(volatile float *out, const float *x)
{
    float a = threadIdx.x < 16 ? x[threadIdx.x] : 0;
    for (int step = 8; step > 0; step /= 2)
        a += __shfl_down_sync(0xffffffffu, a, step);
    if (threadIdx.x == 0)
        *out = a;
}

/* ---- The machine ---- */

bool cuda_open(void)
{
    int device = 0;

    if (failed(cudaGetDevice(&device), "no device") ||
        failed(cudaGetDeviceProperties(&properties, device), "device properties") ||
        failed(cudaEventCreate(&before), "event") || failed(cudaEventCreate(&after), "event"))
        return false;
    return !failed(cudaMalloc(&small_x, 4096), "memory") &&
           !failed(cudaMalloc(&small_y, 4096), "memory") &&
           !failed(cudaMalloc(&small_out, 4096), "memory") &&
           !failed(cudaHostAlloc(&mapped_host, 64, cudaHostAllocMapped), "mapped memory") &&
           !failed(cudaHostGetDevicePointer((void **)&mapped_device, mapped_host, 0),
                   "mapped memory");
}

size_t cuda_cache_bytes(void)
{
    return (size_t)properties.l2CacheSize;
}

/* The work is queued while a kernel of about 60 us holds the stream, so that the time between the
 * events is the device's alone. */
double cuda_time_us(void (*run)(void *), void *context)
{
    float ms = 0;

    hold_kernel<<<1, 1>>>(100000);
    cudaEventRecord(before, 0);
    run(context);
    cudaEventRecord(after, 0);
    check(cudaEventSynchronize(after), "timed run");
    check(cudaEventElapsedTime(&ms, before, after), "timed run");
    return (double)ms * 1e3;
}

void cuda_fill(void *data, random_kind kind, int64_t count, uint32_t seed)
{
    fill_kernel<<<properties.multiProcessorCount * 8, 256>>>((unsigned char *)data, kind, count,
                                                             seed);
    check(cudaGetLastError(), "fill");
}

void cuda_poison(void *data, size_t nbytes)
{
    check(cudaMemsetAsync(data, 0xff, nbytes, 0), "poison");
}

bool cuda_read(void *host, const void *data, size_t nbytes)
{
    return !failed(cudaMemcpy(host, data, nbytes, cudaMemcpyDeviceToHost), "read");
}

/* ---- Bandwidth ---- */

struct stream_job {
    void (*kernel)(float4 *, const float4 *, const float4 *, int64_t); /* NULL: cudaMemcpy */
    float4 *out;
    const float4 *x, *y;
    int64_t n;
    int threads;
    int64_t tile, most_blocks; /* vectors that a block takes at once; how many blocks at most */
};

void run_stream(void *context)
{
    const stream_job *j = (const stream_job *)context;

    if (!j->kernel) {
        cudaMemcpyAsync(j->out, j->x, (size_t)j->n * 16, cudaMemcpyDeviceToDevice, 0);
        return;
    }
    const int64_t tiles = (j->n + j->tile - 1) / j->tile;
    const int blocks = (int)(tiles < j->most_blocks ? tiles : j->most_blocks);
    j->kernel<<<blocks, j->threads>>>(j->out, j->x, j->y, j->n);
}

double median_us(stream_job *j)
{
    double samples[SAMPLES];

    run_stream(j);
    check(cudaGetLastError(), "limit kernel");
    for (double &sample : samples)
        sample = cuda_time_us(run_stream, j);
    return median(samples, SAMPLES);
}

/* The fastest so far of each limit, and its time. */
struct {
    stream_job job;
    double us;
} best[LIMIT_COUNT];

void contend(limit_kind limit, stream_job j)
{
    const double us = median_us(&j);

    if (best[limit].us == 0 || us < best[limit].us) {
        best[limit].job = j;
        best[limit].us = us;
    }
}

/* Blocks of every size, as many as there are tiles and as many as fit at once. */
template <limit_kind limit, int UNROLL> void contend_sizes(stream_job j)
{
    j.kernel = stream_kernel<limit, UNROLL>;
    for (j.threads = 128; j.threads <= 1024; j.threads *= 2) {
        j.tile = (int64_t)j.threads * UNROLL;
        const int64_t resident = (int64_t)properties.multiProcessorCount *
                                 (properties.maxThreadsPerMultiProcessor / j.threads);
        for (int64_t blocks : {(int64_t)INT_MAX, resident}) {
            j.most_blocks = blocks;
            contend(limit, j);
        }
    }
}

template <limit_kind limit> void contend_all(const stream_job &j)
{
    contend_sizes<limit, 1>(j);
    contend_sizes<limit, 2>(j);
    contend_sizes<limit, 4>(j);
    contend_sizes<limit, 8>(j);
}

double gbps(limit_kind limit, int64_t n, double us)
{
    return limit_streams(limit) * (double)n * 16 / us / 1e3;
}

double cuda_bandwidth(limit_kind limit, void *out, const void *x, const void *y, size_t nbytes)
{
    const int64_t n = (int64_t)(nbytes / 16);
    const stream_job j = {nullptr, (float4 *)out, (const float4 *)x, (const float4 *)y, n, 0, 0, 0};

    if (limit == LIMIT_COPY || limit == LIMIT_READ1_WRITE1)
        contend(limit, j);
    if (limit == LIMIT_READ1_WRITE1)
        contend_all<LIMIT_READ1_WRITE1>(j);
    if (limit == LIMIT_READ2_WRITE1)
        contend_all<LIMIT_READ2_WRITE1>(j);
    if (limit == LIMIT_READ)
        contend_all<LIMIT_READ>(j);
    if (limit == LIMIT_WRITE)
        contend_all<LIMIT_WRITE>(j);
    return gbps(limit, n, best[limit].us);
}

double cuda_bandwidth_again(limit_kind limit, double nbytes)
{
    stream_job j = best[limit].job;
    const int64_t n = (int64_t)(nbytes / (16 * limit_streams(limit)));

    j.n = n < 1 ? 1 : n < j.n ? n : j.n;
    return gbps(limit, j.n, cuda_time_us(run_stream, &j));
}

/* ---- Host times ---- */

double cuda_launch_us(int count)
{
    check(cudaDeviceSynchronize(), "launch");
    const double start = now_us();
    for (int i = 0; i < count; i++)
        add_kernel<<<4, 256>>>(small_out, small_x, small_y, 1024);
    const double us = (now_us() - start) / count;
    check(cudaDeviceSynchronize(), "launch");
    return us;
}

double cuda_launch_pool_us(int count)
{
    check(cudaDeviceSynchronize(), "launch");
    const double start = now_us();
    for (int i = 0; i < count; i++) {
        float *out = nullptr;
        cudaMallocAsync((void **)&out, 4096, 0);
        add_kernel<<<4, 256>>>(out, small_x, small_y, 1024);
        cudaFreeAsync(out, 0);
    }
    const double us = (now_us() - start) / count;
    check(cudaDeviceSynchronize(), "launch");
    return us;
}

double cuda_round_trip_us(void)
{
    const double start = now_us();

    sum16_kernel<<<1, 32>>>(mapped_device, small_x);
    cudaStreamSynchronize(0);
    const volatile float result = *(volatile float *)mapped_host;
    (void)result;
    return now_us() - start;
}

/* ---- NVRTC ---- */

struct nvrtc_library {
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*cubin_size)(void *, size_t *);
    int (*cubin)(void *, char *);
    int (*destroy)(void **);
};

bool load_nvrtc(nvrtc_library *nvrtc)
{
    const char *wanted = getenv("QUARRY_NVRTC");
    std::vector<std::string> names = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so",
                                      "libnvrtc.so.12", "libnvrtc.so"};
    void *library = nullptr;

    if (wanted)
        names.insert(names.begin(), wanted);
    for (size_t i = 0; i < names.size() && !library; i++)
        library = dlopen(names[i].c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    *(void **)&nvrtc->create = dlsym(library, "nvrtcCreateProgram");
    *(void **)&nvrtc->compile = dlsym(library, "nvrtcCompileProgram");
    *(void **)&nvrtc->cubin_size = dlsym(library, "nvrtcGetCUBINSize");
    *(void **)&nvrtc->cubin = dlsym(library, "nvrtcGetCUBIN");
    *(void **)&nvrtc->destroy = dlsym(library, "nvrtcDestroyProgram");
    return nvrtc->create && nvrtc->compile && nvrtc->cubin_size && nvrtc->cubin && nvrtc->destroy;
}

bool compile_once(const nvrtc_library &nvrtc, const char *source)
{
    const std::string arch =
        "--gpu-architecture=sm_" + std::to_string(properties.major * 10 + properties.minor);
    /* Quarry's own options. */
    const char *options[] = {arch.c_str(), "--std=c++17", "-default-device", "--minimal",
                             "--no-cache"};
    void *program = nullptr;
    size_t nbytes = 0;

    if (nvrtc.create(&program, source, "kernel.cu", 0, nullptr, nullptr) != 0)
        return false;
    bool done = nvrtc.compile(program, 5, options) == 0 && nvrtc.cubin_size(program, &nbytes) == 0;
    std::vector<char> cubin(nbytes + 1);
    done = done && nvrtc.cubin(program, cubin.data()) == 0;
    nvrtc.destroy(&program);
    return done;
}

double cuda_compile_ms(const char *source)
{
    static nvrtc_library nvrtc;
    static const bool loaded =
        load_nvrtc(&nvrtc) && compile_once(nvrtc, "__global__ void warm() {}");

    if (!loaded)
        return -1;
    const double start = now_us();
    const bool done = compile_once(nvrtc, source);
    return done ? (now_us() - start) / 1e3 : -1;
}

} // namespace

/* clang-format off */
extern "C" const machine cuda_machine = {
    "cuda", (int64_t)1 << 28, cuda_cache_bytes, cuda_open, cuda_time_us, cuda_fill, cuda_poison,
    cuda_read, cuda_bandwidth, cuda_bandwidth_again, cuda_launch_us, cuda_launch_pool_us,
    cuda_round_trip_us, cuda_compile_ms,
};
/* clang-format on */
