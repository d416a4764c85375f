/* The single source of host memory: replaceable, and able to fail the n-th request. */
#ifndef GA_BASE_ALLOC_H
#define GA_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Like malloc, calloc, realloc and free, but a failure records GA_ERR_MEMORY with the size. A
 * request of 0 bytes returns a valid pointer. */
void *ga__malloc(size_t nbytes);
void *ga__calloc(size_t count, size_t nbytes);
void *ga__realloc(void *block, size_t nbytes);
void ga__free(void *block);
char *ga__strdup(const char *text);
char *ga__strndup(const char *text, size_t length);

/* Replaces the allocator; `reallocate(NULL, n)` allocates. NULLs restore malloc. Call it only while
 * nothing is allocated. */
void ga__set_allocator(void *(*reallocate)(void *block, size_t nbytes),
                       void (*release)(void *block));

/* For tests, process-wide: exactly the n-th request from now fails (1 is the next); 0 turns this
 * off. Backends count device requests too, through ga__alloc_fails(). */
void ga__alloc_fail_at(int64_t n);
int ga__alloc_fails(void);
int64_t ga__alloc_requests_left(void); /* up to the one that fails; 0: none fails */

/* For tests: the number of blocks allocated and not yet freed. */
int64_t ga__alloc_live(void);

#endif
