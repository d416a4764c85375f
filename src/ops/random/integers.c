/* Integers of equal probability, and bytes: checks their arguments and prepares draws. */
#include <stdio.h>

#include "base/call.h"
#include "base/error.h"
#include "device/stream.h"
#include "kernels/elementwise.h"
#include "ops/random/fill.h"

/* A 64-bit integer with a sign: its value modulo 2^64. */
typedef struct integer {
    bool negative;
    uint64_t bits;
} integer;

static integer from_signed(int64_t number)
{
    return (integer){number < 0, (uint64_t)number};
}

static bool is_below(integer a, integer b)
{
    return a.negative != b.negative ? a.negative : a.bits < b.bits;
}

/* The least and the greatest value of an integer dtype. */
static integer least(ga_dtype dtype)
{
    if (ga__dtype_kind(dtype) != 'i')
        return (integer){false, 0};
    return from_signed(-(int64_t)(((uint64_t)1 << (8 * ga__dtype_size(dtype) - 1)) - 1) - 1);
}

static integer greatest(ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    const int bits = kind == 'b' ? 1 : (int)(8 * ga__dtype_size(dtype)) - (kind == 'i');
    return (integer){false, UINT64_MAX >> (64 - bits)};
}

static const char *integer_text(integer number, char text[24])
{
    if (number.negative)
        snprintf(text, 24, "%lld", (long long)(int64_t)number.bits);
    else
        snprintf(text, 24, "%llu", (unsigned long long)number.bits);
    return text;
}

/* Checks the first and last integers of a range, called low and high; `shown` is the caller's value
 * for the last one. */
static ga_status check_bounds(ga_dtype dtype, integer first, integer last, integer shown)
{
    char text[24];
    const bool low = is_below(first, least(dtype)) || is_below(greatest(dtype), first);
    if (!low && !is_below(greatest(dtype), last))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "integers: %s %s is out of bounds for %s", low ? "low" : "high",
                    integer_text(low ? first : shown, text), ga_dtype_name(dtype));
}

/* Draws every integer from low to high, both included; ranges up to 2^32 use a word of 32 bits. */
static void draw_range(ga__draw *draw, integer low, integer high)
{
    static const ga__distribution all = {
        {.id = GA__FORMULA_ID(12), .name = "integers", .body = "r = (ga_v0)(a + z)"},
        "bits",
        false};
    static const ga__distribution below = {{.id = GA__FORMULA_ID(13),
                                            .name = "integers",
                                            .body = "r = (ga_v0)(a + ga::below(z, b, c, i, key))"},
                                           "bits",
                                           false};
    const uint64_t most = high.bits - low.bits, range = most + 1;
    const bool wide = most > UINT32_MAX;
    draw->distribution = most == UINT64_MAX || most == UINT32_MAX ? &all : &below;
    draw->drawn = wide ? GA_UINT64 : GA_UINT32;
    ga__draw_add(draw, GA_UINT64, ga_value_unsigned(GA_UINT64, low.bits));
    if (draw->distribution == &all)
        return;
    const uint64_t threshold = wide ? -range % range : ((uint64_t)1 << 32) % range;
    ga__draw_add(draw, GA_UINT64, ga_value_unsigned(GA_UINT64, range));
    ga__draw_add(draw, GA_UINT64, ga_value_unsigned(GA_UINT64, threshold));
}

static ga_status plan_integers(ga__draw *draw, const ga_rng *rng, ga_dtype dtype, int64_t low,
                               int64_t high)
{
    ga_status status = ga__draw_init(draw, "integers", rng, dtype, "biu", "an integer or bool");
    if (status == GA_OK && low >= high)
        status = ga__fail(GA_ERR_INVALID, "integers: low %lld is not below high %lld",
                          (long long)low, (long long)high);
    if (status == GA_OK)
        status = check_bounds(dtype, from_signed(low), from_signed(high - 1), from_signed(high));
    if (status == GA_OK)
        draw_range(draw, from_signed(low), from_signed(high - 1));
    return status;
}

static ga_status to_integer(const char *which, ga_value value, integer *number)
{
    const char kind = value.kind == GA_VALUE_NUMBER ? ga__dtype_kind(value.dtype) : '-';
    if (kind != 'b' && kind != 'i' && kind != 'u')
        return ga__fail(GA_ERR_INVALID, "integers: %s is not a C integer", which);
    *number = kind == 'u' ? (integer){false, value.as.u} : from_signed(value.as.i);
    return GA_OK;
}

static ga_status plan_endpoint(ga__draw *draw, const ga_rng *rng, ga_dtype dtype, ga_value low,
                               ga_value high)
{
    integer first = {false, 0}, last = {false, 0};
    char text[2][24];
    ga_status status = ga__draw_init(draw, "integers", rng, dtype, "biu", "an integer or bool");
    if (status == GA_OK)
        status = to_integer("low", low, &first);
    if (status == GA_OK)
        status = to_integer("high", high, &last);
    if (status == GA_OK && is_below(last, first))
        status = ga__fail(GA_ERR_INVALID, "integers: low %s is above high %s",
                          integer_text(first, text[0]), integer_text(last, text[1]));
    if (status == GA_OK)
        status = check_bounds(dtype, first, last, last);
    if (status == GA_OK)
        draw_range(draw, first, last);
    return status;
}

gpuarray *(ga_rng_integers)(ga_rng *rng, ga_dtype dtype, int64_t low, int64_t high, int ndim,
                            const int64_t *shape)
{
    GA__CALL("rng_integers");
    ga__draw draw;
    return ga__draw_new(&draw, plan_integers(&draw, rng, dtype, low, high), rng, dtype, ndim,
                        shape);
}

ga_status ga_rng_integers_into(gpuarray *out, ga_rng *rng, int64_t low, int64_t high)
{
    GA__CALL("rng_integers_into");
    ga__draw draw;
    return ga__draw_into(
        &draw, plan_integers(&draw, rng, ga__draw_dtype("integers", out), low, high), out, rng);
}

gpuarray *(ga_rng_integers_endpoint)(ga_rng *rng, ga_dtype dtype, ga_value low, ga_value high,
                                     int ndim, const int64_t *shape)
{
    GA__CALL("rng_integers_endpoint");
    ga__draw draw;
    return ga__draw_new(&draw, plan_endpoint(&draw, rng, dtype, low, high), rng, dtype, ndim,
                        shape);
}

/* ---- Bytes ---- */

gpuarray *ga_rng_bytes(ga_rng *rng, int64_t nbytes)
{
    GA__CALL("rng_bytes");
    const ga_range first = GA_UPTO(nbytes, 1);
    ga__draw draw;
    if (ga__draw_init(&draw, "bytes", rng, GA_UINT32, "u", "unsigned") != GA_OK)
        return NULL;
    if (nbytes < 0)
        return ga__fail_null(GA_ERR_INVALID, "bytes: the length %lld is negative",
                             (long long)nbytes);
    const int64_t nwords = nbytes / 4 + (nbytes % 4 > 0);
    draw_range(&draw, (integer){false, 0}, (integer){false, UINT32_MAX});
    gpuarray *drawn = ga__draw_new(&draw, GA_OK, rng, GA_UINT32, 1, &nwords);
    gpuarray *bytes = drawn ? ga_view(drawn, GA_UINT8) : NULL;
    gpuarray *result = bytes ? ga_slice_ranges(bytes, 1, &first) : NULL;
    ga_free(bytes);
    ga_free(drawn);
    return result;
}
