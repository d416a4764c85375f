/* A product of two terms as one of matrices: their labels become rows, columns, sums and a stack.
 */
#include <stdlib.h>

#include "base/error.h"
#include "kernels/product/product.h"
#include "ops/convert.h"
#include "ops/einsum/contraction.h"
#include "ops/index/gather.h"

/* Labels from the outermost axis to the innermost one. */
typedef struct group {
    int count;
    int label[GA_MAX_NDIM];
} group;

/* What the labels become. Rows that are no single axis are places of the stack, and so are columns;
 * operands that lack a label of the stack repeat along it. */
typedef struct roles {
    group rows, columns, sums, stack;
} roles;

/* Rows or columns of at least this number of elements are a matrix by themselves. */
#define ENOUGH 16

/* The stride of the label; 0 if the term lacks it. */
static int64_t stride_of(const ga__term *term, int label)
{
    for (int k = 0; k < term->ndim; k++)
        if (term->label[k] == label)
            return term->strides[k];
    return 0;
}

/* The labels of a set in the order in which they lie in the term's memory. */
static group group_of(const ga__term *term, uint64_t labels)
{
    group g = {0};
    for (int k = 0; k < term->ndim; k++) {
        if (!(labels & ga__label_bit(term->label[k])))
            continue;
        int place = g.count++;
        for (; place > 0 && llabs(stride_of(term, g.label[place - 1])) < llabs(term->strides[k]);
             place--)
            g.label[place] = g.label[place - 1];
        g.label[place] = term->label[k];
    }
    return g;
}

/* Whether label k of the group and the one after it are one axis of the term. */
static bool joins(const ga__contraction *c, const ga__term *term, const group *g, int k)
{
    const int inner = g->label[k + 1];
    return stride_of(term, g->label[k]) == stride_of(term, inner) * c->length[inner];
}

static bool is_one_axis(const ga__contraction *c, const ga__term *term, const group *g)
{
    for (int k = 0; k + 1 < g->count; k++)
        if (!joins(c, term, g, k))
            return false;
    return true;
}

static int64_t group_length(const ga__contraction *c, const group *g)
{
    int64_t length = 1;
    for (int k = 0; k < g->count; k++)
        length *= c->length[g->label[k]];
    return length;
}

/* ---- Copies ---- */

static void append(group *g, const group *more)
{
    for (int k = 0; k < more->count; k++)
        g->label[g->count++] = more->label[k];
}

/* Replaces the term by a copy in C order whose axes have the labels of the group. */
static ga_status copy_term(const ga__contraction *c, const group *g, ga__term *term,
                           gpuarray **copy)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    ga__lens lens;
    for (int axis = 0; axis < g->count; axis++) {
        shape[axis] = c->length[g->label[axis]];
        strides[axis] = stride_of(term, g->label[axis]);
    }
    ga__lens_set_typed(&lens, term->array, g->count, shape, strides, 0);
    *copy = ga__array_new(c->name, c->device, term->array->dtype, g->count, shape);
    if (!*copy || ga__copy_elements(*copy, &lens.array) != GA_OK)
        return ga_error();
    term->array = *copy;
    term->ndim = g->count;
    for (int axis = 0; axis < g->count; axis++) {
        term->label[axis] = g->label[axis];
        term->strides[axis] = (*copy)->strides[axis];
    }
    return GA_OK;
}

/* ---- Roles ---- */

/* Moves all but the largest axis of a group to the stack. An axis is one in both terms. */
static void keep_largest(const ga__contraction *c, const ga__term *term, const ga__term *result,
                         group *g, group *stack)
{
    group largest = {0}, axis;
    for (int k = 0, end; k < g->count; k = end) {
        axis.count = 0;
        end = k;
        do
            axis.label[axis.count++] = g->label[end++];
        while (end < g->count && joins(c, term, g, end - 1) && joins(c, result, g, end - 1));
        const bool larger = group_length(c, &axis) > group_length(c, &largest);
        append(stack, larger ? &largest : &axis);
        if (larger)
            largest = axis;
    }
    *g = largest;
}

/* Whether a copy of the operand makes its rows, or columns, one axis that is worth it. */
static bool should_copy(const ga__contraction *c, const ga__term *term, const ga__term *result,
                        const group *g)
{
    group largest = *g, rest = {0};
    if (is_one_axis(c, term, g) || !is_one_axis(c, result, g))
        return false;
    keep_largest(c, term, result, &largest, &rest);
    return group_length(c, &largest) < ENOUGH;
}

/* Chooses the order of the sums, and says which operands lack one axis for them. */
static group order_sums(const ga__contraction *c, const ga__term *term, uint64_t labels, bool *copy)
{
    const group by_a = group_of(&term[0], labels), by_b = group_of(&term[1], labels);
    const bool a_fits = is_one_axis(c, &term[0], &by_a), b_fits = is_one_axis(c, &term[1], &by_b),
               both = a_fits && is_one_axis(c, &term[1], &by_a);
    if (both || (b_fits && is_one_axis(c, &term[0], &by_b)))
        return both ? by_a : by_b;
    /* The first term is the larger one. */
    copy[1] = a_fits || !b_fits;
    copy[0] = !a_fits;
    return a_fits ? by_a : by_b;
}

/* Finds the roles, and copies operands that have none as they are. */
static ga_status find_roles(const ga__contraction *c, const ga__term *result, ga__term *term,
                            gpuarray **copies, roles *r)
{
    const uint64_t first = term[0].labels, second = term[1].labels, kept = result->labels;
    bool copy[2] = {false, false};
    r->stack = group_of(result, first & second & kept);
    r->sums = order_sums(c, term, first & second & ~kept, copy);
    r->rows = group_of(result, first & ~second);
    r->columns = group_of(result, second & ~first);
    const group *own[] = {&r->rows, &r->columns};
    for (int k = 0; k < 2; k++) {
        group order = r->stack;
        append(&order, own[k]);
        append(&order, &r->sums);
        if ((copy[k] || should_copy(c, &term[k], result, own[k])) &&
            copy_term(c, &order, &term[k], &copies[k]) != GA_OK)
            return ga_error();
    }
    keep_largest(c, &term[0], result, &r->rows, &r->stack);
    keep_largest(c, &term[1], result, &r->columns, &r->stack);
    return GA_OK;
}

/* ---- The product ---- */

/* The term as a stack of matrices. */
static void see_matrices(const ga__contraction *c, const ga__term *term, const group *stack,
                         const group *rows, const group *columns, ga__lens *lens)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    const group *sides[] = {rows, columns};
    for (int axis = 0; axis < stack->count; axis++) {
        const int label = stack->label[axis];
        strides[axis] = stride_of(term, label);
        shape[axis] = term->labels & ga__label_bit(label) ? c->length[label] : 1;
    }
    for (int k = 0; k < 2; k++) {
        shape[stack->count + k] = group_length(c, sides[k]);
        strides[stack->count + k] = stride_of(term, sides[k]->label[sides[k]->count - 1]);
    }
    ga__lens_set_typed(lens, term->array, stack->count + 2, shape, strides, 0);
}

ga_status ga__multiply_matrices(const ga__contraction *c, const ga__step *step,
                                const ga__term *result)
{
    ga__term term[] = {c->term[step->term[0]], c->term[step->term[1]]};
    gpuarray *copies[2] = {NULL, NULL};
    ga__lens a, b, out;
    roles r;
    ga_status status = find_roles(c, result, term, copies, &r);
    if (status == GA_OK) {
        see_matrices(c, &term[0], &r.stack, &r.rows, &r.sums, &a);
        see_matrices(c, &term[1], &r.stack, &r.sums, &r.columns, &b);
        see_matrices(c, result, &r.stack, &r.rows, &r.columns, &out);
        const bool first = step->term[0] < c->noperands && step->term[1] < c->noperands;
        const ga__product product = {.name = c->name,
                                     .a = &a.array,
                                     .b = &b.array,
                                     .c = &out.array,
                                     .type = first ? c->type : c->wide};
        status = ga__product_run(&product);
    }
    ga_free(copies[1]);
    ga_free(copies[0]);
    return status;
}
