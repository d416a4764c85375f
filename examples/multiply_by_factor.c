/* PyCUDA's first steps, to_gpu, `factor * a` and get: multiplies an array, checked on the host. */
#include <stdio.h>

#include <quarry.h>

enum { N = 1000 };

int main(void)
{
    float a[N], doubled[N];
    int wrong = 0;

    for (int i = 0; i < N; i++)
        a[i] = (float)i / 7.0f;

    GA_SCOPE {
        gpuarray *on_device = ga_from_host(a, GA_FLOAT32, GA_SHAPE(N));
        gpuarray *result = ga_multiply(2, on_device);
        ga_to_host(result, doubled, sizeof doubled);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "multiply_by_factor: %s\n", ga_error_message());
        return 1;
    }

    for (int i = 0; i < N; i++)
        wrong += doubled[i] != 2.0f * a[i];
    printf("multiply_by_factor: %d of %d wrong%s\n", wrong, N, wrong ? "" : ": OK");
    return wrong != 0;
}
