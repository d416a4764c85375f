/* Scans C++ tokens. */
#include "base/cxx_token.h"

#include <ctype.h>
#include <string.h>

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The length of a backslash and line end; 0 for other text. */
static size_t continuation(const char *at)
{
    if (at[0] != '\\')
        return 0;
    return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static const char *line_comment_end(const char *at)
{
    while (*at && *at != '\n') {
        const size_t joined = continuation(at);
        at += joined > 0 ? joined : 1;
    }
    return at;
}

static const char *block_comment_end(const char *at)
{
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* Skips a blank, a comment or a continued line end; false if there is none. */
static bool skip_blank(ga__scanner *s)
{
    const char *at = s->at;
    if (at[0] == '/' && at[1] == '/') {
        s->at = line_comment_end(at);
    } else if (at[0] == '/' && at[1] == '*') {
        s->at = block_comment_end(at);
    } else if (isspace((unsigned char)*at) && !(*at == '\n' && s->in_directive)) {
        s->line_start |= *at == '\n';
        s->at++;
    } else {
        s->at += continuation(at);
    }
    return s->at != at;
}

static const char *quoted_end(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

/* The end of a raw string whose quote is at `at`: "delimiter(...)delimiter". */
static const char *raw_end(const char *at)
{
    const size_t length = strcspn(at + 1, "(");
    const char *close = at + 1 + length;
    if (length > 16 || !*close) /* C++ allows 16 characters */
        return quoted_end(at);
    while ((close = strchr(close + 1, ')')) != NULL)
        if (strncmp(close + 1, at + 1, length) == 0 && close[1 + length] == '"')
            return close + length + 2;
    return at + strlen(at);
}

/* A prefix of a string literal is part of the string; one that ends in R makes it a raw string. */
static const char *word_end(const char *at, ga__token_kind *kind)
{
    const char *start = at;
    while (in_word(*at))
        at++;
    if (*at != '"' || at - start > 3 || !strchr("RLuU8", at[-1]))
        return at;
    *kind = GA__TOKEN_STRING;
    return at[-1] == 'R' ? raw_end(at) : quoted_end(at);
}

static const char *number_end(const char *at)
{
    while (in_word(*at) || *at == '.' || (*at == '\'' && in_word(at[1])))
        at++;
    return at;
}

static const char *mark_end(const char *at, const char *const *marks)
{
    for (; marks && *marks; marks++)
        if (*at == **marks && strncmp(at, *marks, strlen(*marks)) == 0)
            return at + strlen(*marks);
    return at + 1;
}

static const char *token_end(const char *at, const char *const *marks, ga__token_kind *kind)
{
    *kind = GA__TOKEN_MARK;
    if (!*at) {
        *kind = GA__TOKEN_END;
        return at;
    }
    if (*at == '\n') {
        *kind = GA__TOKEN_LINE_END;
        return at + 1;
    }
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        *kind = GA__TOKEN_NUMBER;
        return number_end(at);
    }
    if (in_word(*at)) {
        *kind = GA__TOKEN_WORD;
        return word_end(at, kind);
    }
    if (*at == '"' || *at == '\'') {
        *kind = GA__TOKEN_STRING;
        return quoted_end(at);
    }
    return mark_end(at, marks);
}

ga__token ga__scan(ga__scanner *s)
{
    while (skip_blank(s)) {
    }
    ga__token t = {.text = s->at, .line_start = s->line_start};
    s->at = token_end(t.text, s->marks, &t.kind);
    t.length = (size_t)(s->at - t.text);
    s->line_start = t.kind == GA__TOKEN_LINE_END;
    return t;
}

bool ga__token_is(ga__token t, const char *text)
{
    return t.length > 0 && strncmp(t.text, text, t.length) == 0 && text[t.length] == '\0';
}
