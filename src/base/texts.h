/* A growing list of texts whose error is sticky: add freely, check once. */
#ifndef GA_BASE_TEXTS_H
#define GA_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is an empty list. */
typedef struct ga__texts {
    char **text; /* `count` texts, then NULL; NULL if the list is empty */
    size_t count, capacity;
    bool failed;
} ga__texts;

/* Adds a copy of the text, or of its first `length` bytes. */
void ga__texts_add(ga__texts *texts, const char *text);
void ga__texts_addn(ga__texts *texts, const char *text, size_t length);

/* Splits the text at blanks and line ends and adds the words. Quotes, '...' or "...", keep blanks
 * inside a word; the quotes are removed. */
void ga__texts_split(ga__texts *texts, const char *text);

void ga__texts_remove(ga__texts *texts, size_t index);

/* The index of the text's first occurrence in the list, or -1. */
long ga__texts_find(const ga__texts *texts, const char *text);

/* The texts as a NULL-terminated array. */
const char *const *ga__texts_list(const ga__texts *texts);

void ga__texts_reset(ga__texts *texts);

#endif
