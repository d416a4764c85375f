/* Checking what a case has computed, and freeing its arrays. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

void workload_reset(workload *w)
{
    gpuarray *arrays[] = {w->x, w->y, w->c, w->a, w->b, w->out};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        ga_free(arrays[i]);
    w->x = w->y = w->c = w->a = w->b = w->out = NULL;
}

static double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double size = exponent == 0    ? ldexp(fraction, -24)
                        : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                         : ldexp(1024 + fraction, exponent - 25);

    return bits >> 15 ? -size : size;
}

static double bfloat_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* Element i of out as a number, of complex ones real and imaginary part added; a NaN when it cannot
 * be read. */
static double out_at(const workload *w, int64_t i)
{
    const ga_dtype dtype = ga_dtype_of(w->out);
    const size_t bytes = ga_dtype_size(dtype);
    unsigned char raw[16] = {0};
    uint16_t half;
    float single, imaginary;
    double number;
    int64_t index;

    if (!w->machine->read(raw, (const char *)ga_data(w->out) + (size_t)i * bytes, bytes))
        return NAN;
    if (dtype == GA_INT64 || dtype == GA_INT32) {
        memcpy(&index, raw, sizeof index); /* of 32 bits, the others are 0 */
        return dtype == GA_INT64 ? (double)index : (double)(int32_t)index;
    }
    memcpy(&half, raw, sizeof half);
    memcpy(&single, raw, sizeof single);
    memcpy(&imaginary, raw + 4, sizeof imaginary);
    memcpy(&number, raw, sizeof number);
    if (dtype == GA_COMPLEX64)
        return (double)single + (double)imaginary;
    return bytes == 8          ? number
           : bytes == 4        ? (double)single
           : bytes == 2        ? (dtype == GA_BFLOAT16 ? bfloat_value(half) : half_value(half))
           : dtype == GA_UINT8 ? raw[0]
                               : (int8_t)raw[0];
}

/* How far rounding may take it: each of many terms adds a little. */
static double allowance(const workload *w, const bench_case *c, double expected)
{
    const double terms = (double)ga_size(w->x) / (double)ga_size(w->out);

    return c->tolerance * (1.0 + fabs(expected)) + (c->sums ? 1e-4 * sqrt(terms) : 0.0);
}

bool workload_check(const workload *w, const bench_case *c)
{
    const int64_t size = ga_size(w->out);
    const double terms = fmax(1.0, (double)ga_size(w->x) / (double)size);
    const int64_t wanted = (int64_t)fmin(2048.0, fmax(16.0, 4194304.0 / terms));
    const int64_t samples = wanted < size ? wanted : size;

    for (int64_t s = 0; s < samples; s++) {
        /* The first and the last ones, and between them random ones. */
        const int64_t random = (int64_t)(random_mix(77, (uint64_t)s) / 4294967296.0 * (double)size);
        const int64_t i = samples == size || s < 4 ? s : s < 8 ? size - 1 - (s - 4) : random;
        const double got = out_at(w, i), expected = c->expect(w, c, i);

        if (!(fabs(got - expected) <= allowance(w, c, expected))) {
            fprintf(stderr, "quarry-bench: %s: element %lld is %.9g, expected %.9g\n", c->name,
                    (long long)i, got, expected);
            return false;
        }
    }
    return true;
}
