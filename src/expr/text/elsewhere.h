/* Remedies for names that NumPy's and C's users call although expressions have no such function. */
#ifndef GA_EXPR_TEXT_ELSEWHERE_H
#define GA_EXPR_TEXT_ELSEWHERE_H

#include <stddef.h>

/* What to do instead, such as "call ga_sort()"; NULL for other names. */
const char *ga__elsewhere(const char *name, size_t length);

/* The arguments that a reduction takes besides its operand; NumPy has max(x) and maximum(x, y). */
const char *ga__reduction_options(int row);

/* What the user of an operator that does not take these numbers may have meant; "" for others. */
const char *ga__operator_hint(int row);

#endif
