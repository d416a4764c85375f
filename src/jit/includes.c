/* Looks for #include lines and options that make a source depend on the user's files. */
#include "jit/includes.h"

#include <string.h>

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

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Whether the line is an #include of anything but <...> and the given names. A macro may stand for
 * any file. */
static bool line_includes(const char *line, const char *const *given)
{
    const char *at = skip_blanks(line);
    if (*at != '#')
        return false;
    at = skip_blanks(at + 1);
    if (strncmp(at, "include", 7) != 0)
        return false;
    at = skip_blanks(at + 7);
    if (*at != '"')
        return *at != '<';
    return !is_given(at + 1, strcspn(at + 1, "\"\n"), given);
}

static bool text_includes(const char *text, const char *const *given)
{
    while (*text) {
        if (line_includes(text, given))
            return true;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
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
