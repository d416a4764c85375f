/* Adds one to an int32 array, in blocks of the size that the kernel suggests. */
#include <stdio.h>

#include <quarry.h>

enum { N = 100003 };

int main(void)
{
    bool right = false;
    ga_kernel_properties properties = {.suggested_block = 1};
    ga_module *m = ga_module_compile("__global__ void increment_by_one(int *a, int n) {\n"
                                     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "    if (i < n) a[i]++;\n"
                                     "}\n");
    ga_kernel *increment_by_one = ga_module_kernel(m, "increment_by_one");

    GA_SCOPE {
        gpuarray *a = ga_arange(GA_INT32, 0, N, 1);
        ga_kernel_info(increment_by_one, &properties);
        const int threads = properties.suggested_block;
        ga_launch(increment_by_one, GA_DIM((N + threads - 1) / threads), GA_DIM(threads), a,
                  (int)ga_size(a));
        right = ga_item_bool(ga_all(ga_equal(a, ga_arange(GA_INT32, 1, N + 1, 1))));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "increment_by_one: %s\n", ga_error_message());
        return 1;
    }

    printf("increment_by_one: %d registers, blocks of %d threads%s\n", properties.registers,
           properties.suggested_block, right ? ": OK" : ", and wrong");
    return !right;
}
