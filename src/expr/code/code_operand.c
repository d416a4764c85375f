/* Writes the operands of planned kernels: arrays, numbers, and elements at indices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/coder.h"

typedef ga__coder coder;

bool ga__coder_is_leaf(const coder *c, int k)
{
    const ga__node *node = ga__coder_node(c, k);
    return c->value_of[k] >= 0 || node->key.kind == GA__NODE_ARRAY ||
           node->key.kind == GA__NODE_VIEW || node->key.kind == GA__NODE_NUMBER;
}

static ga__input *add_input(coder *c, int k, ga__origin source, int index)
{
    ga__input *input = &c->step->inputs[c->step->ninputs++];
    *input = (ga__input){source, index, k, ga__coder_node(c, k)->dtype, "", false};
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
    const ga__node *node = ga__coder_node(c, k), *weak = ga__coder_node(c, node->key.operand[0]);
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
    const ga__node *node = ga__coder_node(c, k);
    if (c->step->ninputs > GA__MOST_INPUTS)
        return;
    if (c->value_of[k] < 0 && node->key.kind == GA__NODE_NUMBER) {
        add_number(c, k);
        return;
    }
    snprintf(c->name[k], sizeof(c->name[k]), "x%d", c->arrays++);
    add_array(c, k, k);
}

/* Names what the kernel needs besides the memory and the indices. */
static void name_gather(ga__step *step, int g, int nindices)
{
    char(*name)[8] = step->gather_name[g];
    const char digit = (char)('0' + g);
    snprintf(name[0], sizeof(*name), "g%cp", digit);
    for (int h = 0; h < nindices; h++) {
        snprintf(name[1 + 2 * h], sizeof(*name), "g%cn%c", digit, '0' + h);
        snprintf(name[2 + 2 * h], sizeof(*name), "g%cs%c", digit, '0' + h);
    }
    step->gather_operands += 1 + 2 * nindices;
}

/* Writes const TYPE tK = the element at the sum of the indices times their steps. */
static void add_taken(coder *c, int k, int g)
{
    const ga__node *node = ga__coder_node(c, k);
    const char *type = ga__dtype_moved_type(node->dtype);
    const char(*name)[8] = (const char(*)[8])c->step->gather_name[g];
    snprintf(c->name[k], sizeof(c->name[k]), "t%d", c->statements++);
    ga__strbuf_addf(&c->text, "const %s %s = ga::cast<%s>(g%d[", type, c->name[k], type, g);
    for (int axis = 0, h = 0; axis < GA_MAX_NDIM; axis++) {
        if (!(node->key.axes >> axis & 1))
            continue;
        ga__strbuf_addf(&c->text, "%sga::taken(%s, %s, fault, call, %d, %s) * %s", h ? " + " : "",
                        c->name[node->key.operand[1 + h]], name[1 + 2 * h], axis, name[0],
                        name[2 + 2 * h]);
        h++;
    }
    ga__strbuf_add(&c->text, "]);\n");
}

void ga__coder_add_gather(coder *c, int k)
{
    const ga__node *node = ga__coder_node(c, k);
    ga__step *step = c->step;
    const int g = step->ngathers;
    if (g == GA__MOST_GATHERS)
        step->ninputs = GA__MOST_INPUTS + 1;
    if (step->ninputs > GA__MOST_INPUTS)
        return;
    step->ngathers++;
    name_gather(step, g, ga__node_inputs(node) - 1);
    snprintf(c->name[k], sizeof(c->name[k]), "g%d", g);
    add_array(c, k, node->key.operand[0])->gathers = true;
    add_taken(c, k, g);
}
