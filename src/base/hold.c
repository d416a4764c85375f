/* Keeps a record of what each thread holds, and reports what is held. */
#include "base/hold.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

_Thread_local ga__holder *ga__thread_holder;
atomic_bool ga__hold_fences = true;

/* Records are never freed: there are as many as the largest number of threads at one time. A new
 * thread reuses the record of a thread that has ended. */
static _Atomic(ga__holder *) holders;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_exit_key;

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

static void leave_record(ga__holder *holder)
{
    for (int k = 0; k < GA__HOLDS; k++)
        atomic_store(&holder->held[k], NULL);
    holder->depth = 0;
    atomic_store(&holder->taken, false);
}

/* A later destructor of the thread may take a record again. */
static void end_thread(void *holder)
{
    ga__thread_holder = NULL;
    leave_record(holder);
}

/* Only the thread that forked exists in the child. */
static void start_child(void)
{
    (void)membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    for (ga__holder *h = atomic_load(&holders); h; h = h->next)
        if (h != ga__thread_holder)
            leave_record(h);
}

/* Runs before any thread has a record, so no thread announces anything before the barrier is
 * registered. */
static void begin(void)
{
    has_exit_key = pthread_key_create(&exit_key, end_thread) == 0;
    pthread_atfork(NULL, NULL, start_child);
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
        atomic_store(&ga__hold_fences, false);
}

static ga__holder *take_record(void)
{
    for (ga__holder *h = atomic_load(&holders); h; h = h->next)
        if (!atomic_exchange(&h->taken, true))
            return h;
    return NULL;
}

static ga__holder *new_record(void)
{
    ga__holder *holder = ga__calloc(1, sizeof *holder);
    if (!holder)
        return NULL;
    atomic_store(&holder->taken, true);
    holder->next = atomic_load(&holders);
    while (!atomic_compare_exchange_weak(&holders, &holder->next, holder))
        continue;
    return holder;
}

ga__holder *ga__holder_new(void)
{
    pthread_once(&once, begin);
    ga__holder *holder = take_record();
    if (!holder)
        holder = new_record();
    if (holder && has_exit_key)
        (void)pthread_setspecific(exit_key, holder); /* on failure, the record stays taken */
    return ga__thread_holder = holder;
}

ga__holder *ga__holder_full(void)
{
    return ga__fail_null(GA_ERR_UNSUPPORTED,
                         "callbacks: calls from them nest too deeply: %d kernels in use",
                         GA__HOLDS);
}

bool ga__hold_barrier(void)
{
    return atomic_load(&ga__hold_fences) || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

/* Holds are nested, so the first NULL ends a thread's list. */
bool ga__is_held(const void *item)
{
    for (ga__holder *h = atomic_load(&holders); h; h = h->next)
        for (int k = 0; k < GA__HOLDS; k++) {
            const void *held = atomic_load(&h->held[k]);
            if (held == item)
                return true;
            if (!held)
                break;
        }
    return false;
}
