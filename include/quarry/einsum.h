/* Sums of products of arrays: einsum, and products that are special cases of it. */
#ifndef QUARRY_EINSUM_H
#define QUARRY_EINSUM_H

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/joining.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Operands have any dtypes, shapes and layouts. Results are new arrays in the common dtype of the
 * operands. Sums of integers wrap; for bool the product is "and" and the sum "or", as in NumPy. An
 * `out` receives the result instead; the call then returns `out` itself, not a new reference.
 * `out` may share memory with operands. No call waits. GA_ERR_SHAPE for axes that do not match and
 * for an `out` of another shape; GA_ERR_DTYPE if the result does not cast to the dtype of `out`
 * ("same_kind").
 *
 * Arguments of ga_einsum(). In C: ga_einsum("ij,jk->ik", GA_ARRAYS(a, b), .out = c). */
typedef struct ga_einsum_args {
    const char *subscripts;
    int count; /* 1 to 64 */
    const gpuarray *const *operands;
    ga_dtype dtype; /* of the computation and the result; GA_NO_DTYPE: the common dtype. The
                     * operands must cast to it (GA_ERR_DTYPE) */
    gpuarray *out;
} ga_einsum_args;

/* The product of all operands, summed over the subscripts that the result lacks, as numpy.einsum.
 * A subscript is a letter; "..." stands for the other axes of an operand, which broadcast. A
 * repeated subscript of one operand selects its diagonal. Without "->" the result has the
 * ellipsis, then the subscripts that occur once, in alphabetical order. An axis of length 1 is
 * repeated to the length of its subscript. A single operand without a sum gives a view of it. For
 * an error in the text, the message shows the place (GA_ERR_INVALID, GA_ERR_SHAPE). docs/einsum.md
 * describes how it runs. */
GA_API gpuarray *ga_einsum(size_t size, const ga_einsum_args *args);

/* Arguments of ga_tensordot(). In C: ga_tensordot(a, b, 2), or ga_tensordot(a, b, GA_AXES(1, 0),
 * GA_AXES(0, 1)). */
typedef struct ga_tensordot_args {
    const gpuarray *a, *b;
    int naxes;        /* without lists: that many last axes of `a` and first axes of b */
    const int *axes;  /* of `a`; negative ones count from the end */
    int nother;       /* equals naxes */
    const int *other; /* of b; paired axes have equal lengths */
    gpuarray *out;
} ga_tensordot_args;

/* The sums over pairs of axes, as numpy.tensordot. The result has the other axes of `a`, then
 * those of b. GA_ERR_INVALID for a repeated axis, or for different numbers of axes. */
GA_API gpuarray *ga_tensordot(size_t size, const ga_tensordot_args *args);

/* Arguments of products along an axis. In C: ga_vecdot(a, b, GA_AXIS(0)). */
typedef struct ga_vector_args {
    const gpuarray *a, *b;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the last axis */
    const int *axes;
    gpuarray *out;
} ga_vector_args;

/* The sums of conj(a) * b along an axis of both, as numpy.vecdot; the other axes broadcast. */
GA_API gpuarray *ga_vecdot(size_t size, const ga_vector_args *args);

/* The cross products of vectors of 3 elements along an axis of both arrays, as numpy.cross; the
 * other axes broadcast. The third element of a vector of 2 elements is 0; for two such vectors the
 * result is the third element alone, without the axis. GA_ERR_SHAPE for other lengths,
 * GA_ERR_DTYPE for bool. NumPy 2 deprecates vectors of 2 elements. */
GA_API gpuarray *ga_cross(size_t size, const ga_vector_args *args);

/* Arguments of ga_outer(). In C: ga_outer(a, b, .out = c). */
typedef struct ga_outer_args {
    const gpuarray *a, *b;
    gpuarray *out;
} ga_outer_args;

/* The matrix of all products of an element of `a` and one of b, both in C order, as numpy.outer.
 */
GA_API gpuarray *ga_outer(size_t size, const ga_outer_args *args);

/* The sum of conj(a) * b over all elements in C order, as numpy.vdot: a 0-d array. GA_ERR_SHAPE
 * for different numbers of elements. */
GA_API gpuarray *ga_vdot(const gpuarray *a, const gpuarray *b);

/* The sums over the last axes of both arrays, as numpy.inner. The result has the other axes of
 * `a`, then those of b. If one array is 0-d, the product. */
GA_API gpuarray *ga_inner(const gpuarray *a, const gpuarray *b);

/* The Kronecker product, as numpy.kron: a block for each element of `a`, that element times b. */
GA_API gpuarray *ga_kron(const gpuarray *a, const gpuarray *b);

/* A view of x with its last two axes exchanged, as numpy.matrix_transpose. GA_ERR_SHAPE for fewer
 * than two axes. */
GA_API gpuarray *ga_matrix_transpose(const gpuarray *x);

GA_END_DECLS

#ifdef __cplusplus
/* The options follow the positional arguments. In C++20 they have the same spelling as in C; C++17
 * takes the structs. */
struct ga_einsum_rest_ {
    ga_dtype dtype = GA_NO_DTYPE;
    gpuarray *out = nullptr;
};
struct ga_out_rest_ {
    gpuarray *out = nullptr;
};
struct ga_vector_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    gpuarray *out = nullptr;
};
inline gpuarray *ga_einsum_call_(const ga_einsum_args &args)
{
    return ga_einsum(sizeof args, &args);
}
inline gpuarray *ga_einsum_call_(const char *subscripts, int count, const gpuarray *const *operands,
                                 const ga_einsum_rest_ &rest = {})
{
    return ga_einsum_call_(ga_einsum_args{subscripts, count, operands, rest.dtype, rest.out});
}
inline gpuarray *ga_tensordot_call_(const ga_tensordot_args &args)
{
    return ga_tensordot(sizeof args, &args);
}
inline gpuarray *ga_tensordot_call_(const gpuarray *a, const gpuarray *b, int naxes,
                                    const ga_out_rest_ &rest = {})
{
    return ga_tensordot_call_(ga_tensordot_args{a, b, naxes, nullptr, 0, nullptr, rest.out});
}
inline gpuarray *ga_tensordot_call_(const gpuarray *a, const gpuarray *b, int naxes,
                                    const int *axes, int nother, const int *other,
                                    const ga_out_rest_ &rest = {})
{
    return ga_tensordot_call_(ga_tensordot_args{a, b, naxes, axes, nother, other, rest.out});
}
template <class Function> inline gpuarray *ga_vector_call_(Function f, const ga_vector_args &args)
{
    return f(sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_vector_call_(Function f, const gpuarray *a, const gpuarray *b,
                                 const ga_vector_rest_ &rest = {})
{
    return ga_vector_call_(f, ga_vector_args{a, b, rest.naxes, rest.axes, rest.out});
}
inline gpuarray *ga_outer_call_(const ga_outer_args &args)
{
    return ga_outer(sizeof args, &args);
}
inline gpuarray *ga_outer_call_(const gpuarray *a, const gpuarray *b, const ga_out_rest_ &rest = {})
{
    return ga_outer_call_(ga_outer_args{a, b, rest.out});
}
#define ga_einsum(...) GA_HERE_(GA_JOIN_(GA_EINSUM_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_EINSUM_1(args) ga_einsum_call_(args)
#define GA_EINSUM_3(text, n, operands) ga_einsum_call_(text, n, operands)
#define GA_EINSUM_4(text, n, operands, ...) ga_einsum_call_(text, n, operands, {__VA_ARGS__})
#define GA_EINSUM_5 GA_EINSUM_4
#define ga_tensordot(...) GA_HERE_(GA_JOIN_(GA_TENSORDOT_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_TENSORDOT_1(args) ga_tensordot_call_(args)
#define GA_TENSORDOT_3(a, b, n) ga_tensordot_call_(a, b, n)
#define GA_TENSORDOT_4(a, b, n, ...) ga_tensordot_call_(a, b, n, {__VA_ARGS__})
#define GA_TENSORDOT_6(a, b, n, axes, m, other) ga_tensordot_call_(a, b, n, axes, m, other)
#define GA_TENSORDOT_MORE(a, b, n, axes, m, other, ...)                                            \
    ga_tensordot_call_(a, b, n, axes, m, other, {__VA_ARGS__})
#define GA_VECTOR_CALL_(f, ...) GA_RANK_CALL_(ga_vector_call_, f, __VA_ARGS__)
#define ga_outer(...) GA_HERE_(GA_JOIN_(GA_OUTER_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_OUTER_1(args) ga_outer_call_(args)
#define GA_OUTER_2(a, b) ga_outer_call_(a, b)
#define GA_OUTER_3(a, b, ...) ga_outer_call_(a, b, {__VA_ARGS__})
#else
#define ga_einsum(...)                                                                             \
    GA_AT_(ga_einsum, sizeof(ga_einsum_args), &(ga_einsum_args){.subscripts = __VA_ARGS__})
#define ga_tensordot(first, second, ...)                                                           \
    GA_AT_(ga_tensordot, sizeof(ga_tensordot_args),                                                \
           &(ga_tensordot_args){.a = first, .b = second, .naxes = __VA_ARGS__})
#define GA_VECTOR_CALL_(f, ...)                                                                    \
    GA_AT_(f, sizeof(ga_vector_args), &(ga_vector_args){.a = __VA_ARGS__})
#define ga_outer(...) GA_AT_(ga_outer, sizeof(ga_outer_args), &(ga_outer_args){.a = __VA_ARGS__})
#endif
#define ga_vecdot(...) GA_VECTOR_CALL_(ga_vecdot, __VA_ARGS__)
#define ga_cross(...) GA_VECTOR_CALL_(ga_cross, __VA_ARGS__)

#endif
