/* Adds two arrays through dynamic shared memory; the launch sets its size. */
#include <stdio.h>

#include <quarry.h>

enum { N = 1024, THREADS = 128 };

int main(void)
{
    int sum[N], a[N], b[N], wrong = 0;
    ga_module *m =
        ga_module_compile("__global__ void shared_add(const int *a, const int *b, int *sum) {\n"
                          "    extern __shared__ int held[];\n"
                          "    int *x = held, *y = held + blockDim.x;\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    x[threadIdx.x] = a[i];\n"
                          "    y[blockDim.x - 1 - threadIdx.x] = b[i];\n"
                          "    __syncthreads();\n"
                          "    sum[i] = x[threadIdx.x] + y[threadIdx.x];\n"
                          "}\n");

    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 1000 * i;
    }
    ga_launch_with(ga_module_kernel(m, "shared_add"), GA_DIM(N / THREADS), GA_DIM(THREADS),
                   GA_WITH(.shared_bytes = 2 * THREADS * sizeof(int)), GA_IN(a, sizeof a),
                   GA_IN(b, sizeof b), GA_OUT(sum, sizeof sum));
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "shared_add: %s\n", ga_error_message());
        return 1;
    }

    for (int i = 0; i < N; i++) /* each block reverses its part of b */
        wrong += sum[i] != a[i] + b[i / THREADS * THREADS + THREADS - 1 - i % THREADS];
    printf("shared_add: %d of %d wrong%s\n", wrong, N, wrong ? "" : ": OK");
    return wrong != 0;
}
