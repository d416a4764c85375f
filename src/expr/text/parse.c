/* Parses expressions by recursive descent: Python's syntax and precedence over the op tables. */
#include "expr/text/parse.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/stack.h"
#include "expr/text/parser.h"

typedef ga__parser parser;

#define FAILED GA__PARSE_FAILED
#define LEAF GA__PARSE_LEAF

/* The stack that the deepest operand needs, including error messages. */
#define STACK_RESERVE ((size_t)24 << 10)

/* ---- Nodes ---- */

void *ga__parser_grow(void *items, int *capacity, size_t size)
{
    const int larger = *capacity ? 2 * *capacity : 16;
    void *grown = ga__realloc(items, (size_t)larger * size);
    if (grown)
        *capacity = larger;
    return grown;
}

int ga__parser_add(parser *p, ga__ast_node node)
{
    ga__ast *f = p->ast;
    if (f->nnodes == GA__EVAL_NODES)
        return ga__lexer_fail(&p->lexer, node.at, "the expression is too large");
    if (f->nnodes == f->node_capacity) {
        ga__ast_node *nodes = ga__parser_grow(f->nodes, &f->node_capacity, sizeof(*nodes));
        if (!nodes)
            return FAILED;
        f->nodes = nodes;
    }
    f->nodes[f->nnodes] = node;
    return f->nnodes++;
}

#define PRODUCT GA__ROW_COUNT /* a @ b has no row */

static LEAF int add_operator(parser *p, int row, size_t at, int a, int b)
{
    const ga__ast_kind kind = row == PRODUCT ? GA__AST_PRODUCT : GA__AST_OPERATOR;
    if (a == FAILED || b == FAILED)
        return FAILED;
    return ga__parser_add(p, (ga__ast_node){.kind = kind, .row = row, .operand = {a, b}, .at = at});
}

/* ---- Expressions, from the strongest binding to the weakest ---- */

/* The node of the latest local with this name; FAILED if there is none. */
static int find_local(const parser *p, size_t at, size_t length)
{
    const char *text = p->lexer.text;
    for (int k = p->ast->nlocals - 1; k >= 0; k--) {
        const ga__local *local = &p->ast->locals[k];
        if (local->length == length && memcmp(text + local->at, text + at, length) == 0)
            return local->node;
    }
    return FAILED;
}

static LEAF int add_name(parser *p, size_t at, size_t length)
{
    const int local = find_local(p, at, length);
    if (local != FAILED)
        return local;
    return ga__parser_add(p, (ga__ast_node){.kind = GA__AST_NAME, .at = at, .length = length});
}

static int parse_name(parser *p)
{
    const size_t at = p->lexer.next.at, length = p->lexer.next.length;
    if (ga__lexer_is_word(p->lexer.text + at, length, 3))
        return ga__lexer_fail(&p->lexer, at, "expected an operand");
    if (ga__lexer_advance(&p->lexer) == FAILED)
        return FAILED;
    const int call = ga__lexer_accept(&p->lexer, "(");
    if (call)
        return call == FAILED ? FAILED : ga__parse_call(p, at, length);
    return add_name(p, at, length);
}

static LEAF int parse_number(parser *p)
{
    const ga__token number = p->lexer.next;
    if (ga__lexer_advance(&p->lexer) == FAILED)
        return FAILED;
    return ga__parser_add(
        p, (ga__ast_node){.kind = GA__AST_NUMBER, .at = number.at, .number = number.number});
}

static int parse_atom(parser *p)
{
    if (p->lexer.next.kind == GA__TOKEN_NAME)
        return parse_name(p);
    if (p->lexer.next.kind == GA__TOKEN_NUMBER)
        return parse_number(p);
    const int open = ga__lexer_accept(&p->lexer, "(");
    if (open == FAILED)
        return FAILED;
    if (!open)
        return ga__lexer_fail(&p->lexer, p->lexer.next.at,
                              p->lexer.next.kind == GA__TOKEN_END ? "the expression ends too early"
                                                                  : "expected an operand");
    const int inside = ga__parse_expression(p);
    return inside == FAILED || ga__lexer_expect(&p->lexer, ")") == FAILED ? FAILED : inside;
}

static int enter(parser *p)
{
    if (++p->depth > GA__EVAL_DEPTH)
        return ga__lexer_fail(&p->lexer, p->lexer.next.at, "the expression nests too deeply");
    if (ga__stack_left() < STACK_RESERVE)
        return ga__lexer_fail(&p->lexer, p->lexer.next.at,
                              "the expression nests too deeply for this thread's stack");
    return 0;
}

/* Prefixes bind weaker than ** on their right and stronger than on their left: -a**-b. */
static int parse_factor(parser *p)
{
    static const struct {
        const char *mark;
        int row;
    } prefixes[] = {{"-", GA__ROW_negative}, {"+", GA__ROW_positive}, {"~", GA__ROW_invert}};
    const size_t at = p->lexer.next.at;
    int node = FAILED;
    if (enter(p) == FAILED)
        return FAILED;
    for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++)
        if (ga__lexer_next_is(&p->lexer, prefixes[k].mark)) {
            node = ga__lexer_advance(&p->lexer) == FAILED ? FAILED : parse_factor(p);
            p->depth--;
            return add_operator(p, prefixes[k].row, at, node, 0);
        }
    node = ga__parse_views(p, parse_atom(p));
    const size_t power_at = p->lexer.next.at;
    const int power = node == FAILED ? 0 : ga__lexer_accept(&p->lexer, "**");
    if (power == FAILED)
        node = FAILED;
    else if (power)
        node = add_operator(p, GA__ROW_power, power_at, node, parse_factor(p));
    p->depth--;
    return node;
}

static const struct {
    const char *mark;
    int row, level;
} binaries[] = {
    {"|", GA__ROW_bitwise_or, 0},    {"^", GA__ROW_bitwise_xor, 1},  {"&", GA__ROW_bitwise_and, 2},
    {"<<", GA__ROW_left_shift, 3},   {">>", GA__ROW_right_shift, 3}, {"+", GA__ROW_add, 4},
    {"-", GA__ROW_subtract, 4},      {"*", GA__ROW_multiply, 5},     {"/", GA__ROW_divide, 5},
    {"//", GA__ROW_floor_divide, 5}, {"%", GA__ROW_remainder, 5},    {"@", PRODUCT, 5}};

static int next_binary(const parser *p)
{
    for (int k = 0; k < (int)(sizeof(binaries) / sizeof(binaries[0])); k++)
        if (ga__lexer_next_is(&p->lexer, binaries[k].mark))
            return k;
    return FAILED;
}

/* Parses left-associative operators of this level and stronger ones (Clarke's precedence
 * climbing). */
static int parse_binary(parser *p, int level)
{
    int left = parse_factor(p);
    while (left != FAILED) {
        const int k = next_binary(p);
        const size_t at = p->lexer.next.at;
        if (k == FAILED || binaries[k].level < level)
            break;
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        left = add_operator(p, binaries[k].row, at, left, parse_binary(p, binaries[k].level + 1));
    }
    return left;
}

static int next_comparison(const parser *p)
{
    static const struct {
        const char *mark;
        int row;
    } comparisons[] = {{"<", GA__ROW_less},        {">", GA__ROW_greater},
                       {"<=", GA__ROW_less_equal}, {">=", GA__ROW_greater_equal},
                       {"==", GA__ROW_equal},      {"!=", GA__ROW_not_equal}};
    for (size_t k = 0; k < sizeof(comparisons) / sizeof(comparisons[0]); k++)
        if (ga__lexer_next_is(&p->lexer, comparisons[k].mark))
            return comparisons[k].row;
    return FAILED;
}

/* a < b < c means (a < b) and (b < c). */
static int parse_comparison(parser *p)
{
    int left = parse_binary(p, 0), all = FAILED;
    while (left != FAILED) {
        const int row = next_comparison(p);
        const size_t at = p->lexer.next.at;
        if (row == FAILED)
            return all == FAILED ? left : all;
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        const int right = parse_binary(p, 0), one = add_operator(p, row, at, left, right);
        if (one == FAILED)
            return FAILED;
        all = all == FAILED ? one : add_operator(p, GA__ROW_logical_and, at, all, one);
        if (all == FAILED)
            return FAILED;
        left = right;
    }
    return FAILED;
}

static int parse_not(parser *p)
{
    const size_t at = p->lexer.next.at;
    if (!ga__lexer_next_is(&p->lexer, "not"))
        return parse_comparison(p);
    if (enter(p) == FAILED || ga__lexer_advance(&p->lexer) == FAILED)
        return FAILED;
    const int operand = parse_not(p);
    p->depth--;
    return add_operator(p, GA__ROW_logical_not, at, operand, 0);
}

static int parse_and(parser *p)
{
    int left = parse_not(p);
    while (left != FAILED && ga__lexer_next_is(&p->lexer, "and")) {
        const size_t at = p->lexer.next.at;
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        left = add_operator(p, GA__ROW_logical_and, at, left, parse_not(p));
    }
    return left;
}

int ga__parse_expression(parser *p)
{
    int left = parse_and(p);
    while (left != FAILED && ga__lexer_next_is(&p->lexer, "or")) {
        const size_t at = p->lexer.next.at;
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        left = add_operator(p, GA__ROW_logical_or, at, left, parse_and(p));
    }
    return left;
}

/* ---- Statements ---- */

static int add_local(parser *p, const ga__token *name, int node)
{
    ga__ast *f = p->ast;
    if (node == FAILED)
        return FAILED;
    if (f->nlocals == f->local_capacity) {
        ga__local *locals = ga__parser_grow(f->locals, &f->local_capacity, sizeof(*locals));
        if (!locals)
            return FAILED;
        f->locals = locals;
    }
    f->locals[f->nlocals++] = (ga__local){name->at, name->length, node};
    return 0;
}

/* Whether NAME = comes next; the lexer then stands after it. FAILED, 0 or 1. */
static int take_target(parser *p)
{
    const ga__lexer before = p->lexer;
    if (p->lexer.next.kind != GA__TOKEN_NAME)
        return 0;
    if (ga__lexer_advance(&p->lexer) == FAILED)
        return FAILED;
    const int assigns = ga__lexer_accept(&p->lexer, "=");
    if (assigns == 0)
        p->lexer = before;
    return assigns;
}

/* Parses "t = x - mean(x); s = std(t); t / s"; returns the node of the last expression. */
static int parse_statements(parser *p)
{
    for (;;) {
        const ga__token name = p->lexer.next;
        const int assigns = take_target(p);
        if (assigns != 1)
            return assigns == FAILED ? FAILED : ga__parse_expression(p);
        if (!ga__eval_names(p->lexer.text + name.at, name.length))
            return ga__lexer_fail(&p->lexer, name.at, "this word cannot be a name");
        if (add_local(p, &name, ga__parse_expression(p)) == FAILED)
            return FAILED;
        if (p->lexer.next.kind == GA__TOKEN_END)
            return ga__lexer_fail(&p->lexer, p->lexer.next.at,
                                  "the result is missing: write \"; t\" after \"t = x + 1\"");
        if (ga__lexer_expect(&p->lexer, ";") == FAILED)
            return FAILED;
    }
}

static const char *problem_after(const parser *p)
{
    if (ga__lexer_next_is(&p->lexer, ")"))
        return "unmatched closing parenthesis";
    if (ga__lexer_next_is(&p->lexer, "if"))
        return "unexpected if; write where(condition, a, b)";
    if (ga__lexer_next_is(&p->lexer, "="))
        return "unexpected =; only a name can be assigned, and == compares";
    return "expected an operator or the end";
}

ga_status ga__ast_parse(ga__ast *ast, const char *text)
{
    *ast = (ga__ast){.text = text};
    if (!text)
        return ga__fail(GA_ERR_INVALID, "eval: the expression is NULL");
    if (strnlen(text, GA__EVAL_TEXT + 1) > GA__EVAL_TEXT)
        return ga__fail(GA_ERR_INVALID, "eval: the expression has more than %d bytes",
                        GA__EVAL_TEXT);
    parser p = {.ast = ast, .lexer = {.text = text}};
    ast->root = ga__lexer_advance(&p.lexer) == FAILED ? FAILED : parse_statements(&p);
    if (ast->root != FAILED && ga__lexer_accept(&p.lexer, ";") == FAILED)
        ast->root = FAILED;
    if (ast->root != FAILED && p.lexer.next.kind != GA__TOKEN_END)
        ast->root = ga__lexer_fail(&p.lexer, p.lexer.next.at, problem_after(&p));
    if (ast->root != FAILED)
        return GA_OK;
    ga__ast_reset(ast);
    return ga_error();
}

void ga__ast_reset(ga__ast *ast)
{
    ga__free(ast->nodes);
    ga__free(ast->options);
    ga__free(ast->parts);
    ga__free(ast->locals);
    *ast = (ga__ast){.text = NULL};
}
