/* The formats of numbers in text files. */
#ifndef GA_OPS_TEXT_FORMAT_H
#define GA_OPS_TEXT_FORMAT_H

#include "base/strbuf.h"
#include "model/dtype.h"

/* A conversion of a format, with the text before it. */
typedef struct ga__text_piece {
    const char *text;
    size_t length; /* of that text, in which "%%" stands for "%" */
    char flags[8]; /* of "-+ #0", each at most once */
    int width;     /* -1: none */
    int precision; /* -1: none */
    char conversion;
} ga__text_piece;

/* A format of some conversions. */
typedef struct ga__text_format {
    ga__text_piece *pieces; /* owned */
    int count;
    const char *rest; /* the text behind the last one */
} ga__text_format;

/* Reads a format, which must outlive the result. GA_ERR_INVALID for what is none. */
ga_status ga__text_format_read(ga__text_format *f, const char *text);
void ga__text_format_reset(ga__text_format *f);

/* Appends text of a format. */
void ga__text_add_plain(ga__strbuf *out, const char *text, size_t length);

/* Appends the number in the conversion, without the text before it. GA_ERR_INVALID for a number
 * that an integer conversion cannot write. */
ga_status ga__text_add_number(ga__strbuf *out, const ga__text_piece *piece, ga_value number);

#endif
