/* Measures the calling thread's remaining stack, and provides a larger one. */
#include "base/os/stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

/* The thread's stack bounds, read once: for the main thread the system reads a file. */
typedef struct bounds {
    bool known;
    uintptr_t low, high; /* both 0 if unknown */
} bounds;

static _Thread_local bounds own;

static void find_bounds(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t nbytes = 0;
    own.known = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &nbytes) == 0) {
        own.low = (uintptr_t)low;
        own.high = own.low + nbytes;
    }
    pthread_attr_destroy(&attributes);
}

size_t ga__stack_left(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!own.known)
        find_bounds();
    return here >= own.low && here < own.high ? here - own.low : SIZE_MAX;
}

typedef struct task {
    void (*body)(void *context);
    void *context;
} task;

static void *run(void *argument)
{
    const task *t = argument;
    t->body(t->context);
    return NULL;
}

/* Signals stay with the program's own threads. */
static bool start(pthread_t *thread, size_t nbytes, task *t)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_attr_setstacksize(&attributes, nbytes) == 0 &&
                         pthread_create(thread, &attributes, run, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

bool ga__with_stack(size_t need, void (*body)(void *context), void *context)
{
    task t = {body, context};
    pthread_t thread;
    if (ga__stack_left() >= need) {
        body(context);
        return true;
    }
    if (!start(&thread, 2 * need, &t))
        return false;
    pthread_join(thread, NULL);
    return true;
}
