/* Writes the operands of planned kernels: arrays, numbers, and elements at indices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/coder.h"

typedef ga__coder coder;

static const ga__node *node_at(const coder *c, int k)
{
    return &c->graph->nodes[k];
}

bool ga__coder_is_leaf(const coder *c, int k)
{
    const ga__node *node = node_at(c, k);
    return c->value_of[k] >= 0 || node->key.kind == GA__NODE_ARRAY ||
           node->key.kind == GA__NODE_VIEW || node->key.kind == GA__NODE_NUMBER;
}

static ga__input *add_input(coder *c, int k, ga__origin source, int index)
{
    ga__input *input = &c->step->inputs[c->step->ninputs++];
    *input = (ga__input){source, index, k, node_at(c, k)->dtype, "", false};
    memcpy(input->name, c->name[k], sizeof(input->name));
    return input;
}

void ga__coder_add_literal(coder *c, ga_dtype dtype, ga_value number)
{
    uint64_t element[2] = {0, 0};
    const char *type = ga__dtype_compute_type(dtype);
    ga__dtype_store(dtype, number, element);
    const ga_value v = ga__dtype_fetch(dtype, element);
    const char *real = ga__dtype_compute_type(ga__dtype_real(dtype));
    const char kind = ga__dtype_kind(dtype);
    ga__strbuf_addf(&c->text, "%s(", type);
    if (kind != 'f' && kind != 'c')
        ga__strbuf_addf(&c->text, "0x%" PRIx64 "ull", v.as.u);
    for (int part = 0; part < (kind == 'c' ? 2 : kind == 'f'); part++) {
        const double x = v.as.z[part];
        const char *sign = signbit(x) ? "-" : "", *comma = part ? ", " : "";
        if (isnan(x))
            ga__strbuf_addf(&c->text, "%s%sga::not_a_number<%s>()", comma, sign, real);
        else if (isinf(x))
            ga__strbuf_addf(&c->text, "%s%sga::infinity<%s>()", comma, sign, real);
        else
            ga__strbuf_addf(&c->text, "%s%s(%a)", comma, real, x);
    }
    ga__strbuf_add(&c->text, ")");
}

static void add_number(coder *c, int k)
{
    const ga__node *node = node_at(c, k), *weak = node_at(c, node->key.operand[0]);
    if (!c->literal_numbers || weak->varies) {
        snprintf(c->name[k], sizeof(c->name[k]), "c%d", c->numbers++);
        add_input(c, k, GA__FROM_NUMBER, node->key.operand[0]);
        return;
    }
    snprintf(c->name[k], sizeof(c->name[k]), "k%d", c->literals++);
    ga__strbuf_addf(&c->text, "const %s %s = ", ga__dtype_compute_type(node->dtype), c->name[k]);
    ga__coder_add_literal(c, node->dtype, weak->number);
    ga__strbuf_add(&c->text, ";\n");
}

/* The input of node k: the array that a node is, or is a view of. */
static ga__input *add_array(coder *c, int k, int node)
{
    const int viewed = ga__viewed_node(c->graph, node), value = c->value_of[viewed];
    return value >= 0 ? add_input(c, k, GA__FROM_STEP, value)
                      : add_input(c, k, GA__FROM_ARGUMENT, c->graph->nodes[viewed].key.row);
}

void ga__coder_add_leaf(coder *c, int k)
{
    const ga__node *node = node_at(c, k);
    if (c->step->ninputs > GA__MOST_INPUTS)
        return;
    if (c->value_of[k] < 0 && node->key.kind == GA__NODE_NUMBER) {
        add_number(c, k);
        return;
    }
    snprintf(c->name[k], sizeof(c->name[k]), "x%d", c->arrays++);
    add_array(c, k, k);
}

void ga__coder_add_gather(coder *c, int k)
{
    static const char letters[] = "nsp";
    const ga__node *node = node_at(c, k);
    const char *type = ga__dtype_compute_type(node->dtype);
    ga__step *step = c->step;
    const int g = step->ngathers;
    if (g == GA__MOST_GATHERS)
        step->ninputs = GA__MOST_INPUTS + 1;
    if (step->ninputs > GA__MOST_INPUTS)
        return;
    step->ngathers++;
    for (int j = 0; j < GA__GATHER_OPERANDS; j++)
        snprintf(step->gather_name[g][j], sizeof(step->gather_name[g][j]), "g%d%c", g, letters[j]);
    snprintf(c->name[k], sizeof(c->name[k]), "g%d", g);
    add_array(c, k, node->key.operand[0])->gathers = true;
    snprintf(c->name[k], sizeof(c->name[k]), "t%d", c->statements++);
    ga__strbuf_addf(&c->text,
                    "const %s %s = ga::cast<%s>(g%d[ga::taken(%s, g%dn, fault, call, %d, g%dp) * "
                    "g%ds]);\n",
                    type, c->name[k], type, g, c->name[node->key.operand[1]], g,
                    (int)node->key.bits[0], g, g);
}
