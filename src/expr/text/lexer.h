/* The tokens of an expression. */
#ifndef GA_EXPR_TEXT_LEXER_H
#define GA_EXPR_TEXT_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include <quarry/error.h>

#include "model/dtype.h"

typedef enum ga__token_kind {
    GA__TOKEN_END,
    GA__TOKEN_NUMBER,
    GA__TOKEN_NAME,
    GA__TOKEN_MARK
} ga__token_kind;

typedef struct ga__token {
    ga__token_kind kind;
    size_t at, length; /* in the text */
    ga_value number;
} ga__token;

typedef struct ga__lexer {
    const char *text;
    ga__token next; /* the next token to take */
} ga__lexer;

#define GA__LEXER_FAILED (-1)

/* Moves to the next token; returns 0, or GA__LEXER_FAILED with an error raised. */
int ga__lexer_advance(ga__lexer *l);

/* Whether the next token is this name or mark. */
bool ga__lexer_next_is(const ga__lexer *l, const char *text);

/* Takes the token if it is next. 1: taken; 0: not next; GA__LEXER_FAILED. */
int ga__lexer_accept(ga__lexer *l, const char *text);

/* Takes the token, which must be next. 0: taken; GA__LEXER_FAILED with an error raised. */
int ga__lexer_expect(ga__lexer *l, const char *text);

/* Raises GA_ERR_INVALID at byte `at` of the text; returns GA__LEXER_FAILED. */
int ga__lexer_fail(const ga__lexer *l, size_t at, const char *what);

/* Whether the name is one of the first `nwords` words of the language. */
bool ga__lexer_is_word(const char *name, size_t length, size_t nwords);

/* Whether an expression can use the name for an operand. */
bool ga__eval_is_name(const char *name);
bool ga__eval_names(const char *name, size_t length);

/* Raises "eval: MESSAGE" with the line of the text and a caret under its byte `at`. */
ga_status ga__eval_fail(const char *text, size_t at, ga_status status, const char *format, ...)
    GA_PRINTF(4, 5);

#endif
