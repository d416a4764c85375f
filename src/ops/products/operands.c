/* Views of a product's operands, and the call of the engine. */
#include "ops/products/operands.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "kernels/product/product.h"
#include "ops/check_nan.h"

typedef ga__product_view view;

void ga__product_view_of(view *v, const gpuarray *x)
{
    v->base = x;
    v->ndim = x->ndim;
    memcpy(v->shape, x->shape, (size_t)x->ndim * sizeof *v->shape);
    memcpy(v->strides, x->strides, (size_t)x->ndim * sizeof *v->strides);
}

void ga__product_view_insert(view *v, int at)
{
    const size_t above = (size_t)(v->ndim - at);
    assert(v->ndim < GA_MAX_NDIM);
    memmove(v->shape + at + 1, v->shape + at, above * sizeof *v->shape);
    memmove(v->strides + at + 1, v->strides + at, above * sizeof *v->strides);
    v->shape[at] = 1;
    v->strides[at] = 0;
    v->ndim++;
}

/* An array that looks as the view does. It is never freed. */
static gpuarray array_of(const view *v)
{
    gpuarray x = *v->base;
    x.ndim = v->ndim;
    x.shape = (int64_t *)v->shape;
    x.strides = (int64_t *)v->strides;
    x.contiguous = ga__is_contiguous(x.ndim, x.shape, x.strides, (int64_t)ga__dtype_size(x.dtype));
    return x;
}

/* The operands' elements before `out`, which may overlap them, changes. */
static bool is_finite(const view *a, const view *b)
{
    return ga__check_finite(a->base) && ga__check_finite(b->base);
}

ga_status ga__multiply_views(const ga__product_options *options, const view *a, const view *b,
                             const view *out)
{
    const gpuarray left = array_of(a), right = array_of(b);
    gpuarray result = array_of(out);
    const bool checks = ga__checks_nan() && is_finite(a, b) &&
                        (options->beta == 0 || ga__check_finite(out->base)) &&
                        (!options->bias || ga__check_finite(options->bias));
    const ga__product product = {.name = options->name,
                                 .a = &left,
                                 .b = &right,
                                 .c = &result,
                                 .type = ga_result_type(left.dtype, right.dtype),
                                 .alpha = options->alpha,
                                 .beta = options->beta,
                                 .tf32 = options->tf32,
                                 .bias = options->bias,
                                 .relu = options->relu};
    const ga_status status = ga__product_run(&product);
    if (status == GA_OK && checks && !ga__check_finite(out->base))
        return ga__fail(GA_ERR_INVALID,
                        "%s: NaN or infinity in the result of shape %s, from finite operands",
                        options->name, ga__shape_text(out->base->ndim, out->base->shape));
    return status;
}
