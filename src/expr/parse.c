/* Parses expressions by recursive descent: Python's syntax and precedence over the op tables. */
#include "expr/parse.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/stack.h"

typedef struct parser {
    ga__ast *ast;
    ga__lexer lexer;
    int depth;
} parser;

#define FAILED GA__LEXER_FAILED /* a node that could not be made */

/* The stack that the deepest operand needs, including error messages. */
#define STACK_RESERVE ((size_t)24 << 10)

/* Marks functions with large frames that run between two levels of an expression: inlined, they
 * would make the frame of each level as large. */
#define LEAF __attribute__((noinline))

/* ---- Nodes ---- */

static void *grow(void *items, int *capacity, size_t size)
{
    const int larger = *capacity ? 2 * *capacity : 16;
    void *grown = ga__realloc(items, (size_t)larger * size);
    if (grown)
        *capacity = larger;
    return grown;
}

static int add_node(parser *p, ga__ast_node node)
{
    ga__ast *f = p->ast;
    if (f->nnodes == GA__EVAL_NODES)
        return ga__lexer_fail(&p->lexer, node.at, "the expression is too large");
    if (f->nnodes == f->node_capacity) {
        ga__ast_node *nodes = grow(f->nodes, &f->node_capacity, sizeof(*nodes));
        if (!nodes)
            return FAILED;
        f->nodes = nodes;
    }
    f->nodes[f->nnodes] = node;
    return f->nnodes++;
}

static LEAF int add_operator(parser *p, int row, size_t at, int a, int b)
{
    if (a == FAILED || b == FAILED)
        return FAILED;
    return add_node(
        p, (ga__ast_node){.kind = GA__AST_OPERATOR, .row = row, .operand = {a, b}, .at = at});
}

static int add_options(parser *p, const ga__options *options)
{
    ga__ast *f = p->ast;
    if (f->noptions == f->option_capacity) {
        ga__options *grown = grow(f->options, &f->option_capacity, sizeof(*grown));
        if (!grown)
            return FAILED;
        f->options = grown;
    }
    f->options[f->noptions] = *options;
    return f->noptions++;
}

/* ---- Calls ---- */

static int parse_expression(parser *p);

/* Parses an integer with its sign; returns FAILED, or 0 and sets *number. */
static int parse_integer(parser *p, const char *what, int *number)
{
    const size_t at = p->lexer.next.at;
    const int minus = ga__lexer_accept(&p->lexer, "-");
    if (minus == FAILED)
        return FAILED;
    const ga_value value = p->lexer.next.number;
    if (p->lexer.next.kind != GA__TOKEN_NUMBER || value.dtype != GA_INT64 || value.as.i > INT32_MAX)
        return ga__lexer_fail(&p->lexer, at, what);
    *number = minus ? -(int)value.as.i : (int)value.as.i;
    return ga__lexer_advance(&p->lexer);
}

static int add_axis(parser *p, ga__options *options)
{
    int axis = 0;
    const size_t at = p->lexer.next.at;
    if (parse_integer(p, "an axis must be an integer", &axis) == FAILED)
        return FAILED;
    if (options->naxes == GA_MAX_NDIM)
        return ga__lexer_fail(&p->lexer, at, "more axes than an array can have");
    options->axis[options->naxes++] = axis;
    return 0;
}

/* Parses axis=1, axis=(0, -1) or axis=None. */
static int parse_axes(parser *p, ga__options *options)
{
    const int none = ga__lexer_accept(&p->lexer, "None");
    options->at = p->lexer.next.at;
    if (none)
        return none == FAILED ? FAILED : 0;
    options->naxes = 0;
    const int several = ga__lexer_accept(&p->lexer, "(");
    if (several != 1)
        return several == FAILED ? FAILED : add_axis(p, options);
    while (!ga__lexer_next_is(&p->lexer, ")")) {
        if (add_axis(p, options) == FAILED)
            return FAILED;
        const int comma = ga__lexer_accept(&p->lexer, ",");
        if (comma == FAILED)
            return FAILED;
        if (!comma)
            break;
    }
    return ga__lexer_expect(&p->lexer, ")");
}

static int parse_keepdims(parser *p, ga__options *options)
{
    const int yes = ga__lexer_accept(&p->lexer, "True"),
              no = yes ? 0 : ga__lexer_accept(&p->lexer, "False");
    if (yes == FAILED || no == FAILED)
        return FAILED;
    if (!yes && !no)
        return ga__lexer_fail(&p->lexer, p->lexer.next.at, "keepdims must be True or False");
    options->keepdims = yes == 1;
    return 0;
}

static int parse_ddof(parser *p, ga__options *options, int row)
{
    int ddof = 0;
    if (row != GA__ROW_var && row != GA__ROW_std)
        return ga__lexer_fail(&p->lexer, p->lexer.next.at, "only var and std take ddof");
    if (parse_integer(p, "ddof must be an integer", &ddof) == FAILED)
        return FAILED;
    options->ddof = ddof;
    return 0;
}

/* Parses the options after a reduction's operand; an unnamed first one is the axis. */
static int parse_options(parser *p, int row, ga__options *options)
{
    bool first = true;
    *options = (ga__options){.naxes = -1};
    while (ga__lexer_next_is(&p->lexer, ",")) {
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        if (ga__lexer_next_is(&p->lexer, ")") && !first)
            return 0;
        const ga__token key = p->lexer.next;
        const bool named = key.kind == GA__TOKEN_NAME && !ga__lexer_next_is(&p->lexer, "None");
        if (named &&
            (ga__lexer_advance(&p->lexer) == FAILED || ga__lexer_expect(&p->lexer, "=") == FAILED))
            return FAILED;
        const char *name = p->lexer.text + key.at;
        int status;
        if (!named && first)
            status = parse_axes(p, options);
        else if (named && key.length == 4 && !memcmp(name, "axis", 4))
            status = parse_axes(p, options);
        else if (named && key.length == 8 && !memcmp(name, "keepdims", 8))
            status = parse_keepdims(p, options);
        else if (named && key.length == 4 && !memcmp(name, "ddof", 4))
            status = parse_ddof(p, options, row);
        else
            status = ga__lexer_fail(&p->lexer, key.at,
                                    "a reduction takes only axis=, keepdims= and ddof=");
        if (status == FAILED)
            return FAILED;
        first = false;
    }
    return 0;
}

/* Parses the rest of a reduction after its operand. */
static LEAF int end_reduction(parser *p, int row, size_t at, int operand)
{
    ga__options options;
    if (parse_options(p, row, &options) == FAILED || ga__lexer_expect(&p->lexer, ")") == FAILED)
        return FAILED;
    if (options.naxes < 0)
        options.at = at;
    const int number = add_options(p, &options);
    if (number == FAILED)
        return FAILED;
    return add_node(p, (ga__ast_node){.kind = GA__AST_REDUCTION,
                                      .row = row,
                                      .operand = {operand},
                                      .at = at,
                                      .options = number});
}

static int parse_reduction(parser *p, int row, size_t at)
{
    const int operand = parse_expression(p);
    return operand == FAILED ? FAILED : end_reduction(p, row, at, operand);
}

static LEAF int fail_arguments(const parser *p, const ga__ast_node *call, int inputs, int given)
{
    char what[96];
    const bool casts = call->kind == GA__AST_CAST;
    const char *name =
        casts ? ga_dtype_name((ga_dtype)call->row) : ga__rows[call->row].formula.name;
    if (given > inputs)
        snprintf(what, sizeof(what), "%s takes at most %d operand%s", name, inputs,
                 inputs > 1 ? "s" : "");
    else
        snprintf(what, sizeof(what), "%s takes %d operands, not %d", name, inputs, given);
    return ga__lexer_fail(&p->lexer, given > inputs ? p->lexer.next.at : call->at, what);
}

static int parse_arguments(parser *p, ga__ast_node *call, int inputs)
{
    for (int k = 0; k < inputs; k++) {
        if (k > 0 && !ga__lexer_next_is(&p->lexer, ","))
            return fail_arguments(p, call, inputs, k);
        if ((k > 0 && ga__lexer_advance(&p->lexer) == FAILED) ||
            (call->operand[k] = parse_expression(p)) == FAILED)
            return FAILED;
    }
    return ga__lexer_next_is(&p->lexer, ",") ? fail_arguments(p, call, inputs, inputs + 1)
                                             : ga__lexer_expect(&p->lexer, ")");
}

/* Finds the called function and sets *inputs; raises if there is none of this name. */
static LEAF int find_call(parser *p, size_t at, size_t length, ga__ast_node *call, int *inputs)
{
    const char *text = p->lexer.text + at;
    const ga__row_id row = ga__row_find(text, length);
    const ga_dtype dtype = ga__dtype_named(text, length);
    *call = (ga__ast_node){.kind = GA__AST_CALL, .row = row, .at = at};
    if (ga__lexer_next_is(&p->lexer, ")"))
        return ga__lexer_fail(&p->lexer, p->lexer.next.at, "expected an argument");
    if (row == GA__ROW_COUNT && dtype == GA_NO_DTYPE) {
        const bool split =
            (length == 5 && !memcmp(text, "frexp", 5)) || (length == 4 && !memcmp(text, "modf", 4));
        return ga__lexer_fail(&p->lexer, at,
                              split
                                  ? "a function with two results cannot be called in an expression"
                                  : "unknown function");
    }
    *inputs = row != GA__ROW_COUNT ? ga__rows[row].inputs : 1;
    if (dtype != GA_NO_DTYPE && (row == GA__ROW_COUNT || !ga__rows[row].part.accumulator)) {
        call->kind = GA__AST_CAST;
        call->row = dtype;
        *inputs = 1;
    }
    return 0;
}

/* Parses NAME(...); the name and the parenthesis are taken already. */
static int parse_call(parser *p, size_t at, size_t length)
{
    ga__ast_node call;
    int inputs;
    if (find_call(p, at, length, &call, &inputs) == FAILED)
        return FAILED;
    if (call.kind == GA__AST_CALL && ga__rows[call.row].part.accumulator)
        return parse_reduction(p, call.row, at);
    return parse_arguments(p, &call, inputs) == FAILED ? FAILED : add_node(p, call);
}

/* ---- Expressions, from the strongest binding to the weakest ---- */

static LEAF int add_name(parser *p, size_t at, size_t length)
{
    return add_node(p, (ga__ast_node){.kind = GA__AST_NAME, .at = at, .length = length});
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
        return call == FAILED ? FAILED : parse_call(p, at, length);
    return add_name(p, at, length);
}

static LEAF int parse_number(parser *p)
{
    const ga__token number = p->lexer.next;
    if (ga__lexer_advance(&p->lexer) == FAILED)
        return FAILED;
    return add_node(
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
    const int inside = parse_expression(p);
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
    node = parse_atom(p);
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
    {"//", GA__ROW_floor_divide, 5}, {"%", GA__ROW_remainder, 5}};

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

static int parse_expression(parser *p)
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

ga_status ga__ast_parse(ga__ast *ast, const char *text)
{
    *ast = (ga__ast){.text = text};
    if (!text)
        return ga__fail(GA_ERR_INVALID, "eval: the expression is NULL");
    if (strnlen(text, GA__EVAL_TEXT + 1) > GA__EVAL_TEXT)
        return ga__fail(GA_ERR_INVALID, "eval: the expression has more than %d bytes",
                        GA__EVAL_TEXT);
    parser p = {.ast = ast, .lexer = {.text = text}};
    int root = ga__lexer_advance(&p.lexer) == FAILED ? FAILED : parse_expression(&p);
    if (root != FAILED && p.lexer.next.kind != GA__TOKEN_END)
        root = ga__lexer_fail(&p.lexer, p.lexer.next.at,
                              ga__lexer_next_is(&p.lexer, ")") ? "unmatched closing parenthesis"
                                                               : "expected an operator or the end");
    if (root != FAILED)
        return GA_OK;
    ga__ast_reset(ast);
    return ga_error();
}

void ga__ast_reset(ga__ast *ast)
{
    ga__free(ast->nodes);
    ga__free(ast->options);
    *ast = (ga__ast){.text = NULL};
}
