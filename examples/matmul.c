/* C = A * B with a two-dimensional grid: one thread for each element of C. */
#include <stdio.h>

#include <quarry.h>

enum { ROWS = 100, INNER = 70, COLUMNS = 90, SIDE = 16 };

/* A[i, k] = i + k and B[k, j] = k - j, small integers: the sums are exact in any order. */
static bool is_right(const float *c)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int sum = 0;
            for (int k = 0; k < INNER; k++)
                sum += (i + k) * (k - j);
            if (c[i * COLUMNS + j] != (float)sum)
                return false;
        }
    return true;
}

int main(void)
{
    static float c[ROWS * COLUMNS];
    ga_module *m = ga_module_compile(
        "__global__ void matmul(const float *a, const float *b, float *c,\n"
        "                       int rows, int inner, int columns) {\n"
        "    int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    int i = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    if (i >= rows || j >= columns) return;\n"
        "    float sum = 0;\n"
        "    for (int k = 0; k < inner; k++) sum += a[i * inner + k] * b[k * columns + j];\n"
        "    c[i * columns + j] = sum;\n"
        "}\n");

    GA_SCOPE {
        gpuarray *i = ga_reshape(ga_arange(GA_FLOAT32, 0, ROWS, 1), GA_SHAPE(ROWS, 1));
        gpuarray *j = ga_arange(GA_FLOAT32, 0, COLUMNS, 1);
        gpuarray *k = ga_arange(GA_FLOAT32, 0, INNER, 1);
        gpuarray *a = ga_add(i, k), *b = ga_subtract(ga_reshape(k, GA_SHAPE(INNER, 1)), j);
        gpuarray *product = ga_empty(GA_FLOAT32, GA_SHAPE(ROWS, COLUMNS));
        ga_launch(ga_module_kernel(m, "matmul"),
                  GA_DIM((COLUMNS + SIDE - 1) / SIDE, (ROWS + SIDE - 1) / SIDE), GA_DIM(SIDE, SIDE),
                  a, b, product, (int)ROWS, (int)INNER, (int)COLUMNS);
        ga_to_host(product, c, sizeof c);
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "matmul: %s\n", ga_error_message());
        return 1;
    }

    const bool right = is_right(c);
    printf("matmul: %d x %d%s\n", ROWS, COLUMNS, right ? ": OK" : " elements are wrong");
    return !right;
}
