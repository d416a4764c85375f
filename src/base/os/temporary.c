/* Makes temporary folders, and removes those of killed processes. */
#include "base/os/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/claim.h"
#include "base/error.h"
#include "base/os/system.h"
#include "base/strbuf.h"

#define PREFIX "quarry-"
#define CLAIM "claim" /* the file in each folder on which its process holds a claim */

/* ---- cleaning up after killed processes ---- */

/* Removes the folder if it is ours, has a claim file, and no process holds the claim. */
static void remove_if_abandoned(int parent, const char *parent_path, const char *name)
{
    struct stat status;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int claim = folder < 0 ? -1 : openat(folder, CLAIM, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (claim >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
        ga__claim_abandoned(claim)) {
        ga__strbuf path = GA__STRBUF_INIT;
        ga__strbuf_addf(&path, "%s/%s", parent_path, name);
        if (!path.failed)
            ga__remove_tree(path.text);
        ga__strbuf_reset(&path);
    }
    if (claim >= 0)
        close(claim);
    if (folder >= 0)
        close(folder);
}

static void remove_abandoned(void)
{
    char *path = ga__temporary_parent();
    DIR *parent = path ? opendir(path) : NULL;

    for (struct dirent *item; parent && (item = readdir(parent)) != NULL;)
        if (strncmp(item->d_name, PREFIX, strlen(PREFIX)) == 0)
            remove_if_abandoned(dirfd(parent), path, item->d_name);
    if (parent)
        closedir(parent);
    ga__free(path);
}

/* Best effort: its failures are not reported. */
static void clean(void)
{
    ga__saved_error saved = ga__error_save();

    remove_abandoned();
    ga__error_restore(saved);
}

/* ---- folders ---- */

/* Makes the claim file of a new folder; -1 if a cleaner was faster (EAGAIN) or on another error. */
static int claim_folder(const char *path)
{
    ga__strbuf name = GA__STRBUF_INIT;
    int fd = -1;

    ga__strbuf_addf(&name, "%s/" CLAIM, path);
    if (!name.failed)
        fd = open(name.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && !ga__claim(fd)) {
        close(fd);
        fd = -1;
        errno = EAGAIN;
    }
    ga__strbuf_reset(&name);
    return fd;
}

/* One attempt: returns 0, EAGAIN if a cleaner was faster, or another errno. If the path stays NULL,
 * the error is already raised. */
static int make_folder(ga__temporary *t)
{
    t->path = ga__make_temporary_directory();
    if (!t->path)
        return EIO;
    t->claim = claim_folder(t->path);
    return t->claim >= 0 ? 0 : errno;
}

ga_status ga__temporary_init(ga__temporary *t)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ga__temporary made;
    char reason[128];
    int error = EAGAIN;

    pthread_once(&once, clean);
    while ((error = make_folder(&made)) == EAGAIN)
        ga__free(made.path); /* the cleaner has removed it */
    if (!error) {
        *t = made;
        return GA_OK;
    }
    if (!made.path)
        return ga_error();
    ga__fail(GA_ERR_IO, "file: cannot make a file in %s: %s", made.path,
             strerror_r(error, reason, sizeof reason));
    ga__remove_tree(made.path);
    ga__free(made.path);
    return ga_error();
}

void ga__temporary_reset(ga__temporary *t)
{
    ga__remove_tree(t->path);
    close(t->claim);
    ga__free(t->path);
    *t = (ga__temporary){NULL, -1};
}

/* ---- files ---- */

/* For file systems without O_TMPFILE: makes a named file and unlinks it at once. */
static int open_unlinked(const char *parent)
{
    ga__strbuf name = GA__STRBUF_INIT;
    int fd = -1;

    ga__strbuf_addf(&name, "%s/" PREFIX "XXXXXX", parent);
    if (!name.failed)
        fd = mkostemp(name.text, O_CLOEXEC);
    if (fd >= 0)
        unlink(name.text);
    ga__strbuf_reset(&name);
    return fd;
}

int ga__open_nameless(void)
{
    char *parent = ga__temporary_parent();
    int fd = -1;

    if (parent)
        fd = open(parent, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (parent && fd < 0)
        fd = open_unlinked(parent);
    ga__free(parent);
    return fd;
}
