/* Computes z = 5*x + 6*y with a custom elementwise kernel, and compares it with eager operations.
 */
#include <stdio.h>

#include <quarry.h>

int main(void)
{
    double difference = 1.0;

    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, 0.0, 1.0, 400);
        gpuarray *y = ga_linspace(GA_FLOAT32, 1.0, -1.0, 400);
        gpuarray *z = ga_empty_like(x);
        ga_kernel *lin_comb =
            ga_elementwise_kernel("float a, float *x, float b, float *y, float *z",
                                  "z[i] = a*x[i] + b*y[i]", "linear_combination");

        ga_run(lin_comb, 5, x, 6, y, z);
        ga_kernel_free(lin_comb);

        gpuarray *eager = ga_add(ga_multiply(5, x), ga_multiply(6, y));
        difference = ga_item_double(ga_max(ga_absolute(ga_subtract(z, eager))));
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "linear_combination: %s\n", ga_error_message());
        return 1;
    }

    printf("linear_combination: largest difference %g%s\n", difference,
           difference <= 1e-6 ? ": OK" : "");
    return !(difference <= 1e-6);
}
