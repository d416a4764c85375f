/* Reads the environment, unless the program runs with raised rights. */
#include "base/os/environment.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;

const char *ga__environment(const char *name)
{
    return secure_getenv(name);
}

/* ---- PATH ---- */

static char default_path[1024]; /* longer than any system's */
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static void find_default_path(void)
{
    const size_t length = confstr(_CS_PATH, default_path, sizeof default_path);

    if (length == 0 || length > sizeof default_path)
        snprintf(default_path, sizeof default_path, "/bin:/usr/bin");
}

const char *ga__search_path(void)
{
    const char *path = ga__environment("PATH");

    if (path)
        return path;
    pthread_once(&default_once, find_default_path);
    return default_path;
}

char **ga__own_environment(void)
{
    static char *none[] = {NULL};

    return environ && !getauxval(AT_SECURE) ? environ : none;
}
