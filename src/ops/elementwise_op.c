/* Applies a row of the elementwise tables: checks the operands and calls the engine. */
#include "ops/elementwise_op.h"

#include <string.h>

#include "base/error.h"
#include "base/range.h"
#include "ops/check_nan.h"

/* One application: everything that is known before there is a result. */
typedef struct call {
    const ga__row *op;
    ga__device *device; /* of the arrays; NULL if there are none */
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    const gpuarray *arrays[GA__MAX_INPUTS]; /* NULL for a number */
    ga_dtype loop[GA__MAX_INPUTS];
    ga_dtype common;
    int ncopies;
    gpuarray *copies[GA__MAX_INPUTS]; /* of inputs that the result overlaps */
} call;

/* Sets the device of the arrays, NULL if there are none. */
static ga_status check_operands(const char *name, int count, const ga_value *values,
                                ga__device **device)
{
    *device = NULL;
    for (int k = 0; k < count; k++) {
        if (values[k].kind != GA_VALUE_ARRAY) {
            if (ga__is_number(values[k]))
                continue;
            return ga__fail(GA_ERR_INVALID, "%s: operand %d is neither a gpuarray nor a number",
                            name, k + 1);
        }
        const gpuarray *x = values[k].as.array;
        if (!x)
            return ga__fail(GA_ERR_INVALID, "%s: operand %d is NULL", name, k + 1);
        if (*device && x->buffer->device != *device)
            return ga__fail(GA_ERR_DEVICE, "%s: operands on %s and %s", name, (*device)->name,
                            x->buffer->device->name);
        *device = x->buffer->device;
    }
    return GA_OK;
}

ga_status ga__check_values(const char *name, int count, const ga_value *values, ga__device **device)
{
    const ga_status status = check_operands(name, count, values, device);
    if (status != GA_OK)
        return status;
    if (!*device)
        *device = ga__current_device();
    return *device ? GA_OK : ga_error();
}

static ga_status fail_broadcast(const call *c, const gpuarray *x)
{
    return ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s %s", c->op->formula.name,
                    ga__shape_text(c->ndim, c->shape), ga__shape_text(x->ndim, x->shape),
                    ga__broadcast_problem(c->ndim, c->shape, x->ndim, x->shape));
}

/* Checks the inputs; sets the device, the shape and the dtypes. */
static ga_status prepare(call *c, const ga__row *op, const ga_value *inputs)
{
    ga__operand_type types[GA__MAX_INPUTS];
    c->op = op;
    c->ndim = c->ncopies = 0;
    const ga_status status = check_operands(op->formula.name, op->inputs, inputs, &c->device);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < op->inputs; k++) {
        const gpuarray *x = inputs[k].kind == GA_VALUE_ARRAY ? inputs[k].as.array : NULL;
        c->arrays[k] = x;
        types[k] = (ga__operand_type){x ? x->dtype : inputs[k].dtype, !x, inputs[k]};
        if (!x)
            continue;
        if (!ga__broadcast_shape(&c->ndim, c->shape, x->ndim, x->shape))
            return fail_broadcast(c, x);
    }
    /* Outside expressions a choice of structs is a move. */
    const char *kinds = op->rule == GA__RULE_WHERE ? "?iufcV" : op->kinds;
    return ga__resolve(op->formula.name, kinds, op->rule, op->inputs, types, c->loop, &c->common);
}

static void set_inputs(const call *c, const ga_value *inputs, ga__operand *operands)
{
    static const char *const names[GA__MAX_INPUTS] = {"a", "b", "c"};
    for (int k = 0; k < c->op->inputs; k++)
        operands[k] = (ga__operand){.name = names[k],
                                    .array = c->arrays[k],
                                    .number = inputs[k],
                                    .type = c->loop[k],
                                    .reads = true};
}

static gpuarray *new_result(call *c, ga_dtype dtype)
{
    if (!c->device)
        c->device = ga__current_device();
    return c->device ? ga__array_new(c->op->formula.name, c->device, dtype, c->ndim, c->shape)
                     : NULL;
}

static ga__operand result_operand(const char *name, const gpuarray *array, ga_dtype type)
{
    return (ga__operand){.name = name, .array = array, .type = type, .writes = true};
}

/* Returns a result that has been checked; frees one that is at fault. */
__attribute__((noinline, cold)) static gpuarray *checked(const ga__row *op, gpuarray *out,
                                                         const ga_value *inputs)
{
    if (ga__check_elements(op->formula.name, out, NULL, op->inputs, inputs, NULL) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga__apply(ga__row_id row, const ga_value *inputs)
{
    const ga__row *op = &ga__rows[row];
    GA__RANGE(op->formula.name);
    call c;
    ga__operand operands[1 + GA__MAX_INPUTS];
    if (prepare(&c, op, inputs) != GA_OK)
        return NULL;
    const ga_dtype dtype = ga__result_dtype(op->result, c.common);
    gpuarray *out = new_result(&c, dtype);
    if (!out)
        return NULL;
    operands[0] = result_operand("r", out, dtype);
    set_inputs(&c, inputs, operands + 1);
    if (ga__elementwise(&op->formula, c.device, c.ndim, c.shape, 1 + op->inputs, operands) == GA_OK)
        return ga__checks_nan() ? checked(op, out, inputs) : out;
    ga_free(out);
    return NULL;
}

static ga_status fail_shape(const char *name, const gpuarray *out, int ndim, const int64_t *shape)
{
    return ga__fail(GA_ERR_SHAPE, "%s: the result has shape %s, out has %s", name,
                    ga__shape_text(ndim, shape), ga__shape_text(out->ndim, out->shape));
}

ga_status ga__check_out(const char *name, const gpuarray *out, int ndim, const int64_t *shape,
                        ga_dtype dtype)
{
    if (!ga__array_writable(name, out))
        return ga_error();
    if (!ga__broadcasts_to(ndim, shape, out->ndim, out->shape))
        return fail_shape(name, out, ndim, shape);
    if (dtype != out->dtype && !ga__can_cast_same_kind(dtype, out->dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: the result is %s and does not cast to out's %s", name,
                        ga_dtype_name(dtype), ga_dtype_name(out->dtype));
    return GA_OK;
}

ga_status ga__check_own_out(const char *name, const gpuarray *out, const ga__device *device,
                            int ndim, const int64_t *shape, ga_dtype dtype)
{
    if (!ga__array_writable(name, out))
        return ga_error();
    if (!ga__same_shape(ndim, shape, out->ndim, out->shape))
        return fail_shape(name, out, ndim, shape);
    const ga_status status = ga__check_out(name, out, ndim, shape, dtype);
    if (status == GA_OK && out->buffer->device != device)
        return ga__fail(GA_ERR_DEVICE, "%s: the operand is on %s, out on %s", name, device->name,
                        out->buffer->device->name);
    return status;
}

static bool same_layout(const gpuarray *a, const gpuarray *b)
{
    return a->data == b->data && ga__same_shape(a->ndim, a->shape, b->ndim, b->shape) &&
           ga__dtype_size(a->dtype) == ga__dtype_size(b->dtype) &&
           memcmp(a->strides, b->strides, sizeof(int64_t) * (size_t)a->ndim) == 0;
}

ga_status ga__separate(const gpuarray *written, const gpuarray **input, gpuarray **copy)
{
    *copy = NULL;
    if (!*input || !ga__arrays_overlap(written, *input) || same_layout(written, *input))
        return GA_OK;
    *copy = ga_copy(*input);
    if (!*copy)
        return ga_error();
    *input = *copy;
    return GA_OK;
}

/* Whether `out` takes the result. */
static ga_status check_out(call *c, const gpuarray *out, ga_dtype dtype)
{
    const char *name = c->op->formula.name;
    if (c->device && out->buffer->device != c->device)
        return ga__fail(GA_ERR_DEVICE, "%s: operands on %s, out on %s", name, c->device->name,
                        out->buffer->device->name);
    c->device = out->buffer->device;
    return ga__check_out(name, out, c->ndim, c->shape, dtype);
}

/* The same, and copies inputs that it overlaps. */
static ga_status take_out(call *c, const gpuarray *out, ga_dtype dtype)
{
    ga_status status = check_out(c, out, dtype);
    for (int k = 0; k < c->op->inputs && status == GA_OK; k++) {
        gpuarray **copy = &c->copies[c->ncopies];
        status = ga__separate(out, &c->arrays[k], copy);
        c->ncopies += *copy != NULL;
    }
    return status;
}

static void free_copies(const call *c)
{
    for (int k = 0; k < c->ncopies; k++)
        ga_free(c->copies[k]);
}

/* With a check, for which operands that `out` overwrites are copied: not for a call that is
 * refused, which leaves nothing in a graph. */
__attribute__((noinline, cold)) static ga_status apply_into_checked(ga__row_id row, gpuarray *out,
                                                                    const ga_value *inputs)
{
    const ga__row *op = &ga__rows[row];
    ga_value kept[GA__MAX_INPUTS];
    call c;
    ga_status status = prepare(&c, op, inputs);
    if (status == GA_OK)
        status = check_out(&c, out, ga__result_dtype(op->result, c.common));
    if (status != GA_OK)
        return status;
    ga__check_begin();
    status = ga__check_keep(out, op->inputs, inputs, kept);
    if (status == GA_OK)
        status = ga__apply_into(row, out, inputs);
    if (status == GA_OK)
        status = ga__check_elements(op->formula.name, out, NULL, op->inputs, kept, NULL);
    ga__check_end();
    return status;
}

ga_status ga__apply_into(ga__row_id row, gpuarray *out, const ga_value *inputs)
{
    const ga__row *op = &ga__rows[row];
    GA__RANGE(op->formula.name);
    call c;
    ga__operand operands[1 + GA__MAX_INPUTS];
    if (!out)
        return ga__fail(GA_ERR_INVALID, "%s: out is NULL", op->formula.name);
    if (ga__checks_nan())
        return apply_into_checked(row, out, inputs);
    ga_status status = prepare(&c, op, inputs);
    if (status != GA_OK)
        return status;
    const ga_dtype dtype = ga__result_dtype(op->result, c.common);
    status = take_out(&c, out, dtype);
    if (status == GA_OK) {
        operands[0] = result_operand("r", out, dtype);
        set_inputs(&c, inputs, operands + 1);
        status = ga__elementwise(&op->formula, c.device, out->ndim, out->shape, 1 + op->inputs,
                                 operands);
    }
    free_copies(&c);
    return status;
}

gpuarray *ga__apply_numbers(const ga__row *op, gpuarray *out, const ga_value *inputs, int count,
                            const double *numbers)
{
    static const char *const names[GA__MAX_NUMBERS] = {"p", "q", "s"};
    call c;
    ga__operand operands[1 + GA__MAX_INPUTS + GA__MAX_NUMBERS];
    if (prepare(&c, op, inputs) != GA_OK)
        return NULL;
    const ga_dtype dtype = ga__result_dtype(op->result, c.common);
    gpuarray *result = out ? out : new_result(&c, dtype);
    ga_status status = !result ? ga_error() : out ? take_out(&c, out, dtype) : GA_OK;
    if (status == GA_OK) {
        operands[0] = result_operand("r", result, dtype);
        set_inputs(&c, inputs, operands + 1);
        for (int k = 0; k < count; k++)
            operands[1 + op->inputs + k] = (ga__operand){.name = names[k],
                                                         .number = ga_value_double(numbers[k]),
                                                         .type = GA_FLOAT64,
                                                         .reads = true};
        status = ga__elementwise(&op->formula, c.device, result->ndim, result->shape,
                                 1 + op->inputs + count, operands);
    }
    free_copies(&c);
    if (status == GA_OK)
        return ga__checks_nan() && !out ? checked(op, result, inputs) : result;
    if (!out)
        ga_free(result);
    return NULL;
}

ga_status ga__apply_split(ga__row_id row, const ga_value *inputs, gpuarray **first,
                          gpuarray **second)
{
    const ga__row *op = &ga__rows[row];
    GA__RANGE(op->formula.name);
    call c;
    ga__operand operands[2 + GA__MAX_INPUTS];
    if (!first || !second)
        return ga__fail(GA_ERR_INVALID, "%s: a result pointer is NULL", op->formula.name);
    ga_status status = prepare(&c, op, inputs);
    if (status != GA_OK)
        return status;
    const ga_dtype dtype = ga__result_dtype(op->result, c.common);
    gpuarray *r = new_result(&c, c.common);
    gpuarray *s = r ? new_result(&c, dtype) : NULL;
    if (!s) {
        ga_free(r);
        return ga_error();
    }
    operands[0] = result_operand("r", r, c.common);
    operands[1] = result_operand("s", s, dtype);
    set_inputs(&c, inputs, operands + 2);
    status = ga__elementwise(&op->formula, c.device, c.ndim, c.shape, 2 + op->inputs, operands);
    if (status == GA_OK && ga__checks_nan())
        status = ga__check_elements(op->formula.name, r, NULL, op->inputs, inputs, NULL);
    if (status == GA_OK) {
        *first = r;
        *second = s;
        return GA_OK;
    }
    ga_free(s);
    ga_free(r);
    return status;
}

/* Raises unless the two arrays can be written together. */
static ga_status check_pair(const char *name, const gpuarray *first, const gpuarray *second)
{
    if (!first || !second)
        return ga__fail(GA_ERR_INVALID, "%s: out is NULL", name);
    if (!ga__same_shape(first->ndim, first->shape, second->ndim, second->shape))
        return ga__fail(GA_ERR_SHAPE, "%s: the results have shapes %s and %s", name,
                        ga__shape_text(first->ndim, first->shape),
                        ga__shape_text(second->ndim, second->shape));
    if (ga__arrays_overlap(first, second))
        return ga__fail(GA_ERR_INVALID, "%s: the results share memory", name);
    return GA_OK;
}

/* With a check of the results, before they overwrite operands. */
__attribute__((noinline, cold)) static ga_status
split_into_checked(ga__row_id row, gpuarray *first, gpuarray *second, const ga_value *inputs)
{
    gpuarray *r, *s;
    ga_status status = ga__apply_split(row, inputs, &r, &s);
    if (status != GA_OK)
        return status;
    status = ga_assign(first, r);
    if (status == GA_OK)
        status = ga_assign(second, s);
    ga_free(s);
    ga_free(r);
    return status;
}

ga_status ga__apply_split_into(ga__row_id row, gpuarray *first, gpuarray *second,
                               const ga_value *inputs)
{
    const ga__row *op = &ga__rows[row];
    GA__RANGE(op->formula.name);
    call c;
    ga__operand operands[2 + GA__MAX_INPUTS];
    ga_status status = check_pair(op->formula.name, first, second);
    if (status == GA_OK)
        status = prepare(&c, op, inputs);
    if (status != GA_OK)
        return status;
    const ga_dtype dtype = ga__result_dtype(op->result, c.common);
    status = take_out(&c, first, c.common);
    if (status == GA_OK)
        status = take_out(&c, second, dtype);
    if (status == GA_OK && ga__checks_nan()) {
        status = split_into_checked(row, first, second, inputs);
    } else if (status == GA_OK) {
        operands[0] = result_operand("r", first, c.common);
        operands[1] = result_operand("s", second, dtype);
        set_inputs(&c, inputs, operands + 2);
        status = ga__elementwise(&op->formula, c.device, first->ndim, first->shape, 2 + op->inputs,
                                 operands);
    }
    free_copies(&c);
    return status;
}
