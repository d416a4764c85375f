/* The parameters of distributions: numbers or arrays, and what they may be. */
#ifndef GA_OPS_RANDOM_PARAMETERS_H
#define GA_OPS_RANDOM_PARAMETERS_H

#include "array/array.h"

/* What a parameter may be: `parameters.c` says it in numbers. */
typedef enum ga__rule_of_parameter {
    GA__PARAMETER_LIMIT, /* any number but NaN */
    GA__PARAMETER_FINITE,
    GA__PARAMETER_NOT_NEGATIVE,  /* and finite */
    GA__PARAMETER_POSITIVE,      /* and finite */
    GA__PARAMETER_ABOVE_1,       /* and finite */
    GA__PARAMETER_MEAN,          /* not negative, and 10 deviations above it fit the dtype */
    GA__PARAMETER_SHARE,         /* in [0, 1] */
    GA__PARAMETER_SUM,           /* likewise, apart from rounding */
    GA__PARAMETER_SHARE_ABOVE_0, /* in (0, 1] */
    GA__PARAMETER_SHARE_BELOW_1, /* in [0, 1) */
    GA__PARAMETER_POPULATION,    /* an integer in [0, 10^9] */
    GA__PARAMETER_FITTING,       /* an integer in [0, 2^53] that fits the dtype */
    GA__PARAMETER_SAMPLE,        /* likewise, at most the sum of the two parameters before */
    GA__PARAMETER_NOT_BELOW,     /* finite, not below the parameter before */
    GA__PARAMETER_ABOVE,         /* above the parameter before */
    GA__PARAMETER_ABOVE_FIRST    /* finite, above the first and not below the one before */
} ga__rule_of_parameter;

typedef struct ga__parameter {
    const char *name;
    ga__rule_of_parameter rule;
} ga__parameter;

#define GA__MOST_PARAMETERS 4

/* Raises unless the `count` values are what their parameters may be, of draws of `dtype`. Arrays
 * are checked element by element: the call waits for their least and greatest elements. */
ga_status ga__check_parameters(const char *name, int count, const ga__parameter *parameters,
                               const ga_value *values, ga_dtype dtype);

#endif
