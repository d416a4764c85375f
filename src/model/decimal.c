/* The decimal digits of numbers. */
#include "model/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

double ga__dtype_rounded(ga_dtype dtype, double value)
{
    uint64_t element[2] = {0, 0};

    ga__dtype_store(dtype, ga_value_floating(GA_FLOAT64, value, 0.0), element);
    return ga__dtype_fetch(dtype, element).as.z[0];
}

/* Whether the decimal reads back as x. One rounding only: a float's own strtof, and for smaller
 * types no decimal this short lies so near a midpoint that a double could hide the side. */
static bool reads_back(ga_dtype dtype, const ga__decimal *d, double x)
{
    char text[GA__DECIMAL_DIGITS + 32];

    snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->exponent - d->count + 1);
    const bool single = dtype == GA_FLOAT32;
    const double read = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    return ga__dtype_rounded(dtype, read) == x;
}

static void increment(ga__decimal *d)
{
    int i = d->count - 1;

    while (i >= 0 && d->digits[i] == '9')
        d->digits[i--] = '0';
    if (i >= 0) {
        d->digits[i]++;
    } else {
        d->digits[0] = '1';
        d->exponent++;
    }
}

/* x > 0, or 0, rounded to `count` digits. Below a power of two floats lie closer, so there the
 * nearest decimal may read back as the float below when the next one up reads back as x: then it is
 * taken, as Dragon4 does. */
void ga__decimal_round(ga_dtype dtype, double x, int count, ga__decimal *d)
{
    char text[GA__DECIMAL_DIGITS + 32];
    int power;

    snprintf(text, sizeof text, "%.*e", count - 1, x);
    d->count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) { /* the decimal point is the locale's */
        if (*at >= '0' && *at <= '9' && d->count < count)
            d->digits[d->count++] = *at;
    }
    d->exponent = atoi(at + 1);
    if (frexp(x, &power) != 0.5 || reads_back(dtype, d, x))
        return;
    ga__decimal above = *d;
    increment(&above);
    if (reads_back(dtype, &above, x))
        *d = above;
}

void ga__decimal_shortest(ga_dtype dtype, double x, ga__decimal *d)
{
    int low = 1, high = GA__DECIMAL_DIGITS;

    if (dtype == GA_NO_DTYPE) {
        ga__decimal_round(GA_FLOAT64, x, GA__DECIMAL_SIX, d);
        ga__decimal_strip_zeros(d);
        return;
    }
    while (low < high) {
        const int middle = (low + high) / 2;
        ga__decimal_round(dtype, x, middle, d);
        if (reads_back(dtype, d, x))
            high = middle;
        else
            low = middle + 1;
    }
    ga__decimal_round(dtype, x, low, d);
}

void ga__decimal_strip_zeros(ga__decimal *d)
{
    while (d->count > 1 && d->digits[d->count - 1] == '0')
        d->count--;
}

int ga__decimal_fraction_length(const ga__decimal *d)
{
    const int length = d->count - 1 - d->exponent;

    return length > 0 ? length : 0;
}

int ga__decimal_exponent_length(const ga__decimal *d)
{
    return abs(d->exponent) >= 100 ? 3 : 2;
}

/* "123.45", "123." or "0.001"; returns the length. */
int ga__decimal_positional(char *text, const ga__decimal *d)
{
    int n = 0;

    if (d->exponent < 0)
        text[n++] = '0';
    for (int i = 0; i <= d->exponent; i++)
        text[n++] = i < d->count ? d->digits[i] : '0';
    text[n++] = '.';
    for (int i = -1; i > d->exponent && ga__decimal_fraction_length(d) >= -i; i--)
        text[n++] = '0';
    for (int i = d->exponent < 0 ? 0 : d->exponent + 1; i < d->count; i++)
        text[n++] = d->digits[i];
    return n;
}

/* "1.25e+10" or "1.e+10"; returns the length. */
int ga__decimal_scientific(char *text, const ga__decimal *d, int exponent_digits)
{
    return sprintf(text, "%c.%.*se%c%0*d", d->digits[0], d->count - 1, d->digits + 1,
                   d->exponent < 0 ? '-' : '+', exponent_digits, abs(d->exponent));
}
