/* Products of one row and a matrix: sums of a * b, one pass of the reduction engine. */
#include "kernels/product/product_rows.h"

#include "kernels/reduce.h"
#include "model/rows.h"

typedef ga__product_plan plan;
typedef ga__product_operand operand;

typedef struct layout {
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
} layout;

/* An array over an operand's memory, with the axes of the stack, then n, then k. */
static gpuarray view_of(const plan *p, const operand *o, int64_t along_n, int64_t along_k,
                        bool has_k, layout *l)
{
    const int64_t size = (int64_t)ga__dtype_size(o->array->dtype);
    gpuarray x = *o->array;
    for (int axis = 0; axis < p->axes; axis++) {
        l->shape[axis] = p->length[p->axes - 1 - axis];
        l->strides[axis] = o->stack[p->axes - 1 - axis] * size;
    }
    l->shape[p->axes] = p->n;
    l->strides[p->axes] = along_n * size;
    l->shape[p->axes + 1] = p->k;
    l->strides[p->axes + 1] = along_k * size;
    x.ndim = p->axes + 1 + has_k;
    x.shape = l->shape;
    x.strides = l->strides;
    x.size = p->places * p->n * (has_k ? p->k : 1);
    x.contiguous = ga__is_contiguous(x.ndim, x.shape, x.strides, size);
    return x;
}

ga_status ga__product_by_rows(const plan *p)
{
    layout layouts[3];
    const ga_dtype type = p->call->type;
    const gpuarray a = view_of(p, &p->a, 0, p->a.column, true, &layouts[0]),
                   b = view_of(p, &p->b, p->b.column, p->b.row, true, &layouts[1]);
    gpuarray c = view_of(p, &p->c, p->c.column, 0, false, &layouts[2]);
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
