/* Finds the known name that is nearest to one that is not known. */
#ifndef GA_EXPR_TEXT_NEAREST_H
#define GA_EXPR_TEXT_NEAREST_H

#include <stddef.h>

typedef struct ga__nearest {
    const char *name;
    size_t length;
    const char *best; /* NULL: none is near */
    int best_length;
    int distance; /* of the best; before, one more than may be */
} ga__nearest;

ga__nearest ga__nearest_to(const char *name, size_t length);

/* Considers one more candidate. */
void ga__nearest_add(ga__nearest *n, const char *candidate);
void ga__nearest_add_bytes(ga__nearest *n, const char *candidate, size_t length);

/* Appends " (did you mean NAME?)" to the text if a candidate is near. */
void ga__nearest_append(const ga__nearest *n, char *text, size_t room);

#endif
