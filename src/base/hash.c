/* Hashes bytes: a multiply-and-fold hash of 64 bits, and MurmurHash3 of 128 bits.
 *
 * The first follows the idea and the constants of Wang Yi's wyhash (public domain,
 * https://github.com/wangyi-fudan/wyhash) in a form of our own; the second is Austin Appleby's
 * MurmurHash3_x64_128 with seed 0 (public domain, https://github.com/aappleby/smhasher). */
#include "base/hash.h"

#include <string.h>

__extension__ typedef unsigned __int128 uint128;

#define SECRET0 UINT64_C(0xa0761d6478bd642f)
#define SECRET1 UINT64_C(0xe7037ed1a0b428db)
#define SECRET2 UINT64_C(0x8ebc6af09c88c6e3)

/* Up to 8 bytes as a number, little end first, so that a hash is the same on every machine. */
static uint64_t load(const unsigned char *p, size_t nbytes)
{
    uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (nbytes == 8) {
        memcpy(&word, p, 8);
        return word;
    }
#endif
    for (size_t k = 0; k < nbytes; k++)
        word |= (uint64_t)p[k] << (8 * k);
    return word;
}

/* Both halves of the product folded into one: every bit of either factor reaches every bit. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    const uint128 product = (uint128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ga__hash64(const void *bytes, size_t nbytes, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t state = seed ^ fold(seed ^ SECRET0, SECRET1);
    size_t left = nbytes;

    for (; left >= 16; left -= 16, p += 16)
        state = fold(load(p, 8) ^ SECRET1, load(p + 8, 8) ^ state);
    const size_t first = left < 8 ? left : 8;
    const uint64_t a = load(p, first), b = load(p + first, left - first);
    return fold(SECRET0 ^ nbytes, fold(a ^ SECRET2, b ^ state));
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t murmur_finish(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static uint64_t murmur_low(uint64_t word)
{
    return rotate(word * UINT64_C(0x87c37b91114253d5), 31) * UINT64_C(0x4cf5ad432745937f);
}

static uint64_t murmur_high(uint64_t word)
{
    return rotate(word * UINT64_C(0x4cf5ad432745937f), 33) * UINT64_C(0x87c37b91114253d5);
}

ga__hash128 ga__hash128_of(const void *bytes, size_t nbytes)
{
    const unsigned char *p = bytes;
    uint64_t a = 0, b = 0;
    size_t left = nbytes;

    for (; left >= 16; left -= 16, p += 16) {
        a = (rotate(a ^ murmur_low(load(p, 8)), 27) + b) * 5 + 0x52dce729;
        b = (rotate(b ^ murmur_high(load(p + 8, 8)), 31) + a) * 5 + 0x38495ab5;
    }
    const size_t first = left < 8 ? left : 8;
    b ^= murmur_high(load(p + first, left - first)) ^ nbytes;
    a ^= murmur_low(load(p, first)) ^ nbytes;
    a += b;
    b += a;
    a = murmur_finish(a);
    b = murmur_finish(b);
    a += b;
    b += a;
    return (ga__hash128){a, b};
}
