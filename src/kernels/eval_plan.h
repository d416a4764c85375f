/* From a graph of values to the fewest kernels that compute its root. */
#ifndef GA_KERNELS_EVAL_PLAN_H
#define GA_KERNELS_EVAL_PLAN_H

#include "kernels/eval_type.h"
#include "kernels/reduce.h"

/* Operations on numbers that are arguments, computed before each run. */
#define GA__MAX_VARYING 256

typedef enum ga__origin { GA__FROM_ARGUMENT, GA__FROM_STEP, GA__FROM_NUMBER } ga__origin;

/* An operand of a kernel. */
typedef struct ga__input {
    ga__origin source;
    int index; /* of the argument, the step, or the weak node */
    int node;
    ga_dtype dtype;
    char name[8];
} ga__input;

/* One kernel. */
typedef struct ga__step {
    bool reduces;
    int node;   /* the value it leaves */
    int domain; /* the value whose shape it goes through: of a reduction, its operand */
    int ninputs;
    ga__input *inputs;
    char *body;   /* of an elementwise kernel: statements that set `r` */
    char *map;    /* of a reduction: its step with what leads to `x` */
    char *finish; /* of a reduction: its finish with what follows */
    char formula_name[32];
    uint64_t id;
    const ga__reduce_op *op;
    ga_dtype loop, result;
    uint32_t axes;
    bool keepdims;
    double ddof;
} ga__step;

typedef struct ga__plan {
    ga__graph graph;
    int nvarying;
    int varying[GA__MAX_VARYING]; /* weak nodes, operands first */
    int nsteps;                   /* 0: the root is a weak number */
    ga__step *steps;              /* the last one leaves the root */
} ga__plan;

/* Takes the graph over, whatever happens. NULL and GA_ERR_UNSUPPORTED for a kernel of more operands
 * than the engines take; GA_ERR_MEMORY. */
ga__plan *ga__plan_new(ga__graph *graph);
void ga__plan_free(ga__plan *plan);

/* Writes the texts, inputs and id of a step that computes `node`, which for a reduction may be what
 * follows `reduction` (else -1). left_by[k]: the step that leaves node k, or -1. */
ga_status ga__step_code(ga__step *step, const ga__graph *graph, const int *left_by, int node,
                        int reduction);

#endif
