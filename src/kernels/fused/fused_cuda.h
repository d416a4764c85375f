/* What the plans of fused rows on CUDA share: registers, threads and blocks. */
#ifndef GA_KERNELS_FUSED_CUDA_H
#define GA_KERNELS_FUSED_CUDA_H

#include "kernels/fused/fused_plan.h"

#define BLOCK 256 /* threads that several rows share, and the fewest of a long row */
#define LARGEST_BLOCK 1024
#define LARGEST_TEAM 512  /* threads of a block whose rows are in registers */
#define WIDE_THREADS 1024 /* of a multiprocessor, for double and for rows in registers */
#define WORD 4            /* bytes of a register */
#define MOST_PER_ROW 32   /* elements of a thread where no results take registers, */
#define MOST_EACH 16      /* and otherwise */
#define SECTOR 32         /* bytes that memory delivers together */
#define PROCESSOR_BLOCKS                                                                           \
    3 /* of a multiprocessor: some have a row while others compute; double:                        \
       */
#define WIDE_BLOCKS 2
#define FEW_ROWS 4 /* blocks keep a quarter of the multiprocessors busy */

/* Notes what all forms ask of the operands. */
void ga__fused_note_rows(ga__fused_plan *p);

/* ---- Registers ---- */

/* Whether a thread has its elements in pairs, of the bits that memory has. */
bool ga__fused_has_pairs(const ga__fused_plan *p);

/* The most elements that a thread holds: of columns; of rows, where a block may hold several; and
 * of a block's only row, while the next one is copied. */
int ga__fused_most_each(const ga__fused_plan *p);
int ga__fused_most_held(ga__fused_plan *p);
int ga__fused_most_ahead(ga__fused_plan *p);

/* Whether the last pass alone reads some operand, a few vectors at a time. */
bool ga__fused_has_late(const ga__fused_plan *p);

/* The least one from `at_least` on, or `most`. */
int ga__fused_power_of_two(int64_t at_least, int most);

/* How many of the `room` vectors of a thread are in every row of the variant: half of them, unless
 * the row has less, and then a power of two. */
int ga__fused_sure_of(int room, int64_t whole_vectors, int team);

/* Sets the elements of a vector, and whether rows are whole vectors, or lines where blocks share
 * them; how many elements from which on vectors are counted; and the most vectors that a row
 * lies in, or a block's part of it. */
void ga__fused_choose_lanes(ga__fused_plan *p);
int ga__fused_line(const ga__fused_plan *p);
int64_t ga__fused_vectors_of_row(const ga__fused_plan *p);
int64_t ga__fused_vectors_of_part(const ga__fused_plan *p);

/* Whole vectors among the most elements of a thread that there is room for: one at least. */
int ga__fused_vectors_with_room(const ga__fused_plan *p, int elements);

/* Lets `team` threads have the row, or a block's part, in registers that have room for at most
 * `most` vectors of each. */
void ga__fused_take_team(ga__fused_plan *p, int team, int most);

/* ---- Blocks ---- */

/* Blocks, of rows in shared memory, that a multiprocessor has room for; and blocks that the device
 * runs at once. */
int64_t ga__fused_blocks_with_room(const ga__fused_plan *p);
int64_t ga__fused_blocks_at_once(const ga__fused_plan *p);

/* The threads of a block whose rows are in shared memory: as few as keep a multiprocessor's threads
 * busy. */
int ga__fused_threads_in_shared(const ga__fused_plan *p);

/* Whether the device makes the copies to shared memory in the background: of 4, 8 or 16 bytes. */
bool ga__fused_copies_ahead(const ga__fused_plan *p);

void ga__fused_set_wait(ga__fused_plan *p);

/* ---- Rows ---- */

/* Whether the rows of operand k follow each other closely: reading what lies between them costs
 * next to nothing. */
bool ga__fused_is_close(const ga__fused_plan *p, int k);

/* Plans rows of one element; short rows, in groups of a thread; and longer rows of a thread that
 * are no whole vectors. False if the rows are others. */
bool ga__fused_plan_single(ga__fused_plan *p);
bool ga__fused_plan_short(ga__fused_plan *p);
bool ga__fused_plan_threads(ga__fused_plan *p);

/* Plans rows in the registers of a block of at most `largest` threads, or parts of them in those of
 * each of some blocks, while the next ones come to shared memory; begin_ahead() prepares what
 * counts registers for it. */
void ga__fused_begin_ahead(ga__fused_plan *p);
bool ga__fused_plan_ahead(ga__fused_plan *p, int blocks, int largest);

/* Plans rows in shared memory, with at least `several` blocks per multiprocessor: of one block; or
 * of some, which meet in memory. */
bool ga__fused_plan_rows(ga__fused_plan *p, int several);
bool ga__fused_plan_clusters(ga__fused_plan *p, int several);

/* Plans parts of rows in registers: of the blocks of a cluster of the hardware, or of blocks that
 * meet in memory. False if a row has too many, or other forms are faster. */
bool ga__fused_plan_distributed(ga__fused_plan *p);
bool ga__fused_plan_meeting(ga__fused_plan *p);

/* CUDA: plans columns; false if they are too long or too few. */
bool ga__fused_plan_columns(ga__fused_plan *p);

static inline int64_t ga__fused_at_most(int64_t limit, int64_t value)
{
    return value < limit ? value : limit;
}

#endif
