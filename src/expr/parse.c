/* Reads expressions by recursive descent: Python's syntax and precedence over the op tables. */
#include "expr/parse.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/stack.h"

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_MARK } token_kind;

typedef struct token {
    token_kind kind;
    size_t at, length;
    ga_value number;
} token;

typedef struct parser {
    ga__forest *forest;
    const char *text;
    token next; /* the token not yet taken */
    int depth;
} parser;

#define FAILED (-1) /* a node that could not be made */

/* The stack that must be left for what the deepest operand takes, messages included. */
#define STACK_RESERVE ((size_t)24 << 10)

/* Of functions with large frames that are entered between two levels of an expression: inlined,
 * they would make each level as large. */
#define LEAF __attribute__((noinline))

/* ---- Errors ---- */

/* The characters of the text around `at` on one line, blanks for those that would move the caret.
 */
static size_t excerpt(const char *text, size_t at, char *line, size_t size)
{
    const size_t length = strlen(text), before = at < size / 2 ? at : size / 2;
    const size_t start = length < size ? 0 : at - before;
    size_t n = 0;
    for (; n < size - 1 && start + n < length; n++) {
        const unsigned char c = (unsigned char)text[start + n];
        line[n] = c < ' ' || c == 127 ? ' ' : c < 127 ? (char)c : '?';
    }
    line[n] = 0;
    return at - start;
}

ga_status ga__eval_fail(const char *text, size_t at, ga_status status, const char *format, ...)
{
    char message[512], line[100];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    const size_t column = excerpt(text, at, line, sizeof(line));
    return ga__fail(status, "ga_eval: %s\n    %s\n    %*s^", message, line, (int)column, "");
}

static int fail(const parser *p, size_t at, const char *what)
{
    ga__eval_fail(p->text, at, GA_ERR_INVALID, "%s", what);
    return FAILED;
}

/* ---- Tokens ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool in_name(char c)
{
    return starts_name(c) || is_digit(c);
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* strtod with a decimal point whatever the locale of the process. */
static locale_t c_locale;
static void open_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double read_double(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

/* The length of "12", "1.5", ".5", "1e-3"; *is_float says whether it is more than digits. */
static size_t decimal_length(const char *s, bool *is_float)
{
    size_t n = strspn(s, "0123456789");
    *is_float = s[n] == '.';
    if (s[n] == '.')
        n += 1 + strspn(s + n + 1, "0123456789");
    if (s[n] == 'e' || s[n] == 'E') {
        const size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
        if (is_digit(s[n + 1 + sign])) {
            *is_float = true;
            n += 1 + sign + strspn(s + n + 1 + sign, "0123456789");
        }
    }
    return n;
}

static ga_value integer_value(uint64_t number)
{
    return number <= INT64_MAX ? ga_value_signed(GA_INT64, (int64_t)number)
                               : ga_value_unsigned(GA_UINT64, number);
}

static int take_integer(parser *p, const char *digits, int base)
{
    errno = 0;
    const uint64_t number = strtoull(digits, NULL, base);
    if (errno == ERANGE)
        return fail(p, p->next.at, "the integer does not fit 64 bits");
    p->next.number = integer_value(number);
    return 0;
}

static int take_decimal(parser *p, const char *s)
{
    bool is_float;
    size_t n = decimal_length(s, &is_float);
    const bool imaginary = s[n] == 'j' || s[n] == 'J';
    p->next.length = n + imaginary;
    if (!is_float && !imaginary) {
        if (s[0] == '0' && n > 1 && strspn(s, "0") < n)
            return fail(p, p->next.at, "a decimal integer does not start with 0");
        return take_integer(p, s, 10);
    }
    const double number = read_double(s);
    if (isinf(number))
        return fail(p, p->next.at, "the number does not fit float64");
    p->next.number = imaginary ? ga_value_floating(GA_COMPLEX128, 0.0, number)
                               : ga_value_floating(GA_FLOAT64, number, 0.0);
    return 0;
}

static int take_number(parser *p)
{
    const char *s = p->text + p->next.at;
    int status;
    p->next.kind = TOKEN_NUMBER;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        if (!is_hex_digit(s[2]))
            return fail(p, p->next.at, "no hexadecimal digits");
        for (p->next.length = 2; is_hex_digit(s[p->next.length]);)
            p->next.length++;
        status = take_integer(p, s + 2, 16);
    } else {
        status = take_decimal(p, s);
    }
    const char after = s[p->next.length];
    if (status == 0 && (in_name(after) || after == '.'))
        return fail(p, p->next.at + p->next.length, "the number goes on unexpectedly");
    return status;
}

static size_t mark_length(const char *s)
{
    static const char *const marks[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!="};
    for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
        if (s[0] == marks[k][0] && s[1] == marks[k][1])
            return 2;
    return strchr("+-*/%&|^~<>(),=", s[0]) ? 1 : 0;
}

/* Moves to the next token; 0, or FAILED with an error raised. */
static int advance(parser *p)
{
    size_t at = p->next.at + p->next.length;
    at += strspn(p->text + at, " \t\n\r");
    const char *s = p->text + at;
    p->next = (token){.kind = TOKEN_END, .at = at};
    if (*s == 0)
        return 0;
    if (is_digit(*s) || (*s == '.' && is_digit(s[1])))
        return take_number(p);
    if (starts_name(*s)) {
        p->next.kind = TOKEN_NAME;
        while (in_name(s[p->next.length]))
            p->next.length++;
        return 0;
    }
    p->next.kind = TOKEN_MARK;
    p->next.length = mark_length(s);
    return p->next.length ? 0 : fail(p, at, "a character that no expression has");
}

static bool next_is(const parser *p, const char *text)
{
    return p->next.kind != TOKEN_END && p->next.kind != TOKEN_NUMBER &&
           p->next.length == strlen(text) &&
           memcmp(p->text + p->next.at, text, p->next.length) == 0;
}

/* 1: it was next and is taken; 0: it is not; FAILED. */
static int accept(parser *p, const char *text)
{
    if (!next_is(p, text))
        return 0;
    return advance(p) == FAILED ? FAILED : 1;
}

static int expect(parser *p, const char *text)
{
    char what[64];
    const int found = accept(p, text);
    if (found)
        return found == FAILED ? FAILED : 0;
    snprintf(what, sizeof(what), "expected \"%s\"%s", text,
             p->next.kind == TOKEN_END ? " before the end" : "");
    return fail(p, p->next.at, what);
}

static const char *const words[] = {"and", "or", "not", "True", "False", "None"};

static bool is_word(const char *name, size_t length, size_t nwords)
{
    for (size_t k = 0; k < nwords; k++)
        if (strlen(words[k]) == length && memcmp(words[k], name, length) == 0)
            return true;
    return false;
}

bool ga__eval_is_name(const char *name)
{
    size_t n = 0;
    while (in_name(name[n]))
        n++;
    return n > 0 && name[n] == 0 && !is_digit(name[0]) &&
           !is_word(name, n, sizeof(words) / sizeof(words[0]));
}

/* ---- Nodes ---- */

static void *grow(void *items, int *capacity, size_t size)
{
    const int larger = *capacity ? 2 * *capacity : 16;
    void *grown = ga__realloc(items, (size_t)larger * size);
    if (grown)
        *capacity = larger;
    return grown;
}

static int add_node(parser *p, ga__tree node)
{
    ga__forest *f = p->forest;
    if (f->nnodes == GA__EVAL_NODES)
        return fail(p, node.at, "the expression is too large");
    if (f->nnodes == f->node_capacity) {
        ga__tree *nodes = grow(f->nodes, &f->node_capacity, sizeof(*nodes));
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
    return add_node(p,
                    (ga__tree){.kind = GA__TREE_OPERATOR, .row = row, .operand = {a, b}, .at = at});
}

static int add_options(parser *p, const ga__options *options)
{
    ga__forest *f = p->forest;
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

/* An integer with its sign; FAILED, or 0 and *number. */
static int parse_integer(parser *p, const char *what, int *number)
{
    const size_t at = p->next.at;
    const int minus = accept(p, "-");
    if (minus == FAILED)
        return FAILED;
    const ga_value value = p->next.number;
    if (p->next.kind != TOKEN_NUMBER || value.dtype != GA_INT64 || value.as.i > INT32_MAX)
        return fail(p, at, what);
    *number = minus ? -(int)value.as.i : (int)value.as.i;
    return advance(p);
}

static int add_axis(parser *p, ga__options *options)
{
    int axis;
    const size_t at = p->next.at;
    if (parse_integer(p, "an axis is an integer", &axis) == FAILED)
        return FAILED;
    if (options->naxes == GA_MAX_NDIM)
        return fail(p, at, "more axes than an array has");
    options->axis[options->naxes++] = axis;
    return 0;
}

/* axis=1, axis=(0, -1), axis=None */
static int parse_axes(parser *p, ga__options *options)
{
    const int none = accept(p, "None");
    options->at = p->next.at;
    if (none)
        return none == FAILED ? FAILED : 0;
    options->naxes = 0;
    const int several = accept(p, "(");
    if (several != 1)
        return several == FAILED ? FAILED : add_axis(p, options);
    while (!next_is(p, ")")) {
        if (add_axis(p, options) == FAILED)
            return FAILED;
        const int comma = accept(p, ",");
        if (comma == FAILED)
            return FAILED;
        if (!comma)
            break;
    }
    return expect(p, ")");
}

static int parse_keepdims(parser *p, ga__options *options)
{
    const int yes = accept(p, "True"), no = yes ? 0 : accept(p, "False");
    if (yes == FAILED || no == FAILED)
        return FAILED;
    if (!yes && !no)
        return fail(p, p->next.at, "keepdims is True or False");
    options->keepdims = yes == 1;
    return 0;
}

static int parse_ddof(parser *p, ga__options *options, int row)
{
    int ddof;
    if (row != GA__ROW_var && row != GA__ROW_std)
        return fail(p, p->next.at, "only var and std have ddof");
    if (parse_integer(p, "ddof is an integer", &ddof) == FAILED)
        return FAILED;
    options->ddof = ddof;
    return 0;
}

/* The options after a reduction's operand; a first one without a name is the axis. */
static int parse_options(parser *p, int row, ga__options *options)
{
    bool first = true;
    *options = (ga__options){.naxes = -1};
    while (next_is(p, ",")) {
        if (advance(p) == FAILED)
            return FAILED;
        if (next_is(p, ")") && !first)
            return 0;
        const token key = p->next;
        const bool named = key.kind == TOKEN_NAME && !next_is(p, "None");
        if (named && (advance(p) == FAILED || expect(p, "=") == FAILED))
            return FAILED;
        const char *name = p->text + key.at;
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
            status = fail(p, key.at, "a reduction takes axis=, keepdims= and ddof= only");
        if (status == FAILED)
            return FAILED;
        first = false;
    }
    return 0;
}

/* What follows the operand. */
static LEAF int end_reduction(parser *p, int row, size_t at, int operand)
{
    ga__options options;
    if (parse_options(p, row, &options) == FAILED || expect(p, ")") == FAILED)
        return FAILED;
    if (options.naxes < 0)
        options.at = at;
    const int number = add_options(p, &options);
    if (number == FAILED)
        return FAILED;
    return add_node(p, (ga__tree){.kind = GA__TREE_REDUCTION,
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

static LEAF int fail_arguments(const parser *p, const ga__tree *call, int inputs, int given)
{
    char what[96];
    const bool casts = call->kind == GA__TREE_CAST;
    const char *name =
        casts ? ga_dtype_name((ga_dtype)call->row) : ga__rows[call->row].formula.name;
    if (given > inputs)
        snprintf(what, sizeof(what), "%s takes no more than %d operand%s", name, inputs,
                 inputs > 1 ? "s" : "");
    else
        snprintf(what, sizeof(what), "%s takes %d operands, not %d", name, inputs, given);
    return fail(p, given > inputs ? p->next.at : call->at, what);
}

static int parse_arguments(parser *p, ga__tree *call, int inputs)
{
    for (int k = 0; k < inputs; k++) {
        if (k > 0 && !next_is(p, ","))
            return fail_arguments(p, call, inputs, k);
        if ((k > 0 && advance(p) == FAILED) || (call->operand[k] = parse_expression(p)) == FAILED)
            return FAILED;
    }
    return next_is(p, ",") ? fail_arguments(p, call, inputs, inputs + 1) : expect(p, ")");
}

/* Sets what is called, and *inputs; or raises that there is nothing of this name. */
static LEAF int find_call(parser *p, size_t at, size_t length, ga__tree *call, int *inputs)
{
    const char *text = p->text + at;
    const ga__row_id row = ga__row_find(text, length);
    const ga_dtype dtype = ga__dtype_named(text, length);
    *call = (ga__tree){.kind = GA__TREE_CALL, .row = row, .at = at};
    if (next_is(p, ")"))
        return fail(p, p->next.at, "a call of nothing");
    if (row == GA__ROW_COUNT && dtype == GA_NO_DTYPE) {
        const bool split =
            (length == 5 && !memcmp(text, "frexp", 5)) || (length == 4 && !memcmp(text, "modf", 4));
        return fail(p, at, split ? "a function of two results" : "no function of this name");
    }
    *inputs = row != GA__ROW_COUNT ? ga__rows[row].inputs : 1;
    if (dtype != GA_NO_DTYPE && (row == GA__ROW_COUNT || !ga__rows[row].accumulator)) {
        call->kind = GA__TREE_CAST;
        call->row = dtype;
        *inputs = 1;
    }
    return 0;
}

/* NAME(...), the name and the parenthesis taken. */
static int parse_call(parser *p, size_t at, size_t length)
{
    ga__tree call;
    int inputs;
    if (find_call(p, at, length, &call, &inputs) == FAILED)
        return FAILED;
    if (call.kind == GA__TREE_CALL && ga__rows[call.row].accumulator)
        return parse_reduction(p, call.row, at);
    return parse_arguments(p, &call, inputs) == FAILED ? FAILED : add_node(p, call);
}

/* ---- Expressions, from the strongest binding to the weakest ---- */

static LEAF int add_name(parser *p, size_t at, size_t length)
{
    return add_node(p, (ga__tree){.kind = GA__TREE_NAME, .at = at, .length = length});
}

static int parse_name(parser *p)
{
    const size_t at = p->next.at, length = p->next.length;
    if (is_word(p->text + at, length, 3))
        return fail(p, at, "expected an operand");
    if (advance(p) == FAILED)
        return FAILED;
    const int call = accept(p, "(");
    if (call)
        return call == FAILED ? FAILED : parse_call(p, at, length);
    return add_name(p, at, length);
}

static LEAF int parse_number(parser *p)
{
    const token number = p->next;
    if (advance(p) == FAILED)
        return FAILED;
    return add_node(p,
                    (ga__tree){.kind = GA__TREE_NUMBER, .at = number.at, .number = number.number});
}

static int parse_atom(parser *p)
{
    if (p->next.kind == TOKEN_NAME)
        return parse_name(p);
    if (p->next.kind == TOKEN_NUMBER)
        return parse_number(p);
    const int open = accept(p, "(");
    if (open == FAILED)
        return FAILED;
    if (!open)
        return fail(p, p->next.at,
                    p->next.kind == TOKEN_END ? "the expression ends too early"
                                              : "expected an operand");
    const int inside = parse_expression(p);
    return inside == FAILED || expect(p, ")") == FAILED ? FAILED : inside;
}

static int enter(parser *p)
{
    if (++p->depth > GA__EVAL_DEPTH)
        return fail(p, p->next.at, "the expression nests too deeply");
    if (ga__stack_left() < STACK_RESERVE)
        return fail(p, p->next.at, "the expression nests too deeply for this thread's stack");
    return 0;
}

/* Prefixes bind weaker than ** on their right and stronger than on their left: -a**-b. */
static int parse_factor(parser *p)
{
    static const struct {
        const char *mark;
        int row;
    } prefixes[] = {{"-", GA__ROW_negative}, {"+", GA__ROW_positive}, {"~", GA__ROW_invert}};
    const size_t at = p->next.at;
    int node = FAILED;
    if (enter(p) == FAILED)
        return FAILED;
    for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++)
        if (next_is(p, prefixes[k].mark)) {
            node = advance(p) == FAILED ? FAILED : parse_factor(p);
            p->depth--;
            return add_operator(p, prefixes[k].row, at, node, 0);
        }
    node = parse_atom(p);
    const size_t power_at = p->next.at;
    const int power = node == FAILED ? 0 : accept(p, "**");
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
        if (next_is(p, binaries[k].mark))
            return k;
    return FAILED;
}

/* Operators that associate to the left, of this level and stronger ones (Clarke's precedence
 * climbing). */
static int parse_binary(parser *p, int level)
{
    int left = parse_factor(p);
    while (left != FAILED) {
        const int k = next_binary(p);
        const size_t at = p->next.at;
        if (k == FAILED || binaries[k].level < level)
            break;
        if (advance(p) == FAILED)
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
        if (next_is(p, comparisons[k].mark))
            return comparisons[k].row;
    return FAILED;
}

/* a < b < c is (a < b) and (b < c). */
static int parse_comparison(parser *p)
{
    int left = parse_binary(p, 0), all = FAILED;
    while (left != FAILED) {
        const int row = next_comparison(p);
        const size_t at = p->next.at;
        if (row == FAILED)
            return all == FAILED ? left : all;
        if (advance(p) == FAILED)
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
    const size_t at = p->next.at;
    if (!next_is(p, "not"))
        return parse_comparison(p);
    if (enter(p) == FAILED || advance(p) == FAILED)
        return FAILED;
    const int operand = parse_not(p);
    p->depth--;
    return add_operator(p, GA__ROW_logical_not, at, operand, 0);
}

static int parse_and(parser *p)
{
    int left = parse_not(p);
    while (left != FAILED && next_is(p, "and")) {
        const size_t at = p->next.at;
        if (advance(p) == FAILED)
            return FAILED;
        left = add_operator(p, GA__ROW_logical_and, at, left, parse_not(p));
    }
    return left;
}

static int parse_expression(parser *p)
{
    int left = parse_and(p);
    while (left != FAILED && next_is(p, "or")) {
        const size_t at = p->next.at;
        if (advance(p) == FAILED)
            return FAILED;
        left = add_operator(p, GA__ROW_logical_or, at, left, parse_and(p));
    }
    return left;
}

ga_status ga__forest_parse(ga__forest *forest, const char *text)
{
    *forest = (ga__forest){.text = text};
    if (!text)
        return ga__fail(GA_ERR_INVALID, "ga_eval: the expression is NULL");
    if (strnlen(text, GA__EVAL_TEXT + 1) > GA__EVAL_TEXT)
        return ga__fail(GA_ERR_INVALID, "ga_eval: an expression of more than %d bytes",
                        GA__EVAL_TEXT);
    parser p = {.forest = forest, .text = text};
    int root = advance(&p) == FAILED ? FAILED : parse_expression(&p);
    if (root != FAILED && p.next.kind != TOKEN_END)
        root = fail(&p, p.next.at,
                    next_is(&p, ")") ? "a parenthesis that nothing opened"
                                     : "expected an operator or the end");
    if (root != FAILED)
        return GA_OK;
    ga__forest_reset(forest);
    return ga_error();
}

void ga__forest_reset(ga__forest *forest)
{
    ga__free(forest->nodes);
    ga__free(forest->options);
    *forest = (ga__forest){.text = NULL};
}
