/* Products of one row and a matrix, by the reduction engine. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_ROWS_H
#define GA_KERNELS_PRODUCT_PRODUCT_ROWS_H

#include "kernels/product/product_plan.h"

/* Of a plan for which ga__product_is_rows(). */
ga_status ga__product_by_rows(const ga__product_plan *p);

#endif
