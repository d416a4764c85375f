/* Sends log lines to the program's callback, or to standard error when QUARRY_LOG asks for it. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/environment.h"
#include "base/os/fork.h"

enum { LINE_SIZE = 1024 };

typedef struct listener {
    void (*callback)(int level, const char *text, void *user);
    void *user;
} listener;

static pthread_mutex_t listener_lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&listener_lock, GA__FORK_LEAF, NULL)

static listener current_listener;
static _Atomic bool listening; /* a callback is set; lets ga__log_wanted skip the lock */
static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static int environment_level = GA_LOG_ERROR - 1;

static void read_environment(void)
{
    const char *text = ga__environment("QUARRY_LOG");

    if (text && strcmp(text, "debug") == 0)
        environment_level = GA_LOG_DEBUG;
    else if (text && strcmp(text, "info") == 0)
        environment_level = GA_LOG_INFO;
    else if (text && strcmp(text, "error") == 0)
        environment_level = GA_LOG_ERROR;
    else if (text && *text)
        fprintf(stderr, "quarry: QUARRY_LOG=%s is ignored: it takes error, info or debug\n", text);
}

static int asked_level(void)
{
    pthread_once(&environment_once, read_environment);
    return environment_level;
}

void ga_set_log(void (*callback)(int level, const char *text, void *user), void *user)
{
    pthread_mutex_lock(&listener_lock);
    current_listener = (listener){callback, user};
    atomic_store(&listening, callback != NULL);
    pthread_mutex_unlock(&listener_lock);
}

bool ga__log_wanted(ga_log_level level)
{
    if (atomic_load_explicit(&listening, memory_order_relaxed))
        return true;
    return (int)level <= asked_level();
}

/* Makes one line of any text: a longer one ends in "...", and line ends become blanks. */
static void make_line(char *line, const char *format, va_list args)
{
    const int length = vsnprintf(line, LINE_SIZE, format, args);

    if (length < 0)
        line[0] = '\0';
    if (length >= LINE_SIZE)
        memcpy(line + LINE_SIZE - 4, "...", 4);
    for (char *end = strchr(line, '\n'); end; end = strchr(end, '\n'))
        *end = ' ';
}

void ga__log(ga_log_level level, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;

    if (!ga__log_wanted(level))
        return;
    va_start(args, format);
    make_line(line, format, args);
    va_end(args);

    /* The lock is released first, so that a callback may itself call ga_set_log. */
    pthread_mutex_lock(&listener_lock);
    const listener to = current_listener;
    pthread_mutex_unlock(&listener_lock);
    if (to.callback)
        to.callback((int)level, line, to.user);
    else if ((int)level <= asked_level())
        fprintf(stderr, "quarry: %s\n", line);
}
