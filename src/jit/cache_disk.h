/* Compiled kernels on disk. A bad file is a miss, an unwritable directory a cache that keeps
 * nothing. */
#ifndef GA_JIT_CACHE_DISK_H
#define GA_JIT_CACHE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* The directory: QUARRY_CACHE_DIR, else XDG_CACHE_HOME/quarry, else HOME/.cache/quarry; NULL when
 * there is none, or QUARRY_CACHE_DIR is "". Read again at each call (tests change it). ga__free it.
 */
char *ga__disk_cache_directory(void);

/* The code stored under exactly this key (compared in full, checksum verified), ga__free it; false
 * when there is none. Touches the file for the eviction order. Never raises. */
bool ga__disk_cache_get(const void *key, size_t key_bytes, void **code, size_t *nbytes);

/* Stores it: a temporary file renamed into place, directory mode 0700 and owned by us, else nothing
 * is stored. Then evicts the least recently used files while the total exceeds QUARRY_CACHE_SIZE
 * bytes (suffixes K, M, G; default 1G). Never raises. */
void ga__disk_cache_put(const void *key, size_t key_bytes, const void *code, size_t nbytes);

/* Removes every entry; how many. And how many there are and their bytes. */
int64_t ga__disk_cache_clear(void);
void ga__disk_cache_usage(int64_t *files, int64_t *bytes);

/* Calls `each` for every entry: the file's name, its size and the time of its last use in seconds
 * since 1970. Never raises. */
typedef void ga__disk_cache_entry(const char *name, int64_t bytes, int64_t used, void *user);
void ga__disk_cache_list(ga__disk_cache_entry *each, void *user);

#endif
