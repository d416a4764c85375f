/* The tree of a parsed expression. */
#ifndef GA_EXPR_TEXT_AST_H
#define GA_EXPR_TEXT_AST_H

#include <quarry/array.h>

#include "model/rows.h"

#define GA__EVAL_TEXT 65536  /* bytes of an expression */
#define GA__EVAL_NODES 10000 /* its operands and operations */
#define GA__EVAL_DEPTH 200   /* nested parentheses, calls and prefixes */

#define GA__GATHER_INDICES 4 /* arrays of indices of one GATHER */
#define GA__AST_OPERANDS (1 + GA__GATHER_INDICES)

typedef enum ga__ast_kind {
    GA__AST_NUMBER,
    GA__AST_NAME,
    GA__AST_OPERATOR, /* applied to numbers only, it gives a number, as in Python */
    GA__AST_CALL,
    GA__AST_REDUCTION,
    GA__AST_CAST,
    GA__AST_VIEW,
    GA__AST_GATHER, /* operand 0 at the indices of the others, along an axis each */
    GA__AST_ROUND,  /* operand 0 to a number of decimals */
    GA__AST_PRODUCT /* a @ b */
} ga__ast_kind;

/* x[...], x.T, x.real and x.imag; and all elements in C order. */
typedef enum ga__view_kind {
    GA__VIEW_SLICE,
    GA__VIEW_TRANSPOSE,
    GA__VIEW_REAL,
    GA__VIEW_IMAG,
    GA__VIEW_RAVEL
} ga__view_kind;

/* How a GATHER was written, and where the axes of its indices go. */
typedef enum ga__gather_form {
    GA__GATHER_PARTS, /* x[i, j, :] and take(x, i, k): in the place of the first indexed axis */
    GA__GATHER_FRONT, /* x[i, :, j]: first */
    GA__GATHER_ALONG  /* take_along_axis(x, i, k): the indices have the other axes, too */
} ga__gather_form;

typedef struct ga__ast_node {
    ga__ast_kind kind;
    int row; /* OPERATOR, CALL, REDUCTION: a ga__row_id; CAST: a dtype; VIEW: its kind;
              * GATHER: a ga__gather_form; ROUND: the decimals */
    int operand[GA__AST_OPERANDS]; /* indices of earlier nodes */
    int nindices;                  /* of GATHER, and their axes, from the end if negative */
    int axis[GA__GATHER_INDICES];
    size_t at;     /* in the text */
    size_t length; /* of a name */
    ga_value number;
    int options;            /* of a reduction; of GATHER, 1: one array is alone in brackets, or
                             * begins them: it may be a mask; 2: alone */
    int first_part, nparts; /* of a slice: equal slices have the same parts */
} ga__ast_node;

/* The options after a reduction's operand. */
typedef struct ga__options {
    size_t at;
    int naxes; /* -1: every axis */
    int axis[GA_MAX_NDIM];
    bool keepdims;
    double ddof;
    ga_dtype dtype;     /* GA_NO_DTYPE: the reduction's own */
    int where, initial; /* their nodes, which are operands 1 and 2 too; -1: not given */
} ga__options;

/* A name that the text assigns: "t = x - 1;". */
typedef struct ga__local {
    size_t at, length;
    int node;
} ga__local;

/* The parsed tree. Every node comes after its operands. */
typedef struct ga__ast {
    const char *text; /* borrowed */
    bool fast_math;   /* kernels may approximate: ga_compile_fast_expr() */
    int root;         /* the node of the whole expression */
    int nnodes, node_capacity;
    ga__ast_node *nodes;
    int noptions, option_capacity;
    ga__options *options;
    int nparts, part_capacity;
    ga_range *parts; /* of all slices; unused bytes are 0 */
    int nlocals, local_capacity;
    ga__local *locals;
} ga__ast;

#endif
