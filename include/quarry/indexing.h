/* Indexing by arrays: reads and writes the elements that indices or masks select. */
#ifndef QUARRY_INDEXING_H
#define QUARRY_INDEXING_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/ops.h>
#include <quarry/rank.h>
#include <quarry/select.h>

GA_BEGIN_DECLS

/* Indices are arrays of any integer dtype; negative indices count from the end. No index ever
 * reaches memory outside an array. An index out of range is GA_ERR_INDEX; the message has the
 * function, the index, its position in the array of indices, and the length. On the host the call
 * itself returns the error, and a write changes nothing. On a GPU, and in a graph, the next wait
 * for the device or the next read of elements returns it; until then the result holds element 0 in
 * that place, and a write skips that element.
 *
 * Indices that are not integers are GA_ERR_DTYPE, bool among them: a mask is an index of
 * ga_index() only. Shapes that do not match or broadcast are GA_ERR_SHAPE. A write converts an
 * array as ga_astype() does; a number must fit the dtype of x, as in ga_full() (GA_ERR_INVALID).
 */

/* What an index out of range means. */
typedef enum ga_index_mode {
    GA_RAISE, /* an error */
    GA_WRAP,  /* modulo the length: `length` is 0, and -1 is the last one */
    GA_CLIP   /* the nearest valid index; negative indices are 0 */
} ga_index_mode;

/* Arguments of ga_take(). In C: ga_take(x, indices, GA_AXIS(0)). */
typedef struct ga_take_args {
    const gpuarray *x, *indices;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the elements of x in C order; of ga_take_along_axis() the last axis */
    const int *axes;
    ga_index_mode mode; /* GA_RAISE, unless the program says otherwise */
    gpuarray
        *out; /* receives the result; the call then returns `out` itself, not a new reference */
} ga_take_args;

/* The elements of x at the indices along an axis, as numpy.take. The shape of the indices replaces
 * that axis. A new array, or `out`. GA_ERR_INDEX, also for an axis without elements; GA_ERR_SHAPE
 * and GA_ERR_DTYPE for an `out` of another shape, or to whose dtype the elements do not cast
 * ("same_kind"); GA_ERR_INVALID for an unknown mode. */
GA_API gpuarray *ga_take(size_t size, const ga_take_args *args);

/* The elements of each line of x along an axis at the indices in the same line of `indices`, as
 * numpy.take_along_axis; with the result of ga_argsort() it sorts. Both arrays have the same
 * number of axes, and the other axes broadcast (GA_ERR_SHAPE). Without an axis, it is the last
 * one. Errors are those of ga_take() too. */
GA_API gpuarray *ga_take_along_axis(size_t size, const ga_take_args *args);

/* One part of x[...]: a range, an index, a new axis or an ellipsis as in ga_slice_ranges(), an
 * array of integers, or a mask, which is an array of bool. */
typedef struct ga_part {
    ga_range range;        /* if `array` is NULL */
    const gpuarray *array; /* an array, unless it is NULL */
    bool is_array;         /* also for a NULL array, a failed result */
} ga_part;

/* x[parts], by NumPy's rules: ga_index(x, GA_ALL, indices, 3). Integers and arrays of integers
 * broadcast together. Their axes take the place of the first one, or come first if a range, a new
 * axis or an ellipsis separates them. A mask stands for the indices of its true elements and covers
 * as many axes as it has; the call waits for their number, and a graph cannot contain it. Without
 * arrays the result is a view, otherwise a new array. GA_ERR_INDEX, also for too many indices and a
 * mask of another length; GA_ERR_SHAPE, GA_ERR_DTYPE. The macro takes gpuarray *, integers and
 * ranges; ga_index_parts() takes a list. */
GA_API gpuarray *ga_index_parts(const gpuarray *x, int n, const ga_part *parts);

/* x[parts] = value: ga_index_set(x, value, indices, GA_ALL). The value, an array or a number,
 * broadcasts to the shape of x[parts]. If indices repeat, the last value wins. */
GA_API ga_status ga_index_set_parts(gpuarray *x, ga_value value, int n, const ga_part *parts);

/* Arguments of ga_index_add() and the three functions below. With options: ga_index_add_with(.x =
 * x, .value = GA_V(2), GA_PARTS(indices, GA_ALL), .relaxed = true). */
typedef struct ga_index_add_args {
    gpuarray *x;
    ga_value value; /* a number, or an array that broadcasts to the shape of x[parts] */
    int n;
    const ga_part *parts;
    bool relaxed; /* on a GPU, sums and products of floats may be added in any order, by atomics */
} ga_index_add_args;

/* x[parts] += value, as numpy.add.at: ga_index_add(x, 1, indices). Each repeated index counts.
 * Products, minima and maxima work likewise. The result has the same bits in every run. On the host
 * they are NumPy's; a GPU sorts equal indices first, unless the order does not matter or the call
 * is relaxed. On a GPU, minima and maxima order -0 before +0. Errors are those of
 * ga_index_set_parts(); GA_ERR_DTYPE if the result does not cast to the dtype of x. */
GA_API ga_status ga_index_add(size_t size, const ga_index_add_args *args);
GA_API ga_status ga_index_multiply(size_t size, const ga_index_add_args *args);
GA_API ga_status ga_index_minimum(size_t size, const ga_index_add_args *args);
GA_API ga_status ga_index_maximum(size_t size, const ga_index_add_args *args);

/* Elements chosen from several arrays, as numpy.choose: element i of the result comes from array
 * indices[i]. All arrays broadcast together. The result has the common dtype of the choices.
 * GA_ERR_UNSUPPORTED for more than 16 of them. */
GA_API gpuarray *ga_choose(const gpuarray *indices, int count, const gpuarray *const *choices);

/* Options of ga_choose(). In C: ga_choose(indices, GA_ARRAYS(a, b), .mode = GA_CLIP). */
typedef struct ga_choose_args {
    ga_index_mode mode; /* GA_RAISE, unless the program says otherwise */
    gpuarray *out;      /* receives the result; the call then returns `out`, not a new reference */
} ga_choose_args;

/* The same with options, as the macro calls it. GA_ERR_SHAPE and GA_ERR_DTYPE also for an `out`
 * that does not take the result; GA_ERR_INVALID for an unknown mode. */
GA_API gpuarray *ga_choose_with(const gpuarray *indices, int count, const gpuarray *const *choices,
                                size_t size, const ga_choose_args *args);

/* The element of choice k where condition k is the first one that holds, and `value` where none
 * holds, as numpy.select: ga_select(GA_ARRAYS(c, d), GA_ARRAYS(x, y), 0). All arrays broadcast
 * together. Conditions are bool arrays (GA_ERR_DTYPE). GA_ERR_INVALID for different numbers of
 * conditions and choices, and for a number that does not fit an integer dtype. */
GA_API gpuarray *ga_select(int nconditions, const gpuarray *const *conditions, int nchoices,
                           const gpuarray *const *choices, ga_value value);

/* Arguments of ga_put(). In C: ga_put(x, indices, value, .mode = GA_CLIP). */
typedef struct ga_put_args {
    gpuarray *x;
    const gpuarray *indices;
    ga_value value;     /* a number, or an array that is repeated as often as needed */
    ga_index_mode mode; /* GA_RAISE, unless the program says otherwise */
} ga_put_args;

/* Writes `value` to the elements of x, in C order, at the indices, as numpy.put. If indices
 * repeat, the last value wins. A value without elements writes nothing. */
GA_API ga_status ga_put(size_t size, const ga_put_args *args);

/* Arguments of ga_put_along_axis(). In C: ga_put_along_axis(x, indices, value, GA_AXIS(1)). */
typedef struct ga_put_along_args {
    gpuarray *x;
    const gpuarray *indices;
    ga_value value; /* broadcasts to the shape of the indices */
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: x in C order */
    const int *axes;
} ga_put_along_args;

/* Writes the elements that ga_take_along_axis() reads, as numpy.put_along_axis. Without an axis, x
 * is written in C order and `indices` is 1-D. */
GA_API ga_status ga_put_along_axis(size_t size, const ga_put_along_args *args);

/* Writes the elements of x where the mask is not 0, as numpy.place and numpy.putmask; the mask, of
 * any dtype, has as many elements as x. ga_place() writes the values in their order, ga_putmask()
 * the value at the same index; both repeat the values as needed. GA_ERR_SHAPE, also if ga_place()
 * has no values for elements that the mask selects; ga_putmask() without values writes nothing. */
GA_API ga_status ga_place(gpuarray *x, const gpuarray *mask, ga_value value);
GA_API ga_status ga_putmask(gpuarray *x, const gpuarray *mask, ga_value value);

/* Writes the value, a number or an array, to the main diagonal of x, as numpy.fill_diagonal. An
 * array is repeated as often as needed. The wrapped form, NumPy's wrap=True, restarts the diagonal
 * of a tall matrix after skipping one row. GA_ERR_SHAPE for fewer than two axes, for more than two
 * axes of different lengths, or for values without elements. */
GA_API ga_status ga_fill_diagonal(gpuarray *x, ga_value value);
GA_API ga_status ga_fill_diagonal_wrapped(gpuarray *x, ga_value value);

/* The part that an argument of ga_index() makes. */
static inline ga_part ga_part_of_array(const gpuarray *array)
{
    ga_part part = {GA_ALL, 0, true};
    part.array = array;
    return part;
}
static inline ga_part ga_part_of_range(ga_range range)
{
    ga_part part = {range, 0, false};
    return part;
}
static inline ga_part ga_part_of_index(int64_t index)
{
    ga_part part = {GA_INDEX(index), 0, false};
    return part;
}

GA_END_DECLS

#ifdef __cplusplus
struct ga_take_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    ga_index_mode mode = GA_RAISE;
    gpuarray *out = nullptr;
};
struct ga_put_rest_ {
    ga_index_mode mode = GA_RAISE;
};
struct ga_put_along_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
};
/* clang-format off */
inline ga_part ga_part_(const gpuarray *array) { return ga_part_of_array(array); }
inline ga_part ga_part_(gpuarray *array) { return ga_part_of_array(array); }
inline ga_part ga_part_(ga_range range) { return ga_part_of_range(range); }
inline ga_part ga_part_(int index) { return ga_part_of_index(index); }
inline ga_part ga_part_(long index) { return ga_part_of_index(index); }
inline ga_part ga_part_(long long index) { return ga_part_of_index(index); }
inline ga_part ga_part_(unsigned index) { return ga_part_of_index(index); }
inline ga_part ga_part_(unsigned long index)
{
    return ga_part_of_index(static_cast<int64_t>(index));
}
/* clang-format on */
template <class Function> inline gpuarray *ga_take_call_(Function f, const ga_take_args &args)
{
    return f(sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_take_call_(Function f, const gpuarray *x, const gpuarray *indices,
                               const ga_take_rest_ &rest = {})
{
    return ga_take_call_(f, ga_take_args{x, indices, rest.naxes, rest.axes, rest.mode, rest.out});
}
template <class... Parts> inline gpuarray *ga_index_(const gpuarray *x, Parts... parts)
{
    const ga_part list[] = {ga_part_(parts)...};
    return ga_index_parts(x, static_cast<int>(sizeof...(parts)), list);
}
template <class Value, class... Parts>
inline ga_status ga_index_set_(gpuarray *x, Value value, Parts... parts)
{
    const ga_part list[] = {ga_part_(parts)...};
    return ga_index_set_parts(x, GA_V(value), static_cast<int>(sizeof...(parts)), list);
}
template <class Function, class Value, class... Parts>
inline ga_status ga_index_add_(Function f, gpuarray *x, Value value, Parts... parts)
{
    const ga_part list[] = {ga_part_(parts)...};
    const ga_index_add_args args = {x, GA_V(value), static_cast<int>(sizeof...(parts)), list,
                                    false};
    return f(sizeof args, &args);
}
/* Options that are left out have their defaults without a warning. */
struct ga_index_add_options_ {
    gpuarray *x = nullptr;
    ga_value value = {};
    int n = 0;
    const ga_part *parts = nullptr;
    bool relaxed = false;
    operator ga_index_add_args() const
    {
        return ga_index_add_args{x, value, n, parts, relaxed};
    }
};
template <class Function>
inline ga_status ga_index_add_with_(Function f, const ga_index_add_args &args)
{
    return f(sizeof args, &args);
}
inline ga_status ga_put_(const ga_put_args &args)
{
    return ga_put(sizeof args, &args);
}
template <class Value>
inline ga_status ga_put_(gpuarray *x, const gpuarray *indices, Value value,
                         const ga_put_rest_ &rest = {})
{
    return ga_put_(ga_put_args{x, indices, GA_V(value), rest.mode});
}
inline ga_status ga_put_along_(const ga_put_along_args &args)
{
    return ga_put_along_axis(sizeof args, &args);
}
template <class Value>
inline ga_status ga_put_along_(gpuarray *x, const gpuarray *indices, Value value,
                               const ga_put_along_rest_ &rest = {})
{
    return ga_put_along_(ga_put_along_args{x, indices, GA_V(value), rest.naxes, rest.axes});
}
#define ga_take(...) GA_RANK_CALL_(ga_take_call_, ga_take, __VA_ARGS__)
#define ga_take_along_axis(...) GA_RANK_CALL_(ga_take_call_, ga_take_along_axis, __VA_ARGS__)
#define ga_index(...) GA_HERE_(ga_index_(__VA_ARGS__))
#define ga_index_set(...) GA_HERE_(ga_index_set_(__VA_ARGS__))
#define ga_index_add(...) GA_HERE_(ga_index_add_(ga_index_add, __VA_ARGS__))
#define ga_index_multiply(...) GA_HERE_(ga_index_add_(ga_index_multiply, __VA_ARGS__))
#define ga_index_minimum(...) GA_HERE_(ga_index_add_(ga_index_minimum, __VA_ARGS__))
#define ga_index_maximum(...) GA_HERE_(ga_index_add_(ga_index_maximum, __VA_ARGS__))
/* All options by name, in the order of the members. */
#define GA_PART_(v) ga_part_(v)
#define GA_PARTS(...)                                                                              \
    .n = GA_NARGS_(__VA_ARGS__), .parts = GA_LIST_(ga_part, GA_EACH_(GA_PART_, __VA_ARGS__))
#define GA_INDEX_WITH_(f, ...) GA_HERE_(ga_index_add_with_(f, ga_index_add_options_{__VA_ARGS__}))
#define GA_PUT_CALL_(f, ...) GA_HERE_(GA_JOIN_(GA_PUT_, GA_FEW_(__VA_ARGS__))(f, __VA_ARGS__))
#define GA_PUT_1(f, args) f(args)
#define GA_PUT_3(f, x, indices, value) f(x, indices, value)
#define GA_PUT_4(f, x, indices, value, ...) f(x, indices, value, {__VA_ARGS__})
#define GA_PUT_5 GA_PUT_4
#define GA_PUT_6 GA_PUT_4
#define GA_PUT_MORE GA_PUT_4
#define ga_put(...) GA_PUT_CALL_(ga_put_, __VA_ARGS__)
#define ga_put_along_axis(...) GA_PUT_CALL_(ga_put_along_, __VA_ARGS__)
#else
#define GA_TAKE_CALL_(f, array, ...)                                                               \
    GA_JOIN_(GA_TAKE_, GA_MANY_(__VA_ARGS__))(f, array, __VA_ARGS__)
#define GA_TAKE_ONE(f, array, where)                                                               \
    GA_AT_(f, sizeof(ga_take_args), &(ga_take_args){.x = array, .indices = GA_POINTER_(where)})
#define GA_TAKE_MANY(f, array, where, ...)                                                         \
    GA_AT_(f, sizeof(ga_take_args),                                                                \
           &(ga_take_args){.x = array, .indices = GA_POINTER_(where), __VA_ARGS__})
#define ga_take(array, ...) GA_TAKE_CALL_(ga_take, array, __VA_ARGS__)
#define ga_take_along_axis(array, ...) GA_TAKE_CALL_(ga_take_along_axis, array, __VA_ARGS__)
#define GA_PUT_CALL_(f, type, to, where, ...)                                                      \
    GA_JOIN_(GA_PUT_, GA_MANY_(__VA_ARGS__))(f, type, to, where, __VA_ARGS__)
#define GA_PUT_ONE(f, type, to, where, number)                                                     \
    GA_AT_(f, sizeof(type), &(type){.x = to, .indices = GA_POINTER_(where), .value = GA_V(number)})
#define GA_PUT_MANY(f, type, to, where, number, ...)                                               \
    GA_AT_(f, sizeof(type),                                                                        \
           &(type){.x = to, .indices = GA_POINTER_(where), .value = GA_V(number), __VA_ARGS__})
#define ga_put(to, where, ...) GA_PUT_CALL_(ga_put, ga_put_args, to, where, __VA_ARGS__)
#define ga_put_along_axis(to, where, ...)                                                          \
    GA_PUT_CALL_(ga_put_along_axis, ga_put_along_args, to, where, __VA_ARGS__)
/* clang-format off */
#define GA_PART_(v)                                                                                \
    _Generic((v), gpuarray *: ga_part_of_array, const gpuarray *: ga_part_of_array,                \
        ga_range: ga_part_of_range, char: ga_part_of_index, signed char: ga_part_of_index,         \
        unsigned char: ga_part_of_index, short: ga_part_of_index,                                  \
        unsigned short: ga_part_of_index, int: ga_part_of_index, unsigned: ga_part_of_index,       \
        long: ga_part_of_index, unsigned long: ga_part_of_index, long long: ga_part_of_index,      \
        unsigned long long: ga_part_of_index)(v)
/* clang-format on */
/* Parts, as the two arguments "count, parts": at most 64. */
#define GA_PARTS_(...) GA_NARGS_(__VA_ARGS__), ((const ga_part[]){GA_EACH_(GA_PART_, __VA_ARGS__)})
#define ga_index(x, ...) GA_AT_(ga_index_parts, x, GA_PARTS_(__VA_ARGS__))
#define ga_index_set(x, value, ...)                                                                \
    GA_AT_(ga_index_set_parts, x, GA_V(value), GA_PARTS_(__VA_ARGS__))
#define GA_INDEX_ADD_(f, to, number, ...)                                                          \
    GA_AT_(f, sizeof(ga_index_add_args),                                                           \
           &(ga_index_add_args){.x = to, .value = GA_V(number), .n = GA_PARTS_(__VA_ARGS__)})
#define ga_index_add(to, number, ...) GA_INDEX_ADD_(ga_index_add, to, number, __VA_ARGS__)
#define ga_index_multiply(to, number, ...) GA_INDEX_ADD_(ga_index_multiply, to, number, __VA_ARGS__)
#define ga_index_minimum(to, number, ...) GA_INDEX_ADD_(ga_index_minimum, to, number, __VA_ARGS__)
#define ga_index_maximum(to, number, ...) GA_INDEX_ADD_(ga_index_maximum, to, number, __VA_ARGS__)
/* The same with all options by name. */
#define GA_PARTS(...) .n = GA_PARTS_(__VA_ARGS__)
#define GA_INDEX_WITH_(f, ...)                                                                     \
    GA_AT_(f, sizeof(ga_index_add_args), &(ga_index_add_args){__VA_ARGS__})
#endif

#define ga_index_add_with(...) GA_INDEX_WITH_(ga_index_add, __VA_ARGS__)
#define ga_index_multiply_with(...) GA_INDEX_WITH_(ga_index_multiply, __VA_ARGS__)
#define ga_index_minimum_with(...) GA_INDEX_WITH_(ga_index_minimum, __VA_ARGS__)
#define ga_index_maximum_with(...) GA_INDEX_WITH_(ga_index_maximum, __VA_ARGS__)
#define ga_place(x, mask, value) GA_AT_(ga_place, x, mask, GA_V(value))
#define ga_putmask(x, mask, value) GA_AT_(ga_putmask, x, mask, GA_V(value))
#define ga_fill_diagonal(x, value) GA_AT_(ga_fill_diagonal, x, GA_V(value))
#define ga_fill_diagonal_wrapped(x, value) GA_AT_(ga_fill_diagonal_wrapped, x, GA_V(value))
#define ga_choose(...) GA_JOIN_(GA_CHOOSE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__)
#define GA_CHOOSE_3(indices, n, arrays) GA_AT_(ga_choose, indices, n, arrays)
#ifdef __cplusplus
struct ga_choose_rest_ {
    ga_index_mode mode = GA_RAISE;
    gpuarray *out = nullptr;
};
inline gpuarray *ga_choose_call_(const gpuarray *indices, int count, const gpuarray *const *choices,
                                 const ga_choose_rest_ &rest)
{
    const ga_choose_args args = {rest.mode, rest.out};
    return ga_choose_with(indices, count, choices, sizeof args, &args);
}
#define GA_CHOOSE_4(indices, n, arrays, ...)                                                       \
    GA_HERE_(ga_choose_call_(indices, n, arrays, {__VA_ARGS__}))
#else
#define GA_CHOOSE_4(indices, n, arrays, ...)                                                       \
    GA_AT_(ga_choose_with, indices, n, arrays, sizeof(ga_choose_args),                             \
           &(ga_choose_args){__VA_ARGS__})
#endif
#define GA_CHOOSE_5 GA_CHOOSE_4
#define GA_CHOOSE_6 GA_CHOOSE_4
#define GA_CHOOSE_MORE GA_CHOOSE_4
#define ga_select(...) GA_SELECT_(__VA_ARGS__)
#define GA_SELECT_(nconditions, conditions, nchoices, choices, value)                              \
    GA_AT_(ga_select, nconditions, conditions, nchoices, choices, GA_V(value))

#endif
