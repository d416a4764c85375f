/* Finds the functions that fast_path.tmpl has in the statements of kernels. */
#include "kernels/fast_path.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/word.h"

/* From so many calls on: measured. */
#define CALLS 3

static const char *const functions[] = {"divide", "sqrt", "log", "erf"};

/* The first call of one of them, "ga::sqrt" and what follows; NULL. */
static const char *next_call(const char *text)
{
    for (const char *at = strstr(text, "ga::"); at; at = strstr(at + 1, "ga::"))
        for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
            const size_t length = strlen(functions[k]);
            if (strncmp(at + 4, functions[k], length) == 0 && !ga__in_word(at[4 + length]))
                return at;
        }
    return NULL;
}

bool ga__fast_path_pays(const char *text)
{
    int calls = 0;
    for (const char *at = next_call(text); at && calls < CALLS; at = next_call(at + 1))
        calls++;
    return calls >= CALLS;
}

char *ga__fast_path_text(const char *text)
{
    ga__strbuf s = GA__STRBUF_INIT;
    for (const char *call = next_call(text); call; call = next_call(text)) {
        ga__strbuf_add_bytes(&s, text, (size_t)(call - text));
        ga__strbuf_add(&s, "ga_fast.");
        text = call + strlen("ga::");
    }
    ga__strbuf_add(&s, text);
    return ga__strbuf_take(&s);
}
