/* Arithmetic of numbers before they meet an array: Python's, so that they stay weak scalars. */
#ifndef GA_EXPR_FOLD_H
#define GA_EXPR_FOLD_H

#include "model/rows.h"

/* Applies the operator `row` to one number or two. Returns NULL and sets *result, or returns the
 * reason why there is no result. */
const char *ga__weak_apply(int row, ga_value a, ga_value b, ga_value *result);

/* Whether the number is the integer 0. */
bool ga__weak_is_zero(ga_value number);

#endif
