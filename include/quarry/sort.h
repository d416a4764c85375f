/* Sorting: of values, of indices, and by keys. */
#ifndef QUARRY_SORT_H
#define QUARRY_SORT_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/ops.h>

GA_BEGIN_DECLS

/* Every dtype has an order: false before true; numbers by value; complex numbers by the real part,
 * then by the imaginary part; NaN last, also in descending order. -0 equals +0, and every NaN
 * equals every other. All sorts are stable: elements that compare equal keep their order, and all
 * elements keep their bits. Results are new arrays in C order. No sort waits.
 *
 * Arguments of a sort. In C: ga_sort(x, GA_AXIS(0), .descending = true). */
typedef struct ga_sort_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the last axis */
    const int *axes;
    bool descending; /* the greatest first. Elements that compare equal keep their order here too,
                      * so this is not the reverse of the ascending order. */
    bool flat;       /* sorts the elements in C order as a 1-D array; takes no axis */
    gpuarray *out;   /* receives the result; the call then returns `out` itself, not a new
                      * reference. It may be x. */
} ga_sort_args;

/* A sorted copy of x along an axis, as numpy.sort with kind="stable"; the algorithm depends on the
 * shape and the device (docs/sorting.md). GA_ERR_INVALID for a 0-d array, which has no axis;
 * GA_ERR_SHAPE and GA_ERR_DTYPE for an `out` of another shape, or to whose dtype the result does
 * not cast ("same_kind"). */
GA_API gpuarray *ga_sort(size_t size, const ga_sort_args *args);

/* The int64 indices that sort x along an axis, as numpy.argsort with kind="stable". For a 0-d
 * array, the 1-D array [0]. */
GA_API gpuarray *ga_argsort(size_t size, const ga_sort_args *args);

/* Sorts the keys along their last axis, and puts the values, an array of the same shape, in the
 * same order. Both results are set only on success. GA_ERR_SHAPE for different shapes,
 * GA_ERR_INVALID for 0-d arrays. */
GA_API ga_status ga_sort_by_key(const gpuarray *keys, const gpuarray *values,
                                gpuarray **sorted_keys, gpuarray **sorted_values);

/* The int64 indices that sort by several keys, arrays of one shape, along the last axis, as
 * numpy.lexsort. The last key decides first, the one before it breaks ties, and so on:
 * ga_lexsort(GA_ARRAYS(minor, major)). GA_ERR_SHAPE for different shapes, GA_ERR_INVALID for no
 * keys. */
GA_API gpuarray *ga_lexsort(int nkeys, const gpuarray *const *keys);

GA_END_DECLS

#ifdef __cplusplus
inline ga_sort_args ga_sort_args_(const gpuarray *x)
{
    ga_sort_args args = {};
    args.x = x;
    return args;
}
inline const ga_sort_args &ga_sort_args_(const ga_sort_args &args)
{
    return args;
}
/* Options that are left out have their defaults without a warning. */
struct ga_sort_options_ {
    const gpuarray *x = nullptr;
    int naxes = 0;
    const int *axes = nullptr;
    bool descending = false, flat = false;
    gpuarray *out = nullptr;
    operator ga_sort_args() const
    {
        return ga_sort_args{x, naxes, axes, descending, flat, out};
    }
};
template <class Function> inline gpuarray *ga_sort_call_(Function f, const ga_sort_args &args)
{
    return f(sizeof args, &args);
}
#define GA_SORT_CALL_(f, ...)                                                                      \
    GA_HERE_(ga_sort_call_(f, GA_JOIN_(GA_SORT_ARGS_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)))
#define GA_SORT_ARGS_ONE(args) ga_sort_args_(args)
#define GA_SORT_ARGS_MANY(...) (ga_sort_options_{.x = __VA_ARGS__})
#else
#define GA_SORT_CALL_(f, ...) GA_AT_(f, sizeof(ga_sort_args), &(ga_sort_args){.x = __VA_ARGS__})
#endif

#define ga_sort(...) GA_SORT_CALL_(ga_sort, __VA_ARGS__)
#define ga_argsort(...) GA_SORT_CALL_(ga_argsort, __VA_ARGS__)

#endif
