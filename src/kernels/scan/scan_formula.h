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
    const char *chosen; /* of a selection in one launch: whether it chooses an element, likewise */
} ga__scan_formula;

/* A launch of a selection. The first stores whether elements are chosen: in ga_words a bit
 * for each, in ga_tiles their number in each tile. The second reads the words, and in ga_tiles the
 * number of all tiles before each. It runs the body for each chosen element: `to` is its index
 * among them, `value` what the map returns of it. CUDA: one launch does all, with a body that reads
 * no `i`, and stores the number of chosen elements in ga_total. */
typedef enum ga__choice_pass {
    GA__CHOICE_NOT,
    GA__CHOICE_MARKS,
    GA__CHOICE_MOVES,
    GA__CHOICE_ONCE
} ga__choice_pass;

/* Elements of a tile of a selection, a mark for every 32. */
enum { GA__CHOICE_TILE = 8192 };

/* What is computed. */
typedef struct ga__scan {
    ga__scan_formula formula;
    ga_dtype type;           /* T */
    bool exclusive;          /* results are of the elements before each element */
    bool reverse;            /* the scan runs from the last element to the first */
    const ga_value *initial; /* stands before the first element of rows and segments, as an element
                                does; NULL: nothing */
    ga__choice_pass pass;
    int64_t sampled; /* in one launch: the elements that it visits, a power of two, in tiles that
                      * lie evenly among all; 0: all elements */
} ga__scan;

#endif
