/* PyCUDA's structs: a kernel takes structs that point to arrays, one for each block. */
#include <stdio.h>

#include <quarry.h>

typedef struct operation {
    float *data;
    long long length;
    float largest; /* what the kernel found */
} operation;

int main(void)
{
    double first = 0.0, second = 0.0;
    operation operations[2];
    ga_module *m = ga_module_compile(
        "struct operation { float *data; long long length; float largest; };\n"
        "__global__ void double_array(operation *operations) {\n"
        "    operation *o = &operations[blockIdx.x];\n"
        "    for (long long i = threadIdx.x; i < o->length; i += blockDim.x) o->data[i] *= 2;\n"
        "    __syncthreads();\n"
        "    if (threadIdx.x != 0) return;\n"
        "    o->largest = o->data[0];\n"
        "    for (long long i = 1; i < o->length; i++) o->largest = fmaxf(o->largest, "
        "o->data[i]);\n"
        "}\n");

    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 1, 9, 1), *y = ga_full(GA_FLOAT32, GA_SHAPE(3), -0.5);
        operations[0] = (operation){ga_data(x), ga_size(x), 0};
        operations[1] = (operation){ga_data(y), ga_size(y), 0};
        ga_launch(ga_module_kernel(m, "double_array"), GA_DIM(2), GA_DIM(32),
                  GA_INOUT(operations, sizeof operations));
        first = ga_item_double(ga_sum(x));
        second = ga_item_double(ga_sum(y));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "double_array: %s\n", ga_error_message());
        return 1;
    }

    const int right = first == 72.0 && second == -3.0 && operations[0].largest == 16.0f &&
                      operations[1].largest == -1.0f;
    printf("double_array: sums %g and %g, largest %g and %g%s\n", first, second,
           (double)operations[0].largest, (double)operations[1].largest, right ? ": OK" : "");
    return !right;
}
