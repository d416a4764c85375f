/* Reads tables of numbers. */
#include <quarry/text.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/range.h"
#include "model/numbers.h"
#include "model/promote.h"
#include "ops/text/cells.h"
#include "ops/text/locale.h"

/* One call: the elements of the rows so far. */
typedef struct table {
    const ga_loadtxt_args *args;
    ga__cell_rules rules;
    ga_dtype dtype;
    char kind;
    size_t itemsize;
    char *elements; /* owned */
    size_t used, room;
    int64_t rows, columns; /* of the result */
    int64_t width;         /* cells of the first line */
} table;

/* ---- Numbers ---- */

/* A decimal float at the start of the text; hexadecimal ones are none. */
static bool read_float(const char *text, char **end, double *value)
{
    const char *digits = text + (*text == '+' || *text == '-');
    if (*text == ' ' || (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')))
        return false;
    *value = strtod(text, end);
    return *end != text && memchr(text, '(', (size_t)(*end - text)) == NULL;
}

static bool read_real(const char *text, ga_value *number)
{
    char *end;
    double value;
    if (!read_float(text, &end, &value) || *end)
        return false;
    *number = ga_value_floating(GA_FLOAT64, value, 0);
    return true;
}

/* "1", "2j", "1+2j", "1+-2j", and all of it in brackets. */
static bool read_complex(const char *text, ga_value *number)
{
    const size_t length = strlen(text);
    const bool bracketed = text[0] == '(' && text[length - 1] == ')';
    const char *const stop = text + length - (bracketed ? 1 : 0);
    double re, im = 0;
    char *end;
    if (!read_float(text + (bracketed ? 1 : 0), &end, &re))
        return false;
    if (*end == 'j') {
        im = re;
        re = 0;
        end++;
    } else if (end < stop) {
        char *const second = end + (end[0] == '+' && end[1] == '-');
        if ((*second != '+' && *second != '-') || !read_float(second, &end, &im) || *end != 'j')
            return false;
        end++;
    }
    *number = ga_value_floating(GA_COMPLEX128, re, im);
    return end == stop;
}

/* An integer of the dtype, or for bool of int64. */
static bool read_integer(const table *t, const char *text, ga_value *number)
{
    const char *digits = text + (*text == '+' || *text == '-');
    char *end;
    if (*digits < '0' || *digits > '9' || (t->kind == 'u' && *text == '-'))
        return false;
    errno = 0;
    *number = *text == '-' ? ga_value_signed(GA_INT64, strtoll(text, &end, 10))
                           : ga_value_unsigned(GA_UINT64, strtoull(text, &end, 10));
    return errno == 0 && !*end && ga__number_fits(*number, t->kind == 'b' ? GA_INT64 : t->dtype);
}

static bool read_number(const table *t, const char *text, ga_value *number)
{
    return t->kind == 'f'   ? read_real(text, number)
           : t->kind == 'c' ? read_complex(text, number)
                            : read_integer(t, text, number);
}

/* ---- Rows ---- */

static ga_status make_room(table *t)
{
    if (t->used + t->itemsize <= t->room)
        return GA_OK;
    const size_t room = t->room ? 2 * t->room : 4096;
    char *more = ga__realloc(t->elements, room);
    if (!more)
        return GA_ERR_MEMORY;
    t->elements = more;
    t->room = room;
    return GA_OK;
}

static ga_status add_number(table *t, const ga__text_reader *r, int64_t column)
{
    ga_value number;
    if (!read_number(t, r->cells[column], &number))
        return ga__fail(GA_ERR_FORMAT,
                        "loadtxt: %s:%lld: column %lld: expected %s, found \"%.40s\"", r->path,
                        r->line, (long long)column + 1, ga_dtype_name(t->dtype), r->cells[column]);
    if (make_room(t) != GA_OK)
        return GA_ERR_MEMORY;
    ga__dtype_store(t->dtype, number, t->elements + t->used);
    t->used += t->itemsize;
    return GA_OK;
}

static ga_status add_chosen(table *t, const ga__text_reader *r)
{
    for (int k = 0; k < t->args->nusecols; k++) {
        const int given = t->args->usecols[k];
        const int64_t column = given + (given < 0 ? r->ncells : 0);
        if (column < 0 || column >= r->ncells)
            return ga__fail(GA_ERR_FORMAT, "loadtxt: %s:%lld: column %d is out of range for %lld",
                            r->path, r->line, given, (long long)r->ncells);
        if (add_number(t, r, column) != GA_OK)
            return ga_error();
    }
    return GA_OK;
}

static ga_status add_all(table *t, const ga__text_reader *r)
{
    if (t->rows == 0)
        t->columns = r->ncells;
    if (r->ncells != t->columns)
        return ga__fail(GA_ERR_FORMAT, "loadtxt: %s:%lld: %lld columns, expected %lld", r->path,
                        r->line, (long long)r->ncells, (long long)t->columns);
    for (int64_t k = 0; k < r->ncells; k++)
        if (add_number(t, r, k) != GA_OK)
            return ga_error();
    return GA_OK;
}

static ga_status add_line(table *t, ga__text_reader *r, char *text)
{
    ga_status status = ga__text_divide(r, &t->rules, text);
    if (status != GA_OK || r->ncells == 0)
        return status;
    status = t->args->nusecols > 0 ? add_chosen(t, r) : add_all(t, r);
    t->rows++;
    return status;
}

static ga_status read_rows(table *t, ga__text_reader *r)
{
    const int64_t most = t->args->max_rows > 0 ? t->args->max_rows : INT64_MAX;
    char *text;
    ga_status status = GA_OK;
    while (t->rows < most && status == GA_OK && (status = ga__text_next(r, &text)) == GA_OK && text)
        if (r->line > t->args->skiprows)
            status = add_line(t, r, text);
    return status;
}

static ga_status read_file(table *t)
{
    GA__C_LOCALE;
    ga__text_reader r;
    ga_status status = ga__text_open(&r, t->args->path);
    if (status != GA_OK)
        return status;
    status = read_rows(t, &r);
    ga__text_close(&r);
    return status;
}

/* ---- Options ---- */

/* The one character of an option; 0 for NULL. */
static ga_status read_character(const char *what, const char *text, char *character)
{
    *character = text ? *text : 0;
    if (!text || (strlen(text) == 1 && *text != '\n' && *text != '\r'))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "loadtxt: %s \"%.40s\" is not one character", what, text);
}

static ga_status check_numbers(const ga_loadtxt_args *args)
{
    if (args->skiprows < 0 || args->max_rows < 0)
        return ga__fail(GA_ERR_INVALID, "loadtxt: %s is %lld, expected at least 0",
                        args->skiprows < 0 ? "skiprows" : "max_rows",
                        (long long)(args->skiprows < 0 ? args->skiprows : args->max_rows));
    if (args->nusecols < 0 || (args->nusecols > 0 && !args->usecols))
        return ga__fail(GA_ERR_INVALID, "loadtxt: %d columns%s", args->nusecols,
                        args->usecols ? "" : ", and the list is NULL");
    if (args->ndmin < 0 || args->ndmin > 2)
        return ga__fail(GA_ERR_INVALID, "loadtxt: ndmin is %d, expected 0, 1 or 2", args->ndmin);
    return GA_OK;
}

static ga_status begin(table *t)
{
    const ga_loadtxt_args *args = t->args;
    if (!args->path)
        return ga__fail(GA_ERR_INVALID, "loadtxt: the path is NULL");
    t->dtype = args->dtype ? args->dtype : GA_FLOAT64;
    if (!ga__not_recording("loadtxt") || ga__check_numeric("loadtxt", t->dtype) != GA_OK ||
        check_numbers(args) != GA_OK ||
        read_character("delimiter", args->delimiter, &t->rules.delimiter) != GA_OK ||
        read_character("quotechar", args->quotechar, &t->rules.quote) != GA_OK)
        return ga_error();
    t->rules.comments = args->comments ? args->comments : "#";
    t->kind = ga__dtype_kind(t->dtype);
    t->itemsize = ga__dtype_size(t->dtype);
    t->columns = args->nusecols > 0 ? args->nusecols : 1;
    return GA_OK;
}

/* ---- The result ---- */

/* Its shape: without axes of length 1, but with at least `ndmin` axes. */
static int result_shape(const table *t, int64_t *shape)
{
    int ndim = 0;
    const int64_t lengths[] = {t->rows, t->columns};
    for (int k = 0; k < 2; k++)
        if (t->args->ndmin == 2 || lengths[k] != 1)
            shape[ndim++] = lengths[k];
    if (ndim < t->args->ndmin)
        shape[ndim++] = 1;
    return ndim;
}

static gpuarray *make_result(const table *t)
{
    int64_t shape[2];
    const int ndim = result_shape(t, shape);
    gpuarray *x = ga__array_new("loadtxt", ga__current_device(), t->dtype, ndim, shape);
    if (x && ga__array_upload("loadtxt", x, 0, t->elements, t->used) != GA_OK) {
        ga_free(x);
        return NULL;
    }
    if (!x || !t->args->unpack)
        return x;
    gpuarray *columns = ga_transpose(x);
    ga_free(x);
    return columns;
}

gpuarray *(ga_loadtxt)(size_t size, const ga_loadtxt_args *args)
{
    GA__RANGE("loadtxt");
    ga_loadtxt_args known;
    table t = {.args = &known};
    if (ga__options_read("loadtxt", &known, sizeof known, args, size) != GA_OK ||
        begin(&t) != GA_OK)
        return NULL;
    gpuarray *x = read_file(&t) == GA_OK ? make_result(&t) : NULL;
    ga__free(t.elements);
    return x;
}
