/* Random elements by counter: element k of stream `seed`, the same on the host and on the device.
 */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

#ifdef __CUDACC__
#define RANDOM_FUNCTION static __host__ __device__ inline
#else
#define RANDOM_FUNCTION static inline
#endif

/* Floats are +-[1, 2) (POSITIVE: [1, 2)) with every bit of the fraction random: nothing compresses,
 * sums stay small, and the bits are made without a conversion. Integers have their whole range. */
typedef enum random_kind {
    RANDOM_F16,
    RANDOM_BF16,
    RANDOM_F32,
    RANDOM_F32_POSITIVE,
    RANDOM_F64,
    RANDOM_I64,
    RANDOM_I32,
    RANDOM_I8,
    RANDOM_BOOL,
    RANDOM_U8
} random_kind;

RANDOM_FUNCTION int random_bytes(random_kind kind)
{
    return kind == RANDOM_F64 || kind == RANDOM_I64 ? 8
           : kind <= RANDOM_BF16                    ? 2
           : kind >= RANDOM_I8                      ? 1
                                                    : 4;
}

/* The "lowbias32" mixer of https://github.com/skeeto/hash-prospector (public domain). */
RANDOM_FUNCTION uint32_t random_mix(uint32_t seed, uint64_t k)
{
    uint32_t u = (uint32_t)k ^ (seed * 0x9e3779b9u);

    u = (u ^ (u >> 16)) * 0x7feb352du;
    u = (u ^ (u >> 15)) * 0x846ca68bu;
    return u ^ (u >> 16);
}

/* The bits of the element, in the low random_bytes(kind) bytes. */
RANDOM_FUNCTION uint64_t random_bits(random_kind kind, uint32_t seed, uint64_t k)
{
    const uint32_t u = random_mix(seed, k);

    switch (kind) {
    case RANDOM_F16: return 0x3c00u | (u >> 22) | ((u & 1) << 15);
    case RANDOM_BF16: return 0x3f80u | (u >> 25) | ((u & 1) << 15);
    case RANDOM_F32: return 0x3f800000u | (u >> 9) | (u << 31);
    case RANDOM_F32_POSITIVE: return 0x3f800000u | (u >> 9);
    case RANDOM_F64: return 0x3ff0000000000000u | ((uint64_t)u << 20) | ((uint64_t)u << 63);
    case RANDOM_I64: return (uint64_t)u << 32 | random_mix(~seed, k);
    case RANDOM_I32: return u;
    case RANDOM_U8:
    case RANDOM_I8: return u >> 24;
    case RANDOM_BOOL: return u >> 31;
    }
    return 0;
}

/* Its value. */
RANDOM_FUNCTION double random_value(random_kind kind, uint32_t seed, uint64_t k)
{
    const uint32_t u = random_mix(seed, k);
    const double sign = u & 1 ? -1.0 : 1.0;

    switch (kind) {
    case RANDOM_F16: return sign * (1.0 + (u >> 22) / 1024.0);
    case RANDOM_BF16: return sign * (1.0 + (u >> 25) / 128.0);
    case RANDOM_F32: return sign * (1.0 + (u >> 9) / 8388608.0);
    case RANDOM_F32_POSITIVE: return 1.0 + (u >> 9) / 8388608.0;
    case RANDOM_F64: return sign * (1.0 + u / 4294967296.0);
    case RANDOM_I64: return (double)(int64_t)random_bits(kind, seed, k);
    case RANDOM_I32: return (int32_t)u;
    case RANDOM_U8: return u >> 24;
    case RANDOM_I8: return (int8_t)(u >> 24);
    case RANDOM_BOOL: return u >> 31;
    }
    return 0.0;
}

#endif
