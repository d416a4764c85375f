/* Shaping: inserting, deleting and trimming elements, arrays of blocks, and grids of indices. */
#ifndef QUARRY_SHAPING_H
#define QUARRY_SHAPING_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/indexing.h>
#include <quarry/joining.h>

GA_BEGIN_DECLS

/* ---- In and out ---- */

/* Arguments of ga_insert(). In C: ga_insert(x, 1, values, GA_AXIS(0)). */
typedef struct ga_insert_args {
    const gpuarray *x;
    ga_part part;   /* before which elements: a number, a range, an array of integers, or a mask */
    ga_value value; /* a number, or an array that broadcasts to the inserted elements */
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order */
    const int *axes;
} ga_insert_args;

/* A copy of x with values inserted before elements of an axis, in the dtype of x, as numpy.insert.
 * Arrays convert as by ga_astype(). The call waits for an array of indices or a mask. GA_ERR_INDEX
 * for an index outside 0 to the length; GA_ERR_SHAPE for values that do not broadcast;
 * GA_ERR_DTYPE for indices that are not integers; GA_ERR_INVALID for a number that does not fit
 * the dtype of x, a new axis or an ellipsis. */
GA_API gpuarray *ga_insert(size_t size, const ga_insert_args *args);

/* Arguments of ga_delete(). In C: ga_delete(x, GA_RANGE(2, 5, 1), GA_AXIS(0)). */
typedef struct ga_delete_args {
    const gpuarray *x;
    ga_part part; /* a number, a range, an array of integers, or a mask */
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order */
    const int *axes;
} ga_delete_args;

/* A copy of x without some elements of an axis, as numpy.delete. With an array the call waits for
 * the number of elements that remain. GA_ERR_INDEX, GA_ERR_SHAPE for a mask of another length;
 * GA_ERR_DTYPE and GA_ERR_INVALID as for ga_insert(). */
GA_API gpuarray *ga_delete(size_t size, const ga_delete_args *args);

/* The elements of x in C order in a new shape, as numpy.resize: x repeats as often as needed.
 * Zeros if x has no elements. A new array; ga_reshape() does not repeat. */
GA_API gpuarray *ga_resize(const gpuarray *x, int ndim, const int64_t *shape);

/* A view of x without the zeros at the front ("f"), at the back ("b") or both ("fb", or NULL) of
 * each axis, as numpy.trim_zeros. The call waits for the elements. GA_ERR_INVALID for other sides.
 */
GA_API gpuarray *ga_trim_zeros(const gpuarray *x, const char *trim);

/* The same along some axes: ga_trim_zeros_axes(x, "b", GA_AXES(0)). GA_ERR_INVALID for a repeated
 * axis. */
GA_API gpuarray *ga_trim_zeros_axes(const gpuarray *x, const char *trim, int naxes,
                                    const int *axes);

/* The matrix of rows x columns blocks, as numpy.block of a list of lists: ga_block(2, 2, (const
 * gpuarray *[]){a, b, c, d}). The blocks of a row join along the last axis, the rows along the
 * axis before it. One copy for each block, in the common dtype. GA_ERR_SHAPE if the blocks do not
 * match, GA_ERR_INVALID for no blocks. */
GA_API gpuarray *ga_block(int rows, int columns, const gpuarray *const *blocks);

/* ---- Grids ---- */

/* The int64 indices of an array of this shape along each of its axes, as numpy.indices. The result
 * has one more axis, which comes first. */
GA_API gpuarray *ga_indices(int ndim, const int64_t *shape);

/* Index arrays for a grid, as numpy.ix_: array k spans axis k of `count`. A mask stands for the
 * indices of its true elements. The call waits for masks. `out` receives new references, only on
 * success. GA_ERR_SHAPE for an array that is not 1-D. */
GA_API ga_status ga_ix_(int count, const gpuarray *const *arrays, gpuarray **out);

/* The int64 indices along each axis of elements given by their index in C order, as
 * numpy.unravel_index; `ndim` new arrays, set only on success. Indices out of range are reported as
 * by ga_take(); negative ones are out of range. GA_ERR_DTYPE for indices that are not integers,
 * GA_ERR_SHAPE. */
GA_API ga_status ga_unravel_index(const gpuarray *indices, int ndim, const int64_t *shape,
                                  gpuarray **out);

/* Arguments of ga_unravel_index(). In C: ga_unravel_index(i, GA_SHAPE(3, 4), out, .order = 'F'). */
typedef struct ga_unravel_args {
    const gpuarray *indices;
    int ndim;
    const int64_t *shape;
    gpuarray **out; /* receives `ndim` new arrays, only on success */
    GA_NAMED_OPTIONS_;
    char order; /* of the elements that the indices count: 'C' (or 0), or 'F', in which the first
                 * axis is the fastest */
} ga_unravel_args;

/* The same with options, as the macro calls it. GA_ERR_INVALID for another order. */
GA_API ga_status ga_unravel_index_with(size_t size, const ga_unravel_args *args);

/* The inverse, as numpy.ravel_multi_index: the int64 index in C order of the elements that `ndim`
 * arrays name, which broadcast. A new array. Errors as above. */
GA_API gpuarray *ga_ravel_multi_index(const gpuarray *const *indices, int ndim,
                                      const int64_t *shape);

/* Arguments of ga_ravel_multi_index(). In C: ga_ravel_multi_index(list, GA_SHAPE(3, 4), .mode =
 * GA_CLIP). */
typedef struct ga_ravel_args {
    const gpuarray *const *indices; /* `ndim` arrays */
    int ndim;
    const int64_t *shape;
    GA_NAMED_OPTIONS_;
    ga_index_mode mode;         /* what an index out of range means: an error, unless the program
                                 * says otherwise */
    const ga_index_mode *modes; /* the same for each axis: `ndim` of them; NULL: `mode` for all */
    char order;                 /* of the elements that the result counts: 'C' (or 0) or 'F' */
} ga_ravel_args;

/* The same with options, as the macro calls it. GA_ERR_INVALID also for an unknown mode or order.
 */
GA_API gpuarray *ga_ravel_multi_index_with(size_t size, const ga_ravel_args *args);

/* The row and column indices of the elements of an n x m matrix on and below, or on and above, the
 * k-th diagonal, as numpy.tril_indices and triu_indices: two new int64 arrays, set only on
 * success. The call waits for their number. GA_ERR_SHAPE for a negative n or m. */
GA_API ga_status ga_tril_indices(int64_t n, int64_t k, int64_t m, gpuarray **out);
GA_API ga_status ga_triu_indices(int64_t n, int64_t k, int64_t m, gpuarray **out);

/* The indices of the main diagonal of an array of `ndim` axes of length n, as numpy.diag_indices:
 * `ndim` new int64 arrays of n elements, set only on success. GA_ERR_SHAPE for a negative n,
 * GA_ERR_INVALID for another number of axes than 1 to GA_MAX_NDIM. */
GA_API ga_status ga_diag_indices(int64_t n, int ndim, gpuarray **out);

/* The Vandermonde matrix of a 1-D array, as numpy.vander: its powers in `columns` columns, in
 * descending order or `increasing`. columns = -1 means as many as x has elements. Integers and
 * bool give 64 bits, as in NumPy. GA_ERR_SHAPE if x is not 1-D, GA_ERR_INVALID for another
 * negative number. */
GA_API gpuarray *ga_vander(const gpuarray *x, int64_t columns, bool increasing);

/* ---- Windows ---- */

/* Arguments of ga_sliding_window_view(). In C: ga_sliding_window_view(x, GA_SHAPE(31), GA_AXIS(0)).
 */
typedef struct ga_windows_args {
    const gpuarray *x;
    int nwindow;
    const int64_t *window; /* the lengths of a window, one for each of these axes: */
    GA_NAMED_OPTIONS_;
    int naxes; /* 0: all axes of x */
    const int *axes;
} ga_windows_args;

/* The windows of x that slide along axes, as numpy.lib.stride_tricks.sliding_window_view: a
 * read-only view, whose last axes are those of a window. Along an axis of n elements there are n -
 * length + 1 windows; an axis that is named twice has windows of windows. GA_ERR_SHAPE for a window
 * longer than its axis, or with another number of axes; GA_ERR_INVALID for a bad axis. */
GA_API gpuarray *ga_sliding_window_view(size_t size, const ga_windows_args *args);

/* ---- Bits ---- */

/* Arguments of ga_packbits(). In C: ga_packbits(x, GA_AXIS(0), .bitorder = "little"). */
typedef struct ga_packbits_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order */
    const int *axes;
    const char *bitorder; /* "big" (or NULL): the first element is the highest bit of its byte;
                           * "little": the lowest */
} ga_packbits_args;

/* Whether the elements of x are not 0, eight to a byte along an axis, as numpy.packbits: a new
 * array of uint8. Bits past the last element are 0. GA_ERR_DTYPE unless x has integers or bool,
 * GA_ERR_INVALID for another bitorder or a bad axis. */
GA_API gpuarray *ga_packbits(size_t size, const ga_packbits_args *args);

/* Arguments of ga_unpackbits(). In C: ga_unpackbits(x, GA_AXIS(0), .count = 10). */
typedef struct ga_unpackbits_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order */
    const int *axes;
    int64_t count; /* bits along the axis: the first ones, or with 0 past the last; negative: all
                    * but the last -count; 0: all */
    const char *bitorder; /* as in ga_packbits_args */
} ga_unpackbits_args;

/* The bits of bytes along an axis, as numpy.unpackbits: a new array of uint8, 0 or 1. GA_ERR_DTYPE
 * unless x has uint8; GA_ERR_INVALID for a count that leaves out more bits than there are, another
 * bitorder or a bad axis. */
GA_API gpuarray *ga_unpackbits(size_t size, const ga_unpackbits_args *args);

GA_END_DECLS

#ifdef __cplusplus
template <class What>
inline gpuarray *ga_delete_(const gpuarray *x, What what, const ga_axis_rest_ &rest = {})
{
    const ga_delete_args args = {x, ga_part_(what), rest.naxes, rest.axes};
    return ga_delete(sizeof args, &args);
}
template <class What, class Value>
inline gpuarray *ga_insert_(const gpuarray *x, What what, Value value,
                            const ga_axis_rest_ &rest = {})
{
    const ga_insert_args args = {x, ga_part_(what), GA_V(value), rest.naxes, rest.axes};
    return ga_insert(sizeof args, &args);
}
#define ga_delete(...) GA_HERE_(GA_JOIN_(GA_DELETE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_DELETE_2(x, what) ga_delete_(x, what)
#define GA_DELETE_3(x, what, ...) ga_delete_(x, what, {__VA_ARGS__})
#define GA_DELETE_4 GA_DELETE_3
#define GA_DELETE_5 GA_DELETE_3
#define ga_insert(...) GA_HERE_(GA_JOIN_(GA_INSERT_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_INSERT_3(x, what, value) ga_insert_(x, what, value)
#define GA_INSERT_4(x, what, value, ...) ga_insert_(x, what, value, {__VA_ARGS__})
#define GA_INSERT_5 GA_INSERT_4
#define GA_INSERT_6 GA_INSERT_4
inline gpuarray *ga_windows_call_(const ga_windows_args &args)
{
    return ga_sliding_window_view(sizeof args, &args);
}
inline gpuarray *ga_windows_call_(const gpuarray *x, int nwindow, const int64_t *window,
                                  const ga_axis_rest_ &rest = {})
{
    return ga_windows_call_(ga_windows_args{x, nwindow, window, rest.naxes, rest.axes});
}
#define ga_sliding_window_view(...)                                                                \
    GA_HERE_(GA_JOIN_(GA_WINDOWS_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_WINDOWS_1(args) ga_windows_call_(args)
#define GA_WINDOWS_3(x, n, window) ga_windows_call_(x, n, window)
#define GA_WINDOWS_4(x, n, window, ...) ga_windows_call_(x, n, window, {__VA_ARGS__})
#define GA_WINDOWS_5 GA_WINDOWS_4
struct ga_packbits_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    const char *bitorder = nullptr;
};
struct ga_unpackbits_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    int64_t count = 0;
    const char *bitorder = nullptr;
};
inline gpuarray *ga_packbits_call_(const ga_packbits_args &args)
{
    return ga_packbits(sizeof args, &args);
}
inline gpuarray *ga_packbits_call_(const gpuarray *x, const ga_packbits_rest_ &rest = {})
{
    return ga_packbits_call_(ga_packbits_args{x, rest.naxes, rest.axes, rest.bitorder});
}
inline gpuarray *ga_unpackbits_call_(const ga_unpackbits_args &args)
{
    return ga_unpackbits(sizeof args, &args);
}
inline gpuarray *ga_unpackbits_call_(const gpuarray *x, const ga_unpackbits_rest_ &rest = {})
{
    return ga_unpackbits_call_(
        ga_unpackbits_args{x, rest.naxes, rest.axes, rest.count, rest.bitorder});
}
#define ga_packbits(...) GA_HERE_(GA_JOIN_(GA_PACKBITS_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_PACKBITS_ONE(x) ga_packbits_call_(x)
#define GA_PACKBITS_MANY(x, ...) ga_packbits_call_(x, {__VA_ARGS__})
#define ga_unpackbits(...) GA_HERE_(GA_JOIN_(GA_UNPACKBITS_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_UNPACKBITS_ONE(x) ga_unpackbits_call_(x)
#define GA_UNPACKBITS_MANY(x, ...) ga_unpackbits_call_(x, {__VA_ARGS__})
#else
#define ga_delete(array, ...) GA_JOIN_(GA_DELETE_, GA_MANY_(__VA_ARGS__))(array, __VA_ARGS__)
#define GA_DELETE_ONE(array, what)                                                                 \
    GA_AT_(ga_delete, sizeof(ga_delete_args), &(ga_delete_args){.x = array, .part = GA_PART_(what)})
#define GA_DELETE_MANY(array, what, ...)                                                           \
    GA_AT_(ga_delete, sizeof(ga_delete_args),                                                      \
           &(ga_delete_args){.x = array, .part = GA_PART_(what), __VA_ARGS__})
#define ga_insert(array, what, ...)                                                                \
    GA_JOIN_(GA_INSERT_, GA_MANY_(__VA_ARGS__))(array, what, __VA_ARGS__)
#define GA_INSERT_ONE(array, what, number)                                                         \
    GA_AT_(ga_insert, sizeof(ga_insert_args),                                                      \
           &(ga_insert_args){.x = array, .part = GA_PART_(what), .value = GA_V(number)})
#define GA_INSERT_MANY(array, what, number, ...)                                                   \
    GA_AT_(                                                                                        \
        ga_insert, sizeof(ga_insert_args),                                                         \
        &(ga_insert_args){.x = array, .part = GA_PART_(what), .value = GA_V(number), __VA_ARGS__})
#define ga_sliding_window_view(...)                                                                \
    GA_AT_(ga_sliding_window_view, sizeof(ga_windows_args), &(ga_windows_args){.x = __VA_ARGS__})
#define ga_packbits(...)                                                                           \
    GA_AT_(ga_packbits, sizeof(ga_packbits_args), &(ga_packbits_args){.x = __VA_ARGS__})
#define ga_unpackbits(...)                                                                         \
    GA_AT_(ga_unpackbits, sizeof(ga_unpackbits_args), &(ga_unpackbits_args){.x = __VA_ARGS__})
#endif

#ifdef __cplusplus
struct ga_unravel_rest_ {
    char order = 0;
};
struct ga_ravel_rest_ {
    ga_index_mode mode = GA_RAISE;
    const ga_index_mode *modes = nullptr;
    char order = 0;
};
inline ga_status ga_unravel_call_(const gpuarray *indices, int ndim, const int64_t *shape,
                                  gpuarray **out, const ga_unravel_rest_ &rest = {})
{
    const ga_unravel_args args = {indices, ndim, shape, out, rest.order};
    return ga_unravel_index_with(sizeof args, &args);
}
inline gpuarray *ga_ravel_call_(const gpuarray *const *indices, int ndim, const int64_t *shape,
                                const ga_ravel_rest_ &rest = {})
{
    const ga_ravel_args args = {indices, ndim, shape, rest.mode, rest.modes, rest.order};
    return ga_ravel_multi_index_with(sizeof args, &args);
}
#define ga_unravel_index(...) GA_HERE_(GA_JOIN_(GA_UNRAVEL_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_UNRAVEL_4(indices, ndim, shape, out) ga_unravel_call_(indices, ndim, shape, out)
#define GA_UNRAVEL_5(indices, ndim, shape, out, ...)                                               \
    ga_unravel_call_(indices, ndim, shape, out, {__VA_ARGS__})
#define ga_ravel_multi_index(...) GA_HERE_(GA_JOIN_(GA_RAVEL_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_RAVEL_3(indices, ndim, shape) ga_ravel_call_(indices, ndim, shape)
#define GA_RAVEL_4(indices, ndim, shape, ...) ga_ravel_call_(indices, ndim, shape, {__VA_ARGS__})
#define GA_RAVEL_5 GA_RAVEL_4
#define GA_RAVEL_6 GA_RAVEL_4
#else
#define ga_unravel_index(...)                                                                      \
    GA_AT_(ga_unravel_index_with, sizeof(ga_unravel_args),                                         \
           &(ga_unravel_args){.indices = __VA_ARGS__})
#define ga_ravel_multi_index(...)                                                                  \
    GA_AT_(ga_ravel_multi_index_with, sizeof(ga_ravel_args),                                       \
           &(ga_ravel_args){.indices = __VA_ARGS__})
#endif

#define ga_resize(x, ...) GA_AT_(ga_resize, x, GA_SIZES_(__VA_ARGS__))
#define ga_indices(...) GA_AT_(ga_indices, GA_SIZES_(__VA_ARGS__))

#endif
