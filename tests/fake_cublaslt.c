/* A library with cuBLASLt's functions for tests: it multiplies column-major floats and doubles in
 * host memory, and counts. FAKE_VERSION is the version that it says it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct descriptor {
    int compute, scale;
    int32_t turned[2], epilogue;
    const void *bias;
} descriptor;

typedef struct layout {
    int type;
    uint64_t rows, columns;
    int64_t pitch, step;
    int32_t count;
} layout;

typedef struct choice {
    uint64_t how[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} choice;

enum { NOT_INITIALIZED = 1, UNSUPPORTED = 15 };
enum {
    TYPE_F32 = 0,
    TYPE_F64 = 1,
    SCHEMES = 3,
    WORKSPACE = 4096,
    MARK = 0x5157,
    RELU = 2,
    BIAS = 4
};

int fake_choices, fake_products, fake_epilogues, fake_live; /* what the test reads */
int fake_schemes;                                           /* the last preference's */
int fake_broken;                                            /* what the test sets */

static int make(void **made, size_t nbytes)
{
    *made = calloc(1, nbytes);
    fake_live++;
    return *made ? 0 : 3;
}

static int drop(void *x)
{
    fake_live--;
    free(x);
    return 0;
}

int cublasLtCreate(void **made)
{
    if (fake_broken)
        return 1;
    return make(made, 1);
}

int cublasLtDestroy(void *x)
{
    return drop(x);
}

size_t cublasLtGetVersion(void)
{
    const char *version = getenv("FAKE_VERSION");
    return version ? (size_t)atoi(version) : 120304;
}

int cublasLtMatmulDescCreate(descriptor **made, int compute, int scale)
{
    const int status = make((void **)made, sizeof **made);
    (*made)->compute = compute;
    (*made)->scale = scale;
    return status;
}

int cublasLtMatmulDescDestroy(descriptor *d)
{
    return drop(d);
}

int cublasLtMatmulDescSetAttribute(descriptor *d, int attribute, const void *value, size_t nbytes)
{
    void *const places[] = {
        [3] = &d->turned[0], [4] = &d->turned[1], [7] = &d->epilogue, [8] = &d->bias};
    const size_t size = attribute == 8 ? sizeof d->bias : sizeof *d->turned;
    if (attribute < 3 || attribute > 8 || !places[attribute] || nbytes != size)
        return 7;
    memcpy(places[attribute], value, nbytes);
    return 0;
}

int cublasLtMatrixLayoutCreate(layout **made, int type, uint64_t rows, uint64_t columns,
                               int64_t pitch)
{
    const int status = make((void **)made, sizeof **made);
    **made = (layout){type, rows, columns, pitch, 0, 1};
    return pitch < (int64_t)rows ? 7 : status;
}

int cublasLtMatrixLayoutDestroy(layout *l)
{
    return drop(l);
}

int cublasLtMatrixLayoutSetAttribute(layout *l, int attribute, const void *value, size_t nbytes)
{
    if (attribute == 5 && nbytes == sizeof l->count)
        memcpy(&l->count, value, nbytes);
    else if (attribute == 6 && nbytes == sizeof l->step)
        memcpy(&l->step, value, nbytes);
    else
        return 7;
    return 0;
}

int cublasLtMatmulPreferenceCreate(void **made)
{
    return make(made, 1);
}

int cublasLtMatmulPreferenceDestroy(void *x)
{
    return drop(x);
}

int cublasLtMatmulPreferenceSetAttribute(void *x, int attribute, const void *value, size_t nbytes)
{
    (void)x;
    if (attribute == SCHEMES && nbytes == sizeof fake_schemes)
        memcpy(&fake_schemes, value, nbytes);
    return attribute == 1 ? (nbytes == sizeof(size_t) ? 0 : 7) : nbytes == sizeof(uint32_t) ? 0 : 7;
}

/* Has no way for products of 13 columns, and of 11 with an epilogue. */
int cublasLtMatmulAlgoGetHeuristic(void *h, descriptor *d, layout *a, layout *b, layout *c,
                                   layout *result, void *wanted, int count, choice *choices,
                                   int *found)
{
    (void)b, (void)c, (void)result, (void)wanted, (void)count;
    fake_choices++;
    *found = 0;
    if (!h)
        return NOT_INITIALIZED;
    if (a->type != TYPE_F32 && a->type != TYPE_F64)
        return UNSUPPORTED;
    if (a->rows == 13 || (a->rows == 11 && d->epilogue) || ((d->epilogue & BIAS) && !d->bias))
        return UNSUPPORTED;
    choices[0] = (choice){.how = {MARK}, .workspace_bytes = WORKSPACE};
    *found = 1;
    return 0;
}

static double number_at(const layout *l, const char *memory, uint64_t row, uint64_t column)
{
    const uint64_t at = column * (uint64_t)l->pitch + row;
    return l->type == TYPE_F64 ? ((const double *)memory)[at] : ((const float *)memory)[at];
}

static void put(const layout *l, char *memory, uint64_t row, uint64_t column, double x)
{
    const uint64_t at = column * (uint64_t)l->pitch + row;
    if (l->type == TYPE_F64)
        ((double *)memory)[at] = x;
    else
        ((float *)memory)[at] = (float)x;
}

/* The bias has an element for each row. */
static double finished(const descriptor *d, const layout *c, uint64_t row, double x)
{
    const layout line = {.type = c->type};
    if (d->epilogue & BIAS)
        x += number_at(&line, d->bias, row, 0);
    return (d->epilogue & RELU) && x < 0 ? 0 : x;
}

static void multiply(const descriptor *d, double alpha, const layout *a, const char *a_at,
                     const layout *b, const char *b_at, double beta, const layout *c, char *c_at)
{
    const uint64_t depth = d->turned[0] ? a->rows : a->columns;
    for (uint64_t column = 0; column < c->columns; column++)
        for (uint64_t row = 0; row < c->rows; row++) {
            double sum = beta == 0 ? 0 : beta * number_at(c, c_at, row, column);
            for (uint64_t l = 0; l < depth; l++)
                sum += alpha * number_at(a, a_at, d->turned[0] ? l : row, d->turned[0] ? row : l) *
                       number_at(b, b_at, d->turned[1] ? column : l, d->turned[1] ? l : column);
            put(c, c_at, row, column, finished(d, c, row, sum));
        }
}

int cublasLtMatmul(void *h, descriptor *d, const void *alpha, const void *a, layout *a_layout,
                   const void *b, layout *b_layout, const void *beta, const void *c,
                   layout *c_layout, void *result, layout *result_layout, const uint64_t *how,
                   void *workspace, size_t workspace_bytes, void *stream)
{
    const int wide = d->scale == TYPE_F64;
    const size_t size = wide ? sizeof(double) : sizeof(float);
    double numbers[2];
    (void)h, (void)stream;
    if (how[0] != MARK || !workspace || workspace_bytes != WORKSPACE || c != result ||
        c_layout != result_layout)
        return 7;
    memset(workspace, 0xff, workspace_bytes);
    numbers[0] = wide ? *(const double *)alpha : *(const float *)alpha;
    numbers[1] = wide ? *(const double *)beta : *(const float *)beta;
    fake_products++;
    fake_epilogues += d->epilogue != 0;
    for (int64_t k = 0; k < c_layout->count; k++)
        multiply(d, numbers[0], a_layout, (const char *)a + (size_t)(k * a_layout->step) * size,
                 b_layout, (const char *)b + (size_t)(k * b_layout->step) * size, numbers[1],
                 c_layout, (char *)result + (size_t)(k * c_layout->step) * size);
    return 0;
}
