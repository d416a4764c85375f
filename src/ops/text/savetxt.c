/* Writes tables of numbers. */
#include <quarry/text.h>

#include <string.h>

#include "array/array.h"
#include "array/staging.h"
#include "base/error.h"
#include "base/options.h"
#include "base/os/replacement.h"
#include "base/os/system.h"
#include "base/range.h"
#include "model/promote.h"
#include "ops/text/locale.h"
#include "ops/text/text_format.h"

/* Bytes that are written together. */
#define MOST_HELD ((size_t)1 << 16)

/* One call. */
typedef struct writer {
    const ga_savetxt_args *args;
    const char *delimiter, *newline, *comments;
    ga__text_format format;
    bool whole_rows; /* the format is that of a row */
    int64_t columns;
    int64_t next;        /* the column of the next element */
    int64_t done, total; /* bytes of elements */
    ga_dtype dtype;
    bool complex;
    ga__replacement file;
    ga__strbuf text; /* not yet written */
} writer;

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

/* ---- The file ---- */

static ga_status flush(writer *w)
{
    char reason[128];
    if (w->text.failed)
        return GA_ERR_MEMORY;
    const int error = ga__write_all(w->file.fd, w->text.text, w->text.length);
    w->text.length = 0;
    return error ? ga__fail(GA_ERR_IO, "savetxt: %s: %s", w->args->path,
                            strerror_r(error, reason, sizeof reason))
                 : GA_OK;
}

/* A header or a footer, each of its lines a comment. */
static void add_comment(writer *w, const char *text)
{
    if (!text)
        return;
    ga__strbuf_add(&w->text, w->comments);
    for (; *text; text++) {
        ga__strbuf_add_bytes(&w->text, text, 1);
        if (*text == '\n')
            ga__strbuf_add(&w->text, w->comments);
    }
    ga__strbuf_add(&w->text, w->newline);
}

/* ---- Rows ---- */

static void add_before(writer *w, const ga__text_piece *piece)
{
    ga__text_add_plain(&w->text, piece->text, piece->length);
}

static void add_rest(writer *w)
{
    ga__text_add_plain(&w->text, w->format.rest, strlen(w->format.rest));
}

/* A part of a complex number as a number of its own. */
static ga_value part_of(const writer *w, ga_value number, int part)
{
    const ga_dtype dtype = w->dtype == GA_COMPLEX64 ? GA_FLOAT32 : GA_FLOAT64;
    return ga_value_floating(dtype, number.as.z[part], 0);
}

/* A real number in the one format. */
static ga_status add_alone(writer *w, ga_value number)
{
    add_before(w, w->format.pieces);
    const ga_status status = ga__text_add_number(&w->text, w->format.pieces, number);
    add_rest(w);
    return status;
}

/* " (re+imj)". The sign of a negative imaginary part replaces the plus. */
static ga_status add_pair(writer *w, ga_value number)
{
    ga__strbuf_add(&w->text, " (");
    ga_status status = add_alone(w, part_of(w, number, 0));
    ga__strbuf_add(&w->text, "+");
    const size_t sign = w->text.length;
    if (status == GA_OK)
        status = add_alone(w, part_of(w, number, 1));
    if (!w->text.failed && w->text.length > sign && w->text.text[sign] == '-') {
        memmove(w->text.text + sign - 1, w->text.text + sign, w->text.length - sign + 1);
        w->text.length--;
    }
    ga__strbuf_add(&w->text, "j)");
    return status;
}

/* A number, or both parts of one, in the format of a row. */
static ga_status add_in_row(writer *w, ga_value number)
{
    const int parts = w->complex ? 2 : 1;
    const ga__text_piece *piece = &w->format.pieces[w->next * parts];
    for (int k = 0; k < parts; k++) {
        add_before(w, &piece[k]);
        const ga_status status =
            ga__text_add_number(&w->text, &piece[k], w->complex ? part_of(w, number, k) : number);
        if (status != GA_OK)
            return status;
    }
    if (w->next + 1 == w->columns)
        add_rest(w);
    return GA_OK;
}

static ga_status add_element(writer *w, ga_value number)
{
    if (w->next > 0 && !w->whole_rows)
        ga__strbuf_add(&w->text, w->delimiter);
    const ga_status status = w->whole_rows ? add_in_row(w, number)
                             : w->complex  ? add_pair(w, number)
                                           : add_alone(w, number);
    if (++w->next == w->columns) {
        w->next = 0;
        ga__strbuf_add(&w->text, w->newline);
    }
    return status;
}

/* Writes what is held, and asks the program whether to go on. */
static ga_status write_held(writer *w)
{
    const ga_savetxt_args *args = w->args;
    const ga_status status = flush(w);
    if (status != GA_OK || !args->progress || args->progress(w->done, w->total, args->user))
        return status;
    return ga__fail(GA_ERR_CANCELLED, "savetxt: stopped after %lld of %lld bytes",
                    (long long)w->done, (long long)w->total);
}

static ga_status write_elements(void *context, const void *bytes, size_t nbytes)
{
    writer *w = context;
    const size_t itemsize = ga__dtype_size(w->dtype);
    ga_status status = GA_OK;
    for (size_t at = 0; at < nbytes && status == GA_OK; at += itemsize) {
        status = add_element(w, ga__dtype_fetch(w->dtype, (const char *)bytes + at));
        w->done += (int64_t)itemsize;
        if (status == GA_OK && w->text.length >= MOST_HELD)
            status = write_held(w);
    }
    return status;
}

static ga_status write_rows(writer *w, const gpuarray *x)
{
    ga__staging staging;
    for (int64_t k = 0; k < x->shape[0] && w->columns == 0; k++)
        ga__strbuf_add(&w->text, w->newline);
    if (ga__staging_init(&staging, x->buffer->device, ga_nbytes(x)) != GA_OK)
        return ga_error();
    const ga_status status = ga__staging_out(&staging, x, 0, ga_nbytes(x), write_elements, w);
    ga__staging_reset(&staging);
    return status;
}

static ga_status write_file(writer *w, const gpuarray *x)
{
    GA__C_LOCALE;
    if (ga__replacement_open(&w->file, "savetxt: ", w->args->path) != GA_OK)
        return ga_error();
    add_comment(w, w->args->header);
    ga_status status = write_rows(w, x);
    add_comment(w, w->args->footer);
    if (status == GA_OK)
        status = flush(w);
    if (status == GA_OK)
        return ga__replacement_commit(&w->file);
    ga__replacement_discard(&w->file);
    return status;
}

/* ---- Options ---- */

/* Whether all conversions of the format write numbers of the dtype. */
static ga_status check_conversions(const writer *w)
{
    const char kind = ga__dtype_kind(w->dtype);
    for (int k = 0; k < w->format.count && (kind == 'f' || kind == 'c'); k++)
        if (strchr("xXo", w->format.pieces[k].conversion))
            return ga__fail(GA_ERR_DTYPE, "savetxt: \"%%%c\" does not write %s",
                            w->format.pieces[k].conversion, ga_dtype_name(w->dtype));
    return GA_OK;
}

static ga_status read_format(writer *w)
{
    const int64_t all = w->columns * (w->complex ? 2 : 1);
    if (ga__text_format_read(&w->format, text_or(w->args->fmt, "%.18e")) != GA_OK)
        return ga_error();
    w->whole_rows = w->format.count != 1;
    if (w->whole_rows && w->format.count != all)
        return ga__fail(GA_ERR_INVALID,
                        "savetxt: the format has %d conversions, expected 1 or %lld",
                        w->format.count, (long long)all);
    return check_conversions(w);
}

static ga_status begin(writer *w)
{
    const ga_savetxt_args *args = w->args;
    const gpuarray *x = args->x;
    if (!x || !args->path)
        return ga__fail(GA_ERR_INVALID, "savetxt: the %s is NULL", x ? "path" : "array");
    if (x->ndim < 1 || x->ndim > 2)
        return ga__fail(GA_ERR_SHAPE, "savetxt: the array has %d dimensions, expected 1 or 2",
                        x->ndim);
    if (!ga__not_recording("savetxt") || ga__check_numeric("savetxt", x->dtype) != GA_OK)
        return ga_error();
    w->dtype = x->dtype;
    w->total = (int64_t)ga_nbytes(x);
    w->complex = ga__dtype_kind(x->dtype) == 'c';
    w->columns = x->ndim == 2 ? x->shape[1] : 1;
    w->delimiter = text_or(args->delimiter, " ");
    w->newline = text_or(args->newline, "\n");
    w->comments = text_or(args->comments, "# ");
    return read_format(w);
}

ga_status(ga_savetxt)(size_t size, const ga_savetxt_args *args)
{
    GA__RANGE("savetxt");
    ga_savetxt_args known;
    writer w = {.args = &known, .text = GA__STRBUF_INIT};
    ga_status status = ga__options_read("savetxt", &known, sizeof known, args, size);
    if (status == GA_OK)
        status = begin(&w);
    gpuarray *rows = status != GA_OK       ? NULL
                     : known.x->contiguous ? ga_retain((gpuarray *)known.x)
                                           : ga_copy(known.x);
    if (status == GA_OK)
        status = rows ? write_file(&w, rows) : ga_error();
    ga_free(rows);
    ga__text_format_reset(&w.format);
    ga__strbuf_reset(&w.text);
    return status;
}
