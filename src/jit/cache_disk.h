/* Compiled kernels on disk. A damaged file is a miss. An unwritable directory keeps nothing. */
#ifndef GA_JIT_CACHE_DISK_H
#define GA_JIT_CACHE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* The directory (ga__free it): QUARRY_CACHE_DIR, else XDG_CACHE_HOME/quarry, else
 * HOME/.cache/quarry. NULL when all are unset or QUARRY_CACHE_DIR is "". Each call reads the
 * environment again, since tests change it. */
char *ga__disk_cache_directory(void);

/* The code stored under exactly this key (compared in full, checksum verified), ga__free it; false
 * when there is none. Touches the file for the eviction order. Never raises. */
bool ga__disk_cache_get(const void *key, size_t key_bytes, void **code, size_t *nbytes);

/* Stores the code: writes a temporary file and renames it into place. Stores nothing unless this
 * user owns the directory and its mode is 0700. Then evicts the least recently used files while the
 * total exceeds QUARRY_CACHE_SIZE bytes (suffixes K, M, G; default 1G). Never raises. */
void ga__disk_cache_put(const void *key, size_t key_bytes, const void *code, size_t nbytes);

/* Removes every entry and returns their count. ga__disk_cache_usage() counts entries and bytes. */
int64_t ga__disk_cache_clear(void);
void ga__disk_cache_usage(int64_t *files, int64_t *bytes);

/* Calls `each` for every entry: the file's name, its size, the time of its last use in seconds
 * since 1970, and how its key starts, as text. Never raises. */
typedef void ga__disk_cache_entry(const char *name, int64_t bytes, int64_t used, const char *start,
                                  void *user);
void ga__disk_cache_list(ga__disk_cache_entry *each, void *user);

#endif
