/* Products of matrices and vectors. */
#ifndef QUARRY_PRODUCTS_H
#define QUARRY_PRODUCTS_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/ops.h>

GA_BEGIN_DECLS

/* Arguments of a product. In C: ga_matmul(a, b, .out = c, .beta = 1). */
typedef struct ga_product_args {
    const gpuarray *a, *b;
    gpuarray *out; /* receives the result; the call then returns `out` itself, not a new reference.
                    * It may be a or b, or overlap them. */
    double alpha;  /* out = alpha * a @ b + beta * out; 0 means 1. For integers an integer */
    double beta;   /* 0: the elements of `out` are not read. Otherwise `out` is required */
    bool tf32;     /* float32 on a GPU: factors keep 10 bits of fraction, sums all 23 */
    double alpha_imag, beta_imag; /* imaginary parts of alpha and beta, of complex results */
} ga_product_args;

/* ga_matmul(a, b): the matrix product, as numpy.matmul. The last two dimensions hold the matrices,
 * (m, k) and (k, n); the other dimensions broadcast. A 1-D `a` is a row and a 1-D b a column; the
 * result lacks that dimension. The dtype is that of a * b. Integers wrap around; for bool the
 * product is "and" and the sum "or"; sums of float16, bfloat16 and float8 run in float32 and round
 * once. A result has the same bits in every run on one device with one library. cuBLASLt or the
 * host's BLAS multiplies floats if it is there (ga_product_library()), Quarry's own kernels
 * otherwise; docs/products.md has the details. Returns a new array in C order, or `out`; does not
 * wait. GA_ERR_SHAPE for shapes that do not match; GA_ERR_INVALID for a 0-d array, for beta
 * without `out`, for an alpha or beta that does not fit an integer result, and for an imaginary
 * part with a result that is not complex; GA_ERR_DTYPE if the result does not cast to the dtype of
 * `out`. */
GA_API gpuarray *ga_matmul(size_t size, const ga_product_args *args);

/* ga_dot(a, b): the product of two arrays, as numpy.dot. For 1-D arrays, the sum of a * b, a 0-d
 * array. Otherwise the sums over the last axis of a and the last but one (or only) axis of b. With
 * a 0-d array, the product of the elements, which takes `out` but neither alpha nor beta
 * (GA_ERR_INVALID). Options, guarantees and errors are those of ga_matmul(). */
GA_API gpuarray *ga_dot(size_t size, const ga_product_args *args);

/* ga_matvec(a, x): matrices (..., m, n) times vectors (..., n), as numpy.matvec. Options,
 * guarantees and errors are those of ga_matmul(). */
GA_API gpuarray *ga_matvec(size_t size, const ga_product_args *args);

/* ga_vecmat(x, a): vectors (..., m) times matrices (..., m, n), as numpy.vecmat; complex vectors
 * are conjugated. Options, guarantees and errors are those of ga_matmul(). */
GA_API gpuarray *ga_vecmat(size_t size, const ga_product_args *args);

GA_END_DECLS

/* C++20 has the same spelling as C, in the order of the members; C++17 takes the struct. */
#ifdef __cplusplus
struct ga_product_rest_ {
    gpuarray *out = nullptr;
    double alpha = 0, beta = 0;
    bool tf32 = false;
    double alpha_imag = 0, beta_imag = 0;
};
template <class Function> inline gpuarray *ga_product_call_(Function f, const ga_product_args &args)
{
    return f(sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_product_call_(Function f, const gpuarray *a, const gpuarray *b,
                                  const ga_product_rest_ &rest = {})
{
    return ga_product_call_(f, ga_product_args{a, b, rest.out, rest.alpha, rest.beta, rest.tf32,
                                               rest.alpha_imag, rest.beta_imag});
}
#define GA_PRODUCT_CALL_(f, ...)                                                                   \
    GA_HERE_(GA_JOIN_(GA_PRODUCT_, GA_FEW_(__VA_ARGS__))(f, __VA_ARGS__))
#define GA_PRODUCT_1(f, args) ga_product_call_(f, args)
#define GA_PRODUCT_2(f, a, b) ga_product_call_(f, a, b)
#define GA_PRODUCT_3(f, a, b, ...) ga_product_call_(f, a, b, {__VA_ARGS__})
#define GA_PRODUCT_4 GA_PRODUCT_3
#define GA_PRODUCT_5 GA_PRODUCT_3
#define GA_PRODUCT_6 GA_PRODUCT_3
#define GA_PRODUCT_MORE GA_PRODUCT_3
#else
#define GA_PRODUCT_CALL_(f, left, ...)                                                             \
    GA_AT_(f, sizeof(ga_product_args), &(ga_product_args){.a = left, .b = __VA_ARGS__})
#endif

#define ga_matmul(...) GA_PRODUCT_CALL_(ga_matmul, __VA_ARGS__)
#define ga_dot(...) GA_PRODUCT_CALL_(ga_dot, __VA_ARGS__)
#define ga_matvec(...) GA_PRODUCT_CALL_(ga_matvec, __VA_ARGS__)
#define ga_vecmat(...) GA_PRODUCT_CALL_(ga_vecmat, __VA_ARGS__)

#endif
