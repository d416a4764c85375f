/* Names kernels after what they compute: "eval_sqrt_x_times_x_plus_y_times_y". */
#include <stdio.h>
#include <string.h>

#include "expr/coder.h"
#include "expr/exponentials.h"

/* Levels of the expression that a name may descend; the rest is left out. */
enum { MOST_LEVELS = 24 };

typedef struct naming {
    ga__step *step;
    const ga__graph *graph;
    size_t length;
    bool full;
} naming;

static void add_word(naming *n, const char *word)
{
    const size_t length = strlen(word), room = sizeof(n->step->formula_name);
    n->full |= n->length + 1 + length >= room;
    if (!n->full)
        n->length +=
            (size_t)snprintf(n->step->formula_name + n->length, room - n->length, "_%s", word);
}

/* The word between the operands of an operator; NULL for functions. */
static const char *word_between(int row)
{
    switch (row) {
    case GA__ROW_add: return "plus";
    case GA__ROW_subtract: return "minus";
    case GA__ROW_multiply: return "times";
    case GA__ROW_divide: return "over";
    default: return NULL;
    }
}

/* Operands are called by their places: names and numbers of the user's would make kernels differ
 * that are equal. */
static bool add_operand(naming *n, int node)
{
    static const char *const letters[] = {"x", "y", "z"};
    for (int k = 0; k < n->step->ninputs; k++) {
        const ga__input *input = &n->step->inputs[k];
        if (input->node != node || input->gathers)
            continue;
        const bool is_array = input->name[0] == 'x' && !input->name[2];
        const unsigned place = is_array ? (unsigned)(input->name[1] - '0') : 3;
        add_word(n, input->source == GA__FROM_NUMBER ? "c"
                    : place < 3                      ? letters[place]
                                                     : input->name);
        return true;
    }
    return false;
}

static void add_node(naming *n, int k, int level)
{
    const ga__node *node = &n->graph->nodes[k];
    const int inputs = ga__node_inputs(node);
    if (n->full || level == MOST_LEVELS || add_operand(n, k))
        return;
    const bool calls = node->key.kind == GA__NODE_APPLY || node->key.kind == GA__NODE_REDUCE;
    const char *between = calls && inputs == 2 ? word_between(node->key.row) : NULL;
    if (node->key.kind == GA__NODE_NUMBER || inputs == 0) {
        add_word(n, "c");
        return;
    }
    if (!between)
        add_word(n, node->key.kind == GA__NODE_REDUCE   ? ga__node_reduction(node)
                    : calls                             ? ga__rows[node->key.row].formula.name
                    : node->key.kind == GA__NODE_CAST   ? ga_dtype_name(node->dtype)
                    : node->key.kind == GA__NODE_GATHER ? "take"
                                                        : "of");
    for (int j = 0; j < inputs; j++) {
        if (j > 0 && between)
            add_word(n, between);
        add_node(n, node->key.operand[j], level + 1);
    }
}

void ga__name_step(ga__step *step, const ga__graph *graph, const char *start)
{
    naming n = {.step = step, .graph = graph};
    n.length = (size_t)snprintf(step->formula_name, sizeof(step->formula_name), "%s", start);
    for (int k = 0; k < step->group.nresults; k++)
        add_node(&n, step->group.result[k], 0);
}
