/* The product engine: c = alpha * a @ b + beta * c over broadcast stacks of matrices. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_H
#define GA_KERNELS_PRODUCT_PRODUCT_H

#include "array/array.h"

/* One product. All arrays are on one device and have two or more dimensions. The last two are a
 * matrix: m x k of a, k x n of b, m x n of c. The leading dimensions of a and b broadcast to
 * exactly those of c. Any lengths may be 0 or 1, and any strides are good, those of transposes and
 * of broadcast views too. */
typedef struct ga__product {
    const char *name; /* of the operation, for messages */
    const gpuarray *a, *b;
    gpuarray *c;   /* writable; it may overlap a and b */
    ga_dtype type; /* of the product: a and b convert to it, and sums are in its compute dtype */
    double alpha, beta; /* 0: 1 and 0. Of integers and bool, whole numbers */
    bool tf32;          /* float32 may be multiplied with 10 bits of fraction */
} ga__product;

/* The result is rounded once, to c's dtype. Integers wrap around; bool is "or" of "and"s. With
 * beta 0, what c holds is not read. The same operands give the same bits. */
ga_status ga__product_run(const ga__product *product);

#endif
