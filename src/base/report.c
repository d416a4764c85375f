/* Reports a thread's new error: to the log, to the program's handler, to a debugger. */
#include "base/report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/setting.h"
#include "base/os/fork.h"

typedef struct handler {
    void (*call)(ga_status status, const char *message, const char *file, int line, void *user);
    void *user;
} handler;

static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&handler_lock, GA__FORK_LEAF, NULL)
static handler current_handler;

void ga_set_error_handler(void (*call)(ga_status status, const char *message, const char *file,
                                       int line, void *user),
                          void *user)
{
    pthread_mutex_lock(&handler_lock);
    current_handler = (handler){call, user};
    pthread_mutex_unlock(&handler_lock);
}

static bool wants_abort(void)
{
    return ga__setting_is("QUARRY_ABORT", "1");
}

static void log_error(ga_status status, const char *message, ga_site site)
{
    if (site.file)
        ga__log(GA_LOG_ERROR, "%s at %s:%d: %s", ga_status_name(status), site.file, site.line,
                message);
    else
        ga__log(GA_LOG_ERROR, "%s: %s", ga_status_name(status), message);
}

static void stop(ga_status status, const char *message, ga_site site)
{
    fprintf(stderr, "quarry: %s%s%s", ga_status_name(status), site.file ? " at " : "",
            site.file ? site.file : "");
    if (site.file)
        fprintf(stderr, ":%d", site.line);
    fprintf(stderr, ": %s\nquarry: QUARRY_ABORT=1 stops the program here\n", message);
    abort();
}

void ga__report_error(ga_status status, const char *message, ga_site site)
{
    pthread_mutex_lock(&handler_lock);
    const handler to = current_handler;
    pthread_mutex_unlock(&handler_lock);
    log_error(status, message, site);
    if (to.call)
        to.call(status, message, site.file, site.line, to.user);
    if (wants_abort())
        stop(status, message, site);
}
