/* The files of templates/, embedded at build time. */
#ifndef GA_BASE_EMBEDDED_H
#define GA_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct ga__embedded {
    const char *name;
    const char *text;
    const char *digest; /* hexadecimal, of the text and of all that it includes */
} ga__embedded;

extern const ga__embedded ga__templates[]; /* ends with NULLs; made by tools/embed.py */

/* The file named by the first `length` characters of `name`; NULL when there is none. */
const ga__embedded *ga__embedded_file(const char *name, size_t length);

#endif
