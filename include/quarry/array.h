/* Arrays: creating, reading, viewing, loading, saving, printing and freeing them. */
#ifndef QUARRY_ARRAY_H
#define QUARRY_ARRAY_H

#include <stdarg.h>

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* The rules of error.h hold: who frees results, what NULL means, which errors any function may
 * raise, and when a call waits. */

/* The maximum number of dimensions. */
#define GA_MAX_NDIM 32

/* ---- Ownership ---- */

/* Adds a reference to x and returns x. Each retain needs one ga_free(). */
GA_API gpuarray *ga_retain(gpuarray *x);

/* Drops a reference. The last call frees the array; its memory is freed when no view of it is left.
 * NULL is a no-op. Inside the scope that owns x, this frees x early; call it only from the scope's
 * own thread. */
GA_API void ga_free(gpuarray *x);

/* Opens a scope in the calling thread: the scope owns every array created from now on. Scopes nest.
 */
GA_API void ga_scope_begin(void);

/* Closes the innermost scope and frees what it owns. Does nothing if no scope is open. */
GA_API void ga_scope_end(void);

/* Moves x out of the innermost scope: to the next outer scope or, if there is none, to the caller,
 * who then frees it. Returns x. Does nothing to an array that the innermost scope does not own. */
GA_API gpuarray *ga_keep(gpuarray *x);

/* Frees *x at once, also inside a scope, and puts `with` in its place: ga_replace(&x, ga_add(x, 1))
 * in a loop never holds more than two arrays. If the innermost scope owns `with`, its new owner is
 * the old array's: an outer scope, or the caller. If *x is NULL, `with` keeps its owner. A NULL
 * `with` is a failed result, and *x becomes NULL. */
GA_API void ga_replace(gpuarray **x, gpuarray *with);

/* GA_SCOPE { ... }: a scope around a block. With gcc and clang the scope also closes when return,
 * break or goto leaves the block. GA_SCOPE is a loop of one round: break and continue inside the
 * block leave the block, not a loop around it. In a loop's body, write GA_SCOPED; instead. */
#if defined(__GNUC__) || defined(__clang__)
static inline int ga_scope_open_(void)
{
    ga_scope_begin();
    return 1;
}
static inline void ga_scope_close_(int *open)
{
    if (*open)
        ga_scope_end();
    *open = 0;
}
#define GA_SCOPE_NAMED_(open)                                                                      \
    for (int open __attribute__((cleanup(ga_scope_close_))) = ga_scope_open_(); open;              \
         ga_scope_close_(&open))
#define GA_SCOPED_NAMED_(open)                                                                     \
    int open __attribute__((cleanup(ga_scope_close_), unused)) = ga_scope_open_()
#else
#define GA_SCOPE_NAMED_(open) for (int open = (ga_scope_begin(), 1); open; ga_scope_end(), open = 0)
#endif
#define GA_SCOPE GA_SCOPE_ON_(__LINE__)
#define GA_SCOPE_ON_(line) GA_SCOPE_OF_(line)
#define GA_SCOPE_OF_(line) GA_SCOPE_NAMED_(ga_scope_##line##_)

/* GA_SCOPED; is a declaration: a scope from here to the end of the enclosing block, however the
 * program leaves it. break and continue mean the program's own loop. gcc and clang only. */
#define GA_SCOPED GA_SCOPED_ON_(__LINE__)
#define GA_SCOPED_ON_(line) GA_SCOPED_OF_(line)
#define GA_SCOPED_OF_(line) GA_SCOPED_NAMED_(ga_scoped_##line##_)

/* ---- Creating ---- */

/* An array on the current device, in C order, with uninitialised, zero or one elements, as
 * numpy.empty, zeros and ones. */
GA_API gpuarray *ga_empty(ga_dtype dtype, int ndim, const int64_t *shape);
GA_API gpuarray *ga_zeros(ga_dtype dtype, int ndim, const int64_t *shape);
GA_API gpuarray *ga_ones(ga_dtype dtype, int ndim, const int64_t *shape);

/* An array with every element set to `fill`, as numpy.full: an array that broadcasts to the shape
 * (GA_ERR_SHAPE) and is cast as by ga_astype(), or a number. GA_ERR_INVALID if the dtype is an
 * integer and the number, without its fraction, is not one of its values: 300 does not fit int8,
 * and NaN fits no integer. A real dtype drops the imaginary part. */
GA_API gpuarray *ga_full(ga_dtype dtype, int ndim, const int64_t *shape, ga_value fill);

/* The same, with the dtype, shape and device of x, as numpy.empty_like and so on; in C order. */
GA_API gpuarray *ga_empty_like(const gpuarray *x);
GA_API gpuarray *ga_zeros_like(const gpuarray *x);
GA_API gpuarray *ga_ones_like(const gpuarray *x);
GA_API gpuarray *ga_full_like(const gpuarray *x, ga_value fill);

/* Options of the functions above. In C: ga_zeros_like(x, .dtype = GA_INT32). */
typedef struct ga_like_args {
    ga_dtype dtype; /* 0: that of x */
} ga_like_args;

/* The same with options, as the macros call them. GA_ERR_DTYPE for an invalid dtype. */
GA_API gpuarray *ga_empty_like_with(const gpuarray *x, size_t size, const ga_like_args *args);
GA_API gpuarray *ga_zeros_like_with(const gpuarray *x, size_t size, const ga_like_args *args);
GA_API gpuarray *ga_ones_like_with(const gpuarray *x, size_t size, const ga_like_args *args);
GA_API gpuarray *ga_full_like_with(const gpuarray *x, ga_value fill, size_t size,
                                   const ga_like_args *args);

/* start, start + step, ... up to but excluding stop: ceil((stop - start) / step) numbers, as
 * numpy.arange with a dtype. The macro takes any real C numbers. Integers are computed exactly;
 * one float among the arguments makes the arithmetic float64. From the third number on, each
 * follows from the first two as stored, and integers wrap. GA_ERR_INVALID if step is 0, the length
 * is not finite, the first two numbers do not fit an integer dtype, or the dtype is bool and the
 * length exceeds two. */
GA_API gpuarray *ga_arange(ga_dtype dtype, double start, double stop, double step);

/* The function behind the macro ga_arange. */
GA_API gpuarray *ga_arange_values(ga_dtype dtype, ga_value start, ga_value stop, ga_value step);

/* `num` evenly spaced numbers from start to stop, both included, as numpy.linspace. The macro
 * takes any C numbers; complex ones need a complex dtype (GA_ERR_DTYPE). ga_linspace(GA_FLOAT64,
 * 0, 1, 4, .endpoint = false) leaves out the stop: 0, 0.25, 0.5, 0.75. An integer dtype rounds
 * down, as in NumPy. GA_ERR_INVALID if num is negative. */
GA_API gpuarray *ga_linspace(ga_dtype dtype, double start, double stop, int64_t num);

/* How many numbers linspace makes, and whether the stop is one of them: the macro sets .endpoint
 * unless the program does. */
typedef struct ga_linspace_args {
    int64_t num;
    bool endpoint;
} ga_linspace_args;

/* The function behind the macro ga_linspace. */
GA_API gpuarray *ga_linspace_values(ga_dtype dtype, ga_value start, ga_value stop, size_t size,
                                    const ga_linspace_args *args);

/* The n x n identity matrix, as numpy.eye(n) and numpy.identity; ga_eye_ex() is all of numpy.eye.
 * GA_ERR_SHAPE for a negative n. */
GA_API gpuarray *ga_eye(ga_dtype dtype, int64_t n);
GA_API gpuarray *ga_identity(ga_dtype dtype, int64_t n);

/* A copy of `data`, host memory in C order that holds every element of the shape. The elements of
 * `data` have this dtype: nothing is converted, and C cannot check it (double is GA_FLOAT64). The
 * call reads all of the data before it returns. */
GA_API gpuarray *ga_from_host(const void *data, ga_dtype dtype, int ndim, const int64_t *shape);

/* The same, but the copy may still be running when the call returns: `data` must stay valid and
 * unchanged until the stream reaches that point (ga_stream_synchronize). The copy overlaps the
 * host's work if `data` is pinned (ga_pinned_alloc, ga_host_register). */
GA_API gpuarray *ga_from_host_async(const void *data, ga_dtype dtype, int ndim,
                                    const int64_t *shape);

/* Replaces the elements of x, which may have any layout, with `data`, host memory in C order.
 * nbytes must equal ga_nbytes(x) (GA_ERR_SHAPE). The call reads all of the data before it returns.
 */
GA_API ga_status ga_set(gpuarray *x, const void *data, size_t nbytes);

/* The same, with `data` as in ga_from_host_async(). x must be contiguous (GA_ERR_INVALID). In a
 * graph, each launch reads `data` again. */
GA_API ga_status ga_set_async(gpuarray *x, const void *data, size_t nbytes);

/* A 0-d array of this dtype: a strong scalar. The number must fit, as in ga_full(). */
GA_API gpuarray *ga_scalar(ga_dtype dtype, ga_value number);

/* ---- Reading ---- */

/* Copies the elements of x, which may have any layout, to `buffer` in C order, and waits for them.
 * nbytes must equal ga_nbytes(x) (GA_ERR_SHAPE). */
GA_API ga_status ga_to_host(const gpuarray *x, void *buffer, size_t nbytes);

/* The same for a contiguous array (GA_ERR_INVALID otherwise), without waiting: `buffer` holds the
 * elements once the stream reaches that point (ga_stream_synchronize). The copy overlaps the host's
 * work if the buffer is pinned. In a graph, each launch writes `buffer` again. */
GA_API ga_status ga_to_host_async(const gpuarray *x, void *buffer, size_t nbytes);

/* The only element of an array of size 1, converted as by ga_astype(). Waits for it. On error the
 * result is 0 (NaN for floating results) and the thread's error is set. With indices, the macros
 * give one element of any array, as numpy.ndarray.item: ga_item_double(x, 1, -1) takes one index
 * for each axis, and ga_item_double(x, 7) one in C order of all elements. GA_ERR_SHAPE for another
 * size without indices; GA_ERR_INDEX for an index out of range or another number of indices. Each
 * call is a copy from the device: for many elements, see ga_to_host(). */
GA_API double ga_item_double(const gpuarray *x);
GA_API int64_t ga_item_int64(const gpuarray *x);
GA_API uint64_t ga_item_uint64(const gpuarray *x);
GA_API bool ga_item_bool(const gpuarray *x);

/* The functions behind the macros: n indices. */
GA_API double ga_item_double_at(const gpuarray *x, int n, const int64_t *index);
GA_API int64_t ga_item_int64_at(const gpuarray *x, int n, const int64_t *index);
GA_API uint64_t ga_item_uint64_at(const gpuarray *x, int n, const int64_t *index);
GA_API bool ga_item_bool_at(const gpuarray *x, int n, const int64_t *index);
#ifndef __cplusplus
GA_API double _Complex ga_item_complex(const gpuarray *x);
GA_API double _Complex ga_item_complex_at(const gpuarray *x, int n, const int64_t *index);
#endif

/* Properties of x; no call waits. For a NULL array: -1, NULL, NULL, 0, 0, GA_NO_DTYPE, NULL,
 * false. */
GA_API int ga_ndim(const gpuarray *x);
GA_API const int64_t *ga_shape(const gpuarray *x);   /* ndim lengths, owned by x */
GA_API const int64_t *ga_strides(const gpuarray *x); /* ndim strides in bytes, owned by x */
GA_API int64_t ga_size(const gpuarray *x);           /* elements */
GA_API size_t ga_nbytes(const gpuarray *x);          /* size times the bytes of one element */
GA_API ga_dtype ga_dtype_of(const gpuarray *x);
GA_API void *ga_data(const gpuarray *x);         /* address of the first element on its device */
GA_API bool ga_is_contiguous(const gpuarray *x); /* C order without gaps */

/* The length of one axis; a negative axis counts from the end. 0 and GA_ERR_INVALID if there is no
 * such axis or x is NULL. */
GA_API int64_t ga_length(const gpuarray *x, int axis);

/* ---- Copying and converting ---- */

/* A contiguous copy in C order, on the device of x. */
GA_API gpuarray *ga_copy(const gpuarray *x);

/* A contiguous copy with another dtype, as numpy.ndarray.astype. Float to integer truncates; NaN
 * becomes 0, and values out of range become the nearest end of the range. Integers wrap. Complex
 * to real drops the imaginary part. */
GA_API gpuarray *ga_astype(const gpuarray *x, ga_dtype dtype);

/* view[...] = value: broadcasts the value to the view (GA_ERR_SHAPE). An array is cast as by
 * ga_astype(), as in NumPy (casting="unsafe"); a number must fit, as in ga_full(). The value may
 * overlap the view. */
GA_API ga_status ga_assign(gpuarray *view, ga_value value);

/* ---- Views: no copy, no launch; the memory lives until its last view is freed ---- */

/* A write to a view writes to x. The functions are those of NumPy with the same names. */

/* One part of a slice; made by the macros below. */
typedef struct ga_range {
    int kind; /* 0: start:stop:step, 1: an index, 2: newaxis, 3: ellipsis */
    int64_t start, stop, step;
    bool has_start, has_stop;
} ga_range;

#ifdef __cplusplus
#define GA_RANGE_(kind, start, stop, step, has_start, has_stop)                                    \
    (ga_range{kind, start, stop, step, has_start, has_stop})
#else
#define GA_RANGE_(kind, start, stop, step, has_start, has_stop)                                    \
    ((ga_range){kind, start, stop, step, has_start, has_stop})
#endif
#define GA_RANGE(start, stop, step) GA_RANGE_(0, start, stop, step, true, true)
#define GA_FROM(start, step) GA_RANGE_(0, start, 0, step, true, false)
#define GA_UPTO(stop, step) GA_RANGE_(0, 0, stop, step, false, true)
#define GA_ALL GA_RANGE_(0, 0, 0, 1, false, false)
#define GA_INDEX(i) GA_RANGE_(1, i, 0, 0, true, false)
#define GA_NEWAXIS GA_RANGE_(2, 0, 0, 0, false, false)
#define GA_ELLIPSIS GA_RANGE_(3, 0, 0, 0, false, false)

/* x[...] in NumPy's syntax. The text is formatted as by printf first: ga_slice(x, "1:-1, ::2, %d",
 * k). A part is start:stop:step with any of the three left out, an index, "...", or "None" (or
 * "newaxis"). Starts and stops past an end mean that end. GA_ERR_INDEX for an index out of range,
 * more indices than axes, a step of 0, and any other text; the message shows the place. */
GA_API gpuarray *ga_slice(const gpuarray *x, const char *format, ...) GA_PRINTF(2, 3);

/* The same, with the numbers of the format in a list. */
GA_API gpuarray *ga_slice_v(const gpuarray *x, const char *format, va_list numbers);

/* The same, from n parts. */
GA_API gpuarray *ga_slice_ranges(const gpuarray *x, int n, const ga_range *ranges);

/* The same elements in C order with another shape; one length may be -1. ga_ravel() gives the 1-D
 * array of them. A view if the layout allows it, otherwise a copy. GA_ERR_SHAPE if the sizes
 * differ or several lengths are -1. */
GA_API gpuarray *ga_reshape(const gpuarray *x, int ndim, const int64_t *shape);
GA_API gpuarray *ga_ravel(const gpuarray *x);

/* The axes in reverse, or in the given order (negative axes count from the end). GA_ERR_INVALID if
 * the order is not a permutation. */
GA_API gpuarray *ga_transpose(const gpuarray *x);
GA_API gpuarray *ga_transpose_axes(const gpuarray *x, int naxes, const int *axes);

/* x without its axes of length 1, or without the given ones, which must have length 1
 * (GA_ERR_SHAPE): ga_squeeze(x), ga_squeeze(x, GA_AXIS(0, -1)), ga_squeeze_axes(x, GA_AXES(0, -1)).
 */
GA_API gpuarray *ga_squeeze(const gpuarray *x);
GA_API gpuarray *ga_squeeze_axes(const gpuarray *x, int naxes, const int *axes);

/* What the macro ga_squeeze collects: the axes are those of ga_reduce_args. */
typedef struct ga_squeeze_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes;
    const int *axes;
} ga_squeeze_args;

/* The function behind the macro ga_squeeze. */
GA_API gpuarray *ga_squeeze_with(size_t size, const ga_squeeze_args *args);

/* x with a new axis of length 1 before `axis` (a negative axis counts from the end of the result).
 */
GA_API gpuarray *ga_expand_dims(const gpuarray *x, int axis);

/* x repeated to this shape by strides of 0. The view is read-only. GA_ERR_SHAPE if x does not
 * broadcast to the shape. */
GA_API gpuarray *ga_broadcast_to(const gpuarray *x, int ndim, const int64_t *shape);

/* x with the order of its elements along `axis` reversed. */
GA_API gpuarray *ga_flip(const gpuarray *x, int axis);

/* The real or imaginary part of a complex array, as a view. For a real array, ga_real() is a view
 * of x, and ga_imag() is a read-only broadcast of one zero. */
GA_API gpuarray *ga_real(const gpuarray *x);
GA_API gpuarray *ga_imag(const gpuarray *x);

/* The same bytes as another dtype, as numpy.ndarray.view. If the element size changes, the last
 * axis changes its length: it must exist, be contiguous and divide evenly. Addresses must be
 * aligned. GA_ERR_SHAPE otherwise. */
GA_API gpuarray *ga_view(const gpuarray *x, ga_dtype dtype);

/* ---- Files and text ---- */

/* The array in a .npy file (versions 1 to 3, both byte orders, Fortran order), on the current
 * device. The descrs of ml_dtypes are ambiguous: "<V2" reads as bfloat16, "<V1" as float8_e4m3fn,
 * "<f1" as float8_e5m2. The name of a dtype is a valid descr too. GA_ERR_IO if the file cannot be
 * read; GA_ERR_FORMAT if it is not such a file, or for other dtypes. */
GA_API gpuarray *ga_load(const char *path);

/* Writes x as .npy in C order, to a temporary file beside `path` that is renamed when it is
 * complete. The call waits for the elements, and until the disk has the bytes, which takes
 * milliseconds and NumPy does not do. After an error (GA_ERR_IO) an older file is as it was. */
GA_API ga_status ga_save(const gpuarray *x, const char *path);

/* The array as numpy.array2string formats it, with the options below. The call waits for the
 * elements. The caller frees the text with free(). NULL on failure. */
GA_API char *ga_format(const gpuarray *x);

/* Writes x and a newline to standard output, as NumPy's print() does: the text of ga_format(x),
 * but with all digits for a 0-d array. GA_ERR_IO if the output takes no more. */
GA_API ga_status ga_print(const gpuarray *x);

/* How ga_format() and ga_print() write arrays, as numpy.set_printoptions. Zero means NumPy's
 * default. */
typedef struct ga_print_options {
    int reserved;      /* 0 */
    int precision;     /* the most digits after the point: 8; a negative number for none */
    int64_t threshold; /* arrays of more elements are summarised with "...": 1000 */
    int edgeitems;     /* elements at each end of an axis of a summary: 3 */
    int linewidth;     /* characters in a line: 75 */
    bool suppress;     /* small numbers are not written with an exponent */
} ga_print_options;

/* Sets the options of all threads: ga_set_print_options(.precision = 3, .suppress = true). Options
 * that are left out get their defaults, so ga_set_print_options() restores all of them. The macro
 * passes the size of the struct that the program knows before its address. GA_ERR_INVALID for a
 * negative number other than .precision. */
GA_API ga_status ga_set_print_options(size_t size, const ga_print_options *options);

GA_END_DECLS

#ifdef __cplusplus
inline ga_status ga_set_print_options_(const ga_print_options &options)
{
    return ga_set_print_options(sizeof options, &options);
}
#if __cplusplus >= 202002L
struct ga_print_options_ {
    int reserved = 0, precision = 0;
    int64_t threshold = 0;
    int edgeitems = 0, linewidth = 0;
    bool suppress = false;
    operator ga_print_options() const
    {
        return ga_print_options{reserved, precision, threshold, edgeitems, linewidth, suppress};
    }
};
#define ga_set_print_options(...)                                                                  \
    GA_HERE_(ga_set_print_options_(ga_print_options_{.reserved = 0, __VA_ARGS__}))
#else /* ga_set_print_options(options), with the struct, or without it */
#define ga_set_print_options(...) GA_HERE_(ga_set_print_options_(ga_print_options{__VA_ARGS__}))
#endif
#else
#define ga_set_print_options(...)                                                                  \
    GA_AT_(ga_set_print_options, sizeof(ga_print_options),                                         \
           &(ga_print_options){.reserved = 0, __VA_ARGS__})
#endif

/* clang-format off */
#ifdef __cplusplus
#define GA_ITEM_(type, name)                                                                       \
    inline type name##_(const gpuarray *x) { return name(x); }                                     \
    template <class... Index> inline type name##_(const gpuarray *x, Index... index)               \
    {                                                                                              \
        const int64_t list[] = {static_cast<int64_t>(index)...};                                   \
        return name##_at(x, static_cast<int>(sizeof...(index)), list);                             \
    }
GA_ITEM_(double, ga_item_double)
GA_ITEM_(int64_t, ga_item_int64)
GA_ITEM_(uint64_t, ga_item_uint64)
GA_ITEM_(bool, ga_item_bool)
#undef GA_ITEM_
#define ga_item_double(...) GA_HERE_(ga_item_double_(__VA_ARGS__))
#define ga_item_int64(...) GA_HERE_(ga_item_int64_(__VA_ARGS__))
#define ga_item_uint64(...) GA_HERE_(ga_item_uint64_(__VA_ARGS__))
#define ga_item_bool(...) GA_HERE_(ga_item_bool_(__VA_ARGS__))
#else
#define ga_item_double(...)                                                                        \
    GA_JOIN_(GA_ITEM_, GA_MANY_(__VA_ARGS__))(ga_item_double, ga_item_double_at, __VA_ARGS__)
#define ga_item_int64(...)                                                                         \
    GA_JOIN_(GA_ITEM_, GA_MANY_(__VA_ARGS__))(ga_item_int64, ga_item_int64_at, __VA_ARGS__)
#define ga_item_uint64(...)                                                                        \
    GA_JOIN_(GA_ITEM_, GA_MANY_(__VA_ARGS__))(ga_item_uint64, ga_item_uint64_at, __VA_ARGS__)
#define ga_item_bool(...)                                                                          \
    GA_JOIN_(GA_ITEM_, GA_MANY_(__VA_ARGS__))(ga_item_bool, ga_item_bool_at, __VA_ARGS__)
#define ga_item_complex(...)                                                                       \
    GA_JOIN_(GA_PLAIN_ITEM_, GA_MANY_(__VA_ARGS__))(ga_item_complex, ga_item_complex_at,           \
                                                    __VA_ARGS__)
#define GA_ITEM_ONE(f, at, x) GA_AT_(f, x)
#define GA_ITEM_MANY(f, at, x, ...) GA_AT_(at, x, GA_SHAPE(__VA_ARGS__))
#define GA_PLAIN_ITEM_ONE(f, at, x) (f)(x)
#define GA_PLAIN_ITEM_MANY(f, at, x, ...) (at)(x, GA_SHAPE(__VA_ARGS__))
#endif

#ifdef __cplusplus
#if __cplusplus >= 202002L
struct ga_linspace_args_ {
    int64_t num = 0;
    bool endpoint = true;
    operator ga_linspace_args() const { return ga_linspace_args{num, endpoint}; }
};
struct ga_squeeze_args_ {
    const gpuarray *x = nullptr;
    int naxes = 0;
    const int *axes = nullptr;
    operator ga_squeeze_args() const { return ga_squeeze_args{x, naxes, axes}; }
};
inline gpuarray *ga_squeeze_(const ga_squeeze_args &args)
{
    return ga_squeeze_with(sizeof args, &args);
}
#define ga_squeeze(...) GA_HERE_(ga_squeeze_(ga_squeeze_args_{.x = __VA_ARGS__}))
#define GA_LINSPACE_ARGS_(...) ga_linspace_args_{.num = __VA_ARGS__}
#else
inline ga_linspace_args ga_linspace_args_(int64_t num, bool endpoint = true)
{
    return ga_linspace_args{num, endpoint};
}
#define GA_LINSPACE_ARGS_(...) ga_linspace_args_(__VA_ARGS__)
#endif
inline gpuarray *ga_linspace_(ga_dtype dtype, ga_value start, ga_value stop,
                              const ga_linspace_args &args)
{
    return ga_linspace_values(dtype, start, stop, sizeof args, &args);
}
#define ga_linspace(dtype, start, stop, ...)                                                       \
    GA_HERE_(ga_linspace_(dtype, GA_V(start), GA_V(stop), GA_LINSPACE_ARGS_(__VA_ARGS__)))
#else
#define ga_linspace(dtype, start, stop, ...)                                                       \
    GA_AT_(ga_linspace_values, dtype, GA_V(start), GA_V(stop), sizeof(ga_linspace_args),           \
           &(ga_linspace_args){GA_JOIN_(GA_LINSPACE_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)})
#define GA_LINSPACE_ONE(n) .num = n, .endpoint = true
#define GA_LINSPACE_MANY(...) .num = __VA_ARGS__
#define ga_squeeze(...)                                                                            \
    GA_AT_(ga_squeeze_with, sizeof(ga_squeeze_args), &(ga_squeeze_args){.x = __VA_ARGS__})
#endif
/* clang-format on */

#define ga_arange(dtype, start, stop, step)                                                        \
    GA_AT_(ga_arange_values, dtype, GA_V(start), GA_V(stop), GA_V(step))
#define ga_empty(dtype, ...) GA_AT_(ga_empty, dtype, GA_SIZES_(__VA_ARGS__))
#define ga_zeros(dtype, ...) GA_AT_(ga_zeros, dtype, GA_SIZES_(__VA_ARGS__))
#define ga_ones(dtype, ...) GA_AT_(ga_ones, dtype, GA_SIZES_(__VA_ARGS__))
#define ga_full(...) GA_FULL_(__VA_ARGS__)
#define GA_FULL_(dtype, ndim, shape, fill)                                                         \
    GA_AT_(ga_full, dtype, GA_SIZES_(ndim, shape), GA_V(fill))
#define ga_reshape(x, ...) GA_AT_(ga_reshape, x, GA_SIZES_(__VA_ARGS__))
#define ga_broadcast_to(x, ...) GA_AT_(ga_broadcast_to, x, GA_SIZES_(__VA_ARGS__))
#define ga_transpose_axes(x, ...) GA_AT_(ga_transpose_axes, x, GA_AXIS_LIST_(__VA_ARGS__))
#define ga_squeeze_axes(x, ...) GA_AT_(ga_squeeze_axes, x, GA_AXIS_LIST_(__VA_ARGS__))
#define ga_empty_like(...) GA_LIKE_(ga_empty_like, __VA_ARGS__)
#define ga_zeros_like(...) GA_LIKE_(ga_zeros_like, __VA_ARGS__)
#define ga_ones_like(...) GA_LIKE_(ga_ones_like, __VA_ARGS__)
#define ga_full_like(x, ...) GA_JOIN_(GA_FULL_LIKE_, GA_MANY_(__VA_ARGS__))(x, __VA_ARGS__)
#define GA_LIKE_(f, ...) GA_JOIN_(GA_LIKE_, GA_MANY_(__VA_ARGS__))(f, f##_with, __VA_ARGS__)
#define GA_LIKE_ONE(f, with, x) GA_AT_(f, x)
#define GA_FULL_LIKE_ONE(x, fill) GA_AT_(ga_full_like, x, GA_V(fill))
#ifdef __cplusplus
#define GA_LIKE_MANY(f, with, x, ...) GA_HERE_(ga_like_call_(with, {__VA_ARGS__}, x))
#define GA_FULL_LIKE_MANY(x, fill, ...)                                                            \
    GA_HERE_(ga_like_call_(ga_full_like_with, {__VA_ARGS__}, x, GA_V(fill)))
template <class Function, class... Values>
inline gpuarray *ga_like_call_(Function f, const ga_like_args &args, Values... values)
{
    return f(values..., sizeof args, &args);
}
#else
#define GA_LIKE_MANY(f, with, x, ...)                                                              \
    GA_AT_(with, x, sizeof(ga_like_args), &(ga_like_args){__VA_ARGS__})
#define GA_FULL_LIKE_MANY(x, fill, ...)                                                            \
    GA_AT_(ga_full_like_with, x, GA_V(fill), sizeof(ga_like_args), &(ga_like_args){__VA_ARGS__})
#endif
#define ga_scalar(dtype, number) GA_AT_(ga_scalar, dtype, GA_V(number))
#define ga_assign(view, value) GA_AT_(ga_assign, view, GA_V(value))

#endif
