/* Reads text files line by line, and divides lines into cells. */
#include "ops/text/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#define ROOM ((size_t)1 << 18)

/* The mark with which some programs begin UTF-8. */
#define MARK "\xEF\xBB\xBF"

/* ---- Lines ---- */

static ga_status fail_io(const ga__text_reader *r, int error)
{
    char reason[128];
    return ga__fail(GA_ERR_IO, "loadtxt: %s: %s", r->path,
                    strerror_r(error, reason, sizeof reason));
}

ga_status ga__text_open(ga__text_reader *r, const char *path)
{
    *r = (ga__text_reader){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (r->fd < 0)
        return fail_io(r, errno);
    r->buffer = ga__malloc(ROOM);
    r->room = ROOM;
    if (r->buffer)
        return GA_OK;
    close(r->fd);
    return GA_ERR_MEMORY;
}

void ga__text_close(ga__text_reader *r)
{
    close(r->fd);
    ga__free(r->buffer);
    ga__free(r->cells);
}

/* Makes room behind the bytes that are no line yet: moves them to the front, or takes more. */
static ga_status make_room(ga__text_reader *r)
{
    r->used -= r->at;
    memmove(r->buffer, r->buffer + r->at, r->used);
    r->at = 0;
    if (r->used < r->room / 2)
        return GA_OK;
    char *more = ga__realloc(r->buffer, 2 * r->room);
    if (!more)
        return GA_ERR_MEMORY;
    r->buffer = more;
    r->room *= 2;
    return GA_OK;
}

/* Reads some bytes. One stays free for the '\0' of a last line without an end. */
static ga_status read_more(ga__text_reader *r)
{
    ssize_t n;
    const ga_status status = make_room(r);
    if (status != GA_OK)
        return status;
    do
        n = read(r->fd, r->buffer + r->used, r->room - r->used - 1);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_io(r, errno);
    r->ended = n == 0;
    r->used += (size_t)n;
    return GA_OK;
}

ga_status ga__text_next(ga__text_reader *r, char **text)
{
    size_t seen = 0;
    char *end;
    while (!(end = memchr(r->buffer + r->at + seen, '\n', r->used - r->at - seen)) && !r->ended) {
        seen = r->used - r->at;
        const ga_status status = read_more(r);
        if (status != GA_OK)
            return status;
    }
    *text = NULL;
    if (!end && r->at == r->used)
        return GA_OK;
    *text = r->buffer + r->at;
    r->at = end ? (size_t)(end - r->buffer) + 1 : r->used;
    end = end ? end : r->buffer + r->used;
    *end = '\0';
    r->line++;
    if (strlen(*text) < (size_t)(end - *text))
        return ga__fail(GA_ERR_FORMAT, "loadtxt: %s:%lld: not a text", r->path, r->line);
    if (r->line == 1 && strncmp(*text, MARK, strlen(MARK)) == 0)
        *text += strlen(MARK);
    return GA_OK;
}

/* ---- Cells ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Whether a comment begins here. */
static bool begins_comment(const ga__cell_rules *rules, const char *at)
{
    const size_t length = strlen(rules->comments);
    return length > 0 && strncmp(at, rules->comments, length) == 0;
}

static bool ends_line(const ga__cell_rules *rules, const char *at)
{
    return !*at || begins_comment(rules, at);
}

static bool ends_cell(const ga__cell_rules *rules, const char *at)
{
    return rules->delimiter ? *at == rules->delimiter : is_blank(*at);
}

static char *skip_blanks(const ga__cell_rules *rules, char *at)
{
    while (is_blank(*at) && *at != rules->delimiter)
        at++;
    return at;
}

static ga_status add_cell(ga__text_reader *r, char *cell)
{
    if (r->ncells == r->mostcells) {
        const int64_t most = r->mostcells ? 2 * r->mostcells : 32;
        char **more = ga__realloc(r->cells, (size_t)most * sizeof *more);
        if (!more)
            return GA_ERR_MEMORY;
        r->cells = more;
        r->mostcells = most;
    }
    r->cells[r->ncells++] = cell;
    return GA_OK;
}

/* The end of the cell, and of what follows a quoted one. */
static char *skip_cell(const ga__cell_rules *rules, char *at)
{
    while (!ends_line(rules, at) && !ends_cell(rules, at))
        at++;
    return at;
}

/* The end of the cell, which is freed of its quotes. A quote that nothing closes lasts until the
 * end of the line. */
static char *find_end(const ga__cell_rules *rules, char **cell, char **next)
{
    if (rules->quote && **cell == rules->quote) {
        char *close = strchrnul(++*cell, rules->quote);
        *next = *close ? skip_cell(rules, close + 1) : close;
        return close;
    }
    char *end = *next = skip_cell(rules, *cell);
    while (end > *cell && is_blank(end[-1]))
        end--;
    return end;
}

ga_status ga__text_divide(ga__text_reader *r, const ga__cell_rules *rules, char *text)
{
    char *at = skip_blanks(rules, text);
    bool goes_on = !ends_line(rules, at);
    r->ncells = 0;
    while (goes_on) {
        char *cell = at, *next, *end = find_end(rules, &cell, &next);
        const bool last = ends_line(rules, next);
        at = skip_blanks(rules, last ? next : next + 1);
        goes_on = !last && (rules->delimiter || !ends_line(rules, at));
        *end = '\0';
        const ga_status status = add_cell(r, cell);
        if (status != GA_OK)
            return status;
    }
    return GA_OK;
}
