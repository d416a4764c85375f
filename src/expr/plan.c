/* Plans expressions: a kernel for the reductions that share what they read, with their maps and
 * what follows, and one for the rest. */
#include "expr/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* What a value depends on besides numbers: nothing, the one group of that number, or more. */
enum { NOTHING = -1, MUCH = -2 };

/* Reductions that one kernel makes. */
typedef struct group {
    ga__cut cut;
    int level;
    uint64_t reads; /* a bit for each argument that is an array of the whole reduced shape */
    bool apart; /* more is used of what follows than the kernel can leave: it leaves the parts */
} group;

typedef struct planner {
    const ga__graph *graph;
    int most_parts;
    bool *used;   /* by the root */
    bool *mark;   /* scratch */
    int *level;   /* how many reductions lead to a node, one after the other */
    int *depends; /* NOTHING, MUCH or a group */
    int *left_as; /* the value of a step that a node is, -1 */
    int ngroups;
    group *groups;
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

static bool reduces(const planner *p, int k)
{
    return p->graph->nodes[k].key.kind == GA__NODE_REDUCE;
}

static void find_levels(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        p->level[k] = 0;
        for (int i = 0; i < inputs_of(node); i++) {
            const int level = p->level[node->key.operand[i]];
            p->level[k] = level > p->level[k] ? level : p->level[k];
        }
        p->level[k] += reduces(p, k);
    }
}

/* ---- Groups: reductions that read the same array over the same axes go together ---- */

static uint64_t arrays_read(planner *p, int reduction)
{
    const int operand = p->graph->nodes[reduction].key.operand[0];
    const ga__node *nodes = p->graph->nodes;
    const int64_t size = ga__shape_size(nodes[operand].ndim, nodes[operand].shape);
    uint64_t reads = 0;
    memset(p->mark, 0, (size_t)operand + 1);
    p->mark[operand] = true;
    for (int k = operand; k >= 0; k--) {
        if (!p->mark[k] || reduces(p, k))
            continue;
        for (int i = 0; i < inputs_of(&nodes[k]); i++)
            p->mark[nodes[k].key.operand[i]] = true;
        if (nodes[k].key.kind == GA__NODE_ARRAY &&
            ga__shape_size(nodes[k].ndim, nodes[k].shape) == size)
            reads |= (uint64_t)1 << nodes[k].key.row;
    }
    return reads;
}

static bool may_join(const planner *p, const group *g, int reduction, uint64_t reads)
{
    const ga__node *nodes = p->graph->nodes;
    const ga__node_key *a = &nodes[g->cut.part[0]].key, *b = &nodes[reduction].key;
    const ga__node *x = &nodes[a->operand[0]], *y = &nodes[b->operand[0]];
    return g->level == p->level[reduction] && g->cut.nparts < p->most_parts && (g->reads & reads) &&
           a->axes == b->axes && a->keepdims == b->keepdims &&
           ga__same_shape(x->ndim, x->shape, y->ndim, y->shape);
}

static void find_groups(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        if (!p->used[k] || !reduces(p, k))
            continue;
        const uint64_t reads = arrays_read(p, k);
        int to = 0;
        while (to < p->ngroups && !may_join(p, &p->groups[to], k, reads))
            to++;
        group *g = &p->groups[to];
        if (to == p->ngroups) {
            *g = (group){.level = p->level[k]};
            p->ngroups++;
        }
        g->reads |= reads;
        g->cut.part[g->cut.nparts++] = k;
        p->depends[k] = to;
    }
}

/* ---- What each group leaves ---- */

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
        if (reduces(p, k))
            continue;
        p->depends[k] = node->key.kind == GA__NODE_ARRAY ? MUCH : NOTHING;
        for (int i = 0; i < inputs_of(node); i++)
            p->depends[k] = merge(p->depends[k], p->depends[node->key.operand[i]]);
    }
}

/* Someone outside what follows the group uses `node`. */
static void leave(planner *p, int number, int node)
{
    if (number < 0)
        return;
    group *g = &p->groups[number];
    for (int k = 0; k < g->cut.nresults; k++)
        if (g->cut.result[k] == node)
            return;
    if (g->cut.nresults < g->cut.nparts)
        g->cut.result[g->cut.nresults++] = node;
    else
        g->apart = true;
}

static void find_results(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        for (int i = 0; p->used[k] && i < inputs_of(node); i++) {
            const int operand = node->key.operand[i];
            if (reduces(p, k) || p->depends[k] != p->depends[operand])
                leave(p, p->depends[operand], operand);
        }
    }
    leave(p, p->depends[p->graph->root], p->graph->root);
    for (int k = 0; k < p->ngroups; k++) {
        ga__cut *cut = &p->groups[k].cut;
        if (!p->groups[k].apart)
            continue;
        cut->nresults = cut->nparts;
        memcpy(cut->result, cut->part, sizeof(cut->part));
    }
}

/* ---- Steps ---- */

static ga_status make_step(planner *p, ga__plan *plan, const ga__cut *cut)
{
    ga__step *step = &plan->steps[plan->nsteps];
    const ga_status status = ga__step_code(step, p->graph, p->left_as, cut);
    if (status != GA_OK)
        return status;
    plan->nsteps++;
    step->first_value = plan->nvalues;
    for (int k = 0; k < cut->nresults; k++)
        p->left_as[cut->result[k]] = plan->nvalues++;
    return GA_OK;
}

/* The steps, each after those it reads from; the kernel of the rest is last. */
static ga_status make_steps(planner *p, ga__plan *plan)
{
    const int root = p->graph->root;
    plan->steps = ga__calloc((size_t)p->ngroups + 1, sizeof(*plan->steps));
    if (!plan->steps)
        return ga_error();
    for (int level = 1; level <= p->level[root]; level++)
        for (int k = 0; k < p->ngroups; k++) {
            if (p->groups[k].level != level)
                continue;
            const ga_status status = make_step(p, plan, &p->groups[k].cut);
            if (status != GA_OK)
                return status;
        }
    const ga__cut rest = {.nresults = 1, .result = {root}};
    return p->left_as[root] >= 0 ? GA_OK : make_step(p, plan, &rest);
}

static void discard_steps(ga__plan *plan)
{
    for (int k = 0; k < plan->nsteps; k++)
        ga__step_reset(&plan->steps[k]);
    ga__free(plan->steps);
    plan->steps = NULL;
    plan->nsteps = plan->nvalues = 0;
}

/* Cuts the graph into kernels of at most so many reductions each. */
static ga_status cut_graph(planner *p, ga__plan *plan, int most_parts)
{
    p->most_parts = most_parts;
    p->ngroups = 0;
    memset(p->left_as, 0xff, ((size_t)p->graph->root + 1) * sizeof(*p->left_as));
    memset(p->depends, 0xff, ((size_t)p->graph->root + 1) * sizeof(*p->depends));
    find_groups(p);
    find_dependences(p);
    find_results(p);
    return make_steps(p, plan);
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

static int count_reductions(const planner *p)
{
    int count = 0;
    for (int k = 0; k <= p->graph->root; k++)
        count += p->used[k] && reduces(p, k);
    return count;
}

static ga_status cut_all(planner *p, ga__plan *plan, int most_parts)
{
    p->groups = ga__calloc((size_t)count_reductions(p) + 1, sizeof(*p->groups));
    if (!p->groups)
        return ga_error();
    find_levels(p);
    ga_status status = cut_graph(p, plan, most_parts);
    if (status == GA_ERR_UNSUPPORTED) {
        discard_steps(plan);
        status = cut_graph(p, plan, 1);
    }
    if (status == GA_ERR_UNSUPPORTED)
        ga__fail(status, "ga_eval: more than %d arrays and numbers meet in one kernel",
                 GA__MOST_INPUTS);
    ga__free(p->groups);
    return status;
}

static ga_status plan_graph(ga__plan *plan, int most_parts)
{
    const size_t n = (size_t)plan->graph.root + 1;
    int *numbers = ga__malloc(3 * n * sizeof(*numbers));
    bool *flags = ga__calloc(2 * n, sizeof(*flags));
    planner p = {.graph = &plan->graph, .used = flags};
    ga_status status = numbers && flags ? GA_OK : ga_error();
    if (status == GA_OK) {
        p.mark = flags + n;
        p.level = numbers;
        p.depends = numbers + n;
        p.left_as = numbers + 2 * n;
        find_used(&p);
        status = find_varying(plan, p.used);
    }
    if (status == GA_OK && !ga__node_is_weak(&plan->graph.nodes[plan->graph.root]))
        status = cut_all(&p, plan, most_parts);
    ga__free(flags);
    ga__free(numbers);
    return status;
}

ga__plan *ga__plan_new(ga__graph *graph, int most_parts)
{
    ga__plan *plan = ga__calloc(1, sizeof(*plan));
    if (!plan) {
        ga__graph_reset(graph);
        return NULL;
    }
    plan->graph = *graph;
    *graph = (ga__graph){.root = -1};
    if (plan_graph(plan, most_parts) == GA_OK)
        return plan;
    ga__plan_free(plan);
    return NULL;
}

void ga__plan_free(ga__plan *plan)
{
    if (!plan)
        return;
    discard_steps(plan);
    ga__graph_reset(&plan->graph);
    ga__free(plan);
}
