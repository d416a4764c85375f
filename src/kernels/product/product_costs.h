/* Whether little products need no library. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_COSTS_H
#define GA_KERNELS_PRODUCT_PRODUCT_COSTS_H

#include "kernels/product/product_plan.h"

/* Whether lanes or teams compute a stack of little products faster than the device's library. */
bool ga__product_needs_no_library(const ga__product_plan *p);

#endif
