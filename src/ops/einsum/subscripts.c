/* Reads the subscripts of einsum's text. */
#include "ops/einsum/subscripts.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"

ga_status ga__subscripts_fail(const char *text, size_t at, ga_status status, const char *format,
                              ...)
{
    va_list args;
    va_start(args, format);
    ga__fail_at("einsum", text, at, status, format, args);
    va_end(args);
    return status;
}

static void skip_blanks(ga__subscripts_parser *p)
{
    p->at += strspn(p->text + p->at, " \t\n\r");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static ga_status fail_character(const ga__subscripts_parser *p)
{
    const unsigned char c = (unsigned char)p->text[p->at];
    if (c == '-')
        return ga__subscripts_fail(p->text, p->at, GA_ERR_INVALID, "expected \"->\"");
    if (c == '.')
        return ga__subscripts_fail(p->text, p->at, GA_ERR_INVALID, "expected \"...\"");
    const char *format = c > ' ' && c < 127 ? "unexpected character '%c'; subscripts are letters"
                                            : "unexpected character '\\x%02x'";
    return ga__subscripts_fail(p->text, p->at, GA_ERR_INVALID, format, c);
}

static ga_status add_ellipsis(ga__subscripts_parser *p, ga__subscripts *s)
{
    if (strncmp(p->text + p->at, "...", 3) != 0)
        return fail_character(p);
    if (s->ellipsis >= 0)
        return ga__subscripts_fail(p->text, p->at, GA_ERR_INVALID,
                                   "a second ellipsis in the subscripts of one array");
    s->ellipsis = s->count;
    s->ellipsis_place = p->at;
    p->at += 3;
    return GA_OK;
}

static ga_status add_letter(ga__subscripts_parser *p, ga__subscripts *s)
{
    if (s->count == GA_MAX_NDIM)
        return ga__subscripts_fail(p->text, p->at, GA_ERR_INVALID,
                                   "more than %d subscripts of one array", GA_MAX_NDIM);
    s->place[s->count] = p->at;
    s->letter[s->count++] = p->text[p->at++];
    return GA_OK;
}

ga_status ga__subscripts_read(ga__subscripts_parser *p, ga__subscripts *s)
{
    ga_status status = GA_OK;
    s->count = 0;
    s->ellipsis = -1;
    skip_blanks(p);
    s->start = s->end = p->at;
    while (status == GA_OK && p->text[p->at] != ',' && p->text[p->at] != '\0' &&
           strncmp(p->text + p->at, "->", 2) != 0) {
        if (p->text[p->at] == '.')
            status = add_ellipsis(p, s);
        else if (is_letter(p->text[p->at]))
            status = add_letter(p, s);
        else
            status = fail_character(p);
        s->end = p->at;
        skip_blanks(p);
    }
    return status;
}

bool ga__subscripts_accept(ga__subscripts_parser *p, const char *mark)
{
    skip_blanks(p);
    if (strncmp(p->text + p->at, mark, strlen(mark)) != 0)
        return false;
    p->at += strlen(mark);
    return true;
}
