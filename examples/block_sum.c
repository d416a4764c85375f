/* Sums each block's elements with shuffles within warps, then adds the blocks' sums. */
#include <stdio.h>

#include <quarry.h>

enum { N = 1 << 17, THREADS = 256 };

int main(void)
{
    int64_t total = 0;
    ga_module *m = ga_module_compile(
        "__device__ int warp_sum(int value) {\n"
        "    for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffffu, value, k);\n"
        "    return value; /* correct in the first lane */\n"
        "}\n"
        "__global__ void block_sum(const int *x, int *sums) {\n"
        "    __shared__ int of_warps[32];\n"
        "    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"
        "    int sum = warp_sum(x[blockIdx.x * blockDim.x + threadIdx.x]);\n"
        "    if (lane == 0) of_warps[warp] = sum;\n"
        "    __syncthreads();\n"
        "    if (warp > 0) return;\n"
        "    sum = warp_sum(lane < blockDim.x / 32 ? of_warps[lane] : 0);\n"
        "    if (lane == 0) sums[blockIdx.x] = sum;\n"
        "}\n");

    GA_SCOPE {
        gpuarray *x = ga_remainder(ga_arange(GA_INT32, 0, N, 1), 1000);
        gpuarray *sums = ga_empty(GA_INT32, GA_SHAPE(N / THREADS));
        ga_launch(ga_module_kernel(m, "block_sum"), GA_DIM(N / THREADS), GA_DIM(THREADS), x, sums);
        total = ga_item_int64(ga_sum(sums));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "block_sum: %s\n", ga_error_message());
        return 1;
    }

    const int64_t rest = N % 1000, expected = N / 1000 * INT64_C(499500) + rest * (rest - 1) / 2;
    printf("block_sum: %lld%s\n", (long long)total, total == expected ? ": OK" : "");
    return total != expected;
}
