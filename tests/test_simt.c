/* Users' CUDA kernels on the current device: the features of CUDA C++ against plain C; and, on the
 * host, error reports. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/os/system.h"
#include "cuda_support.h"
#include "device/memory.h"
#include "run.h"

/* ---- thread indices ---- */

static void threads_know_where_they_are(void **state)
{
    (void)state;
    static const shape shapes[] = {{{1, 1, 1}, {1, 1, 1}, 0},   {{3, 1, 1}, {7, 1, 1}, 0},
                                   {{2, 3, 1}, {5, 4, 1}, 0},   {{2, 1, 3}, {3, 5, 7}, 0},
                                   {{1, 2, 2}, {1, 1, 64}, 0},  {{400, 1, 1}, {33, 1, 1}, 0},
                                   {{2, 2, 2}, {1024, 1, 1}, 0}};
    program p = build(
        "extern \"C\" __global__ void k(unsigned *out, int n) {\n"
        "    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
        "    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
        "    unsigned i = t + b * blockDim.x * blockDim.y * blockDim.z;\n"
        "    unsigned *o = out + 8 * i;\n"
        "    uint3 at = threadIdx; dim3 size = gridDim;\n"
        "    if (8 * i + 7 >= n) return;\n"
        "    o[0] = at.x; o[1] = at.y; o[2] = at.z; o[3] += i;\n"
        "    o[4] = blockIdx.x; o[5] = blockIdx.y; o[6] = blockIdx.z; o[7] = size.y + warpSize;\n"
        "}\n",
        KERNELS("k"));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *g = shapes[i].grid, *b = shapes[i].block;
        const int n = (int)(8 * g[0] * g[1] * g[2] * b[0] * b[1] * b[2]);
        unsigned *out = calloc((size_t)n, sizeof *out), *o = out;
        assert_ok(run(p.kernels[0], shapes[i], out, n, sizeof *out));
        for (unsigned block = 0; block < g[0] * g[1] * g[2]; block++) {
            for (unsigned thread = 0; thread < b[0] * b[1] * b[2]; thread++, o += 8) {
                assert_int_equal(o[0], thread % b[0]);
                assert_int_equal(o[1], thread / b[0] % b[1]);
                assert_int_equal(o[2], thread / b[0] / b[1]);
                assert_int_equal(o[3], block * b[0] * b[1] * b[2] + thread);
                assert_int_equal(o[4], block % g[0]);
                assert_int_equal(o[5], block / g[0] % g[1]);
                assert_int_equal(o[6], block / g[0] / g[1]);
                assert_int_equal(o[7], g[1] + 32);
            }
        }
        free(out);
    }
    backend->code.unload(p.image);
}

/* ---- shared memory and barriers ---- */

static const char sum_text[] =
    "template <class T> __device__ T block_sum(T value) {\n"
    "    __shared__ T part[1024];\n"
    "    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
    "    int size = blockDim.x * blockDim.y * blockDim.z;\n"
    "    part[t] = value;\n"
    "    __syncthreads();\n"
    "    for (int step = 1; step < size; step *= 2) {\n"
    "        T other = t + step < size && t % (2 * step) == 0 ? part[t + step] : T(0);\n"
    "        __syncthreads();\n"
    "        part[t] += other;\n"
    "        __syncthreads();\n"
    "    }\n"
    "    return part[0];\n"
    "}\n"
    "extern \"C\" __global__ void k(int *out, int n) {\n"
    "    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
    "    int sum = block_sum<int>(t + blockIdx.x);\n"
    "    double twice = block_sum<double>(2.0 * (t + blockIdx.x));\n"
    "    if (t == blockDim.x * blockDim.y * blockDim.z - 1) out[blockIdx.x] = twice == 2.0 * sum ? "
    "sum : -1;\n"
    "}\n";

/* Blocks of a launch: more than there are threads, and fewer for slow checkers. */
enum { MANY = 301 };

static int blocks_here(void)
{
    return getenv("QUARRY_TEST_REDUCED") ? 31 : MANY;
}

static void barriers_order_shared_memory(void **state)
{
    (void)state;
    static const int64_t blocks[][3] = {{1, 1, 1},   {2, 1, 1}, {31, 1, 1},  {32, 1, 1}, {33, 1, 1},
                                        {100, 1, 1}, {7, 9, 3}, {256, 1, 1}, {16, 16, 4}};
    const int count = blocks_here();
    int out[MANY];
    program p = build(sum_text, KERNELS("k"));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const int64_t *b = blocks[i];
        const int size = (int)(b[0] * b[1] * b[2]);
        const shape s = {{count, 1, 1}, {b[0], b[1], b[2]}, 0};
        memset(out, 0, sizeof out);
        assert_ok(run(p.kernels[0], s, out, count, sizeof *out));
        for (int block = 0; block < count; block++)
            assert_int_equal(out[block], size * (size - 1) / 2 + size * block);
    }
    backend->code.unload(p.image);
}

/* Plain variables, which a compiler would like to keep in registers. */
static void shared_scalars_are_shared(void **state)
{
    (void)state;
    int out[64] = {0};
    assert_ok(
        run_text("__shared__ int outside;\n"
                 "static __global__ void k(int *out, int n) {\n"
                 "    __shared__ int flag; static __shared__ volatile int other;\n"
                 "    for (int i = 0; i < blockDim.x; i++) {\n"
                 "        if (threadIdx.x == i) { flag = 3 * i; other = i; outside = i + 1; }\n"
                 "        __syncthreads();\n"
                 "        out[threadIdx.x] += flag + other + outside;\n"
                 "        __syncthreads();\n"
                 "    }\n"
                 "}\n",
                 line(1, 64), out, 64, sizeof *out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], 5 * 63 * 64 / 2 + 64);
}

static void barriers_count_and_vote(void **state)
{
    (void)state;
    int out[3 * 77] = {0};
    assert_ok(run_text("extern \"C\" __global__ void k(int *out, int n) {\n"
                       "    int t = threadIdx.x, *o = out + 3 * t;\n"
                       "    o[0] = __syncthreads_count(t % 3 == 0 ? 5 : 0);\n"
                       "    o[1] = __syncthreads_and(t < 77) + 2 * __syncthreads_and(t != 40);\n"
                       "    o[2] = __syncthreads_or(t == 76) + 2 * __syncthreads_or(t > 76);\n"
                       "}\n",
                       line(1, 77), out, 3 * 77, sizeof *out));
    for (int i = 0; i < 77; i++) {
        assert_int_equal(out[3 * i], 26);
        assert_int_equal(out[3 * i + 1], 1);
        assert_int_equal(out[3 * i + 2], 1);
    }
}

/* In a kernel, in a template, in a namespace, at file scope, with an alignment, two with one
 * memory, an array of arrays, through a macro. */
static void dynamic_shared_memory(void **state)
{
    (void)state;
    int out[4 * 100];
    program p = build("extern __shared__ int everywhere[];\n"
                      "namespace deep { extern __shared__ __align__(16) float4 vectors[];\n"
                      "    __device__ float get(int i) { return vectors[i].y; } }\n"
                      "#define DYNAMIC(T, name) extern __shared__ T name[]\n"
                      "template <class T> __device__ T swap(T value) {\n"
                      "    extern __shared__ __align__(8) unsigned char raw[];\n"
                      "    T *values = reinterpret_cast<T *>(raw);\n"
                      "    values[threadIdx.x] = value;\n"
                      "    __syncthreads();\n"
                      "    T other = values[blockDim.x - 1 - threadIdx.x];\n"
                      "    __syncthreads();\n"
                      "    return other;\n"
                      "}\n"
                      "extern \"C\" __global__ void k(int *out, int n) {\n"
                      "    extern __shared__ float a[], /* two */ grid[][4];\n"
                      "    DYNAMIC(volatile int, bits);\n"
                      "    int t = threadIdx.x;\n"
                      "    out[4 * t] = swap<int>(t) + swap<double>(2 * t);\n"
                      "    a[t] = 1.0f;\n"
                      "    __syncthreads();\n"
                      "    out[4 * t + 1] = bits[(t + 1) % blockDim.x] == 0x3f800000 && grid[t / "
                      "4][t % 4] == 1;\n"
                      "    __syncthreads();\n"
                      "    everywhere[4 * t + 1] = __float_as_int((float)t);\n"
                      "    __syncthreads();\n"
                      "    out[4 * t + 2] = deep::get(t);\n"
                      "    __syncthreads();\n"
                      "    everywhere[t] = t;\n"
                      "    __syncthreads();\n"
                      "    out[4 * t + 3] = everywhere[(t + 7) % blockDim.x];\n"
                      "}\n",
                      KERNELS("k"));
    shape s = line(1, 100);
    for (s.shared = 1600; s.shared < 60000; s.shared += 46400) {
        memset(out, 0, sizeof out);
        assert_ok(run(p.kernels[0], s, out, 400, sizeof *out));
        for (int i = 0; i < 100; i++) {
            assert_int_equal(out[4 * i], 99 - i + 2 * (99 - i));
            assert_int_equal(out[4 * i + 1], 1);
            assert_int_equal(out[4 * i + 2], i);
            assert_int_equal(out[4 * i + 3], (i + 7) % 100);
        }
    }
    backend->code.unload(p.image);
}

static void shared_memory_has_no_values_at_first(void **state)
{
    (void)state;
    need_host("what is there is not known");
    int out[3 * 40];
    shape s = line(40, 1);
    s.shared = 400;
    assert_ok(run_text("extern \"C\" __global__ void k(int *out, int n) {\n"
                       "    __shared__ int a[100]; extern __shared__ float b[];\n"
                       "    int *o = out + 3 * blockIdx.x;\n"
                       "    o[0] = a[57]; o[1] = b[99] == b[99]; o[2] = a[99];\n"
                       "    for (int i = 0; i < 100; i++) a[i] = b[i] = i;\n"
                       "}\n",
                       s, out, 120, sizeof *out));
    for (int i = 0; i < 40; i++) {
        assert_int_equal(out[3 * i], -1);
        assert_int_equal(out[3 * i + 1], 0);
        assert_int_equal(out[3 * i + 2], -1);
    }
}

/* ---- warps ---- */

static int segment_of(int lane, int width)
{
    return lane - lane % width;
}

static void shuffles_read_other_lanes(void **state)
{
    (void)state;
    enum { N = 96 };
    int out[5 * N];
    program p =
        build("extern \"C\" __global__ void k(int *out, int n) {\n"
              "    int t = threadIdx.x, v = 100 * t, *o = out + 5 * t;\n"
              "    const int width = n >> 16;\n"
              "    o[0] = __shfl_sync(0xffffffff, v, t + 3, width);\n"
              "    o[1] = (int)__shfl_up_sync(0xffffffff, (float)v, 3, width);\n"
              "    o[2] = (int)__shfl_down_sync(0xffffffff, (double)v, 3, width);\n"
              "    o[3] = (int)__shfl_xor_sync(0xffffffff, (unsigned long long)v, 5, width);\n"
              "    o[4] = __shfl_sync(0xffffffff, (short)v, 9);\n"
              "}\n",
              KERNELS("k"));
    for (int width = 1; width <= 32; width *= 2) {
        ga__buffer *buffer = ga__buffer_new(device, sizeof out);
        int n = width << 16;
        assert_ok(launch_at(p.kernels[0], line(1, N), (void *[]){&buffer->memory, &n}));
        assert_ok(backend->memory.copy(&device->stream, out, buffer->memory, sizeof out,
                                       GA__DEVICE_TO_HOST));
        for (int t = 0; t < N; t++) {
            const int base = t - t % 32, lane = t % 32, segment = segment_of(lane, width);
            const int indexed = segment + (t + 3) % width;
            const int up = lane - 3 < segment ? lane : lane - 3;
            const int down = lane + 3 >= segment + width ? lane : lane + 3;
            const int crossed = (lane ^ 5) >= segment + width ? lane : lane ^ 5;
            assert_int_equal(out[5 * t], 100 * (base + indexed));
            assert_int_equal(out[5 * t + 1], 100 * (base + up));
            assert_int_equal(out[5 * t + 2], 100 * (base + down));
            assert_int_equal(out[5 * t + 3], 100 * (base + crossed));
            assert_int_equal(out[5 * t + 4], 100 * (base + 9));
        }
        ga__buffer_release(buffer);
    }
    backend->code.unload(p.image);
}

static void warps_vote_match_and_reduce(void **state)
{
    (void)state;
    enum { N = 50, ITEMS = 14 }; /* the second warp has 18 lanes */
    unsigned out[ITEMS * N];
    assert_ok(
        run_text("extern \"C\" __global__ void k(unsigned *out, int n) {\n"
                 "    const unsigned all = 0xffffffff, lanes = threadIdx.x < 32 ? all : 0x3ffff;\n"
                 "    int t = threadIdx.x, equal = 7; unsigned *o = out + 14 * t;\n"
                 "    o[0] = __ballot_sync(all, t % 3 == 0);\n"
                 "    o[1] = __any_sync(all, t == 40) + 2 * __any_sync(all, t < 0);\n"
                 "    o[2] = __all_sync(all, t < 32) + 2 * __all_sync(all, t % 32 != 5);\n"
                 "    o[3] = __uni_sync(all, t < 32);\n"
                 "    o[4] = __match_any_sync(lanes, t % 4);\n"
                 "    o[5] = __match_all_sync(lanes, t / 32, &equal) + equal;\n"
                 "    o[6] = __match_all_sync(lanes, t, &equal) + equal;\n"
                 "    o[7] = __reduce_add_sync(lanes, (unsigned)t);\n"
                 "    o[8] = __reduce_min_sync(lanes, 3 - t);\n"
                 "    o[9] = __reduce_max_sync(lanes, 3u - t);\n"
                 "    o[10] = __reduce_and_sync(lanes, t | 64u);\n"
                 "    o[11] = __reduce_or_sync(lanes, 1u << t % 16);\n"
                 "    o[12] = __reduce_xor_sync(lanes, (unsigned)t);\n"
                 "    o[13] = __activemask();\n"
                 "}\n",
                 line(1, N), out, ITEMS * N, sizeof *out));
    for (int t = 0; t < N; t++) {
        const unsigned *o = out + ITEMS * t;
        const bool first = t < 32;
        unsigned threes = 0, fours = 0, crossed = 0;
        for (int i = first ? 0 : 32; i < (first ? 32 : N); i++) {
            threes |= (unsigned)(i % 3 == 0) << i % 32;
            fours |= (unsigned)(i % 4 == t % 4) << i % 32;
            crossed ^= (unsigned)i;
        }
        const unsigned lanes = first ? 0xffffffff : 0x3ffff;
        assert_int_equal(o[0], threes);
        assert_int_equal(o[1], first ? 0 : 1);
        assert_int_equal(o[2], first ? 1 : 0);
        assert_int_equal(o[3], 1);
        assert_int_equal(o[4], fours);
        assert_int_equal(o[5], lanes + 1);
        assert_int_equal(o[6], 0);
        assert_int_equal(o[7], first ? 31 * 32 / 2 : (32 + 49) * 18 / 2);
        assert_int_equal((int)o[8], first ? -28 : -46);
        assert_int_equal(o[9], first ? 0xffffffff : 3u - 32);
        assert_int_equal(o[10], first ? 64 : 96);
        assert_int_equal(o[11], 0xffff);
        assert_int_equal(o[12], crossed);
        assert_int_equal(o[13], lanes);
    }
}

/* Lanes of two branches, and of one branch that other lanes have left. */
static void parts_of_a_warp_work_together(void **state)
{
    (void)state;
    int out[4 * 64] = {0};
    assert_ok(run_text(
        "extern \"C\" __global__ void k(int *out, int n) {\n"
        "    int t = threadIdx.x, lane = t % 32, *o = out + 4 * t;\n"
        "    __shared__ int slots[64];\n"
        "    if (lane < 12) {\n"
        "        unsigned active = __activemask();\n"
        "        o[0] = __popc(active);\n"
        "        for (int i = 0; i < 3; i++) o[1] += __shfl_xor_sync(0xfff, lane + i, 1);\n"
        "    } else {\n"
        "        o[0] = __popc(__activemask());\n"
        "        o[1] = __ballot_sync(0xfffff000, lane & 1);\n"
        "        slots[t] = 10 * t;\n"
        "        __syncwarp(0xfffff000);\n"
        "        o[2] = slots[lane == 31 ? t - 19 : t + 1];\n"
        "    }\n"
        "    if (lane >= 28) return;\n"
        "    __syncwarp();\n"
        "    o[3] = __shfl_down_sync(0xfffffff, t, lane < 27);\n"
        "}\n",
        line(1, 64), out, 256, sizeof *out));
    for (int t = 0; t < 64; t++) {
        const int lane = t % 32, *o = out + 4 * t;
        assert_int_equal(o[0], lane < 12 ? 12 : 20);
        assert_int_equal(o[1], lane < 12 ? 3 * (lane ^ 1) + 3 : (int)0xaaaaa000);
        assert_int_equal(o[2], lane < 12 ? 0 : 10 * (lane == 31 ? t - 19 : t + 1));
        assert_int_equal(o[3], lane >= 28 ? 0 : t + (lane < 27));
    }
}

/* One atomic addition for the lanes that are in a branch together. */
static void lanes_of_a_branch_aggregate(void **state)
{
    (void)state;
    int out[1 + 300] = {0};
    assert_ok(run_text("extern \"C\" __global__ void k(int *out, int n) {\n"
                       "    int t = threadIdx.x, place, lane = t % 32;\n"
                       "    if (t % 5 == 2) {\n"
                       "        unsigned mask = __activemask();\n"
                       "        int leader = __ffs(mask) - 1;\n"
                       "        if (lane == leader) place = atomicAdd(out, __popc(mask));\n"
                       "        place = __shfl_sync(mask, place, leader);\n"
                       "        out[1 + place + __popc(mask & ((1u << lane) - 1))] = t;\n"
                       "    }\n"
                       "}\n",
                       line(1, 300), out, 301, sizeof *out));
    assert_int_equal(out[0], 60);
    int sum = 0;
    for (int i = 0; i < 60; i++) {
        assert_int_equal(out[1 + i] % 5, 2);
        sum += out[1 + i];
    }
    assert_int_equal(sum, 60 * 2 + 5 * 59 * 60 / 2);
}

static void block_sums_by_shuffles(void **state)
{
    (void)state;
    enum { BLOCKS = 500, THREADS = 224 };
    int out[BLOCKS] = {0};
    assert_ok(run_text("__inline__ __device__ int warp_sum(int v) {\n"
                       "    for (int o = warpSize / 2; o > 0; o /= 2)\n"
                       "        v += __shfl_down_sync(0xffffffff, v, o);\n"
                       "    return v;\n"
                       "}\n"
                       "extern \"C\" __global__ void __launch_bounds__(224) k(int *out, int n) {\n"
                       "    __shared__ int parts[32];\n"
                       "    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;\n"
                       "    int v = warp_sum(threadIdx.x * (blockIdx.x + 1));\n"
                       "    if (lane == 0) parts[warp] = v;\n"
                       "    __syncthreads();\n"
                       "    if (warp == 0) {\n"
                       "        v = warp_sum(lane < blockDim.x / warpSize ? parts[lane] : 0);\n"
                       "        if (lane == 0) out[blockIdx.x] = v;\n"
                       "    }\n"
                       "}\n",
                       line(BLOCKS, THREADS), out, BLOCKS, sizeof *out));
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(out[i], THREADS * (THREADS - 1) / 2 * (i + 1));
}

/* A thread that sleeps until another thread of its block has written. */
static void sleeping_lets_others_run(void **state)
{
    (void)state;
    int out[8] = {0};
    assert_ok(run_text("extern \"C\" __global__ void k(volatile int *out, int n) {\n"
                       "    int t = threadIdx.x;\n"
                       "    while (t < 7 && out[t + 1] == 0) __nanosleep(100);\n"
                       "    __threadfence();\n"
                       "    out[t] = t == 7 ? 1 : out[t + 1] + 1;\n"
                       "}\n",
                       line(1, 8), out, 8, sizeof *out));
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], 8 - i);
}

/* ---- atomics ---- */

static void atomics_of_many_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 120, THREADS = 100, N = BLOCKS * THREADS };
    unsigned long long out[20] = {[3] = 1000000, [7] = ~0ull, [12] = ~0ull >> 1, [16] = 5};
    assert_ok(run_text(
        "extern \"C\" __global__ void k(unsigned long long *out, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    atomicAdd((int *)out, -3);\n"
        "    atomicAdd((unsigned *)(out + 1), 5u);\n"
        "    atomicAdd(out + 2, 1ull << 33);\n"
        "    atomicSub((int *)(out + 3), 2);\n"
        "    atomicAdd((float *)(out + 4), 0.5f);\n"
        "    atomicAdd((double *)(out + 5), 0.25);\n"
        "    atomicMax((int *)(out + 6), i);\n"
        "    atomicMin((unsigned *)(out + 7), 77u + i);\n"
        "    atomicOr(out + 8, 1ull << i % 40);\n"
        "    atomicXor((unsigned *)(out + 9), 1u << i % 32);\n"
        "    atomicInc((unsigned *)(out + 10), 99u);\n"
        "    atomicDec((unsigned *)(out + 11), 49u);\n"
        "    atomicAnd((long long *)(out + 12), ~(1ll << i % 20));\n"
        "    if (atomicExch((int *)(out + 13), 1) == 0) atomicAdd_block((int *)(out + 14), 1);\n"
        "    unsigned short *lock = (unsigned short *)(out + 15);\n"
        "    while (atomicCAS(lock, (unsigned short)0, (unsigned short)1) != 0) ;\n"
        "    __threadfence();\n"
        "    *(volatile unsigned long long *)(out + 16) += 1;\n"
        "    __threadfence();\n"
        "    atomicCAS(lock, (unsigned short)1, (unsigned short)0);\n"
        "    atomicMax((long long *)(out + 17), (long long)i - 5);\n"
        "    atomicAdd_system((float *)(out + 18), 1.0f);\n"
        "}\n",
        line(BLOCKS, THREADS), out, 20, sizeof *out));
    int ints[2];
    float floats[2];
    double real;
    memcpy(ints, &out[0], sizeof ints);
    assert_int_equal(ints[0], -3 * N);
    assert_int_equal(out[1], 5 * N);
    assert_int_equal(out[2], (unsigned long long)N << 33);
    assert_int_equal(out[3], 1000000 - 2 * N);
    memcpy(floats, &out[4], sizeof floats);
    assert_true(floats[0] == 0.5F * N);
    memcpy(&real, &out[5], sizeof real);
    assert_true(real == 0.25 * N);
    assert_int_equal(out[6], N - 1);
    assert_int_equal((unsigned)out[7], 77);
    assert_int_equal(out[8], (1ull << 40) - 1);
    assert_int_equal(out[9], N / 32 % 2 ? 0xffffffff : 0);
    assert_int_equal(out[10], N % 100);
    assert_int_equal(out[11], (50 - N % 50) % 50);
    assert_int_equal(out[12], (~0ull >> 1) - ((1 << 20) - 1));
    assert_int_equal(out[13], 1);
    assert_int_equal(out[14], 1);
    assert_int_equal(out[15], 0);
    assert_int_equal(out[16], 5 + N);
    assert_int_equal(out[17], N - 6);
    memcpy(floats, &out[18], sizeof floats);
    assert_true(floats[0] == N);
}

/* ---- intrinsics and mathematics ---- */

/* An expression of CUDA C++ and its value, from CUDA's documentation. */
typedef struct known {
    const char *expression;
    double value;
} known;

/* Evaluates the expressions in one kernel, as doubles. */
static void evaluate(const known *table, int n, double *out)
{
    char *text = malloc(4096 + 256 * (size_t)n);
    int length = sprintf(text, "extern \"C\" __global__ void k(double *out, int n) {\n"
                               "    const float pinf = __int_as_float(0x7f800000);\n"
                               "    const float nan_ = __int_as_float(0x7fc00000);\n"
                               "    int e; float f; double d;\n");
    for (int i = 0; i < n; i++)
        length += sprintf(text + length, "    out[%d] = (double)(%s);\n", i, table[i].expression);
    sprintf(text + length, "}\n");
    assert_ok(run_text(text, line(1, 1), out, n, sizeof *out));
    free(text);
}

static void check_known(const known *table, int n, double relative)
{
    double *out = calloc((size_t)n, sizeof *out);
    evaluate(table, n, out);
    for (int i = 0; i < n; i++) {
        const double wanted = table[i].value;
        const bool same = isnan(wanted) ? isnan(out[i]) : out[i] == wanted;
        if (!same && !(fabs(out[i] - wanted) <= relative * fabs(wanted)))
            fail_msg("%s: %.17g, not %.17g", table[i].expression, out[i], wanted);
    }
    free(out);
}

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void integer_intrinsics(void **state)
{
    (void)state;
    static const known table[] = {
        {"__popc(0x12345678)", 13},
        {"__popcll(0x1ffffffffull)", 33},
        {"__clz(0)", 32},
        {"__clz(-1)", 0},
        {"__clz(0x01000000)", 7},
        {"__clzll(0)", 64},
        {"__clzll(1)", 63},
        {"__ffs(0)", 0},
        {"__ffs(0x30)", 5},
        {"__ffsll(1ll << 34)", 35},
        {"__brev(0x12345678)", 0x1e6a2c48},
        {"__brevll(0x12345678ull) >> 32", 0x1e6a2c48},
        {"__byte_perm(0x12345678, 0x9abcdef0, 0x3210)", 0x12345678},
        {"__byte_perm(0x12345678, 0x9abcdef0, 0x5410)", 0xdef05678},
        {"__byte_perm(0x80, 0, 0x8800)", 0x80808080},
        {"__mulhi(-3, 1 << 30)", -1},
        {"__umulhi(3u, 1u << 31)", 1},
        {"__mul64hi(-2, 1ll << 62)", -1},
        {"__umul64hi(6, 1ull << 63)", 3},
        {"__mul24(0x7000002, -3)", -6},
        {"__umul24(0x1000003, 5)", 15},
        {"__hadd(-3, -4)", -4},
        {"__rhadd(-3, -4)", -3},
        {"__uhadd(0xffffffffu, 0u)", 0x7fffffff},
        {"__urhadd(0xffffffffu, 0u)", 0x80000000},
        {"__funnelshift_l(0x91234567, 0x12345678, 4)", 0x23456789},
        {"__funnelshift_r(0x91234567, 0x12345678, 4)", 0x89123456},
        {"__funnelshift_lc(0x91234567, 0x12345678, 40)", 0x91234567},
        {"__funnelshift_rc(0x91234567, 0x12345678, 32)", 0x12345678},
        {"__sad(-3, 4, 2u)", 9},
        {"__usad(3u, 1u, 2u)", 4},
        {"__dp4a(0x01020304, 0x05060708, 1)", 71},
        {"__dp4a(0xff, 2, 0)", -2},
        {"__dp4a(0xffu, 2u, 0u)", 510},
        {"min(-1, 2u)", 2},
        {"max(-1ll, 2ll)", 2},
        {"min(2ul, 3l)", 2},
        {"max((short)3, (short)-3)", 3},
        {"umax(2u, 3u) + llmin(2ll, 3ll)", 5},
        {"abs(-7) + labs(-8l) + llabs(-9ll) + abs(-1ll)", 25},
    };
    check_known(table, COUNT(table), 0);
}

static void conversions_round_and_saturate(void **state)
{
    (void)state;
    static const known table[] = {
        {"__float2int_rn(2.5f)", 2},
        {"__float2int_rz(-2.7f)", -2},
        {"__float2int_ru(2.1f)", 3},
        {"__float2int_rd(-2.1f)", -3},
        {"__float2int_rz(1e10f)", 2147483647},
        {"__float2int_rz(-1e10f)", -2147483648.0},
        {"__float2int_rn(nan_)", 0},
        {"__float2uint_rz(-1.0f)", 0},
        {"__float2uint_rz(1e10f)", 4294967295.0},
        {"__float2ull_rn(pinf) == ~0ull", 1},
        {"__double2int_rn(1e300)", 2147483647},
        {"__double2ll_rz(-1e300) == (-0x7fffffffffffffffll - 1)", 1},
        {"__int2float_rn(16777217)", 16777216},
        {"__int2float_ru(16777217)", 16777218},
        {"__int2float_rz(-16777217)", -16777216},
        {"__int2float_rd(-16777217)", -16777218},
        {"__ull2double_rd(~0ull) < 18446744073709551616.0", 1},
        {"__double2float_ru(0.1) > 0.1", 1},
        {"__double2float_rd(0.1) < 0.1", 1},
        {"__fadd_rn(1.0f, 1e-10f)", 1},
        {"__fadd_ru(1.0f, 1e-10f) > 1.0f", 1},
        {"__fadd_rd(1.0f, -1e-10f) < 1.0f", 1},
        {"__fmul_rz(1.0f + 0x1p-23f, 1.0f + 0x1p-23f)", 1 + 0x1p-22},
        {"__fdiv_ru(1.0f, 3.0f) - __fdiv_rd(1.0f, 3.0f)", 0x1p-25},
        {"__dsub_ru(1.0, 1e-30)", 1},
        {"__dsub_rd(1.0, 1e-30) < 1.0", 1},
        {"__fsqrt_rn(2.25f) + __frcp_rn(4.0f)", 1.75},
        {"__fmaf_rn(3.0f, 4.0f, 5.0f) + __fma_rn(2.0, 3.0, 4.0)", 27},
        {"__float_as_int(1.0f)", 0x3f800000},
        {"__uint_as_float(0x40000000u)", 2},
        {"__longlong_as_double(__double_as_longlong(1.5))", 1.5},
        {"__hiloint2double(__double2hiint(-0.7), __double2loint(-0.7))", -0.7},
        {"__saturatef(1.5f) + __saturatef(-3.0f) + __saturatef(nan_)", 1},
    };
    check_known(table, COUNT(table), 0);
}

static void mathematical_functions(void **state)
{
    (void)state;
    const known table[] = {
        {"sinf(0.5f)", sin(0.5)},
        {"sin(0.5f)", sin(0.5)},
        {"sin(0.5)", sin(0.5)},
        {"cosf(0.5f) + tanf(0.25f)", cos(0.5) + tan(0.25)},
        {"expf(1.5f)", exp(1.5)},
        {"exp2(2.5) + exp10(1.5) + expm1(0.25)", exp2(2.5) + pow(10, 1.5) + expm1(0.25)},
        {"log(3.0) + log2(3.0) + log10(3.0) + log1p(3.0)", log(3) + log2(3) + log10(3) + log1p(3)},
        {"pow(2.0f, 3) + pow(2.0, -1) + powf(2.0f, 0.5f)", 8.5 + sqrt(2)},
        {"sqrtf(2.0f) + cbrt(27.0) + rsqrtf(4.0f) + rsqrt(16.0) + rcbrt(8.0)", sqrt(2) + 4.25},
        {"hypot(3.0, 4.0) + rhypot(3.0f, 4.0f) + norm3d(2.0, 3.0, 6.0) + norm4df(1, 1, 1, 1)",
         14.2},
        {"atan2(1.0, -1.0) + asin(0.5) + acosf(0.5f)", atan2(1, -1) + asin(0.5) + acos(0.5)},
        {"sinh(1.0) + cosh(1.0) + tanhf(0.5f)", exp(1) + tanh(0.5)},
        {"asinh(1.0) + acosh(2.0) + atanh(0.5)", asinh(1) + acosh(2) + atanh(0.5)},
        {"erff(0.5f) + erfc(0.5)", 1},
        {"tgamma(5.0) + lgamma(1.0f)", 24},
        {"sinpi(0.25) * sinpi(0.25) + sinpi(1e15 + 0.5) + cospif(2.5f)", 0.5 + 1},
        {"cospi(1.0 / 3.0) + cospi(1e15)", 1.5},
        {"(sincosf(0.5f, &f, &f), f) + (sincospi(0.5, &d, &d), d)", cos(0.5)},
        {"fabs(-1.5) + fabsf(-1.5f) + abs(-1.5f)", 4.5},
        {"floor(-1.5) + ceil(-1.5f) + trunc(1.7) + rint(2.5) + round(2.5)", 3},
        {"fmod(7.5, 2.0) + remainder(7.5, 2.0) + fdim(3.0f, 1.0f)", 1.5 - 0.5 + 2},
        {"fmin(1.0f, nan_) + fmaxf(nan_, 2.0f) + min(1.0f, 2.0) + max(1.0f, 2.0f)", 6},
        {"fma(2.0f, 3.0f, 4.0f) + copysign(2.0, -1.0) + ldexp(1.5f, 3)", 10 - 2 + 12},
        {"frexp(12.0, &e) + e + modf(3.25, &d) + d", 0.75 + 4 + 3.25},
        {"lrint(2.5f) + llround(2.5) + ilogb(8.0)", 2 + 3 + 3},
        {"isnan(nan_) + isinf(pinf) + isfinite(1.0) + !isfinite(pinf) + signbit(-0.0f)", 5},
        {"erfinv(0.5)", 0.47693627620446987},
        {"erfinv(-0.999999)", -3.4589107372795},
        {"erfinvf(1e-5f)", 8.8622692545e-6},
        {"erfcinv(1e-100)", 15.065574702592645},
        {"erfcx(3.0)", 0.17900115118138995},
        {"erfcx(30.0)", 0.018795888861416751},
        {"normcdf(1.0)", 0.84134474606854293},
        {"normcdfinv(0.975)", 1.9599639845400545},
        {"normcdfinvf(1e-10f)", -6.361340902404057},
        {"j0(1.0) + y1(2.0f) + jn(2, 3.0)",
         0.76519768655796655 - 0.10703243154093755 + 0.48609126058589108},
        {"__expf(1.0f) * __logf(2.0f) * __powf(2.0f, 3.0f)", exp(1) * log(2) * 8},
        {"__fdividef(1.0f, 4.0f) + fdividef(1.0f, 4.0f) + __frsqrt_rn(4.0f)", 1},
        {"nearbyintf(0.5f) + nextafterf(1.0f, 2.0f) > 1.0f", 1},
    };
    check_known(table, COUNT(table), 3e-6);
}

static void vector_types(void **state)
{
    (void)state;
    static const known table[] = {
        {"sizeof(char3) + 10 * alignof(char4) + 100 * alignof(uchar2)", 243},
        {"sizeof(short3) + 10 * alignof(ushort4)", 86},
        {"sizeof(float3) + 100 * alignof(float3) + 1000 * sizeof(float4)", 16412},
        {"alignof(float2) + 100 * alignof(float4) + 10000 * alignof(int4)", 161608},
        {"sizeof(double3) + 100 * alignof(double2) + 10000 * alignof(long2)", 161624},
        {"sizeof(longlong4) + 100 * sizeof(ulong1) + 1000 * sizeof(uint3)", 12832},
        {"make_float4(1, 2, 3, 4).w + make_char2(-1, -2).y + make_ulonglong1(5).x", 7},
        {"make_double3(1, 2, 3).z + make_short3(1, 2, 3).y + make_uint2(7, 8).x", 12},
        {"dim3(4, 5).y + dim3(4).z + dim3(make_uint3(1, 2, 3)).x + uint3(dim3(9)).x", 16},
    };
    check_known(table, COUNT(table), 0);
}

/* ---- parameters, templates, variables ---- */

static void parameters_of_all_kinds(void **state)
{
    (void)state;
    struct point {
        char tag;
        double x[3];
    };
    int out[4] = {0}, n = 4;
    program p = build(
        "struct point { char tag; double x[3]; };\n"
        "struct empty {};\n"
        "__global__ void many(int *out, char a, point b, float4 v, bool c, empty e, short d,\n"
        "                     const double *null, unsigned long long f) {\n"
        "    int t = threadIdx.x;\n"
        "    b.x[1] += 1; a++;\n" /* each thread has its own */
        "    out[t] = a + b.tag + b.x[1] + v.z + c + d + (null == nullptr) + (int)(f >> 32);\n"
        "}\n"
        "__global__ void none() {}\n",
        KERNELS("many", "none"));
    ga__function_info info;
    assert_ok(backend->user.info(device, p.kernels[0], &info));
    static const size_t sizes[] = {8, 1, 32, 16, 1, 1, 2, 8, 8};
    assert_int_equal(info.nparams, 9);
    for (int i = 0; i < 9; i++)
        assert_int_equal(info.param_bytes[i], sizes[i]);
    assert_true(info.max_threads >= 1);
    assert_true(info.max_shared_bytes >= 232448);
    assert_int_equal(info.shared_bytes, 0);
    assert_ok(backend->user.info(device, p.kernels[1], &info));
    assert_int_equal(info.nparams, 0);

    ga__buffer *buffer = ga__buffer_new(device, sizeof out);
    char bytes[64] = {0}, a = 1, c = 1, e = 0;
    struct point b = {2, {0, 30, 0}};
    float v[4] = {0, 0, 400, 0};
    short d = 5000;
    void *null = NULL;
    unsigned long long f = 60000ull << 32;
    memcpy(bytes + 1, v, sizeof v); /* an address that is not a multiple of 16 */
    assert_ok(launch_at(p.kernels[0], line(1, n),
                        (void *[]){&buffer->memory, &a, &b, bytes + 1, &c, &e, &d, &null, &f}));
    assert_ok(
        backend->memory.copy(&device->stream, out, buffer->memory, sizeof out, GA__DEVICE_TO_HOST));
    for (int i = 0; i < n; i++)
        assert_int_equal(out[i], 2 + 2 + 31 + 400 + 1 + 5000 + 1 + 60000);
    assert_ok(launch_at(p.kernels[1], line(2, 3), NULL));
    ga__buffer_release(buffer);
    backend->code.unload(p.image);
}

static void templates_and_namespaces(void **state)
{
    (void)state;
    int out[2] = {0};
    double real[2] = {0};
    program p = build("namespace a { namespace b {\n"
                      "template <class T, int N> __global__ void fill(T *out, int n) {\n"
                      "    __shared__ T last;\n"
                      "    if (threadIdx.x == blockDim.x - 1) last = N;\n"
                      "    __syncthreads();\n"
                      "    out[threadIdx.x] = last + sizeof(T);\n"
                      "} } }\n"
                      "namespace { __global__ void hidden(int *out, int n) { out[0] = n; } }\n",
                      KERNELS("a::b::fill<int, 7>", "a::b::fill<double, -7>", "hidden"));
    assert_ok(run(p.kernels[0], line(1, 2), out, 2, sizeof *out));
    assert_int_equal(out[1], 11);
    assert_ok(run(p.kernels[1], line(1, 2), real, 2, sizeof *real));
    assert_true(real[0] == 1.0);
    assert_ok(run(p.kernels[2], line(1, 1), out, 2, sizeof *out));
    assert_int_equal(out[0], 2);
    backend->code.unload(p.image);
}

static void variables_are_found(void **state)
{
    (void)state;
    int out[3] = {0};
    const float weights[3] = {1, 20, 300};
    const double offset = 4000;
    void *memory = NULL;
    size_t nbytes = 0;
    program p = build("__constant__ float weights[3] = {9, 9, 9};\n"
                      "namespace deep { namespace er { __device__ double offset; } }\n"
                      "__device__ int counter = 5;\n"
                      "extern \"C\" __global__ void k(int *out, int n) {\n"
                      "    out[threadIdx.x] = weights[threadIdx.x] + deep::er::offset;\n"
                      "    atomicAdd(&counter, 1);\n"
                      "}\n",
                      KERNELS("k"));
    assert_ok(backend->user.global(device, p.image, "weights", &memory, &nbytes));
    assert_int_equal(nbytes, sizeof weights);
    assert_ok(backend->memory.copy(&device->stream, memory, weights, nbytes, GA__HOST_TO_DEVICE));
    assert_ok(backend->user.global(device, p.image, "_ZN4deep2er6offsetE", &memory, &nbytes));
    assert_int_equal(nbytes, sizeof offset);
    assert_ok(backend->memory.copy(&device->stream, memory, &offset, nbytes, GA__HOST_TO_DEVICE));
    assert_ok(run(p.kernels[0], line(1, 3), out, 3, sizeof *out));
    assert_int_equal(out[0], 4001);
    assert_int_equal(out[1], 4020);
    assert_int_equal(out[2], 4300);
    assert_ok(backend->user.global(device, p.image, "counter", &memory, &nbytes));
    assert_ok(backend->memory.copy(&device->stream, out, memory, nbytes, GA__DEVICE_TO_HOST));
    assert_int_equal(out[0], 8);
    assert_message(backend->user.global(device, p.image, "nothing", &memory, &nbytes),
                   GA_ERR_INVALID, "no variable \"nothing\"");
    assert_message(backend->user.global(device, p.image, "k", &memory, &nbytes), GA_ERR_INVALID,
                   "no variable \"k\"");
    backend->code.unload(p.image);
}

/* Two modules of one text are two programs, whatever names they and the process share. */
static void modules_are_separate(void **state)
{
    (void)state;
    static const char text[] =
        "__device__ int write = 10;\n"
        "template <class T> __device__ T total = 100;\n"
        "template <class T> __device__ T *slot() { __shared__ T s[4]; return s; }\n"
        "__device__ int read(int x) { return x + 1; }\n"
        "extern \"C\" __global__ void k(int *out, int n) {\n"
        "    slot<int>()[threadIdx.x] = n;\n"
        "    __syncthreads();\n"
        "    write += 1; total<int> += 1;\n"
        "    out[0] = read(write) + total<int> + slot<int>()[0];\n"
        "}\n";
    int out[1] = {0};
    program a = build(text, KERNELS("k")), b = build(text, KERNELS("k"));
    for (int i = 1; i <= 2; i++) {
        assert_ok(run(a.kernels[0], line(1, 1), out, 1, sizeof *out));
        assert_int_equal(out[0], 12 + 100 + 1 + 2 * i - 1);
    }
    assert_ok(run(b.kernels[0], line(1, 1), out, 1, sizeof *out));
    assert_int_equal(out[0], 12 + 100 + 1 + 1);
    backend->code.unload(a.image);
    assert_ok(run(b.kernels[0], line(1, 1), out, 1, sizeof *out));
    assert_int_equal(out[0], 12 + 100 + 1 + 3);
    backend->code.unload(b.image);
}

/* ---- memory, the clock, printing ---- */

static void loads_memory_and_clocks(void **state)
{
    (void)state;
    int out[8] = {0};
    assert_ok(run_text("struct pair { int a, b; __device__ pair(int x) : a(x), b(x) {} };\n"
                       "extern \"C\" __global__ void k(int *out, int n) {\n"
                       "    long long before = clock64(); clock_t early = clock();\n"
                       "    pair *p = new pair(3); int *m = (int *)malloc(64);\n"
                       "    memset(m, 0, 64); m[3] = 4; memcpy(m + 4, m + 3, 4);\n"
                       "    out[0] = m[4] + m[3] + __ldg(out + 6) + __ldcs(out + 7);\n"
                       "    __stcg(out + 1, p->b);\n"
                       "    delete p; free(m);\n"
                       "    const float4 v = __ldg((const float4 *)(out + 4)); out[2] = v.x == 0;\n"
                       "    __threadfence_block(); __threadfence_system();\n"
                       "    out[3] = clock64() > before && clock() >= early;\n"
                       "    assert(out[3] >= 0);\n"
                       "}\n",
                       line(1, 1), out, 8, sizeof *out));
    assert_int_equal(out[0], 8);
    assert_int_equal(out[1], 3);
    assert_int_equal(out[2], 1);
    assert_int_equal(out[3], 1);
}

/* The function's output to standard output (free it). */
static char *printed_by(program *p)
{
    FILE *file = tmpfile();
    const int saved = dup(STDOUT_FILENO);
    char *text = calloc(1, 4096);
    int n = 0;
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    const ga_status status = run(p->kernels[0], line(2, 2), &n, 1, sizeof n);
    const ga_status waited = backend->synchronize(device);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    const size_t length = fread(text, 1, 4095, file);
    text[length] = '\0';
    fclose(file);
    assert_ok(status);
    assert_ok(waited);
    return text;
}

static void kernels_print(void **state)
{
    (void)state;
    program p = build("extern \"C\" __global__ void k(int *out, int n) {\n"
                      "    if (threadIdx.x == 1)\n"
                      "        printf(\"block %d says %s %.2f %lld\\n\", blockIdx.x, \"hello\",\n"
                      "               2.5f * blockIdx.x, 1ll << 40);\n"
                      "}\n",
                      KERNELS("k"));
    char *text = printed_by(&p);
    assert_non_null(strstr(text, "block 0 says hello 0.00 1099511627776\n"));
    assert_non_null(strstr(text, "block 1 says hello 2.50 1099511627776\n"));
    free(text);
    backend->code.unload(p.image);
}

/* ---- errors ---- */

static void refused(const char *body, shape s, const char *message)
{
    char text[2048];
    int out[64] = {0};
    snprintf(text, sizeof text, "extern \"C\" __global__ void k(int *out, int n) {\n%s\n}\n", body);
    program p = build(text, KERNELS("k"));
    assert_message(run(p.kernels[0], s, out, 64, sizeof *out), GA_ERR_DEVICE, message);
    backend->code.unload(p.image);
}

static void divergent_barriers_are_told(void **state)
{
    (void)state;
    need_host("a GPU hangs or goes on");
    refused("if (threadIdx.x >= 200) return;\n__syncthreads();", line(3, 256),
            "its 256 threads wait for each other: 200 at __syncthreads() (line 3), the first "
            "(0, 0, 0); 56 returned, the first (200, 0, 0)");
    refused("if (threadIdx.x % 2) __syncthreads(); else\n__syncthreads_count(1);",
            (shape){{1, 1, 1}, {8, 4, 1}, 0},
            "test: block (0, 0, 0): its 32 threads wait for each other: 16 at "
            "__syncthreads_count() (line 3), the first (0, 0, 0); 16 at __syncthreads() (line 2), "
            "the first (1, 0, 0)");
    refused("if (threadIdx.x < 5) __shfl_sync(0xffffffff, 1, 0);\nelse __syncthreads();",
            line(1, 64),
            "5 at __shfl_sync() with mask 0xffffffff (line 2), the first (0, 0, 0); 59 at "
            "__syncthreads() (line 3), the first (5, 0, 0)");
    refused("__ballot_sync(threadIdx.x < 9 ? 0xffffffff : 0xfffffffe, 1);", line(1, 32),
            "9 at __ballot_sync() with mask 0xffffffff (line 2), the first (0, 0, 0); 23 at "
            "__ballot_sync() with mask 0xfffffffe");
    refused("if (blockIdx.x == 77 && threadIdx.x) __syncwarp(); else __syncthreads();",
            line(100, 33), "test: block (77, 0, 0): its 33 threads wait");
}

static void misused_operations_are_told(void **state)
{
    (void)state;
    need_host("it has no meaning on a GPU");
    refused("__any_sync(0xff, 1);", line(1, 32),
            "thread (8, 0, 0): __any_sync() (line 2): mask 0x000000ff excludes the calling lane 8");
    refused("out[0] = __shfl_sync(0xff, 1, 0, 12);", line(1, 8),
            "a shuffle's width is a power of two up to 32 (line 2)");
    refused("assert(threadIdx.x < 3);", line(1, 8),
            "thread (3, 0, 0): assertion failed: threadIdx.x < 3 (line 2)");
    refused("if (blockIdx.y == 1)\n__trap();", (shape){{1, 3, 1}, {2, 1, 1}, 0},
            "test: block (0, 1, 0), thread (0, 0, 0): __trap() (line 3)");
    shape s = line(1, 4);
    s.shared = 16;
    refused("extern __shared__ int a[]; a[threadIdx.x + 1] = 1;", s,
            "wrote byte 16, past the 16 bytes of dynamic shared memory");
}

static void indices_outside_an_array_are_told(void **state)
{
    (void)state;
    need_host("GPUs read what follows the array");
    refused("int a[5] = {};\nfor (int u = 0; u < 6; u++) out[0] += a[u];", line(1, 2),
            "test: block (0, 0, 0), thread (0, 0, 0): index 5 is outside 'int");
    refused("__shared__ short a[2][4];\n\na[1][(int)threadIdx.x - 3] = 1;", line(1, 4),
            "thread (0, 0, 0): index -3 is outside 'short");
}

/* As in many kernels, lane 0 gets the right sum, and other lanes get undefined values. */
static void lanes_that_take_no_part_may_be_read(void **state)
{
    (void)state;
    int out[41] = {0};
    assert_ok(run_text("extern \"C\" __global__ void k(int *out, int n) {\n"
                       "    const unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < 8);\n"
                       "    int sum = threadIdx.x;\n"
                       "    if (threadIdx.x < 8) {\n"
                       "        for (int i = 4; i > 0; i /= 2)\n"
                       "            sum += __shfl_down_sync(mask, sum, i);\n"
                       "    }\n"
                       "    out[threadIdx.x] = sum;\n"
                       "}\n",
                       line(1, 41), out, 41, sizeof *out));
    assert_int_equal(out[0], 28);
    assert_int_equal(out[8], 8);
    assert_int_equal(out[40], 40);
}

static void what_lanes_that_take_no_part_give_is_noticed(void **state)
{
    (void)state;
    need_host("a GPU gives anything");
    float out[8] = {0};
    assert_ok(run_text("extern \"C\" __global__ void k(float *out, int n) {\n"
                       "    if (threadIdx.x == 3) return;\n"
                       "    out[threadIdx.x] = __shfl_down_sync(0xffffffff, 2.5f, 1);\n"
                       "}\n",
                       line(1, 8), out, 8, sizeof *out));
    assert_true(out[0] == 2.5f && out[2] != out[2] && out[3] == 0 && out[6] == 2.5f);
    assert_true(out[7] != out[7]);
}

static void launches_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    static const struct {
        shape s;
        const char *message;
    } cases[] = {
        {{{1, 1, 1}, {1025, 1, 1}, 0},
         "test: the block is (1025, 1, 1), not from (1, 1, 1) to (1024, 1024, 64)"},
        {{{1, 1, 1}, {32, 33, 1}, 0},
         "test: a block of (32, 33, 1) has 1056 threads, the kernel allows 1024"},
        {{{1, 1, 1}, {1, 1, 65}, 0}, "test: the block is (1, 1, 65), not"},
        {{{1, 65536, 1}, {1, 1, 1}, 0},
         "test: the grid is (1, 65536, 1), not from (1, 1, 1) to (2147483647, 65535, 65535)"},
        {{{1, 1, 65536}, {1, 1, 1}, 0}, "test: the grid is (1, 1, 65536), not"},
        {{{0, 1, 1}, {1, 1, 1}, 0}, "test: the grid is (0, 1, 1), not"},
        {{{1, 1, 1}, {1, 0, 1}, 0}, "test: the block is (1, 0, 1), not"},
        {{{1, 1, 1}, {1, 1, 1}, 232449},
         "test: 232449 bytes of dynamic shared memory and the kernel's own 0 are more than the"},
    };
    int out[1] = {7};
    program p =
        build("extern \"C\" __global__ void k(int *out, int n) { out[0] = 8; }\n", KERNELS("k"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ga_status status = run(p.kernels[0], cases[i].s, out, 1, sizeof *out);
        assert_message(status, GA_ERR_INVALID, cases[i].message);
        assert_int_equal(out[0], 7);
    }
    assert_ok(run(p.kernels[0], line(1, 1), out, 1, sizeof *out));
    assert_int_equal(out[0], 8);
    backend->code.unload(p.image);
}

/* Abandoned blocks leave nothing that affects later launches. */
static void launches_work_after_failures(void **state)
{
    (void)state;
    need_host("a GPU does not fail so");
    int out[MANY];
    program bad = build("extern \"C\" __global__ void k(int *out, int n) {\n"
                        "    if (threadIdx.x == blockIdx.x % 99) return;\n"
                        "    __syncthreads();\n"
                        "}\n",
                        KERNELS("k"));
    program good = build(sum_text, KERNELS("k"));
    for (int i = 0; i < 20; i++) {
        assert_message(run(bad.kernels[0], line(200, 99), out, MANY, sizeof *out), GA_ERR_DEVICE,
                       "1 returned");
        assert_ok(run(good.kernels[0], line(MANY, 64), out, MANY, sizeof *out));
        for (int block = 0; block < MANY; block++)
            assert_int_equal(out[block], 64 * 63 / 2 + 64 * block);
    }
    backend->code.unload(bad.image);
    backend->code.unload(good.image);
}

/* ---- stacks, threads, memory ---- */

/* A GPU thread may have 512 KiB of local memory. */
static void threads_have_stacks(void **state)
{
    (void)state;
    need_host("the stack of calls is small there, and running over its end ends the process");
    int out[200] = {0};
    assert_ok(run_text("__device__ __noinline__ int deep(int n) {\n"
                       "    volatile int local[100];\n"
                       "    local[n % 100] = n;\n"
                       "    return n == 0 ? 0 : deep(n - 1) + (local[n % 100] == n);\n"
                       "}\n"
                       "extern \"C\" __global__ void k(int *out, int n) {\n"
                       "    double large[8000];\n"
                       "    for (int i = 0; i < 8000; i++) large[i] = i + threadIdx.x;\n"
                       "    __syncthreads();\n"
                       "    int sum = deep(200);\n"
                       "    __syncthreads();\n"
                       "    out[threadIdx.x] = sum + large[(threadIdx.x * 37) % 8000];\n"
                       "}\n",
                       line(1, 200), out, 200, sizeof *out));
    for (int i = 0; i < 200; i++)
        assert_int_equal(out[i], 200 + (i * 37) % 8000 + i);
}

typedef struct caller {
    pthread_t thread;
    ga__function *kernel;
    int wrong;
} caller;

static void *call(void *argument)
{
    caller *c = argument;
    const int blocks = blocks_here();
    int out[MANY];
    for (int round = 0; round < 10; round++) {
        memset(out, 0, sizeof out);
        if (run(c->kernel, line(blocks, 50), out, blocks, sizeof *out) != GA_OK)
            c->wrong++;
        for (int block = 0; block < blocks; block++)
            c->wrong += out[block] != 50 * 49 / 2 + 50 * block;
    }
    return NULL;
}

static void several_threads_launch_at_once(void **state)
{
    (void)state;
    caller callers[4];
    program p = build(sum_text, KERNELS("k"));
    for (int i = 0; i < 4; i++) {
        callers[i] = (caller){.kernel = p.kernels[0]};
        pthread_create(&callers[i].thread, NULL, call, &callers[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    backend->code.unload(p.image);
}

static void a_forked_child_launches(void **state)
{
    (void)state;
    need_host("CUDA does not work in a forked child");
    caller c = {0};
    program p = build(sum_text, KERNELS("k"));
    c.kernel = p.kernels[0];
    call(&c);
    const pid_t child = fork();
    if (child == 0) {
        call(&c);
        _exit(c.wrong != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(c.wrong, 0);
    backend->code.unload(p.image);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    const ga__cuda_source source = {
        .name = "test.cu",
        .text = sum_text,
        .options = KERNELS("-DX=1", "-I/nowhere", "--fmad=false"),
        .header_names = KERNELS("a/b.h"),
        .header_texts = KERNELS("#define Y 2\n"),
        .kernels = KERNELS("k"),
    };
    static int out[301];
    int failures = 0, quiet = 0;
    for (int n = 1; quiet < 3; n++) {
        backend->memory.trim(&device->stream);
        const int64_t live = ga__alloc_live();
        program p = {0};
        ga__alloc_fail_at(n);
        ga_status status = build_source(&p, &source);
        if (status == GA_OK) {
            status = run(p.kernels[0], line(301, 64), out, 301, sizeof *out);
            backend->code.unload(p.image);
        }
        ga__alloc_fail_at(0);
        if (status != GA_OK)
            assert_int_equal(status, GA_ERR_MEMORY);
        quiet = status == GA_OK ? quiet + 1 : 0;
        failures += status != GA_OK;
        ga_clear_error();
        backend->memory.trim(&device->stream);
        assert_true(ga__alloc_live() <= live);
    }
    assert_true(failures > (ga__on_host(device) ? 30 : 3));
}

/* ---- speed ---- */

static void report(const char *what, double seconds, double count)
{
    print_message("%s: %.2f ns each (%.3f s)\n", what, 1e9 * seconds / count, seconds);
}

static void a_million_plain_threads(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    int *out = calloc(N, sizeof *out);
    program p = build("extern \"C\" __global__ void k(int *out, int n) {\n"
                      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "    if (i < n) out[i] += 3 * i;\n"
                      "}\n",
                      KERNELS("k"));
    for (int round = 1; round <= 3; round++) {
        const double start = ga__now();
        assert_ok(run(p.kernels[0], line(N / 256, 256), out, N, sizeof *out));
        report("2^20 threads that never wait", ga__now() - start, N);
        for (int i = 0; i < N; i += 1001)
            assert_int_equal(out[i], round * 3 * i);
    }
    free(out);
    backend->code.unload(p.image);
}

static void many_barriers(void **state)
{
    (void)state;
    static const int sizes[] = {32, 256, 1024};
    enum { ROUNDS = 1000 };
    program p = build("extern \"C\" __global__ void k(int *out, int n) {\n"
                      "    __shared__ int token;\n"
                      "    if (threadIdx.x == 0) token = 0;\n"
                      "    __syncthreads();\n"
                      "    for (int i = 0; i < 1000; i++) {\n"
                      "        if (i % blockDim.x == threadIdx.x) token++;\n"
                      "        __syncthreads();\n"
                      "    }\n"
                      "    if (threadIdx.x == 5) out[blockIdx.x] = token;\n"
                      "}\n",
                      KERNELS("k"));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char what[80];
        int out[4] = {0};
        const double start = ga__now();
        assert_ok(run(p.kernels[0], line(4, sizes[i]), out, 4, sizeof *out));
        snprintf(what, sizeof what, "4 blocks of %d threads, 1001 barriers, per thread and barrier",
                 sizes[i]);
        report(what, ga__now() - start, 4.0 * sizes[i] * (ROUNDS + 1));
        for (int block = 0; block < 4; block++)
            assert_int_equal(out[block], ROUNDS);
    }
    backend->code.unload(p.image);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_know_where_they_are, clear_error),
        cmocka_unit_test_setup(barriers_order_shared_memory, clear_error),
        cmocka_unit_test_setup(shared_scalars_are_shared, clear_error),
        cmocka_unit_test_setup(barriers_count_and_vote, clear_error),
        cmocka_unit_test_setup(dynamic_shared_memory, clear_error),
        cmocka_unit_test_setup(shared_memory_has_no_values_at_first, clear_error),
        cmocka_unit_test_setup(shuffles_read_other_lanes, clear_error),
        cmocka_unit_test_setup(warps_vote_match_and_reduce, clear_error),
        cmocka_unit_test_setup(parts_of_a_warp_work_together, clear_error),
        cmocka_unit_test_setup(lanes_of_a_branch_aggregate, clear_error),
        cmocka_unit_test_setup(block_sums_by_shuffles, clear_error),
        cmocka_unit_test_setup(sleeping_lets_others_run, clear_error),
        cmocka_unit_test_setup(atomics_of_many_blocks, clear_error),
        cmocka_unit_test_setup(integer_intrinsics, clear_error),
        cmocka_unit_test_setup(conversions_round_and_saturate, clear_error),
        cmocka_unit_test_setup(mathematical_functions, clear_error),
        cmocka_unit_test_setup(vector_types, clear_error),
        cmocka_unit_test_setup(parameters_of_all_kinds, clear_error),
        cmocka_unit_test_setup(templates_and_namespaces, clear_error),
        cmocka_unit_test_setup(variables_are_found, clear_error),
        cmocka_unit_test_setup(modules_are_separate, clear_error),
        cmocka_unit_test_setup(loads_memory_and_clocks, clear_error),
        cmocka_unit_test_setup(kernels_print, clear_error),
        cmocka_unit_test_setup(divergent_barriers_are_told, clear_error),
        cmocka_unit_test_setup(misused_operations_are_told, clear_error),
        cmocka_unit_test_setup(indices_outside_an_array_are_told, clear_error),
        cmocka_unit_test_setup(lanes_that_take_no_part_may_be_read, clear_error),
        cmocka_unit_test_setup(what_lanes_that_take_no_part_give_is_noticed, clear_error),
        cmocka_unit_test_setup(launches_beyond_the_limits_are_refused, clear_error),
        cmocka_unit_test_setup(launches_work_after_failures, clear_error),
        cmocka_unit_test_setup(threads_have_stacks, clear_error),
        cmocka_unit_test_setup(several_threads_launch_at_once, clear_error),
        cmocka_unit_test_setup(a_forked_child_launches, clear_error),
        cmocka_unit_test_setup(any_allocation_may_fail, clear_error),
        cmocka_unit_test_setup(a_million_plain_threads, clear_error),
        cmocka_unit_test_setup(many_barriers, clear_error),
    };
    return run_named_tests(argc, argv, tests, choose_device, NULL);
}
