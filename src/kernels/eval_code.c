/* Writes the statements of planned kernels: one for each value, in names of our own. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/eval_plan.h"

/* The engines take one operand less than a nest has room for, and the output is one. */
#define MOST_INPUTS (GA__MAX_OPERANDS - 2)

typedef struct coder {
    ga__step *step;
    const ga__graph *graph;
    const int *left_by;
    bool literal_numbers; /* constants are written out, when there are too many operands */
    bool *needed;
    char (*name)[8]; /* of each node in this kernel; "" when it has none */
    int statements, arrays, numbers;
    ga__strbuf text;
} coder;

static const ga__node *node_at(const coder *c, int k)
{
    return &c->graph->nodes[k];
}

/* ---- Operands ---- */

static bool is_leaf(const coder *c, int k)
{
    const ga__node *node = node_at(c, k);
    return c->left_by[k] >= 0 || node->key.kind == GA__NODE_ARRAY ||
           node->key.kind == GA__NODE_NUMBER;
}

static void add_input(coder *c, int k, ga__origin source, int index)
{
    ga__input *input = &c->step->inputs[c->step->ninputs++];
    *input = (ga__input){source, index, k, node_at(c, k)->dtype, ""};
    memcpy(input->name, c->name[k], sizeof(input->name));
}

/* A constant as C++, from its value as the dtype; never the user's text. */
static void add_literal(coder *c, ga_dtype dtype, ga_value number)
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
    snprintf(c->name[k], sizeof(c->name[k]), "c%d", c->numbers++);
    if (!c->literal_numbers || weak->varies) {
        add_input(c, k, GA__FROM_NUMBER, node->key.operand[0]);
        return;
    }
    ga__strbuf_addf(&c->text, "const %s %s = ", ga__dtype_compute_type(node->dtype), c->name[k]);
    add_literal(c, node->dtype, weak->number);
    ga__strbuf_add(&c->text, ";\n");
}

static void add_leaf(coder *c, int k)
{
    const ga__node *node = node_at(c, k);
    if (c->name[k][0] || c->step->ninputs > MOST_INPUTS)
        return;
    if (c->left_by[k] < 0 && node->key.kind == GA__NODE_NUMBER) {
        add_number(c, k);
        return;
    }
    snprintf(c->name[k], sizeof(c->name[k]), "x%d", c->arrays++);
    if (c->left_by[k] >= 0)
        add_input(c, k, GA__FROM_STEP, c->left_by[k]);
    else
        add_input(c, k, GA__FROM_ARGUMENT, node->key.row);
}

/* ---- Statements ---- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The expression with its whole words a, b and c replaced by the operands' names. */
static void add_expression(coder *c, const char *expression, const ga__node *node)
{
    for (const char *at = expression; *at;) {
        size_t length = 1;
        if (in_word(*at))
            while (in_word(at[length]))
                length++;
        if (length == 1 && *at >= 'a' && *at <= 'c')
            ga__strbuf_add(&c->text, c->name[node->key.operand[*at - 'a']]);
        else
            ga__strbuf_add_bytes(&c->text, at, length);
        at += length;
    }
}

static const char *expression_of(const ga__node *node)
{
    switch (node->key.kind == GA__NODE_APPLY ? (int)node->key.bits[0] : 1) {
    case 0: return ga__rows[node->key.row].expression;
    case 2: return "ga::multiply(a, a)";
    case 3: return "ga::multiply(ga::multiply(a, a), a)";
    case 4: return "ga::multiply(ga::multiply(a, a), ga::multiply(a, a))";
    default: return "a";
    }
}

/* const TYPE tK = EXPRESSION; 16-bit floats round here as they would in an array. */
static void add_statement(coder *c, int k)
{
    const ga__node *node = node_at(c, k);
    const char *type = ga__dtype_compute_type(node->dtype);
    const char *stored = ga__dtype_memory_type(node->dtype);
    const char *expression = expression_of(node);
    /* What the kernel leaves rounds as it is stored. */
    const bool rounds = ga__dtype_compute(node->dtype) != node->dtype && k != c->step->node;
    const bool names_type = strstr(expression, "ga_s0") != NULL;
    snprintf(c->name[k], sizeof(c->name[k]), "t%d", c->statements++);
    ga__strbuf_addf(&c->text, "const %s %s = ", type, c->name[k]);
    if (rounds)
        ga__strbuf_addf(&c->text, "ga::cast<%s>(ga::cast<%s>(", type, stored);
    else if (node->key.kind == GA__NODE_CAST)
        ga__strbuf_addf(&c->text, "ga::cast<%s>(", type);
    if (names_type)
        ga__strbuf_addf(&c->text, "[&] { typedef %s ga_s0; return ", stored);
    add_expression(c, expression, node);
    ga__strbuf_add(&c->text, names_type ? "; }()" : "");
    ga__strbuf_add(&c->text, rounds ? "))" : node->key.kind == GA__NODE_CAST ? ")" : "");
    ga__strbuf_add(&c->text, ";\n");
}

/* The statements that lead to `node`, from operands and from `known`, which has a name already. */
static void add_statements(coder *c, int node, int known)
{
    memset(c->needed, 0, (size_t)node + 1);
    c->needed[node] = true;
    for (int k = node; k >= 0; k--) {
        const ga__node *n = node_at(c, k);
        if (!c->needed[k] || k == known || is_leaf(c, k))
            continue;
        const bool one = n->key.kind == GA__NODE_CAST || n->key.bits[0];
        for (int i = 0; i < (one ? 1 : ga__rows[n->key.row].inputs); i++)
            c->needed[n->key.operand[i]] = true;
    }
    for (int k = 0; k <= node; k++) {
        if (!c->needed[k] || k == known)
            continue;
        if (is_leaf(c, k))
            add_leaf(c, k);
        else
            add_statement(c, k);
    }
}

/* ---- Kernels ---- */

static void code_elementwise(coder *c, int node)
{
    add_statements(c, node, -1);
    ga__strbuf_addf(&c->text, "r = %s", c->name[node]);
    c->step->body = ga__strbuf_take(&c->text);
}

/* "[&] { statements; return ...; }()" */
static void code_map(coder *c, const ga__node *node, const ga__reduce_op *op)
{
    const int operand = node->key.operand[0];
    ga__strbuf_add(&c->text, "[&] {\n");
    add_statements(c, operand, -1);
    ga__strbuf_addf(&c->text, "const T x = %s;\nreturn %s;\n}()", c->name[operand], op->step);
    c->step->map = ga__strbuf_take(&c->text);
}

static void code_finish(coder *c, int node, int reduction, const ga__reduce_op *op)
{
    const ga_dtype dtype = node_at(c, reduction)->dtype;
    if (node == reduction) {
        c->step->finish = ga__strdup(op->finish);
        return;
    }
    const char *type = ga__dtype_compute_type(dtype);
    snprintf(c->name[reduction], sizeof(c->name[reduction]), "t%d", c->statements++);
    ga__strbuf_addf(&c->text, "[&] {\nconst %s %s = ga::cast<%s>(", type, c->name[reduction], type);
    if (ga__dtype_compute(dtype) == dtype)
        ga__strbuf_addf(&c->text, "%s);\n", op->finish);
    else
        ga__strbuf_addf(&c->text, "ga::cast<%s>(%s));\n", ga__dtype_memory_type(dtype), op->finish);
    add_statements(c, node, reduction);
    ga__strbuf_addf(&c->text, "return %s;\n}()", c->name[node]);
    c->step->finish = ga__strbuf_take(&c->text);
}

static void code_reduction(coder *c, int node, int reduction)
{
    const ga__node *r = node_at(c, reduction);
    const ga__reduce_op *op = ga__rows[r->key.row].reduction;
    ga__step *step = c->step;
    step->reduces = true;
    step->op = op;
    step->loop = r->loop;
    step->axes = r->key.axes;
    step->keepdims = r->key.keepdims;
    memcpy(&step->ddof, &r->key.bits[0], sizeof(step->ddof));
    code_map(c, r, op);
    code_finish(c, node, reduction, op);
}

/* The id is of all texts that the kernel is made of; the operands' types are the engines' to add.
 */
static ga_status set_id(ga__step *step)
{
    ga__strbuf s = GA__STRBUF_INIT;
    snprintf(step->formula_name, sizeof(step->formula_name), "eval%s%s", step->reduces ? "_" : "",
             step->reduces ? step->op->name : "");
    ga__strbuf_addf(&s, "%s\x1f%s\x1f%s", step->formula_name,
                    step->reduces ? step->map : step->body, step->reduces ? step->finish : "");
    if (!s.failed)
        step->id = ga__formula_id(s.text);
    ga__strbuf_reset(&s);
    return step->id ? GA_OK : ga_error();
}

/* The largest arrays first: the reduction engine lays its threads out along the first one. */
static void sort_inputs(ga__step *step, const ga__graph *graph)
{
    for (int k = 1; k < step->ninputs; k++) {
        const ga__input input = step->inputs[k];
        const ga__node *node = &graph->nodes[input.node];
        const int64_t size = ga__shape_size(node->ndim, node->shape);
        int to = k;
        for (; to > 0; to--) {
            const ga__node *before = &graph->nodes[step->inputs[to - 1].node];
            if (ga__shape_size(before->ndim, before->shape) >= size)
                break;
            step->inputs[to] = step->inputs[to - 1];
        }
        step->inputs[to] = input;
    }
}

static void discard(ga__step *step)
{
    ga__free(step->inputs);
    ga__free(step->body);
    ga__free(step->map);
    ga__free(step->finish);
    *step = (ga__step){.node = -1};
}

/* One attempt; ninputs is above the limit when there were too many. */
static ga_status code(coder *c, int node, int reduction)
{
    ga__step *step = c->step;
    *step = (ga__step){.node = node, .domain = node, .result = node_at(c, node)->dtype};
    if (reduction >= 0)
        step->domain = node_at(c, reduction)->key.operand[0];
    step->inputs = ga__calloc(MOST_INPUTS + 1, sizeof(*step->inputs));
    if (!step->inputs)
        return ga_error();
    memset(c->name, 0, ((size_t)c->graph->root + 1) * sizeof(c->name[0]));
    c->statements = c->arrays = c->numbers = 0;
    if (reduction >= 0)
        code_reduction(c, node, reduction);
    else
        code_elementwise(c, node);
    sort_inputs(step, c->graph);
    const bool complete = step->reduces ? step->map && step->finish : step->body != NULL;
    return complete ? GA_OK : ga_error();
}

ga_status ga__step_code(ga__step *step, const ga__graph *graph, const int *left_by, int node,
                        int reduction)
{
    const size_t n = (size_t)graph->root + 1;
    coder c = {.step = step, .graph = graph, .left_by = left_by};
    c.needed = ga__malloc(n);
    c.name = ga__malloc(n * sizeof(c.name[0]));
    ga_status status = c.needed && c.name ? code(&c, node, reduction) : ga_error();
    if (status == GA_OK && step->ninputs > MOST_INPUTS) {
        discard(step);
        c.literal_numbers = true;
        status = code(&c, node, reduction);
    }
    if (status == GA_OK && step->ninputs > MOST_INPUTS)
        status =
            ga__fail(GA_ERR_UNSUPPORTED,
                     "ga_eval: more than %d arrays and numbers meet in one kernel", MOST_INPUTS);
    if (status == GA_OK)
        status = set_id(step);
    ga__free(c.name);
    ga__free(c.needed);
    ga__strbuf_reset(&c.text);
    return status;
}
