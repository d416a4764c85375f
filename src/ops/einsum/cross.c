/* Cross products, and transposes of matrices. */
#include <quarry/einsum.h>

#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "ops/check_nan.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/gather.h"
#include "ops/reduction_op.h"

gpuarray *ga_matrix_transpose(const gpuarray *x)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "matrix_transpose: the array is NULL");
    if (x->ndim < 2)
        return ga__fail_null(GA_ERR_SHAPE,
                             "matrix_transpose: the array has %d dimensions, expected at least 2",
                             x->ndim);
    return ga_swapaxes(x, -1, -2);
}

/* Two operands of vectors. */
typedef struct call {
    const gpuarray *operand[2];
    int axis[2];
    int length[2]; /* of the vectors: 2 or 3 */
    ga_dtype type;
    ga__device *device;
    int ndim; /* of the other axes, which both broadcast to */
    int64_t shape[GA_MAX_NDIM];
    int result_axis; /* of the result's vectors; -1: they have one element */
    int result_ndim;
    int64_t result_shape[GA_MAX_NDIM];
} call;

/* The vectors (a, b, c) and (d, e, f) have the product (x, y, z). Each product of elements is
 * rounded by itself, as NumPy's: a vector and itself give 0. */
#define T(a, b) "ga::times(" #a ", " #b ")"
#define MINUS(a, b) a " - " b
#define LAST "z = " MINUS(T(a, e), T(b, d))
#define FORMULA(n, text)                                                                           \
    {                                                                                              \
        .id = GA__FAMILY_ID(GA__FAMILY_EINSUM, 1024 + (n)), .name = "cross", .body = text          \
    }
static const ga__formula formulas[2][2] = {
    {FORMULA(0, LAST), FORMULA(1, "x = " T(b, f) "; y = -" T(a, f) "; " LAST)},
    {FORMULA(2, "x = -" T(c, e) "; y = " T(c, d) "; " LAST),
     FORMULA(3, "x = " MINUS(T(b, f), T(c, e)) "; y = " MINUS(T(c, d), T(a, f)) "; " LAST)}};

static ga_status read_operands(const ga_vector_args *args, call *c)
{
    c->operand[0] = args->a;
    c->operand[1] = args->b;
    const ga_value values[] = {ga_value_array(args->a), ga_value_array(args->b)};
    ga_status status = ga__one_axis("cross", args->naxes, args->axes);
    if (status == GA_OK)
        status = ga__check_values("cross", 2, values, &c->device);
    for (int k = 0; k < 2 && status == GA_OK; k++)
        status = ga__check_numeric("cross", values[k].as.array->dtype);
    for (int k = 0; k < 2 && status == GA_OK; k++) {
        const gpuarray *x = c->operand[k];
        status = ga__check_axis("cross", args->naxes ? args->axes[0] : -1, x->ndim, &c->axis[k]);
        if (status != GA_OK)
            break;
        c->length[k] = (int)x->shape[c->axis[k]];
        if (x->shape[c->axis[k]] != 2 && x->shape[c->axis[k]] != 3)
            status = ga__fail(GA_ERR_SHAPE,
                              "cross: axis %d of shape %s has %lld elements, expected "
                              "2 or 3",
                              c->axis[k], ga__shape_text(x->ndim, x->shape),
                              (long long)x->shape[c->axis[k]]);
    }
    if (status != GA_OK)
        return status;
    const ga__operand_type types[] = {{.dtype = args->a->dtype}, {.dtype = args->b->dtype}};
    ga_dtype loop[2];
    return ga__resolve("cross", "iufc", GA__RULE_SAME, 2, types, loop, &c->type);
}

/* x without its axis of vectors, at element k of it. */
static void see_element(const gpuarray *x, int axis, int k, ga__lens *lens)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int ndim = 0;
    for (int from = 0; from < x->ndim; from++)
        if (from != axis) {
            shape[ndim] = x->shape[from];
            strides[ndim++] = x->strides[from];
        }
    ga__lens_set_typed(lens, x, ndim, shape, strides, axis < 0 ? 0 : k * x->strides[axis]);
}

/* Broadcasts the other axes, and sets the shape of the result. */
static ga_status find_shape(const ga_vector_args *args, call *c)
{
    ga__lens other;
    c->ndim = 0;
    for (int k = 0; k < 2; k++) {
        see_element(c->operand[k], c->axis[k], 0, &other);
        if (!ga__broadcast_shape(&c->ndim, c->shape, other.array.ndim, other.shape))
            return ga__fail(
                GA_ERR_SHAPE, "cross: vectors of shapes %s and %s %s",
                ga__shape_text(c->ndim, c->shape), ga__shape_text(other.array.ndim, other.shape),
                ga__broadcast_problem(c->ndim, c->shape, other.array.ndim, other.shape));
    }
    c->result_axis = -1;
    c->result_ndim = c->ndim;
    memcpy(c->result_shape, c->shape, sizeof c->shape);
    if (c->length[0] == 2 && c->length[1] == 2)
        return GA_OK;
    c->result_ndim++;
    const int axis = args->naxes ? args->axes[0] : -1;
    c->result_axis = axis < 0 ? axis + c->result_ndim : axis;
    for (int k = 0, from = 0; k < c->result_ndim; k++)
        c->result_shape[k] = k == c->result_axis ? 3 : c->shape[from++];
    return GA_OK;
}

static ga_status multiply(const call *c, gpuarray *out)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"}, *const results[] = {"x", "y",
                                                                                           "z"};
    ga__lens lens[9];
    ga__operand operands[9];
    int n = 0;
    if (out->size == 0)
        return GA_OK;
    for (int k = c->result_axis < 0 ? 2 : 0; k < 3; k++, n++) {
        see_element(out, c->result_axis, k, &lens[n]);
        operands[n] = (ga__operand){
            .name = results[k], .array = &lens[n].array, .type = c->type, .writes = true};
    }
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < c->length[side]; k++, n++) {
            see_element(c->operand[side], c->axis[side], k, &lens[n]);
            operands[n] = (ga__operand){.name = names[3 * side + k],
                                        .array = &lens[n].array,
                                        .type = c->type,
                                        .reads = true};
        }
    return ga__elementwise(&formulas[c->length[0] - 2][c->length[1] - 2], c->device, c->ndim,
                           c->shape, n, operands);
}

/* Within a scope that owns what it makes, but for the result. */
static gpuarray *run(const call *c, gpuarray *out)
{
    const bool checks = ga__checks_nan(),
               apart = out && (checks || ga__arrays_overlap(out, c->operand[0]) ||
                               ga__arrays_overlap(out, c->operand[1]));
    gpuarray *made = out;
    if (!out || apart)
        made = ga__array_new("cross", c->device, c->type, c->result_ndim, c->result_shape);
    if (!made || multiply(c, made) != GA_OK)
        return NULL;
    ga__guard finite = GA__GUARD_INIT;
    for (int side = 0; side < 2 && checks; side++)
        ga__guard_add(&finite, c->operand[side]);
    if (checks && ga__check_elements("cross", made, &finite, 0, NULL, NULL) != GA_OK)
        return NULL;
    if (apart)
        return ga__array_copy_into(out, made) == GA_OK ? out : NULL;
    return made;
}

gpuarray *(ga_cross)(size_t size, const ga_vector_args *given)
{
    GA__CALL("cross");
    ga_vector_args args;
    call c;
    if (ga__options_read("cross", &args, sizeof args, given, size) != GA_OK ||
        read_operands(&args, &c) != GA_OK || find_shape(&args, &c) != GA_OK)
        return NULL;
    if (args.out && ga__check_reduced_out("cross", args.a, c.type, c.result_ndim, c.result_shape,
                                          args.out) != GA_OK)
        return NULL;
    ga_scope_begin();
    gpuarray *result = run(&c, args.out);
    if (result != args.out)
        ga_keep(result);
    ga_scope_end();
    return result;
}
