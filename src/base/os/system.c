/* Wraps the system calls for files, directories, processors and time. */
#include "base/os/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strbuf.h"

enum { READ_SIZE = 4096, REASON_SIZE = 128 };

/* Raises GA_ERR_IO: "cannot read x.npy: No such file or directory". */
static ga_status fail_io(const char *what, const char *name, int error)
{
    char reason[REASON_SIZE];

    return ga__fail(GA_ERR_IO, "file: cannot %s %s: %s", what, name,
                    strerror_r(error, reason, sizeof reason));
}

/* Appends everything that can still be read; returns 0 or an errno. ENOMEM means that the error is
 * already raised. */
static int read_all(int fd, ga__strbuf *text)
{
    char piece[READ_SIZE];

    for (;;) {
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return 0;
        if (n > 0)
            ga__strbuf_add_bytes(text, piece, (size_t)n);
        if (text->failed)
            return ENOMEM;
    }
}

char *ga__read_file(const char *path, size_t *nbytes)
{
    ga__strbuf text = GA__STRBUF_INIT;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        fail_io("read", path, errno);
        return NULL;
    }
    const int error = read_all(fd, &text);
    close(fd);
    if (error && !text.failed)
        fail_io("read", path, error);
    if (error) {
        ga__strbuf_reset(&text);
        return NULL;
    }
    const size_t length = text.length;
    char *bytes = ga__strbuf_take(&text);
    if (bytes)
        *nbytes = length;
    return bytes;
}

int ga__write_all(int fd, const void *bytes, size_t nbytes)
{
    const char *at = bytes;

    while (nbytes > 0) {
        const ssize_t n = write(fd, at, nbytes);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            at += n;
            nbytes -= (size_t)n;
        }
    }
    return 0;
}

ga_status ga__write_file(const char *path, const void *bytes, size_t nbytes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0)
        return fail_io("write", path, errno);
    int error = ga__write_all(fd, bytes, nbytes);
    if (close(fd) != 0 && !error)
        error = errno;
    return error ? fail_io("write", path, error) : GA_OK;
}

/* Returns 0 or an errno. */
static int make_directory(const char *path)
{
    struct stat status;

    if (mkdir(path, 0700) == 0)
        return 0;
    const int error = errno;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
    return error;
}

ga_status ga__make_directories(const char *path)
{
    char *prefix = ga__strdup(path);
    int error = 0;

    if (!prefix)
        return GA_ERR_MEMORY;
    for (char *slash = strchr(prefix, '/'); slash && !error; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (slash > prefix)
            error = make_directory(prefix);
        *slash = '/';
    }
    if (!error)
        error = make_directory(prefix);
    ga__free(prefix);
    return error ? fail_io("make directory", path, error) : GA_OK;
}

char *ga__temporary_parent(void)
{
    const char *wanted = ga__environment("TMPDIR");
    ga__strbuf text = GA__STRBUF_INIT;

    if (!wanted || !*wanted)
        return ga__strdup("/tmp");
    char *here = *wanted != '/' ? getcwd(NULL, 0) : NULL;
    if (here)
        ga__strbuf_addf(&text, "%s/", here);
    free(here);
    ga__strbuf_add(&text, wanted);
    return ga__strbuf_take(&text);
}

char *ga__make_temporary_directory(void)
{
    char *parent = ga__temporary_parent();
    ga__strbuf text = GA__STRBUF_INIT;

    if (!parent)
        return NULL;
    ga__strbuf_addf(&text, "%s/quarry-XXXXXX", parent);
    ga__free(parent);
    char *name = ga__strbuf_take(&text);
    if (!name)
        return NULL;
    if (!mkdtemp(name)) {
        fail_io("make a directory like", name, errno);
        ga__free(name);
        return NULL;
    }
    return name;
}

/* Empties the directory and closes its descriptor. Looks names up relative to descriptors, so that
 * a folder that someone swaps in is not followed. */
static void remove_entries(int directory)
{
    DIR *stream = fdopendir(directory);

    if (!stream) {
        close(directory);
        return;
    }
    for (struct dirent *item; (item = readdir(stream)) != NULL;) {
        const char *name = item->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(directory, name, 0) == 0)
            continue;
        const int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0)
            remove_entries(inner);
        (void)unlinkat(directory, name, AT_REMOVEDIR);
    }
    closedir(stream);
}

void ga__remove_tree(const char *path)
{
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (directory >= 0)
        remove_entries(directory);
    (void)rmdir(path);
}

double ga__now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t ga__entropy(void)
{
    static _Atomic uint64_t calls;
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits)
        return bits;
    struct {
        double now;
        uint64_t calls, process;
    } seen = {ga__now(), atomic_fetch_add(&calls, 1), (uint64_t)getpid()};
    return ga__hash64(&seen, sizeof seen, 0);
}

int ga__processor_count(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed) > 0 ? CPU_COUNT(&allowed) : 1;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
