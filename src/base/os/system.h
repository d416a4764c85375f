/* What the operating system does for us: files, directories, processors, time. */
#ifndef GA_BASE_OS_SYSTEM_H
#define GA_BASE_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/error.h>

/* The whole file, terminated by a NUL that *nbytes does not count; ga__free it. NULL and an error.
 */
char *ga__read_file(const char *path, size_t *nbytes);

/* Writes all bytes; 0 or an errno. */
int ga__write_all(int fd, const void *bytes, size_t nbytes);

/* Writes the file, which is nobody else's meanwhile: after a failure there may be a part of it. For
 * files that others see there is base/replacement.h. */
ga_status ga__write_file(const char *path, const void *bytes, size_t nbytes);

/* Makes the directory and its parents, mode 0700. */
ga_status ga__make_directories(const char *path);

/* The absolute path of TMPDIR, or /tmp; ga__free it. */
char *ga__temporary_parent(void);

/* A fresh directory there, mode 0700; ga__free the name. */
char *ga__make_temporary_directory(void);

/* Removes the directory with all it holds, as far as that goes; follows no link. */
void ga__remove_tree(const char *path);

/* Monotonic time in seconds. */
double ga__now(void);

/* 64 bits that nobody can guess, or where the system has none, that differ from call to call. */
uint64_t ga__entropy(void);

/* Online processors this process may use, at least 1. */
int ga__processor_count(void);

#endif
