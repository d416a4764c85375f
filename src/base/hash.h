/* Hashes of bytes: 64 bits for tables in memory, 128 bits for file names and for identities. */
#ifndef GA_BASE_HASH_H
#define GA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct ga__hash128 {
    uint64_t high, low;
} ga__hash128;

uint64_t ga__hash64(const void *bytes, size_t nbytes, uint64_t seed);
ga__hash128 ga__hash128_of(const void *bytes, size_t nbytes);

/* SipHash-2-4 with a result of 128 bits (Aumasson & Bernstein, 2012) under the key. */
ga__hash128 ga__siphash(const void *bytes, size_t nbytes, ga__hash128 key);

/* Identifies the bytes within this process: equal bytes have equal identities. The key is random
 * and secret, so no input can be chosen to collide. */
ga__hash128 ga__identity_of(const void *bytes, size_t nbytes);

#endif
