/* A growing list of texts whose error is sticky: add freely, check once. */
#ifndef GA_BASE_WORDS_H
#define GA_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, it is an empty list. */
typedef struct ga__words {
    char **word; /* `count` texts, then NULL; NULL while empty */
    size_t count, capacity;
    bool failed;
} ga__words;

/* Adds a copy of the text, or of its first `length` bytes. */
void ga__words_add(ga__words *words, const char *text);
void ga__words_addn(ga__words *words, const char *text, size_t length);

/* Adds the words between blanks and line ends; '...' and "..." keep blanks inside a word, and are
 * left out of it. */
void ga__words_split(ga__words *words, const char *text);

void ga__words_remove(ga__words *words, size_t index);

/* Where the text first stands in the list, -1 when it does not. */
long ga__words_find(const ga__words *words, const char *text);

/* As the list that C functions take: ended by NULL. */
const char *const *ga__words_list(const ga__words *words);

void ga__words_reset(ga__words *words);

#endif
