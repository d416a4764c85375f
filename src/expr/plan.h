/* From a graph of values to the fewest kernels that compute its root. */
#ifndef GA_EXPR_PLAN_H
#define GA_EXPR_PLAN_H

#include "expr/type.h"
#include "ops/reduction_op.h"

/* Operations on numbers that are arguments, computed before each run. */
#define GA__MAX_VARYING 256

typedef enum ga__origin { GA__FROM_ARGUMENT, GA__FROM_STEP, GA__FROM_NUMBER } ga__origin;

/* An operand of a kernel. */
typedef struct ga__input {
    ga__origin source;
    int index; /* of the argument, the value that a step left, or the weak node */
    int node;
    ga_dtype dtype;
    char name[8];
} ga__input;

/* What one kernel computes: reductions of one level over the same axes with what leads to them and
 * what follows, or else one elementwise value. */
typedef struct ga__cut {
    int nparts;              /* 0: elementwise */
    int part[GA__MAX_PARTS]; /* nodes of the reductions */
    int nresults;
    int result[GA__MAX_PARTS]; /* nodes of what it leaves */
} ga__cut;

/* One kernel. */
typedef struct ga__step {
    ga__cut cut;
    int domain;      /* the node whose shape it goes through: of reductions, what they reduce */
    int first_value; /* the number of its first result among the results of all steps */
    int ninputs;
    ga__input *inputs;
    char *text; /* statements over the inputs: they set `r`, or return what the parts take */
    char *finish[GA__MAX_PARTS];
    char formula_name[32];
    ga__hash128 id;
    bool fast_path; /* ga__fast_path_pays(text) */
    /* Of reductions. */
    ga__reduction reduction;
    uint64_t reads[GA__MAX_PARTS]; /* by part: a bit for each input that its shape depends on */
    uint32_t axes;
    bool keepdims, empty_is_error;
} ga__step;

typedef struct ga__plan {
    ga__graph graph;
    int nvarying;
    int varying[GA__MAX_VARYING]; /* weak nodes, operands first */
    int nsteps;                   /* 0: the root is a weak number */
    ga__step *steps;              /* the last one leaves the root alone */
    int nvalues;                  /* what all steps leave */
} ga__plan;

/* Cuts the graph into kernels of at most `most_parts` reductions each; with one, every step leaves
 * one value. Takes the graph over, whatever happens. NULL and GA_ERR_UNSUPPORTED for a kernel of
 * more operands than the engines take; GA_ERR_MEMORY. */
ga__plan *ga__plan_new(ga__graph *graph, int most_parts);
void ga__plan_free(ga__plan *plan);

/* The engines take one operand less than a nest has room for, and the output is one. */
#define GA__MOST_INPUTS (GA__MAX_OPERANDS - 2)

/* Writes the texts, inputs and id of a step. left_as[k]: which value of an earlier step node k is,
 * or -1. GA_ERR_UNSUPPORTED, not raised, for more than GA__MOST_INPUTS operands. */
ga_status ga__step_code(ga__step *step, const ga__graph *graph, const int *left_as,
                        const ga__cut *cut);
void ga__step_reset(ga__step *step);

#endif
