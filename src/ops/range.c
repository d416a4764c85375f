/* The arithmetic of ranges: Python's, exact for all integers that values can hold. */
#include "ops/range.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "model/promote.h"

__extension__ typedef __int128 int128;

/* A real number as in Python: an integer or a float. */
typedef struct real {
    bool whole;
    int128 integer;
    double number; /* an integer is stored here as a float too */
} real;

static real from_integer(int128 integer)
{
    return (real){true, integer, (double)integer};
}

static real from_float(double number)
{
    return (real){.number = number};
}

static real sum(real a, real b)
{
    return a.whole && b.whole ? from_integer(a.integer + b.integer)
                              : from_float(a.number + b.number);
}

static real difference(real a, real b)
{
    return a.whole && b.whole ? from_integer(a.integer - b.integer)
                              : from_float(a.number - b.number);
}

/* False if the value is not a real number. */
static bool read_real(ga_value value, real *number)
{
    const bool known = ga__is_number(value);

    switch (known ? ga__dtype_kind(value.dtype) : 0) {
    case 'b':
    case 'i': *number = from_integer(value.as.i); return true;
    case 'u': *number = from_integer(value.as.u); return true;
    case 'f': *number = from_float(value.as.z[0]); return true;
    default: return false;
    }
}

/* ---- Messages ---- */

/* "from -3 to 3 by 1", in a buffer of this size. */
enum { TEXT_SIZE = 120 };

static int add_real(char *text, size_t room, const char *before, real x)
{
    if (!x.whole)
        return snprintf(text, room, "%s%.17g", before, x.number);
    if (x.integer < 0)
        return snprintf(text, room, "%s%" PRId64, before, (int64_t)x.integer);
    return snprintf(text, room, "%s%" PRIu64, before, (uint64_t)x.integer);
}

static const char *range_text(real start, real stop, real step, char *text)
{
    int length = add_real(text, TEXT_SIZE, "from ", start);

    length += add_real(text + length, (size_t)(TEXT_SIZE - length), " to ", stop);
    add_real(text + length, (size_t)(TEXT_SIZE - length), " by ", step);
    return text;
}

/* ---- The length ---- */

/* The length as a float: NaN or outside the range of int64 if there is no such length. A quotient
 * that underflows counts as one step or none, depending on its sign. */
static double float_length(real gap, real step)
{
    const double steps = gap.number / step.number;

    if (steps == 0 && gap.number != 0)
        return signbit(steps) ? 0 : 1;
    return ceil(steps);
}

static int128 whole_length(int128 gap, int128 step)
{
    const int128 steps = gap / step;

    return gap % step != 0 && (gap < 0) == (step < 0) ? steps + 1 : steps;
}

static bool find_length(real start, real stop, real step, int64_t *length)
{
    const real gap = difference(stop, start);

    if (step.number == 0)
        return false;
    if (gap.whole && step.whole) {
        const int128 exact = whole_length(gap.integer, step.integer);
        *length = exact > 0 ? (int64_t)exact : 0;
        return exact <= INT64_MAX;
    }
    const double steps = float_length(gap, step);
    if (!(fabs(steps) < 0x1p63))
        return false;
    *length = steps > 0 ? (int64_t)steps : 0;
    return true;
}

/* ---- Elements ---- */

/* Truncates the number to an integer like Python's int(); false if the dtype cannot hold it. */
static bool to_integer(ga_dtype dtype, real x, ga_value *element)
{
    const bool negative = ga__dtype_kind(dtype) == 'i';
    const int nbits = 8 * (int)ga__dtype_size(dtype) - negative;
    const int128 high = ((int128)1 << nbits) - 1, low = negative ? -high - 1 : 0;

    if (!x.whole && !(fabs(x.number) < 0x1p64))
        return false;
    const int128 integer = x.whole ? x.integer : (int128)x.number;
    *element = negative ? ga_value_signed(GA_INT64, (int64_t)integer)
                        : ga_value_unsigned(GA_UINT64, (uint64_t)integer);
    return integer >= low && integer <= high;
}

/* Converts the number to an element; false if it does not fit. */
static bool convert(ga_dtype dtype, real x, ga_value *element)
{
    const char kind = ga__dtype_kind(dtype);

    if (kind == 'i' || kind == 'u')
        return to_integer(dtype, x, element);
    *element = kind == 'b' ? ga_value_bool(x.number != 0) : ga_value_double(x.number);
    return true;
}

ga_status ga__range_make(ga_dtype dtype, ga_value start, ga_value stop, ga_value step,
                         ga__range *range)
{
    real first, end, by;
    ga__range made;
    char text[TEXT_SIZE];

    if (!ga__dtype_valid(dtype))
        return ga__fail(GA_ERR_DTYPE, "arange: %d is not a dtype", (int)dtype);
    if (ga__check_numeric("arange", dtype) != GA_OK)
        return ga_error();
    if (!read_real(start, &first) || !read_real(stop, &end) || !read_real(step, &by))
        return ga__fail(GA_ERR_INVALID, "arange: start, stop and step must be real numbers");
    if (!find_length(first, end, by, &made.length))
        return ga__fail(GA_ERR_INVALID, "arange: the length of the range %s is not finite",
                        range_text(first, end, by, text));
    if (made.length > 2 && ga__dtype_kind(dtype) == 'b')
        return ga__fail(GA_ERR_INVALID, "arange: %lld numbers %s do not fit bool",
                        (long long)made.length, range_text(first, end, by, text));
    const bool fits = convert(dtype, first, &made.first);
    const bool second_fits = convert(dtype, sum(first, by), &made.second);
    if ((made.length > 0 && !fits) || (made.length > 1 && !second_fits))
        return ga__fail(GA_ERR_INVALID, "arange: the numbers %s do not fit %s",
                        range_text(first, end, by, text), ga_dtype_name(dtype));
    *range = made;
    return GA_OK;
}
