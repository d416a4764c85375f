/* The text of an elementwise kernel. */
#ifndef GA_KERNELS_ELEMENTWISE_TEXT_H
#define GA_KERNELS_ELEMENTWISE_TEXT_H

#include "jit/template.h"
#include "kernels/request.h"
#include "kernels/variant.h"

#define GA__HOST_STRIP 256 /* elements that go past the cache together */
/* The groups and strips of all operands, on a thread's stack: bytes, and the fewest elements. */
#define GA__HOST_ARRAYS (24 << 10)
#define GA__HOST_LEAST_GROUP 16
#define GA__HOST_BAND 256       /* columns of a tile of transposed operands; */
#define GA__HOST_DOWN_BYTES 256 /* and bytes of its rows: fewer leave the memory half idle */

/* Short rows that are taken together, in a panel: bytes of the widest elements, and of all operands
 * that pass through arrays on a thread's stack. */
#define GA__HOST_PANEL 8192

/* The elements of a panel: `passing` bytes of each go through arrays. */
static inline int64_t ga__host_panel(int64_t widest, int64_t passing)
{
    return GA__HOST_PANEL / (passing > widest ? passing : widest);
}

/* Whether the host converts an operand's elements between memory and float by groups. The float of
 * another type rounds to memory's as that type does. */
bool ga__elementwise_is_small(const ga__elementwise_variant *v, const ga__operand_variant *o);

/* The elements of a strip, and of a group of it (host/strip_lengths.c): as many, the group at most
 * `most_of_group`, as leave the arrays of all operands GA__HOST_ARRAYS. */
typedef struct ga__host_lengths {
    int strip, group;
} ga__host_lengths;
ga__host_lengths ga__host_choose_lengths(const ga__declaration *d, const ga__elementwise_variant *v,
                                         int most_of_group);

/* The parameters begin with one of these. The rest, the kernel's `w`, are the divisors of the axes,
 * each operand, and the index's strides. */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__elementwise_params {
#include "elementwise_params.def"
} ga__elementwise_params;
typedef struct ga__tiled_params {
#include "tiled_params.def"
} ga__tiled_params;
typedef struct ga__short_params {
#include "short_params.def"
} ga__short_params;
typedef struct ga__tile_params {
#include "tile_params.def"
} ga__tile_params;
#undef GA_PARAM

/* The words of an axis of tiles on CUDA, and those of a stage and each of its axes. */
#define GA_WORD(name) uint64_t name;
#define GA_DIVISOR(name) uint64_t name[GA__DIVISOR_WORDS];
typedef struct ga__tile_axis_words {
#include "tile_axis.def"
} ga__tile_axis_words;
typedef struct ga__stage_words {
#include "tile_stage.def"
} ga__stage_words;
typedef struct ga__stage_axis_words {
#include "tile_stage_axis.def"
} ga__stage_axis_words;
#undef GA_WORD
#undef GA_DIVISOR

enum {
    GA__TILE_AXIS_WORDS = sizeof(ga__tile_axis_words) / sizeof(uint64_t),
    GA__BOUND_WORDS = 2,  /* where an operand's memory begins, and ends */
    GA__RING_BYTES = 768, /* the longest row that a ring holds */
    GA__STAGE_WORDS = sizeof(ga__stage_words) / sizeof(uint64_t),
    GA__STAGE_AXIS_WORDS = sizeof(ga__stage_axis_words) / sizeof(uint64_t)
};

/* The record of elementwise.tmpl, a function of the formula and the variant alone; its caller frees
 * it. NULL and an error when memory is out. `d` has the variant's operands. */
ga__record *ga__elementwise_text(const ga__formula *f, const ga__declaration *d,
                                 const ga__elementwise_variant *v);

/* The same without the number of parameters; *walk_words are those behind the head. */
ga__record *ga__elementwise_record(const ga__formula *f, const ga__declaration *d,
                                   const ga__elementwise_variant *v, size_t *walk_words);

#endif
