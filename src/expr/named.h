/* The names of expressions: checks those that are given, and knows the constants. */
#ifndef GA_EXPR_NAMED_H
#define GA_EXPR_NAMED_H

#include <quarry/eval.h>

#include "device/context.h"
#include "expr/text/ast.h"

#define GA__MAX_EVAL_ARGS 64

/* Raises unless the names are distinct identifiers, and the values are numbers, arrays of one
 * device and, if allowed, sources. *device is the arrays' device, or the current one without
 * arrays. */
ga_status ga__eval_check(int count, const ga_named *args, bool takes_sources, ga__device **device);

/* Its two halves. */
ga_status ga__eval_check_names(int count, const ga_named *args);
ga_status ga__eval_check_values(int count, const ga_named *args, bool takes_sources,
                                ga__device **device);

/* Whether the name is a constant of the language, such as pi; sets *number. */
bool ga__constant_named(const char *name, size_t length, ga_value *number);

/* Writes the message for a name that is no argument, local or constant, with the nearest one. */
void ga__unknown_name(const ga__ast *ast, int count, const ga_named *args, size_t length,
                      const char *name, char *what, size_t room);

#endif
