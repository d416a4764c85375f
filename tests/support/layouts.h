/* Arrays of given elements in every layout. */
#ifndef GA_TESTS_LAYOUTS_H
#define GA_TESTS_LAYOUTS_H

#include <quarry.h>

/* Memory layouts of test arrays. BROADCAST adds a leading axis of length 3 and stride 0. */
typedef enum layout {
    LAYOUT_CONTIGUOUS,
    LAYOUT_FORTRAN,
    LAYOUT_STEP2,
    LAYOUT_NEGATIVE,
    LAYOUT_OFFSET,
    LAYOUT_BROADCAST,
    LAYOUT_COUNT
} layout;

extern const char *const layout_names[LAYOUT_COUNT];

/* Host elements in C order as an array of the layout. */
gpuarray *layout_array(layout how, const void *data, ga_dtype dtype, int ndim,
                       const int64_t *shape);

#endif
