/* ga_matmul, ga_matvec and ga_vecmat: checks and results. */
#include <quarry/products.h>

#include <math.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "kernels/product/product_finish.h"
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

/* Shapes that match: the result's, without the dimensions that vectors lack. */
typedef struct match {
    bool a_vector, b_vector;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} match;

/* The shape of one operand. */
typedef struct dimensions {
    int ndim;
    const int64_t *shape;
} dimensions;

static ga_status fail_shapes(const char *name, dimensions a, dimensions b, const char *why)
{
    return ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s %s", name, ga__shape_text(a.ndim, a.shape),
                    ga__shape_text(b.ndim, b.shape), why);
}

static ga_status check_dimensions(const char *name, dimensions x, int operand, int least,
                                  bool vector)
{
    if (x.ndim < least)
        return ga__fail(GA_ERR_INVALID, "%s: operand %d has %d dimensions, expected at least %d",
                        name, operand, x.ndim, least);
    if (vector && x.ndim == GA_MAX_NDIM)
        return ga__fail(GA_ERR_INVALID, "%s: vectors have more than %d dimensions", name,
                        GA_MAX_NDIM - 1);
    return GA_OK;
}

static ga_status match_shapes(const form *f, dimensions a, dimensions b, match *m)
{
    m->a_vector = f->any ? a.ndim == 1 : f->a_vector;
    m->b_vector = f->any ? b.ndim == 1 : f->b_vector;
    ga_status status = check_dimensions(f->name, a, 1, f->any || f->a_vector ? 1 : 2, m->a_vector);
    if (status == GA_OK)
        status = check_dimensions(f->name, b, 2, f->any || f->b_vector ? 1 : 2, m->b_vector);
    if (status != GA_OK)
        return status;
    const int a_stack = a.ndim - 2 + m->a_vector, b_stack = b.ndim - 2 + m->b_vector;
    if (a.shape[a.ndim - 1] != b.shape[b_stack])
        return fail_shapes(f->name, a, b,
                           "do not match: the last axis of the first array and the last but one "
                           "(or only) axis of the second differ");
    m->ndim = a_stack;
    memcpy(m->shape, a.shape, (size_t)a_stack * sizeof *m->shape);
    if (!ga__broadcast_shape(&m->ndim, m->shape, b_stack, b.shape))
        return fail_shapes(f->name, a, b,
                           ga__broadcast_problem(m->ndim, m->shape, b_stack, b.shape));
    if (!m->a_vector)
        m->shape[m->ndim++] = a.shape[a.ndim - 2];
    if (!m->b_vector)
        m->shape[m->ndim++] = b.shape[b.ndim - 1];
    return GA_OK;
}

/* Multiplies arrays whose shapes match into `out`, of the result's shape. */
static ga_status multiply(const ga__product_options *options, const match *m, const gpuarray *a,
                          const gpuarray *b, gpuarray *out)
{
    ga__product_view left, right, result;
    ga__product_view_of(&left, a);
    ga__product_view_of(&right, b);
    ga__product_view_of(&result, out);
    if (m->a_vector)
        ga__product_view_insert(&left, left.ndim - 1);
    if (m->b_vector) {
        ga__product_view_insert(&right, right.ndim);
        ga__product_view_insert(&result, result.ndim);
    }
    if (m->a_vector)
        ga__product_view_insert(&result, result.ndim - 1);
    return ga__multiply_views(options, &left, &right, &result);
}

/* ---- a @ b of expressions ---- */

static const form any_form = {.name = "matmul", .any = true};

ga_status ga__matmul_shape(int a_ndim, const int64_t *a_shape, int b_ndim, const int64_t *b_shape,
                           int *ndim, int64_t *shape)
{
    match m;
    const ga_status status =
        match_shapes(&any_form, (dimensions){a_ndim, a_shape}, (dimensions){b_ndim, b_shape}, &m);
    if (status != GA_OK)
        return status;
    *ndim = m.ndim;
    memcpy(shape, m.shape, (size_t)m.ndim * sizeof *shape);
    return GA_OK;
}

ga_status ga__matmul_into(gpuarray *out, const gpuarray *a, const gpuarray *b, const gpuarray *bias,
                          bool relu)
{
    const ga__product_options options = {.name = any_form.name, .bias = bias, .relu = relu};
    match m;
    const ga_status status = match_shapes(&any_form, (dimensions){a->ndim, a->shape},
                                          (dimensions){b->ndim, b->shape}, &m);
    return status == GA_OK ? multiply(&options, &m, a, b, out) : status;
}

bool ga__matmul_may_finish(const ga__device *device, ga_dtype dtype, bool bias)
{
    return ga__product_may_finish(device, dtype, bias);
}

/* ---- Calls ---- */

/* One call, checked. */
typedef struct call {
    const form *form;
    const ga_product_args *args;
    match match;
    ga__device *device;
    ga_dtype dtype;
} call;

ga_status ga__check_product_numbers(const char *name, const ga_product_args *args, ga_dtype dtype)
{
    const double numbers[] = {args->alpha, args->beta};
    const double imaginary = args->alpha_imag != 0 ? args->alpha_imag : args->beta_imag;
    if (args->beta != 0 && !args->out)
        return ga__fail(GA_ERR_INVALID, "%s: beta is %g, but there is no out", name, args->beta);
    if (args->beta_imag != 0 && !args->out)
        return ga__fail(GA_ERR_INVALID, "%s: beta_imag is %g, but there is no out", name,
                        args->beta_imag);
    if (imaginary != 0 && ga__dtype_kind(dtype) != 'c')
        return ga__fail(GA_ERR_INVALID, "%s: %s is %g, and the result %s", name,
                        args->alpha_imag != 0 ? "alpha_imag" : "beta_imag", imaginary,
                        ga_dtype_name(dtype));
    ga_status status = GA_OK;
    for (int k = 0; k < 2 && status == GA_OK; k++) {
        if (!ga__dtype_rounds(dtype) && rint(numbers[k]) != numbers[k])
            return ga__fail(GA_ERR_INVALID, "%s: %s is %g, not a whole number, and the result %s",
                            name, k ? "beta" : "alpha", numbers[k], ga_dtype_name(dtype));
        status = ga__check_number(name, ga_value_double(numbers[k]), dtype);
    }
    return status;
}

static ga_status check_out(const call *c)
{
    const gpuarray *out = c->args->out;
    const match *m = &c->match;
    if (!out)
        return GA_OK;
    const ga_status status = ga__check_out(c->form->name, out, m->ndim, m->shape, c->dtype);
    if (status != GA_OK)
        return status;
    if (!ga__same_shape(m->ndim, m->shape, out->ndim, out->shape))
        return ga__fail(GA_ERR_SHAPE, "%s: the result has shape %s, out has %s", c->form->name,
                        ga__shape_text(m->ndim, m->shape), ga__shape_text(out->ndim, out->shape));
    if (out->buffer->device != c->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the operands are on %s, out on %s", c->form->name,
                        c->device->name, out->buffer->device->name);
    return GA_OK;
}

static ga_status prepare(call *c)
{
    const gpuarray *a = c->args->a, *b = c->args->b;
    const ga_value values[] = {ga_value_array(a), ga_value_array(b)};
    ga_status status = ga__check_values(c->form->name, 2, values, &c->device);
    if (status == GA_OK)
        status = ga__check_numeric(c->form->name, a->dtype);
    if (status == GA_OK)
        status = ga__check_numeric(c->form->name, b->dtype);
    if (status == GA_OK)
        status = match_shapes(c->form, (dimensions){a->ndim, a->shape},
                              (dimensions){b->ndim, b->shape}, &c->match);
    if (status != GA_OK)
        return status;
    c->dtype = ga_result_type(a->dtype, b->dtype);
    status = ga__check_product_numbers(c->form->name, c->args, c->dtype);
    return status == GA_OK ? check_out(c) : status;
}

/* The first operand, or its conjugate, which the caller frees. */
static const gpuarray *first_operand(const call *c, gpuarray **conjugate)
{
    const gpuarray *a = c->args->a;
    const bool conjugates = c->form->conjugates && ga__dtype_kind(a->dtype) == 'c';
    *conjugate = conjugates ? ga_conj(a) : NULL;
    return conjugates ? *conjugate : a;
}

static gpuarray *product(const form *f, const ga_product_args *args)
{
    call c = {.form = f, .args = args};
    gpuarray *conjugate;
    if (prepare(&c) != GA_OK)
        return NULL;
    const gpuarray *a = first_operand(&c, &conjugate);
    if (!a)
        return NULL;
    gpuarray *out = args->out
                        ? args->out
                        : ga__array_new(f->name, c.device, c.dtype, c.match.ndim, c.match.shape);
    const ga__product_options options = {.name = f->name,
                                         .alpha = {args->alpha, args->alpha_imag},
                                         .beta = {args->beta, args->beta_imag},
                                         .tf32 = args->tf32};
    const ga_status status = out ? multiply(&options, &c.match, a, args->b, out) : ga_error();
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
    GA__CALL("matmul");
    return read_and_multiply(&any_form, size, args);
}

gpuarray *ga__dot_matrices(const ga_product_args *args)
{
    static const form dot = {.name = "dot", .any = true};
    return product(&dot, args);
}

gpuarray *(ga_matvec)(size_t size, const ga_product_args *args)
{
    GA__CALL("matvec");
    static const form matvec = {.name = "matvec", .b_vector = true};
    return read_and_multiply(&matvec, size, args);
}

gpuarray *(ga_vecmat)(size_t size, const ga_product_args *args)
{
    GA__CALL("vecmat");
    static const form vecmat = {.name = "vecmat", .a_vector = true, .conjugates = true};
    return read_and_multiply(&vecmat, size, args);
}
