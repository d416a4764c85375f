/* The nodes of a graph: equal keys are one node. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "expr/type.h"

static bool rehash(ga__graph *g)
{
    const int nslots = g->nslots ? 2 * g->nslots : 64;
    int32_t *slots = ga__malloc((size_t)nslots * sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0xff, (size_t)nslots * sizeof(*slots));
    for (int k = 0; k < g->nnodes; k++) {
        size_t slot = ga__hash64(&g->nodes[k].key, sizeof(ga__node_key), 0);
        while (slots[slot & (size_t)(nslots - 1)] >= 0)
            slot++;
        slots[slot & (size_t)(nslots - 1)] = k;
    }
    ga__free(g->slots);
    g->slots = slots;
    g->nslots = nslots;
    return true;
}

static bool make_room(ga__graph *g)
{
    if (2 * (g->nnodes + 1) > g->nslots && !rehash(g))
        return false;
    if (g->nnodes < g->capacity)
        return true;
    const int capacity = g->capacity ? 2 * g->capacity : 16;
    ga__node *nodes = ga__realloc(g->nodes, (size_t)capacity * sizeof(*nodes));
    if (!nodes)
        return false;
    g->nodes = nodes;
    g->capacity = capacity;
    return true;
}

int ga__graph_find(ga__graph *g, const ga__node_key *key, size_t at, bool *is_new)
{
    *is_new = false;
    if (!make_room(g))
        return -1;
    size_t slot = ga__hash64(key, sizeof(*key), 0) & (size_t)(g->nslots - 1);
    for (; g->slots[slot] >= 0; slot = (slot + 1) & (size_t)(g->nslots - 1))
        if (memcmp(&g->nodes[g->slots[slot]].key, key, sizeof(*key)) == 0)
            return g->slots[slot];
    g->slots[slot] = g->nnodes;
    g->nodes[g->nnodes] = (ga__node){.key = *key, .at = at};
    *is_new = true;
    return g->nnodes++;
}

void ga__graph_reset(ga__graph *graph)
{
    for (int k = 0; k < graph->nnodes; k++)
        ga__free(graph->nodes[k].shape);
    ga__free(graph->nodes);
    ga__free(graph->slots);
    ga__free(graph->parts);
    *graph = (ga__graph){.root = -1};
}

int ga__node_inputs(const ga__node *node)
{
    switch (node->key.kind) {
    case GA__NODE_APPLY: return node->key.bits[0] ? 1 : ga__rows[node->key.row].inputs;
    case GA__NODE_WEAK_OPERATOR: return ga__rows[node->key.row].inputs;
    case GA__NODE_PRODUCT:
    case GA__NODE_SELECT: return 2;
    case GA__NODE_NUMBER:
    case GA__NODE_CAST:
    case GA__NODE_REDUCE:
    case GA__NODE_VIEW: return 1;
    case GA__NODE_GATHER: return 1 + __builtin_popcount(node->key.axes);
    default: return 0;
    }
}
