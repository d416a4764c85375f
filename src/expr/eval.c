/* Runs expressions: finds the plan with one lookup, binds the call's arrays and numbers,
 * launches. */
#include "expr/eval.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/range.h"
#include "jit/key_table.h"
#include "ops/check_nan.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "expr/check_nan.h"
#include "expr/fused/fused_run.h"
#include "expr/named.h"
#include "expr/run.h"
#include "expr/select.h"
#include "expr/text/lexer.h"
#include "expr/text/parse.h"

#define MOST_PLANS 1024 /* plans kept; beyond that, the least recently used ones are freed */
#define KEY_BYTES 1024  /* of a typical key */

struct ga_expr {
    char *text;
    ga__ast ast;
};

/* One evaluation. */
typedef struct call {
    const ga__plan *plan;
    const ga_named *args;
    ga__device *device;
    gpuarray *out;     /* the caller's, or NULL */
    gpuarray **values; /* by value: the results of the steps */
    ga__numbers numbers;
} call;

/* The outcome of running a plan: STALE if these arguments need a plan, or an error, of their
 * own. */
typedef enum outcome { DONE, FAILED, STALE } outcome;

/* ---- Plans ---- */

static void free_plan(void *plan)
{
    ga__plan_free(plan);
}

static ga__key_table plans = GA__KEY_TABLE_INIT(MOST_PLANS, free_plan);

/* Everything that a plan depends on, except the values of numbers and the lengths of axes: the
 * text, the kind of device, and the name, dtype and number of axes of each argument. */
typedef struct plan_key {
    size_t nbytes;
    unsigned char *bytes; /* `own`, or allocated if that is too small */
    unsigned char own[KEY_BYTES];
} plan_key;

/* Writes the key before `end`; returns where it ends, NULL if there is no room. */
static unsigned char *write_key(unsigned char *at, const unsigned char *end, const char *text,
                                size_t length, unsigned char facts, int count, const ga_named *args)
{
    if ((size_t)(end - at) <= length)
        return NULL;
    memcpy(at, text, length);
    at += length;
    *at++ = facts;
    for (int k = 0; k < count; k++) {
        const ga_value *value = &args[k].value;
        const gpuarray *x = value->kind == GA_VALUE_ARRAY ? value->as.array : NULL;
        const char *name = args[k].name;
        do { /* most names have few characters: a call would take longer */
            if (end - at < 3)
                return NULL;
            *at++ = (unsigned char)*name;
        } while (*name++);
        *at++ = (unsigned char)(x ? x->dtype : ga__weak_default(*value));
        *at++ = (unsigned char)(x ? x->ndim : 255);
    }
    return at;
}

static bool make_key(plan_key *key, const char *text, size_t length, bool fast_math, bool host,
                     int count, const ga_named *args)
{
    const unsigned char facts = (unsigned char)(fast_math | host << 1);
    key->bytes = key->own;
    unsigned char *end =
        write_key(key->own, key->own + KEY_BYTES, text, length, facts, count, args);
    if (!end) {
        size_t room = length + 1;
        for (int k = 0; k < count; k++)
            room += strlen(args[k].name) + 3;
        key->bytes = ga__malloc(room);
        if (!key->bytes)
            return false;
        end = write_key(key->bytes, key->bytes + room, text, length, facts, count, args);
    }
    key->nbytes = (size_t)(end - key->bytes);
    return true;
}

static void key_reset(plan_key *key)
{
    if (key->bytes != key->own)
        ga__free(key->bytes);
}

/* Returns the plan that is in the table under the key, held; NULL if this one is not kept. */
static ga__plan *keep_plan(const plan_key *key, ga__plan *plan)
{
    if (plan->graph.value_typed)
        return NULL;
    ga__saved_error saved = ga__error_save();
    ga__plan *stands = ga__key_table_put_bytes(&plans, key->bytes, key->nbytes, plan);
    ga__error_restore(saved);
    return stands;
}

/* ---- Steps ---- */

static const gpuarray *input_array(const call *c, const ga__input *input)
{
    if (input->source == GA__FROM_NUMBER)
        return NULL;
    return input->source == GA__FROM_ARGUMENT ? c->args[input->index].value.as.array
                                              : c->values[input->index];
}

static ga_status launch_apart(const call *c, const ga__step *step, ga__binding *b,
                              gpuarray *const *out)
{
    gpuarray *copies[GA__MAX_OPERANDS];
    ga_status status = ga__step_separate(out[0], step, b, copies);
    if (status == GA_OK)
        status = ga__step_launch(step, c->plan, c->device, b, out, NULL);
    for (int k = 0; k < step->ninputs; k++)
        ga_free(copies[k]);
    return status;
}

static bool overlaps_input(const gpuarray *out, const ga__step *step, const ga__binding *b)
{
    for (int k = 1; k <= step->ninputs; k++)
        if (b->operands[k].array && ga__arrays_overlap(out, b->operands[k].array))
            return true;
    return false;
}

static ga_status launch(const call *c, const ga__step *step, ga__binding *b, gpuarray *const *out)
{
    if (out[0] == c->out && overlaps_input(out[0], step, b))
        return launch_apart(c, step, b, out);
    return ga__step_launch(step, c->plan, c->device, b, out, NULL);
}

/* Makes the step's results; the last step writes the caller's out directly if possible. */
static ga_status make_results(const call *c, const ga__step *step, int ndim, const int64_t *shape)
{
    gpuarray **values = c->values + step->first_value;
    for (int k = 0; k < step->group.nresults; k++) {
        const ga_dtype dtype = c->plan->graph.nodes[step->group.result[k]].dtype;
        const bool last = step->first_value + k == c->plan->nvalues - 1 && c->out;
        if (last && ga__check_out("eval", c->out, ndim, shape, dtype) != GA_OK)
            return ga_error();
        if (last &&
            (step->group.nparts == 0 || ga__same_shape(ndim, shape, c->out->ndim, c->out->shape)))
            values[k] = c->out;
        else
            values[k] = ga__array_new("eval", c->device, dtype, ndim, shape);
        if (!values[k])
            return ga_error();
    }
    return GA_OK;
}

static inline __attribute__((always_inline)) outcome run_with(call *c, const ga__step *step,
                                                              const gpuarray *const *arrays)
{
    ga__binding b;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    if (!ga__step_bind(&b, c->plan, step, &c->numbers, arrays) ||
        !ga__step_shape(step, &b, &ndim, shape))
        return STALE;
    if (step->selects) {
        gpuarray *chosen = ga__select_run(step, c->plan, c->device, &b);
        c->values[step->first_value] = chosen;
        return chosen ? DONE : FAILED;
    }
    if (make_results(c, step, ndim, shape) != GA_OK)
        return FAILED;
    return launch(c, step, &b, c->values + step->first_value) == GA_OK ? DONE : FAILED;
}

/* Replaces the inputs that are views by new arrays; STALE for an index out of range. */
__attribute__((noinline, cold)) static outcome run_with_views(call *c, const ga__step *step,
                                                              const gpuarray **arrays)
{
    gpuarray *views[GA__MAX_OPERANDS] = {NULL};
    outcome how = DONE;
    for (int i = 0; i < step->ninputs && how == DONE; i++) {
        const ga__input *input = &step->inputs[i];
        const int node =
            input->gathers ? c->plan->graph.nodes[input->node].key.operand[0] : input->node;
        if (c->plan->graph.nodes[node].key.kind != GA__NODE_VIEW)
            continue;
        const ga__saved_error before = ga__error_save();
        arrays[i] = views[i] = ga__node_view(&c->plan->graph, node, arrays[i]);
        if (views[i] || ga_error() == GA_ERR_MEMORY) {
            ga__error_settle(before);
            how = views[i] ? DONE : FAILED;
        } else {
            ga__error_restore(before);
            how = STALE;
        }
    }
    if (how == DONE)
        how = run_with(c, step, arrays);
    for (int i = 0; i < step->ninputs; i++)
        ga_free(views[i]);
    return how;
}

static outcome run_step(call *c, const ga__step *step)
{
    const gpuarray *arrays[GA__MAX_OPERANDS];
    for (int i = 0; i < step->ninputs; i++)
        arrays[i] = input_array(c, &step->inputs[i]);
    return c->plan->graph.nviews ? run_with_views(c, step, arrays) : run_with(c, step, arrays);
}

/* Runs the steps; *result is the last one's array, and the other results are freed. */
static outcome run_steps(call *c, gpuarray **result)
{
    gpuarray *few[8] = {NULL}, **values = few;
    const int nvalues = c->plan->nvalues;
    if (nvalues > (int)(sizeof(few) / sizeof(few[0])))
        values = ga__calloc((size_t)nvalues, sizeof(*values));
    if (!values)
        return FAILED;
    c->values = values;
    outcome how = DONE;
    for (int k = 0; k < c->plan->nsteps && how == DONE; k++)
        how = run_step(c, &c->plan->steps[k]);
    if (how == DONE) {
        *result = values[nvalues - 1];
        values[nvalues - 1] = NULL;
    }
    for (int k = 0; k < nvalues; k++)
        if (values[k] != c->out)
            ga_free(values[k]);
    if (values != few)
        ga__free(values);
    return how;
}

/* Gives the value of an expression of numbers only. */
static outcome give_number(const call *c, gpuarray **result)
{
    const ga_value number = ga__number_of(&c->numbers, c->plan, c->plan->graph.root);
    if (c->out) {
        const int64_t no_axes = 0;
        if (ga__check_out("eval", c->out, 0, &no_axes, ga__weak_default(number)) != GA_OK)
            return FAILED;
        *result = c->out;
        return ga__assign("eval", c->out, number) == GA_OK ? DONE : FAILED;
    }
    *result = ga__number_array(c->device, number);
    return *result ? DONE : FAILED;
}

static outcome run(const ga__plan *plan, ga__device *device, const ga_named *args, gpuarray *out,
                   gpuarray **result)
{
    call c;
    c.plan = plan;
    c.args = args;
    c.device = device;
    const bool apart = plan->graph.ngathers > 0 && ga__shares_gathered(plan, args, out);
    c.out = apart || plan->graph.selects ? NULL : out;
    if (plan->nvarying && !ga__numbers_make(&c.numbers, plan, args))
        return STALE;
    if (plan->nsteps == 0)
        return give_number(&c, result);
    *result = NULL;
    if (plan->fused && ga__fused_eval(plan, &c.numbers, device, args, out, result) != GA_OK)
        return FAILED;
    outcome how = *result ? DONE : run_steps(&c, result);
    if (how != DONE || !out || *result == out)
        return how;
    const bool fits = c.out || ga__check_out("eval", out, (*result)->ndim, (*result)->shape,
                                             (*result)->dtype) == GA_OK;
    how = fits && ga__assign("eval", out, ga_value_array(*result)) == GA_OK ? DONE : FAILED;
    ga_free(*result);
    return how;
}

/* ---- Evaluation ---- */

/* Runs with a plan made for this call, which raises any error in it. Names are checked only here:
 * no plan is kept under wrong names. */
static outcome run_anew(const char *text, const ga__ast *ast, ga__device *device, int count,
                        const ga_named *args, const plan_key *key, gpuarray *out, gpuarray **result)
{
    if (ga__eval_check_names(count, args) != GA_OK)
        return FAILED;
    ga__plan *plan = ga__eval_plan(text, ast, device, count, args, GA__MAX_PARTS);
    if (!plan)
        return FAILED;
    const bool fits = ga__plan_takes(plan, out);
    ga__plan *kept = key ? keep_plan(key, plan) : NULL;
    const outcome how = fits ? run(kept ? kept : plan, device, args, out, result) : FAILED;
    if (kept)
        ga__key_table_leave();
    else
        ga__plan_free(plan);
    return how;
}

static ga_status evaluate(const char *text, const ga__ast *ast, gpuarray *out, int count,
                          const ga_named *args, gpuarray **result);

__attribute__((noinline, cold)) static ga_status evaluate_checked(const char *text,
                                                                  const ga__ast *ast, gpuarray *out,
                                                                  int count, const ga_named *args,
                                                                  gpuarray **result)
{
    ga_named kept[GA__MAX_EVAL_ARGS];
    ga__plan *plan =
        out ? ga__eval_plan(text, ast, out->buffer->device, count, args, GA__MAX_PARTS) : NULL;
    const bool refused =
        out && !(plan && ga__plan_takes(plan, out)); /* before operands are copied */
    ga__plan_free(plan);
    if (refused)
        return ga_error();
    ga__check_begin();
    ga_status status = ga__eval_check_keep(out, count, args, kept);
    if (status == GA_OK)
        status = evaluate(text, ast, out, count, args, result);
    if (status == GA_OK)
        status = ga__eval_check_nan(text, ast, out ? out : *result, count, kept);
    if (status == GA_OK && !out)
        ga_keep(*result);
    ga__check_end();
    return status;
}

/* Whether all values are arrays of one device, which *device becomes: no more is to check. */
static bool are_arrays(int count, const ga_named *args, ga__device **device)
{
    if (count < 1 || count > GA__MAX_EVAL_ARGS || !args)
        return false;
    ga__device *found = NULL;
    for (const ga_named *arg = args; arg < args + count; arg++) {
        const gpuarray *x = arg->value.as.array;
        if (!arg->name || arg->value.kind != GA_VALUE_ARRAY || !x)
            return false;
        if (found && x->buffer->device != found)
            return false;
        found = x->buffer->device;
    }
    *device = found;
    return true;
}

static ga_status evaluate(const char *text, const ga__ast *ast, gpuarray *out, int count,
                          const ga_named *args, gpuarray **result)
{
    ga__device *device;
    plan_key key;
    if (!text)
        return ga__fail(GA_ERR_INVALID, "eval: the expression is NULL");
    const size_t length = strnlen(text, GA__EVAL_TEXT + 1);
    if (length > GA__EVAL_TEXT)
        return ga__fail(GA_ERR_INVALID, "eval: the expression has more than %d bytes",
                        GA__EVAL_TEXT);
    if (!are_arrays(count, args, &device)) {
        const ga_status status = ga__eval_check_values(count, args, false, &device);
        if (status != GA_OK)
            return status;
    }
    if (ga__checks_nan())
        return evaluate_checked(text, ast, out, count, args, result);
    if (out && out->buffer->device != device) {
        bool any_array = false;
        for (int k = 0; k < count; k++)
            any_array |= args[k].value.kind == GA_VALUE_ARRAY;
        if (any_array)
            return ga__fail(GA_ERR_DEVICE, "eval: operands on %s, out on %s", device->name,
                            out->buffer->device->name);
        device = out->buffer->device;
    }
    if (!make_key(&key, text, length + 1, ast && ast->fast_math, ga__on_host(device), count, args))
        return ga_error();
    /* A kept plan may find out at a later step that it does not fit, with steps in the graph. */
    const bool anew = ga__recording();
    const ga__plan *plan = anew ? NULL : ga__key_table_get_bytes(&plans, key.bytes, key.nbytes);
    outcome how = plan ? run(plan, device, args, out, result) : STALE;
    if (plan)
        ga__key_table_leave();
    if (how == STALE)
        how = run_anew(text, ast, device, count, args, plan || anew ? NULL : &key, out, result);
    key_reset(&key);
    if (how == STALE)
        ga__fail(GA_ERR_INVALID, "eval: the arguments changed during the call");
    return how == DONE ? GA_OK : ga_error();
}

gpuarray *(ga_eval)(const char *expression, int count, const ga_named *args)
{
    GA__RANGE(expression);
    gpuarray *result;
    return evaluate(expression, NULL, NULL, count, args, &result) == GA_OK ? result : NULL;
}

ga_status(ga_eval_into)(gpuarray *out, const char *expression, int count, const ga_named *args)
{
    GA__RANGE(expression);
    gpuarray *result;
    if (!out)
        return ga__fail(GA_ERR_INVALID, "eval: out is NULL");
    return evaluate(expression, NULL, out, count, args, &result);
}

static ga_expr *compile(const char *expression, bool fast_math)
{
    ga__ast ast;
    if (ga__ast_parse(&ast, expression) != GA_OK)
        return NULL;
    ga_expr *expr = ga__malloc(sizeof(*expr));
    char *text = expr ? ga__strdup(expression) : NULL;
    if (!text) {
        ga__ast_reset(&ast);
        ga__free(expr);
        return NULL;
    }
    expr->text = text;
    expr->ast = ast;
    expr->ast.text = text;
    expr->ast.fast_math = fast_math;
    return expr;
}

ga_expr *ga_compile_expr(const char *expression)
{
    return compile(expression, false);
}

ga_expr *ga_compile_fast_expr(const char *expression)
{
    return compile(expression, true);
}

gpuarray *(ga_eval_expr)(const ga_expr *expr, int count, const ga_named *args)
{
    GA__RANGE(expr ? expr->text : NULL);
    gpuarray *result;
    if (!expr)
        return ga__fail_null(GA_ERR_INVALID, "eval: the parsed expression is NULL");
    return evaluate(expr->text, &expr->ast, NULL, count, args, &result) == GA_OK ? result : NULL;
}

ga_status(ga_eval_expr_into)(gpuarray *out, const ga_expr *expr, int count, const ga_named *args)
{
    GA__RANGE(expr ? expr->text : NULL);
    gpuarray *result;
    if (!out || !expr)
        return ga__fail(GA_ERR_INVALID, "eval: %s is NULL", out ? "the parsed expression" : "out");
    return evaluate(expr->text, &expr->ast, out, count, args, &result);
}

void ga_expr_free(ga_expr *expr)
{
    if (!expr)
        return;
    ga__ast_reset(&expr->ast);
    ga__free(expr->text);
    ga__free(expr);
}
