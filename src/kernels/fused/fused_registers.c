/* Counts the elements of fused rows that a thread of CUDA has room for in registers. */
#include "kernels/fused/fused_cuda.h"

#define REGISTER_BYTES 128 /* of a thread's elements */
#define MOST_PAIRED 32     /* elements of a thread of columns, in pairs */
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
    for (uint64_t rest = p->along; rest; rest &= rest - 1)
        nbytes += operand_bytes(p, __builtin_ctzll(rest));
    for (int q = 0; q < p->call->formula->nkept; q++)
        nbytes += kept_bytes(p, q);
    return (int)nbytes;
}

int ga__fused_most_each(const plan *p)
{
    const int bytes = register_bytes(p), most = bytes > 0 ? REGISTER_BYTES / bytes : MOST_EACH,
              limit = ga__fused_has_pairs(p)      ? MOST_PAIRED
                      : p->call->formula->per_row ? MOST_PER_ROW
                                                  : MOST_EACH;
    return most < 1 ? 1 : most > limit ? limit : most;
}

/* Operands that the last pass alone reads, a few vectors at a time. */
static uint64_t late_operands(const plan *p)
{
    const uint64_t last = p->last & ~p->v.staged;
    return last && ga__fused_reads_late(p->call->formula, &p->v) ? last : 0;
}

bool ga__fused_has_late(const plan *p)
{
    return late_operands(p) != 0;
}

/* The most bytes of registers that an element takes before some pass, of these operands and of kept
 * values: what no later pass reads has left its place to one of them. Without kept values the first
 * pass has the most. */
static int count_bytes(const plan *p, uint64_t taken)
{
    const ga__fused_formula *f = p->call->formula;
    uint64_t read = 0;
    size_t most = 1;
    for (int s = f->nkept > 0 ? f->nstages : 0; s >= 0; s--) {
        size_t nbytes = 0;
        read |= f->reads[s];
        for (uint64_t rest = s > 0 ? taken & read : taken; rest; rest &= rest - 1)
            nbytes += operand_bytes(p, __builtin_ctzll(rest));
        for (int q = 0; q < f->nkept; q++)
            if (f->kept[q].stage < s)
                nbytes += kept_bytes(p, q);
        most = nbytes > most ? nbytes : most;
    }
    return (int)most;
}

/* Passes read operands again that come late, or that rows of threads share. Forms of a plan that
 * take the same operands, in pairs or not, count once. */
static int most_bytes(plan *p)
{
    const uint64_t staged = p->v.walk == GA__WALK_THREADS ? p->v.staged : ~UINT64_C(0),
                   taken = p->along & ~late_operands(p) & staged,
                   counted = taken | ga__fused_has_pairs(p); /* operand 0 is never taken */
    if (p->counted != counted) {
        p->counted = counted;
        p->counted_bytes = count_bytes(p, taken);
    }
    return p->counted_bytes;
}

int ga__fused_most_held(plan *p)
{
    return (p->call->formula->per_row ? REGISTER_BYTES : HELD_BYTES) / most_bytes(p);
}

int ga__fused_most_ahead(plan *p)
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
    int sure = room / 2, power = 1;
    while (2 * power < sure)
        power *= 2;
    for (; sure > 0 && sure * (int64_t)team > whole_vectors; power /= 2)
        sure = power;
    return sure;
}
