/* How a reduction runs: its loop nests, and the variant of the kernel that suits them. */
#ifndef GA_KERNELS_REDUCE_PLAN_H
#define GA_KERNELS_REDUCE_PLAN_H

#include "kernels/reduce_text.h"
#include "kernels/request.h"

/* The first architecture that compares two numbers of 16 bits at once, of all types. */
#define GA__FIRST_WITH_PAIRS 90

/* One call. It has two loop nests. The operands of `kept` are the streamed arrays and then the
 * output; those of `reduced` are the streamed arrays and then the index. */
typedef struct ga__reduce_plan {
    const ga__reduction *reduction;
    ga__device *device;
    const ga__operand *operands;
    gpuarray *const *out; /* the results */
    int noperands;
    int streamed; /* arrays in the nests */
    int64_t count, outputs;
    ga__nest kept, reduced;         /* the caller provides noperands + 1 rows of strides for each */
    int8_t place[GA__MAX_OPERANDS]; /* of operand k in the nests; GA__NO_PLACE: not in them */
    ga__reduce_variant v;
    bool sums;    /* some part rounds */
    bool large;   /* CUDA: more threads in a block, with fewer registers each */
    int levels;   /* host: of the tree of several outputs' chains */
    size_t stack; /* host: bytes of the arrays that a block keeps on its thread's stack */
    int waves;    /* CUDA: blocks that share rows, in units of those that run at once */
    /* On CUDA `vectors` are those of a row, or elements of a thread where rows are staged, and then
     * a tile has `group` rows. */
    int64_t useful, least; /* CUDA: the most segments of use, and the fewest with short chains */
    int64_t tiles, segments, group, vectors, kept_vectors;
    /* CUDA, columns: of a tile; ragged: threads across and down a block, and rows of a line. */
    int width, across, down, fold;
    int apart;         /* ragged: rows from one of a thread to its next one */
    int64_t row_tiles; /* ragged: tiles of neighbouring columns */
} ga__reduce_plan;

/* Fills the rest of *p from the reduction, its operands and outputs, and the room for strides. */
void ga__reduce_plan_make(ga__reduce_plan *p, int ndim, const int64_t *shape, const bool *reduced);

/* Limits the plan's segments to those that fill its waves when `at_once` blocks run at once. */
void ga__reduce_plan_share(ga__reduce_plan *p, int64_t at_once);

/* The parts of ga__reduce_plan_make() that differ by the kind of device. */
void ga__reduce_plan_cuda(ga__reduce_plan *p);
void ga__reduce_plan_host(ga__reduce_plan *p);

/* Plans columns on CUDA, but not their chains; returns how many threads walk the reduced axes
 * together. */
int64_t ga__reduce_plan_columns(ga__reduce_plan *p);

/* Plans ragged columns if they are faster than `p`, the plan of whole vectors; the same result, or
 * 0. */
int64_t ga__reduce_plan_ragged(ga__reduce_plan *p);

/* Segments of ragged columns whose results one block combines, so that it is soon done. */
int64_t ga__reduce_plan_group(const ga__reduce_plan *p);

/* Whether a few elements may decide all parts. */
bool ga__reduce_plan_short_circuits(const ga__reduction *reduction);

/* The smallest power of two that is at least `at_least`, but at most `most`, a power of two. */
int ga__reduce_plan_power(int64_t at_least, int most);

/* Blocks that a CUDA device runs at once where registers allow it. */
int64_t ga__reduce_plan_blocks(const ga__reduce_plan *p);

/* Chooses the waves in which blocks share `useful` stretches, `target` blocks at once. */
void ga__reduce_plan_segments(ga__reduce_plan *p, int64_t target, int64_t useful);

/* CUDA: plans a kernel that stages rows in shared memory, where rows of neighbours fit; false:
 * changes nothing. */
bool ga__reduce_plan_staged(ga__reduce_plan *p);

/* Whether the one part adds up small integers as they are, in 64 bits; whether it asks which of
 * them are zero. */
bool ga__reduce_plan_adds_integers(const ga__reduce_plan *p);
bool ga__reduce_plan_tests_integers(const ga__reduce_plan *p);

/* CUDA: the elements of a vector that all arrays along the vector axis have; sets v.peeled where
 * rows do not begin with a whole one. */
int ga__reduce_plan_lanes(ga__reduce_plan *p);

/* Whether the host reduces short rows side by side, at any stride. */
bool ga__reduce_plan_has_short_rows(const ga__reduce_plan *p);

/* Whether the host finds indices in few columns one column after another. */
bool ga__reduce_plan_has_thin_columns(const ga__reduce_plan *p);

#endif
