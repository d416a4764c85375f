/* Parses the argument lists of custom kernels, and finds how their texts use the arguments. */
#include "user/arguments.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cxx_token.h"
#include "base/error.h"
#include "base/word.h"

typedef ga__token token;

static token next_token(const char **at)
{
    static const char *const marks[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "^=", "|=", "::", NULL};
    ga__scanner scanner = {.at = *at, .marks = marks};
    const token t = ga__scan(&scanner);
    *at = scanner.at;
    return t;
}

static bool is(token t, const char *text)
{
    return ga__token_is(t, text);
}

/* ---- The argument list ---- */

static ga_status fail_argument(const char *kernel, const char *part, size_t length, const char *why)
{
    return ga__fail(GA_ERR_INVALID, "%s: argument \"%.*s\": %s", kernel, (int)length, part, why);
}

/* Appends a word to a type, with a space between words. */
static bool extend_type(char *type, size_t size, token t)
{
    const size_t used = strlen(type);
    const bool space = used > 0 && ga__in_word(type[used - 1]) && t.kind == GA__TOKEN_WORD;
    if (used + t.length + 2 > size)
        return false;
    if (space)
        type[used] = ' ';
    memcpy(type + used + space, t.text, t.length);
    type[used + space + t.length] = 0;
    return true;
}

static ga_status read_argument(ga__argument *argument, const char *kernel, const char *part,
                               size_t length)
{
    char type[128] = "";
    const char *at = part, *const end = part + length;
    token name = {.length = 0};
    *argument = (ga__argument){.dtype = GA_NO_DTYPE};
    for (;;) {
        const token t = next_token(&at);
        if (t.length == 0 || t.text >= end)
            break;
        if (is(t, "const") || is(t, "volatile") || is(t, "__restrict__") || is(t, "restrict")) {
            argument->is_const |= is(t, "const") && !argument->array;
            continue;
        }
        if (is(t, "*")) {
            if (argument->array)
                return fail_argument(kernel, part, length,
                                     "a pointer to a pointer is not an array");
            if (name.length > 0 && !extend_type(type, sizeof(type), name))
                return fail_argument(kernel, part, length, "the type is too long");
            name.length = 0;
            argument->array = true;
            continue;
        }
        if (name.length > 0 && !extend_type(type, sizeof(type), name))
            return fail_argument(kernel, part, length, "the type is too long");
        name = t;
    }
    if (name.length == 0 || name.kind != GA__TOKEN_WORD || type[0] == 0)
        return fail_argument(kernel, part, length, "expected a type and a name");
    if (is(name, "i") || is(name, "n"))
        return fail_argument(kernel, part, length, "the names i and n are reserved");
    argument->dtype = ga__dtype_from_c(type);
    argument->integer =
        argument->dtype != GA_NO_DTYPE && strchr("iu", ga__dtype_kind(argument->dtype)) != NULL;
    argument->single = argument->reads = !argument->array && ga__dtype_is_struct(argument->dtype);
    if (argument->dtype == GA_NO_DTYPE)
        return fail_argument(kernel, part, length, "not an element type");
    argument->name = ga__strndup(name.text, name.length);
    return argument->name ? GA_OK : ga_error();
}

static ga_status check_new_name(const ga__arguments *arguments, const char *kernel)
{
    const int last = arguments->count - 1;
    for (int k = 0; k < last; k++)
        if (strcmp(arguments->argument[k].name, arguments->argument[last].name) == 0)
            return ga__fail(GA_ERR_INVALID, "%s: two arguments are named %s", kernel,
                            arguments->argument[last].name);
    return GA_OK;
}

/* The length up to the comma that ends this argument; commas within <> belong to a type. */
static size_t part_length(const char *text)
{
    int depth = 0;
    size_t length = 0;
    for (; text[length]; length++) {
        depth += (text[length] == '<') - (text[length] == '>');
        if (text[length] == ',' && depth <= 0)
            break;
    }
    return length;
}

ga_status ga__arguments_parse(ga__arguments *arguments, const char *kernel, const char *text)
{
    arguments->count = 0;
    ga_status status = GA_OK;
    while (status == GA_OK) {
        const size_t length = part_length(text);
        if (arguments->count == GA__MAX_ARGUMENTS)
            status =
                ga__fail(GA_ERR_INVALID, "%s: more than %d arguments", kernel, GA__MAX_ARGUMENTS);
        else
            status = read_argument(&arguments->argument[arguments->count], kernel, text, length);
        if (status == GA_OK) {
            arguments->count++;
            status = check_new_name(arguments, kernel);
        }
        if (text[length] == 0)
            break;
        text += length + 1;
    }
    if (status != GA_OK)
        ga__arguments_reset(arguments);
    return status;
}

void ga__arguments_reset(ga__arguments *arguments)
{
    for (int k = 0; k < arguments->count; k++)
        ga__free(arguments->argument[k].name);
    arguments->count = 0;
}

/* ---- How the texts use the arrays ---- */

static bool is_any(token t, const char *const *texts)
{
    for (; *texts; texts++)
        if (is(t, *texts))
            return true;
    return false;
}

/* Whether one of the words is among the tokens of the text before `end`. */
static bool names_any(const char *text, const char *end, const char *const *words)
{
    for (token t = next_token(&text); t.length > 0 && t.text < end; t = next_token(&text))
        if (is_any(t, words))
            return true;
    return false;
}

static bool names(const char *text, const char *word)
{
    return names_any(text, text + strlen(text), (const char *const[]){word, NULL});
}

static bool assigns(token t)
{
    return t.length > 0 && t.text[t.length - 1] == '=' && !is(t, "==") && !is(t, "!=") &&
           !is(t, "<=") && !is(t, ">=");
}

/* The uses of one array in an operation. */
typedef struct uses {
    bool other; /* a use that is not name[i] */
    bool reads, writes;
    bool surely_written; /* so far: by an unconditional assignment before any read */
} uses;

/* The token after the members ".x.y[2]" that follow an element at *at; a call of a member function
 * is `(`. */
static token after_members(const char *at, bool *member)
{
    token t = next_token(&at);
    *member = false;
    while (is(t, ".") || (*member && is(t, "["))) {
        *member = true;
        int depth = is(t, "[");
        t = next_token(&at);
        while (depth > 0 && t.length > 0) {
            depth += is(t, "[") - is(t, "]");
            t = next_token(&at);
        }
        if (t.kind == GA__TOKEN_WORD)
            t = next_token(&at);
    }
    return t;
}

/* Records one name[i] between the tokens `before` and `after`. */
static void note_use(uses *u, token before, token after, bool statement_start)
{
    const bool step = is(after, "++") || is(after, "--") || is(before, "++") || is(before, "--");
    if (is(before, "&") || step || (assigns(after) && !is(after, "="))) {
        u->writes = true;
        u->reads |= !u->surely_written;
    } else if (is(after, "=")) {
        u->writes = true;
        if (!statement_start)
            u->reads |= !u->surely_written;
    } else {
        u->reads |= !u->surely_written;
    }
}

/* Whether the expression from `at` to its semicolon reads the array `name`. */
static bool reads_in_statement(const char *at, const char *name)
{
    for (token t = next_token(&at); t.length > 0 && !is(t, ";"); t = next_token(&at))
        if (is(t, name))
            return true;
    return false;
}

static uses find_uses(const char *operation, const char *name)
{
    uses u = {false, false, false, false};
    token before = {.text = ";", .length = 1};
    int depth = 0;
    const char *at = operation;
    for (token t = next_token(&at); t.length > 0; t = next_token(&at)) {
        depth += (is(t, "{") || is(t, "(")) - (is(t, "}") || is(t, ")"));
        const bool member = is(before, ".") || is(before, "->");
        if (!is(t, name) || member) {
            before = t;
            continue;
        }
        const bool starts = depth == 0 && (is(before, ";") || is(before, "}"));
        const token open = next_token(&at), index = next_token(&at), close = next_token(&at);
        if (!is(open, "[") || !is(index, "i") || !is(close, "]")) {
            u.other = true;
            return u;
        }
        const char *ahead = at;
        bool in_member;
        token after = after_members(at, &in_member);
        if (!in_member)
            after = next_token(&ahead);
        const bool sure =
            starts && !in_member && is(after, "=") && !reads_in_statement(ahead, name);
        note_use(&u, before, after, sure);
        if (in_member && (assigns(after) || is(after, "("))) /* the other members stay */
            u.writes = u.reads = true;
        u.surely_written |= sure;
        before = close;
    }
    return u;
}

/* After a jump, no assignment in the operation is certain. (The operation is the body of a loop
 * that runs once.) */
static bool jumps(const char *operation)
{
    static const char *const words[] = {"return", "continue", "break", "goto", NULL};
    return names_any(operation, operation + strlen(operation), words);
}

/* The end of the line that starts at `text`, including lines joined by backslashes. */
static const char *line_end(const char *text)
{
    const char *end = text + strcspn(text, "\n");
    while (*end && end > text && end[-1] == '\\')
        end += 1 + strcspn(end + 1, "\n");
    return end;
}

/* Whether a macro's replacement, up to `end`, may jump, or open or close a block. */
static bool replaces_flow(const char *text, const char *end)
{
    static const char *const words[] = {"{", "}", "return", "continue", "break", "goto", NULL};
    return names_any(text, end, words);
}

static bool names_token(const char *text, token name)
{
    for (token t = next_token(&text); t.length > 0; t = next_token(&text))
        if (t.length == name.length && memcmp(t.text, name.text, t.length) == 0)
            return true;
    return false;
}

/* Whether the operation may contain jumps or blocks that its text does not show: through its own
 * directives, through macros of the preamble (it uses one, and any of them has such tokens), or
 * through included files. */
static bool is_rewritten(const char *operation, const char *preamble)
{
    bool named = false, flow = false;
    for (token t = next_token(&preamble); t.length > 0; t = next_token(&preamble)) {
        if (!is(t, "#"))
            continue;
        const char *const end = line_end(preamble);
        const token directive = next_token(&preamble), macro = next_token(&preamble);
        if (is(directive, "include"))
            return true;
        if (is(directive, "define")) {
            named |= names_token(operation, macro);
            flow |= replaces_flow(preamble, end);
        }
        preamble = end;
    }
    return (named && flow) || names(operation, "#");
}

static void use_argument(ga__argument *argument, const char *operation, const char *preamble,
                         const char *const *others)
{
    uses u = find_uses(operation, argument->name);
    for (; *others; others++)
        u.other |= names(*others, argument->name);
    if (u.other) {
        argument->access = GA__ACCESSOR;
        argument->reads = true;
        argument->writes = !argument->is_const;
        return;
    }
    argument->access = GA__ELEMENT;
    argument->writes = u.writes && !argument->is_const; /* the compiler rejects writes to a const
                                                         * array */
    argument->reads =
        u.reads || (u.writes && (jumps(operation) || is_rewritten(operation, preamble)));
}

void ga__arguments_use(ga__arguments *arguments, const char *operation, const char *preamble,
                       const char *const *others)
{
    for (int k = 0; k < arguments->count; k++)
        if (arguments->argument[k].array)
            use_argument(&arguments->argument[k], operation, preamble, others);
}

bool ga__text_uses_index(const char *text)
{
    token before = {.text = ";", .length = 1};
    for (token t = next_token(&text); t.length > 0; t = next_token(&text)) {
        if (is(t, "i") && !is(before, ".") && !is(before, "->")) {
            const char *ahead = text;
            if (!is(before, "[") || !is(next_token(&ahead), "]"))
                return true;
        }
        before = t;
    }
    return false;
}
