/* The elements that a condition chooses: their number, and statements that run for each. */
#ifndef GA_OPS_SCAN_CHOSEN_H
#define GA_OPS_SCAN_CHOSEN_H

#include "array/array.h"
#include "kernels/operand.h"

/* Large conditions on CUDA are read once, and their marks kept: a bit for each element, and how
 * many chosen ones precede each tile. Others have no marks: a scan of truths stores the results. */
typedef struct ga__chosen {
    const char *name; /* of the operation, for messages */
    const gpuarray *condition;
    int64_t count;
    gpuarray *marks, *before; /* or NULL */
} ga__chosen;

/* Raises if one of the arrays is NULL, or on another device. */
ga_status ga__check_condition(const char *name, const gpuarray *condition, const gpuarray *x);

/* Counts the elements that are not 0; waits for the number. The caller ends what is begun, on
 * failure too. */
ga_status ga__chosen_begin(ga__chosen *c, const char *name, const gpuarray *condition);

/* Runs the statements for each chosen element, over `to`, its index among these, `i`, and `value`,
 * which the map returns. The id stands for both texts. The first operand is the condition, `c`;
 * there is room for two more. */
ga_status ga__chosen_store(const ga__chosen *c, const char *name, ga__hash128 id, const char *map,
                           const char *statements, int noperands, ga__operand *operands);

/* Frees what is kept. Returns the result of the call, which the status may have failed: NULL. */
gpuarray *ga__chosen_end(ga__chosen *c, gpuarray *out, ga_status status);

#endif
