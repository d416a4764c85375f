/* Joining, splitting and repeating arrays, and views with other axes. */
#ifndef QUARRY_JOINING_H
#define QUARRY_JOINING_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/ops.h>
#include <quarry/rank.h>

GA_BEGIN_DECLS

/* ---- Joining ---- */

/* Functions that join or repeat return new arrays in C order. Views share the memory of x; those
 * of broadcasts and diagonals are read-only. */

/* Arguments of a join. In C: ga_concatenate(GA_ARRAYS(a, b), GA_AXIS(1)). */
typedef struct ga_join_args {
    int count;
    const gpuarray *const *arrays;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: axis 0 */
    const int *axes;
    gpuarray
        *out; /* receives the result; the call then returns `out` itself, not a new reference */
    ga_dtype dtype; /* of the result; 0: the common one. Not beside `out` */
} ga_join_args;

/* The arrays joined along an axis, as numpy.concatenate, in their common dtype; the other axes
 * have equal lengths. GA_AXIS() names no axis and joins the elements of all arrays in C order.
 * GA_ERR_SHAPE, GA_ERR_DEVICE; GA_ERR_DTYPE also if elements do not cast to .dtype or .out within
 * their kind; GA_ERR_INVALID for no arrays, 0-d arrays with an axis, or both .dtype and .out. */
GA_API gpuarray *ga_concatenate(size_t size, const ga_join_args *args);

/* Arrays of one shape joined along a new axis, as numpy.stack. Errors as above. */
GA_API gpuarray *ga_stack(size_t size, const ga_join_args *args);

/* As numpy.vstack, hstack, dstack and column_stack: ga_vstack(GA_ARRAYS(a, b)). Errors as above.
 */
GA_API gpuarray *ga_vstack(int count, const gpuarray *const *arrays);
GA_API gpuarray *ga_hstack(int count, const gpuarray *const *arrays);
GA_API gpuarray *ga_dstack(int count, const gpuarray *const *arrays);
GA_API gpuarray *ga_column_stack(int count, const gpuarray *const *arrays);

/* Arguments of ga_append(). In C: ga_append(x, y, GA_AXIS(0)). */
typedef struct ga_append_args {
    const gpuarray *x, *y;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: both in C order */
    const int *axes;
} ga_append_args;

/* x followed by y, as numpy.append. Errors are those of ga_concatenate(). */
GA_API gpuarray *ga_append(size_t size, const ga_append_args *args);

/* ---- Splitting: views ---- */

/* Equal sections of x along an axis, as numpy.split: as many views as `sections`, written to `out`
 * only on success. GA_ERR_SHAPE if the length is not a multiple of `sections`, GA_ERR_INVALID if
 * `sections` is below 1. */
GA_API ga_status ga_split(const gpuarray *x, int sections, int axis, gpuarray **out);

/* The same with sections that differ by at most one element, as numpy.array_split; the longer ones
 * come first. */
GA_API ga_status ga_array_split(const gpuarray *x, int sections, int axis, gpuarray **out);

/* x split before each of n indices, as numpy.split(x, indices, axis): n + 1 views. Indices past
 * the end and indices that decrease give empty views, as in NumPy. */
GA_API ga_status ga_split_at(const gpuarray *x, int n, const int64_t *indices, int axis,
                             gpuarray **out);

/* ga_split() along axis 0; along axis 1, or axis 0 of a 1-D array; and along axis 2. GA_ERR_SHAPE
 * for fewer than two axes, one axis, or three. */
GA_API ga_status ga_vsplit(const gpuarray *x, int sections, gpuarray **out);
GA_API ga_status ga_hsplit(const gpuarray *x, int sections, gpuarray **out);
GA_API ga_status ga_dsplit(const gpuarray *x, int sections, gpuarray **out);

/* The subarrays along an axis, as numpy.unstack: one view for each index. `out` has room for
 * ga_length(x, axis) of them. */
GA_API ga_status ga_unstack(const gpuarray *x, int axis, gpuarray **out);

/* ---- Repeating ---- */

/* x repeated along each axis, as numpy.tile: ga_tile(x, GA_SHAPE(2, 3)). GA_ERR_INVALID for a
 * negative number. */
GA_API gpuarray *ga_tile(const gpuarray *x, int nreps, const int64_t *reps);

/* Arguments of ga_repeat(). In C: ga_repeat(x, 3, GA_AXIS(0)). */
typedef struct ga_repeat_args {
    const gpuarray *x;
    ga_value counts; /* a number, or an array of integers with one element or as many as the axis */
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order */
    const int *axes;
} ga_repeat_args;

/* Each element of an axis repeated, as numpy.repeat. With an array of counts the length of the
 * result depends on the data, and the call waits for it. GA_ERR_SHAPE for a wrong number of counts,
 * GA_ERR_DTYPE for counts that are not integers, GA_ERR_INVALID for a negative count. */
GA_API gpuarray *ga_repeat(size_t size, const ga_repeat_args *args);

/* Arguments of ga_roll(). In C: ga_roll(x, 1, GA_AXIS(0)). */
typedef struct ga_roll_args {
    const gpuarray *x;
    int64_t shift;
    GA_NAMED_OPTIONS_;
    int naxes; /* 0: the elements in C order; otherwise each axis is rolled */
    const int *axes;
} ga_roll_args;

/* Elements shifted along an axis, as numpy.roll; elements that leave at one end return at the
 * other. A shift may exceed the length; a negative one goes the other way. */
GA_API gpuarray *ga_roll(size_t size, const ga_roll_args *args);

/* The same with one shift for each of n axes. Shifts of the same axis add up. */
GA_API gpuarray *ga_roll_axes(const gpuarray *x, int n, const int64_t *shifts, const int *axes);

/* Arguments of ga_pad(). In C: ga_pad(x, GA_SHAPE(1, 2), .mode = "edge"). */
typedef struct ga_pad_args {
    const gpuarray *x;
    int nwidths;           /* 1: one for all; 2: before and after each axis; or two for each axis */
    const int64_t *widths; /* elements */
    const char *mode;      /* NULL: "constant" */
    ga_value value;        /* a number: NumPy's constant_values and end_values. GA_V(2), or
                            * GA_PAD_VALUES(2); default: 0 */
    int64_t stat_length;   /* elements at each end that "maximum", "mean", "median" and "minimum"
                            * take; 0: all */
    /* Instead of one value or length: as many as `widths` may be, in the same order.
     * ga_pad(x, GA_SHAPE(1), GA_PAD_VALUES(3, 4)), GA_PAD_LENGTHS(2, 3). 0: the single one. */
    int nvalues;
    const ga_value *values;
    int nstat_lengths;
    const int64_t *stat_lengths;
    const char *reflect_type; /* of "reflect" and "symmetric": "odd", or "even" (NULL) */
} ga_pad_args;

/* x with more elements around it, as numpy.pad; a new array of the dtype of x. The mode says which:
 *
 * "constant": `value`. "empty": unspecified elements. "linear_ramp": numbers from the element at
 * the edge to `value`, evenly spaced.
 *
 * "edge": the element at the edge. "reflect": x mirrored at that element, which is not repeated: 3
 * 2 | 1 2 3 | 2 1. "symmetric": x mirrored at the edge: 2 1 | 1 2 3 | 3 2. "wrap": x again, as if
 * it were periodic: 2 3 | 1 2 3 | 1 2. With the `reflect_type` "odd", each new element is twice the
 * edge minus the mirrored one: -1 0 | 1 2 3 | 4 5.
 *
 * "maximum", "mean", "median", "minimum": the statistic of the elements along the axis.
 *
 * A mode ignores options of other modes, where NumPy raises ValueError. Functions as modes are
 * missing. GA_ERR_INVALID for an unknown mode or reflect_type, a negative width or length, or a
 * value that does not fit the dtype of x; GA_ERR_SHAPE for a wrong number of widths, values or
 * lengths, or for an axis of no elements unless the mode is "constant" or "empty". */
GA_API gpuarray *ga_pad(size_t size, const ga_pad_args *args);

/* ---- Axes: views ---- */

/* The functions of these names in NumPy. A negative axis counts from the end. */
GA_API gpuarray *ga_swapaxes(const gpuarray *x, int a, int b);
GA_API gpuarray *ga_moveaxis(const gpuarray *x, int from, int to);

/* The same for n axes: axis from[k] becomes axis to[k], as numpy.moveaxis with two tuples. No axis
 * repeats (GA_ERR_INVALID). */
GA_API gpuarray *ga_move_axes(const gpuarray *x, int n, const int *from, const int *to);
GA_API gpuarray *ga_rollaxis(const gpuarray *x, int axis, int start);

/* x with several axes reversed; with no axes, all of them. ga_fliplr() reverses axis 1,
 * ga_flipud() axis 0. */
GA_API gpuarray *ga_flip_axes(const gpuarray *x, int naxes, const int *axes);
GA_API gpuarray *ga_fliplr(const gpuarray *x);
GA_API gpuarray *ga_flipud(const gpuarray *x);

/* x rotated by k times 90 degrees from axis 0 towards axis 1, or between two other axes, as
 * numpy.rot90. GA_ERR_INVALID for equal axes. */
GA_API gpuarray *ga_rot90(const gpuarray *x, int k);
GA_API gpuarray *ga_rot90_axes(const gpuarray *x, int k, int from, int to);

/* x with at least one, two or three axes, as numpy.atleast_1d and so on; added axes have length 1.
 */
GA_API gpuarray *ga_atleast_1d(const gpuarray *x);
GA_API gpuarray *ga_atleast_2d(const gpuarray *x);
GA_API gpuarray *ga_atleast_3d(const gpuarray *x);

/* Read-only views of the arrays in their common shape, as numpy.broadcast_arrays; written to `out`
 * only on success. GA_ERR_SHAPE if there is none. */
GA_API ga_status ga_broadcast_arrays(int count, const gpuarray *const *arrays, gpuarray **out);

/* The common shape of `count` shapes, as numpy.broadcast_shapes; `shape` has room for GA_MAX_NDIM
 * lengths. Both are set only on success. GA_ERR_SHAPE if there is none. */
GA_API ga_status ga_broadcast_shapes(int count, const int *ndims, const int64_t *const *shapes,
                                     int *ndim, int64_t *shape);

/* Arguments of ga_meshgrid(). In C: ga_meshgrid(GA_ARRAYS(x, y), grids, .indexing = "ij"). */
typedef struct ga_meshgrid_args {
    int count;
    const gpuarray *const *arrays;
    gpuarray **out; /* receives `count` new arrays, only on success */
    const char
        *indexing; /* "xy" (or NULL): the first array runs along axis 1; "ij": along axis 0 */
    bool sparse;   /* each array has length 1 along the axes of the others */
} ga_meshgrid_args;

/* The coordinate matrices of 1-D or 0-d arrays, as numpy.meshgrid with copy=True. GA_ERR_SHAPE for
 * an array of several axes, GA_ERR_INVALID for another `indexing`. */
GA_API ga_status ga_meshgrid(size_t size, const ga_meshgrid_args *args);

/* ---- Diagonals ---- */

/* A copy of x with zeros above (tril) or below (triu) the k-th diagonal of its last two axes, as
 * numpy.tril and triu: the main diagonal is 0, those above it are 1, 2, ... A 1-D array is
 * repeated as the rows of a matrix first, as in NumPy. GA_ERR_SHAPE for a 0-d array. */
GA_API gpuarray *ga_tril(const gpuarray *x, int64_t k);
GA_API gpuarray *ga_triu(const gpuarray *x, int64_t k);

/* ga_eye_ex(): an n x m matrix with ones on its k-th diagonal, as numpy.eye. ga_tri(): with ones
 * on and below it, as numpy.tri. GA_ERR_SHAPE for a negative n or m. */
GA_API gpuarray *ga_eye_ex(ga_dtype dtype, int64_t n, int64_t m, int64_t k);
GA_API gpuarray *ga_tri(ga_dtype dtype, int64_t n, int64_t m, int64_t k);

/* The elements x[i, i + offset] of two axes, as numpy.diagonal: a read-only view with the diagonal
 * as its last axis. GA_ERR_SHAPE for fewer than two axes, GA_ERR_INVALID for equal ones. */
GA_API gpuarray *ga_diagonal(const gpuarray *x, int64_t offset, int axis1, int axis2);

/* As numpy.diag: the k-th diagonal of a matrix, a read-only view; for a 1-D array, a new matrix
 * with that diagonal. GA_ERR_SHAPE for other numbers of axes. */
GA_API gpuarray *ga_diag(const gpuarray *x, int64_t k);

/* A new matrix with the elements of x, in C order, on its k-th diagonal, as numpy.diagflat. */
GA_API gpuarray *ga_diagflat(const gpuarray *x, int64_t k);

/* The sums along the diagonals of ga_diagonal(), as numpy.trace, a new array: ga_trace(x) and
 * ga_trace(x, offset) take axes 0 and 1. Errors are those of ga_diagonal(). */
GA_API gpuarray *ga_trace(const gpuarray *x, int64_t offset, int axis1, int axis2);

/* Options of ga_trace(). In C: ga_trace(x, 0, 0, 1, .dtype = GA_FLOAT64). */
typedef struct ga_trace_args {
    ga_dtype dtype; /* of the sums; 0: that of ga_sum() */
    gpuarray *out;  /* receives the result; the call then returns `out`, not a new reference */
} ga_trace_args;

/* The same with options, as the macro calls it. Errors are those of ga_sum() too. */
GA_API gpuarray *ga_trace_with(const gpuarray *x, int64_t offset, int axis1, int axis2, size_t size,
                               const ga_trace_args *args);

/* ---- Differences ---- */

/* Arguments of ga_diff(). In C: ga_diff(x, 1, GA_AXIS(0)). */
typedef struct ga_diff_args {
    const gpuarray *x;
    int n; /* 0 returns a view of x */
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the last axis */
    const int *axes;
    const gpuarray *prepend, *append; /* what precedes and follows x along the axis, or NULL: 0-d,
                                       * or of the shape of x except along the axis */
} ga_diff_args;

/* The n-th differences of neighbours along an axis, as numpy.diff; for bool, whether neighbours
 * differ. GA_ERR_INVALID for a negative n or a 0-d array, GA_ERR_SHAPE for other arrays around x.
 */
GA_API gpuarray *ga_diff(size_t size, const ga_diff_args *args);

/* The differences of neighbours in C order, as numpy.ediff1d; of bool as ga_diff(), where NumPy
 * raises TypeError. */
GA_API gpuarray *ga_ediff1d(const gpuarray *x);

/* The same between the elements of two other arrays, as numpy.ediff1d with to_begin and to_end, in
 * the dtype of x; NULL for none. GA_ERR_DTYPE for elements that do not cast to it. */
GA_API gpuarray *ga_ediff1d_between(const gpuarray *x, const gpuarray *begin, const gpuarray *end);

GA_END_DECLS

#ifdef __cplusplus
struct ga_join_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    gpuarray *out = nullptr;
    ga_dtype dtype = GA_NO_DTYPE;
};
struct ga_meshgrid_rest_ {
    const char *indexing = nullptr;
    bool sparse = false;
};
struct ga_axis_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
};
struct ga_diff_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    const gpuarray *prepend = nullptr, *append = nullptr;
};
struct ga_pad_rest_ {
    const char *mode = nullptr;
    ga_value value = {};
    int64_t stat_length = 0;
    int nvalues = 0;
    const ga_value *values = nullptr;
    int nstat_lengths = 0;
    const int64_t *stat_lengths = nullptr;
    const char *reflect_type = nullptr;
};
template <class Function, class Args> inline auto ga_sized_call_(Function f, const Args &args)
{
    return f(sizeof args, &args);
}
template <class Function> inline gpuarray *ga_join_call_(Function f, const ga_join_args &args)
{
    return ga_sized_call_(f, args);
}
template <class Function>
inline gpuarray *ga_join_call_(Function f, int count, const gpuarray *const *arrays,
                               const ga_join_rest_ &rest = {})
{
    return ga_sized_call_(f,
                          ga_join_args{count, arrays, rest.naxes, rest.axes, rest.out, rest.dtype});
}
template <class Function> inline gpuarray *ga_append_call_(Function f, const ga_append_args &args)
{
    return ga_sized_call_(f, args);
}
template <class Function>
inline gpuarray *ga_append_call_(Function f, const gpuarray *x, const gpuarray *y,
                                 const ga_axis_rest_ &rest = {})
{
    return ga_sized_call_(f, ga_append_args{x, y, rest.naxes, rest.axes});
}
template <class Function> inline gpuarray *ga_repeat_call_(Function f, const ga_repeat_args &args)
{
    return ga_sized_call_(f, args);
}
template <class Function, class Counts>
inline gpuarray *ga_repeat_call_(Function f, const gpuarray *x, Counts counts,
                                 const ga_axis_rest_ &rest = {})
{
    return ga_sized_call_(f, ga_repeat_args{x, GA_V(counts), rest.naxes, rest.axes});
}
template <class Function> inline gpuarray *ga_roll_call_(Function f, const ga_roll_args &args)
{
    return ga_sized_call_(f, args);
}
template <class Function>
inline gpuarray *ga_roll_call_(Function f, const gpuarray *x, int64_t shift,
                               const ga_axis_rest_ &rest = {})
{
    return ga_sized_call_(f, ga_roll_args{x, shift, rest.naxes, rest.axes});
}
template <class Function> inline gpuarray *ga_diff_call_(Function f, const ga_diff_args &args)
{
    return ga_sized_call_(f, args);
}
template <class Function>
inline gpuarray *ga_diff_call_(Function f, const gpuarray *x, int n, const ga_diff_rest_ &rest = {})
{
    return ga_sized_call_(f, ga_diff_args{x, n, rest.naxes, rest.axes, rest.prepend, rest.append});
}
inline gpuarray *ga_pad_call_(const ga_pad_args &args)
{
    return ga_pad(sizeof args, &args);
}
inline gpuarray *ga_pad_call_(const gpuarray *x, int nwidths, const int64_t *widths,
                              const ga_pad_rest_ &rest = {})
{
    return ga_pad_call_(ga_pad_args{x, nwidths, widths, rest.mode, rest.value, rest.stat_length,
                                    rest.nvalues, rest.values, rest.nstat_lengths,
                                    rest.stat_lengths, rest.reflect_type});
}
inline ga_status ga_meshgrid_call_(const ga_meshgrid_args &args)
{
    return ga_meshgrid(sizeof args, &args);
}
inline ga_status ga_meshgrid_call_(int count, const gpuarray *const *arrays, gpuarray **out,
                                   const ga_meshgrid_rest_ &rest = {})
{
    return ga_meshgrid_call_(ga_meshgrid_args{count, arrays, out, rest.indexing, rest.sparse});
}
#define ga_meshgrid(...) GA_HERE_(GA_JOIN_(GA_MESHGRID_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_MESHGRID_1(args) ga_meshgrid_call_(args)
#define GA_MESHGRID_3(n, arrays, out) ga_meshgrid_call_(n, arrays, out)
#define GA_MESHGRID_4(n, arrays, out, ...) ga_meshgrid_call_(n, arrays, out, {__VA_ARGS__})
#define GA_MESHGRID_5 GA_MESHGRID_4
#define ga_concatenate(...) GA_RANK_CALL_(ga_join_call_, ga_concatenate, __VA_ARGS__)
#define ga_stack(...) GA_RANK_CALL_(ga_join_call_, ga_stack, __VA_ARGS__)
#define ga_append(...) GA_RANK_CALL_(ga_append_call_, ga_append, __VA_ARGS__)
#define ga_repeat(...) GA_RANK_CALL_(ga_repeat_call_, ga_repeat, __VA_ARGS__)
#define ga_roll(...) GA_RANK_CALL_(ga_roll_call_, ga_roll, __VA_ARGS__)
#define ga_diff(...) GA_RANK_CALL_(ga_diff_call_, ga_diff, __VA_ARGS__)
#define ga_pad(...) GA_HERE_(GA_JOIN_(GA_PAD_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_PAD_1(args) ga_pad_call_(args)
#define GA_PAD_3(x, n, widths) ga_pad_call_(x, n, widths)
#define GA_PAD_4(x, n, widths, ...) ga_pad_call_(x, n, widths, {__VA_ARGS__})
#define GA_PAD_5 GA_PAD_4
#define GA_PAD_6 GA_PAD_4
#define GA_PAD_MORE GA_PAD_4
#else
#define GA_JOIN_CALL_(f, ...) GA_AT_(f, sizeof(ga_join_args), &(ga_join_args){.count = __VA_ARGS__})
#define ga_concatenate(...) GA_JOIN_CALL_(ga_concatenate, __VA_ARGS__)
#define ga_stack(...) GA_JOIN_CALL_(ga_stack, __VA_ARGS__)
#define ga_append(...)                                                                             \
    GA_AT_(ga_append, sizeof(ga_append_args), &(ga_append_args){.x = __VA_ARGS__})
#define ga_repeat(array, ...) GA_JOIN_(GA_REPEAT_, GA_MANY_(__VA_ARGS__))(array, __VA_ARGS__)
#define GA_REPEAT_ONE(array, number)                                                               \
    GA_AT_(ga_repeat, sizeof(ga_repeat_args), &(ga_repeat_args){.x = array, .counts = GA_V(number)})
#define GA_REPEAT_MANY(array, number, ...)                                                         \
    GA_AT_(ga_repeat, sizeof(ga_repeat_args),                                                      \
           &(ga_repeat_args){.x = array, .counts = GA_V(number), __VA_ARGS__})
#define ga_roll(array, ...)                                                                        \
    GA_AT_(ga_roll, sizeof(ga_roll_args), &(ga_roll_args){.x = array, .shift = __VA_ARGS__})
#define ga_diff(array, ...)                                                                        \
    GA_AT_(ga_diff, sizeof(ga_diff_args), &(ga_diff_args){.x = array, .n = __VA_ARGS__})
#define ga_meshgrid(...)                                                                           \
    GA_AT_(ga_meshgrid, sizeof(ga_meshgrid_args), &(ga_meshgrid_args){.count = __VA_ARGS__})
#define ga_pad(array, ...)                                                                         \
    GA_AT_(ga_pad, sizeof(ga_pad_args),                                                            \
           &(ga_pad_args){.x = array, .nwidths = GA_SIZES_FIRST_(__VA_ARGS__)})
#endif

#define ga_tile(x, ...) GA_AT_(ga_tile, x, GA_SIZES_(__VA_ARGS__))
#define ga_flip_axes(x, ...) GA_AT_(ga_flip_axes, x, GA_AXIS_LIST_(__VA_ARGS__))
#define ga_trace(...) GA_JOIN_(GA_TRACE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__)
#define GA_TRACE_1(x) GA_AT_(ga_trace, x, 0, 0, 1)
#define GA_TRACE_2(x, offset) GA_AT_(ga_trace, x, offset, 0, 1)
#define GA_TRACE_4(x, offset, axis1, axis2) GA_AT_(ga_trace, x, offset, axis1, axis2)
#ifdef __cplusplus
struct ga_trace_rest_ {
    ga_dtype dtype = GA_NO_DTYPE;
    gpuarray *out = nullptr;
};
inline gpuarray *ga_trace_call_(const gpuarray *x, int64_t offset, int axis1, int axis2,
                                const ga_trace_rest_ &rest)
{
    const ga_trace_args args = {rest.dtype, rest.out};
    return ga_trace_with(x, offset, axis1, axis2, sizeof args, &args);
}
#define GA_TRACE_5(x, offset, axis1, axis2, ...)                                                   \
    GA_HERE_(ga_trace_call_(x, offset, axis1, axis2, {__VA_ARGS__}))
#else
#define GA_TRACE_5(x, offset, axis1, axis2, ...)                                                   \
    GA_AT_(ga_trace_with, x, offset, axis1, axis2, sizeof(ga_trace_args),                          \
           &(ga_trace_args){__VA_ARGS__})
#endif
#define GA_TRACE_6 GA_TRACE_5

/* The values of ga_pad() before and after all axes, or before and after each one; and the lengths.
 */
#define GA_PAD_VALUES(...)                                                                         \
    .nvalues = GA_NARGS_(__VA_ARGS__), .values = GA_LIST_(ga_value, GA_EACH_(GA_V, __VA_ARGS__))
#define GA_PAD_LENGTHS(...)                                                                        \
    .nstat_lengths = GA_NARGS_(__VA_ARGS__), .stat_lengths = GA_LIST_(int64_t, __VA_ARGS__)

/* Names of the array API. */
#define ga_concat(...) ga_concatenate(__VA_ARGS__)
#define ga_permute_dims(x, ...) ga_transpose_axes(x, __VA_ARGS__)

/* Second names in NumPy. */
#define ga_row_stack(...) ga_vstack(__VA_ARGS__)

#endif
