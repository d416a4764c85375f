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

#include "base/alloc.h"

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

/* ---- the environment for other programs ---- */

#define PATH "PATH="
#define TMPDIR "TMPDIR="

static bool is_replaced(const char *variable)
{
    return strncmp(variable, PATH, strlen(PATH)) == 0 ||
           strncmp(variable, TMPDIR, strlen(TMPDIR)) == 0;
}

char **ga__child_environment(const char *temporary)
{
    static char *none[] = {NULL};
    char **ours = environ && !getauxval(AT_SECURE) ? environ : none;
    const char *path = ga__search_path();
    size_t n = 0, kept = 0;

    while (ours[n])
        n++;
    const size_t list_bytes = (n + 3) * sizeof *ours;
    char **list =
        ga__malloc(list_bytes + sizeof PATH + strlen(path) + sizeof TMPDIR + strlen(temporary));
    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_replaced(ours[i]))
            list[kept++] = ours[i];
    list[kept] = (char *)list + list_bytes;
    list[kept + 1] = stpcpy(stpcpy(list[kept], PATH), path) + 1;
    stpcpy(stpcpy(list[kept + 1], TMPDIR), temporary);
    list[kept + 2] = NULL;
    return list;
}
