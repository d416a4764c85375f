/* ga_matmul, ga_matvec and ga_vecmat: checks and results. */
#include <quarry/products.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "model/promote.h"
#include "ops/elementwise_op.h"
#include "ops/products/operands.h"

/* What the dimensions of a function's operands mean. */
typedef struct form {
    const char *name;
    bool a_vector, b_vector; /* the last dimension alone is a vector */
    bool any;                /* a 1-D operand is a vector, others are matrices */
    bool conjugates;         /* a */
} form;

/* One call, checked: operands as matrices, and the result's shape with and without the dimensions
 * of vectors. */
typedef struct call {
    const form *form;
    const ga_product_args *args;
    bool a_vector, b_vector;
    ga__product_view a, b;
    ga__device *device;
    ga_dtype dtype;
    int ndim;
    int64_t shape[GA_MAX_NDIM]; /* of the result */
} call;

static ga_status fail_shapes(const call *c, const char *why)
{
    const gpuarray *a = c->args->a, *b = c->args->b;
    return ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s %s", c->form->name,
                    ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape), why);
}

static ga_status check_dimensions(const call *c, const gpuarray *x, int operand, int least)
{
    if (x->ndim >= least)
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: operand %d has %d dimensions, fewer than %d",
                    c->form->name, operand, x->ndim, least);
}

/* Reads the operands as matrices. */
static ga_status read_operands(call *c)
{
    const form *f = c->form;
    const gpuarray *a = c->args->a, *b = c->args->b;
    const ga_value values[] = {ga_value_array(a), ga_value_array(b)};
    ga_status status = ga__check_values(f->name, 2, values, &c->device);
    if (status == GA_OK)
        status = ga__check_numeric(f->name, a->dtype);
    if (status == GA_OK)
        status = ga__check_numeric(f->name, b->dtype);
    if (status == GA_OK)
        status = check_dimensions(c, a, 1, f->any || f->a_vector ? 1 : 2);
    if (status == GA_OK)
        status = check_dimensions(c, b, 2, f->any || f->b_vector ? 1 : 2);
    if (status != GA_OK)
        return status;
    c->a_vector = f->any ? a->ndim == 1 : f->a_vector;
    c->b_vector = f->any ? b->ndim == 1 : f->b_vector;
    ga__product_view_of(&c->a, a);
    ga__product_view_of(&c->b, b);
    if ((c->a_vector && a->ndim == GA_MAX_NDIM) || (c->b_vector && b->ndim == GA_MAX_NDIM))
        return ga__fail(GA_ERR_INVALID, "%s: vectors have more than %d dimensions", f->name,
                        GA_MAX_NDIM - 1);
    if (c->a_vector)
        ga__product_view_insert(&c->a, a->ndim - 1);
    if (c->b_vector)
        ga__product_view_insert(&c->b, b->ndim);
    return GA_OK;
}

/* The result's shape, of at least two dimensions, from the operands'. */
static ga_status match(call *c)
{
    const ga__product_view *a = &c->a, *b = &c->b;
    c->ndim = a->ndim - 2;
    memcpy(c->shape, a->shape, (size_t)c->ndim * sizeof *c->shape);
    if (a->shape[a->ndim - 1] != b->shape[b->ndim - 2])
        return fail_shapes(c, "do not match: the last dimension of the first is not the "
                              "last but one, or only, of the second");
    if (!ga__broadcast_shape(&c->ndim, c->shape, b->ndim - 2, b->shape))
        return fail_shapes(c, ga__broadcast_problem(c->ndim, c->shape, b->ndim - 2, b->shape));
    c->shape[c->ndim++] = a->shape[a->ndim - 2];
    c->shape[c->ndim++] = b->shape[b->ndim - 1];
    return GA_OK;
}

/* Drops the dimensions that vectors lack. */
static void drop_vectors(call *c)
{
    if (c->b_vector)
        c->ndim--;
    if (c->a_vector) {
        if (!c->b_vector)
            c->shape[c->ndim - 2] = c->shape[c->ndim - 1];
        c->ndim--;
    }
}

static ga_status check_numbers(const call *c)
{
    const ga_product_args *args = c->args;
    const double numbers[] = {args->alpha, args->beta};
    if (args->beta != 0 && !args->out)
        return ga__fail(GA_ERR_INVALID, "%s: beta is %g, but there is no out", c->form->name,
                        args->beta);
    for (int k = 0; k < 2; k++)
        if (!ga__dtype_rounds(c->dtype) && rint(numbers[k]) != numbers[k])
            return ga__fail(GA_ERR_INVALID, "%s: %s is %g, not a whole number, and the result %s",
                            c->form->name, k ? "beta" : "alpha", numbers[k],
                            ga_dtype_name(c->dtype));
    return GA_OK;
}

static ga_status check_out(const call *c)
{
    const gpuarray *out = c->args->out;
    if (!out)
        return GA_OK;
    const ga_status status = ga__check_out(c->form->name, out, c->ndim, c->shape, c->dtype);
    if (status != GA_OK)
        return status;
    if (!ga__same_shape(c->ndim, c->shape, out->ndim, out->shape))
        return ga__fail(GA_ERR_SHAPE, "%s: the result has shape %s, out has %s", c->form->name,
                        ga__shape_text(c->ndim, c->shape), ga__shape_text(out->ndim, out->shape));
    if (out->buffer->device != c->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the operands are on %s, out on %s", c->form->name,
                        c->device->name, out->buffer->device->name);
    return GA_OK;
}

static ga_status prepare(call *c)
{
    ga_status status = read_operands(c);
    if (status == GA_OK)
        status = match(c);
    if (status != GA_OK)
        return status;
    drop_vectors(c);
    c->dtype = ga_result_type(c->args->a->dtype, c->args->b->dtype);
    int64_t size;
    status = ga__check_shape(c->form->name, c->dtype, c->ndim, c->shape, &size);
    if (status == GA_OK)
        status = check_numbers(c);
    return status == GA_OK ? check_out(c) : status;
}

static ga_status multiply(const call *c, gpuarray *out)
{
    const ga__product_options options = {c->form->name, c->args->alpha, c->args->beta,
                                         c->args->tf32};
    ga__product_view result;
    ga__product_view_of(&result, out);
    if (c->b_vector)
        ga__product_view_insert(&result, result.ndim);
    if (c->a_vector)
        ga__product_view_insert(&result, result.ndim - 1);
    return ga__multiply_views(&options, &c->a, &c->b, &result);
}

static gpuarray *product(const form *f, const ga_product_args *args)
{
    call c = {.form = f, .args = args};
    if (prepare(&c) != GA_OK)
        return NULL;
    gpuarray *out = args->out, *conjugate = NULL;
    ga_status status = GA_OK;
    if (f->conjugates && ga__dtype_kind(args->a->dtype) == 'c') {
        conjugate = ga_conj(args->a);
        if (!conjugate)
            return NULL;
        ga__product_view_of(&c.a, conjugate);
        ga__product_view_insert(&c.a, conjugate->ndim - 1);
    }
    if (!out)
        out = ga__array_new(f->name, c.device, c.dtype, c.ndim, c.shape);
    status = out ? multiply(&c, out) : ga_error();
    ga_free(conjugate);
    if (status == GA_OK)
        return out;
    if (!args->out)
        ga_free(out);
    return NULL;
}

static gpuarray *read_and_multiply(const form *f, size_t size, const ga_product_args *args)
{
    ga_product_args known;
    if (size == sizeof known && args)
        return product(f, args);
    return ga__options_read(f->name, &known, sizeof known, args, size) == GA_OK ? product(f, &known)
                                                                                : NULL;
}

gpuarray *(ga_matmul)(size_t size, const ga_product_args *args)
{
    static const form matmul = {.name = "matmul", .any = true};
    return read_and_multiply(&matmul, size, args);
}

gpuarray *(ga_matvec)(size_t size, const ga_product_args *args)
{
    static const form matvec = {.name = "matvec", .b_vector = true};
    return read_and_multiply(&matvec, size, args);
}

gpuarray *(ga_vecmat)(size_t size, const ga_product_args *args)
{
    static const form vecmat = {.name = "vecmat", .a_vector = true, .conjugates = true};
    return read_and_multiply(&vecmat, size, args);
}
