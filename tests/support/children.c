/* Work in forked children, and a program that waits for every child of its own. */
#include "children.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry/error.h>

int in_child(int (*body)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HANG_SECONDS);
        const int result = body();
        if (result && ga_error() != GA_OK)
            fprintf(stderr, "child: %d: %s\n", result, ga_error_message());
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reap_all(int number)
{
    (void)number;
    const int saved = errno;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

void reap_children(void)
{
    signal(SIGCHLD, reap_all);
}
