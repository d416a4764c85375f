/* Types reductions of the elements that a mask chooses, and with an initial element: a plain
 * reduction with rows of the tables around it. */
#include <math.h>
#include <stdio.h>

#include "expr/typing/typer.h"
#include "model/layout.h"
#include "model/promote.h"

typedef ga__typer typer;

#define FAILED GA__TYPER_FAILED

/* The value in the place of an element that is not chosen: it has no effect on the result. */
typedef enum absent { NOTHING, ZERO, ONE, INITIAL, NOT_A_NUMBER } absent;

#define NO_ROW (-1)

/* How a row reduces chosen elements, and the row that joins the initial element to its result, or
 * NO_ROW. */
typedef struct recipe {
    absent absent;
    int join;
} recipe;

static const recipe recipes[GA__ROW_COUNT] = {
    [GA__ROW_sum] = {ZERO, GA__ROW_add},
    [GA__ROW_prod] = {ONE, GA__ROW_multiply},
    [GA__ROW_min] = {INITIAL, GA__ROW_minimum},
    [GA__ROW_max] = {INITIAL, GA__ROW_maximum},
    [GA__ROW_any] = {ZERO, GA__ROW_logical_or},
    [GA__ROW_all] = {ONE, GA__ROW_logical_and},
    [GA__ROW_count_nonzero] = {ZERO, NO_ROW},
    [GA__ROW_nansum] = {ZERO, GA__ROW_add},
    [GA__ROW_nanprod] = {ONE, GA__ROW_multiply},
    [GA__ROW_nanmin] = {INITIAL, GA__ROW_fmin},
    [GA__ROW_nanmax] = {INITIAL, GA__ROW_fmax},
    [GA__ROW_nanmean] = {NOT_A_NUMBER, NO_ROW},
    [GA__ROW_nanvar] = {NOT_A_NUMBER, NO_ROW},
    [GA__ROW_nanstd] = {NOT_A_NUMBER, NO_ROW},
    [GA__ROW_mean] = {ZERO, NO_ROW},
    [GA__ROW_var] = {NOT_A_NUMBER, NO_ROW},
    [GA__ROW_std] = {NOT_A_NUMBER, NO_ROW},
};

/* The values of one such reduction. */
typedef struct chosen {
    int row;
    ga_dtype loop; /* of the computation */
    int x, mask, initial;
} chosen;

static int apply1(typer *t, int row, int a)
{
    return a == FAILED ? FAILED : ga__typer_apply(t, row, &a);
}

static int apply2(typer *t, int row, int a, int b)
{
    const int operand[] = {a, b};
    return a == FAILED || b == FAILED ? FAILED : ga__typer_apply(t, row, operand);
}

/* where(condition, a, b) */
static int choose(typer *t, int condition, int a, int b)
{
    const int operand[] = {condition, a, b};
    return condition == FAILED || a == FAILED || b == FAILED
               ? FAILED
               : ga__typer_apply(t, GA__ROW_where, operand);
}

static int reduce(typer *t, int row, int x, bool may_be_empty)
{
    return x == FAILED ? FAILED : ga__typer_reduce_row(t, row, x, GA_NO_DTYPE, may_be_empty);
}

bool ga__typer_chooses(int row)
{
    return recipes[row].absent != NOTHING;
}

/* ---- The options ---- */

static int fail_option(const typer *t, int row, const char *problem)
{
    char what[128];
    snprintf(what, sizeof what, "%s %s", ga__rows[row].formula.name, problem);
    return ga__typer_fail(t, GA_ERR_INVALID, what);
}

static int check_initial(typer *t, const chosen *c)
{
    return recipes[c->row].absent == INITIAL && c->initial == FAILED
               ? fail_option(t, c->row,
                             "needs initial= where a mask chooses: of nothing it has no result")
               : 0;
}

/* Sets the mask, which broadcasts to x. */
static int read_mask(typer *t, chosen *c, int where)
{
    const ga__node *x = ga__typer_node(t, c->x), *w = ga__typer_node(t, where);
    char what[160];
    if (recipes[c->row].absent == NOTHING)
        return fail_option(t, c->row, "takes no where= in expressions");
    if (check_initial(t, c) == FAILED)
        return FAILED;
    if (!ga__node_is_weak(w) && ga__check_numeric("where", w->dtype) != GA_OK)
        return ga__typer_fail_here(t);
    if (!ga__broadcasts_to(w->ndim, w->shape, x->ndim, x->shape)) {
        snprintf(what, sizeof what, "where of shape %s does not broadcast to %s",
                 ga__shape_text(w->ndim, w->shape), ga__shape_text(x->ndim, x->shape));
        return ga__typer_fail(t, GA_ERR_SHAPE, what);
    }
    return c->mask = ga__typer_convert(t, where, GA_BOOL);
}

/* Sets the initial element, a number that fits the dtype of the computation. */
static int read_initial(typer *t, chosen *c, int initial)
{
    const ga__node *v = ga__typer_node(t, initial);
    if (recipes[c->row].absent == NOTHING || recipes[c->row].join == NO_ROW)
        return fail_option(t, c->row, "takes no initial= in expressions");
    if (!ga__node_is_weak(v))
        return ga__typer_fail(t, GA_ERR_INVALID, "initial must be a number");
    if (ga__check_number(ga__rows[c->row].formula.name, v->number, c->loop) != GA_OK)
        return ga__typer_fail_here(t);
    return c->initial = ga__typer_convert(t, initial, c->loop);
}

/* ---- The values ---- */

/* The elements, with others in the place of those that are not chosen. */
static int chosen_elements(typer *t, const chosen *c)
{
    static const double numbers[] = {[ZERO] = 0, [ONE] = 1, [NOT_A_NUMBER] = NAN};
    const absent other_is = recipes[c->row].absent;
    if (c->mask == FAILED)
        return c->x;
    const int other = other_is == INITIAL
                          ? c->initial
                          : ga__typer_number(t, ga_value_double(numbers[other_is]), c->loop);
    return choose(t, c->mask, c->x, other);
}

/* Sums of small floats stay in float32 until the quotient is rounded. */
static int mean(typer *t, chosen c)
{
    const ga_dtype loop = c.loop;
    if (ga_dtype_size(loop) < 4)
        c.loop = GA_FLOAT32;
    c.x = ga__typer_convert(t, c.x, c.loop);
    if (c.x == FAILED)
        return FAILED;
    const int yes = ga__typer_number(t, ga_value_bool(true), GA_BOOL);
    const int everywhere = apply2(t, GA__ROW_logical_or, c.x, yes);
    const int counted = apply2(t, GA__ROW_logical_and, c.mask, everywhere);
    const int total = reduce(t, GA__ROW_sum, chosen_elements(t, &c), false);
    int count = reduce(t, GA__ROW_count_nonzero, counted, false);
    if (count != FAILED)
        count = ga__typer_convert(t, count, c.loop);
    const int quotient = apply2(t, GA__ROW_divide, total, count);
    return quotient == FAILED ? FAILED : ga__typer_convert(t, quotient, loop);
}

/* The row for numbers, unless a chosen element is not a number. */
static int spread(typer *t, const chosen *c, int row_of_numbers)
{
    const int wrong = apply2(t, GA__ROW_logical_and, c->mask, apply1(t, GA__ROW_isnan, c->x));
    const int any = reduce(t, GA__ROW_any, wrong, false);
    const int result = reduce(t, row_of_numbers, chosen_elements(t, c), false);
    if (result == FAILED)
        return FAILED;
    const int nan = ga__typer_number(t, ga_value_double(NAN), ga__typer_node(t, result)->dtype);
    return choose(t, any, nan, result);
}

/* The source and the mask of a selection, in its place. */
static int enter(typer *t, chosen *c)
{
    const ga__node *selection = ga__typer_node(t, c->x);
    c->mask = selection->key.operand[1];
    c->x = selection->key.operand[0];
    return check_initial(t, c);
}

int ga__typer_reduce_chosen(typer *t, const int *operand)
{
    const ga__options *options = &t->ast->options[t->ast_node->options];
    chosen c = {.row = t->ast_node->row, .x = operand[0], .mask = FAILED, .initial = FAILED};
    const ga__row *op = &ga__rows[c.row];
    if (ga__typer_loop(op, options->dtype, ga__typer_node(t, c.x)->dtype, &c.loop) != GA_OK)
        return ga__typer_fail_here(t);
    if (options->initial >= 0 && read_initial(t, &c, operand[2]) == FAILED)
        return FAILED;
    if (options->where >= 0 && read_mask(t, &c, operand[1]) == FAILED)
        return FAILED;
    if (ga__typer_reduces_selection(t, c.x) && enter(t, &c) == FAILED)
        return FAILED;
    c.x = ga__typer_convert(t, c.x, c.loop);
    if (c.x == FAILED)
        return FAILED;
    if (c.row == GA__ROW_mean)
        return mean(t, c);
    if (c.row == GA__ROW_var || c.row == GA__ROW_std)
        return spread(t, &c, c.row == GA__ROW_var ? GA__ROW_nanvar : GA__ROW_nanstd);
    const int result = reduce(t, c.row, chosen_elements(t, &c), c.initial != FAILED);
    return c.initial == FAILED ? result : apply2(t, recipes[c.row].join, result, c.initial);
}
