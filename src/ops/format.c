/* Formats arrays as text like numpy.array2string. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/os/fork.h"
#include "base/strbuf.h"
#include "ops/format_number.h"

/* ---- Options ---- */

/* numpy.get_printoptions() */
static const ga_print_options defaults = {
    .precision = 8, .threshold = 1000, .edgeitems = 3, .linewidth = 75};

static pthread_mutex_t options_lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&options_lock, GA__FORK_LEAF, NULL)
static ga_print_options options; /* as the program set them: zeros are defaults */

static ga_print_options current_options(void)
{
    pthread_mutex_lock(&options_lock);
    ga_print_options o = options;
    pthread_mutex_unlock(&options_lock);
    if (o.precision <= 0)
        o.precision = o.precision < 0 ? 0 : defaults.precision;
    if (o.threshold == 0)
        o.threshold = defaults.threshold;
    if (o.edgeitems == 0)
        o.edgeitems = defaults.edgeitems;
    if (o.linewidth == 0)
        o.linewidth = defaults.linewidth;
    return o;
}

ga_status(ga_set_print_options)(size_t size, const ga_print_options *given)
{
    ga_print_options o;
    const ga_status status = ga__options_read("set_print_options", &o, sizeof o, given, size);
    if (status != GA_OK)
        return status;
    if (o.threshold < 0 || o.edgeitems < 0 || o.linewidth < 0)
        return ga__fail(GA_ERR_INVALID,
                        "set_print_options: threshold %lld, edgeitems %d or linewidth %d is "
                        "negative",
                        (long long)o.threshold, o.edgeitems, o.linewidth);
    pthread_mutex_lock(&options_lock);
    options = o;
    pthread_mutex_unlock(&options_lock);
    return GA_OK;
}

/* ---- Brackets and lines ---- */

typedef struct writer {
    const gpuarray *x;
    bool summarised;
    ga_print_options options;
    ga__sample sample;
    int64_t next; /* the index in the ga__sample */
    ga__element_format format;
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
    const int indent = axis + 1, width = w->options.linewidth - axis - 1;

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
    return w->summarised && w->x->shape[axis] > 2 * (int64_t)w->options.edgeitems;
}

static int64_t shown_length(const writer *w, int axis)
{
    return cuts_axis(w, axis) ? 2 * (int64_t)w->options.edgeitems : w->x->shape[axis];
}

static void add_row(writer *w, int axis)
{
    const int64_t count = shown_length(w, axis);
    char word[GA__WORD_SIZE];
    int line = axis + 1;

    for (int64_t i = 0; i < count; i++) {
        if (i == w->options.edgeitems && cuts_axis(w, axis))
            line = add_blank(w, add_word(w, axis, line, "...", 3));
        const int length =
            ga__write_element(&w->format, ga__sample_at(&w->sample, w->next++), word);
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
            if (i == w->options.edgeitems && cuts_axis(w, axis)) {
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

/* A view of the first and last `edge` elements of each longer axis. Such an axis becomes two axes,
 * of lengths 2 and `edge`; the first one's stride leads from one end to the other. */
static gpuarray *edges_of(const gpuarray *x, int64_t edge)
{
    int64_t shape[2 * GA_MAX_NDIM], strides[2 * GA_MAX_NDIM];
    int ndim = 0;

    for (int axis = 0; axis < x->ndim; axis++) {
        const int64_t length = x->shape[axis], stride = x->strides[axis];
        const bool cuts = length > 2 * edge;
        if (length == 1)
            continue;
        if (cuts) {
            shape[ndim] = 2;
            strides[ndim++] = (length - edge) * stride;
        }
        shape[ndim] = cuts ? edge : length;
        strides[ndim++] = stride;
    }
    if (ndim > GA_MAX_NDIM)
        return ga__fail_null(GA_ERR_UNSUPPORTED, "format: shape %s has too many axes to show",
                             ga__shape_text(x->ndim, x->shape));
    return ga__array_view(x, x->dtype, ndim, shape, strides, 0);
}

/* Copies the elements of x that are shown to the host (ga__free it); NULL on failure. */
/* An edge of 0 elements stands for all of them. */
static void *take_sample(const gpuarray *x, int64_t edge, ga__sample *s)
{
    gpuarray *edges = edge ? edges_of(x, edge) : NULL;
    const gpuarray *shown = edge ? edges : x;
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
    const ga_value number = ga__sample_at(&w->sample, 0);
    char word[GA__WORD_SIZE];

    if (all_digits || ga__dtype_kind(w->x->dtype) == 'b')
        ga__write_lone_element(w->x->dtype, number, word);
    else
        ga__write_element(&w->format, number, word);
    ga__strbuf_add(&w->text, word);
}

/* Formats like numpy.array2string(), or like str(), which prints all digits of a single number. */
static char *text_of(const gpuarray *x, bool all_digits)
{
    writer w;

    memset(&w, 0, sizeof w);
    w.x = x;
    w.options = current_options();
    w.summarised = x->size > w.options.threshold;
    if (x->size == 0) {
        ga__strbuf_add(&w.text, "[]");
        return ga__strbuf_hand_out(&w.text);
    }
    void *elements = take_sample(x, w.summarised ? w.options.edgeitems : 0, &w.sample);
    if (!elements)
        return NULL;
    ga__element_format_fit(&w.format, &w.sample, &w.options);
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
