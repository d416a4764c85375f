/* Turns a graph of values into the fewest kernels that compute its root. */
#ifndef GA_EXPR_PLAN_H
#define GA_EXPR_PLAN_H

#include "expr/split.h"
#include "kernels/fused/fused_formula.h"
#include "ops/reduction_op.h"

/* The most operations on numbers that are arguments; they are computed before each run. */
#define GA__MAX_VARYING 256

typedef enum ga__origin { GA__FROM_ARGUMENT, GA__FROM_STEP, GA__FROM_NUMBER } ga__origin;

/* An operand of a kernel. */
typedef struct ga__input {
    ga__origin source;
    int index; /* of the argument, of an earlier step's value, or of the weak node */
    int node;
    ga_dtype dtype;
    char name[8];
    bool gathers; /* the memory that a GATHER node, `node`, takes elements of */
} ga__input;

/* The accessor of an input that a selection indexes; %s is the input's name. */
#define GA__SELECTED_NAME "%s_at"

/* Elements at indices that one kernel takes. Each needs operands more: its position, and of each
 * array of indices the length of the axis and the step along it. */
#define GA__MOST_GATHERS 4
#define GA__GATHER_NAMES (1 + 2 * GA__GATHER_INDICES)

/* The values that one kernel computes: either reductions of one level over the same axes, with the
 * values that lead to them and follow from them, or one elementwise value. */
typedef struct ga__fusion_group {
    int nparts;              /* 0: elementwise */
    int part[GA__MAX_PARTS]; /* the nodes of the reductions */
    int nresults;
    int result[GA__MAX_PARTS]; /* the nodes of its results */
} ga__fusion_group;

/* One kernel. */
typedef struct ga__step {
    ga__fusion_group group;
    int domain;      /* the node whose shape the kernel iterates over: for reductions, their
                      * operand */
    int first_value; /* the index of its first result among the results of all steps */
    int ninputs;
    ga__input *inputs;
    int ngathers, gather_operands;
    char gather_name[GA__MOST_GATHERS][GA__GATHER_NAMES][8];
    char *text; /* statements over the inputs: they set `r`, or return the values that the parts
                 * reduce */
    char *finish[GA__MAX_PARTS];
    char formula_name[72];
    ga__hash128 id;
    bool fast_path; /* ga__fast_path_pays(text) */
    /* For reductions. */
    ga__reduction reduction;
    uint64_t reads[GA__MAX_PARTS]; /* by part: a bit for each input that its shape depends on */
    uint32_t axes;
    bool keepdims, empty_is_error;
    const ga__row *scan; /* the row of the one part if it is a scan, otherwise NULL */
    bool product;        /* the matrix product of its first two inputs; a third one is its bias;
                          * nothing above is set */
    bool relu;           /* the maximum of the product and 0 */
    bool selects;        /* what is chosen, in a new array: `text` returns an element, finish[0]
                          * whether it is, both over inputs that are indexed by `i` */
} ga__step;

/* Fused rows: one kernel that computes the whole expression row by row. A row lies along the
 * reduced axes. */
typedef struct ga__fused {
    ga__step step; /* elementwise: its inputs are those of all passes */
    ga__fused_formula formula;
    char *map[GA__MAX_STAGES], *row[GA__MAX_STAGES]; /* of the formula's stages */
    int part[GA__MAX_STAGES][GA__MAX_PARTS];         /* nodes */
    int kept[GA__MAX_KEPT];
    uint32_t axes; /* that are reduced */
    /* By stage, the last pass too: the arrays of each part, a bit for each input, and whether the
     * part also depends on a value of the row. */
    uint64_t reads[GA__MAX_STAGES + 1][GA__MAX_PARTS];
    bool reads_row[GA__MAX_STAGES + 1][GA__MAX_PARTS];
} ga__fused;

typedef struct ga__plan {
    ga__graph graph;
    int nvarying;
    int varying[GA__MAX_VARYING]; /* weak nodes, operands first */
    int nsteps;                   /* 0: the root is a weak number */
    ga__step *steps;              /* the last one computes only the root */
    int nvalues;                  /* the number of results of all steps */
    ga__fused *fused;             /* NULL, or what replaces all steps where a call fits it */
} ga__plan;

/* Divides the graph into kernels of at most `most_parts` reductions each; with one, every step has
 * one result. Always takes ownership of the graph. NULL and
 * GA_ERR_UNSUPPORTED for a kernel with more operands than the engines support; GA_ERR_MEMORY. */
ga__plan *ga__plan_new(ga__graph *graph, int most_parts);
void ga__plan_free(ga__plan *plan);
void ga__fused_free(ga__fused *fused);

/* Writes the texts, inputs and id of a step. value_of[k] is the index of the value that an earlier
 * step computed for node k, or -1. Returns GA_ERR_UNSUPPORTED without raising it for more than
 * GA__MOST_INPUTS operands. */
ga_status ga__step_code(ga__step *step, const ga__graph *graph, const int *value_of,
                        const ga__fusion_group *group);
void ga__step_reset(ga__step *step);

#endif
