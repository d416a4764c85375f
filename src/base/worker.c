/* Runs tasks on a background thread, one at a time. */
#include "base/worker.h"

#include <signal.h>

#include "base/alloc.h"
#include "base/os/fork.h"

/* Leaves the error of the thread as it is: it may be the owner's. */
static void run_task(ga__worker *worker)
{
    const ga__saved_error before = ga__error_save();

    worker->status = worker->run(worker->context);
    worker->error = ga__error_take();
    ga__error_restore(before);
}

static void *serve(void *argument)
{
    ga__worker *worker = argument;

    pthread_mutex_lock(&worker->lock);
    while (worker->state != GA__WORKER_OVER) {
        if (worker->state == GA__WORKER_GIVEN) {
            pthread_mutex_unlock(&worker->lock);
            run_task(worker);
            pthread_mutex_lock(&worker->lock);
            worker->state = GA__WORKER_DONE;
            pthread_cond_signal(&worker->changed);
        } else {
            pthread_cond_wait(&worker->changed, &worker->lock);
        }
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

void ga__worker_init(ga__worker *worker, bool wanted)
{
    sigset_t all, before;

    *worker = (ga__worker){.state = GA__WORKER_IDLE, .forks = ga__fork_count()};
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    if (!wanted)
        return;
    sigfillset(&all); /* signals stay with the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker->has_thread = pthread_create(&worker->thread, NULL, serve, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void change(ga__worker *worker, int state)
{
    pthread_mutex_lock(&worker->lock);
    worker->state = state;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

/* After the owner forks (from a function of the user's), the worker's thread does not exist in the
 * child: its task is lost, and its locks are in the state that it left. */
static void survive_fork(ga__worker *worker)
{
    if (worker->forks == ga__fork_count())
        return;
    worker->forks = ga__fork_count();
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    if (worker->has_thread && worker->state == GA__WORKER_GIVEN) {
        const ga__saved_error before = ga__error_save();
        worker->status =
            ga__fail(GA_ERR_UNSUPPORTED,
                     "process: the background thread does not exist in the child of a fork()");
        worker->error = ga__error_take();
        ga__error_restore(before);
        worker->state = GA__WORKER_DONE;
    }
    worker->has_thread = false;
}

void ga__worker_start(ga__worker *worker, ga_status (*run)(void *context), void *context)
{
    survive_fork(worker);
    worker->run = run;
    worker->context = context;
    if (worker->has_thread) {
        change(worker, GA__WORKER_GIVEN);
        return;
    }
    run_task(worker);
    worker->state = GA__WORKER_DONE;
}

/* Waits until the thread is idle; returns whether a task has been done. */
static bool await(ga__worker *worker)
{
    survive_fork(worker);
    pthread_mutex_lock(&worker->lock);
    while (worker->state == GA__WORKER_GIVEN)
        pthread_cond_wait(&worker->changed, &worker->lock);
    const bool done = worker->state == GA__WORKER_DONE;
    worker->state = GA__WORKER_IDLE;
    pthread_mutex_unlock(&worker->lock);
    return done;
}

ga_status ga__worker_wait(ga__worker *worker)
{
    if (!await(worker))
        return GA_OK;
    ga__error_adopt(worker->error);
    return worker->status;
}

void ga__worker_reset(ga__worker *worker)
{
    if (await(worker))
        ga__free(worker->error.message);
    if (worker->has_thread) {
        change(worker, GA__WORKER_OVER);
        pthread_join(worker->thread, NULL);
    }
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
}
