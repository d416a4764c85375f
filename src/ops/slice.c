/* Slices: NumPy's index syntax, and the views that it describes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "ops/slice.h"

/* The most parts of a valid slice: an index or a range for each axis, and a newaxis for each new
 * one. */
#define MAX_PARTS (2 * GA_MAX_NDIM + 1)

/* ---- The grammar ---- */

typedef struct reader {
    const char *text; /* the complete text, for messages */
    const char *at;
} reader;

static ga_status fail_syntax(const reader *r, const char *expected)
{
    return ga__fail(GA_ERR_INDEX, "slice: expected %s\n    %s\n    %*s^", expected, r->text,
                    (int)(r->at - r->text), "");
}

/* Unlike <ctype.h>'s, the same in every locale. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blanks(reader *r)
{
    while (is_blank(*r->at))
        r->at++;
}

/* Consumes the word if it comes next and is not the start of a longer one. */
static bool take_word(reader *r, const char *word)
{
    size_t length = 0;

    skip_blanks(r);
    for (; word[length]; length++) {
        if (r->at[length] != word[length])
            return false;
    }
    if (is_letter(word[0]) && (is_letter(r->at[length]) || is_digit(r->at[length])))
        return false;
    r->at += length;
    return true;
}

/* Consumes an integer; one outside 64 bits becomes the nearest that fits, as in Python's slices. */
static bool take_number(reader *r, int64_t *number)
{
    reader ahead = *r;
    int64_t value = 0;

    skip_blanks(&ahead);
    const bool negative = *ahead.at == '-';
    if (*ahead.at == '-' || *ahead.at == '+')
        ahead.at++;
    skip_blanks(&ahead);
    if (!is_digit(*ahead.at))
        return false;
    for (; is_digit(*ahead.at); ahead.at++) {
        const int digit = *ahead.at - '0';
        value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
    }
    *number = negative ? -value : value;
    *r = ahead;
    return true;
}

static bool take_none(reader *r)
{
    return take_word(r, "None") || take_word(r, "newaxis");
}

/* Consumes a bound after a colon: a number, or None or nothing for the default. */
static bool take_bound(reader *r, int64_t *number)
{
    if (take_number(r, number))
        return true;
    take_none(r);
    return false;
}

/* Reads the rest of a range; its start, if any, is already read. */
static void read_range(reader *r, ga_range *part)
{
    part->kind = 0;
    part->has_stop = take_bound(r, &part->stop);
    part->step = 1;
    if (take_word(r, ":"))
        take_bound(r, &part->step);
}

static ga_status read_part(reader *r, ga_range *part)
{
    memset(part, 0, sizeof *part);
    if (take_word(r, "...")) {
        part->kind = 3;
        return GA_OK;
    }
    const bool none = take_none(r);
    part->has_start = !none && take_number(r, &part->start);
    if (take_word(r, ":"))
        read_range(r, part);
    else if (none)
        part->kind = 2;
    else if (part->has_start)
        part->kind = 1;
    else
        return fail_syntax(r, "a number, ':', '...' or None");
    return GA_OK;
}

static ga_status read_slice(const char *text, ga_range *parts, int *count)
{
    reader r = {text, text};

    for (;;) {
        if (*count == MAX_PARTS)
            return ga__fail(GA_ERR_INDEX, "slice: more than %d parts in \"%s\"", MAX_PARTS, text);
        const ga_status status = read_part(&r, &parts[*count]);
        if (status != GA_OK)
            return status;
        ++*count;
        const bool more = take_word(&r, ",");
        skip_blanks(&r);
        if (*r.at == '\0')
            return GA_OK; /* also after a last comma, as in Python */
        if (!more)
            return fail_syntax(&r, "',' or the end");
    }
}

/* ---- The view ---- */

typedef struct builder {
    const char *name;               /* of the function, for messages */
    const int64_t *shape, *strides; /* of x */
    int axis;                       /* of x: the next axis to slice */
    ga__slice view;                 /* so far */
} builder;

static ga_status add_axis(builder *c, int64_t length, int64_t stride)
{
    if (c->view.ndim == GA_MAX_NDIM)
        return ga__fail(GA_ERR_INDEX, "%s: the result has more than %d dimensions", c->name,
                        GA_MAX_NDIM);
    c->view.shape[c->view.ndim] = length;
    c->view.strides[c->view.ndim++] = stride;
    return GA_OK;
}

/* Moves a bound into [low, high]; negative bounds count from the end. */
static int64_t clamp_bound(int64_t bound, int64_t length, int64_t low, int64_t high)
{
    if (bound < 0)
        bound += length;
    return bound < low ? low : bound > high ? high : bound;
}

/* Applies start:stop:step to one axis, like Python's slice.indices. */
static ga_status add_range(builder *c, const ga_range *part)
{
    const int64_t length = c->shape[c->axis], stride = c->strides[c->axis];
    const int64_t step = part->step < -INT64_MAX ? -INT64_MAX : part->step;
    int64_t count = 0;

    if (step == 0)
        return ga__fail(GA_ERR_INDEX, "%s: the step of axis %d is 0", c->name, c->axis);
    const bool down = step < 0;
    const int64_t low = down ? -1 : 0, high = down ? length - 1 : length;
    const int64_t first = down ? high : low, last = down ? low : high;
    const int64_t start = part->has_start ? clamp_bound(part->start, length, low, high) : first;
    const int64_t stop = part->has_stop ? clamp_bound(part->stop, length, low, high) : last;
    if (down && stop < start)
        count = (start - stop - 1) / -step + 1;
    if (!down && start < stop)
        count = (stop - start - 1) / step + 1;
    if (count > 0)
        c->view.offset += start * stride;
    c->axis++;
    /* With at most one element the product may overflow; the stride is unused then. */
    int64_t walked = stride;
    if (count > 0 && __builtin_mul_overflow(stride, step, &walked))
        walked = stride;
    return add_axis(c, count, walked);
}

static ga_status add_index(builder *c, int64_t index)
{
    const int64_t length = c->shape[c->axis];

    if (index < -length || index >= length)
        return ga__fail(GA_ERR_INDEX, "%s: index %lld is out of range for axis %d of length %lld",
                        c->name, (long long)index, c->axis, (long long)length);
    c->view.offset += (index < 0 ? index + length : index) * c->strides[c->axis];
    c->axis++;
    return GA_OK;
}

/* Takes the whole axes that an ellipsis stands for. */
static ga_status take_whole_axes(builder *c, int count)
{
    ga_status status = GA_OK;

    for (; count > 0 && status == GA_OK; count--, c->axis++)
        status = add_axis(c, c->shape[c->axis], c->strides[c->axis]);
    return status;
}

/* Counts the axes of x that the parts leave whole. */
static ga_status count_whole_axes(const builder *c, int ndim, int n, const ga_range *parts,
                                  int *whole)
{
    int used = 0, ellipses = 0;

    for (int i = 0; i < n; i++) {
        if (parts[i].kind < 0 || parts[i].kind > 3)
            return ga__fail(GA_ERR_INVALID, "%s: part %d has kind %d, expected 0 to 3", c->name,
                            i + 1, parts[i].kind);
        used += parts[i].kind <= 1;
        ellipses += parts[i].kind == 3;
    }
    if (ellipses > 1)
        return ga__fail(GA_ERR_INDEX, "%s: more than one ellipsis (%d)", c->name, ellipses);
    if (used > ndim)
        return ga__fail(GA_ERR_INDEX, "%s: too many indices: %d for shape %s", c->name, used,
                        ga__shape_text(ndim, c->shape));
    *whole = ndim - used;
    return GA_OK;
}

static ga_status add_part(builder *c, const ga_range *part, int whole)
{
    switch (part->kind) {
    case 0: return add_range(c, part);
    case 1: return add_index(c, part->start);
    case 2: return add_axis(c, 1, 0);
    default: return take_whole_axes(c, whole);
    }
}

static ga_status build(builder *c, int ndim, int n, const ga_range *parts)
{
    int whole = 0;

    c->axis = c->view.ndim = 0;
    c->view.offset = 0;
    ga_status status = count_whole_axes(c, ndim, n, parts, &whole);
    for (int i = 0; i < n && status == GA_OK; i++)
        status = add_part(c, &parts[i], whole);
    return status == GA_OK ? take_whole_axes(c, ndim - c->axis) : status;
}

ga_status ga__slice_make(const char *name, int ndim, const int64_t *shape, const int64_t *strides,
                         int n, const ga_range *parts, ga__slice *view)
{
    builder c;

    c.name = name;
    c.shape = shape;
    c.strides = strides;
    const ga_status status = build(&c, ndim, n, parts);
    if (status == GA_OK)
        *view = c.view;
    return status;
}

static gpuarray *make_view(const char *name, const gpuarray *x, int n, const ga_range *parts)
{
    ga__slice view;

    if (ga__slice_make(name, x->ndim, x->shape, x->strides, n, parts, &view) != GA_OK)
        return NULL;
    return ga__array_view(x, x->dtype, view.ndim, view.shape, view.strides, view.offset);
}

gpuarray *ga_slice_ranges(const gpuarray *x, int n, const ga_range *ranges)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "slice_ranges: the array is NULL");
    if (n < 0 || (n > 0 && !ranges))
        return ga__fail_null(GA_ERR_INVALID, "slice_ranges: %d parts%s", n,
                             ranges ? "" : ", but the list is NULL");
    return make_view("slice_ranges", x, n, ranges);
}

static gpuarray *slice_text(const gpuarray *x, const char *text)
{
    ga_range parts[MAX_PARTS];
    int count = 0;

    return read_slice(text, parts, &count) == GA_OK ? make_view("slice", x, count, parts) : NULL;
}

/* Formats the text into `small`, or into memory of its own if it is longer. */
static char *format_text(char *small, size_t room, const char *format, va_list args)
{
    va_list again;
    char *text = small;

    va_copy(again, args);
    const int length = vsnprintf(small, room, format, args);
    if (length < 0)
        text = ga__fail_null(GA_ERR_INVALID, "slice: the format \"%s\" cannot be printed", format);
    else if ((size_t)length >= room) {
        text = ga__malloc((size_t)length + 1);
        if (text)
            vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

gpuarray *ga_slice(const gpuarray *x, const char *format, ...)
{
    va_list numbers;

    va_start(numbers, format);
    gpuarray *view = ga_slice_v(x, format, numbers);
    va_end(numbers);
    return view;
}

gpuarray *ga_slice_v(const gpuarray *x, const char *format, va_list numbers)
{
    char small[128];

    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "slice: the array is NULL");
    if (!format)
        return ga__fail_null(GA_ERR_INVALID, "slice: the text is NULL");
    if (!strchr(format, '%'))
        return slice_text(x, format);
    char *text = format_text(small, sizeof small, format, numbers);
    if (!text)
        return NULL;
    gpuarray *view = slice_text(x, text);
    if (text != small)
        ga__free(text);
    return view;
}
