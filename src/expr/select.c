/* Runs the step of a selection: what an expression chooses, without an array of truths. */
#include "expr/select.h"

#include <stdio.h>

#include <quarry/array.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "ops/convert.h"
#include "ops/scan/chosen.h"

/* The step's inputs as a kernel indexes them: in C order over the step's shape. */
typedef struct indexed {
    int count;
    ga__operand operands[GA__MAX_OPERANDS];
    char names[GA__MAX_OPERANDS][16];
    gpuarray *views[GA__MAX_OPERANDS];
} indexed;

/* One element needs no index. */
static gpuarray *repeat(const gpuarray *x, const ga__binding *b, int64_t n)
{
    const int64_t no_step = 0;
    return x->size == 1 ? ga__array_view(x, x->dtype, 1, &n, &no_step, 0)
                        : ga_broadcast_to(x, b->ndim, b->shape);
}

static ga_status index_inputs(indexed *all, const ga__step *step, const ga__binding *b, int64_t n)
{
    for (int k = 0; k < step->ninputs; k++) {
        ga__operand *to = &all->operands[all->count++];
        *to = b->operands[1 + k];
        if (!to->array)
            continue;
        gpuarray *view = all->views[k] = repeat(to->array, b, n);
        if (!view)
            return ga_error();
        snprintf(all->names[k], sizeof all->names[k], GA__SELECTED_NAME, to->name);
        *to = ga__read_operand(all->names[k], view);
    }
    return GA_OK;
}

/* The id of the kernels that only choose. */
static ga_status predicate_id(const ga__step *step, ga__hash128 *id)
{
    ga__strbuf s = GA__STRBUF_INIT;
    ga__describe(&s, "where");
    ga__describe(&s, step->finish[0]);
    for (int k = 0; k < step->ninputs; k++)
        ga__describe(&s, step->inputs[k].name);
    const ga_status status = ga__description_id(&s, id);
    ga__strbuf_reset(&s);
    return status;
}

static gpuarray *store(ga__chosen *c, const ga__step *step, ga_dtype dtype, indexed *inputs)
{
    char statement[80];
    gpuarray *out = ga__array_new("eval", c->where.device, dtype, 1, &c->count);
    if (!out || c->count == 0)
        return ga__chosen_end(c, out, out ? GA_OK : ga_error());
    inputs->operands[inputs->count] = ga__write_operand("y", out);
    snprintf(statement, sizeof statement, "y[to] = ga::cast<%s>(value)",
             ga__dtype_memory_type(dtype));
    return ga__chosen_end(c, out,
                          ga__chosen_store(c, "eval_select", step->id, step->text, statement,
                                           inputs->count + 1, inputs->operands));
}

gpuarray *ga__select_run(const ga__step *step, const ga__plan *plan, ga__device *device,
                         const ga__binding *b)
{
    const int64_t n = ga__shape_size(b->ndim, b->shape);
    indexed inputs = {.count = 0};
    ga__chosen c;
    ga__predicate where = {.text = step->finish[0], .device = device, .size = n};
    gpuarray *out = NULL;
    if (index_inputs(&inputs, step, b, n) == GA_OK && predicate_id(step, &where.id) == GA_OK) {
        where.noperands = inputs.count;
        where.operands = inputs.operands;
        const ga_status status = ga__chosen_begin_where(&c, "eval", &where);
        out = status == GA_OK ? store(&c, step, plan->graph.nodes[plan->graph.root].dtype, &inputs)
                              : ga__chosen_end(&c, NULL, status);
    }
    for (int k = 0; k < step->ninputs; k++)
        ga_free(inputs.views[k]);
    return out;
}
