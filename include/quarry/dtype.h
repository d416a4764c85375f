/* The element types of arrays, and how they combine (NumPy 2, NEP 50). */
#ifndef QUARRY_DTYPE_H
#define QUARRY_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/export.h>

GA_BEGIN_DECLS

/* GA_BOOL, GA_INT8 to GA_INT64, GA_UINT8 to GA_UINT64, GA_FLOAT16, GA_BFLOAT16, GA_FLOAT32,
 * GA_FLOAT64, GA_COMPLEX64, GA_COMPLEX128, GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2. Zero is not a dtype:
 * an option left at zero means "the default". */
typedef enum ga_dtype {
    GA_NO_DTYPE,
#define GA_DTYPE(ID, ...) GA_##ID,
#include <quarry/dtype.def>
#undef GA_DTYPE
    GA_DTYPE_COUNT,
    /* The dtypes of structs, which ga_struct_dtype() makes. */
    GA_FIRST_STRUCT = 64,
    GA_LAST_STRUCT = 4095
} ga_dtype;

/* NumPy's name ("float32"); "no dtype" if the argument is not a dtype. A static string. */
GA_API const char *ga_dtype_name(ga_dtype dtype);

/* The size of one element in bytes; 0 if the argument is not a dtype. */
GA_API size_t ga_dtype_size(ga_dtype dtype);

/* The result dtype of an operation on both, as numpy.result_type. A float that NumPy lacks follows
 * ml_dtypes: it stays itself with bool, int8 and uint8; with 16-bit integers and with other floats
 * of at most 16 bits the result is float32, with wider integers float64. GA_NO_DTYPE (and
 * GA_ERR_DTYPE) if an argument is not a dtype. */
GA_API ga_dtype ga_result_type(ga_dtype a, ga_dtype b);

/* Whether `from` casts to `to` without loss, as numpy.can_cast(from, to, "safe"). false, without
 * an error, if an argument is not a dtype. */
GA_API bool ga_can_cast(ga_dtype from, ga_dtype to);

/* numpy.promote_types, the same function. */
#define ga_promote_types(a, b) ga_result_type(a, b)

/* Whether the dtype belongs to a kind, as isdtype of the array API: "bool", "signed integer",
 * "unsigned integer", "integral", "real floating", "complex floating" or "numeric". false and
 * GA_ERR_INVALID for another word; false and GA_ERR_DTYPE if the argument is not a dtype. */
GA_API bool ga_isdtype(ga_dtype dtype, const char *kind);

/* The range of an integer dtype. */
typedef struct ga_integer_info {
    int bits;
    int64_t min;
    uint64_t max;
    ga_dtype dtype;
} ga_integer_info;

/* As numpy.iinfo. For other dtypes GA_ERR_DTYPE, and all members are 0. */
GA_API ga_integer_info ga_iinfo(ga_dtype dtype);

/* The format of a float, or of the parts of a complex dtype. */
typedef struct ga_float_info {
    int bits;
    int nmant, nexp;                            /* bits of the fraction and of the exponent */
    int precision;                              /* reliable decimal digits */
    double eps, epsneg;                         /* the distances from 1 to its neighbours */
    double max, min;                            /* the largest finite number, and its negative */
    double smallest_normal, smallest_subnormal; /* positive */
    double tiny;                                /* smallest_normal */
    double resolution;                          /* 10 ** -precision */
    ga_dtype dtype;                             /* the real dtype */
} ga_float_info;

/* As numpy.finfo. For other dtypes GA_ERR_DTYPE, and all members are 0. */
GA_API ga_float_info ga_finfo(ga_dtype dtype);

GA_END_DECLS

#endif
