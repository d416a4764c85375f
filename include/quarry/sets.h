/* Sets: unique elements, membership, unions, intersections and differences. */
#ifndef QUARRY_SETS_H
#define QUARRY_SETS_H

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Arrays of any dtype and shape are sets of their elements, in the order of ga_sort(). -0 equals
 * +0. Results are new 1-D arrays in ascending order unless stated otherwise. Of equal elements a
 * result has the first one in C order, with its bits. The length of a result depends on the data:
 * the call waits for it. Two arrays are compared in their common dtype; GA_ERR_DTYPE if there is
 * none.
 *
 * Arguments of ga_unique(). In C: ga_unique(x, .counts = &counts). */
typedef struct ga_unique_args {
    const gpuarray *x;
    gpuarray **indices; /* receives int64: where each value occurs first, in C order. NULL: unset */
    gpuarray **inverse; /* receives int64 of x's shape: values[inverse] is x */
    gpuarray **counts;  /* receives int64: how often each value occurs */
    bool distinct_nan;  /* each NaN is a value of its own, as equal_nan=False in NumPy */
    GA_NAMED_OPTIONS_;
    int naxes; /* 1: the unique parts of x along this axis; 0: the unique elements */
    const int *axes;
} ga_unique_args;

/* The unique elements of x, as numpy.unique. All NaNs are one value, the last one; a complex
 * number with NaN in either part is NaN. ga_unique(m, GA_AXIS(0)): the unique rows, in the order
 * of their elements; `indices` and `inverse` then refer to rows, and rows with a NaN differ. This
 * takes one sort for each element of a row. Results are set only on success. GA_ERR_INVALID for
 * parts of no elements. */
GA_API gpuarray *ga_unique(size_t size, const ga_unique_args *args);

/* The forms of the array API, as numpy.unique_all and so on, in which each NaN is a value of its
 * own. Pass NULL for a result that you do not want. */
GA_API ga_status ga_unique_all(const gpuarray *x, gpuarray **values, gpuarray **indices,
                               gpuarray **inverse, gpuarray **counts);
GA_API ga_status ga_unique_counts(const gpuarray *x, gpuarray **values, gpuarray **counts);
GA_API ga_status ga_unique_inverse(const gpuarray *x, gpuarray **values, gpuarray **inverse);
GA_API gpuarray *ga_unique_values(const gpuarray *x);

/* Arguments of a test of membership. */
typedef struct ga_isin_args {
    const gpuarray *x, *test;
    bool invert;        /* true where x is not in `test` */
    bool assume_unique; /* as in NumPy: no element repeats in its array. Has no effect here */
} ga_isin_args;

/* ga_isin(x, test): a bool array of the shape of x, true where the element is in `test`, as
 * numpy.isin. NaN is in no set. The call does not wait, and a graph can contain it. */
GA_API gpuarray *ga_isin(size_t size, const ga_isin_args *args);

/* The same as a 1-D array in C order, as numpy.in1d of NumPy 1. */
GA_API gpuarray *ga_in1d(size_t size, const ga_isin_args *args);

/* The elements that are in either array, in the common dtype, as numpy.union1d. */
GA_API gpuarray *ga_union1d(const gpuarray *a, const gpuarray *b);

/* Arguments of an intersection. */
typedef struct ga_intersect1d_args {
    const gpuarray *a, *b;
    bool assume_unique; /* no element repeats in its array: saves a comparison. If one does, it may
                         * repeat in the result too */
    gpuarray **a_indices,
        **b_indices; /* receive int64: where each value occurs first. NULL: unset */
} ga_intersect1d_args;

/* ga_intersect1d(a, b): the elements that are in both arrays, in the common dtype, with the bits
 * of `a`, as numpy.intersect1d. NaN is never in both. Results are set only on success. */
GA_API gpuarray *ga_intersect1d(size_t size, const ga_intersect1d_args *args);

/* Arguments of a difference. */
typedef struct ga_setdiff1d_args {
    const gpuarray *a, *b;
    bool assume_unique; /* no element repeats in its array. If one does, it repeats in the result */
} ga_setdiff1d_args;

/* ga_setdiff1d(a, b): the elements of `a` that are not in b, in the dtype of `a`, as
 * numpy.setdiff1d. With .assume_unique they keep the order of `a`, as in NumPy. */
GA_API gpuarray *ga_setdiff1d(size_t size, const ga_setdiff1d_args *args);

/* ga_setxor1d(a, b): the elements that are in exactly one of the arrays, in the common dtype, as
 * numpy.setxor1d. If both arrays have NaN, the result has it twice, as in NumPy. */
GA_API gpuarray *ga_setxor1d(size_t size, const ga_setdiff1d_args *args);

/* Arguments of a mode. */
typedef struct ga_mode_args {
    const gpuarray *x;
    gpuarray **values, **counts; /* either may be NULL */
    GA_NAMED_OPTIONS_;
    int naxes;       /* GA_AXIS(0, 2); 0: every axis */
    const int *axes; /* negative ones count from the end */
    bool keepdims;   /* reduced axes stay, with length 1 */
} ga_mode_args;

/* ga_mode(x, &values, &counts, GA_AXIS(0)): the most frequent element over some axes, and its
 * int64 count. Of several, the smallest. All NaNs are one value. The results are new arrays of the
 * kept axes, set only on success. GA_ERR_INVALID for a repeated axis, or no elements. SciPy has
 * such a function; NumPy does not. */
GA_API ga_status ga_mode(size_t size, const ga_mode_args *args);

GA_END_DECLS

#ifdef __cplusplus
/* The options follow the positional arguments. C++20 has the same spelling as C, in the order of
 * the members; C++17 takes the structs, or options by their order. */
struct ga_unique_rest_ {
    gpuarray **indices = nullptr, **inverse = nullptr, **counts = nullptr;
    bool distinct_nan = false;
    int naxes = 0;
    const int *axes = nullptr;
};
struct ga_unique_options_ {
    const gpuarray *x;
    ga_unique_rest_ rest;
    operator ga_unique_args() const
    {
        return ga_unique_args{
            x, rest.indices, rest.inverse, rest.counts, rest.distinct_nan, rest.naxes, rest.axes};
    }
};
struct ga_isin_rest_ {
    bool invert = false, assume_unique = false;
};
struct ga_isin_options_ {
    const gpuarray *x, *test;
    ga_isin_rest_ rest;
    operator ga_isin_args() const
    {
        return ga_isin_args{x, test, rest.invert, rest.assume_unique};
    }
};
struct ga_intersect1d_rest_ {
    bool assume_unique = false;
    gpuarray **a_indices = nullptr, **b_indices = nullptr;
};
struct ga_intersect1d_options_ {
    const gpuarray *a, *b;
    ga_intersect1d_rest_ rest;
    operator ga_intersect1d_args() const
    {
        return ga_intersect1d_args{a, b, rest.assume_unique, rest.a_indices, rest.b_indices};
    }
};
struct ga_setdiff1d_rest_ {
    bool assume_unique = false;
};
struct ga_setdiff1d_options_ {
    const gpuarray *a, *b;
    ga_setdiff1d_rest_ rest;
    operator ga_setdiff1d_args() const
    {
        return ga_setdiff1d_args{a, b, rest.assume_unique};
    }
};
struct ga_mode_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    bool keepdims = false;
};
inline ga_status ga_mode_call_(const ga_mode_args &args)
{
    return ga_mode(sizeof args, &args);
}
inline ga_status ga_mode_call_(const gpuarray *x, gpuarray **values, gpuarray **counts,
                               const ga_mode_rest_ &rest = {})
{
    return ga_mode_call_(ga_mode_args{x, values, counts, rest.naxes, rest.axes, rest.keepdims});
}
inline ga_unique_args ga_unique_args_(const gpuarray *x)
{
    return ga_unique_options_{x, {}};
}
inline const ga_unique_args &ga_unique_args_(const ga_unique_args &args)
{
    return args;
}
template <class Args, class Function> inline gpuarray *ga_set_call_(Function f, const Args &args)
{
    return f(sizeof args, &args);
}
#define ga_unique(...)                                                                             \
    GA_HERE_(ga_set_call_<ga_unique_args>(                                                         \
        ga_unique, GA_JOIN_(GA_UNIQUE_ARGS_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)))
#define GA_UNIQUE_ARGS_ONE(args) ga_unique_args_(args)
#define GA_UNIQUE_ARGS_MANY(array, ...) (ga_unique_options_{array, {__VA_ARGS__}})
#define GA_SET_CALL_(f, type, first, ...)                                                          \
    GA_HERE_(ga_set_call_<type##_args>(                                                            \
        f, GA_JOIN_(GA_SET_ARGS_, GA_FEW_(__VA_ARGS__))(type, __VA_ARGS__)))
#define GA_SET_ARGS_1(type, args) args
#define GA_SET_ARGS_2(type, one, two) (type##_options_{one, two, {}})
#define GA_SET_ARGS_3(type, one, two, ...) (type##_options_{one, two, {__VA_ARGS__}})
#define GA_SET_ARGS_4 GA_SET_ARGS_3
#define GA_SET_ARGS_5 GA_SET_ARGS_3
#define ga_mode(...) GA_HERE_(GA_JOIN_(GA_MODE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_MODE_1(args) ga_mode_call_(args)
#define GA_MODE_3(x, values, counts) ga_mode_call_(x, values, counts)
#define GA_MODE_4(x, values, counts, ...) ga_mode_call_(x, values, counts, {__VA_ARGS__})
#define GA_MODE_5 GA_MODE_4
#define GA_MODE_6 GA_MODE_4
#else
#define ga_unique(...)                                                                             \
    GA_AT_(ga_unique, sizeof(ga_unique_args), &(ga_unique_args){.x = __VA_ARGS__})
#define ga_mode(...) GA_AT_(ga_mode, sizeof(ga_mode_args), &(ga_mode_args){.x = __VA_ARGS__})
#define GA_SET_CALL_(f, type, first, ...)                                                          \
    GA_AT_(f, sizeof(type##_args), &(type##_args){.first = __VA_ARGS__})
#endif

#define ga_isin(...) GA_SET_CALL_(ga_isin, ga_isin, x, __VA_ARGS__)
#define ga_in1d(...) GA_SET_CALL_(ga_in1d, ga_isin, x, __VA_ARGS__)
#define ga_intersect1d(...) GA_SET_CALL_(ga_intersect1d, ga_intersect1d, a, __VA_ARGS__)
#define ga_setdiff1d(...) GA_SET_CALL_(ga_setdiff1d, ga_setdiff1d, a, __VA_ARGS__)
#define ga_setxor1d(...) GA_SET_CALL_(ga_setxor1d, ga_setdiff1d, a, __VA_ARGS__)

#endif
