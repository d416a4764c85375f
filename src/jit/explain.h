/* Lists, beside a compiler's message, the lines of the text that it speaks of. */
#ifndef GA_JIT_EXPLAIN_H
#define GA_JIT_EXPLAIN_H

/* The message and, numbered, the lines of a filled template: the user's where there are any (under
 * a #line that names another file than "kernel"), as the rest is ours and hundreds of lines; else
 * all. Lines of the user's are marked with '>'. ga__free it; NULL when memory is out. */
char *ga__explain_template(const char *message, const char *text);

/* The message about a user's own source, which it calls `name`, and the lines that it names as
 * NAME(12) or NAME:12, marked with '>', with those around them. */
char *ga__explain_source(const char *message, const char *text, const char *name);

#endif
