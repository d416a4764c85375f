/* A thread that runs one errand at a time for its owner, who meanwhile does something else. */
#ifndef GA_BASE_WORKER_H
#define GA_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Everything here is called by the owner's thread alone. */
typedef struct ga__worker {
    pthread_t thread;
    bool has_thread;
    uint32_t forks; /* ga__fork_count() where the thread is */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum { GA__ERRAND_IDLE, GA__ERRAND_GIVEN, GA__ERRAND_DONE, GA__ERRAND_OVER } state;
    ga_status (*run)(void *context);
    void *context;
    ga_status status;
    ga__saved_error error;
} ga__worker;

/* Starts the thread. Where none is wanted or to be had, ga__worker_start() runs the errand itself.
 */
void ga__worker_init(ga__worker *errand, bool wanted);

/* Gives run(context) to the thread, which must be idle: the one before was waited for. */
void ga__worker_start(ga__worker *errand, ga_status (*run)(void *context), void *context);

/* Waits for what was started; its status, and its error as the caller's. GA_OK when nothing was. */
ga_status ga__worker_wait(ga__worker *errand);

/* Waits, forgets what went wrong, and ends the thread. */
void ga__worker_reset(ga__worker *errand);

#endif
