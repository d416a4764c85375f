/* How fused rows run: their nest, and the variant of the kernel that suits the rows. */
#ifndef GA_KERNELS_FUSED_PLAN_H
#define GA_KERNELS_FUSED_PLAN_H

#include "kernels/fused/fused_formula.h"
#include "kernels/request.h"

/* A kept value that has shared memory of its own. */
#define GA__OWN_PLACE 255

/* Where a kernel finds the elements of a row: side by side, for a team of threads, for a cluster of
 * blocks that have a part each and meet in memory, or in the shared memory of a cluster of the
 * hardware, or for a single thread; or a stride apart, below each other, while those of
 * neighbouring rows lie side by side. */
typedef enum ga__fused_walk {
    GA__WALK_ROWS,
    GA__WALK_CLUSTERS,
    GA__WALK_DISTRIBUTED,
    GA__WALK_COLUMNS,
    GA__WALK_THREADS
} ga__fused_walk;

/* CUDA: how the next row comes to shared memory while the last pass runs: each thread copies its
 * own elements, or one of them orders whole vectors in bulk. */
typedef enum ga__fused_ahead {
    GA__NOT_AHEAD,
    GA__AHEAD_BY_THREADS,
    GA__AHEAD_IN_BULK
} ga__fused_ahead;

/* The kernel of fused rows: its words are the key, after the formula's id and the device. With an
 * odd number of operands one more is zero. */
typedef struct ga__fused_variant {
    bool host;
    bool wide;        /* 64-bit indices */
    bool registers;   /* CUDA: a thread keeps its elements in registers, not in shared memory */
    bool gathers : 1; /* CUDA: results pass through shared memory */
    bool late : 1;    /* CUDA: operands that the last pass alone reads come when it does */
    bool past_cache;  /* host: results are stored past the cache */
    uint8_t ahead;    /* a ga__fused_ahead */
    uint8_t kept_ndim;
    uint8_t noperands;
    uint16_t block, team;  /* CUDA: threads of a block, and those that share a row */
    uint8_t lanes;         /* CUDA: elements of a vector; host: accumulators side by side */
    uint8_t each;          /* CUDA: elements that a thread's registers have room for */
    uint8_t group;         /* host: elements that are computed together */
    bool shifted;          /* CUDA: rows begin inside vectors */
    uint64_t staged;       /* CUDA: a bit for each operand that is copied to shared memory */
    uint8_t kept_place[4]; /* CUDA, by kept value: the operand whose shared memory it takes over, or
                            * GA__OWN_PLACE */
    uint8_t sure;          /* CUDA: vectors of a thread that are in every row of the variant */
    uint8_t paired;        /* CUDA: the dtype of all elements, if passes take two at once;
                            * GA_NO_DTYPE: one at a time */
    uint8_t walk;          /* a ga__fused_walk */
    uint8_t several;       /* CUDA: rows of one element, or groups of rows of `sure`, that a thread
                            * has; of GA__WALK_THREADS, the most rows; 0: rows are longer */
    ga__operand_variant operand[GA__MAX_OPERANDS]; /* the first one is the result */
} ga__fused_variant;
_Static_assert(offsetof(ga__fused_variant, operand) == 32,
               "before its operands the variant is four words of the key, without padding");

/* One call. */
typedef struct ga__fused_plan {
    const ga__fused_call *call;
    int64_t rows, length;
    ga__nest kept, row; /* an operand's place is its number */
    ga__fused_variant v;
    int64_t rows_of_block, grid;
    int64_t part;     /* CUDA: elements of a row that a block has; of columns, those of a thread */
    int blocks;       /* CUDA: that share the row */
    uint64_t along;   /* CUDA: a bit for each operand with elements of its own along the row; */
    uint64_t own;     /* of these, those with elements of their own in each row, */
    uint64_t last;    /* and those that all rows share and the last pass alone reads */
    uint64_t counted; /* CUDA: the operands whose bytes in registers are known, */
    int counted_bytes;
    int whole;      /* CUDA: elements of the longest vectors that make up all rows, */
    size_t widest;  /* and bytes of the widest element along them */
    size_t shared;  /* CUDA: bytes of a block */
    int64_t wait;   /* CUDA: nanoseconds after which the second half of the blocks begins */
    size_t meeting; /* CUDA: bytes where the threads of columns meet; there are two such places */
    size_t place[GA__MAX_OPERANDS]; /* CUDA: of each operand in shared memory; host: whether its
                                     * rows have no gaps */
    size_t kept_at[GA__MAX_KEPT];   /* CUDA: of each kept value there; host: in scratch memory */
    size_t scratch;                 /* host: bytes of a thread, */
    size_t stack;                   /* and of the arrays that a block keeps on its stack */
} ga__fused_plan;

/* Plans the call, which *p then refers to, in the caller's `strides`: GA__FUSED_NESTS of each
 * operand. False if no kernel over rows or columns serves it: the layouts, the length of rows and
 * their number decide. A result without an array is planned as a new one. */
enum { GA__FUSED_NESTS = 2 };
bool ga__fused_plan_make(ga__fused_plan *p, const ga__fused_call *call,
                         int64_t (*strides)[GA_MAX_NDIM]);

/* The parts of ga__fused_plan_make() that differ by the kind of device. */
bool ga__fused_plan_cuda(ga__fused_plan *p);
bool ga__fused_plan_host(ga__fused_plan *p);
bool ga__fused_plan_host_columns(ga__fused_plan *p);

/* Whether several blocks share a row. */
static inline bool ga__fused_is_clustered(const ga__fused_variant *v)
{
    return v->walk == GA__WALK_CLUSTERS || v->walk == GA__WALK_DISTRIBUTED;
}

/* CUDA: gives the staged operands, the results that pass through and the kept values their places
 * in shared memory, and sets its size; and the most that it may be. */
void ga__fused_place(ga__fused_plan *p);
void ga__fused_place_columns(ga__fused_plan *p);
size_t ga__fused_shared_limit(const ga__fused_plan *p);

/* Whether the elements of neighbouring rows lie side by side, instead of those of a row. */
static inline bool ga__fused_has_columns(const ga__fused_plan *p)
{
    return p->v.walk == GA__WALK_COLUMNS;
}

/* CUDA: whether threads have whole short rows of one length, by groups that are whole words; and
 * whether operand k has its place in shared memory for results too. */
static inline bool ga__fused_has_whole_rows(const ga__fused_variant *v)
{
    return v->several > 0 && v->sure > 0 && v->walk != GA__WALK_THREADS;
}
static inline bool ga__fused_lends(const ga__fused_variant *v, int k)
{
    return v->staged >> k & 1 && ga__dtype_size((ga_dtype)v->operand[k].memory) ==
                                     ga__dtype_size((ga_dtype)v->operand[0].memory);
}

/* CUDA: whether operands that the last pass alone reads, and that are no part of the rows, take few
 * registers at a time; and whether operand k does. */
static inline bool ga__fused_reads_late(const ga__fused_formula *f, const ga__fused_variant *v)
{
    return v->registers && v->late && !f->per_row &&
           (v->walk == GA__WALK_ROWS || ga__fused_is_clustered(v));
}
static inline bool ga__fused_is_late(const ga__fused_formula *f, const ga__fused_variant *v, int k)
{
    bool late = ga__fused_reads_late(f, v) && v->operand[k].streamed &&
                v->operand[k].step == STEP_ONE && !(v->staged >> k & 1) && k > 0;
    for (int s = 0; s < f->nstages; s++)
        late &= !(f->reads[s] >> k & 1);
    return late;
}

/* CUDA: whether such an operand stays in shared memory, for all rows of a block. */
static inline bool ga__fused_is_staged_once(const ga__fused_formula *f, const ga__fused_variant *v,
                                            int k)
{
    return v->ahead == GA__AHEAD_IN_BULK && ga__fused_is_late(f, v, k);
}

/* Whether the rows of operand k are not all the same one. */
bool ga__fused_has_own_rows(const ga__fused_plan *p, int k);

/* Bytes of an element of operand k in memory. */
static inline size_t ga__fused_size(const ga__fused_plan *p, int k)
{
    return ga__dtype_size((ga_dtype)p->v.operand[k].memory);
}

/* Whether operand k is an array with elements of its own along the row. */
static inline bool ga__fused_along_row(const ga__fused_plan *p, int k)
{
    return p->v.operand[k].streamed && p->v.operand[k].step == STEP_ONE;
}

/* Whether the rows of operand k follow each other without gaps. */
static inline bool ga__fused_is_dense(const ga__fused_plan *p, int k)
{
    return ga__fused_along_row(p, k) && p->kept.ndim == 1 &&
           (p->kept.strides[k][0] == p->length || p->rows == 1);
}

#endif
