/* The text of a draw's kernel, and the order of its parameters. */
#ifndef GA_KERNELS_DRAW_TEXT_H
#define GA_KERNELS_DRAW_TEXT_H

#include "jit/template.h"
#include "kernels/rng.h"
#include "kernels/variant.h"

#define GA__RANDOM_BLOCK 256
#define GA__RANDOM_COLUMN 128 /* blocks of the generator in a tile, 16 bytes each */
#define GA__RANDOM_RESIDENT 5 /* thread blocks that a multiprocessor is to have room for */

/* The parameters: these, on CUDA GA__RNG_LANE_WORDS, and two words for each number. */
#define GA_PARAM(name) uint64_t name;
#define GA_HALF(name) uint32_t name;
typedef struct ga__draw_params {
#include "random_params.def"
    uint64_t round_keys[GA__RNG_ROUNDS];
} ga__draw_params;
#undef GA_PARAM
#undef GA_HALF

/* All words of the parameters. */
size_t ga__draw_param_words(const ga__draw_variant *v);

/* Blocks of the generator that a thread makes, and numbers of a block. */
int ga__draw_lanes(const ga__draw_variant *v);
int ga__draw_rows(ga_dtype drawn);

/* The body's k-th number. */
const char *ga__draw_number_name(int k);

/* The record of random.tmpl, a function of the distribution and the variant alone; its caller frees
 * it. NULL and an error when memory is out. */
ga__record *ga__draw_text(const ga__distribution *d, const ga__draw_variant *v);

#endif
