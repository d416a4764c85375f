/* The element types of arrays and how they combine (NumPy 2, NEP 50). */
#ifndef QUARRY_DTYPE_H
#define QUARRY_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/export.h>

GA_BEGIN_DECLS

/* Zero is no dtype: an option left out means "the default". */
typedef enum ga_dtype {
    GA_NO_DTYPE,
#define GA_DTYPE(ID, name, kind, bytes, device, compute, real, npy) GA_##ID,
#include <quarry/dtype.def>
#undef GA_DTYPE
    GA_DTYPE_COUNT
} ga_dtype;

/* NumPy's name ("float32"); "no dtype" for a number that is none. A static string. */
GA_API const char *ga_dtype_name(ga_dtype dtype);

/* The size of one element in bytes; 0 for a number that is no dtype. */
GA_API size_t ga_dtype_size(ga_dtype dtype);

/* The dtype an operation on both gives, as numpy.result_type; bfloat16 follows the same rule (the
 * smallest dtype that holds both: with int8 and uint8 bfloat16, with 16-bit integers and float16
 * float32, with wider integers float64). GA_NO_DTYPE (and GA_ERR_DTYPE) for a number that is no
 * dtype. */
GA_API ga_dtype ga_result_type(ga_dtype a, ga_dtype b);

/* Whether every value of `from` is kept by `to`, as numpy.can_cast(from, to, "safe"). */
GA_API bool ga_can_cast(ga_dtype from, ga_dtype to);

GA_END_DECLS

#endif
