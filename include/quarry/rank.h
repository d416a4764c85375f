/* Order statistics: medians, quantiles, partitions and the k first elements. They select; they do
 * not sort (docs/order-statistics.md). */
#ifndef QUARRY_RANK_H
#define QUARRY_RANK_H

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/ops.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Arguments of a median. */
typedef struct ga_median_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes;       /* GA_AXIS(0, 2); 0: every axis */
    const int *axes; /* negative ones count from the end */
    bool keepdims;   /* reduced axes stay, with length 1 */
    gpuarray *out;   /* receives the result; the call then returns `out`, not a new reference */
} ga_median_args;

/* ga_median(x, GA_AXIS(0)): the median of x over some axes, as numpy.median: the middle element,
 * or the mean of the two middle elements, in the order of ga_sort(). Floats and complex numbers
 * keep their dtype; integers and bool give float64. The result is NaN if an element is NaN or if
 * there are no elements. Returns a new array of the kept axes. On one device the result has the
 * same bits in every run. GA_ERR_INVALID for a repeated axis; GA_ERR_SHAPE and GA_ERR_DTYPE for an
 * `out` of another shape, or to whose dtype the result does not cast ("same_kind"). */
GA_API gpuarray *ga_median(size_t size, const ga_median_args *args);

/* The same over the elements that are not NaN, as numpy.nanmedian; NaN if there are none. */
GA_API gpuarray *ga_nanmedian(size_t size, const ga_median_args *args);

/* Arguments of a quantile. */
typedef struct ga_quantile_args {
    const gpuarray *x;
    ga_value q; /* a real number, or an array of one or two axes */
    GA_NAMED_OPTIONS_;
    int naxes;          /* GA_AXIS(0, 2); 0: every axis */
    const int *axes;    /* negative ones count from the end */
    const char *method; /* NULL: "linear" */
    bool keepdims;      /* reduced axes stay, with length 1 */
    gpuarray *out;      /* receives the result; the call then returns `out`, not a new reference */
    const gpuarray *weights; /* NULL: each element counts once */
} ga_quantile_args;

/* ga_quantile(x, q, GA_AXIS(0), .method = "hazen"): the quantiles q, between 0 and 1, of x over
 * some axes, as numpy.quantile. The host reads an array q, and waits for it; its axes come first
 * in the result.
 *
 * Of n ascending elements, method "linear", the default, takes the place q * (n - 1), counted from
 * 0, and interpolates between the two elements beside it. "lower", "higher", "midpoint" and
 * "nearest" take the element before that place, the one after it, their mean, or the nearer one.
 * The other methods are those of Hyndman and Fan ("Sample quantiles in statistical packages",
 * 1996): "inverted_cdf" (their 1), "averaged_inverted_cdf" (2), "closest_observation" (3),
 * "interpolated_inverted_cdf" (4), "hazen" (5), "weibull" (6; "linear" is 7), "median_unbiased"
 * (8) and "normal_unbiased" (9).
 *
 * The methods that pick an element keep the dtype of x: "inverted_cdf", "closest_observation",
 * "lower", "higher", "nearest", and "linear" with an integer q. The others give a float: for a
 * number q that of x, or float64 for integers; for an array q the common dtype of both. NaN if an
 * element is NaN.
 *
 * With `weights`, method "inverted_cdf" takes the first element at which the sum of weights, from
 * the least element on, reaches the share q of their total; the other methods take no weights
 * (GA_ERR_INVALID). Weights have the shape of x, or that of its reduced axes in their order
 * (GA_ERR_SHAPE), and are real numbers (GA_ERR_DTYPE). The call waits for them. GA_ERR_INVALID if
 * one is negative, or if those of a row have no positive finite sum. Elements that are left out as
 * NaN lose their weights.
 *
 * GA_ERR_INVALID for a q outside 0 to 1, an unknown method, a bad axis, or no
 * elements; GA_ERR_DTYPE for complex elements, and for bool with a method that computes;
 * GA_ERR_SHAPE for a q of more than two axes. */
GA_API gpuarray *ga_quantile(size_t size, const ga_quantile_args *args);

/* The same with q between 0 and 100, as numpy.percentile. */
GA_API gpuarray *ga_percentile(size_t size, const ga_quantile_args *args);

/* Both over the elements that are not NaN, as numpy.nanquantile and numpy.nanpercentile; NaN if
 * there are none. */
GA_API gpuarray *ga_nanquantile(size_t size, const ga_quantile_args *args);
GA_API gpuarray *ga_nanpercentile(size_t size, const ga_quantile_args *args);

/* Arguments of a partition. */
typedef struct ga_partition_args {
    const gpuarray *x;
    int64_t kth; /* negative: from the end */
    GA_NAMED_OPTIONS_;
    int naxes;       /* GA_AXIS(0); 0: the last axis */
    const int *axes; /* one */
    bool flat;       /* all of x in C order, as one axis */
} ga_partition_args;

/* ga_partition(x, kth, GA_AXIS(0)): a copy of x with the element that sorting puts at kth in that
 * place of the axis, as numpy.partition with one kth. Smaller elements come first, then equal
 * ones, then greater ones; each group keeps the order of x, where NumPy leaves it open. NaN is
 * greater than all numbers, and -0 equals 0. Complex elements are ordered by the real part, then
 * by the imaginary part. GA_ERR_INDEX for a kth outside the axis; GA_ERR_INVALID for a 0-d array.
 */
GA_API gpuarray *ga_partition(size_t size, const ga_partition_args *args);

/* The int64 indices along the axis of the elements that ga_partition() returns, in that order, as
 * numpy.argpartition. */
GA_API gpuarray *ga_argpartition(size_t size, const ga_partition_args *args);

/* Arguments of ga_topk(). */
typedef struct ga_topk_args {
    const gpuarray *x;
    int64_t k;
    gpuarray **values, **indices; /* either may be NULL */
    GA_NAMED_OPTIONS_;
    int naxes;       /* GA_AXIS(0); 0: the last axis */
    const int *axes; /* one */
    bool smallest;   /* the least elements, in ascending order */
} ga_topk_args;

/* ga_topk(x, k, &values, &indices, GA_AXIS(0)): the k greatest elements along an axis in
 * descending order, and their int64 indices: the first k of a stable sort in that order. Of equal
 * elements the one with the lower index comes first. NaN comes last in either order. Both results
 * are new arrays, set only on success. GA_ERR_INDEX if k is negative or greater than the length of
 * the axis, GA_ERR_INVALID for a 0-d array. The array API and PyTorch have topk; NumPy does not.
 */
GA_API ga_status ga_topk(size_t size, const ga_topk_args *args);

GA_END_DECLS

/* The options follow the positional arguments. C++20 has the same spelling as C, in the order of
 * the members; C++17 takes the structs. */
#ifdef __cplusplus
struct ga_median_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    bool keepdims = false;
    gpuarray *out = nullptr;
};
struct ga_quantile_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    const char *method = nullptr;
    bool keepdims = false;
    gpuarray *out = nullptr;
    const gpuarray *weights = nullptr;
};
struct ga_partition_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    bool flat = false;
};
struct ga_topk_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    bool smallest = false;
};
template <class Function> inline gpuarray *ga_median_call_(Function f, const ga_median_args &args)
{
    return f(sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_median_call_(Function f, const gpuarray *x, const ga_median_rest_ &rest = {})
{
    return ga_median_call_(f, ga_median_args{x, rest.naxes, rest.axes, rest.keepdims, rest.out});
}
template <class Function>
inline gpuarray *ga_quantile_call_(Function f, const ga_quantile_args &args)
{
    return f(sizeof args, &args);
}
template <class Function, class Q>
inline gpuarray *ga_quantile_call_(Function f, const gpuarray *x, Q q,
                                   const ga_quantile_rest_ &rest = {})
{
    return ga_quantile_call_(f, ga_quantile_args{x, GA_V(q), rest.naxes, rest.axes, rest.method,
                                                 rest.keepdims, rest.out, rest.weights});
}
template <class Function>
inline gpuarray *ga_partition_call_(Function f, const ga_partition_args &args)
{
    return f(sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_partition_call_(Function f, const gpuarray *x, int64_t kth,
                                    const ga_partition_rest_ &rest = {})
{
    return ga_partition_call_(f, ga_partition_args{x, kth, rest.naxes, rest.axes, rest.flat});
}
inline ga_status ga_topk_call_(const ga_topk_args &args)
{
    return ga_topk(sizeof args, &args);
}
inline ga_status ga_topk_call_(const gpuarray *x, int64_t k, gpuarray **values, gpuarray **indices,
                               const ga_topk_rest_ &rest = {})
{
    return ga_topk_call_(ga_topk_args{x, k, values, indices, rest.naxes, rest.axes, rest.smallest});
}
#define GA_MEDIAN_CALL_(f, ...)                                                                    \
    GA_HERE_(GA_JOIN_(GA_MEDIAN_, GA_MANY_(__VA_ARGS__))(f, __VA_ARGS__))
#define GA_MEDIAN_ONE(f, x) ga_median_call_(f, x)
#define GA_MEDIAN_MANY(f, x, ...) ga_median_call_(f, x, {__VA_ARGS__})
#define GA_RANK_CALL_(call, f, ...)                                                                \
    GA_HERE_(GA_JOIN_(GA_RANK_, GA_FEW_(__VA_ARGS__))(call, f, __VA_ARGS__))
#define GA_RANK_1(call, f, args) call(f, args)
#define GA_RANK_2(call, f, x, q) call(f, x, q)
#define GA_RANK_3(call, f, x, q, ...) call(f, x, q, {__VA_ARGS__})
#define GA_RANK_4 GA_RANK_3
#define GA_RANK_5 GA_RANK_3
#define GA_RANK_6 GA_RANK_3
#define GA_RANK_MORE GA_RANK_3
#define GA_QUANTILE_CALL_(f, ...) GA_RANK_CALL_(ga_quantile_call_, f, __VA_ARGS__)
#define GA_PARTITION_CALL_(f, ...) GA_RANK_CALL_(ga_partition_call_, f, __VA_ARGS__)
#define ga_topk(...) GA_HERE_(GA_JOIN_(GA_TOPK_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_TOPK_1(args) ga_topk_call_(args)
#define GA_TOPK_4(x, k, values, indices) ga_topk_call_(x, k, values, indices)
#define GA_TOPK_5(x, k, values, indices, ...) ga_topk_call_(x, k, values, indices, {__VA_ARGS__})
#define GA_TOPK_6 GA_TOPK_5
#define GA_TOPK_MORE GA_TOPK_5
#else
#define GA_MEDIAN_CALL_(f, ...)                                                                    \
    GA_AT_(f, sizeof(ga_median_args), &(ga_median_args){.x = __VA_ARGS__})
#define GA_QUANTILE_CALL_(f, x, ...)                                                               \
    GA_JOIN_(GA_QUANTILE_, GA_MANY_(__VA_ARGS__))(f, x, __VA_ARGS__)
#define GA_QUANTILE_ONE(f, array, number)                                                          \
    GA_AT_(f, sizeof(ga_quantile_args), &(ga_quantile_args){.x = array, .q = GA_V(number)})
#define GA_QUANTILE_MANY(f, array, number, ...)                                                    \
    GA_AT_(f, sizeof(ga_quantile_args),                                                            \
           &(ga_quantile_args){.x = array, .q = GA_V(number), __VA_ARGS__})
#define GA_PARTITION_CALL_(f, array, ...)                                                          \
    GA_AT_(f, sizeof(ga_partition_args), &(ga_partition_args){.x = array, .kth = __VA_ARGS__})
#define ga_topk(array, count, first, ...)                                                          \
    GA_AT_(ga_topk, sizeof(ga_topk_args),                                                          \
           &(ga_topk_args){.x = array, .k = count, .values = first, .indices = __VA_ARGS__})
#endif

#define ga_median(...) GA_MEDIAN_CALL_(ga_median, __VA_ARGS__)
#define ga_nanmedian(...) GA_MEDIAN_CALL_(ga_nanmedian, __VA_ARGS__)
#define ga_quantile(...) GA_QUANTILE_CALL_(ga_quantile, __VA_ARGS__)
#define ga_percentile(...) GA_QUANTILE_CALL_(ga_percentile, __VA_ARGS__)
#define ga_nanquantile(...) GA_QUANTILE_CALL_(ga_nanquantile, __VA_ARGS__)
#define ga_nanpercentile(...) GA_QUANTILE_CALL_(ga_nanpercentile, __VA_ARGS__)
#define ga_partition(...) GA_PARTITION_CALL_(ga_partition, __VA_ARGS__)
#define ga_argpartition(...) GA_PARTITION_CALL_(ga_argpartition, __VA_ARGS__)

#endif
