/* Reads and writes one file of the cache, checked by its key and a checksum. */
#include "jit/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/os/system.h"

/* A file is: struct head, the key, struct seal, the code. The magic ends with a version. */
#define MAGIC "QUARRY\0\1"

enum { NAME_SIZE = 80 }; /* the digits, ".qk", and for a temporary file "-PID-NUMBER" */

struct head {
    char magic[8];
    uint64_t key_bytes;
};

struct seal {
    uint64_t code_bytes;
    uint64_t checksum[2];
};

uint64_t ga__cache_file_bytes(size_t key_bytes, size_t code_bytes)
{
    return sizeof(struct head) + key_bytes + sizeof(struct seal) + code_bytes;
}

static void name_entry(char name[NAME_SIZE], ga__hash128 hash)
{
    snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 ".qk", hash.high, hash.low);
}

static void name_temporary(char temporary[NAME_SIZE], const char *name)
{
    static _Atomic unsigned counter;
    snprintf(temporary, NAME_SIZE, "%.35s-%ld-%u", name, (long)getpid(),
             atomic_fetch_add(&counter, 1));
}

static struct seal seal_of(ga__hash128 of_key, ga__blob code)
{
    ga__hash128 of_code = ga__hash128_of(code.bytes, code.nbytes);
    uint64_t both[4] = {of_key.high, of_key.low, of_code.high, of_code.low};
    ga__hash128 checksum = ga__hash128_of(both, sizeof both);
    return (struct seal){code.nbytes, {checksum.high, checksum.low}};
}

static bool read_exactly(int file, void *bytes, size_t nbytes)
{
    for (char *at = bytes; nbytes;) {
        ssize_t got = read(file, at, nbytes);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            nbytes -= (size_t)got;
        }
    }
    return true;
}

static bool write_exactly(int file, const void *bytes, size_t nbytes)
{
    for (const char *at = bytes; nbytes;) {
        ssize_t put = write(file, at, nbytes);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            at += put;
            nbytes -= (size_t)put;
        }
    }
    return true;
}

/* Reads the part before the code with one read, and its seal into *seal. False when the file is for
 * another key. */
static bool read_front(int file, const ga__cache_key *key, struct seal *seal)
{
    const struct head head = {MAGIC, key->nbytes};
    const size_t nbytes = sizeof head + key->nbytes + sizeof *seal;
    char *front = ga__malloc(nbytes);
    const bool matches = front && read_exactly(file, front, nbytes) &&
                         memcmp(front, &head, sizeof head) == 0 &&
                         memcmp(front + sizeof head, key->bytes, key->nbytes) == 0;
    if (matches)
        memcpy(seal, front + sizeof head + key->nbytes, sizeof *seal);
    ga__free(front);
    return matches;
}

/* Quarry loads code from the file, so no other user may have written it or be able to. */
static bool is_trusted(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Compares the sizes with the file's size before it allocates memory. */
static bool read_entry(int file, const ga__cache_key *key, void **code, size_t *nbytes)
{
    struct stat status;
    struct seal seal;
    if (fstat(file, &status) != 0 || !is_trusted(&status))
        return false;
    const uint64_t room = (uint64_t)status.st_size;
    const uint64_t fixed = sizeof(struct head) + key->nbytes + sizeof seal;
    if (room < fixed || !read_front(file, key, &seal) || seal.code_bytes != room - fixed)
        return false;
    void *bytes = ga__malloc((size_t)seal.code_bytes);
    if (!bytes)
        return false;
    const ga__blob read = {bytes, (size_t)seal.code_bytes};
    if (read_exactly(file, bytes, read.nbytes)) {
        const struct seal expected = seal_of(key->hash, read);
        if (memcmp(&seal, &expected, sizeof seal) == 0) {
            *code = bytes;
            *nbytes = read.nbytes;
            return true;
        }
    }
    ga__free(bytes);
    return false;
}

/* Marks the file as used now, with a finer time than the kernel's own tick. */
static void touch(int file)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    /* On a read-only disk the time stays unchanged. */
    (void)futimens(file, (const struct timespec[2]){now, now});
}

bool ga__cache_file_get(int directory, const ga__cache_key *key, void **code, size_t *nbytes)
{
    char name[NAME_SIZE];
    name_entry(name, key->hash);
    /* Never follows a link. Never blocks on a pipe in the file's place. */
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    bool found = read_entry(file, key, code, nbytes);
    if (found)
        touch(file);
    close(file);
    return found;
}

void ga__cache_file_start(int directory, const char *name, char *start, size_t size)
{
    struct head head;
    *start = '\0';
    const int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (read_exactly(file, &head, sizeof head) &&
        memcmp(head.magic, MAGIC, sizeof head.magic) == 0) {
        const size_t nbytes = head.key_bytes < size - 1 ? (size_t)head.key_bytes : size - 1;
        start[read_exactly(file, start, nbytes) ? nbytes : 0] = '\0';
    }
    close(file);
}

/* 0 or an errno. */
static int write_entry(int file, const ga__cache_key *key, ga__blob code)
{
    struct head head = {MAGIC, key->nbytes};
    struct seal seal = seal_of(key->hash, code);
    bool written =
        write_exactly(file, &head, sizeof head) && write_exactly(file, key->bytes, key->nbytes) &&
        write_exactly(file, &seal, sizeof seal) && write_exactly(file, code.bytes, code.nbytes);
    int error = written ? 0 : errno;
    /* No fsync: after a crash of the machine an entry may lack bytes, which its checksum tells. */
    touch(file);
    return error;
}

/* Returns 0, or an errno and leaves no file. */
int ga__cache_file_put(int directory, const ga__cache_key *key, ga__blob code)
{
    char name[NAME_SIZE], temporary[NAME_SIZE];
    int file;
    name_entry(name, key->hash);
    do { /* another machine or an earlier process may have used this process's number */
        name_temporary(temporary, name);
        file = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
    } while (file < 0 && errno == EEXIST);
    if (file < 0)
        return errno;
    int error = write_entry(file, key, code);
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && renameat(directory, temporary, directory, name) != 0)
        error = errno;
    if (error)
        unlinkat(directory, temporary, 0);
    return error;
}
