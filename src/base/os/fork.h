/* Keeps locks and the data that they guard usable in a forked child, which has only the forking
 * thread. */
#ifndef GA_BASE_OS_FORK_H
#define GA_BASE_OS_FORK_H

#include <pthread.h>
#include <stdint.h>

/* The order in which a fork takes the guarded locks. A thread that takes a lock while it holds
 * another follows this order too. No guarded lock is held while a function of the user's runs,
 * since it may fork. */
typedef enum ga__fork_rank {
    GA__FORK_GRAPH,
    GA__FORK_TABLE, /* of code and plans */
    GA__FORK_DEVICE,
    GA__FORK_LIBRARY,
    GA__FORK_LOADER,
    GA__FORK_LEAF, /* no other lock is taken while it is held */
    GA__FORK_RANKS
} ga__fork_rank;

/* A lock that fork() takes first and both processes release. */
typedef struct ga__fork_guard {
    pthread_mutex_t *lock;  /* NULL if there is only data to repair */
    void (*in_child)(void); /* repairs the guarded data with the lock held; may be NULL */
    ga__fork_rank rank;
    struct ga__fork_guard *next, **link; /* the guard's place in its list; NULL if none */
    /* Instead of `lock`: take and release locks of another kind. */
    void (*before)(void), (*after)(void);
} ga__fork_guard;

/* Adding a guard that is on the list already has no effect. */
void ga__fork_guard_add(ga__fork_guard *guard);
void ga__fork_guard_remove(ga__fork_guard *guard);

/* Guards a static lock of this file from the start of the program. */
#define GA__FORK_GUARD(lock, rank, in_child)                                                       \
    static ga__fork_guard static_guard = {lock, in_child, rank, NULL, NULL, NULL, NULL};           \
    __attribute__((constructor)) static void add_static_guard(void)                                \
    {                                                                                              \
        ga__fork_guard_add(&static_guard);                                                         \
    }

/* The number of forks between the first process and this one. If the number has changed, the
 * threads that an object started do not exist in this process. */
uint32_t ga__fork_count(void);

#endif
