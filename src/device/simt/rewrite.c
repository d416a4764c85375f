/* Rewrites `extern __shared__` and `<<<` in CUDA C++ token by token and keeps line numbers. */
#include "device/simt/rewrite.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

/* ---- tokens ---- */

/* IDENTIFIER, NUMBER, STRING, or a punctuator's character; LAUNCH is <<<, LINE_END the end of a
 * directive. */
enum { END = 0, IDENTIFIER = 256, NUMBER, STRING, LAUNCH, LINE_END };

typedef struct token {
    int kind;
    size_t begin, end;
} token;

enum { MOST_TOKENS = 256, MOST_DEPTH = 256, MOST_CONDITIONS = 64 };

typedef struct rewriter {
    const char *text;
    size_t at;
    bool line_start;   /* no token on this line yet: a # begins a directive */
    bool in_directive; /* line ends are tokens */

    token tokens[MOST_TOKENS]; /* of the declaration, from its extern or __shared__ on */
    int ntokens;               /* 0 if neither was seen */
    bool is_namespace;         /* the declaration so far begins a namespace */
    token previous, before;    /* the last two tokens */

    bool scopes[MOST_DEPTH]; /* for each open brace: whether it belongs to a namespace */
    int depth;
    int conditions[MOST_CONDITIONS]; /* the depth at each open #if */
    int nconditions;

    ga__strbuf out;
    size_t copied; /* how much of the text is copied */
    bool *dynamic;
} rewriter;

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(const rewriter *r, const char *text)
{
    return strncmp(r->text + r->at, text, strlen(text)) == 0;
}

/* Skips a backslash at a line's end; whether there was one. */
static bool skip_continuation(rewriter *r)
{
    if (starts(r, "\\\n"))
        r->at += 2;
    else if (starts(r, "\\\r\n"))
        r->at += 3;
    else
        return false;
    return true;
}

static void skip_line_comment(rewriter *r)
{
    while (r->text[r->at] != '\0' && r->text[r->at] != '\n') {
        if (!skip_continuation(r))
            r->at++;
    }
}

static void skip_block_comment(rewriter *r)
{
    const char *end = strstr(r->text + r->at + 2, "*/");
    r->at = end != NULL ? (size_t)(end - r->text) + 2 : strlen(r->text);
}

/* Skips a comment, a blank or a continued line; whether there was one. */
static bool skip_blank(rewriter *r)
{
    const char c = r->text[r->at];
    if (starts(r, "//")) {
        skip_line_comment(r);
    } else if (starts(r, "/*")) {
        skip_block_comment(r);
    } else if (isspace((unsigned char)c) && !(c == '\n' && r->in_directive)) {
        r->line_start |= c == '\n';
        r->at++;
    } else {
        return skip_continuation(r);
    }
    return true;
}

static void skip_quoted(rewriter *r, char quote)
{
    r->at++;
    while (r->text[r->at] != '\0' && r->text[r->at] != '\n' && r->text[r->at] != quote)
        r->at += r->text[r->at] == '\\' && r->text[r->at + 1] != '\0' ? 2 : 1;
    r->at += r->text[r->at] == quote;
}

/* Skips R"delimiter( ... )delimiter". */
static void skip_raw(rewriter *r)
{
    char close[20] = ")";
    const char *delimiter = r->text + r->at + 1;
    const size_t length = strcspn(delimiter, "(");
    if (length > 16 || delimiter[length] == '\0') {
        skip_quoted(r, '"');
        return;
    }
    memcpy(close + 1, delimiter, length);
    close[length + 1] = '"';
    const char *end = strstr(delimiter + length, close);
    r->at = end != NULL ? (size_t)(end - r->text) + length + 2 : strlen(r->text);
}

static bool is_raw_prefix(const rewriter *r, size_t begin)
{
    return r->text[r->at] == '"' && r->text[r->at - 1] == 'R' && r->at - begin <= 3;
}

static int scan(rewriter *r)
{
    const size_t begin = r->at;
    const char c = r->text[begin];
    if (c == '\0')
        return END;
    if (c == '\n') {
        r->at++;
        return LINE_END;
    }
    if (isdigit((unsigned char)c)) { /* a digit may follow a ' */
        while (is_word(r->text[r->at]) || r->text[r->at] == '.' ||
               (r->text[r->at] == '\'' && is_word(r->text[r->at + 1])))
            r->at++;
        return NUMBER;
    }
    if (is_word(c)) {
        while (is_word(r->text[r->at]))
            r->at++;
        if (!is_raw_prefix(r, begin))
            return IDENTIFIER;
        skip_raw(r);
        return STRING;
    }
    if (c == '"' || c == '\'') {
        skip_quoted(r, c);
        return STRING;
    }
    r->at += starts(r, "<<<") ? 3 : 1;
    return r->at - begin == 3 ? LAUNCH : (unsigned char)c;
}

static token next_token(rewriter *r)
{
    while (skip_blank(r)) {
    }
    token t = {END, r->at, 0};
    t.kind = scan(r);
    t.end = r->at;
    return t;
}

static bool is_text(const rewriter *r, token t, const char *text)
{
    const size_t length = strlen(text);
    return t.kind == IDENTIFIER && t.end - t.begin == length &&
           memcmp(r->text + t.begin, text, length) == 0;
}

/* ---- output ---- */

static void copy_to(rewriter *r, size_t end)
{
    assert(r->copied <= end);
    ga__strbuf_add_bytes(&r->out, r->text + r->copied, end - r->copied);
    r->copied = end;
}

static void replace(rewriter *r, token t, const char *text)
{
    copy_to(r, t.begin);
    ga__strbuf_add(&r->out, text);
    r->copied = t.end;
}

/* ---- extern __shared__ ---- */

/* The index after the brackets that start at `i`; 0 if they do not close. */
static int skip_brackets(const rewriter *r, int i)
{
    int open = 0;
    for (; i < r->ntokens; i++) {
        open += (r->tokens[i].kind == '[') - (r->tokens[i].kind == ']');
        if (open == 0 && (i + 1 == r->ntokens || r->tokens[i + 1].kind != '['))
            return i + 1;
    }
    return 0;
}

/* The index after `name[]...`, at a comma or the end; 0 if it is not a declarator. */
static int declarator_end(const rewriter *r, int i)
{
    if (r->tokens[i].kind != IDENTIFIER || i + 1 >= r->ntokens || r->tokens[i + 1].kind != '[')
        return 0;
    const int end = skip_brackets(r, i + 1);
    return end > 0 && (end == r->ntokens || r->tokens[end].kind == ',') ? end : 0;
}

/* Rewrites declarator i of the declaration, which ends before token `end`. In a function, the
 * declarator becomes a reference to memory that is found at run time. In a namespace, such a
 * reference would be initialised once for all threads; there the variable gets another symbol name
 * instead. GCC ignores such names in templates. */
static void rewrite_declarator(rewriter *r, int i, int end, bool in_function)
{
    if (in_function) {
        copy_to(r, r->tokens[i].begin);
        ga__strbuf_add(&r->out, "(&");
        copy_to(r, r->tokens[i].end);
        ga__strbuf_add(&r->out, ")");
    }
    copy_to(r, r->tokens[end - 1].end);
    ga__strbuf_add(&r->out,
                   in_function ? " = ga_simt_dynamic_shared" : " __asm__(\"ga_simt_dynamic\")");
}

static void rewrite_shared(rewriter *r, bool in_function)
{
    for (int i = 0; i < r->ntokens; i++) {
        int end = 0;
        if (is_text(r, r->tokens[i], "extern")) {
            replace(r, r->tokens[i], in_function ? "" : "extern __thread");
        } else if (is_text(r, r->tokens[i], "__shared__")) {
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
        has_extern |= is_text(r, r->tokens[i], "extern");
        has_shared |= is_text(r, r->tokens[i], "__shared__");
    }
    if (has_extern && has_shared)
        rewrite_shared(r, function);
    r->ntokens = 0;
    r->is_namespace = false;
}

static void add_token(rewriter *r, token t)
{
    const bool begins = is_text(r, t, "extern") || is_text(r, t, "__shared__");
    r->is_namespace |= is_text(r, t, "namespace");
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
    if (is_text(r, r->previous, "operator"))
        return;
    copy_to(r, t.begin);
    ga__strbuf_add(&r->out, " _Pragma(\"GCC error \\\"launches (<<< >>>) from device code are not "
                            "supported on the host\\\"\")");
    r->ntokens = 0;
}

/* The branches of a conditional close the same braces. */
static void follow_condition(rewriter *r, token name)
{
    const char *text = r->text + name.begin;
    if (strncmp(text, "if", 2) == 0) {
        if (r->nconditions < MOST_CONDITIONS)
            r->conditions[r->nconditions] = r->depth;
        r->nconditions++;
    } else if (strncmp(text, "el", 2) == 0) {
        if (r->nconditions > 0 && r->nconditions <= MOST_CONDITIONS)
            r->depth = r->conditions[r->nconditions - 1];
    } else if (is_text(r, name, "endif")) {
        r->nconditions -= r->nconditions > 0;
    }
}

/* Rewrites a macro's body as if it were in a function. */
static void directive(rewriter *r)
{
    r->in_directive = true;
    token t = next_token(r);
    const bool defines = is_text(r, t, "define");
    if (t.kind == IDENTIFIER)
        follow_condition(r, t);
    while (t.kind != LINE_END && t.kind != END) {
        t = next_token(r);
        if (defines && (t.kind == ';' || t.kind == LINE_END || t.kind == END))
            end_declaration(r, true);
        else if (defines && t.kind == LAUNCH)
            refuse_launch(r, t);
        else if (defines)
            add_token(r, t);
    }
    r->ntokens = 0;
    r->in_directive = false;
    r->line_start = true;
}

static void open_brace(rewriter *r)
{
    const bool linkage = r->previous.kind == STRING && is_text(r, r->before, "extern");
    if (r->depth < MOST_DEPTH)
        r->scopes[r->depth] = r->is_namespace || linkage;
    r->depth++;
}

static void handle(rewriter *r, token t)
{
    switch (t.kind) {
    case '{':
        open_brace(r);
        r->ntokens = 0;
        r->is_namespace = false;
        break;
    case '}':
        r->depth -= r->depth > 0;
        r->ntokens = 0;
        r->is_namespace = false;
        break;
    case ';': end_declaration(r, in_function(r)); break;
    case LAUNCH: refuse_launch(r, t); break;
    default: add_token(r, t);
    }
    r->before = r->previous;
    r->previous = t;
}

char *ga__simt_rewrite(const char *text, bool *dynamic)
{
    rewriter *r = ga__calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->text = text;
    r->line_start = true;
    r->dynamic = dynamic;
    for (;;) {
        const token t = next_token(r);
        if (t.kind == END)
            break;
        if (t.kind == '#' && r->line_start)
            directive(r);
        else
            handle(r, t);
        r->line_start = r->text[r->at - 1] == '\n';
    }
    copy_to(r, strlen(text));
    char *out = ga__strbuf_take(&r->out);
    ga__free(r);
    return out;
}
