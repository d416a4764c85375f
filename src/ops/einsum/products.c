/* Products of two arrays that are sums of products: tensordot, vecdot, vdot, inner, outer, kron. */
#include <quarry/array.h>
#include <quarry/einsum.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "ops/einsum/contraction.h"
#include "ops/elementwise_op.h"
#include "ops/join/join.h"

/* A contraction of two arrays in their common dtype, without operands so far. NULL on failure. */
static ga__contraction *begin(const char *name, const gpuarray *a, const gpuarray *b)
{
    const gpuarray *const arrays[] = {a, b};
    const ga_value values[] = {ga_value_array(a), ga_value_array(b)};
    ga__device *device;
    if (ga__check_values(name, 2, values, &device) != GA_OK ||
        ga__check_numeric(name, a->dtype) != GA_OK || ga__check_numeric(name, b->dtype) != GA_OK)
        return NULL;
    const ga_dtype dtype = ga__common_dtype(name, 2, arrays);
    return dtype == GA_NO_DTYPE ? NULL : ga__contraction_new(name, device, dtype, 2);
}

static gpuarray *fail(ga__contraction *c)
{
    ga__free(c);
    return NULL;
}

/* ---- Pairs of axes ---- */

/* Sums over pairs of axes: other[k] of b belongs to axes[k] of `a`. */
typedef struct pairs {
    int count;
    int axes[GA_MAX_NDIM], other[GA_MAX_NDIM];
} pairs;

/* Adds both, and keeps all other axes. Frees `c`. */
static gpuarray *contract_pairs(ga__contraction *c, const gpuarray *a, const gpuarray *b,
                                const pairs *p, gpuarray *out)
{
    int label[2][GA_MAX_NDIM], labels = a->ndim;
    bool summed[2][GA_MAX_NDIM] = {{false}};
    for (int axis = 0; axis < a->ndim; axis++)
        label[0][axis] = axis;
    for (int k = 0; k < p->count; k++) {
        label[1][p->other[k]] = p->axes[k];
        summed[0][p->axes[k]] = summed[1][p->other[k]] = true;
    }
    for (int axis = 0; axis < b->ndim; axis++)
        if (!summed[1][axis])
            label[1][axis] = labels++;
    const int ndim = a->ndim + b->ndim - 2 * p->count;
    if (ndim > GA_MAX_NDIM) {
        ga__fail(GA_ERR_INVALID, "%s: the result has %d axes, more than %d", c->name, ndim,
                 GA_MAX_NDIM);
        return fail(c);
    }
    for (int k = 0; k < 2; k++) {
        const gpuarray *x = k ? b : a;
        ga__contraction_add(c, x, label[k]);
        for (int axis = 0; axis < x->ndim; axis++)
            if (!summed[k][axis])
                ga__contraction_keep(c, label[k][axis]);
    }
    return ga__contract(c, out);
}

/* Sets the list to some axes of x, none twice; `first` is the first of an unlisted range. */
static ga_status read_axes(const gpuarray *x, const char *which, int count, const int *axes,
                           int first, int *list)
{
    uint32_t set = 0;
    for (int k = 0; k < count; k++) {
        if (ga__check_axis("tensordot", axes ? axes[k] : first + k, x->ndim, &list[k]) != GA_OK)
            return ga_error();
        if (set >> list[k] & 1)
            return ga__fail(GA_ERR_INVALID, "tensordot: axis %d of the %s array is given twice",
                            list[k], which);
        set |= (uint32_t)1 << list[k];
    }
    return GA_OK;
}

static ga_status read_pairs(const ga_tensordot_args *args, pairs *p)
{
    const gpuarray *a = args->a, *b = args->b;
    const bool listed = args->axes || args->other;
    p->count = args->naxes;
    if (listed && (!args->axes || !args->other || args->naxes != args->nother))
        return ga__fail(GA_ERR_INVALID,
                        "tensordot: %d axes of the first array, but %d of the second", args->naxes,
                        args->nother);
    if (args->naxes < 0 || args->naxes > a->ndim || args->naxes > b->ndim)
        return ga__fail(
            GA_ERR_INVALID, "tensordot: cannot sum over %d axes of arrays of shapes %s and %s",
            args->naxes, ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape));
    ga_status status = read_axes(a, "first", p->count, args->axes, a->ndim - args->naxes, p->axes);
    if (status == GA_OK)
        status = read_axes(b, "second", p->count, args->other, 0, p->other);
    for (int k = 0; k < p->count && status == GA_OK; k++) {
        const int64_t length = a->shape[p->axes[k]], other = b->shape[p->other[k]];
        if (length != other)
            return ga__fail(GA_ERR_SHAPE,
                            "tensordot: axis %d of %s has length %lld, axis %d of %s "
                            "%lld",
                            p->axes[k], ga__shape_text(a->ndim, a->shape), (long long)length,
                            p->other[k], ga__shape_text(b->ndim, b->shape), (long long)other);
    }
    return status;
}

gpuarray *(ga_tensordot)(size_t size, const ga_tensordot_args *given)
{
    GA__CALL("tensordot");
    ga_tensordot_args args;
    pairs p;
    if (ga__options_read("tensordot", &args, sizeof args, given, size) != GA_OK)
        return NULL;
    ga__contraction *c = begin("tensordot", args.a, args.b);
    if (!c || read_pairs(&args, &p) != GA_OK)
        return fail(c);
    return contract_pairs(c, args.a, args.b, &p, args.out);
}

gpuarray *ga_inner(const gpuarray *a, const gpuarray *b)
{
    GA__CALL("inner");
    ga__contraction *c = begin("inner", a, b);
    if (!c)
        return NULL;
    const bool scalar = a->ndim == 0 || b->ndim == 0;
    const pairs p = {.count = !scalar, .axes = {a->ndim - 1}, .other = {b->ndim - 1}};
    if (!scalar && a->shape[a->ndim - 1] != b->shape[b->ndim - 1]) {
        ga__fail(GA_ERR_SHAPE, "inner: the last axes of shapes %s and %s differ",
                 ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape));
        return fail(c);
    }
    return contract_pairs(c, a, b, &p, NULL);
}

/* ---- Along one axis ---- */

/* Labels the axes but one, `axis`, from the last one on as 1, 2, ...; that one is 0. */
static void label_others(const gpuarray *x, int axis, int *labels)
{
    for (int k = x->ndim - 1, next = 1; k >= 0; k--)
        labels[k] = k == axis ? 0 : next++;
}

gpuarray *(ga_vecdot)(size_t size, const ga_vector_args *given)
{
    GA__CALL("vecdot");
    ga_vector_args args;
    int axis[2], labels[GA_MAX_NDIM];
    if (ga__options_read("vecdot", &args, sizeof args, given, size) != GA_OK ||
        ga__one_axis("vecdot", args.naxes, args.axes) != GA_OK)
        return NULL;
    ga__contraction *c = begin("vecdot", args.a, args.b);
    if (!c)
        return NULL;
    const gpuarray *const operands[] = {args.a, args.b};
    for (int k = 0; k < 2; k++)
        if (ga__check_axis("vecdot", args.naxes ? args.axes[0] : -1, operands[k]->ndim, &axis[k]) !=
            GA_OK)
            return fail(c);
    bool fits = args.a->shape[axis[0]] == args.b->shape[axis[1]];
    for (int k = 0; k < 2; k++) {
        label_others(operands[k], axis[k], labels);
        fits = ga__contraction_add(c, operands[k], labels) < 0 && fits;
    }
    if (!fits) {
        ga__fail(GA_ERR_SHAPE, "vecdot: shapes %s and %s do not match along axes %d and %d",
                 ga__shape_text(args.a->ndim, args.a->shape),
                 ga__shape_text(args.b->ndim, args.b->shape), axis[0], axis[1]);
        return fail(c);
    }
    c->conjugates = ga__dtype_kind(c->type) == 'c';
    for (int k = (args.a->ndim > args.b->ndim ? args.a : args.b)->ndim - 1; k > 0; k--)
        ga__contraction_keep(c, k);
    return ga__contract(c, args.out);
}

/* ---- All elements ---- */

gpuarray *ga_vdot(const gpuarray *a, const gpuarray *b)
{
    GA__CALL("vdot");
    int labels[GA_MAX_NDIM];
    ga__contraction *c = begin("vdot", a, b);
    if (!c)
        return NULL;
    if (a->size != b->size) {
        ga__fail(GA_ERR_SHAPE,
                 "vdot: the arrays have %lld and %lld elements, expected equal numbers",
                 (long long)a->size, (long long)b->size);
        return fail(c);
    }
    /* Arrays of one shape need no copies, whatever their layouts. */
    const bool alike = ga__same_shape(a->ndim, a->shape, b->ndim, b->shape);
    gpuarray *x = alike ? ga_retain((gpuarray *)a) : ga_ravel(a),
             *y = !x      ? NULL
                  : alike ? ga_retain((gpuarray *)b)
                          : ga_ravel(b),
             *result = NULL;
    for (int axis = 0; y && axis < y->ndim; axis++)
        labels[axis] = axis;
    c->conjugates = ga__dtype_kind(c->type) == 'c';
    if (y) {
        ga__contraction_add(c, x, labels);
        ga__contraction_add(c, y, labels);
        result = ga__contract(c, NULL);
    } else {
        ga__free(c);
    }
    ga_free(y);
    ga_free(x);
    return result;
}

gpuarray *(ga_outer)(size_t size, const ga_outer_args *given)
{
    GA__CALL("outer");
    ga_outer_args args;
    if (ga__options_read("outer", &args, sizeof args, given, size) != GA_OK)
        return NULL;
    ga__contraction *c = begin("outer", args.a, args.b);
    gpuarray *x = c ? ga_ravel(args.a) : NULL, *y = x ? ga_ravel(args.b) : NULL, *result = NULL;
    if (y)
        result = contract_pairs(c, x, y, &(pairs){.count = 0}, args.out);
    else
        ga__free(c);
    ga_free(y);
    ga_free(x);
    return result;
}

/* ---- Blocks ---- */

/* Adds an array whose last axis has label `last`, the others each two less. */
static void add_blocks(ga__contraction *c, const gpuarray *x, int last)
{
    int labels[GA_MAX_NDIM];
    for (int axis = 0; axis < x->ndim; axis++)
        labels[axis] = last - 2 * (x->ndim - 1 - axis);
    ga__contraction_add(c, x, labels);
}

/* Keeps the labels of more than one element, in order. False if they are too many. */
static bool keep_long(ga__contraction *c, int labels)
{
    for (int label = 0; label < labels; label++)
        if (c->length[label] != 1) {
            if (c->ndim == GA_MAX_NDIM)
                return false;
            ga__contraction_keep(c, label);
        }
    return true;
}

gpuarray *ga_kron(const gpuarray *a, const gpuarray *b)
{
    GA__CALL("kron");
    int64_t shape[GA_MAX_NDIM];
    ga__contraction *c = begin("kron", a, b);
    if (!c)
        return NULL;
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    add_blocks(c, a, 2 * ndim - 2);
    add_blocks(c, b, 2 * ndim - 1);
    for (int axis = 0; axis < ndim; axis++)
        if (__builtin_mul_overflow(c->length[2 * axis], c->length[2 * axis + 1], &shape[axis])) {
            ga__fail(GA_ERR_SHAPE, "kron: the result of shapes %s and %s has too many elements",
                     ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape));
            return fail(c);
        }
    if (!keep_long(c, 2 * ndim)) {
        ga__fail(GA_ERR_INVALID, "kron: the blocks of shapes %s and %s have more than %d axes",
                 ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape), GA_MAX_NDIM);
        return fail(c);
    }
    gpuarray *blocks = ga__contract(c, NULL),
             *result = blocks ? ga_reshape(blocks, ndim, shape) : NULL;
    ga_free(blocks);
    return result;
}
