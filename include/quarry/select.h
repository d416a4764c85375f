/* Selection: the elements that a condition selects, and their indices. */
#ifndef QUARRY_SELECT_H
#define QUARRY_SELECT_H

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Arguments of ga_compress(). In C: ga_compress(condition, x, GA_AXIS(0)). */
typedef struct ga_compress_args {
    const gpuarray *condition; /* 1-D, any dtype: selects where it is not 0 */
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order */
    const int *axes;
    gpuarray *out; /* receives the result; the call then returns `out`, not a new reference */
} ga_compress_args;

/* The elements of x along the axis whose condition is not 0, in their order, as a new array; as
 * numpy.compress. The condition may be shorter than the axis; the rest of the axis is not selected.
 * The length of the result depends on the data: the call waits for it, as do all functions here
 * except ga_extract_bounded(). GA_ERR_SHAPE and GA_ERR_DTYPE if `out` has another shape, or a dtype
 * to which the elements do not cast ("same_kind"); GA_ERR_INVALID for a condition of several
 * dimensions; GA_ERR_INDEX if the condition selects an element past the axis. */
GA_API gpuarray *ga_compress(size_t size, const ga_compress_args *args);

/* The elements of x where the condition, of any dtype and the same size, is not 0, as
 * numpy.extract; both in C order; a new 1-D array. GA_ERR_SHAPE for different sizes. */
GA_API gpuarray *ga_extract(const gpuarray *condition, const gpuarray *x);

/* The same without waiting for the length, so that a graph can contain it: the first `maximum`
 * selected elements, their int64 indices in C order, and the int64 number of all selected elements
 * as a 0-d array. This number may exceed `maximum`. Values and indices have `maximum` elements;
 * the unused ones are 0. Every result except the count may be NULL, and so may x if `values` is
 * NULL. Results are set only on success. GA_ERR_SHAPE for different sizes, GA_ERR_INVALID for a
 * negative maximum. */
GA_API ga_status ga_extract_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum,
                                    gpuarray **values, gpuarray **indices, gpuarray **count);

/* The int64 indices along each axis of the elements of x that are not 0, in C order, as
 * numpy.nonzero. `indices` has room for one array per dimension of x; these new 1-D arrays are set
 * only on success. GA_ERR_INVALID for a 0-d array. */
GA_API ga_status ga_nonzero(const gpuarray *x, gpuarray **indices);

/* The same as one int64 array, as numpy.argwhere: one row of indices for each element that is not
 * 0. */
GA_API gpuarray *ga_argwhere(const gpuarray *x);

/* The int64 indices in C order of the elements of x that are not 0, as numpy.flatnonzero. */
GA_API gpuarray *ga_flatnonzero(const gpuarray *x);

GA_END_DECLS

#ifdef __cplusplus
/* Options that are left out have their defaults without a warning. */
struct ga_compress_options_ {
    const gpuarray *condition = nullptr, *x = nullptr;
    int naxes = 0;
    const int *axes = nullptr;
    gpuarray *out = nullptr;
    operator ga_compress_args() const
    {
        return ga_compress_args{condition, x, naxes, axes, out};
    }
};
inline gpuarray *ga_compress_(const ga_compress_args &args)
{
    return ga_compress(sizeof args, &args);
}
#define ga_compress(...)                                                                           \
    GA_HERE_(ga_compress_(GA_JOIN_(GA_COMPRESS_ARGS_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)))
#define GA_COMPRESS_ARGS_ONE(args) args
#define GA_COMPRESS_ARGS_MANY(c, ...) (ga_compress_options_{.condition = c, .x = __VA_ARGS__})
#else
#define ga_compress(...)                                                                           \
    GA_AT_(ga_compress, sizeof(ga_compress_args), &(ga_compress_args){.condition = __VA_ARGS__})
#endif

#endif
