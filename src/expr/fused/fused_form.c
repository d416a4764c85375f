/* Finds out whether an expression has the form of fused rows: the extent, level and cost of each
 * value, and the stages of its reductions. */
#include "expr/fused/fused_form.h"

#include "kernels/request.h"

typedef ga__finder finder;

static void find_used(finder *f)
{
    f->used[f->graph->root] = true;
    for (int k = f->graph->root; k >= 0; k--)
        for (int i = 0; f->used[k] && i < ga__node_inputs(ga__finder_node(f, k)); i++)
            f->used[ga__finder_node(f, k)->key.operand[i]] = true;
}

/* Whether the reduction is over the axes and the shape that all reductions run over. */
static bool fits_rows(finder *f, int k)
{
    const ga__node *node = ga__finder_node(f, k),
                   *operand = ga__finder_node(f, node->key.operand[0]);
    if (f->fused->axes == 0) {
        f->fused->axes = node->key.axes;
        f->ndim = operand->ndim;
    }
    return !ga__row_scans(node->key.row) && node->key.axes != 0 &&
           node->key.axes == f->fused->axes && operand->ndim == f->ndim &&
           f->extent[node->key.operand[0]] == GA__SPAN_ELEMENT;
}

/* Whether values of rows broadcast to their elements without their reduced axes, too: those are the
 * first ones, or all. */
static bool broadcasts_short(const finder *f)
{
    return (f->fused->axes & (f->fused->axes + 1)) == 0;
}

/* Sets the extent of a node from those of its operands; false if they do not go together. */
static bool find_extent(finder *f, int k)
{
    const ga__node *node = ga__finder_node(f, k);
    ga__span *const own = &f->extent[k];
    *own = node->key.kind == GA__NODE_ARRAY ? GA__SPAN_ELEMENT : GA__SPAN_NUMBER;
    if (ga__finder_reduces(f, k)) {
        *own = node->key.keepdims || broadcasts_short(f) ? GA__SPAN_ROW : GA__SPAN_SHORT_ROW;
        return true;
    }
    for (int i = 0; i < ga__node_inputs(node); i++) {
        const ga__span other = f->extent[node->key.operand[i]];
        if ((*own == GA__SPAN_SHORT_ROW && other > GA__SPAN_SHORT_ROW) ||
            (*own > GA__SPAN_SHORT_ROW && other == GA__SPAN_SHORT_ROW) ||
            (*own == GA__SPAN_SHORT_ROW && other == GA__SPAN_ROW) ||
            (*own == GA__SPAN_ROW && other == GA__SPAN_SHORT_ROW))
            return false;
        *own = other > *own ? other : *own;
    }
    return true;
}

static bool takes_long(const finder *f, int k)
{
    const ga__node *node = ga__finder_node(f, k);
    return node->key.kind == GA__NODE_APPLY &&
           (ga__node_divides(node) || ga__calls_libm(ga__expression_of(node)));
}

/* Whether a kernel over rows computes such a value itself. Any other lies in memory first. */
static bool is_of_rows(const ga__node *node)
{
    switch (node->key.kind) {
    case GA__NODE_NUMBER:
    case GA__NODE_ARRAY:
    case GA__NODE_APPLY:
    case GA__NODE_CAST:
    case GA__NODE_REDUCE: return true;
    default: return false;
    }
}

/* Finds the extent, the level and the cost of each node; false if the form is another. */
static bool find_form(finder *f)
{
    for (int k = 0; k <= f->graph->root; k++) {
        const ga__node *node = ga__finder_node(f, k);
        f->kept[k] = -1;
        if (!f->used[k] || ga__node_is_weak(node))
            continue;
        if (!is_of_rows(node) || (ga__finder_reduces(f, k) && !fits_rows(f, k)) ||
            !find_extent(f, k))
            return false;
        f->level[k] = 0;
        for (int i = 0; i < ga__node_inputs(node); i++) {
            const int operand = node->key.operand[i];
            f->level[k] = f->level[operand] > f->level[k] ? f->level[operand] : f->level[k];
            f->costs[k] |= f->costs[operand] && f->extent[operand] == GA__SPAN_ELEMENT &&
                           !ga__finder_reduces(f, k);
        }
        f->level[k] += ga__finder_reduces(f, k);
        f->costs[k] |= takes_long(f, k);
    }
    for (int k = 0; k <= f->graph->root; k++)
        if (f->used[k] && ga__finder_node(f, k)->key.kind == GA__NODE_ARRAY &&
            ga__finder_node(f, k)->ndim > f->ndim)
            return false;
    return f->fused->axes != 0;
}

/* Whether a text for two elements at once can compute the node, an element's value. */
static bool may_come_in_pairs(const finder *f, const ga__node *node)
{
    const bool divides_by = ga__node_divides(node);
    if (node->key.kind != GA__NODE_APPLY || f->graph->fast_math)
        return false;
    if (node->key.bits[0])
        return node->key.bits[0] == 2;
    return divides_by || node->key.row == GA__ROW_exp || node->key.row == GA__ROW_add ||
           node->key.row == GA__ROW_subtract || node->key.row == GA__ROW_multiply;
}

/* Marks the values that may come in pairs, and notes their dtype if all elements may. */
static void find_pairs(finder *f)
{
    ga_dtype pairs = GA_NO_DTYPE;
    bool all = true;
    for (int k = 0; k <= f->graph->root; k++) {
        const ga__node *node = ga__finder_node(f, k);
        if (!f->used[k] || f->extent[k] != GA__SPAN_ELEMENT)
            continue;
        pairs = pairs == GA_NO_DTYPE ? node->dtype : pairs;
        f->pairs[k] = may_come_in_pairs(f, node);
        all &= node->dtype == pairs && (f->pairs[k] || node->key.kind == GA__NODE_ARRAY);
    }
    const bool small = pairs == GA_FLOAT16 || pairs == GA_BFLOAT16;
    f->fused->formula.pairs = all && small ? pairs : GA_NO_DTYPE;
    f->coder.pairs = all && small ? f->pairs : NULL;
}

int ga__fused_part_of(const finder *f, int s, int k)
{
    const ga__node *own = ga__finder_node(f, k);
    int p = 0;
    for (; p < f->fused->formula.stages[s].nparts; p++) {
        const ga__node *part = ga__finder_node(f, f->fused->part[s][p]);
        if (part->key.row == own->key.row && part->key.operand[0] == own->key.operand[0] &&
            part->key.bits[0] == own->key.bits[0] && part->loop == own->loop &&
            part->dtype == own->dtype)
            break;
    }
    return p;
}

/* Divides the reductions into stages by their levels. */
static bool find_stages(finder *f)
{
    ga__fused_formula *formula = &f->fused->formula;
    for (int k = 0; k <= f->graph->root; k++) {
        if (!f->used[k] || !ga__finder_reduces(f, k))
            continue;
        const int s = f->level[k] - 1;
        if (s < GA__MAX_STAGES && ga__fused_part_of(f, s, k) < formula->stages[s].nparts)
            continue;
        if (s >= GA__MAX_STAGES || formula->stages[s].nparts == GA__MAX_PARTS)
            return false;
        formula->nstages = s + 1 > formula->nstages ? s + 1 : formula->nstages;
        f->fused->part[s][formula->stages[s].nparts++] = k;
    }
    formula->per_row = f->extent[f->graph->root] != GA__SPAN_ELEMENT;
    return true;
}

bool ga__fused_find_form(finder *f)
{
    find_used(f);
    if (!find_form(f) || !find_stages(f))
        return false;
    find_pairs(f);
    return true;
}
