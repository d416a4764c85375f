/* Rewrites `extern __shared__` and `<<<` in CUDA C++ token by token and keeps line numbers. */
#include "device/simt/rewrite.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_token.h"
#include "base/strbuf.h"

typedef ga__token token;

enum { MOST_TOKENS = 256, MOST_DEPTH = 256, MOST_CONDITIONS = 64 };

typedef struct rewriter {
    ga__scanner scanner;
    token tokens[MOST_TOKENS]; /* of the declaration, from its extern or __shared__ on */
    int ntokens;               /* 0 if neither was seen */
    bool is_namespace;         /* the declaration so far begins a namespace */
    token previous, before;    /* the last two tokens */

    bool scopes[MOST_DEPTH]; /* for each open brace: whether it belongs to a namespace */
    int depth;
    int conditions[MOST_CONDITIONS]; /* the depth at each open #if */
    int nconditions;

    ga__strbuf out;
    const char *copied; /* the text before it is in `out` */
    bool *dynamic;
} rewriter;

static bool is(token t, const char *text)
{
    return ga__token_is(t, text);
}

static bool ends_directive(token t)
{
    return t.kind == GA__TOKEN_LINE_END || t.kind == GA__TOKEN_END;
}

/* ---- output ---- */

static void copy_to(rewriter *r, const char *end)
{
    assert(r->copied <= end);
    ga__strbuf_add_bytes(&r->out, r->copied, (size_t)(end - r->copied));
    r->copied = end;
}

static void replace(rewriter *r, token t, const char *text)
{
    copy_to(r, t.text);
    ga__strbuf_add(&r->out, text);
    r->copied = t.text + t.length;
}

/* ---- extern __shared__ ---- */

/* The index after the brackets that start at `i`; 0 if they do not close. */
static int skip_brackets(const rewriter *r, int i)
{
    int open = 0;
    for (; i < r->ntokens; i++) {
        open += is(r->tokens[i], "[") - is(r->tokens[i], "]");
        if (open == 0 && (i + 1 == r->ntokens || !is(r->tokens[i + 1], "[")))
            return i + 1;
    }
    return 0;
}

/* The index after `name[]...`, at a comma or the end; 0 if it is not a declarator. */
static int declarator_end(const rewriter *r, int i)
{
    if (r->tokens[i].kind != GA__TOKEN_WORD || i + 1 >= r->ntokens || !is(r->tokens[i + 1], "["))
        return 0;
    const int end = skip_brackets(r, i + 1);
    return end > 0 && (end == r->ntokens || is(r->tokens[end], ",")) ? end : 0;
}

/* Rewrites declarator i of the declaration, which ends before token `end`. In a function, the
 * declarator becomes a reference to memory that is found at run time. In a namespace, such a
 * reference would be initialised once for all threads; there the variable gets another symbol name
 * instead. GCC ignores such names in templates. */
static void rewrite_declarator(rewriter *r, int i, int end, bool in_function)
{
    if (in_function) {
        copy_to(r, r->tokens[i].text);
        ga__strbuf_add(&r->out, "(&");
        copy_to(r, r->tokens[i].text + r->tokens[i].length);
        ga__strbuf_add(&r->out, ")");
    }
    copy_to(r, r->tokens[end - 1].text + r->tokens[end - 1].length);
    ga__strbuf_add(&r->out,
                   in_function ? " = ga_simt_dynamic_shared" : " __asm__(\"ga_simt_dynamic\")");
}

static void rewrite_shared(rewriter *r, bool in_function)
{
    for (int i = 0; i < r->ntokens; i++) {
        int end = 0;
        if (is(r->tokens[i], "extern")) {
            replace(r, r->tokens[i], in_function ? "" : "extern __thread");
        } else if (is(r->tokens[i], "__shared__")) {
            replace(r, r->tokens[i], "");
        } else if ((end = declarator_end(r, i)) > 0) {
            rewrite_declarator(r, i, end, in_function);
            i = end - 1;
        }
    }
    *r->dynamic = true;
}

static bool in_function(const rewriter *r)
{
    for (int i = 0; i < r->depth && i < MOST_DEPTH; i++) {
        if (!r->scopes[i])
            return true;
    }
    return false;
}

/* Called at the declaration's end. */
static void end_declaration(rewriter *r, bool function)
{
    bool has_extern = false, has_shared = false;
    for (int i = 0; i < r->ntokens; i++) {
        has_extern |= is(r->tokens[i], "extern");
        has_shared |= is(r->tokens[i], "__shared__");
    }
    if (has_extern && has_shared)
        rewrite_shared(r, function);
    r->ntokens = 0;
    r->is_namespace = false;
}

static void add_token(rewriter *r, token t)
{
    const bool begins = is(t, "extern") || is(t, "__shared__");
    r->is_namespace |= is(t, "namespace");
    if (r->ntokens == 0 && !begins)
        return;
    if (r->ntokens == MOST_TOKENS) /* no relevant declaration is that long */
        r->ntokens = 0;
    else
        r->tokens[r->ntokens++] = t;
}

/* ---- everything else ---- */

static void refuse_launch(rewriter *r, token t)
{
    if (is(r->previous, "operator"))
        return;
    copy_to(r, t.text);
    ga__strbuf_add(&r->out, " _Pragma(\"GCC error \\\"launches (<<< >>>) from device code are not "
                            "supported on the host\\\"\")");
    r->ntokens = 0;
}

/* The branches of a conditional close the same braces. */
static void follow_condition(rewriter *r, token name)
{
    if (strncmp(name.text, "if", 2) == 0) {
        if (r->nconditions < MOST_CONDITIONS)
            r->conditions[r->nconditions] = r->depth;
        r->nconditions++;
    } else if (strncmp(name.text, "el", 2) == 0) {
        if (r->nconditions > 0 && r->nconditions <= MOST_CONDITIONS)
            r->depth = r->conditions[r->nconditions - 1];
    } else if (is(name, "endif")) {
        r->nconditions -= r->nconditions > 0;
    }
}

/* Rewrites a macro's body as if it were in a function. */
static void directive(rewriter *r)
{
    r->scanner.in_directive = true;
    token t = ga__scan(&r->scanner);
    const bool defines = is(t, "define");
    if (t.kind == GA__TOKEN_WORD)
        follow_condition(r, t);
    while (!ends_directive(t)) {
        t = ga__scan(&r->scanner);
        if (defines && (is(t, ";") || ends_directive(t)))
            end_declaration(r, true);
        else if (defines && is(t, "<<<"))
            refuse_launch(r, t);
        else if (defines)
            add_token(r, t);
    }
    r->ntokens = 0;
    r->scanner.in_directive = false;
}

static void open_brace(rewriter *r)
{
    const bool linkage = r->previous.kind == GA__TOKEN_STRING && is(r->before, "extern");
    if (r->depth < MOST_DEPTH)
        r->scopes[r->depth] = r->is_namespace || linkage;
    r->depth++;
}

static void handle(rewriter *r, token t)
{
    if (is(t, "{") || is(t, "}")) {
        if (is(t, "{"))
            open_brace(r);
        else
            r->depth -= r->depth > 0;
        r->ntokens = 0;
        r->is_namespace = false;
    } else if (is(t, ";")) {
        end_declaration(r, in_function(r));
    } else if (is(t, "<<<")) {
        refuse_launch(r, t);
    } else {
        add_token(r, t);
    }
    r->before = r->previous;
    r->previous = t;
}

char *ga__simt_rewrite(const char *text, bool *dynamic)
{
    static const char *const marks[] = {"<<<", NULL};
    rewriter *r = ga__calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->scanner = (ga__scanner){.at = text, .marks = marks, .line_start = true};
    r->copied = text;
    r->dynamic = dynamic;
    for (token t = ga__scan(&r->scanner); t.kind != GA__TOKEN_END; t = ga__scan(&r->scanner)) {
        if (t.line_start && is(t, "#"))
            directive(r);
        else
            handle(r, t);
    }
    copy_to(r, text + strlen(text));
    char *out = ga__strbuf_take(&r->out);
    ga__free(r);
    return out;
}
