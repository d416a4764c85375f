/* A growing list of texts whose error is sticky: add freely, check once. */
#ifndef GA_BASE_TEXTS_H
#define GA_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, it is an empty list. */
typedef struct ga__texts {
    char **text; /* `count` texts, then NULL; NULL while empty */
    size_t count, capacity;
    bool failed;
} ga__texts;

/* Adds a copy of the text, or of its first `length` bytes. */
void ga__texts_add(ga__texts *texts, const char *text);
void ga__texts_addn(ga__texts *texts, const char *text, size_t length);

/* Adds the words between blanks and line ends; '...' and "..." keep blanks inside a word, and are
 * left out of it. */
void ga__texts_split(ga__texts *texts, const char *text);

void ga__texts_remove(ga__texts *texts, size_t index);

/* Where the text first stands in the list, -1 when it does not. */
long ga__texts_find(const ga__texts *texts, const char *text);

/* As the list that C functions take: ended by NULL. */
const char *const *ga__texts_list(const ga__texts *texts);

void ga__texts_reset(ga__texts *texts);

#endif
