/* Which numbers the elements of a dtype can hold. */
#ifndef GA_MODEL_NUMBERS_H
#define GA_MODEL_NUMBERS_H

#include "model/dtype.h"

/* Whether the dtype is bool or an integer. */
static inline bool ga__is_integral(ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    return kind == 'b' || kind == 'u' || kind == 'i';
}

/* The greatest value of an integer dtype. */
uint64_t ga__greatest(ga_dtype dtype);

/* Whether an integer is the least (the greatest) of an integer dtype's values, or beyond. */
bool ga__is_at_end(ga_value number, ga_dtype dtype, bool upper);

/* Whether an exponent of an integer dtype is a negative number, for which there is no result. */
static inline bool ga__exponent_is_negative(ga_value exponent, ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    return (kind == 'i' || kind == 'u') && ga__dtype_kind(exponent.dtype) == 'i' &&
           exponent.as.i < 0;
}

/* Whether an integer is one of dtype's values; true for numbers and dtypes that are not integers.
 */
bool ga__number_fits(ga_value number, ga_dtype dtype);

/* Whether an element of dtype can hold the number: false if dtype is an integer and the number,
 * without its fraction, is not one of its values. */
bool ga__number_converts(ga_value number, ga_dtype dtype);

/* Raises GA_ERR_INVALID if it cannot, GA_ERR_DTYPE if the dtype is a struct. */
ga_status ga__check_number(const char *name, ga_value number, ga_dtype dtype);

/* Raises GA_ERR_INVALID if an integer does not fit ("add: 300 does not fit uint8"). */
ga_status ga__check_integer(const char *name, ga_value number, ga_dtype dtype);

#endif
