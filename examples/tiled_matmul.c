/* C = A * B with tiles in shared memory; the threads of a block wait for each tile. */
#include <stdio.h>

#include <quarry.h>

enum { N = 256, TILE = 16 };

int main(void)
{
    double difference = 1.0;
    ga_module *m = ga_module_compile(
        "__global__ void tiled_matmul(const float *a, const float *b, float *c, int n) {\n"
        "    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];\n"
        "    int x = threadIdx.x, y = threadIdx.y;\n"
        "    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;\n"
        "    float sum = 0;\n"
        "    for (int tile = 0; tile < n; tile += TILE) {\n"
        "        a_tile[y][x] = a[row * n + tile + x];\n"
        "        b_tile[y][x] = b[(tile + y) * n + column];\n"
        "        __syncthreads();\n"
        "        for (int k = 0; k < TILE; k++) sum += a_tile[y][k] * b_tile[k][x];\n"
        "        __syncthreads();\n"
        "    }\n"
        "    c[row * n + column] = sum;\n"
        "}\n",
        .options = "-DTILE=16");

    GA_SCOPE {
        gpuarray *line = ga_linspace(GA_FLOAT32, 0.0, 1.0, N);
        gpuarray *a = ga_add(ga_reshape(line, GA_SHAPE(N, 1)), line); /* a[i, k] = u[i] + u[k] */
        gpuarray *ones = ga_ones(GA_FLOAT32, GA_SHAPE(N, N));
        gpuarray *c = ga_empty_like(a);
        ga_launch(ga_module_kernel(m, "tiled_matmul"), GA_DIM(N / TILE, N / TILE),
                  GA_DIM(TILE, TILE), a, ones, c, (int)N);
        gpuarray *rows = ga_sum(a, GA_AXIS(1), .keepdims = true); /* the product with ones */
        difference = ga_item_double(ga_max(ga_absolute(ga_subtract(c, rows))));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "tiled_matmul: %s\n", ga_error_message());
        return 1;
    }

    printf("tiled_matmul: largest difference %g%s\n", difference, difference < 1e-3 ? ": OK" : "");
    return !(difference < 1e-3);
}
