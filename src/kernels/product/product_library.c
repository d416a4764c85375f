/* Decides whether the device's library multiplies, and calls it for each part of a stack. */
#include "kernels/product/product_library.h"

#include "base/error.h"
#include "kernels/elementwise.h"
#include "kernels/product/product_costs.h"
#include "kernels/request.h"

typedef ga__product_plan plan;
typedef ga__product_operand operand;

#define COPY_PAYS 16                /* multiplications for each element that would be copied */
#define FASTER_IN_LANES (6 * 6 * 6) /* host: multiplications of a product */

ga_status ga__product_copy(gpuarray *to, const gpuarray *from)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(81), .name = "copy", .body = "r = a", .copies = true};
    const ga__operand operands[] = {
        {.name = "r", .array = to, .type = from->dtype, .writes = true},
        {.name = "a", .array = from, .type = from->dtype, .reads = true}};
    return ga__elementwise(&formula, to->buffer->device, to->ndim, to->shape, 2, operands);
}

/* Whether rows of the matrices lie one after another, or columns do. */
static bool read_matrix(const plan *p, const operand *o, int64_t rows, int64_t columns,
                        ga__matrix *matrix)
{
    *matrix = (ga__matrix){.memory = o->array->data, .stack = p->axes > 0 ? o->stack[0] : 0};
    for (int axis = 0; axis < p->axes; axis++)
        if (o->stack[axis] < 0)
            return false;
    if ((o->column == 1 || columns == 1) && (rows == 1 || o->row >= columns)) {
        matrix->pitch = rows == 1 ? columns : o->row;
        return true;
    }
    matrix->transposed = true;
    matrix->pitch = columns == 1 ? rows : o->column;
    return (o->row == 1 || rows == 1) && (columns == 1 || o->column >= rows);
}

/* Sums of 8 bits are in float: GPUs multiply them as bfloat16, which holds them exactly. */
static void choose_types(const plan *p, ga__product_fit *fit)
{
    const ga_dtype type = p->call->type;
    const bool widens =
        !ga__on_host(p->device) && ga__dtype_size(type) == 1 && ga__dtype_rounds(type);
    fit->type = widens ? GA_BFLOAT16 : type;
    fit->c_type = widens ? GA_FLOAT32 : type;
}

static ga__matrix_product describe(const plan *p, ga__product_fit *fit)
{
    ga__matrix_product product = {.m = p->m,
                                  .n = p->n,
                                  .k = p->k,
                                  .places = p->axes > 0 ? p->length[0] : 1,
                                  .type = fit->type,
                                  .c_type = fit->c_type,
                                  .alpha = ga__product_alpha(p->call),
                                  .beta = p->call->beta,
                                  .tf32 = p->call->tf32,
                                  .bias = p->call->bias ? p->call->bias->data : NULL,
                                  .relu = p->call->relu};
    fit->a = read_matrix(p, &p->a, p->m, p->k, &product.a) && p->a.array->dtype == fit->type;
    fit->b = read_matrix(p, &p->b, p->k, p->n, &product.b) && p->b.array->dtype == fit->type;
    fit->c = read_matrix(p, &p->c, p->m, p->n, &product.c) && !product.c.transposed &&
             p->c.array->dtype == fit->c_type;
    return product;
}

static bool copies_pay(const plan *p, const ga__product_fit *fit)
{
    return (fit->a || p->n >= COPY_PAYS) && (fit->b || p->m >= COPY_PAYS) &&
           (fit->c || p->k >= COPY_PAYS);
}

bool ga__product_needs_no_library(plan *p)
{
    if (!ga__product_is_little(p))
        return false;
    if (ga__on_host(p->device))
        return p->m * p->n * p->k <= FASTER_IN_LANES;
    ga__product_plan_tiles(p);
    return ga__product_teams_are_faster(p);
}

bool ga__product_fits(plan *p, ga__product_fit *fit)
{
    const ga__product_verbs *verbs = &p->device->backend->product;
    if (!verbs->multiply || p->k == 0 || !ga__dtype_rounds(p->call->type))
        return false;
    if (ga__product_needs_no_library(p))
        return false;
    choose_types(p, fit);
    const ga__matrix_product product = describe(p, fit);
    return copies_pay(p, fit) && verbs->takes(&product);
}

bool ga__product_finishes(const plan *p, const ga__product_fit *fit)
{
    const gpuarray *bias = p->call->bias;
    return fit->c && !p->turned &&
           (!bias || (bias->ndim == 1 && bias->shape[0] == p->n && bias->contiguous &&
                      bias->dtype == fit->c_type));
}

/* One call for all places along axis 0 of the stack; the others take turns. */
ga_status ga__product_by_library(const plan *p, const ga__product_fit *fit)
{
    ga__product_fit again = *fit;
    ga__matrix_product product = describe(p, &again);
    ga__stream *stream = ga__product_stream(p);
    ga_status status = stream ? GA_OK : ga_error();
    const int64_t turns = p->places / product.places;
    for (int64_t turn = 0; turn < turns && status == GA_OK; turn++) {
        int64_t rest = turn, a = 0, b = 0, c = 0;
        for (int axis = 1; axis < p->axes; axis++) {
            const int64_t at = rest % p->length[axis];
            rest /= p->length[axis];
            a += at * p->a.stack[axis];
            b += at * p->b.stack[axis];
            c += at * p->c.stack[axis];
        }
        product.a.memory = p->a.array->data + a * (int64_t)ga__dtype_size(fit->type);
        product.b.memory = p->b.array->data + b * (int64_t)ga__dtype_size(fit->type);
        product.c.memory = p->c.array->data + c * (int64_t)ga__dtype_size(fit->c_type);
        status = p->device->backend->product.multiply(stream, &product);
    }
    return status;
}
