/* Counts bytes with atomic additions, first in each block's shared memory, then in the result. */
#include <stdio.h>
#include <string.h>

#include <quarry.h>

int main(void)
{
    static unsigned char text[200000];
    unsigned int counts[256] = {0}, expected[256] = {0};
    ga_module *m =
        ga_module_compile("__global__ void histogram(const unsigned char *text, unsigned int "
                          "*counts, long long n) {\n"
                          "    __shared__ unsigned int held[256];\n"
                          "    held[threadIdx.x] = 0;\n"
                          "    __syncthreads();\n"
                          "    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                          "         i += gridDim.x * blockDim.x)\n"
                          "        atomicAdd(&held[text[i]], 1u);\n"
                          "    __syncthreads();\n"
                          "    atomicAdd(&counts[threadIdx.x], held[threadIdx.x]);\n"
                          "}\n");

    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)((i * i + i / 7) % 251);
        expected[text[i]]++;
    }
    ga_launch(ga_module_kernel(m, "histogram"), GA_DIM(16), GA_DIM(256), GA_IN(text, sizeof text),
              GA_INOUT(counts, sizeof counts), (long long)sizeof text);
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "histogram: %s\n", ga_error_message());
        return 1;
    }

    const int right = memcmp(counts, expected, sizeof counts) == 0;
    printf("histogram: %zu bytes%s\n", sizeof text, right ? ": OK" : " counted wrong");
    return !right;
}
