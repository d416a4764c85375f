/* Products of one row and a matrix, by the reduction engine. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_ROWS_H
#define GA_KERNELS_PRODUCT_PRODUCT_ROWS_H

#include "kernels/product/product_plan.h"

/* Whether the product reads each element of a matrix once, so that memory limits it. */
bool ga__product_is_rows(const ga__product_plan *p);

ga_status ga__product_by_rows(const ga__product_plan *p);

#endif
