/* Parses CUDA C++ declarations just enough to find the names of kernels and variables. */
#include "user/cuda_names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cxx_token.h"
#include "base/strbuf.h"

/* ---- Tokens ---- */

typedef struct reader {
    ga__scanner scanner;
    int conditions; /* the number of #if around the current token */
    ga__token token;
} reader;

/* Skips a # line and counts conditions. */
static void skip_directive(reader *r)
{
    r->scanner.in_directive = true;
    ga__token t = ga__scan(&r->scanner);
    if (t.kind == GA__TOKEN_WORD && strncmp(t.text, "if", 2) == 0)
        r->conditions++;
    if (ga__token_is(t, "endif") && r->conditions > 0)
        r->conditions--;
    while (t.kind != GA__TOKEN_LINE_END && t.kind != GA__TOKEN_END)
        t = ga__scan(&r->scanner);
    r->scanner.in_directive = false;
}

static void next(reader *r)
{
    while (ga__token_is(r->token = ga__scan(&r->scanner), "#"))
        skip_directive(r);
}

static bool is(const reader *r, const char *text)
{
    return ga__token_is(r->token, text);
}

static bool is_any(const reader *r, const char *const *texts)
{
    for (; *texts; texts++)
        if (is(r, *texts))
            return true;
    return false;
}

/* With `open` as the current token, skips past the matching `close`. */
static void skip_balanced(reader *r, const char *open, const char *close)
{
    int depth = 0;
    while (r->token.kind != GA__TOKEN_END) {
        if (strcmp(open, "<") == 0 && is(r, "(")) { /* here > may mean "greater" */
            skip_balanced(r, "(", ")");
            continue;
        }
        depth += is(r, open);
        depth -= is(r, close);
        next(r);
        if (depth == 0)
            return;
    }
}

/* The same for any bracket but <; false if the current token is not a bracket. */
static bool skip_bracket(reader *r)
{
    if (is(r, "("))
        skip_balanced(r, "(", ")");
    else if (is(r, "["))
        skip_balanced(r, "[", "]");
    else if (is(r, "{"))
        skip_balanced(r, "{", "}");
    else
        return false;
    return true;
}

/* ---- Declarations ---- */

enum { MOST_SCOPES = 64 };

typedef struct parser {
    reader r;
    ga__cuda_names *names;
    /* The namespaces and extern "C" { around the current declaration. */
    ga__strbuf path;             /* "ns::inner::" */
    size_t lengths[MOST_SCOPES]; /* the path's length outside each scope */
    int nscopes;
    /* The current declaration. */
    bool is_kernel, is_variable, is_template, is_function;
    bool is_conditional;   /* inside #if */
    ga__strbuf declarator; /* its last name: "add", "ns::add" */
    bool joins;            /* the last token was :: */
} parser;

static void cut(ga__strbuf *s, size_t length)
{
    ga__strbuf_add(s, "");
    if (s->failed)
        return;
    s->length = length;
    s->text[length] = '\0';
}

static void begin_declaration(parser *p)
{
    p->is_kernel = p->is_variable = p->is_template = p->is_function = p->joins = false;
    cut(&p->declarator, 0);
}

/* Adds a kernel's name. A name that is defined twice, as overloads are, identifies neither
 * kernel. */
static void add_kernel(ga__cuda_names *names, const char *name, bool is_plain)
{
    const long earlier = ga__texts_find(&names->kernels, name);
    if (earlier >= 0)
        ga__texts_remove(&names->kernels, (size_t)earlier);
    if (is_plain && earlier < 0 && ga__texts_find(&names->others, name) < 0)
        ga__texts_add(&names->kernels, name);
    else if (ga__texts_find(&names->others, name) < 0)
        ga__texts_add(&names->others, name);
}

static void record(parser *p)
{
    ga__strbuf name = GA__STRBUF_INIT;
    ga__cuda_names *names = p->names;
    if (p->path.failed || p->declarator.failed || p->declarator.length == 0)
        return;
    ga__strbuf_addf(&name, "%s%s%s", p->path.text ? p->path.text : "", p->declarator.text,
                    p->is_template ? "<...>" : "");
    names->kernels.failed |= name.failed;
    if (name.failed)
        return;
    if (p->is_kernel)
        add_kernel(names, name.text, !p->is_template && !p->is_conditional);
    else if (ga__texts_find(&names->variables, name.text) < 0)
        ga__texts_add(&names->variables, name.text);
    ga__strbuf_reset(&name);
}

static void end_declarator(parser *p)
{
    if (p->is_variable && !p->is_function)
        record(p);
}

static void enter_scope(parser *p, size_t length_outside)
{
    p->lengths[p->nscopes++] = length_outside;
    next(&p->r);
    begin_declaration(p);
}

static void leave_scope(parser *p)
{
    if (p->nscopes > 0)
        cut(&p->path, p->lengths[--p->nscopes]);
    next(&p->r);
    begin_declaration(p);
}

/* Reads namespace a::b {, with one or several names. */
static void read_namespace(parser *p)
{
    reader *r = &p->r;
    const size_t outside = p->path.length;
    for (next(r); r->token.kind != GA__TOKEN_END && !is(r, "{") && !is(r, ";");) {
        if (r->token.kind == GA__TOKEN_WORD && !is(r, "inline")) {
            ga__strbuf_add_bytes(&p->path, r->token.text, r->token.length);
            ga__strbuf_add(&p->path, "::");
        }
        if (!skip_bracket(r))
            next(r);
    }
    if (is(r, "{") && p->nscopes < MOST_SCOPES)
        enter_scope(p, outside);
    else
        cut(&p->path, outside);
}

static void read_extern(parser *p)
{
    reader *r = &p->r;
    next(r);
    if (r->token.kind != GA__TOKEN_STRING)
        return;
    next(r);
    if (is(r, "{") && p->nscopes < MOST_SCOPES)
        enter_scope(p, p->path.length);
}

/* Reads template <class T>, or an explicit instantiation, which defines no name. */
static void read_template(parser *p)
{
    next(&p->r);
    begin_declaration(p);
    p->is_template = true;
    if (is(&p->r, "<"))
        skip_balanced(&p->r, "<", ">");
}

static void read_name(parser *p)
{
    const ga__token *t = &p->r.token;
    if (!p->is_function) {
        if (p->joins)
            ga__strbuf_add(&p->declarator, "::");
        else
            cut(&p->declarator, 0);
        ga__strbuf_add_bytes(&p->declarator, t->text, t->length);
    }
    next(&p->r);
}

static void read_word(parser *p)
{
    static const char *const attributes[] = {"__launch_bounds__",
                                             "__attribute__",
                                             "__align__",
                                             "alignas",
                                             "__cluster_dims__",
                                             "__maxnreg__",
                                             "__block_size__",
                                             "__declspec",
                                             "decltype",
                                             "noexcept",
                                             NULL};
    static const char *const spaces[] = {"__device__", "__constant__", "__managed__", NULL};
    reader *r = &p->r;
    if (is(r, "namespace")) {
        read_namespace(p);
    } else if (is(r, "extern")) {
        read_extern(p);
    } else if (is(r, "template")) {
        read_template(p);
    } else if (is(r, "__global__")) {
        p->is_kernel = true;
        p->is_function = false; /* overrides a preceding macro */
        p->is_conditional = r->conditions > 0;
        next(r);
    } else if (is_any(r, attributes)) {
        next(r);
        if (is(r, "("))
            skip_balanced(r, "(", ")");
    } else if (is_any(r, spaces)) {
        p->is_variable = true;
        next(r);
    } else {
        read_name(p);
    }
    p->joins = false;
}

static void read_initialiser(parser *p)
{
    reader *r = &p->r;
    end_declarator(p);
    while (r->token.kind != GA__TOKEN_END && !is(r, ";") && !is(r, ","))
        if (!skip_bracket(r))
            next(r);
    cut(&p->declarator, 0);
}

/* Skips brackets: parameters, a function's body, a struct's members, an array's length. */
static void read_bracket(parser *p)
{
    const bool parameters = is(&p->r, "(");
    const bool body = is(&p->r, "{") && p->is_function;
    p->is_function |= parameters && p->declarator.length > 0;
    if (body && p->is_kernel)
        record(p);
    (void)skip_bracket(&p->r);
    if (body)
        begin_declaration(p);
}

static void read_token(parser *p)
{
    reader *r = &p->r;
    if (r->token.kind == GA__TOKEN_WORD) {
        read_word(p);
    } else if (is(r, "}")) {
        leave_scope(p);
    } else if (is(r, ";")) {
        end_declarator(p);
        next(r);
        begin_declaration(p);
    } else if (is(r, "=")) {
        read_initialiser(p);
    } else if (is(r, "<")) {
        skip_balanced(r, "<", ">");
    } else if (is(r, "(") || is(r, "[") || is(r, "{")) {
        read_bracket(p);
    } else {
        if (is(r, ","))
            end_declarator(p);
        p->joins = is(r, "::");
        next(r);
    }
}

ga_status ga__cuda_names_find(ga__cuda_names *names, const char *text)
{
    static const char *const marks[] = {"::", NULL};
    parser p = {.r.scanner = {.at = text, .marks = marks, .line_start = true}, .names = names};
    *names = (ga__cuda_names){0};
    next(&p.r);
    begin_declaration(&p);
    while (p.r.token.kind != GA__TOKEN_END)
        read_token(&p);
    const bool failed = p.path.failed || p.declarator.failed || names->kernels.failed ||
                        names->others.failed || names->variables.failed;
    ga__strbuf_reset(&p.path);
    ga__strbuf_reset(&p.declarator);
    if (failed)
        ga__cuda_names_reset(names);
    return failed ? GA_ERR_MEMORY : GA_OK;
}

void ga__cuda_names_reset(ga__cuda_names *names)
{
    ga__texts_reset(&names->kernels);
    ga__texts_reset(&names->others);
    ga__texts_reset(&names->variables);
}

char *ga__cuda_variable_symbol(const char *name)
{
    ga__strbuf symbol = GA__STRBUF_INIT;
    if (!strstr(name, "::"))
        return ga__strdup(name);
    ga__strbuf_add(&symbol, "_ZN");
    for (const char *at = name, *end; *at; at = *end ? end + 2 : end) {
        end = strstr(at, "::");
        end = end ? end : at + strlen(at);
        ga__strbuf_addf(&symbol, "%d%.*s", (int)(end - at), (int)(end - at), at);
    }
    ga__strbuf_add(&symbol, "E");
    return ga__strbuf_take(&symbol);
}
