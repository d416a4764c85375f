/* The files of templates/, embedded at build time. */
#ifndef GA_BASE_EMBEDDED_H
#define GA_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct ga__embedded ga__embedded;

/* One file that another includes. */
typedef struct ga__include {
    const char *conditions; /* the //@if around it: "name" or "!name", separated by one blank */
    const ga__embedded *file;
} ga__include;

struct ga__embedded {
    const char *name;
    const char *text;
    const char *digest;          /* hexadecimal, of this file's own text without its includes */
    const ga__include *includes; /* ends with a NULL file; NULL if it includes nothing */
};

extern const ga__embedded ga__templates[]; /* ends with NULLs; made by tools/embed.py */

/* The file named by the first `length` characters of `name`; NULL if there is none. */
const ga__embedded *ga__embedded_file(const char *name, size_t length);

#endif
