/* Runs the steps of a plan: computes this call's numbers, binds the operands, and launches. */
#ifndef GA_EXPR_RUN_H
#define GA_EXPR_RUN_H

#include "expr/plan.h"
#include "ops/index/checked.h"

/* Numbers that depend on arguments, in the order of plan->varying. */
typedef struct ga__numbers {
    ga_value varying[GA__MAX_VARYING];
} ga__numbers;

/* Computes the numbers; false if one has no value, or another kind than in the plan. */
bool ga__numbers_make(ga__numbers *numbers, const ga__plan *plan, const ga_named *args);

/* The value of a weak node. */
ga_value ga__number_of(const ga__numbers *numbers, const ga__plan *plan, int node);

/* A 0-d array for an expression of numbers only; NULL on failure. */
gpuarray *ga__number_array(ga__device *device, ga_value number);

/* The view of a VIEW node, given the array that all its views are of: a new array. NULL and
 * GA_ERR_INDEX if an index is out of range. */
gpuarray *ga__node_view(const ga__graph *graph, int node, const gpuarray *viewed);

/* The operands of a step and the shape they broadcast to. The first operand is reserved for the
 * result. */
typedef struct ga__binding {
    ga__operand operands[GA__MAX_OPERANDS];
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    /* The layouts of what is taken at indices; their positions have the whole shape. Their
     * operands follow the inputs. */
    ga__lens gathered[GA__MOST_GATHERS], position[GA__MOST_GATHERS];
} ga__binding;

/* Binds the arrays, one for each input of the step that is not a number. False if a number does not
 * fit its dtype, or the shapes do not broadcast as in the plan. */
bool ga__step_bind(ga__binding *b, const ga__plan *plan, const ga__step *step,
                   const ga__numbers *numbers, const gpuarray *const *arrays);

/* The axes that a selection, the root, keeps behind those of its mask. */
static inline int ga__select_rest(const ga__plan *plan)
{
    return (int)plan->graph.nodes[plan->graph.root].key.bits[0];
}

/* The shape of the step's results; false if there is none. */
bool ga__step_shape(const ga__step *step, const ga__binding *b, int *ndim, int64_t *shape);

/* Replaces operands that overlap `out`, which the step is about to write, by copies. Sets every
 * copy, to NULL if there is none. */
ga_status ga__step_separate(const gpuarray *out, const ga__step *step, ga__binding *b,
                            gpuarray **copies);

/* Whether elements are taken at indices and some argument shares memory with `out`, which then gets
 * the elements at the end. */
bool ga__shares_gathered(const ga__plan *plan, const ga_named *args, const gpuarray *out);

/* Whether `out` takes the result of a plan made for this call, whose nodes have its shapes; raises
 * otherwise. Of numbers and selections that is known only later. */
bool ga__plan_takes(const ga__plan *plan, const gpuarray *out);

/* Computes into out[0..nresults-1]. No result may partly overlap an operand. `carry` is for one
 * reduction whose elements come in several launches, otherwise NULL. */
ga_status ga__step_launch(const ga__step *step, const ga__plan *plan, ga__device *device,
                          ga__binding *b, gpuarray *const *out, const ga__carry *carry);

#endif
