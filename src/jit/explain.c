/* Adds the source lines that a compiler's message refers to. */
#include "jit/explain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

enum { AROUND = 2, MOST_LINES = 40 }; /* context lines on each side; limit of marked lines */

struct line {
    const char *begin, *end; /* without the newline */
    int number;              /* in the compiler's count */
    bool is_users;           /* under a #line that names a file other than "kernel" */
    bool is_directive;
};

/* Advances to the next line; false at the end. Before the first line, `begin` is NULL and *next the
 * text. */
static bool next_line(struct line *line, const char **next)
{
    if (!**next)
        return false;
    line->begin = *next;
    line->end = strchr(line->begin, '\n');
    if (!line->end)
        line->end = line->begin + strlen(line->begin);
    *next = *line->end ? line->end + 1 : line->end;
    line->number++;
    line->is_directive = strncmp(line->begin, "#line ", 6) == 0;
    if (line->is_directive) {
        line->number = atoi(line->begin + 6) - 1;
        const char *quote = memchr(line->begin, '"', (size_t)(line->end - line->begin));
        line->is_users = quote && strncmp(quote, "\"kernel\"", 8) != 0;
    }
    return true;
}

static void add_line(ga__strbuf *listing, const struct line *line, bool marked)
{
    ga__strbuf_addf(listing, "%c%5d | %.*s\n", marked ? '>' : ' ', line->number,
                    (int)(line->end - line->begin), line->begin);
}

static void add_lines(ga__strbuf *listing, const char *text, bool users_only)
{
    struct line line = {NULL, NULL, 0, false, false};
    while (next_line(&line, &text)) {
        if (users_only && !line.is_users)
            continue;
        if (line.is_directive)
            ga__strbuf_addf(listing, "%.*s\n", (int)(line.end - line.begin), line.begin);
        else
            add_line(listing, &line, line.is_users);
    }
}

char *ga__explain_template(const char *message, const char *text)
{
    ga__strbuf all = GA__STRBUF_INIT;
    struct line line = {NULL, NULL, 0, false, false};
    bool has_users = false;
    for (const char *next = text; next_line(&line, &next);)
        has_users |= line.is_users;
    ga__strbuf_addf(&all, "%s\n", message);
    add_lines(&all, text, has_users);
    return ga__strbuf_take(&all);
}

/* Writes the line numbers in the message to `numbers`, in order. Returns their count. */
static int find_numbers(const char *message, const char *name, int *numbers)
{
    int count = 0;
    const size_t length = strlen(name);
    for (const char *at = strstr(message, name); at && count < MOST_LINES;
         at = strstr(at + 1, name)) {
        if (at[length] == '(' || at[length] == ':')
            numbers[count] = atoi(at + length + 1);
        else
            continue;
        count += numbers[count] > 0;
    }
    return count;
}

/* The distance from the line to the nearest named line. */
static int distance(int number, const int *numbers, int count)
{
    int least = AROUND + 1;
    for (int i = 0; i < count; i++)
        if (abs(number - numbers[i]) < least)
            least = abs(number - numbers[i]);
    return least;
}

char *ga__explain_source(const char *message, const char *text, const char *name)
{
    int numbers[MOST_LINES];
    const int count = find_numbers(message, name, numbers);
    ga__strbuf all = GA__STRBUF_INIT;
    struct line line = {NULL, NULL, 0, false, false};
    int last = 0;
    ga__strbuf_addf(&all, "%s\n", message);
    for (const char *next = text; next_line(&line, &next);) {
        const int away = distance(line.number, numbers, count);
        if (line.is_directive || away > AROUND)
            continue;
        if (last > 0 && line.number != last + 1)
            ga__strbuf_add(&all, "   ...\n");
        add_line(&all, &line, away == 0);
        last = line.number;
    }
    return ga__strbuf_take(&all);
}
