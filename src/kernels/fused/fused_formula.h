/* What fused rows and columns compute: several dependent passes over each row, which is read once.
 */
#ifndef GA_KERNELS_FUSED_FORMULA_H
#define GA_KERNELS_FUSED_FORMULA_H

#include "kernels/reduction.h"

enum {
    GA__MAX_STAGES = 4, /* passes that reduce, one after another */
    GA__MAX_KEPT = 4,   /* values of elements that later passes use again */
    GA__MAX_VALUES = 16 /* values of a row that later passes use */
};

/* A pass over a row that reduces it. */
typedef struct ga__fused_stage {
    const char *map; /* over the operands, values of the row and kept values: sets the kept values
                      * that begin here, and ends in "return {x0, x1}" */
    const char *row; /* statements that make values of the row, of ga_finish0() and so on */
    int nparts;
    const ga__part_formula *parts[GA__MAX_PARTS];
    ga_dtype type[GA__MAX_PARTS]; /* T, the type of each part's `x` */
    double ddof[GA__MAX_PARTS];
    int sum_of[GA__MAX_PARTS]; /* the part with the moments of the same elements, whose sum this
                                * part is; or -1 */
} ga__fused_stage;

/* A value of each element that a pass computes and later ones use: `h0`, `h1` and so on. */
typedef struct ga__fused_kept {
    ga_dtype type;
    int stage; /* that computes it */
} ga__fused_kept;

/* A value of each row that later passes use, by its name. */
typedef struct ga__fused_value {
    char name[8];
    ga_dtype type;
    int stage;    /* after which it is known */
    bool divides; /* elements: it has a ga::divisor */
} ga__fused_value;

/* The texts of fused rows; the formula's id stands for all of them. */
typedef struct ga__fused_formula {
    ga__formula base; /* its body sets `r` from what the passes before have made */
    int nstages, nkept;
    int nvalues; /* may exceed GA__MAX_VALUES; then not all are listed */
    ga__fused_stage stages[GA__MAX_STAGES];
    ga__fused_kept kept[GA__MAX_KEPT];
    ga__fused_value values[GA__MAX_VALUES];
    bool per_row; /* the result is one element of each row */
    /* The plan alone depends on these, not the text: */
    bool joins;     /* in the steps, sums of exponentials join the maximum */
    bool one_step;  /* the steps are one reduction */
    ga_dtype pairs; /* of all elements and their values, if the texts may take two of them at once;
                     * otherwise GA_NO_DTYPE */
    uint64_t reads[GA__MAX_STAGES + 1]; /* by pass, the last one too: a bit for each operand */
} ga__fused_formula;

/* What is computed: the operands have one shape. Its reduced axes are the row. The first operand is
 * the result. It is contiguous, and another operand may overlap it only exactly. */
typedef struct ga__fused_call {
    const ga__fused_formula *formula;
    ga__device *device;
    int ndim;
    uint32_t axes; /* those that are reduced, a bit each */
    const int64_t *shape;
    int noperands;
    const ga__operand *operands;
} ga__fused_call;

#endif
