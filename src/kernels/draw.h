/* The random engine: fills arrays with the numbers of a distribution. */
#ifndef GA_KERNELS_DRAW_H
#define GA_KERNELS_DRAW_H

#include "kernels/distribution.h"
#include "kernels/rng.h"

/* Starts a draw without numbers. GA_ERR_INVALID if rng is NULL, GA_ERR_DTYPE if `kinds` lacks the
 * kind of dtype; `wanted` names the kinds in the message. */
ga_status ga__draw_init(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
                        const char *kinds, const char *wanted);

/* Adds the body's next number, a, b, c or d, in the compute type of `type`. */
void ga__draw_add(ga__draw *draw, ga_dtype type, ga_value number);

/* The dtype to draw for `out`; GA_NO_DTYPE and an error when it cannot be written. */
ga_dtype ga__draw_dtype(const char *name, const gpuarray *out);

/* Fills a contiguous array with the elements of the generator from `state` on. */
ga_status ga__draw_run(const ga__draw *draw, gpuarray *out, ga_rng_state state);

#endif
