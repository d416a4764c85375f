/* Parses the text of an expression into a tree, within limits, or reports the place of the
 * error. */
#ifndef GA_EXPR_PARSE_H
#define GA_EXPR_PARSE_H

#include <quarry/array.h>

#include "expr/lexer.h"
#include "model/rows.h"

#define GA__EVAL_TEXT 65536  /* bytes of an expression */
#define GA__EVAL_NODES 10000 /* its operands and operations */
#define GA__EVAL_DEPTH 200   /* nested parentheses, calls and prefixes */

typedef enum ga__ast_kind {
    GA__AST_NUMBER,
    GA__AST_NAME,
    GA__AST_OPERATOR, /* applied to numbers only, it gives a number, as in Python */
    GA__AST_CALL,
    GA__AST_REDUCTION,
    GA__AST_CAST
} ga__ast_kind;

typedef struct ga__ast_node {
    ga__ast_kind kind;
    int row;        /* OPERATOR, CALL, REDUCTION: a ga__row_id; CAST: a dtype */
    int operand[3]; /* indices of earlier nodes */
    size_t at;      /* in the text */
    size_t length;  /* of a name */
    ga_value number;
    int options; /* of a reduction */
} ga__ast_node;

/* The options after a reduction's operand. */
typedef struct ga__options {
    size_t at;
    int naxes; /* -1: every axis */
    int axis[GA_MAX_NDIM];
    bool keepdims;
    double ddof;
} ga__options;

/* The parsed tree. Every node comes after its operands; the last one is the whole expression. */
typedef struct ga__ast {
    const char *text; /* borrowed */
    bool fast_math;   /* kernels may approximate: ga_compile_fast_expr() */
    int nnodes, node_capacity;
    ga__ast_node *nodes;
    int noptions, option_capacity;
    ga__options *options;
} ga__ast;

/* GA_ERR_INVALID shows the place. After a failure there is nothing to free. */
ga_status ga__ast_parse(ga__ast *ast, const char *text);
void ga__ast_reset(ga__ast *ast);

#endif
