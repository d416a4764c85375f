/* Formats arrays as text like numpy.array2string with NumPy's default options. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/decimal.h"

/* numpy.get_printoptions() */
enum { PRECISION = 8, THRESHOLD = 1000, EDGE = 3, LINE_WIDTH = 75 };

enum { WORD_SIZE = 160 };

/* ---- Real numbers in columns ---- */

typedef struct real_format {
    ga_dtype dtype; /* determines the digits; GA_NO_DTYPE: six, and no column */
    bool plus;      /* also prints the sign of positive numbers */
    bool scientific;
    int precision; /* digits after the point, if scientific */
    int exponent_digits;
    int pad_left, pad_right; /* characters before and after the point */
} real_format;

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
static bool wants_scientific(ga_dtype dtype, const survey *s)
{
    const int digits = decimal_precision(dtype);

    if (s->greatest == 0)
        return false;
    return s->greatest >= pow(10, digits < PRECISION ? digits : PRECISION) ||
           s->least < ga__dtype_rounded(dtype, 1e-4) ||
           ga__dtype_rounded(dtype, s->greatest / s->least) > 1000;
}

/* The digits of x that a column shows: the shortest that identify it, at most PRECISION after the
 * point. */
static void column_digits(const real_format *f, double x, ga__decimal *d)
{
    ga__decimal_shortest(f->dtype, fabs(x), d);
    const int leading = f->scientific ? 1 : d->exponent + 1;
    if (d->count - leading > PRECISION) {
        ga__decimal_round(f->dtype, fabs(x), leading + PRECISION, d);
        ga__decimal_strip_zeros(d);
    }
}

static int sign_length(const real_format *f, double x)
{
    return signbit(x) || f->plus;
}

static void at_least(int *length, int other)
{
    if (other > *length)
        *length = other;
}

static void widen(real_format *f, double x)
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
static void complete_format(real_format *f, const survey *s)
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
static int write_real(const real_format *f, double x, char *word)
{
    char text[WORD_SIZE / 2];
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

typedef struct element_format {
    ga_dtype dtype;
    char kind;
    int width; /* of an integer */
    real_format re, im;
} element_format;

static int write_integer(char kind, ga_value number, int width, char *word)
{
    if (kind == 'u')
        return sprintf(word, "%*" PRIu64, width, number.as.u);
    return sprintf(word, "%*" PRId64, width, number.as.i);
}

static int write_element(const element_format *f, ga_value number, char *word)
{
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

static int write_lone_element(ga_dtype dtype, ga_value number, char *word)
{
    const char kind = ga__dtype_kind(dtype);
    const ga_dtype digits = ga__dtype_row_of(dtype)->digits;

    if (kind == 'b')
        return sprintf(word, "%s", ga__number_bool(number) ? "True" : "False");
    if (kind == 'f')
        return write_lone_real(digits, number.as.z[0], digits != GA_NO_DTYPE, false, word);
    if (kind == 'c')
        return write_lone_complex(digits, number.as.z, word);
    return write_integer(kind, number, 0, word);
}

/* The numbers to show: on the host, in C order. */
typedef struct sample {
    ga_dtype dtype;
    int64_t count;
    const char *elements;
} sample;

static ga_value sample_at(const sample *s, int64_t i)
{
    return ga__dtype_fetch(s->dtype, s->elements + i * (int64_t)ga__dtype_size(s->dtype));
}

/* Fits a format to the real (0) or imaginary (1) parts. */
static void fit_real(real_format *f, const sample *s, int part, bool plus)
{
    survey found = {false, false, false, 0, 0};

    memset(f, 0, sizeof *f);
    f->dtype = ga__dtype_row_of(s->dtype)->digits;
    f->plus = plus;
    if (f->dtype == GA_NO_DTYPE)
        return;
    for (int64_t i = 0; i < s->count; i++)
        survey_number(&found, sample_at(s, i).as.z[part]);
    f->scientific = found.any_finite && wants_scientific(f->dtype, &found);
    for (int64_t i = 0; i < s->count; i++)
        widen(f, sample_at(s, i).as.z[part]);
    complete_format(f, &found);
}

static void fit(element_format *f, const sample *s)
{
    char word[WORD_SIZE];

    f->dtype = s->dtype;
    f->kind = ga__dtype_kind(s->dtype);
    f->width = 0;
    if (f->kind == 'f' || f->kind == 'c')
        fit_real(&f->re, s, 0, false);
    if (f->kind == 'c')
        fit_real(&f->im, s, 1, true);
    if (f->kind == 'i' || f->kind == 'u') {
        for (int64_t i = 0; i < s->count; i++)
            at_least(&f->width, write_integer(f->kind, sample_at(s, i), 0, word));
    }
}

/* ---- Brackets and lines ---- */

typedef struct writer {
    const gpuarray *x;
    bool summarised;
    sample sample;
    int64_t next; /* the index in the sample */
    element_format format;
    ga__strbuf text;
} writer;

static void add_repeated(ga__strbuf *text, char c, int count)
{
    while (count-- > 0)
        ga__strbuf_add_bytes(text, &c, 1);
}

static void strip_blanks(ga__strbuf *text)
{
    while (!text->failed && text->length > 0 && text->text[text->length - 1] == ' ')
        text->length--;
}

/* Adds a word to the current line at `axis`, or to a new line; returns the line's length. */
static int add_word(writer *w, int axis, int line, const char *word, int length)
{
    const int indent = axis + 1, width = LINE_WIDTH - axis - 1;

    if (line + length > width && line > indent) {
        strip_blanks(&w->text);
        ga__strbuf_add(&w->text, "\n");
        add_repeated(&w->text, ' ', indent);
        line = indent;
    }
    ga__strbuf_add_bytes(&w->text, word, (size_t)length);
    return line + length;
}

static int add_blank(writer *w, int line)
{
    ga__strbuf_add(&w->text, " ");
    return line + 1;
}

static bool cuts_axis(const writer *w, int axis)
{
    return w->summarised && w->x->shape[axis] > 2 * EDGE;
}

static int64_t shown_length(const writer *w, int axis)
{
    return cuts_axis(w, axis) ? 2 * EDGE : w->x->shape[axis];
}

static void add_row(writer *w, int axis)
{
    const int64_t count = shown_length(w, axis);
    char word[WORD_SIZE];
    int line = axis + 1;

    for (int64_t i = 0; i < count; i++) {
        if (i == EDGE && cuts_axis(w, axis))
            line = add_blank(w, add_word(w, axis, line, "...", 3));
        const int length = write_element(&w->format, sample_at(&w->sample, w->next++), word);
        line = add_word(w, axis, line, word, length);
        if (i < count - 1)
            line = add_blank(w, line);
    }
}

/* Starts the next block of `axis` on a new line, after blank lines if the blocks have several
 * axes. */
static void start_block(writer *w, int axis)
{
    add_repeated(&w->text, '\n', w->x->ndim - axis - 1);
    add_repeated(&w->text, ' ', axis + 1);
}

static void add_block(writer *w, int axis)
{
    ga__strbuf_add(&w->text, "[");
    if (axis == w->x->ndim - 1) {
        add_row(w, axis);
    } else {
        for (int64_t i = 0; i < shown_length(w, axis) && !w->text.failed; i++) {
            if (i == EDGE && cuts_axis(w, axis)) {
                start_block(w, axis);
                ga__strbuf_add(&w->text, "...");
            }
            if (i > 0)
                start_block(w, axis);
            add_block(w, axis + 1);
        }
    }
    ga__strbuf_add(&w->text, "]");
}

/* ---- The elements to show ---- */

/* A view of the first and last EDGE elements of each longer axis. Such an axis becomes two axes, of
 * lengths 2 and EDGE; the first one's stride leads from one end to the other. */
static gpuarray *edges_of(const gpuarray *x)
{
    int64_t shape[2 * GA_MAX_NDIM], strides[2 * GA_MAX_NDIM];
    int ndim = 0;

    for (int axis = 0; axis < x->ndim; axis++) {
        const int64_t length = x->shape[axis], stride = x->strides[axis];
        const bool cuts = length > 2 * EDGE;
        if (length == 1)
            continue;
        if (cuts) {
            shape[ndim] = 2;
            strides[ndim++] = (length - EDGE) * stride;
        }
        shape[ndim] = cuts ? EDGE : length;
        strides[ndim++] = stride;
    }
    if (ndim > GA_MAX_NDIM)
        return ga__fail_null(GA_ERR_UNSUPPORTED, "format: shape %s has too many axes to show",
                             ga__shape_text(x->ndim, x->shape));
    return ga__array_view(x, x->dtype, ndim, shape, strides, 0);
}

/* Copies the elements of x that are shown to the host (ga__free it); NULL on failure. */
static void *take_sample(const gpuarray *x, bool summarised, sample *s)
{
    gpuarray *edges = summarised ? edges_of(x) : NULL;
    const gpuarray *shown = summarised ? edges : x;
    void *elements = shown ? ga__malloc(ga_nbytes(shown)) : NULL;

    if (elements && ga_to_host(shown, elements, ga_nbytes(shown)) != GA_OK) {
        ga__free(elements);
        elements = NULL;
    }
    s->dtype = x->dtype;
    s->count = ga_size(shown);
    s->elements = elements;
    ga_free(edges);
    return elements;
}

/* Adds the only element of a 0-d array: with all its digits, or formatted as a column of one. */
static void add_lone_element(writer *w, bool all_digits)
{
    const ga_value number = sample_at(&w->sample, 0);
    char word[WORD_SIZE];

    if (all_digits || ga__dtype_kind(w->x->dtype) == 'b')
        write_lone_element(w->x->dtype, number, word);
    else
        write_element(&w->format, number, word);
    ga__strbuf_add(&w->text, word);
}

/* Formats like numpy.array2string(), or like str(), which prints all digits of a single number. */
static char *text_of(const gpuarray *x, bool all_digits)
{
    writer w;

    memset(&w, 0, sizeof w);
    w.x = x;
    w.summarised = x->size > THRESHOLD;
    if (x->size == 0) {
        ga__strbuf_add(&w.text, "[]");
        return ga__strbuf_hand_out(&w.text);
    }
    void *elements = take_sample(x, w.summarised, &w.sample);
    if (!elements)
        return NULL;
    fit(&w.format, &w.sample);
    if (x->ndim == 0)
        add_lone_element(&w, all_digits);
    else
        add_block(&w, 0);
    ga__free(elements);
    return ga__strbuf_hand_out(&w.text);
}

char *ga_format(const gpuarray *x)
{
    return x ? text_of(x, false) : ga__fail_null(GA_ERR_INVALID, "format: the array is NULL");
}

ga_status ga_print(const gpuarray *x)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "print: the array is NULL");
    char reason[128], *text = text_of(x, true);
    if (!text)
        return ga_error();
    const bool written = fputs(text, stdout) >= 0 && fputc('\n', stdout) != EOF;
    const int error = errno;
    free(text);
    if (written)
        return GA_OK;
    return ga__fail(GA_ERR_IO, "print: standard output: %s",
                    strerror_r(error, reason, sizeof reason));
}
