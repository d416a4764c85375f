/* Kernels in memory by key: readers follow atomic pointers, writers take turns. */
#include "jit/cache_mem.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define FIRST_CAPACITY 64

/* Never changed once a slot points at it, so readers need nothing but the pointer. */
struct node {
    uint64_t hash;
    void *value;
    size_t nbytes;
    uint64_t words[];
};

struct array {
    size_t capacity; /* a power of two, at most half full, so that a search ends */
    size_t count;    /* for writers */
    struct array *older;
    _Atomic(struct node *) slots[];
};

static struct array *current_array(const ga__key_table *table)
{
    return atomic_load_explicit((_Atomic(void *) *)&table->slots, memory_order_acquire);
}

/* The slot that holds the key, or the empty one where it belongs. */
static size_t find_slot(struct array *array, uint64_t hash, const void *words, size_t nbytes)
{
    size_t slot = (size_t)hash & (array->capacity - 1);
    for (;; slot = (slot + 1) & (array->capacity - 1)) {
        const struct node *node = atomic_load_explicit(&array->slots[slot], memory_order_acquire);
        if (!node)
            return slot;
        if (node->hash == hash && node->nbytes == nbytes && !memcmp(node->words, words, nbytes))
            return slot;
    }
}

static void *find_value(struct array *array, uint64_t hash, const void *key, size_t nbytes)
{
    if (!array)
        return NULL;
    size_t slot = find_slot(array, hash, key, nbytes);
    const struct node *node = atomic_load_explicit(&array->slots[slot], memory_order_acquire);
    return node ? node->value : NULL;
}

void *ga__key_table_get_bytes(const ga__key_table *table, const void *key, size_t nbytes)
{
    return find_value(current_array(table), ga__hash64(key, nbytes, 0), key, nbytes);
}

void *ga__key_table_get(const ga__key_table *table, const ga__key *key)
{
    return ga__key_table_get_bytes(table, key->words, key->nwords * sizeof key->words[0]);
}

static struct node *node_new(const void *key, size_t nbytes, uint64_t hash, void *value)
{
    struct node *node = ga__malloc(sizeof *node + nbytes);
    if (!node)
        return NULL;
    node->hash = hash;
    node->value = value;
    node->nbytes = nbytes;
    memcpy(node->words, key, nbytes);
    return node;
}

static void insert(struct array *array, struct node *node)
{
    size_t slot = find_slot(array, node->hash, node->words, node->nbytes);
    atomic_store_explicit(&array->slots[slot], node, memory_order_release);
    array->count++;
}

static struct array *array_new(size_t capacity, struct array *older)
{
    struct array *array = ga__malloc(sizeof *array + capacity * sizeof array->slots[0]);
    if (!array)
        return NULL;
    array->capacity = capacity;
    array->count = 0;
    array->older = older;
    for (size_t i = 0; i < capacity; i++)
        atomic_init(&array->slots[i], NULL);
    for (size_t i = 0; older && i < older->capacity; i++) {
        struct node *node = atomic_load_explicit(&older->slots[i], memory_order_relaxed);
        if (node)
            insert(array, node);
    }
    return array;
}

/* The array with room for one more; a reader in the old one finds there what it held. */
static struct array *array_with_room(ga__key_table *table)
{
    struct array *array = current_array(table);
    if (array && array->count < array->capacity / 2)
        return array;
    array = array_new(array ? array->capacity * 2 : FIRST_CAPACITY, array);
    if (array)
        atomic_store_explicit((_Atomic(void *) *)&table->slots, array, memory_order_release);
    return array;
}

static void *put_locked(ga__key_table *table, const void *key, size_t nbytes, void *value)
{
    uint64_t hash = ga__hash64(key, nbytes, 0);
    void *standing = find_value(current_array(table), hash, key, nbytes);
    if (standing)
        return standing;
    struct array *array = array_with_room(table);
    struct node *node = array ? node_new(key, nbytes, hash, value) : NULL;
    if (!node)
        return NULL;
    insert(array, node);
    return value;
}

void *ga__key_table_put_bytes(ga__key_table *table, const void *key, size_t nbytes, void *value)
{
    assert(value);
    pthread_mutex_lock(&table->lock);
    void *stands = put_locked(table, key, nbytes, value);
    pthread_mutex_unlock(&table->lock);
    return stands;
}

void *ga__key_table_put(ga__key_table *table, const ga__key *key, void *value)
{
    assert(key->nwords <= GA__KEY_WORDS);
    return ga__key_table_put_bytes(table, key->words, key->nwords * sizeof key->words[0], value);
}
