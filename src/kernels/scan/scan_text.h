/* The text of a scan's kernel, and the order of its parameters. */
#ifndef GA_KERNELS_SCAN_TEXT_H
#define GA_KERNELS_SCAN_TEXT_H

#include "jit/template.h"
#include "kernels/scan/scan_formula.h"
#include "kernels/variant.h"

/* Host: elements of a tile, 128 KiB of float32, so that a tile is still in the cache when it is
 * walked again; rows that a block of columns has side by side. */
enum { GA__SCAN_CHUNK = 1 << 15, GA__SCAN_STRIP = 512 };

/* Threads of a block on CUDA. */
enum { GA__SCAN_BLOCK = 256 };

/* A selection in one launch: bytes of a lane's values, and tiles whose lists a block keeps. */
enum { GA__ONCE_LANE_BYTES = 64, GA__ONCE_SLOTS = 3 };

/* The parameters begin with ga__scan_params. The rest, the kernel's `w`, are the initial number,
 * the divisors of the rows' axes and of the length, and each operand: of a streamed one its
 * address, its strides along the rows' axes, and that along the scanned axis. */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__scan_params {
#include "scan_params.def"
} ga__scan_params;
#undef GA_PARAM

/* Whether a block on CUDA has several whole rows: of any layout, or such as follow each other in
 * memory. */
typedef enum ga__folds { GA__FOLDS_NOT, GA__FOLDS_ANY, GA__FOLDS_FOLLOWING } ga__folds;

/* The kernel of a scan: its words are the key, after the formula's id and the device. */
typedef struct ga__scan_variant {
    bool host;
    bool columns; /* neighbouring threads take neighbouring rows */
    bool wide;    /* 64-bit indices */
    bool exclusive : 1, initial : 1;
    bool sums : 1;                 /* of floats: they keep what they round away */
    bool chained;                  /* a block has one tile of a row */
    bool segmented;                /* some elements start a segment */
    uint8_t folds : 2, choice : 2; /* CUDA: a ga__folds, a ga__choice_pass */
    uint8_t staged : 3; /* CUDA: blocks at once whose tiles are in shared memory; 0: none */
    uint8_t ahead : 1;  /* CUDA: and blocks add up tiles further on */

    uint8_t kept_ndim;
    uint16_t type;        /* T */
    uint16_t value_bytes; /* of an accumulator, at most */
    uint8_t noperands;
    uint8_t lanes, unroll, across; /* CUDA */
    ga__operand_variant operand[GA__MAX_OPERANDS];
} ga__scan_variant;
_Static_assert(offsetof(ga__scan_variant, operand) == 16,
               "before its operands the variant is two words of the key, without padding");

/* All words of the parameters. */
size_t ga__scan_param_words(const ga__scan_variant *v);

/* Bytes that an accumulator with the marks of segments does not exceed. */
size_t ga__scan_state_bytes(const ga__scan_variant *v);

/* Those that a carry does not exceed: for a sum, also what it rounds away. */
size_t ga__scan_carry_bytes(const ga__scan_variant *v);

/* Host: elements that are joined one after another, without what precedes them. Sums that
 * round have few, so that their errors stay below 32 units in the last place. */
int64_t ga__scan_piece(const ga__scan_variant *v);

/* Host: bytes that a tile leaves for the next one. */
size_t ga__scan_tile_bytes(const ga__scan_variant *v);

/* The record of scan.tmpl, a function of the formula and the variant alone; its caller frees it.
 * NULL and an error when memory is out. `d` has the variant's operands. */
ga__record *ga__scan_text(const ga__scan_formula *f, const ga__declaration *d,
                          const ga__scan_variant *v);

#endif
