/* The forms of expressions for floats of 16 bits: cheaper ones, and those for two at a time. */
#include "expr/coder.h"

typedef ga__coder coder;

bool ga__coder_is_half(const coder *c, const ga__node *node, int j)
{
    const ga__node *operand = ga__coder_node(c, node->key.operand[j]);
    return operand->dtype == GA_FLOAT16 && operand->key.kind != GA__NODE_NUMBER;
}

/* Whether the node is of elements that may come in pairs, or is a value of the row of their dtype;
 * a number may have more bits. */
static bool has_bits_of(const coder *c, const ga__node *node, int j)
{
    const ga__node *operand = ga__coder_node(c, node->key.operand[j]);
    return operand->dtype == node->dtype && operand->key.kind != GA__NODE_NUMBER;
}

const char *ga__coder_paired_form(const coder *c, const ga__node *node)
{
    if (node->key.row == GA__ROW_exp)
        return "ga::exp_of<ga_s0>(a)";
    if (node->key.bits[0] || ga__node_inputs(node) < 2)
        return NULL;
    const bool both = has_bits_of(c, node, 0) && has_bits_of(c, node, 1);
    switch (node->key.row) {
    case GA__ROW_add: return both ? "ga::spread<ga_s0>(a) + ga::spread<ga_s0>(b)" : "a + b";
    case GA__ROW_subtract: return both ? "ga::spread<ga_s0>(a) - ga::spread<ga_s0>(b)" : "a - b";
    case GA__ROW_multiply: return both ? "ga::spread<ga_s0>(a) * ga::spread<ga_s0>(b)" : "a * b";
    default: return NULL;
    }
}

const char *ga__coder_small_form(const coder *c, const ga__node *node)
{
    if (!c->graph->small || node->key.kind != GA__NODE_APPLY || node->key.bits[0])
        return NULL;
    if (node->key.row == GA__ROW_exp && ga__dtype_size(node->dtype) == sizeof(int16_t))
        return "ga::exp_of<ga_s0>(a)";
    if (node->key.row == GA__ROW_divide && node->dtype == GA_FLOAT16 &&
        ga__coder_is_half(c, node, 0) && ga__coder_is_half(c, node, 1))
        return "ga::ratio_of_halves(a, b)";
    return NULL;
}

/* Whether an operation of small floats has a form for pairs. */
static bool has_pairs(const ga__node *node, ga_dtype dtype)
{
    const int row = node->key.row;
    if (node->key.kind != GA__NODE_APPLY || node->dtype != dtype)
        return false;
    if (node->key.bits[0])
        return node->key.bits[0] == 2;
    return row == GA__ROW_exp || row == GA__ROW_add || row == GA__ROW_subtract ||
           row == GA__ROW_multiply;
}

ga_dtype ga__coder_pairs(const coder *c, ga_dtype dtype)
{
    bool all = c->graph->small, computes = false;
    for (int k = 0; k <= c->graph->root && all; k++) {
        if (!c->needed[k])
            continue;
        const bool leaf = ga__coder_is_leaf(c, k);
        all = leaf ? ga__coder_node(c, k)->key.kind != GA__NODE_NUMBER &&
                         ga__coder_node(c, k)->dtype == dtype
                   : has_pairs(ga__coder_node(c, k), dtype);
        computes |= !leaf;
    }
    return all && computes ? dtype : GA_NO_DTYPE;
}
