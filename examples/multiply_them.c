/* PyCUDA's first kernel, with drv.Out and drv.In: the launch copies host memory. */
#include <stdio.h>

#include <quarry.h>

enum { N = 400 };

int main(void)
{
    float dest[N], a[N], b[N];
    int wrong = 0;

    for (int i = 0; i < N; i++) {
        a[i] = (float)i / 3.0f;
        b[i] = 5.0f - (float)i;
    }
    ga_module *m =
        ga_module_compile("__global__ void multiply_them(float *dest, float *a, float *b) {\n"
                          "    const int i = threadIdx.x;\n"
                          "    dest[i] = a[i] * b[i];\n"
                          "}\n");
    ga_launch(ga_module_kernel(m, "multiply_them"), GA_DIM(1), GA_DIM(N), GA_OUT(dest, sizeof dest),
              GA_IN(a, sizeof a), GA_IN(b, sizeof b));
    ga_module_free(m);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "multiply_them: %s\n", ga_error_message());
        return 1;
    }

    for (int i = 0; i < N; i++)
        wrong += dest[i] != a[i] * b[i];
    printf("multiply_them: %d of %d wrong%s\n", wrong, N, wrong ? "" : ": OK");
    return wrong != 0;
}
