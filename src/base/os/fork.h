/* Keeps locks and what they guard usable in a forked child, where no other thread lives on. */
#ifndef GA_BASE_OS_FORK_H
#define GA_BASE_OS_FORK_H

#include <pthread.h>
#include <stdint.h>

/* The order in which a fork takes the guarded locks. A thread that holds one lock while it takes
 * another takes them in this order too. A guarded lock is never held while a function of the user's
 * runs, which may fork. */
typedef enum ga__fork_rank {
    GA__FORK_GRAPH,
    GA__FORK_TABLE, /* of code and plans */
    GA__FORK_DEVICE,
    GA__FORK_LOADER,
    GA__FORK_LEAF, /* no other is taken while it is held */
    GA__FORK_RANKS
} ga__fork_rank;

/* A lock that fork() takes first and both processes give back. */
typedef struct ga__fork_guard {
    pthread_mutex_t *lock;  /* NULL: there is only something to mend */
    void (*in_child)(void); /* mends what the lock guards, which is held; may be NULL */
    ga__fork_rank rank;
    struct ga__fork_guard *next, **link; /* the guard's place in its list; NULL: none */
} ga__fork_guard;

/* A guard that is on the list already stays where it is. */
void ga__fork_guard_add(ga__fork_guard *guard);
void ga__fork_guard_remove(ga__fork_guard *guard);

/* Guards a static lock of this file, from the start of the program. */
#define GA__FORK_GUARD(lock, rank, in_child)                                                       \
    static ga__fork_guard static_guard = {lock, in_child, rank, NULL, NULL};                       \
    __attribute__((constructor)) static void add_static_guard(void)                                \
    {                                                                                              \
        ga__fork_guard_add(&static_guard);                                                         \
    }

/* The number of forks between the first process and this one. What a thread began under another
 * number, nobody ends. */
uint32_t ga__fork_count(void);

#endif
