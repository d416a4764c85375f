/* Parses the text of an expression into a tree, within limits, or reports the place of the
 * error. */
#ifndef GA_EXPR_TEXT_PARSE_H
#define GA_EXPR_TEXT_PARSE_H

#include "expr/text/ast.h"

/* GA_ERR_INVALID shows the place. After a failure there is nothing to free. */
ga_status ga__ast_parse(ga__ast *ast, const char *text);
void ga__ast_reset(ga__ast *ast);

#endif
