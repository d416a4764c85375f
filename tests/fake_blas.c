/* A library with OpenBLAS's functions for tests: it multiplies floats, and counts. FAKE_BLAS_CORE
 * names the processor whose code it pretends to run, FAKE_BLAS_CONFIG its version. With WIDE it is
 * as in the wheels: lengths have 64 bits, and names a prefix and a suffix. With PLAIN64 names are
 * plain, and lengths have 64 bits. */
#include <stdint.h>
#include <stdlib.h>

#ifdef WIDE
typedef int64_t length;
#define NAMED(name) scipy_##name##64_
#define VERSION "OpenBLAS 7.0.2 of the tests "
#elif defined(PLAIN64)
typedef int64_t length;
#define NAMED(name) name
#define VERSION "OpenBLAS 7.0.3 USE64BITINT of the tests"
#else
typedef int length;
#define NAMED(name) name
#define VERSION "OpenBLAS 7.0.1 of the tests "
#endif

int fake_products; /* what the test reads */

enum { TRANSPOSED = 112 };

void NAMED(cblas_sgemm)(int order, int at, int bt, length m, length n, length k, float alpha,
                        const float *a, length lda, const float *b, length ldb, float beta,
                        float *c, length ldc)
{
    (void)order;
    fake_products++;
    for (length i = 0; i < m; i++)
        for (length j = 0; j < n; j++) {
            float sum = 0;
            for (length l = 0; l < k; l++)
                sum += (at == TRANSPOSED ? a[l * lda + i] : a[i * lda + l]) *
                       (bt == TRANSPOSED ? b[j * ldb + l] : b[l * ldb + j]);
            c[i * ldc + j] = alpha * sum + (beta != 0 ? beta * c[i * ldc + j] : 0);
        }
}

/* Quarry looks for these; the test does not call them. */
void NAMED(cblas_dgemm)(void)
{
    abort();
}

void NAMED(cblas_cgemm)(void)
{
    abort();
}

void NAMED(cblas_zgemm)(void)
{
    abort();
}

void NAMED(cblas_sgemv)(void)
{
    abort();
}

void NAMED(cblas_dgemv)(void)
{
    abort();
}

const char *NAMED(openblas_get_config)(void)
{
    const char *config = getenv("FAKE_BLAS_CONFIG");
    return config ? config : VERSION;
}

const char *NAMED(openblas_get_corename)(void)
{
    const char *core = getenv("FAKE_BLAS_CORE");
    return core ? core : "Haswell";
}
