/* Grows lists of texts; the first failed addition makes all later ones do nothing. */
#include "base/words.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

enum { FIRST_CAPACITY = 8 };

/* Adds a text that the list then owns; NULL is one that could not be made. */
static void add_owned(ga__words *words, char *text)
{
    if (text && words->count + 1 >= words->capacity) {
        const size_t capacity = words->capacity ? 2 * words->capacity : FIRST_CAPACITY;
        char **word = ga__realloc(words->word, capacity * sizeof *word);
        words->failed = !word;
        if (word) {
            words->word = word;
            words->capacity = capacity;
        }
    }
    words->failed |= !text;
    if (words->failed) {
        ga__free(text);
        return;
    }
    words->word[words->count++] = text;
    words->word[words->count] = NULL;
}

void ga__words_addn(ga__words *words, const char *text, size_t length)
{
    if (!words->failed)
        add_owned(words, ga__strndup(text, length));
}

void ga__words_add(ga__words *words, const char *text)
{
    ga__words_addn(words, text, strlen(text));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void ga__words_split(ga__words *words, const char *text)
{
    while (!words->failed) {
        while (is_blank(*text))
            text++;
        if (!*text)
            return;
        ga__strbuf word = GA__STRBUF_INIT;
        char quote = '\0';
        for (; *text && (quote || !is_blank(*text)); text++) {
            if (quote ? *text == quote : *text == '"' || *text == '\'')
                quote = quote ? '\0' : *text;
            else
                ga__strbuf_add_bytes(&word, text, 1);
        }
        ga__strbuf_add(&word, "");
        add_owned(words, ga__strbuf_take(&word));
    }
}

void ga__words_remove(ga__words *words, size_t index)
{
    ga__free(words->word[index]);
    memmove(words->word + index, words->word + index + 1,
            (words->count - index) * sizeof *words->word);
    words->count--;
}

long ga__words_find(const ga__words *words, const char *text)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->word[i], text) == 0)
            return (long)i;
    return -1;
}

const char *const *ga__words_list(const ga__words *words)
{
    static const char *const none[] = {NULL};
    return words->word ? (const char *const *)words->word : none;
}

void ga__words_reset(ga__words *words)
{
    for (size_t i = 0; i < words->count; i++)
        ga__free(words->word[i]);
    ga__free(words->word);
    *words = (ga__words){NULL, 0, 0, false};
}
