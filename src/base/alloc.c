/* Allocates host memory, counts live blocks, and fails the n-th request when a test asks for it. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void *(*reallocate_block)(void *, size_t) = realloc;
static void (*release_block)(void *) = free;
static _Atomic int64_t live_blocks;
static _Atomic int64_t requests_left; /* requests up to the one that fails; 0: none fails */

void ga__set_allocator(void *(*reallocate)(void *, size_t), void (*release)(void *))
{
    const bool both = reallocate && release;

    reallocate_block = both ? reallocate : realloc;
    release_block = both ? release : free;
}

void ga__alloc_fail_at(int64_t n)
{
    atomic_store(&requests_left, n > 0 ? n : 0);
}

int64_t ga__alloc_requests_left(void)
{
    return atomic_load(&requests_left);
}

int ga__alloc_fails(void)
{
    int64_t left = atomic_load_explicit(&requests_left, memory_order_relaxed);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&requests_left, &left, left - 1))
            return left == 1;
    }
    return 0;
}

int64_t ga__alloc_live(void)
{
    return atomic_load(&live_blocks);
}

void *ga__realloc(void *block, size_t nbytes)
{
    void *moved = ga__alloc_fails() ? NULL : reallocate_block(block, nbytes ? nbytes : 1);

    if (!moved)
        return ga__fail_null(GA_ERR_MEMORY, "memory: out of host memory: %zu bytes", nbytes);
    if (!block)
        atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    return moved;
}

void *ga__malloc(size_t nbytes)
{
    return ga__realloc(NULL, nbytes);
}

void *ga__calloc(size_t count, size_t nbytes)
{
    if (nbytes && count > SIZE_MAX / nbytes)
        return ga__fail_null(GA_ERR_MEMORY, "memory: out of host memory: %zu x %zu bytes", count,
                             nbytes);
    void *block = ga__malloc(count * nbytes);
    if (block)
        memset(block, 0, count * nbytes);
    return block;
}

void ga__free(void *block)
{
    if (!block)
        return;
    atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
    release_block(block);
}

char *ga__strndup(const char *text, size_t length)
{
    const size_t kept = strnlen(text, length);
    char *copy = ga__malloc(kept + 1);

    if (!copy)
        return NULL;
    memcpy(copy, text, kept);
    copy[kept] = '\0';
    return copy;
}

char *ga__strdup(const char *text)
{
    return ga__strndup(text, strlen(text));
}
