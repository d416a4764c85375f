/* Runs the step of a selection: what an expression chooses, without an array of truths. */
#include "expr/select.h"

#include <stdio.h>

#include <quarry/array.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "ops/convert.h"
#include "ops/scan/chosen.h"
#include "ops/scan/once.h"

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

/* Indexes the inputs whose bits are set in `used`. */
static ga_status index_inputs(indexed *all, const ga__step *step, uint64_t used,
                              const ga__binding *b)
{
    const int64_t n = ga__shape_size(b->ndim, b->shape);
    for (int k = 0; k < step->ninputs; k++) {
        if (b->operands[1 + k].array && !(used >> k & 1))
            continue;
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
static ga_status predicate_id(const ga__step *step, const indexed *inputs, ga__hash128 *id)
{
    ga__strbuf s = GA__STRBUF_INIT;
    ga__describe(&s, "where");
    ga__describe(&s, step->finish[0]);
    for (int k = 0; k < inputs->count; k++)
        ga__describe(&s, inputs->operands[k].name);
    const ga_status status = ga__description_id(&s, id);
    ga__strbuf_reset(&s);
    return status;
}

/* The result: a tuple of truths chooses `each` elements, which have the last axes of the root. */
static gpuarray *result_of(const ga__chosen *c, const ga__node *root, const int64_t *rest,
                           int64_t each)
{
    int64_t shape[GA_MAX_NDIM] = {each > 0 ? c->count / each : c->count};
    for (int k = 1; k < root->ndim; k++)
        shape[k] = rest[k - 1];
    return ga__array_new("eval", c->where.device, root->dtype, root->ndim, shape);
}

/* The statement that stores `value` in `y`, of this dtype, if the condition before it holds. */
static void store_statement(char *statement, size_t size, const char *condition, ga_dtype dtype)
{
    snprintf(statement, size, "%sy[to] = ga::cast<%s>(value)", condition,
             ga__dtype_memory_type(ga__dtype_moved(dtype)));
}

static gpuarray *store(ga__chosen *c, const ga__step *step, gpuarray *out, indexed *inputs)
{
    char statement[80];
    if (!out || out->size == 0)
        return ga__chosen_end(c, out, out ? GA_OK : ga_error());
    inputs->operands[inputs->count] = ga__write_operand("y", out);
    store_statement(statement, sizeof statement, "", out->dtype);
    return ga__chosen_end(c, out,
                          ga__chosen_store(c, "eval_select", step->id, step->text, statement,
                                           inputs->count + 1, inputs->operands));
}

static gpuarray *store_twice(const ga__step *step, const ga__predicate *where, const ga__node *root,
                             const int64_t *rest, int64_t each, indexed *inputs)
{
    ga__chosen c;
    const ga_status status = ga__chosen_begin_where(&c, "eval", where);
    return status == GA_OK ? store(&c, step, result_of(&c, root, rest, each), inputs)
                           : ga__chosen_end(&c, NULL, status);
}

/* ---- One launch ---- */

/* Whether all that the values are computed from belongs to the condition. */
static bool reads_condition_alone(const ga__step *step, const ga__binding *b)
{
    for (int k = 0; k < step->ninputs; k++)
        if (b->operands[1 + k].array && (step->reads[0] & ~step->reads[1]) >> k & 1)
            return false;
    return true;
}

static ga_status once_id(const ga__step *step, const char *store, const ga__hash128 *where,
                         ga__hash128 *id)
{
    ga__strbuf s = GA__STRBUF_INIT;
    ga__describe(&s, "once");
    ga__describe(&s, step->text);
    ga__describe(&s, store);
    ga__strbuf_addf(&s, "%llx %llx", (unsigned long long)where->high,
                    (unsigned long long)where->low);
    const ga_status status = ga__description_id(&s, id);
    ga__strbuf_reset(&s);
    return status;
}

static ga_status store_once(const ga__step *step, const ga__predicate *where, ga_dtype dtype,
                            gpuarray **out)
{
    char statement[100];
    ga__once once = {
        .name = "eval", .where = where, .value = step->text, .store = statement, .dtype = dtype};
    store_statement(statement, sizeof statement, "if (to < m) ", dtype);
    const ga_status status = once_id(step, statement, &where->id, &once.id);
    return status == GA_OK ? ga__choose_once(&once, out) : status;
}

/* ---- The step ---- */

gpuarray *ga__select_run(const ga__step *step, const ga__plan *plan, ga__device *device,
                         const ga__binding *bound)
{
    const ga__node *root = &plan->graph.nodes[plan->graph.root];
    const int lead = bound->ndim - ga__select_rest(plan);
    const int64_t each = ga__shape_size(bound->ndim - lead, bound->shape + lead);
    ga__binding b = *bound;
    indexed inputs = {.count = 0};
    gpuarray *out = NULL;
    for (int k = lead; k < b.ndim && each == 0; k++)
        b.shape[k] = 1; /* the truths alone tell how many rows of no elements there are */
    ga__predicate where = {
        .text = step->finish[0], .device = device, .size = ga__shape_size(b.ndim, b.shape)};
    if (index_inputs(&inputs, step, each > 0 ? ~(uint64_t)0 : step->reads[1], &b) == GA_OK &&
        predicate_id(step, &inputs, &where.id) == GA_OK) {
        where.noperands = inputs.count;
        where.operands = inputs.operands;
        ga_status status = GA_OK;
        if (lead == bound->ndim && root->ndim == 1 && reads_condition_alone(step, &b) &&
            ga__goes_once(&where, root->dtype))
            status = store_once(step, &where, root->dtype, &out);
        if (status == GA_OK && !out)
            out = store_twice(step, &where, root, bound->shape + lead, each, &inputs);
    }
    for (int k = 0; k < step->ninputs; k++)
        ga_free(inputs.views[k]);
    return out;
}
