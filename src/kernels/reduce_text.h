/* The text of a reduction's kernel, and the order of its parameters. */
#ifndef GA_KERNELS_REDUCE_TEXT_H
#define GA_KERNELS_REDUCE_TEXT_H

#include "jit/template.h"
#include "kernels/variant.h"

/* On CUDA each accumulator above a thread's own adds the results of this many accumulators below
 * it; the highest one adds all that come. */
enum { GA__CUDA_CHAINS = 16 };

/* The longest chain of a CUDA thread's additions: elements, or batches. */
enum { GA__CUDA_CHAIN = 16 };

/* Bytes past its elements that a reader of a staged operand may read. */
enum { GA__STAGE_SLACK = 128 };

/* The carveout of kernels whose threads load vectors and then store them to a stage: the loads of
 * all blocks in flight need room in the L1 cache. With the default, which lets most blocks run at
 * once, sums of short rows reach 0.92 of an H200's bus; with this one 0.99. */
enum { GA__STAGE_CARVEOUT = 71 };

/* The longest chains on the host, of steps that round: rows of columns, and elements of a run
 * without lanes; steps of each lane in a run; the results of several runs, where a run in lanes
 * counts as RUN_STEPS. */
enum { GA__HOST_CHAIN = 32, GA__HOST_RUN = 128, GA__HOST_STEPS = 40, GA__HOST_RUN_STEPS = 5 };

/* The parameters begin with ga__reduce_params. The next three follow where the variant has them,
 * then the ddof of each part. The rest, the kernel's `w`, are the divisors of the kept and of the
 * reduced axes, each operand, the first result with its strides, the other results, and the index's
 * strides.
 */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__reduce_params {
#include "reduce_params.def"
} ga__reduce_params;
typedef struct ga__carry_params {
#include "carry_params.def"
} ga__carry_params;
typedef struct ga__ragged_params {
#include "ragged_params.def"
} ga__ragged_params;
typedef struct ga__scratch_params {
#include "scratch_params.def"
} ga__scratch_params;
#undef GA_PARAM

/* The accumulators of a block that meet in shared memory with ragged columns: those of 96 bytes of
 * each thread, up to what any kernel may have. */
int ga__reduce_room(const ga__reduce_variant *v);

/* All words of the parameters. */
size_t ga__reduce_param_words(const ga__reduce_formula *f, const ga__reduce_variant *v);

/* On the host: whether results of several outputs' chains meet in a tree in memory, and the bytes
 * of a level of that tree. */
bool ga__reduce_needs_scratch(const ga__reduce_variant *v);
size_t ga__reduce_level_bytes(const ga__reduce_formula *f, const ga__reduce_variant *v);

/* The record of reduce.tmpl, a function of the formula and the variant alone; its caller frees it.
 * NULL and an error when memory is out. `d` has the variant's operands. */
ga__record *ga__reduce_text(const ga__reduce_formula *f, const ga__declaration *d,
                            const ga__reduce_variant *v);

#endif
