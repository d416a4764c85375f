/* A scanner of C++ tokens: enough to find names and brackets in users' sources. */
#ifndef GA_BASE_CXX_TOKEN_H
#define GA_BASE_CXX_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ga__token_kind {
    GA__TOKEN_END,
    GA__TOKEN_WORD,
    GA__TOKEN_NUMBER,
    GA__TOKEN_STRING,  /* a string or character literal, with its prefix */
    GA__TOKEN_MARK,    /* punctuation: one character, or one of the scanner's marks */
    GA__TOKEN_LINE_END /* in a directive */
} ga__token_kind;

typedef struct ga__token {
    ga__token_kind kind;
    const char *text; /* in the source */
    size_t length;
    bool line_start; /* the first token of its line */
} ga__token;

/* Starts as {.at = text, .line_start = true}. */
typedef struct ga__scanner {
    const char *at;
    const char *const *marks; /* punctuation of several characters, longest first; NULL ends it */
    bool line_start;          /* no token on this line yet */
    bool in_directive;        /* the caller is in a # line: its end is a token */
} ga__scanner;

/* The next token. Skips blanks, comments and continued line ends. A literal that is not closed ends
 * with its line. */
ga__token ga__scan(ga__scanner *s);

/* Whether the token has exactly this text. */
bool ga__token_is(ga__token t, const char *text);

#endif
