/* The classic first CUDA program: c = a + b, one thread for each element. */
#include <stdio.h>

#include <quarry.h>

enum { N = 50000, THREADS = 256 };

int main(void)
{
    bool right = false;
    ga_module *m = ga_module_compile(
        "__global__ void vector_add(const float *a, const float *b, float *c, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) c[i] = a[i] + b[i];\n"
        "}\n");

    GA_SCOPE {
        gpuarray *a = ga_linspace(GA_FLOAT32, 0.0, 1.0, N);
        gpuarray *b = ga_linspace(GA_FLOAT32, 5.0, -5.0, N);
        gpuarray *c = ga_empty_like(a);
        ga_launch(ga_module_kernel(m, "vector_add"), GA_DIM((N + THREADS - 1) / THREADS),
                  GA_DIM(THREADS), a, b, c, (int)N);
        right = ga_item_bool(ga_all(ga_equal(c, ga_add(a, b))));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "vector_add: %s\n", ga_error_message());
        return 1;
    }

    printf("vector_add: %d elements%s\n", N, right ? ": OK" : " are wrong");
    return !right;
}
