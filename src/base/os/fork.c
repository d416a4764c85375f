/* Keeps locks and the data that they guard usable in a forked child, which has only the forking
 * thread. */
#include "base/os/fork.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static struct {
    pthread_mutex_t lock; /* taken before all guarded locks */
    bool watching;
    ga__fork_guard *guards[GA__FORK_RANKS];
} forks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint32_t count;

static void take(const ga__fork_guard *guard)
{
    if (guard->lock != NULL)
        pthread_mutex_lock(guard->lock);
    if (guard->before != NULL)
        guard->before();
}

static void release(const ga__fork_guard *guard)
{
    if (guard->after != NULL)
        guard->after();
    if (guard->lock != NULL)
        pthread_mutex_unlock(guard->lock);
}

static void lock_all(void)
{
    pthread_mutex_lock(&forks.lock);
    for (int rank = 0; rank < GA__FORK_RANKS; rank++)
        for (ga__fork_guard *guard = forks.guards[rank]; guard != NULL; guard = guard->next)
            take(guard);
}

static void unlock_all(void)
{
    for (int rank = GA__FORK_RANKS - 1; rank >= 0; rank--)
        for (ga__fork_guard *guard = forks.guards[rank]; guard != NULL; guard = guard->next)
            release(guard);
    pthread_mutex_unlock(&forks.lock);
}

static void mend_all(void)
{
    atomic_fetch_add(&count, 1);
    for (int rank = 0; rank < GA__FORK_RANKS; rank++)
        for (ga__fork_guard *guard = forks.guards[rank]; guard != NULL; guard = guard->next)
            if (guard->in_child != NULL)
                guard->in_child();
    unlock_all();
}

void ga__fork_guard_add(ga__fork_guard *guard)
{
    pthread_mutex_lock(&forks.lock);
    if (!forks.watching)
        pthread_atfork(lock_all, unlock_all, mend_all);
    forks.watching = true;
    if (guard->link == NULL) {
        ga__fork_guard **list = &forks.guards[guard->rank];
        guard->next = *list;
        guard->link = list;
        if (guard->next != NULL)
            guard->next->link = &guard->next;
        *list = guard;
    }
    pthread_mutex_unlock(&forks.lock);
}

void ga__fork_guard_remove(ga__fork_guard *guard)
{
    pthread_mutex_lock(&forks.lock);
    if (guard->link != NULL) {
        *guard->link = guard->next;
        if (guard->next != NULL)
            guard->next->link = guard->link;
        guard->link = NULL;
    }
    pthread_mutex_unlock(&forks.lock);
}

uint32_t ga__fork_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}
