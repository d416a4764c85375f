/* The layout of a slice. */
#ifndef GA_OPS_SLICE_H
#define GA_OPS_SLICE_H

#include <quarry/array.h>

typedef struct ga__slice {
    int ndim;
    int64_t offset; /* in the unit of the strides */
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
} ga__slice;

/* Slices a shape with these strides, for the function `name` in messages. Raises GA_ERR_INDEX, or
 * GA_ERR_INVALID for a part of an unknown kind. */
ga_status ga__slice_make(const char *name, int ndim, const int64_t *shape, const int64_t *strides,
                         int n, const ga_range *parts, ga__slice *view);

#endif
