/* Writes the statements of planned kernels: one for each value, with generated names. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/word.h"
#include "expr/coder.h"
#include "expr/code/epilogue.h"
#include "expr/exponentials.h"
#include "kernels/request.h"
#include "kernels/fast_path.h"
#include "ops/functions/round.h"

typedef ga__coder coder;

/* ---- Statements ---- */

/* Writes the expression with the words a, b and c replaced by the operands' names, and ga_by_b by
 * the name of b's divisor. */
static void add_expression(coder *c, const char *expression, const ga__node *node)
{
    for (const char *at = expression; *at;) {
        size_t length = 1;
        if (ga__in_word(*at))
            while (ga__in_word(at[length]))
                length++;
        if (length == 1 && *at >= 'a' && *at <= 'c')
            ga__strbuf_add(&c->text, c->name[node->key.operand[*at - 'a']]);
        else if (length == 7 && memcmp(at, "ga_by_b", length) == 0)
            ga__strbuf_addf(&c->text, GA__DIVISOR_NAME, c->name[node->key.operand[1]]);
        else
            ga__strbuf_add_bytes(&c->text, at, length);
        at += length;
    }
}

const char *ga__expression_of(const ga__node *node)
{
    switch (node->key.kind == GA__NODE_APPLY ? (int)node->key.bits[0] : 1) {
    case 0: return ga__rows[node->key.row].expression;
    case 2: return "ga::multiply(a, a)";
    case 3: return "ga::multiply(ga::multiply(a, a), a)";
    case 4: return "ga::multiply(ga::multiply(a, a), ga::multiply(a, a))";
    default: return "a";
    }
}

/* A float divided by a value of the row takes the value's divisor, which the row has once. */
static const char *expression_of(const coder *c, const ga__node *node)
{
    const char *const small = c->held ? NULL : ga__coder_small_form(c, node);
    if (small)
        return small;
    const bool by_row = ga__node_divides(node) && c->held &&
                        c->held[node->key.operand[1]][0] == 't' &&
                        ga__dtype_has_divisors(node->dtype) && !c->graph->fast_math;
    return !by_row ? ga__expression_of(node)
           : ga__coder_is_half(c, node, 0) && ga__coder_is_half(c, node, 1) &&
                   node->dtype == GA_FLOAT16
               ? "ga::divide_halves(a, ga_by_b)"
               : "ga::divide_by(a, ga_by_b)";
}

/* The expression of round(x, k), which rounds each step to the dtype in memory. */
static void add_rounded(coder *c, const ga__node *node)
{
    const int decimals = (int)(int64_t)node->key.bits[1];
    ga__strbuf_addf(&c->text, "ga::round_to<%s>(%s, ", ga__dtype_memory_type(node->dtype),
                    c->name[node->key.operand[0]]);
    ga__coder_add_literal(c, GA_FLOAT64, ga_value_double(ga__power_of_ten(decimals)));
    ga__strbuf_addf(&c->text, ", %s)", decimals > 0 ? "true" : "false");
}

/* Writes const TYPE tK = EXPRESSION; small floats are rounded as an array would round them. */
static void add_statement(coder *c, int k)
{
    const ga__node *node = ga__coder_node(c, k);
    const char *type = ga__dtype_compute_type(node->dtype);
    const char *stored = ga__dtype_memory_type(node->dtype);
    const bool pairs = c->pairs && c->pairs[k];
    const char *const paired = pairs ? ga__coder_paired_form(c, node) : NULL;
    const char *expression = paired ? paired : expression_of(c, node);
    const bool rounds = ga__dtype_is_stored(node->dtype) && k != c->stored;
    const bool names_type = strstr(expression, "ga_s0") != NULL;
    assert(node->key.kind == GA__NODE_APPLY || node->key.kind == GA__NODE_CAST);
    snprintf(c->name[k], sizeof(c->name[k]), "t%d", c->statements++);
    ga__strbuf_addf(&c->text, "const %s %s = ", pairs || c->either ? "auto" : type, c->name[k]);
    if (rounds)
        ga__strbuf_addf(&c->text, "ga::rounded<%s>(", stored);
    else if (node->key.kind == GA__NODE_CAST)
        ga__strbuf_addf(&c->text, "ga::cast<%s>(", type);
    if (names_type)
        ga__strbuf_addf(&c->text, "[&] { typedef %s ga_s0; return ", stored);
    if (node->key.kind == GA__NODE_APPLY && node->key.row == GA__ROW_round && node->key.bits[1])
        add_rounded(c, node);
    else
        add_expression(c, expression, node);
    ga__strbuf_add(&c->text, names_type ? "; }()" : "");
    ga__strbuf_add(&c->text, rounds || node->key.kind == GA__NODE_CAST ? ");\n" : ";\n");
}

/* The reduction's index among those of the kernel, or -1. */
static int part_index(const coder *c, int k)
{
    for (int p = 0; p < c->group->nparts; p++)
        if (c->group->part[p] == k)
            return p;
    return -1;
}

void ga__coder_add_result(coder *c, int k, const char *finished)
{
    const ga_dtype dtype = ga__coder_node(c, k)->dtype;
    const char *type = ga__dtype_compute_type(dtype);
    snprintf(c->name[k], sizeof(c->name[k]), "t%d", c->statements++);
    const bool rounds = ga__dtype_is_stored(dtype);
    ga__strbuf_addf(&c->text, "const %s %s = ga::%s<%s>(%s);\n", type, c->name[k],
                    rounds ? "rounded" : "cast", rounds ? ga__dtype_memory_type(dtype) : type,
                    finished);
}

/* The result of one of the kernel's reductions. */
static void add_part(coder *c, int k, int p)
{
    char finished[GA__FINISHED_SIZE];
    ga__write_finished(finished, c->graph, c->group, p);
    ga__coder_add_result(c, k, finished);
}

static bool is_held(const coder *c, int k)
{
    return c->held && c->held[k][0];
}

void ga__coder_mark(coder *c, int node)
{
    c->needed[node] = true;
    for (int k = node; k >= 0; k--) {
        const ga__node *n = ga__coder_node(c, k);
        if (!c->needed[k] || ga__coder_is_leaf(c, k) || part_index(c, k) >= 0 || is_held(c, k))
            continue;
        for (int i = n->key.kind == GA__NODE_GATHER; i < ga__node_inputs(n); i++)
            c->needed[n->key.operand[i]] = true;
    }
}

void ga__coder_add_statements(coder *c)
{
    for (int k = 0; k <= c->graph->root; k++) {
        const int part = c->needed[k] ? part_index(c, k) : -1;
        if (!c->needed[k] || c->name[k][0])
            continue;
        if (part >= 0)
            add_part(c, k, part);
        else if (ga__coder_is_leaf(c, k))
            ga__coder_add_leaf(c, k);
        else if (ga__coder_node(c, k)->key.kind == GA__NODE_GATHER)
            ga__coder_add_gather(c, k);
        else
            add_statement(c, k);
    }
}

/* ---- Kernels ---- */

void ga__coder_start(coder *c, int stored)
{
    const size_t n = (size_t)c->graph->root + 1;
    memset(c->needed, 0, n);
    memset(c->name, 0, n * sizeof(c->name[0]));
    for (int k = 0; k < c->step->ninputs; k++)
        if (!c->step->inputs[k].gathers)
            memcpy(c->name[c->step->inputs[k].node], c->step->inputs[k].name, sizeof(c->name[0]));
    for (size_t k = 0; c->held && k < n; k++)
        if (c->held[k][0])
            memcpy(c->name[k], c->held[k], sizeof(c->name[0]));
    if (!c->held)
        c->statements = c->literals = 0;
    c->stored = stored;
}

static void code_elementwise(coder *c, int node)
{
    ga__coder_start(c, node);
    ga__coder_mark(c, node);
    ga__coder_add_statements(c);
    ga__strbuf_addf(&c->text, "r = %s", c->name[node]);
    c->step->text = ga__strbuf_take(&c->text);
    c->step->fast_path = c->step->text && !c->graph->fast_math && c->step->ngathers == 0 &&
                         ga__fast_path_pays(GA__FAST_REAL, c->step->text);
}

static int operand_of(const coder *c, int part)
{
    return ga__coder_node(c, c->group->part[part])->key.operand[0];
}

static void code_map(coder *c)
{
    ga__coder_start(c, -1);
    for (int p = 0; p < c->group->nparts; p++)
        ga__coder_mark(c, operand_of(c, p));
    c->pairs_dtype = ga__coder_pairs(c, ga__coder_node(c, operand_of(c, 0))->dtype);
    c->either = c->pairs_dtype != GA_NO_DTYPE;
    ga__coder_add_statements(c);
    c->either = false;
    ga__strbuf_add(&c->text, "return {");
    for (int p = 0, n = 0; p < c->group->nparts; p++)
        if (!ga__is_accumulated(c->graph, c->group, p))
            ga__strbuf_addf(&c->text, "%s%s", n++ ? ", " : "", c->name[operand_of(c, p)]);
    ga__strbuf_add(&c->text, "}");
    c->step->text = ga__strbuf_take(&c->text);
}

/* Writes one finished result, or "[&] { statements; return ...; }()". */
static char *code_finish(coder *c, int node)
{
    const int part = part_index(c, node);
    if (part >= 0) {
        char finished[GA__FINISHED_SIZE];
        ga__write_finished(finished, c->graph, c->group, part);
        ga__strbuf_add(&c->text, finished);
        return ga__strbuf_take(&c->text);
    }
    ga__coder_start(c, node);
    ga__coder_mark(c, node);
    ga__strbuf_add(&c->text, "[&] {\n");
    ga__coder_add_statements(c);
    ga__strbuf_addf(&c->text, "return %s;\n}()", c->name[node]);
    return ga__strbuf_take(&c->text);
}

static void set_reduction(ga__step *step, const ga__graph *graph)
{
    const ga__node_key *first = &graph->nodes[step->group.part[0]].key;
    ga__reduction *r = &step->reduction;
    *r = (ga__reduction){.formula = {.map = step->text, .nresults = step->group.nresults}};
    step->axes = first->axes;
    step->scan = ga__row_scans(first->row) ? &ga__rows[first->row] : NULL;
    step->keepdims = first->keepdims;
    for (int p = 0; p < step->group.nparts; p++) {
        const ga__node *node = &graph->nodes[step->group.part[p]];
        const ga__row *op = &ga__rows[node->key.row];
        double ddof;
        memcpy(&ddof, &node->key.bits[0], sizeof(ddof));
        if (!ga__is_accumulated(graph, &step->group, p))
            ga__add_part(r, ga__node_part(node), node->loop, ddof);
        step->empty_is_error |= op->empty_is_error && !node->key.bits[1];
    }
    for (int k = 0; k < step->group.nresults; k++)
        r->formula.results[k] = step->finish[k];
}

static void code_reductions(coder *c)
{
    code_map(c);
    for (int k = 0; k < c->group->nresults; k++)
        c->step->finish[k] = code_finish(c, c->group->result[k]);
    set_reduction(c->step, c->graph);
}

/* The id identifies everything that the kernel's text depends on: the name, the statements, the
 * reductions, and the operands' names in their order. The engines add the operands' types. */
static ga_status set_id(ga__step *step, const ga__graph *graph)
{
    ga__strbuf s = GA__STRBUF_INIT;
    const ga__fusion_group *group = &step->group;
    ga__name_step(step, graph, "eval");
    ga__describe(&s, step->formula_name);
    ga__strbuf_addf(&s, "eval %d %d %d %d ", graph->fast_math, step->ninputs, group->nparts,
                    group->nparts > 0 ? group->nresults : 0);
    for (int k = 0; k < step->ninputs; k++)
        ga__describe(&s, step->inputs[k].name);
    ga__describe(&s, step->text);
    if (step->selects)
        ga__describe(&s, step->finish[0]);
    for (int p = 0; p < group->nparts; p++) {
        ga__describe(&s, ga__node_reduction(&graph->nodes[group->part[p]]));
        ga__describe(&s, ga_dtype_name(graph->nodes[group->part[p]].loop));
    }
    for (int k = 0; group->nparts > 0 && k < group->nresults; k++) {
        ga__describe(&s, step->finish[k]);
        ga__describe(&s, ga_dtype_name(graph->nodes[group->result[k]].dtype));
    }
    const ga_status status = ga__description_id(&s, &step->id);
    ga__strbuf_reset(&s);
    ga__formula *formula = &step->reduction.formula.base;
    formula->id = step->id;
    formula->name = step->formula_name;
    formula->body = "";
    formula->fast_math = graph->fast_math;
    return status;
}

void ga__sort_inputs(ga__step *step, const ga__graph *graph)
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

/* Finds the inputs that each part's shape depends on, once the inputs are in order. */
static void set_reads(coder *c)
{
    for (int p = 0; p < c->group->nparts; p++) {
        memset(c->needed, 0, (size_t)c->graph->root + 1);
        ga__coder_mark(c, operand_of(c, p));
        for (int k = 0; k < c->step->ninputs; k++)
            if (c->step->inputs[k].source != GA__FROM_NUMBER && c->needed[c->step->inputs[k].node])
                c->step->reads[p] |= (uint64_t)1 << k;
    }
}

void ga__step_reset(ga__step *step)
{
    ga__free(step->inputs);
    ga__free(step->text);
    for (int k = 0; k < GA__MAX_PARTS; k++)
        ga__free(step->finish[k]);
    *step = (ga__step){.ninputs = 0};
}

static bool is_complete(const ga__step *step)
{
    bool complete = step->text != NULL;
    for (int k = 0; step->group.nparts > 0 && k < step->group.nresults; k++)
        complete &= step->finish[k] != NULL;
    return complete;
}

/* Whether one reduction takes the elements of one array as they are, or as its own dtype. Small
 * floats are taken as they are: a cast may round them. */
static bool maps_nothing(const coder *c)
{
    if (c->group->nparts != 1)
        return false;
    int node = operand_of(c, 0);
    const ga_dtype loop = ga__coder_node(c, c->group->part[0])->loop;
    const bool small = ga__dtype_is_stored(loop);
    if (!small && ga__coder_node(c, node)->key.kind == GA__NODE_CAST &&
        ga__coder_node(c, node)->dtype == loop)
        node = ga__coder_node(c, node)->key.operand[0];
    return ga__coder_is_leaf(c, node) && c->arrays == 1 && c->numbers == 0 &&
           (small ? ga__coder_node(c, node)->dtype == loop
                  : !ga__dtype_is_stored(ga__coder_node(c, node)->dtype));
}

/* Whether one reduction takes small integers that are computed, as its own dtype. */
static bool maps_small(const coder *c)
{
    const ga__node *node = ga__coder_node(c, operand_of(c, 0));
    if (c->group->nparts != 1 || node->key.kind != GA__NODE_CAST)
        return false;
    const ga_dtype from = ga__coder_node(c, node->key.operand[0])->dtype;
    return !ga__dtype_rounds(from) && ga__dtype_size(from) <= sizeof(int16_t) &&
           !ga__dtype_rounds(node->dtype);
}

/* Whether the step is a product, with what follows it. */
static bool is_product(const coder *c, ga__epilogue *e)
{
    const int node = c->step->domain;
    if (c->group->nparts > 0)
        return false;
    if (ga__coder_node(c, node)->key.kind != GA__NODE_PRODUCT)
        return ga__epilogue_read(c->graph, node, e) && c->value_of[e->product] < 0;
    *e = (ga__epilogue){.product = node, .bias = -1};
    return true;
}

/* The operands of a product, in their order, even if they are equal. */
static ga_status code_product(coder *c, const ga__epilogue *e)
{
    static const char *const texts[] = {"r = a @ b", "r = a @ b + c", "r = maximum(a @ b, 0)",
                                        "r = maximum(a @ b + c, 0)"};
    ga__step *step = c->step;
    const int *operand = ga__coder_node(c, e->product)->key.operand;
    const int inputs[] = {operand[0], operand[1], e->bias};
    ga__coder_start(c, -1);
    for (int i = 0; i < 2 + (e->bias >= 0); i++) {
        c->name[inputs[i]][0] = 0;
        ga__coder_add_leaf(c, inputs[i]);
    }
    step->product = true;
    step->relu = e->relu;
    step->text = ga__strdup(texts[2 * e->relu + (e->bias >= 0)]);
    return step->text ? GA_OK : ga_error();
}

/* One attempt; if there are too many operands, ninputs exceeds the limit. */
static ga_status code(coder *c)
{
    ga__step *step = c->step;
    ga__epilogue epilogue;
    *step = (ga__step){.group = *c->group, .domain = c->group->result[0]};
    if (c->group->nparts > 0)
        step->domain = c->graph->nodes[c->group->part[0]].key.operand[0];
    step->inputs = ga__calloc(GA__MOST_INPUTS + 1, sizeof(*step->inputs));
    if (!step->inputs)
        return ga_error();
    c->arrays = c->numbers = 0;
    if (is_product(c, &epilogue))
        return code_product(c, &epilogue);
    if (ga__coder_node(c, step->domain)->key.kind == GA__NODE_SELECT)
        return ga__coder_select(c);
    if (c->group->nparts > 0)
        code_reductions(c);
    else
        code_elementwise(c, c->group->result[0]);
    if (!is_complete(step))
        return ga_error();
    step->reduction.formula.maps_libm = ga__calls_libm(step->text);
    step->reduction.formula.maps_nothing = maps_nothing(c);
    step->reduction.formula.pairs = c->group->nparts > 0 ? c->pairs_dtype : GA_NO_DTYPE;
    step->reduction.formula.maps_small = c->group->nparts > 0 && maps_small(c);
    ga__sort_inputs(step, c->graph);
    set_reads(c);
    return GA_OK;
}

/* Whether the engines support fewer operands. What elements at indices need besides counts too. */
static bool has_too_many(const ga__step *step)
{
    const int more = step->ngathers > 0 || step->selects ? 2 : 0;
    return step->ninputs + step->gather_operands + more > GA__MOST_INPUTS;
}

static ga_status code_within_limits(coder *c)
{
    ga_status status = code(c);
    if (status == GA_OK && has_too_many(c->step)) {
        ga__step_reset(c->step);
        c->literal_numbers = true;
        status = code(c);
    }
    return status == GA_OK && has_too_many(c->step) ? GA_ERR_UNSUPPORTED : status;
}

ga_status ga__step_code(ga__step *step, const ga__graph *graph, const int *value_of,
                        const ga__fusion_group *group)
{
    const size_t n = (size_t)graph->root + 1;
    coder c = {.step = step, .graph = graph, .value_of = value_of, .group = group};
    c.needed = ga__malloc(n);
    c.name = ga__malloc(n * sizeof(c.name[0]));
    ga_status status = c.needed && c.name ? code_within_limits(&c) : ga_error();
    if (status == GA_OK)
        status = set_id(step, graph);
    if (status != GA_OK)
        ga__step_reset(step);
    ga__free(c.name);
    ga__free(c.needed);
    ga__strbuf_reset(&c.text);
    return status;
}
