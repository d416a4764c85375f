/* The numbers of a range: how many there are, and the first two, from which the others follow. */
#ifndef GA_OPS_RANGE_H
#define GA_OPS_RANGE_H

#include "model/dtype.h"

typedef struct ga__range {
    int64_t length;
    ga_value first,
        second; /* the second is what follows the first, whether the range has it or not */
} ga__range;

/* As numpy.arange: start, start + step, ... below stop, or above it when step is negative. Integers
 * are computed exactly; a float among the numbers makes the arithmetic float64's. GA_ERR_INVALID:
 * the numbers are not real, the step is 0, the length is not finite, the first two numbers do not
 * fit an integer dtype, or a range of more than two is asked for as bool. */
ga_status ga__range_make(ga_dtype dtype, ga_value start, ga_value stop, ga_value step,
                         ga__range *range);

#endif
