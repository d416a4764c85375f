/* One file of the cache: the code under a key. */
#ifndef GA_JIT_CACHE_FILE_H
#define GA_JIT_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* A file's name has this many hexadecimal digits of the key's hash, then ".qk". */
enum { GA__CACHE_DIGITS = 32 };

typedef struct ga__blob {
    const void *bytes;
    size_t nbytes;
} ga__blob;

typedef struct ga__cache_key {
    const void *bytes;
    size_t nbytes;
    ga__hash128 hash; /* of the bytes */
} ga__cache_key;

/* The size in bytes of a file that holds a key and code of these sizes. */
uint64_t ga__cache_file_bytes(size_t key_bytes, size_t code_bytes);

/* Reads the code under the key (ga__free it) and marks the file as used. False when the directory
 * has no whole and trusted file for the key. */
bool ga__cache_file_get(int directory, const ga__cache_key *key, void **code, size_t *nbytes);

/* Reads the first bytes of a file's key as text, which is "" if the file is no whole entry. */
void ga__cache_file_start(int directory, const char *name, char *start, size_t size);

/* Stores the code under the key, whole or not at all. Returns 0 or an errno. */
int ga__cache_file_put(int directory, const ga__cache_key *key, ga__blob code);

#endif
