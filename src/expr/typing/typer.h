/* What the files that type expressions share: an expression on its way to a graph. */
#ifndef GA_EXPR_TYPER_H
#define GA_EXPR_TYPER_H

#include "expr/type.h"

#define GA__TYPER_FAILED (-1)

typedef struct ga__typer {
    ga__graph *graph;
    const ga__ast *ast;
    const ga__ast_node *ast_node; /* the node being typed */
    int count;
    const ga_named *args;
    bool had_error; /* before this call: it stays the thread's error */
} ga__typer;

static inline ga__node *ga__typer_node(const ga__typer *t, int k)
{
    return &t->graph->nodes[k];
}

/* Raise an error that shows the place: a new one, and one that a called function has raised. */
int ga__typer_fail(const ga__typer *t, ga_status status, const char *what);
int ga__typer_fail_here(const ga__typer *t);

/* Adds a value. No value is larger than an array may be, although most are not stored. Returns its
 * node, as the following functions do, or GA__TYPER_FAILED. */
int ga__typer_add_node(ga__typer *t, const ga__node_key *key, ga_dtype dtype, int ndim,
                       const int64_t *shape);

/* The node converted to this dtype. */
int ga__typer_convert(ga__typer *t, int k, ga_dtype dtype);

/* A row of the tables applied to values. */
int ga__typer_apply(ga__typer *t, int row_id, const int *operand);

/* The shape that the values have together; returns its number of axes, or GA__TYPER_FAILED. */
int ga__typer_broadcast(const ga__typer *t, int inputs, const int *operand, int64_t *shape);

/* A number as an operand of this dtype. */
int ga__typer_number(ga__typer *t, ga_value number, ga_dtype dtype);

/* The reduction or scan of the ast's node. */
int ga__typer_reduce(ga__typer *t, const int *operand);

/* A reduction of this row over the axes of the ast's node, with `given` as its option dtype=.
 * may_be_empty: an initial element joins the result. */
int ga__typer_reduce_row(ga__typer *t, int row_id, int operand, ga_dtype given, bool may_be_empty);

/* The dtype in which the row computes, with `given` as its option dtype=. */
ga_status ga__typer_loop(const ga__row *op, ga_dtype given, ga_dtype dtype, ga_dtype *loop);

/* The same of the elements that operand 1 chooses, with operand 2 as the initial element, if the
 * options have them. */
int ga__typer_reduce_chosen(ga__typer *t, const int *operand);

/* Whether a reduction of the row may choose elements. */
bool ga__typer_chooses(int row);

/* Raises that a selection does not go here. */
int ga__typer_fail_selection(const ga__typer *t);

/* Replaces operands of a function of single elements that are selections by what they select from.
 * *selection is one of them, or GA__TYPER_FAILED if there is none; the result of the function then
 * becomes the selection from it. False and an error unless all have one mask. */
bool ga__typer_enter_selection(const ga__typer *t, int inputs, int *operand, int *selection);
int ga__typer_leave_selection(ga__typer *t, int selection, int result);

/* Whether the ast's node reduces the selection, by a row that takes a mask. */
bool ga__typer_reduces_selection(const ga__typer *t, int operand);

/* The product of two matrices. */
int ga__typer_multiply(ga__typer *t, const int *operand);

/* The elements of a value at the indices of others, along the axes of the ast's node; and a value
 * rounded to its number of decimals. */
int ga__typer_gather(ga__typer *t, const int *operand);
int ga__typer_round(ga__typer *t, int operand);

#endif
