/* The large blocks of memory that a stream freed last. A request takes one that is a little larger:
 * results whose lengths depend on values differ by some bytes from call to call, and a driver maps
 * new memory for a size that it has not freed. */
#ifndef GA_DEVICE_RECENT_H
#define GA_DEVICE_RECENT_H

#include <stddef.h>

enum { GA__RECENT_BLOCKS = 8 }; /* that a list keeps */

/* A block that is kept when it is freed. */
typedef struct ga__block {
    void *memory;
    size_t capacity;
    struct ga__block *next; /* in its list of kept blocks */
} ga__block;

/* Removes and returns the smallest block that holds nbytes and is at most 1/16 larger, or NULL. */
ga__block *ga__recent_take(ga__block **list, size_t nbytes);

/* Puts the block first. Returns those that leave the list, the oldest ones: the list keeps
 * GA__RECENT_BLOCKS, of at most `most` bytes together. */
ga__block *ga__recent_put(ga__block **list, ga__block *block, size_t most);

#endif
