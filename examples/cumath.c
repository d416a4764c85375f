/* sqrt(fabs(a)) of 4000 x 4000 numbers, as with PyCUDA's cumath, checked on the host. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { SIDE = 4000, N = SIDE * SIDE };

static float a[N], roots[N];

int main(void)
{
    int wrong = 0;

    for (int i = 0; i < N; i++)
        a[i] = (float)(i % 2001 - 1000) / 8.0f;

    GA_SCOPE {
        gpuarray *x = ga_from_host(a, GA_FLOAT32, GA_SHAPE(SIDE, SIDE));
        ga_to_host(ga_sqrt(ga_fabs(x)), roots, sizeof roots);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "cumath: %s\n", ga_error_message());
        return 1;
    }

    for (int i = 0; i < N; i++)
        wrong += roots[i] != sqrtf(fabsf(a[i]));
    printf("cumath: %d of %d wrong%s\n", wrong, (int)N, wrong ? "" : ": OK");
    return wrong != 0;
}
