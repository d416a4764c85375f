/* Plans expressions: one kernel for the reductions that share inputs, with their maps and the
 * values that follow, and one kernel for the rest. */
#include "expr/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/code/epilogue.h"

/* A value depends, besides numbers, on nothing, on one group (its index), or on several things. */
enum { NOTHING = -1, SEVERAL = -2 };

/* Reductions that one kernel computes. */
typedef struct planned_group {
    ga__fusion_group fused;
    int level;
    uint64_t reads;   /* a bit for each array argument that has the whole reduced shape */
    bool keeps_parts; /* too many of the values that follow are used elsewhere: the results are the
                       * parts */
} planned_group;

typedef struct planner {
    const ga__graph *graph;
    int most_parts;
    bool *used;    /* by the root */
    bool *mark;    /* scratch */
    bool *stored;  /* values that need a kernel of their own, unless a group has them as results */
    int *level;    /* the longest chain of reductions that leads to a node */
    int *depends;  /* NOTHING, SEVERAL or a group's index */
    int *value_of; /* the index of the value that a step computes for a node, or -1 */
    bool splits;   /* one kernel has too many operands: some values are stored */
    int ngroups;
    planned_group *groups;
} planner;

static void find_used(planner *p)
{
    const ga__graph *g = p->graph;
    p->used[g->root] = true;
    for (int k = g->root; k >= 0; k--)
        for (int i = 0; p->used[k] && i < ga__node_inputs(&g->nodes[k]); i++)
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
        for (int i = 0; i < ga__node_inputs(node); i++) {
            const int level = p->level[node->key.operand[i]];
            p->level[k] = level > p->level[k] ? level : p->level[k];
        }
        p->level[k] += reduces(p, k);
    }
}

/* ---- Groups: reductions of the same array over the same axes ---- */

/* The arguments that a node has elements of, if it is one of this size or a view of one. */
static uint64_t argument_read(const planner *p, int k, int64_t size)
{
    const ga__node *node = &p->graph->nodes[k];
    const ga__node *viewed = &p->graph->nodes[ga__viewed_node(p->graph, k)];
    return viewed->key.kind == GA__NODE_ARRAY && ga__shape_size(node->ndim, node->shape) == size
               ? (uint64_t)1 << viewed->key.row
               : 0;
}

static uint64_t arrays_read(planner *p, int reduction)
{
    const int operand = p->graph->nodes[reduction].key.operand[0];
    const ga__node *nodes = p->graph->nodes;
    const int64_t size = ga__shape_size(nodes[operand].ndim, nodes[operand].shape);
    uint64_t reads = 0;
    memset(p->mark, 0, (size_t)operand + 1);
    p->mark[operand] = true;
    for (int k = operand; k >= 0; k--) {
        if (!p->mark[k] || reduces(p, k) || nodes[k].key.kind == GA__NODE_PRODUCT)
            continue;
        reads |= argument_read(p, k, size);
        for (int i = 0; i < ga__node_inputs(&nodes[k]) && nodes[k].key.kind != GA__NODE_VIEW; i++)
            p->mark[nodes[k].key.operand[i]] = true;
    }
    return reads;
}

static bool may_join(const planner *p, const planned_group *g, int reduction, uint64_t reads)
{
    const ga__node *nodes = p->graph->nodes;
    const ga__node_key *a = &nodes[g->fused.part[0]].key, *b = &nodes[reduction].key;
    const ga__node *x = &nodes[a->operand[0]], *y = &nodes[b->operand[0]];
    return !ga__row_scans(a->row) && !ga__row_scans(b->row) && g->level == p->level[reduction] &&
           g->fused.nparts < p->most_parts && (g->reads & reads) && a->axes == b->axes &&
           a->keepdims == b->keepdims && ga__same_shape(x->ndim, x->shape, y->ndim, y->shape);
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
        planned_group *g = &p->groups[to];
        if (to == p->ngroups) {
            *g = (planned_group){.level = p->level[k]};
            p->ngroups++;
        }
        g->reads |= reads;
        g->fused.part[g->fused.nparts++] = k;
        p->depends[k] = to;
        if (!ga__row_scans(p->graph->nodes[k].key.row))
            continue;
        g->fused.result[g->fused.nresults++] = k; /* a scan alone: nothing follows in its kernel */
        p->depends[k] = SEVERAL;
    }
}

/* ---- The results of each group ---- */

static int merge(int a, int b)
{
    if (a == NOTHING || a == b)
        return b;
    return b == NOTHING ? a : SEVERAL;
}

static void find_dependences(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        if (reduces(p, k))
            continue;
        const bool is_array = node->key.kind == GA__NODE_ARRAY || ga__node_reads_memory(node) ||
                              node->key.kind == GA__NODE_GATHER ||
                              node->key.kind == GA__NODE_SELECT;
        p->depends[k] = is_array ? SEVERAL : NOTHING;
        for (int i = 0; i < ga__node_inputs(node); i++)
            p->depends[k] = merge(p->depends[k], p->depends[node->key.operand[i]]);
    }
}

/* Makes `node` a result of the group, because a value outside the group uses it. */
static void add_result(planner *p, int index, int node)
{
    if (index < 0)
        return;
    planned_group *g = &p->groups[index];
    for (int k = 0; k < g->fused.nresults; k++)
        if (g->fused.result[k] == node)
            return;
    if (g->fused.nresults < g->fused.nparts)
        g->fused.result[g->fused.nresults++] = node;
    else
        g->keeps_parts = true;
}

static void find_results(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        for (int i = 0; p->used[k] && i < ga__node_inputs(node); i++) {
            const int operand = node->key.operand[i];
            if (reduces(p, k) || p->depends[k] != p->depends[operand])
                add_result(p, p->depends[operand], operand);
        }
    }
    add_result(p, p->depends[p->graph->root], p->graph->root);
    for (int k = 0; k < p->ngroups; k++) {
        ga__fusion_group *group = &p->groups[k].fused;
        if (!p->groups[k].keeps_parts && !p->splits)
            continue;
        group->nresults = group->nparts;
        memcpy(group->result, group->part, sizeof(group->part));
    }
}

/* ---- Values that are stored ---- */

/* Views and products are of values in memory, and products are such values. */
static void store_read(planner *p)
{
    for (int k = 0; k <= p->graph->root; k++) {
        const ga__node *node = &p->graph->nodes[k];
        for (int i = 0; p->used[k] && ga__node_reads_memory(node) && i < ga__node_inputs(node);
             i++) {
            const int viewed = ga__viewed_node(p->graph, node->key.operand[i]);
            p->stored[viewed] = p->graph->nodes[viewed].key.kind != GA__NODE_ARRAY;
        }
        p->stored[k] |= p->used[k] && node->key.kind == GA__NODE_PRODUCT;
    }
}

/* Elements are taken from memory, by elementwise kernels: what others take elements of is
 * stored. With `all`, so is everything that is taken. */
static void store_gathered(planner *p, bool all)
{
    const ga__node *nodes = p->graph->nodes;
    for (int k = 0; k <= p->graph->root; k++) {
        const int source = ga__viewed_node(p->graph, nodes[k].key.operand[0]);
        p->mark[k] = p->used[k] && (reduces(p, k) || nodes[k].key.kind == GA__NODE_SELECT);
        if (!p->used[k] || nodes[k].key.kind != GA__NODE_GATHER)
            continue;
        p->stored[source] = nodes[source].key.kind != GA__NODE_ARRAY;
        p->stored[k] |= all;
    }
    for (int k = p->graph->root; k >= 0; k--) {
        const bool gathers = nodes[k].key.kind == GA__NODE_GATHER;
        p->stored[k] = p->stored[k] || (p->mark[k] && gathers);
        for (int i = 0; p->mark[k] && !gathers && i < ga__node_inputs(&nodes[k]); i++)
            p->mark[nodes[k].key.operand[i]] = true;
    }
}

/* ---- Steps ---- */

static ga_status make_step(planner *p, ga__plan *plan, const ga__fusion_group *group)
{
    ga__step *step = &plan->steps[plan->nsteps];
    const ga_status status = ga__step_code(step, p->graph, p->value_of, group);
    if (status != GA_OK)
        return status;
    plan->nsteps++;
    step->first_value = plan->nvalues;
    for (int k = 0; k < group->nresults; k++)
        p->value_of[group->result[k]] = plan->nvalues++;
    return GA_OK;
}

static ga_status make_groups(planner *p, ga__plan *plan, int level)
{
    ga_status status = GA_OK;
    for (int k = 0; k < p->ngroups && status == GA_OK; k++)
        if (p->groups[k].level == level)
            status = make_step(p, plan, &p->groups[k].fused);
    return status;
}

/* Makes the kernels of values that are stored and that no group has as results. */
static ga_status make_stored(planner *p, ga__plan *plan, int level)
{
    ga_status status = GA_OK;
    for (int k = 0; k <= p->graph->root && status == GA_OK; k++) {
        const ga__fusion_group value = {.nresults = 1, .result = {k}};
        if (p->stored[k] && p->level[k] == level && p->value_of[k] < 0)
            status = make_step(p, plan, &value);
    }
    return status;
}

static size_t most_steps(const planner *p)
{
    size_t count = (size_t)p->ngroups + 1;
    for (int k = 0; k <= p->graph->root; k++)
        count += p->stored[k];
    return count;
}

/* Makes the steps, each after those that it reads from; the kernel of the rest comes last. */
static ga_status make_steps(planner *p, ga__plan *plan)
{
    const int root = p->graph->root;
    const ga__fusion_group rest = {.nresults = 1, .result = {root}};
    ga_status status = GA_OK;
    p->stored[root] = false; /* it comes last */
    plan->steps = ga__calloc(most_steps(p), sizeof(*plan->steps));
    if (!plan->steps)
        return ga_error();
    for (int level = 0; level <= p->level[root] && status == GA_OK; level++) {
        status = make_groups(p, plan, level);
        if (status == GA_OK)
            status = make_stored(p, plan, level);
    }
    return status != GA_OK || p->value_of[root] >= 0 ? status : make_step(p, plan, &rest);
}

static void discard_steps(ga__plan *plan)
{
    for (int k = 0; k < plan->nsteps; k++)
        ga__step_reset(&plan->steps[k]);
    ga__free(plan->steps);
    plan->steps = NULL;
    plan->nsteps = plan->nvalues = 0;
}

/* Divides the graph into kernels of at most `most_parts` reductions each. */
static ga_status make_kernels(planner *p, ga__plan *plan, int most_parts)
{
    p->most_parts = most_parts;
    p->ngroups = 0;
    memset(p->stored, 0, (size_t)p->graph->root + 1);
    memset(p->value_of, 0xff, ((size_t)p->graph->root + 1) * sizeof(*p->value_of));
    memset(p->depends, 0xff, ((size_t)p->graph->root + 1) * sizeof(*p->depends));
    find_groups(p);
    find_dependences(p);
    find_results(p);
    store_read(p);
    if (p->graph->ngathers > 0)
        store_gathered(p, p->splits);
    if (!p->splits)
        ga__epilogue_merge(p->graph, p->used, p->stored);
    const ga_status status = p->splits ? ga__split_values(p->graph, p->used, p->stored) : GA_OK;
    return status == GA_OK ? make_steps(p, plan) : status;
}

static ga_status find_varying(ga__plan *plan, const bool *used)
{
    for (int k = 0; k <= plan->graph.root; k++) {
        ga__node *node = &plan->graph.nodes[k];
        if (!used[k] || !ga__node_is_weak(node) || !node->varies)
            continue;
        if (plan->nvarying == GA__MAX_VARYING)
            return ga__fail(GA_ERR_UNSUPPORTED,
                            "eval: more than %d operations on numbers that are arguments",
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

static ga_status plan_kernels(planner *p, ga__plan *plan, int most_parts)
{
    p->groups = ga__calloc((size_t)count_reductions(p) + 1, sizeof(*p->groups));
    if (!p->groups)
        return ga_error();
    find_levels(p);
    ga_status status = make_kernels(p, plan, most_parts);
    if (status == GA_ERR_UNSUPPORTED) {
        discard_steps(plan);
        status = make_kernels(p, plan, 1);
    }
    if (status == GA_ERR_UNSUPPORTED) {
        discard_steps(plan);
        p->splits = true;
        status = make_kernels(p, plan, 1);
    }
    if (status == GA_ERR_UNSUPPORTED)
        ga__fail(status, "eval: one kernel needs more than %d arrays and numbers", GA__MOST_INPUTS);
    ga__free(p->groups);
    return status;
}

static ga_status plan_graph(ga__plan *plan, int most_parts)
{
    const size_t n = (size_t)plan->graph.root + 1;
    int *numbers = ga__malloc(3 * n * sizeof(*numbers));
    bool *flags = ga__calloc(3 * n, sizeof(*flags));
    planner p = {.graph = &plan->graph, .used = flags};
    ga_status status = numbers && flags ? GA_OK : ga_error();
    if (status == GA_OK) {
        p.mark = flags + n;
        p.stored = flags + 2 * n;
        p.level = numbers;
        p.depends = numbers + n;
        p.value_of = numbers + 2 * n;
        find_used(&p);
        status = find_varying(plan, p.used);
    }
    if (status == GA_OK && !ga__node_is_weak(&plan->graph.nodes[plan->graph.root]))
        status = plan_kernels(&p, plan, most_parts);
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
    ga__fused_free(plan->fused);
    ga__graph_reset(&plan->graph);
    ga__free(plan);
}
