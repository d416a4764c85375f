/* Checks the names and values that an expression is given. */
#ifndef GA_EXPR_NAMED_H
#define GA_EXPR_NAMED_H

#include <quarry/eval.h>

#include "device/context.h"

/* Raises unless the names are distinct identifiers, and the values are numbers, arrays of one
 * device and, if allowed, sources. *device is the arrays' device, or the current one without
 * arrays. */
ga_status ga__eval_check(int count, const ga_named *args, bool takes_sources, ga__device **device);

/* Its two halves. */
ga_status ga__eval_check_names(int count, const ga_named *args);
ga_status ga__eval_check_values(int count, const ga_named *args, bool takes_sources,
                                ga__device **device);

#endif
