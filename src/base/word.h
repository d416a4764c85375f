/* The identifiers of C. */
#ifndef GA_BASE_WORD_H
#define GA_BASE_WORD_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether the character can be part of an identifier. */
static inline bool ga__in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the text has the word next: not as a part of a longer identifier. NULL: nowhere. */
static inline const char *ga__find_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !ga__in_word(at[-1])) && !ga__in_word(at[length]))
            return at;
    return NULL;
}

#endif
