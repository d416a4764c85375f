/* Rows of the distributions' table: their checks, and how a call draws. */
#ifndef GA_OPS_RANDOM_DRAW_OP_H
#define GA_OPS_RANDOM_DRAW_OP_H

#include "kernels/draw.h"
#include "ops/random/parameters.h"

typedef enum ga__draw_id {
#define GA_DRAW(name, ...) GA__DRAW_##name,
#define GA_DRAW0 GA_DRAW
#define GA_DRAW1 GA_DRAW
#define GA_DRAW2 GA_DRAW
#define GA_DRAW3 GA_DRAW
#define GA_DRAW4 GA_DRAW
#include <quarry/draw.def>
#undef GA_DRAW
#undef GA_DRAW0
#undef GA_DRAW1
#undef GA_DRAW2
#undef GA_DRAW3
#undef GA_DRAW4
    GA__DRAW_COUNT
} ga__draw_id;

/* A distribution, for numbers and for arrays as parameters. */
typedef struct ga__draw_row {
    ga__distribution distribution;
    ga__formula each; /* over the arrays, numbers `place` and `key`, and the element's index */
    const char *kinds;
    bool words; /* z is a block of the generator */
    int count;
    ga__parameter parameters[GA__MOST_PARAMETERS];
    const char *call; /* the name of the function */
} ga__draw_row;

extern const ga__draw_row ga__distributions[GA__DRAW_COUNT];

/* Logarithms of gamma numbers, which are numbers for the smallest shapes too. */
extern const ga__draw_row ga__log_gamma;

/* A new array of a row that is not in the table, with an array among its parameters. */
gpuarray *ga__draw_row_call(const ga__draw_row *row, ga_rng *rng, ga_dtype dtype,
                            const ga_value *values, int ndim, const int64_t *shape);

/* A new array of the shape, or with ndim -1 of that to which the parameters broadcast. */
gpuarray *ga__draw_call(ga__draw_id id, ga_rng *rng, ga_dtype dtype, const ga_value *values,
                        int ndim, const int64_t *shape);

/* Fills `out`. */
ga_status ga__draw_call_into(ga__draw_id id, gpuarray *out, ga_rng *rng, const ga_value *values);

/* Plans draws of uniform numbers from low to high, both numbers; of draws `name` otherwise. */
ga_status ga__plan_uniform(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
                           double low, double high);

#endif
