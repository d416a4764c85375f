/* What follows a product in an expression, where no library adds it: one kernel over the result. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_FINISH_H
#define GA_KERNELS_PRODUCT_PRODUCT_FINISH_H

#include "kernels/product/product_call.h"

/* Adds the bias to c, which has the dtype of the product, and applies relu. */
ga_status ga__product_finish(const ga__product *call);

/* Whether a library may do it on this device, for explanations. */
bool ga__product_may_finish(const ga__device *device, ga_dtype type, bool bias);

#endif
