/* The texts of the selection's kernels, and their parameters. */
#ifndef GA_KERNELS_RANK_RANK_TEXT_H
#define GA_KERNELS_RANK_RANK_TEXT_H

#include "jit/template.h"
#include "kernels/rank/ranking.h"
#include "model/formula.h"

/* The kernels of the engine. */
typedef enum ga__rank_stage {
    GA__RANK_ROWS,   /* whole rows, from elements to results */
    GA__RANK_SAMPLE, /* CUDA, topk: a sample of each long row bounds the keys of winners */
    GA__RANK_ROUND,  /* a round of long rows: one digit of the keys */
    GA__RANK_GATHER, /* CUDA, topk: brings few winners among candidates to their places */
    GA__RANK_COUNT,  /* counts each tile's elements on the sides of the selected key */
    GA__RANK_MOVE,   /* moves them there */
    GA__RANK_ORDER,  /* sorts winners; CUDA: runs of GA__RANK_RUN */
    GA__RANK_MERGE   /* CUDA: merges two sorted runs of winners */
} ga__rank_stage;

/* On what a text depends: the key, after the task's formula and the device. */
typedef struct ga__rank_variant {
    uint8_t stage;  /* a ga__rank_stage */
    uint8_t type;   /* of the elements */
    uint8_t result; /* of quantiles */
    uint8_t q_type;
    uint8_t method;
    uint8_t host : 1, weak : 1, skips_nan : 1, descending : 1, : 4;
    uint16_t team;         /* CUDA, whole rows: threads of a row */
    uint8_t task, targets; /* ranks that rounds find together */
    uint8_t unused[6];
} ga__rank_variant;
_Static_assert(sizeof(ga__rank_variant) == 16, "the variant is two words of the key");

enum {
    GA__RANK_DIGIT_BITS = 11, /* a table of counters is 8 KiB: six fit 48 KiB of shared memory */
    GA__RANK_FEW_BITS = 12,   /* CUDA, at most GA__RANK_FEW_TARGETS ranks: the first digit leaves */
    GA__RANK_FEW_TARGETS = 2, /* fewer candidates, and a table of 16 KiB for each rank fits too */
    GA__RANK_ROUND_Q = 3,     /* quantiles whose rounds run together, with two ranks each */
    GA__RANK_ROW_Q = 8,       /* the same for whole rows */
    GA__RANK_STATE_BYTES = 384,
    GA__RANK_HOST_TILE = 1 << 15, /* elements whose sides are counted together: in the cache */
    GA__RANK_ROUND_BLOCK = 512,
    GA__RANK_SAMPLE_KEYS = 4096, /* of a row: 32 KiB at most */
    GA__RANK_MOVE_BLOCK = 256,
    GA__RANK_MOVE_ITEMS = 16, /* of a thread: a tile has 4096 elements, 16 bytes of counts */
    GA__RANK_ORDER_BLOCK = 512,
    GA__RANK_RUN = 2048 /* winners that a block sorts: 32 KiB of keys and places */
};

/* The parameters: these, and on the host ga__scratch_params. */
#define GA_PARAM(name) uint64_t name;
typedef struct ga__rank_params {
#include "rank_params.def"
    double q[GA__RANK_ROW_Q];
} ga__rank_params;
#undef GA_PARAM

/* CUDA: threads of a block that has whole rows. Four warps, each with rows of its own, are few
 * enough that short rows fill the device evenly. */
static inline int ga__rank_row_block(const ga__rank_variant *v)
{
    return v->team == 32 ? 128 : v->team;
}

/* Bits of a digit of rounds. */
static inline int ga__rank_digit_bits(const ga__rank_variant *v)
{
    return !v->host && v->targets <= GA__RANK_FEW_TARGETS ? GA__RANK_FEW_BITS : GA__RANK_DIGIT_BITS;
}

/* CUDA: tables of counters of a block; a slot has one or more. */
static inline int ga__rank_tables(const ga__rank_variant *v)
{
    return v->targets <= GA__RANK_FEW_TARGETS ? GA__RANK_FEW_TARGETS : v->targets;
}

/* All words of the parameters. */
size_t ga__rank_param_words(const ga__rank_variant *v);

/* The formula that stands for the task's texts. */
const ga__formula *ga__rank_formula(ga__rank_task task);

/* The name of the method, as in NumPy; whether it computes values between elements; and whether
 * NumPy computes its places without floats where q is an integer. */
const char *ga__rank_method_name(ga__rank_method method);
bool ga__rank_interpolates(ga__rank_method method);
bool ga__rank_whole(ga__rank_method method);

/* The record of rank.tmpl, a function of the variant alone; its caller frees it. NULL and an error
 * when memory is out. */
ga__record *ga__rank_text(const ga__rank_variant *v);

#endif
