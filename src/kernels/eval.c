/* Runs expressions: finds the plan by one lookup, binds this call's arrays and numbers, launches.
 */
#include "kernels/eval.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "jit/cache_mem.h"
#include "kernels/apply.h"
#include "kernels/eval_weak.h"

/* Plans kept for next time; past that many texts and types, each call makes its own. */
#define MOST_PLANS 4096
#define KEY_BYTES 1024 /* of a usual key */

struct ga_expr {
    char *text;
    ga__forest forest;
};

/* One evaluation. */
typedef struct call {
    const ga__plan *plan;
    const ga_named *args;
    ga__device *device;
    gpuarray *out;                     /* the caller's, or NULL */
    gpuarray **left;                   /* by value: what a step left */
    ga_value varying[GA__MAX_VARYING]; /* numbers that depend on arguments */
} call;

/* How a plan fared: STALE when these arguments need a plan, or an error, of their own. */
typedef enum outcome { DONE, FAILED, STALE } outcome;

/* ---- Arguments ---- */

static ga_status check_name(int k, const ga_named *args)
{
    if (!args[k].name || !ga__eval_is_name(args[k].name))
        return ga__fail(GA_ERR_INVALID, "ga_eval: argument %d: \"%.64s\" is no name", k + 1,
                        args[k].name ? args[k].name : "NULL");
    for (int i = 0; i < k; i++)
        if (strcmp(args[i].name, args[k].name) == 0)
            return ga__fail(GA_ERR_INVALID, "ga_eval: two arguments are named %.64s", args[k].name);
    return GA_OK;
}

static ga_status check_value(const ga_named *arg, ga__device **device)
{
    const ga_value *value = &arg->value;
    if (value->kind == GA_VALUE_NUMBER && ga__dtype_valid(value->dtype))
        return GA_OK;
    if (value->kind != GA_VALUE_ARRAY)
        return ga__fail(GA_ERR_INVALID, "ga_eval: %.64s is neither a gpuarray nor a number",
                        arg->name);
    if (!value->as.array)
        return ga__fail(GA_ERR_INVALID, "ga_eval: %.64s is NULL", arg->name);
    ga__device *its = value->as.array->buffer->device;
    if (*device && its != *device)
        return ga__fail(GA_ERR_DEVICE, "ga_eval: operands on %s and %s", (*device)->name,
                        its->name);
    *device = its;
    return GA_OK;
}

ga_status ga__eval_check(int count, const ga_named *args, ga__device **device)
{
    *device = NULL;
    if (count < 0 || count > GA__MAX_EVAL_ARGS || (count > 0 && !args))
        return ga__fail(GA_ERR_INVALID, "ga_eval: %d arguments, not 0 to %d at an address", count,
                        GA__MAX_EVAL_ARGS);
    for (int k = 0; k < count; k++) {
        ga_status status = check_name(k, args);
        if (status == GA_OK)
            status = check_value(&args[k], device);
        if (status != GA_OK)
            return status;
    }
    if (!*device)
        *device = ga__current_device();
    return *device ? GA_OK : ga_error();
}

/* ---- Plans ---- */

ga__plan *ga__eval_plan(const char *text, const ga__forest *forest, int count, const ga_named *args)
{
    ga__forest own = {.text = NULL};
    ga__graph graph;
    if (!forest && ga__forest_parse(&own, text) != GA_OK)
        return NULL;
    const ga_status status = ga__graph_make(&graph, forest ? forest : &own, count, args);
    ga__forest_reset(&own);
    return status == GA_OK ? ga__plan_new(&graph) : NULL;
}

static ga__key_table plans = GA__KEY_TABLE_INIT;
static atomic_int plans_kept;

/* Everything a plan depends on but the values of numbers and the lengths of axes: the text, and of
 * each argument the name, dtype, and number of axes. */
typedef struct plan_key {
    size_t nbytes;
    unsigned char *bytes; /* `own`, or allocated when that is too small */
    unsigned char own[KEY_BYTES];
} plan_key;

static bool make_key(plan_key *key, const char *text, int count, const ga_named *args)
{
    const size_t length = strlen(text) + 1;
    size_t room = length + 2 * (size_t)count;
    for (int k = 0; k < count; k++)
        room += strlen(args[k].name) + 1;
    key->bytes = room <= KEY_BYTES ? key->own : ga__malloc(room);
    if (!key->bytes)
        return false;
    memcpy(key->bytes, text, length);
    key->nbytes = length;
    for (int k = 0; k < count; k++) {
        const ga_value *value = &args[k].value;
        const gpuarray *x = value->kind == GA_VALUE_ARRAY ? value->as.array : NULL;
        const size_t name_length = strlen(args[k].name) + 1;
        memcpy(key->bytes + key->nbytes, args[k].name, name_length);
        key->nbytes += name_length;
        key->bytes[key->nbytes++] = (unsigned char)(x ? x->dtype : ga__weak_default(*value));
        key->bytes[key->nbytes++] = (unsigned char)(x ? x->ndim : 255);
    }
    return true;
}

static void key_reset(plan_key *key)
{
    if (key->bytes != key->own)
        ga__free(key->bytes);
}

/* The plan that stands under the key afterwards; NULL: this one was not kept. */
static ga__plan *keep_plan(const plan_key *key, ga__plan *plan)
{
    if (plan->graph.value_typed || atomic_load(&plans_kept) >= MOST_PLANS)
        return NULL;
    ga__saved_error saved = ga__error_save();
    ga__plan *stands = ga__key_table_put_bytes(&plans, key->bytes, key->nbytes, plan);
    ga__error_restore(saved);
    if (stands == plan)
        atomic_fetch_add(&plans_kept, 1);
    else if (stands)
        ga__plan_free(plan);
    return stands;
}

/* ---- Numbers ---- */

static ga_value weak_value(const call *c, int k)
{
    const ga__node *node = &c->plan->graph.nodes[k];
    return node->varies ? c->varying[node->slot] : node->number;
}

/* Computes the numbers; false when one has no value or another kind than the plan's. */
static bool compute_numbers(call *c)
{
    const ga__plan *plan = c->plan;
    for (int k = 0; k < plan->nvarying; k++) {
        const ga__node *node = &plan->graph.nodes[plan->varying[k]];
        const int *operand = node->key.operand;
        if (node->key.kind == GA__NODE_WEAK_ARGUMENT)
            c->varying[k] = c->args[node->key.row].value;
        else if (ga__weak_apply(node->key.row, weak_value(c, operand[0]),
                                weak_value(c, operand[ga__rows[node->key.row].inputs - 1]),
                                &c->varying[k]))
            return false;
        if (ga__weak_default(c->varying[k]) != node->dtype)
            return false;
    }
    return true;
}

/* ---- Steps ---- */

/* The operands of a step and the shape they broadcast to. */
typedef struct binding {
    ga__operand operands[GA__MAX_OPERANDS];
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} binding;

static const gpuarray *input_array(const call *c, const ga__input *input)
{
    if (input->source == GA__FROM_NUMBER)
        return NULL;
    return input->source == GA__FROM_ARGUMENT ? c->args[input->index].value.as.array
                                              : c->left[input->index];
}

/* Whether each reduction of a step by itself would run over the shape that all inputs have. */
static bool parts_agree(const ga__step *step, const binding *b)
{
    for (int p = 0; p < step->cut.nparts; p++) {
        int ndim = 0;
        int64_t shape[GA_MAX_NDIM];
        for (int k = 0; k < step->ninputs; k++) {
            const gpuarray *x = b->operands[1 + k].array;
            if (step->reads[p] >> k & 1)
                ga__broadcast_shape(&ndim, shape, x->ndim, x->shape);
        }
        if (!ga__same_shape(ndim, shape, b->ndim, b->shape))
            return false;
    }
    return true;
}

/* False when a number does not fit its dtype or shapes do not broadcast as they did for the plan.
 * The first operand is left for the result. */
static bool bind(const call *c, const ga__step *step, binding *b)
{
    b->ndim = 0;
    for (int k = 0; k < step->ninputs; k++) {
        const ga__input *input = &step->inputs[k];
        ga__operand *operand = &b->operands[1 + k];
        *operand = (ga__operand){.name = input->name,
                                 .array = input_array(c, input),
                                 .type = input->dtype,
                                 .reads = true};
        if (operand->array) {
            if (!ga__broadcast_shape(&b->ndim, b->shape, operand->array->ndim,
                                     operand->array->shape))
                return false;
            continue;
        }
        operand->number = weak_value(c, input->index);
        if (c->plan->graph.nodes[input->index].varies &&
            !ga__number_fits(operand->number, input->dtype))
            return false;
    }
    return step->cut.nparts < 2 || parts_agree(step, b);
}

/* Replaces operands that overlap `out`, which the step is about to write, by copies. */
static ga_status separate(const gpuarray *out, const ga__step *step, binding *b, gpuarray **copies)
{
    for (int k = 0; k < step->ninputs; k++) {
        const gpuarray **array = &b->operands[1 + k].array;
        ga_status status = GA_OK;
        if (step->cut.nparts == 0) {
            status = ga__separate(out, array, &copies[k]);
        } else if (*array && ga__arrays_overlap(out, *array)) {
            copies[k] = ga_copy(*array);
            *array = copies[k];
            status = copies[k] ? GA_OK : ga_error();
        }
        if (status != GA_OK)
            return status;
    }
    return GA_OK;
}

static ga_status launch_elementwise(const call *c, const ga__step *step, binding *b, gpuarray *out)
{
    const ga__formula formula = {.id = step->id, .name = step->formula_name, .body = step->text};
    const ga_dtype type = c->plan->graph.nodes[step->cut.result[0]].dtype;
    b->operands[0] = (ga__operand){.name = "r", .array = out, .type = type, .writes = true};
    return ga__elementwise(&formula, c->device, out->ndim, out->shape, 1 + step->ninputs,
                           b->operands);
}

static ga_status launch_reduction(const call *c, const ga__step *step, binding *b,
                                  gpuarray *const *out)
{
    bool reduced[GA_MAX_NDIM];
    for (int axis = 0; axis < b->ndim; axis++)
        reduced[axis] = step->axes >> axis & 1;
    return ga__reduce_keeping(&step->reduction, c->device, b->ndim, b->shape, reduced,
                              step->ninputs, b->operands + 1, out);
}

static ga_status launch_into(const call *c, const ga__step *step, binding *b, gpuarray *const *out)
{
    return step->cut.nparts > 0 ? launch_reduction(c, step, b, out)
                                : launch_elementwise(c, step, b, out[0]);
}

static ga_status launch(const call *c, const ga__step *step, binding *b, gpuarray *const *out)
{
    gpuarray *copies[GA__MAX_OPERANDS] = {NULL};
    if (out[0] != c->out)
        return launch_into(c, step, b, out);
    ga_status status = separate(out[0], step, b, copies);
    if (status == GA_OK)
        status = launch_into(c, step, b, out);
    for (int k = 0; k < step->ninputs; k++)
        ga_free(copies[k]);
    return status;
}

/* The shape of what a step leaves; false when it has no answer. */
static bool result_shape(const ga__step *step, const binding *b, int *ndim, int64_t *shape)
{
    int64_t count = 1;
    *ndim = 0;
    for (int axis = 0; axis < b->ndim; axis++) {
        const bool reduced = step->axes >> axis & 1;
        count *= reduced ? b->shape[axis] : 1;
        if (!reduced || step->keepdims)
            shape[(*ndim)++] = reduced ? 1 : b->shape[axis];
    }
    return count > 0 || !step->empty_is_error || ga__shape_size(*ndim, shape) == 0;
}

/* Makes what the step leaves; but the last one writes the caller's out itself when it can. */
static ga_status make_results(const call *c, const ga__step *step, int ndim, const int64_t *shape)
{
    gpuarray **left = c->left + step->first_value;
    for (int k = 0; k < step->cut.nresults; k++) {
        const ga_dtype dtype = c->plan->graph.nodes[step->cut.result[k]].dtype;
        const bool last = step->first_value + k == c->plan->nvalues - 1 && c->out;
        if (last && ga__check_out("ga_eval", c->out, ndim, shape, dtype) != GA_OK)
            return ga_error();
        if (last &&
            (step->cut.nparts == 0 || ga__same_shape(ndim, shape, c->out->ndim, c->out->shape)))
            left[k] = c->out;
        else
            left[k] = ga__array_new(c->device, dtype, ndim, shape);
        if (!left[k])
            return ga_error();
    }
    return GA_OK;
}

static outcome run_step(call *c, const ga__step *step)
{
    binding b;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    if (!bind(c, step, &b) || !result_shape(step, &b, &ndim, shape))
        return STALE;
    if (make_results(c, step, ndim, shape) != GA_OK)
        return FAILED;
    return launch(c, step, &b, c->left + step->first_value) == GA_OK ? DONE : FAILED;
}

/* Runs the steps; *result is the last one's array, and what the others left is freed. */
static outcome run_steps(call *c, gpuarray **result)
{
    gpuarray *few[8], **left = few;
    const int nvalues = c->plan->nvalues;
    if (nvalues > (int)(sizeof(few) / sizeof(few[0])))
        left = ga__malloc((size_t)nvalues * sizeof(*left));
    if (!left)
        return FAILED;
    memset(left, 0, (size_t)nvalues * sizeof(*left));
    c->left = left;
    outcome how = DONE;
    for (int k = 0; k < c->plan->nsteps && how == DONE; k++)
        how = run_step(c, &c->plan->steps[k]);
    if (how == DONE) {
        *result = left[nvalues - 1];
        left[nvalues - 1] = NULL;
    }
    for (int k = 0; k < nvalues; k++)
        if (left[k] != c->out)
            ga_free(left[k]);
    if (left != few)
        ga__free(left);
    return how;
}

/* An expression of numbers only. */
static outcome give_number(const call *c, gpuarray **result)
{
    const ga_value number = weak_value(c, c->plan->graph.root);
    const ga_dtype dtype = ga__weak_default(number);
    uint64_t element[2];
    ga__dtype_store(dtype, number, element);
    if (c->out) {
        const int64_t no_axes = 0;
        if (ga__check_out("ga_eval", c->out, 0, &no_axes, dtype) != GA_OK)
            return FAILED;
        *result = c->out;
        return (ga_assign)(c->out, number) == GA_OK ? DONE : FAILED;
    }
    gpuarray *x = ga__array_new(c->device, dtype, 0, NULL);
    if (x && ga__array_set_element(x, element) == GA_OK) {
        *result = x;
        return DONE;
    }
    ga_free(x);
    return FAILED;
}

static outcome run(const ga__plan *plan, ga__device *device, const ga_named *args, gpuarray *out,
                   gpuarray **result)
{
    call c;
    c.plan = plan;
    c.args = args;
    c.device = device;
    c.out = out;
    if (!compute_numbers(&c))
        return STALE;
    if (plan->nsteps == 0)
        return give_number(&c, result);
    outcome how = run_steps(&c, result);
    if (how != DONE || !out || *result == out)
        return how;
    how = (ga_assign)(out, ga_value_array(*result)) == GA_OK ? DONE : FAILED;
    ga_free(*result);
    return how;
}

/* ---- Evaluation ---- */

/* With a plan made for this very call, which raises what is wrong with it. */
static outcome run_anew(const char *text, const ga__forest *forest, ga__device *device, int count,
                        const ga_named *args, const plan_key *key, gpuarray *out, gpuarray **result)
{
    ga__plan *plan = ga__eval_plan(text, forest, count, args);
    if (!plan)
        return FAILED;
    ga__plan *kept = key ? keep_plan(key, plan) : NULL;
    const outcome how = run(kept ? kept : plan, device, args, out, result);
    if (!kept)
        ga__plan_free(plan);
    return how;
}

static ga_status evaluate(const char *text, const ga__forest *forest, gpuarray *out, int count,
                          const ga_named *args, gpuarray **result)
{
    ga__device *device;
    plan_key key;
    if (!text)
        return ga__fail(GA_ERR_INVALID, "ga_eval: the expression is NULL");
    if (strnlen(text, GA__EVAL_TEXT + 1) > GA__EVAL_TEXT)
        return ga__fail(GA_ERR_INVALID, "ga_eval: an expression of more than %d bytes",
                        GA__EVAL_TEXT);
    const ga_status status = ga__eval_check(count, args, &device);
    if (status != GA_OK)
        return status;
    if (out && out->buffer->device != device) {
        bool any_array = false;
        for (int k = 0; k < count; k++)
            any_array |= args[k].value.kind == GA_VALUE_ARRAY;
        if (any_array)
            return ga__fail(GA_ERR_DEVICE, "ga_eval: operands on %s, out on %s", device->name,
                            out->buffer->device->name);
        device = out->buffer->device;
    }
    if (!make_key(&key, text, count, args))
        return ga_error();
    const ga__plan *plan = ga__key_table_get_bytes(&plans, key.bytes, key.nbytes);
    outcome how = plan ? run(plan, device, args, out, result) : STALE;
    if (how == STALE)
        how = run_anew(text, forest, device, count, args, plan ? NULL : &key, out, result);
    key_reset(&key);
    if (how == STALE)
        ga__fail(GA_ERR_INVALID, "ga_eval: the arguments changed during the call");
    return how == DONE ? GA_OK : ga_error();
}

gpuarray *(ga_eval)(const char *expression, int count, const ga_named *args)
{
    gpuarray *result;
    return evaluate(expression, NULL, NULL, count, args, &result) == GA_OK ? result : NULL;
}

ga_status(ga_eval_into)(gpuarray *out, const char *expression, int count, const ga_named *args)
{
    gpuarray *result;
    if (!out)
        return ga__fail(GA_ERR_INVALID, "ga_eval: out is NULL");
    return evaluate(expression, NULL, out, count, args, &result);
}

ga_expr *ga_compile_expr(const char *expression)
{
    ga__forest forest;
    if (ga__forest_parse(&forest, expression) != GA_OK)
        return NULL;
    ga_expr *expr = ga__malloc(sizeof(*expr));
    char *text = expr ? ga__strdup(expression) : NULL;
    if (!text) {
        ga__forest_reset(&forest);
        ga__free(expr);
        return NULL;
    }
    expr->text = text;
    expr->forest = forest;
    expr->forest.text = text;
    return expr;
}

gpuarray *(ga_eval_expr)(const ga_expr *expr, int count, const ga_named *args)
{
    gpuarray *result;
    if (!expr)
        return ga__fail_null(GA_ERR_INVALID, "ga_eval: the parsed expression is NULL");
    return evaluate(expr->text, &expr->forest, NULL, count, args, &result) == GA_OK ? result : NULL;
}

void ga_expr_free(ga_expr *expr)
{
    if (!expr)
        return;
    ga__forest_reset(&expr->forest);
    ga__free(expr->text);
    ga__free(expr);
}
