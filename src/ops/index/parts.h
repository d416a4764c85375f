/* x[parts] taken apart: the axes that ranges leave, and the arrays of indices. */
#ifndef GA_OPS_INDEX_PARTS_H
#define GA_OPS_INDEX_PARTS_H

#include <quarry/indexing.h>

#include "ops/index/checked.h"

/* Arrays of indices of one call: each takes one axis; a mask counts as one array for each of its
 * axes. */
#define GA__MOST_INDICES 8

/* One array of indices and the axis that it indexes. */
typedef struct ga__indexed {
    const gpuarray *array;
    int axis; /* of x */
    int64_t length, stride;
} ga__indexed;

/* What x[parts] is: elements at offset + the coordinates of the result times `strides` + the sum of
 * indices times their strides. The axes of the indices are those from `first` on. */
typedef struct ga__indexing {
    const gpuarray *x;
    int count;
    ga__indexed index[GA__MOST_INDICES];
    int ndim, first, index_ndim;
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM], offset;
    gpuarray *owned[2 * GA_MAX_NDIM]; /* the indices that masks became, and copies */
    int nowned;
} ga__indexing;

/* Reads the parts; *view is the result if they have no arrays, and NULL otherwise. Free what it
 * holds by ga__indexing_reset(), also after an error. */
ga_status ga__indexing_init(ga__indexing *g, const char *name, const gpuarray *x, int n,
                            const ga_part *parts, gpuarray **view);
void ga__indexing_reset(ga__indexing *g);

/* Copies the arrays of indices that share memory with x, for calls that write to it. */
ga_status ga__indexing_separate(ga__indexing *g);

/* The strides of index k in the shape of the result, in bytes, and of its position. */
void ga__indexing_strides(const ga__indexing *g, int k, int64_t *strides);
void ga__indexing_position(const ga__indexing *g, int64_t *strides);

/* The number of index tuples. */
int64_t ga__indexing_tuples(const ga__indexing *g);

#endif
