/* A kernel over an array of int64 of any length, with a grid-stride loop. */
#include <stdio.h>

#include <quarry.h>

enum { N = 1000000 };

int main(void)
{
    int64_t sum = 0;
    ga_module *m =
        ga_module_compile("extern \"C\" __global__ void doublify(long long *a, long long n) {\n"
                          "    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                          "         i += gridDim.x * blockDim.x)\n"
                          "        a[i] *= 2;\n"
                          "}\n");

    GA_SCOPE {
        gpuarray *a = ga_arange(GA_INT64, 0, N, 1);
        ga_launch(ga_module_kernel(m, "doublify"), GA_DIM(256), GA_DIM(128), a,
                  (long long)ga_size(a));
        sum = ga_item_int64(ga_sum(a));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "doublify: %s\n", ga_error_message());
        return 1;
    }

    const int right = sum == (int64_t)N * (N - 1);
    printf("doublify: the sum is %lld%s\n", (long long)sum, right ? ": OK" : "");
    return !right;
}
