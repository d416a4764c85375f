/* Finds the functions that a fast path has in the statements of kernels. */
#include "kernels/fast_path.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/word.h"

#define FUNCTIONS 4

/* The calls from which on a fast path pays: measured for real functions. An exact complex one keeps
 * the compiler from using vectors. */
static const struct {
    int calls;
    const char *functions[FUNCTIONS]; /* NULL after the last */
} paths[] = {
    [GA__FAST_REAL] = {3, {"divide", "sqrt", "log", "erf"}},
    [GA__FAST_COMPLEX] = {1, {"multiply", "divide", "reciprocal"}},
};

/* The first call of one of them, "ga::sqrt" and what follows; NULL. */
static const char *next_call(ga__fast_path path, const char *text)
{
    for (const char *at = strstr(text, "ga::"); at; at = strstr(at + 1, "ga::"))
        for (int k = 0; k < FUNCTIONS && paths[path].functions[k]; k++) {
            const size_t length = strlen(paths[path].functions[k]);
            if (strncmp(at + 4, paths[path].functions[k], length) == 0 &&
                !ga__in_word(at[4 + length]))
                return at;
        }
    return NULL;
}

bool ga__fast_path_pays(ga__fast_path path, const char *text)
{
    int calls = 0;
    for (const char *at = next_call(path, text); at && calls < paths[path].calls;
         at = next_call(path, at + 1))
        calls++;
    return calls >= paths[path].calls;
}

char *ga__fast_path_text(ga__fast_path path, const char *text)
{
    ga__strbuf s = GA__STRBUF_INIT;
    for (const char *call = next_call(path, text); call; call = next_call(path, text)) {
        ga__strbuf_add_bytes(&s, text, (size_t)(call - text));
        ga__strbuf_add(&s, "ga_fast.");
        text = call + strlen("ga::");
    }
    ga__strbuf_add(&s, text);
    return ga__strbuf_take(&s);
}
