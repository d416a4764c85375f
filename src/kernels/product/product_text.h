/* The text of a product's kernel, and the order of its parameters. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_TEXT_H
#define GA_KERNELS_PRODUCT_PRODUCT_TEXT_H

#include "jit/template.h"
#include "kernels/product/product_variant.h"
#include "model/dtype.h"
#include "model/formula.h"

/* The parameters: these, those of scratch_params.def on the host, and those of the stack's axes. */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__product_params {
#include "product_params.def"
} ga__product_params;
typedef struct ga__product_scratch {
#include "scratch_params.def"
} ga__product_scratch;
#undef GA_PARAM

/* Words of one axis of the stack: its length, and steps of a, b and c. */
enum { GA__PRODUCT_AXIS_WORDS = 4 };

/* Host: words along k of a panel, and more than the most rows and columns that fill up a tile. */
enum { GA__PRODUCT_DEPTH = 256, GA__PRODUCT_MOST_ROWS = 12, GA__PRODUCT_MOST_COLUMNS = 128 };

/* Little products on the host: of a block; bytes of a vector, or more. */
enum { GA__PRODUCT_SHARE = 128, GA__PRODUCT_VECTOR = 64 };

/* CUDA: the threads of a block along each side of a tile; for teams with little products, the
 * threads of a block, and the most rows or columns of a thread. */
enum { GA__PRODUCT_SIDE = 16, GA__PRODUCT_LITTLE_BLOCK = 64, GA__PRODUCT_LITTLE_LINES = 8 };

/* The rows and columns that tensor cores multiply at once. */
enum { GA__PRODUCT_TENSOR_ROWS = 16, GA__PRODUCT_TENSOR_COLUMNS = 8 };

/* Bytes of the words in which the product of a dtype is computed. */
size_t ga__product_word_bytes(ga_dtype type, bool host);

/* CUDA: the words of a vector; those of one byte hold four elements each. */
int ga__product_group(ga_dtype type);

/* Words along k of a panel, or of a part of little products. */
int ga__product_depth(const ga__product_variant *v);

/* CUDA: threads across a tile; of tensor cores, warps. */
int ga__product_wide(const ga__product_variant *v);

/* CUDA: elements of a vector of factors, and neighbouring columns that a thread stores at once. */
int ga__product_factor_group(const ga__product_variant *v);
int ga__product_column_group(const ga__product_variant *v);

/* CUDA: threads of a team, teams of a block of little products, stages of each, and bytes of its
 * shared memory. */
int ga__product_team(const ga__product_variant *v);
int ga__product_teams(const ga__product_variant *v);
int ga__product_stages(const ga__product_variant *v);
size_t ga__product_shared_bytes(const ga__product_variant *v);

size_t ga__product_param_words(const ga__product_variant *v);

/* The record of product.tmpl, a function of the variant alone; its caller frees it. NULL and an
 * error when memory is out. */
ga__record *ga__product_text(const ga__formula *formula, const ga__product_variant *v);

#endif
