/* What the files of the parser share. */
#ifndef GA_EXPR_TEXT_PARSER_H
#define GA_EXPR_TEXT_PARSER_H

#include "expr/text/ast.h"
#include "expr/text/lexer.h"

typedef struct ga__parser {
    ga__ast *ast;
    ga__lexer lexer;
    int depth;
} ga__parser;

#define GA__PARSE_FAILED GA__LEXER_FAILED /* a node that could not be made */

/* Marks functions with large frames that run between two levels of an expression: inlined, they
 * would make the frame of each level as large. */
#define GA__PARSE_LEAF __attribute__((noinline))

/* Twice the room for a list; NULL on failure. */
void *ga__parser_grow(void *items, int *capacity, size_t size);

/* Adds a node; returns its index, or GA__PARSE_FAILED. */
int ga__parser_add(ga__parser *p, ga__ast_node node);

/* Parses a whole expression; returns its node. */
int ga__parse_expression(ga__parser *p);

/* Parses the rest of NAME(...); the name and the parenthesis are taken already. */
int ga__parse_call(ga__parser *p, size_t at, size_t length);

/* Parses the [...] and .T that follow an operand; returns the node of the view. */
int ga__parse_views(ga__parser *p, int operand);

#endif
