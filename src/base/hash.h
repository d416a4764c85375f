/* Hashes of bytes: 64 bits for tables in memory, 128 bits for file names. */
#ifndef GA_BASE_HASH_H
#define GA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct ga__hash128 {
    uint64_t high, low;
} ga__hash128;

uint64_t ga__hash64(const void *bytes, size_t nbytes, uint64_t seed);
ga__hash128 ga__hash128_of(const void *bytes, size_t nbytes);

#endif
