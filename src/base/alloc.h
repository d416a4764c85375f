/* The one place host memory comes from: replaceable, and able to fail the n-th request. */
#ifndef GA_BASE_ALLOC_H
#define GA_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc, realloc and free, but a failure is recorded as GA_ERR_MEMORY with the size. A
 * request of 0 bytes gives a valid pointer. */
void *ga__malloc(size_t nbytes);
void *ga__calloc(size_t count, size_t nbytes);
void *ga__realloc(void *block, size_t nbytes);
void ga__free(void *block);
char *ga__strdup(const char *text);
char *ga__strndup(const char *text, size_t length);

/* Replaces the allocator; `reallocate(NULL, n)` allocates. NULLs put malloc's back. Only while
 * nothing is allocated. */
void ga__set_allocator(void *(*reallocate)(void *block, size_t nbytes),
                       void (*release)(void *block));

/* For tests, process-wide: the n-th request from now (1 is the next) fails, and only that one; 0
 * turns it off. Backends count device requests here too, through ga__alloc_fails(). */
void ga__alloc_fail_at(int64_t n);
int ga__alloc_fails(void);

/* For tests: blocks handed out and not yet freed. */
int64_t ga__alloc_live(void);

#endif
