/* The random engine: fills arrays with the numbers of a distribution. */
#ifndef GA_KERNELS_DRAW_H
#define GA_KERNELS_DRAW_H

#include "kernels/distribution.h"
#include "kernels/rng.h"

/* A draw without numbers. GA_ERR_INVALID when rng is NULL, GA_ERR_DTYPE when `kinds` lacks that of
 * dtype; `wanted` says in the message which are meant. */
ga_status ga__draw_init(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
                        const char *kinds, const char *wanted);

/* The body's next number, a, b or c, as `type`'s compute type. */
void ga__draw_add(ga__draw *draw, ga_dtype type, ga_value number);

/* The dtype to draw for `out`; GA_NO_DTYPE and an error when it cannot be written. */
ga_dtype ga__draw_dtype(const char *name, const gpuarray *out);

/* A new array filled by a draw whose planning ended with the status `planned`; NULL on failure. */
gpuarray *ga__draw_new(const ga__draw *draw, ga_status planned, ga_rng *rng, ga_dtype dtype,
                       int ndim, const int64_t *shape);

/* Likewise fills `out`, in C order whatever its layout, with elements of the generator that nobody
 * has had. */
ga_status ga__draw_into(const ga__draw *draw, ga_status planned, gpuarray *out, ga_rng *rng);

#endif
