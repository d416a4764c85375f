/* A library with OpenBLAS's functions for tests: it multiplies floats, and counts. FAKE_BLAS_CORE
 * names the processor whose code it pretends to run. */
#include <stdlib.h>

int fake_products; /* what the test reads */

enum { TRANSPOSED = 112 };

void cblas_sgemm(int order, int at, int bt, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)order;
    fake_products++;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += (at == TRANSPOSED ? a[l * lda + i] : a[i * lda + l]) *
                       (bt == TRANSPOSED ? b[j * ldb + l] : b[l * ldb + j]);
            c[i * ldc + j] = alpha * sum + (beta != 0 ? beta * c[i * ldc + j] : 0);
        }
}

/* Quarry looks for these; the test does not call them. */
void cblas_dgemm(void)
{
    abort();
}

void cblas_cgemm(void)
{
    abort();
}

void cblas_zgemm(void)
{
    abort();
}

void cblas_sgemv(void)
{
    abort();
}

void cblas_dgemv(void)
{
    abort();
}

const char *openblas_get_config(void)
{
    return "OpenBLAS 0.0.1 of the tests ";
}

const char *openblas_get_corename(void)
{
    const char *core = getenv("FAKE_BLAS_CORE");
    return core ? core : "Haswell";
}
