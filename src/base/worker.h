/* A background thread that runs one task at a time for its owner, which continues meanwhile. */
#ifndef GA_BASE_WORKER_H
#define GA_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Only the owner's thread calls these functions. */
typedef struct ga__worker {
    pthread_t thread;
    bool has_thread;
    uint32_t forks; /* ga__fork_count() in the process that started the thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum { GA__WORKER_IDLE, GA__WORKER_GIVEN, GA__WORKER_DONE, GA__WORKER_OVER } state;
    ga_status (*run)(void *context);
    void *context;
    ga_status status;
    ga__saved_error error;
} ga__worker;

/* Starts the thread. If none is wanted, or none can be started, ga__worker_start() runs the task
 * itself. */
void ga__worker_init(ga__worker *worker, bool wanted);

/* Gives run(context) to the thread, which must be idle: the owner has waited for the previous
 * task. */
void ga__worker_start(ga__worker *worker, ga_status (*run)(void *context), void *context);

/* Waits for the task; returns its status and gives its error to the caller. GA_OK if no task was
 * started. */
ga_status ga__worker_wait(ga__worker *worker);

/* Waits, discards any error, and ends the thread. */
void ga__worker_reset(ga__worker *worker);

#endif
