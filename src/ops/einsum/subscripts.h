/* The subscripts of an einsum as text. */
#ifndef GA_OPS_EINSUM_SUBSCRIPTS_H
#define GA_OPS_EINSUM_SUBSCRIPTS_H

#include <stdbool.h>
#include <stddef.h>

#include <quarry/array.h>

/* The subscripts of one array: letters, among them at most one ellipsis. */
typedef struct ga__subscripts {
    int count;
    int ellipsis;              /* letters before it; -1: none */
    char letter[GA_MAX_NDIM];  /* without the ellipsis */
    size_t place[GA_MAX_NDIM]; /* of each letter in the text */
    size_t start, end;         /* of all in the text, without blanks around them */
    size_t ellipsis_place;
} ga__subscripts;

typedef struct ga__subscripts_parser {
    const char *text;
    size_t at;
} ga__subscripts_parser;

/* Reads the subscripts of one array up to a comma, "->" or the end, which it does not take.
 * GA_ERR_INVALID for what is no subscript. */
ga_status ga__subscripts_read(ga__subscripts_parser *p, ga__subscripts *s);

/* Takes the mark if it is next. */
bool ga__subscripts_accept(ga__subscripts_parser *p, const char *mark);

/* Raises "einsum: MESSAGE" with the text and a caret under its byte `at`. */
ga_status ga__subscripts_fail(const char *text, size_t at, ga_status status, const char *format,
                              ...) GA_PRINTF(4, 5);

#endif
