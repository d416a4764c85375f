/* Counts the elements of fused rows that a thread of CUDA has room for in registers. */
#include "kernels/fused/fused_cuda.h"

#define REGISTER_BYTES 128 /* of a thread's elements */
#define MOST_PAIRED 32     /* elements of a thread in pairs, */
#define PAIRED_OF_WARP 64  /* and where a warp then has the row, without barriers */
#define HELD_BYTES 96      /* where results take registers too, and no copy is on its way */
#define AHEAD_EACH 32      /* elements of a thread in registers while the next row is copied, */
#define AHEAD_PAIRED 64    /* and in pairs */

typedef ga__fused_plan plan;

bool ga__fused_has_pairs(const plan *p)
{
    return p->call->formula->pairs != GA_NO_DTYPE &&
           (p->v.lanes != 1 || p->v.walk == GA__WALK_COLUMNS || p->v.walk == GA__WALK_THREADS);
}

/* Bytes of registers that an element of operand k takes, and one of a kept value. */
static size_t operand_bytes(const plan *p, int k)
{
    return ga__fused_has_pairs(p) || ga__fused_size(p, k) > WORD ? ga__fused_size(p, k) : WORD;
}
static size_t kept_bytes(const plan *p, int q)
{
    const ga_dtype type = p->call->formula->kept[q].type;
    const size_t size = ga__dtype_size(ga__dtype_compute(type));
    return ga__fused_has_pairs(p) ? ga__dtype_size(type) : size < WORD ? WORD : size;
}

/* Bytes of registers that one element takes. */
static int register_bytes(const plan *p)
{
    size_t nbytes = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k))
            nbytes += operand_bytes(p, k);
    for (int q = 0; q < p->call->formula->nkept; q++)
        nbytes += kept_bytes(p, q);
    return (int)nbytes;
}

int ga__fused_most_paired(const plan *p)
{
    return p->v.walk == GA__WALK_ROWS && p->length <= GA__WARP * PAIRED_OF_WARP ? PAIRED_OF_WARP
                                                                                : MOST_PAIRED;
}

int ga__fused_most_each(const plan *p)
{
    const int bytes = register_bytes(p), most = bytes > 0 ? REGISTER_BYTES / bytes : MOST_EACH,
              limit = ga__fused_has_pairs(p)      ? ga__fused_most_paired(p)
                      : p->call->formula->per_row ? MOST_PER_ROW
                                                  : MOST_EACH;
    return most < 1 ? 1 : most > limit ? limit : most;
}

/* Whether passes read operand k again instead: where rows of threads are the same one, too. */
static bool takes_none(const plan *p, int k)
{
    return ga__fused_is_late(p->call->formula, &p->v, k) ||
           (p->v.walk == GA__WALK_THREADS && !(p->v.staged >> k & 1));
}

/* Bytes of registers that one element takes before pass s reads it: what no later pass reads has
 * left its place to a kept value. */
static int bytes_before(const plan *p, int s)
{
    const ga__fused_formula *f = p->call->formula;
    uint64_t read = 0;
    for (int pass = s; pass <= f->nstages; pass++)
        read |= f->reads[pass];
    size_t nbytes = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k) && (s == 0 || read >> k & 1) && !takes_none(p, k))
            nbytes += operand_bytes(p, k);
    for (int q = 0; q < f->nkept; q++)
        if (f->kept[q].stage < s)
            nbytes += kept_bytes(p, q);
    return (int)nbytes;
}

bool ga__fused_has_late(const plan *p)
{
    bool late = false;
    for (int k = 1; k < p->call->noperands; k++)
        late |= ga__fused_is_late(p->call->formula, &p->v, k);
    return late;
}

/* The most bytes of registers that an element takes before some pass. */
static int most_bytes(const plan *p)
{
    int bytes = 1;
    for (int s = 0; s <= p->call->formula->nstages; s++)
        bytes = bytes_before(p, s) > bytes ? bytes_before(p, s) : bytes;
    return bytes;
}

int ga__fused_most_held(const plan *p)
{
    return (p->call->formula->per_row ? REGISTER_BYTES : HELD_BYTES) / most_bytes(p);
}

int ga__fused_most_ahead(const plan *p)
{
    const bool pairs = ga__fused_has_pairs(p);
    const int room = REGISTER_BYTES - (!pairs && ga__fused_has_late(p) ? GA__VECTOR_BYTES : 0),
              most = room / most_bytes(p), limit = pairs ? AHEAD_PAIRED : AHEAD_EACH;
    return most < limit ? most : limit;
}

int ga__fused_power_of_two(int64_t at_least, int most)
{
    int power = 1;
    while (power < at_least && power < most)
        power *= 2;
    return power;
}

int ga__fused_sure_of(int room, int64_t whole_vectors, int team)
{
    int sure = 0;
    for (int k = 1; k < room && k * (int64_t)team <= whole_vectors; k *= 2)
        sure = k;
    return sure;
}
