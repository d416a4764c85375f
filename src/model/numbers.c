/* Which numbers the elements of a dtype can hold. */
#include "model/numbers.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"

uint64_t ga__greatest(ga_dtype dtype)
{
    const int nbits = 8 * (int)ga__dtype_size(dtype) - (ga__dtype_kind(dtype) == 'i');

    return UINT64_MAX >> (64 - nbits);
}

bool ga__number_fits(ga_value number, ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    const bool negative = ga__dtype_kind(number.dtype) == 'i' && number.as.i < 0;

    if (!ga__is_integral(number.dtype) || (kind != 'i' && kind != 'u'))
        return true;
    if (negative && kind == 'u')
        return false;
    const uint64_t size = negative ? ~number.as.u : number.as.u;
    return size <= ga__greatest(dtype);
}

ga_status ga__check_integer(const char *name, ga_value number, ga_dtype dtype)
{
    if (ga__number_fits(number, dtype))
        return GA_OK;
    if (ga__dtype_kind(number.dtype) == 'u')
        return ga__fail(GA_ERR_INVALID, "%s: %" PRIu64 " does not fit %s", name, number.as.u,
                        ga_dtype_name(dtype));
    return ga__fail(GA_ERR_INVALID, "%s: %" PRId64 " does not fit %s", name, number.as.i,
                    ga_dtype_name(dtype));
}

bool ga__is_at_end(ga_value number, ga_dtype dtype, bool upper)
{
    const bool negative = ga__dtype_kind(number.dtype) == 'i' && number.as.i < 0;
    const uint64_t size = negative ? ~number.as.u : number.as.u;

    if (ga__dtype_kind(dtype) == 'u' && !upper)
        return negative || size == 0;
    return negative != upper && size >= ga__greatest(dtype);
}

/* Whether the number without its fraction is one of an integer dtype's values; false for NaN. */
static bool float_fits(double number, ga_dtype dtype)
{
    const bool is_signed = ga__dtype_kind(dtype) == 'i';
    const double end = ldexp(1, 8 * (int)ga__dtype_size(dtype) - is_signed);

    return trunc(number) < end && trunc(number) >= (is_signed ? -end : 0);
}

bool ga__number_converts(ga_value number, ga_dtype dtype)
{
    const char kind = ga__dtype_kind(number.dtype);

    if (!ga__dtype_valid(dtype))
        return true;
    if (ga__dtype_is_struct(dtype))
        return false;
    if (!ga__is_integral(dtype))
        return true;
    return kind == 'f' || kind == 'c' ? float_fits(number.as.z[0], dtype)
                                      : ga__number_fits(number, dtype);
}

ga_status ga__check_number(const char *name, ga_value number, ga_dtype dtype)
{
    const char kind = ga__dtype_kind(number.dtype);

    if (ga__number_converts(number, dtype))
        return GA_OK;
    if (ga__dtype_is_struct(dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: a number is not a %s", name, ga_dtype_name(dtype));
    if (kind != 'f' && kind != 'c')
        return ga__check_integer(name, number, dtype);
    return ga__fail(GA_ERR_INVALID, "%s: %.17g does not fit %s", name, number.as.z[0],
                    ga_dtype_name(dtype));
}
