/* The elements that a condition chooses: their number, and statements that run for each. */
#ifndef GA_OPS_SCAN_CHOSEN_H
#define GA_OPS_SCAN_CHOSEN_H

#include "array/array.h"
#include "kernels/operand.h"

/* A condition: a text "return ..." over the operands, which are accessors, and `i`. The id stands
 * for the text. */
typedef struct ga__predicate {
    ga__hash128 id;
    const char *text;
    ga__device *device;
    int64_t size; /* elements */
    int noperands;
    const ga__operand *operands;
} ga__predicate;

/* Large conditions are read once, and their marks kept: a bit for each element, and how
 * many chosen ones precede each tile. Others have no marks: a scan of truths stores the results. */
typedef struct ga__chosen {
    const char *name; /* of the operation, for messages */
    ga__predicate where;
    const gpuarray *condition; /* or NULL: it is computed */
    int64_t count;
    gpuarray *marks, *before; /* or NULL */
} ga__chosen;

/* Whether a condition of `size` elements is marked first. */
bool ga__chosen_is_marked(const ga__device *device, int64_t size);

/* Raises if one of the arrays is NULL, or on another device. */
ga_status ga__check_condition(const char *name, const gpuarray *condition, const gpuarray *x);

/* Counts the elements that are not 0; waits for the number. The caller ends what is begun, on
 * failure too. */
ga_status ga__chosen_begin(ga__chosen *c, const char *name, const gpuarray *condition);
ga_status ga__chosen_begin_where(ga__chosen *c, const char *name, const ga__predicate *where);

/* Runs the statements for each chosen element, over `to`, its index among these, `i`, and `value`,
 * which the map returns. The id stands for all texts. The operands include those of the condition,
 * of an array `c`, the first; there is room for two more. */
ga_status ga__chosen_store(const ga__chosen *c, const char *name, ga__hash128 id, const char *map,
                           const char *statements, int noperands, ga__operand *operands);

/* Frees what is kept. Returns the result of the call, which the status may have failed: NULL. */
gpuarray *ga__chosen_end(ga__chosen *c, gpuarray *out, ga_status status);

#endif
