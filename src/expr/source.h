/* Sources: boxes of their elements, loaded into a device's memory. */
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
    char *path;          /* of ga_source_open; NULL if the user's function reads */
};

/* Some elements of a source: low[axis] <= index < high[axis]. */
typedef struct ga__box {
    int64_t low[GA_MAX_NDIM], high[GA_MAX_NDIM];
} ga__box;

/* The box of the whole source. */
void ga__source_box(const ga_source *source, ga__box *box);

/* The slowest axis longer than 1: a box that is split along it stays one run. -1 if there is
 * none. */
int ga__source_slow_axis(const ga_source *source);

/* The number of elements. */
int64_t ga__box_size(const ga__box *box, int ndim);

/* Fills the memory of a 1-D array of the source's dtype, from its byte `at` on, with the elements
 * of the box in the source's order. */
ga_status ga__source_load(const ga_source *source, const ga__box *box, ga__staging *staging,
                          gpuarray *x, size_t at);

/* The box as an array over the memory of `x`, which ga__source_load has filled. */
gpuarray *ga__source_view(const ga_source *source, const ga__box *box, const gpuarray *x);

#endif
