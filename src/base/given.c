/* Which options the text of a call names, where zero is a value and not the default. */
#include "base/given.h"

#include <string.h>

#include "base/word.h"

/* After a character or string constant that starts here. */
static const char *skip_quoted(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote)
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* The next comma outside parentheses, or the end. */
static const char *skip_option(const char *at)
{
    int depth = 0;
    while (*at && (*at != ',' || depth > 0)) {
        if (*at == '"' || *at == '\'') {
            at = skip_quoted(at);
            continue;
        }
        depth += strchr("([{", *at) != NULL;
        depth -= strchr(")]}", *at) != NULL;
        at++;
    }
    return at;
}

bool ga__option_given(const char *text, const char *name)
{
    const size_t length = strlen(name);
    if (!text)
        return true;
    while (*text) {
        text += strspn(text, ", \t\n");
        if (*text == '.') {
            const char *word = text + 1 + strspn(text + 1, " \t\n");
            if (strncmp(word, name, length) == 0 && !ga__in_word(word[length]))
                return true;
        }
        text = skip_option(text);
    }
    return false;
}
