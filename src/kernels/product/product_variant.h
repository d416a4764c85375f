/* What the text of a product's kernel may depend on: no address, no size. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_VARIANT_H
#define GA_KERNELS_PRODUCT_PRODUCT_VARIANT_H

#include <stdint.h>

/* Its words are the key, after the formula's id and the device. */
typedef struct ga__product_variant {
    uint8_t type : 6;          /* dtypes: of the product, and of the arrays */
    uint8_t tensor : 1;        /* CUDA, little: warps multiply by tensor cores */
    uint8_t a : 6, across : 2; /* `tensor`: warps across a tile */
    uint8_t b : 6;
    uint8_t c : 6;
    uint8_t host : 1;
    uint8_t scales : 1, adds : 1;                        /* alpha is not 1; beta is not 0 */
    uint8_t a_along_k : 1, b_along_k : 1;                /* CUDA: threads read neighbours along k */
    uint8_t a_vectors : 1, b_vectors : 1, c_vectors : 1; /* CUDA: elements move by vectors */
    uint8_t axes : 6;                                    /* of the stack */
    uint8_t ahead : 1;  /* CUDA, little: factors come ahead, to twice as many threads across */
    uint8_t little : 1; /* a lane of the host's vectors, or a team of threads, has a product */
    uint8_t rows : 4, columns : 4; /* CUDA: of a thread; `tensor`: 16s and 8s of a warp */
    uint8_t side : 5, depth : 3;   /* CUDA: threads down a tile, and across it unless `ahead`;
                                    * little: 2^(depth + 2) is at least k or 64 */
} ga__product_variant;
_Static_assert(sizeof(ga__product_variant) == 8, "a product's variant is one word of the key");

#endif
