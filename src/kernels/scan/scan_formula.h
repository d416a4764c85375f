/* What a scan computes. */
#ifndef GA_KERNELS_SCAN_FORMULA_H
#define GA_KERNELS_SCAN_FORMULA_H

#include "kernels/operand.h"

/* The texts of a scan; the formula's id stands for all of them. */
typedef struct ga__scan_formula {
    ga__formula base; /* its body: statements over `item`, `prev_item` and `i`; if it is empty, the
                         written operand gets the result */
    const char *map;  /* the element, over the operands' names and `i`: statements that end in
                         "return {x}", a user's: an expression */
    const ga__scan_texts *texts;
    bool uses_last;     /* the body names `last_item`: the accessor `ga_last_item` has it */
    const char *starts; /* whether an element starts a segment, likewise; NULL: none does */
} ga__scan_formula;

/* What is computed. */
typedef struct ga__scan {
    ga__scan_formula formula;
    ga_dtype type;           /* T */
    bool exclusive;          /* results are of the elements before each element */
    bool reverse;            /* the scan runs from the last element to the first */
    const ga_value *initial; /* stands before the first element of rows and segments, as an element
                                does; NULL: nothing */
} ga__scan;

#endif
