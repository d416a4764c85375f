/* Adds a bias to a product and applies relu, in place. */
#include "kernels/product/product_finish.h"

#include "kernels/elementwise.h"
#include "kernels/request.h"

ga_status ga__product_finish(const ga__product *call)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(82), .name = "add", .body = "r = ga::add(a, b)"},
        {.id = GA__FORMULA_ID(83), .name = "relu", .body = "r = ga::maximum(a, ga_v0(0))"},
        {.id = GA__FORMULA_ID(84),
         .name = "add_relu",
         .body = "const ga_v0 t = ga::add(a, b);\nr = ga::maximum(t, ga_v0(0))"}};
    gpuarray *c = call->c;
    const ga__operand operands[] = {
        {.name = "r", .array = c, .type = call->type, .writes = true},
        {.name = "a", .array = c, .type = call->type, .reads = true},
        {.name = "b", .array = call->bias, .type = call->type, .reads = true}};
    const ga__formula *formula = &formulas[call->bias ? 2 * call->relu : 1];
    return ga__elementwise(formula, c->buffer->device, c->ndim, c->shape, call->bias ? 3 : 2,
                           operands);
}

bool ga__product_may_finish(const ga__device *device, ga_dtype type, bool bias)
{
    const ga__product_verbs *verbs = &device->backend->product;
    const ga__matrix_product product = {.type = type,
                                        .c_type = type,
                                        .bias = bias ? device : NULL,
                                        .relu = !bias,
                                        .m = 2,
                                        .n = 2,
                                        .k = 2,
                                        .places = 1};
    return verbs->multiply && ga__dtype_rounds(type) && verbs->takes(&product);
}
