/* Looks for #include lines and options that make a source depend on the user's files. */
#include "jit/includes.h"

#include <string.h>

#include "base/cxx_token.h"

static bool names_files(const char *option)
{
    static const char *const prefixes[] = {"-I",    "--include-path", "-include", "--pre-include",
                                           "-optf", "--options-file"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(option, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_given(const char *name, size_t length, const char *const *given)
{
    for (; given && *given; given++)
        if (strlen(*given) == length && strncmp(*given, name, length) == 0)
            return true;
    return false;
}

/* Whether a # line includes anything but <...> and the given names. A macro may stand for any file.
 */
static bool directive_includes(ga__scanner *s, const char *const *given)
{
    if (!ga__token_is(ga__scan(s), "include"))
        return false;
    const ga__token name = ga__scan(s);
    if (name.kind != GA__TOKEN_STRING)
        return !ga__token_is(name, "<");
    return !is_given(name.text + 1, strcspn(name.text + 1, "\"\n"), given);
}

static bool text_includes(const char *text, const char *const *given)
{
    ga__scanner s = {.at = text, .line_start = true};
    for (;;) {
        const ga__token t = ga__scan(&s);
        if (t.kind == GA__TOKEN_END)
            return false;
        s.in_directive = t.line_start && ga__token_is(t, "#");
        if (s.in_directive && directive_includes(&s, given))
            return true;
        s.in_directive = false;
    }
}

bool ga__includes_files(const ga__cuda_source *source)
{
    for (const char *const *option = source->options; option && *option; option++)
        if (names_files(*option))
            return true;
    for (const char *const *text = source->header_texts; text && *text; text++)
        if (text_includes(*text, source->header_names))
            return true;
    return text_includes(source->text, source->header_names);
}
