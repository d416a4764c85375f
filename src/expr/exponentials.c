/* Finds sums of exponentials that are relative to the maximum of the exponents. */
#include "expr/exponentials.h"

#include <stdio.h>

/* The exponentials are relative to the largest exponent so far. That of all elements is infinite
 * only if x - max(x) is NaN somewhere. */
#define SUM_OF_EXPONENTIALS(accumulator_)                                                          \
    {                                                                                              \
        .accumulator = accumulator_, .neutral = accumulator_ "()", .step = "ga::gather(a, x)",     \
        .combine = "ga::join(a, b)", .finish = "ga::sum_of(a)", .holds = GA__ACCUMULATOR_COUNTED,  \
        .rounds = true                                                                             \
    }

static const ga__part_formula sum_of_exponentials = SUM_OF_EXPONENTIALS("ga::log_sum<T>"),
                              rough_sum = SUM_OF_EXPONENTIALS("ga::log_sum<T, true>"),
                              stepped_sum = SUM_OF_EXPONENTIALS("ga::stepped_sum<T>");

static bool has_16_bits(ga_dtype dtype)
{
    return dtype == GA_FLOAT16 || dtype == GA_BFLOAT16;
}

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
        (sum->loop != GA_FLOAT32 && sum->loop != GA_FLOAT64 && !has_16_bits(sum->loop)))
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
    if (!node->of_exponentials)
        return &ga__rows[node->key.row].part;
    return has_16_bits(node->loop)    ? &rough_sum
           : node->loop == GA_FLOAT64 ? &stepped_sum
                                      : &sum_of_exponentials;
}

const char *ga__node_reduction(const ga__node *node)
{
    return node->of_exponentials ? "sumexp" : ga__rows[node->key.row].formula.name;
}

/* The reduction of the group that accumulates p: itself, or the sum of exponentials beside it. */
static int accumulates(const ga__graph *graph, const ga__fusion_group *group, int p)
{
    const ga__node *own = &graph->nodes[group->part[p]];
    for (int q = 0; q < group->nparts && own->key.row == GA__ROW_max; q++) {
        const ga__node *other = &graph->nodes[group->part[q]];
        if (other->of_exponentials && other->key.operand[0] == own->key.operand[0])
            return q;
    }
    return p;
}

bool ga__is_accumulated(const ga__graph *graph, const ga__fusion_group *group, int p)
{
    return accumulates(graph, group, p) != p;
}

int ga__kernel_part(const ga__graph *graph, const ga__fusion_group *group, int p)
{
    const int by = accumulates(graph, group, p);
    int part = 0;
    for (int q = 0; q < by; q++)
        part += !ga__is_accumulated(graph, group, q);
    return part;
}

void ga__write_finished(char text[GA__FINISHED_SIZE], const ga__graph *graph,
                        const ga__fusion_group *group, int p)
{
    snprintf(text, GA__FINISHED_SIZE,
             ga__is_accumulated(graph, group, p) ? "ga::largest_of(a.part%d)" : "ga_finish%d(a)",
             ga__kernel_part(graph, group, p));
}
