/* Reads the argument lists and the use of arguments in the texts of custom kernels. */
#ifndef GA_USER_ARGUMENTS_H
#define GA_USER_ARGUMENTS_H

#include "kernels/elementwise.h"

#define GA__MAX_ARGUMENTS 32

typedef struct ga__argument {
    char *name;
    ga_dtype dtype;
    bool array, is_const;
    ga__access
        access; /* of an array: ELEMENT when every use in the texts is name[i], else ACCESSOR */
    bool reads, writes; /* what those uses do; an ACCESSOR array that is not const may be written */
} ga__argument;

typedef struct ga__arguments {
    int count;
    ga__argument argument[GA__MAX_ARGUMENTS];
} ga__arguments;

/* Reads "float a, const float *x, ..."; on failure GA_ERR_INVALID quotes the part that is wrong,
 * and nothing is to be freed. */
ga_status ga__arguments_parse(ga__arguments *arguments, const char *kernel, const char *text);
void ga__arguments_reset(ga__arguments *arguments);

/* Finds how each array is used in `operation`, which may name macros of `preamble`, and whether
 * others of the NULL-terminated texts name it. */
void ga__arguments_use(ga__arguments *arguments, const char *operation, const char *preamble,
                       const char *const *others);

/* Whether the text names `i` other than as [i]. */
bool ga__text_uses_index(const char *text);

#endif
