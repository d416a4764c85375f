/* The element types of arrays, and how they combine (NumPy 2, NEP 50). */
#ifndef QUARRY_DTYPE_H
#define QUARRY_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/export.h>

GA_BEGIN_DECLS

/* Zero is not a dtype: an option left at zero means "the default". */
typedef enum ga_dtype {
    GA_NO_DTYPE,
#define GA_DTYPE(ID, ...) GA_##ID,
#include <quarry/dtype.def>
#undef GA_DTYPE
    GA_DTYPE_COUNT
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

/* Whether an operation on both gives `to`, as numpy.can_cast(from, to, "safe"). */
GA_API bool ga_can_cast(ga_dtype from, ga_dtype to);

GA_END_DECLS

#endif
