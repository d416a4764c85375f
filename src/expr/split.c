/* Splits what one kernel would compute where it needs more operands than the engines support. */
#include "expr/split.h"

#include "base/alloc.h"
#include "base/error.h"

typedef struct splitter {
    const ga__graph *graph;
    const bool *used;
    bool *stored;
} splitter;

/* The operands that a kernel needs to compute a value. */
typedef struct leaves {
    int count;
    int node[GA__MOST_INPUTS];
} leaves;

/* Adds the operands of `more`, or its node alone; false if there is no room. */
static bool add_leaves(leaves *all, const leaves *more)
{
    for (int i = 0; i < more->count; i++) {
        int k = 0;
        while (k < all->count && all->node[k] != more->node[i])
            k++;
        if (k == GA__MOST_INPUTS)
            return false;
        all->node[k] = more->node[i];
        all->count += k == all->count;
    }
    return true;
}

static bool is_constant(const splitter *s, int k)
{
    const ga__node *node = &s->graph->nodes[k];
    return node->key.kind == GA__NODE_NUMBER && !s->graph->nodes[node->key.operand[0]].varies;
}

/* What the users of a node read: one operand, or those that it is computed from. */
static leaves leaves_for_users(const splitter *s, int k, const leaves *own)
{
    const ga__node *node = &s->graph->nodes[k];
    const bool computed = node->key.kind == GA__NODE_APPLY || node->key.kind == GA__NODE_CAST;
    return computed && !s->stored[k] ? *own : (leaves){.count = !is_constant(s, k), .node = {k}};
}

/* Stores the operand of a node that has the most operands itself. */
static void store_largest(const splitter *s, const ga__node *node, const leaves *all)
{
    int largest = -1, most = 1;
    for (int i = 0; i < ga__node_inputs(node); i++) {
        const int k = node->key.operand[i];
        const leaves needs = leaves_for_users(s, k, &all[k]);
        if (needs.count > most) {
            most = needs.count;
            largest = k;
        }
    }
    s->stored[largest] = true;
}

/* Finds the operands of a node; false if there are too many. */
static bool find_leaves(const splitter *s, int k, leaves *all)
{
    const ga__node *node = &s->graph->nodes[k];
    bool room = true;
    all[k].count = 0;
    for (int i = 0; i < ga__node_inputs(node) && room; i++) {
        const int operand = node->key.operand[i];
        const leaves needs = leaves_for_users(s, operand, &all[operand]);
        room = add_leaves(&all[k], &needs);
    }
    return room;
}

/* One walk; false if it has stored a value, so that the operands found before it may be wrong. */
static bool fit_kernels(const splitter *s, leaves *all)
{
    bool fits = true;
    for (int k = 0; k <= s->graph->root; k++) {
        const ga__node *node = &s->graph->nodes[k];
        if (!s->used[k] || ga__node_is_weak(node) || node->key.kind == GA__NODE_NUMBER)
            continue;
        while (!find_leaves(s, k, all)) {
            store_largest(s, node, all);
            fits = false;
        }
    }
    return fits;
}

ga_status ga__split_values(const ga__graph *graph, const bool *used, bool *stored)
{
    const splitter s = {.graph = graph, .used = used, .stored = stored};
    leaves *all = ga__calloc((size_t)graph->root + 1, sizeof(*all));
    if (!all)
        return ga_error();
    while (!fit_kernels(&s, all)) {
    }
    ga__free(all);
    return GA_OK;
}
