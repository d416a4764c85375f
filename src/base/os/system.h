/* Wraps operating system services: files, directories, processors, time. */
#ifndef GA_BASE_OS_SYSTEM_H
#define GA_BASE_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/error.h>

/* Reads the whole file and appends a NUL that *nbytes does not count; ga__free it. NULL and an
 * error on failure. */
char *ga__read_file(const char *path, size_t *nbytes);

/* Writes all bytes; returns 0 or an errno. */
int ga__write_all(int fd, const void *bytes, size_t nbytes);

/* Writes a file that no other process uses meanwhile; after a failure, a part of it may exist. For
 * files that others can see, use base/os/replacement.h. */
ga_status ga__write_file(const char *path, const void *bytes, size_t nbytes);

/* Makes the directory and its parents with mode 0700. */
ga_status ga__make_directories(const char *path);

/* The absolute path of TMPDIR, or /tmp; ga__free it. */
char *ga__temporary_parent(void);

/* Makes a new directory there with mode 0700; ga__free the name. */
char *ga__make_temporary_directory(void);

/* Removes the directory and as much of its contents as possible; follows no links. */
void ga__remove_tree(const char *path);

/* Monotonic time in seconds. */
double ga__now(void);

/* 64 unpredictable bits; if the system has none, bits that differ from call to call. */
uint64_t ga__entropy(void);

/* The number of online processors that this process may use, at least 1. */
int ga__processor_count(void);

#endif
