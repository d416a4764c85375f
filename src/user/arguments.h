/* Parses the argument lists of custom kernels, and finds how their texts use the arguments. */
#ifndef GA_USER_ARGUMENTS_H
#define GA_USER_ARGUMENTS_H

#include "kernels/elementwise.h"

#define GA__MAX_ARGUMENTS 32

typedef struct ga__argument {
    char *name;
    ga_dtype dtype;
    bool array, is_const;
    bool integer; /* of an integer dtype: not every number fits */
    bool single;  /* a struct by itself: a 0-d array, whose element the texts read */
    ga__access
        access; /* of an array: ELEMENT if every use in the texts is name[i], otherwise ACCESSOR */
    bool reads, writes; /* according to those uses; an ACCESSOR array that is not const may be
                         * written */
} ga__argument;

typedef struct ga__arguments {
    int count;
    ga__argument argument[GA__MAX_ARGUMENTS];
} ga__arguments;

/* Parses "float a, const float *x, ..."; on failure GA_ERR_INVALID quotes the wrong part, and there
 * is nothing to free. */
ga_status ga__arguments_parse(ga__arguments *arguments, const char *kernel, const char *text);
void ga__arguments_reset(ga__arguments *arguments);

/* Finds how `operation` uses each array, and whether the other texts name it. `operation` may use
 * macros of `preamble`; `others` is NULL-terminated. */
void ga__arguments_use(ga__arguments *arguments, const char *operation, const char *preamble,
                       const char *const *others);

/* Whether the text uses `i` other than as [i]. */
bool ga__text_uses_index(const char *text);

#endif
