/* Grows lists of texts; after the first failed addition, later ones do nothing. */
#include "base/texts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

enum { FIRST_CAPACITY = 8 };

/* Adds a text and takes ownership of it; NULL is a text that could not be made. */
static void add_owned(ga__texts *texts, char *text)
{
    if (text && texts->count + 1 >= texts->capacity) {
        const size_t capacity = texts->capacity ? 2 * texts->capacity : FIRST_CAPACITY;
        char **grown = ga__realloc(texts->text, capacity * sizeof *grown);
        texts->failed = !grown;
        if (grown) {
            texts->text = grown;
            texts->capacity = capacity;
        }
    }
    texts->failed |= !text;
    if (texts->failed) {
        ga__free(text);
        return;
    }
    texts->text[texts->count++] = text;
    texts->text[texts->count] = NULL;
}

void ga__texts_addn(ga__texts *texts, const char *text, size_t length)
{
    if (!texts->failed)
        add_owned(texts, ga__strndup(text, length));
}

void ga__texts_add(ga__texts *texts, const char *text)
{
    ga__texts_addn(texts, text, strlen(text));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void ga__texts_split(ga__texts *texts, const char *text)
{
    while (!texts->failed) {
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
        add_owned(texts, ga__strbuf_take(&word));
    }
}

void ga__texts_remove(ga__texts *texts, size_t index)
{
    ga__free(texts->text[index]);
    memmove(texts->text + index, texts->text + index + 1,
            (texts->count - index) * sizeof *texts->text);
    texts->count--;
}

long ga__texts_find(const ga__texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->text[i], text) == 0)
            return (long)i;
    return -1;
}

const char *const *ga__texts_list(const ga__texts *texts)
{
    static const char *const none[] = {NULL};
    return texts->text ? (const char *const *)texts->text : none;
}

void ga__texts_reset(ga__texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        ga__free(texts->text[i]);
    ga__free(texts->text);
    *texts = (ga__texts){NULL, 0, 0, false};
}
