/* What is kept in memory under a small key, kernels above all: bounded, and read without a lock. */
#ifndef GA_JIT_KEY_TABLE_H
#define GA_JIT_KEY_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hold.h"

/* A key is plain words compared bit for bit; unused words are 0. */
#define GA__KEY_WORDS 32
typedef struct ga__key {
    uint32_t nwords;
    uint64_t words[GA__KEY_WORDS];
} ga__key;

/* A static table: GA__KEY_TABLE_INIT. It owns its values. When it is full, the eighth of them that
 * was used least recently goes; a value is released once no thread holds it. */
typedef struct ga__key_table {
    size_t limit;                 /* most values */
    void (*release)(void *value); /* of one that is gone; takes no lock that is held here */
    void *array;                  /* atomic; replaced when it grows, up to the limit */
    _Atomic uint64_t clock;       /* counts stores, to tell when a value was used */
    struct ga__key_node *gone;    /* out of the array, perhaps held */
} ga__key_table;
#define GA__KEY_TABLE_INIT(most, free_value)                                                       \
    {                                                                                              \
        .limit = (most), .release = (free_value)                                                   \
    }

/* The value stored under the key, which the calling thread holds until ga__key_table_leave(); NULL
 * when there is none. Lock-free where there is one. */
void *ga__key_table_get(ga__key_table *table, const ga__key *key);

/* Stores the value unless the key has one, and returns the one that stands, held as by
 * ga__key_table_get(). The table takes the value over: releases it if another stands. NULL and an
 * error when memory is out; the value is then the caller's still. */
void *ga__key_table_put(ga__key_table *table, const ga__key *key, void *value);

/* Ends the latest hold: the value is not to be used any more. */
static inline void ga__key_table_leave(void)
{
    ga__hold_end();
}

/* The same under a key of any length; a table has keys of one sort. */
void *ga__key_table_get_bytes(ga__key_table *table, const void *key, size_t nbytes);
void *ga__key_table_put_bytes(ga__key_table *table, const void *key, size_t nbytes, void *value);

#endif
