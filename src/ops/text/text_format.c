/* Writes numbers by formats like those of printf. */
#include "ops/text/text_format.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/decimal.h"

#define REALS "eEfFgGs"
#define INTEGERS "dixXo"

/* Room for the longest text of a number, and the greatest width and precision. */
enum { NUMBER_SIZE = 1024, MOST_WIDTH = 500, FORMAT_SIZE = 32 };

/* ---- Reading ---- */

/* An optional number of a format; -1 if there is none. */
static int read_count(const char **at)
{
    int count = -1;
    for (; **at >= '0' && **at <= '9' && count <= MOST_WIDTH; ++*at)
        count = (count < 0 ? 0 : count) * 10 + (**at - '0');
    return count;
}

static void read_flags(ga__text_piece *piece, const char **at)
{
    size_t count = 0;
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (!memchr(piece->flags, **at, count))
            piece->flags[count++] = **at;
    piece->flags[count] = '\0';
}

/* Reads what follows a "%". */
static ga_status read_piece(ga__text_piece *piece, const char *text, const char **at)
{
    read_flags(piece, at);
    piece->width = read_count(at);
    piece->precision = -1;
    if (**at == '.') {
        ++*at;
        piece->precision = read_count(at);
        piece->precision = piece->precision < 0 ? 0 : piece->precision;
    }
    piece->conversion = **at;
    if (!**at || !strchr(REALS INTEGERS, **at) || piece->width > MOST_WIDTH ||
        piece->precision > MOST_WIDTH || (**at == 's' && piece->precision >= 0))
        return ga__fail(GA_ERR_INVALID, "savetxt: unknown format \"%.80s\"", text);
    ++*at;
    return GA_OK;
}

/* The next "%" that begins a conversion, or the end. */
static const char *find_conversion(const char *at)
{
    while (*at && !(at[0] == '%' && at[1] != '%'))
        at += at[0] == '%' ? 2 : 1;
    return at;
}

ga_status ga__text_format_read(ga__text_format *f, const char *text)
{
    const char *at = text;
    size_t most = 1;
    for (const char *c = text; *c; c++)
        most += *c == '%';
    *f = (ga__text_format){.pieces = ga__malloc(most * sizeof *f->pieces)};
    if (!f->pieces)
        return GA_ERR_MEMORY;
    for (const char *found; *(found = find_conversion(at)); f->count++) {
        ga__text_piece *piece = &f->pieces[f->count];
        *piece = (ga__text_piece){.text = at, .length = (size_t)(found - at)};
        at = found + 1;
        if (read_piece(piece, text, &at) != GA_OK) {
            ga__text_format_reset(f);
            return ga_error();
        }
    }
    f->rest = at;
    return GA_OK;
}

void ga__text_format_reset(ga__text_format *f)
{
    ga__free(f->pieces);
    *f = (ga__text_format){.pieces = NULL};
}

/* ---- Writing ---- */

void ga__text_add_plain(ga__strbuf *out, const char *text, size_t length)
{
    for (size_t k = 0; k < length; k += text[k] == '%' ? 2 : 1)
        ga__strbuf_add_bytes(out, text + k, 1);
}

/* Appends text in the width of the piece. */
static void add_text(ga__strbuf *out, const ga__text_piece *piece, const char *text)
{
    const int width = piece->width < 0 ? 0 : piece->width;
    ga__strbuf_addf(out, "%*s", strchr(piece->flags, '-') ? -width : width, text);
}

/* The format of the piece for a number of this length, which takes a width and a precision. */
static void spell(const ga__text_piece *piece, const char *length, char conversion,
                  char format[FORMAT_SIZE])
{
    snprintf(format, FORMAT_SIZE, "%%%s*.*%s%c", piece->flags, length, conversion);
}

static void add_real(ga__strbuf *out, const ga__text_piece *piece, double value)
{
    char format[FORMAT_SIZE];
    spell(piece, "", piece->conversion, format);
    ga__strbuf_addf(out, format, piece->width < 0 ? 0 : piece->width, piece->precision,
                    isnan(value) ? fabs(value) : value);
}

/* A decimal number, or another sign and magnitude: C knows no negative hexadecimal ones. */
static void add_integer(ga__strbuf *out, const ga__text_piece *piece, bool negative,
                        uint64_t magnitude)
{
    char format[FORMAT_SIZE], text[NUMBER_SIZE];
    const int width = piece->width < 0 ? 0 : piece->width;
    const bool decimal = piece->conversion == 'd' || piece->conversion == 'i';
    if (decimal && (negative || magnitude <= INT64_MAX)) {
        spell(piece, "ll", 'd', format);
        ga__strbuf_addf(out, format, width, piece->precision,
                        negative ? (long long)(0 - magnitude) : (long long)magnitude);
        return;
    }
    spell(piece, "ll", decimal ? 'u' : piece->conversion, format);
    if (!negative) {
        ga__strbuf_addf(out, format, width, piece->precision, (unsigned long long)magnitude);
        return;
    }
    text[0] = '-';
    snprintf(text + 1, sizeof text - 1, format, 0, piece->precision, (unsigned long long)magnitude);
    add_text(out, piece, text);
}

/* As many digits as read back as the number, at least 6, or of float64 15. */
static void add_shortest(ga__strbuf *out, const ga__text_piece *piece, ga_dtype dtype, double value)
{
    char text[NUMBER_SIZE];
    const int least = dtype == GA_FLOAT64 ? DBL_DIG : FLT_DIG;
    ga__decimal d = {.count = least};
    if (isfinite(value))
        ga__decimal_shortest(dtype, fabs(value), &d);
    snprintf(text, sizeof text, "%.*g", d.count > least ? d.count : least,
             isnan(value) ? fabs(value) : value);
    add_text(out, piece, text);
}

/* A float without its fraction. */
static ga_status add_truncated(ga__strbuf *out, const ga__text_piece *piece, double value)
{
    if (!(fabs(value) < 0x1p64))
        return ga__fail(GA_ERR_INVALID, "savetxt: %g is not an integer of 64 bits", value);
    add_integer(out, piece, value <= -1, (uint64_t)fabs(value));
    return GA_OK;
}

/* An integer or a truth. */
static void add_whole(ga__strbuf *out, const ga__text_piece *piece, ga_value number)
{
    ga__text_piece decimal = *piece;
    const char kind = ga__dtype_kind(number.dtype);
    const bool negative = kind == 'i' && number.as.i < 0;
    if (piece->conversion == 's')
        decimal.conversion = 'd';
    add_integer(out, &decimal, negative,
                negative      ? 0 - (uint64_t)number.as.i
                : kind == 'u' ? number.as.u
                              : (uint64_t)ga__number_int64(number));
}

ga_status ga__text_add_number(ga__strbuf *out, const ga__text_piece *piece, ga_value number)
{
    const char kind = ga__dtype_kind(number.dtype);
    const bool real = kind == 'f' || kind == 'c';
    const double value = ga__number_double(number);
    if (strchr(REALS, piece->conversion) && piece->conversion != 's')
        add_real(out, piece, value);
    else if (real && piece->conversion != 's')
        return add_truncated(out, piece, value);
    else if (real)
        add_shortest(out, piece, number.dtype, value);
    else
        add_whole(out, piece, number);
    return GA_OK;
}
