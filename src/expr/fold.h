/* Arithmetic of numbers that met no array yet: Python's, so that they stay weak scalars. */
#ifndef GA_EXPR_FOLD_H
#define GA_EXPR_FOLD_H

#include "model/rows.h"

/* The operator `row` of one number, or two. NULL and *result, or why it has none. */
const char *ga__weak_apply(int row, ga_value a, ga_value b, ga_value *result);

/* Whether it is the integer 0. */
bool ga__weak_is_zero(ga_value number);

#endif
