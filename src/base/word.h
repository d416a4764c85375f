/* The identifiers of C. */
#ifndef GA_BASE_WORD_H
#define GA_BASE_WORD_H

#include <ctype.h>
#include <stdbool.h>

/* Whether the character can be part of an identifier. */
static inline bool ga__in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

#endif
