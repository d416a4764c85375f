/* Hashes bytes: a multiply-and-fold hash of 64 bits, MurmurHash3 and SipHash of 128 bits.
 *
 * The first follows the idea and the constants of Wang Yi's wyhash (public domain,
 * https://github.com/wangyi-fudan/wyhash) in a form of our own; the second is Austin Appleby's
 * MurmurHash3_x64_128 with seed 0 (public domain, https://github.com/aappleby/smhasher). */
#include "base/hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

__extension__ typedef unsigned __int128 uint128;

#define SECRET0 UINT64_C(0xa0761d6478bd642f)
#define SECRET1 UINT64_C(0xe7037ed1a0b428db)
#define SECRET2 UINT64_C(0x8ebc6af09c88c6e3)

/* Loads up to 8 bytes as a little-endian number, so that a hash is the same on every machine. */
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

/* Folds both halves of the product into one word: every bit of either factor affects every bit. */
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

    for (; left > 16; left -= 16, p += 16)
        state = fold(load(p, 8) ^ SECRET1, load(p + 8, 8) ^ state);
    if (nbytes >= 16) { /* the last 16 bytes: hashes some twice, but only whole words */
        const uint64_t a = load(p + left - 16, 8), b = load(p + left - 8, 8);
        return fold(SECRET0 ^ nbytes, fold(a ^ SECRET2, b ^ state));
    }
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

typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static void sip_rounds(sip *s, int rounds)
{
    for (int k = 0; k < rounds; k++) {
        s->a += s->b;
        s->c += s->d;
        s->b = rotate(s->b, 13) ^ s->a;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a = rotate(s->a, 32);
        s->c += s->b;
        s->a += s->d;
        s->b = rotate(s->b, 17) ^ s->c;
        s->d = rotate(s->d, 21) ^ s->a;
        s->c = rotate(s->c, 32);
    }
}

static void sip_take(sip *s, uint64_t word)
{
    s->d ^= word;
    sip_rounds(s, 2);
    s->a ^= word;
}

static uint64_t sip_give(sip *s)
{
    sip_rounds(s, 4);
    return s->a ^ s->b ^ s->c ^ s->d;
}

ga__hash128 ga__siphash(const void *bytes, size_t nbytes, ga__hash128 key)
{
    const unsigned char *p = bytes;
    size_t left = nbytes;
    sip s = {key.high ^ UINT64_C(0x736f6d6570736575), key.low ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
             key.high ^ UINT64_C(0x6c7967656e657261), key.low ^ UINT64_C(0x7465646279746573)};
    for (; left >= 8; left -= 8, p += 8)
        sip_take(&s, load(p, 8));
    sip_take(&s, load(p, left) | (uint64_t)(nbytes & 0xff) << 56);
    s.c ^= 0xee;
    const uint64_t high = sip_give(&s);
    s.b ^= 0xdd;
    return (ga__hash128){high, sip_give(&s)};
}

static ga__hash128 identity_key;

/* Without the system's random numbers, the key is only hard to guess. */
static void choose_identity_key(void)
{
    if (getrandom(&identity_key, sizeof(identity_key), GRND_NONBLOCK) == sizeof(identity_key))
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    identity_key.high = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32;
    identity_key.low = (uint64_t)(uintptr_t)&now ^ (uint64_t)getpid() << 48;
}

ga__hash128 ga__identity_of(const void *bytes, size_t nbytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_identity_key);
    return ga__siphash(bytes, nbytes, identity_key);
}
