/* Types what follows a selection, whose length only the data tell: functions of single elements,
 * and reductions, work on all elements, and then the mask chooses. */
#include <string.h>

#include "expr/typing/typer.h"

typedef ga__typer typer;

#define FAILED GA__TYPER_FAILED

static bool is_selection(const ga__node *node)
{
    return node->key.kind == GA__NODE_SELECT;
}

/* The axes of a selection behind the chosen one, which are those of its source behind the mask. */
static int axes_behind(const ga__node *selection)
{
    return (int)selection->key.bits[0];
}

/* ---- Functions of single elements ---- */

/* Whether the value stands beside the selection as it would beside its source: it has the same mask
 * and as many axes behind it, or only axes that broadcast behind it. */
static bool fits(const ga__node *selection, const ga__node *node)
{
    if (!is_selection(node))
        return node->ndim <= axes_behind(selection);
    return node->key.operand[1] == selection->key.operand[1] &&
           axes_behind(node) == axes_behind(selection);
}

int ga__typer_fail_selection(const typer *t)
{
    return ga__typer_fail(
        t, GA_ERR_UNSUPPORTED,
        "only the data tell how many elements a mask chooses: x[mask] goes to functions of single "
        "elements and to sums; for more, use another call");
}

bool ga__typer_enter_selection(const typer *t, int inputs, int *operand, int *selection)
{
    *selection = FAILED;
    for (int k = 0; k < inputs && *selection == FAILED; k++)
        if (is_selection(ga__typer_node(t, operand[k])))
            *selection = operand[k];
    if (*selection == FAILED)
        return true;
    for (int k = 0; k < inputs; k++)
        if (!fits(ga__typer_node(t, *selection), ga__typer_node(t, operand[k])))
            return ga__typer_fail_selection(t), false;
    for (int k = 0; k < inputs; k++)
        if (is_selection(ga__typer_node(t, operand[k])))
            operand[k] = ga__typer_node(t, operand[k])->key.operand[0];
    return true;
}

int ga__typer_leave_selection(typer *t, int selection, int result)
{
    const ga__node *s = ga__typer_node(t, selection), *x = ga__typer_node(t, result);
    const int behind = axes_behind(s);
    int64_t shape[GA_MAX_NDIM + 1];
    ga__node_key key = s->key;
    key.dtype = x->dtype;
    key.operand[0] = result;
    shape[0] = s->shape[0];
    memcpy(shape + 1, x->shape + x->ndim - behind, sizeof(int64_t) * (size_t)behind);
    return ga__typer_add_node(t, &key, x->dtype, 1 + behind, shape);
}

/* ---- Reductions ---- */

/* Whether the options reduce the chosen axis, and name the axes of the source too. */
static bool reduces_choice(const ga__options *options, const ga__node *selection, int mask_axes)
{
    bool found = options->naxes < 0;
    if (mask_axes != 1)
        return found && !options->keepdims;
    for (int k = 0; k < options->naxes && !found; k++)
        found = options->axis[k] == 0 || options->axis[k] == -selection->ndim;
    return found;
}

bool ga__typer_reduces_selection(const typer *t, int operand)
{
    const ga__node *s = ga__typer_node(t, operand);
    const ga__options *options = &t->ast->options[t->ast_node->options];
    if (!is_selection(s) || options->where >= 0)
        return false;
    const ga__node *x = ga__typer_node(t, s->key.operand[0]);
    return ga__typer_chooses(t->ast_node->row) &&
           reduces_choice(options, s, x->ndim - axes_behind(s));
}
