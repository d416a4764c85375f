/* Random elements with the properties that selection and sorting depend on. */
#include "contents.h"

#include <math.h>

#include "model/dtype.h"
#include "random.h"

const char *const content_names[CONTENTS] = {"wide",       "few values", "equal",  "ascending",
                                             "descending", "special",    "outlier"};

static double special_number(double wide, uint64_t *seed)
{
    const double kinds[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0};
    const int64_t k = random_below(seed, 30);
    return k < 6 ? kinds[k] : wide;
}

/* Element k of n, in [-100, 100]. */
static double number_of(content what, int64_t k, int64_t n, uint64_t *seed)
{
    const double wide = 100 * random_real(seed);
    switch (what) {
    case CONTENT_FEW: return (double)random_below(seed, 5);
    case CONTENT_EQUAL: return 3;
    case CONTENT_ASCENDING: return 200.0 * (double)k / (double)n - 100;
    case CONTENT_DESCENDING: return 100 - 200.0 * (double)k / (double)n;
    case CONTENT_SPECIAL: return special_number(wide, seed);
    case CONTENT_OUTLIER: return k == n / 3 ? 100 : 1 + 1e-4 * wide;
    default: return wide;
    }
}

void fill_content(content what, ga_dtype dtype, int64_t n, void *elements, uint64_t *seed)
{
    const bool whole = ga__dtype_kind(dtype) == 'i' || ga__dtype_kind(dtype) == 'u';
    const size_t size = ga__dtype_size(dtype);
    /* Wide integers take all bits. */
    const double scale = whole && what != CONTENT_FEW && size > 1 ? ldexp(1, 8 * (int)size - 8) : 1;
    for (int64_t k = 0; k < n; k++)
        ga__dtype_store(dtype, ga_value_double(scale * number_of(what, k, n, seed)),
                        (char *)elements + (size_t)k * size);
}
