/* One file of the cache: the code under a key. */
#ifndef GA_JIT_CACHE_FILE_H
#define GA_JIT_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file's name is so many digits of the key's hash and ".qk". */
enum { GA__CACHE_DIGITS = 32 };

typedef struct ga__blob {
    const void *bytes;
    size_t nbytes;
} ga__blob;

/* Bytes of a file for a key and code of these sizes. */
uint64_t ga__cache_file_bytes(size_t key_bytes, size_t code_bytes);

/* Reads the code under the key (ga__free it); false when the directory has none that is whole and
 * trusted. Notes that the file was used. */
bool ga__cache_file_get(int directory, ga__blob key, void **code, size_t *nbytes);

/* Stores the code under the key, whole or not at all; 0, or errno. */
int ga__cache_file_put(int directory, ga__blob key, ga__blob code);

#endif
