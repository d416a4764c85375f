/* Arithmetic of numbers before they meet an array: Python's, so that they stay weak scalars. */
#include "expr/typing/fold.h"

#include <complex.h>
#include <math.h>

__extension__ typedef __int128 int128;

/* Python's integers are unbounded; here only the results must fit 64 bits. */
static const char too_large[] = "the number does not fit 64 bits";
static const char by_zero[] = "division by the integer 0";
static const char not_taken[] = "this operator does not take these numbers";

static bool is_complex(ga_value v)
{
    return ga__dtype_kind(v.dtype) == 'c';
}

static bool is_float(ga_value v)
{
    return ga__dtype_kind(v.dtype) == 'f';
}

static int128 integer_of(ga_value v)
{
    return ga__dtype_kind(v.dtype) == 'u' ? (int128)v.as.u : (int128)v.as.i;
}

static double real_of(ga_value v)
{
    return is_float(v) || is_complex(v) ? v.as.z[0] : (double)integer_of(v);
}

static double _Complex complex_of(ga_value v)
{
    const double parts[2] = {real_of(v), is_complex(v) ? v.as.z[1] : 0.0};
    double _Complex z;
    __builtin_memcpy(&z, parts, sizeof(z));
    return z;
}

bool ga__weak_is_zero(ga_value number)
{
    return !is_float(number) && !is_complex(number) && integer_of(number) == 0;
}

static const char *give_integer(int128 number, ga_value *result)
{
    if (number < INT64_MIN || number > (int128)UINT64_MAX)
        return too_large;
    *result = number <= INT64_MAX ? ga_value_signed(GA_INT64, (int64_t)number)
                                  : ga_value_unsigned(GA_UINT64, (uint64_t)number);
    return NULL;
}

static const char *give_float(double number, ga_value *result)
{
    *result = ga_value_floating(GA_FLOAT64, number, 0.0);
    return NULL;
}

static const char *give_complex(double _Complex z, ga_value *result)
{
    *result = ga_value_floating(GA_COMPLEX128, creal(z), cimag(z));
    return NULL;
}

static const char *give_bool(bool truth, ga_value *result)
{
    *result = ga_value_bool(truth);
    return NULL;
}

static const char *integer_power(int128 base, int128 exponent, ga_value *result)
{
    int128 product = 1;
    if (exponent < 0)
        return give_float(pow((double)base, (double)exponent), result);
    if (base == 0 || base == 1 || exponent == 0)
        return give_integer(exponent == 0 ? 1 : base, result);
    if (base == -1)
        return give_integer(exponent % 2 ? -1 : 1, result);
    for (; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(product, base, &product) || product < INT64_MIN ||
            product > (int128)UINT64_MAX)
            return too_large;
    }
    return give_integer(product, result);
}

static int128 floor_quotient(int128 a, int128 b)
{
    const int128 quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static const char *integer_shift(int128 a, int128 by, bool left, ga_value *result)
{
    if (by < 0)
        return "negative shift count";
    if (!left)
        return give_integer(a >> (by < 100 ? (int)by : 100), result);
    if (a != 0 && by > 63)
        return too_large;
    return give_integer(a == 0 ? 0 : a * ((int128)1 << (int)by), result);
}

static const char *integer_apply(int row, int128 a, int128 b, ga_value *result)
{
    const bool divides =
        row == GA__ROW_divide || row == GA__ROW_floor_divide || row == GA__ROW_remainder;
    if (divides && b == 0)
        return by_zero;
    switch (row) {
    case GA__ROW_negative: return give_integer(-a, result);
    case GA__ROW_positive: return give_integer(a, result);
    case GA__ROW_invert: return give_integer(-a - 1, result);
    case GA__ROW_add: return give_integer(a + b, result);
    case GA__ROW_subtract: return give_integer(a - b, result);
    case GA__ROW_multiply:
        if (__builtin_mul_overflow(a, b, &a))
            return too_large;
        return give_integer(a, result);
    case GA__ROW_divide: return give_float((double)a / (double)b, result);
    case GA__ROW_floor_divide: return give_integer(floor_quotient(a, b), result);
    case GA__ROW_remainder: return give_integer(a - b * floor_quotient(a, b), result);
    case GA__ROW_power: return integer_power(a, b, result);
    case GA__ROW_bitwise_and: return give_integer(a & b, result);
    case GA__ROW_bitwise_or: return give_integer(a | b, result);
    case GA__ROW_bitwise_xor: return give_integer(a ^ b, result);
    case GA__ROW_left_shift: return integer_shift(a, b, true, result);
    case GA__ROW_right_shift: return integer_shift(a, b, false, result);
    default: return not_taken;
    }
}

static double floor_remainder(double a, double b)
{
    const double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : copysign(rest, b);
}

/* The algorithm of CPython's float_divmod() in floatobject.c. */
static double float_quotient(double a, double b)
{
    if (b == 0)
        return a / b;
    const double rest = fmod(a, b);
    const bool below = rest != 0 && (rest < 0) != (b < 0);
    const double quotient = (a - rest) / b - (below ? 1 : 0);
    if (quotient == 0)
        return copysign(0, a / b);
    return quotient - floor(quotient) > 0.5 ? floor(quotient) + 1 : floor(quotient);
}

static const char *float_apply(int row, double a, double b, ga_value *result)
{
    switch (row) {
    case GA__ROW_negative: return give_float(-a, result);
    case GA__ROW_positive: return give_float(a, result);
    case GA__ROW_add: return give_float(a + b, result);
    case GA__ROW_subtract: return give_float(a - b, result);
    case GA__ROW_multiply: return give_float(a * b, result);
    case GA__ROW_divide: return give_float(a / b, result);
    case GA__ROW_floor_divide: return give_float(float_quotient(a, b), result);
    case GA__ROW_remainder: return give_float(floor_remainder(a, b), result);
    case GA__ROW_power: return give_float(pow(a, b), result);
    default: return not_taken;
    }
}

static const char *complex_apply(int row, double _Complex a, double _Complex b, ga_value *result)
{
    switch (row) {
    case GA__ROW_negative: return give_complex(-a, result);
    case GA__ROW_positive: return give_complex(a, result);
    case GA__ROW_add: return give_complex(a + b, result);
    case GA__ROW_subtract: return give_complex(a - b, result);
    case GA__ROW_multiply: return give_complex(a * b, result);
    case GA__ROW_divide: return give_complex(a / b, result);
    case GA__ROW_power: return give_complex(cpow(a, b), result);
    default: return not_taken;
    }
}

/* Compares an integer with a float that is not NaN, exactly: float64 lacks most integers past
 * 2^53. */
static int order_of_mixed(int128 a, double b)
{
    if (fabs(b) > 0x1p100)
        return b > 0 ? -1 : 1;
    const int128 whole = (int128)b;
    return a != whole ? (a > whole) - (a < whole) : (b < (double)whole) - (b > (double)whole);
}

/* Returns -1, 0 or 1, or 2 if a NaN makes them unordered. Integers compare exactly, complex numbers
 * as in NumPy. */
static int order(ga_value a, ga_value b)
{
    const bool whole_a = !is_float(a) && !is_complex(a), whole_b = !is_float(b) && !is_complex(b);
    if (whole_a && whole_b)
        return (integer_of(a) > integer_of(b)) - (integer_of(a) < integer_of(b));
    if (whole_a && is_float(b) && !isnan(b.as.z[0]))
        return order_of_mixed(integer_of(a), b.as.z[0]);
    if (whole_b && is_float(a) && !isnan(a.as.z[0]))
        return -order_of_mixed(integer_of(b), a.as.z[0]);
    const double x[2] = {real_of(a), is_complex(a) ? a.as.z[1] : 0.0};
    const double y[2] = {real_of(b), is_complex(b) ? b.as.z[1] : 0.0};
    if (isnan(x[0]) || isnan(x[1]) || isnan(y[0]) || isnan(y[1]))
        return 2;
    const int k = x[0] == y[0];
    return (x[k] > y[k]) - (x[k] < y[k]);
}

static const char *compare(int row, ga_value a, ga_value b, ga_value *result)
{
    const int sign = order(a, b);
    switch (row) {
    case GA__ROW_equal: return give_bool(sign == 0, result);
    case GA__ROW_not_equal: return give_bool(sign != 0, result);
    case GA__ROW_less: return give_bool(sign == -1, result);
    case GA__ROW_less_equal: return give_bool(sign == -1 || sign == 0, result);
    case GA__ROW_greater: return give_bool(sign == 1, result);
    case GA__ROW_greater_equal: return give_bool(sign == 1 || sign == 0, result);
    case GA__ROW_logical_and: return give_bool(ga__number_bool(a) && ga__number_bool(b), result);
    case GA__ROW_logical_or: return give_bool(ga__number_bool(a) || ga__number_bool(b), result);
    case GA__ROW_logical_not: return give_bool(!ga__number_bool(a), result);
    default: return not_taken;
    }
}

static bool is_bool(ga_value v)
{
    return ga__dtype_kind(v.dtype) == 'b';
}

const char *ga__weak_apply(int row, ga_value a, ga_value b, ga_value *result)
{
    const bool bits =
        row == GA__ROW_bitwise_and || row == GA__ROW_bitwise_or || row == GA__ROW_bitwise_xor;
    if (compare(row, a, b, result) == NULL)
        return NULL;
    if (is_complex(a) || is_complex(b))
        return complex_apply(row, complex_of(a), complex_of(b), result);
    if (is_float(a) || is_float(b))
        return float_apply(row, real_of(a), real_of(b), result);
    const char *problem = integer_apply(row, integer_of(a), integer_of(b), result);
    if (!problem && bits && is_bool(a) && is_bool(b))
        *result = ga_value_bool(result->as.i != 0);
    return problem;
}
