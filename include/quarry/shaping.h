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

/* ga_unravel_index(): the int64 indices along each axis of elements given by their index in C
 * order, as numpy.unravel_index; `ndim` new arrays, set only on success. ga_ravel_multi_index() is
 * the inverse, as numpy.ravel_multi_index with mode="raise"; its `ndim` arrays broadcast. Indices
 * out of range are reported as by ga_take(); negative ones are out of range. GA_ERR_DTYPE for
 * indices that are not integers, GA_ERR_SHAPE. */
GA_API ga_status ga_unravel_index(const gpuarray *indices, int ndim, const int64_t *shape,
                                  gpuarray **out);
GA_API gpuarray *ga_ravel_multi_index(const gpuarray *const *indices, int ndim,
                                      const int64_t *shape);

/* The row and column indices of the elements of an n x m matrix on and below, or on and above, the
 * k-th diagonal, as numpy.tril_indices and triu_indices: two new int64 arrays, set only on
 * success. The call waits for their number. GA_ERR_SHAPE for a negative n or m. */
GA_API ga_status ga_tril_indices(int64_t n, int64_t k, int64_t m, gpuarray **out);
GA_API ga_status ga_triu_indices(int64_t n, int64_t k, int64_t m, gpuarray **out);

/* The Vandermonde matrix of a 1-D array, as numpy.vander: its powers in `columns` columns, in
 * descending order or `increasing`. columns = -1 means as many as x has elements. Integers and
 * bool give 64 bits, as in NumPy. GA_ERR_SHAPE if x is not 1-D, GA_ERR_INVALID for another
 * negative number. */
GA_API gpuarray *ga_vander(const gpuarray *x, int64_t columns, bool increasing);

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
#endif

#define ga_resize(x, ...) GA_AT_(ga_resize, x, GA_SIZES_(__VA_ARGS__))
#define ga_indices(...) GA_AT_(ga_indices, GA_SIZES_(__VA_ARGS__))

#endif
