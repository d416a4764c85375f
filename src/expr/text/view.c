/* Parses views of an operand: x[1:, None], x.T, x.real and x.imag. */
#include <string.h>

#include "expr/text/parser.h"

typedef ga__parser parser;

#define FAILED GA__PARSE_FAILED
#define LEAF GA__PARSE_LEAF

/* ---- x[...] ---- */

static int fail_index(const parser *p, size_t at)
{
    return ga__lexer_fail(
        &p->lexer, at,
        "an index is an integer, a slice, None, ... or an array, as in x[0, 1:-1, i]");
}

/* The arrays of indices among the parts so far. */
typedef struct indexing {
    int count, axes; /* of the view that the other parts make; arrays index one each */
    int node[GA__GATHER_INDICES], axis[GA__GATHER_INDICES];
    bool behind[GA__GATHER_INDICES]; /* an ellipsis is before it */
    bool dots;
    enum { NO_INDEX, IN_RUN, RUN_ENDED } run;
    bool divided; /* indices are no neighbours: NumPy puts their axes first */
} indexing;

static void note_part(indexing *n, const ga_range *part, int array)
{
    const bool index = array != FAILED || part->kind == 1;
    n->divided = n->divided || (index && n->run == RUN_ENDED);
    n->run = index ? IN_RUN : n->run == IN_RUN ? RUN_ENDED : n->run;
    n->dots = n->dots || part->kind == 3;
    if (array != FAILED) {
        n->node[n->count] = array;
        n->behind[n->count] = n->dots;
        n->axis[n->count++] = n->axes;
    }
    n->axes += part->kind == 0 || part->kind == 2;
}

/* Parses an integer with its sign if one is next. FAILED, 0 or 1. */
static int accept_integer(parser *p, int64_t *number)
{
    const size_t at = p->lexer.next.at;
    const int minus = ga__lexer_accept(&p->lexer, "-");
    const ga__token *next = &p->lexer.next;
    if (minus == FAILED)
        return FAILED;
    if (next->kind != GA__TOKEN_NUMBER)
        return minus ? fail_index(p, at) : 0;
    if (next->number.dtype != GA_INT64)
        return fail_index(p, at);
    *number = minus ? -next->number.as.i : next->number.as.i;
    return ga__lexer_advance(&p->lexer) == FAILED ? FAILED : 1;
}

/* Parses a bound of a slice: an integer, or None or nothing. FAILED, 0 or 1. */
static int accept_bound(parser *p, int64_t *number)
{
    const int found = accept_integer(p, number);
    if (found != 0)
        return found;
    return ga__lexer_accept(&p->lexer, "None") == FAILED ? FAILED : 0;
}

/* Parses the rest of a slice after its first colon. */
static int parse_range(parser *p, ga_range *part)
{
    part->kind = 0;
    part->step = 1;
    const int stop = accept_bound(p, &part->stop);
    part->has_stop = stop == 1;
    const int colon = stop == FAILED ? FAILED : ga__lexer_accept(&p->lexer, ":");
    const int step = colon == 1 ? accept_bound(p, &part->step) : 0;
    return stop == FAILED || colon == FAILED || step == FAILED ? FAILED : 0;
}

/* Parses an array of indices, which begins with a name or a parenthesis. *part becomes the axis. */
static int parse_array(parser *p, size_t at, ga_range *part, int *array)
{
    const ga__token *next = &p->lexer.next;
    if (next->kind != GA__TOKEN_NAME && !ga__lexer_next_is(&p->lexer, "("))
        return fail_index(p, at);
    *part = (ga_range){.kind = 0, .step = 1};
    *array = ga__parse_expression(p);
    return *array == FAILED ? FAILED : 0;
}

/* Parses one part of an index; *part is zeroed. *array is set if the part is one. */
static int parse_part(parser *p, ga_range *part, int *array)
{
    const size_t at = p->lexer.next.at;
    const int dots = ga__lexer_accept(&p->lexer, "...");
    part->kind = 3;
    if (dots)
        return dots == FAILED ? FAILED : 0;
    int none = ga__lexer_accept(&p->lexer, "None");
    if (none == 0)
        none = ga__lexer_accept(&p->lexer, "newaxis");
    const int start = none == 0 ? accept_integer(p, &part->start) : 0;
    const int colon = none == FAILED || start == FAILED ? FAILED : ga__lexer_accept(&p->lexer, ":");
    if (colon == FAILED)
        return FAILED;
    part->has_start = start == 1;
    if (colon)
        return parse_range(p, part);
    part->kind = none ? 2 : 1;
    return none || start ? 0 : parse_array(p, at, part, array);
}

static int add_part(ga__ast *f, const ga_range *part)
{
    if (f->nparts == f->part_capacity) {
        ga_range *parts = ga__parser_grow(f->parts, &f->part_capacity, sizeof(*parts));
        if (!parts)
            return FAILED;
        f->parts = parts;
    }
    memcpy(&f->parts[f->nparts], part, sizeof(*part));
    return f->nparts++;
}

/* Equal slices share their parts, so that the same view is one value. */
static void share_parts(ga__ast *f, ga__ast_node *node)
{
    const size_t nbytes = (size_t)node->nparts * sizeof(ga_range);
    for (int k = 0; k < f->nnodes; k++) {
        const ga__ast_node *other = &f->nodes[k];
        if (other->kind != GA__AST_VIEW || other->row != GA__VIEW_SLICE ||
            other->nparts != node->nparts ||
            memcmp(f->parts + other->first_part, f->parts + node->first_part, nbytes) != 0)
            continue;
        f->nparts = node->first_part;
        node->first_part = other->first_part;
        return;
    }
}

/* Puts the node's parts behind those that an expression among them has added. */
static int gather_parts(ga__ast *f, ga__ast_node *node)
{
    const int from = node->first_part;
    if (f->nparts == from + node->nparts)
        return 0;
    node->first_part = f->nparts;
    for (int k = 0; k < node->nparts; k++) {
        ga_range part;
        memcpy(&part, &f->parts[from + k], sizeof(part));
        if (add_part(f, &part) == FAILED)
            return FAILED;
    }
    return 0;
}

/* Adds one part to the node and to what is known of its indices. */
static int take_part(parser *p, size_t at, ga__ast_node *node, indexing *known)
{
    ga_range part;
    int array = FAILED;
    memset(&part, 0, sizeof(part));
    if (parse_part(p, &part, &array) == FAILED || gather_parts(p->ast, node) == FAILED)
        return FAILED;
    if (array != FAILED && known->count == GA__GATHER_INDICES)
        return ga__lexer_fail(&p->lexer, at, "more than 4 arrays of indices; use ga_index()");
    note_part(known, &part, array);
    node->nparts++;
    return add_part(p->ast, &part);
}

/* The view, at the indices among its parts if there are some. */
static int end_slice(parser *p, const ga__ast_node *view, const indexing *known)
{
    const bool alone = known->count > 0 && view->nparts == known->count;
    const int operand = alone ? view->operand[0] : ga__parser_add(p, *view);
    ga__ast_node node = {.kind = GA__AST_GATHER,
                         .row = known->divided ? GA__GATHER_FRONT : GA__GATHER_PARTS,
                         .operand = {operand},
                         .nindices = known->count,
                         .at = view->at};
    if (operand == FAILED || known->count == 0)
        return operand;
    if (known->count == 1 && known->axis[0] == 0 && !known->behind[0])
        node.options = alone ? 2 : 1;
    for (int k = 0; k < known->count; k++) {
        node.operand[1 + k] = known->node[k];
        node.axis[k] = known->axis[k] - (known->behind[k] ? known->axes : 0);
    }
    return ga__parser_add(p, node);
}

/* Parses the parts after "[", and the "]". */
static LEAF int parse_slice(parser *p, size_t at, int operand)
{
    ga__ast_node node = {
        .kind = GA__AST_VIEW, .row = GA__VIEW_SLICE, .operand = {operand}, .at = at};
    indexing known = {.count = 0};
    node.first_part = p->ast->nparts;
    do {
        if (take_part(p, p->lexer.next.at, &node, &known) == FAILED)
            return FAILED;
        const int comma = ga__lexer_accept(&p->lexer, ",");
        if (comma == FAILED)
            return FAILED;
        if (!comma && !ga__lexer_next_is(&p->lexer, "]"))
            return p->lexer.next.kind == GA__TOKEN_END ? ga__lexer_expect(&p->lexer, "]")
                                                       : fail_index(p, p->lexer.next.at);
    } while (!ga__lexer_next_is(&p->lexer, "]"));
    share_parts(p->ast, &node);
    return ga__lexer_advance(&p->lexer) == FAILED ? FAILED : end_slice(p, &node, &known);
}

/* ---- x.T ---- */

static bool is_module(const parser *p, const ga__ast_node *node)
{
    static const char *const modules[] = {"np", "numpy", "cp", "cupy", "jnp", "math", "torch"};
    for (size_t k = 0; node->kind == GA__AST_NAME && k < sizeof(modules) / sizeof(modules[0]); k++)
        if (strlen(modules[k]) == node->length &&
            memcmp(p->lexer.text + node->at, modules[k], node->length) == 0)
            return true;
    return false;
}

/* Parses the word after "." */
static LEAF int parse_attribute(parser *p, size_t at, int operand)
{
    static const struct {
        const char *name;
        ga__view_kind kind;
    } attributes[] = {{"T", GA__VIEW_TRANSPOSE}, {"real", GA__VIEW_REAL}, {"imag", GA__VIEW_IMAG}};
    for (size_t k = 0; k < sizeof(attributes) / sizeof(attributes[0]); k++) {
        const int found = ga__lexer_accept(&p->lexer, attributes[k].name);
        if (found == FAILED)
            return FAILED;
        if (found)
            return ga__parser_add(p, (ga__ast_node){.kind = GA__AST_VIEW,
                                                    .row = attributes[k].kind,
                                                    .operand = {operand},
                                                    .at = at});
    }
    return ga__lexer_fail(&p->lexer, at,
                          is_module(p, &p->ast->nodes[operand])
                              ? "functions have no prefix: write sqrt(x), not np.sqrt(x)"
                              : "only .T, .real and .imag may follow: write sum(x), not x.sum()");
}

int ga__parse_views(parser *p, int operand)
{
    while (operand != FAILED) {
        const size_t at = p->lexer.next.at;
        const bool slices = ga__lexer_next_is(&p->lexer, "[");
        if (!slices && !ga__lexer_next_is(&p->lexer, "."))
            return operand;
        if (ga__lexer_advance(&p->lexer) == FAILED)
            return FAILED;
        operand = slices ? parse_slice(p, at, operand) : parse_attribute(p, at, operand);
    }
    return FAILED;
}
