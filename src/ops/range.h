/* Ranges: their length, and the first two numbers, which determine the others. */
#ifndef GA_OPS_RANGE_H
#define GA_OPS_RANGE_H

#include "model/dtype.h"

typedef struct ga__range {
    int64_t length;
    ga_value first, second; /* the number after the first, even if the range does not contain it */
} ga__range;

/* Like numpy.arange: start, start + step, ... below stop, or above it if step is negative. Integer
 * arithmetic is exact; with a float among the numbers, the arithmetic is float64. GA_ERR_INVALID if
 * the numbers are not real, the step is 0, the length is not finite, the first two numbers do not
 * fit an integer dtype, or a bool range has more than two numbers. */
ga_status ga__range_make(ga_dtype dtype, ga_value start, ga_value stop, ga_value step,
                         ga__range *range);

#endif
