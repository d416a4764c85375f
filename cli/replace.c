/* Writes a file whole or not at all: beside the old one, which it then replaces. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

/* A name in the folder of the path, unless it begins with "/"; NULL without memory. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const int length = *name == '/' || !slash ? 0 : (int)(slash - path) + 1;
    char *text;
    return asprintf(&text, "%.*s%s", length, path, name) < 0 ? NULL : text;
}

/* The file that the path's links lead to, which need not exist; NULL and errno on failure. */
static char *target_of(const char *path)
{
    char text[PATH_MAX], *at = strdup(path);
    for (int k = 0; at && k < MOST_LINKS; k++) {
        const ssize_t length = readlink(at, text, sizeof text - 1);
        if (length < 0)
            return at;
        text[length] = '\0';
        char *next = beside(at, text);
        free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}

/* Gives the file the owner, the group and the mode of the old one; a group that it cannot keep gets
 * no rights. */
static void keep_attributes(int fd, const struct stat *old)
{
    const bool kept =
        fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0;
    (void)fchmod(fd, old->st_mode & (kept ? 0777 : 0707));
}

/* Makes r->name, a new file beside the target. Returns its descriptor, or -1 and errno. */
static int make_file(replacement *r, const struct stat *old)
{
    char name[64];
    for (int k = 0;; k++) {
        snprintf(name, sizeof name, ".quarry-%ld.%d", (long)getpid(), k);
        r->name = beside(r->target, name);
        if (!r->name)
            return -1;
        const int fd = open(r->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
        if (fd >= 0 && old)
            keep_attributes(fd, old);
        if (fd >= 0)
            return fd;
        const int error = errno;
        free(r->name);
        r->name = NULL;
        errno = error;
        if (error != EEXIST)
            return -1;
    }
}

bool replacement_open(replacement *r, const char *path)
{
    struct stat old;
    *r = (replacement){.path = path, .target = target_of(path)};
    const bool is_there = r->target && stat(r->target, &old) == 0;
    const bool replaces = !is_there || S_ISREG(old.st_mode);
    const int fd = r->target && replaces ? make_file(r, is_there ? &old : NULL) : -1;
    r->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (r->file)
        return true;
    complain("%s: %s", path, replaces ? strerror(errno) : "not a regular file");
    if (fd >= 0)
        close(fd);
    return replacement_close(r, false);
}

/* Some file systems cannot wait for the disk: that is no failure. */
static bool synced(FILE *file)
{
    return fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

bool replacement_close(replacement *r, bool keep)
{
    bool kept = keep && !ferror(r->file) && fflush(r->file) == 0 && synced(r->file);
    kept = kept && rename(r->name, r->target) == 0;
    if (keep && !kept)
        complain("%s: %s", r->path, strerror(errno));
    if (r->name && !kept)
        unlink(r->name);
    if (r->file)
        fclose(r->file);
    free(r->name);
    free(r->target);
    return kept;
}
