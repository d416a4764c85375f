/* A thread that runs one errand at a time for its owner, who meanwhile does something else. */
#include "base/worker.h"

#include <signal.h>

#include "base/alloc.h"
#include "base/os/fork.h"

static void run_errand(ga__worker *errand)
{
    errand->status = errand->run(errand->context);
    errand->error = ga__error_save();
}

static void *serve(void *argument)
{
    ga__worker *errand = argument;

    pthread_mutex_lock(&errand->lock);
    while (errand->state != GA__ERRAND_OVER) {
        if (errand->state == GA__ERRAND_GIVEN) {
            pthread_mutex_unlock(&errand->lock);
            run_errand(errand);
            pthread_mutex_lock(&errand->lock);
            errand->state = GA__ERRAND_DONE;
            pthread_cond_signal(&errand->changed);
        } else {
            pthread_cond_wait(&errand->changed, &errand->lock);
        }
    }
    pthread_mutex_unlock(&errand->lock);
    return NULL;
}

void ga__worker_init(ga__worker *errand, bool wanted)
{
    sigset_t all, before;

    *errand = (ga__worker){.state = GA__ERRAND_IDLE, .forks = ga__fork_count()};
    pthread_mutex_init(&errand->lock, NULL);
    pthread_cond_init(&errand->changed, NULL);
    if (!wanted)
        return;
    sigfillset(&all); /* signals stay with the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errand->has_thread = pthread_create(&errand->thread, NULL, serve, errand) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void change(ga__worker *errand, int state)
{
    pthread_mutex_lock(&errand->lock);
    errand->state = state;
    pthread_cond_signal(&errand->changed);
    pthread_mutex_unlock(&errand->lock);
}

/* In the owner's thread, whose own error stays as it is. */
static void run_here(ga__worker *errand)
{
    const ga__saved_error before = ga__error_save();

    run_errand(errand);
    ga__error_restore(before);
    errand->state = GA__ERRAND_DONE;
}

/* In a child that the owner forked, from a function of the user's, the thread is not: what it was
 * given is lost, and the locks are as it left them. */
static void survive_fork(ga__worker *errand)
{
    if (errand->forks == ga__fork_count())
        return;
    errand->forks = ga__fork_count();
    pthread_mutex_init(&errand->lock, NULL);
    pthread_cond_init(&errand->changed, NULL);
    if (errand->has_thread && errand->state == GA__ERRAND_GIVEN) {
        const ga__saved_error before = ga__error_save();
        errand->status = ga__fail(GA_ERR_UNSUPPORTED,
                                  "the process forked, and the child has no thread to go on with");
        errand->error = ga__error_save();
        ga__error_restore(before);
        errand->state = GA__ERRAND_DONE;
    }
    errand->has_thread = false;
}

void ga__worker_start(ga__worker *errand, ga_status (*run)(void *context), void *context)
{
    survive_fork(errand);
    errand->run = run;
    errand->context = context;
    if (errand->has_thread)
        change(errand, GA__ERRAND_GIVEN);
    else
        run_here(errand);
}

/* Until the thread is idle: whether an errand has been done. */
static bool await(ga__worker *errand)
{
    survive_fork(errand);
    pthread_mutex_lock(&errand->lock);
    while (errand->state == GA__ERRAND_GIVEN)
        pthread_cond_wait(&errand->changed, &errand->lock);
    const bool done = errand->state == GA__ERRAND_DONE;
    errand->state = GA__ERRAND_IDLE;
    pthread_mutex_unlock(&errand->lock);
    return done;
}

ga_status ga__worker_wait(ga__worker *errand)
{
    if (!await(errand))
        return GA_OK;
    if (errand->error.status != GA_OK && ga_error() == GA_OK)
        ga__error_restore(errand->error);
    else
        ga__free(errand->error.message);
    return errand->status;
}

void ga__worker_reset(ga__worker *errand)
{
    if (await(errand))
        ga__free(errand->error.message);
    if (errand->has_thread) {
        change(errand, GA__ERRAND_OVER);
        pthread_join(errand->thread, NULL);
    }
    pthread_cond_destroy(&errand->changed);
    pthread_mutex_destroy(&errand->lock);
}
