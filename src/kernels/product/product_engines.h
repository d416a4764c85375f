/* Products that other engines compute: of one row, by the reduction engine, and of one column and
 * one row, by the elementwise engine. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_ENGINES_H
#define GA_KERNELS_PRODUCT_PRODUCT_ENGINES_H

#include "kernels/product/product_plan.h"

/* Of a plan for which ga__product_is_rows(). */
ga_status ga__product_by_rows(const ga__product_plan *p);

/* Of a plan for which ga__product_is_outer(). */
ga_status ga__product_by_elements(const ga__product_plan *p);

#endif
