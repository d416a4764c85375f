/* Finds sums of exponentials that are relative to the maximum of the exponents. */
#include "expr/exponentials.h"

/* The exponentials are relative to the largest exponent so far. That of all elements is infinite
 * only if x - max(x) is NaN somewhere. */
static const ga__part_formula sum_of_exponentials = {.accumulator = "ga::log_sum<T>",
                                                     .neutral = "ga::log_sum<T>()",
                                                     .step = "ga::gather(a, x)",
                                                     .combine = "ga::join(a, b)",
                                                     .finish = "ga::sum_of(a)",
                                                     .holds = GA__ACCUMULATOR_COUNTED,
                                                     .rounds = true};

static bool applies(const ga__node *node, int row)
{
    return node->key.kind == GA__NODE_APPLY && node->key.row == row && !node->key.bits[0];
}

/* Whether the result of a reduction has its elements where those that it reduces are. */
static bool stays_aligned(const ga__node_key *key)
{
    return key->keepdims || (key->axes & (key->axes + 1)) == 0;
}

/* The node x of sum(exp(x - max(x))), or -1. */
static int exponents_of(const ga__graph *graph, const ga__node *sum)
{
    if (sum->key.kind != GA__NODE_REDUCE || sum->key.row != GA__ROW_sum ||
        (sum->loop != GA_FLOAT32 && sum->loop != GA_FLOAT64))
        return -1;
    const ga__node *exponential = &graph->nodes[sum->key.operand[0]];
    if (!applies(exponential, GA__ROW_exp) || exponential->dtype != sum->loop)
        return -1;
    const ga__node *difference = &graph->nodes[exponential->key.operand[0]];
    if (!applies(difference, GA__ROW_subtract) || difference->dtype != sum->loop)
        return -1;
    const int x = difference->key.operand[0];
    const ga__node *largest = &graph->nodes[difference->key.operand[1]];
    const bool matches = largest->key.kind == GA__NODE_REDUCE && largest->key.row == GA__ROW_max &&
                         largest->key.operand[0] == x && largest->key.axes == sum->key.axes &&
                         largest->dtype == sum->loop && stays_aligned(&largest->key);
    return matches ? x : -1;
}

bool ga__merge_exponentials(ga__graph *graph)
{
    bool merged = false;
    for (int k = 0; k <= graph->root; k++) {
        ga__node *node = &graph->nodes[k];
        const int x = exponents_of(graph, node);
        if (x < 0)
            continue;
        node->key.operand[0] = x;
        node->of_exponentials = merged = true;
    }
    return merged;
}

const ga__part_formula *ga__node_part(const ga__node *node)
{
    return node->of_exponentials ? &sum_of_exponentials : &ga__rows[node->key.row].part;
}

const char *ga__node_reduction(const ga__node *node)
{
    return node->of_exponentials ? "sumexp" : ga__rows[node->key.row].formula.name;
}
