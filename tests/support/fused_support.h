/* What the tests of fused rows and columns share: operands, plans and comparisons. */
#ifndef GA_TESTS_FUSED_SUPPORT_H
#define GA_TESTS_FUSED_SUPPORT_H

#include <quarry.h>

/* An array of random numbers from -4 to 8. */
gpuarray *given(ga_dtype dtype, int ndim, const int64_t *shape, uint64_t seed);

/* The same values in an order that neither fused rows nor columns take. */
gpuarray *backwards(const gpuarray *x);

/* Whether the call runs as one kernel over "rows" or "columns". */
bool fuses(const char *along, const char *text, int count, const ga_named *args);

/* Fails unless two arrays have the same shape, the same dtype and, but for rounding, the same
 * elements. */
void expect_same(const char *text, const char *what, const gpuarray *got, const gpuarray *wanted);

#endif
