/* x[parts] taken apart: the axes that ranges leave, and the arrays of indices. */
#ifndef GA_OPS_INDEX_PARTS_H
#define GA_OPS_INDEX_PARTS_H

#include <quarry/indexing.h>

#include "ops/index/checked.h"

/* Arrays of indices of one kernel: each takes one axis. A mask counts as one array for each of its
 * axes. More than these become one array of places. */
#define GA__MOST_INDICES 7

/* The most parts of a call, and the arrays that these may become. */
#define GA__MOST_INDEX_PARTS (2 * GA_MAX_NDIM + 1)
#define GA__MOST_OWNED (GA__MOST_INDEX_PARTS + GA_MAX_NDIM + 1)

/* One array of indices and the axis that it indexes. */
typedef struct ga__indexed {
    const gpuarray *array;
    int axis; /* of x; of an array of places the last one */
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
    gpuarray *owned[GA__MOST_OWNED]; /* the indices that masks became, copies and places */
    int nowned;
} ga__indexing;

/* Reads the parts; *view is the result if they have no arrays, and NULL otherwise. Free what it
 * holds by ga__indexing_reset(), also after an error. */
ga_status ga__indexing_init(ga__indexing *g, const char *name, const gpuarray *x, int n,
                            const ga_part *parts, gpuarray **view);
void ga__indexing_reset(ga__indexing *g);

/* Copies the arrays of indices that share memory with x, for calls that write to it. */
ga_status ga__indexing_separate(ga__indexing *g);

/* Memory that the operands of an index point to, and their number. */
typedef struct ga__index_operands {
    char names[4][16];
    ga__lens array;
} ga__index_operands;
#define GA__INDEX_OPERANDS 4

/* Sets the operands j, n, a and s of index k: the index, the length and the number of its axis, and
 * its stride in elements. The launch has `ndim` axes of the result, from `first` on. */
void ga__index_operands_set(ga__index_operands *memory, const ga__indexing *g, int k, int first,
                            int ndim, ga__operand *operands);

/* The strides of index k in the shape of the result, in bytes, and of its position. */
void ga__indexing_strides(const ga__indexing *g, int k, int64_t *strides);
void ga__indexing_position(const ga__indexing *g, int64_t *strides);

/* The elements from the lowest to the highest that tuples can name; *low is the place of the lowest
 * one, in elements from the offset. */
int64_t ga__indexing_span(const ga__indexing *g, int64_t *low);

/* The number of index tuples. */
int64_t ga__indexing_tuples(const ga__indexing *g);

#endif
