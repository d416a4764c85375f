/* Plans fused rows: finds the passes over a row, what they keep, and writes their texts. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/fused/fused_form.h"
#include "expr/fused/fused_plan.h"
#include "kernels/request.h"

typedef ga__finder finder;

/* ---- What is kept ---- */

static void keep(finder *f, int k)
{
    ga__fused_formula *formula = &f->fused->formula;
    f->fused->kept[formula->nkept] = k;
    formula->kept[formula->nkept] =
        (ga__fused_kept){.type = ga__finder_node(f, k)->dtype, .stage = f->pass[k] - 1};
    f->kept[k] = formula->nkept++;
}

/* Marks the elements' values that a pass computes for `target`. One that takes long and that an
 * earlier pass computes is kept from then on. */
static void find_kept(finder *f, int pass, int target)
{
    bool *const needed = f->coder.needed;
    memset(needed, 0, (size_t)f->graph->root + 1);
    needed[target] = true;
    for (int k = target; k >= 0; k--) {
        if (!needed[k] || f->extent[k] != GA__SPAN_ELEMENT ||
            ga__finder_node(f, k)->key.kind == GA__NODE_ARRAY)
            continue;
        const bool earlier = f->pass[k] > 0 && f->pass[k] < pass;
        if (earlier && f->costs[k] && f->kept[k] < 0 && f->fused->formula.nkept < GA__MAX_KEPT)
            keep(f, k);
        if (earlier && f->kept[k] >= 0)
            continue;
        f->pass[k] = f->pass[k] ? f->pass[k] : pass;
        for (int i = 0; i < ga__node_inputs(ga__finder_node(f, k)); i++)
            needed[ga__finder_node(f, k)->key.operand[i]] = true;
    }
}

static int operand_of(const finder *f, int s, int p)
{
    return ga__finder_node(f, f->fused->part[s][p])->key.operand[0];
}

static void find_all_kept(finder *f)
{
    const ga__fused_formula *formula = &f->fused->formula;
    for (int s = 0; s < formula->nstages; s++)
        for (int p = 0; p < formula->stages[s].nparts; p++)
            find_kept(f, s + 1, operand_of(f, s, p));
    if (!formula->per_row)
        find_kept(f, formula->nstages + 1, f->graph->root);
}

/* ---- Texts ---- */

static void hold(finder *f, int k)
{
    memcpy(f->coder.held[k], f->coder.name[k], sizeof(f->coder.held[k]));
}

/* Notes the inputs among the marked nodes. They are in the order of their first use. */
static uint64_t inputs_marked(const finder *f)
{
    uint64_t reads = 0;
    for (int k = 0; k < f->fused->step.ninputs; k++)
        if (f->coder.needed[f->fused->step.inputs[k].node])
            reads |= (uint64_t)1 << k;
    return reads;
}

/* Whether the marked nodes include a value of the row. */
static bool row_marked(const finder *f)
{
    for (int k = 0; k <= f->graph->root; k++)
        if (f->coder.needed[k] &&
            (f->extent[k] == GA__SPAN_ROW || f->extent[k] == GA__SPAN_SHORT_ROW))
            return true;
    return false;
}

/* Sets the kept values that begin with stage s, and gives them their names. */
static void add_kept(finder *f, int s, bool *begins)
{
    for (int q = 0; q < f->fused->formula.nkept; q++) {
        const int k = f->fused->kept[q];
        begins[q] = f->fused->formula.kept[q].stage == s;
        if (begins[q])
            ga__strbuf_addf(&f->coder.text, "h%d = %s;\n", q, f->coder.name[k]);
    }
}

static void code_map(finder *f, int s)
{
    ga__coder *c = &f->coder;
    const int nparts = f->fused->formula.stages[s].nparts;
    bool begins[GA__MAX_KEPT];
    ga__coder_start(c, -1);
    for (int p = 0; p < nparts; p++)
        ga__coder_mark(c, operand_of(f, s, p));
    ga__coder_add_statements(c);
    f->fused->formula.reads[s] = inputs_marked(f);
    add_kept(f, s, begins);
    for (int p = 0; p < nparts; p++)
        ga__strbuf_addf(&c->text, "%s%s", p ? ", " : "return {", c->name[operand_of(f, s, p)]);
    ga__strbuf_add(&c->text, "}");
    f->fused->map[s] = ga__strbuf_take(&c->text);
    for (int q = 0; q < f->fused->formula.nkept; q++)
        if (begins[q])
            snprintf(c->held[f->fused->kept[q]], sizeof(c->held[0]), "h%d", q);
}

/* Whether a later text uses the value of the row, which stage s is the last to need. */
static bool ends_here(const finder *f, int s, int k)
{
    if (f->extent[k] != GA__SPAN_ROW && f->extent[k] != GA__SPAN_SHORT_ROW)
        return false;
    if (f->level[k] != s + 1)
        return false;
    if (k == f->graph->root)
        return true;
    for (int user = k + 1; user <= f->graph->root; user++) {
        if (!f->used[user] || ga__node_is_weak(ga__finder_node(f, user)))
            continue;
        for (int i = 0; i < ga__node_inputs(ga__finder_node(f, user)); i++)
            if (ga__finder_node(f, user)->key.operand[i] == k &&
                (f->extent[user] == GA__SPAN_ELEMENT || f->level[user] > s + 1))
                return true;
    }
    return false;
}

/* Whether floats are divided by the value of the row. */
static bool divides(const finder *f, int k)
{
    bool used = false;
    for (int user = k + 1; user <= f->graph->root; user++)
        used |= f->used[user] && ga__node_divides(ga__finder_node(f, user)) &&
                ga__finder_node(f, user)->key.operand[1] == k &&
                ga__dtype_has_divisors(ga__finder_node(f, user)->dtype);
    return used;
}

/* Lists a value of the row that later texts use. */
static void list_value(finder *f, int s, int k)
{
    ga__fused_formula *formula = &f->fused->formula;
    const int n = formula->nvalues++;
    if (n >= GA__MAX_VALUES)
        return;
    ga__fused_value *value = &formula->values[n];
    memcpy(value->name, f->coder.name[k], sizeof value->name);
    value->type = ga__finder_node(f, k)->dtype;
    value->stage = s;
    value->divides = divides(f, k);
}

/* The results of the stage's reductions and the values of the row that follow from them. */
static void code_row(finder *f, int s)
{
    ga__coder *c = &f->coder;
    char finished[32];
    ga__coder_start(c, -1);
    for (int k = 0; k <= f->graph->root; k++) {
        if (!f->used[k] || !ga__finder_reduces(f, k) || f->level[k] != s + 1)
            continue;
        snprintf(finished, sizeof(finished), "ga_finish%d_%d()", s, ga__fused_part_of(f, s, k));
        ga__coder_add_result(c, k, finished);
        hold(f, k);
    }
    for (int k = 0; k <= f->graph->root; k++)
        if (f->used[k] && ends_here(f, s, k))
            ga__coder_mark(c, k);
    ga__coder_add_statements(c);
    for (int k = 0; k <= f->graph->root; k++) {
        if (!f->used[k] || !ends_here(f, s, k))
            continue;
        hold(f, k);
        list_value(f, s, k);
        if (!divides(f, k))
            continue;
        ga__strbuf_add(&c->text, "const ga::divisor ");
        ga__strbuf_addf(&c->text, GA__DIVISOR_NAME, c->name[k]);
        ga__strbuf_addf(&c->text, "(%s, ga_quotients);\n", c->name[k]);
    }
    f->fused->row[s] = ga__strbuf_take(&c->text);
}

static void code_last(finder *f)
{
    ga__coder *c = &f->coder;
    const int root = f->graph->root;
    ga__coder_start(c, root);
    ga__coder_mark(c, root);
    ga__coder_add_statements(c);
    f->fused->formula.reads[f->fused->formula.nstages] = inputs_marked(f);
    ga__strbuf_addf(&c->text, "r = %s", c->name[root]);
    f->fused->step.text = ga__strbuf_take(&c->text);
}

/* ---- The formula ---- */

static bool is_complete(const ga__fused *fused)
{
    bool complete = fused->step.text != NULL;
    for (int s = 0; s < fused->formula.nstages; s++)
        complete &= fused->map[s] && fused->row[s];
    return complete;
}

/* The part of stage s with the moments of the elements whose mean part p is; or -1. The mean of
 * floats is their sum by their count: the moments come with the same sum. */
static int moments_beside(const finder *f, int s, int p)
{
    const ga__node *mean = ga__finder_node(f, f->fused->part[s][p]);
    for (int q = 0; q < f->fused->formula.stages[s].nparts && mean->key.row == GA__ROW_mean; q++) {
        const ga__node *other = ga__finder_node(f, f->fused->part[s][q]);
        if ((other->key.row == GA__ROW_var || other->key.row == GA__ROW_std) &&
            other->key.operand[0] == mean->key.operand[0] && other->loop == mean->loop)
            return q;
    }
    return -1;
}

static void set_stages(finder *f)
{
    ga__fused_formula *formula = &f->fused->formula;
    for (int s = 0; s < formula->nstages; s++) {
        ga__fused_stage *stage = &formula->stages[s];
        stage->map = f->fused->map[s];
        stage->row = f->fused->row[s];
        for (int p = 0; p < stage->nparts; p++) {
            const ga__node *node = ga__finder_node(f, f->fused->part[s][p]);
            stage->parts[p] = &ga__rows[node->key.row].part;
            stage->type[p] = node->loop;
            stage->sum_of[p] = moments_beside(f, s, p);
            memcpy(&stage->ddof[p], &node->key.bits[0], sizeof(stage->ddof[p]));
        }
    }
}

/* Puts the inputs in their final order, and the passes' reads with them. */
static void sort_inputs(finder *f)
{
    ga__step *step = &f->fused->step;
    ga__fused_formula *formula = &f->fused->formula;
    int first_place[GA__MOST_INPUTS];
    for (int k = 0; k < step->ninputs; k++)
        first_place[k] = step->inputs[k].node;
    ga__sort_inputs(step, f->graph);
    for (int pass = 0; pass <= formula->nstages; pass++) {
        uint64_t reads = 0;
        for (int k = 0; k < step->ninputs; k++)
            for (int before = 0; before < step->ninputs; before++)
                if (first_place[before] == step->inputs[k].node)
                    reads |= (formula->reads[pass] >> before & 1) << (1 + k);
        formula->reads[pass] = reads;
    }
}

/* The arrays from which the shape of `target` follows. */
static void find_reads(finder *f, int pass, int p, int target)
{
    memset(f->coder.needed, 0, (size_t)f->graph->root + 1);
    f->coder.needed[target] = true;
    for (int k = target; k >= 0; k--)
        for (int i = 0; f->coder.needed[k] && f->extent[k] == GA__SPAN_ELEMENT &&
                        i < ga__node_inputs(ga__finder_node(f, k));
             i++)
            f->coder.needed[ga__finder_node(f, k)->key.operand[i]] = true;
    for (int k = 0; k < f->fused->step.ninputs; k++)
        if (f->fused->step.inputs[k].source == GA__FROM_ARGUMENT &&
            f->coder.needed[f->fused->step.inputs[k].node])
            f->fused->reads[pass][p] |= (uint64_t)1 << k;
    f->fused->reads_row[pass][p] = row_marked(f);
}

static void find_all_reads(finder *f)
{
    const ga__fused_formula *formula = &f->fused->formula;
    for (int s = 0; s < formula->nstages; s++)
        for (int p = 0; p < formula->stages[s].nparts; p++)
            find_reads(f, s, p, operand_of(f, s, p));
    if (!formula->per_row)
        find_reads(f, formula->nstages, 0, f->graph->root);
}

static void describe_stage(ga__strbuf *s, const finder *f, int stage)
{
    const ga__fused_stage *at = &f->fused->formula.stages[stage];
    ga__strbuf_addf(s, "stage %d ", at->nparts);
    ga__describe(s, at->map);
    ga__describe(s, at->row);
    for (int p = 0; p < at->nparts; p++) {
        const ga__node *node = ga__finder_node(f, f->fused->part[stage][p]);
        ga__describe(s, ga__rows[node->key.row].formula.name);
        ga__describe(s, ga_dtype_name(at->type[p]));
    }
}

/* The id identifies everything that the kernel's text depends on; the engine adds the operands'
 * types. */
static ga_status set_id(finder *f)
{
    ga__strbuf s = GA__STRBUF_INIT;
    ga__step *step = &f->fused->step;
    ga__fused_formula *formula = &f->fused->formula;
    ga__name_step(step, f->graph, "eval_rows");
    ga__describe(&s, step->formula_name);
    ga__strbuf_addf(&s, "fused rows %d %d %d %d %d ", f->graph->fast_math, step->ninputs,
                    formula->nstages, formula->nkept, formula->per_row);
    for (int k = 0; k < step->ninputs; k++)
        ga__describe(&s, step->inputs[k].name);
    for (int k = 0; k < formula->nstages; k++)
        describe_stage(&s, f, k);
    for (int q = 0; q < formula->nkept; q++)
        ga__strbuf_addf(&s, "kept %d %d ", formula->kept[q].stage, (int)formula->kept[q].type);
    for (int pass = 0; pass <= formula->nstages; pass++)
        ga__strbuf_addf(&s, "reads %llx ", (unsigned long long)formula->reads[pass]);
    ga__describe(&s, step->text);
    const ga_status status = ga__description_id(&s, &step->id);
    ga__strbuf_reset(&s);
    formula->base = (ga__formula){.id = step->id,
                                  .name = step->formula_name,
                                  .body = step->text,
                                  .fast_math = f->graph->fast_math};
    return status;
}

/* Writes the texts. GA_ERR_UNSUPPORTED, not raised, for more operands than a kernel has. */
static ga_status write_texts(finder *f)
{
    ga__fused *fused = f->fused;
    fused->step.group = (ga__fusion_group){.nresults = 1, .result = {f->graph->root}};
    fused->step.inputs = ga__calloc(GA__MOST_INPUTS + 1, sizeof(*fused->step.inputs));
    if (!fused->step.inputs)
        return ga_error();
    f->coder.step = &fused->step;
    f->coder.group = &fused->step.group;
    find_all_kept(f);
    for (int s = 0; s < fused->formula.nstages; s++) {
        code_map(f, s);
        code_row(f, s);
    }
    code_last(f);
    if (!is_complete(fused))
        return ga_error();
    if (fused->step.ninputs > GA__MOST_INPUTS)
        return GA_ERR_UNSUPPORTED;
    set_stages(f);
    sort_inputs(f);
    find_all_reads(f);
    return set_id(f);
}

static ga_status plan_rows(finder *f)
{
    const size_t n = (size_t)f->graph->root + 1;
    int *const numbers = ga__malloc(4 * n * sizeof(*numbers));
    bool *const flags = ga__calloc(4 * n, sizeof(*flags));
    f->extent = ga__calloc(n, sizeof(*f->extent));
    f->coder.name = ga__calloc(n, sizeof(*f->coder.name));
    f->coder.held = ga__calloc(n, sizeof(*f->coder.held));
    ga_status status = GA_ERR_UNSUPPORTED;
    if (!numbers || !flags || !f->extent || !f->coder.name || !f->coder.held) {
        status = ga_error();
    } else {
        memset(numbers, 0, 3 * n * sizeof(*numbers));
        memset(numbers + 3 * n, 0xff, n * sizeof(*numbers));
        f->level = numbers, f->pass = numbers + n, f->kept = numbers + 2 * n;
        f->coder.value_of = numbers + 3 * n;
        f->used = flags, f->costs = flags + n, f->coder.needed = flags + 2 * n;
        f->pairs = flags + 3 * n;
        if (ga__fused_find_form(f))
            status = write_texts(f);
    }
    ga__strbuf_reset(&f->coder.text);
    ga__free(f->coder.held);
    ga__free(f->coder.name);
    ga__free(f->extent);
    ga__free(flags);
    ga__free(numbers);
    return status;
}

ga_status ga__fuse_rows(const ga__graph *graph, ga__fused **rows)
{
    finder f = {.graph = graph, .fused = ga__calloc(1, sizeof(*f.fused))};
    *rows = NULL;
    if (!f.fused)
        return ga_error();
    f.coder.graph = graph;
    const ga_status status = plan_rows(&f);
    if (status == GA_OK)
        *rows = f.fused;
    else
        ga__fused_free(f.fused);
    return status == GA_ERR_UNSUPPORTED ? GA_OK : status;
}
