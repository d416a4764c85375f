/* What the tests of fused rows and columns share: operands, plans and comparisons. */
#include "fused_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "run.h"

gpuarray *given(ga_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    const int64_t size = ga__shape_size(ndim, shape);
    const size_t itemsize = ga_dtype_size(dtype);
    char *bytes = malloc((size_t)size * itemsize + 1);
    assert_non_null(bytes);
    for (int64_t k = 0; k < size; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const ga_value value = {.kind = GA_VALUE_NUMBER,
                                .dtype = GA_FLOAT64,
                                .as.z = {(double)(seed >> 33) / (1u << 31) * 12 - 4}};
        ga__dtype_store(dtype, value, bytes + (size_t)k * itemsize);
    }
    gpuarray *x = ga_from_host(bytes, dtype, ndim, shape);
    free(bytes);
    assert_non_null(x);
    return x;
}

gpuarray *backwards(const gpuarray *x)
{
    return ga_slice(ga_copy(ga_slice(x, "..., ::-1")), "..., ::-1");
}

bool fuses(const char *along, const char *text, int count, const ga_named *args)
{
    char *plan = (ga_explain)(text, count, args), wanted[40];
    assert_non_null(plan);
    snprintf(wanted, sizeof wanted, "one kernel over %s", along);
    const bool one = strstr(plan, wanted) != NULL;
    free(plan);
    return one;
}

static double number_at(const gpuarray *x, const char *bytes, int64_t k)
{
    const ga_dtype dtype = ga_dtype_of(x);
    return ga__number_double(ga__dtype_fetch(dtype, bytes + (size_t)k * ga_dtype_size(dtype)));
}

void expect_same(const char *text, const char *what, const gpuarray *got, const gpuarray *wanted)
{
    if (!got || !wanted)
        fail_msg("%s, %s: %s", text, what, ga_error_message());
    assert_int_equal(ga_dtype_of(got), ga_dtype_of(wanted));
    assert_true(ga__same_shape(ga_ndim(got), ga_shape(got), ga_ndim(wanted), ga_shape(wanted)));
    char *a = malloc(ga_nbytes(got) + 1), *b = malloc(ga_nbytes(got) + 1);
    assert_true(a && b);
    assert_int_equal(ga_to_host(got, a, ga_nbytes(got)), GA_OK);
    assert_int_equal(ga_to_host(wanted, b, ga_nbytes(wanted)), GA_OK);
    const double tolerance = ga_dtype_of(got) == GA_FLOAT64   ? 1e-13
                             : ga_dtype_of(got) == GA_FLOAT32 ? 4e-6
                             : ga_dtype_of(got) == GA_FLOAT16 ? 4e-3
                                                              : 0x1p-7; /* one ulp of bfloat16 */
    for (int64_t k = 0; k < ga_size(got); k++) {
        const double g = number_at(got, a, k), w = number_at(wanted, b, k);
        if (g != w && !(isnan(g) && isnan(w)) && !(fabs(g - w) <= tolerance * (fabs(w) + 1)))
            fail_msg("%s, %s, shape %s: element %lld is %.17g, by the steps %.17g", text, what,
                     ga__shape_text(ga_ndim(got), ga_shape(got)), (long long)k, g, w);
    }
    free(a);
    free(b);
}
