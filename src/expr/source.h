/* Sources as the floors above see them: boxes of their elements, poured into a device's memory. */
#ifndef GA_EXPR_SOURCE_H
#define GA_EXPR_SOURCE_H

#include <quarry/source.h>

#include "ops/npy.h"
#include "array/staging.h"

struct ga_source {
    ga_dtype dtype;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    bool fortran; /* elements come in Fortran order */
    ga_read_function read;
    void *user;
    ga__npy_reader file; /* of ga_source_open */
    char *path;          /* likewise; NULL: the user's function reads */
};

/* Some elements of a source: low[axis] <= index < high[axis]. */
typedef struct ga__box {
    int64_t low[GA_MAX_NDIM], high[GA_MAX_NDIM];
} ga__box;

/* All of it. */
void ga__source_box(const ga_source *source, ga__box *box);

/* The axis longer than 1 along which a box of the source is one run; -1: there is none. */
int ga__source_slow_axis(const ga_source *source);

/* The number of elements. */
int64_t ga__box_size(const ga__box *box, int ndim);

/* Fills the memory of a 1-D array of the source's dtype, from its byte `at` on, with the elements
 * of the box in the source's order. */
ga_status ga__source_pour(const ga_source *source, const ga__box *box, ga__staging *staging,
                          gpuarray *x, size_t at);

/* The box as an array over the memory of `x`, which ga__source_pour has filled. */
gpuarray *ga__source_view(const ga_source *source, const ga__box *box, const gpuarray *x);

#endif
