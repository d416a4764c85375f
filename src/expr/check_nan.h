/* QUARRY_CHECK=nan for expressions. */
#ifndef GA_EXPR_CHECK_NAN_H
#define GA_EXPR_CHECK_NAN_H

#include <quarry/eval.h>

#include "expr/text/ast.h"

/* Sets kept[k] to the arguments, with copies of the arrays that `out` (may be NULL) overlaps, which
 * belong to the open scope. */
ga_status ga__eval_check_keep(const gpuarray *out, int count, const ga_named *args, ga_named *kept);

/* If the result has a NaN or infinity, or is NULL because it is in a file: computes the expression
 * operation by operation, and raises GA_ERR_INVALID for the first one that makes it of finite
 * operands. `ast` may be NULL. Call it between ga__check_begin() and ga__check_end(). */
ga_status ga__eval_check_nan(const char *text, const ga__ast *ast, const gpuarray *result,
                             int count, const ga_named *args);

#endif
