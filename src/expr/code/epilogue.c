/* Finds what can follow a product in its own step. */
#include "expr/code/epilogue.h"

#include "model/rows.h"

static const ga__node *node_at(const ga__graph *graph, int k)
{
    return &graph->nodes[k];
}

static bool applies(const ga__node *node, ga__row_id row)
{
    return node->key.kind == GA__NODE_APPLY && node->key.row == (int32_t)row && !node->key.bits[0];
}

static bool is_zero(const ga__graph *graph, int k)
{
    const ga__node *node = node_at(graph, k);
    if (node->key.kind != GA__NODE_NUMBER)
        return false;
    const ga__node *number = node_at(graph, node->key.operand[0]);
    return !number->varies && ga__number_double(number->number) == 0;
}

/* The other operand of a maximum with 0; -1 if the node is none. */
static int below_relu(const ga__graph *graph, int k)
{
    const ga__node *node = node_at(graph, k);
    if (!applies(node, GA__ROW_maximum) || ga__dtype_kind(node->dtype) == 'c')
        return -1;
    for (int i = 0; i < 2; i++)
        if (is_zero(graph, node->key.operand[i]))
            return node->key.operand[1 - i];
    return -1;
}

/* a @ b of two matrices, or stacks of them. */
static bool is_product(const ga__graph *graph, int k)
{
    const ga__node *node = node_at(graph, k);
    return node->key.kind == GA__NODE_PRODUCT && node_at(graph, node->key.operand[0])->ndim >= 2 &&
           node_at(graph, node->key.operand[1])->ndim >= 2;
}

/* Whether the node is a row of as many elements as the product has columns, in memory. */
static bool is_bias(const ga__graph *graph, int k, int product)
{
    const ga__node *node = node_at(graph, k), *of = node_at(graph, product);
    return node_at(graph, ga__viewed_node(graph, k))->key.kind == GA__NODE_ARRAY &&
           node->dtype == of->dtype && node->ndim == 1 && node->shape[0] == of->shape[of->ndim - 1];
}

static bool read_sum(const ga__graph *graph, int k, ga__epilogue *e)
{
    const ga__node *node = node_at(graph, k);
    if (!applies(node, GA__ROW_add) || (ga__dtype_is_stored(node->dtype) && !graph->fast_math))
        return false;
    for (int i = 0; i < 2; i++) {
        e->product = node->key.operand[i];
        e->bias = node->key.operand[1 - i];
        if (is_product(graph, e->product) && is_bias(graph, e->bias, e->product))
            return true;
    }
    return false;
}

bool ga__epilogue_read(const ga__graph *graph, int node, ga__epilogue *e)
{
    const int below = below_relu(graph, node), sum = below >= 0 ? below : node;
    e->relu = below >= 0;
    if (read_sum(graph, sum, e))
        return node_at(graph, sum)->dtype == node_at(graph, node)->dtype;
    e->bias = -1;
    e->product = sum;
    return e->relu && is_product(graph, sum) &&
           node_at(graph, sum)->dtype == node_at(graph, node)->dtype;
}

/* How many of the values that are used take this one. */
static int count_uses(const ga__graph *graph, const bool *used, int node)
{
    int count = 0;
    for (int k = node + 1; k <= graph->root; k++)
        for (int i = 0; used[k] && i < ga__node_inputs(node_at(graph, k)); i++)
            count += node_at(graph, k)->key.operand[i] == node;
    return count;
}

void ga__epilogue_merge(const ga__graph *graph, const bool *used, bool *stored)
{
    ga__epilogue e;
    for (int k = 0; k <= graph->root; k++) {
        if (!used[k] || !(stored[k] || k == graph->root) || !ga__epilogue_read(graph, k, &e))
            continue;
        const int sum = e.relu && e.bias >= 0 ? below_relu(graph, k) : e.product;
        if (count_uses(graph, used, e.product) == 1 && count_uses(graph, used, sum) == 1)
            stored[e.product] = false;
    }
}
