/* The decimal digits of numbers, as few as are read back as the same number. */
#ifndef GA_MODEL_DECIMAL_H
#define GA_MODEL_DECIMAL_H

#include "model/dtype.h"

/* Enough digits for any double to be read back as itself. */
enum { GA__DECIMAL_DIGITS = 17 };

/* The digits of numbers that NumPy prints by the C++ library, such as ml_dtypes' floats. */
enum { GA__DECIMAL_SIX = 6 };

/* d.ddd x 10^exponent, without sign. */
typedef struct ga__decimal {
    int count, exponent;
    char digits[GA__DECIMAL_DIGITS + 8];
} ga__decimal;

/* The value as the dtype stores it. */
double ga__dtype_rounded(ga_dtype dtype, double value);

/* x > 0, or 0, rounded to `count` digits. Below a power of two floats lie closer: there the nearest
 * decimal may read back as the float below and the next one up as x, which is then taken, as by
 * Dragon4. */
void ga__decimal_round(ga_dtype dtype, double x, int count, ga__decimal *d);

/* The fewest digits that read back as x > 0, or 0; for GA_NO_DTYPE up to six. */
void ga__decimal_shortest(ga_dtype dtype, double x, ga__decimal *d);

void ga__decimal_strip_zeros(ga__decimal *d);

/* Digits after the point in positional notation, and digits of the exponent. */
int ga__decimal_fraction_length(const ga__decimal *d);
int ga__decimal_exponent_length(const ga__decimal *d);

/* Write "123.45", "123." or "0.001", without a '\0', and "1.25e+10" or "1.e+10"; the length. */
int ga__decimal_positional(char *text, const ga__decimal *d);
int ga__decimal_scientific(char *text, const ga__decimal *d, int exponent_digits);

#endif
