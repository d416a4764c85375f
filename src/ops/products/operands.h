/* The operands of a product in the form of the engine: views with two dimensions or more. */
#ifndef GA_OPS_PRODUCTS_OPERANDS_H
#define GA_OPS_PRODUCTS_OPERANDS_H

#include <quarry/products.h>

#include "array/array.h"
#include "device/product.h"

/* A view in the caller's memory, valid as long as its array: it owns nothing. */
typedef struct ga__product_view {
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int ndim;
    const gpuarray *base;
} ga__product_view;

/* x itself. */
void ga__product_view_of(ga__product_view *v, const gpuarray *x);

/* Inserts a dimension of length 1 before axis `at`. */
void ga__product_view_insert(ga__product_view *v, int at);

/* What the engine multiplies, and where the result goes: out's last dimensions are those of the
 * matrices, even where the result lacks one. */
typedef struct ga__product_options {
    const char *name;
    ga__factor alpha, beta;
    bool tf32;
    const gpuarray *bias; /* NULL, or as many elements as the result has columns, 1-D */
    bool relu;            /* at last, what is less than 0 becomes 0 */
} ga__product_options;

/* Multiplies the views into `out`, and checks for NaN where the program asks for it. */
ga_status ga__multiply_views(const ga__product_options *options, const ga__product_view *a,
                             const ga__product_view *b, const ga__product_view *out);

/* Raises GA_ERR_INVALID for a beta without `out`, or an alpha or beta that does not fit the dtype
 * of the result. */
ga_status ga__check_product_numbers(const char *name, const ga_product_args *args, ga_dtype dtype);

/* ga_matmul() in the name of ga_dot(). */
gpuarray *ga__dot_matrices(const ga_product_args *args);

/* ---- a @ b of expressions: ga_matmul without options ---- */

/* The shape of the result; GA_ERR_SHAPE, GA_ERR_INVALID. */
ga_status ga__matmul_shape(int a_ndim, const int64_t *a_shape, int b_ndim, const int64_t *b_shape,
                           int *ndim, int64_t *shape);

/* a @ b + bias, without what is less than 0, into `out`, of that shape, whose dtype the result
 * casts to. The bias may be NULL. */
ga_status ga__matmul_into(gpuarray *out, const gpuarray *a, const gpuarray *b, const gpuarray *bias,
                          bool relu);

/* Whether a library of the device may do the rest too, for explanations. */
bool ga__matmul_may_finish(const ga__device *device, ga_dtype dtype, bool bias);

#endif
