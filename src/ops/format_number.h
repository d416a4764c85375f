/* The elements of an array as words, as NumPy writes them. */
#ifndef GA_OPS_FORMAT_NUMBER_H
#define GA_OPS_FORMAT_NUMBER_H

#include <quarry/array.h>

#include "model/dtype.h"

/* Room for a word. */
enum { GA__WORD_SIZE = 160 };

/* A real number in a column. */
typedef struct ga__real_format {
    ga_dtype dtype; /* determines the digits; GA_NO_DTYPE: six, and no column */
    bool plus;      /* also prints the sign of positive numbers */
    bool scientific;
    int most;      /* digits after the point */
    int precision; /* digits after the point, if scientific */
    int exponent_digits;
    int pad_left, pad_right; /* characters before and after the point */
} ga__real_format;

typedef struct ga__element_format {
    ga_dtype dtype;
    char kind;
    int width; /* of an integer */
    ga__real_format re, im;
} ga__element_format;

/* The numbers to show: on the host, in C order. */
typedef struct ga__sample {
    ga_dtype dtype;
    int64_t count;
    const char *elements;
} ga__sample;

ga_value ga__sample_at(const ga__sample *s, int64_t i);

/* Fits the words' width and digits to the numbers. The options have no zeros, except .suppress. */
void ga__element_format_fit(ga__element_format *f, const ga__sample *s,
                            const ga_print_options *options);

/* Writes an element of a column, or one alone with all its digits; returns the length. */
int ga__write_element(const ga__element_format *f, ga_value number, char *word);
int ga__write_lone_element(ga_dtype dtype, ga_value number, char *word);

#endif
