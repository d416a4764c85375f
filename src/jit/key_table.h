/* A bounded table in memory from a small key to a value, a kernel above all. Reading takes no lock.
 */
#ifndef GA_JIT_KEY_TABLE_H
#define GA_JIT_KEY_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hold.h"

/* A key is plain words compared bit for bit; unused words are 0. */
#define GA__KEY_WORDS 48
typedef struct ga__key {
    uint32_t nwords;
    uint64_t words[GA__KEY_WORDS];
} ga__key;

/* A static table, set by GA__KEY_TABLE_INIT. It owns its values. When it is full it evicts the
 * eighth of them used least recently, and releases each once no thread holds it. */
typedef struct ga__key_table {
    size_t limit; /* maximum count of values */
    void (*release)(
        void *value);          /* frees an evicted value; must not take a lock that callers hold */
    void *array;               /* atomic; replaced when it grows, up to the limit */
    _Atomic uint64_t clock;    /* counts stores: the time stamp of a use */
    struct ga__key_node *gone; /* evicted, perhaps still held */
} ga__key_table;
#define GA__KEY_TABLE_INIT(most, free_value)                                                       \
    {                                                                                              \
        .limit = (most), .release = (free_value)                                                   \
    }

/* The value under the key, held by the calling thread until ga__key_table_leave(); NULL when there
 * is none. A hit takes no lock. */
void *ga__key_table_get(ga__key_table *table, const ga__key *key);

/* Stores the value unless the key has one, and returns the value now under the key, held as by
 * ga__key_table_get(). The table takes ownership and releases the value if the key already had
 * another. NULL and an error when memory is out; the caller then keeps the value. */
void *ga__key_table_put(ga__key_table *table, const ga__key *key, void *value);

/* Ends the latest hold. The caller must not use the value any more. */
static inline void ga__key_table_leave(void)
{
    ga__hold_end();
}

/* The same for a key of any length. One table must use one kind of key only. */
void *ga__key_table_get_bytes(ga__key_table *table, const void *key, size_t nbytes);
void *ga__key_table_put_bytes(ga__key_table *table, const void *key, size_t nbytes, void *value);

#endif
