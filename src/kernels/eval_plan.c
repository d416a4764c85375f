/* Plans expressions: a kernel for each reduction with its map and what follows, and one for the
 * rest. */
#include "kernels/eval_plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* What a value depends on besides numbers: nothing, the one reduction of that number, or more. */
enum { NOTHING = -1, MUCH = -2 };

typedef struct planner {
    const ga__graph *graph;
    bool *used;   /* by the root */
    int *depends; /* NOTHING, MUCH or a reduction's node */
    int *leaves;  /* of a reduction: the node its kernel leaves, -1 so far none */
    int *left_by; /* the step that leaves the node, -1 */
} planner;

static int inputs_of(const ga__node *node)
{
    switch (node->key.kind) {
    case GA__NODE_APPLY: return node->key.bits[0] ? 1 : ga__rows[node->key.row].inputs;
    case GA__NODE_WEAK_OPERATOR: return ga__rows[node->key.row].inputs;
    case GA__NODE_NUMBER:
    case GA__NODE_CAST:
    case GA__NODE_REDUCE: return 1;
    default: return 0;
    }
}

static void find_used(planner *p)
{
    const ga__graph *g = p->graph;
    p->used[g->root] = true;
    for (int k = g->root; k >= 0; k--)
        for (int i = 0; p->used[k] && i < inputs_of(&g->nodes[k]); i++)
            p->used[g->nodes[k].key.operand[i]] = true;
}

static int merge(int a, int b)
{
    if (a == NOTHING || a == b)
        return b;
    return b == NOTHING ? a : MUCH;
}

static void find_dependences(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        p->depends[k] = NOTHING;
        if (node->key.kind == GA__NODE_ARRAY)
            p->depends[k] = MUCH;
        else if (node->key.kind == GA__NODE_REDUCE)
            p->depends[k] = k;
        else
            for (int i = 0; i < inputs_of(node); i++)
                p->depends[k] = merge(p->depends[k], p->depends[node->key.operand[i]]);
    }
}

/* Someone outside what follows the reduction uses `node`: its kernel leaves that, or when several
 * are used, itself. */
static void leave(planner *p, int reduction, int node)
{
    if (reduction < 0)
        return;
    if (p->leaves[reduction] < 0)
        p->leaves[reduction] = node;
    else if (p->leaves[reduction] != node)
        p->leaves[reduction] = reduction;
}

static void find_leaves(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        for (int i = 0; p->used[k] && i < inputs_of(node); i++) {
            const int operand = node->key.operand[i];
            if (node->key.kind == GA__NODE_REDUCE || p->depends[k] != p->depends[operand])
                leave(p, p->depends[operand], operand);
        }
    }
    leave(p, p->depends[p->graph->root], p->graph->root);
}

/* The steps, in order; the kernel of the rest is last. */
static ga_status make_steps(planner *p, ga__plan *plan)
{
    const ga__graph *g = p->graph;
    int nsteps = 1;
    for (int k = 0; k <= g->root; k++)
        nsteps += p->used[k] && g->nodes[k].key.kind == GA__NODE_REDUCE;
    plan->steps = ga__calloc((size_t)nsteps, sizeof(*plan->steps));
    if (!plan->steps)
        return ga_error();
    for (int k = 0; k <= g->root; k++) {
        if (!p->used[k] || g->nodes[k].key.kind != GA__NODE_REDUCE)
            continue;
        ga__step *step = &plan->steps[plan->nsteps++];
        const ga_status status = ga__step_code(step, g, p->left_by, p->leaves[k], k);
        if (status != GA_OK)
            return status;
        p->left_by[p->leaves[k]] = plan->nsteps - 1;
    }
    if (p->left_by[g->root] >= 0)
        return GA_OK;
    return ga__step_code(&plan->steps[plan->nsteps++], g, p->left_by, g->root, -1);
}

static ga_status find_varying(ga__plan *plan, const bool *used)
{
    for (int k = 0; k <= plan->graph.root; k++) {
        ga__node *node = &plan->graph.nodes[k];
        if (!used[k] || !ga__node_is_weak(node) || !node->varies)
            continue;
        if (plan->nvarying == GA__MAX_VARYING)
            return ga__fail(GA_ERR_UNSUPPORTED,
                            "ga_eval: more than %d operations on numbers that are arguments",
                            GA__MAX_VARYING);
        node->slot = plan->nvarying;
        plan->varying[plan->nvarying++] = k;
    }
    return GA_OK;
}

static ga_status plan_graph(ga__plan *plan)
{
    const size_t n = (size_t)plan->graph.root + 1;
    int *numbers = ga__malloc(3 * n * sizeof(*numbers));
    bool *used = ga__calloc(n, sizeof(*used));
    planner p = {.graph = &plan->graph, .used = used};
    ga_status status = numbers && used ? GA_OK : ga_error();
    if (status == GA_OK) {
        p.depends = numbers;
        p.leaves = numbers + n;
        p.left_by = numbers + 2 * n;
        memset(numbers, 0xff, 3 * n * sizeof(*numbers));
        find_used(&p);
        status = find_varying(plan, used);
    }
    if (status == GA_OK && !ga__node_is_weak(&plan->graph.nodes[plan->graph.root])) {
        find_dependences(&p);
        find_leaves(&p);
        status = make_steps(&p, plan);
    }
    ga__free(used);
    ga__free(numbers);
    return status;
}

ga__plan *ga__plan_new(ga__graph *graph)
{
    ga__plan *plan = ga__calloc(1, sizeof(*plan));
    if (!plan) {
        ga__graph_reset(graph);
        return NULL;
    }
    plan->graph = *graph;
    *graph = (ga__graph){.root = -1};
    if (plan_graph(plan) == GA_OK)
        return plan;
    ga__plan_free(plan);
    return NULL;
}

void ga__plan_free(ga__plan *plan)
{
    if (!plan)
        return;
    for (int k = 0; k < plan->nsteps; k++) {
        ga__free(plan->steps[k].inputs);
        ga__free(plan->steps[k].body);
        ga__free(plan->steps[k].map);
        ga__free(plan->steps[k].finish);
    }
    ga__free(plan->steps);
    ga__graph_reset(&plan->graph);
    ga__free(plan);
}
