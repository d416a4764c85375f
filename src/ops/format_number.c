/* The elements of an array as words, as NumPy writes them. */
#include "ops/format_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/decimal.h"

/* Numbers from 10 to this power on are scientific in NumPy, whatever the precision. */
enum { LARGE = 8 };

ga_value ga__sample_at(const ga__sample *s, int64_t i)
{
    return ga__dtype_fetch(s->dtype, s->elements + i * (int64_t)ga__dtype_size(s->dtype));
}

/* ---- Real numbers in columns ---- */

/* The results of one pass over the numbers. */
typedef struct survey {
    bool any_finite, any_other, any_negative_infinity;
    double least, greatest; /* of the absolute values other than 0; 0 if there are none */
} survey;

/* The number of decimal digits that the dtype preserves, like numpy.finfo(dtype).precision. */
static int decimal_precision(ga_dtype dtype)
{
    int bits = 0;

    if (dtype == GA_NO_DTYPE)
        return GA__DECIMAL_SIX;
    while (ga__dtype_rounded(dtype, 1.0 + ldexp(1.0, -(bits + 1))) != 1.0)
        bits++;
    return (int)(bits * 0.30102999566398120); /* log10(2) */
}

static void survey_number(survey *s, double x)
{
    if (!isfinite(x)) {
        s->any_other = true;
        s->any_negative_infinity |= isinf(x) && x < 0;
        return;
    }
    s->any_finite = true;
    const double size = fabs(x);
    if (size == 0)
        return;
    if (s->least == 0 || size < s->least)
        s->least = size;
    if (size > s->greatest)
        s->greatest = size;
}

/* NumPy compares and divides in the array's own dtype. */
static bool wants_scientific(ga_dtype dtype, const survey *s, bool suppress)
{
    const int digits = decimal_precision(dtype);

    if (s->greatest == 0)
        return false;
    if (s->greatest >= pow(10, digits < LARGE ? digits : LARGE))
        return true;
    return !suppress && (s->least < ga__dtype_rounded(dtype, 1e-4) ||
                         ga__dtype_rounded(dtype, s->greatest / s->least) > 1000);
}

/* The digits of x that a column shows: the shortest that identify it, at most f->most after the
 * point. */
static void column_digits(const ga__real_format *f, double x, ga__decimal *d)
{
    ga__decimal_shortest(f->dtype, fabs(x), d);
    const int leading = f->scientific ? 1 : d->exponent + 1;
    if (d->count - leading > f->most) {
        ga__decimal_round(f->dtype, fabs(x), leading + f->most, d);
        ga__decimal_strip_zeros(d);
    }
}

static int sign_length(const ga__real_format *f, double x)
{
    return signbit(x) || f->plus;
}

static void at_least(int *length, int other)
{
    if (other > *length)
        *length = other;
}

static void widen(ga__real_format *f, double x)
{
    ga__decimal d;

    if (!isfinite(x))
        return;
    column_digits(f, x, &d);
    const int whole = f->scientific || d.exponent < 0 ? 1 : d.exponent + 1;
    at_least(&f->pad_left, whole + sign_length(f, x));
    at_least(&f->pad_right, f->scientific ? d.count - 1 : ga__decimal_fraction_length(&d));
    at_least(&f->exponent_digits, ga__decimal_exponent_length(&d));
}

/* Completes the format after the pass of widen() over the numbers. */
static void complete_format(ga__real_format *f, const survey *s)
{
    if (f->scientific) {
        f->precision = f->pad_right;
        f->pad_right += f->exponent_digits + 2;
    }
    if (s->any_other) {
        at_least(&f->pad_left, 3 - (f->pad_right + 1));
        at_least(&f->pad_left, 3 + (f->plus || s->any_negative_infinity) - (f->pad_right + 1));
    }
}

static const char *name_of_special(double x, bool plus)
{
    if (isnan(x))
        return plus ? "+nan" : "nan";
    return x < 0 ? "-inf" : plus ? "+inf" : "inf";
}

/* Writes one word of a column; returns its length. */
static int write_real(const ga__real_format *f, double x, char *word)
{
    char text[GA__WORD_SIZE / 2];
    ga__decimal d;

    if (!isfinite(x))
        return sprintf(word, "%*s", f->pad_left + f->pad_right + 1, name_of_special(x, f->plus));
    const char *sign = signbit(x) ? "-" : f->plus ? "+" : "";
    if (f->scientific) {
        ga__decimal_round(f->dtype, fabs(x), f->precision + 1, &d);
        text[ga__decimal_scientific(text, &d, f->exponent_digits)] = '\0';
        return sprintf(word, "%*s%s%s", f->pad_left - 1 - sign_length(f, x), "", sign, text);
    }
    column_digits(f, x, &d);
    text[ga__decimal_positional(text, &d)] = '\0';
    const int whole = (int)strcspn(text, ".");
    return sprintf(word, "%*s%s%s%*s", f->pad_left - whole - sign_length(f, x), "", sign, text,
                   f->pad_right - ga__decimal_fraction_length(&d), "");
}

/* ---- A single number, like str() of a NumPy scalar ---- */

/* `point_zero` selects "1.0" instead of "1". Returns the length. */
static int write_lone_real(ga_dtype dtype, double x, bool point_zero, bool plus, char *word)
{
    const int digits = decimal_precision(dtype);
    const double size = fabs(x);
    ga__decimal d;

    if (!isfinite(x))
        return sprintf(word, "%s", name_of_special(x, plus));
    int n = sprintf(word, "%s", signbit(x) ? "-" : plus ? "+" : "");
    ga__decimal_shortest(dtype, size, &d);
    if (x == 0 || (size >= 1e-4 && size < (digits < 15 ? pow(10, digits) : 1e16))) {
        n += ga__decimal_positional(word + n, &d);
        if (word[n - 1] == '.' && point_zero)
            word[n++] = '0';
        else if (word[n - 1] == '.')
            n--;
        word[n] = '\0';
        return n;
    }
    n += ga__decimal_scientific(word + n, &d, ga__decimal_exponent_length(&d));
    if (d.count == 1) { /* turns "1.e+16" into "1e+16" */
        char *point = strchr(word, '.');
        memmove(point, point + 1, strlen(point));
        n--;
    }
    return n;
}

static int write_lone_complex(ga_dtype dtype, const double *z, char *word)
{
    int n = 0;

    if (z[0] == 0 && !signbit(z[0])) {
        n = write_lone_real(dtype, z[1], false, false, word);
        return n + sprintf(word + n, "j");
    }
    word[n++] = '(';
    n += write_lone_real(dtype, z[0], false, false, word + n);
    n += write_lone_real(dtype, z[1], false, true, word + n);
    return n + sprintf(word + n, "j)");
}

/* ---- Elements of any dtype ---- */

static int write_integer(char kind, ga_value number, int width, char *word)
{
    if (kind == 'u')
        return sprintf(word, "%*" PRIu64, width, number.as.u);
    return sprintf(word, "%*" PRId64, width, number.as.i);
}

/* The bytes of a struct, as NumPy writes a void: b'\x00\x01'. Past the room, "..." stands for the
 * rest. */
static int write_bytes(ga_value value, char *word)
{
    const unsigned char *bytes = value.as.host.memory.from;
    const size_t n = value.as.host.nbytes, most = (GA__WORD_SIZE - sizeof "b'...'") / 4;
    int length = sprintf(word, "b'");
    for (size_t k = 0; k < n && k < most; k++)
        length += sprintf(word + length, "\\x%02X", bytes[k]);
    return length + sprintf(word + length, "%s'", n > most ? "..." : "");
}

int ga__write_element(const ga__element_format *f, ga_value number, char *word)
{
    if (f->kind == 'V')
        return write_bytes(number, word);
    if (f->kind == 'b')
        return sprintf(word, "%s", ga__number_bool(number) ? " True" : "False");
    if (f->kind != 'f' && f->kind != 'c')
        return write_integer(f->kind, number, f->width, word);
    if (f->re.dtype == GA_NO_DTYPE)
        return write_lone_real(f->re.dtype, number.as.z[0], false, false, word);
    int n = write_real(&f->re, number.as.z[0], word);
    if (f->kind == 'f')
        return n;
    const int begin = n;
    n += write_real(&f->im, number.as.z[1], word + n);
    int end = n; /* the j goes before the blanks that pad the fraction */
    while (end > begin && word[end - 1] == ' ')
        end--;
    memmove(word + end + 1, word + end, (size_t)(n - end) + 1);
    word[end] = 'j';
    return n + 1;
}

int ga__write_lone_element(ga_dtype dtype, ga_value number, char *word)
{
    const char kind = ga__dtype_kind(dtype);
    const ga_dtype digits = ga__dtype_row_of(dtype)->digits;

    if (kind == 'V')
        return write_bytes(number, word);
    if (kind == 'b')
        return sprintf(word, "%s", ga__number_bool(number) ? "True" : "False");
    if (kind == 'f')
        return write_lone_real(digits, number.as.z[0], digits != GA_NO_DTYPE, false, word);
    if (kind == 'c')
        return write_lone_complex(digits, number.as.z, word);
    return write_integer(kind, number, 0, word);
}

/* Fits a format to the real (0) or imaginary (1) parts. */
static void fit_real(ga__real_format *f, const ga__sample *s, int part, bool plus,
                     const ga_print_options *options)
{
    survey found = {false, false, false, 0, 0};

    memset(f, 0, sizeof *f);
    f->dtype = ga__dtype_row_of(s->dtype)->digits;
    f->plus = plus;
    f->most = options->precision;
    if (f->dtype == GA_NO_DTYPE)
        return;
    for (int64_t i = 0; i < s->count; i++)
        survey_number(&found, ga__sample_at(s, i).as.z[part]);
    f->scientific = found.any_finite && wants_scientific(f->dtype, &found, options->suppress);
    for (int64_t i = 0; i < s->count; i++)
        widen(f, ga__sample_at(s, i).as.z[part]);
    complete_format(f, &found);
}

void ga__element_format_fit(ga__element_format *f, const ga__sample *s,
                            const ga_print_options *options)
{
    char word[GA__WORD_SIZE];

    f->dtype = s->dtype;
    f->kind = ga__dtype_kind(s->dtype);
    f->width = 0;
    if (f->kind == 'f' || f->kind == 'c')
        fit_real(&f->re, s, 0, false, options);
    if (f->kind == 'c')
        fit_real(&f->im, s, 1, true, options);
    if (f->kind == 'i' || f->kind == 'u') {
        for (int64_t i = 0; i < s->count; i++)
            at_least(&f->width, write_integer(f->kind, ga__sample_at(s, i), 0, word));
    }
}
