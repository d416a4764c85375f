/* One kernel of a sum of products: all factors at once, without their product in memory. */
#include <stdio.h>

#include "base/error.h"
#include "kernels/reduce.h"
#include "ops/einsum/contraction.h"
#include "ops/functions/parts.h"
#include "ops/index/gather.h"

/* The loops: the result's labels in its order, then those that are summed. */
typedef struct loops {
    int ndim, kept;
    int label[GA_MAX_NDIM];
    int64_t shape[GA_MAX_NDIM];
} loops;

static bool add_labels(const ga__contraction *c, loops *l, const ga__term *term, uint64_t *seen)
{
    for (int k = 0; k < term->ndim; k++) {
        const int label = term->label[k];
        if (*seen & ga__label_bit(label))
            continue;
        if (l->ndim == GA_MAX_NDIM)
            return false;
        *seen |= ga__label_bit(label);
        l->shape[l->ndim] = c->length[label];
        l->label[l->ndim++] = label;
    }
    return true;
}

static bool find_loops(const ga__contraction *c, const ga__step *step, const ga__term *result,
                       loops *l)
{
    uint64_t seen = 0;
    l->ndim = 0;
    bool fits = add_labels(c, l, result, &seen);
    l->kept = l->ndim;
    for (int k = 0; k < step->count && fits; k++)
        fits = add_labels(c, l, &c->term[step->term[k]], &seen);
    return fits;
}

/* The term along the first `ndim` loops. */
static void see_along(const loops *l, int ndim, const ga__term *term, ga__lens *lens)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
        strides[axis] = 0;
        for (int k = 0; k < term->ndim; k++)
            if (term->label[k] == l->label[axis]) {
                shape[axis] = l->shape[axis];
                strides[axis] = term->strides[k];
            }
    }
    ga__lens_set_typed(lens, term->array, ndim, shape, strides, 0);
}

/* "ga::multiply(ga::multiply(p, q), r)" between two texts. */
#define MOST_TEXT 256
static void write_product(char *text, const char *before, int count, int conjugate,
                          const char *after)
{
    int n = snprintf(text, MOST_TEXT, "%s", before);
    for (int k = 1; k < count; k++)
        n += snprintf(text + n, MOST_TEXT - (size_t)n, "ga::multiply(");
    for (int k = 0; k < count; k++)
        n += snprintf(text + n, MOST_TEXT - (size_t)n,
                      k == conjugate ? "%sga::conj(%c)%s" : "%s%c%s", k ? ", " : "", 'p' + k,
                      k ? ")" : "");
    snprintf(text + n, MOST_TEXT - (size_t)n, "%s", after);
}

static ga__hash128 id_of(int count, int conjugate, bool sums)
{
    const uint64_t shape = (uint64_t)(conjugate + 1) * 2 + sums;
    return (ga__hash128)GA__FAMILY_ID(GA__FAMILY_EINSUM,
                                      shape * (GA__MAX_FACTORS + 1) + (uint64_t)count);
}

static ga_status multiply(const ga__contraction *c, const loops *l, int count, int conjugate,
                          const ga__operand *operands)
{
    char body[MOST_TEXT];
    write_product(body, "z = ", count, conjugate, "");
    const ga__formula formula = {
        .id = id_of(count, conjugate, false), .name = "einsum", .body = body};
    return ga__elementwise(&formula, c->device, l->ndim, l->shape, 1 + count, operands);
}

static ga_status multiply_and_sum(const ga__contraction *c, const loops *l, int count,
                                  int conjugate, const ga__operand *operands, gpuarray *out)
{
    char map[MOST_TEXT];
    bool reduced[GA_MAX_NDIM];
    write_product(map, "return {", count, conjugate, "}");
    ga__reduction r = ga__reduction_of(GA__ROW_dot, map, c->wide, 0);
    r.formula.base.id = id_of(count, conjugate, true);
    r.formula.base.name = "einsum";
    r.formula.maps_nothing = count == 1 && conjugate < 0;
    for (int axis = 0; axis < l->ndim; axis++)
        reduced[axis] = axis >= l->kept;
    return ga__reduce(&r, c->device, l->ndim, l->shape, reduced, count, operands, &out);
}

ga_status ga__multiply_terms(const ga__contraction *c, const ga__step *step, const ga__term *result)
{
    static const char *const names[GA__MAX_FACTORS] = {"p", "q", "r", "s", "t", "u", "v", "w"};
    ga__lens lens[1 + GA__MAX_FACTORS];
    ga__operand operands[1 + GA__MAX_FACTORS];
    loops l;
    int conjugate = -1;
    if (!find_loops(c, step, result, &l))
        return ga__fail(GA_ERR_INVALID, "%s: more than %d axes at once", c->name, GA_MAX_NDIM);
    see_along(&l, l.kept, result, &lens[0]);
    operands[0] =
        (ga__operand){.name = "z", .array = &lens[0].array, .type = c->wide, .writes = true};
    for (int k = 0; k < step->count; k++) {
        const ga_dtype type = step->term[k] < c->noperands ? c->type : c->wide;
        see_along(&l, l.ndim, &c->term[step->term[k]], &lens[1 + k]);
        operands[1 + k] = (ga__operand){
            .name = names[k], .array = &lens[1 + k].array, .type = type, .reads = true};
        if (c->conjugates && step->term[k] == 0)
            conjugate = k;
    }
    if (l.kept == l.ndim)
        return multiply(c, &l, step->count, conjugate, operands);
    return multiply_and_sum(c, &l, step->count, conjugate, operands + 1, &lens[0].array);
}
