/* Reads the number of a result that has served its purpose. */
#ifndef GA_OPS_TAKE_NUMBER_H
#define GA_OPS_TAKE_NUMBER_H

#include "array/array.h"

/* Sets *number to the one element of the array, waits for it, and frees the array. NULL is a result
 * that failed. */
ga_status ga__take_number(gpuarray *result, int64_t *number);
ga_status ga__take_double(gpuarray *result, double *number);

#endif
