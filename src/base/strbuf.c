/* Grows strings; after the first failed append, later ones do nothing. */
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FIRST_CAPACITY = 128 };

/* Makes room for nbytes more and the terminator. */
static bool reserve(ga__strbuf *s, size_t nbytes)
{
    if (s->failed)
        return false;
    if (nbytes < s->capacity - s->length)
        return true;
    if (nbytes >= SIZE_MAX / 2 - s->length) {
        ga__fail(GA_ERR_MEMORY, "memory: a text of %zu + %zu bytes is too long", s->length, nbytes);
        s->failed = true;
        return false;
    }
    size_t capacity = s->capacity ? s->capacity : FIRST_CAPACITY;
    while (capacity - s->length <= nbytes)
        capacity *= 2;
    char *text = ga__realloc(s->text, capacity);
    s->failed = !text;
    if (!text)
        return false;
    s->text = text;
    s->capacity = capacity;
    return true;
}

void ga__strbuf_reserve(ga__strbuf *s, size_t nbytes)
{
    (void)reserve(s, nbytes);
}

void ga__strbuf_add_bytes(ga__strbuf *s, const void *bytes, size_t nbytes)
{
    if (!reserve(s, nbytes))
        return;
    if (nbytes)
        memcpy(s->text + s->length, bytes, nbytes);
    s->length += nbytes;
    s->text[s->length] = '\0';
}

void ga__strbuf_add(ga__strbuf *s, const char *text)
{
    ga__strbuf_add_bytes(s, text, strlen(text));
}

void ga__strbuf_vaddf(ga__strbuf *s, const char *format, va_list args)
{
    va_list again;

    if (!reserve(s, FIRST_CAPACITY / 2))
        return;
    va_copy(again, args);
    const size_t room = s->capacity - s->length;
    const int length = vsnprintf(s->text + s->length, room, format, args);
    if (length < 0) {
        ga__fail(GA_ERR_INVALID, "format: cannot format \"%s\"", format);
        s->failed = true;
    } else if ((size_t)length >= room && reserve(s, (size_t)length)) {
        vsnprintf(s->text + s->length, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (s->failed)
        s->text[s->length] = '\0';
    else
        s->length += (size_t)length;
}

void ga__strbuf_addf(ga__strbuf *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ga__strbuf_vaddf(s, format, args);
    va_end(args);
}

char *ga__strbuf_take(ga__strbuf *s)
{
    ga__strbuf_add_bytes(s, "", 0); /* an empty text is valid */
    if (s->failed) {
        ga__strbuf_reset(s);
        return NULL;
    }
    char *text = s->text;
    s->text = NULL;
    ga__strbuf_reset(s);
    return text;
}

char *ga__strbuf_hand_out(ga__strbuf *s)
{
    char *copy = NULL;

    ga__strbuf_add_bytes(s, "", 0); /* an empty text is valid */
    if (!s->failed) {
        copy = ga__alloc_fails() ? NULL : malloc(s->length + 1);
        if (copy)
            memcpy(copy, s->text, s->length + 1);
        else
            ga__fail(GA_ERR_MEMORY, "memory: out of host memory: %zu bytes", s->length + 1);
    }
    ga__strbuf_reset(s);
    return copy;
}

void ga__strbuf_reset(ga__strbuf *s)
{
    ga__free(s->text);
    *s = (ga__strbuf)GA__STRBUF_INIT;
}

void ga__strbuf_add_shape(ga__strbuf *s, int ndim, const int64_t *shape)
{
    ga__strbuf_add(s, "(");
    for (int k = 0; k < ndim; k++)
        ga__strbuf_addf(s, k ? ", %" PRId64 : "%" PRId64, shape[k]);
    ga__strbuf_add(s, ndim == 1 ? ",)" : ")");
}
