/* Holds: a thread announces an item of a shared table that it uses without owning it, so that no
 * other thread frees the item. These are hazard pointers (Michael, 2004): an announcement is one
 * store, and the thread that frees items pays for the ordering with a barrier in all threads. */
#ifndef GA_BASE_HOLD_H
#define GA_BASE_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Nested holds of one thread; for example, an evaluation holds its plan while it holds a kernel. */
#define GA__HOLDS 16

/* One thread's holds. Other threads read held[]; the other members belong to the owner. */
typedef struct ga__holder {
    _Atomic(const void *) held[GA__HOLDS]; /* NULL from `depth` on */
    int depth;
    atomic_bool taken;
    struct ga__holder *next;
} ga__holder;

extern _Thread_local ga__holder *ga__thread_holder;

/* Whether an announcement needs a fence because the system has no barrier for all threads. */
extern atomic_bool ga__hold_fences;

/* Gives the thread a holder until the thread ends. NULL and an error if memory is out. */
ga__holder *ga__holder_new(void);

/* Reports that the calling thread has no room for another hold: NULL and an error. */
ga__holder *ga__holder_full(void);
static inline ga__holder *ga__holder_of_thread(void)
{
    ga__holder *holder = ga__thread_holder ? ga__thread_holder : ga__holder_new();
    return !holder || holder->depth < GA__HOLDS ? holder : ga__holder_full();
}

/* Announces that the thread is about to use the item. The thread may use it if the table, read
 * again after this call (memory_order_seq_cst), still has the item. A new announcement replaces the
 * previous one. */
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

/* ga__hold_begin() turns the announcement into a hold that lasts until ga__hold_end();
 * ga__hold_retract() withdraws the announcement. Holds end in reverse order. */
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

/* For a thread that has removed items from a table: after the barrier, no thread can begin to hold
 * them, so any item that is not held can be freed. False if no barrier is available now: nothing
 * can be freed. */
bool ga__hold_barrier(void);
bool ga__is_held(const void *item);

#endif
