/* The text of a kernel of fused rows, and the order of its parameters. */
#ifndef GA_KERNELS_FUSED_TEXT_H
#define GA_KERNELS_FUSED_TEXT_H

#include "jit/template.h"
#include "kernels/fused/fused_plan.h"

/* The parameters begin with ga__fused_params and, on the host, ga__scratch_params, or for clusters
 * ga__cluster_params; the ddof of each part follows. The rest, the kernel's `w`, are the divisors
 * of the rows' axes; each operand, where on CUDA the place in shared memory follows an array's
 * strides, and of columns the stride from row to row follows that; and the place of each kept
 * value.
 */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__fused_params {
#include "fused_params.def"
} ga__fused_params;
typedef struct ga__cluster_params {
#include "cluster_params.def"
} ga__cluster_params;
#undef GA_PARAM

/* Words that a block of a cluster has for what it finds in a pass. */
#define GA__RESULT_WORDS 12

/* All words of the parameters. */
size_t ga__fused_param_words(const ga__fused_formula *f, const ga__fused_variant *v);

/* The record of fused.tmpl, a function of the formula and the variant alone; its caller frees it.
 * NULL and an error when memory is out. `d` has the variant's operands. */
ga__record *ga__fused_text(const ga__fused_formula *f, const ga__declaration *d,
                           const ga__fused_variant *v);

#endif
