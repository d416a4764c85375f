/* Parses calls: functions, casts, and reductions with their options. */
#include <stdio.h>
#include <string.h>

#include "expr/text/elsewhere.h"
#include "expr/text/nearest.h"
#include "expr/text/parser.h"

typedef ga__parser parser;

#define FAILED GA__PARSE_FAILED
#define LEAF GA__PARSE_LEAF

static int add_options(parser *p, const ga__options *options)
{
    ga__ast *f = p->ast;
    if (f->noptions == f->option_capacity) {
        ga__options *grown = ga__parser_grow(f->options, &f->option_capacity, sizeof(*grown));
        if (!grown)
            return FAILED;
        f->options = grown;
    }
    f->options[f->noptions] = *options;
    return f->noptions++;
}

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
    if (parse_integer(p, "an axis must be an integer in the text", &axis) == FAILED)
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

/* Parses ddof=1 or correction=1.5, which are added to each other. */
static int parse_ddof(parser *p, ga__options *options)
{
    const size_t at = p->lexer.next.at;
    const int minus = ga__lexer_accept(&p->lexer, "-");
    if (minus == FAILED)
        return FAILED;
    const ga_value value = p->lexer.next.number;
    if (p->lexer.next.kind != GA__TOKEN_NUMBER || ga__dtype_kind(value.dtype) == 'c')
        return ga__lexer_fail(&p->lexer, at, "ddof and correction must be real numbers");
    const double number = ga__number_double(value);
    options->ddof += minus ? -number : number;
    return ga__lexer_advance(&p->lexer);
}

static ga_dtype next_dtype(const parser *p)
{
    const ga__token *t = &p->lexer.next;
    return t->kind == GA__TOKEN_NAME ? ga__dtype_named(p->lexer.text + t->at, t->length)
                                     : GA_NO_DTYPE;
}

static int parse_dtype(parser *p, ga__options *options)
{
    options->dtype = next_dtype(p);
    if (options->dtype == GA_NO_DTYPE)
        return ga__lexer_fail(&p->lexer, p->lexer.next.at,
                              "expected the name of a dtype, such as float32");
    return ga__lexer_advance(&p->lexer);
}

static int parse_where(parser *p, ga__options *options)
{
    options->where = ga__parse_expression(p);
    return options->where == FAILED ? FAILED : 0;
}

static int parse_initial(parser *p, ga__options *options)
{
    options->initial = ga__parse_expression(p);
    return options->initial == FAILED ? FAILED : 0;
}

enum { AXIS, KEEPDIMS, DTYPE, WHERE, INITIAL, DDOF, CORRECTION, NOPTIONS };

static const struct {
    const char *name;
    int (*parse)(parser *p, ga__options *options);
} option_words[NOPTIONS] = {{"axis", parse_axes},       {"keepdims", parse_keepdims},
                            {"dtype", parse_dtype},     {"where", parse_where},
                            {"initial", parse_initial}, {"ddof", parse_ddof},
                            {"correction", parse_ddof}};

/* The option of a word, or NOPTIONS. */
static int option_named(const parser *p, const ga__token *word)
{
    int k = 0;
    while (k < NOPTIONS &&
           (strlen(option_words[k].name) != word->length ||
            memcmp(p->lexer.text + word->at, option_words[k].name, word->length) != 0))
        k++;
    return k;
}

/* Finds the option that comes next, after its name if it has one: without names the axis comes
 * first, then a dtype, then keepdims. NOPTIONS if there is none. */
static int next_option(parser *p, bool first)
{
    const ga__token word = p->lexer.next;
    const int named = word.kind == GA__TOKEN_NAME ? option_named(p, &word) : NOPTIONS;
    if (named < NOPTIONS) {
        const bool taken =
            ga__lexer_advance(&p->lexer) != FAILED && ga__lexer_expect(&p->lexer, "=") != FAILED;
        return taken ? named : FAILED;
    }
    if (ga__lexer_next_is(&p->lexer, "True") || ga__lexer_next_is(&p->lexer, "False"))
        return KEEPDIMS;
    if (next_dtype(p) != GA_NO_DTYPE)
        return DTYPE;
    return first && (word.kind != GA__TOKEN_NAME || ga__lexer_next_is(&p->lexer, "None"))
               ? AXIS
               : NOPTIONS;
}

/* Whether the function has options after its one operand: a reduction's, or a scan's. */
static bool takes_options(int row)
{
    return ga__rows[row].part.accumulator || ga__row_scans(row);
}

static int parse_option(parser *p, int row, bool first, unsigned *given, ga__options *options)
{
    char what[96];
    const size_t at = p->lexer.next.at;
    const int option = next_option(p, first);
    if (option == FAILED)
        return FAILED;
    if (ga__row_scans(row) && option != AXIS && option != DTYPE)
        return ga__lexer_fail(&p->lexer, at, "a scan takes axis= and dtype=");
    if (option == NOPTIONS)
        return ga__lexer_fail(&p->lexer, at, ga__reduction_options(row));
    if (option >= DDOF && row != GA__ROW_var && row != GA__ROW_std)
        return ga__lexer_fail(&p->lexer, at, "only var and std take ddof and correction");
    if (*given >> option & 1) {
        snprintf(what, sizeof(what), "%s is given twice", option_words[option].name);
        return ga__lexer_fail(&p->lexer, at, what);
    }
    *given |= 1u << option;
    return option_words[option].parse(p, options);
}

/* Parses the options after a reduction's operand. */
static int parse_options(parser *p, int row, ga__options *options)
{
    bool first = true;
    unsigned given = 0;
    *options = (ga__options){.naxes = -1, .dtype = GA_NO_DTYPE, .where = -1, .initial = -1};
    while (ga__lexer_next_is(&p->lexer, ",")) {
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        if (ga__lexer_next_is(&p->lexer, ")") && !first)
            return 0;
        if (parse_option(p, row, first, &given, options) == FAILED)
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
    ga__ast_node node = {
        .kind = GA__AST_REDUCTION, .row = row, .operand = {operand}, .at = at, .options = number};
    if (options.where >= 0)
        node.operand[1] = options.where;
    if (options.initial >= 0)
        node.operand[2] = options.initial;
    return ga__parser_add(p, node);
}

static int parse_reduction(parser *p, int row, size_t at)
{
    const int operand = ga__parse_expression(p);
    return operand == FAILED ? FAILED : end_reduction(p, row, at, operand);
}

static LEAF int fail_arguments(const parser *p, const ga__ast_node *call, int inputs, int given)
{
    char what[96];
    if (ga__lexer_next_is(&p->lexer, "="))
        return ga__lexer_fail(&p->lexer, p->lexer.next.at, "unexpected =; write == to compare");
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
            (call->operand[k] = ga__parse_expression(p)) == FAILED)
            return FAILED;
    }
    return ga__lexer_next_is(&p->lexer, ",") ? fail_arguments(p, call, inputs, inputs + 1)
                                             : ga__lexer_expect(&p->lexer, ")");
}

/* Raises the error for a function that does not exist. */
static LEAF int fail_function(const parser *p, size_t at, size_t length)
{
    const char *name = p->lexer.text + at;
    const char *remedy = ga__elsewhere(name, length);
    char what[160];
    ga__nearest near = ga__nearest_to(name, length);
    if ((length == 5 && !memcmp(name, "frexp", 5)) || (length == 4 && !memcmp(name, "modf", 4)))
        return ga__lexer_fail(&p->lexer, at,
                              "a function with two results cannot be called in an expression");
    if (length == 2 && !memcmp(name, "if", 2))
        return ga__lexer_fail(&p->lexer, at, "unexpected if; write where(condition, a, b)");
    if (remedy) {
        snprintf(what, sizeof(what), "expressions have no function %.*s: %s", (int)length, name,
                 remedy);
        return ga__lexer_fail(&p->lexer, at, what);
    }
    for (int k = 0; ga__row_name(k); k++)
        ga__nearest_add(&near, ga__row_name(k));
    for (int dtype = 0; dtype < GA_DTYPE_COUNT; dtype++)
        ga__nearest_add(&near, ga_dtype_name((ga_dtype)dtype));
    snprintf(what, sizeof(what), "no function named %.*s", length < 64 ? (int)length : 64, name);
    ga__nearest_append(&near, what, sizeof(what));
    return ga__lexer_fail(&p->lexer, at, what);
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
    if (row == GA__ROW_COUNT && dtype == GA_NO_DTYPE)
        return fail_function(p, at, length);
    *inputs = row != GA__ROW_COUNT ? ga__rows[row].inputs : 1;
    if (dtype != GA_NO_DTYPE && (row == GA__ROW_COUNT || !takes_options(row))) {
        call->kind = GA__AST_CAST;
        call->row = dtype;
        *inputs = 1;
    }
    return 0;
}

/* Parses ", k", ", axis=k" or ", axis=None" before the ")". 1 if there is an axis. */
static int parse_taken_axis(parser *p, bool *all, int *axis)
{
    const int more = ga__lexer_accept(&p->lexer, ",");
    if (more != 1 || ga__lexer_next_is(&p->lexer, ")"))
        return more == FAILED ? FAILED : 0;
    const int named = ga__lexer_accept(&p->lexer, "axis");
    if (named == FAILED || (named && ga__lexer_expect(&p->lexer, "=") == FAILED))
        return FAILED;
    const int none = ga__lexer_accept(&p->lexer, "None");
    *all = none == 1;
    return none                                                                         ? none
           : parse_integer(p, "an axis must be an integer in the text", axis) == FAILED ? FAILED
                                                                                        : 1;
}

/* Parses the rest of take(x, i), take(x, i, axis=k) and take_along_axis(x, i, k). Without an axis,
 * take() goes over all elements, and take_along_axis() along the last axis. */
static LEAF int parse_take(parser *p, size_t at, ga__gather_form form)
{
    ga__ast_node node = {.kind = GA__AST_GATHER, .row = form, .at = at, .nindices = 1};
    bool all = form == GA__GATHER_PARTS;
    for (int k = 0; k < 2; k++) {
        if (k > 0 && ga__lexer_expect(&p->lexer, ",") == FAILED)
            return FAILED;
        if ((node.operand[k] = ga__parse_expression(p)) == FAILED)
            return FAILED;
    }
    node.axis[0] = all ? 0 : -1;
    const int axis = parse_taken_axis(p, &all, &node.axis[0]);
    if (axis == FAILED || ga__lexer_expect(&p->lexer, ")") == FAILED)
        return FAILED;
    all = axis ? all : form == GA__GATHER_PARTS;
    if (all) {
        node.axis[0] = 0;
        node.operand[0] = ga__parser_add(p, (ga__ast_node){.kind = GA__AST_VIEW,
                                                           .row = GA__VIEW_RAVEL,
                                                           .operand = {node.operand[0]},
                                                           .at = at});
    }
    return node.operand[0] == FAILED ? FAILED : ga__parser_add(p, node);
}

/* Parses the rest of round(x, k) after x. */
static LEAF int end_round(parser *p, size_t at, int operand)
{
    ga__ast_node node = {.kind = GA__AST_ROUND, .at = at, .operand = {operand}};
    if (ga__lexer_advance(&p->lexer) == FAILED ||
        parse_integer(p, "the number of decimals must be an integer", &node.row) == FAILED ||
        ga__lexer_expect(&p->lexer, ")") == FAILED)
        return FAILED;
    return ga__parser_add(p, node);
}

static int parse_round(parser *p, size_t at)
{
    const int operand = ga__parse_expression(p);
    if (operand == FAILED)
        return FAILED;
    if (ga__lexer_next_is(&p->lexer, ","))
        return end_round(p, at, operand);
    if (ga__lexer_expect(&p->lexer, ")") == FAILED)
        return FAILED;
    return ga__parser_add(
        p,
        (ga__ast_node){.kind = GA__AST_CALL, .row = GA__ROW_round, .operand = {operand}, .at = at});
}

/* Parses the rest of relu(x), which is maximum(x, 0). */
static LEAF int parse_relu(parser *p, size_t at)
{
    ga__ast_node call = {.kind = GA__AST_CALL, .row = GA__ROW_maximum, .at = at};
    if ((call.operand[0] = ga__parse_expression(p)) == FAILED ||
        ga__lexer_expect(&p->lexer, ")") == FAILED)
        return FAILED;
    call.operand[1] = ga__parser_add(
        p, (ga__ast_node){.kind = GA__AST_NUMBER, .at = at, .number = ga_value_int(0)});
    return call.operand[1] == FAILED ? FAILED : ga__parser_add(p, call);
}

/* Parses NAME(...); the name and the parenthesis are taken already. */
int ga__parse_call(parser *p, size_t at, size_t length)
{
    ga__ast_node call;
    int inputs;
    if (length == 4 && memcmp(p->lexer.text + at, "take", 4) == 0)
        return parse_take(p, at, GA__GATHER_PARTS);
    if (length == 15 && memcmp(p->lexer.text + at, "take_along_axis", 15) == 0)
        return parse_take(p, at, GA__GATHER_ALONG);
    if (length == 4 && memcmp(p->lexer.text + at, "relu", 4) == 0)
        return parse_relu(p, at);
    if (find_call(p, at, length, &call, &inputs) == FAILED)
        return FAILED;
    if (call.kind == GA__AST_CALL && call.row == GA__ROW_round)
        return parse_round(p, at);
    if (call.kind == GA__AST_CALL && takes_options(call.row))
        return parse_reduction(p, call.row, at);
    return parse_arguments(p, &call, inputs) == FAILED ? FAILED : ga__parser_add(p, call);
}
