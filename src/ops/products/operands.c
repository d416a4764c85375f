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

/* With a check. `out` may overlap the operands, which count as they are before. */
__attribute__((noinline, cold)) static ga_status
multiply_checked(const ga__product_options *options, const view *a, const view *b, const view *out)
{
    ga__guard finite = GA__GUARD_INIT;
    ga__check_begin();
    ga__guard_add(&finite, a->base);
    ga__guard_add(&finite, b->base);
    if (!ga__factor_is(options->beta, 0))
        ga__guard_add(&finite, out->base);
    if (options->bias)
        ga__guard_add(&finite, options->bias);
    ga_status status = ga__multiply_views(options, a, b, out);
    if (status == GA_OK)
        status = ga__check_elements(options->name, out->base, &finite, 0, NULL, NULL);
    ga__check_end();
    return status;
}

ga_status ga__multiply_views(const ga__product_options *options, const view *a, const view *b,
                             const view *out)
{
    const gpuarray left = array_of(a), right = array_of(b);
    gpuarray result = array_of(out);
    if (ga__checks_nan())
        return multiply_checked(options, a, b, out);
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
    return ga__product_run(&product);
}
