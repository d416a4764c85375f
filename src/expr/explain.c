/* Explains how an expression runs: its kernels, their inputs and outputs, and their statements. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "expr/eval.h"
#include "expr/named.h"
#include "expr/chunked.h"
#include "expr/exponentials.h"
#include "expr/fused/fused_run.h"
#include "ops/products/operands.h"

typedef struct writer {
    const ga__plan *plan;
    const ga_named *args;
    const ga__device *device;
    ga__strbuf text;
    int64_t read, written; /* bytes of all kernels */
} writer;

static int64_t node_bytes(const ga__node *node)
{
    return ga__shape_bytes(node->ndim, node->shape, (int64_t)ga__dtype_size(node->dtype));
}

static void add_array(writer *w, const ga__node *node)
{
    ga__strbuf_addf(&w->text, "%s ", ga_dtype_name(node->dtype));
    ga__strbuf_add_shape(&w->text, node->ndim, node->shape);
    ga__strbuf_addf(&w->text, ", %" PRId64 " bytes\n", node_bytes(node));
}

static void add_origin(writer *w, int value)
{
    int k = 0;
    while (value >= w->plan->steps[k].first_value + w->plan->steps[k].group.nresults)
        k++;
    const ga__step *step = &w->plan->steps[k];
    if (step->group.nresults == 1)
        ga__strbuf_addf(&w->text, "the result of kernel %d, ", k + 1);
    else
        ga__strbuf_addf(&w->text, "result %d of kernel %d, ", value - step->first_value + 1, k + 1);
}

static void add_input(writer *w, const ga__input *input)
{
    const ga__node *node = &w->plan->graph.nodes[input->node];
    if (input->source == GA__FROM_NUMBER) {
        const ga__node *weak = &w->plan->graph.nodes[input->index];
        ga__strbuf_addf(&w->text, "  number %s: ", input->name);
        if (weak->key.kind == GA__NODE_WEAK_ARGUMENT)
            ga__strbuf_addf(&w->text, "%s, ", w->args[weak->key.row].name);
        ga__strbuf_addf(&w->text, "%s\n", ga_dtype_name(node->dtype));
        return;
    }
    ga__strbuf_addf(&w->text, "  reads %s: %s", input->name,
                    input->gathers                    ? "elements of "
                    : node->key.kind == GA__NODE_VIEW ? "a view of "
                                                      : "");
    if (input->source == GA__FROM_ARGUMENT)
        ga__strbuf_addf(&w->text, "%s, ", w->args[input->index].name);
    else
        add_origin(w, input->index);
    w->read = ga__add_sizes(w->read, node_bytes(node));
    add_array(w, node);
}

/* Adds a text of a kernel with each of its lines indented. */
static void add_lines(writer *w, const char *label, const char *lines)
{
    ga__strbuf_addf(&w->text, "  %s\n", label);
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        ga__strbuf_add(&w->text, "    ");
        ga__strbuf_add_bytes(&w->text, lines, length);
        ga__strbuf_add(&w->text, "\n");
        lines += length + (lines[length] == '\n');
    }
}

static void add_axes(writer *w, uint32_t axes)
{
    const char *before = axes & (axes - 1) ? " over axes " : " over axis ";
    for (int axis = 0; axis < GA_MAX_NDIM; axis++)
        if (axes >> axis & 1) {
            ga__strbuf_addf(&w->text, "%s%d", before, axis);
            before = ", ";
        }
    ga__strbuf_add(&w->text, "\n");
}

static const char *part_name(const writer *w, const ga__step *step, int p)
{
    return ga__node_reduction(&w->plan->graph.nodes[step->group.part[p]]);
}

static void add_title(writer *w, int k)
{
    const ga__step *step = &w->plan->steps[k];
    const char *plain = step->product        ? "matmul"
                        : step->selects      ? "selection"
                        : step->group.nparts ? ""
                                             : "elementwise";
    ga__strbuf_addf(&w->text, "kernel %d: %s", k + 1, plain);
    for (int p = 0; p < step->group.nparts; p++)
        ga__strbuf_addf(&w->text, "%s%s", p ? ", " : "", part_name(w, step, p));
    add_axes(w, step->axes);
}

/* What computes the rest of a product's step. */
static void add_finisher(writer *w, const ga__step *step)
{
    const ga_dtype type = w->plan->graph.nodes[step->domain].dtype;
    ga__strbuf_addf(&w->text, "  after a @ b: %s\n",
                    ga__matmul_may_finish(w->device, type, step->ninputs > 2)
                        ? "the library's epilogue, if it has one for the layouts"
                        : "one kernel in place");
}

static void add_step(writer *w, int k)
{
    const ga__step *step = &w->plan->steps[k];
    char label[64];
    add_title(w, k);
    for (int i = 0; i < step->ninputs; i++)
        add_input(w, &step->inputs[i]);
    for (int i = 0; i < step->group.nresults; i++) {
        const ga__node *node = &w->plan->graph.nodes[step->group.result[i]];
        ga__strbuf_add(&w->text, step->selects ? "  writes at most " : "  writes ");
        add_array(w, node);
        w->written = ga__add_sizes(w->written, node_bytes(node));
    }
    add_lines(w,
              step->group.nparts ? "each element"
              : step->selects    ? "each chosen element"
                                 : "computes",
              step->text);
    if (step->selects)
        add_lines(w, "chooses", step->finish[0]);
    if (step->product && (step->relu || step->ninputs > 2))
        add_finisher(w, step);
    if (step->scan) {
        add_lines(w, "each two neighbours", step->scan->scan.combine);
        return;
    }
    for (int p = 0; p < step->group.nparts; p++) {
        if (ga__is_accumulated(&w->plan->graph, &step->group, p))
            continue;
        const int part = ga__kernel_part(&w->plan->graph, &step->group, p);
        snprintf(label, sizeof(label), "%s: step", part_name(w, step, p));
        add_lines(w, label, step->reduction.formula.parts[part]->step);
        snprintf(label, sizeof(label), "%s: finish, ga_finish%d(a)", part_name(w, step, p), part);
        add_lines(w, label, step->reduction.formula.parts[part]->finish);
    }
    for (int i = 0; step->group.nparts && i < step->group.nresults; i++)
        add_lines(w, "stores", step->finish[i]);
}

/* Whether the call runs as fused rows, and whether those are columns. */
static bool is_fused(const writer *w, ga__device *device, bool *columns)
{
    ga__numbers numbers;
    ga__fused_binding f;
    const ga__fused *fused = w->plan->fused;
    *columns = false;
    if (!fused)
        return false;
    for (int k = 0; k < fused->step.ninputs; k++) {
        const ga__input *input = &fused->step.inputs[k];
        if (input->source == GA__FROM_ARGUMENT &&
            w->args[input->index].value.kind != GA_VALUE_ARRAY)
            return false;
    }
    int64_t strides[ga__fused_strides(fused)][GA_MAX_NDIM];
    const bool fits = ga__numbers_make(&numbers, w->plan, w->args) &&
                      ga__fused_bind(&f, w->plan, &numbers, device, w->args, NULL, strides);
    *columns = fits && ga__fused_has_columns(&f.plan);
    return fits;
}

/* Adds "max, sum": the reductions of a pass over rows. */
static void add_parts(writer *w, const ga__fused *fused, int s)
{
    for (int p = 0; p < fused->formula.stages[s].nparts; p++)
        ga__strbuf_addf(&w->text, "%s%s", p ? ", " : " ",
                        ga__rows[w->plan->graph.nodes[fused->part[s][p]].key.row].formula.name);
}

static void add_pass(writer *w, const ga__fused *fused, int s, bool columns)
{
    ga__strbuf_addf(&w->text, "  pass %d:", s + 1);
    add_parts(w, fused, s);
    ga__strbuf_add(&w->text, "\n");
    for (int q = 0; q < fused->formula.nkept; q++)
        if (fused->formula.kept[q].stage == s)
            ga__strbuf_addf(&w->text, "  keeps h%d: %s, one for each element\n", q,
                            ga_dtype_name(fused->formula.kept[q].type));
    add_lines(w, "each element", fused->map[s]);
    add_lines(w, columns ? "each column" : "each row", fused->row[s]);
}

static void add_fused(writer *w, bool columns)
{
    const ga__fused *fused = w->plan->fused;
    const ga__fused_formula *f = &fused->formula;
    const ga__node *root = &w->plan->graph.nodes[w->plan->graph.root];
    ga__strbuf_addf(&w->text, "kernel 1: one kernel over %s,", columns ? "columns" : "rows");
    for (int s = 0; s < f->nstages; s++) {
        add_parts(w, fused, s);
        ga__strbuf_add(&w->text, s + 1 < f->nstages ? ", then" : "");
    }
    add_axes(w, w->plan->graph.nodes[fused->part[0][0]].key.axes);
    for (int k = 0; k < fused->step.ninputs; k++)
        add_input(w, &fused->step.inputs[k]);
    ga__strbuf_add(&w->text, "  writes ");
    add_array(w, root);
    w->written = node_bytes(root);
    for (int s = 0; s < f->nstages; s++)
        add_pass(w, fused, s, columns);
    add_lines(w,
              !f->per_row ? "computes"
              : columns   ? "computes, for each column"
                          : "computes, for each row",
              fused->step.text);
}

static void add_plan(writer *w, const char *expression, ga__device *device)
{
    bool columns;
    const bool fused = is_fused(w, device, &columns);
    const int nkernels = fused ? 1 : w->plan->nsteps;
    ga__strbuf_addf(&w->text, "%s\n%d kernel%s on %s\n", expression, nkernels,
                    nkernels == 1 ? "" : "s", device->name);
    if (fused)
        add_fused(w, columns);
    for (int k = 0; k < w->plan->nsteps && !fused; k++)
        add_step(w, k);
    ga__strbuf_addf(&w->text, "moves %" PRId64 " bytes: reads %" PRId64 ", writes %" PRId64 "\n",
                    ga__add_sizes(w->read, w->written), w->read, w->written);
}

/* Adds "x, y": the arguments whose bits are set. */
static void add_names(writer *w, const char *before, uint64_t arguments)
{
    for (int k = 0; k < GA__MAX_EVAL_ARGS; k++)
        if (arguments >> k & 1) {
            ga__strbuf_addf(&w->text, "%s%s", before, w->args[k].name);
            before = ", ";
        }
}

static void add_sweep(writer *w, int number, const ga__sweep *sweep)
{
    const char *before = " kernel ";
    ga__strbuf_addf(&w->text, "sweep %d:", number);
    for (int p = 0; p < sweep->nparts; p++, before = ", ")
        ga__strbuf_addf(&w->text, "%s%d", before, sweep->parts[p].step + 1);
    if (sweep->chunks > 1)
        ga__strbuf_addf(&w->text, " in %" PRId64 " chunks of at most %" PRId64 " rows of axis %d",
                        sweep->chunks, sweep->rows, sweep->depth - 1);
    add_names(w, "\n  reads chunk by chunk ", sweep->streamed_args);
    add_names(w, "\n  loads completely ", sweep->whole);
    before = "\n  combines kernel ";
    for (int p = 0; p < sweep->nparts; p++)
        if (sweep->parts[p].combined) {
            ga__strbuf_addf(&w->text, "%s%d", before, sweep->parts[p].step + 1);
            before = ", ";
        }
    ga__strbuf_add(&w->text, "\n");
}

static ga_status add_split(writer *w, const char *expression, const ga__room *room)
{
    ga__split split;
    const ga_status status = ga__split_make(&split, w->plan, w->args, expression, room);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < split.nsweeps; k++)
        add_sweep(w, k + 1, &split.sweeps[k]);
    ga__strbuf_addf(&w->text, "files: %" PRId64 " bytes read and written\n", split.bytes);
    ga__split_reset(&split);
    return GA_OK;
}

/* Explains the expression, and how its sources are read unless `room` is NULL. */
static char *explain(const char *expression, int count, const ga_named *args, ga__device *device,
                     const ga__room *room)
{
    ga__plan *plan = ga__eval_plan(expression, NULL, device, count, args, room ? 1 : GA__MAX_PARTS);
    if (!plan)
        return NULL;
    writer w = {.plan = plan, .args = args, .device = device};
    add_plan(&w, expression, device);
    const ga_status status = room ? add_split(&w, expression, room) : GA_OK;
    ga__plan_free(plan);
    if (status == GA_OK)
        return ga__strbuf_hand_out(&w.text);
    ga__strbuf_reset(&w.text);
    return NULL;
}

char *(ga_explain)(const char *expression, int count, const ga_named *args)
{
    ga__device *device;
    if (ga__eval_check(count, args, true, &device) != GA_OK)
        return NULL;
    return explain(expression, count, args, device, NULL);
}

char *(ga_explain_chunked)(size_t size, const ga_chunks *chunks, const char *expression, int count,
                           const ga_named *args)
{
    ga_chunks known;
    ga__device *device;
    ga__room room;
    if (ga__chunks_read(&known, size, chunks) != GA_OK ||
        ga__eval_check(count, args, true, &device) != GA_OK ||
        ga__room_make(&room, &known, device, true) != GA_OK)
        return NULL;
    return explain(expression, count, args, device, &room);
}
