/* Holds: what a thread uses of a shared table without owning it, announced so that no other thread
 * frees it meanwhile. These are hazard pointers (Michael, 2004): announcing is a store, and whoever
 * frees pays for the order by a barrier in all threads. */
#ifndef GA_BASE_HOLD_H
#define GA_BASE_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Nested holds of one thread: an evaluation holds its plan, and meanwhile a kernel. */
#define GA__HOLDS 16

/* One thread's holds. Other threads read held[], the rest is the owner's. */
typedef struct ga__holder {
    _Atomic(const void *) held[GA__HOLDS]; /* NULL from `depth` on */
    int depth;
    atomic_bool taken;
    struct ga__holder *next;
} ga__holder;

extern _Thread_local ga__holder *ga__thread_holder;

/* Whether announcing takes a fence, as the system has no barrier for all threads. */
extern atomic_bool ga__hold_fences;

/* Gives the thread a holder until it ends. NULL and an error when memory is out. */
ga__holder *ga__holder_new(void);

/* The calling thread's holder, with room for one more hold; NULL and an error. */
ga__holder *ga__holder_crowded(void);
static inline ga__holder *ga__holder_of_thread(void)
{
    ga__holder *holder = ga__thread_holder ? ga__thread_holder : ga__holder_new();
    return !holder || holder->depth < GA__HOLDS ? holder : ga__holder_crowded();
}

/* Announces that the thread is about to use the item. It may, if the table still has the item when
 * it is read again (memory_order_seq_cst) after this. An announcement replaces the one before. */
static inline void ga__hold_announce(ga__holder *holder, const void *item)
{
    _Atomic(const void *) *held = &holder->held[holder->depth];
    if (atomic_load_explicit(&ga__hold_fences, memory_order_relaxed)) {
        atomic_store_explicit(held, item, memory_order_seq_cst);
    } else {
        atomic_store_explicit(held, item, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
    }
}

/* Makes the announcement a hold, until ga__hold_end(), or takes it back. Holds end in the reverse
 * order. */
static inline void ga__hold_begin(ga__holder *holder)
{
    holder->depth++;
}

static inline void ga__hold_retract(ga__holder *holder)
{
    atomic_store_explicit(&holder->held[holder->depth], NULL, memory_order_release);
}

static inline void ga__hold_end(void)
{
    ga__holder *holder = ga__thread_holder;
    holder->depth--;
    ga__hold_retract(holder);
}

/* For whoever took items out of a table: after the barrier, an item that is not held can be freed,
 * as nobody can come to hold it. False when there is no barrier now: nothing can be freed. */
bool ga__hold_barrier(void);
bool ga__is_held(const void *item);

#endif
