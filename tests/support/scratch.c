/* A folder of the test's own, for the files it writes. */
#include "scratch.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/os/system.h"

char *scratch;

const char *in_scratch(const char *name)
{
    static char paths[4][4096];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

int files_in_scratch(void)
{
    DIR *directory = opendir(scratch);
    int count = 0;
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

bool open_scratch(void)
{
    scratch = ga__make_temporary_directory();
    return scratch != NULL;
}

int make_scratch(void **state)
{
    (void)state;
    return open_scratch() ? 0 : -1;
}

int close_scratch(const char *const *names)
{
    for (; *names; names++)
        unlink(in_scratch(*names));
    const int result = rmdir(scratch);
    ga__free(scratch);
    return result;
}

void remove_folder(const char *path)
{
    char name[4096];
    DIR *directory = opendir(path);
    for (const struct dirent *item; directory && (item = readdir(directory)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", path, item->d_name);
        unlink(name);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}
