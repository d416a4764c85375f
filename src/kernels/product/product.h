/* The product engine: c = alpha * a @ b + beta * c over broadcast stacks of matrices. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_H
#define GA_KERNELS_PRODUCT_PRODUCT_H

#include "kernels/product/product_call.h"

/* The result is rounded once, to c's dtype. Integers wrap around; bool is "or" of "and"s. With
 * beta 0, what c holds is not read. The same operands give the same bits. */
ga_status ga__product_run(const ga__product *product);

#endif
