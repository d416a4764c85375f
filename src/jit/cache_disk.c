/* Keeps compiled code in a private directory: a file per key, checked when read, evicted by age. */
#include "jit/cache_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/setting.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/log.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "jit/cache_file.h"

#define DEFAULT_LIMIT ((uint64_t)1 << 30)

enum {
    STALE_SECONDS = 3600,      /* the writer of a temporary file this old is dead */
    STORES_BETWEEN_LOOKS = 32, /* at the directory, as a mean over all processes */
    LEAST_SHARE = 64           /* a process that has stored the limit / 64 looks too */
};

/* ---- the directory ---- */

static char *joined(const char *directory, const char *rest)
{
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "%s%s", directory, rest);
    return ga__strbuf_take(&path);
}

char *ga__disk_cache_directory(void)
{
    const char *own = ga__environment("QUARRY_CACHE_DIR");
    if (own)
        return *own ? ga__strdup(own) : NULL;
    const char *cache = ga__environment("XDG_CACHE_HOME");
    if (cache && *cache == '/') /* the XDG specification says to ignore a relative path */
        return joined(cache, "/quarry");
    const char *home = ga__environment("HOME");
    return home && *home ? joined(home, "/.cache/quarry") : NULL;
}

/* Quarry loads code from here, so no other user may be able to write to it. */
static bool is_private(int directory, const char *path)
{
    struct stat status;
    if (fstat(directory, &status) != 0)
        return false;
    if (status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    ga__log(GA_LOG_INFO,
            "cache directory %s is not used: owner %ld (this user: %ld), mode %04o; only this user "
            "may have write access",
            path, (long)status.st_uid, (long)geteuid(), (unsigned)status.st_mode & 07777u);
    return false;
}

/* A descriptor of the directory at the path; -1 when Quarry cannot use it. */
static int open_path(const char *path, bool make)
{
    if (make)
        (void)ga__make_directories(path); /* opening it tells whether that worked */
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        if (make || errno != ENOENT)
            ga__log(GA_LOG_INFO, "cache directory %s is not used: %s", path, strerror(errno));
        return -1;
    }
    if (is_private(directory, path))
        return directory;
    close(directory);
    return -1;
}

static int open_directory(bool make)
{
    char *path = ga__disk_cache_directory();
    int directory = path ? open_path(path, make) : -1;
    ga__free(path);
    return directory;
}

/* ---- one entry ---- */

bool ga__disk_cache_get(const void *key, size_t key_bytes, void **code, size_t *nbytes)
{
    ga__saved_error saved = ga__error_save();
    int directory = open_directory(false);
    bool found = false;
    if (directory >= 0) {
        const ga__cache_key k = {key, key_bytes, ga__hash128_of(key, key_bytes)};
        found = ga__cache_file_get(directory, &k, code, nbytes);
        close(directory);
    }
    ga__error_restore(saved);
    return found;
}

/* ---- all files ---- */

struct file {
    struct timespec used;
    uint64_t nbytes;
    char name[GA__CACHE_DIGITS + sizeof ".qk"];
};

struct listing {
    struct file *files;
    size_t count, capacity;
    uint64_t nbytes;
};

enum file_kind { FOREIGN, ENTRY, TEMPORARY };

static enum file_kind kind_of(const char *name)
{
    if (strspn(name, "0123456789abcdef") != GA__CACHE_DIGITS ||
        strncmp(name + GA__CACHE_DIGITS, ".qk", 3))
        return FOREIGN;
    const char *rest = name + GA__CACHE_DIGITS + 3;
    return *rest == '\0' ? ENTRY : *rest == '-' ? TEMPORARY : FOREIGN;
}

static bool add_file(struct listing *listing, const char *name, const struct stat *status)
{
    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity ? 2 * listing->capacity : 64;
        struct file *files = ga__realloc(listing->files, capacity * sizeof *files);
        if (!files)
            return false;
        listing->files = files;
        listing->capacity = capacity;
    }
    struct file *file = &listing->files[listing->count++];
    file->used = status->st_mtim;
    file->nbytes = (uint64_t)status->st_size;
    memcpy(file->name, name, sizeof file->name);
    listing->nbytes += file->nbytes;
    return true;
}

/* Lists one name. Removes a temporary file whose writer must be dead. */
static bool look_at(int directory, const char *name, struct listing *listing)
{
    struct stat status;
    enum file_kind kind = kind_of(name);
    if (kind == FOREIGN || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return true;
    if (kind == ENTRY)
        return add_file(listing, name, &status);
    if (status.st_mtim.tv_sec < time(NULL) - STALE_SECONDS)
        unlinkat(directory, name, 0);
    return true;
}

/* Lists all entries; false when the list is incomplete. The caller frees listing->files in either
 * case. */
static bool list_entries(int directory, struct listing *listing)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again >= 0 ? fdopendir(again) : NULL;
    if (!stream) {
        if (again >= 0)
            close(again);
        return false;
    }
    bool whole = true;
    for (struct dirent *item; whole && (item = readdir(stream)) != NULL;)
        whole = look_at(directory, item->d_name, listing);
    closedir(stream);
    return whole;
}

/* ---- eviction ---- */

static uint64_t refuse_size(const char *text)
{
    ga__setting_refuse("QUARRY_CACHE_SIZE", text, "bytes such as 65536, 64K, 512M or 2G");
    return DEFAULT_LIMIT;
}

/* "512M" is 2^29. */
static uint64_t size_limit(void)
{
    const char *text = ga__environment("QUARRY_CACHE_SIZE");
    if (!text || !*text)
        return DEFAULT_LIMIT;
    if (*text < '0' || *text > '9')
        return refuse_size(text);
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    static const char suffixes[] = "KkMmGg";
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    int shift = suffix ? 10 * (int)((suffix - suffixes) / 2 + 1) : 0;
    if (errno || end[suffix != NULL] || number > UINT64_MAX >> shift)
        return refuse_size(text);
    return (uint64_t)number << shift;
}

static int by_age(const void *left, const void *right)
{
    const struct file *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    if (a->used.tv_nsec != b->used.tv_nsec)
        return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Removes the oldest entries until the total is within the limit. Returns the remaining bytes. */
static uint64_t evict(int directory, struct listing *listing, uint64_t limit)
{
    uint64_t left = listing->nbytes;
    if (left <= limit)
        return left;
    qsort(listing->files, listing->count, sizeof listing->files[0], by_age);
    size_t i = 0;
    for (; i < listing->count && left > limit; i++) {
        unlinkat(directory, listing->files[i].name, 0);
        left -= listing->files[i].nbytes;
    }
    ga__log(GA_LOG_DEBUG, "cache: %zu of %zu entries evicted, %" PRIu64 " bytes left", i,
            listing->count, left);
    return left;
}

/* The bytes at this process's last listing, 0 before it, and those that it has stored since.
 * Listing a large directory at every store would cost as much as the compile before it. */
static struct {
    pthread_mutex_t lock;
    dev_t device;
    ino_t inode;
    uint64_t listed, stored;
} tally = {.lock = PTHREAD_MUTEX_INITIALIZER};
GA__FORK_GUARD(&tally.lock, GA__FORK_LEAF, NULL)

static void set_tally(const struct stat *directory, uint64_t listed)
{
    tally.device = directory->st_dev;
    tally.inode = directory->st_ino;
    tally.listed = listed;
    tally.stored = 0;
}

/* Whether the store of this key lists the directory. Every process agrees on which keys do, so that
 * many processes that store little list it as often together as one that stores much. */
static bool is_chosen(const ga__cache_key *key)
{
    return key->hash.low % STORES_BETWEEN_LOOKS == 0;
}

/* Counts one store. True when the directory must be listed now. */
static bool must_look(const struct stat *directory, const ga__cache_key *key, uint64_t nbytes,
                      uint64_t limit)
{
    pthread_mutex_lock(&tally.lock);
    if (tally.device != directory->st_dev || tally.inode != directory->st_ino)
        set_tally(directory, 0);
    tally.stored += nbytes;
    const bool must =
        is_chosen(key) || tally.stored > limit / LEAST_SHARE || tally.listed + tally.stored > limit;
    pthread_mutex_unlock(&tally.lock);
    return must;
}

static void keep_within(int directory, const ga__cache_key *key, uint64_t stored, uint64_t limit)
{
    struct stat status;
    struct listing listing = {NULL, 0, 0, 0};
    if (fstat(directory, &status) != 0 || !must_look(&status, key, stored, limit))
        return;
    if (list_entries(directory, &listing)) {
        const uint64_t left = evict(directory, &listing, limit);
        pthread_mutex_lock(&tally.lock);
        set_tally(&status, left);
        pthread_mutex_unlock(&tally.lock);
    }
    ga__free(listing.files);
}

void ga__disk_cache_put(const void *key, size_t key_bytes, const void *code, size_t nbytes)
{
    uint64_t stored = ga__cache_file_bytes(key_bytes, nbytes);
    uint64_t limit = size_limit();
    if (stored > limit) /* it would evict all other entries, then itself */
        return;
    ga__saved_error saved = ga__error_save();
    int directory = open_directory(true);
    if (directory >= 0) {
        const ga__cache_key k = {key, key_bytes, ga__hash128_of(key, key_bytes)};
        int error = ga__cache_file_put(directory, &k, (ga__blob){code, nbytes});
        if (error)
            ga__log(GA_LOG_INFO, "cache: an entry was not stored: %s", strerror(error));
        else
            keep_within(directory, &k, stored, limit);
        close(directory);
    }
    ga__error_restore(saved);
}

/* ---- for users ---- */

/* Calls `each` for every entry of the directory in use. Returns how many calls returned true. */
static int64_t visit(bool (*each)(int directory, const struct file *file, void *user), void *user)
{
    ga__saved_error saved = ga__error_save();
    struct listing listing = {NULL, 0, 0, 0};
    int64_t count = 0;
    int directory = open_directory(false);
    if (directory >= 0) {
        (void)list_entries(directory, &listing);
        for (size_t i = 0; i < listing.count; i++)
            count += each(directory, &listing.files[i], user);
        close(directory);
    }
    ga__free(listing.files);
    ga__error_restore(saved);
    return count;
}

static bool remove_file(int directory, const struct file *file, void *user)
{
    (void)user;
    return unlinkat(directory, file->name, 0) == 0;
}

static bool measure_file(int directory, const struct file *file, void *user)
{
    int64_t *bytes = user;
    (void)directory;
    *bytes += (int64_t)file->nbytes;
    return true;
}

struct reader {
    ga__disk_cache_entry *each;
    void *user;
};

static bool show_file(int directory, const struct file *file, void *user)
{
    const struct reader *reader = user;
    char start[256];
    ga__cache_file_start(directory, file->name, start, sizeof start);
    reader->each(file->name, (int64_t)file->nbytes, (int64_t)file->used.tv_sec, start,
                 reader->user);
    return true;
}

int64_t ga__disk_cache_clear(void)
{
    return visit(remove_file, NULL);
}

void ga__disk_cache_usage(int64_t *files, int64_t *bytes)
{
    *bytes = 0;
    *files = visit(measure_file, bytes);
}

void ga__disk_cache_list(ga__disk_cache_entry *each, void *user)
{
    visit(show_file, &(struct reader){each, user});
}
