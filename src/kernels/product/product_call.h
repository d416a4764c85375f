/* The request for a product. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_CALL_H
#define GA_KERNELS_PRODUCT_PRODUCT_CALL_H

#include "array/array.h"
#include "device/product.h"

/* One product. All arrays are on one device and have two or more dimensions. The last two are a
 * matrix: m x k of a, k x n of b, m x n of c. The leading dimensions of a and b broadcast to
 * exactly those of c. Any lengths may be 0 or 1, and any strides are good, those of transposes and
 * of broadcast views too. */
typedef struct ga__product {
    const char *name; /* of the operation, for messages */
    const gpuarray *a, *b;
    gpuarray *c;   /* writable; it may overlap a and b */
    ga_dtype type; /* of the product: a and b convert to it, and sums are in its compute dtype */
    ga__factor alpha, beta; /* 0: 1 and 0. Of integers and bool, whole numbers */
    bool tf32;              /* float32 may be multiplied with 10 bits of fraction */
    const gpuarray *bias;   /* NULL, or n elements of `type`: each row of the product adds them */
    bool relu;              /* then what is less than 0 becomes 0 */
} ga__product;

static inline ga__factor ga__product_alpha(const ga__product *call)
{
    return ga__factor_is(call->alpha, 0) ? (ga__factor){.re = 1} : call->alpha;
}

#endif
