/* ga_value: an operand that is an array or a plain C number, and the macros that make it. */
#ifndef QUARRY_VALUE_H
#define QUARRY_VALUE_H

#include <quarry/dtype.h>

#ifdef __cplusplus
#include <complex>
#include <initializer_list>
#endif

GA_BEGIN_DECLS

typedef struct gpuarray gpuarray;
typedef struct ga_source ga_source; /* source.h */

typedef enum ga_value_kind {
    GA_VALUE_ARRAY,   /* .as.array; NULL is a failed result and propagates */
    GA_VALUE_NUMBER,  /* a C number of the exact type .dtype */
    GA_VALUE_SOURCE,  /* .as.source; only chunked evaluation takes it */
    GA_VALUE_POINTER, /* .as.host.memory.from: a pointer that is not a gpuarray */
    /* Only ga_launch() takes these and POINTER: .as.host, host memory. */
    GA_VALUE_STRUCT, /* the bytes of a parameter */
    GA_VALUE_IN,     /* copied to the device before the launch */
    GA_VALUE_OUT,    /* copied back after the launch */
    GA_VALUE_INOUT   /* both */
} ga_value_kind;

/* One operand or argument. Language bindings fill it directly: `kind`, and for a number `dtype`,
 * its C type, and its value: bool and signed integers in .as.i, unsigned integers in .as.u, floats
 * in .as.z[0], complex numbers in .as.z. A number is a weak scalar (NEP 50): only its kind takes
 * part in promotion. */
typedef struct ga_value {
    ga_value_kind kind;
    ga_dtype dtype;
    union {
        const gpuarray *array;
        const ga_source *source;
        int64_t i;
        uint64_t u;
        double z[2];
        struct {
            union {
                const void *from;
                void *to;
            } memory;
            size_t nbytes;
        } host;
    } as;
} ga_value;

/* Any pointer other than gpuarray *. NULL is a failed result. Any other pointer is a device address
 * for ga_launch(), and an error wherever an array is expected. */
static inline ga_value ga_value_pointer(const void *pointer)
{
    ga_value v = {pointer ? GA_VALUE_POINTER : GA_VALUE_ARRAY, GA_NO_DTYPE, {0}};
    v.as.host.memory.from = pointer;
    return v;
}

static inline ga_value ga_value_array(const gpuarray *array)
{
    ga_value v = {GA_VALUE_ARRAY, GA_NO_DTYPE, {0}};
    v.as.array = array;
    return v;
}

/* NULL is a source that failed to open; it propagates like a NULL array. */
static inline ga_value ga_value_source(const ga_source *source)
{
    ga_value v = {GA_VALUE_SOURCE, GA_NO_DTYPE, {0}};
    v.as.source = source;
    return v;
}

static inline ga_value ga_value_signed(ga_dtype dtype, int64_t number)
{
    ga_value v = {GA_VALUE_NUMBER, dtype, {0}};
    v.as.i = number;
    return v;
}

static inline ga_value ga_value_unsigned(ga_dtype dtype, uint64_t number)
{
    ga_value v = {GA_VALUE_NUMBER, dtype, {0}};
    v.as.u = number;
    return v;
}

static inline ga_value ga_value_floating(ga_dtype dtype, double re, double im)
{
    ga_value v = {GA_VALUE_NUMBER, dtype, {0}};
    v.as.z[0] = re;
    v.as.z[1] = im;
    return v;
}

static inline ga_value ga_value_self(ga_value v)
{
    return v;
}

#define GA_VALUE_SIGNED_(name, type)                                                               \
    static inline ga_value ga_value_##name(type v)                                                 \
    {                                                                                              \
        return ga_value_signed(                                                                    \
            GA_CAST_(ga_dtype, GA_INT8 + (sizeof(v) > 1) + (sizeof(v) > 2) + (sizeof(v) > 4)), v); \
    }
#define GA_VALUE_UNSIGNED_(name, type)                                                             \
    static inline ga_value ga_value_##name(type v)                                                 \
    {                                                                                              \
        return ga_value_unsigned(                                                                  \
            GA_CAST_(ga_dtype, GA_UINT8 + (sizeof(v) > 1) + (sizeof(v) > 2) + (sizeof(v) > 4)),    \
            v);                                                                                    \
    }
GA_VALUE_SIGNED_(schar, signed char)
GA_VALUE_SIGNED_(char, char)
GA_VALUE_SIGNED_(short, short)
GA_VALUE_SIGNED_(int, int)
GA_VALUE_SIGNED_(long, long)
GA_VALUE_SIGNED_(llong, long long)
GA_VALUE_UNSIGNED_(uchar, unsigned char)
GA_VALUE_UNSIGNED_(ushort, unsigned short)
GA_VALUE_UNSIGNED_(uint, unsigned int)
GA_VALUE_UNSIGNED_(ulong, unsigned long)
GA_VALUE_UNSIGNED_(ullong, unsigned long long)
#undef GA_VALUE_SIGNED_
#undef GA_VALUE_UNSIGNED_

static inline ga_value ga_value_bool(bool v)
{
    return ga_value_signed(GA_BOOL, v);
}

static inline ga_value ga_value_float(float v)
{
    return ga_value_floating(GA_FLOAT32, GA_CAST_(double, v), 0.0);
}

static inline ga_value ga_value_double(double v)
{
    return ga_value_floating(GA_FLOAT64, v, 0.0);
}

static inline ga_value ga_value_ldouble(long double v)
{
    return ga_value_floating(GA_FLOAT64, GA_CAST_(double, v), 0.0);
}

#ifndef __cplusplus
/* A complex number has the layout of an array of two (C11 6.2.5). <complex.h> is not included: it
 * would take the name I from programs. */
static inline ga_value ga_value_cfloat(float _Complex v)
{
    const union {
        float _Complex number;
        float part[2];
    } u = {v};
    return ga_value_floating(GA_COMPLEX64, (double)u.part[0], (double)u.part[1]);
}

static inline ga_value ga_value_cdouble(double _Complex v)
{
    const union {
        double _Complex number;
        double part[2];
    } u = {v};
    return ga_value_floating(GA_COMPLEX128, u.part[0], u.part[1]);
}

/* GA_V(v): the ga_value of v, a C number of any real or complex floating type or integer type, a
 * gpuarray *, a ga_source *, a void *, or a ga_value itself; another type does not compile. The
 * macros of functions apply it to their operands: ga_add(x, 2). A program writes it where no macro
 * does: in a member of options, ga_pad(x, GA_SHAPE(1), .value = GA_V(2)), in a list of ga_value,
 * and in a call of the function itself, (ga_add)(GA_V(x), GA_V(2)). A number keeps its C type; no
 * reference is taken to an array. */
/* clang-format off */
#define GA_V(v)                                                                                    \
    _Generic((v), gpuarray *: ga_value_array, const gpuarray *: ga_value_array,                    \
        ga_source *: ga_value_source, const ga_source *: ga_value_source,                          \
        void *: ga_value_pointer, const void *: ga_value_pointer, ga_value: ga_value_self,         \
        _Bool: ga_value_bool, char: ga_value_char, signed char: ga_value_schar,                    \
        unsigned char: ga_value_uchar, short: ga_value_short, unsigned short: ga_value_ushort,     \
        int: ga_value_int, unsigned int: ga_value_uint, long: ga_value_long,                       \
        unsigned long: ga_value_ulong, long long: ga_value_llong,                                  \
        unsigned long long: ga_value_ullong, float: ga_value_float, double: ga_value_double,       \
        long double: ga_value_ldouble, float _Complex: ga_value_cfloat,                            \
        double _Complex: ga_value_cdouble)(v)
/* clang-format on */
#endif

GA_END_DECLS

#ifdef __cplusplus
/* clang-format off */
inline ga_value GA_V(const gpuarray *v) { return ga_value_array(v); }
inline ga_value GA_V(gpuarray *v) { return ga_value_array(v); }
inline ga_value GA_V(const ga_source *v) { return ga_value_source(v); }
inline ga_value GA_V(ga_source *v) { return ga_value_source(v); }
inline ga_value GA_V(const void *v) { return ga_value_pointer(v); }
inline ga_value GA_V(void *v) { return ga_value_pointer(v); }
template <class T> ga_value GA_V(T *) = delete; /* otherwise it would convert to bool */
inline ga_value GA_V(decltype(nullptr)) { return ga_value_array(nullptr); }
inline ga_value GA_V(ga_value v) { return v; }
inline ga_value GA_V(bool v) { return ga_value_bool(v); }
inline ga_value GA_V(char v) { return ga_value_char(v); }
inline ga_value GA_V(signed char v) { return ga_value_schar(v); }
inline ga_value GA_V(unsigned char v) { return ga_value_uchar(v); }
inline ga_value GA_V(short v) { return ga_value_short(v); }
inline ga_value GA_V(unsigned short v) { return ga_value_ushort(v); }
inline ga_value GA_V(int v) { return ga_value_int(v); }
inline ga_value GA_V(unsigned int v) { return ga_value_uint(v); }
inline ga_value GA_V(long v) { return ga_value_long(v); }
inline ga_value GA_V(unsigned long v) { return ga_value_ulong(v); }
inline ga_value GA_V(long long v) { return ga_value_llong(v); }
inline ga_value GA_V(unsigned long long v) { return ga_value_ullong(v); }
inline ga_value GA_V(float v) { return ga_value_float(v); }
inline ga_value GA_V(double v) { return ga_value_double(v); }
inline ga_value GA_V(long double v) { return ga_value_ldouble(v); }
inline ga_value GA_V(std::complex<float> v)
{
    return ga_value_floating(GA_COMPLEX64, static_cast<double>(v.real()),
                             static_cast<double>(v.imag()));
}
inline ga_value GA_V(std::complex<double> v)
{
    return ga_value_floating(GA_COMPLEX128, v.real(), v.imag());
}
/* clang-format on */
#define GA_LIST_(type, ...) (std::initializer_list<type>{__VA_ARGS__}.begin())
#define GA_COUNT_(type, ...) (static_cast<int>(std::initializer_list<type>{__VA_ARGS__}.size()))
#define GA_ARRAYS(...)                                                                             \
    GA_COUNT_(const gpuarray *, __VA_ARGS__), GA_LIST_(const gpuarray *, __VA_ARGS__)
#else
#define GA_LIST_(type, ...) ((const type[]){__VA_ARGS__})
#define GA_COUNT_(type, ...) ((int)(sizeof((const type[]){__VA_ARGS__}) / sizeof(type)))
/* Arrays, as the two arguments "count, arrays". */
#define GA_ARRAYS(...)                                                                             \
    ((int)(sizeof((const gpuarray *[]){__VA_ARGS__}) / sizeof(gpuarray *))),                       \
        ((const gpuarray *[]){__VA_ARGS__})
#endif

/* A list of integers that ends the arguments of a function, after its length. In C an integer in
 * its place, as in ga_reshape(x, 2, 3), does not compile; C++ has no such conversion. */
/* clang-format off */
#ifdef __cplusplus
#define GA_INTEGERS_(type, ...) __VA_ARGS__
#else
#define GA_INTEGERS_(type, ...)                                                                    \
    _Generic((__VA_ARGS__), type *: (__VA_ARGS__), const type *: (__VA_ARGS__),                    \
        void *: (__VA_ARGS__), const void *: (__VA_ARGS__))
#endif
/* clang-format on */
#define GA_SIZES_(ndim, ...) ndim, GA_INTEGERS_(int64_t, __VA_ARGS__)
#define GA_AXIS_LIST_(naxes, ...) naxes, GA_INTEGERS_(int, __VA_ARGS__)

/* The same where options may follow. */
#define GA_SIZES_FIRST_(...) GA_JOIN_(GA_SIZES_FIRST_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__)
#define GA_SIZES_FIRST_1(options) options
#define GA_SIZES_FIRST_2(ndim, shape) GA_SIZES_(ndim, shape)
#define GA_SIZES_FIRST_3(ndim, shape, ...) GA_SIZES_(ndim, shape), __VA_ARGS__
#define GA_SIZES_FIRST_4 GA_SIZES_FIRST_3
#define GA_SIZES_FIRST_5 GA_SIZES_FIRST_3
#define GA_SIZES_FIRST_6 GA_SIZES_FIRST_3
#define GA_SIZES_FIRST_MORE GA_SIZES_FIRST_3

/* A shape, as the two arguments "ndim, dims". GA_SHAPE0 is the shape of a 0-d array. */
#define GA_SHAPE(...) GA_COUNT_(int64_t, __VA_ARGS__), GA_LIST_(int64_t, __VA_ARGS__)
#define GA_SHAPE0 0, GA_CAST_(const int64_t *, 0)

/* Axes, as the two arguments "count, axes". */
#define GA_AXES(...) GA_COUNT_(int, __VA_ARGS__), GA_LIST_(int, __VA_ARGS__)

#endif
