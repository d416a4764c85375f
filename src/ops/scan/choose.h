/* Selection by a scan: stores what a condition chooses, in order, in one pass. */
#ifndef GA_OPS_SCAN_CHOOSE_H
#define GA_OPS_SCAN_CHOOSE_H

#include "kernels/operand.h"
#include "kernels/scan/scan_formula.h"
#include "ops/convert.h"

/* A scan that counts the truths up to each element. */
extern const ga__scan_texts ga__truths;

/* Texts over the operands, which are accessors, and `i`. The id stands for all of them. */
typedef struct ga__choice {
    ga__hash128 id;
    const char *name;
    const char *chosen; /* the condition, a truth */
    const char *store;  /* statements that store a chosen element as the result's element `to` */
    const char *always; /* statements for every element, also over `item`, the number of chosen ones
                         * up to it; "": none */
} ga__choice;

/* Runs the statements over n elements. `store` may also run for an element that is not chosen, if a
 * later chosen one has the same `to`. */
ga_status ga__choose(const ga__choice *choice, ga__device *device, int64_t n, int noperands,
                     const ga__operand *operands);

#endif
