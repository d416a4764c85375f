/* Adds the source lines that a compiler's message refers to. */
#ifndef GA_JIT_EXPLAIN_H
#define GA_JIT_EXPLAIN_H

/* The message, then numbered lines of a filled template (ga__free it). Lists only the user's lines,
 * those under a #line that names a file other than "kernel", since the rest is hundreds of lines of
 * Quarry's own; all lines when the user has none. '>' marks the user's lines. NULL when memory is
 * out. */
char *ga__explain_template(const char *message, const char *text);

/* The message about the user's source `name`, then each line that it refers to as NAME(12) or
 * NAME:12, marked with '>', and the lines around it. */
char *ga__explain_source(const char *message, const char *text, const char *name);

#endif
