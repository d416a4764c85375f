/* A table of values by key. Readers hold the values they find; writers lock the table and evict. */
#include "jit/key_table.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/fork.h"
#include "base/hash.h"

enum { FIRST_CAPACITY = 64, EVICTED_PART = 8 };

/* Once a slot points to a node, only `stamp` changes. Readers hold a node while they read it. */
typedef struct ga__key_node {
    uint64_t hash;
    _Atomic uint64_t stamp; /* the table's clock at the last use */
    void *value;
    struct ga__key_node *next; /* in the list of evicted nodes */
    size_t nbytes;
    uint64_t words[];
} node;

/* The hash lets a reader skip a node without holding it. */
typedef struct slot {
    _Atomic uint64_t hash;
    _Atomic(node *) node;
} slot;

typedef struct rank {
    uint64_t stamp;
    node *node;
} rank;

/* Open addressing. A larger array replaces a full one, which stays allocated and empty: a reader
 * still in it finds nothing and asks again under the lock. */
typedef struct array {
    size_t capacity; /* a power of two, at most half full */
    size_t count;
    struct array *older;
    rank *ranks;  /* room to sort half the capacity */
    slot slots[]; /* atomic */
} array;

/* Serialises the writers of all tables. Held for a lookup or a store, never while a value is made
 * or released. */
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&writers, GA__FORK_TABLE, NULL)

static array *current_array(const ga__key_table *table)
{
    return atomic_load_explicit((_Atomic(void *) *)&table->array, memory_order_acquire);
}

/* ---- reading ---- */

static bool has_key(const node *n, const void *key, size_t nbytes)
{
    return n->nbytes == nbytes && memcmp(n->words, key, nbytes) == 0;
}

/* The slot that holds the key, or the empty slot for it. Needs the lock. */
static slot *find_slot(array *a, uint64_t hash, const void *key, size_t nbytes)
{
    for (size_t i = (size_t)hash;; i++) {
        slot *s = &a->slots[i & (a->capacity - 1)];
        const node *n = atomic_load_explicit(&s->node, memory_order_relaxed);
        if (!n || (n->hash == hash && has_key(n, key, nbytes)))
            return s;
    }
}

/* The node of the key, announced by the holder. Needs no lock. May return NULL for an existing key
 * while a writer moves it. */
static node *find_announced(ga__holder *holder, array *a, uint64_t hash, const void *key,
                            size_t nbytes)
{
    for (size_t i = 0; i < a->capacity; i++) {
        slot *s = &a->slots[((size_t)hash + i) & (a->capacity - 1)];
        node *n = atomic_load_explicit(&s->node, memory_order_acquire);
        if (!n)
            return NULL;
        if (atomic_load_explicit(&s->hash, memory_order_relaxed) != hash)
            continue;
        ga__hold_announce(holder, n);
        if (atomic_load_explicit(&s->node, memory_order_seq_cst) != n)
            return NULL;
        if (has_key(n, key, nbytes))
            return n;
    }
    return NULL;
}

static node *find_locked(ga__holder *holder, const ga__key_table *table, uint64_t hash,
                         const void *key, size_t nbytes)
{
    pthread_mutex_lock(&writers);
    array *a = current_array(table);
    node *n = a ? atomic_load(&find_slot(a, hash, key, nbytes)->node) : NULL;
    ga__hold_announce(holder, n);
    pthread_mutex_unlock(&writers);
    return n;
}

/* Turns the announced node into a hold and returns its value. */
static void *hold_value(ga__holder *holder, ga__key_table *table, node *n)
{
    const uint64_t now = atomic_load_explicit(&table->clock, memory_order_relaxed);
    if (atomic_load_explicit(&n->stamp, memory_order_relaxed) != now)
        atomic_store_explicit(&n->stamp, now, memory_order_relaxed);
    ga__hold_begin(holder);
    return n->value;
}

void *ga__key_table_get_bytes(ga__key_table *table, const void *key, size_t nbytes)
{
    array *a = current_array(table);
    ga__holder *holder = a ? ga__holder_of_thread() : NULL;
    if (!holder)
        return NULL;
    const uint64_t hash = ga__hash64(key, nbytes, 0);
    node *n = find_announced(holder, a, hash, key, nbytes);
    if (!n)
        n = find_locked(holder, table, hash, key, nbytes);
    return n ? hold_value(holder, table, n) : NULL;
}

void *ga__key_table_get(ga__key_table *table, const ga__key *key)
{
    return ga__key_table_get_bytes(table, key->words, key->nwords * sizeof key->words[0]);
}

/* ---- storing, under the lock ---- */

static node *node_new(const void *key, size_t nbytes, uint64_t hash, uint64_t stamp, void *value)
{
    node *n = ga__malloc(sizeof *n + nbytes);
    if (!n)
        return NULL;
    n->hash = hash;
    atomic_init(&n->stamp, stamp);
    n->value = value;
    n->nbytes = nbytes;
    memcpy(n->words, key, nbytes);
    return n;
}

static void insert(array *a, node *n)
{
    slot *s = find_slot(a, n->hash, n->words, n->nbytes);
    atomic_store_explicit(&s->hash, n->hash, memory_order_relaxed);
    atomic_store_explicit(&s->node, n, memory_order_release);
    a->count++;
}

/* Moves all nodes to `ranks`. Returns their count. */
static size_t take_all(array *a, rank *ranks)
{
    size_t n = 0;
    for (size_t i = 0; i < a->capacity; i++) {
        node *taken = atomic_load_explicit(&a->slots[i].node, memory_order_relaxed);
        if (taken)
            ranks[n++] = (rank){atomic_load_explicit(&taken->stamp, memory_order_relaxed), taken};
        atomic_store(&a->slots[i].node, NULL);
    }
    a->count = 0;
    return n;
}

static int newest_first(const void *left, const void *right)
{
    const rank *a = left, *b = right;
    return (a->stamp < b->stamp) - (a->stamp > b->stamp);
}

static void evict(ga__key_table *table, array *a)
{
    const size_t n = take_all(a, a->ranks);
    const size_t evicted = n / EVICTED_PART > 0 ? n / EVICTED_PART : 1;
    qsort(a->ranks, n, sizeof *a->ranks, newest_first);
    for (size_t i = 0; i < n; i++) {
        node *each = a->ranks[i].node;
        if (i < n - evicted) {
            insert(a, each);
        } else {
            each->next = table->gone;
            table->gone = each;
        }
    }
}

static array *array_new(size_t capacity, array *older)
{
    array *a = ga__malloc(sizeof *a + capacity * (sizeof(slot) + sizeof(rank) / 2));
    if (!a)
        return NULL;
    *a = (array){.capacity = capacity, .older = older};
    a->ranks = (rank *)(void *)(a->slots + capacity);
    for (size_t i = 0; i < capacity; i++) {
        atomic_init(&a->slots[i].hash, 0);
        atomic_init(&a->slots[i].node, NULL);
    }
    return a;
}

static array *grow(ga__key_table *table, array *older)
{
    array *a = array_new(older ? older->capacity * 2 : FIRST_CAPACITY, older);
    if (!a)
        return NULL;
    const size_t n = older ? take_all(older, a->ranks) : 0;
    for (size_t i = 0; i < n; i++)
        insert(a, a->ranks[i].node);
    atomic_store_explicit((_Atomic(void *) *)&table->array, a, memory_order_release);
    return a;
}

/* The array, grown or evicted until it has room for one more node. */
static array *array_with_room(ga__key_table *table)
{
    array *a = current_array(table);
    if (a && a->count >= table->limit)
        evict(table, a);
    return a && a->count < a->capacity / 2 ? a : grow(table, a);
}

/* The node now under the key; NULL when memory is out. */
static node *put_locked(ga__key_table *table, const void *key, size_t nbytes, void *value)
{
    const uint64_t hash = ga__hash64(key, nbytes, 0);
    array *a = current_array(table);
    node *stands = a ? atomic_load(&find_slot(a, hash, key, nbytes)->node) : NULL;
    if (stands)
        return stands;
    a = array_with_room(table);
    const uint64_t now = atomic_fetch_add_explicit(&table->clock, 1, memory_order_relaxed) + 1;
    node *fresh = a ? node_new(key, nbytes, hash, now, value) : NULL;
    if (fresh)
        insert(a, fresh);
    return fresh;
}

/* ---- what is gone ---- */

/* Releases the nodes of the list that no thread holds. Returns the others. */
static node *release_unheld(const ga__key_table *table, node *list)
{
    node *held = NULL;
    while (list) {
        node *n = list;
        list = n->next;
        if (ga__is_held(n)) {
            n->next = held;
            held = n;
        } else {
            table->release(n->value);
            ga__free(n);
        }
    }
    return held;
}

static void add_gone(ga__key_table *table, node *list)
{
    node *last = list;
    if (!list)
        return;
    while (last->next)
        last = last->next;
    pthread_mutex_lock(&writers);
    last->next = table->gone;
    table->gone = list;
    pthread_mutex_unlock(&writers);
}

static void sweep(ga__key_table *table)
{
    pthread_mutex_lock(&writers);
    node *gone = table->gone;
    table->gone = NULL;
    pthread_mutex_unlock(&writers);
    if (gone)
        add_gone(table, ga__hold_barrier() ? release_unheld(table, gone) : gone);
}

void *ga__key_table_put_bytes(ga__key_table *table, const void *key, size_t nbytes, void *value)
{
    assert(value);
    ga__holder *holder = ga__holder_of_thread();
    if (!holder)
        return NULL;
    pthread_mutex_lock(&writers);
    node *n = put_locked(table, key, nbytes, value);
    ga__hold_announce(holder, n);
    pthread_mutex_unlock(&writers);
    void *stands = n ? hold_value(holder, table, n) : NULL;
    if (stands && stands != value)
        table->release(value);
    sweep(table);
    return stands;
}

void *ga__key_table_put(ga__key_table *table, const ga__key *key, void *value)
{
    assert(key->nwords <= GA__KEY_WORDS);
    return ga__key_table_put_bytes(table, key->words, key->nwords * sizeof key->words[0], value);
}
