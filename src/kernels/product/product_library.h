/* Products by the device's library. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_LIBRARY_H
#define GA_KERNELS_PRODUCT_PRODUCT_LIBRARY_H

#include "kernels/product/product_plan.h"

/* The operands that the library takes as they are; the others must be copied to these dtypes, in C
 * order. */
typedef struct ga__product_fit {
    bool a, b, c;
    ga_dtype type, c_type; /* of a and b; of c */
} ga__product_fit;

/* Whether lanes or teams compute a stack of little products faster than the device's library. Plans
 * tiles if it needs them. */
bool ga__product_needs_no_library(ga__product_plan *p);

/* Whether the library is to multiply, perhaps after copies; false without an error if there is
 * none, or the kernel of the templates suits the shape better. */
bool ga__product_fits(ga__product_plan *p, ga__product_fit *fit);

/* Whether that also adds the bias and applies relu. */
bool ga__product_finishes(const ga__product_plan *p, const ga__product_fit *fit);

/* Multiplies what fits. GA_ERR_UNSUPPORTED, without raising it, if the library cannot. */
ga_status ga__product_by_library(const ga__product_plan *p, const ga__product_fit *fit);

/* Copies `from` to `to`, of the same shape and any dtype. */
ga_status ga__product_copy(gpuarray *to, const gpuarray *from);

#endif
