/* Builds sums of products, and runs their steps. */
#include "ops/einsum/contraction.h"

#include <assert.h>
#include <string.h>

#include "array/scope.h"
#include "base/alloc.h"
#include "base/error.h"
#include "ops/check_nan.h"
#include "ops/convert.h"
#include "ops/reduction_op.h"

/* ---- Building ---- */

ga__contraction *ga__contraction_new(const char *name, ga__device *device, ga_dtype type,
                                     int noperands)
{
    const size_t room = 3 * (size_t)noperands;
    ga__contraction *c = ga__malloc(sizeof *c + room * (sizeof(ga__term) + sizeof(ga__step)));
    if (!c)
        return NULL;
    assert(noperands <= GA__MAX_TERMS);
    const bool narrow = ga__dtype_kind(type) == 'f' && ga__dtype_size(type) == 1;
    *c = (ga__contraction){
        .name = name, .device = device, .type = type, .wide = narrow ? GA_FLOAT32 : type};
    c->term = (ga__term *)(c + 1);
    c->step = (ga__step *)(c->term + room);
    for (int label = 0; label < GA__MAX_LABELS; label++)
        c->length[label] = 1;
    return c;
}

/* Gives the term an axis, or makes the axis with this label a diagonal. */
static void add_axis(ga__term *term, int label, int64_t stride)
{
    int k = 0;
    while (k < term->ndim && term->label[k] != label)
        k++;
    if (k < term->ndim) {
        term->strides[k] += stride;
        return;
    }
    term->labels |= ga__label_bit(label);
    term->label[k] = label;
    term->strides[k] = stride;
    term->ndim++;
}

int ga__contraction_add(ga__contraction *c, const gpuarray *x, const int *labels)
{
    ga__term *term = &c->term[c->noperands++];
    *term = (ga__term){.array = x};
    for (int axis = 0; axis < x->ndim; axis++) {
        const int64_t length = x->shape[axis], elsewhere = c->length[labels[axis]];
        for (int k = 0; k < axis; k++)
            if (labels[k] == labels[axis] && x->shape[k] != length)
                return axis;
        if (length == 1)
            continue;
        if (elsewhere != 1 && elsewhere != length)
            return axis;
        c->length[labels[axis]] = length;
        add_axis(term, labels[axis], x->strides[axis]);
    }
    return -1;
}

void ga__contraction_keep(ga__contraction *c, int label)
{
    c->label[c->ndim++] = label;
}

void ga__contraction_shape(const ga__contraction *c, int64_t *shape)
{
    for (int axis = 0; axis < c->ndim; axis++)
        shape[axis] = c->length[c->label[axis]];
}

/* ---- Running ---- */

/* The result as a term. */
static ga__term term_of(const ga__contraction *c, const gpuarray *out)
{
    ga__term term = {.array = out};
    for (int axis = 0; axis < c->ndim; axis++)
        if (out->shape[axis] != 1)
            add_axis(&term, c->label[axis], out->strides[axis]);
    return term;
}

/* Gives a step's result memory: the axes that its largest term has come first, in their order. */
static gpuarray *make_between(const ga__contraction *c, const ga__step *step, ga__term *result)
{
    int64_t shape[GA_MAX_NDIM];
    uint64_t left = step->labels;
    *result = (ga__term){0};
    for (int k = 0; k < step->count; k++) {
        const ga__term *term = &c->term[step->term[k]];
        for (int axis = 0; axis < term->ndim; axis++) {
            const uint64_t bit = ga__label_bit(term->label[axis]);
            if (!(left & bit))
                continue;
            if (result->ndim == GA_MAX_NDIM)
                return ga__fail_null(GA_ERR_INVALID, "%s: more than %d axes at once", c->name,
                                     GA_MAX_NDIM);
            left &= ~bit;
            shape[result->ndim] = c->length[term->label[axis]];
            add_axis(result, term->label[axis], 0);
        }
    }
    gpuarray *array = ga__array_new(c->name, c->device, c->wide, result->ndim, shape);
    if (array)
        memcpy(result->strides, array->strides, sizeof(int64_t) * (size_t)result->ndim);
    result->array = array;
    return array;
}

/* Frees what earlier steps made for this one. */
static void drop_terms(ga__contraction *c, const ga__step *step)
{
    for (int k = 0; k < step->count; k++) {
        ga__term *term = &c->term[step->term[k]];
        if (step->term[k] < c->noperands)
            continue;
        ga_free((gpuarray *)term->array);
        term->array = NULL;
    }
}

/* Runs all steps, the last one into `out`. */
static ga_status run(ga__contraction *c, gpuarray *out)
{
    const int last = c->nterms - 1;
    ga_status status = GA_OK;
    for (int k = c->noperands; k <= last; k++)
        c->term[k].array = NULL;
    for (int k = c->noperands; k <= last && status == GA_OK; k++) {
        if (c->step[k].count == 0)
            continue;
        if (k == last)
            c->term[k] = term_of(c, out);
        else if (!make_between(c, &c->step[k], &c->term[k]))
            status = ga_error();
        if (status == GA_OK)
            status = (c->step[k].matrices ? ga__multiply_matrices
                                          : ga__multiply_terms)(c, &c->step[k], &c->term[k]);
        drop_terms(c, &c->step[k]);
    }
    for (int k = c->noperands; k < last; k++)
        ga_free((gpuarray *)c->term[k].array);
    return status;
}

static bool overlaps_operand(const ga__contraction *c, const gpuarray *out)
{
    for (int k = 0; k < c->noperands; k++)
        if (ga__arrays_overlap(out, c->term[k].array))
            return true;
    return false;
}

/* The result in a new array. NULL on failure. */
static gpuarray *run_new(ga__contraction *c, const int64_t *shape)
{
    gpuarray *out = ga__array_new(c->name, c->device, c->type, c->ndim, shape);
    if (!out || run(c, out) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* The result in `out`, which may share memory with operands. */
static gpuarray *run_into(ga__contraction *c, const int64_t *shape, gpuarray *out, bool apart)
{
    if (!apart)
        return run(c, out) == GA_OK ? out : NULL;
    gpuarray *made = run_new(c, shape);
    const ga_status status = made ? ga__array_copy_into(out, made) : ga_error();
    ga_free(made);
    return status == GA_OK ? out : NULL;
}

/* With a check, before `out` changes. */
__attribute__((noinline, cold)) static gpuarray *run_checked(ga__contraction *c,
                                                             const int64_t *shape, gpuarray *out)
{
    ga__check_begin();
    ga__guard finite = GA__GUARD_INIT;
    for (int k = 0; k < c->noperands; k++)
        ga__guard_add(&finite, c->term[k].array);
    gpuarray *result = run_new(c, shape);
    if (result && ga__check_elements(c->name, result, &finite, 0, NULL, NULL) != GA_OK)
        result = NULL; /* the scope frees it */
    if (result && out)
        result = ga__array_copy_into(out, result) == GA_OK ? out : NULL;
    else
        ga_keep(result);
    ga__check_end();
    return result;
}

gpuarray *ga__contract(ga__contraction *c, gpuarray *out)
{
    int64_t shape[GA_MAX_NDIM];
    gpuarray *result = NULL;
    ga__contraction_shape(c, shape);
    if (!out ||
        ga__check_reduced_out(c->name, c->term[0].array, c->type, c->ndim, shape, out) == GA_OK) {
        ga__contraction_plan(c);
        if (ga__checks_nan())
            result = run_checked(c, shape, out);
        else if (out)
            result = run_into(c, shape, out, overlaps_operand(c, out));
        else
            result = run_new(c, shape);
    }
    ga__free(c);
    return result;
}

gpuarray *ga__contract_or_view(ga__contraction *c)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    const ga__term *term = &c->term[0];
    if (c->noperands > 1 || term->labels != ga__kept_labels(c) || term->array->dtype != c->type)
        return ga__contract(c, NULL);
    ga__contraction_shape(c, shape);
    for (int axis = 0; axis < c->ndim; axis++) {
        strides[axis] = 0;
        for (int k = 0; k < term->ndim; k++)
            if (term->label[k] == c->label[axis])
                strides[axis] = term->strides[k];
    }
    gpuarray *view = ga__array_view(term->array, c->type, c->ndim, shape, strides, 0);
    ga__free(c);
    return view;
}
