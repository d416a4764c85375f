/* Fills templates in one pass over their lines, from a record of values and lists. */
#include "jit/template.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* The limit of nested blocks and includes; a deeper one means that a file includes itself. */
#define MAX_DEPTH 64

#define USUAL_BYTES ((size_t)64 << 10) /* of a kernel's text, most of it the device library */

/* ---- lines ---- */

struct span {
    const char *begin, *end;
};

/* The kind of a line; DONE is the end of the text. */
enum line_kind { TEXT, EACH, IF, ELSE, END, INCLUDE, UNKNOWN, DONE };

/* The position in one template. */
struct cursor {
    const char *name;
    const char *text, *at;
};

/* The records of the enclosing //@each blocks, innermost first. */
struct scope {
    const ga__record *record;
    const struct scope *outer;
};

struct filler {
    ga__strbuf out;
    int depth;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int span_length(struct span span)
{
    return (int)(span.end - span.begin);
}

static struct span trimmed(struct span span)
{
    while (span.begin < span.end && is_blank(*span.begin))
        span.begin++;
    while (span.begin < span.end && is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* A directive's kind, and the text after its word. */
static enum line_kind directive_kind(struct span line, struct span *argument)
{
    static const struct {
        const char *word;
        size_t length;
        enum line_kind kind;
        bool has_argument;
    } words[] = {{"end", 3, END, false}, /* the most frequent first */
                 {"if", 2, IF, true},
                 {"else", 4, ELSE, false},
                 {"each", 4, EACH, true},
                 {"include", 7, INCLUDE, true}};
    struct span word = {line.begin, line.begin};
    while (word.end < line.end && !is_blank(*word.end))
        word.end++;
    *argument = trimmed((struct span){word.end, line.end});
    const size_t length = (size_t)span_length(word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].length == length && memcmp(words[i].word, word.begin, length) == 0)
            return words[i].has_argument == (argument->begin < argument->end) ? words[i].kind
                                                                              : UNKNOWN;
    return UNKNOWN;
}

/* The number of the last line read. */
static int line_number(const struct cursor *cursor)
{
    int number = 0;
    for (const char *at = cursor->text; at < cursor->at; at++)
        number += *at == '\n';
    return number + (cursor->at > cursor->text && cursor->at[-1] != '\n');
}

/* Reads the next line with its newline, and a directive's argument. Reads all lines before the next
 * '@' as one, since they are text without holes. */
static enum line_kind next_line(struct cursor *cursor, struct span *line, struct span *argument)
{
    if (!*cursor->at)
        return DONE;
    const char *mark = strchrnul(cursor->at, '@'), *newline;
    line->begin = cursor->at;
    newline = *mark ? memrchr(cursor->at, '\n', (size_t)(mark - cursor->at)) : mark - 1;
    if (newline) {
        line->end = cursor->at = newline + 1;
        return TEXT;
    }
    newline = strchrnul(mark, '\n');
    line->end = cursor->at = newline + (*newline != 0);
    if (mark - line->begin < 2 || mark[-2] != '/' || mark[-1] != '/')
        return TEXT;
    struct span inner = trimmed(*line);
    if (inner.begin != mark - 2)
        return TEXT;
    inner.begin += 3;
    return directive_kind(inner, argument);
}

/* ---- filling ---- */

/* The innermost value of the name and its length; NULL when no record has the name. */
static const char *find_value(const struct scope *scope, struct span name, size_t *nbytes)
{
    const char *value = NULL;
    for (; scope && !value; scope = scope->outer)
        value = ga__record_value(scope->record, name.begin, (size_t)span_length(name), nbytes);
    return value;
}

/* Finds the next hole from `begin` on. The text before it stays. */
static bool next_hole(const char *begin, const char *end, struct span *name)
{
    const char *mark = begin;
    while ((mark = memchr(mark, '@', (size_t)(end - mark))) != NULL) {
        name->begin = name->end = ++mark;
        while (name->end < end && is_name_character(*name->end))
            name->end++;
        if (name->end > name->begin && name->end < end && *name->end == '@')
            return true;
    }
    return false;
}

static ga_status fill_text_line(struct filler *filler, const struct cursor *cursor,
                                const struct scope *scope, struct span line)
{
    struct span name;
    while (next_hole(line.begin, line.end, &name)) {
        size_t nbytes;
        const char *value = find_value(scope, name, &nbytes);
        if (!value)
            return ga__fail(GA_ERR_INVALID, "%s:%d: no value for the hole @%.*s@", cursor->name,
                            line_number(cursor), span_length(name), name.begin);
        ga__strbuf_add_bytes(&filler->out, line.begin, (size_t)(name.begin - 1 - line.begin));
        ga__strbuf_add_bytes(&filler->out, value, nbytes);
        line.begin = name.end + 1;
    }
    ga__strbuf_add_bytes(&filler->out, line.begin, (size_t)span_length(line));
    return GA_OK;
}

static ga_status fill_lines(struct filler *filler, struct cursor *cursor, const struct scope *scope,
                            bool live, enum line_kind *stop);

static ga_status unclosed(const struct cursor *start, const char *word, enum line_kind stop)
{
    return ga__fail(GA_ERR_INVALID, "%s:%d: //@%s has %s", start->name, line_number(start), word,
                    stop == ELSE ? "a second //@else" : "no //@end");
}

/* Reads a skipped block to find its end, and adds no text. */
static ga_status fill_each(struct filler *filler, struct cursor *cursor, const struct scope *scope,
                           bool live, struct span name)
{
    const struct cursor start = *cursor;
    const ga__record *record = NULL;
    bool found = false;
    for (const struct scope *s = scope; live && s && !found; s = s->outer)
        found = ga__record_find_list(s->record, name.begin, (size_t)span_length(name), &record);
    if (live && !found)
        return ga__fail(GA_ERR_INVALID, "%s:%d: no list %.*s", start.name, line_number(&start),
                        span_length(name), name.begin);
    do {
        const struct scope inner = {record, scope};
        enum line_kind stop;
        *cursor = start;
        ga_status status = fill_lines(filler, cursor, &inner, record != NULL, &stop);
        if (status != GA_OK)
            return status;
        if (stop != END)
            return unclosed(&start, "each", stop);
        record = record ? ga__record_next(record) : NULL;
    } while (record);
    return GA_OK;
}

static bool is_set(const char *value)
{
    return *value && strcmp(value, "0") != 0;
}

/* Whether `name` or `!name` holds. */
static ga_status condition(const struct cursor *cursor, const struct scope *scope, struct span name,
                           bool *holds)
{
    bool negated = *name.begin == '!';
    name.begin += negated;
    size_t nbytes;
    const char *value = find_value(scope, name, &nbytes);
    if (!value)
        return ga__fail(GA_ERR_INVALID, "%s:%d: no value for //@if %.*s", cursor->name,
                        line_number(cursor), span_length(name), name.begin);
    *holds = is_set(value) != negated;
    return GA_OK;
}

static ga_status fill_if(struct filler *filler, struct cursor *cursor, const struct scope *scope,
                         bool live, struct span name)
{
    const struct cursor start = *cursor;
    enum line_kind stop;
    bool holds = false;
    ga_status status = live ? condition(cursor, scope, name, &holds) : GA_OK;
    if (status == GA_OK)
        status = fill_lines(filler, cursor, scope, live && holds, &stop);
    if (status == GA_OK && stop == ELSE)
        status = fill_lines(filler, cursor, scope, live && !holds, &stop);
    if (status == GA_OK && stop != END)
        status = unclosed(&start, "if", stop);
    return status;
}

static ga_status fill_template(struct filler *filler, const ga__embedded *template,
                               const struct scope *scope)
{
    struct cursor cursor = {template->name, template->text, template->text};
    enum line_kind stop;
    ga_status status = fill_lines(filler, &cursor, scope, true, &stop);
    if (status == GA_OK && stop != DONE)
        status = ga__fail(GA_ERR_INVALID, "%s:%d: //@%s outside any block", template->name,
                          line_number(&cursor), stop == ELSE ? "else" : "end");
    return status;
}

static ga_status fill_include(struct filler *filler, const struct cursor *cursor,
                              const struct scope *scope, struct span name)
{
    const ga__embedded *file = ga__embedded_file(name.begin, (size_t)span_length(name));
    if (!file)
        return ga__fail(GA_ERR_INVALID, "%s:%d: no template %.*s", cursor->name,
                        line_number(cursor), span_length(name), name.begin);
    ga_status status = fill_template(filler, file, scope);
    const ga__strbuf *out = &filler->out;
    if (status == GA_OK && out->length && !out->failed && out->text[out->length - 1] != '\n')
        ga__strbuf_add(&filler->out, "\n");
    return status;
}

static ga_status fill_line(struct filler *filler, struct cursor *cursor, const struct scope *scope,
                           bool live, enum line_kind kind, struct span line, struct span argument)
{
    switch (kind) {
    case EACH: return fill_each(filler, cursor, scope, live, argument);
    case IF: return fill_if(filler, cursor, scope, live, argument);
    case INCLUDE: return live ? fill_include(filler, cursor, scope, argument) : GA_OK;
    case UNKNOWN:
        line = trimmed(line);
        return ga__fail(GA_ERR_INVALID, "%s:%d: %.*s is not a directive", cursor->name,
                        line_number(cursor), span_length(line), line.begin);
    default: return live ? fill_text_line(filler, cursor, scope, line) : GA_OK;
    }
}

/* Fills the lines up to the one that closes this level, which it writes to *stop: //@else, //@end
 * or the end of the text. */
static ga_status fill_lines(struct filler *filler, struct cursor *cursor, const struct scope *scope,
                            bool live, enum line_kind *stop)
{
    ga_status status = GA_OK;
    if (filler->depth == MAX_DEPTH)
        return ga__fail(GA_ERR_INVALID, "%s:%d: more than %d nested blocks and files", cursor->name,
                        line_number(cursor), MAX_DEPTH);
    filler->depth++;
    while (status == GA_OK) {
        struct span line, argument = {NULL, NULL};
        *stop = next_line(cursor, &line, &argument);
        if (*stop == ELSE || *stop == END || *stop == DONE)
            break;
        status = fill_line(filler, cursor, scope, live, *stop, line, argument);
    }
    filler->depth--;
    return status;
}

char *ga__fill(const ga__embedded *template, const ga__record *record)
{
    const char *name = template->name;
    struct filler filler = {GA__STRBUF_INIT, 0};
    const struct scope scope = {record, NULL};
    if (ga__record_failed(record))
        return ga__fail_null(GA_ERR_MEMORY, "%s: out of memory for the template's values", name);
    ga__strbuf_reserve(&filler.out, USUAL_BYTES);
    if (fill_template(&filler, template, &scope) != GA_OK) {
        ga__strbuf_reset(&filler.out);
        return NULL;
    }
    char *filled = ga__strbuf_take(&filler.out);
    return filled ? filled : ga__fail_null(GA_ERR_MEMORY, "%s: out of memory for the text", name);
}

/* ---- digests ---- */

/* A missing name is false, and so is its negation. */
static bool holds_all(const ga__record *record, const char *conditions)
{
    while (*conditions) {
        const bool negated = *conditions == '!';
        const char *name = conditions + negated, *end = name + strcspn(name, " ");
        size_t nbytes;
        const char *value = ga__record_value(record, name, (size_t)(end - name), &nbytes);
        if (!value || is_set(value) == negated)
            return false;
        conditions = *end ? end + 1 : end;
    }
    return true;
}

void ga__template_print(const ga__embedded *template, const ga__record *record, ga__strbuf *out)
{
    ga__strbuf_addf(out, "%s %s\n", template->name, template->digest);
    for (const ga__include *include = template->includes; include && include->file; include++)
        if (holds_all(record, include->conditions))
            ga__template_print(include->file, record, out);
}
