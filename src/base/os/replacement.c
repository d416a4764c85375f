/* Replaces whole files: writes a new file beside the old one, then renames it. */
#include "base/os/replacement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/claim.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os/system.h"
#include "base/strbuf.h"

#define PREFIX ".quarry-" /* followed by the process, "-" and a number */

enum { MAX_LINKS = 40, REASON_SIZE = 128 };

/* Raises "save: x.npy: No such file or directory". */
static ga_status fail_io(const ga__replacement *r, int error)
{
    char reason[REASON_SIZE];

    return ga__fail(error == ENOMEM ? GA_ERR_MEMORY : GA_ERR_IO, "%s%s: %s", r->what, r->path,
                    strerror_r(error, reason, sizeof reason));
}

/* ---- the target ---- */

/* The path's directory with its "/", or "" for the current one; ga__free it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return ga__strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* The result of directory_of() in the form that system calls take. */
static const char *as_path(const char *directory)
{
    return *directory ? directory : ".";
}

/* Whether the system itself would follow the link (proc(5), protected_symlinks): in a folder where
 * everyone can make files, such as /tmp, it does not follow a link of another user. */
static bool may_follow(const struct stat *link, const char *directory)
{
    struct stat folder;

    return link->st_uid == geteuid() || stat(as_path(directory), &folder) != 0 ||
           (folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
           folder.st_uid == link->st_uid;
}

/* One step: `text` becomes the target if the path is a link, otherwise "". Returns 0 or an
 * errno. */
static int read_link(const char *path, const char *directory, char text[PATH_MAX])
{
    struct stat status;
    int error = 0;
    const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    *text = '\0';
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    if (fstat(fd, &status) != 0) {
        error = errno;
    } else if (S_ISLNK(status.st_mode)) {
        const ssize_t length = readlinkat(fd, "", text, PATH_MAX - 1);
        error = length < 0 ? errno : may_follow(&status, directory) ? 0 : EACCES;
        text[error ? 0 : length] = '\0';
    }
    close(fd);
    return error;
}

/* Takes one step along the path, which the caller's variable owns; *done is set when it is no link.
 * Returns 0 or an errno. */
static int follow_link(char **path, bool *done)
{
    char text[PATH_MAX] = "";
    ga__strbuf next = GA__STRBUF_INIT;
    char *directory = directory_of(*path);
    int error = directory ? read_link(*path, directory, text) : ENOMEM;

    *done = !error && !*text;
    if (!error && *text) {
        ga__strbuf_addf(&next, "%s%s", *text == '/' ? "" : directory, text);
        ga__free(*path);
        *path = ga__strbuf_take(&next);
        error = *path ? 0 : ENOMEM;
    }
    ga__free(directory);
    return error;
}

/* Follows links to the path where open(2) would write; that file need not exist. Returns 0 or an
 * errno. */
static int follow_links(const char *path, char **target)
{
    char *at = ga__strdup(path);
    bool done = false;
    int error = at ? 0 : ENOMEM;

    for (int i = 0; i <= MAX_LINKS && !error && !done; i++)
        error = follow_link(&at, &done);
    if (!error && !done)
        error = ELOOP;
    if (error)
        ga__free(at);
    else
        *target = at;
    return error;
}

/* ---- cleaning up after killed processes ---- */

/* PREFIX, digits, "-", digits. */
static bool is_temporary(const char *name)
{
    static const char digits[] = "0123456789";

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    name += strlen(PREFIX);
    const size_t process = strspn(name, digits);
    if (process == 0 || name[process] != '-')
        return false;
    name += process + 1;
    return *name && strspn(name, digits) == strlen(name);
}

static void remove_if_abandoned(int directory, const char *name)
{
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    if (ga__claim_abandoned(fd))
        unlinkat(directory, name, 0);
    close(fd);
}

/* Whether the folder differs from that of the last call: a program that saves a thousand files to
 * one folder lists it only once. */
static bool is_another(int directory)
{
    static _Atomic uint64_t last;
    struct stat status;

    if (fstat(directory, &status) != 0)
        return false;
    const uint64_t folder[2] = {status.st_dev, status.st_ino};
    const uint64_t hash = ga__hash64(folder, sizeof folder, 1);
    return atomic_exchange(&last, hash) != hash;
}

static void clean(const char *path)
{
    DIR *directory = opendir(path);

    if (!directory)
        return;
    if (is_another(dirfd(directory)))
        for (struct dirent *item; (item = readdir(directory)) != NULL;)
            if (is_temporary(item->d_name))
                remove_if_abandoned(dirfd(directory), item->d_name);
    closedir(directory);
}

/* ---- the new file ---- */

/* Gives the new file the owner, group and mode of the old one, where we have the right to. If the
 * group cannot be kept, the new group gets no right that others do not have. */
static void keep_attributes(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    struct stat made;

    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0 &&
        fstat(fd, &made) == 0 && made.st_gid != old->st_gid)
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3;
    (void)fchmod(fd, mode);
}

/* Makes a claimed file in the directory; returns its descriptor, or -1 and *error. */
static int make_file(const char *directory, mode_t mode, char **name, int *error)
{
    static _Atomic unsigned counter;

    for (;;) {
        ga__strbuf text = GA__STRBUF_INIT;
        ga__strbuf_addf(&text, "%s" PREFIX "%ld-%u", directory, (long)getpid(),
                        atomic_fetch_add(&counter, 1));
        *name = ga__strbuf_take(&text);
        if (!*name) {
            *error = ENOMEM;
            return -1;
        }
        const int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        *error = errno;
        if (fd >= 0 && ga__claim(fd))
            return fd;
        const bool again = fd >= 0 || *error == EEXIST;
        if (fd >= 0) {
            unlink(*name);
            close(fd);
        }
        ga__free(*name);
        if (!again)
            return -1;
    }
}

/* Makes the file beside r->target. Returns 0 or an errno. */
static int open_beside(ga__replacement *r, const struct stat *old)
{
    int error = 0;
    char *directory = directory_of(r->target);

    if (!directory)
        return ENOMEM;
    clean(as_path(directory));
    r->fd = make_file(directory, old ? 0600 : 0666, &r->name, &error);
    ga__free(directory);
    if (r->fd < 0)
        return error;
    if (old)
        keep_attributes(r->fd, old);
    return 0;
}

ga_status ga__replacement_open(ga__replacement *r, const char *what, const char *path)
{
    ga__replacement made = {.fd = -1, .what = what, .path = path};
    struct stat old;
    int error = follow_links(path, &made.target);

    if (error)
        return fail_io(&made, error);
    const bool is_there = lstat(made.target, &old) == 0; /* if not, making the file finds the
                                                          * reason */
    ga_status status = GA_OK;
    if (is_there && S_ISDIR(old.st_mode))
        status = fail_io(&made, EISDIR);
    else if (is_there && !S_ISREG(old.st_mode)) /* /dev/null, for example, is not ours to replace */
        status = ga__fail(GA_ERR_IO, "%s%s: not a regular file", what, path);
    else if ((error = open_beside(&made, is_there ? &old : NULL)) != 0)
        status = fail_io(&made, error);
    if (status != GA_OK) {
        ga__free(made.target);
        return status;
    }
    *r = made;
    return GA_OK;
}

/* ---- putting it in place ---- */

/* Waits until the file, or a directory's names, are on the disk. Returns 0 or an errno; a file
 * system that does not support the call counts as success. */
static int sync_to_disk(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
    }
    return 0;
}

static int sync_directory(const char *target)
{
    char *directory = directory_of(target);
    int error = 0;

    if (!directory)
        return ENOMEM;
    const int fd = open(as_path(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) { /* otherwise we may write to the folder but not read it: the system syncs it
                    * later */
        error = sync_to_disk(fd);
        close(fd);
    }
    ga__free(directory);
    return error;
}

static void reset(ga__replacement *r)
{
    ga__free(r->target);
    ga__free(r->name);
    r->target = r->name = NULL;
    r->fd = -1;
}

ga_status ga__replacement_commit(ga__replacement *r)
{
    int error = sync_to_disk(r->fd);

    if (!error && rename(r->name, r->target) != 0)
        error = errno;
    if (error)
        unlink(r->name);
    else
        error = sync_directory(r->target);
    close(r->fd); /* only now: closing ends the claim */
    const ga_status status = error ? fail_io(r, error) : GA_OK;
    reset(r);
    return status;
}

void ga__replacement_discard(ga__replacement *r)
{
    if (!r->name)
        return;
    unlink(r->name);
    close(r->fd);
    reset(r);
}

ga_status ga__write_file_atomic(const char *path, const void *bytes, size_t nbytes)
{
    ga__replacement r;
    const ga_status status = ga__replacement_open(&r, "file: cannot write ", path);

    if (status != GA_OK)
        return status;
    const int error = ga__write_all(r.fd, bytes, nbytes);
    if (!error)
        return ga__replacement_commit(&r);
    ga__replacement_discard(&r);
    return fail_io(&(ga__replacement){.what = "file: cannot write ", .path = path}, error);
}
