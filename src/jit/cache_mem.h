/* What is kept in memory under a small key, kernels above all: reading takes no lock. */
#ifndef GA_JIT_CACHE_MEM_H
#define GA_JIT_CACHE_MEM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* A key is plain words compared bit for bit; unused words are 0. */
#define GA__KEY_WORDS 32
typedef struct ga__key {
    uint32_t nwords;
    uint64_t words[GA__KEY_WORDS];
} ga__key;

typedef struct ga__key_table ga__key_table;

/* A static table: GA__KEY_TABLE_INIT. Entries are never removed; values are pointers, not owned. */
struct ga__key_table {
    void *slots; /* atomic; the current array, replaced when it grows, old ones kept for readers */
    pthread_mutex_t lock; /* for writers */
};
#define GA__KEY_TABLE_INIT                                                                         \
    {                                                                                              \
        NULL, PTHREAD_MUTEX_INITIALIZER                                                            \
    }

/* The value stored under the key, NULL when there is none. Lock-free. */
void *ga__key_table_get(const ga__key_table *table, const ga__key *key);

/* Stores the value unless the key has one; returns the value that stands (the first one stored),
 * NULL and an error when memory is out. */
void *ga__key_table_put(ga__key_table *table, const ga__key *key, void *value);

/* The same under a key of any length; a table has keys of one sort. */
void *ga__key_table_get_bytes(const ga__key_table *table, const void *key, size_t nbytes);
void *ga__key_table_put_bytes(ga__key_table *table, const void *key, size_t nbytes, void *value);

#endif
