/* The text of a sort's kernels, and the order of their parameters. */
#ifndef GA_KERNELS_SORT_SORT_TEXT_H
#define GA_KERNELS_SORT_SORT_TEXT_H

#include "jit/template.h"
#include "kernels/sort/sort_variant.h"
#include "model/formula.h"

/* The parameters: these, and those of scratch_params.def where workers have scratch memory. */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__sort_params {
#include "sort_params.def"
} ga__sort_params;
typedef struct ga__sort_scratch {
#include "scratch_params.def"
} ga__sort_scratch;
#undef GA_PARAM

/* The longest row that the host's network sorts: ga_short_run of sort_vectors.host. */
#define GA__SORT_HOST_NETWORK 1024

/* Words at the start of a long row's state. */
#define GA__SORT_HEAD 32

/* Buckets of a long row, and the words of a chunk's table of them: sort_buckets.host. */
#define GA__SORT_BUCKETS_ROW 64
#define GA__SORT_BUCKET_TABLE (GA__SORT_BUCKETS_ROW + 8)

/* Whether the kernel's workers have scratch memory. */
bool ga__sort_needs_scratch(const ga__sort_variant *v);

size_t ga__sort_param_words(const ga__sort_variant *v);

/* The record of sort.tmpl, a function of the variant alone; its caller frees it. NULL and an error
 * when memory is out. */
ga__record *ga__sort_text(const ga__formula *formula, const ga__sort_variant *v);

#endif
