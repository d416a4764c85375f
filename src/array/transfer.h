/* Copies between arrays of one shape, for the makers and the views. */
#ifndef GA_ARRAY_TRANSFER_H
#define GA_ARRAY_TRANSFER_H

#include "array/array.h"

/* Copies `from` into `to`: one shape, one device, any layouts and dtypes. */
ga_status ga__array_copy_into(gpuarray *to, const gpuarray *from);

#endif
