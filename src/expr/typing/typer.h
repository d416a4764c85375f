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

/* The reduction or scan of the ast's node, and the product of two matrices. */
int ga__typer_reduce(ga__typer *t, int operand);
int ga__typer_multiply(ga__typer *t, const int *operand);

/* The elements of a value at the indices of others, along the axes of the ast's node; and a value
 * rounded to its number of decimals. */
int ga__typer_gather(ga__typer *t, const int *operand);
int ga__typer_round(ga__typer *t, int operand);

#endif
