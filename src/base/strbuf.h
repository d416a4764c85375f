/* A growing string whose error is sticky: append freely, check once. */
#ifndef GA_BASE_STRBUF_H
#define GA_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/export.h>

typedef struct ga__strbuf {
    char *text; /* NUL-terminated after the first append */
    size_t length, capacity;
    bool failed;
} ga__strbuf;

#define GA__STRBUF_INIT                                                                            \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

/* Makes room for nbytes more at once, which saves copies as the text grows. */
void ga__strbuf_reserve(ga__strbuf *s, size_t nbytes);
void ga__strbuf_add(ga__strbuf *s, const char *text);
void ga__strbuf_add_bytes(ga__strbuf *s, const void *bytes, size_t nbytes);
void ga__strbuf_addf(ga__strbuf *s, const char *format, ...) GA_PRINTF(2, 3);
void ga__strbuf_vaddf(ga__strbuf *s, const char *format, va_list args);

/* Hands the text to the caller (ga__free) and resets the buffer; NULL if an append failed. */
char *ga__strbuf_take(ga__strbuf *s);
void ga__strbuf_reset(ga__strbuf *s);

/* Like ga__strbuf_take(), for texts that the user frees: the memory comes from malloc() whatever
 * allocator the library uses. */
char *ga__strbuf_hand_out(ga__strbuf *s);

/* "(3, 4)", "(5,)", "()": a shape as Python writes it. */
void ga__strbuf_add_shape(ga__strbuf *s, int ndim, const int64_t *shape);

#endif
