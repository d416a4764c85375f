/* Products of one row and a matrix are sums of a * b, one pass of the reduction engine. Products of
 * one column and one row have one term in each sum: the elementwise engine multiplies them. */
#include "kernels/product/product_engines.h"

#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "model/rows.h"

typedef ga__product_plan plan;
typedef ga__product_operand operand;

typedef struct layout {
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
} layout;

typedef struct axis {
    int64_t length, stride; /* in elements */
} axis;

/* An array over an operand's memory, with the axes of the stack, then `count` others. */
static gpuarray view_of(const plan *p, const operand *o, int count, const axis *others, layout *l)
{
    const int64_t size = (int64_t)ga__dtype_size(o->array->dtype);
    gpuarray x = *o->array;
    x.ndim = p->axes + count;
    x.shape = l->shape;
    x.strides = l->strides;
    x.size = 1;
    for (int k = 0; k < x.ndim; k++) {
        const int at = p->axes - 1 - k;
        l->shape[k] = at >= 0 ? p->length[at] : others[k - p->axes].length;
        l->strides[k] = (at >= 0 ? o->stack[at] : others[k - p->axes].stride) * size;
        x.size *= l->shape[k];
    }
    x.contiguous = ga__is_contiguous(x.ndim, x.shape, x.strides, size);
    return x;
}

ga_status ga__product_by_rows(const plan *p)
{
    layout layouts[3];
    const ga_dtype type = p->call->type;
    const gpuarray a = view_of(p, &p->a, 2, (axis[]){{p->n, 0}, {p->k, p->a.column}}, &layouts[0]),
                   b = view_of(p, &p->b, 2, (axis[]){{p->n, p->b.column}, {p->k, p->b.row}},
                               &layouts[1]);
    gpuarray c = view_of(p, &p->c, 1, &(axis){p->n, p->c.column}, &layouts[2]);
    const ga__row *row = &ga__rows[GA__ROW_dot];
    const ga__reduction reduction = {
        .formula = {.base = {.id = row->formula.id, .name = row->formula.name, .body = ""},
                    .map = "return {ga::multiply(x, y)}",
                    .nparts = 1,
                    .parts = {&row->part},
                    .nresults = 1,
                    .results = {"ga_finish0(a)"}},
        .type = {type}};
    const ga__operand operands[] = {{.name = "x", .array = &a, .type = type, .reads = true},
                                    {.name = "y", .array = &b, .type = type, .reads = true}};
    bool reduced[GA_MAX_NDIM] = {false};
    reduced[p->axes + 1] = true;
    return ga__reduce(&reduction, p->device, a.ndim, a.shape, reduced, 2, operands,
                      (gpuarray *const[]){&c});
}

/* A sum begins with 0, so that no product is -0. */
ga_status ga__product_by_elements(const plan *p)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(85),
                                        .name = "matmul",
                                        .body = "r = ga::add(ga::multiply(a, b), ga_v0(0))"};
    layout layouts[3];
    const ga_dtype type = p->call->type;
    const gpuarray a = view_of(p, &p->a, 2, (axis[]){{p->m, p->a.row}, {p->n, 0}}, &layouts[0]),
                   b = view_of(p, &p->b, 2, (axis[]){{p->m, 0}, {p->n, p->b.column}}, &layouts[1]);
    gpuarray c = view_of(p, &p->c, 2, (axis[]){{p->m, p->c.row}, {p->n, p->c.column}}, &layouts[2]);
    const ga__operand operands[] = {{.name = "r", .array = &c, .type = type, .writes = true},
                                    {.name = "a", .array = &a, .type = type, .reads = true},
                                    {.name = "b", .array = &b, .type = type, .reads = true}};
    return ga__elementwise(&formula, p->device, c.ndim, c.shape, 3, operands);
}
