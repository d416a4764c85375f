/* The kinds, ranges and formats of dtypes, for programs. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/dtype.h"

/* The kinds of isdtype, each with its letters. */
static const struct {
    const char *name, *kinds;
} kinds[] = {{"bool", "b"},      {"signed integer", "i"}, {"unsigned integer", "u"},
             {"integral", "iu"}, {"real floating", "f"},  {"complex floating", "c"},
             {"numeric", "iufc"}};

bool ga_isdtype(ga_dtype dtype, const char *kind)
{
    if (!ga__dtype_valid(dtype)) {
        ga__fail(GA_ERR_DTYPE, "isdtype: %d is not a dtype", (int)dtype);
        return false;
    }
    for (size_t k = 0; kind && k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kind, kinds[k].name) == 0)
            return strchr(kinds[k].kinds, ga__dtype_kind(dtype)) != NULL;
    ga__fail(GA_ERR_INVALID, "isdtype: expected a kind such as \"integral\", not %s",
             kind ? kind : "NULL");
    return false;
}

ga_integer_info ga_iinfo(ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    if (kind != 'i' && kind != 'u') {
        ga__fail(GA_ERR_DTYPE, "iinfo: %s is not an integer", ga_dtype_name(dtype));
        return (ga_integer_info){.bits = 0};
    }
    const int bits = 8 * (int)ga__dtype_size(dtype);
    const uint64_t max = UINT64_MAX >> (64 - bits + (kind == 'i'));
    return (ga_integer_info){
        .bits = bits, .min = kind == 'i' ? -(int64_t)max - 1 : 0, .max = max, .dtype = dtype};
}

/* Bits of the fraction, and the first code that is not finite; of dtypes that kernels compute in
 * the row has no format. */
static uint64_t format_of(ga_dtype dtype, int *fraction)
{
    const ga__dtype_row *row = ga__dtype_row_of(dtype);
    const bool wide = row->nbytes == sizeof(double);
    *fraction = row->format.top ? row->format.fraction_bits : wide ? 52 : 23;
    if (row->format.top)
        return row->format.top;
    return wide ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
}

static double number_of(ga_dtype dtype, uint64_t code)
{
    return ga__dtype_fetch(dtype, &code).as.z[0];
}

ga_float_info ga_finfo(ga_dtype dtype)
{
    const ga_dtype real = ga__dtype_real(dtype);
    int fraction;
    if (ga__dtype_kind(real) != 'f') {
        ga__fail(GA_ERR_DTYPE, "finfo: %s is not a float", ga_dtype_name(dtype));
        return (ga_float_info){.bits = 0};
    }
    const uint64_t top = format_of(real, &fraction), normal = UINT64_C(1) << fraction;
    const int bits = 8 * (int)ga__dtype_size(real);
    const double eps = ldexp(1, -fraction), max = number_of(real, top - 1);
    const int precision = (int)-log10(eps);
    return (ga_float_info){.bits = bits,
                           .nmant = fraction,
                           .nexp = bits - 1 - fraction,
                           .precision = precision,
                           .eps = eps,
                           .epsneg = eps / 2,
                           .max = max,
                           .min = -max,
                           .smallest_normal = number_of(real, normal),
                           .smallest_subnormal = number_of(real, 1),
                           .tiny = number_of(real, normal),
                           .resolution = pow(10, -precision),
                           .dtype = real};
}
